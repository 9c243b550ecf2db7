/* After the appendix on texture fetching of the CUDA programming guide: coordinates, address modes, and
 * linear filtering with weights of 8 fractional bits. Mipmaps, anisotropy and seamless cube edges are left
 * out. */
#include "exec/texture.h"

#include <math.h>
#include <string.h>

#include "exec/convert.h"

static const struct {
    uint8_t bytes;
    bool is_float, sgn;
    uint16_t channel_type, normalized_type; /* as OpenCL numbers them, which txq returns */
} formats[] = {
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
    return formats[t->format].is_float || (t->normalized_float && formats[t->format].bytes < 4);
}

/* ---- texels ---- */

/* A texel's place. */
struct place {
    int64_t x, y, z;
};

static unsigned channels_of(const struct rp_tex_desc *t) {
    return t->channels < 1 ? 1 : t->channels > 4 ? 4 : (unsigned)t->channels;
}

uint32_t tex_texel_bytes(const struct rp_tex_desc *t) {
    return channels_of(t) * formats[t->format].bytes;
}

static uint32_t extent(const struct rp_tex_desc *t, unsigned axis) {
    uint32_t n = axis == 0 ? t->width : axis == 1 ? t->height : t->depth;
    return n ? n : 1;
}

static int64_t clamp_index(int64_t i, uint32_t n) {
    return i < 0 ? 0 : i >= (int64_t)n ? (int64_t)n - 1 : i;
}

static float srgb_to_linear(float c) {
    return c <= 0.04045f ? c / 12.92f : powf((c + 0.055f) / 1.055f, 2.4f);
}

static uint32_t half_word(uint32_t bits) {
    const struct imods m = {.stype = MT_F16, .dtype = MT_F32};
    return (uint32_t)convert_value(&m, bits);
}

/* One channel as the program sees it. */
static uint32_t decode_channel(const struct rp_tex_desc *t, const uint8_t *at, unsigned channel) {
    unsigned bytes = formats[t->format].bytes;
    bool sgn = formats[t->format].sgn;
    uint32_t raw = 0;
    memcpy(&raw, at + channel * bytes, bytes);
    if (t->format == RP_TEX_F32)
        return raw;
    if (t->format == RP_TEX_F16)
        return half_word(raw);
    unsigned spare = 32 - 8 * bytes;
    int32_t value = sgn ? (int32_t)(raw << spare) >> spare : (int32_t)raw;
    if (!reads_float(t))
        return (uint32_t)value;
    float top = (float)((1u << (8 * bytes - (sgn ? 1 : 0))) - 1);
    float f = fmaxf((float)value / top, -1.0f);
    if (t->srgb && bytes == 1 && !sgn && channel < 3)
        f = srgb_to_linear(f);
    return float_word(f);
}

/* Where the texel at p lies, whose coordinates need not be in range; NULL outside. slice counts layers and
 * cube faces. */
static const uint8_t *locate(const struct rp_tex_desc *t, struct place p, uint32_t slice) {
    bool inside =
        p.x >= 0 && p.x < extent(t, 0) && p.y >= 0 && p.y < extent(t, 1) && p.z >= 0 && p.z < extent(t, 2);
    if (!inside || !t->addr)
        return NULL;
    const uint8_t *row = (const uint8_t *)(uintptr_t)t->addr + ((uint64_t)slice + (uint64_t)p.z) * t->slice +
                         (uint64_t)p.y * t->pitch;
    return row + (uint64_t)p.x * tex_texel_bytes(t);
}

/* The texel at p: border or zero outside. */
static void fetch(const struct rp_tex_desc *t, struct place p, uint32_t slice, bool border, uint32_t out[4]) {
    const uint8_t *at = locate(t, p, slice);
    bool as_float = reads_float(t);
    unsigned n = channels_of(t);
    const uint32_t one = as_float ? 0x3f800000u : 1;
    for (unsigned c = 0; c < 4; c++)
        out[c] = c == 3 ? one : 0;
    if (!at) {
        for (unsigned c = 0; c < 4; c++)
            out[c] = !border    ? 0
                     : as_float ? float_word(t->border[c])
                                : (uint32_t)(int64_t)fmaxf(-0x1p31f, fminf(t->border[c], 0x1p32f - 256));
        return;
    }
    for (unsigned c = 0; c < n; c++)
        out[c] = decode_channel(t, at, c);
}

