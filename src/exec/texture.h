/* Texture sampling of 32 lanes, and surface addressing of one.
 *
 * A descriptor's address is a host address; whoever made the descriptor guarantees that the memory its sizes
 * and pitches span is there. Every index is brought into that range before it is used. */
#ifndef REPRISE_EXEC_TEXTURE_H
#define REPRISE_EXEC_TEXTURE_H

#include "exec/lanes.h"

/* Texels that one lane reads at most, of a level: linear filtering in three dimensions; and of two levels. */
enum { TEX_TEXELS = 8, TEX_FOOTPRINT = 2 * TEX_TEXELS };

struct tex_format {
    uint8_t bytes; /* of a channel */
    bool is_float, sgn;
    uint16_t channel_type, normalized_type; /* as OpenCL numbers them, which txq returns */
};
extern const struct tex_format tex_formats[];

unsigned tex_channels(const struct rp_tex_desc *t);
uint32_t tex_texel_bytes(const struct rp_tex_desc *t);
/* Texels along an axis, at least 1. */
uint32_t tex_extent(const struct rp_tex_desc *t, unsigned axis);
/* Bytes of memory that all its texels span, from its address on. */
uint64_t tex_memory_bytes(const struct rp_tex_desc *t);
unsigned tex_dimensions(enum tex_geom g);

/* What 32 lanes ask of one texture. Lanes that do not take part may hold any coordinates. */
struct tex_request {
    const struct rp_tex_desc *t;
    enum tex_geom geom;
    bool float_coords; /* f32 bits, or s32 */
    bool gather;       /* tld4 */
    bool tiled; /* offsets are those of the layout in a GPU's memory; tex_sample needs the plain ones */
    uint32_t lanes;
    const uint32_t *layer, *coord[3]; /* 64-byte aligned; layer counts for array geometries only */
    const int32_t *lod;               /* level of detail, in 256ths; NULL: 0 */
    const uint32_t *share; /* of each lane's result, in 256ths, when several levels are blended; NULL: all */
};

/* Samples the first channels. Results, of which there are four, are f32 bits for float and normalized-float
 * textures, else integers extended to 32 bits; channels the format lacks read 0, the fourth 1. Gather:
 * component of the four texels that linear filtering would blend, counterclockwise from (i, j + 1). */
void tex_sample(const struct tex_request *q, unsigned component, unsigned channels,
                uint32_t out[4][WARP_LANES]);
/* Levels of detail from what tex.level names, and from the gradients of tex.grad; the texture's bias added.
 */
void tex_lods(const struct rp_tex_desc *t, const uint32_t *level, int32_t *lod);
void tex_lods_of_gradients(const struct rp_tex_desc *t, unsigned dims, const uint32_t *const dx[3],
                           const uint32_t *const dy[3], int32_t *lod);
/* Lists the addresses of the texels that tex_sample would read, those of one lane and level in a row; there
 * is room for TEX_FOOTPRINT of each lane. Texels outside, which read as border or zero, are not among them;
 * those that a filter gives no weight are, as the unit fetches before it weighs. Adds their number to each
 * lane's in each. */
uint32_t tex_footprint(const struct tex_request *q, uint64_t *at, uint8_t *lane, uint8_t *each);
/* Where, in a GPU's memory, the byte would lie that is at a host address of the texture. */
uint64_t tex_tiled_address(const struct rp_tex_desc *t, uint64_t at);
/* txq, suq */
uint32_t tex_query(const struct rp_tex_desc *t, enum txq_mode q, uint32_t level);

/* What a surface access does. */
enum surf_hit { SURF_HIT, SURF_MISS, SURF_FAULT }; /* MISS: loads give 0, stores do nothing */

/* Finds bytes bytes at coord (x counted in bytes, then y, z) of layer. On a hit *at is their host address. */
enum surf_hit surf_locate(const struct rp_tex_desc *t, enum tex_geom g, enum surf_clamp clamp, uint32_t layer,
                          const int32_t coord[3], uint32_t bytes, uint8_t **at);
/* sust.p: stores count channels from 32-bit words into the texel at coord (x counted in texels), converted to
 * the surface's format: floats to float and normalized formats, integers clamped. */
enum surf_hit surf_store_formatted(const struct rp_tex_desc *t, enum tex_geom g, enum surf_clamp clamp,
                                   uint32_t layer, const int32_t coord[3], const uint32_t *words,
                                   unsigned count);

#endif
