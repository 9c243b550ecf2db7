/* Fetch: each cycle every group of warps may read the instruction cache once, for the next warp in turn whose
 * buffer has room; those with nothing in it go first, as they have room for a whole fetch. A fetch brings
 * fetch_width instructions, not across a line's end.
 *
 * A warp fetches ahead of what it issues, from a pc of its own, straight on until a control instruction takes
 * it elsewhere and empties the buffer. A mechanism can skip instructions that are not fetched yet: a fetch
 * passes over them, so that it brings as many as if they were not in the code. The warp's path, which stands
 * at the first instruction of the buffer, passes over them when all before them has issued. */
#include <assert.h>

#include "core/points.h"
#include "core/view.h"

/* What a mechanism holds of the warp's instructions is forgotten. */
static APART void recall(struct sm *sm, uint32_t s, uint64_t now) {
    sm->holding &= ~warp_bit(s);
    OWNER(sm, stream, recalled, s, now);
}

void buffer_flush(struct sm *sm, uint32_t s, uint32_t pc) {
    struct core_warp *cw = &sm->warps[s];
    if (__builtin_expect(sm->holding >> s & 1, 0))
        recall(sm, s, sm->now);
    warp_next(cw, pc);
    cw->fetch_pc = pc;
    cw->buffered = cw->arriving = 0;
    cw->skips = 0;
    cw->fetching = false;
    cw->found = NEVER;
    cw->epoch++;
    TELL(sm, tell_warp(sm, PROBE_FLUSH, s));
}

void buffer_undecoded(struct sm *sm, uint32_t s, uint64_t now) {
    struct core_warp *cw = &sm->warps[s];
    if (sm->holding >> s & 1)
        recall(sm, s, now);
    if (cw->arriving)
        cw->fetch_pc =
            SKIPS(sm) ? cw->buffer[(cw->first + cw->buffered) % CORE_BUFFER] : cw->fetch_pc - cw->arriving;
    cw->arriving = 0;
    cw->skips = 0;
    cw->fetching = false;
    cw->found = NEVER;
    cw->epoch++;
    warp_buffer(sm, s);
}

void path_pass(struct sm *sm, uint32_t s, uint32_t from, uint32_t to) {
    struct core_warp *cw = &sm->warps[s];
    cw->x->passed += to - from;
    for (uint32_t pc = from; HAS(sm, stream, passed) && pc < to; pc++) {
        simt_top(cw->w)->pc = pc;
        OWNER(sm, stream, passed, s, pc);
    }
    simt_top(cw->w)->pc = to;
}

/* The path passes over what was skipped before the first instruction of the buffer; nothing before that is
 * left. The warp has one path, so that no reconvergence point lies between. */
static void pass_skipped(struct sm *sm, uint32_t s) {
    struct core_warp *cw = &sm->warps[s];
    uint32_t from = cw->next;
    warp_next(cw, buffer_front(cw));
    path_pass(sm, s, from, cw->next);
}

/* Somebody looks at a warp in this cycle, which is not far away. */
static EVERY_TIME void look_soon(struct sm *sm, uint32_t s, uint64_t cycle) {
    uint32_t slot = (uint32_t)cycle % CORE_ARRIVALS;
    sm->arrivals[slot] |= warp_bit(s);
    sm->arrive_slots |= UINT64_C(1) << slot;
}

/* Somebody looks at a warp for which instructions come in this cycle, or, when it is far away, before. */
static void look_at(struct sm *sm, uint32_t s, uint64_t cycle, uint64_t now) {
    look_soon(sm, s, min_u64(cycle, now + CORE_ARRIVALS - 1));
}

/* An instruction that was decoded does not enter the buffer, and all behind it move up. */
static APART void drop_decoded(struct sm *sm, uint32_t s, uint32_t at) {
    struct core_warp *cw = &sm->warps[s];
    uint32_t pc = cw->buffer[at % CORE_BUFFER];
    assert(!cw->needs[pc].control);
    cw->x->skipped++;
    TELL(sm, tell_skip(sm, s, pc));
    for (uint32_t k = 0; k < cw->arriving; k++)
        cw->buffer[(at + k) % CORE_BUFFER] = cw->buffer[(at + k + 1) % CORE_BUFFER];
    if (!cw->buffered) {
        pass_skipped(sm, s);
        warp_turn(sm, cw, warp_bit(s));
    }
}

/* An instruction that was decoded stays where it is. */
static APART void wait_decoded(struct sm *sm, uint32_t s, enum mech_decode verdict, uint64_t now) {
    if (verdict == DECODE_HOLD)
        sm->holding |= warp_bit(s);
    if (verdict == DECODE_WAIT || WATCHED(sm))
        look_at(sm, s, now + 1, now);
}

/* Asks the owner of the stream what becomes of each of n instructions that were decoded; returns how many of
 * them wait. */
