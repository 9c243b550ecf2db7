/* Lane executors: what an operation does to 32 lanes at once.
 *
 * Every executor comes from the operation table (isa/ops.def), is compiled for several instruction sets of
 * the host, and is picked once per instruction. It computes all 32 lanes whatever the mask says (the caller
 * blends), has no side effects, and may be called with destination words that are also source words of the
 * same lane. */
#ifndef REPRISE_EXEC_LANES_H
#define REPRISE_EXEC_LANES_H

#include "ir/ir.h"
#include "reprise.h"

/* Operands of one execution. Words are 32-lane vectors, 64-byte aligned. */
struct lane_io {
    uint32_t *d[2];       /* destination words, low first */
    const uint32_t *s[8]; /* all words of source 0, then of source 1, ... after neg/abs were applied */
    uint32_t pin[2];      /* predicate sources, one bit per lane, after negation */
    uint32_t pout[2];     /* predicate results, all lanes */
    const struct imods *m;
};
typedef void lane_fn(struct lane_io *io);

/* How to run an instruction: fn under host rounding mode rnd (enum rounding; RN unless the operation rounds).
 */
struct lane_op {
    lane_fn *fn; /* NULL: not a lane operation (memory, control, warp-wide, S2R, P2R, R2P) */
    uint8_t rnd;
};

/* The executor of an instruction on this host. */
struct lane_op lane_pick(const struct inst *i);
/* Runs op with the host's rounding mode set as needed. */
static inline void lane_run(struct lane_op op, struct lane_io *io);

/* d = (s & and_mask) ^ xor_mask in every lane: float neg and abs. */
extern void (*lane_modify)(uint32_t *d, const uint32_t *s, uint32_t and_mask, uint32_t xor_mask);
/* d = mask bit ? s : d, for each lane. */
extern void (*lane_blend)(uint32_t *d, const uint32_t *s, uint32_t mask);
/* Lanes of m of a register get a value. */
static inline void lane_fill(uint32_t *d, uint32_t value, uint32_t m) {
    _Alignas(64) uint32_t all[WARP_LANES];
    uint32_t *to = m == UINT32_MAX ? d : all;
    for (uint32_t l = 0; l < WARP_LANES; l++)
        to[l] = value;
    if (m != UINT32_MAX)
        lane_blend(d, all, m);
}
/* The same of what one lane of it has. */
static inline void lane_spread(uint32_t *d, uint32_t from, uint32_t m) {
    lane_fill(d, d[from], m);
}
/* Where lanes point: anywhere; all to one place; to words in a row, lane by lane; to somewhere in one piece
 * of memory. */
enum lane_shape { LANES_ANY, LANES_SAME, LANES_ROW, LANES_NEAR };

/* Memory access of 32 lanes. Offsets are relative to a base that the caller adds to. */
struct lane_memory {
    /* How the places that lanes of a mask, which is not 0, point to lie to one another. Addresses have 32
     * bits, or 64 where hi, which has their upper halves, is not NULL. */
    enum lane_shape (*shape)(const uint32_t *lo, const uint32_t *hi, uint32_t mask);
    /* off = lo + add; lanes outside mask get the offset of one inside. True when all are at most limit and
     * multiples of align (a power of two). */
    bool (*offsets32)(uint32_t *off, const uint32_t *lo, uint32_t add, uint32_t mask, uint32_t limit,
                      uint32_t align);
    /* The same for 64-bit addresses; false, too, when a lane is 4 GB or more away. */
    bool (*offsets64)(uint32_t *off, const uint32_t *lo, const uint32_t *hi, uint64_t add, uint32_t mask,
                      uint32_t limit, uint32_t align);
    /* Loads size bytes (1, 2 or 4, extended to 32 bits) for the lanes in mask; offsets of others are such
     * that they could be loaded, too. */
    void (*gather)(uint32_t *d, const uint8_t *base, const uint32_t *off, uint32_t mask, uint32_t size,
                   bool sgn);
    /* Stores the low size bytes of the lanes in mask, in lane order. */
    void (*scatter)(uint8_t *base, const uint32_t *off, const uint32_t *s, uint32_t mask, uint32_t size);
    /* The same of words in a row, lane 0's at a host address; nothing is touched of lanes outside mask. */
    void (*load_row)(uint32_t *d, uintptr_t at, uint32_t mask);
    void (*store_row)(uintptr_t at, const uint32_t *s, uint32_t mask);
};
extern struct lane_memory lane_memory;

