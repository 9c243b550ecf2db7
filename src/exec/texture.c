/* After the appendix on texture fetching of the CUDA programming guide, and after what an H200 gives:
 * coordinates, address modes, linear filtering with weights of 8 fractional bits, mipmaps. Anisotropy and
 * seamless cube edges are left out. What is done for each lane stands in lanes_tex.c. */
#include "exec/texture.h"

#include <math.h>
#include <string.h>

#include "base/ieee.h"
#include "exec/convert.h"

const struct tex_format tex_formats[] = {
    [RP_TEX_U8] = {1, false, false, 0x10da, 0x10d2},  [RP_TEX_U16] = {2, false, false, 0x10db, 0x10d3},
    [RP_TEX_U32] = {4, false, false, 0x10dc, 0x10dc}, [RP_TEX_S8] = {1, false, true, 0x10d7, 0x10d0},
    [RP_TEX_S16] = {2, false, true, 0x10d8, 0x10d1},  [RP_TEX_S32] = {4, false, true, 0x10d9, 0x10d9},
    [RP_TEX_F16] = {2, true, true, 0x10dd, 0x10dd},   [RP_TEX_F32] = {4, true, true, 0x10de, 0x10de},
};

/* True when texels are floats for the program. */
static bool reads_float(const struct rp_tex_desc *t) {
    return tex_formats[t->format].is_float || (t->normalized_float && tex_formats[t->format].bytes < 4);
}

unsigned tex_channels(const struct rp_tex_desc *t) {
    return t->channels < 1 ? 1 : t->channels > 4 ? 4 : (unsigned)t->channels;
}

uint32_t tex_texel_bytes(const struct rp_tex_desc *t) {
    return tex_channels(t) * tex_formats[t->format].bytes;
}

uint32_t tex_extent(const struct rp_tex_desc *t, unsigned axis) {
    uint32_t n = axis == 0 ? t->width : axis == 1 ? t->height : t->depth;
    return n ? n : 1;
}

uint64_t tex_memory_bytes(const struct rp_tex_desc *t) {
    uint64_t layers = (uint64_t)(t->layers ? t->layers : 1) * (t->cubemap ? 6 : 1), depth = tex_extent(t, 2);
    return t->slice * (layers > depth ? layers : depth);
}

unsigned tex_dimensions(enum tex_geom g) {
    return g == TEX_1D || g == TEX_A1D ? 1 : g == TEX_3D ? 3 : 2;
}

/* ---- which texels ---- */

/* What an instruction reads: for each lane the same number of texels. */
struct texels {
    unsigned count;
    bool linear, border;                                /* blended by weight; outside is the border colour */
    uint32_t inside[TEX_TEXELS];                        /* lanes whose texel is there */
    _Alignas(64) uint64_t at[TEX_TEXELS][WARP_LANES];   /* its offset */
    _Alignas(64) double weight[TEX_TEXELS][WARP_LANES]; /* how much it counts, if linear */
};

/* The mode that counts: wrapping and mirroring need normalized coordinates. */
static enum rp_tex_address address_mode(const struct rp_tex_desc *t, unsigned axis) {
    enum rp_tex_address mode = t->address[axis];
    bool free = mode == RP_ADDR_WRAP || mode == RP_ADDR_MIRROR;
    return mode == RP_ADDR_BORDER || (free && t->normalized_coords) ? mode : RP_ADDR_CLAMP;
}

static struct tex_axis axis_of(const struct rp_tex_desc *t, unsigned axis) {
    uint32_t n = tex_extent(t, axis);
    return (struct tex_axis){t->normalized_coords ? n : 1, n, address_mode(t, axis)};
}

