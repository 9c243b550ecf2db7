/* What is known of a kernel's instructions, and small things that the files of G-Scalar share. */
#ifndef REPRISE_MECH_GSCALAR_MARKS_H
#define REPRISE_MECH_GSCALAR_MARKS_H

#include "mech/gscalar/gscalar.h"

/* Bits of what is known of an instruction. The first are its enum gscalar_class. */
enum gscalar_fact {
    FACT_CLASS = 3,
    FACT_CAN = 1 << 2, /* one lane may execute what is of this class */
    /* Whether a warp whose next instruction it is may have to wait for a move. */
    NEEDS_NONE = 1 << 3,  /* not: it writes no register of a bank */
    NEEDS_MASK = 1 << 4,  /* not if all lanes are active: no guard leaves any out */
    NEEDS_PREDS = 1 << 5, /* beside that: it reads predicates */
};

struct gscalar_marks {
    const struct image *img;
    uint8_t *facts;            /* enum gscalar_fact of each instruction */
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

/* What the next instructions of the warp need for nobody to have to look at them: that they write no
 * register, or that all lanes execute them. That holds until a control instruction, as the warp has one path;
 * if it has several, it is found out again when somebody has looked. */
static inline void gscalar_find_enough(struct gscalar *m, uint32_t warp) {
    const struct warp *w = m->sm->warps[warp].w;
    bool one = m->in_order && w->depth == 1;
    m->enough[warp] = !one ? 0 : w->stack[0].mask == CODE_ALL ? NEEDS_NONE | NEEDS_MASK : NEEDS_NONE;
}

/* The warp's next instruction is another one, and has been looked at, or not. */
static inline void gscalar_note_turn(struct gscalar *m, uint32_t warp, bool checked) {
    if (checked == (m->checked >> warp & 1)) /* as that before it, which was looked at when it could pass */
        return;
    m->checked ^= warp_bit(warp);
    gscalar_concern(m);
}

/* It is that at pc. */
static inline void gscalar_turn(struct gscalar *m, uint32_t warp, int32_t pc) {
    gscalar_note_turn(m, warp, m->facts[pc] & m->enough[warp]); /* nothing behind the code, too */
}

/* It goes on behind a control instruction, nobody knows where. */
static inline void gscalar_went(struct gscalar *m, uint32_t warp) {
    gscalar_find_enough(m, warp);
    gscalar_note_turn(m, warp, false);
}

#endif
