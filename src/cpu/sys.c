/* The table of system calls, and those about the process itself: its end, the clock, its identity. */
#include "cpu/sys.h"

#include <errno.h>
#include <string.h>

static const struct {
    uint32_t number;
    sys_fn *fn;
} calls[] = {
#define SYSCALL(number, name) {number, sys_##name},
#include "cpu/syscalls.def"
#undef SYSCALL
};

bool guest_syscall(struct guest *g) {
    struct cpu *c = &g->cpu;
    int64_t result = -ENOSYS;
    for (size_t k = 0; k < sizeof calls / sizeof calls[0]; k++)
        if (calls[k].number == c->x[8])
            result = calls[k].fn(g, c->x);
    c->x[0] = (uint64_t)result;
    sys_deliver(g);
    return !g->exited;
}

void guest_free(struct guest *g) {
    sys_close_all(g);
    cpu_free(&g->cpu);
    space_free(&g->space);
}

/* ---- the end ---- */

int64_t sys_exit(struct guest *g, const uint64_t *arg) {
    g->exited = true;
    g->status = (int)(arg[0] & 0xff);
    return 0;
}

int64_t sys_exit_group(struct guest *g, const uint64_t *arg) {
    return sys_exit(g, arg);
}

/* What is asked for back is all zero. */
static int64_t give_zeros(struct guest *g, uint64_t at, uint64_t size) {
    static const uint8_t zeros[256];
    return !at || space_write(&g->space, at, zeros, size) ? 0 : -EFAULT;
}

/* ---- time ---- */

/* The guest starts at a fixed date. */
enum { START = 1577836800 };

static uint64_t nanoseconds(struct guest *g) {
    return g->slept + (g->clock ? g->clock(g->clock_ctx) : cpu_counter(&g->cpu));
}

int64_t sys_clock_gettime(struct guest *g, const uint64_t *arg) {
    if (arg[0] > 11)
        return -EINVAL;
    uint64_t now = nanoseconds(g),
             wall = arg[0] == 0 || arg[0] == 5 || arg[0] == 8 || arg[0] == 11 ? START : 0;
    uint64_t t[2] = {wall + now / 1000000000, now % 1000000000};
    return space_write(&g->space, arg[1], t, sizeof t) ? 0 : -EFAULT;
}

int64_t sys_clock_getres(struct guest *g, const uint64_t *arg) {
    uint64_t t[2] = {0, 1};
    if (arg[0] > 11)
        return -EINVAL;
    return !arg[1] || space_write(&g->space, arg[1], t, sizeof t) ? 0 : -EFAULT;
}

int64_t sys_gettimeofday(struct guest *g, const uint64_t *arg) {
    uint64_t now = nanoseconds(g), t[2] = {START + now / 1000000000, now / 1000 % 1000000};
    if (arg[0] && !space_write(&g->space, arg[0], t, sizeof t))
        return -EFAULT;
    return give_zeros(g, arg[1], 8);
}

/* Sleeping only moves the clock. */
static int64_t sleep_for(struct guest *g, uint64_t at, bool until) {
    uint64_t t[2];
    if (!space_read(&g->space, at, t, sizeof t))
        return -EFAULT;
    if (t[1] >= 1000000000 || t[0] > UINT32_MAX)
        return -EINVAL;
    uint64_t ns = t[0] * 1000000000 + t[1], now = nanoseconds(g);
    g->slept += !until ? ns : ns > now ? ns - now : 0;
    return 0;
}

int64_t sys_nanosleep(struct guest *g, const uint64_t *arg) {
    return sleep_for(g, arg[0], false);
}

int64_t sys_clock_nanosleep(struct guest *g, const uint64_t *arg) {
    return sleep_for(g, arg[2], arg[1] & 1 && arg[0] != 0);
}

int64_t sys_times(struct guest *g, const uint64_t *arg) {
    uint64_t ticks = nanoseconds(g) / 10000000, t[4] = {ticks, 0, 0, 0};
    return !arg[0] || space_write(&g->space, arg[0], t, sizeof t) ? (int64_t)ticks : -EFAULT;
}

int64_t sys_getrusage(struct guest *g, const uint64_t *arg) {
    uint64_t now = nanoseconds(g), usage[18] = {now / 1000000000, now / 1000 % 1000000};
    usage[4] = g->space.mapped * (PAGE_SIZE / 1024);
    return space_write(&g->space, arg[1], usage, sizeof usage) ? 0 : -EFAULT;
}

/* ---- identity ---- */

enum { PID = 1000, PARENT = 1 };

int64_t sys_getpid(struct guest *g, const uint64_t *arg) {
    (void)g, (void)arg;
    return PID;
}

int64_t sys_gettid(struct guest *g, const uint64_t *arg) {
    return sys_getpid(g, arg);
}

int64_t sys_set_tid_address(struct guest *g, const uint64_t *arg) {
    return sys_getpid(g, arg);
}

int64_t sys_getppid(struct guest *g, const uint64_t *arg) {
    (void)g, (void)arg;
    return PARENT;
}

int64_t sys_getuid(struct guest *g, const uint64_t *arg) {
    return sys_getpid(g, arg);
}

int64_t sys_geteuid(struct guest *g, const uint64_t *arg) {
    return sys_getpid(g, arg);
}

int64_t sys_getgid(struct guest *g, const uint64_t *arg) {
    return sys_getpid(g, arg);
}

int64_t sys_getegid(struct guest *g, const uint64_t *arg) {
    return sys_getpid(g, arg);
}

int64_t sys_uname(struct guest *g, const uint64_t *arg) {
    char names[6][65] = {"Linux", "reprise", "6.1.0", "#1 Reprise", "aarch64", "(none)"};
    return space_write(&g->space, arg[0], names, sizeof names) ? 0 : -EFAULT;
}

/* ---- others ---- */

/* One thread: nobody to wait for, nobody to wake. */
int64_t sys_futex(struct guest *g, const uint64_t *arg) {
    (void)g;
    return (arg[1] & 0x7f) == 1 ? 0 : -EAGAIN;
}

int64_t sys_set_robust_list(struct guest *g, const uint64_t *arg) {
    (void)g, (void)arg;
    return 0;
}

static int64_t limits(struct guest *g, uint64_t resource, uint64_t at) {
    uint64_t limit[2] = {UINT64_MAX, UINT64_MAX};
    if (resource == 3) /* the stack */
        limit[0] = limit[1] = 8 << 20;
    if (resource == 7) /* open files */
        limit[0] = limit[1] = GUEST_FILES;
    return !at || space_write(&g->space, at, limit, sizeof limit) ? 0 : -EFAULT;
}

int64_t sys_getrlimit(struct guest *g, const uint64_t *arg) {
    return limits(g, arg[0], arg[1]);
}

int64_t sys_prlimit64(struct guest *g, const uint64_t *arg) {
    return arg[2] ? -EPERM : limits(g, arg[1], arg[3]);
}

/* Random to the guest, the same in every run. */
int64_t sys_getrandom(struct guest *g, const uint64_t *arg) {
    uint64_t n = arg[1] < 256 ? arg[1] : 256;
    for (uint64_t k = 0; k < n; k++) {
        g->random ^= g->random << 13;
        g->random ^= g->random >> 7;
        g->random ^= g->random << 17;
        uint8_t byte = (uint8_t)(g->random >> 24);
        if (!space_write(&g->space, arg[0] + k, &byte, 1))
            return -EFAULT;
    }
    return (int64_t)n;
}
