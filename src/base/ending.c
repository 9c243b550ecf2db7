/* Signals that end a process. A handler must not allocate, since the thread may have been interrupted in
 * malloc: it wakes a thread that waits for this. */
#include "base/ending.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

enum { PAUSE_MS = 10, PATIENCE_MS = 10000, STACK = 1 << 16 };

/* Crashes repeat when their handler returns; the others need not be answered at once. */
static const struct {
    int number;
    bool crash;
} signals[] = {{SIGHUP, false}, {SIGINT, false}, {SIGTERM, false}, {SIGABRT, true},
               {SIGBUS, true},  {SIGFPE, true},  {SIGILL, true},   {SIGSEGV, true}};
enum { SIGNALS = sizeof signals / sizeof signals[0] };

static void (*keep_all)(int);
static pid_t owner; /* a child that it forks has the handlers and not the thread */
static sem_t wanted;
static atomic_int came;   /* the signal, or 0 */
static atomic_bool ready; /* all is kept */

static bool is_crash(int number) {
    uint32_t k = 0;
    while (signals[k].number != number)
        k++;
    return signals[k].crash;
}

/* Lets the signal do what it does to a process without handler, when it is no longer blocked. */
static void end(int number) {
    signal(number, SIG_DFL);
    kill(getpid(), number);
}

static void on_signal(int number) {
    int before = errno, none = 0;
    bool crash = is_crash(number);
    if (getpid() != owner) {
        end(number);
    } else if (!atomic_compare_exchange_strong(&came, &none, number) && !crash) {
        end(number); /* asked again: it has been long enough */
    } else {
        sem_post(&wanted);
        for (int ms = 0; crash && !ready && ms < PATIENCE_MS; ms += PAUSE_MS)
            poll(NULL, 0, PAUSE_MS);
        if (crash)
            end(number);
    }
    errno = before;
}

static void *wait_for_signal(void *unused) {
    (void)unused;
    while (sem_wait(&wanted) || !came)
        ;
    keep_all(came);
    ready = true;
    if (!is_crash(came))
        end(came);
    return NULL;
}

bool ending_begun(void) {
    return came != 0;
}

void ending_watch(void (*keep)(int signal)) {
    static char stack[STACK]; /* the program's may be what has overflowed */
    pthread_t thread;
    sigset_t all, before;
    keep_all = keep;
    owner = getpid();
    sem_init(&wanted, 0, 0);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* the thread never runs a handler */
    bool started = !pthread_create(&thread, NULL, wait_for_signal, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!started)
        return;
    pthread_detach(thread);
    stack_t old;
    if (!sigaltstack(NULL, &old) && old.ss_flags & SS_DISABLE)
        sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    for (uint32_t k = 0; k < SIGNALS; k++) {
        struct sigaction now, ours = {.sa_handler = on_signal, .sa_flags = SA_RESTART | SA_ONSTACK};
        if (!sigaction(signals[k].number, NULL, &now) && !(now.sa_flags & SA_SIGINFO) &&
            now.sa_handler == SIG_DFL)
            sigaction(signals[k].number, &ours, NULL);
    }
}
