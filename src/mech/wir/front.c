/* Rename and reuse: from issue to the operand collectors (sections V-B, V-C, VI-A, VI-B). */
#include "mech/wir/wir.h"

/* Memory is accessed when an instruction takes effect: the order here is that of the accesses. */
static void note_access(struct wir *w, uint32_t warp, const struct wir_mark *mark) {
    switch ((enum wir_access)mark->access) {
    case ACCESS_ATOMIC:
        blocks_atomic(&w->blocks, warp, mark->spaces);
        return;
    case ACCESS_STORE:
        blocks_store(&w->blocks, warp, mark->spaces);
        return;
    case ACCESS_SYNC:
        blocks_sync_load(&w->blocks, warp);
        return;
    case ACCESS_NONE:
        return;
    }
}

/* The block and the count of barriers of a load; false: it must not be looked up. */
static bool add_scope(struct wir *w, uint32_t warp, struct wir_op *o, uint64_t *pieces) {
    struct blocks_scope scope;
    if (!blocks_scope(&w->blocks, warp, o->tag.kind == RB_SHARED ? BLOCKS_SHARED : BLOCKS_GLOBAL, &scope)) {
        w->n.unsafe++;
        return false;
    }
    o->tag.block = scope.block;
    o->tag.count = scope.count;
    *pieces ^= rb_scope_piece(scope.block, scope.count);
    return true;
}

/* The tag of an instruction and its place, or false when it must not be looked up. bad: those of its sources,
 * as bits, that are pinned or were never written. */
static inline bool make_tag(struct wir *w, const struct core_warp *cw, const struct wir_mark *mark,
                            uint32_t bad, struct wir_op *o) {
    const struct warp *state = cw->w;
    uint64_t pieces = mark->pieces;
    if (__builtin_expect(bad & mark->sources, 0)) {
        w->n.pinned++;
        return false;
    }
    if (!mark->simple && mark->too_wide)
        return false;
    o->tag = mark->tag;
    o->tag.lanes = state->live;
    o->src[MARK_NONE] = 0;
    for (uint32_t k = 0; k < RB_OPERANDS; k++) { /* words that are no registers get 0 more */
        uint32_t id = o->src[mark->source[k]];
        o->tag.word[k] |= id;
        pieces ^= rb_word_piece(k, id);
    }
    if (!mark->simple) {
        const struct xinst *i = cw->need->i;
        for (uint32_t k = 0; mark->preds && k < 2; k++) {
            uint32_t at = RB_OPERANDS - 2 + k;
            o->tag.word[at] = state->p[i->ps[k]] & state->live;
            pieces ^= rb_word_piece(at, o->tag.word[at]);
        }
        if (mark->scoped && !add_scope(w, (uint32_t)(cw - w->sm->warps), o, &pieces))
            return false;
    }
    o->index = (uint16_t)rb_fold(&w->rb, pieces);
    __builtin_prefetch(&w->rb.entry[o->index]); /* until the reuse stage it will have come */
    return true;
}

/* The op goes to the reuse stage, with those of its kind. */
static inline void enter_front(struct wir *w, int32_t id, uint32_t kind, uint64_t ready) {
    struct wir_front *f = &w->front[kind];
    KEEP(f);
    uint32_t head = f->head, tail = f->tail, inflight = ++w->inflight;
    uint64_t turn = wir_turn(ready, kind);
    if (head == tail) {
        f->first = turn;
        f->op = id;
    }
    f->at[tail++ & f->mask] = (struct wir_due){turn, id};
    f->tail = tail;
    if (__builtin_expect(tail - head == w->room, 0))
        w->full++;
    else if (__builtin_expect(inflight < w->most, 1))
        return;
    wir_gate(w);
}

/* Control instructions are no ops: their sources are read, and that is all. */
static void fill_control(struct wir *w, uint32_t warp, const struct core_need *need) {
    struct reg_map *map = regfile_map(&w->regs, warp, 0);
    uint32_t(*latch)[WARP_LANES] = w->sm->warps[warp].w->r;
    for (uint32_t k = 0; k < need->nreads; k++)
        regfile_read(&w->regs, &map[need->reads[k]], latch[need->reads[k]]);
}

/* A source that is not as it mostly is comes to its latch, if it is not there. False: it was never written.
 */
static APART bool read_source(struct regfile *regs, struct reg_map *from, uint32_t latch[WARP_LANES]) {
    regfile_read(regs, from, latch);
    return from->id != REG_NONE;
}

/* The sources of an instruction are read, and renamed for its op, which refers to them for as long as it is
 * under way. Returns those, as bits, that are pinned or were never written. */