/* A direction to a face and coordinates on it. */
static uint32_t cube_face(const uint32_t coord[3], float on_face[3]) {
    float x = float_of(coord[0]), y = float_of(coord[1]), z = float_of(coord[2]);
    float ax = fabsf(x), ay = fabsf(y), az = fabsf(z), major, s, v;
    uint32_t face;
    if (ax >= ay && ax >= az) {
        face = x < 0;
        major = ax, s = x < 0 ? z : -z, v = -y;
    } else if (ay >= az) {
        face = 2 + (y < 0);
        major = ay, s = x, v = y < 0 ? -z : z;
    } else {
        face = 4 + (z < 0);
        major = az, s = z < 0 ? -x : x, v = -y;
    }
    on_face[0] = (s / major + 1) / 2;
    on_face[1] = (v / major + 1) / 2;
    on_face[2] = 0;
    return face;
}

/* Coordinates of 32 lanes on their slices, which count layers and cube faces; slice stays NULL where there is
 * only one. */
struct placed {
    const uint32_t *coord[3], *slice;
    _Alignas(64) uint32_t on_face[3][WARP_LANES], slices[WARP_LANES];
};

static void place(const struct tex_request *q, struct placed *p) {
    const struct rp_tex_desc *t = q->t;
    bool array = q->geom == TEX_A1D || q->geom == TEX_A2D || q->geom == TEX_ACUBE;
    bool cube = q->geom == TEX_CUBE || q->geom == TEX_ACUBE;
    int32_t last = (int32_t)(t->layers ? t->layers : 1) - 1;
    p->slice = array || cube ? p->slices : NULL;
    for (unsigned k = 0; k < 3; k++)
        p->coord[k] = cube ? p->on_face[k] : q->coord[k];
    for (unsigned l = 0; l < WARP_LANES && p->slice; l++) {
        int32_t layer = array ? (int32_t)q->layer[l] : 0;
        p->slices[l] = (uint32_t)(layer < 0 ? 0 : layer > last ? last : layer);
        if (!cube)
            continue;
        float on_face[3];
        uint32_t face = cube_face((uint32_t[3]){q->coord[0][l], q->coord[1][l], q->coord[2][l]}, on_face);
        p->slices[l] = t->cubemap ? p->slices[l] * 6 + face : 0;
        for (unsigned k = 0; k < 3; k++)
            p->on_face[k][l] = bits_of_float(on_face[k]);
    }
}

/* Offsets of texel k of all lanes, whose indices need not be in range. */
static void locate(const struct tex_request *q, const struct placed *p, const int32_t *const index[3],
                   struct texels *to, unsigned k) {
    const struct rp_tex_desc *t = q->t;
    const struct tex_layout y = {
        .index = {index[0], index[1], index[2]},
        .slice = p->slice,
        .extent = {tex_extent(t, 0), tex_extent(t, 1), tex_extent(t, 2)},
        .texel_bytes = tex_texel_bytes(t),
        .pitch = t->pitch,
        .slice_bytes = t->slice,
        .tiled = q->tiled && t->tiled,
    };
    to->inside[k] = t->addr ? lane_texture.offsets(&y, to->at[k]) : 0;
}

static const uint32_t whole[WARP_LANES] __attribute__((aligned(64))) = {
    256, 256, 256, 256, 256, 256, 256, 256, 256, 256, 256, 256, 256, 256, 256, 256,
    256, 256, 256, 256, 256, 256, 256, 256, 256, 256, 256, 256, 256, 256, 256, 256};

static void find_linear(const struct tex_request *q, const struct placed *p, struct texels *to) {
    _Alignas(64) int32_t index[3][2][WARP_LANES];
    _Alignas(64) uint32_t weight[3][WARP_LANES];
    unsigned dims = tex_dimensions(q->geom);
    const uint32_t *weights[3] = {NULL, NULL, NULL};
    if (q->geom == TEX_1D && address_mode(q->t, 1) == RP_ADDR_BORDER)
        dims = 2; /* at y = 0: half of it is the border, on a GPU, too */
    for (unsigned k = 0; k < dims; k++) {
        struct tex_axis a = axis_of(q->t, k);
        lane_texture.linear(&a, p->coord[k], index[k][0], index[k][1], weight[k]);
        weights[k] = weight[k];
        to->border |= a.mode == RP_ADDR_BORDER;
    }
    to->count = 1u << dims;
    to->linear = true;
    for (unsigned c = 0; c < to->count; c++) {
        const int32_t *at[3] = {NULL, NULL, NULL};
        for (unsigned k = 0; k < dims; k++)
            at[k] = index[k][c >> k & 1];
        locate(q, p, at, to, c);
        lane_texture.weigh(to->weight[c], weights, c, q->share ? q->share : whole);
    }
}

