/* Register allocation: from the end of execution to retirement (sections V-A, V-D, V-E, VI-C). The words of
 * a result take their turn. */
#include <string.h>

#include "mech/wir/wir.h"

/* The word in work of a result is on its way to the signature buffer, where it will be in that cycle. Its
 * hash is computed here: when it is looked up there, the host has long finished, and has fetched the entry.
 */
static EVERY_TIME void sign_ahead(struct wir *w, int32_t id, struct wir_op *o, uint64_t at) {
    if (__builtin_expect(o->signs, 1)) {
        uint32_t *value = o->value;
        wir_clear_dead(value, w->sm->ops[id].mask);
        o->hash = h3_hash(w->h3, value);
        o->place = (uint16_t)vsb_index(&w->vsb, o->hash);
        __builtin_prefetch(&w->vsb.entry[o->place]);
    }
    o->at = at;
    if (w->alloc.first == CORE_NONE) {
        w->alloc.first = id;
        w->alloc.at = at;
    } else {
        w->ops[w->alloc.last].next = (uint16_t)id;
    }
    w->alloc.last = id;
}

/* The first of those on that way is there. */
static EVERY_TIME int32_t take_signed(struct wir *w) {
    int32_t id = w->alloc.first;
    if (id == w->alloc.last) {
        w->alloc.first = CORE_NONE;
        w->alloc.at = UINT64_MAX;
    } else {
        w->alloc.first = w->ops[id].next;
        w->alloc.at = w->ops[w->alloc.first].at;
    }
    return id;
}

/* Has the host fetch a value that is read or written in a later cycle: until then it will have come. */
static inline void fetch_value(const uint32_t *value) {
    __builtin_prefetch(value, 1);
    __builtin_prefetch(value + WARP_LANES / 2, 1);
}

/* Overwrites the lanes of a register. */
static EVERY_TIME void write_lanes(struct wir *w, uint16_t reg, const uint32_t *value, uint32_t mask) {
    if (mask == (uint32_t)ALL_LANES)
        memcpy(w->regs.v[reg], value, sizeof w->regs.v[0]);
    else
        lane_blend(w->regs.v[reg], value, mask);
    w->n.vc_ops += vc_invalidate(&w->vc, reg);
}

/* The op's result enters the reuse buffer, where no place was reserved for it. */
static APART void record_anew(struct wir *w, struct wir_op *o, uint16_t reg) {
    struct rb_entry out;
    if (w->low)
        return;
    w->n.rb_ops++;
    wir_ref_sources(w, &o->tag);
    wir_ref(w, reg);
    rb_insert(&w->rb, o->index, &o->tag, reg, &out);
    wir_drop(w, &out);
}

/* The op's result enters the reuse buffer, unless its place was given away. */
static EVERY_TIME void record(struct wir *w, struct wir_op *o, uint16_t reg) {
    if (__builtin_expect(!w->params->pending, 0)) {
        record_anew(w, o, reg);
        return;
    }
    w->n.rb_ops++;
    w->changed |= w->rb.entry[o->index].awaited;
    if (rb_fill(&w->rb, o->index, o->stamp, reg))
        wir_ref(w, reg);
}

/* The next word of a result that has several is the one in work. */
static APART void begin_next(struct wir *w, int32_t id, struct wir_op *o) {
    o->map++;
    o->value += WARP_LANES;
    sign_ahead(w, id, o, w->now + 1);
}

/* The word in work was written to its register, or found there. */
static EVERY_TIME void finish_word(struct wir *w, int32_t id) {
    const struct core_op *op = &w->sm->ops[id];
    struct wir_op *o = &w->ops[id];
    KEEP(o);
    uint16_t dst = o->dst;
    wir_remap(w, o->map, dst, o->divergent);
    if (o->record)
        record(w, o, dst);
    if (op->next_write < op->writes)
        begin_next(w, id, o);
    else if (__builtin_expect(o->movs, 0))
        o->done = true; /* it ends with its copies */
    else
        wir_end(w, id);
}

/* A copy of the lanes that a divergent write leaves alone, from the old to the new register: an instruction,
 * or a read and a write of the banks. */
static void inject_copy(struct wir *w, int32_t id, uint16_t old, uint16_t to) {
    const struct core_op *op = &w->sm->ops[id];
    int32_t copy = core_inject(w->sm, op->warp, &w->movs[op->i->d + op->next_write], ~op->mask);
    w->ops[copy] = (struct wir_op){.nsrc = 1, .src = {old}, .dst = to, .owner = (int16_t)id};
    wir_ref(w, old);
    w->ops[id].movs++;
    w->n.movs++;
    if (w->params->bank_copies)
        core_read(w->sm, copy, old);
    else
        queue_push(&w->copies, copy);
}

