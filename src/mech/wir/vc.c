/* The verify cache: few lines, searched all at once, the least recently used one goes. */
#include "mech/wir/vc.h"

#include <assert.h>
#include <string.h>

enum { NO_REGISTER = UINT16_MAX };

void vc_init(struct vc *c, struct arena *a, uint32_t lines, uint32_t registers) {
    assert(lines < VC_NO_LINE && registers <= NO_REGISTER);
    *c = (struct vc){.n = (uint8_t)lines};
    c->data = arena_alloc(a, sizeof *c->data * lines);
    c->line = arena_alloc(a, registers);
    memset(c->line, VC_NO_LINE, registers);
    c->lines = arena_array(a, struct vc_line, lines + 1);
    for (uint32_t i = 0; i <= lines; i++)
        c->lines[i] = (struct vc_line){.reg = NO_REGISTER,
                                       .newer = (uint8_t)(i ? i - 1 : lines),
                                       .older = (uint8_t)(i < lines ? i + 1 : 0)};
}

/* The line's place in the ring is before (newer than) another one's from now on. */
static void move_before(struct vc *c, uint8_t i, uint8_t to) {
    struct vc_line *l = &c->lines[i];
    c->lines[l->newer].older = l->older;
    c->lines[l->older].newer = l->newer;
    l->older = to;
    l->newer = c->lines[to].newer;
    c->lines[l->newer].older = i;
    c->lines[to].newer = i;
}

const uint32_t *vc_lookup(struct vc *c, uint32_t reg) {
    uint8_t i = c->line[reg], first = c->lines[c->n].older;
    if (i == VC_NO_LINE)
        return NULL;
    if (i != first)
        move_before(c, i, first);
    return c->data[i];
}

void vc_fill(struct vc *c, uint32_t reg, const uint32_t value[VC_LANES]) {
    uint8_t i = c->line[reg], first = c->lines[c->n].older;
    if (!c->n)
        return;
    if (i == VC_NO_LINE) {
        i = c->lines[c->n].newer;
        if (c->lines[i].reg != NO_REGISTER)
            c->line[c->lines[i].reg] = VC_NO_LINE;
        c->lines[i].reg = (uint16_t)reg;
        c->line[reg] = i;
    }
    if (i != first)
        move_before(c, i, first);
    memcpy(c->data[i], value, sizeof c->data[i]);
}

void vc_forget(struct vc *c, uint32_t reg) {
    uint8_t i = c->line[reg];
    c->line[reg] = VC_NO_LINE;
    c->lines[i].reg = NO_REGISTER;
    move_before(c, i, c->n);
}
