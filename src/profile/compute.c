#include "profile/compute.h"

struct compute_mark compute_mark(const struct xinst *i) {
    bool warp_wide = i->kind == X_SHFL || i->kind == X_VOTE || i->kind == X_MATCH || i->kind == X_REDUX ||
                     i->kind == X_ELECT || i->kind == X_MMA || i->kind == X_MOVM || i->kind == X_LDSM;
    const struct opkey key = opkey_of(i);
    enum opkey_basis basis = opkey_basis(i);
    return (struct compute_mark){.operation = opkey_hash(&key),
                                 .excluded = basis == BASIS_NONE,
                                 .result = basis != BASIS_INPUTS,
                                 .waits = warp_wide};
}

uint64_t compute_preds(uint64_t h, const struct warp *w, const struct xinst *i, uint32_t lanes) {
    for (uint32_t k = 0; k < 2; k++)
        if (i->ps[k] != PRED_PT)
            h = value_mix(h, (uint64_t)(k + 1) << 32 | (w->p[i->ps[k]] & lanes));
    return h;
}

uint64_t compute_result(uint64_t h, const struct compute_mark *k, const struct warp *w, const struct xinst *i,
                        uint32_t lanes) {
    if (!k->result)
        return h;
    for (uint32_t n = 0; n < i->ndw; n++)
        h = value_mix_sum(h, value_sum(w->r[i->d + n], lanes));
    for (uint32_t n = 0; n < 2; n++)
        if (i->pd[n] != PRED_PT)
            h = value_mix(h, (uint64_t)(n + 3) << 32 | (w->p[i->pd[n]] & lanes));
    return h;
}

bool compute_waiting(const struct warp *w, uint32_t lanes) {
    for (uint32_t k = 0; k < w->depth; k++)
        if (w->stack[k].sync && w->stack[k].mask & lanes)
            return true;
    return false;
}
