/* Loads are compared when their data come (section 3.3.2), and the result is kept in the warp's load checking
 * history table until the regions that need it have asked (section 3.3.1). */
#include "base/alike.h"
#include "mech/lnl/lnl.h"
#include "mech/lnl/unit.h"

void lnl_load_issued(struct lnl *m, int32_t id, const struct lnl_fact *f) {
    const struct core_op *op = &m->sm->ops[id];
    struct lnl_entry *e = &m->warps[op->warp].entries[f->entry];
    if (!op->mask)
        return;
    core_delay(m->sm, id, (uint32_t)m->params->check_cycles);
    if (lnl_rule(m, LNL_WAIT))
        e->valid = false;
    e->op = id;
    m->waiting |= warp_bit(op->warp);
}

static bool alike(const struct lnl *m, const struct lnl_fact *f, uint32_t a, uint32_t b) {
    if (f->integer)
        return unit_alike_int(a, b, m->levels);
    if (m->params->metric == LNL_RELATIVE)
        return unit_alike_exact(a, b, m->threshold);
    return alike_floats(a, b, m->fixed, lnl_rule(m, LNL_FINITE));
}

/* Compares one register: every lane with its anchor, and every anchor with the one before, by the anchor's
 * own unit, which has nothing else to do. */
static bool compare(struct lnl *m, const struct lnl_fact *f, const uint32_t *v, uint32_t mask,
                    uint32_t *edges) {
    uint32_t anchors = lnl_anchors(mask, (uint32_t)m->params->group), anchor = 0;
    bool all = true, first = true;
    for (uint32_t left = mask; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        if (!(anchors >> lane & 1)) {
            all = alike(m, f, v[anchor], v[lane]) && all;
        } else {
            if (!first && !alike(m, f, v[anchor], v[lane]))
                *edges |= 1u << lane;
            anchor = lane;
            first = false;
        }
        m->n.comparisons++;
    }
    return all;
}

static bool anything_open(const struct lnl_warp *w) {
    for (uint32_t k = 0; k < LNL_ENTRIES; k++)
        if (w->entries[k].op != CORE_NONE)
            return true;
    return false;
}

void lnl_load_done(struct lnl *m, int32_t id, const struct lnl_fact *f) {
    const struct core_op *op = &m->sm->ops[id];
    struct lnl_warp *w = &m->warps[op->warp];
    struct lnl_entry *e = &w->entries[f->entry];
    if (e->op != id)
        return;
    *e =
        (struct lnl_entry){.valid = true, .alike = true, .left = f->count, .op = CORE_NONE, .mask = op->mask};
    for (uint32_t k = 0; k < op->i->ndw; k++)
        e->alike = compare(m, f, m->sm->warps[op->warp].w->r[op->i->d + k], op->mask, &e->edges) && e->alike;
    if (m->params->profile && op->i->ndw)
        lnl_profile_load(m, f, m->sm->warps[op->warp].w->r[op->i->d], op->mask);
    m->n.loads++;
    m->n.loads_alike += e->alike;
    if (!anything_open(w))
        m->waiting &= ~warp_bit(op->warp);
}

bool lnl_must_wait(const struct lnl *m, uint32_t warp) {
    const struct core_warp *cw = &m->sm->warps[warp];
    const struct xinst *i = &cw->x->img->code[cw->next];
    for (uint32_t left = i->in->op == OP_APPROX ? i->in->m.mode : 0; left; left &= left - 1)
        if (m->warps[warp].entries[__builtin_ctz(left)].op != CORE_NONE)
            return lnl_rule(m, LNL_WAIT);
    return false;
}

static struct lnl_path *free_path(struct lnl_warp *w) {
    uint32_t k = 0;
    while (k < w->npaths && w->paths[k].lanes)
        k++;
    w->npaths += k == w->npaths;
    return &w->paths[k];
}

bool lnl_start(struct lnl *m, uint32_t warp, const struct xinst *i, const struct lnl_fact *f, uint32_t mask) {
    struct lnl_warp *w = &m->warps[warp];
    bool known = true, same = true;
    uint32_t edges = m->row_ends;
    for (uint32_t k = 0; k < w->npaths; k++)
        w->paths[k].lanes &= ~mask;
    if (m->untimed)
        return false;
    for (uint32_t left = i->in->m.mode; left; left &= left - 1) {
        uint32_t k = (uint32_t)__builtin_ctz(left);
        struct lnl_entry *e = &w->entries[k];
        known &= e->valid && !(lnl_rule(m, LNL_MASK) && mask & ~e->mask);
        same &= e->alike;
        edges |= m->params->edges ? e->edges : 0;
        if (!(f->sticky >> k & 1))
            e->valid = e->valid && e->left--;
    }
    m->n.starts++;
    m->n.unknown += !known;
    m->n.unlike += known && !same;
    if (!known || !same)
        return false;
    m->n.approximated++;
    *free_path(w) = (struct lnl_path){mask, lnl_anchors(mask, (uint32_t)m->params->group), edges, f->start};
    return true;
}
