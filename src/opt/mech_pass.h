/* Passes that mechanisms bring into the compiler.
 *
 * They run behind those of every kernel, before or after register allocation, each on the whole program. A
 * pass may change the code, add a second stream of instructions (program_stream), and leave facts about
 * instructions, which the mechanism's kernel point finds in the linked code, and notes, which disasm prints
 * (ir/facts.h; the pass itself is the owner of its facts). What it left is checked as behind every pass.
 *
 * Before allocation, what nobody needs any more is removed behind a pass that changed something; after it,
 * nothing but NOPs. A kernel that the mechanism cannot run is refused with an error in d. */
#ifndef REPRISE_OPT_MECH_PASS_H
#define REPRISE_OPT_MECH_PASS_H

#include "ir/facts.h"

struct mech_pass;

/* One run of a pass. */
struct pass_run {
    const struct mech_pass *pass;
    struct program *p;
    const void *params; /* values of the mechanism's own parameters */
    struct diag *d;
};

/* Where it runs; and whether it wants what programs say of themselves (MARK), which others never see, and
 * which must be gone behind the last pass. */
enum pass_place { BEFORE_REGISTERS, AFTER_REGISTERS, WITH_ANNOTATIONS };

/* A pass; a mechanism has an array of them, which a row without a name ends. */
struct mech_pass {
    const char *name;                      /* for messages and for disasm --after; unlike those of others */
    uint32_t place;                        /* enum pass_place, the third as a bit */
    bool (*run)(const struct pass_run *r); /* true when it changed code that was there */
};

#endif
