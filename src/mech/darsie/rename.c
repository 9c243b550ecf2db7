/* Renaming (section 4.3.1): registers of a block, maps of its warps, and what instructions on their way hold.
 *
 * The rename table maps a warp's register to a version, the version table that to a physical register. A
 * version is known by its physical register, of which a block has few: both tables are one map here, and both
 * are counted. */
#include <stddef.h>
#include <string.h>

#include "mech/darsie/darsie.h"

void darsie_unref(struct darsie *d, uint16_t id) {
    if (!d->refs[id]) { /* only with a rule left out: the end of the launch tells */
        d->broken = true;
        return;
    }
    if (--d->refs[id])
        return;
    d->blocks[id / DARSIE_MOST].free |= UINT64_C(1) << (id % DARSIE_MOST);
    d->in_use--;
}

uint16_t darsie_alloc(struct darsie *d, uint32_t block) {
    struct darsie_block *b = &d->blocks[block];
    if (!b->free)
        return DARSIE_PRIVATE;
    uint32_t id = block * DARSIE_MOST + (uint32_t)__builtin_ctzll(b->free);
    b->free &= b->free - 1;
    d->refs[id] = 1;
    d->serial[id] = ++d->next_serial;
    d->in_use++;
    return (uint16_t)id;
}

uint16_t darsie_map(struct darsie *d, uint32_t warp, uint32_t reg, uint16_t id) {
    uint16_t *at = darsie_mapped(d, warp, reg), old = *at;
    *at = id;
    set_bit(&d->renamed[warp][reg / 64], UINT64_C(1) << (reg % 64), id != DARSIE_PRIVATE);
    d->n.renames++;
    return old;
}

static void take_sources(struct darsie *d, uint32_t warp, const struct core_need *need,
                         struct darsie_inst *c) {
    for (uint32_t k = 0; k < need->nreads; k++) {
        c->src[k] = *darsie_mapped(d, warp, need->reads[k]);
        if (c->src[k] == DARSIE_PRIVATE)
            continue;
        darsie_ref(d, c->src[k]);
        c->nsrc = need->nreads;
    }
}

void darsie_capture(struct darsie *d, uint32_t warp, uint32_t pc, struct darsie_inst *c) {
    const struct core_need *need = &d->sm->needs[pc];
    c->nsrc = c->nold = c->ndst = 0;
    if (darsie_names_renamed(d, warp, need))
        take_sources(d, warp, need, c);
}

/* Destinations that the warp writes for itself; a guarded write keeps some lanes of what was there. */
static void make_private(struct darsie *d, uint32_t warp, const struct xinst *i, struct darsie_inst *c) {
    bool guarded = i->guard != PRED_PT || i->gneg;
    for (uint32_t k = 0; k < i->ndw; k++) {
        c->old[k] = DARSIE_PRIVATE;
        if (*darsie_mapped(d, warp, i->d + k) == DARSIE_PRIVATE)
            continue;
        uint16_t old = darsie_map(d, warp, i->d + k, DARSIE_PRIVATE);
        if (!guarded) {
            darsie_unref(d, old);
            continue;
        }
        c->old[k] = old;
        c->nold = i->ndw;
    }
}

APART void darsie_decode_named(struct darsie *d, uint32_t warp, uint32_t pc) {
    const struct core_need *need = &d->sm->needs[pc];
    struct darsie_inst *c = darsie_at(d, warp, darsie_entering(d, warp));
    c->nsrc = c->nold = c->ndst = 0;
    take_sources(d, warp, need, c);
    make_private(d, warp, need->i, c);
}

void darsie_release(struct darsie *d, struct darsie_inst *c) {
    for (uint32_t k = 0; k < c->nsrc; k++)
        if (c->src[k] != DARSIE_PRIVATE)
            darsie_unref(d, c->src[k]);
    c->nsrc = 0;
}

void darsie_release_old(struct darsie *d, struct darsie_inst *c) {
    for (uint32_t k = 0; k < c->nold; k++)
        if (c->old[k] != DARSIE_PRIVATE)
            darsie_unref(d, c->old[k]);
    c->nold = 0;
}

