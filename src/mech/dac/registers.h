/* Registers of the affine stream. */
#ifndef REPRISE_MECH_DAC_REGISTERS_H
#define REPRISE_MECH_DAC_REGISTERS_H

#include "ir/ir.h"
#include "mech/dac/params.h"

/* Gives the virtual registers and predicates of the stream machine registers; false, and the stream is of no
 * use any more, when it takes more than the parameters say, or more predicates than there are. */
bool dac_registers(struct program *p, struct fn *f, const struct dac_params *params);

#endif