/* Texels at integer coordinates, or the nearest to others. */
static void find_point(const struct tex_request *q, const struct placed *p, struct texels *to) {
    _Alignas(64) int32_t index[3][WARP_LANES];
    const int32_t *at[3] = {NULL, NULL, NULL};
    unsigned dims = tex_dimensions(q->geom);
    for (unsigned k = 0; k < dims; k++) {
        at[k] = index[k];
        if (!q->float_coords) {
            at[k] = (const int32_t *)q->coord[k];
            continue;
        }
        struct tex_axis a = axis_of(q->t, k);
        lane_texture.point(&a, p->coord[k], index[k]);
        to->border |= a.mode == RP_ADDR_BORDER;
    }
    to->count = 1;
    locate(q, p, at, to, 0);
}

/* The four texels around, counterclockwise from (i, j + 1). */
static void find_gather(const struct tex_request *q, const struct placed *p, struct texels *to) {
    static const uint8_t dx[4] = {0, 1, 1, 0}, dy[4] = {1, 1, 0, 0};
    _Alignas(64) int32_t index[2][2][WARP_LANES];
    _Alignas(64) uint32_t weight[WARP_LANES];
    for (unsigned k = 0; k < 2; k++) {
        struct tex_axis a = axis_of(q->t, k);
        lane_texture.linear(&a, p->coord[k], index[k][0], index[k][1], weight);
        to->border |= a.mode == RP_ADDR_BORDER;
    }
    to->count = 4;
    for (unsigned k = 0; k < 4; k++)
        locate(q, p, (const int32_t *const[3]){index[0][dx[k]], index[1][dy[k]], NULL}, to, k);
}

static void find(const struct tex_request *q, struct texels *to) {
    struct placed p;
    to->linear = to->border = false;
    place(q, &p);
    if (q->gather)
        find_gather(q, &p, to);
    else if (q->float_coords && q->t->linear && reads_float(q->t))
        find_linear(q, &p, to);
    else
        find_point(q, &p, to);
}

/* ---- what they hold ---- */

/* In which form texels are blended: floats; halves, whose blend is a half, and sRGB becomes halves; or, for
 * normalized integers, parts of 16 bits, 65535 or 32767 of which are 1. */
enum blend { BLEND_FLOAT, BLEND_HALF, BLEND_PARTS };

static bool is_srgb(const struct rp_tex_desc *t, unsigned c) {
    return t->srgb && reads_float(t) && t->format == RP_TEX_U8 && c < 3;
}

static enum blend blend_of(const struct rp_tex_desc *t, unsigned c) {
    return t->format == RP_TEX_F16 || is_srgb(t, c) ? BLEND_HALF
           : tex_formats[t->format].is_float        ? BLEND_FLOAT
                                                    : BLEND_PARTS;
}

static float parts_in_one(const struct rp_tex_desc *t) {
    return tex_formats[t->format].sgn ? 32767 : 65535;
}

