#include "cpu/callee.h"

#include <string.h>

/* ---- addresses ---- */

/* Where a load or store goes: its base register, and what is added. False for those that add a register, or
 * are of a kind that is not followed. */
static bool access_of(uint32_t word, const struct a64_inst *i, uint8_t *base, int64_t *offset) {
    bool pair = (word & 0x3a000000) == 0x28000000;
    bool scaled = (word & 0x3b000000) == 0x39000000;
    bool other = (word & 0x3b200000) == 0x38000000 && (word >> 10 & 3) != 2;
    bool post = pair ? (word >> 23 & 3) == 1 : other && (word >> 10 & 3) == 1;
    *base = i->rn;
    *offset = post ? 0 : i->imm;
    return pair || scaled || other;
}

static bool is_copy(const struct a64_inst *i, uint32_t word) {
    return i->op == A64_ORR && word >> 31 && i->rn == A64_ZERO && !(word >> 10 & 63);
}

static bool is_sum(const struct a64_inst *i, uint32_t word) {
    return (i->op == A64_ADD_I || i->op == A64_SUB_I) && word >> 31;
}

static bool is_access(const struct a64_inst *i) {
    uint32_t class = a64_info(i->op)->class;
    return class == CLASS_LOAD || class == CLASS_STORE;
}

static struct place plus(struct place p, int64_t by) {
    if (p.base < PLACE_UNKNOWN)
        p.offset += by;
    return p;
}

/* What an instruction does to places. */
static void step(const struct flow_node *x, struct places *s) {
    struct a64_inst i;
    struct place result = {PLACE_UNKNOWN, 0}, base = result;
    if (!a64_decode(x->word, x->pc, &i))
        return;
    if (is_copy(&i, x->word) && i.rm < PLACES)
        result = s->at[i.rm];
    else if (is_sum(&i, x->word) && i.rn < PLACES)
        result = plus(s->at[i.rn], i.op == A64_ADD_I ? i.imm : -i.imm);
    else if (i.op == A64_ADR || i.op == A64_ADRP)
        result = (struct place){PLACE_CONSTANT, i.imm};
    bool moves = is_access(&i) && a64_writes_base(x->word) && i.rn < PLACES;
    if (moves)
        base = plus(s->at[i.rn], i.imm);
    for (uint32_t r = 0; r < PLACES; r++)
        if (regset_has(&x->def, r))
            s->at[r] = (struct place){PLACE_UNKNOWN, 0};
    if (result.base != PLACE_UNKNOWN && i.rd < PLACES)
        s->at[i.rd] = result;
    if (moves)
        s->at[i.rn] = base;
}

static bool meet(struct place *a, const struct place *b) {
    if (b->base == PLACE_NONE || a->base == PLACE_UNKNOWN ||
        (a->base == b->base && (a->offset == b->offset || b->base == PLACE_UNKNOWN)))
        return false;
    *a = a->base == PLACE_NONE ? *b : (struct place){PLACE_UNKNOWN, 0};
    return true;
}

struct places *places_follow(const struct flowset *f, const bool *in) {
    struct places *before = xcalloc(f->at.len + 1, sizeof *before);
    for (uint32_t n = 0; n < f->at.len; n++)
        for (uint32_t r = 0; r < PLACES; r++)
            before[n].at[r] = (struct place){n ? PLACE_NONE : (uint8_t)r, 0};
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t n = 0; n < f->at.len; n++) {
            const struct flow_node *x = &f->at.at[n];
            struct places after = before[n];
            if ((in && !in[n]) || before[n].at[0].base == PLACE_NONE)
                continue;
            step(x, &after);
            for (int k = 0; k < 2; k++)
                for (uint32_t r = 0; x->to[k] != NO_VERTEX && r < PLACES; r++)
                    changed |= meet(&before[x->to[k]].at[r], &after.at[r]);
        }
    }
    return before;
}

/* Whether a store writes the register that is its base, too. */
static bool stores(const struct a64_inst *i, uint32_t word, uint8_t base) {
    bool vector = word >> 26 & 1, pair = (word & 0x3a000000) == 0x28000000;
    return a64_info(i->op)->class == CLASS_STORE && !vector && (i->rd == base || (pair && i->ra == base));
}

static void use(struct regset *all, const struct places *s, uint32_t r) {
    if (r < PLACES && s->at[r].base < PLACES)
        regset_add(all, s->at[r].base);
}