/* The word in work goes to its bank. */
static APART void write_later(struct wir *w, int32_t id, uint16_t dst) {
    regfile_write(&w->regs, dst);
    core_write_to(w->sm, id, dst);
}

/* Is the value of a register on its way to the bank? */
static bool is_unwritten(const struct wir *w, uint16_t reg) {
    bool fresh = false;
    for (uint32_t k = 0; k < w->nfresh; k++)
        fresh |= w->ops[w->fresh[k]].dst == reg;
    return fresh || regfile_unwritten(&w->regs, reg);
}

/* Words of this cycle go to their banks. */
static APART void queue_fresh(struct wir *w) {
    for (uint32_t k = 0; k < w->nfresh; k++)
        write_later(w, w->fresh[k], w->ops[w->fresh[k]].dst);
    w->nfresh = 0;
    w->gathers = false;
}

/* The result has a register of its own, in dst: it is written there. */
static EVERY_TIME void write_word(struct wir *w, int32_t id, uint16_t dst, bool divergent) {
    write_lanes(w, dst, w->ops[id].value, divergent ? w->sm->ops[id].mask : (uint32_t)ALL_LANES);
    w->n.writes++;
    if (w->gathers) {
        if (w->nfresh < WIR_FRESH) {
            w->fresh[w->nfresh++] = id;
            return;
        }
        queue_fresh(w);
    }
    write_later(w, id, dst);
}

/* For want of a free register, a result may overwrite the one its destination has, if nobody else has it. */
static bool take_in_place(struct wir *w, struct wir_op *o, const struct reg_map *map) {
    if (map->id == REG_NONE || w->regs.refs[map->id] != 1 || is_unwritten(w, map->id))
        return false;
    o->dst = map->id;
    wir_ref(w, map->id); /* finish_word drops the table's */
    w->n.in_place++;
    return true;
}

/* The new register of a divergent op gets the lanes that the op leaves alone. */
static APART void keep_lanes(struct wir *w, int32_t id) {
    uint16_t old = w->ops[id].map->id, dst = w->ops[id].dst;
    if (old == REG_NONE) {
        memset(w->regs.v[dst], 0, sizeof w->regs.v[0]);
    } else {
        memcpy(w->regs.v[dst], w->regs.v[old], sizeof w->regs.v[0]);
        inject_copy(w, id, old, dst);
    }
}

/* Enters the new register in the signature buffer; in low-register mode the place is emptied instead. */
static EVERY_TIME void sign(struct wir *w, struct vsb_entry *place, uint32_t hash, uint16_t dst) {
    struct vsb_entry out = {0};
    w->n.vsb_ops++;
    if (__builtin_expect(!w->low, 1)) {
        wir_ref(w, dst);
        out = *place;
        vsb_enter(&w->vsb, place, hash, dst);
    } else if (vsb_evict(&w->vsb, hash, &out)) {
        w->n.evictions++;
    }
    wir_drop_signature(w, &out);
}

/* A new register for the word in work, now or as soon as there is one: until then, false, the op is among the
 * starved. */
static EVERY_TIME bool give_register(struct wir *w, int32_t id, bool divergent, struct vsb_entry *place) {
    struct wir_op *o = &w->ops[id];
    bool copies = divergent, can = !copies || w->sm->free_op != CORE_NONE; /* an op for the copy */
    uint16_t dst = can ? regfile_alloc(&w->regs) : (uint16_t)REG_NONE;
    o->dst = dst;
    if (__builtin_expect(dst == REG_NONE, 0)) {
        if (!can || w->rb.used || w->vsb.used || !take_in_place(w, o, o->map)) {
            queue_push(&w->starved, id);
            return false;
        }
        dst = o->dst;
        copies = false;
    } else {
        w->n.alloc_ops++;
        fetch_value(w->regs.v[regfile_ahead(&w->regs, WIR_AHEAD)]);
    }
    if (copies)
        keep_lanes(w, id);
    if (place)
        sign(w, place, o->hash, dst);
    write_word(w, id, dst, divergent);
    return true;
}

/* The same where that is not what mostly happens. */
static APART bool find_register(struct wir *w, int32_t id) {
    const struct wir_op *o = &w->ops[id];
    return give_register(w, id, o->divergent, o->signs ? &w->vsb.entry[o->place] : NULL);
}

/* The word in work cannot share a register. */
static void need_register(struct wir *w, int32_t id) {
    w->n.starved += !find_register(w, id);
}

/* The result and the register that may hold it are both at hand. */
static void compare(struct wir *w, int32_t id, const uint32_t *held) {
    struct wir_op *o = &w->ops[id];
    if (!memcmp(held, o->value, sizeof w->regs.v[0])) {
        w->n.vsb_shared++;
        const uint32_t *there = w->regs.v[o->dst]; /* not only what was compared */
        core_share(w->sm, id, there == held ? NULL : there);
        finish_word(w, id);
        return;
    }
    w->n.vsb_collisions++;
    wir_unref(w, o->dst);
    o->dst = REG_NONE;
    need_register(w, id);
}

