/* For --check: the affine stream is also run in every thread, as the program's own instructions, and what
 * tuples say is compared with that. */
#include "mech/dac/dac.h"

#include <string.h>

static const uint32_t *source_word(struct dac *d, const struct xinst *i, uint32_t k, uint32_t w) {
    return i->s[k] & POOL ? d->stream->x.pool[i->s[k] & ~POOL] : d->shadow[i->s[k]][w];
}

static uint32_t guard(const struct dac *d, const struct xinst *i, uint32_t w) {
    uint32_t p = i->guard == PRED_PT ? UINT32_MAX : d->shadow_pred[i->guard][w];
    return p ^ (0u - (uint32_t)i->gneg);
}

/* What an instruction that is no operation of lanes gives. */
static bool check_special(struct dac *d, const struct xinst *i, uint32_t w, uint32_t r[2][WARP_LANES]) {
    const struct coords *at = &d->coords[w];
    uint32_t mode = i->in->m.mode;
    for (uint32_t l = 0; l < WARP_LANES; l++)
        if (i->kind == X_LDC)
            for (uint32_t k = 0; k < i->ndw && k < 2; k++)
                r[k][l] = d->sm->warps[d->stream->slot].w->r[i->d + k][0];
        else if (mode <= SR_TID_Z)
            r[0][l] = at->tid[mode][l];
        else
            r[0][l] = mode <= SR_CTAID_Z    ? at->ctaid[mode - SR_CTAID_X]
                      : mode == SR_DYN_SMEM ? d->sm->x->shared_static
                                            : 0;
    return i->kind == X_S2R || i->kind == X_LDC;
}

static void shadow_warp(struct dac *d, const struct xinst *i, uint32_t w) {
    _Alignas(64) uint32_t r[2][WARP_LANES] = {0}, s[8][WARP_LANES];
    struct lane_io io = {.d = {r[0], r[1]}, .m = &i->in->m};
    uint32_t m = dac_top(d)->w[w] & guard(d, i, w);
    if (!m)
        return;
    if (!check_special(d, i, w, r)) {
        for (uint32_t k = 0; k < i->nsw && k < 8; k++) {
            memcpy(s[k], source_word(d, i, k, w), sizeof s[k]);
            for (uint32_t l = 0; i->mods && l < WARP_LANES; l++)
                s[k][l] = (s[k][l] & i->mods->and_mask[k]) ^ i->mods->xor_mask[k];
            io.s[k] = s[k];
        }
        for (uint32_t k = 0; k < 2; k++) {
            uint32_t p = i->ps[k] == PRED_PT ? UINT32_MAX : d->shadow_pred[i->ps[k]][w];
            io.pin[k] = p ^ (0u - (uint32_t)i->pneg[k]);
        }
        lane_run(i->op, &io);
    }
    for (uint32_t k = 0; k < i->ndw && k < 2; k++)
        lane_blend(d->shadow[i->d + k][w], r[k], m);
    for (uint32_t k = 0; k < 2; k++)
        if (i->pd[k] != PRED_PT)
            d->shadow_pred[i->pd[k]][w] = (d->shadow_pred[i->pd[k]][w] & ~m) | (io.pout[k] & m);
}

void dac_shadow(struct dac *d, const struct xinst *i) {
    for (uint64_t left = i->kind == X_QUEUE ? 0 : d->batch; left; left &= left - 1)
        shadow_warp(d, i, (uint32_t)__builtin_ctzll(left));
}

static void wrong(struct dac *d, const struct xinst *i, const char *what, uint32_t warp, uint64_t is,
                  uint64_t should) {
    d->sm->n.check_wrong++;
    if (d->sm->check.out)
        str_printf(d->sm->check.out, "check: DAC: %s at line %u, warp %u: 0x%llx instead of 0x%llx\n", what,
                   i->in->line, warp, (unsigned long long)is, (unsigned long long)should);
}

void dac_check_address(struct dac *d, const struct xinst *i, const struct dac_tuple *t) {
    for (uint64_t left = d->batch; left; left &= left - 1) {
        uint32_t w = (uint32_t)__builtin_ctzll(left), c[DAC_CONDS] = {0};
        uint64_t at[WARP_LANES];
        for (uint32_t k = 0; k < DAC_CONDS; k++)
            c[k] = t->at.cond[k] == DAC_NO_COND ? 0 : d->masks[t->at.cond[k]].w[w];
        if (!t->mask.w[w])
            continue;
        num_expand(&t->at, &d->coords[w], c, at);
        for (uint32_t l = 0; l < WARP_LANES; l++) {
            uint64_t should = source_word(d, i, 0, w)[l];
            if (t->wide)
                should |= (uint64_t)source_word(d, i, 1, w)[l] << 32;
            should += (uint64_t)(int64_t)i->in->imm;
            uint64_t all = t->wide ? UINT64_MAX : UINT32_MAX;
            if (t->mask.w[w] >> l & 1 && (at[l] & all) != (should & all)) {
                wrong(d, i, "an address", w, at[l] & all, should & all);
                break;
            }
        }
    }
}

void dac_check_predicate(struct dac *d, const struct xinst *i, const struct dac_mask *result) {
    for (uint64_t left = d->batch; left && i->pd[0] != PRED_PT; left &= left - 1) {
        uint32_t w = (uint32_t)__builtin_ctzll(left), m = dac_top(d)->w[w] & guard(d, i, w);
        uint32_t should = d->shadow_pred[i->pd[0]][w];
        if ((should ^ result->w[w]) & m)
            wrong(d, i, "a predicate", w, result->w[w] & m, should & m);
    }
}
