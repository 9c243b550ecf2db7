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

enum { VC_LANES = 32, VC_NO_LINE = 255 };

struct vc {
    uint32_t (*data)[VC_LANES];
    uint8_t *line; /* of each register; VC_NO_LINE: it is not here */
    /* The lines in a ring by their last use, empty ones last; behind the last one, and before the first, is
     * one more that holds nothing. */
    struct vc_line {
        uint16_t reg;
        uint8_t newer, older;
    } * lines;
    uint8_t n; /* how many there are */
};

/* A cache of at most 64 lines for so many registers; one without lines never holds anything. */
void vc_init(struct vc *c, struct arena *a, uint32_t lines, uint32_t registers);
/* The value of a register, or NULL; counts as a use. */
const uint32_t *vc_lookup(struct vc *c, uint32_t reg);
/* Copies a register's value into its line or the one used least recently. */
void vc_fill(struct vc *c, uint32_t reg, const uint32_t value[VC_LANES]);
/* Forgets a register that is here. */
void vc_forget(struct vc *c, uint32_t reg);
/* The same for one that is written, most of which are not here: false. */
static inline bool vc_invalidate(struct vc *c, uint32_t reg) {
    if (c->line[reg] == VC_NO_LINE)
        return false;
    vc_forget(c, reg);
    return true;
}

#endif
