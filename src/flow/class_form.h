/* What operations make of the form of values: the part of flow/classes.h that knows operations. */
#ifndef REPRISE_FLOW_CLASS_FORM_H
#define REPRISE_FLOW_CLASS_FORM_H

#include "flow/classes.h"

enum { DEP_THREAD = DEP_TID | DEP_LANE | DEP_WARP | DEP_ANY };

/* A class as others see it: what is uniform in the grid lacks nothing, what is uniform in a block at most
 * that it is no more than that. */
struct vclass form_settle(struct vclass c);
/* What the form of a value lacks that is one of several, as cond, of that class, says. */
uint32_t form_choice(struct vclass cond);
/* What a sum, and a product, of settled classes lacks. */
uint32_t form_sum(struct vclass a, struct vclass b);
uint32_t form_product(struct vclass a, struct vclass b);
/* The class of a power of 2, to multiply with. */
struct vclass form_power(struct vclass exponent);

/* The classes of an instruction's sources, each as one word, and of its predicate sources. */
struct form_sources {
    struct vclass src[4], psrc[2];
};
/* What the result lacks, of an instruction whose result is one word. low_zero: so many low bits of source 0
 * are known to be zero. */
uint32_t form_result(const struct inst *i, const struct form_sources *s, uint32_t low_zero);
/* The class of a special register. */
struct vclass form_special(uint32_t mreg);

#endif