/* What sRGB values are, as halves; an H200's. */
static const uint16_t srgb_halves[256] = {
    0x0000, 0x0d00, 0x1100, 0x1380, 0x1500, 0x1640, 0x1780, 0x1860, 0x1900, 0x19a0, 0x1a40, 0x1ae0, 0x1b80,
    0x1c20, 0x1c80, 0x1ce0, 0x1d50, 0x1dc0, 0x1e30, 0x1eb0, 0x1f30, 0x1fb0, 0x2018, 0x2060, 0x20b0, 0x20f8,
    0x2148, 0x21a0, 0x21f0, 0x2248, 0x22a8, 0x2300, 0x2360, 0x23d0, 0x2418, 0x2450, 0x2488, 0x24c0, 0x24f8,
    0x2530, 0x2570, 0x25b0, 0x25f0, 0x2630, 0x2670, 0x26b8, 0x2700, 0x2748, 0x2790, 0x27e0, 0x2818, 0x2840,
    0x2868, 0x2890, 0x28b8, 0x28e0, 0x2910, 0x2940, 0x2968, 0x2998, 0x29c8, 0x29f8, 0x2a28, 0x2a60, 0x2a90,
    0x2ac0, 0x2b00, 0x2b30, 0x2b60, 0x2ba0, 0x2bd0, 0x2c08, 0x2c28, 0x2c40, 0x2c60, 0x2c80, 0x2ca0, 0x2cc0,
    0x2ce0, 0x2d00, 0x2d20, 0x2d48, 0x2d68, 0x2d88, 0x2db0, 0x2dd0, 0x2df8, 0x2e18, 0x2e40, 0x2e68, 0x2e88,
    0x2eb0, 0x2ed8, 0x2f00, 0x2f28, 0x2f50, 0x2f80, 0x2fa0, 0x2fd0, 0x3000, 0x3010, 0x3028, 0x3040, 0x3058,
    0x3070, 0x3088, 0x30a0, 0x30b8, 0x30d0, 0x30e8, 0x3100, 0x3118, 0x3130, 0x3148, 0x3160, 0x3180, 0x3198,
    0x31b0, 0x31d0, 0x31e8, 0x3200, 0x3220, 0x3238, 0x3258, 0x3270, 0x3290, 0x32b0, 0x32c8, 0x32e8, 0x3308,
    0x3328, 0x3340, 0x3360, 0x3380, 0x33a0, 0x33c0, 0x33e0, 0x3400, 0x3410, 0x3420, 0x3430, 0x3440, 0x3450,
    0x3468, 0x3478, 0x3488, 0x3498, 0x34a8, 0x34c0, 0x34d0, 0x34e0, 0x34f0, 0x3508, 0x3518, 0x3528, 0x3540,
    0x3550, 0x3568, 0x3578, 0x3590, 0x35a0, 0x35b0, 0x35c8, 0x35e0, 0x35f0, 0x3608, 0x3618, 0x3630, 0x3640,
    0x3658, 0x3670, 0x3688, 0x3698, 0x36b0, 0x36c8, 0x36d8, 0x36f0, 0x3708, 0x3720, 0x3738, 0x3750, 0x3768,
    0x3780, 0x3790, 0x37b0, 0x37c0, 0x37e0, 0x37f0, 0x3808, 0x3810, 0x3820, 0x3828, 0x3838, 0x3848, 0x3850,
    0x3860, 0x3868, 0x3878, 0x3888, 0x3890, 0x38a0, 0x38b0, 0x38b8, 0x38c8, 0x38d8, 0x38e0, 0x38f0, 0x3900,
    0x3908, 0x3918, 0x3928, 0x3938, 0x3948, 0x3950, 0x3960, 0x3970, 0x3980, 0x3990, 0x3998, 0x39a8, 0x39b8,
    0x39c8, 0x39d8, 0x39e8, 0x39f8, 0x3a08, 0x3a18, 0x3a28, 0x3a38, 0x3a48, 0x3a58, 0x3a68, 0x3a78, 0x3a88,
    0x3a98, 0x3aa8, 0x3ab8, 0x3ac8, 0x3ad8, 0x3ae8, 0x3af8, 0x3b08, 0x3b18, 0x3b28, 0x3b40, 0x3b50, 0x3b60,
    0x3b70, 0x3b80, 0x3b90, 0x3ba0, 0x3bb0, 0x3bd0, 0x3be0, 0x3bf0, 0x3c00,
};

static void halves_to_floats(uint32_t *d) {
    const struct imods m = {.stype = MT_F16, .dtype = MT_F32};
    for (unsigned l = 0; l < WARP_LANES; l++)
        d[l] = (uint32_t)convert_value(&m, d[l] & 0xffff);
}

