/* A pool of processes. Each writes to files without a name, which are copied when its turn has come. */
#include "cli/jobs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/vec.h"

struct slot {
    pid_t pid; /* 0: not started */
    FILE *out, *err;
    bool done;
    int status;
};

static void print_file(FILE *f, FILE *to) {
    char buf[4096];
    size_t n;
    rewind(f);
    while ((n = fread(buf, 1, sizeof buf, f)) > 0)
        fwrite(buf, 1, n, to);
    fclose(f);
}

static bool start(const struct jobs *j, struct slot *s, uint32_t i) {
    s->out = tmpfile();
    s->err = tmpfile();
    fflush(stdout);
    fflush(stderr);
    s->pid = s->out && s->err ? fork() : -1;
    if (s->pid == 0) {
        dup2(fileno(s->out), STDOUT_FILENO);
        dup2(fileno(s->err), STDERR_FILENO);
        exit(j->run(j->ctx, i));
    }
    if (s->pid > 0)
        return true;
    fprintf(stderr, "reprise: cannot start another process: %s\n", strerror(errno));
    if (s->out)
        fclose(s->out);
    if (s->err)
        fclose(s->err);
    return false;
}

/* Waits until one more has ended. */
static void await(const struct jobs *j, struct slot *slots) {
    int status;
    pid_t pid = wait(&status);
    for (uint32_t i = 0; pid > 0 && i < j->count; i++)
        if (slots[i].pid == pid) {
            slots[i].done = true;
            slots[i].status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        }
}

int jobs_run(const struct jobs *j) {
    struct slot *slots = xcalloc(j->count + 1, sizeof *slots);
    uint32_t started = 0, ended = 0, most = j->at_once ? j->at_once : 1;
    int rc = 0;
    bool room = true; /* for another process */
    while (ended < started || (room && started < j->count)) {
        uint32_t running = 0;
        for (uint32_t i = ended; i < started; i++)
            running += !slots[i].done;
        if (room && started < j->count && running < most) {
            room = start(j, &slots[started], started);
            started += room;
            continue;
        }
        if (!slots[ended].done) {
            await(j, slots);
            continue;
        }
        print_file(slots[ended].out, stdout);
        fflush(stdout);
        print_file(slots[ended].err, stderr);
        rc = rc ? rc : slots[ended].status;
        if (j->ended)
            j->ended(j->ctx, ended, slots[ended].status);
        ended++;
    }
    free(slots);
    return rc || room ? rc : 1;
}

uint32_t jobs_default(void) {
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 1 ? (uint32_t)n : 1;
}
