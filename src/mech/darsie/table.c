/* The PC skip table (sections 4.3.2, 4.3.5, 4.4): which instructions of a block have a leader, and what the
 * leader's result is. */
#include "mech/darsie/darsie.h"

static struct darsie_block *block_of(struct darsie *d, uint32_t warp) {
    return &d->blocks[d->sm->warps[warp].block];
}

APART struct darsie_entry *darsie_find(struct darsie *d, uint32_t warp, uint32_t pc) {
    struct darsie_block *b = block_of(d, warp);
    for (uint32_t left = b->used; left; left &= left - 1) {
        uint32_t k = (uint32_t)__builtin_ctz(left);
        if (b->pcs[k] == pc && b->entries[k].history == d->history[warp])
            return &b->entries[k];
    }
    return NULL;
}

void darsie_drop(struct darsie *d, uint32_t block, struct darsie_entry *e) {
    for (uint32_t k = 0; k < e->ndst && darsie_keeps(d, RULE_HELD); k++)
        darsie_unref(d, e->dst[k]);
    e->valid = false;
    d->blocks[block].used &= ~(1u << (e - d->blocks[block].entries));
    d->n.updates++;
    darsie_ask_awaiting(d, e);
}

void darsie_clear(struct darsie *d, uint32_t block) {
    struct darsie_block *b = &d->blocks[block];
    for (uint32_t left = b->used; left; left &= left - 1)
        darsie_drop(d, block, &b->entries[__builtin_ctz(left)]);
}

void darsie_passed(struct darsie *d, uint32_t block, struct darsie_entry *e, uint64_t warps) {
    e->done |= warps;
    if (!(d->blocks[block].majority & ~e->done))
        darsie_drop(d, block, e);
}

bool darsie_same_versions(const struct darsie *d, const struct darsie_entry *e, uint32_t warp, uint32_t pc) {
    const struct darsie_mark *m = &d->marks[pc];
    const struct core_need *need = &d->sm->needs[pc];
    const struct xinst *i = &d->sm->x->img->code[pc];
    if (!darsie_keeps(d, RULE_VERSIONS))
        return true;
    for (uint32_t left = m->versions; left; left &= left - 1) {
        uint32_t k = (uint32_t)__builtin_ctz(left);
        uint64_t version = darsie_version(d, *darsie_mapped(d, warp, need->reads[k]));
        if (!version || version != e->src[k])
            return false;
    }
    for (uint32_t k = 0; m->old_version && k < i->ndw; k++) {
        uint64_t version = darsie_version(d, *darsie_mapped(d, warp, i->d + k));
        if (!version || version != e->old[k])
            return false;
    }
    return true;
}

void darsie_follow(struct darsie *d, uint32_t warp, uint32_t pc, struct darsie_entry *e) {
    const struct xinst *i = &d->sm->x->img->code[pc];
    for (uint32_t k = 0; k < e->ndst; k++) {
        darsie_ref(d, e->dst[k]);
        uint16_t old = darsie_map(d, warp, i->d + k, e->dst[k]);
        if (old != DARSIE_PRIVATE)
            darsie_unref(d, old);
    }
    d->n.not_uniform += e->form == FORM_UNIFORM;
    d->n.not_affine += e->form == FORM_AFFINE;
    d->n.not_unstructured += e->form == FORM_UNSTRUCTURED;
    d->n.removed_loads += e->load;
    darsie_passed(d, d->sm->warps[warp].block, e, warp_bit(warp));
}

/* A place for a new entry: a free one, or the oldest whose leader has written back. */
static struct darsie_entry *take_entry(struct darsie *d, uint32_t block) {
    struct darsie_block *b = &d->blocks[block];
    struct darsie_entry *oldest = NULL;
    for (uint32_t k = 0; k < (uint32_t)d->params->entries; k++) {
        struct darsie_entry *e = &b->entries[k];
        if (!e->valid)
            return e;
        if (!e->pending && (!oldest || e->generation < oldest->generation))
            oldest = e;
    }
    if (oldest) {
        darsie_drop(d, block, oldest);
        d->n.evicted++;
    }
    return oldest;
}

