/* The value signature buffer, directly indexed. */
#include "mech/wir/vsb.h"

#include "mech/wir/pick.h"

void vsb_init(struct vsb *b, struct arena *a, uint32_t entries) {
    *b = (struct vsb){.entries = entries, .random = PICK_SEED};
    b->entry = arena_array(a, struct vsb_entry, entries);
    b->mask = entries & (entries - 1) ? 0 : entries - 1;
}

uint32_t vsb_lookup(const struct vsb *b, uint32_t hash) {
    if (!b->entries)
        return VSB_MISS;
    const struct vsb_entry *e = vsb_place(b, hash);
    return vsb_has(e, hash) ? e->reg : VSB_MISS;
}

bool vsb_insert(struct vsb *b, uint32_t hash, uint16_t reg, struct vsb_entry *out) {
    *out = (struct vsb_entry){0};
    if (!b->entries)
        return false;
    struct vsb_entry *e = vsb_place(b, hash);
    *out = *e;
    vsb_enter(b, e, hash, reg);
    return true;
}

static bool empty(struct vsb *b, struct vsb_entry *e, struct vsb_entry *out) {
    *out = *e;
    b->used -= e->valid;
    *e = (struct vsb_entry){0};
    return out->valid;
}

bool vsb_evict(struct vsb *b, uint32_t hash, struct vsb_entry *out) {
    return b->used && empty(b, vsb_place(b, hash), out);
}

bool vsb_evict_random(struct vsb *b, struct vsb_entry *out) {
    if (!b->used)
        return false;
    uint32_t i = wir_pick(&b->random, b->entries);
    while (!b->entry[i].valid)
        i = i + 1 < b->entries ? i + 1 : 0;
    return empty(b, &b->entry[i], out);
}

const struct vsb_entry *vsb_next(const struct vsb *b, uint32_t *cursor) {
    while (b->used && *cursor < b->entries) {
        const struct vsb_entry *e = &b->entry[(*cursor)++];
        if (e->valid)
            return e;
    }
    return NULL;
}