/* Compares with a register of equal hash: a copy of it in the verify cache, or the bank's. */
static void verify(struct wir *w, int32_t id) {
    struct wir_op *o = &w->ops[id];
    if (is_unwritten(w, o->dst)) {
        queue_push(&w->unwritten, id);
        return;
    }
    const uint32_t *held = NULL;
    if (w->params->vc_entries) {
        held = vc_lookup(&w->vc, o->dst);
        w->n.vc_ops++;
    }
    if (held) {
        w->n.verify_cached++;
        compare(w, id, held);
    } else {
        w->n.verify_reads++;
        fetch_value(w->regs.v[o->dst]);
        core_read(w->sm, id, o->dst);
    }
}

void wir_read_done(void *m, int32_t id, uint64_t now) {
    struct wir *w = m;
    const struct wir_op *o = &w->ops[id];
    w->now = now;
    if (o->owner != CORE_NONE) { /* a copy at the banks */
        core_write(w->sm, id);
        return;
    }
    if (w->params->vc_entries) {
        vc_fill(&w->vc, o->dst, w->regs.v[o->dst]);
        w->n.vc_ops++;
    }
    compare(w, id, w->regs.v[o->dst]);
    wir_gate_again(w);
}

/* A word of the result that cannot be shared gets its register. */
static APART void begin_own_word(struct wir *w, int32_t id) {
    struct wir_op *o = &w->ops[id];
    if (!o->divergent)
        wir_clear_dead(o->value, w->sm->ops[id].mask);
    if (!o->divergent || !o->map->pinned) {
        need_register(w, id);
        return;
    }
    o->dst = o->map->id;
    wir_ref(w, o->dst);
    write_word(w, id, o->dst, true);
}

/* A word of the result reaches the signature buffer. */
static EVERY_TIME void begin_word(struct wir *w, int32_t id) {
    struct wir_op *o = &w->ops[id];
    if (__builtin_expect(!o->signs, 0)) {
        begin_own_word(w, id);
        return;
    }
    struct vsb_entry *place = &w->vsb.entry[o->place];
    w->touched = true;
    w->n.hash_ops++;
    w->n.vsb_ops++;
    w->n.vsb_lookups++;
    if (!vsb_has(place, o->hash)) {
        w->n.vsb_misses++;
        w->n.starved += !give_register(w, id, false, place);
        return;
    }
    w->n.vsb_hits++;
    o->dst = place->reg;
    wir_ref(w, o->dst);
    verify(w, id);
}

EVERY_TIME enum mech_verdict wir_result(void *m, int32_t id, uint64_t now) {
    struct wir *w = m;
    const struct core_op *op = &w->sm->ops[id];
    w->now = now;
    if (!op->writes)
        return MECH_PASS;
    if (op->pc == CORE_NO_PC) {
        core_write(w->sm, id);
        return MECH_TAKEN;
    }
    sign_ahead(w, id, &w->ops[id], now + (uint64_t)w->params->alloc);
    return MECH_TAKEN;
}

void wir_written(void *m, int32_t id, uint32_t k) {
    (void)k;
    struct wir *w = m;
    struct wir_op *o = &w->ops[id];
    w->now = w->sm->now;
    if (o->owner == CORE_NONE) {
        regfile_wrote(&w->regs, o->dst);
        finish_word(w, id);
        return;
    }
    int32_t owner = o->owner;
    wir_end(w, id);
    if (!--w->ops[owner].movs && w->ops[owner].done)
        wir_end(w, owner);
}

/* Ops that waited for a register, in the order in which they came; those that find one in their place may
 * overtake. An op that waits gives up its sources, so that ops that wait for each other's registers cannot
 * be. */
static void serve_starved(struct wir *w) {
    for (uint32_t n = w->starved.len; n; n--) {
        int32_t id = *queue_head(&w->starved);
        struct wir_op *o = &w->ops[id];
        queue_pop(&w->starved);
        o->record &= w->params->pending;
        wir_drop_sources(w, o);
        find_register(w, id);
    }
}

/* Those who came before and wait: for a register, for one to be written, for a collector. */
static APART void serve_waiting(struct wir *w) {
    serve_starved(w);
    for (uint32_t n = w->unwritten.len; n; n--) {
        int32_t id = *queue_head(&w->unwritten);
        queue_pop(&w->unwritten);
        verify(w, id);
    }
    while (!queue_empty(&w->copies) && core_collector_free(w->sm, w->sm->ops[*queue_head(&w->copies)].need)) {
        core_collect(w->sm, *queue_head(&w->copies));
        queue_pop(&w->copies);
    }
}

