/* Texture sampling and surface addressing, one lane at a time.
 *
 * A descriptor's address is a host address; whoever made the descriptor guarantees that the memory its sizes
 * and pitches span is there. Every index is brought into that range before it is used. */
#ifndef REPRISE_EXEC_TEXTURE_H
#define REPRISE_EXEC_TEXTURE_H

#include "isa/isa.h"
#include "reprise.h"

enum { TEX_TEXELS = 8 }; /* that one lane reads at most: linear filtering in three dimensions */

uint32_t tex_texel_bytes(const struct rp_tex_desc *t);

/* Samples t at coord[0..2] (f32 bits, or s32 when float_coords is false) of layer, which counts for array
 * geometries only. The four results are f32 bits for float and normalized-float textures, else integers
 * extended to 32 bits; channels the format lacks read 0, the fourth 1. */
void tex_sample(const struct rp_tex_desc *t, enum tex_geom g, bool float_coords, uint32_t layer,
                const uint32_t coord[3], uint32_t out[4]);
/* tld4: one component of the four texels that linear filtering would blend, counterclockwise from (i, j + 1).
 */
void tex_gather(const struct rp_tex_desc *t, enum tex_geom g, bool float_coords, unsigned component,
                uint32_t layer, const uint32_t coord[3], uint32_t out[4]);
/* The addresses of the texels that tex_sample, or tex_gather, would read; returns how many. Texels outside,
 * which read as border or zero, are not among them; those that a filter gives no weight are, as the unit
 * fetches before it weighs. */
unsigned tex_footprint(const struct rp_tex_desc *t, enum tex_geom g, bool float_coords, bool gather,
                       uint32_t layer, const uint32_t coord[3], uint64_t at[TEX_TEXELS]);
/* txq, suq */
uint32_t tex_query(const struct rp_tex_desc *t, enum txq_mode q);

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
