/* Classes of memory accesses: which memory they touch, whether two of them may touch the same bytes, and what
 * nothing in the kernel writes.
 *
 * The address of an access is traced to its bases: kernel parameters (the pointer at some offset of the
 * parameters), variables of the module, shared memory, local memory, the .const space, the parameters
 * themselves. Every version of a word (flow/reach.h) has the set of bases it may carry; sets start empty and
 * grow: a constant operand brings its base, sums, copies, choices and logic keep those of their sources,
 * merges unite them. What is loaded from memory may be any pointer. Products and shifts carry none, since no
 * program finds a pointer back from them; that is the only assumption about what programs do. An address
 * without any base is taken to be anything.
 *
 * A pointer parameter points to global memory, because the host has no other. Two parameters may point into
 * the same allocation: whether they do is known at launch, so that the answer "only if these arguments meet"
 * is an answer of its own. Different variables of a module do not overlap. Offsets are compared only where
 * both addresses are known numbers.
 *
 * What a called function does counts as well: all functions of the program are looked at, and the pointers
 * that it got, in memory, may be any. */
#ifndef REPRISE_FLOW_ACCESS_H
#define REPRISE_FLOW_ACCESS_H

#include "flow/reach.h"

enum base_kind { BASE_PARAM, BASE_SYMBOL, BASE_SHARED, BASE_LOCAL, BASE_CONST, BASE_PARAMS };
struct access_base {
    uint8_t kind;
    uint32_t v; /* BASE_PARAM: offset in BANK_PARAM; BASE_SYMBOL: offset in BANK_SYMBOL */
};
enum { MAX_BASES = 63 };
#define BASE_UNKNOWN (UINT64_C(1) << MAX_BASES)

/* Spaces, as a set. */
enum access_space {
    IN_GLOBAL = 1 << 0,
    IN_SHARED = 1 << 1,
    IN_LOCAL = 1 << 2,
    IN_CONST = 1 << 3,
    IN_TEXTURE = 1 << 4
};

/* One instruction that accesses memory. */
struct access {
    uint32_t fn, block, index;
    uint64_t bases; /* set of accesses.bases, or BASE_UNKNOWN */
    uint8_t spaces; /* set of enum access_space */
    bool reads, writes, atomic, vol;
    bool bank;  /* of a constant bank: nothing writes there */
    bool fixed; /* its address is the number at, in its one space */
    uint32_t at, bytes;
};

struct accesses {
    const struct program *p;
    struct access_base bases[MAX_BASES];
    uint32_t nbases;
    struct access *at; /* in the order of the code */
    uint32_t n;
    uint32_t **number; /* by function and instruction, counted through it: access plus one, or 0 */
    uint32_t **first;  /* by function and block: number of the first instruction */
};

/* Of all functions of p, whose edges must be up to date. */
struct accesses *accesses_of(struct arena *a, const struct program *p);
/* The access of an instruction, or NULL. */
const struct access *access_at(const struct accesses *m, uint32_t fn, uint32_t block, uint32_t index);

/* Whether two accesses may touch the same byte. */
enum access_alias {
    ALIAS_NO,
    ALIAS_ARGUMENTS, /* only if bases of the launch (parameters, variables) lie in one allocation */
    ALIAS_MAY
};
enum access_alias access_alias(const struct accesses *m, const struct access *x, const struct access *y);
/* How far what an access reads may be written in the kernel: the worst alias with any write. */
enum access_alias access_written(const struct accesses *m, const struct access *x);

#endif
