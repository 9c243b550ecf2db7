/* Pairs of words that are read as one number: how the two were made together. */
#ifndef REPRISE_FLOW_CLASS_PAIR_H
#define REPRISE_FLOW_CLASS_PAIR_H

#include "base/map.h"
#include "flow/classes.h"

/* Half of a number: a version, behind copies, or a constant. */
#define HALF_CONST (UINT32_MAX - 1) /* the same in the whole grid */
#define HALF_ZERO  (UINT32_MAX - 2)

enum pair_kind {
    PAIR_OTHER,   /* made apart: no form */
    PAIR_SUM,     /* add or subtract, with carry between the words */
    PAIR_WIDE,    /* a * b [+ C] of 32-bit a and b */
    PAIR_SHIFT,   /* A << b */
    PAIR_PRODUCT, /* A * b, of a 32-bit b */
    PAIR_SIGN,    /* the upper word has the sign of the lower one */
    PAIR_ZERO,    /* the upper word is zero */
    PAIR_MERGE,
};

struct class_pair {
    uint32_t lo, hi; /* halves; one of them at least is a version */
    uint8_t kind;
    bool exact[2];         /* word k, which is widened, cannot have wrapped around */
    uint32_t block, index; /* of the instruction that made the upper word, PAIR_ZERO: the lower */
    uint32_t part[2];      /* numbers it is made of, as pairs; NONE: none */
    uint32_t parts;        /* PAIR_MERGE: the first of its inputs in the list of those */
    uint32_t word[2];      /* sources it is made of, as halves; NONE: none */
};

/* All pairs of a function that instructions read, and those they are made of. */
struct pair_set {
    VEC(struct class_pair) at;
    VEC(uint32_t) inputs; /* of merges: pairs, or NONE for a constant one */
    struct map by_halves; /* number plus one */
};
/* Finds them; pair_at gets the number plus one at the place in r->reads of the lower word. */
void pairs_find(struct pair_set *p, const struct reach *r, uint32_t *pair_at);
void pairs_free(struct pair_set *p);

#endif
