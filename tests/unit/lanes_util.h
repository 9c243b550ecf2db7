/* Shared by the tests of lane executors: operands, running one instruction, reproducible random numbers. */
#ifndef TESTS_UNIT_LANES_UTIL_H
#define TESTS_UNIT_LANES_UTIL_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/ieee.h"
#include "exec/lanes.h"

/* Operands and results of one execution. */
struct trial {
    _Alignas(64) uint32_t s[8][WARP_LANES];
    _Alignas(64) uint32_t d[2][WARP_LANES];
    uint32_t pin[2], pout[2];
};

static uint64_t rng_state = 88172645463325252u;

static inline uint32_t rng(void) {
    rng_state ^= rng_state << 13;
    rng_state ^= rng_state >> 7;
    rng_state ^= rng_state << 17;
    return (uint32_t)(rng_state >> 16);
}

/* A word that is more often special than chance has it. */
static inline uint32_t rng_word(void) {
    static const uint32_t edges[] = {
        0,          1,          2,          3,          7,          8,          15,         16,
        24,         31,         32,         33,         63,         64,         127,        128,
        255,        256,        0x7fff,     0x8000,     0xffff,     0x10000,    0x7fffffff, 0x80000000,
        0x80000001, 0xfffffffe, 0xffffffff, 0x00800000, 0x007fffff, 0x00800001, 0x3f800000, 0xbf800000,
        0x3f7fffff, 0x3f800001, 0x7f800000, 0xff800000, 0x7f7fffff, 0xff7fffff, 0x7fc00000, 0xffc12345,
        0x7f800001, 0x4f000000, 0xcf000000, 0x4effffff, 0x4f7fffff, 0x4f800000, 0x3f000000, 0xbf000000,
        0x40200000, 0x80800000, 0x7c007c00, 0x3c003c00, 0x04000400, 0x03ff03ff, 0x00010001, 0x7bff7bff,
        0x7c01fe00, 0x80018001, 0x7ff00000, 0xfff00000, 0x7ff80000, 0x3ff00000, 0xbff00000, 0x00100000,
        0x000fffff, 0x47efffff, 0x41dfffff, 0x41e00000, 0xc1e00000, 0x43e00000,
    };
    uint32_t kind = rng() & 15;
    if (kind < 5)
        return edges[rng() % (sizeof edges / sizeof *edges)];
    if (kind < 8) /* floats of middling size, so that sums and products stay in range */
        return (rng() & 0x807fffff) | (117 + rng() % 22) << 23;
    if (kind == 8) /* halves of middling size */
        return (rng() & 0x83ff83ff) | (10 + rng() % 12) << 10 | (10 + rng() % 12) << 26;
    if (kind == 9) /* doubles of middling size, seen as high words */
        return (rng() & 0x800fffff) | (1010 + rng() % 40) << 20;
    return rng();
}

static inline void trial_fill(struct trial *t) {
    for (unsigned k = 0; k < 8; k++)
        for (unsigned i = 0; i < WARP_LANES; i++)
            t->s[k][i] = rng_word();
    memset(t->d, 0xa5, sizeof t->d);
    t->pin[0] = rng();
    t->pin[1] = rng();
    t->pout[0] = t->pout[1] = 0;
}

/* Runs an instruction; false when it is not a lane operation. */
static inline bool trial_run(struct trial *t, enum op op, const struct imods *m) {
    struct inst inst = {.op = (uint16_t)op, .m = *m};
    struct lane_op fn = lane_pick(&inst);
    struct lane_io io = {.d = {t->d[0], t->d[1]}, .pin = {t->pin[0], t->pin[1]}, .m = m};
    if (!fn.fn)
        return false;
    for (unsigned k = 0; k < 8; k++)
        io.s[k] = t->s[k];
    lane_run(fn, &io);
    t->pout[0] = io.pout[0];
    t->pout[1] = io.pout[1];
    return true;
}

#endif
