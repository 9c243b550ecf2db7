/* Texture and surface instructions: from lanes to texture.c and back. */
#include <string.h>

#include "base/wide.h"
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

static const uint32_t zeros[WARP_LANES] __attribute__((aligned(64)));

/* Layer and coordinates of all lanes; those the instruction lacks are 0. */
static void set_coords(const struct exec *x, const struct warp *w, const struct xinst *i,
                       struct tex_request *q) {
    enum tex_geom g = (enum tex_geom)i->in->m.geom;
    uint32_t at = i->first[1], end = i->in->nsrc > 2 ? i->first[2] : i->nsw;
    q->layer = zeros;
    if (g == TEX_A1D || g == TEX_A2D || g == TEX_ACUBE)
        q->layer = src_lanes(x, w, i->s[at++]);
    for (uint32_t k = 0; k < 3; k++)
        q->coord[k] = at < end ? src_lanes(x, w, i->s[at++]) : zeros;
}

/* Those of one. */
static uint32_t lane_coords(const struct tex_request *q, uint32_t l, uint32_t c[3]) {
    for (uint32_t k = 0; k < 3; k++)
        c[k] = q->coord[k][l];
    return q->layer[l];
}

/* The sampler delivers 32-bit channels; 16-bit results are converted. */
static void to_half(uint32_t out[4][WARP_LANES], uint32_t channels) {
    struct imods m = {.stype = MT_F32, .dtype = MT_F16};
    for (uint32_t k = 0; k < channels; k++)
        for (uint32_t l = 0; l < WARP_LANES; l++)
            out[k][l] = (uint32_t)convert_value(&m, out[k][l]);
}

