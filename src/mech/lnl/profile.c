/* What the paper measured before it built anything: how far values that lanes load are from their anchor's,
 * and those they store in a region (Figure 3.2), and whether loads that are alike have the same leading bits
 * (Figure 3.4). It watches a machine that approximates nothing: lnl.profile with a threshold of 0. And how
 * far the comparison units' reciprocals are off (Figure 3.8). */
#include <math.h>

#include "base/alike.h"
#include "base/ieee.h"
#include "mech/lnl/lnl.h"
#include "mech/lnl/unit.h"

enum { MILLION = 1000000, LOW_BIT = 8, HIGH_BIT = 12 };
static const double alike_below = 0.1;

/* How far b is from a, of a; 1 at most. */
static double distance(double a, double b) {
    if (a == b)
        return 0;
    double d = fabs((a - b) / a);
    return d < 1 ? d : 1;
}

/* The same of words as an instruction means them. */
static double distance_of(const struct lnl_fact *f, uint32_t a, uint32_t b) {
    if (f->integer)
        return distance((int32_t)a, (int32_t)b);
    if (!f->pixels)
        return distance((double)float_of(a), (double)float_of(b));
    double sum = 0;
    for (uint32_t k = 0; k < 32; k += 8)
        sum += distance(a >> k & 0xff, b >> k & 0xff) / 4;
    return sum;
}

/* The sum over lanes that are no anchors of how far they are from theirs. */
static void add_distances(const struct lnl *m, const struct lnl_fact *f, const uint32_t *v, uint32_t mask,
                          uint64_t *sum, uint64_t *lanes) {
    uint32_t anchors = lnl_anchors(mask, (uint32_t)m->params->group), anchor = 0;
    for (uint32_t left = mask; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        if (anchors >> lane & 1) {
            anchor = lane;
            continue;
        }
        *sum += (uint64_t)(MILLION * distance_of(f, v[anchor], v[lane]));
        ++*lanes;
    }
}

void lnl_profile_load(struct lnl *m, const struct lnl_fact *f, const uint32_t *v, uint32_t mask) {
    uint32_t first = (uint32_t)__builtin_ctz(mask), differ = 0;
    bool alike = true;
    add_distances(m, f, v, mask, &m->n.load_distance, &m->n.load_lanes);
    for (uint32_t left = mask; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        alike &= distance_of(f, v[first], v[lane]) < alike_below;
        differ |= v[first] ^ v[lane];
    }
    uint32_t bit = differ ? (uint32_t)__builtin_clz(differ) + 1 : 0; /* from the most significant one */
    m->n.profiled++;
    m->n.warp_alike += alike;
    m->n.warp_differ += alike && differ;
    m->n.warp_bits += alike && bit >= LOW_BIT && bit <= HIGH_BIT;
}

void lnl_profile_store(struct lnl *m, uint32_t warp, const struct xinst *i, const struct lnl_fact *f,
                       uint32_t mask) {
    uint32_t s = i->s[i->in->op == OP_INTERP ? 0 : i->first[1]];
    if (mask && !(s & POOL))
        add_distances(m, f, m->sm->warps[warp].w->r[s], mask, &m->n.store_distance, &m->n.store_lanes);
}

void lnl_profile_unit(struct lnl *m) {
    enum { DIVISORS = 128, PART = 8, STEPS = 256 };
    uint64_t *const parts[DIVISORS / PART] = {
        &m->n.reciprocal_0,  &m->n.reciprocal_8,   &m->n.reciprocal_16,  &m->n.reciprocal_24,
        &m->n.reciprocal_32, &m->n.reciprocal_40,  &m->n.reciprocal_48,  &m->n.reciprocal_56,
        &m->n.reciprocal_64, &m->n.reciprocal_72,  &m->n.reciprocal_80,  &m->n.reciprocal_88,
        &m->n.reciprocal_96, &m->n.reciprocal_104, &m->n.reciprocal_112, &m->n.reciprocal_120};
    double worst = 0;
    for (uint32_t p = 0; p < DIVISORS / PART; p++) {
        double here = 0;
        for (uint32_t f = p * PART; f < (p + 1) * PART; f++)
            here = fmax(here, fabs((double)alike_reciprocal(f) / STEPS * (1 + (double)f / DIVISORS) - 1));
        *parts[p] += (uint64_t)(MILLION * here);
        worst = fmax(worst, here);
    }
    m->n.reciprocal += (uint64_t)(MILLION * worst);
    m->n.units++;
}