static EVERY_TIME uint32_t decode_each(struct sm *sm, struct core_warp *cw, uint32_t s, uint32_t n,
                                       uint64_t now) {
    uint32_t left = n;
    if (__builtin_expect(sm->holding >> s & 1, 0))
        sm->holding ^= warp_bit(s);
    while (left) {
        uint32_t at = cw->first + cw->buffered, pc = cw->buffer[at % CORE_BUFFER];
        enum mech_decode verdict = OWNER(sm, stream, decoded, s, pc, now);
        if (__builtin_expect(verdict == DECODE_HOLD || verdict == DECODE_WAIT, 0)) {
            wait_decoded(sm, s, verdict, now);
            break;
        }
        sm->n.decoded++;
        cw->arriving = (uint8_t)--left;
        if (__builtin_expect(verdict == DECODE_KEEP, 1))
            cw->buffered++;
        else
            drop_decoded(sm, s, at);
    }
    return left;
}

/* Instructions from the one that a fetch reads first to the end of its line, or of the code. */
static EVERY_TIME uint32_t fetch_left(const struct core_warp *cw) {
    return cw->needs[cw->fetch_pc].left;
}

/* Instructions that a fetch may bring if it is answered now, by room and width. */
static EVERY_TIME uint32_t fetch_limit(const struct sm *sm, const struct core_warp *cw) {
    uint32_t room = sm->spec->ibuffer - cw->buffered;
    return cw->most < room ? cw->most : room;
}

/* The instructions themselves, where none is skipped. There is one at least that a fetch reads. */
static EVERY_TIME uint32_t fetch_count(const struct sm *sm, const struct core_warp *cw) {
    uint32_t most = fetch_limit(sm, cw);
    if (most <= 1)
        return most;
    uint32_t left = fetch_left(cw);
    return left < most ? left : most;
}

/* Tells which instructions a fetch brings, as runs of consecutive ones. */
static APART void tell_runs(const struct sm *sm, enum probe_kind kind, uint32_t s) {
    const struct core_warp *cw = &sm->warps[s];
    uint32_t left = fetch_limit(sm, cw), end = cw->fetch_pc + fetch_left(cw), run = 0;
    for (uint32_t pc = cw->fetch_pc, k = 0; left && pc < end; pc++, k++) {
        bool skipped = cw->skips >> k & 1;
        run += !skipped;
        left -= !skipped;
        if (run && (skipped || !left || pc + 1 == end)) {
            tell_fetch(sm, kind, s, pc + !skipped - run, run);
            run = 0;
        }
    }
}

/* Instructions have come for a fetch: as many as there is room for now, which is returned. */
static EVERY_TIME uint32_t bring(struct sm *sm, struct core_warp *cw, uint32_t s) {
    uint32_t pc = cw->fetch_pc, at = cw->first + cw->buffered, skips = cw->skips, n = 0;
    TELL(sm, tell_runs(sm, PROBE_DECODE, s));
    if (__builtin_expect(!skips, 1)) {
        n = fetch_count(sm, cw);
        for (uint32_t k = 0; SKIPS(sm) && k < n; k++)
            cw->buffer[(at + k) % CORE_BUFFER] = pc + k;
        pc += n;
    } else {
        uint32_t end = pc + fetch_left(cw), most = fetch_limit(sm, cw);
        for (; n < most && pc < end; pc++, skips >>= 1)
            if (!(skips & 1))
                cw->buffer[(at + n++) % CORE_BUFFER] = pc;
        for (; skips & 1; skips >>= 1)
            pc++;
        cw->skips = skips;
    }
    cw->arriving = (uint8_t)n;
    cw->fetch_pc = pc;
    cw->most = (uint8_t)sm->spec->fetch_width;
    cw->fetching = false;
    cw->found = NEVER;
    if (__builtin_expect(!n, 0))
        warp_buffer(sm, s);
    return n;
}

void buffer_found(struct sm *sm, uint32_t s) {
    bring(sm, &sm->warps[s], s);
}

/* What arrives will change nothing but the buffer: the warp has an instruction to issue before it, and then
 * there is no room for a fetch. So the SM need not wake for it. */
static inline bool fills_up(const struct sm *sm, const struct core_warp *cw) {
    if (!cw->buffered || cw->skips)
        return false;
    uint32_t n = cw->found == NEVER ? cw->arriving : fetch_count(sm, cw);
    return cw->buffered + n >= sm->spec->ibuffer;
}