/* Channel c of texel k as the program sees it, or in parts; lanes outside get anything. */
static void load_channel(const struct rp_tex_desc *t, const struct texels *s, unsigned k, unsigned c,
                         bool parts, uint32_t *d) {
    const struct tex_format *f = &tex_formats[t->format];
    bool present = c < tex_channels(t) && s->inside[k], as_float = reads_float(t);
    if (!present) {
        uint32_t v = c < 3 ? 0 : !as_float ? 1 : bits_of_float(parts ? parts_in_one(t) : 1);
        for (unsigned l = 0; l < WARP_LANES; l++)
            d[l] = v;
        return;
    }
    lane_texture.load(d, (const uint8_t *)(uintptr_t)t->addr, s->at[k], tex_texel_bytes(t), c, f->bytes,
                      f->sgn);
    float top = (float)((UINT64_C(1) << (8 * f->bytes - (f->sgn ? 1 : 0))) - 1);
    if (is_srgb(t, c)) {
        for (unsigned l = 0; l < WARP_LANES; l++)
            d[l] = srgb_halves[d[l] & 0xff];
        halves_to_floats(d);
    } else if (t->format == RP_TEX_F16)
        halves_to_floats(d);
    else if (as_float && !f->is_float && parts)
        for (unsigned l = 0; l < WARP_LANES; l++)
            d[l] = bits_of_float(fmaxf((float)(int32_t)d[l], -top) * (parts_in_one(t) / top));
    else if (as_float && !f->is_float)
        lane_texture.normalize(d, top);
}

/* The same with what lies outside: the border's colour, or zero. */
static void fetch_channel(const struct tex_request *q, const struct texels *s, unsigned k, unsigned c,
                          bool parts, uint32_t *d) {
    const struct rp_tex_desc *t = q->t;
    load_channel(t, s, k, c, parts, d);
    if (!(q->lanes & ~s->inside[k]))
        return;
    uint32_t v = !s->border       ? 0
                 : reads_float(t) ? bits_of_float(t->border[c] * (parts ? parts_in_one(t) : 1))
                                  : (uint32_t)(int64_t)fmaxf(-0x1p31f, fminf(t->border[c], 0x1p32f - 256));
    for (unsigned l = 0; l < WARP_LANES; l++)
        if (!(s->inside[k] >> l & 1))
            d[l] = v;
}

/* To the nearest half, the larger one of two as near. */
static float to_half(double v) {
    int e;
    frexp(v, &e);
    e = e < -13 ? -13 : e;
    return (float)copysign(ldexp(floor(ldexp(fabs(v), 11 - e) + 0.5), e - 11), v);
}

/* What channel c is when its texels have been added up. */
static void finish_channel(const struct rp_tex_desc *t, unsigned c, const double *sum, uint32_t *d) {
    switch (blend_of(t, c)) {
    case BLEND_FLOAT:
        lane_texture.round(d, sum);
        break;
    case BLEND_HALF:
        for (unsigned l = 0; l < WARP_LANES; l++)
            d[l] = bits_of_float(isfinite(sum[l]) ? to_half(sum[l]) : (float)sum[l]);
        break;
    case BLEND_PARTS:
        for (unsigned l = 0; l < WARP_LANES; l++)
            d[l] = bits_of_float((float)(floor(sum[l] + 0.5) / parts_in_one(t)));
        break;
    }
}

/* Channel c of the blended texels. */
static void blend_channel(const struct tex_request *q, const struct texels *s, unsigned c, uint32_t *d) {
    _Alignas(64) double sum[WARP_LANES] = {0};
    _Alignas(64) uint32_t texel[WARP_LANES];
    for (unsigned k = 0; k < s->count; k++) {
        fetch_channel(q, s, k, c, blend_of(q->t, c) == BLEND_PARTS, texel);
        lane_texture.add(sum, s->weight[k], texel);
    }
    finish_channel(q->t, c, sum, d);
}

/* ---- levels ---- */

/* What lanes take of a level: the share of each, 0 for others. */
struct level_part {
    uint32_t lanes;
    _Alignas(64) uint32_t share[WARP_LANES];
};

