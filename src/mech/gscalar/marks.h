/* What is known of a kernel's instructions, and small things that the files of G-Scalar share. */
#ifndef REPRISE_MECH_GSCALAR_MARKS_H
#define REPRISE_MECH_GSCALAR_MARKS_H

#include "mech/gscalar/gscalar.h"

/* Whether a warp whose next instruction it is may have to wait for a move. */
enum gscalar_need {
    NEEDS_NONE = 1, /* it writes no register of a bank */
    NEEDS_MASK = 2, /* not if all lanes are active: no guard leaves any out */
    NEEDS_PREDS = 4 /* beside that: it reads predicates */
};

struct gscalar_marks {
    const struct image *img;
    uint8_t *class;            /* enum gscalar_class of each instruction */
    uint8_t *turn;             /* enum gscalar_need of each */
    struct gscalar_live *live; /* registers that are live in front of each, or NULL */
};

/* Small arrays beside each bank. */
static inline uint32_t gscalar_sets(const struct gscalar *m) {
    return m->spec.halves ? 2 : 1;
}

/* Warps of which nobody has looked at the next instruction, or that wait for moves. */
static inline void gscalar_concern(struct gscalar *m) {
    core_concern(m->sm, m, m->owned ? 0 : ~m->checked | m->wanting);
}

/* The warp's next instruction is another one: that at pc, if it is known. One that writes no register, or
 * that all lanes execute, needs no move: nobody needs to look. */
static inline void gscalar_turn(struct gscalar *m, uint32_t warp, int32_t pc) {
    const struct core_warp *cw = &m->sm->warps[warp];
    bool known = pc != CORE_NO_PC && m->in_order && cw->w->depth == 1;
    uint32_t flags = known ? m->marks->turn[pc] : 0; /* 0 behind the code, too */
    uint32_t enough = cw->w->stack[0].mask == CODE_ALL ? NEEDS_NONE | NEEDS_MASK : NEEDS_NONE;
    bool checked = flags & enough;
    if (checked == (m->checked >> warp & 1)) /* as that before it, which was looked at when it could pass */
        return;
    m->checked ^= warp_bit(warp);
    gscalar_concern(m);
}

#endif