static inline uint32_t rename_sources(struct wir *w, const struct core_warp *cw, struct reg_map *map,
                                      struct wir_op *o) {
    const struct core_need *need = cw->need;
    struct regfile *regs = &w->regs;
    uint32_t *refs = regs->refs;
    uint32_t n = need->nreads, most = regs->most_refs, bad = 0;
    w->n.ref_ops += n;
    o->nsrc = (uint8_t)n;
    for (uint32_t k = 0; k < n; k++) {
        struct reg_map *from = &map[need->reads[k]];
        uint32_t reg = from->id;
        o->src[k] = (uint16_t)reg;
        if (__builtin_expect(!regfile_is_plain(from), 0)) {
            bad |= 1u << k;
            if (!read_source(regs, from, cw->w->r[need->reads[k]])) {
                w->n.ref_ops--;
                o->holes = true;
                continue;
            }
            bad ^= (uint32_t)!from->pinned << k;
        }
        uint32_t all = ++refs[reg];
        most = all > most ? all : most;
    }
    regs->most_refs = most;
    return bad;
}

/* Sources come from their physical registers. Destinations are about to be computed: what their latches hold
 * is known when the result has its register, and until then nobody reads them. The op that the instruction
 * will be is renamed, too, gets its tag and goes to the reuse stage: all that tells is known before the
 * instruction takes effect. */
void wir_fill(void *m, uint32_t warp, const struct xinst *i, uint32_t mask) {
    struct wir *w = m;
    const struct core_warp *cw = &w->sm->warps[warp];
    KEEP(cw);
    if (__builtin_expect(cw->need->control, 0)) {
        fill_control(w, warp, cw->need);
        return;
    }
    struct wir_op *o = &w->ops[core_next_op(w->sm)];
    struct reg_map *map = regfile_map(&w->regs, warp, 0);
    KEEP(o);
    o->map = &map[i->d];
    o->value = cw->w->r[i->d];
    o->record = o->done = o->holes = false;
    o->movs = 0;
    o->dst = REG_NONE;
    o->owner = CORE_NONE;
    uint32_t bad = rename_sources(w, cw, map, o);
    const struct wir_mark *mark = &w->marks[cw->next];
    uint32_t kind = cw->need->kind;
    w->n.rename_ops += mark->renames;
    o->kind = (uint8_t)kind;
    o->divergent = mask != cw->w->live; /* some are alive */
    o->signs = w->has_signatures & !o->divergent;
    o->look = false;
    if (mark->reusable) {
        if (o->divergent)
            w->n.divergent++;
        else
            o->look = make_tag(w, cw, mark, bad, o);
    } else if (mark->access && mask) {
        note_access(w, warp, mark);
    }
    if (!o->look)
        w->n.bypassed++;
    enter_front(w, core_next_op(w->sm), kind, w->sm->now + w->delay);
}

void wir_restore(void *m, uint32_t warp) {
    struct wir *w = m;
    for (uint32_t r = 0; r < w->sm->x->img->prog->nregs; r++)
        regfile_read(&w->regs, regfile_map(&w->regs, warp, r), w->sm->warps[warp].w->r[r]);
}

/* The first of a kind leaves that stage. */
static inline void leave_front(struct wir *w, uint32_t kind) {
    struct wir_front *f = &w->front[kind];
    KEEP(f);
    uint32_t head = f->head, tail = f->tail;
    if (__builtin_expect(tail - head++ == w->room, 0))
        w->full--;
    f->head = head;
    if (head == tail) {
        f->first = UINT64_MAX;
        return;
    }
    const struct wir_due *next = &f->at[head & f->mask];
    f->first = next->at;
    f->op = next->op;
}

/* The result is there: the destination is mapped to it, and the op is over. */
static EVERY_TIME void reuse(struct wir *w, int32_t id, uint32_t reg, bool waited) {
    struct wir_op *o = &w->ops[id];
    uint8_t kind = o->tag.kind;
    w->n.reused++;
    w->n.reused_pending += waited;
    w->n.reused_loads += kind == RB_GLOBAL || kind == RB_SHARED;
    wir_ref(w, reg);
    wir_remap(w, o->map, (uint16_t)reg, false);
    wir_clear_dead(o->value, w->sm->ops[id].mask);
    core_give(w->sm, id, w->regs.v[reg]);
    wir_end(w, id);
}

/* In low-register mode what an instruction does not find leaves its place empty. */
static APART void evict_at(struct wir *w, uint32_t index) {
    struct rb_entry out;
    rb_evict(&w->rb, index, &out);
    w->n.evictions++;
    w->changed = true;
    wir_drop(w, &out);
}

/* Nobody has computed it: it will be computed, and, if possible, recorded. */
static EVERY_TIME void wir_miss(struct wir *w, struct wir_op *o, struct rb_entry *old) {
    if (__builtin_expect(w->low, 0)) {
        if (old->valid)
            evict_at(w, o->index);
        return;
    }
    o->record = true;
    if (!w->params->pending)
        return;
    wir_ref_sources(w, &o->tag);
    w->n.rb_ops++;
    w->changed |= old->awaited;
    wir_drop(w, old);
    o->stamp = rb_enter(&w->rb, old, &o->tag, RB_NO_RESULT);
}

