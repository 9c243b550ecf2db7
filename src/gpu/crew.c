/* Threads wait for work: spinning for a moment since the next job mostly comes soon, then letting others have
 * the processor, if there are any, and at last asleep, from which it takes long to come back.
 *
 * Each thread has a share of the pieces, the same numbers in every job, whose state is in its processor's
 * cache. Who is done with his own takes from the end of another's, so it does not matter who comes late or
 * never; and shares become as large as what their owners come to do.
 *
 * Where the host has other work for its processors, threads lose theirs in the middle of a piece, and the
 * caller waits for them longer than they help. It looks at the clock when it has waited for a while; when
 * much of the time goes that way it works alone for some time, then tries again. Who does a piece changes
 * nothing of what it does. */
#include "gpu/crew.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"
#include "base/waiting.h"

/* Times to look for the next job, or for the end of one, before a thread lets others have the processor, some
 * ten microseconds; and times to do that before it sleeps, some hundred. */
enum { SPIN = 400, YIELD = 200 };

enum { BALANCE_JOBS = 64 }; /* after so many the shares are made anew */

/* Seconds: to wait for a thread that has lost its processor, since no piece takes so long; after which it is
 * decided whether to go on together, by the part of them that the caller may wait so; and for which it works
 * alone then, at first and at most. */
#define LOST_S       1e-3
#define TRIAL_S      20e-3
#define WAITED_PART  0.25
#define ALONE_S      0.1
#define ALONE_MOST_S 1.6
enum { ALONE_JOBS = 64 }; /* after so many it looks whether these are over */

/* What the caller and a thread tell each other has a line of the host's cache in each direction, and what all
 * read is written only if it changes: lines that go from processor to processor are what a job costs. */
struct member {
    /* Pieces of the job that nobody has begun: the first in the lower half, behind the last in the upper. */
    _Alignas(64) atomic_uint_fast64_t share;
    atomic_uint turn; /* counts jobs */
    uint32_t from;    /* the first number of its share */
    uint32_t number;  /* the caller's is 0 */
    struct crew *crew;
    pthread_t thread;
    _Alignas(64) atomic_uint done; /* pieces, of all jobs */
    uint32_t did;                  /* the same, of late */
};

struct crew {
    _Alignas(64) uint32_t *number; /* of each piece, in ascending order */
    void (*piece)(void *ctx, uint32_t number);
    void *ctx;
    uint32_t numbers;              /* all are below it */
    uint32_t n;                    /* threads, the caller's too */
    _Alignas(64) atomic_uint turn; /* counts jobs, before their pieces are handed out */
    atomic_uint asleep;            /* threads that must be woken */
    uint32_t given;                /* pieces, of all jobs */
    uint32_t jobs; /* since the shares were made, or since the caller last looked at the clock */
    bool alone;    /* the caller does everything */
    double since;  /* when they began to work together, or alone; 0: nobody has looked at the clock */
    double waited; /* by the caller since then */
    double rest;   /* how long it works alone the next time, or does now */
    pthread_mutex_t lock;
    pthread_cond_t call;
    bool ends; /* under the lock */
    pid_t pid;
    struct member members[];
};

static void relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Of a thread that has looked k times for what it waits for. */
static void pass_time(uint32_t k) {
    if (k < SPIN)
        relax();
    else
        sched_yield();
}

static uint64_t share_of(uint32_t first, uint32_t end) {
    return (uint64_t)end << 32 | first;
}

/* Takes a piece of a share: the first for its owner, the last for others. False: there is none. */
static bool claim(struct member *m, bool own, uint32_t *piece) {
    uint_fast64_t is = atomic_load_explicit(&m->share, memory_order_relaxed), next;
    do {
        uint32_t first = (uint32_t)is, end = (uint32_t)(is >> 32);
        if (first >= end)
            return false;
        *piece = own ? first : end - 1;
        next = own ? share_of(first + 1, end) : share_of(first, end - 1);
    } while (!atomic_compare_exchange_weak_explicit(&m->share, &is, next, memory_order_acq_rel,
                                                    memory_order_relaxed));
    return true;
}

/* Does pieces that nobody has begun, its own ones first. */
static void work(struct crew *c, struct member *m) {
    for (uint32_t k = 0; k < c->n; k++) {
        struct member *of = &c->members[(m->number + k) % c->n];
        uint32_t did = 0, i;
        for (; claim(of, !k, &i); did++)
            c->piece(c->ctx, c->number[i]);
        if (!did)
            continue;
        m->did += did;
        atomic_fetch_add_explicit(&m->done, did, memory_order_release);
    }
}

/* Waits for a job after the one that was seen; false when there will be none. */
static bool next_job(struct member *m, unsigned *seen) {
    struct crew *c = m->crew;
    unsigned now;
    for (uint32_t k = 0; (now = atomic_load_explicit(&m->turn, memory_order_acquire)) == *seen; k++) {
        if (k < SPIN + YIELD) {
            pass_time(k);
            continue;
        }
        pthread_mutex_lock(&c->lock);
        atomic_fetch_add(&c->asleep, 1);
        while (atomic_load(&c->turn) == *seen && !c->ends)
            pthread_cond_wait(&c->call, &c->lock);
        atomic_fetch_sub(&c->asleep, 1);
        bool ends = c->ends;
        pthread_mutex_unlock(&c->lock);
        if (ends)
            return false;
        k = 0; /* its share comes in a moment */
    }
    *seen = now;
    return true;
}

