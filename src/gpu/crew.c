/* Threads wait for work: spinning for a moment since the next job mostly comes soon, then letting others have
 * the processor, if there are any, and at last asleep, from which it takes long to come back. Pieces are
 * claimed one by one, so it does not matter who comes late or never. */
#include "gpu/crew.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

#include "base/vec.h"

/* Times to look for the next job, or for the end of one, before a thread lets others have the processor, some
 * ten microseconds; and times to do that before it sleeps, some hundred. */
enum { SPIN = 400, YIELD = 200 };

struct member {
    struct crew *crew;
    pthread_t thread;
    uint32_t number; /* the caller's is 0 */
};

struct crew {
    atomic_uint turn;     /* counts jobs */
    atomic_uint left;     /* pieces that are not done */
    atomic_uint asleep;   /* threads that must be woken */
    atomic_uint pieces;   /* of the job */
    atomic_uint *claimed; /* of each piece: 0 while it waits for somebody */
    atomic_uint *number;  /* of each piece, in ascending order */
    void (*piece)(void *ctx, uint32_t number);
    void *ctx;
    uint32_t numbers; /* all are below it */
    pthread_mutex_t lock;
    pthread_cond_t call;
    bool ends; /* under the lock */
    uint32_t n;
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

/* Does pieces that nobody has begun. Each thread begins with numbers of its own, and mostly gets those that
 * it had before, whose state is in its processor's cache. */
static void work(struct crew *c, uint32_t thread) {
    uint32_t n = atomic_load_explicit(&c->pieces, memory_order_relaxed), first = 0;
    uint32_t from = (uint32_t)((uint64_t)thread * c->numbers / (c->n + 1));
    while (first < n && atomic_load_explicit(&c->number[first], memory_order_relaxed) < from)
        first++;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t i = first + k < n ? first + k : first + k - n;
        if (atomic_load_explicit(&c->claimed[i], memory_order_relaxed) ||
            atomic_exchange_explicit(&c->claimed[i], 1, memory_order_acq_rel))
            continue;
        c->piece(c->ctx, atomic_load_explicit(&c->number[i], memory_order_relaxed));
        atomic_fetch_sub_explicit(&c->left, 1, memory_order_release);
    }
}

/* Waits for a job after the one that was seen; false when there will be none. */
static bool next_job(struct crew *c, unsigned *seen) {
    for (uint32_t k = 0; k < SPIN + YIELD && atomic_load(&c->turn) == *seen; k++)
        pass_time(k);
    bool ends = false;
    if (atomic_load(&c->turn) == *seen) {
        pthread_mutex_lock(&c->lock);
        atomic_fetch_add(&c->asleep, 1);
        while (atomic_load(&c->turn) == *seen && !c->ends)
            pthread_cond_wait(&c->call, &c->lock);
        atomic_fetch_sub(&c->asleep, 1);
        ends = c->ends;
        pthread_mutex_unlock(&c->lock);
    }
    *seen = atomic_load(&c->turn);
    return !ends;
}

static void *member_run(void *arg) {
    struct member *m = arg;
    unsigned seen = 0;
    while (next_job(m->crew, &seen))
        work(m->crew, m->number);
    return NULL;
}

struct crew *crew_create(uint32_t threads, uint32_t pieces) {
    struct crew *c = xcalloc(1, sizeof *c + threads * sizeof *c->members);
    c->numbers = pieces;
    c->claimed = xcalloc(pieces, sizeof *c->claimed);
    c->number = xcalloc(pieces, sizeof *c->number);
    for (uint32_t i = 0; i < pieces; i++)
        atomic_init(&c->claimed[i], 1);
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->call, NULL);
    c->pid = getpid();
    sigset_t all, before;
    sigfillset(&all); /* signals are the program's: its own threads get them */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (; c->n < threads; c->n++) {
        c->members[c->n] = (struct member){.crew = c, .number = c->n + 1};
        if (pthread_create(&c->members[c->n].thread, NULL, member_run, &c->members[c->n]))
            break;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
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
        for (uint32_t i = 0; i < c->n; i++)
            pthread_join(c->members[i].thread, NULL);
        pthread_cond_destroy(&c->call);
        pthread_mutex_destroy(&c->lock);
    }
    free(c->claimed);
    free(c->number);
    free(c);
}

void crew_work(struct crew *c, const uint32_t *numbers, uint32_t n, void (*piece)(void *ctx, uint32_t number),
               void *ctx) {
    c->piece = piece;
    c->ctx = ctx;
    atomic_store_explicit(&c->pieces, n, memory_order_relaxed);
    atomic_store_explicit(&c->left, n, memory_order_relaxed);
    for (uint32_t i = 0; i < n; i++) {
        atomic_store_explicit(&c->number[i], numbers ? numbers[i] : i, memory_order_relaxed);
        atomic_store_explicit(&c->claimed[i], 0, memory_order_release);
    }
    atomic_fetch_add(&c->turn, 1);
    if (atomic_load(&c->asleep)) {
        pthread_mutex_lock(&c->lock);
        pthread_cond_broadcast(&c->call);
        pthread_mutex_unlock(&c->lock);
    }
    work(c, 0);
    for (uint32_t k = 0; atomic_load_explicit(&c->left, memory_order_acquire); k++)
        pass_time(k);
}
