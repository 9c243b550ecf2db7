/* Warp fusion (section 3.4): two neighbouring warps of a block that are approximated in the same region issue
 * their instructions as one, since each uses at most one lane of every pair.
 *
 * START_APPROX is the barrier of a pair. A warp that is approximated waits behind it until the other has come
 * to the same start, and goes on alone if that one was not approximated, is gone, waits somewhere else, or
 * does not come in time. Fused, the even warp leads: it alone is fetched, and its op has slot, collector and
 * unit. The other's instruction takes effect beside it (core_issue) and ends with it. Memory instructions
 * send the requests of both. A precise instruction, or a store that is interpolated, needs all lanes of both:
 * the follower issues it behind the leader, in a slot of its own. Where a branch leads the two to different
 * places they go on one by one, each waits where the branch's ways meet, and there they are one again. */
#include "mech/lnl/lnl.h"

enum fuse_state {
    ALONE,
    WAITS, /* behind a start, for the partner */
    FUSED,
    PARTED, /* fused, but on different ways since a branch */
};

struct lnl_fuse {
    struct fuse_warp {
        uint8_t state, region;
        int32_t partner; /* warp slot, or CORE_NONE */
        uint32_t start;  /* pc of the start at which it waits */
        uint32_t meet;   /* PARTED: where the ways meet */
        uint32_t depth;  /* ... and the depth of the stack there */
        uint64_t since;
    } warps[CORE_MAX_WARPS];
    uint64_t waits, fused, apart, follows; /* warps in these states; those that follow, fused */
    uint64_t owes;                         /* followers that have to issue what their leader has */
    int32_t *with;                         /* by op: the follower's, which ends with it */
};

struct lnl_fuse *lnl_fuse_create(struct arena *a, struct sm *sm) {
    struct lnl_fuse *f = arena_new(a, struct lnl_fuse);
    f->with = arena_array(a, int32_t, CORE_OPS);
    core_pair_warps(sm);
    return f;
}

void lnl_fuse_start(struct lnl *m) {
    struct lnl_fuse *f = m->fuse;
    for (uint32_t w = 0; w < CORE_MAX_WARPS; w++)
        f->warps[w] = (struct fuse_warp){.partner = CORE_NONE};
    for (uint32_t k = 0; k < CORE_OPS; k++)
        f->with[k] = CORE_NONE;
    f->waits = f->fused = f->apart = f->follows = f->owes = 0;
}

static void set_state(struct lnl *m, uint32_t warp, enum fuse_state s) {
    struct lnl_fuse *f = m->fuse;
    uint64_t bit = warp_bit(warp);
    f->warps[warp].state = (uint8_t)s;
    set_bit(&f->waits, bit, s == WAITS);
    set_bit(&f->fused, bit, s == FUSED);
    set_bit(&f->apart, bit, s == PARTED);
    set_bit(&f->follows, bit, s == FUSED && m->sm->warps[warp].w && m->sm->warps[warp].w->index % 2);
}

/* A warp comes or goes: finds the other one of the pair, which may have come before. */
void lnl_fuse_warp(struct lnl *m, uint32_t warp) {
    struct lnl_fuse *f = m->fuse;
    const struct core_warp *cw = &m->sm->warps[warp];
    int32_t old = f->warps[warp].partner;
    if (old != CORE_NONE)
        f->warps[old].partner = CORE_NONE;
    f->warps[warp] = (struct fuse_warp){.partner = CORE_NONE};
    set_state(m, warp, ALONE);
    f->owes &= ~warp_bit(warp);
    if (!cw->w || cw->block == CORE_NO_BLOCK)
        return;
    for (uint64_t left = m->sm->resident & ~warp_bit(warp); left; left &= left - 1) {
        uint32_t s = (uint32_t)__builtin_ctzll(left);
        const struct core_warp *other = &m->sm->warps[s];
        if (other->w && other->block == cw->block && other->w->index == (cw->w->index ^ 1)) {
            f->warps[warp].partner = (int32_t)s;
            f->warps[s].partner = (int32_t)warp;
        }
    }
}

static uint32_t reconvergence(const struct core_warp *cw) {
    return cw->w->stack[cw->w->depth - 1].rpc;
}

static void part(struct lnl *m, uint32_t warp) {
    int32_t other = m->fuse->warps[warp].partner;
    set_state(m, warp, ALONE);
    if (other != CORE_NONE)
        set_state(m, (uint32_t)other, ALONE);
}

