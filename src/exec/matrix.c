/* Matrices of 8 by 8 halves, between shared memory and the registers of a warp, and transposed in registers.
 *
 * A row is 16 bytes. Lane l holds elements 2 * (l % 4) and the next of row l / 4; of a transposed matrix, the
 * same of column l / 4. The rows of matrix k lie where lanes 8 * k to 8 * k + 7 say. */
#include <string.h>

#include "exec/warp.h"

enum { SIDE = 8 };

uint32_t exec_row_lanes(const struct xinst *i) {
    uint32_t n = i->in->m.vec;
    return n == 4 ? UINT32_MAX : (1u << SIDE * n) - 1;
}

/* Host addresses of the rows of all matrices. */
static bool find_rows(struct exec *x, struct warp *w, const struct xinst *i, uint32_t m, uint64_t *at) {
    uint32_t lanes = m & exec_row_lanes(i);
    return exec_resolve(x, w, i, lanes ? lanes : m, i->bytes, at, NULL);
}

static uint16_t *element(const uint64_t *row, uint32_t r, uint32_t c) {
    return (uint16_t *)(uintptr_t)row[r] + c;
}

/* The place of half h of lane l. */
static uint16_t *place(const uint64_t *row, uint32_t l, uint32_t h, bool transposed) {
    uint32_t a = l / 4, b = l % 4 * 2 + h;
    return transposed ? element(row, b, a) : element(row, a, b);
}

bool exec_ldsm(struct exec *x, struct warp *w, const struct xinst *i, uint32_t m) {
    uint64_t at[WARP_LANES];
    if (!find_rows(x, w, i, m, at))
        return false;
    for (uint32_t k = 0; k < i->ndw; k++) {
        _Alignas(64) uint32_t v[WARP_LANES];
        for (uint32_t l = 0; l < WARP_LANES; l++) {
            uint16_t half[2];
            for (uint32_t h = 0; h < 2; h++)
                memcpy(&half[h], place(at + SIDE * k, l, h, i->in->m.mode), 2);
            v[l] = half[0] | (uint32_t)half[1] << 16;
        }
        lane_blend(w->r[i->d + k], v, m);
    }
    return true;
}

bool exec_stsm(struct exec *x, struct warp *w, const struct xinst *i, uint32_t m) {
    uint64_t at[WARP_LANES];
    if (!find_rows(x, w, i, m, at))
        return false;
    for (uint32_t k = 0; k < i->in->m.vec; k++) {
        const uint32_t *v = src_lanes(x, w, i->s[i->first[1] + k]);
        for (uint32_t l = 0; l < WARP_LANES; l++)
            for (uint32_t h = 0; h < 2 && m >> l & 1; h++) {
                uint16_t half = (uint16_t)(v[l] >> 16 * h);
                memcpy(place(at + SIDE * k, l, h, i->in->m.mode), &half, 2);
            }
    }
    return true;
}

bool exec_movm(struct exec *x, struct warp *w, const struct xinst *i, uint32_t m) {
    uint16_t matrix[SIDE][SIDE];
    uint64_t row[SIDE];
    _Alignas(64) uint32_t v[WARP_LANES];
    const uint32_t *a = src_lanes(x, w, i->s[0]);
    for (uint32_t r = 0; r < SIDE; r++)
        row[r] = (uintptr_t)matrix[r];
    for (uint32_t l = 0; l < WARP_LANES; l++)
        for (uint32_t h = 0; h < 2; h++)
            *place(row, l, h, false) = (uint16_t)(a[l] >> 16 * h);
    for (uint32_t l = 0; l < WARP_LANES; l++)
        v[l] = *place(row, l, 0, true) | (uint32_t)*place(row, l, 1, true) << 16;
    if (i->ndw)
        lane_blend(w->r[i->d], v, m);
    return true;
}
