/* The reuse buffer (WIR, section V-C): results of recent instructions, found by what was computed.
 *
 * A tag is an operation and its operands, registers by physical number; two instructions with equal tags
 * compute the same value, provided that nobody rewrites a register while a tag names it. The caller sees to
 * that with reference counts: an entry that leaves the buffer, for whatever reason, is handed back by value,
 * and the caller drops the references to its sources (rb_source) and, unless it is pending, to its result.
 * Unused words of a tag are 0.
 *
 * The buffer is indexed directly: a tag has one place. A place is reserved with a stamp, which tells later
 * whether it still belongs to whom reserved it; stamps are never used twice. */
#ifndef REPRISE_MECH_WIR_RB_H
#define REPRISE_MECH_WIR_RB_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"

enum { RB_OPERANDS = 4, RB_NO_BLOCK = 255, RB_NO_RESULT = UINT32_MAX };

/* What an entry's value depends on beside its operands: nothing, memory that stays as it is during a kernel
 * (constants, parameters, textures), or memory that is written. */
enum rb_kind { RB_ARITH, RB_CONST, RB_GLOBAL, RB_SHARED };

struct rb_tag {
    uint32_t op;                /* number of the operation with all its modifiers, the same in all kernels */
    uint32_t word[RB_OPERANDS]; /* physical registers and immediates */
    uint8_t regs;               /* bit i: word i is a register */
    uint8_t kind;               /* enum rb_kind */
    uint8_t block, count;       /* of loads, from blocks_scope; otherwise RB_NO_BLOCK and 0 */
    uint32_t lanes;             /* for which it is computed: others of the result mean nothing */
};

_Static_assert(sizeof(struct rb_tag) == 28, "tags are compared as bytes and must have no holes");

struct rb_entry {
    _Alignas(64) struct rb_tag tag;
    uint32_t result; /* physical register; RB_NO_RESULT while pending */
    uint64_t stamp;
    bool valid, pending;
    bool awaited; /* somebody who found it pending may still wait: a note of the owner's, gone with the entry
                   */
};

struct rb {
    struct rb_entry *entry;
    uint32_t entries, bits; /* bits: the tag is folded to so many */
    uint32_t mask;          /* so many ones */
    uint32_t used;
    uint64_t stamp, random;
};

enum rb_look { RB_MISS, RB_PENDING, RB_HIT };

/* A buffer of at least one entry. */
void rb_init(struct rb *b, struct arena *a, uint32_t entries);
/* The place of a tag: the exclusive or of its pieces, laid side by side as the hardware would. */
uint32_t rb_index(const struct rb *b, const struct rb_tag *t);
/* The same in steps: the pieces of a whole tag, or of one of its words, or of block and count, side by side
 * as in the paper's Figure 9: 8 bits of operation, 10 for each operand, block, count. The exclusive or of
 * pieces is that of the whole; where it is folded to. */
static inline uint64_t rb_rotate(uint64_t x, uint32_t n) {
    return x << n | x >> (64 - n);
}
static inline uint64_t rb_word_piece(uint32_t k, uint32_t word) {
    return rb_rotate(word, 8 + 10 * k);
}
static inline uint64_t rb_scope_piece(uint8_t block, uint8_t count) {
    return rb_rotate(block, 48) ^ rb_rotate(count, 52);
}
uint64_t rb_pieces(const struct rb_tag *t);
static inline uint32_t rb_fold(const struct rb *b, uint64_t x) {
    uint32_t bits = b->bits;
    if (bits >= 8 && bits < 16) { /* no more than eight pieces */
        x ^= x >> 4 * bits;
        x ^= x >> 2 * bits;
        x ^= x >> bits;
    } else {
        uint64_t sum = 0;
        for (; x; x >>= bits)
            sum ^= x;
        x = sum;
    }
    uint32_t fold = (uint32_t)x & b->mask;
    return fold < b->entries ? fold : fold - b->entries;
}
/* Whether the entry at the tag's place is the tag's; a hit's result is in b->entry[index].result. */
static inline enum rb_look rb_look_at(const struct rb_entry *e, const struct rb_tag *t) {
    if (!e->valid || memcmp(&e->tag, t, sizeof *t))
        return RB_MISS;
    return e->pending ? RB_PENDING : RB_HIT;
}
static inline enum rb_look rb_lookup(const struct rb *b, uint32_t index, const struct rb_tag *t) {
    return rb_look_at(&b->entry[index], t);
}
/* The same for an instruction that found the entry pending under stamp and waited since. A load takes that
 * entry and no later one: a later load may have read what stands behind the waiting one in the program. */
static inline enum rb_look rb_retry(const struct rb *b, uint32_t index, const struct rb_tag *t,
                                    uint64_t stamp) {
    bool load = t->kind == RB_GLOBAL || t->kind == RB_SHARED;
    return load && b->entry[index].stamp != stamp ? RB_MISS : rb_lookup(b, index, t);
}
/* Enters a tag with its result, or RB_NO_RESULT, at a place of the buffer's; what was there is over. Returns
 * the stamp. */
static inline uint64_t rb_enter(struct rb *b, struct rb_entry *e, const struct rb_tag *t, uint32_t result) {
    b->used += !e->valid;
    e->tag = *t;
    e->result = result;
    e->stamp = ++b->stamp;
    e->valid = true;
    e->pending = result == RB_NO_RESULT;
    e->awaited = false;
    return e->stamp;
}
/* The same; what was there is handed back. */
static inline uint64_t rb_insert(struct rb *b, uint32_t index, const struct rb_tag *t, uint32_t result,
                                 struct rb_entry *out) {
    *out = b->entry[index];
    return rb_enter(b, &b->entry[index], t, result);
}
/* Reserves the place for a result on its way; what was there is handed back. Returns the stamp for rb_fill.
 */
static inline uint64_t rb_reserve(struct rb *b, uint32_t index, const struct rb_tag *t,
                                  struct rb_entry *out) {
    return rb_insert(b, index, t, RB_NO_RESULT, out);
}
/* Brings the result; false when the place has been given away since: then nothing changes. */
static inline bool rb_fill(struct rb *b, uint32_t index, uint64_t stamp, uint32_t result) {
    struct rb_entry *e = &b->entry[index];
    if (!e->valid || e->stamp != stamp)
        return false;
    assert(e->pending);
    e->pending = false;
    e->result = result;
    return true;
}
/* Empties a place; false when it was empty. */
bool rb_evict(struct rb *b, uint32_t index, struct rb_entry *out);
/* Empties one place at random; false when all are empty, and only then. */
bool rb_evict_random(struct rb *b, struct rb_entry *out);
/* Takes out the loads of a block, one with each call, from *cursor (0 at first) on; false when there are no
 * more. */
bool rb_take_block(struct rb *b, uint32_t block, uint32_t *cursor, struct rb_entry *out);
/* The same for all loads, those of constants included: what the next kernel must not see. */
bool rb_take_loads(struct rb *b, uint32_t *cursor, struct rb_entry *out);
/* The next valid entry from *cursor on, or NULL. */
const struct rb_entry *rb_next(const struct rb *b, uint32_t *cursor);

/* The registers an entry refers to as sources: gives the next one from *i (0 at first) on, or false. */
static inline bool rb_source(const struct rb_tag *t, uint32_t *i, uint32_t *reg) {
    uint32_t left = (uint32_t)t->regs >> *i;
    if (!left)
        return false;
    *i += (uint32_t)__builtin_ctz(left);
    *reg = t->word[(*i)++];
    return true;
}

#endif
