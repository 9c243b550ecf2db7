/* Fault reports: what happened, where in the program, to which thread, and what was near. */
#include <inttypes.h>

#include "base/demangle.h"
#include "exec/warp.h"

static const char *const space_names[] = {"generic", "global", "shared", "local", "constant"};

static void describe_access(const struct exec *x, struct str *out) {
    const struct fault *f = &x->fault;
    const struct inst *in = &x->img->prog->code[f->pc];
    const char *verb = op_info[in->op].flags & OPF_ATOMIC  ? "atomic operation on"
                       : op_info[in->op].flags & OPF_STORE ? "write to"
                                                           : "read of";
    str_printf(out, "%s %u bytes of %s memory at 0x%" PRIx64, verb, f->size, space_names[f->space], f->addr);
}

static void describe_what(const struct exec *x, struct str *out) {
    const struct fault *f = &x->fault;
    str_printf(out, "  ");
    switch (f->status) {
    case RP_ILLEGAL_ADDRESS:
        describe_access(x, out);
        str_printf(out, "\n  the address is ");
        if (f->space == MS_CONST)
            str_printf(out, "beyond the constant bank's %u bytes",
                       x->bank_bytes[x->img->prog->code[f->pc].m.mode]);
        else
            memory_describe(x->mem, f->addr, out);
        break;
    case RP_MISALIGNED:
        describe_access(x, out);
        str_printf(out, ", which is not a multiple of %u", f->size);
        break;
    case RP_SHARED_RANGE:
        describe_access(x, out);
        str_printf(out, "; the block has %u bytes", f->w->cta->shared_bytes);
        break;
    case RP_LOCAL_RANGE:
        describe_access(x, out);
        str_printf(out, "; the thread has %u bytes", x->local_bytes);
        break;
    case RP_ADDRESS_SPACE:
        describe_access(x, out);
        str_printf(out, " is not possible there");
        break;
    case RP_STACK_OVERFLOW:
        str_printf(out,
                   "a call needs %u bytes of stack at offset %" PRIu64
                   ", but the thread has %u in all (raise cudaLimitStackSize)",
                   f->size, f->addr, x->local_bytes);
        break;
    case RP_INVALID_PC:
        str_printf(out, "the target 0x%" PRIx64 " is not a function or branch target of this kernel",
                   f->addr);
        break;
    default:
        str_printf(out, "%s", f->what ? f->what : rp_status_text(f->status));
    }
    str_printf(out, "\n");
}

void fault_describe(const struct exec *x, struct str *out) {
    const struct fault *f = &x->fault;
    const struct program *p = x->img->prog;
    uint32_t t = f->w ? f->w->index * WARP_LANES + f->lane : 0;
    str_printf(out, "%s in kernel ", rp_status_text(f->status));
    str_add_name(out, p->name);
    str_printf(out, "\n");
    describe_what(x, out);
    if (f->w)
        str_printf(out, "  block (%u,%u,%u), thread (%u,%u,%u)\n", f->w->cta->id[0], f->w->cta->id[1],
                   f->w->cta->id[2], t % x->block[0], t / x->block[0] % x->block[1],
                   t / (x->block[0] * x->block[1]));
    if (f->pc >= p->ncode)
        return;
    str_printf(out, "  at ");
    exec_describe_place(x, f->pc, out);
    str_printf(out, "\n");
}
