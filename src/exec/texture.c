/* After the appendix on texture fetching of the CUDA programming guide: coordinates, address modes, and
 * linear filtering with weights of 8 fractional bits. Mipmaps, anisotropy and seamless cube edges are left
 * out. What is done for each lane stands in lanes_tex.c. */
#include "exec/texture.h"

#include <math.h>
#include <string.h>

#include "exec/convert.h"

const struct tex_format tex_formats[] = {
    [RP_TEX_U8] = {1, false, false, 0x10da, 0x10d2},  [RP_TEX_U16] = {2, false, false, 0x10db, 0x10d3},
    [RP_TEX_U32] = {4, false, false, 0x10dc, 0x10dc}, [RP_TEX_S8] = {1, false, true, 0x10d7, 0x10d0},
    [RP_TEX_S16] = {2, false, true, 0x10d8, 0x10d1},  [RP_TEX_S32] = {4, false, true, 0x10d9, 0x10d9},
    [RP_TEX_F16] = {2, true, true, 0x10dd, 0x10dd},   [RP_TEX_F32] = {4, true, true, 0x10de, 0x10de},
};

static float word_float(uint32_t v) {
    float f;
    memcpy(&f, &v, sizeof f);
    return f;
}

static uint32_t float_word(float f) {
    uint32_t v;
    memcpy(&v, &f, sizeof v);
    return v;
}

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
    float x = word_float(coord[0]), y = word_float(coord[1]), z = word_float(coord[2]);
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
            p->on_face[k][l] = float_word(on_face[k]);
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

static void find_linear(const struct tex_request *q, const struct placed *p, struct texels *to) {
    _Alignas(64) int32_t index[3][2][WARP_LANES];
    _Alignas(64) uint32_t weight[3][WARP_LANES];
    unsigned dims = tex_dimensions(q->geom);
    const uint32_t *weights[3] = {NULL, NULL, NULL};
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
        lane_texture.weigh(to->weight[c], weights, c);
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

static float srgb_to_linear(float c) {
    return c <= 0.04045f ? c / 12.92f : powf((c + 0.055f) / 1.055f, 2.4f);
}

/* Channel c of texel k as the program sees it; lanes outside get anything. */
static void load_channel(const struct rp_tex_desc *t, const struct texels *s, unsigned k, unsigned c,
                         uint32_t *d) {
    const struct tex_format *f = &tex_formats[t->format];
    bool present = c < tex_channels(t) && s->inside[k], as_float = reads_float(t);
    if (!present) {
        uint32_t v = c < 3 ? 0 : as_float ? 0x3f800000u : 1;
        for (unsigned l = 0; l < WARP_LANES; l++)
            d[l] = v;
        return;
    }
    lane_texture.load(d, (const uint8_t *)(uintptr_t)t->addr + c * f->bytes, s->at[k], f->bytes, f->sgn);
    if (t->format == RP_TEX_F16) {
        const struct imods m = {.stype = MT_F16, .dtype = MT_F32};
        for (unsigned l = 0; l < WARP_LANES; l++)
            d[l] = (uint32_t)convert_value(&m, d[l] & 0xffff);
    } else if (as_float && !f->is_float) {
        lane_texture.normalize(d, (float)((1u << (8 * f->bytes - (f->sgn ? 1 : 0))) - 1));
        if (t->srgb && f->bytes == 1 && !f->sgn && c < 3)
            for (unsigned l = 0; l < WARP_LANES; l++)
                d[l] = float_word(srgb_to_linear(word_float(d[l])));
    }
}

/* The same with what lies outside: the border's colour, or zero. */
static void fetch_channel(const struct tex_request *q, const struct texels *s, unsigned k, unsigned c,
                          uint32_t *d) {
    const struct rp_tex_desc *t = q->t;
    load_channel(t, s, k, c, d);
    if (!(q->lanes & ~s->inside[k]))
        return;
    uint32_t v = !s->border       ? 0
                 : reads_float(t) ? float_word(t->border[c])
                                  : (uint32_t)(int64_t)fmaxf(-0x1p31f, fminf(t->border[c], 0x1p32f - 256));
    for (unsigned l = 0; l < WARP_LANES; l++)
        if (!(s->inside[k] >> l & 1))
            d[l] = v;
}

/* Channel c of the blended texels. */
static void blend_channel(const struct tex_request *q, const struct texels *s, unsigned c, uint32_t *d) {
    _Alignas(64) double sum[WARP_LANES] = {0};
    _Alignas(64) uint32_t texel[WARP_LANES];
    for (unsigned k = 0; k < s->count; k++) {
        fetch_channel(q, s, k, c, texel);
        lane_texture.add(sum, s->weight[k], texel);
    }
    lane_texture.round(d, sum);
}

void tex_sample(const struct tex_request *q, unsigned component, uint32_t out[4][WARP_LANES]) {
    struct texels s;
    uint32_t inside = UINT32_MAX;
    find(q, &s);
    for (unsigned k = 0; k < s.count; k++)
        inside &= s.inside[k];
    for (unsigned c = 0; c < 4; c++) {
        if (q->gather)
            fetch_channel(q, &s, c, component & 3, out[c]);
        else if (s.linear && (c < tex_channels(q->t) || q->lanes & ~inside))
            blend_channel(q, &s, c, out[c]);
        else /* weights sum up to 1, so what all texels lack stays as it is */
            fetch_channel(q, &s, 0, c, out[c]);
    }
}

/* ---- what watchers and the timed machine ask ---- */

uint32_t tex_footprint(const struct tex_request *q, uint64_t *at, uint8_t *lane) {
    struct texels s;
    uint32_t n = 0;
    find(q, &s);
    for (uint32_t left = q->lanes; left; left &= left - 1) {
        unsigned l = (unsigned)__builtin_ctz(left);
        for (unsigned k = 0; k < s.count; k++)
            if (s.inside[k] >> l & 1) {
                lane[n] = (uint8_t)l;
                at[n++] = q->t->addr + s.at[k][l];
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

uint32_t tex_query(const struct rp_tex_desc *t, enum txq_mode q) {
    static const uint16_t orders[] = {0x10b0, 0x10b0, 0x10b2, 0x10b4,
                                      0x10b5}; /* R, RG, RGB, RGBA in OpenCL */
    static const uint8_t modes[] = {
        [RP_ADDR_WRAP] = 0, [RP_ADDR_MIRROR] = 1, [RP_ADDR_CLAMP] = 3, [RP_ADDR_BORDER] = 4};
    switch (q) {
    case TXQ_WIDTH:
        return t->width;
    case TXQ_HEIGHT:
        return t->height;
    case TXQ_DEPTH:
        return t->depth;
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
    default: /* levels, samples */
        return 1;
    }
}
