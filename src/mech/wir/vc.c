/* The verify cache: few lines, searched all at once, the least recently used one goes. */
#include "mech/wir/vc.h"

#include <string.h>

enum { NO_LINE = UINT32_MAX };

void vc_init(struct vc *c, struct arena *a, uint32_t lines) {
    *c = (struct vc){.lines = lines};
    c->data = arena_alloc(a, sizeof *c->data * lines);
    c->reg = arena_array(a, uint32_t, lines);
    c->used = arena_array(a, uint64_t, lines);
}

static uint32_t find(const struct vc *c, uint32_t reg) {
    for (uint32_t i = 0; i < c->lines; i++)
        if (c->reg[i] == reg && c->used[i])
            return i;
    return NO_LINE;
}

const uint32_t *vc_lookup(struct vc *c, uint32_t reg) {
    uint32_t i = c->may >> (reg % 64) & 1 ? find(c, reg) : (uint32_t)NO_LINE;
    if (i == NO_LINE)
        return NULL;
    c->used[i] = ++c->clock;
    return c->data[i];
}

void vc_fill(struct vc *c, uint32_t reg, const uint32_t value[VC_LANES]) {
    if (!c->lines)
        return;
    uint32_t to = find(c, reg);
    if (to == NO_LINE) {
        to = 0;
        for (uint32_t i = 1; i < c->lines; i++)
            if (c->used[i] < c->used[to])
                to = i;
    }
    c->reg[to] = reg;
    c->used[to] = ++c->clock;
    memcpy(c->data[to], value, sizeof c->data[to]);
    c->may = 0;
    for (uint32_t i = 0; i < c->lines; i++)
        c->may |= (uint64_t)(c->used[i] != 0) << (c->reg[i] % 64);
}

bool vc_forget(struct vc *c, uint32_t reg) {
    uint32_t i = find(c, reg);
    if (i == NO_LINE)
        return false;
    c->used[i] = 0;
    return true;
}