uint64_t fetch_wakes(const struct sm *sm, uint64_t now, uint64_t end) {
    bool always = sm->probe || HAS(sm, stream, decoded) || HAS(sm, registers, restore);
    for (uint64_t slots = sm->arrive_slots; slots;) {
        uint64_t at = next_slot(slots, now);
        if (at >= end || always)
            return min_u64(at, end);
        for (uint64_t left = sm->arrivals[at % CORE_ARRIVALS] & sm->arriving; left; left &= left - 1) {
            const struct core_warp *cw = &sm->warps[__builtin_ctzll(left)];
            if (cw->arrive > at || !fills_up(sm, cw))
                return at;
        }
        slots &= ~(UINT64_C(1) << at % CORE_ARRIVALS);
    }
    return end;
}

/* What has been decoded, n instructions, enters the warp's buffer. */
static EVERY_TIME void enter(struct sm *sm, struct core_warp *cw, uint32_t s, uint32_t n, uint64_t now) {
    if (HAS(sm, stream, decoded)) {
        uint32_t left = decode_each(sm, cw, s, n, now);
        if (left == n && !WATCHED(sm))
            return;
        if (__builtin_expect(left || !cw->buffered, 0)) {
            warp_buffer(sm, s);
        } else {
            uint64_t bit = warp_bit(s);
            sm->arriving &= ~bit;
            sm->valid |= bit;
            if (cw->buffered < sm->spec->ibuffer && cw->fetch_pc < cw->ncode)
                sm->hungry |= bit;
        }
    } else {
        sm->n.decoded += cw->arriving;
        cw->buffered += cw->arriving;
        cw->arriving = 0;
        warp_buffer(sm, s);
    }
    TELL(sm, tell_warp(sm, PROBE_BUFFER, s));
}

/* The same where nobody skips instructions or watches, with what comes before if nobody has seen to that. */
static EVERY_TIME void enter_plain(struct sm *sm, struct core_warp *cw, uint32_t s) {
    uint32_t n = cw->arriving, size = sm->spec->ibuffer;
    if (cw->found != NEVER) {
        n = fetch_count(sm, cw);
        cw->fetch_pc += n;
        cw->fetching = false;
        cw->found = NEVER;
    }
    sm->n.decoded += n;
    cw->arriving = 0;
    cw->buffered = (uint8_t)(cw->buffered + n);
    uint64_t bit = warp_bit(s);
    sm->arriving &= ~bit;
    sm->valid |= bit;
    if (cw->buffered < size && cw->fetch_pc < cw->ncode)
        sm->hungry |= bit;
}

static EVERY_TIME void arrivals(struct sm *sm, uint64_t now, enum core_shape shape) {
    uint32_t slot = now % CORE_ARRIVALS;
    bool simple = shape >= SHAPE_BASE || !(SKIPS(sm) || WATCHED(sm));
    uint64_t left = sm->arrivals[slot] & sm->arriving;
    sm->arrivals[slot] = 0;
    sm->arrive_slots &= ~(UINT64_C(1) << slot);
    for (; left; left &= left - 1) {
        uint32_t s = (uint32_t)__builtin_ctzll(left);
        struct core_warp *cw = &sm->warps[s];
        KEEP(cw);
        if (__builtin_expect(cw->arrive > now,
                             0)) { /* it went elsewhere, and fetched there; or watchers look */
            look_at(sm, s,
                    shape == SHAPE_ANY && sm->probe && cw->found > now ? min_u64(cw->found, cw->arrive)
                                                                       : cw->arrive,
                    now);
            continue;
        }
        if (simple) {
            enter_plain(sm, cw, s);
            continue;
        }
        enter(sm, cw, s, cw->found <= now ? bring(sm, cw, s) : cw->arriving, now);
    }
}

void sm_arrivals(struct sm *sm, uint64_t now) {
    if (MECHS(sm) || sm->probe)
        arrivals(sm, now, SHAPE_ANY);
    else
        arrivals(sm, now, SHAPE_BASE);
}

static EVERY_TIME void fetch_one(struct sm *sm, uint32_t s, uint64_t now, enum core_shape shape) {
    struct core_warp *cw = &sm->warps[s];
    KEEP(cw);
    uint64_t addr = cw->code_at + (uint64_t)cw->fetch_pc * INST_BYTES;
    sm->n.fetches++;
    uint32_t token = s | cw->epoch << 8;
    enum mem_result r = memsys_fetch(sm->mem, sm->port, now, sm->id, addr & sm->line_mask, token);
    if (r == MEM_HIT) {
        cw->found = now + sm->fetch_latency;
        cw->arrive = now + sm->arrive_after;
        sm->arriving |= warp_bit(s);
        if (shape == SHAPE_ANY && __builtin_expect(sm->probe != NULL, 0)) /* watchers see instructions come */
            look_at(sm, s, cw->found, now);
        else
            look_soon(sm, s, now + sm->arrive_slot);
    }
    if (mem_accepted(r)) {
        cw->fetching = true;
        sm->hungry &= ~warp_bit(s);
        if (shape == SHAPE_ANY)
            TELL(sm, tell_runs(sm, PROBE_FETCH, s));
    } else {
        sm->n.fetch_stalls++;
    }
}

