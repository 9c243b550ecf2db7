/* The reuse buffer, directly indexed. What the hardware would leave out of a tag for want of bits (wide
 * immediates) is kept whole. */
#include "mech/wir/rb.h"

#include "mech/wir/pick.h"

void rb_init(struct rb *b, struct arena *a, uint32_t entries) {
    assert(entries);
    *b = (struct rb){
        .entry = arena_array(a, struct rb_entry, entries), .entries = entries, .random = PICK_SEED};
    b->bits = entries == 1 ? 1 : 32 - (uint32_t)__builtin_clz(entries - 1);
    b->mask = UINT32_MAX >> (32 - b->bits);
}

uint64_t rb_pieces(const struct rb_tag *t) {
    uint64_t x = t->op ^ rb_scope_piece(t->block, t->count);
    for (uint32_t k = 0; k < RB_OPERANDS; k++)
        x ^= rb_word_piece(k, t->word[k]);
    return x;
}

uint32_t rb_index(const struct rb *b, const struct rb_tag *t) {
    return rb_fold(b, rb_pieces(t));
}

bool rb_evict(struct rb *b, uint32_t index, struct rb_entry *out) {
    struct rb_entry *e = &b->entry[index];
    *out = *e;
    b->used -= e->valid;
    *e = (struct rb_entry){0};
    return out->valid;
}

bool rb_evict_random(struct rb *b, struct rb_entry *out) {
    if (!b->used)
        return false;
    uint32_t i = wir_pick(&b->random, b->entries);
    while (!b->entry[i].valid)
        i = i + 1 < b->entries ? i + 1 : 0;
    return rb_evict(b, i, out);
}

const struct rb_entry *rb_next(const struct rb *b, uint32_t *cursor) {
    while (b->used && *cursor < b->entries) {
        const struct rb_entry *e = &b->entry[(*cursor)++];
        if (e->valid)
            return e;
    }
    return NULL;
}

bool rb_take_block(struct rb *b, uint32_t block, uint32_t *cursor, struct rb_entry *out) {
    const struct rb_entry *e;
    while ((e = rb_next(b, cursor)))
        if (e->tag.block == block)
            return rb_evict(b, *cursor - 1, out);
    return false;
}

bool rb_take_loads(struct rb *b, uint32_t *cursor, struct rb_entry *out) {
    const struct rb_entry *e;
    while ((e = rb_next(b, cursor)))
        if (e->tag.kind != RB_ARITH)
            return rb_evict(b, *cursor - 1, out);
    return false;
}