struct regset places_used(const struct flowset *f, const bool *in, const struct places *before) {
    struct regset all = {{0, 0}};
    for (uint32_t n = 0; n < f->at.len; n++) {
        const struct flow_node *x = &f->at.at[n];
        struct places after = before[n];
        struct a64_inst i;
        uint8_t base = A64_REGS;
        int64_t offset;
        if ((in && !in[n]) || x->is_call || x->is_end || before[n].at[0].base == PLACE_NONE ||
            !a64_decode(x->word, x->pc, &i))
            continue;
        bool followed = is_copy(&i, x->word) || is_sum(&i, x->word);
        bool address = is_access(&i) && access_of(x->word, &i, &base, &offset);
        for (uint32_t k = 0; !followed && k < x->uses.nsrc; k++)
            if (!address || x->uses.src[k] != base)
                use(&all, &before[n], x->uses.src[k]);
        if (address && stores(&i, x->word, base))
            use(&all, &before[n], base);
        step(x, &after);
        for (int k = 0; k < 2; k++) /* what becomes unknown where paths meet */
            for (uint32_t r = 0; x->to[k] != NO_VERTEX && r < PLACES; r++)
                if (before[x->to[k]].at[r].base == PLACE_UNKNOWN && regset_has(&f->at.at[x->to[k]].live, r))
                    use(&all, &after, r);
    }
    return all;
}

/* ---- functions ---- */

static bool is_constant(const struct cputrace *t, uint64_t address) {
    uint64_t page = address >> PAGE_BITS;
    return page < SPACE_PAGES && !(t->space->perm[page] & PERM_WRITE);
}

static bool add_read(struct callee *c, uint8_t reg, int64_t offset, uint32_t bytes, bool is_fp) {
    const struct pointed new = {reg, (uint8_t)bytes, is_fp, offset};
    for (uint32_t k = 0; k < c->reads; k++)
        if (c->read[k].reg == reg && c->read[k].offset == offset && c->read[k].bytes == bytes)
            return true;
    if (c->reads == CALLEE_READS)
        return false;
    c->read[c->reads++] = new;
    return true;
}

/* Whether an access is understood: of the frame, which is below the stack pointer of the first instruction;
 * of what nothing writes; or, a load, of what an argument points to, which is then noted. */
static bool take_access(const struct cputrace *t, const struct flow_node *x, const struct a64_inst *i,
                        const struct places *s, struct callee *c) {
    bool store = a64_info(i->op)->class == CLASS_STORE, pair = (x->word & 0x3a000000) == 0x28000000;
    uint32_t each = a64_access_size(x->word), all = pair ? 2 * each : each, part = each > 8 ? 8 : each;
    uint8_t base;
    int64_t offset;
    if ((x->word & 0x3b000000) == 0x18000000) /* beside the code */
        return !store && is_constant(t, (uint64_t)i->imm);
    if (!access_of(x->word, i, &base, &offset) || base >= PLACES)
        return false;
    struct place p = plus(s->at[base], offset);
    if (p.base == A64_SP)
        return p.offset + all <= 0;
    if (store)
        return false;
    if (p.base == PLACE_CONSTANT)
        return is_constant(t, (uint64_t)p.offset);
    bool ok = p.base <= 7;
    for (uint32_t k = 0; ok && k < all; k += part)
        ok = add_read(c, p.base, p.offset + k, part, x->word >> 26 & 1);
    return ok;
}

void callee_find(const struct cputrace *t, uint64_t pc, struct callee *out) {
    struct flowset f;
    *out = (struct callee){.pc = pc};
    flow_build(&f, t, pc, NULL);
    struct places *before = places_follow(&f, NULL);
    bool ok = !f.incomplete && f.at.len;
    for (uint32_t n = 0; ok && n < f.at.len; n++) {
        const struct flow_node *x = &f.at.at[n];
        struct a64_inst i;
        ok = a64_decode(x->word, x->pc, &i) && !x->is_call;
        uint32_t class = ok ? a64_info(i.op)->class : CLASS_SYS;
        ok &= class != CLASS_SYS && class != CLASS_MEMO && !(a64_info(i.op)->flags & A64_MEMO);
        if (ok && is_access(&i))
            ok = take_access(t, x, &i, &before[n], out);
    }
    struct regset used = ok ? places_used(&f, NULL, before) : (struct regset){{0, 0}};
    for (uint32_t r = 0; ok && r < A64_REGS; r++) {
        bool argument = r <= 8 || (r >= A64_V0 && r < A64_V0 + 8);
        bool needed = r < PLACES ? regset_has(&used, r) : regset_has(&f.at.at[0].live, r);
        if (argument && needed)
            regset_add(&out->values, r);
    }
    out->understood = ok;
    free(before);
    flow_free(&f);
}
