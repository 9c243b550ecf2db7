/* Facts about a kernel's instructions: which may be reused, and a number for each distinct operation.
 *
 * Two instructions have the same number when their operation is the same (exec/opkey.h) and the same words of
 * their sources come from constant banks, so that these can go by place. Not reusable are control flow,
 * stores and atomics, whatever depends on the lane or other lanes, writes predicates or more than one
 * register, and loads that are volatile, local, or generic (their space is not known when the kernel is
 * read); all loads in models without reuse of loads (section VI-A): of constant memory and textures, too,
 * and moves from a constant bank, which is what loads of parameters become. Arithmetic with an operand there
 * is none. */
#include <assert.h>
#include <string.h>

#include "base/map.h"
#include "exec/opkey.h"
#include "mech/wir/wir.h"

struct wir_numbers {
    struct arena *arena;
    struct map known; /* from the bytes of struct wir_key; lives as long as the machine */
    uint32_t n;
    bool loads, predicates;
    int32_t immediate_bits;
    const struct h3 *h3; /* one for all SMs, so that the host's caches hold it */
};

/* What has a number. Compared byte by byte, like the operation in it. */
struct wir_key {
    struct opkey op;
    uint32_t banks; /* bit k: source word k comes from a constant bank */
};
_Static_assert(sizeof(struct wir_key) == sizeof(struct opkey) + 4, "struct wir_key has padding");

void wir_release(void *shared) {
    map_free(&((struct wir_numbers *)shared)->known);
}

void *wir_shared(struct arena *a, const void *params) {
    const struct wir_params *p = params;
    struct wir_numbers *s = arena_new(a, struct wir_numbers);
    s->arena = a;
    s->loads = p->loads;
    s->predicates = p->predicates;
    s->immediate_bits = p->immediate_bits;
    s->h3 = h3_create(a, (uint32_t)p->hash_bits);
    return s;
}

const struct h3 *wir_hash(const void *shared) {
    return ((const struct wir_numbers *)shared)->h3;
}

/* Which words come from constant banks. */
static uint8_t bank_words(const struct image *img, const struct xinst *i) {
    uint8_t set = 0;
    for (uint32_t k = 0; k < i->nsw; k++)
        if (i->s[k] & POOL && img->pool.at[i->s[k] & ~POOL].bank != BANK_COUNT)
            set |= (uint8_t)(1u << k);
    return set;
}

static uint32_t number(struct wir_numbers *s, const struct xinst *i, uint8_t banks) {
    const struct wir_key key = {opkey_of(i), banks};
    uintptr_t known = (uintptr_t)map_getn(&s->known, (const char *)&key, sizeof key);
    if (!known) {
        known = ++s->n;
        char *kept = arena_alloc(s->arena, sizeof key);
        memcpy(kept, &key, sizeof key);
        map_setn(&s->known, kept, sizeof key, (void *)known);
    }
    return (uint32_t)known;
}

/* Whether the value of an instruction depends on its operands and memory alone; sets the kind. */
static bool reusable(const struct wir_numbers *s, const struct xinst *i, uint8_t banks, uint8_t *kind) {
    if (i->ndw != 1 || i->nsw > RB_OPERANDS || i->pd[0] != PRED_PT || i->pd[1] != PRED_PT)
        return false;
    if (!s->predicates && (i->ps[0] != PRED_PT || i->ps[1] != PRED_PT))
        return false;
    switch (opkey_basis(i)) {
    case BASIS_INPUTS:
        *kind = banks ? RB_CONST : RB_ARITH; /* what a bank holds is the launch's */
        return s->loads || !banks || i->in->op != OP_MOV;
    case BASIS_CONSTANT:
        *kind = RB_CONST;
        return s->loads;
    case BASIS_MEMORY:
        *kind = i->in->m.space == MS_SHARED ? RB_SHARED : RB_GLOBAL;
        return i->kind == X_LOAD && s->loads && !i->in->m.vol &&
               (i->in->m.space == MS_SHARED || i->in->m.space == MS_GLOBAL);
    default:
        return false;
    }
}

/* Spaces of a memory instruction, as far as its text tells. */
static uint8_t spaces_of(const struct xinst *i) {
    if (i->kind == X_TEX || i->kind == X_MBAR || i->kind == X_LDGSTS)
        return BLOCKS_SHARED | BLOCKS_GLOBAL;
    switch ((enum mem_space)i->in->m.space) {
    case MS_SHARED:
        return BLOCKS_SHARED;
    case MS_GENERIC:
        return BLOCKS_SHARED | BLOCKS_GLOBAL;
    case MS_GLOBAL:
        return BLOCKS_GLOBAL;
    default:
        return 0;
    }
}

static enum wir_access access_of(const struct xinst *i) {
    uint16_t flags = op_info[i->in->op].flags;
    if (flags & OPF_ATOMIC || i->kind == X_MBAR)
        return ACCESS_ATOMIC;
    if (flags & OPF_STORE || i->kind == X_LDGSTS)
        return ACCESS_STORE;
    return i->kind == X_LOAD && i->in->m.vol ? ACCESS_SYNC : ACCESS_NONE;
}

/* What of the tag of a reusable instruction the text tells. Behind an immediate that is too wide nobody looks
 * at further operands. */
static void prepare_tag(const struct wir_numbers *s, const struct image *img, const struct xinst *i,
                        const struct core_need *need, struct wir_mark *m) {
    assert(need->nreads <= MARK_NONE);
    memset(m->source, MARK_NONE, sizeof m->source);
    for (uint32_t k = 0; k < i->nsw && !m->too_wide; k++) {
        if (i->s[k] & POOL) {
            const struct pool_word *p = &img->pool.at[i->s[k] & ~POOL];
            bool bank = p->bank != BANK_COUNT;
            m->too_wide = !bank && s->immediate_bits < 32 && p->v >> s->immediate_bits;
            m->tag.word[k] = bank ? (uint32_t)p->bank << 28 | p->v : p->v;
            continue;
        }
        m->tag.regs |= (uint8_t)(1u << k);
        m->source[k] = 0;
        while (need->reads[m->source[k]] != i->s[k])
            m->source[k]++;
        m->sources |= (uint8_t)(1u << m->source[k]);
    }
    m->preds = i->ps[0] != PRED_PT || i->ps[1] != PRED_PT;
    m->too_wide |= m->preds && i->nsw > RB_OPERANDS - 2;
    m->scoped = m->tag.kind == RB_GLOBAL || m->tag.kind == RB_SHARED;
    m->simple = !m->too_wide && !m->preds && !m->scoped;
    m->tag.block = m->scoped ? 0 : RB_NO_BLOCK;
    m->pieces = rb_pieces(&m->tag);
}

const void *wir_kernel(void *shared, struct arena *launch, const struct image *img) {
    struct wir_numbers *s = shared;
    struct wir_mark *all = arena_array(launch, struct wir_mark, img->ncode + 1);
    for (uint32_t c = 0; c < img->ncode; c++) {
        const struct xinst *i = &img->code[c];
        struct wir_mark *m = &all[c];
        const struct core_need need = core_need(i);
        uint8_t banks = bank_words(img, i);
        m->renames = (uint8_t)(need.nreads + (need.nwrites != 0));
        m->reusable = reusable(s, i, banks, &m->tag.kind);
        if (m->reusable) {
            m->tag.op = number(s, i, banks);
            prepare_tag(s, img, i, &need, m);
        } else {
            m->access = (uint8_t)access_of(i);
            m->spaces = spaces_of(i);
        }
    }
    return all;
}
