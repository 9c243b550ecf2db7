/* What the compiler pass leaves for the hardware, and the parameters both go by. Apart from the rest, because
 * the names of the compiler's memory analysis and of the machine's memory meet nowhere else. */
#ifndef REPRISE_MECH_DARSIE_PASS_H
#define REPRISE_MECH_DARSIE_PASS_H

#include "opt/mech_pass.h"

enum { DARSIE_SOURCES = MAX_SOURCE_WORDS, DARSIE_WORDS = 8 };

/* Its parameters; darsie.c says what they mean. */
struct darsie_params {
    int32_t entries, registers, ports, elections;
    bool loads, ignore_store, cf_sync, three_d, pessimistic, why, conflicts;
    int32_t omit;
    double pj_skip, pj_rename, pj_mask;
};

/* Indices on which a value may depend (enum class_dep of flow/classes.h) that make no difference between the
 * warps of a block: in every block, in one whose rows fill warps, in one whose planes do. */
enum darsie_class {
    CLASS_DR = 0x7,
    CLASS_CR = CLASS_DR | 0x8,
    CLASS_CRXY = CLASS_CR | 0x10,
    CLASS_V = 0x100
};

/* Indices on which a value may depend and be the same in all warps of a block of this shape; three_d: with
 * the extension to planes. */
uint32_t darsie_same(bool three_d, const uint32_t shape[3]);
struct classes;
/* Indices on which the result of an instruction may depend, if warps may do it for each other; else DEP_ANY.
 * by_address, stable: the classes of a function as pass.c reads them. */
uint32_t darsie_deps(const struct classes *by_address, const struct classes *stable, uint32_t block,
                     uint32_t index);

/* Of one instruction, as the pass leaves it. Sets are those of enum class_dep. */
struct darsie_fact {
    uint16_t deps;                   /* of the result; DEP_ANY: never redundant */
    uint16_t order;                  /* of a barrier: of what decides who passes it how often */
    uint16_t old;                    /* the next two without regard to memory: of the old result, */
    uint16_t source[DARSIE_SOURCES]; /* of each source word */
    uint8_t source_reg[DARSIE_SOURCES], nsources;
    bool load, global;
};

extern const struct mech_pass darsie_passes[];

#endif
