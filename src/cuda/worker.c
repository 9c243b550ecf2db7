/* The threads that work for the program: one does what was submitted while the program does something else,
 * another calls its host functions.
 *
 * The worker begins when the program has not called for a moment, so that a program which submits and waits
 * does its work itself, without a word between threads. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#include "cuda/queue.h"

enum { TICK_NS = 1000000, IDLE_TICKS = 200 };

static pthread_mutex_t sleep_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static struct cud_bell to_call = CUD_BELL;
static bool started, caller_started, wanted;
static atomic_bool asleep;
static atomic_uint calls;

void worker_note_call(void) {
    atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
}

/* Sleeps for a tick, or until it is woken; whether somebody wants it to begin. */
static bool doze(bool deep) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += TICK_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&sleep_lock);
    asleep = deep;
    while (deep && !wanted && asleep && !queue_pending())
        pthread_cond_wait(&wake, &sleep_lock);
    asleep = false;
    if (!deep && !wanted)
        pthread_cond_timedwait(&wake, &sleep_lock, &until);
    bool now = wanted;
    wanted = false;
    pthread_mutex_unlock(&sleep_lock);
    return now;
}

static void *work(void *unused) {
    (void)unused;
    unsigned seen = calls, idle = 0;
    for (;;) {
        bool now = doze(idle > IDLE_TICKS);
        idle = queue_pending() ? 0 : idle + 1;
        bool busy = calls != seen;
        seen = calls;
        if (!queue_pending() || (busy && !now))
            continue;
        cud_lock();
        while (queue_work())
            cud_yield();
        cud_unlock();
    }
    return NULL;
}

static void *call_functions(void *unused) {
    (void)unused;
    cud_thread()->calls = true;
    cud_lock();
    for (;;) {
        void (*fn)(void *);
        void *data;
        struct cud_work *w = queue_call(&fn, &data);
        if (!w) {
            cud_wait(&to_call, 0);
            continue;
        }
        cud_unlock();
        if (fn)
            fn(data);
        cud_lock();
        queue_called(w);
    }
    return NULL;
}

/* Signals are for the program's own threads, but for those by which a thread tells of its own faults. */
static bool start(void *(*fn)(void *)) {
    static const int own[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV};
    pthread_t thread;
    sigset_t most, before;
    sigfillset(&most);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        sigdelset(&most, own[i]);
    pthread_sigmask(SIG_SETMASK, &most, &before);
    bool ok = !pthread_create(&thread, NULL, fn, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (ok)
        pthread_detach(thread);
    return ok;
}

void worker_wake(bool now) {
    if (!started)
        started = start(work);
    if (!now && !asleep)
        return;
    pthread_mutex_lock(&sleep_lock);
    wanted |= now;
    asleep = false;
    pthread_cond_signal(&wake);
    pthread_mutex_unlock(&sleep_lock);
}

void worker_calls(void) {
    if (!caller_started)
        caller_started = start(call_functions);
    cud_ring(&to_call);
}

void worker_forked(void) {
    started = caller_started = wanted = false;
    asleep = false;
    pthread_mutex_init(&sleep_lock, NULL);
    pthread_cond_init(&wake, NULL);
    to_call = (struct cud_bell)CUD_BELL;
}
