/* Lane executors: what an operation does to 32 lanes at once.
 *
 * Every executor comes from the operation table (isa/ops.def), is compiled for several instruction sets of
 * the host, and is picked once per instruction. It computes all 32 lanes whatever the mask says (the caller
 * blends), has no side effects, and may be called with destination words that are also source words of the
 * same lane. */
#ifndef REPRISE_EXEC_LANES_H
#define REPRISE_EXEC_LANES_H

#include "ir/ir.h"

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
/* Memory access of 32 lanes. Offsets are relative to a base that the caller adds to. */
struct lane_memory {
    /* off = lo + add; lanes outside mask get the offset of one inside. True when all are at most limit and
     * multiples of align (a power of two). */
    bool (*offsets32)(uint32_t *off, const uint32_t *lo, uint32_t add, uint32_t mask, uint32_t limit,
                      uint32_t align);
    /* The same for 64-bit addresses; false, too, when a lane is 4 GB or more away. */
    bool (*offsets64)(uint32_t *off, const uint32_t *lo, const uint32_t *hi, uint64_t add, uint32_t mask,
                      uint32_t limit, uint32_t align);
    /* Loads size bytes (1, 2 or 4, extended to 32 bits) for every lane. */
    void (*gather)(uint32_t *d, const uint8_t *base, const uint32_t *off, uint32_t size, bool sgn);
    /* Stores the low size bytes of the lanes in mask, in lane order. */
    void (*scatter)(uint8_t *base, const uint32_t *off, const uint32_t *s, uint32_t mask, uint32_t size);
};
extern struct lane_memory lane_memory;
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