static bool surface(struct exec *x, struct warp *w, const struct xinst *i, const struct tex_request *r,
                    uint32_t l) {
    const struct rp_tex_desc *t = r->t;
    const struct imods *q = &i->in->m;
    uint32_t c[3], bytes = (uint32_t)q->size * q->vec, step = q->size >= 4 ? 4 : q->size,
                   words = (q->size > 4 ? q->size / 4u : 1u) * q->vec;
    uint32_t layer = lane_coords(r, l, c);
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

/* Whether all lanes have what one has. */
static WIDE_PART bool is_one(const uint32_t *lo, const uint32_t *hi, uint32_t lane) {
    uint32_t any = 0;
    for (uint32_t l = 0; l < WARP_LANES; l++)
        any |= (lo[l] ^ lo[lane]) | (hi[l] ^ hi[lane]);
    return !any;
}
WIDE_HERE(bool, name_one, (const uint32_t *lo, const uint32_t *hi, uint32_t lane), is_one, lo, hi, lane)

const struct rp_tex_desc *exec_next_texture(const struct exec *x, const struct warp *w, const struct xinst *i,
                                            uint32_t m, uint64_t *handle, uint32_t *same) {
    const uint32_t *lo = src_lanes(x, w, i->s[0]), *hi = src_lanes(x, w, i->s[1]);
    uint32_t first = (uint32_t)__builtin_ctz(m);
    *handle = (uint64_t)hi[first] << 32 | lo[first];
    *same = m;
    bool several = !(i->s[0] & i->s[1] & POOL) && !name_one(lo, hi, first); /* it is hardly ever so */
    for (uint32_t l = 0; several && l < WARP_LANES; l++)
        if (lo[l] != lo[first] || hi[l] != hi[first])
            *same &= ~(1u << l);
    return textures_get(x->tex, *handle);
}

/* Where a surface access of lane l begins; returns how many there are. */
static unsigned surface_at(const struct tex_request *r, const struct imods *q, uint32_t l, uint64_t *to) {
    uint32_t step = q->size >= 4 ? 4 : q->size, c[3], layer = lane_coords(r, l, c);
    uint8_t *at;
    enum surf_hit hit = surf_locate(r->t, (enum tex_geom)q->geom, (enum surf_clamp)q->lut, layer,
                                    (const int32_t *)c, q->lut == SURF_CLAMP ? step : q->size * q->vec, &at);
    if (hit != SURF_HIT)
        return 0;
    *to = r->tiled ? tex_tiled_address(r->t, (uint64_t)(uintptr_t)at) : (uint64_t)(uintptr_t)at;
    return 1;
}

/* Levels of detail, if the texture has levels; lod has room for them. */
static void set_lods(const struct exec *x, const struct warp *w, const struct xinst *i, struct tex_request *r,
                     int32_t lod[WARP_LANES]) {
    uint32_t mode = i->in->m.mode;
    r->lod = NULL;
    if (r->t->levels < 2 || (mode != TEXM_LEVEL && mode != TEXM_GRAD))
        return;
    r->lod = lod;
    if (mode == TEXM_LEVEL) {
        tex_lods(r->t, src_lanes(x, w, i->s[i->first[2]]), lod);
        return;
    }
    bool cube = r->geom == TEX_CUBE || r->geom == TEX_ACUBE;
    unsigned dims = cube ? 3 : tex_dimensions(r->geom);
    const uint32_t *dx[3] = {zeros, zeros, zeros}, *dy[3] = {zeros, zeros, zeros};
    for (unsigned k = 0; k < dims; k++) {
        dx[k] = src_lanes(x, w, i->s[i->first[2] + k]);
        dy[k] = src_lanes(x, w, i->s[i->first[3] + k]);
    }
    tex_lods_of_gradients(r->t, dims, dx, dy, lod);
}

static struct tex_request request(const struct exec *x, const struct warp *w, const struct xinst *i) {
    const struct imods *q = &i->in->m;
    struct tex_request r = {.geom = (enum tex_geom)q->geom,
                            .float_coords = q->stype == MT_F32,
                            .gather = i->in->op == OP_TEX && q->mode == TEXM_GATHER};
    if (i->in->op != OP_TXQ)
        set_coords(x, w, i, &r);
    return r;
}

uint32_t exec_surface_outside(const struct exec *x, const struct warp *w, const struct xinst *i,
                              const struct rp_tex_desc *t, uint32_t m) {
    const struct imods *q = &i->in->m;
    uint32_t outside = 0;
    if (i->in->op == OP_TEX || i->in->op == OP_TXQ || q->lut != SURF_TRAP)
        return 0;
    struct tex_request r = request(x, w, i);
    for (uint32_t left = m; left; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(left), c[3], layer = lane_coords(&r, l, c);
        uint8_t *at;
        enum surf_hit hit = surf_locate(t, (enum tex_geom)q->geom, SURF_TRAP, layer, (const int32_t *)c,
                                        (uint32_t)q->size * q->vec, &at);
        outside |= (uint32_t)(hit == SURF_FAULT) << l;
    }
    return outside;
}

void exec_tex_touched(const struct exec *x, const struct warp *w, const struct xinst *i, uint32_t m,
                      bool tiled, struct tex_touched *to) {
    struct tex_request r = request(x, w, i);
    r.tiled = tiled;
    uint64_t handle;
    uint8_t each[WARP_LANES] = {0}, most = 0; /* elements of each lane */
    to->count = to->bytes = 0;
    for (uint32_t left = i->in->op == OP_TXQ ? 0 : m; left; left &= ~r.lanes) {
        uint32_t before = to->count;
        r.t = exec_next_texture(x, w, i, left, &handle, &r.lanes);
        if (!r.t)
            continue;
        if (i->in->op == OP_TEX) {
            int32_t lod[WARP_LANES];
            set_lods(x, w, i, &r, lod);
            to->count += tex_footprint(&r, &to->at[before], &to->lane[before], each);
            to->bytes = tex_texel_bytes(r.t);
        } else {
            to->bytes = (uint32_t)i->in->m.size * i->in->m.vec;
            if (!tiled && i->in->m.lut == SURF_CLAMP) /* each word is clamped by itself, see surface() */
                to->bytes = i->in->m.size < 4 ? i->in->m.size : 4;
            for (uint32_t l = 0; l < WARP_LANES; l++)
                if (r.lanes >> l & 1 && surface_at(&r, &i->in->m, l, &to->at[to->count])) {
                    to->lane[to->count++] = (uint8_t)l;
                    each[l]++;
                }
        }
    }
    for (uint32_t l = 0; l < WARP_LANES; l++)
        most = each[l] > most ? each[l] : most;
    to->most = most;
}

static void sample(const struct exec *x, struct warp *w, const struct xinst *i, struct tex_request *r) {
    _Alignas(64) uint32_t out[4][WARP_LANES];
    int32_t lod[WARP_LANES];
    set_lods(x, w, i, r, lod);
    tex_sample(r, i->in->m.lut, i->ndw, out);
    if (i->in->m.dtype == MT_F16 || i->in->m.dtype == MT_F16X2)
        to_half(out, i->ndw);
    for (uint32_t k = 0; k < i->ndw; k++)
        lane_blend(w->r[i->d + k], out[k], r->lanes);
}

/* Whether the memory behind a texture is still there: the program may have freed it. */
static bool backed(struct exec *x, const struct rp_tex_desc *t) {
    const struct mem_span *h = &x->hint.texels;
    uint64_t bytes = tex_memory_bytes(t);
    if (!t->addr || (t->addr - h->addr < h->size && h->size - (t->addr - h->addr) >= bytes))
        return true;
    memory_span(x->mem, t->addr, &x->hint.texels);
    return memory_reaches(x->mem, t->addr, bytes);
}

bool exec_tex(struct exec *x, struct warp *w, const struct xinst *i, uint32_t m) {
    struct tex_request r = request(x, w, i);
    for (uint32_t left = m; left; left &= ~r.lanes) {
        uint64_t handle;
        r.t = exec_next_texture(x, w, i, left, &handle, &r.lanes);
        if (!r.t)
            return exec_fault(x, w, i, RP_ILLEGAL_ADDRESS, (uint32_t)__builtin_ctz(left), handle, 0,
                              MS_GLOBAL);
        if (i->in->op != OP_TXQ && !backed(x, r.t))
            return exec_fault(x, w, i, RP_ILLEGAL_ADDRESS, (uint32_t)__builtin_ctz(left), r.t->addr,
                              tex_texel_bytes(r.t), MS_GLOBAL);
        if (i->in->op == OP_TEX) {
            sample(x, w, i, &r);
            continue;
        }
        for (uint32_t l = 0; l < WARP_LANES; l++) {
            if (!(r.lanes >> l & 1))
                continue;
            if (i->in->op != OP_TXQ && !surface(x, w, i, &r, l))
                return false;
            if (i->in->op == OP_TXQ && i->ndw)
                w->r[i->d][l] = tex_query(r.t, (enum txq_mode)i->in->m.mode,
                                          i->in->nsrc > 1 ? src_lanes(x, w, i->s[i->first[1]])[l] : 0);
        }
    }
    return true;
}
