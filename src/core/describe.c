/* What each warp waits for: the heart of a report about a hang. */
#include "core/points.h"

#include <stdio.h>
#include <stdlib.h>

/* Does the op write a register or predicate that the instruction needs? Its name goes to name. */
static bool provides(const struct core_op *op, const struct core_need *need, char name[8]) {
    for (uint32_t d = op->i->d; d < op->i->d + op->i->ndw; d++)
        if (need->regs[d / 64] >> (d % 64) & 1) {
            snprintf(name, 8, "R%u", d & 255);
            return true;
        }
    for (int k = 0; k < 2; k++)
        if (need->preds >> op->i->pd[k] & 1) {
            snprintf(name, 8, "P%u", op->i->pd[k] & 7u);
            return true;
        }
    return false;
}

/* Which instruction on its way holds up the warp's next one, and by what. */
static void describe_data(const struct sm *sm, uint32_t s, struct str *out) {
    const struct core_warp *cw = &sm->warps[s];
    bool *unused = xcalloc(CORE_OPS, sizeof *unused);
    for (int32_t op = sm->free_op; op != CORE_NONE; op = next_free_op(sm, op))
        unused[op] = true;
    str_printf(out, sm->on_memory >> s & 1 ? "waits for data of a load" : "waits for a result");
    for (uint32_t k = 0; k < CORE_OPS; k++) {
        const struct core_op *op = &sm->ops[k];
        char name[8];
        if (unused[k] || op->pc == CORE_NO_PC || op->warp != s || !provides(op, &cw->needs[cw->next], name))
            continue;
        str_printf(out, ": %s, from ", name);
        exec_describe_place(cw->x, (uint32_t)op->pc, out);
        break;
    }
    free(unused);
}

static void describe_wait(const struct sm *sm, uint32_t s, struct str *out) {
    const struct core_warp *cw = &sm->warps[s];
    if (!cw->w->live)
        str_printf(out, "has exited, with %u instructions on their way", cw->inflight);
    else if (cw->fence)
        str_printf(out, "waits at a memory fence for %u stores", cw->stores);
    else if (sm->blocked >> s & 1)
        str_printf(out, "waits for threads");
    else if (cw->fetching || !cw->buffered)
        str_printf(out, "waits for instructions");
    else if (!(sm->clear >> s & 1))
        describe_data(sm, s, out);
    else
        str_printf(out, "is ready to issue");
}

uint32_t sm_describe(const struct sm *sm, struct str *out, uint32_t most) {
    uint32_t n = 0;
    for (uint64_t left = sm->resident; left; left &= left - 1, n++) {
        uint32_t s = (uint32_t)__builtin_ctzll(left);
        const struct warp *w = sm->warps[s].w;
        const struct cta *c = w->cta;
        if (n >= most)
            continue;
        if (sm->streaming >> s & 1)
            str_printf(out, "  SM %u, a stream of instructions of a mechanism: ", sm->id);
        else
            str_printf(out, "  SM %u, block (%u,%u,%u), warp %u: ", sm->id, c->id[0], c->id[1], c->id[2],
                       w->index);
        describe_wait(sm, s, out);
        str_printf(out, "\n");
        exec_describe_paths(w, out);
    }
    if (HAS(sm, life, describe) && n < most)
        point_life_describe(sm, out);
    return n;
}
