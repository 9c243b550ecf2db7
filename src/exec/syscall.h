/* System functions: what their implementations share. Arguments lie in local memory behind the caller's
 * frame, as for any other call: the result first, then the parameters. */
#ifndef REPRISE_EXEC_SYSCALL_H
#define REPRISE_EXEC_SYSCALL_H

#include "exec/warp.h"

enum { SYS_MAX_STRING = 4096 };

/* The thread that calls. */
struct caller {
    struct exec *x;
    struct warp *w;
    const struct xinst *i;
    uint32_t lane;
    uint64_t at;  /* of its arguments, in its local memory */
    uint32_t ptr; /* bytes of a pointer */
    char text[SYS_MAX_STRING + 1];
};

/* Bytes at a generic address; false when there are none. */
bool caller_read(const struct caller *c, uint64_t addr, void *to, uint32_t bytes);
bool caller_write(const struct caller *c, uint64_t addr, const void *from, uint32_t bytes);
/* An argument, at an offset from the result, and the result. */
uint64_t caller_value(const struct caller *c, uint64_t offset, uint32_t bytes);
void caller_return(const struct caller *c, uint64_t v, uint32_t bytes);

/* One of the functions of launches by device code; false: it is not one of them. */
bool runtime_call(struct caller *c, enum sys_call call);

#endif
