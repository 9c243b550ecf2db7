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

/* The warp may have one with the mark `ordered` in its buffer: has it? */
static APART bool still_ordering(struct darsie *d, uint32_t warp) {
    set_bit(&d->ordering, warp_bit(warp), buffers_ordered(d, &d->sm->warps[warp]));
    return d->ordering & warp_bit(warp);
}

/* A load may not pass an older store of its own warp. */
static bool out_of_order(struct darsie *d, uint32_t warp, const struct darsie_mark *m) {
    return m->load && d->ordering & warp_bit(warp) && darsie_keeps(d, RULE_ORDER) && still_ordering(d, warp);
}

/* What a warp finds when it looks its next instruction up. */
enum found { FOUND_NONE, FOUND_WAIT, FOUND_OTHER, FOUND_READY };

static EVERY_TIME enum found darsie_look(struct darsie *d, uint32_t warp, uint32_t pc,
                                         struct darsie_entry *e) {
    if (!e)
        return FOUND_NONE;
    if (out_of_order(d, warp, &d->marks[pc]))
        return FOUND_WAIT;
    if (!darsie_same_sources(d, e, warp, pc))
        return FOUND_OTHER;
    return e->pending ? FOUND_WAIT : FOUND_READY;
}

/* The entry of the warp's pc, if there is one; it may have been found before. */
static EVERY_TIME struct darsie_entry *find_for(struct darsie *d, uint32_t warp, uint32_t pc) {
    struct darsie_entry *e = d->stands_at[warp];
    if (d->standing & warp_bit(warp) && e->standing & warp_bit(warp) && e->valid)
        return e;
    return d->marks[pc].redundant ? darsie_find(d, warp, pc) : NULL;
}

/* The warp stands before an entry whose leader has not written back: it does so until that has, or the warp
 * fetches. */
static void stand(struct darsie *d, uint32_t warp, struct darsie_entry *e) {
    if (d->stands_at[warp])
        d->stands_at[warp]->standing &= ~warp_bit(warp);
    d->stands_at[warp] = e;
    e->standing |= warp_bit(warp);
    d->standing |= warp_bit(warp);
}

/* Those of these warps, all of a block, that stand at the pc behind the same branches. */
static EVERY_TIME uint64_t at_pc(const struct darsie *d, uint64_t warps, uint32_t pc, uint64_t history) {
    const struct core_warp *all = d->sm->warps;
    bool together = d->params->cf_sync; /* there is one history */
    uint64_t same = 0;
    for (uint64_t left = warps; left; left &= left - 1) {
        uint32_t warp = (uint32_t)__builtin_ctzll(left);
        if (all[warp].fetch_pc == pc && (together || d->history[warp] == history))
            same |= left & (0 - left);
    }
    return same;
}

/* An entry was found for a warp's pc. It may fetch; or it skips, or waits for what it will skip. */
static EVERY_TIME bool may_fetch(struct darsie *d, uint32_t warp, uint32_t pc, struct darsie_entry *e) {
    if (!e->valid) /* the last that it was for has gone on before this one in turn */
        return true;
    if (out_of_order(d, warp, &d->marks[pc])) {
        d->n.waits++;
        return false;
    }
    if (!darsie_same_sources(d, e, warp, pc))
        return true;
    if (e->pending) {
        d->n.waits++;
        stand(d, warp, e);
        return false;
    }
    d->standing &= ~warp_bit(warp);
    darsie_follow(d, warp, pc, e);
    core_skip(d->sm, warp, pc);
    d->n.skipped++;
    return false;
}

/* Warps that stand at the pc of an entry go on in turn, those above first; returns those that may not fetch.
 */
static APART uint64_t may_not_fetch(struct darsie *d, struct darsie_entry *e, uint32_t pc, uint64_t warps,
                                    uint64_t above) {
    uint64_t stay = 0;
    for (uint64_t left = warps, bit; left; left ^= bit) {
        uint32_t warp = (uint32_t)__builtin_ctzll(left & above ? left & above : left);
        bit = warp_bit(warp);
        if (!may_fetch(d, warp, pc, e))
            stay |= bit;
    }
    return stay;
}