/* Why nobody leads, if that is so. */
static uint64_t *why_private(struct darsie *d, uint32_t warp, uint32_t words) {
    const struct darsie_block *b = block_of(d, warp);
    if (!(b->majority & (b->majority - 1)))
        return &d->n.private_alone;
    return (uint32_t)__builtin_popcountll(b->free) < words ? &d->n.private_registers : NULL;
}

/* The leader's destination becomes a register of the block. What was there stays in c->old if some lanes are
 * kept. */
static void rename_result(struct darsie *d, uint32_t warp, const struct xinst *i, struct darsie_entry *e,
                          struct darsie_inst *c) {
    bool guarded = i->guard != PRED_PT || i->gneg;
    uint32_t block = d->sm->warps[warp].block;
    c->ndst = e->ndst = i->ndw;
    c->nold = guarded ? i->ndw : 0;
    for (uint32_t k = 0; k < i->ndw; k++) {
        uint16_t id = darsie_alloc(d, block); /* its reference is the instruction's */
        c->dst[k] = e->dst[k] = id;
        darsie_ref(d, id);
        if (darsie_keeps(d, RULE_HELD))
            darsie_ref(d, id);
        c->old[k] = darsie_map(d, warp, i->d + k, id);
        e->old[k] = darsie_version(d, c->old[k]);
        if (!guarded && c->old[k] != DARSIE_PRIVATE)
            darsie_unref(d, c->old[k]);
    }
}

bool darsie_lead(struct darsie *d, uint32_t warp, uint32_t pc) {
    const struct xinst *i = &d->sm->x->img->code[pc];
    const struct darsie_mark *m = &d->marks[pc];
    uint32_t block = d->sm->warps[warp].block;
    uint64_t *why = why_private(d, warp, i->ndw);
    struct darsie_entry *e = why ? NULL : take_entry(d, block);
    if (!e) {
        ++*(why ? why : &d->n.private_entries);
        return false;
    }
    struct darsie_inst *c = darsie_at(d, warp, darsie_entering(d, warp));
    darsie_capture(d, warp, pc, c);
    darsie_set_naming(d, warp, true);
    e->valid = true;
    e->load = m->load;
    e->global = m->global;
    e->form = FORM_UNIFORM;
    e->pending = 1;
    e->history = d->history[warp];
    e->generation = ++d->generation;
    e->done = warp_bit(warp);
    e->standing = e->awaited = 0;
    d->blocks[block].pcs[e - d->blocks[block].entries] = pc;
    for (uint32_t k = 0; k < d->sm->needs[pc].nreads; k++)
        e->src[k] = c->nsrc ? darsie_version(d, c->src[k]) : 0;
    rename_result(d, warp, i, e, c);
    c->entry = (uint8_t)(e - d->blocks[block].entries);
    c->generation = e->generation;
    d->blocks[block].used |= 1u << c->entry;
    d->n.updates++;
    d->n.led++;
    return true;
}

void darsie_wrote_back(struct darsie *d, uint32_t block, uint32_t entry, uint64_t generation) {
    struct darsie_entry *e = &d->blocks[block].entries[entry];
    if (!e->valid || !e->pending || (e->generation != generation && darsie_keeps(d, RULE_GENERATION)))
        return;
    d->n.updates++;
    if (!--e->pending)
        darsie_ask_awaiting(d, e);
}

static void flush(struct darsie *d, uint32_t block, bool global_only) {
    struct darsie_block *b = &d->blocks[block];
    for (uint32_t left = b->used; left; left &= left - 1) {
        struct darsie_entry *e = &b->entries[__builtin_ctz(left)];
        if (!e->load || (global_only && !e->global))
            continue;
        darsie_drop(d, block, e);
        d->n.flushed++;
    }
}

void darsie_flush_block(struct darsie *d, uint32_t block) {
    flush(d, block, false);
}

void darsie_flush_global(struct darsie *d) {
    for (uint32_t block = 0; block < d->sm->spec->blocks; block++)
        flush(d, block, true);
}
