/* A pool of processes. Each writes to files without a name, which are read when it has ended. */
#include "study/jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/host.h"
#include "base/vec.h"
#include "study/progress.h"

struct slot {
    pid_t pid;
    FILE *out, *err;
    enum job_state state;
    int status;
};

/* A run of the pool. */
struct pool {
    const struct jobs *jobs;
    struct slot *slots;
    enum job_state *states; /* of the slots, for the progress */
    uint32_t first;         /* that waits, with all after it which have not started */
    uint32_t end;           /* the number after the last that has started */
    uint32_t running, printed;
    bool full; /* no more processes can be had */
};

/* Processes that run at once, if there is work for as many. */
static uint32_t at_once(const struct jobs *j) {
    return j->at_once ? j->at_once : host_processors();
}

/* In the child: its threads and those of the others have a processor each, and no more than they may. */
static void share_processors(const struct jobs *j) {
    uint32_t all = at_once(j), share = all / (all < j->count ? all : j->count);
    const char *most = getenv("REPRISE_THREADS");
    char text[16];
    if (most && strtoul(most, NULL, 10) && strtoul(most, NULL, 10) < share)
        return;
    snprintf(text, sizeof text, "%u", share);
    setenv("REPRISE_THREADS", text, 1);
}

/* The signals that jobs_run waits for: an ended child, the user, the system. */
static void signals(sigset_t *set) {
    sigemptyset(set);
    sigaddset(set, SIGCHLD);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGHUP);
}

/* In the child: its own group, so that it and what it starts can be ended together, and the terminal's ^C
 * reaches only us, who then decide; it does not outlive us; and it reads nothing. */
static void child(const struct pool *p, uint32_t i, pid_t parent) {
    sigset_t set;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int in = open("/dev/null", O_RDONLY);
    if (getppid() != parent || in < 0)
        _exit(127);
    signals(&set);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    share_processors(p->jobs);
    dup2(in, STDIN_FILENO);
    dup2(fileno(p->slots[i].out), STDOUT_FILENO);
    dup2(fileno(p->slots[i].err), STDERR_FILENO);
    exit(p->jobs->run(p->jobs->ctx, i));
}

static bool start(struct pool *p, uint32_t i) {
    struct slot *s = &p->slots[i];
    pid_t parent = getpid();
    s->out = tmpfile();
    s->err = tmpfile();
    fflush(stdout);
    fflush(stderr);
    s->pid = s->out && s->err ? fork() : -1;
    if (s->pid == 0)
        child(p, i, parent);
    if (s->pid > 0) {
        setpgid(s->pid, s->pid); /* whoever comes first; the child may have become the program already */
        s->state = p->states[i] = JOB_RUNNING;
        return true;
    }
    fprintf(stderr, "reprise: cannot start another process: %s\n", strerror(errno));
    if (s->out)
        fclose(s->out);
    if (s->err)
        fclose(s->err);
    return false;
}

static void read_all(FILE *f, struct str *text) {
    char buf[4096];
    size_t n;
    rewind(f);
    while ((n = fread(buf, 1, sizeof buf, f)) > 0)
        str_add(text, buf, n);
}

/* Tells the caller that job i has ended. */
static void ended(struct pool *p, uint32_t i, int status) {
    struct slot *s = &p->slots[i];
    struct str text = {0};
    s->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (p->jobs->ended) {
        read_all(s->out, &text);
        read_all(s->err, &text);
        s->status = p->jobs->ended(p->jobs->ctx, i, s->status, str_text(&text));
    }
    s->state = p->states[i] = s->status ? JOB_FAILED : JOB_DONE;
    p->running--;
    str_free(&text);
}

static void reap(struct pool *p) {
    int status;
    for (uint32_t i = p->printed; p->running && i < p->end; i++)
        if (p->slots[i].state == JOB_RUNNING && waitpid(p->slots[i].pid, &status, WNOHANG) == p->slots[i].pid)
            ended(p, i, status);
}

static void print_file(FILE *f, FILE *to) {
    struct str text = {0};
    read_all(f, &text);
    fwrite(str_text(&text), 1, text.len, to);
    fflush(to);
    str_free(&text);
}

/* Prints what the jobs that ended have said, each after all before it. */
static void print_ended(struct pool *p, struct progress *progress) {
    for (; p->printed < p->jobs->count; p->printed++) {
        struct slot *s = &p->slots[p->printed];
        if (s->state == JOB_WAITING || s->state == JOB_RUNNING)
            return;
        if (!s->out)
            continue;
        if (!p->jobs->ended) {
            progress_end(progress);
            print_file(s->out, stdout);
            print_file(s->err, stderr);
        }
        fclose(s->out);
        fclose(s->err);
    }
}

static void stop(struct pool *p) {
    for (uint32_t i = 0; i < p->end; i++)
        if (p->slots[i].state == JOB_RUNNING) {
            kill(-p->slots[i].pid, SIGKILL);
            waitpid(p->slots[i].pid, NULL, 0);
        }
}

/* Starts a job that waits, if it is its turn; false when it goes on waiting. */
static bool start_ready(struct pool *p, uint32_t i) {
    const struct jobs *j = p->jobs;
    enum job_turn turn = j->ready ? j->ready(j->ctx, i) : JOB_NOW;
    if (turn == JOB_NEVER)
        p->slots[i].state = p->states[i] = JOB_DONE;
    if (turn != JOB_NOW)
        return turn == JOB_NEVER;
    p->full = !start(p, i);
    p->running += !p->full;
    p->end = !p->full && p->end <= i ? i + 1 : p->end;
    return true;
}

static void start_some(struct pool *p) {
    enum { ASKED = 256 }; /* that have to wait, before the rest is left for the next time */
    const struct jobs *j = p->jobs;
    uint32_t most = at_once(j), asked = 0;
    for (uint32_t i = p->first; !p->full && i < j->count && p->running < most && asked < ASKED; i++)
        if (p->slots[i].state == JOB_WAITING)
            asked += !start_ready(p, i);
    while (p->first < j->count && p->slots[p->first].state != JOB_WAITING)
        p->first++;
}

static int first_failure(const struct pool *p) {
    for (uint32_t i = 0; i < p->end; i++)
        if (p->slots[i].status)
            return p->slots[i].status;
    return p->full;
}

int jobs_run(const struct jobs *j) {
    struct pool p = {.jobs = j, .slots = xcalloc(j->count + 1, sizeof *p.slots)};
    struct progress progress;
    sigset_t set, before;
    bool stopped = false;
    p.states = xcalloc(j->count + 1, sizeof *p.states);
    signals(&set);
    sigprocmask(SIG_BLOCK, &set, &before);
    progress_begin(&progress, j);
    for (start_some(&p); (p.running || (p.first < j->count && !p.full)) && !stopped; start_some(&p)) {
        struct timespec quarter = {.tv_nsec = 250000000};
        progress_show(&progress, p.states);
        int got = sigtimedwait(&set, NULL, &quarter);
        stopped = got > 0 && got != SIGCHLD;
        reap(&p);
        print_ended(&p, &progress);
        if (stopped)
            break;
    }
    if (stopped)
        stop(&p);
    progress_show(&progress, p.states);
    progress_end(&progress);
    sigprocmask(SIG_SETMASK, &before, NULL);
    int rc = stopped ? JOBS_STOPPED : first_failure(&p);
    free(p.states);
    free(p.slots);
    return rc;
}