/* Puts a register of the block into the latch of a warp's. */
static void load_latch(struct darsie *d, uint32_t warp, uint32_t reg, uint16_t id) {
    if (*darsie_latched(d, warp, reg) == d->serial[id])
        return;
    memcpy(d->sm->warps[warp].w->r[reg], d->value[id], sizeof d->value[id]);
    darsie_latch(d, warp, reg, id);
}

/* What the sources of a leader look like, all together. */
static enum darsie_form form_of(const uint32_t *v) {
    uint32_t stride = v[1] - v[0], same = 1;
    for (uint32_t l = 2; l < WARP_LANES; l++)
        same &= v[l] - v[l - 1] == stride;
    return !same ? FORM_UNSTRUCTURED : stride ? FORM_AFFINE : FORM_UNIFORM;
}

static void note_form(struct darsie *d, uint32_t warp, const struct xinst *i, const struct darsie_inst *c) {
    struct darsie_entry *e = &d->blocks[d->sm->warps[warp].block].entries[c->entry];
    if (!e->valid || e->generation != c->generation)
        return;
    for (uint32_t k = 0; k < i->nsw; k++) {
        enum darsie_form f = form_of(src_lanes(d->sm->x, d->sm->warps[warp].w, i->s[k]));
        e->form = f > (enum darsie_form)e->form ? (uint8_t)f : e->form;
    }
}

static APART void fill_named(struct darsie *d, uint32_t warp, const struct xinst *i, uint32_t mask) {
    const struct core_warp *cw = &d->sm->warps[warp];
    const struct darsie_inst *c = darsie_at(d, warp, darsie_front(d, warp));
    const struct core_need *need = &d->sm->needs[cw->next];
    for (uint32_t k = 0; k < c->nsrc; k++) {
        uint16_t id = darsie_keeps(d, RULE_CAPTURE) ? c->src[k] : *darsie_mapped(d, warp, need->reads[k]);
        if (id != DARSIE_PRIVATE)
            load_latch(d, warp, need->reads[k], id);
    }
    for (uint32_t k = 0; mask != (uint32_t)DARSIE_ALL_LANES && k < c->nold; k++)
        if (c->old[k] != DARSIE_PRIVATE && darsie_keeps(d, RULE_MERGE))
            load_latch(d, warp, i->d + k, c->old[k]);
    if (c->ndst)
        note_form(d, warp, i, c);
}

EVERY_TIME void darsie_fill(void *m, uint32_t warp, const struct xinst *i, uint32_t mask) {
    struct darsie *d = m;
    if (darsie_is_on(d) && darsie_is_naming(d, warp))
        fill_named(d, warp, i, mask);
}

void darsie_restore(void *m, uint32_t warp) {
    struct darsie *d = m;
    for (uint32_t k = 0; k < DARSIE_SETS; k++)
        for (uint64_t left = d->renamed[warp][k]; left; left &= left - 1) {
            uint32_t r = k * 64 + (uint32_t)__builtin_ctzll(left);
            load_latch(d, warp, r, *darsie_mapped(d, warp, r));
        }
}

/* Numbers of physical registers: the private ones lie in the banks of the base machine, those of a block one
 * after the other across the banks. */
enum { BLOCK_PLACES = 32768 };

void darsie_number_places(struct darsie *d) {
    const struct core_spec *spec = d->sm->spec;
    uint32_t banks = spec->banks, rows = (MAX_GPR + banks) / banks;
    bool by_warp = spec->mapping == MAP_WID;
    d->block_places = (BLOCK_PLACES + banks - 1) / banks * banks;
    for (uint32_t warp = 0; warp < CORE_MAX_WARPS; warp++)
        d->warp_places[warp] = (by_warp ? warp / banks * (MAX_GPR + 1) : warp * rows) * banks;
    for (uint32_t reg = 0; reg <= MAX_GPR; reg++)
        d->reg_places[reg] = (by_warp ? reg : reg / banks) * banks;
}

static EVERY_TIME uint32_t darsie_place_of(const struct darsie *d, uint16_t id, uint32_t warp, uint32_t reg) {
    if (id == DARSIE_PRIVATE)
        return d->warp_places[warp] + d->reg_places[reg] + bank_of(d->sm, warp, reg);
    return d->block_places + id / DARSIE_MOST * d->regs + id % DARSIE_MOST;
}

