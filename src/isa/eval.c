#include "isa/eval.h"

#include <math.h>
#include <stddef.h>

#include "isa/semantics.h"

typedef uint32_t eval_fn(const struct imods *m, uint32_t a, uint32_t b, uint32_t c, unsigned p);

/* One function per row. Rows of other forms get one too, over dummies, that nothing refers to: the table
 * below keeps word operations only. */
#define OP(id, name, form, unit, latency, energy, flags, ...)                                                \
    static inline uint32_t eval_##id(const struct imods *m, uint32_t a, uint32_t b, uint32_t c,              \
                                     unsigned p) {                                                           \
        const unsigned sgn = m->sgn, mode = m->mode;                                                         \
        const uint64_t A = 0, B = 1, C = 0;                                                                  \
        const float x = 0, y = 0, z = 0;                                                                     \
        (void)a, (void)b, (void)c, (void)p, (void)sgn, (void)mode;                                           \
        (void)A, (void)B, (void)C, (void)x, (void)y, (void)z;                                                \
        return (uint32_t)(__VA_ARGS__);                                                                      \
    }
#include "isa/ops.def"
#undef OP

static eval_fn *const evals[OP_COUNT] = {
#define OP(id, name, form, ...) [OP_##id] = FORM_##form <= FORM_W1_11P ? eval_##id : NULL,
#include "isa/ops.def"
#undef OP
};
_Static_assert(FORM_W1_1 == 0 && FORM_W1_11P == 3, "the W1 forms come first");

bool isa_eval(enum op op, const struct imods *m, uint32_t a, uint32_t b, uint32_t c, unsigned p,
              uint32_t *out) {
    if (!evals[op])
        return false;
    *out = evals[op](m, a, b, c, p);
    return true;
}
