/* What "the same operation" means, for all that look for repeated work: reuse buffers, profiles, memo tables.
 *
 * An operation is what an instruction does to the values of its sources: operation code and modifiers,
 * address offset, number of source words, and neg, abs and not of sources. Two instructions of one operation
 * that get equal values compute equal results, as far as the values decide them (opkey_basis). Which
 * registers, banks or immediates the values come from, the guard, the destination, and what only told the
 * compiler something are no part of it. */
#ifndef REPRISE_EXEC_OPKEY_H
#define REPRISE_EXEC_OPKEY_H

#include <stddef.h>

#include "exec/warp.h"

/* Bytes of the modifiers that matter, rounded up to words. fuse is the compiler's; it comes last. */
enum { OPKEY_MODS = (offsetof(struct imods, fuse) + 3) / 4 * 4 };

/* An operation. It has no padding, so that it can be compared and hashed byte by byte. */
struct opkey {
    uint16_t op;
    uint8_t nsw;
    uint8_t pneg; /* bit k: predicate source k is negated */
    int32_t imm;
    uint32_t and_mask[8], xor_mask[8]; /* of source words */
    uint8_t mods[OPKEY_MODS];          /* struct imods */
};

struct opkey opkey_of(const struct xinst *i);
/* A hash of 64 bits. */
uint64_t opkey_hash(const struct opkey *k);

/* What decides the results of an instruction beside the values of its sources. */
enum opkey_basis {
    BASIS_INPUTS,   /* nothing */
    BASIS_CONSTANT, /* memory that stays as it is during a launch: constant banks, textures */
    BASIS_MEMORY,   /* memory that is written */
    BASIS_LANES,    /* which thread it is, the clock, or other lanes of the warp */
    BASIS_NONE,     /* it has effects, or is control: no two of them do the same */
};
enum opkey_basis opkey_basis(const struct xinst *i);

#endif