/* What becomes of these warps at a pc for which there is an entry depends on nothing but that. */
static inline bool is_plain(const struct darsie *d, uint32_t pc, uint64_t warps) {
    const struct darsie_mark *m = &d->marks[pc];
    return !(m->versions || m->old_version || (m->load && d->ordering & warps));
}

/* All these warps wait for the leader of an entry. */
static EVERY_TIME uint64_t stand_all(struct darsie *d, struct darsie_entry *e, uint64_t warps) {
    d->n.waits += warps_of(warps);
    for (uint64_t left = warps; left; left &= left - 1)
        stand(d, (uint32_t)__builtin_ctzll(left), e);
    return warps;
}

/* The warp stands where one of n others does, for which nothing was found. */
static EVERY_TIME bool is_like(const struct darsie *d, uint32_t warp, const uint32_t *others, uint32_t n) {
    const struct core_warp *all = d->sm->warps;
    bool together = d->params->cf_sync;
    for (uint32_t k = 0; k < n; k++)
        if (all[others[k]].fetch_pc == all[warp].fetch_pc && all[others[k]].block == all[warp].block &&
            (together || d->history[others[k]] == d->history[warp]))
            return true;
    return false;
}

/* One cycle of the PC coalescer: some pcs of these warps are looked up, each once, in turn; returns the warps
 * that may not fetch. Warps at a pc for which there is no entry are passed over when it is their turn, as
 * most often it does not come. */
static APART uint64_t look_up(struct darsie *d, uint64_t warps) {
    uint64_t stay = 0, above = d->turn >= CORE_MAX_WARPS ? 0 : ~UINT64_C(0) << d->turn;
    uint32_t none[DARSIE_MOST], nnone = 0;
    for (uint32_t n = (uint32_t)d->params->ports; warps && n;) {
        uint32_t warp = (uint32_t)__builtin_ctzll(warps & above ? warps & above : warps);
        warps &= ~warp_bit(warp);
        if (nnone && is_like(d, warp, none, nnone))
            continue;
        n--;
        uint32_t pc = d->sm->warps[warp].fetch_pc;
        struct darsie_entry *e = find_for(d, warp, pc);
        d->n.lookups++;
        d->turn = warp + 1;
        if (!e) {
            none[nnone++] = warp;
            continue;
        }
        uint64_t block = (warps | warp_bit(warp)) & d->blocks[d->sm->warps[warp].block].members, stand = 0;
        if (e->pending) {
            stand = block & e->standing & d->standing;
            stay |= stand;
            d->n.waits += warps_of(stand);
        }
        uint64_t same = at_pc(d, block & ~stand, pc, d->history[warp]);
        warps &= ~(same | stand);
        if (same && e->pending && is_plain(d, pc, same))
            stay |= stand_all(d, e, same);
        else if (same)
            stay |= may_not_fetch(d, e, pc, same, above);
    }
    return stay;
}

/* The first of these warps in turn, of which there must be some. */
static EVERY_TIME uint32_t first_in_turn(const struct darsie *d, uint64_t warps) {
    uint64_t above = d->turn >= CORE_MAX_WARPS ? 0 : warps & ~UINT64_C(0) << d->turn;
    return (uint32_t)__builtin_ctzll(above ? above : warps);
}

/* The same where two pcs are looked up, for neither of which there is an entry, as most often. False, and
 * nothing is done, if that is not so. */
static EVERY_TIME bool finds_nothing(struct darsie *d, uint64_t warps) {
    uint32_t first = first_in_turn(d, warps), second = first;
    if (d->params->ports != 2 || find_for(d, first, d->sm->warps[first].fetch_pc))
        return false;
    while (warps &= ~warp_bit(second)) {
        second = first_in_turn(d, warps);
        if (!is_like(d, second, &first, 1))
            break;
    }
    if (warps && find_for(d, second, d->sm->warps[second].fetch_pc))
        return false;
    d->turn = (warps ? second : first) + 1;
    d->n.lookups += warps ? 2 : 1;
    return true;
}

