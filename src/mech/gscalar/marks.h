/* What is known of a kernel's instructions, and small things that the files of G-Scalar share. */
#ifndef REPRISE_MECH_GSCALAR_MARKS_H
#define REPRISE_MECH_GSCALAR_MARKS_H

#include "mech/gscalar/gscalar.h"

struct gscalar_marks {
    const struct image *img;
    uint8_t *class;            /* enum gscalar_class of each instruction */
    struct gscalar_live *live; /* registers that are live in front of each, or NULL */
};

/* Small arrays beside each bank. */
static inline uint32_t gscalar_sets(const struct gscalar *m) {
    return m->spec.halves ? 2 : 1;
}

/* Accesses of small arrays, or of the scalar file, that go with an access to a register. */
static inline uint32_t gscalar_small(const struct gscalar *m, const struct code_reg *r) {
    switch (m->spec.code) {
    case CODE_PLANES:
        return gscalar_sets(m);
    case CODE_SCALAR:
        return code_compressed(r);
    default:
        return 0;
    }
}

#endif