/* One axis of a texture. */
struct tex_axis {
    double scale, n; /* coordinates times scale are texels, of which there are n */
    enum rp_tex_address mode;
};

/* Where the texels of 32 lanes lie. */
struct tex_layout {
    const int32_t *index[3]; /* along each axis; NULL: 0 */
    const uint32_t *slice;   /* layers and cube faces before the texel's, or NULL */
    uint32_t extent[3], texel_bytes;
    uint64_t pitch, slice_bytes;
    bool tiled;
};

/* Textures: steps from coordinates to colours. */
struct lane_texture {
    /* The index of the texel at a coordinate, brought into range as the axis says; border: -1 or n outside.
     */
    void (*point)(const struct tex_axis *a, const uint32_t *coord, int32_t *at);
    /* The indices of the two around it, and the weight of the upper one in 256ths. */
    void (*linear)(const struct tex_axis *a, const uint32_t *coord, int32_t *lower, int32_t *upper,
                   uint32_t *weight);
    /* The weight of a corner (bit k: upper along axis k), from those along each axis, up to the first NULL;
     * all of them together weigh share, in 256ths. */
    void (*weigh)(double *d, const uint32_t *const weight[3], unsigned corner, const uint32_t *share);
    /* Offsets of texels; returns the lanes that are inside, others get offset 0. */
    uint32_t (*offsets)(const struct tex_layout *t, uint64_t *off);
    /* Loads a channel of size bytes (1, 2 or 4, extended to 32 bits) of a texel for every lane. */
    void (*load)(uint32_t *d, const uint8_t *base, const uint64_t *off, uint32_t texel_bytes,
                 uint32_t channel, uint32_t size, bool sgn);
    /* Integers to floats: top becomes 1, and nothing is less than -1. */
    void (*normalize)(uint32_t *d, float top);
    /* sum += weight * texel, where the weight is not 0. */
    void (*add)(double *sum, const double *weight, const uint32_t *texel);
    void (*round)(uint32_t *d, const double *sum); /* to f32 */
};
extern struct lane_texture lane_texture;

/* Where byte x of row y lies in its tile. */
static inline uint32_t tex_offset_in_tile(uint32_t x, uint32_t y) {
    return (x & 32) << 3 | (y & 6) << 5 | (x & 16) << 1 | (y & 1) << 4 | (x & 15);
}

/* Where byte x of row y lies in an image of tiles, as GPUs keep arrays: 64 bytes by 8 rows are 512 bytes, in
 * them 16 bytes by 2 rows are a sector of 32 (block-linear layout, Tegra X1 TRM; blocks here are one tile
 * high). */
static inline uint64_t tex_tile_offset(uint64_t x, uint64_t y, uint64_t pitch) {
    return (y & ~UINT64_C(7)) * pitch + (x >> 6 << 9) + tex_offset_in_tile((uint32_t)x, (uint32_t)y);
}

/* Name of the instruction set in use: "avx512", "avx2", "generic". Chosen once; REPRISE_ISA overrides. */
const char *lane_isa(void);
/* Switches to the instruction set called name (NULL: the best one); false when this host lacks it.
 * Instructions picked before keep running on the old one. */
bool lane_use(const char *name);

/* Sets the host's rounding mode (enum rounding) and back to nearest. */
void lane_set_rounding(unsigned rnd);

static inline void lane_run(struct lane_op op, struct lane_io *io) {
    if (__builtin_expect(op.rnd != RND_RN, 0)) {
        lane_set_rounding(op.rnd);
        op.fn(io);
        lane_set_rounding(RND_RN);
    } else {
        op.fn(io);
    }
}

#endif
