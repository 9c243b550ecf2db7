/* Why values are redundant: what the data-flow analysis (flow/classes.h) says of an instruction, found by a
 * pass of the compiler, and in words. */
#ifndef REPRISE_PROFILE_REASON_H
#define REPRISE_PROFILE_REASON_H

#include "opt/mech_pass.h"

/* Of one instruction. Sets are those of enum class_dep. */
struct reason_fact {
    uint16_t deps;   /* on what all that it reads may depend, where loads are as their addresses */
    uint16_t varies; /* the same where loads may be anything */
    uint16_t lack;   /* of its form: set of enum class_lack */
    uint16_t result; /* for DARSIE: of the result; DEP_ANY: never redundant */
    uint8_t affine;  /* set of enum dac_affine */
    /* Where the first thing comes from that may be anything, or else may differ between threads; line 0:
     * there is none. */
    uint16_t origin_op;
    uint32_t origin_file, origin_line, origin_ptx;
};

/* Of a whole program: its instructions, and what of them is affine (DAC, Figure 6). */
struct reason_static {
    uint32_t insts, operands, addresses, affine_addresses, predicates, affine_predicates;
};

/* The pass, for kernels that are surveyed. It changes nothing. */
extern const struct mech_pass reason_passes[];
/* What it left about an instruction of a linked program, or NULL; and about the program. */
const struct reason_fact *reason_of(const struct program *p, const struct inst *i);
const struct reason_static *reason_total(const struct program *p);

/* Adds why an instruction is redundant, or why it is not known to be: "same in every warp of the block:
 * depends on blockIdx.x and parameters only". shape: of the launch's blocks; file: of the origin, or NULL. */
void reason_print(struct str *out, const struct reason_fact *f, const uint32_t shape[3], const char *file);
/* Whether DARSIE's compiler would mark the instruction for blocks of this shape. */
bool reason_darsie(const struct reason_fact *f, const uint32_t shape[3]);

#endif