uint32_t darsie_place(void *m, int32_t op, uint32_t k, bool write) {
    const struct darsie *d = m;
    const struct core_op *o = &d->sm->ops[op];
    if (o->pc == CORE_NO_PC) {
        const struct darsie_copy *c = &d->copy_of[op];
        return darsie_place_of(d, write ? c->to : c->from, o->warp, c->reg);
    }
    const struct darsie_inst *c = &d->ops[op];
    if (!o->noted)
        return darsie_place_of(d, DARSIE_PRIVATE, o->warp, write ? o->i->d + k : o->need->reads[k]);
    if (write)
        return darsie_place_of(d, k < c->ndst ? c->dst[k] : DARSIE_PRIVATE, o->warp, o->i->d + k);
    bool shared = k < c->nsrc && d->params->conflicts;
    return darsie_place_of(d, shared ? c->src[k] : DARSIE_PRIVATE, o->warp, o->need->reads[k]);
}

EVERY_TIME bool darsie_silent(const void *m, uint32_t warp) {
    const struct darsie *d = m;
    const struct core_need *need = d->sm->warps[warp].need;
    return !darsie_is_naming(d, warp) && !need->parted && !(d->loaded[warp][need->dest_word] & need->dest);
}

/* Copies find room for themselves at the tick, and look there at what is being written. The result of an
 * instruction that only reads registers of the block, and has done so, is the warp's own. */
EVERY_TIME bool darsie_own(const void *m, int32_t op, bool write) {
    const struct darsie *d = m;
    const struct darsie_inst *c = &d->ops[op];
    bool noted = d->sm->ops[op].noted;
    return write ? !(noted && c->ndst | c->nsrc) && !d->leaving && queue_empty(&d->copies) : !noted;
}

EVERY_TIME const uint16_t *darsie_places(void *m, int32_t op) {
    struct darsie *d = m;
    const struct core_op *o = &d->sm->ops[op];
    const struct core_need *need = o->need;
    struct darsie_inst *c = &d->ops[op];
    bool shared = c->nsrc && d->params->conflicts;
    for (uint32_t k = 0, n = need->nreads; k < n; k++)
        c->place[k] =
            (uint16_t)darsie_place_of(d, shared ? c->src[k] : DARSIE_PRIVATE, o->warp, need->reads[k]);
    return c->place;
}

uint32_t darsie_holds(void *m, uint32_t warp, uint32_t reg) {
    const struct darsie *d = m;
    const struct core_warp *cw = &d->sm->warps[warp];
    const struct darsie_inst *c = darsie_at(d, warp, darsie_front(d, warp));
    const struct core_need *need = &d->sm->needs[cw->next];
    const struct xinst *i = &d->sm->x->img->code[cw->next];
    bool names = darsie_is_on(d) && darsie_is_naming(d, warp);
    uint16_t id = DARSIE_PRIVATE;
    for (uint32_t k = 0; names && k < c->nsrc; k++)
        id = need->reads[k] == reg ? c->src[k] : id;
    for (uint32_t k = 0; names && k < c->nold; k++)
        id = i->d + k == reg && c->old[k] != DARSIE_PRIVATE ? c->old[k] : id;
    if (id == DARSIE_PRIVATE && d->copying[warp]) /* it may be on its way there */
        return CORE_NO_PLACE;
    return darsie_place_of(d, id, warp, reg);
}

/* Lanes that a guarded write keeps are copied to where the result goes. */
static void merge(struct darsie *d, int32_t op, struct darsie_inst *c) {
    const struct core_op *o = &d->sm->ops[op];
    struct darsie_entry *e = &d->blocks[d->sm->warps[o->warp].block].entries[c->entry];
    for (uint32_t k = 0; k < c->nold; k++) {
        uint16_t to = c->ndst ? c->dst[k] : DARSIE_PRIVATE;
        if (c->old[k] == to)
            continue;
        if (to != DARSIE_PRIVATE)
            darsie_ref(d, to);
        struct darsie_copy copy = {.warp = o->warp,
                                   .reg = (uint8_t)(o->i->d + k),
                                   .from = c->old[k],
                                   .to = to,
                                   .mask = ~o->mask,
                                   .kind = c->ndst ? COPY_LEAD : COPY_KEEP,
                                   .entry = c->entry,
                                   .generation = c->generation};
        if (c->ndst && e->valid && e->generation == c->generation)
            e->pending++;
        queue_push(&d->copies, copy);
        core_expect(d->sm, o->warp, copy.reg);
        d->n.merges++;
    }
    c->nold = 0; /* the copies hold the references now */
}

