/* What mechanisms own, and stacks of them. */
#include "mech/mech.h"

#include <stddef.h>

uint64_t mech_has(const struct mech_points *p) {
    uint64_t has = 0;
#define X(group, name) has |= (uint64_t)(p->group.name != NULL) << MECH_AT_##group##_##name;
    MECH_POINTS(X)
#undef X
    return has;
}

uint32_t mech_owns(const struct mech_points *p) {
    uint32_t owns = 0;
#define X(group, name) owns |= (uint32_t)(p->group.name != NULL) << MECH_##group;
    MECH_POINTS(X)
#undef X
    owns |= (uint32_t)p->stream.own_code << MECH_stream;
    owns |= (uint32_t)p->front.every << MECH_front;
    return owns;
}

const char *mech_group_what(enum mech_group g) {
    static const char *const what[] = {
#define X(name, text) text,
        MECH_GROUPS(X)
#undef X
    };
    return what[g];
}

const char *mech_wrong(const struct mech_points *p) {
    if (p->life.any_order && (p->registers.place || p->banks.arbitrate || p->back.result || p->watch.written))
        return "it says life.any_order, but has a say in where or when results are written";
    if (p->life.tick && !p->life.next)
        return "it has life.tick, but not life.next, without which the SM does not know when to wake for it";
    if (!p->registers.fill != !p->registers.place || !p->registers.fill != !p->registers.restore)
        return "it has some of registers.fill, place and restore, and needs all to own the registers";
    if (p->lanes.bound && !p->lanes.choose)
        return "it has lanes.bound, but not lanes.choose, which it has to ask for";
    if (!p->back.result != !p->back.written)
        return "it has one of back.result and back.written, and needs both to own results";
    if (!p->memory.again != !p->memory.given)
        return "it has one of memory.again and memory.given, and needs both to read what a launch may write";
    if (p->life.beside && (p->front.take || p->front.every || p->back.result || p->stream.own_code))
        return "it says life.beside, but takes instructions or results, or runs code of its own";
    if (p->life.ahead && (p->registers.fill || p->front.take || p->front.every || p->banks.arbitrate ||
                          p->forms.arrays || p->units.dispatch || p->back.result || p->watch.collected ||
                          p->watch.result || p->watch.written || p->watch.retire))
        return "it says life.ahead, but has a say in what becomes of instructions behind their issue";
    return NULL;
}

void mech_push(struct mech_stack *s, const struct mechanism *m, void *state) {
    uint32_t owns = mech_owns(&m->points);
    s->at[s->n].points = &m->points;
    s->at[s->n].slots = m->points.gate.slots ? SLOTS_ALWAYS : SLOTS_NEVER;
    s->slots = s->at[s->n].slots > s->slots ? s->at[s->n].slots : s->slots;
    s->at[s->n].concern = m->points.gate.eligible || m->points.gate.slots ? ~UINT64_C(0) : 0;
    s->concern |= s->at[s->n].concern;
    s->gates |= (uint32_t)(m->points.gate.eligible != NULL) << s->n;
    s->at[s->n++].state = state;
    s->has |= mech_has(&m->points);
    s->takes_every |= m->points.front.every;
    s->skips |= m->points.stream.fetch || m->points.stream.decoded;
    s->any_order = m->points.life.any_order && (s->n == 1 || s->any_order);
    for (uint32_t g = 0; g < MECH_GROUPS_ALL; g++)
        if (owns >> g & 1 && mech_group_what((enum mech_group)g)) {
            s->owner[g].points = &m->points;
            s->owner[g].state = state;
            s->owns |= 1u << g;
        }
}

void mech_call_at(struct mech_stack *s, const struct mech_points *points) {
    s->at[0].points = points;
    for (uint32_t g = 0; g < MECH_GROUPS_ALL; g++)
        if (s->owns >> g & 1)
            s->owner[g].points = points;
}
