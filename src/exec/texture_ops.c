/* Texture and surface instructions: from lanes to texture.c and back. */
#include <string.h>

#include "exec/convert.h"
#include "exec/texture_ops.h"

uint64_t textures_add(struct textures *t, const struct rp_tex_desc *d) {
    for (uint32_t i = 0; i < t->slots.len; i++)
        if (!t->slots.at[i].used) {
            t->slots.at[i] = (struct texture_slot){*d, true};
            return i + 1u;
        }
    vec_push(&t->slots, (struct texture_slot){*d, true});
    return t->slots.len;
}

void textures_remove(struct textures *t, uint64_t handle) {
    if (handle && handle <= t->slots.len)
        t->slots.at[handle - 1].used = false;
}

const struct rp_tex_desc *textures_get(const struct textures *t, uint64_t handle) {
    return handle && handle <= t->slots.len && t->slots.at[handle - 1].used ? &t->slots.at[handle - 1].desc
                                                                            : NULL;
}

static bool is_array(enum tex_geom g) {
    return g == TEX_A1D || g == TEX_A2D || g == TEX_ACUBE;
}

/* Layer and coordinates of a lane. */
static uint32_t lane_coords(const struct exec *x, const struct warp *w, const struct xinst *i, uint32_t l,
                            uint32_t c[3]) {
    uint32_t at = i->first[1], n = i->nsw - at, layer = 0, k = 0;
    if (i->in->nsrc > 2)
        n = i->first[2] - at;
    if (is_array((enum tex_geom)i->in->m.geom))
        layer = src_lanes(x, w, i->s[at + k++])[l];
    for (uint32_t j = 0; j < 3; j++)
        c[j] = k < n ? src_lanes(x, w, i->s[at + k++])[l] : 0;
    return layer;
}

/* The sampler delivers 32-bit channels; 16-bit results are converted. */
static void to_half(uint32_t out[4]) {
    struct imods m = {.stype = MT_F32, .dtype = MT_F16};
    for (int k = 0; k < 4; k++)
        out[k] = (uint32_t)convert_value(&m, out[k]);
}

static bool surface(struct exec *x, struct warp *w, const struct xinst *i, const struct rp_tex_desc *t,
                    uint32_t l) {
    const struct imods *q = &i->in->m;
    uint32_t c[3], bytes = (uint32_t)q->size * q->vec, step = q->size >= 4 ? 4 : q->size,
                   words = (q->size > 4 ? q->size / 4u : 1u) * q->vec;
    uint32_t layer = lane_coords(x, w, i, l, c);
    uint8_t *at = NULL;
    bool clamp =
        q->lut ==
        SURF_CLAMP; /* the hardware clamps each word by itself: past the end all are the row's last */
    enum surf_hit hit = surf_locate(t, (enum tex_geom)q->geom, (enum surf_clamp)q->lut, layer,
                                    (const int32_t *)c, clamp ? step : bytes, &at);
    if (hit == SURF_FAULT)
        return exec_fault(x, w, i, RP_ILLEGAL_ADDRESS, l, t->addr, bytes, MS_GLOBAL);
    for (uint32_t k = 0; k < words; k++) {
        uint32_t v = 0;
        if (clamp && k) {
            c[0] += step;
            surf_locate(t, (enum tex_geom)q->geom, SURF_CLAMP, layer, (const int32_t *)c, step, &at);
            at -= step * k;
        }
        if (i->in->op == OP_SULD) {
            if (hit == SURF_HIT)
                memcpy(&v, at + step * k, step);
            if (i->ndw)
                w->r[i->d + k][l] = v;
        } else if (hit == SURF_HIT) {
            v = src_lanes(x, w, i->s[i->first[2] + k])[l];
            if (i->in->op == OP_SURED) {
                uint32_t old;
                memcpy(&old, at, 4);
                bool sgn = q->dtype == MT_S32;
                bool less = sgn ? (int32_t)v < (int32_t)old : v < old;
                v = q->aop == ATOM_MIN   ? (less ? v : old)
                    : q->aop == ATOM_MAX ? (less ? old : v)
                    : q->aop == ATOM_AND ? (old & v)
                    : q->aop == ATOM_OR  ? (old | v)
                                         : old + v;
            }
            memcpy(at + step * k, &v, step);
        }
    }
    return true;
}

static uint64_t lane_handle(const struct exec *x, const struct warp *w, const struct xinst *i, uint32_t l) {
    return (uint64_t)src_lanes(x, w, i->s[1])[l] << 32 | src_lanes(x, w, i->s[0])[l];
}

/* Where a lane's surface access begins. */
static unsigned surface_at(const struct rp_tex_desc *t, const struct imods *q, uint32_t layer,
                           const uint32_t c[3], uint64_t *to) {
    uint32_t step = q->size >= 4 ? 4 : q->size;
    uint8_t *at;
    enum surf_hit hit = surf_locate(t, (enum tex_geom)q->geom, (enum surf_clamp)q->lut, layer,
                                    (const int32_t *)c, q->lut == SURF_CLAMP ? step : q->size * q->vec, &at);
    if (hit != SURF_HIT)
        return 0;
    *to = (uint64_t)(uintptr_t)at;
    return 1;
}

void exec_tex_touched(const struct exec *x, const struct warp *w, const struct xinst *i, uint32_t m,
                      struct tex_touched *to) {
    const struct imods *q = &i->in->m;
    to->count = to->most = to->bytes = 0;
    if (i->in->op == OP_TXQ)
        return;
    for (uint32_t left = m; left; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(left), c[3], layer = lane_coords(x, w, i, l, c), n;
        const struct rp_tex_desc *t = textures_get(x->tex, lane_handle(x, w, i, l));
        if (!t)
            continue;
        if (i->in->op == OP_TEX)
            n = tex_footprint(t, (enum tex_geom)q->geom, q->stype == MT_F32, q->mode == TEXM_GATHER, layer, c,
                              &to->at[to->count]);
        else
            n = surface_at(t, q, layer, c, &to->at[to->count]);
        memset(&to->lane[to->count], (int)l, n);
        to->count += n;
        to->most = n > to->most ? n : to->most;
        to->bytes = i->in->op == OP_TEX ? tex_texel_bytes(t) : (uint32_t)q->size * q->vec;
    }
}

bool exec_tex(struct exec *x, struct warp *w, const struct xinst *i, uint32_t m) {
    const struct imods *q = &i->in->m;
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        if (!(m >> l & 1))
            continue;
        uint64_t handle = lane_handle(x, w, i, l);
        const struct rp_tex_desc *t = textures_get(x->tex, handle);
        if (!t)
            return exec_fault(x, w, i, RP_ILLEGAL_ADDRESS, l, handle, 0, MS_GLOBAL);
        if (i->in->op == OP_TXQ) {
            if (i->ndw)
                w->r[i->d][l] = tex_query(t, (enum txq_mode)q->mode);
            continue;
        }
        if (i->in->op != OP_TEX) {
            if (!surface(x, w, i, t, l))
                return false;
            continue;
        }
        uint32_t c[3], out[4], layer = lane_coords(x, w, i, l, c);
        bool flt = q->stype == MT_F32;
        if (q->mode == TEXM_GATHER)
            tex_gather(t, (enum tex_geom)q->geom, flt, q->lut, layer, c, out);
        else
            tex_sample(t, (enum tex_geom)q->geom, flt, layer, c, out);
        if (q->dtype == MT_F16 || q->dtype == MT_F16X2)
            to_half(out);
        for (uint32_t k = 0; k < 4 && i->ndw; k++)
            w->r[i->d + k][l] = out[k];
    }
    return true;
}