/* For each level, who takes what of it. */
static void divide_levels(const struct tex_request *q, struct level_part part[RP_TEX_LEVELS]) {
    const struct rp_tex_desc *t = q->t;
    int32_t last = ((int32_t)t->levels - 1) * 256,
            most = (int32_t)floorf(fminf(fmaxf(t->lod_max, 0), 99) * 256),
            least = (int32_t)floorf(fminf(fmaxf(t->lod_min, 0), 99) * 256);
    memset(part, 0, t->levels * sizeof *part);
    for (uint32_t left = q->lanes; left; left &= left - 1) {
        unsigned l = (unsigned)__builtin_ctz(left);
        int32_t lod = q->lod ? q->lod[l] : 0;
        lod = lod > most ? most : lod;
        lod = lod < least ? least : lod;
        lod = lod > last ? last : lod;
        if (!t->mip_linear)
            lod = (lod + 128) & ~255;
        struct level_part *p = &part[lod >> 8];
        p->lanes |= 1u << l;
        p->share[l] = 256 - ((uint32_t)lod & 255);
        if (lod & 255) {
            p[1].lanes |= 1u << l;
            p[1].share[l] = (uint32_t)lod & 255;
        }
    }
}

/* A texture that is one level of another. */
static struct rp_tex_desc level_alone(const struct rp_tex_desc *t, unsigned v) {
    const struct rp_tex_level *level = &t->level[v];
    struct rp_tex_desc d = *t;
    d.addr = level->addr;
    d.width = level->width;
    d.height = level->height;
    d.depth = level->depth;
    d.pitch = level->pitch;
    d.slice = level->slice;
    d.levels = 0;
    return d;
}

/* Adds what a level contributes to the four channels. */
static void add_level(const struct tex_request *q, double sum[4][WARP_LANES]) {
    struct texels s;
    _Alignas(64) uint32_t texel[WARP_LANES];
    _Alignas(64) double share[WARP_LANES];
    find(q, &s);
    for (unsigned l = 0; l < WARP_LANES; l++)
        share[l] = q->share[l] / 256.0;
    for (unsigned c = 0; c < 4; c++)
        for (unsigned k = 0; k < s.count; k++) {
            fetch_channel(q, &s, k, c, reads_float(q->t) && blend_of(q->t, c) == BLEND_PARTS, texel);
            if (reads_float(q->t))
                lane_texture.add(sum[c], s.linear ? s.weight[k] : share, texel);
            else
                for (unsigned l = 0; l < WARP_LANES; l++)
                    sum[c][l] +=
                        share[l] * (tex_formats[q->t->format].sgn ? (double)(int32_t)texel[l] : texel[l]);
        }
}

static void sample_levels(const struct tex_request *q, uint32_t out[4][WARP_LANES]) {
    struct level_part part[RP_TEX_LEVELS];
    _Alignas(64) double sum[4][WARP_LANES] = {{0}};
    divide_levels(q, part);
    for (unsigned v = 0; v < q->t->levels; v++) {
        if (!part[v].lanes)
            continue;
        struct rp_tex_desc t = level_alone(q->t, v);
        struct tex_request level = *q;
        level.t = &t;
        level.lanes = part[v].lanes;
        level.share = part[v].share;
        add_level(&level, sum);
    }
    for (unsigned c = 0; c < 4; c++)
        if (reads_float(q->t))
            finish_channel(q->t, c, sum[c], out[c]);
        else
            for (unsigned l = 0; l < WARP_LANES; l++)
                out[c][l] = (uint32_t)(int64_t)floor(sum[c][l]);
}

void tex_sample(const struct tex_request *q, unsigned component, unsigned channels,
                uint32_t out[4][WARP_LANES]) {
    struct texels s;
    uint32_t inside = UINT32_MAX;
    if (q->t->levels > 1 && q->float_coords && !q->gather) {
        sample_levels(q, out);
        return;
    }
    find(q, &s);
    for (unsigned k = 0; k < s.count; k++)
        inside &= s.inside[k];
    for (unsigned c = 0; c < channels; c++) {
        if (q->gather)
            fetch_channel(q, &s, c, component & 3, false, out[c]);
        else if (s.linear && (c < tex_channels(q->t) || q->lanes & ~inside))
            blend_channel(q, &s, c, out[c]);
        else /* weights sum up to 1, so what all texels lack stays as it is */
            fetch_channel(q, &s, 0, c, false, out[c]);
    }
}

