/* The GPU's table of textures and surfaces; a handle is an index plus one. */
#ifndef REPRISE_EXEC_TEXTURE_OPS_H
#define REPRISE_EXEC_TEXTURE_OPS_H

#include "exec/texture.h"
#include "exec/warp.h"

struct texture_slot {
    struct rp_tex_desc desc;
    bool used;
};

struct textures {
    VEC(struct texture_slot) slots;
};

uint64_t textures_add(struct textures *t, const struct rp_tex_desc *d);
void textures_remove(struct textures *t, uint64_t handle);
/* NULL for a handle that is none. */
const struct rp_tex_desc *textures_get(const struct textures *t, uint64_t handle);

/* The memory that a texture or surface instruction touches: elements of equal size, those of one lane in a
 * row. */
struct tex_touched {
    uint32_t count, bytes; /* elements; of one */
    uint32_t most;         /* elements of one lane, at most */
    uint64_t at[WARP_LANES * TEX_FOOTPRINT];
    uint8_t lane[WARP_LANES * TEX_FOOTPRINT];
};

/* Finds what i, about to be carried out for lanes m, will touch; nothing for queries and bad handles. tiled:
 * addresses are those that a GPU's layout would give. */
void exec_tex_touched(const struct exec *x, const struct warp *w, const struct xinst *i, uint32_t m,
                      bool tiled, struct tex_touched *to);
/* Lanes of m whose access to surface t, which all of them name, would trap because it lies outside. */
uint32_t exec_surface_outside(const struct exec *x, const struct warp *w, const struct xinst *i,
                              const struct rp_tex_desc *t, uint32_t m);
/* The texture of the first lane of m, and the lanes of m that name the same one; NULL when it is none. */
const struct rp_tex_desc *exec_next_texture(const struct exec *x, const struct warp *w, const struct xinst *i,
                                            uint32_t m, uint64_t *handle, uint32_t *same);

#endif
