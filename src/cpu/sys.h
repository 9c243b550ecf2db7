/* System calls: each gets its arguments and returns what the kernel would, errors as negative numbers. */
#ifndef REPRISE_CPU_SYS_H
#define REPRISE_CPU_SYS_H

#include "cpu/guest.h"

typedef int64_t sys_fn(struct guest *g, const uint64_t *arg);

#define SYSCALL(number, name) sys_fn sys_##name;
#include "cpu/syscalls.def"
#undef SYSCALL

/* Lets signals arrive that wait and are not blocked. */
void sys_deliver(struct guest *g);
/* Closes what the guest has opened. */
void sys_close_all(struct guest *g);

#endif
