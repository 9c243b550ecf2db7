/* Rename and reuse: from issue to the operand collectors (sections V-B, V-C, VI-A, VI-B). */
#include "mech/wir/wir.h"

/* Sources come from their physical registers. Destinations are about to be computed. */
void wir_fill(void *m, uint32_t warp, const struct xinst *i, uint32_t mask) {
    (void)mask;
    struct wir *w = m;
    uint32_t(*latch)[WARP_LANES] = w->sm->warps[warp].w->r;
    for (uint32_t k = 0; k < i->nsw; k++)
        if (!(i->s[k] & POOL))
            regfile_read(w->regs, warp, i->s[k], latch[i->s[k]]);
    for (uint32_t k = 0; k < i->ndw; k++)
        regfile_latched(w->regs, warp, i->d + k, REG_NONE);
}

void wir_restore(void *m, uint32_t warp) {
    struct wir *w = m;
    for (uint32_t r = 0; r < w->sm->x->img->prog->nregs; r++)
        regfile_read(w->regs, warp, r, w->sm->warps[warp].w->r[r]);
}

/* Spaces of a memory instruction, as far as its text tells. */
static unsigned spaces_of(const struct xinst *i) {
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

/* Memory is accessed when an instruction takes effect: the order here is that of the accesses. */
static void note_access(struct wir *w, uint32_t warp, const struct xinst *i) {
    uint16_t flags = op_info[i->in->op].flags;
    unsigned spaces = i->kind == X_TEX || i->kind == X_MBAR || i->kind == X_LDGSTS
                          ? BLOCKS_SHARED | BLOCKS_GLOBAL
                          : spaces_of(i);
    if (flags & OPF_ATOMIC || i->kind == X_MBAR)
        blocks_atomic(&w->blocks, warp, spaces);
    else if (flags & OPF_STORE || i->kind == X_LDGSTS)
        blocks_store(&w->blocks, warp, spaces);
    else if (i->kind == X_LOAD && i->in->m.vol)
        blocks_sync_load(&w->blocks, warp);
}

/* The tag of an instruction, or false when it must not be looked up. */
static bool make_tag(struct wir *w, uint32_t warp, const struct xinst *i, const struct wir_mark *mark,
                     struct rb_tag *t) {
    const struct image *img = w->sm->x->img;
    const struct warp *warp_state = w->sm->warps[warp].w;
    *t = (struct rb_tag){.op = mark->op, .kind = mark->kind, .block = RB_NO_BLOCK, .lanes = warp_state->live};
    for (uint32_t k = 0; k < i->nsw; k++) {
        if (i->s[k] & POOL) {
            const struct pool_word *p = &img->pool.at[i->s[k] & ~POOL];
            bool bank = p->bank != BANK_COUNT;
            if (!bank && w->params->immediate_bits < 32 && p->v >> w->params->immediate_bits)
                return false;
            t->word[k] = bank ? (uint32_t)p->bank << 28 | p->v : p->v;
            continue;
        }
        const struct reg_map *r = regfile_map(w->regs, warp, i->s[k]);
        if (r->id == REG_NONE || r->pinned) {
            w->n.pinned++;
            return false;
        }
        t->word[k] = r->id;
        t->regs |= (uint8_t)(1u << k);
    }
    if (i->ps[0] != PRED_PT || i->ps[1] != PRED_PT) { /* predicates go by value */
        const uint32_t *p = warp_state->p;
        if (i->nsw > RB_OPERANDS - 2)
            return false;
        t->word[RB_OPERANDS - 2] = p[i->ps[0]] & t->lanes;
        t->word[RB_OPERANDS - 1] = p[i->ps[1]] & t->lanes;
    }
    if (mark->kind != RB_GLOBAL && mark->kind != RB_SHARED)
        return true;
    struct blocks_scope scope;
    unsigned space = mark->kind == RB_SHARED ? BLOCKS_SHARED : BLOCKS_GLOBAL;
    if (!blocks_scope(&w->blocks, warp, space, &scope)) {
        w->n.unsafe++;
        return false;
    }
    t->block = scope.block;
    t->count = scope.count;
    return true;
}

/* Rename: physical sources, each with a reference for as long as the op is under way. */
static void rename_sources(struct wir *w, uint32_t warp, const struct core_need *need, struct wir_op *o) {
    for (uint32_t k = 0; k < need->nreads; k++) {
        uint16_t id = regfile_map(w->regs, warp, need->reads[k])->id;
        o->src[o->nsrc++] = id;
        if (id != REG_NONE)
            wir_ref(w, id);
    }
    w->n.rename_ops += need->nreads + (need->nwrites != 0);
}

enum mech_verdict wir_take(void *m, int32_t id, uint64_t now) {
    struct wir *w = m;
    const struct core_op *op = &w->sm->ops[id];
    const struct wir_mark *mark = &w->marks[op->pc];
    struct wir_op *o = &w->ops[id];
    *o = (struct wir_op){.ready = now + (uint64_t)w->params->front + 1,
                         .divergent = !op->mask || op->mask != w->sm->warps[op->warp].w->live,
                         .dst = REG_NONE,
                         .owner = CORE_NONE};
    rename_sources(w, op->warp, op->need, o);
    if (mark->reusable) {
        w->n.divergent += o->divergent;
        o->look = !o->divergent && make_tag(w, op->warp, op->i, mark, &o->tag);
    } else if (op->mask) {
        note_access(w, op->warp, op->i);
    }
    w->n.bypassed += !o->look;
    if (o->look) {
        o->index = rb_index(&w->rb, &o->tag);
        __builtin_prefetch(&w->rb.entry[o->index]); /* until the reuse stage it will have come */
    }
    w->inflight++;
    queue_push(&w->front[collect_kind(w->sm, op->need)], id);
    return MECH_TAKEN;
}

/* The result is there: the destination is mapped to it, and the op is over. */
static void reuse(struct wir *w, int32_t id, uint32_t reg, bool waited) {
    const struct core_op *op = &w->sm->ops[id];
    uint8_t kind = w->ops[id].tag.kind;
    w->n.reused++;
    w->n.reused_pending += waited;
    w->n.reused_loads += kind == RB_GLOBAL || kind == RB_SHARED;
    wir_ref(w, reg);
    wir_remap(w, op->warp, op->i->d, (uint16_t)reg, false);
    wir_clear_dead(w, op);
    regfile_latched(w->regs, op->warp, op->i->d, (uint16_t)reg);
    core_supply(w->sm, id, w->regs->v[reg]);
}

/* Nobody has computed it: it will be computed, and, if possible, recorded. */
static void miss(struct wir *w, struct wir_op *o) {
    struct rb_entry out;
    o->missed = true;
    o->record = !w->low;
    if (w->low) {
        if (rb_evict(&w->rb, o->index, &out)) {
            w->n.evictions++;
            w->changed = true;
            wir_drop(w, &out);
        }
        return;
    }
    if (!w->params->pending)
        return;
    uint32_t reg;
    for (uint32_t i = 0; rb_source(&o->tag, &i, &reg);)
        wir_ref(w, reg);
    o->stamp = rb_reserve(&w->rb, o->index, &o->tag, &out);
    w->n.rb_ops++;
    w->changed = true;
    wir_drop(w, &out);
}

/* A new instruction at a lookup port; false when it must stay because no collector is free. */
static bool look(struct wir *w, int32_t id) {
    struct wir_op *o = &w->ops[id];
    if (o->look && !o->missed) {
        enum rb_look found = rb_lookup(&w->rb, o->index, &o->tag);
        w->touched = true;
        w->n.rb_ops++;
        w->n.lookups++;
        w->n.hits += found == RB_HIT;
        w->n.pending_hits += found == RB_PENDING;
        w->n.misses += found == RB_MISS;
        if (found == RB_HIT) {
            reuse(w, id, w->rb.entry[o->index].result, false);
            return true;
        }
        if (found == RB_PENDING && !pendq_full(&w->waiting)) {
            o->stamp = w->rb.entry[o->index].stamp;
            pendq_push(&w->waiting, (uint32_t)id);
            w->looked = 0;
            return true;
        }
        if (found == RB_PENDING) { /* executes, and leaves the entry to the other one */
            w->n.queue_full++;
            o->missed = true;
        } else {
            miss(w, o);
        }
    }
    if (!core_collector_free(w->sm, w->sm->ops[id].need)) {
        o->missed = true;
        return false;
    }
    core_collect(w->sm, id);
    return true;
}

/* A port no new instruction uses serves the one that has waited longest. */
static void retry(struct wir *w) {
    int32_t id = (int32_t)pendq_head(&w->waiting);
    struct wir_op *o = &w->ops[id];
    enum rb_look found = rb_retry(&w->rb, o->index, &o->tag, o->stamp);
    w->n.retries++;
    w->n.rb_ops++;
    w->touched = true;
    if (found == RB_HIT) {
        pendq_pop(&w->waiting);
        reuse(w, id, w->rb.entry[o->index].result, true);
    } else if (found == RB_MISS && core_collector_free(w->sm, w->sm->ops[id].need)) {
        pendq_pop(&w->waiting);
        miss(w, o);
        core_collect(w->sm, id);
    } else {
        w->changed |= found == RB_MISS;
        w->looked++;
        pendq_requeue(&w->waiting);
    }
}

/* The kind of the op that has been at the reuse stage for longest; COLLECT_KINDS: there is none. Those whose
 * next op must stay are held. */
static uint32_t longest_there(const struct wir *w, uint32_t held) {
    uint32_t best = COLLECT_KINDS;
    uint64_t since = w->now + 1;
    for (uint32_t k = 0; k < COLLECT_KINDS; k++) {
        if (held >> k & 1 || queue_empty(&w->front[k]))
            continue;
        uint64_t ready = w->ops[*queue_head(&w->front[k])].ready;
        if (ready < since) {
            since = ready;
            best = k;
        }
    }
    return best;
}

void wir_reuse_stage(struct wir *w) {
    uint32_t ports = w->ports, held = 0, k;
    while (ports && (k = longest_there(w, held)) != COLLECT_KINDS) {
        if (!look(w, *queue_head(&w->front[k]))) {
            held |= 1u << k;
            continue;
        }
        queue_pop(&w->front[k]);
        ports--;
    }
    if (w->changed)
        w->looked = 0;
    w->changed = false;
    uint32_t waiting = w->waiting.ops.len;
    for (uint32_t n = ports < waiting ? ports : waiting; n; n--)
        retry(w);
}

void wir_waited(struct wir *w, uint64_t cycles) {
    uint64_t n = w->waiting.ops.len;
    if (!n)
        return;
    uint64_t looks = cycles * (w->ports < n ? w->ports : n);
    w->n.retries += looks;
    w->n.rb_ops += looks;
    for (uint64_t k = looks % n; k; k--)
        pendq_requeue(&w->waiting);
}
