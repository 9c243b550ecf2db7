/* Stacks of mechanisms. */
#include "mech/mech.h"

#include <stddef.h>

static uint32_t points_of(const struct mech_points *p) {
    uint32_t has = 0;
#define X(name) has |= (uint32_t)(p->name != NULL) << MECH_AT_##name;
    MECH_POINTS(X)
#undef X
    return has;
}

void mech_push(struct mech_stack *s, const struct mechanism *m, void *state) {
    s->at[s->n].points = &m->points;
    s->at[s->n++].state = state;
    s->has |= points_of(&m->points);
    s->claims |= m->claims;
}
