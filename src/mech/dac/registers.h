/* Registers of the affine stream. */
#ifndef REPRISE_MECH_DAC_REGISTERS_H
#define REPRISE_MECH_DAC_REGISTERS_H

#include "ir/ir.h"
#include "mech/dac/params.h"

/* Gives the virtual registers and predicates of the stream machine registers. NULL; or why that cannot be,
 * when it takes more than the parameters say, or more predicates than there are: then the stream is of no use
 * any more. */
const char *dac_registers(struct program *p, struct fn *f, const struct dac_params *params);

#endif
