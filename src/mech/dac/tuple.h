/* Affine values: what a register of the affine warp holds (sections 4.4 and 4.6).
 *
 * A number of 32 bits is base + sum of offset x index over the indices of thread and block, modulo 2^32; or,
 * of mod type, scale x (such a number mod divisor) + base. A number of 64 bits is the same modulo 2^64, plus
 * terms: numbers of 32 bits that wrapped around before they were widened, each times a scale. An upper word
 * by itself is that of a number of 64 bits. A divergent value is one of up to four, chosen for each thread by
 * up to two conditions.
 *
 * On the lanes of the affine warp a plain tuple takes seven, one for the base and one for each offset, and a
 * divergent one as many for each of its alternatives. */
#ifndef REPRISE_MECH_DAC_TUPLE_H
#define REPRISE_MECH_DAC_TUPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/isa.h"

enum { DAC_FIELDS = 7, DAC_TERMS = 3, DAC_ALTS = 4, DAC_CONDS = 2, DAC_NO_COND = UINT16_MAX };

/* 32 bits: f[0] + sum of f[k] x index k, + scale x (m mod divisor) if the divisor is not 0. */
struct atom {
    uint32_t f[DAC_FIELDS];
    uint32_t divisor, scale, m[DAC_FIELDS];
};

/* 64 bits. */
struct num {
    uint64_t f[DAC_FIELDS];
    struct {
        uint64_t scale;
        bool sgn; /* widened as signed */
        struct atom a;
    } term[DAC_TERMS];
    uint8_t nterms;
};

enum val_kind { VAL_BAD, VAL_WORD, VAL_HIGH };

/* One word of a register. The alternative of a thread has bit k of its number where condition cond[k] is
 * true. */
struct val {
    uint8_t kind, nalt; /* nalt: 1, 2 or 4 */
    uint16_t cond[DAC_CONDS];
    union {
        struct atom word[DAC_ALTS];
        struct num high[DAC_ALTS];
    };
};

/* A number of 64 bits with its alternatives. */
struct num_val {
    bool ok;
    uint8_t nalt;
    uint16_t cond[DAC_CONDS];
    struct num n[DAC_ALTS];
};

/* Indices of a launch: how large they can be. */
struct dims {
    uint32_t n[DAC_FIELDS]; /* [0] unused; tid.x to ctaid.z */
    bool never_wraps;       /* numbers are widened as if they could not wrap around: a rule left out */
};

/* The threads of a warp: thread indices by lane, and the block's. */
struct coords {
    uint32_t tid[3][WARP_LANES];
    uint32_t ctaid[3];
    bool row; /* tid.y and tid.z are the same in all lanes */
};

void val_const(struct val *v, uint32_t x);
void val_copy(struct val *to, const struct val *from);
/* The same in all threads of the grid; *x is what. */
bool val_uniform(const struct val *v, uint32_t *x);
bool atom_uniform(const struct atom *a, uint32_t *x);

/* Results that cannot be said are VAL_BAD. */
void val_index(struct val *d, uint32_t field);
void val_add(struct val *d, const struct val *a, const struct val *b, bool subtract);
void val_scale(struct val *d, const struct val *a, uint32_t factor);
void val_mod(struct val *d, const struct val *a, uint32_t divisor);
/* d = a where the condition is true, b elsewhere. */
void val_select(struct val *d, uint16_t cond, const struct val *a, const struct val *b);

/* The number of which lo and hi are the words. */
void num_join(struct num_val *d, const struct dims *s, const struct val *lo, const struct val *hi);
/* A word widened to 64 bits. */
void num_widen(struct num_val *d, const struct dims *s, const struct val *a, bool sgn);
void num_add(struct num_val *d, const struct num_val *a, const struct num_val *b, bool subtract);
void num_scale(struct num_val *d, const struct num_val *a, uint64_t factor);
/* Its lower and upper word, as registers hold them. */
void num_low(struct val *d, const struct num_val *a);
void num_high(struct val *d, const struct num_val *a);

/* A plain tuple within a block: a base, and offsets by thread index. */
struct block_num {
    uint64_t f[4];
};

/* The number is one: what it is in the block of these threads. */
bool num_in_block(const struct num_val *v, const struct coords *at, struct block_num *n);
void block_num_expand(const struct block_num *n, const struct coords *at, uint64_t out[WARP_LANES]);
/* The low words of that. */
void block_num_words(const struct block_num *n, const struct coords *at, uint32_t out[WARP_LANES]);
/* The values of the lanes of a warp, where conditions are true in the lanes of c[0], c[1]. */
void val_expand(const struct val *v, const struct coords *at, const uint32_t c[DAC_CONDS], uint32_t *out);
void num_expand(const struct num_val *v, const struct coords *at, const uint32_t c[DAC_CONDS], uint64_t *out);

#endif
