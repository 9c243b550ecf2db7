/* Numbering of values and what instructions read and write, in those numbers. */
#include "flow/flow.h"

struct values values_of(struct arena *a, const struct fn *f) {
    struct values v = {.f = f};
    if (f->allocated) {
        v.base = arena_array(a, uint32_t, MAX_GPR + 1);
        for (; v.nwords <= MAX_GPR; v.nwords++)
            v.base[v.nwords] = v.nwords;
        v.n = v.nwords + NUM_PRED;
        return v;
    }
    v.base = arena_array(a, uint32_t, f->vregs.len + 1);
    for (uint32_t i = 0; i < f->vregs.len; i++) {
        v.base[i] = v.nwords;
        v.nwords += f->vregs.at[i];
    }
    v.n = v.nwords + f->npreds;
    return v;
}

uint32_t inst_reads(const struct values *v, const struct inst *i, struct span out[MAX_SPANS]) {
    uint32_t n = 0;
    for (uint32_t s = 0; s < i->nsrc; s++)
        if (i->src[s].kind == O_REG && i->src[s].v != VREG_RZ)
            out[n++] = (struct span){value_of_opd(v, &i->src[s]), inst_src_words(i, s)};
    for (uint32_t k = 0; k < 2; k++)
        if (i->psrc[k].id != VPRED_PT)
            out[n++] = (struct span){value_of_pred(v, i->psrc[k].id), 1};
    if (i->guard.id != VPRED_PT)
        out[n++] = (struct span){value_of_pred(v, i->guard.id), 1};
    if (i->op == OP_P2R)
        out[n++] = (struct span){v->nwords, v->n - v->nwords};
    return n;
}

uint32_t inst_writes(const struct values *v, const struct inst *i, struct span out[MAX_SPANS]) {
    uint32_t n = 0;
    if (i->dst.kind == O_REG && i->dst.v != VREG_RZ)
        out[n++] = (struct span){value_of_opd(v, &i->dst), inst_dst_words(i)};
    for (uint32_t k = 0; k < 2; k++)
        if (i->pdst[k].id != VPRED_PT)
            out[n++] = (struct span){value_of_pred(v, i->pdst[k].id), 1};
    if (i->op == OP_R2P)
        out[n++] = (struct span){v->nwords, v->n - v->nwords};
    return n;
}

static void count_inst(struct defs *d, const struct inst *i, struct def_site at) {
    struct span s[MAX_SPANS];
    uint32_t n = inst_reads(&d->v, i, s);
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t w = 0; w < s[k].n; w++)
            d->uses[s[k].first + w]++;
    n = inst_writes(&d->v, i, s);
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t w = 0; w < s[k].n; w++) {
            d->count[s[k].first + w] += is_guarded(i) ? 2 : 1;
            d->site[s[k].first + w] = at;
        }
}

struct defs defs_of(struct arena *a, const struct fn *f) {
    struct defs d = {.v = values_of(a, f)};
    d.count = arena_array(a, uint32_t, d.v.n + 1);
    d.uses = arena_array(a, uint32_t, d.v.n + 1);
    d.site = arena_array(a, struct def_site, d.v.n + 1);
    for (uint32_t b = 0; b < f->blocks.len; b++)
        for (uint32_t k = 0; k < f->blocks.at[b].insts.len; k++)
            count_inst(&d, &f->blocks.at[b].insts.at[k], (struct def_site){b, k});
    /* The frame register has a value before the first instruction; where nothing writes it, it never changes.
     */
    uint32_t fp = fn_frame_reg(f);
    if (fp != VREG_RZ && d.count[d.v.base[fp]])
        d.count[d.v.base[fp]] += 2;
    return d;
}