void lnl_fuse_started(struct lnl *m, uint32_t warp, bool approximated) {
    struct lnl_fuse *f = m->fuse;
    struct fuse_warp *a = &f->warps[warp];
    const struct core_warp *cw = &m->sm->warps[warp];
    if (a->state == FUSED || a->state == PARTED) /* the end of one region is the start of the next */
        part(m, warp);
    int32_t other = a->partner;
    if (other == CORE_NONE)
        return;
    struct fuse_warp *b = &f->warps[other];
    bool same = b->state == WAITS && b->start == cw->next &&
                reconvergence(cw) == reconvergence(&m->sm->warps[other]) &&
                cw->w->depth == m->sm->warps[other].w->depth;
    if (b->state == WAITS && (same || !lnl_rule(m, LNL_SAME)) && approximated) {
        a->region = m->marks->at[cw->next].start;
        b->region = m->marks->at[b->start].start;
        set_state(m, warp, FUSED);
        set_state(m, (uint32_t)other, FUSED);
        m->n.pairs++;
        return;
    }
    if (b->state == WAITS) {
        m->n.pair_releases++;
        set_state(m, (uint32_t)other, ALONE);
    }
    if (approximated && b->state != PARTED && b->state != FUSED) {
        a->start = cw->next;
        a->since = m->sm->now;
        set_state(m, warp, WAITS);
    }
}

/* The partner of a warp that waits will not come. */
static bool will_not_come(const struct lnl *m, const struct fuse_warp *a, uint64_t now) {
    if (!lnl_rule(m, LNL_RELEASE))
        return false;
    if (a->partner == CORE_NONE)
        return true;
    const struct core_warp *cw = &m->sm->warps[a->partner];
    return !cw->w || !cw->w->live || m->sm->blocked >> a->partner & 1 ||
           now - a->since > (uint64_t)m->params->time_out;
}

static const struct lnl_fact *next_fact(const struct lnl *m, uint32_t warp) {
    return &m->marks->at[m->sm->warps[warp].next];
}

/* The first instruction behind the region: the two are warps like others again. */
static bool has_ended(const struct lnl *m, uint32_t warp) {
    return next_fact(m, warp)->region != m->fuse->warps[warp].region;
}

/* May a leader issue, and its follower with it? */
static bool both_can(const struct lnl *m, uint32_t warp) {
    const struct sm *sm = m->sm;
    uint32_t other = (uint32_t)m->fuse->warps[warp].partner;
    const struct core_need *need = &sm->warps[warp].needs[sm->warps[warp].next];
    if (m->fuse->owes >> other & 1 || sm->warps[other].next != sm->warps[warp].next ||
        !core_can_issue(sm, other))
        return false;
    return need->control ||
           (next_free_op(sm, sm->free_op) != CORE_NONE && (!need->memory || sm->naccess_free > 1));
}

/* A warp that was parted from its partner by a branch is where the ways meet. */
static bool at_meet(const struct lnl *m, uint32_t warp) {
    const struct fuse_warp *a = &m->fuse->warps[warp];
    const struct core_warp *cw = &m->sm->warps[warp];
    return cw->next == a->meet && cw->w->depth == a->depth;
}

/* Warps on different ways go on by themselves, wait where these meet, and are one again. */
static uint64_t meet(struct lnl *m, uint64_t ready, uint64_t now) {
    for (uint64_t left = ready & m->fuse->apart; left; left &= left - 1) {
        uint32_t warp = (uint32_t)__builtin_ctzll(left);
        struct fuse_warp *a = &m->fuse->warps[warp];
        if (a->state != PARTED || a->partner == CORE_NONE)
            continue;
        if (has_ended(m, warp) || will_not_come(m, a, now)) {
            m->n.pair_splits++;
            part(m, warp);
        } else if (at_meet(m, warp)) {
            ready &= ~warp_bit(warp);
            if (!at_meet(m, (uint32_t)a->partner))
                continue;
            set_state(m, warp, FUSED);
            set_state(m, (uint32_t)a->partner, FUSED);
        }
    }
    return ready;
}

uint64_t lnl_fuse_eligible(struct lnl *m, uint64_t ready, uint64_t now) {
    struct lnl_fuse *f = m->fuse;
    for (uint64_t left = ready & f->waits; left; left &= left - 1) {
        uint32_t warp = (uint32_t)__builtin_ctzll(left);
        if (will_not_come(m, &f->warps[warp], now)) {
            m->n.pair_releases++;
            set_state(m, warp, ALONE);
        } else {
            ready &= ~warp_bit(warp);
            m->n.pair_waits++;
        }
    }
    ready = meet(m, ready, now);
    for (uint64_t left = ready & f->fused & ~f->follows; left; left &= left - 1) {
        uint32_t warp = (uint32_t)__builtin_ctzll(left);
        if (has_ended(m, warp) && !(f->owes >> f->warps[warp].partner & 1))
            part(m, warp);
        else if (!both_can(m, warp))
            ready &= ~warp_bit(warp);
    }
    return ready & ~f->follows;
}

