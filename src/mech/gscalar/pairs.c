/* Warps of 64 lanes (Figure 2.14), as an analysis: two neighbouring warps of a block that execute the same
 * instruction as often are one. Nothing here changes what the warps do.
 *
 * A warp that comes to an instruction first leaves a record for the other; where the paths of the two part,
 * records are dropped until both are at the same instruction again. */
#include "mech/gscalar/marks.h"

enum { RECORDS = 64 };

struct gscalar_pairs {
    struct pair_ring {
        struct pair_record {
            uint32_t pc;
            uint32_t groups; /* of 16 lanes, as bits, that one lane can compute */
            uint64_t values; /* of the operands, mixed, if all 32 lanes have the same */
            bool scalar;
        } at[RECORDS];
        uint32_t first, n;
    } ring[CORE_MAX_WARPS];
};

struct gscalar_pairs *gscalar_pairs_create(struct arena *a) {
    return arena_new(a, struct gscalar_pairs);
}

void gscalar_pairs_start(struct gscalar *m, uint32_t warp) {
    m->pairs->ring[warp].n = 0;
}

/* The slot of the other warp of the pair, or CORE_NONE. */
static int32_t partner_of(const struct sm *sm, uint32_t warp) {
    const struct core_warp *cw = &sm->warps[warp];
    for (uint64_t left = sm->resident; left; left &= left - 1) {
        uint32_t s = (uint32_t)__builtin_ctzll(left);
        const struct core_warp *other = &sm->warps[s];
        if (other->block == cw->block && other->w->index == (cw->w->index ^ 1))
            return (int32_t)s;
    }
    return CORE_NONE;
}

static void gscalar_count(struct gscalar *m, const struct pair_record *a, const struct pair_record *b) {
    bool one = a->scalar && b->scalar && a->values == b->values;
    m->n.pairs++;
    m->n.pairs_quarter += !one && (a->groups | b->groups);
}

/* What the operands of a scalar instruction are. */
static uint64_t mix_values(const struct gscalar *m, uint32_t warp, const struct core_need *need) {
    uint64_t h = 0;
    for (uint32_t k = 0; k < need->nreads; k++)
        h = (h ^ m->sm->warps[warp].w->r[need->reads[k]][0]) * UINT64_C(0x9e3779b97f4a7c15);
    return h;
}

void gscalar_pairs_issue(struct gscalar *m, uint32_t warp, const struct gscalar_op *o) {
    const struct core_warp *cw = &m->sm->warps[warp];
    int32_t other = partner_of(m->sm, warp);
    if (other == CORE_NONE)
        return;
    bool scalar = o->way == WAY_SCALAR;
    uint32_t groups = scalar || o->way == WAY_HALF ? o->halves : 0;
    struct pair_record r = {cw->next, groups, scalar ? mix_values(m, warp, &cw->needs[cw->next]) : 0, scalar};
    struct pair_ring *theirs = &m->pairs->ring[other], *own = &m->pairs->ring[warp];
    for (uint32_t k = 0; k < theirs->n; k++) {
        const struct pair_record *t = &theirs->at[(theirs->first + k) % RECORDS];
        if (t->pc != r.pc)
            continue;
        gscalar_count(m, t, &r);
        theirs->first = (theirs->first + k + 1) % RECORDS;
        theirs->n -= k + 1;
        return;
    }
    if (own->n == RECORDS) {
        own->first = (own->first + 1) % RECORDS;
        own->n--;
    }
    own->at[(own->first + own->n++) % RECORDS] = r;
}