/* What an instruction does to memory that others have loaded from. */
static void note_memory(struct darsie *d, const struct core_op *o) {
    uint16_t flags = op_info[o->i->in->op].flags;
    uint32_t block = d->sm->warps[o->warp].block;
    bool atomic = flags & OPF_ATOMIC || o->i->kind == X_MBAR || o->i->kind == X_LDGSTS;
    bool orders = atomic || (o->i->kind == X_LOAD && o->i->in->m.vol);
    bool stores = flags & OPF_STORE && !atomic;
    if (stores && !d->params->ignore_store)
        darsie_flush_block(d, block);
    if (!orders || !darsie_keeps(d, RULE_ATOMICS))
        return;
    darsie_flush_block(d, block);
    if (o->i->in->m.space != MS_SHARED)
        darsie_flush_global(d);
}

static EVERY_TIME void issue_named(struct darsie *d, int32_t op) {
    struct core_op *o = &d->sm->ops[op];
    uint32_t at = darsie_front(d, o->warp);
    const struct darsie_inst *from = darsie_at(d, o->warp, at);
    struct darsie_inst *c = &d->ops[op];
    memcpy(c, from, offsetof(struct darsie_inst, old)); /* most have no more */
    if (from->nold | from->ndst)
        memcpy(c->old, from->old, sizeof c->old + sizeof c->dst);
    c->valued = false;
    d->naming[o->warp] &= ~(1u << at);
    o->noted = true;
    if (c->nsrc) {
        assert(d->nreading < 2 * CORE_OPS);
        d->reading[d->nreading++] = op;
    }
    if (c->nold && o->mask != (uint32_t)DARSIE_ALL_LANES)
        merge(d, op, c);
    else if (c->nold)
        darsie_release_old(d, c);
}

APART void darsie_issued(void *m, int32_t op) {
    struct darsie *d = m;
    const struct core_op *o = &d->sm->ops[op];
    if (!darsie_is_on(d))
        return;
    if (o->need->parted || d->loaded[o->warp][o->need->dest_word] & o->need->dest)
        darsie_unlatch(d, o->warp, o->i->d, o->i->ndw);
    if (darsie_is_naming(d, o->warp))
        issue_named(d, op);
    if (__builtin_expect(d->marks[o->pc].ordered, 0) && o->mask)
        note_memory(d, o);
}

static APART void take_value(struct darsie *d, int32_t op) {
    const struct core_op *o = &d->sm->ops[op];
    struct darsie_inst *c = &d->ops[op];
    for (uint32_t k = 0; k < c->ndst; k++) {
        memcpy(d->value[c->dst[k]], d->sm->warps[o->warp].w->r[o->i->d + k], sizeof d->value[0]);
        darsie_latch(d, o->warp, o->i->d + k, c->dst[k]);
    }
    c->valued = true;
}

EVERY_TIME void darsie_result(void *m, int32_t op) {
    struct darsie *d = m;
    if (d->sm->ops[op].noted && d->ops[op].ndst && !d->ops[op].valued)
        take_value(d, op);
}

/* A copy is over. */
static void end_copy(struct darsie *d, const struct darsie_copy *c) {
    uint32_t block = d->sm->warps[c->warp].block;
    if (c->from != DARSIE_PRIVATE)
        darsie_unref(d, c->from);
    if (c->to != DARSIE_PRIVATE)
        darsie_unref(d, c->to);
    if (c->kind == COPY_LEAD)
        darsie_wrote_back(d, block, c->entry, c->generation);
    else if (c->kind == COPY_LEAVE && !--d->copying[c->warp] && !darsie_renames(d, c->warp)) {
        d->leaving &= ~(UINT64_C(1) << c->warp);
        darsie_ask(d, UINT64_C(1) << c->warp);
    }
}

static APART void retire_copy(struct darsie *d, int32_t op) {
    const struct darsie_copy *copy = &d->copy_of[op];
    if (copy->kind != COPY_LEAVE)
        core_arrive(d->sm, copy->warp, copy->reg);
    end_copy(d, copy);
}

