/* The GPU's table of textures and surfaces; a handle is an index plus one. */
#ifndef REPRISE_EXEC_TEXTURE_OPS_H
#define REPRISE_EXEC_TEXTURE_OPS_H

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

#endif
