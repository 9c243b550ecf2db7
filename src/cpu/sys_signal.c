/* Signals that a program sends itself: handlers, masks, the way back. A signal arrives behind the system call
 * that sends or unblocks it, so that it does the same in every run. The frame on the stack is Linux's, since
 * handlers may read it. */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "cpu/sys.h"

enum {
    FLAG_SIGINFO = 4,
    FLAG_NODEFER = 0x40000000,
    FLAG_RESETHAND = (int)0x80000000,
    IGNORE = 1, /* as a handler */
    PID = 1000,
    FP_MAGIC = 0x46508001,
    NZCV_SHIFT = 28
};

/* What a handler finds on the stack (Linux, arch/arm64: struct rt_sigframe). */
struct frame {
    int32_t signo, error, code, pad;
    int32_t pid, uid;
    uint8_t info[104];
    uint64_t flags, link, stack[3], mask;
    uint8_t unused[120];
    uint64_t align, fault_address; /* the machine's context is at a multiple of 16 */
    uint64_t x[31], sp, pc, pstate, align2;
    struct {
        uint32_t magic, size, fpsr, fpcr;
        union vreg v[32];
        uint64_t end[2];
    } fp;
    uint8_t reserved[4096 - 528 - 16];
    uint64_t fp_lr[2]; /* as a function leaves them */
};
_Static_assert(offsetof(struct frame, fault_address) == 304 && offsetof(struct frame, fp) == 592,
               "a signal's frame is not Linux's");

static uint64_t bit(uint64_t signal) {
    return 1ull << (signal - 1);
}

static const uint64_t never_blocked = 1ull << (SIGKILL - 1) | 1ull << (SIGSTOP - 1);

static bool is_nothing(uint64_t signal) {
    return signal == SIGCHLD || signal == SIGURG || signal == SIGWINCH || signal == SIGCONT;
}

/* A page with the instructions that a handler returns to, which ask for rt_sigreturn. */
static uint64_t way_back(struct guest *g) {
    static const uint32_t code[] = {0xd2801168 /* mov x8, #139 */, 0xd4000001 /* svc #0 */};
    if (!g->signals.way_back) {
        uint64_t at = space_find(&g->space, PAGE_SIZE, SPACE_SIZE - (64ull << 20));
        if (at == NO_ADDRESS || !space_map(&g->space, at, PAGE_SIZE, PERM_READ | PERM_WRITE))
            return 0;
        space_write(&g->space, at, code, sizeof code);
        space_protect(&g->space, at, PAGE_SIZE, PERM_READ | PERM_EXEC);
        g->signals.way_back = at;
    }
    return g->signals.way_back;
}

/* Lets the program go on in a handler; false when the stack has no room. */
static bool call_handler(struct guest *g, uint64_t signal) {
    struct guest_signals *s = &g->signals;
    struct guest_action *a = &s->action[signal];
    struct cpu *c = &g->cpu;
    struct frame f = {.signo = (int32_t)signal,
                      .code = s->by_thread ? SI_TKILL : SI_USER,
                      .pid = PID,
                      .uid = PID,
                      .mask = s->blocked,
                      .sp = c->x[A64_SP],
                      .pc = c->pc,
                      .pstate = (uint64_t)c->nzcv << NZCV_SHIFT};
    f.fp.magic = FP_MAGIC;
    f.fp.size = 528;
    f.fp.fpsr = cpu_fpsr(c);
    f.fp.fpcr = c->fp.fpcr;
    memcpy(f.x, c->x, sizeof f.x);
    memcpy(f.fp.v, c->v, sizeof f.fp.v);
    f.fp_lr[0] = c->x[29];
    f.fp_lr[1] = c->x[A64_LR];
    uint64_t at = (c->x[A64_SP] - sizeof f) & ~15ull, back = way_back(g);
    if (!back || !space_write(&g->space, at, &f, sizeof f))
        return false;
    c->x[0] = signal;
    if (a->flags & FLAG_SIGINFO) {
        c->x[1] = at;
        c->x[2] = at + offsetof(struct frame, flags);
    }
    c->x[29] = at + offsetof(struct frame, fp_lr);
    c->x[A64_LR] = back;
    c->x[A64_SP] = at;
    c->pc = a->handler;
    s->blocked |= (a->mask | (a->flags & FLAG_NODEFER ? 0 : bit(signal))) & ~never_blocked;
    if (a->flags & (uint64_t)(uint32_t)FLAG_RESETHAND)
        a->handler = 0;
    return true;
}

