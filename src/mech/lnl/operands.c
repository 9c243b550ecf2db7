/* Warp Approximation, the prior work (section 3.1.2): an instruction of a region whose operands agree in all
 * lanes but for their low bits is executed by one lane, and the others get its result. Low bits count in
 * integers, such as addresses: only operands that are floating point may differ in them. */
#include "mech/lnl/lnl.h"

static bool agree(const uint32_t *v, uint32_t mask, uint32_t leader, uint32_t ignored) {
    uint32_t differ = 0;
    for (uint32_t l = 0; l < WARP_LANES; l++)
        differ |= (v[l] ^ v[leader]) & (0u - (mask >> l & 1));
    return !(differ & ~ignored);
}

static bool predicates_agree(const struct warp *w, const struct xinst *i, uint32_t mask) {
    for (uint32_t k = 0; k < 2; k++) {
        uint32_t p = w->p[i->ps[k]] & mask;
        if (p && p != mask)
            return false;
    }
    return true;
}

uint32_t lnl_compare_operands(struct lnl *m, uint32_t warp, const struct xinst *i, uint32_t mask) {
    const struct core_warp *cw = &m->sm->warps[warp];
    uint32_t low = m->params->low_bits < 32 ? (1u << m->params->low_bits) - 1 : UINT32_MAX;
    uint32_t ignored = op_info[i->in->op].flags & OPF_FMOD ? low : 0;
    if (!(mask & (mask - 1)) || (op_info[i->in->op].flags & OPF_LANE) || i->kind == X_P2R)
        return mask;
    m->n.compared++;
    uint32_t leader = (uint32_t)__builtin_ctz(mask);
    bool all = predicates_agree(cw->w, i, mask);
    for (uint32_t k = 0; all && k < i->nsw; k++)
        all = (i->s[k] & POOL) || agree(cw->w->r[i->s[k]], mask, leader, ignored);
    if (!all)
        return mask;
    m->n.scalar++;
    m->leader = leader;
    m->led = mask;
    return cw->needs[i - cw->x->img->code].memory ? 1u << leader : mask;
}