/* The waiting ones come into the order that they have by now. */
static APART void turn_waiting(struct wir *w) {
    for (uint64_t k = w->turns % w->waiting.ops.len; k; k--)
        pendq_requeue(&w->waiting);
    w->turns = 0;
}

/* An instruction is looked up; true: it needs no collector. */
static EVERY_TIME bool finds(struct wir *w, int32_t id, struct wir_op *o) {
    struct rb_entry *e = &w->rb.entry[o->index];
    enum rb_look found = rb_look_at(e, &o->tag);
    w->touched = true;
    w->n.rb_ops++;
    w->n.lookups++;
    o->look = false;
    if (found == RB_MISS) {
        w->n.misses++;
        wir_miss(w, o, e);
        return false;
    }
    if (found == RB_HIT) {
        w->n.hits++;
        reuse(w, id, e->result, false);
        return true;
    }
    w->n.pending_hits++;
    if (pendq_full(&w->waiting)) { /* executes, and leaves the entry to the other one */
        w->n.queue_full++;
        return false;
    }
    o->stamp = e->stamp;
    e->awaited = true;
    if (w->turns)
        turn_waiting(w);
    pendq_push(&w->waiting, (uint32_t)id);
    w->looked = 0;
    return true;
}

/* A new instruction at a lookup port; false when it must stay because no collector is free. */
static EVERY_TIME bool wir_look(struct wir *w, int32_t id) {
    struct wir_op *o = &w->ops[id];
    if (o->look && finds(w, id, o))
        return true;
    if (!wir_has_collector(w, o->kind))
        return false;
    owner_collect(w->sm, id, o->src);
    return true;
}

/* A port no new instruction uses serves the one that has waited longest. */
static void retry(struct wir *w) {
    if (w->turns)
        turn_waiting(w);
    int32_t id = (int32_t)pendq_head(&w->waiting);
    struct wir_op *o = &w->ops[id];
    enum rb_look found = rb_retry(&w->rb, o->index, &o->tag, o->stamp);
    w->n.retries++;
    w->n.rb_ops++;
    if (found == RB_HIT) {
        pendq_pop(&w->waiting);
        reuse(w, id, w->rb.entry[o->index].result, true);
    } else if (found == RB_MISS && wir_has_collector(w, o->kind)) {
        pendq_pop(&w->waiting);
        wir_miss(w, o, &w->rb.entry[o->index]);
        owner_collect(w->sm, id, o->src);
    } else {
        w->changed |= found == RB_MISS;
        w->rb.entry[o->index].awaited = true;
        w->looked++;
        pendq_requeue(&w->waiting);
    }
}

/* The same, so many times, as long as nothing changes that the waiting ones have not seen. */
static void retry_unchanged(struct wir *w, uint64_t looks) {
    w->n.retries += looks;
    w->n.rb_ops += looks;
    w->turns += looks;
}

/* The next op of a kind must stay, and the lookups that are left are for the others, up to this turn. Returns
 * those that nobody uses. */
static APART uint32_t look_beside(struct wir *w, uint32_t stays, uint32_t ports, uint64_t last) {
    uint32_t kinds = (1u << COLLECT_KINDS) - 1 - (1u << stays);
    while (ports) {
        uint64_t turn = UINT64_MAX;
        for (uint32_t left = kinds; left; left &= left - 1)
            turn = min_u64(turn, w->front[__builtin_ctz(left)].first);
        if (turn > last)
            break;
        uint32_t k = wir_turn_kind(turn);
        if (!wir_look(w, w->front[k].op)) {
            kinds &= ~(1u << k);
            continue;
        }
        leave_front(w, k);
        ports--;
    }
    return ports;
}

EVERY_TIME void wir_reuse_stage(struct wir *w) {
    _Static_assert(COLLECT_KINDS == 3, "the first of three");
    uint64_t last = wir_turn(w->now, COLLECT_KINDS);
    uint32_t ports = w->ports;
    while (ports) {
        uint64_t turn = min_u64(w->front[0].first, min_u64(w->front[1].first, w->front[2].first));
        if (turn > last)
            break;
        uint32_t k = wir_turn_kind(turn);
        if (!wir_look(w, w->front[k].op)) {
            ports = look_beside(w, k, ports, last);
            break;
        }
        leave_front(w, k);
        ports--;
    }
    if (w->changed)
        w->looked = 0;
    w->changed = false;
    uint32_t waiting = w->waiting.ops.len, retries = ports < waiting ? ports : waiting;
    if (!retries)
        return;
    w->touched = true;
    if (w->looked >= waiting) {
        retry_unchanged(w, retries);
        return;
    }
    for (; retries; retries--)
        retry(w);
}

void wir_waited(struct wir *w, uint64_t cycles) {
    uint64_t n = w->waiting.ops.len;
    if (n)
        retry_unchanged(w, cycles * (w->ports < n ? w->ports : n));
}
