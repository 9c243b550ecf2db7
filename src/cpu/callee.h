/* What a function reads of memory, by its code: addresses are followed through registers, as far as they are
 * an argument and a constant.
 *
 * A function of which every access is understood can be in a block: what it reads behind its arguments is
 * hashed instead of the pointers. It writes nothing but its own frame, and calls nothing. */
#ifndef REPRISE_CPU_CALLEE_H
#define REPRISE_CPU_CALLEE_H

#include "cpu/flowset.h"

enum { CALLEE_READS = 32 };

/* What a register holds: what another held at the first node, and a constant. */
struct place {
    uint8_t base; /* that register, or one of: */
    int64_t offset;
};
enum {
    PLACE_CONSTANT = 0xfd, /* the offset alone, an address of the program */
    PLACE_UNKNOWN = 0xfe,
    PLACE_NONE = 0xff, /* no path has been there */
    PLACES = 32        /* x0 to x30, SP */
};
struct places {
    struct place at[PLACES];
};

/* A value that a function loads: so many bytes at an offset of what a register points to. */
struct pointed {
    uint8_t reg, bytes;
    bool is_fp;
    int64_t offset;
};

struct callee {
    uint64_t pc;
    bool understood;
    struct pointed read[CALLEE_READS];
    uint32_t reads;
    struct regset values; /* arguments that matter by themselves, not only by what they point to */
};

/* Follows addresses through the nodes that are in, all if in is NULL; what registers hold before each, in
 * memory that the caller frees. */
struct places *places_follow(const struct flowset *f, const bool *in);
/* Registers of the first node whose value an instruction uses otherwise than as an address, or which become
 * part of something that is not followed. Calls are left out. */
struct regset places_used(const struct flowset *f, const bool *in, const struct places *before);
/* The function at pc. */
void callee_find(const struct cputrace *t, uint64_t pc, struct callee *out);

#endif
