/* Who waits for whom: the functional part of a report about a launch that cannot go on. */
#include "exec/warp.h"

void exec_describe_place(const struct exec *x, uint32_t pc, struct str *out) {
    const struct inst *in = &x->img->prog->code[pc];
    str_printf(out, "%s:%u", x->module_name ? x->module_name : "ptx", in->line);
    if (in->dbg_line && x->file_name)
        str_printf(out, ", source %s:%u", x->file_name(x->names, in->dbg_file), in->dbg_line);
    str_printf(out, ", machine code 0x%04x: ", pc * INST_BYTES);
    ir_print_inst(out, in);
}

/* Lanes of a warp that wait at a barrier. */
static uint32_t waiting_at(const struct warp *w, uint32_t id) {
    uint32_t lanes = 0;
    for (uint32_t i = 0; i < w->depth; i++)
        if (w->stack[i].bar == (int)id)
            lanes |= w->stack[i].lanes;
    return lanes & w->live;
}

/* Warps of the block with threads that a barrier could still hear from; runs of whole warps in one. */
static void describe_absent(const struct cta *c, uint32_t id, struct str *out) {
    bool any = false;
    for (uint32_t k = 0; k < c->nwarps; k++) {
        uint32_t absent = c->warps[k].live & ~waiting_at(&c->warps[k], id), last = k;
        if (!absent)
            continue;
        while (absent == c->warps[k].live && last + 1 < c->nwarps && c->warps[last + 1].live &&
               !waiting_at(&c->warps[last + 1], id))
            last++;
        str_printf(out, "%s warp", any ? "," : "; not there:");
        str_printf(out, last > k ? "s %u to %u" : " %u", k, last);
        if (absent != c->warps[k].live)
            str_printf(out, " (lanes 0x%08x)", absent);
        any = true;
        k = last;
    }
    if (!any)
        str_printf(out, "; no thread is left that could come");
}

void exec_describe_paths(const struct warp *w, struct str *out) {
    const struct cta *c = w->cta;
    uint32_t above = 0;
    for (uint32_t i = w->depth; i-- > 0;) {
        const struct simt_entry *e = &w->stack[i];
        uint32_t lanes = e->mask & ~above, pc = e->pc;
        bool behind = (e->mask & above) != 0;
        above |= e->mask;
        if (!lanes)
            continue;
        str_printf(out, "    lanes 0x%08x ", lanes);
        if (e->bar == CLUSTER_BARRIER) {
            str_printf(out, "wait at the barrier of the cluster: %u of %u threads have arrived",
                       c->cluster->arrived, c->cluster->live);
            pc = e->pc - 1;
        } else if (e->bar >= 0) {
            const struct barrier *b = &c->bars[e->bar];
            str_printf(out, "wait at barrier %d: %u of %u threads have arrived", e->bar, b->arrived,
                       b->want ? b->want : c->live);
            describe_absent(c, (uint32_t)e->bar, out);
            pc = e->pc - 1;
        } else if (e->sync) {
            str_printf(out, "wait for lanes 0x%08x of their warp", e->sync & ~lanes);
        } else if (behind) {
            str_printf(out, "wait for the paths above to come here");
        } else {
            str_printf(out, "are active");
        }
        str_printf(out, "\n      at ");
        exec_describe_place(c->x, pc, out);
        str_printf(out, "\n");
    }
}