/* Memory answers a fetch that missed, unless its warp has gone elsewhere meanwhile. */
static void answer(struct sm *sm, uint32_t token, uint64_t now) {
    uint32_t s = token & 0xff;
    struct core_warp *cw = &sm->warps[s];
    if (!cw->w || (cw->epoch & 0xffffff) != token >> 8)
        return;
    cw->arrive = now + sm->spec->decode;
    sm->arriving |= warp_bit(s);
    look_at(sm, s, cw->arrive, now);
    bring(sm, cw, s);
}

/* With watchers, fetches that hit are answered when they are, in the order of the groups. */
static APART void answer_hits(struct sm *sm, uint64_t now) {
    for (uint32_t g = 0; g < sm->spec->fetch_groups; g++)
        for (uint64_t left = sm->arriving & sm->fetch_group[g]; left; left &= left - 1) {
            uint32_t s = (uint32_t)__builtin_ctzll(left);
            if (sm->warps[s].found <= now)
                bring(sm, &sm->warps[s], s);
        }
}

static APART void replies(struct sm *sm, uint64_t now) {
    struct mem_done d;
    TELL(sm, answer_hits(sm, now));
    while (sm->port->done[MEM_INST] <= now && memsys_pop(sm->mem, now, sm->id, MEM_INST, &d))
        answer(sm, d.token, now);
}

EVERY_TIME void sm_fetch(struct sm *sm, uint64_t now, enum core_shape shape) {
    uint32_t groups = shape == SHAPE_PAIR ? 1 : sm->spec->fetch_groups;
    if (shape == SHAPE_ANY && !fetch_due(sm, now))
        return;
    if (sm->port->done[MEM_INST] <= now || (shape == SHAPE_ANY && __builtin_expect(sm->probe != NULL, 0)))
        replies(sm, now);
    if (sm->arrive_slots >> now % CORE_ARRIVALS & 1)
        arrivals(sm, now, shape);
    uint64_t hungry = sm->hungry & sm->fetchers & ~sm->blocked;
    if (shape < SHAPE_BASE && HAS(sm, stream, fetch) && hungry) {
        uint64_t may = OWNER(sm, stream, fetch, hungry, now);
        sm->kept = hungry & ~may;
        hungry = may & sm->hungry; /* skipping may have led to the end of the code */
    }
    for (uint32_t g = 0; g < groups && hungry; g++) {
        uint64_t set = hungry & sm->fetch_group[g];
        if (!set)
            continue;
        if (set & ~sm->valid)
            set &= ~sm->valid;
        uint64_t above = set & sm->fetch_above[g];
        uint32_t s = (uint32_t)__builtin_ctzll(above ? above : set);
        sm->fetch_above[g] = 0 - (warp_bit(s) << 1);
        fetch_one(sm, s, now, shape);
    }
}

void core_skip(struct sm *sm, uint32_t warp, uint32_t pc) {
    struct core_warp *cw = &sm->warps[warp];
    assert(SKIPS(sm) && core_can_skip(sm, warp) && pc - cw->fetch_pc < CORE_AHEAD && pc < cw->ncode);
    assert(!cw->needs[pc].control);
    cw->x->skipped++;
    TELL(sm, tell_skip(sm, warp, pc));
    cw->skips |= 1u << (pc - cw->fetch_pc);
    if (!(cw->skips & 1))
        return;
    for (; cw->skips & 1; cw->skips >>= 1)
        cw->fetch_pc++;
    if (cw->fetch_pc >= cw->ncode) /* of what its buffer holds nothing has changed */
        sm->hungry &= ~warp_bit(warp);
    if (cw->buffered)
        return;
    pass_skipped(sm, warp);
    warp_turn(sm, cw, warp_bit(warp));
}

void core_ask(struct sm *sm, uint32_t warp) {
    if (sm->holding >> warp & 1)
        look_at(sm, warp, sm->now + (sm->fetched == sm->now), sm->now);
}

void warp_unblock(struct sm *sm, uint32_t slot) {
    sm->blocked &= ~warp_bit(slot);
    core_ask(sm, slot);
}

void core_fetch_most(struct sm *sm, uint32_t warp, uint32_t n) {
    assert(n && SKIPS(sm));
    sm->warps[warp].most = (uint8_t)(n < sm->spec->fetch_width ? n : sm->spec->fetch_width);
}

void core_redirect(struct sm *sm, uint32_t warp) {
    struct core_warp *cw = &sm->warps[warp];
    const struct simt_entry *e = simt_top(cw->w);
    if (e && e->pc != cw->next)
        buffer_flush(sm, warp, e->pc);
    warp_update(sm, warp);
}