void sys_deliver(struct guest *g) {
    struct guest_signals *s = &g->signals;
    while (!g->exited && s->pending & ~s->blocked) {
        uint64_t signal = (uint64_t)__builtin_ctzll(s->pending & ~s->blocked) + 1;
        uint64_t handler = s->action[signal].handler;
        s->pending &= ~bit(signal);
        if (handler == IGNORE || (!handler && is_nothing(signal)))
            continue;
        if (handler && call_handler(g, signal))
            continue;
        g->exited = true;
        g->signal = (int)(handler ? SIGSEGV : signal);
    }
}

/* ---- system calls ---- */

static int64_t send(struct guest *g, uint64_t signal, bool by_thread) {
    if (signal > GUEST_SIGNALS)
        return -EINVAL;
    if (signal)
        g->signals.pending |= bit(signal);
    g->signals.by_thread = by_thread;
    return 0;
}

int64_t sys_kill(struct guest *g, const uint64_t *arg) {
    return send(g, arg[1], false);
}

int64_t sys_tkill(struct guest *g, const uint64_t *arg) {
    return send(g, arg[1], true);
}

int64_t sys_tgkill(struct guest *g, const uint64_t *arg) {
    return send(g, arg[2], true);
}

int64_t sys_rt_sigaction(struct guest *g, const uint64_t *arg) {
    struct guest_action new;
    if (!arg[0] || arg[0] > GUEST_SIGNALS || (arg[1] && bit(arg[0]) & never_blocked))
        return -EINVAL;
    struct guest_action *a = &g->signals.action[arg[0]];
    if ((arg[1] && !space_read(&g->space, arg[1], &new, sizeof new)) ||
        (arg[2] && !space_write(&g->space, arg[2], a, sizeof *a)))
        return -EFAULT;
    if (arg[1])
        *a = new;
    return 0;
}

int64_t sys_rt_sigprocmask(struct guest *g, const uint64_t *arg) {
    uint64_t *blocked = &g->signals.blocked, old = *blocked, set;
    if (arg[1]) {
        if (!space_read(&g->space, arg[1], &set, sizeof set))
            return -EFAULT;
        if (arg[0] > 2)
            return -EINVAL;
        *blocked = (arg[0] == 0 ? old | set : arg[0] == 1 ? old & ~set : set) & ~never_blocked;
    }
    return !arg[2] || space_write(&g->space, arg[2], &old, sizeof old) ? 0 : -EFAULT;
}

int64_t sys_rt_sigpending(struct guest *g, const uint64_t *arg) {
    uint64_t waiting = g->signals.pending & g->signals.blocked;
    return space_write(&g->space, arg[0], &waiting, sizeof waiting) ? 0 : -EFAULT;
}

/* Goes on where the signal arrived, with the registers of the frame. */
int64_t sys_rt_sigreturn(struct guest *g, const uint64_t *arg) {
    struct cpu *c = &g->cpu;
    struct frame f;
    (void)arg;
    if (!space_read(&g->space, c->x[A64_SP], &f, sizeof f)) {
        g->exited = true;
        g->signal = SIGSEGV;
        return 0;
    }
    memcpy(c->x, f.x, sizeof f.x);
    c->x[A64_SP] = f.sp;
    c->pc = f.pc;
    c->nzcv = (uint32_t)(f.pstate >> NZCV_SHIFT) & 15;
    if (f.fp.magic == FP_MAGIC) {
        memcpy(c->v, f.fp.v, sizeof c->v);
        cpu_set_fpcr(c, f.fp.fpcr);
        cpu_set_fpsr(c, f.fp.fpsr);
    }
    g->signals.blocked = f.mask & ~never_blocked;
    return (int64_t)c->x[0];
}

/* Handlers run on the stack of the program. */
int64_t sys_sigaltstack(struct guest *g, const uint64_t *arg) {
    static const uint64_t none[3] = {0, 2 /* SS_DISABLE */, 0};
    return !arg[1] || space_write(&g->space, arg[1], none, sizeof none) ? 0 : -EFAULT;
}
