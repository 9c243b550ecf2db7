/* The verify cache (WIR, section VI-C): copies of a few registers, so that verify-reads need not go to the
 * banks.
 *
 * The lines hold data of their own, as the hardware's would: whoever writes a register must invalidate it
 * here, or a later verification compares with what it held before. */
#ifndef REPRISE_MECH_WIR_VC_H
#define REPRISE_MECH_WIR_VC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

enum { VC_LANES = 32 };

struct vc {
    uint32_t (*data)[VC_LANES];
    uint32_t *reg;  /* of each line */
    uint64_t *used; /* when the line was last used; 0: it is empty */
    uint32_t lines;
    uint64_t clock;
    uint64_t may; /* bits by number modulo 64: some register with such a number may be here */
};

/* A cache of any size; one without lines never holds anything. */
void vc_init(struct vc *c, struct arena *a, uint32_t lines);
/* The value of a register, or NULL; counts as a use. */
const uint32_t *vc_lookup(struct vc *c, uint32_t reg);
/* Copies a register's value into its line or the one used least recently. */
void vc_fill(struct vc *c, uint32_t reg, const uint32_t value[VC_LANES]);
/* Forgets a register; false when it was not here. */
bool vc_forget(struct vc *c, uint32_t reg);
/* The same for one that is written, most of which are not here. */
static inline bool vc_invalidate(struct vc *c, uint32_t reg) {
    return c->may >> (reg % 64) & 1 && vc_forget(c, reg);
}

#endif
