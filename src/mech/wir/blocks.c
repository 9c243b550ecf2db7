/* Load hazards (WIR, section VI-A); the reasoning is in the header. */
#include "mech/wir/blocks.h"

#include <assert.h>

#include "mech/wir/rb.h"

enum { BOTH = BLOCKS_SHARED | BLOCKS_GLOBAL };

void blocks_init(struct blocks *b, struct arena *a, const struct blocks_spec *s) {
    assert(s->blocks <= RB_NO_BLOCK && s->max_count <= UINT8_MAX);
    *b = (struct blocks){.spec = *s};
    b->flags = arena_array(a, uint8_t, s->warps);
    b->block_of = arena_array(a, uint8_t, s->warps);
    b->count = arena_array(a, uint8_t, s->blocks);
    b->exposed = arena_array(a, bool, s->blocks);
}

void blocks_start(struct blocks *b, uint32_t block) {
    b->count[block] = 0;
    b->exposed[block] = false;
}

void blocks_start_warp(struct blocks *b, uint32_t warp, uint32_t block) {
    b->flags[warp] = 0;
    b->block_of[warp] = (uint8_t)block;
}

bool blocks_scope(const struct blocks *b, uint32_t warp, unsigned spaces, struct blocks_scope *out) {
    uint32_t block = b->block_of[warp];
    bool own = spaces & BLOCKS_SHARED || b->exposed[block];
    *out = (struct blocks_scope){own ? (uint8_t)block : RB_NO_BLOCK, b->count[block]};
    return !(b->flags[warp] & spaces) && b->count[block] < b->spec.max_count;
}

/* From here on a warp, or with its help its block, may know of stores that entries of other blocks lack. */
static void expose(struct blocks *b, uint32_t warp) {
    if (b->spec.rule == BLOCKS_SAFE)
        b->exposed[b->block_of[warp]] = true;
}

void blocks_store(struct blocks *b, uint32_t warp, unsigned spaces) {
    b->flags[warp] |= (uint8_t)spaces;
    if (spaces & BLOCKS_GLOBAL)
        expose(b, warp);
}

void blocks_atomic(struct blocks *b, uint32_t warp, unsigned spaces) {
    blocks_store(b, warp, spaces);
    blocks_sync_load(b, warp);
}

void blocks_sync_load(struct blocks *b, uint32_t warp) {
    if (b->spec.rule == BLOCKS_SAFE)
        b->flags[warp] = BOTH; /* a lock in one space may guard data in the other */
    expose(b, warp);
}

void blocks_barrier(struct blocks *b, uint32_t block) {
    b->count[block] += b->count[block] < b->spec.max_count;
}

void blocks_pass(struct blocks *b, uint32_t warp) {
    b->flags[warp] = 0;
}

void blocks_fence(struct blocks *b, uint32_t warp) {
    blocks_barrier(b, b->block_of[warp]);
    blocks_pass(b, warp);
    expose(b, warp);
}
