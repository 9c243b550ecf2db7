/* Evaluates word operations outside of any warp, for constant folding. */
#ifndef REPRISE_ISA_EVAL_H
#define REPRISE_ISA_EVAL_H

#include "isa/isa.h"

/* Computes *out = op(a, b, c) with predicate source p (0 or 1). False when op is not an integer operation
 * whose operands and result are single words (forms W1_*). */
bool isa_eval(enum op op, const struct imods *m, uint32_t a, uint32_t b, uint32_t c, unsigned p,
              uint32_t *out);

#endif
