/* Fetch and decode: warps of the majority path skip what has a leader (sections 4.3.2, 4.3.4, 4.3.5). */
#include "mech/darsie/darsie.h"

/* An instruction with this mark waits in the warp's buffer. */
static bool buffers_ordered(const struct darsie *d, const struct core_warp *cw) {
    for (uint32_t k = 0; k < cw->buffered; k++)
        if (d->marks[cw->buffer[(cw->first + k) % CORE_BUFFER]].ordered)
            return true;
    return false;
}

static bool buffers_control(const struct darsie *d, const struct core_warp *cw) {
    for (uint32_t k = 0; k < cw->buffered; k++)
        if (d->sm->needs[cw->buffer[(cw->first + k) % CORE_BUFFER]].control)
            return true;
    return false;
}

static APART void look_for_control(struct darsie *d, uint64_t warps) {
    d->changed &= ~warps;
    for (uint64_t left = warps; left; left &= left - 1) {
        uint32_t warp = (uint32_t)__builtin_ctzll(left);
        set_bit(&d->behind, warp_bit(warp), buffers_control(d, &d->sm->warps[warp]));
    }
}

/* Those of these warps behind whose buffered instructions nothing can be told: a control instruction is among
 * them. Decoding adds one, and only where control takes effect do they have to be looked at again. */
static inline uint64_t behind_control(struct darsie *d, uint64_t warps) {
    if (warps & d->changed)
        look_for_control(d, warps & d->changed);
    return d->behind & warps;
}

/* A load may not pass an older store of its own warp. */
static bool out_of_order(const struct darsie *d, uint32_t warp, const struct darsie_mark *m) {
    return m->load && darsie_keeps(d, RULE_ORDER) && buffers_ordered(d, &d->sm->warps[warp]);
}

/* What a warp finds when it looks its next instruction up. */
enum found { FOUND_NONE, FOUND_WAIT, FOUND_OTHER, FOUND_READY };

static enum found darsie_look(struct darsie *d, uint32_t warp, uint32_t pc, struct darsie_entry *e) {
    if (!e)
        return FOUND_NONE;
    if (out_of_order(d, warp, &d->marks[pc]))
        return FOUND_WAIT;
    if (!darsie_same_sources(d, e, warp, pc))
        return FOUND_OTHER;
    return e->pending ? FOUND_WAIT : FOUND_READY;
}

/* One cycle of the PC coalescer: pcs that are looked up, each once, and what is found. */
struct pc_coalescer {
    uint32_t n;
    uint64_t concerned;                             /* warps of blocks in which something was found */
    uint64_t at[DARSIE_MOST], history[DARSIE_MOST]; /* block and pc; branches before it */
    struct darsie_entry *found[DARSIE_MOST];
};

/* What is found for the warp's pc in this cycle; NULL, too, when it is not looked up. */
static inline struct darsie_entry *look_up(struct darsie *d, struct pc_coalescer *c, uint32_t warp,
                                           uint32_t block, uint32_t pc) {
    uint64_t at = (uint64_t)block << 32 | pc, history = d->history[warp];
    for (uint32_t k = 0; k < c->n; k++)
        if (c->at[k] == at && c->history[k] == history)
            return c->found[k] && c->found[k]->valid ? c->found[k] : NULL;
    if (c->n == (uint32_t)d->params->ports)
        return NULL;
    struct darsie_entry *e = d->marks[pc].redundant ? darsie_find(d, warp, pc) : NULL;
    c->at[c->n] = at;
    c->history[c->n] = history;
    c->found[c->n++] = e;
    if (e)
        c->concerned |= d->blocks[block].members;
    d->n.lookups++;
    d->turn = warp + 1;
    return e;
}

/* The warp may fetch; or it skips, or waits for what it will skip. */
static inline bool may_fetch(struct darsie *d, struct pc_coalescer *c, uint32_t warp) {
    const struct core_warp *cw = &d->sm->warps[warp];
    uint32_t pc = cw->fetch_pc;
    struct darsie_entry *e = look_up(d, c, warp, cw->block, pc);
    if (!e)
        return true;
    switch (darsie_look(d, warp, pc, e)) {
    case FOUND_WAIT:
        d->n.waits++;
        return false;
    case FOUND_READY:
        darsie_follow(d, warp, pc, e);
        core_skip(d->sm, warp, pc);
        d->n.skipped++;
        return false;
    default:
        return true;
    }
}

