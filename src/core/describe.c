/* What each warp waits for: the heart of a report about a hang. */
#include "core/core.h"

static const char *reason(const struct sm *sm, uint32_t s) {
    const struct core_warp *cw = &sm->warps[s];
    if (!cw->w->live)
        return "has exited, with results on their way";
    if (cw->fence)
        return "waits for its stores at a memory fence";
    if (sm->blocked >> s & 1)
        return "waits at barrier";
    if (cw->fetching || !cw->buffered)
        return "waits for instructions";
    if (!(sm->clear >> s & 1))
        return sm->on_memory >> s & 1 ? "waits for data of a load" : "waits for a result";
    return "is ready";
}

void sm_describe(const struct sm *sm, struct str *out) {
    for (uint64_t left = sm->resident; left; left &= left - 1) {
        uint32_t s = (uint32_t)__builtin_ctzll(left);
        const struct core_warp *cw = &sm->warps[s];
        const struct cta *c = cw->w->cta;
        uint32_t pc = cw->next ? cw->next - 1 : 0;
        const struct simt_entry *e = cw->w->depth ? &cw->w->stack[cw->w->depth - 1] : NULL;
        str_printf(out, "  SM %u warp %u of block (%u,%u,%u): %s", sm->id, cw->w->index, c->id[0], c->id[1],
                   c->id[2], reason(sm, s));
        if (e && e->bar >= 0) {
            const struct barrier *b = &c->bars[e->bar];
            str_printf(out, " %d: %u of %u threads have arrived", e->bar, b->arrived,
                       b->want ? b->want : c->live);
        }
        const struct inst *in = &sm->x->img->prog->code[pc];
        str_printf(out, ", pc 0x%04x, line %u: ", pc * INST_BYTES, in->line);
        ir_print_inst(out, in);
        str_printf(out, "\n");
    }
}