/* ---- what watchers and the timed machine ask ---- */

uint32_t tex_footprint(const struct tex_request *q, uint64_t *at, uint8_t *lane, uint8_t *each) {
    struct texels s;
    uint32_t n = 0;
    if (q->t->levels > 1 && q->float_coords && !q->gather) {
        struct tex_request one = *q;
        struct level_part part[RP_TEX_LEVELS];
        divide_levels(q, part);
        for (unsigned v = 0; v < q->t->levels; v++) {
            struct rp_tex_desc t = level_alone(q->t, v);
            one.t = &t;
            one.lanes = part[v].lanes;
            n += part[v].lanes ? tex_footprint(&one, at + n, lane + n, each) : 0;
        }
        return n;
    }
    find(q, &s);
    if (s.count == 1 && (q->lanes & s.inside[0]) == UINT32_MAX) {
        const uint64_t base = q->t->addr;
        for (unsigned l = 0; l < WARP_LANES; l++)
            lane[l] = (uint8_t)l;
        for (unsigned l = 0; l < WARP_LANES; l++)
            at[l] = base + s.at[0][l];
        for (unsigned l = 0; l < WARP_LANES; l++)
            each[l]++;
        return WARP_LANES;
    }
    for (uint32_t left = q->lanes; left; left &= left - 1) {
        unsigned l = (unsigned)__builtin_ctz(left);
        for (unsigned k = 0; k < s.count; k++)
            if (s.inside[k] >> l & 1) {
                lane[n] = (uint8_t)l;
                at[n++] = q->t->addr + s.at[k][l];
                each[l]++;
            }
    }
    return n;
}

uint64_t tex_tiled_address(const struct rp_tex_desc *t, uint64_t at) {
    if (!t->tiled)
        return at;
    uint64_t off = at - t->addr, slice = off / t->slice, y = off % t->slice / t->pitch;
    return t->addr + slice * t->slice + tex_tile_offset(off % t->slice % t->pitch, y, t->pitch);
}

uint32_t tex_query(const struct rp_tex_desc *t, enum txq_mode q, uint32_t level) {
    static const uint16_t orders[] = {0x10b0, 0x10b0, 0x10b2, 0x10b4,
                                      0x10b5}; /* R, RG, RGB, RGBA in OpenCL */
    static const uint8_t modes[] = {
        [RP_ADDR_WRAP] = 0, [RP_ADDR_MIRROR] = 1, [RP_ADDR_CLAMP] = 3, [RP_ADDR_BORDER] = 4};
    const struct rp_tex_level all = {.width = t->width, .height = t->height, .depth = t->depth}, none = {0},
                              *at = !level              ? &all
                                    : level < t->levels ? &t->level[level]
                                                        : &none;
    switch (q) {
    case TXQ_WIDTH:
        return at->width;
    case TXQ_HEIGHT:
        return at->height;
    case TXQ_DEPTH:
        return at->depth;
    case TXQ_LEVELS:
        return t->levels ? t->levels : 1;
    case TXQ_CHANNEL_TYPE:
        return reads_float(t) ? tex_formats[t->format].normalized_type : tex_formats[t->format].channel_type;
    case TXQ_CHANNEL_ORDER:
        return orders[tex_channels(t)];
    case TXQ_ARRAY:
        return t->layers;
    case TXQ_NORMALIZED:
        return t->normalized_coords;
    case TXQ_FILTER:
        return t->linear;
    case TXQ_ADDR0:
    case TXQ_ADDR1:
    case TXQ_ADDR2:
        return modes[t->address[q - TXQ_ADDR0]];
    default: /* samples */
        return 1;
    }
}