/* ---- coordinates ---- */

/* The mode that counts: wrapping and mirroring need normalized coordinates. */
static enum rp_tex_address address_mode(const struct rp_tex_desc *t, unsigned axis) {
    enum rp_tex_address mode = t->address[axis];
    return mode == RP_ADDR_BORDER || t->normalized_coords ? mode : RP_ADDR_CLAMP;
}

/* Texel index i brought into range as the address mode of the axis says; border leaves it outside. */
static int64_t wrap_index(const struct rp_tex_desc *t, unsigned axis, int64_t i) {
    int64_t n = extent(t, axis), turn;
    switch (address_mode(t, axis)) {
    case RP_ADDR_WRAP:
        return (i % n + n) % n;
    case RP_ADDR_MIRROR:
        turn = (i % (2 * n) + 2 * n) % (2 * n);
        return turn < n ? turn : 2 * n - 1 - turn;
    case RP_ADDR_BORDER:
        return i;
    default:
        return clamp_index(i, (uint32_t)n);
    }
}

/* A coordinate in texels, kept where integers are exact; NaN reads as 0. */
static double scale_coord(const struct rp_tex_desc *t, unsigned axis, float x) {
    double v = t->normalized_coords ? (double)x * extent(t, axis) : (double)x;
    return v != v ? 0 : fmax(-0x1p40, fmin(v, 0x1p40));
}

/* Lower texel and weight (in 256ths) of the upper one. */
struct tap {
    int64_t index;
    unsigned weight;
};

static struct tap linear_tap(double x) {
    int64_t fixed = (int64_t)floor((x - 0.5) * 256 + 0.5);
    return (struct tap){fixed >> 8, (unsigned)(fixed & 255)};
}