uint64_t lnl_fuse_fetch(void *state, uint64_t wanting, uint64_t now) {
    const struct lnl *m = state;
    (void)now;
    return m->fuse ? wanting & ~m->fuse->follows : wanting;
}

/* The leader of a pair that issues as one. */
static bool leads(const struct lnl *m, uint32_t warp) {
    return m->fuse && (m->fuse->fused & ~m->fuse->follows) >> warp & 1;
}

enum mech_verdict lnl_fuse_take(void *state, int32_t id, uint64_t now) {
    struct lnl *m = state;
    const struct core_op *op = &m->sm->ops[id];
    if (op->pc == CORE_NO_PC || op->i->in->op == OP_APPROX || !leads(m, op->warp))
        return MECH_PASS; /* a start may have fused the two just now */
    uint32_t other = (uint32_t)m->fuse->warps[op->warp].partner;
    if (lnl_fact_of(m, op->i)->kind != LNL_APPROX) {
        m->fuse->owes |= warp_bit(other);
        core_want_slots(m->sm, m, SLOTS_ALWAYS);
        m->n.twice++;
        return MECH_PASS;
    }
    int32_t with = core_issue(m->sm, other, now);
    m->n.fused++;
    if (with == CORE_NONE)
        return MECH_PASS;
    lnl_issued(m, with);
    m->n.fused_reads += CORE_ARRAYS * m->sm->ops[with].need->nreads;
    m->n.fused_writes += m->sm->ops[with].write_arrays * m->sm->ops[with].writes;
    m->fuse->with[id] = with;
    m->ops[id].extra = m->sm->ops[with].lanes;
    core_read_beside(m->sm, id, with);
    return MECH_PASS;
}

void lnl_fuse_dispatch(struct lnl *m, int32_t id) {
    int32_t with = m->fuse->with[id];
    if (with == CORE_NONE || !m->sm->ops[id].need->memory)
        return;
    m->fuse->with[id] = CORE_NONE;
    core_memory(m->sm, with);
}

void lnl_fuse_result(struct lnl *m, int32_t id) {
    int32_t with = m->fuse->with[id];
    if (with == CORE_NONE)
        return;
    m->fuse->with[id] = CORE_NONE;
    core_writeback(m->sm, with);
}

/* Followers catch up with precise instructions, each in a slot. */
uint32_t lnl_fuse_slots(void *state, uint32_t sched, uint32_t free, uint64_t now) {
    struct lnl *m = state;
    struct sm *sm = m->sm;
    uint32_t used = 0;
    for (uint64_t left = m->fuse->owes & sm->group[sched]; left && used < free; left &= left - 1) {
        uint32_t warp = (uint32_t)__builtin_ctzll(left);
        const struct core_warp *cw = &sm->warps[warp];
        if (!core_can_issue(sm, warp) || !core_collector_free(sm, &cw->needs[cw->next]))
            continue;
        m->fuse->owes &= ~warp_bit(warp);
        int32_t id = core_issue(sm, warp, now);
        if (id != CORE_NONE) {
            lnl_issued(m, id); /* who rides is not announced */
            core_collect(sm, id);
        }
        used++;
    }
    if (!m->fuse->owes)
        core_want_slots(sm, m, SLOTS_NEVER);
    return used;
}

/* Both take a branch or wait at a barrier together. Afterwards they may be at different places. */
void lnl_fuse_control(struct lnl *m, uint32_t warp, const struct xinst *i) {
    if (!leads(m, warp))
        return;
    uint32_t other = (uint32_t)m->fuse->warps[warp].partner;
    uint32_t depth = m->sm->warps[other].w->depth;
    core_issue(m->sm, other, m->sm->now);
    m->n.fused++;
    const struct simt_entry *a = simt_top(m->sm->warps[warp].w), *b = simt_top(m->sm->warps[other].w);
    if (i->kind != X_BRA ||
        (a && b && a->pc == b->pc && m->sm->warps[warp].w->depth == m->sm->warps[other].w->depth))
        return;
    for (uint32_t k = 0; k < 2; k++) {
        struct fuse_warp *f = &m->fuse->warps[k ? other : warp];
        f->meet = i->in->rpc;
        f->depth = depth;
        f->since = m->sm->now;
        set_state(m, k ? other : warp, PARTED);
    }
}

void lnl_fuse_describe(const struct lnl *m, struct str *out) {
    str_printf(
        out,
        "  Lock and Load: %u warps wait for their partner, %u are fused, %u of these on different ways\n",
        (uint32_t)__builtin_popcountll(m->fuse->waits),
        (uint32_t)__builtin_popcountll(m->fuse->fused | m->fuse->apart),
        (uint32_t)__builtin_popcountll(m->fuse->apart));
}
