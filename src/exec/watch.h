/* Watchers of execution: tools that look at every memory access and synchronisation of a launch, and may keep
 * lanes from an access. A launch without a watcher pays nothing for this: the interpreter's loop exists
 * twice.
 *
 * Functions are called in the order in which things happen in simulation; warps run one at a time. */
#ifndef REPRISE_EXEC_WATCH_H
#define REPRISE_EXEC_WATCH_H

#include "exec/warp.h"

struct watch {
    /* Lanes m are about to carry out an access to memory; returns those for which it may happen. Loads of the
     * others give what the watcher puts into their registers. */
    uint32_t (*access)(struct watch *, struct exec *, struct warp *, const struct xinst *, uint32_t m);
    /* It has happened for lanes m. */
    void (*accessed)(struct watch *, struct exec *, struct warp *, const struct xinst *, uint32_t m);
    /* Lanes m pass a fence, or begin or await a group of asynchronous copies. */
    void (*fence)(struct watch *, struct exec *, struct warp *, const struct xinst *, uint32_t m);
    /* Lanes m carry out a warp-wide instruction together. */
    void (*together)(struct watch *, struct exec *, struct warp *, const struct xinst *, uint32_t m);
    /* Lanes m arrive at a barrier of the block for want threads (0: all), which need not make sense; those
     * that wait go on when it opens. */
    void (*arrive)(struct watch *, struct warp *, const struct xinst *, uint32_t id, uint32_t want,
                   uint32_t m);
    void (*open)(struct watch *, struct cta *, uint32_t id);
    /* The barrier of a cluster opens; lanes m of a warp go past it. */
    void (*cluster_open)(struct watch *, struct cluster *);
    void (*cluster_pass)(struct watch *, struct warp *, uint32_t m);
    /* A block begins in c, which may have held others; c is given back. */
    void (*begin)(struct watch *, struct cta *c);
    void (*end)(struct watch *, struct cta *c);
    /* Device code allocated or freed memory. */
    void (*allocated)(struct watch *, struct exec *, const struct warp *, const struct xinst *, uint32_t lane,
                      uint64_t addr);
    /* Device code frees addr; false: it must not, and the thread goes on. */
    bool (*freeing)(struct watch *, struct exec *, const struct warp *, const struct xinst *, uint32_t lane,
                    uint64_t addr);
};

/* Where the lanes of an access point. */
struct touch {
    uint32_t global, shared, local; /* lanes that point there */
    uint32_t bytes;                 /* that each lane accesses */
    uint64_t at[WARP_LANES];        /* address in global memory, offset in shared or local memory */
    uint8_t rank[WARP_LANES];       /* of those in shared memory: whose it is, in the cluster */
};

/* The block whose shared memory a lane points to. */
static inline struct cta *touch_block(const struct warp *w, const struct touch *t, uint32_t lane) {
    return w->cta->cluster->ctas[t->rank[lane]];
}
/* Lanes in t->shared with addresses in the cluster's shared memory: makes them offsets in that of a block. */
void touch_find_blocks(const struct warp *w, struct touch *t);

/* The member masks that the lanes of a warp-wide instruction give. */
const uint32_t *exec_member_masks(const struct exec *x, const struct warp *w, const struct xinst *i);

/* Finds what operand source s of i points to for lanes m; nothing is checked. imm is added to the address. */
void exec_touch(const struct exec *x, const struct warp *w, const struct xinst *i, uint32_t s, int64_t imm,
                uint32_t m, struct touch *t);

#endif