/* A word of this cycle is at its bank. */
static EVERY_TIME void write_fresh(struct wir *w, int32_t id) {
    uint16_t dst = w->ops[id].dst;
    core_write_now(w->sm, id, dst);
    finish_word(w, id);
}

EVERY_TIME void wir_write_stage(struct wir *w) {
    uint32_t n = w->nfresh;
    w->gathers = false;
    if (!n)
        return;
    _Static_assert(WIR_FRESH == 2, "one or two");
    if (n == 2) {
        int32_t first = w->fresh[0], second = w->fresh[1];
        uint32_t one = owned_bank(w->sm, w->ops[first].dst), two = owned_bank(w->sm, w->ops[second].dst);
        if (one == two)
            n = 0;
        else if (one > two) {
            w->fresh[0] = second;
            w->fresh[1] = first;
        }
    }
    if (!n || !core_writes_now(w->sm)) {
        queue_fresh(w);
        return;
    }
    w->nfresh = 0;
    for (uint32_t k = 0; k < n; k++)
        write_fresh(w, w->fresh[k]);
}

EVERY_TIME void wir_allocation_stage(struct wir *w) {
    w->gathers = true;
    if (__builtin_expect(w->starved.len | w->unwritten.len | w->copies.len, 0))
        serve_waiting(w);
    for (uint32_t ports = w->ports; ports && w->alloc.at <= w->now; ports--)
        begin_word(w, take_signed(w));
}

/* Nobody but this logical register has the physical one. */
static bool is_own(const struct wir *w, const struct reg_map *map) {
    return map->pinned || (map->id != REG_NONE && w->regs.refs[map->id] == 1);
}

bool wir_can_write(struct wir *w, uint32_t warp, const struct xinst *i) {
    uint32_t need = 0;
    for (uint32_t k = 0; k < i->ndw; k++)
        need += !is_own(w, regfile_map(&w->regs, warp, i->d + k));
    return need <= w->regs.nfree;
}

/* Gives a logical register a physical one that nobody else has, and fills it from the latch. */
static void write_now(struct wir *w, uint32_t warp, uint32_t reg) {
    struct reg_map *map = regfile_map(&w->regs, warp, reg);
    if (!is_own(w, map)) {
        uint16_t new = regfile_alloc(&w->regs);
        assert(new != REG_NONE); /* wir_can_write said so before the instruction issued */
        w->n.alloc_ops++;
        wir_remap(w, map, new, true);
    }
    map->pinned = true;
    write_lanes(w, map->id, w->sm->warps[warp].w->r[reg], (uint32_t)ALL_LANES);
    map->latched = true;
    wir_gate(w);
}

/* A barrier of the block opened: those that waited at it pass. */
static void passed(struct wir *w, uint32_t block) {
    const struct sm *sm = w->sm;
    uint32_t opened = sm->blocks[block].cta->opened;
    for (; w->opened[block] != opened; w->opened[block]++)
        blocks_barrier(&w->blocks, block);
    for (uint64_t left = w->at_barrier; left; left &= left - 1) {
        uint32_t s = (uint32_t)__builtin_ctzll(left);
        const struct core_warp *cw = &sm->warps[s];
        bool waits = false;
        for (uint32_t k = 0; k < cw->w->depth; k++)
            waits |= cw->w->stack[k].bar >= 0 && cw->w->stack[k].bar != CLUSTER_BARRIER;
        if (cw->block != block || waits)
            continue;
        w->at_barrier &= ~(UINT64_C(1) << s);
        blocks_pass(&w->blocks, s);
        if (w->barrier_reg[s] != REG_NONE)
            write_now(w, s, w->barrier_reg[s]);
    }
}

void wir_control(void *m, uint32_t warp, const struct xinst *i, uint32_t mask) {
    struct wir *w = m;
    uint32_t block = w->sm->warps[warp].block;
    w->now = w->sm->now;
    for (uint32_t k = 0; mask && k < i->ndw; k++)
        write_now(w, warp, i->d + k);
    bool together = i->kind == X_BAR && i->in->m.mode >= BAR_CLUSTER_ARRIVE;
    /* Behind the barrier of a cluster, shared memory may hold what other blocks have stored there. */
    if ((i->in->op == OP_MEMBAR || together) && mask)
        blocks_fence(&w->blocks, warp);
    if (i->kind == X_SYSCALL && mask)
        blocks_store(&w->blocks, warp, BLOCKS_SHARED | BLOCKS_GLOBAL);
    if (i->kind == X_BAR && mask && i->in->m.mode != BAR_ARRIVE && !together) {
        w->at_barrier |= UINT64_C(1) << warp;
        w->barrier_reg[warp] = i->ndw ? (uint16_t)i->d : REG_NONE;
    }
    if (w->opened[block] != w->sm->blocks[block].cta->opened)
        passed(w, block);
}