uint64_t darsie_fetch(void *m, uint64_t wanting, uint64_t now) {
    (void)now;
    struct darsie *d = m;
    uint64_t held = d->waiting | d->leaving, set = wanting & d->majority & ~held;
    set &= ~behind_control(d, set);
    struct pc_coalescer c; /* only its first n keys are read */
    c.n = 0;
    c.concerned = 0;
    if (wanting & d->waiting)
        d->n.branch_waits += (uint32_t)__builtin_popcountll(wanting & d->waiting);
    wanting &= ~held;
    if (!set)
        return wanting;
    uint64_t above = d->turn >= CORE_MAX_WARPS ? 0 : set & ~UINT64_C(0) << d->turn,
             part[2] = {above, set & ~above};
    for (uint32_t p = 0; p < 2; p++)
        for (uint64_t left = part[p]; left; left &= left - 1) {
            uint32_t warp = (uint32_t)__builtin_ctzll(left);
            if (!may_fetch(d, &c, warp))
                wanting &= ~warp_bit(warp);
            if (c.n == (uint32_t)d->params->ports) /* nothing new is looked up */
                left &= c.concerned | warp_bit(warp);
        }
    return wanting;
}

/* A decoded instruction waits until darsie_ask; looks: it is looked up, in vain, in every cycle. */
static enum mech_decode darsie_hold(struct darsie *d, uint32_t warp, bool looks, uint64_t now) {
    d->held |= warp_bit(warp);
    set_bit(&d->looking, warp_bit(warp), looks);
    d->held_at[warp] = now;
    return DECODE_HOLD;
}

/* What was held is asked about in this cycle, or no more: counts the cycles in between. */
static void settle(struct darsie *d, uint32_t warp, uint64_t now) {
    uint64_t cycles = d->looking & warp_bit(warp) ? now - 1 - d->held_at[warp] : 0;
    d->n.lookups += cycles;
    d->n.waits += cycles;
    d->held &= ~warp_bit(warp);
}

void darsie_recalled(void *m, uint32_t warp, uint64_t now) {
    settle(m, warp, now);
}

/* A redundant instruction of a warp on the majority path was decoded. */
static enum mech_decode decode_redundant(struct darsie *d, uint32_t warp, uint32_t pc, struct darsie_inst *c,
                                         uint64_t now) {
    struct darsie_entry *e = darsie_find(d, warp, pc);
    d->n.lookups++;
    if (out_of_order(d, warp, &d->marks[pc]))
        return DECODE_WAIT;
    switch (darsie_look(d, warp, pc, e)) {
    case FOUND_WAIT: /* for the leader, as it is not out of order */
        d->n.waits++;
        return darsie_hold(d, warp, true, now);
    case FOUND_READY:
        darsie_follow(d, warp, pc, e);
        d->n.dropped++;
        return DECODE_DROP;
    case FOUND_OTHER:
        d->n.private_versions++;
        darsie_decode_private(d, warp, pc, c);
        darsie_passed(d, d->sm->warps[warp].block, e, warp_bit(warp));
        return DECODE_KEEP;
    default:
        break;
    }
    if (d->elected_at != now)
        d->elected = 0;
    if (d->elected == (uint32_t)d->params->elections)
        return DECODE_WAIT;
    if (darsie_lead(d, warp, pc, c)) {
        d->elected_at = now;
        d->elected++;
    } else {
        darsie_decode_private(d, warp, pc, c);
    }
    return DECODE_KEEP;
}

static APART enum mech_decode decode(struct darsie *d, uint32_t warp, uint32_t pc, struct darsie_inst *c,
                                     uint64_t now) {
    if (d->held & warp_bit(warp))
        settle(d, warp, now);
    if (!(d->majority & warp_bit(warp))) {
        if (d->leaving & warp_bit(warp))
            return darsie_hold(d, warp, false, now);
        d->n.off_path += d->marks[pc].redundant;
        c->nsrc = c->nold = c->ndst = 0;
        return DECODE_KEEP;
    }
    if ((d->waiting | d->sm->blocked) & warp_bit(warp) || behind_control(d, warp_bit(warp)))
        return darsie_hold(d, warp, false, now);
    if (d->marks[pc].redundant)
        return decode_redundant(d, warp, pc, c, now);
    darsie_decode_private(d, warp, pc, c);
    return DECODE_KEEP;
}

enum mech_decode darsie_decoded(void *m, uint32_t warp, uint32_t pc, uint64_t now) {
    struct darsie *d = m;
    enum mech_decode verdict = DECODE_KEEP;
    if (d->on) {
        const struct core_warp *cw = &d->sm->warps[warp];
        struct darsie_inst *c = &d->buffered[warp][(cw->first + cw->buffered) % CORE_BUFFER];
        uint64_t special = ~d->majority | d->held | d->waiting | d->sm->blocked | d->behind | d->changed;
        if (special & warp_bit(warp) || d->marks[pc].redundant)
            verdict = decode(d, warp, pc, c, now);
        else
            darsie_decode_private(d, warp, pc, c);
    }
    if (verdict == DECODE_KEEP && d->sm->needs[pc].control)
        d->behind |= warp_bit(warp);
    return verdict;
}
