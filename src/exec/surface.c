/* Surfaces: texels addressed by byte, read and written as they lie there. */
#include <string.h>

#include "exec/convert.h"
#include "exec/texture.h"

enum surf_hit surf_locate(const struct rp_tex_desc *t, enum tex_geom g, enum surf_clamp clamp, uint32_t layer,
                          const int32_t coord[3], uint32_t bytes, uint8_t **at) {
    unsigned dims = tex_dimensions(g);
    uint64_t row = (uint64_t)tex_extent(t, 0) * tex_texel_bytes(t);
    bool array = g == TEX_A1D || g == TEX_A2D || g == TEX_ACUBE || g == TEX_CUBE;
    uint32_t layers = (t->layers ? t->layers : 1) * (t->cubemap ? 6 : 1);
    int64_t p[4] = {coord[0], dims > 1 ? coord[1] : 0, dims > 2 ? coord[2] : 0, array ? (int64_t)layer : 0};
    int64_t top[4] = {(int64_t)row - bytes, (int64_t)tex_extent(t, 1) - 1, (int64_t)tex_extent(t, 2) - 1,
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
    if (tex_formats[format].bytes == 4)
        return word;
    struct imods m = {.stype = tex_formats[format].sgn ? MT_S32 : MT_U32, .dtype = types[format]};
    if (format == RP_TEX_F16)
        m = (struct imods){.stype = MT_F32, .dtype = MT_F16};
    return (uint32_t)convert_value(&m, word);
}

enum surf_hit surf_store_formatted(const struct rp_tex_desc *t, enum tex_geom g, enum surf_clamp clamp,
                                   uint32_t layer, const int32_t coord[3], const uint32_t *words,
                                   unsigned count) {
    unsigned n = tex_channels(t), size = tex_formats[t->format].bytes;
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
