/* Signals that a program sends itself: handlers, masks, what waits, registers over a handler, ways out of it.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

static volatile int depth, calls;
static sigjmp_buf out;

static void plain(int s) {
    volatile double x = 1.0 / (s + 1); /* other floating-point registers and flags than the program's */
    calls++;
    printf("signal %d at depth %d, %.3f\n", s, depth, x);
}

static void nested(int s) {
    depth++;
    printf("signal %d at depth %d\n", s, depth);
    if (depth < 3 && calls++ < 8)
        raise(s);
    depth--;
}

static void informed(int s, siginfo_t *i, void *ctx) {
    ucontext_t *u = ctx;
    printf("signal %d, code %d, me %d, stack %d, blocked %d %d\n", s, i->si_code, i->si_pid == getpid(),
           (char *)u->uc_mcontext.sp > (char *)&u, sigismember(&u->uc_sigmask, SIGUSR2),
           (int)u->uc_mcontext.regs[0]);
    u->uc_mcontext.regs[19] ^= 0; /* what is written there is what the program goes on with */
}

static void leave(int s) {
    siglongjmp(out, s);
}

static double sum(double a, double b, double c) {
    double x = a * b + c;
    raise(SIGUSR1);
    return x + a - b * c;
}

static void set(int s, void (*f)(int), int flags) {
    struct sigaction a;
    memset(&a, 0, sizeof a);
    a.sa_handler = f;
    a.sa_flags = flags;
    printf("%d", sigaction(s, &a, NULL));
    struct sigaction b;
    sigaction(s, NULL, &b);
    printf(" %d %d\n", b.sa_handler == f, b.sa_flags == flags);
}

int main(void) {
    sigset_t some, old, waiting;
    set(SIGUSR1, plain, 0);
    printf("%.17g\n", sum(1.25, 3.5, -7.75));
    sigemptyset(&some);
    sigaddset(&some, SIGUSR1);
    sigaddset(&some, SIGUSR2);
    sigprocmask(SIG_BLOCK, &some, &old);
    raise(SIGUSR1);
    raise(SIGUSR1);
    sigpending(&waiting);
    printf("%d calls, waiting %d %d\n", calls, sigismember(&waiting, SIGUSR1),
           sigismember(&waiting, SIGUSR2));
    sigprocmask(SIG_SETMASK, &old, NULL);
    printf("%d calls\n", calls);
    set(SIGUSR2, nested, SA_NODEFER);
    raise(SIGUSR2);
    set(SIGUSR2, nested, 0); /* the second waits until the handler has ended */
    raise(SIGUSR2);
    struct sigaction a;
    memset(&a, 0, sizeof a);
    a.sa_sigaction = informed;
    a.sa_flags = SA_SIGINFO;
    sigaddset(&a.sa_mask, SIGUSR1);
    sigaction(SIGALRM, &a, NULL);
    raise(SIGALRM);
    kill(getpid(), SIGALRM);
    signal(SIGTERM, SIG_IGN);
    raise(SIGTERM);
    raise(SIGCHLD);
    signal(SIGINT, leave);
    for (volatile int k = 0; k < 3; k++) {
        int s = sigsetjmp(out, 1);
        if (!s)
            raise(SIGINT);
        printf("back from %d\n", s);
    }
    printf("%d %d\n", sigaction(SIGKILL, &a, NULL), kill(getpid(), 0));
    set(SIGHUP, plain, SA_RESETHAND);
    raise(SIGHUP);
    fflush(stdout);
    raise(SIGHUP);
    puts("not reached");
    return 0;
}
