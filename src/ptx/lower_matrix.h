/* What the lowering of mma and wmma share. */
#ifndef REPRISE_PTX_LOWER_MATRIX_H
#define REPRISE_PTX_LOWER_MATRIX_H

#include "isa/mma.h"
#include "ptx/lower.h"

/* Words [first, first + words) of a vector of registers, in one group. */
struct opd matrix_group(struct lower *l, const struct ptx_opd *v, uint32_t first, uint32_t words);
/* The other way: a group's words become the vector's, from its word first on. */
void matrix_spread(struct lower *l, const struct ptx_opd *v, struct opd group, uint32_t first,
                   uint32_t words);
/* Words of all registers of a vector. */
uint32_t matrix_words(struct lower *l, const struct ptx_opd *v);
/* A matrix product of a result of type d and elements of types a and b. */
struct inst matrix_product(struct lower *l, enum op op, uint16_t mode, enum ptx_type d, enum ptx_type a,
                           enum ptx_type b);

#endif
