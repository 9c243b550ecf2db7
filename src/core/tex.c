/* The texture unit: finds the texels a warp reads, asks the texture cache for their lines, one a cycle, and
 * filters what has come. Surface loads go the same way; surface stores and reductions get their addresses
 * here and are then served by the load/store unit, as those of global memory. */
#include "core/core.h"
#include "exec/texture_ops.h"

enum { FILTER_TEXELS = 4 }; /* that a lane of the unit blends in one pass */

/* Stores and reductions: an element for each lane. */
static uint32_t prepare_store(struct sm *sm, const struct xinst *i, const struct tex_touched *t,
                              struct mem_access *out) {
    struct coalescer_inst ci = {.bytes = t->bytes, .kind = MEM_STORE};
    uint64_t addr[WARP_LANES] = {0};
    if (op_info[i->in->op].flags & OPF_ATOMIC)
        ci.kind = MEM_ATOMIC;
    for (uint32_t k = 0; k < t->count; k++) {
        addr[t->lane[k]] = t->at[k];
        ci.mask |= 1u << t->lane[k];
    }
    return coalesce(&sm->spec->coalescer, &ci, addr, out);
}

void tex_prepare(struct sm *sm, struct core_warp *cw, struct core_op *op, const struct xinst *i, uint32_t m) {
    struct tex_touched t;
    exec_tex_touched(cw->x, cw->w, i, m, true, &t);
    if (!t.count) /* a query, or all lanes outside */
        return;
    int16_t slot = sm->access_free[--sm->naccess_free];
    struct mem_access *out = &sm->access_pool[slot * COALESCER_MAX];
    bool store = op_info[i->in->op].flags & OPF_STORE;
    op->accesses = slot;
    op->space = store ? CORE_GLOBAL : CORE_TEXTURE;
    op->passes = (uint16_t)((t.most + FILTER_TEXELS - 1) / FILTER_TEXELS);
    op->naccess =
        (uint16_t)(store ? prepare_store(sm, i, &t, out)
                         : coalesce_texels(&sm->spec->coalescer, t.at, t.lane, t.count, t.bytes, out));
}

bool tex_refused(const struct sm *sm) {
    return sm->tex_epoch != UINT32_MAX && sm->tex_epoch == *sm->epoch[MEM_TEXTURE];
}

void sm_tex(struct sm *sm, uint64_t now) {
    int32_t id = sm->tex[0];
    if (id == CORE_NONE || op_send(sm, id, MEM_TEXTURE, &sm->tex_epoch, now) != SENT_ALL)
        return;
    fifo_pop(sm, sm->tex);
    sm->tex_length--;
    sm->full_units = 0;
}