static unsigned dimensions(enum tex_geom g) {
    return g == TEX_1D || g == TEX_A1D ? 1 : g == TEX_3D ? 3 : 2;
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

/* Float coordinates and the slice they are on. */
static uint32_t resolve(const struct rp_tex_desc *t, enum tex_geom g, uint32_t layer, const uint32_t coord[3],
                        float at[3]) {
    bool array = g == TEX_A1D || g == TEX_A2D || g == TEX_ACUBE, cube = g == TEX_CUBE || g == TEX_ACUBE;
    uint32_t layers = t->layers ? t->layers : 1;
    layer = array ? (uint32_t)clamp_index((int32_t)layer, layers) : 0;
    for (unsigned k = 0; k < 3; k++)
        at[k] = word_float(coord[k]);
    if (!cube)
        return layer;
    uint32_t face = cube_face(coord, at);
    return t->cubemap ? layer * 6 + face : 0;
}

/* ---- sampling ---- */

/* What a lane's instruction reads: texels, and how much each counts in linear filtering. */
struct texels {
    struct place at[TEX_TEXELS];
    double weight[TEX_TEXELS];
    unsigned count;
    uint32_t slice;
    bool linear, border;
};

static void find_point(const struct rp_tex_desc *t, unsigned dims, const double x[3], struct texels *to) {
    int64_t i[3] = {0, 0, 0};
    for (unsigned k = 0; k < dims; k++) {
        i[k] = wrap_index(t, k, (int64_t)floor(x[k]));
        to->border |= address_mode(t, k) == RP_ADDR_BORDER;
    }
    to->at[0] = (struct place){i[0], i[1], i[2]};
    to->count = 1;
}

static void find_linear(const struct rp_tex_desc *t, unsigned dims, const double x[3], struct texels *to) {
    struct tap tap[3] = {{0, 0}, {0, 0}, {0, 0}};
    for (unsigned k = 0; k < dims; k++) {
        tap[k] = linear_tap(x[k]);
        to->border |= address_mode(t, k) == RP_ADDR_BORDER;
    }
    for (unsigned corner = 0; corner < 1u << dims; corner++) {
        int64_t i[3] = {0, 0, 0};
        double weight = 1;
        for (unsigned k = 0; k < dims; k++) {
            unsigned upper = corner >> k & 1;
            i[k] = wrap_index(t, k, tap[k].index + upper);
            weight *= (upper ? tap[k].weight : 256 - tap[k].weight) / 256.0;
        }
        to->at[corner] = (struct place){i[0], i[1], i[2]};
        to->weight[corner] = weight;
    }
    to->count = 1u << dims;
    to->linear = true;
}

/* The texels tex_sample reads. */
static void find_sample(const struct rp_tex_desc *t, enum tex_geom g, bool float_coords, uint32_t layer,
                        const uint32_t coord[3], struct texels *to) {
    unsigned dims = dimensions(g);
    float at[3];
    double x[3];
    to->slice = resolve(t, g, layer, coord, at);
    to->linear = to->border = false;
    if (!float_coords) {
        to->at[0] = (struct place){(int32_t)coord[0], dims > 1 ? (int32_t)coord[1] : 0,
                                   dims > 2 ? (int32_t)coord[2] : 0};
        to->count = 1;
        return;
    }
    for (unsigned k = 0; k < 3; k++)
        x[k] = scale_coord(t, k, at[k]);
    if (t->linear && reads_float(t))
        find_linear(t, dims, x, to);
    else
        find_point(t, dims, x, to);
}

/* Those that tex_gather reads, in the order of its results. */
static void find_gather(const struct rp_tex_desc *t, enum tex_geom g, bool float_coords, uint32_t layer,
                        const uint32_t coord[3], struct texels *to) {
    static const uint8_t dx[4] = {0, 1, 1, 0}, dy[4] = {1, 1, 0, 0};
    float at[3];
    to->slice = resolve(t, g, layer, coord, at);
    to->linear = false;
    to->border = address_mode(t, 0) == RP_ADDR_BORDER || address_mode(t, 1) == RP_ADDR_BORDER;
    if (!float_coords)
        for (unsigned k = 0; k < 3; k++)
            at[k] = (float)(int32_t)coord[k];
    struct tap x = linear_tap(scale_coord(t, 0, at[0])), y = linear_tap(scale_coord(t, 1, at[1]));
    for (unsigned k = 0; k < 4; k++)
        to->at[k] = (struct place){wrap_index(t, 0, x.index + dx[k]), wrap_index(t, 1, y.index + dy[k]), 0};
    to->count = 4;
}

void tex_sample(const struct rp_tex_desc *t, enum tex_geom g, bool float_coords, uint32_t layer,
                const uint32_t coord[3], uint32_t out[4]) {
    struct texels s;
    find_sample(t, g, float_coords, layer, coord, &s);
    if (!s.linear) {
        fetch(t, s.at[0], s.slice, s.border, out);
        return;
    }
    double sum[4] = {0, 0, 0, 0};
    for (unsigned k = 0; k < s.count; k++) {
        uint32_t texel[4];
        if (s.weight[k] == 0) /* a texel that does not count must not bring its NaN */
            continue;
        fetch(t, s.at[k], s.slice, s.border, texel);
        for (unsigned c = 0; c < 4; c++)
            sum[c] += s.weight[k] * (double)word_float(texel[c]);
    }
    for (unsigned c = 0; c < 4; c++)
        out[c] = float_word((float)sum[c]);
}

void tex_gather(const struct rp_tex_desc *t, enum tex_geom g, bool float_coords, unsigned component,
                uint32_t layer, const uint32_t coord[3], uint32_t out[4]) {
    struct texels s;
    find_gather(t, g, float_coords, layer, coord, &s);
    for (unsigned k = 0; k < 4; k++) {
        uint32_t texel[4];
        fetch(t, s.at[k], s.slice, s.border, texel);
        out[k] = texel[component & 3];
    }
}

unsigned tex_footprint(const struct rp_tex_desc *t, enum tex_geom g, bool float_coords, bool gather,
                       uint32_t layer, const uint32_t coord[3], uint64_t at[TEX_TEXELS]) {
    struct texels s;
    unsigned n = 0;
    (gather ? find_gather : find_sample)(t, g, float_coords, layer, coord, &s);
    for (unsigned k = 0; k < s.count; k++) {
        const uint8_t *a = locate(t, s.at[k], s.slice);
        if (a)
            at[n++] = (uint64_t)(uintptr_t)a;
    }
    return n;
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
        return reads_float(t) ? formats[t->format].normalized_type : formats[t->format].channel_type;
    case TXQ_CHANNEL_ORDER:
        return orders[channels_of(t)];
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

/* ---- surfaces ---- */
enum surf_hit surf_locate(const struct rp_tex_desc *t, enum tex_geom g, enum surf_clamp clamp, uint32_t layer,
                          const int32_t coord[3], uint32_t bytes, uint8_t **at) {
    unsigned dims = dimensions(g);
    uint64_t row = (uint64_t)extent(t, 0) * channels_of(t) * formats[t->format].bytes;
    bool array = g == TEX_A1D || g == TEX_A2D || g == TEX_ACUBE || g == TEX_CUBE;
    uint32_t layers = (t->layers ? t->layers : 1) * (t->cubemap ? 6 : 1);
    int64_t p[4] = {coord[0], dims > 1 ? coord[1] : 0, dims > 2 ? coord[2] : 0, array ? (int64_t)layer : 0};
    int64_t top[4] = {(int64_t)row - bytes, (int64_t)extent(t, 1) - 1, (int64_t)extent(t, 2) - 1,
                      (int64_t)layers - 1};
    bool inside = top[0] >= 0 && t->addr;
    for (unsigned k = 0; k < 4 && inside; k++) {
        if (p[k] >= 0 && p[k] <= top[k])
            continue;
        if (clamp == SURF_CLAMP)
            p[k] = p[k] < 0 ? 0 : top[k];
        else
            inside = false;
    }
    if (!inside || (uint64_t)p[0] % bytes)
        return clamp == SURF_TRAP ? SURF_FAULT : SURF_MISS;
    *at = (uint8_t *)(uintptr_t)t->addr + (uint64_t)(p[2] + p[3]) * t->slice + (uint64_t)p[1] * t->pitch +
          (uint64_t)p[0];
    return SURF_HIT;
}

/* Bits of one channel of the surface's format. */
static uint32_t encode_channel(enum rp_tex_format format, uint32_t word) {
    static const uint8_t types[] = {
        [RP_TEX_U8] = MT_U8, [RP_TEX_U16] = MT_U16, [RP_TEX_S8] = MT_S8, [RP_TEX_S16] = MT_S16};
    if (formats[format].bytes == 4)
        return word;
    struct imods m = {.stype = formats[format].sgn ? MT_S32 : MT_U32, .dtype = types[format]};
    if (format == RP_TEX_F16)
        m = (struct imods){.stype = MT_F32, .dtype = MT_F16};
    return (uint32_t)convert_value(&m, word);
}

enum surf_hit surf_store_formatted(const struct rp_tex_desc *t, enum tex_geom g, enum surf_clamp clamp,
                                   uint32_t layer, const int32_t coord[3], const uint32_t *words,
                                   unsigned count) {
    unsigned n = channels_of(t), size = formats[t->format].bytes;
    int64_t x = (int64_t)coord[0] * n * size; /* beyond 32 bits it is as far outside as the limit */
    int32_t bytes[3] = {(int32_t)(x > INT32_MAX   ? INT32_MAX
                                  : x < INT32_MIN ? INT32_MIN
                                                  : x),
                        coord[1], coord[2]};
    uint8_t *at;
    enum surf_hit hit = surf_locate(t, g, clamp, layer, bytes, n * size, &at);
    for (unsigned c = 0; hit == SURF_HIT && c < n && c < count; c++) {
        uint32_t v = encode_channel(t->format, words[c]);
        memcpy(at + c * size, &v, size);
    }
    return hit;
}