static APART void retire_named(struct darsie *d, int32_t op) {
    const struct core_op *o = &d->sm->ops[op];
    struct darsie_inst *c = &d->ops[op];
    if (c->nsrc)
        darsie_release(d, c);
    if (!c->ndst)
        return;
    darsie_result(d, op);
    for (uint32_t k = 0; k < c->ndst; k++)
        darsie_unref(d, c->dst[k]);
    c->ndst = 0;
    darsie_wrote_back(d, d->sm->warps[o->warp].block, c->entry, c->generation);
}

EVERY_TIME void darsie_retire(void *m, int32_t op) {
    struct darsie *d = m;
    const struct core_op *o = &d->sm->ops[op];
    if (__builtin_expect(o->pc == CORE_NO_PC, 0) && darsie_is_on(d))
        retire_copy(d, op);
    else if (o->noted)
        retire_named(d, op);
}

/* A copy becomes an instruction, if there is room for it. */
static bool inject(struct darsie *d, const struct darsie_copy *c) {
    if (!core_collector_free(d->sm, &d->movs[c->reg].need))
        return false;
    int32_t op = core_inject(d->sm, c->warp, &d->movs[c->reg], c->mask);
    if (op == CORE_NONE)
        return false;
    d->copy_of[op] = *c;
    core_collect(d->sm, op);
    return true;
}

/* A register of a warp that leaves is copied; false: there is no room for that. */
static bool copy_register(struct darsie *d, uint32_t warp, uint32_t r) {
    uint16_t id = *darsie_mapped(d, warp, r);
    struct darsie_copy c = {.warp = (uint16_t)warp,
                            .reg = (uint8_t)r,
                            .from = id,
                            .to = DARSIE_PRIVATE,
                            .mask = (uint32_t)DARSIE_ALL_LANES};
    if (!inject(d, &c))
        return false;
    darsie_map(d, warp, r, DARSIE_PRIVATE); /* the copy has its reference */
    if (darsie_keeps(d, RULE_COPY))
        load_latch(d, warp, r, id);
    darsie_unlatch(d, warp, r, 1);
    d->copying[warp]++;
    d->n.copies++;
    return true;
}

/* A warp that leaves copies its registers one by one; those that are still being written have to wait. False:
 * there is no room for more. */
static bool copy_registers(struct darsie *d, uint32_t warp) {
    const struct core_warp *cw = &d->sm->warps[warp];
    for (uint32_t k = 0; k < DARSIE_SETS; k++)
        for (uint64_t left = d->renamed[warp][k] & ~cw->pending[k]; left; left &= left - 1)
            if (!copy_register(d, warp, k * 64 + (uint32_t)__builtin_ctzll(left)))
                return false;
    return true;
}

void darsie_release_read(struct darsie *d) {
    const struct core_op *ops = d->sm->ops;
    uint32_t n = d->nreading, left = 0;
    for (uint32_t k = 0; k < n; k++) {
        int32_t op = d->reading[k];
        if (ops[op].pending)
            d->reading[left++] = op;
        else
            darsie_release(d, &d->ops[op]);
    }
    d->nreading = left;
}

APART void darsie_copy(struct darsie *d) {
    d->n.copy_waits += (uint32_t)__builtin_popcountll(d->leaving);
    while (!queue_empty(&d->copies) && inject(d, queue_head(&d->copies)))
        queue_pop(&d->copies);
    for (uint64_t left = d->leaving; left && copy_registers(d, (uint32_t)__builtin_ctzll(left));)
        left &= left - 1;
}

void darsie_forget_warp(struct darsie *d, uint32_t warp) {
    for (uint32_t k = 0; k < DARSIE_SETS; k++)
        for (uint64_t left = d->renamed[warp][k]; left; left &= left - 1)
            darsie_unref(d, darsie_map(d, warp, k * 64 + (uint32_t)__builtin_ctzll(left), DARSIE_PRIVATE));
}

void darsie_end_warp(struct darsie *d, uint32_t warp) {
    darsie_forget_warp(d, warp);
    for (uint32_t n = d->copies.len; n; n--) {
        struct darsie_copy c = *queue_head(&d->copies);
        queue_pop(&d->copies);
        if (c.warp == warp)
            end_copy(d, &c);
        else
            queue_push(&d->copies, c);
    }
}