static void *member_run(void *arg) {
    struct member *m = arg;
    unsigned seen = 0;
    while (next_job(m, &seen))
        work(m->crew, m);
    return NULL;
}

/* Makes the shares as large as what their owners did of late; that counts half from now on. */
static void balance(struct crew *c) {
    uint64_t all = 0, before = 0;
    for (uint32_t i = 0; i < c->n; i++)
        all += c->members[i].did;
    for (uint32_t i = 0; i < c->n && all; i++) {
        c->members[i].from = (uint32_t)((before * c->numbers + all / 2) / all);
        before += c->members[i].did;
        c->members[i].did /= 2;
    }
    c->jobs = 0;
}

struct crew *crew_create(uint32_t threads, uint32_t pieces) {
    struct crew *c = xaligned(sizeof *c + (threads + 1) * sizeof *c->members);
    memset(c, 0, sizeof *c + (threads + 1) * sizeof *c->members);
    c->numbers = pieces;
    c->number = xcalloc(pieces, sizeof *c->number);
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->call, NULL);
    c->pid = getpid();
    c->rest = ALONE_S;
    for (uint32_t i = 0; i <= threads; i++) {
        c->members[i].crew = c;
        c->members[i].number = i;
    }
    sigset_t all, before;
    sigfillset(&all); /* signals are the program's: its own threads get them */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (c->n = 1; c->n <= threads; c->n++)
        if (pthread_create(&c->members[c->n].thread, NULL, member_run, &c->members[c->n]))
            break;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    for (uint32_t i = 0; i < c->n; i++)
        c->members[i].from = (uint32_t)((uint64_t)i * pieces / c->n);
    return c;
}

bool crew_is_here(const struct crew *c) {
    return c->pid == getpid();
}

void crew_free(struct crew *c) {
    if (!c)
        return;
    if (crew_is_here(c)) {
        pthread_mutex_lock(&c->lock);
        c->ends = true;
        pthread_cond_broadcast(&c->call);
        pthread_mutex_unlock(&c->lock);
        for (uint32_t i = 1; i < c->n; i++)
            pthread_join(c->members[i].thread, NULL);
        pthread_cond_destroy(&c->call);
        pthread_mutex_destroy(&c->lock);
    }
    free(c->number);
    free(c);
}

/* The caller has waited from then on. */
static void note_wait(struct crew *c, double from) {
    double now = waiting_clock();
    if (!(c->since > 0))
        c->since = from;
    if (now - from >= LOST_S)
        c->waited += now - from;
    if (now - c->since < TRIAL_S)
        return;
    if (c->waited > (now - c->since) * WAITED_PART)
        c->alone = true;
    else
        c->rest = ALONE_S;
    c->since = now;
    c->waited = 0;
}

/* Does a job alone; after some time they work together again. */
static void work_alone(struct crew *c, const uint32_t *numbers, uint32_t n,
                       void (*piece)(void *ctx, uint32_t number), void *ctx) {
    for (uint32_t i = 0; i < n; i++)
        piece(ctx, numbers ? numbers[i] : i);
    if (++c->jobs < ALONE_JOBS)
        return;
    c->jobs = 0;
    if (waiting_clock() - c->since < c->rest)
        return;
    c->alone = false;
    c->since = 0;
    c->rest = c->rest < ALONE_MOST_S ? 2 * c->rest : c->rest;
}

/* Pieces that were done, of all jobs. */
static uint32_t all_done(const struct crew *c) {
    uint32_t n = 0;
    for (uint32_t t = 0; t < c->n; t++)
        n += atomic_load_explicit(&c->members[t].done, memory_order_acquire);
    return n;
}

/* Waits until all pieces of a job are done. */
static void await_others(struct crew *c) {
    double from = 0;
    for (uint32_t k = 0; all_done(c) != c->given; k++) {
        if (k == SPIN)
            from = waiting_clock();
        pass_time(k);
    }
    if (from > 0)
        note_wait(c, from);
}

/* What a job is, where all will look. */
static void describe_job(struct crew *c, const uint32_t *numbers, uint32_t n,
                         void (*piece)(void *ctx, uint32_t number), void *ctx) {
    if (c->piece != piece || c->ctx != ctx) {
        c->piece = piece;
        c->ctx = ctx;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t number = numbers ? numbers[i] : i;
        if (c->number[i] != number)
            c->number[i] = number;
    }
    c->given += n;
}

void crew_work(struct crew *c, const uint32_t *numbers, uint32_t n, void (*piece)(void *ctx, uint32_t number),
               void *ctx) {
    if (c->alone) {
        work_alone(c, numbers, n, piece, ctx);
        return;
    }
    if (++c->jobs > BALANCE_JOBS)
        balance(c);
    describe_job(c, numbers, n, piece, ctx);
    unsigned turn = atomic_fetch_add(&c->turn, 1) + 1;
    for (uint32_t t = 0, first = 0; t < c->n; t++) {
        uint32_t to = t + 1 < c->n ? c->members[t + 1].from : c->numbers, end = first;
        while (end < n && c->number[end] < to)
            end++;
        atomic_store_explicit(&c->members[t].share, share_of(first, end), memory_order_release);
        atomic_store_explicit(&c->members[t].turn, turn, memory_order_release);
        first = end;
    }
    if (atomic_load(&c->asleep)) {
        pthread_mutex_lock(&c->lock);
        pthread_cond_broadcast(&c->call);
        pthread_mutex_unlock(&c->lock);
    }
    work(c, &c->members[0]);
    await_others(c);
}