EVERY_TIME uint64_t darsie_fetch(void *m, uint64_t wanting, uint64_t now) {
    (void)now;
    struct darsie *d = m;
    uint64_t held = d->waiting | d->leaving, set = wanting & d->majority & ~held;
    set &= ~behind_control(d, set);
    if (wanting & d->waiting)
        d->n.branch_waits += warps_of(wanting & d->waiting);
    wanting &= ~held;
    if (set && !finds_nothing(d, set))
        wanting &= ~look_up(d, set);
    d->standing &= ~wanting;
    return wanting;
}

/* A decoded instruction waits until darsie_ask; e: for the leader of this entry, and is looked up, in vain,
 * in every cycle; or NULL. */
static enum mech_decode darsie_hold(struct darsie *d, uint32_t warp, struct darsie_entry *e, uint64_t now) {
    d->held |= warp_bit(warp);
    d->special |= warp_bit(warp);
    set_bit(&d->looking, warp_bit(warp), e);
    if (e)
        e->awaited |= warp_bit(warp);
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
static EVERY_TIME enum mech_decode decode_redundant(struct darsie *d, uint32_t warp, uint32_t pc,
                                                    uint64_t now) {
    struct darsie_entry *e = darsie_find(d, warp, pc);
    d->n.lookups++;
    if (out_of_order(d, warp, &d->marks[pc]))
        return DECODE_WAIT;
    switch (darsie_look(d, warp, pc, e)) {
    case FOUND_WAIT: /* for the leader, as it is not out of order */
        d->n.waits++;
        return darsie_hold(d, warp, e, now);
    case FOUND_READY:
        darsie_follow(d, warp, pc, e);
        d->n.dropped++;
        return DECODE_DROP;
    case FOUND_OTHER:
        d->n.private_versions++;
        darsie_decode_private(d, warp, pc);
        darsie_passed(d, d->sm->warps[warp].block, e, warp_bit(warp));
        return DECODE_KEEP;
    default:
        break;
    }
    if (d->elected_at != now)
        d->elected = 0;
    if (d->elected == (uint32_t)d->params->elections)
        return DECODE_WAIT;
    if (darsie_lead(d, warp, pc)) {
        d->elected_at = now;
        d->elected++;
    } else {
        darsie_decode_private(d, warp, pc);
    }
    return DECODE_KEEP;
}

/* Any instruction of any warp. */
static EVERY_TIME enum mech_decode decode_special(struct darsie *d, uint32_t warp, uint32_t pc,
                                                  uint64_t now) {
    if (d->held & warp_bit(warp))
        settle(d, warp, now);
    if (!(d->majority & warp_bit(warp))) {
        if (d->leaving & warp_bit(warp))
            return darsie_hold(d, warp, NULL, now);
        d->n.off_path += d->marks[pc].redundant;
        darsie_set_naming(d, warp, false);
        return DECODE_KEEP;
    }
    if ((d->waiting | d->sm->blocked) & warp_bit(warp) || behind_control(d, warp_bit(warp)))
        return darsie_hold(d, warp, NULL, now);
    if (d->marks[pc].redundant)
        return decode_redundant(d, warp, pc, now);
    darsie_decode_private(d, warp, pc);
    return DECODE_KEEP;
}

/* The same, and what others want to know of the warp's buffer when it is there. */
static APART enum mech_decode decode(struct darsie *d, uint32_t warp, uint32_t pc, uint64_t now) {
    enum mech_decode verdict = decode_special(d, warp, pc, now);
    if (verdict != DECODE_KEEP)
        return verdict;
    d->special &= ~warp_bit(warp);
    if (d->marks[pc].ordered)
        d->ordering |= warp_bit(warp);
    if (d->sm->needs[pc].control) {
        d->behind |= warp_bit(warp);
        d->special |= warp_bit(warp);
    }
    return DECODE_KEEP;
}

EVERY_TIME enum mech_decode darsie_decoded(void *m, uint32_t warp, uint32_t pc, uint64_t now) {
    struct darsie *d = m;
    if (!darsie_is_on(d))
        return DECODE_KEEP;
    if (d->special & warp_bit(warp) || d->marks[pc].special)
        return decode(d, warp, pc, now);
    darsie_decode_private(d, warp, pc);
    return DECODE_KEEP;
}
