/* SMs that go ahead by themselves, some cycles at a time, and by several threads.
 *
 * What an SM does depends on the others in four ways, and for a while it can do without each:
 * - Replies of memory take their time through the network: those of the next cycles are known
 *   (memsys_lookahead).
 * - Values in global memory: accesses are noted, and carried out when all SMs are as far, in the order of a
 *   machine that goes cycle by cycle (exec/later.h). An SM does not tick when an answer is due for one that
 * was not.
 * - Room in the network: known for some requests, and foreseen for others (icnt_foresee). When it is not, the
 *   SM waits for the others.
 * - The next block to run: an SM in which one has ended waits for the others, unless none is left; so does,
 *   in every cycle, one with a mechanism that lets none enter for now.
 * Hence nothing that is simulated can tell: results, counters and cycles are those of a machine that goes
 * cycle by cycle, whatever the number of threads, and where that cannot be had (several blocks in a cluster,
 * some mechanisms, watchers, code that calls the system) the machine does go cycle by cycle.
 *
 * Where memory is what a launch waits for, requests do not find room in the network and rounds become short:
 * then it costs more to go ahead than others can help with, and the machine goes cycle by cycle for a while.
 * How much SMs do in a round decides that, which is the same in every run. The longer that lasts the more
 * seldom it is tried again.
 *
 * A round: each SM goes as far as it can, at most to the round's end. Then, in one thread: accesses to memory
 * up to the cycle that all have reached, blocks for SMs. The rest of the memory system follows up to there:
 * beside the SMs in the next round, which is why rounds are then half as long as what is known of replies; or
 * at once, when there is one thread, memory has little to do, or SMs wait for it. Rounds are longer where no
 * reply is about to come to any SM. With one thread an SM to which none is about to come goes farther than
 * the round, and takes no part in the next ones until others are as far. */
#include <string.h>

#include "base/often.h"
#include "gpu/run.h"

enum {
    FEW_CYCLES = 4,    /* with less lookahead the machine goes cycle by cycle */
    LONG_ROUNDS = 8,   /* rounds may be so many times as long where nothing is to come from memory */
    ALONE_ROUNDS = 64, /* rounds before others are called to help: short launches end before they have come */
    MIN_PIECES = 2,    /* SMs with work in a round that is worth sharing */
    TRIAL_ROUNDS = 128,  /* after so many it is decided whether to go on, by the cycles of SMs ... */
    TRIAL_TICKS = 12,    /* ... that they had in a round: with fewer ... */
    PLAIN_CYCLES = 4096, /* ... the machine goes cycle by cycle for so long, ... */
    MOST_DOUBLINGS = 4,  /* ... and twice as long each time in a row, up to this many times */
    BUSY_INSTS = 8,      /* with fewer instructions for a packet in the networks memory has much to do */
};

/* Pieces of a round: the memory system, which has most to do, and SMs. */
enum { MEMORY_PIECE, SM_PIECE };

/* What SMs have noted of accesses to global memory, as bits: some write; they may write to any line; some
 * were not carried out, or not as they should have been. */
enum { NOTED_WRITES = 1, NOTED_ALL = 2, NOTED_DUE = 4 };

/* What all others want to know of an SM between rounds is in its first line of the host's cache: it comes
 * from the processor that went through the round. */
struct strand {
    _Alignas(64) uint64_t at; /* the first cycle that the SM has not gone through */
    uint64_t wake;            /* the cycle in which it must be ticked next */
    uint64_t end;             /* it may go through cycles before this in the round */
    bool blocked;             /* it waits to learn of room in the network */
    bool wrong;               /* guesses of its loads may be */
    bool asks;                /* it has ticked since its mechanisms refused a block */
    bool idle, fault;         /* sm_idle, sm_faulted */
    uint8_t noted;            /* NOTED_* */
    uint32_t sm;
    uint32_t nended; /* blocks that have ended, and that nobody knows of */
    struct run *run;
    const struct port_times *port;
    struct cta *ended[CORE_MAX_WARPS]; /* those blocks */
    struct exec x;
    struct later later;
};

/* ---- beginning and end of a launch ------------------------------------------------------------------- */

/* Can every mechanism do with SMs that are ahead of others? Those who compare values need them at once. */
static bool mechs_suit(const struct machine *m) {
    for (uint32_t k = 0; k < m->mechs.n; k++)
        if (!m->mechs.at[k]->points.life.apart)
            return false;
    return !m->mechs.n || !m->sms[0]->check.on;
}

static bool suits(const struct run *r) {
    const struct machine *m = r->m;
    return m->threads && r->together == 1 && mechs_suit(m) && !m->probe && !r->x->watch &&
           r->ahead >= FEW_CYCLES && m->core.sleep && later_suits(r->x->img);
}

/* Instructions that mechanisms let the warps of all SMs skip in so many cycles, at most: those of the code,
 * as no warp comes further than to its end or back without issuing any; fewer if somebody says how many it
 * skips in a cycle, beside which it drops some of those that were fetched. */
static uint64_t most_skipped(const struct run *r, uint64_t cycles) {
    const struct machine *m = r->m;
    const struct core_spec *s = &m->core;
    const struct mech_stack *mech = &m->sms[0]->mech;
    if (!(mech->has & UINT64_C(1) << MECH_AT_stream_decoded))
        return 0;
    uint64_t warps = r->per_sm * r->warps, most = mech->owner[MECH_stream].points->stream.most;
    uint64_t fetched = (cycles * s->fetch_groups + warps) * s->fetch_width;
    uint64_t code = warps * r->x->img->ncode,
             each = most ? min_u64(code, warps * most * cycles + fetched) : code;
    return m->nsms * each;
}

/* Instructions that an SM issues in so many cycles, at most. */
static uint32_t most_issues(const struct machine *m, uint64_t cycles) {
    return m->core.schedulers * m->core.width * (uint32_t)cycles;
}

/* Accesses that an SM notes in so many cycles, at most. */
static uint32_t most_noted(const struct machine *m, uint64_t cycles) {
    bool reads = m->sms[0]->mech.has & UINT64_C(1) << MECH_AT_memory_again;
    return most_issues(m, cycles) + (reads ? (uint32_t)cycles : 0);
}

/* A copy of the launch's pool. */
static uint32_t (*own_pool(const struct exec *x, struct arena *a))[WARP_LANES] {
    uint32_t(*rows)[WARP_LANES] = arena_alloc(a, (x->img->pool.len + 1u) * sizeof *rows);
    image_fill_pool(x, x->img, rows);
    return rows;
}

void strands_begin(struct run *r, struct arena *a) {
    struct machine *m = r->m;
    if (m->crew && !crew_is_here(m->crew)) {
        crew_free(m->crew);
        m->crew = NULL;
    }
    r->ahead = memsys_lookahead(m->mem);
    if (!suits(r))
        return;
    size_t bytes = later_bytes(r->x->img, 2 * most_noted(m, LONG_ROUNDS * r->ahead));
    if (bytes * m->nsms > m->later_bytes) {
        free(m->later);
        m->later_bytes = bytes * m->nsms;
        m->later = xaligned(m->later_bytes);
    }
    r->seen_packets = memsys_packets(m->mem);
    r->strands = arena_array(a, struct strand, m->nsms);
    r->due = arena_array(a, uint32_t, SM_PIECE + m->nsms);
    r->written = arena_array(a, uint64_t, (UINT16_MAX + 1) / 64);
    bits_init(&r->open, a, m->nsms);
    for (uint32_t i = 0; i < m->nsms; i++) {
        struct strand *s = &r->strands[i];
        s->run = r;
        s->port = memsys_port_times(m->mem, i);
        s->sm = i;
        s->x = *r->x;
        s->x.executed = arena_array(a, uint64_t, r->x->img->ncode + 1u);
        s->x.warp_insts = s->x.thread_insts = s->x.passed = s->x.skipped = s->x.divergent = s->x.waited = 0;
        if (r->x->img->nstreams) /* what instructions take from queues is put there (BANK_QUEUE) */
            s->x.pool = own_pool(r->x, a);
        s->later = (struct later){.at = m->later + i * bytes, .size = bytes};
    }
}

struct exec *strands_exec(struct run *r, uint32_t sm) {
    return r->strands ? &r->strands[sm].x : r->x;
}

void strands_count(struct run *r) {
    struct exec *x = r->x;
    if (!r->strands)
        return;
    x->warp_insts = x->thread_insts = x->passed = x->divergent = x->waited = 0;
    for (uint32_t i = 0; i < r->m->nsms; i++) {
        const struct exec *y = &r->strands[i].x;
        x->warp_insts += y->warp_insts;
        x->thread_insts += y->thread_insts;
        x->passed += y->passed;
        x->divergent += y->divergent;
        x->waited += y->waited;
        if (sm_faulted(r->m->sms[i]) && x->fault.status == RP_OK)
            x->fault = y->fault;
    }
}

void strands_gather(struct run *r) {
    uint64_t *sum = r->x->executed;
    strands_count(r);
    if (!r->strands)
        return;
    memset(sum, 0, r->x->img->ncode * sizeof *sum);
    for (uint32_t i = 0; i < r->m->nsms; i++) {
        const struct exec *y = &r->strands[i].x;
        for (uint32_t pc = 0; y->warp_insts && pc < r->x->img->ncode; pc++)
            sum[pc] += y->executed[pc];
    }
}

void strands_paused(struct run *r) {
    for (uint32_t i = 0; r->strands && i < r->m->nsms; i++)
        r->strands[i].x.hint = r->x->hint;
}

/* ---- one SM ------------------------------------------------------------------------------------------ */

static void note_ended(void *ctx, struct cta *c) {
    struct strand *s = ctx;
    s->ended[s->nended++] = c;
}

/* The next cycle in which the SM or its port has something to do. */
static uint64_t strand_next(const struct strand *s) {
    return max_u64(s->at, min_u64(s->wake, s->port->due));
}

/* Something may have reached the SM, or left it. */
static void note_port(struct strand *s, const struct sm *sm) {
    if (!sm_idle(sm))
        s->wake = min_u64(s->wake, memsys_port_next(s->run->m->mem, s->sm));
}

/* Accesses before the cycle that all have reached have their results. */
static void drop_settled(struct strand *s, struct sm *sm) {
    const struct later_access *a;
    while ((a = later_first(&s->later)) && a->cycle < s->run->reached)
        sm_catch_up(sm, false);
    s->wrong &= a != NULL;
}

/* Does it wait to be given a block, if there is one? */
static bool wants_block(const struct strand *s) {
    return s->nended || s->asks;
}

/* Notes what others want to know of an SM that has changed. */
static EVERY_TIME void sum_up(struct strand *s) {
    const struct sm *sm = s->run->m->sms[s->sm];
    const struct later_count *c = &s->later.touched[LATER_WRITES];
    s->idle = sm_idle(sm);
    s->fault = sm_faulted(sm);
    s->noted = (uint8_t)((c->n ? NOTED_WRITES : 0) | (c->all ? NOTED_WRITES | NOTED_ALL : 0) |
                         (s->later.due || s->wrong ? NOTED_DUE : 0));
}

/* Lets an SM go through cycles before end, as far as it can. */
static EVERY_TIME void go_on(struct strand *s, uint64_t end) {
    const struct run *r = s->run;
    struct memsys *mem = r->m->mem;
    struct sm *sm = r->m->sms[s->sm];
    bool last = r->next == r->total;
    drop_settled(s, sm);
    if (s->port->due < s->at) /* it has learnt more about cycles that it went through */
        memsys_port_end(mem, s->at - 1, s->sm);
    note_port(s, sm);
    while ((s->at = strand_next(s)) < end) {
        uint64_t now = s->at;
        bool ticks = s->wake <= now, idle = sm_idle(sm), sure = memsys_port_is_sure(mem, s->sm);
        s->blocked = !sure && !memsys_port_knows(mem, s->sm, ticks);
        if (s->blocked)
            return;
        if (ticks && sm_may_wait(sm, now) && sm_must_wait(sm, now))
            return;
        if (ticks) {
            s->asks = r->refused[s->sm];
            s->wake = sm_run(sm, &now, sure && !s->asks ? end : now + 1, note_ended, s);
        }
        if (s->port->due <= now) {
            memsys_port_end(mem, now, s->sm);
            note_port(s, sm);
        }
        s->at = now + 1;
        if (sm_faulted(sm) || (wants_block(s) && !last) || (!idle && sm_idle(sm)))
            return;
    }
    s->at = end;
}

static EVERY_TIME void strand_go(struct strand *s, uint64_t end) {
    go_on(s, end);
    sum_up(s);
}

/* The same of its port alone. */
static void strand_go_port(struct strand *s, uint64_t end) {
    struct memsys *mem = s->run->m->mem;
    while ((s->at = max_u64(s->at, s->port->due)) < end)
        memsys_port_end(mem, s->at++, s->sm);
    s->at = end;
}

static void go_piece(void *ctx, uint32_t piece) {
    struct run *r = ctx;
    if (piece == MEMORY_PIECE)
        memsys_advance(r->m->mem, r->reached);
    else
        strand_go(&r->strands[piece - SM_PIECE], r->strands[piece - SM_PIECE].end);
}

/* ---- all of them ------------------------------------------------------------------------------------- */

/* Rounds have this many cycles at most. */
static void set_longest(struct run *r, uint64_t cycles) {
    const struct machine *m = r->m;
    r->longest = cycles;
    r->most_insts_ahead = 2 * ((uint64_t)most_issues(m, cycles) * m->nsms + most_skipped(r, cycles));
}

/* Is it sure that no limit of executed instructions is reached before all SMs have gone through as many
 * cycles as some have, or will have in a round that begins now? */
static bool is_far_from_limit(const struct run *r) {
    uint64_t n = r->most_insts_ahead;
    for (uint32_t i = 0; r->most_insts < UINT64_MAX && i < r->m->nsms; i++)
        n += r->strands[i].x.warp_insts + r->strands[i].x.skipped;
    return n < r->most_insts;
}

/* Finds the SMs that have something to do, or may: others get no block, since only where one ends another
 * begins. False when there is none. */
static bool open_strands(struct run *r) {
    struct machine *m = r->m;
    for (uint32_t i = 0; i < m->nsms; i++)
        if (sm_idle(m->sms[i]) && m->wake[i] == NEVER && memsys_port_idle(m->mem, i))
            bits_remove(&r->open, i);
        else
            bits_add(&r->open, i);
    return r->open.count;
}

bool strands_can(struct run *r, uint64_t now, uint64_t limit, uint64_t max_insts) {
    if (!r->strands || r->halted || limit <= now + 1 || now < r->plain_until)
        return false;
    r->most_insts = min_u64(max_insts, r->x->watchdog ? r->x->watchdog : UINT64_MAX);
    set_longest(r, LONG_ROUNDS * r->ahead);
    if (!is_far_from_limit(r))
        set_longest(r, r->ahead);
    return is_far_from_limit(r) && open_strands(r);
}

/* Has memory had so much to do of late that it should follow beside the SMs? Else rounds that are as long as
 * they can be, behind which it follows, take less time than twice as many, since in each of them the host
 * fetches the state of every SM. */
static bool memory_is_busy(struct run *r) {
    uint64_t packets = memsys_packets(r->m->mem), insts = 0;
    for (uint32_t i = 0; i < r->m->nsms; i++)
        insts += r->strands[i].x.warp_insts;
    bool busy = (packets - r->seen_packets) * BUSY_INSTS > insts - r->seen_insts;
    r->seen_packets = packets;
    r->seen_insts = insts;
    return busy;
}

/* Whether it pays to go ahead, after a round. */
static bool pays(struct run *r) {
    if (++r->trial < TRIAL_ROUNDS)
        return true;
    uint64_t ticks = 0;
    for (uint32_t i = 0; i < r->m->nsms; i++) {
        ticks += r->m->sms[i]->ticks;
        r->m->sms[i]->ticks = 0;
    }
    r->trial = 0;
    r->busy = r->m->threads > 1 && memory_is_busy(r);
    bool enough = ticks >= TRIAL_ROUNDS * TRIAL_TICKS;
    r->failures = enough ? 0 : r->failures;
    return enough;
}

static void go_plain(struct run *r) {
    r->plain_until = r->reached + ((uint64_t)PLAIN_CYCLES << r->failures);
    r->failures += r->failures < MOST_DOUBLINGS;
}

/* How far an SM may go in the round that begins: as far as it knows of its own replies. */
static EVERY_TIME uint64_t end_of(const struct run *r, uint32_t i) {
    uint64_t known = r->longest > r->ahead ? min_u64(memsys_known(r->m->mem, i), r->longest) : r->ahead;
    return min_u64(r->limit, r->followed + known);
}

/* A round ends where the first of the SMs has to stop, but for those that are far enough ahead to take no
 * part in it. halves: where it would be half as long, since memory follows beside them. */
static void begin_round(struct run *r, bool halves) {
    uint64_t far = r->m->threads > 1 ? NEVER : r->followed + r->ahead;
    uint64_t end = min_u64(r->limit, r->followed + r->longest);
    BITS_EACH (&r->open, i) {
        struct strand *s = &r->strands[i];
        s->end = 0;
        if (s->at >= far || s->idle)
            continue;
        s->end = end_of(r, i);
        end = min_u64(end, s->end);
    }
    if (halves)
        end = min_u64(end, r->reached + (end - r->followed + 1) / 2);
    r->round_end = end;
}

/* Every SM that has something to do goes ahead, and the memory system to where all have been. False when no
 * SM has. */
static bool go_all(struct run *r) {
    struct machine *m = r->m;
    uint32_t n = 0;
    bool follows = r->followed < r->reached;
    if (follows)
        r->due[n++] = MEMORY_PIECE;
    BITS_EACH (&r->open, i) {
        struct strand *s = &r->strands[i];
        if (s->at >= r->round_end || s->fault || wants_block(s) || s->idle)
            continue;
        if (m->threads > 1) /* that share work of equal lengths best */
            s->end = r->round_end;
        else if (!s->end)
            s->end = end_of(r, i);
        if (strand_next(s) >= r->round_end)
            s->at = min_u64(strand_next(s), s->end);
        else
            r->due[n++] = SM_PIECE + i;
    }
    m->rounds++;
    if (m->crew && n >= MIN_PIECES)
        crew_work(m->crew, r->due, n, go_piece, r);
    else
        for (uint32_t i = 0; i < n; i++)
            go_piece(r, r->due[i]);
    r->followed = r->reached;
    return n > follows;
}

/* How far SMs have gone in a round. */
struct distance {
    uint64_t all, farthest; /* the first cycles that not all of them, and none, have gone through */
    uint64_t blocked_at;    /* the first that one has not because it waits to learn of room in the network */
    bool wants;             /* some SM waits to be given a block */
    bool fault;             /* some SM has one */
    uint32_t noted;         /* NOTED_* */
};

/* What all of them have noted. */
static uint32_t noted_accesses(const struct run *r) {
    uint32_t noted = 0;
    BITS_EACH (&r->open, i)
        noted |= r->strands[i].noted;
    return noted;
}

/* The memory system learns how far an SM has gone. */
static EVERY_TIME void show_strand(const struct run *r, const struct strand *s) {
    memsys_show(r->m->mem, s->sm, s->at);
}

static EVERY_TIME void note_distance(struct distance *d, const struct run *r, const struct strand *s) {
    d->all = min_u64(d->all, s->at);
    d->farthest = max_u64(d->farthest, s->at);
    if (s->blocked)
        d->blocked_at = min_u64(d->blocked_at, s->at);
    d->wants |= wants_block(s);
    d->fault |= s->fault;
    d->noted |= s->noted;
    show_strand(r, s);
}

/* Has the host fetch what will be looked at of all of them, at once: other processors have it. */
static APART void fetch_strands(const struct run *r) {
    BITS_EACH (&r->open, i) {
        __builtin_prefetch(&r->strands[i]);
        memsys_expect(r->m->mem, i);
    }
}

/* Those with nothing on them follow here: how far they go depends on the others, as the launch ends when none
 * has anything. */
static struct distance round_ends(struct run *r) {
    struct distance d = {.all = NEVER, .blocked_at = NEVER};
    uint32_t n = 0, *idle = r->due;
    if (r->m->crew)
        fetch_strands(r);
    BITS_EACH (&r->open, i) {
        struct strand *s = &r->strands[i];
        if (!s->nended && s->idle) {
            d.farthest = max_u64(d.farthest, s->at);
            idle[n++] = i;
        } else {
            note_distance(&d, r, s);
        }
    }
    uint64_t end = d.all == NEVER ? d.farthest : d.all;
    for (uint32_t k = 0; k < n; k++) {
        struct strand *s = &r->strands[idle[k]];
        if (s->at < end)
            strand_go(s, end);
        note_distance(&d, r, s);
    }
    return d;
}

/* Does it read a line that is written to? */
static bool reads_written(const struct run *r, const struct later *l) {
    const uint16_t *line = l->line[LATER_READS];
    for (uint32_t k = 0; k < l->touched[LATER_READS].n; k++)
        if (r->written[line[k] / 64] >> line[k] % 64 & 1)
            return true;
    return l->touched[LATER_READS].all;
}

/* Finds SMs with loads of lines that somebody writes to; all: or may. */
static void check_guesses(struct run *r, bool all) {
    BITS_EACH (&r->open, i) {
        const struct later *l = &r->strands[i].later;
        for (uint32_t k = 0; k < l->touched[LATER_WRITES].n; k++)
            r->written[l->line[LATER_WRITES][k] / 64] |= UINT64_C(1) << l->line[LATER_WRITES][k] % 64;
    }
    BITS_EACH (&r->open, i) {
        struct strand *s = &r->strands[i];
        s->wrong |= all || reads_written(r, &s->later);
    }
    BITS_EACH (&r->open, i) {
        const struct later *l = &r->strands[i].later;
        for (uint32_t k = 0; k < l->touched[LATER_WRITES].n; k++)
            r->written[l->line[LATER_WRITES][k] / 64] = 0;
    }
}

/* Carries out accesses that issued before cycle end, if that was not done; the SM whose access has a fault,
 * or NO_SLOT. */
static uint32_t catch_up(struct run *r, uint64_t end, uint32_t noted, uint64_t *cycle) {
    uint32_t n = 0, *late = r->due;
    *cycle = end;
    if (!(noted & (NOTED_WRITES | NOTED_DUE)))
        return NO_SLOT;
    if (noted & NOTED_WRITES)
        check_guesses(r, noted & NOTED_ALL);
    BITS_EACH (&r->open, i)
        if (r->strands[i].later.due || r->strands[i].wrong) {
            drop_settled(&r->strands[i], r->m->sms[i]);
            late[n++] = i;
        }
    for (;;) {
        uint64_t now = end;
        for (uint32_t k = 0; k < n; k++) {
            const struct later_access *a = later_first(&r->strands[late[k]].later);
            now = a ? min_u64(now, a->cycle) : now;
        }
        *cycle = now;
        if (now == end)
            break;
        for (uint32_t k = 0; k < n; k++) {
            const struct strand *s = &r->strands[late[k]];
            const struct later_access *a;
            while ((a = later_first(&s->later)) && a->cycle == now)
                if (!sm_catch_up(r->m->sms[late[k]], !a->guessed || s->wrong))
                    return late[k];
        }
    }
    for (uint32_t k = 0; k < n; k++)
        sum_up(&r->strands[late[k]]);
    return NO_SLOT;
}

/* SMs that wait for blocks get them, if there are any: in the order in which they came to wait. */
static void feed_strands(struct run *r) {
    BITS_EACH (&r->open, i) {
        struct strand *s = &r->strands[i];
        if (!wants_block(s) || (s->at != r->reached && r->next < r->total))
            continue;
        for (uint32_t k = 0; k < s->nended; k++)
            run_block_done(r, s->ended[k]);
        s->nended = 0;
        s->asks = false;
        while (run_feed(r, i))
            s->wake = s->at;
        sum_up(s);
    }
}

/* The cycle in which something can happen next, or one that not all SMs have gone through; NEVER: in none. To
 * one that waits for a block, even if it has nothing else to do for long, that may happen in its next. */
static uint64_t next_of_all(const struct run *r) {
    uint64_t next = memsys_advances_at(r->m->mem);
    BITS_EACH (&r->open, i) {
        const struct strand *s = &r->strands[i];
        if (next <= r->reached)
            return next;
        next = min_u64(next, wants_block(s) ? s->at : strand_next(s));
    }
    return next;
}

/* The memory system goes as far as all SMs have; it knows what they did. */
static void follow(struct run *r) {
    memsys_advance(r->m->mem, r->reached);
    memsys_inform(r->m->mem);
    r->followed = r->reached;
}

/* After a fault in an SM: the launch ends with the cycle in which it was. last: none has gone through it. */
static bool fault_ends(struct run *r, uint32_t i, uint64_t cycle, uint64_t last, uint64_t *now) {
    struct machine *m = r->m;
    r->x->fault = m->sms[i]->x->fault;
    follow(r);
    while (r->reached < last) { /* the ports go on alone until all are as far */
        uint64_t all = last;
        BITS_EACH (&r->open, k) {
            strand_go_port(&r->strands[k], min_u64(last, r->reached + r->ahead));
            show_strand(r, &r->strands[k]);
            all = min_u64(all, r->strands[k].at);
        }
        r->reached = all;
        follow(r);
    }
    memsys_join(m->mem, last);
    BITS_EACH (&r->open, k)
        m->sms[k]->later = NULL;
    r->drain_from = last;
    *now = cycle;
    return false;
}

/* What SMs have done before cycle end takes effect. The SM with the first fault, and its cycle; NO_SLOT:
 * there is none. any: some have one that was noticed before. */
static uint32_t settle(struct run *r, uint64_t end, uint32_t noted, bool any, uint64_t *cycle) {
    uint32_t fault = catch_up(r, end, noted, cycle);
    r->reached = end;
    if (!any || (fault != NO_SLOT && *cycle < end - 1))
        return fault;
    BITS_EACH (&r->open, i)
        if (i < fault && sm_faulted(r->m->sms[i]) && r->strands[i].at == end) {
            *cycle = end - 1;
            return i;
        }
    return fault;
}

/* Leaves out cycles in which nobody has anything to do, up to limit. */
static uint32_t jump(struct run *r, uint64_t limit, uint64_t *cycle) {
    uint64_t to = min_u64(limit, next_of_all(r));
    if (to <= r->reached)
        return NO_SLOT;
    BITS_EACH (&r->open, i) {
        r->strands[i].at = max_u64(r->strands[i].at, to);
        show_strand(r, &r->strands[i]);
    }
    uint32_t fault = settle(r, to, noted_accesses(r), true, cycle);
    follow(r);
    return fault;
}

/* The machine goes on cycle by cycle behind what all have reached. */
static void strands_join(struct run *r, uint64_t *now) {
    struct machine *m = r->m;
    follow(r);
    memsys_join(m->mem, r->reached);
    *now = r->reached - 1;
    calendar_clear(&m->calendar);
    BITS_EACH (&r->open, i) {
        assert(r->strands[i].at == r->reached);
        drop_settled(&r->strands[i], m->sms[i]);
        note_port(&r->strands[i], m->sms[i]);
        bits_remove(&m->awake, i);
        m->wake[i] = r->strands[i].wake;
        if (m->wake[i] <= r->reached)
            bits_add(&m->awake, i);
        else if (m->wake[i] != NEVER)
            calendar_add(&m->calendar, i, m->wake[i], *now);
        m->sms[i]->later = NULL;
    }
    strands_count(r);
}

bool strands_run(struct run *r, uint64_t *now, uint64_t limit) {
    struct machine *m = r->m;
    uint64_t cycle;
    r->reached = r->followed = *now;
    const bool shared = m->threads > 1 && m->rounds >= ALONE_ROUNDS;
    if (shared && !m->crew)
        m->crew = crew_create(min_u64(m->threads, m->nsms) - 1, SM_PIECE + m->nsms);
    memsys_part(m->mem, *now, &r->open, shared);
    BITS_EACH (&r->open, i) {
        r->strands[i].at = *now;
        r->strands[i].wake = m->wake[i];
        m->sms[i]->later = &r->strands[i].later;
        if (!r->trial) /* else it goes on after a pause */
            m->sms[i]->ticks = 0;
        sum_up(&r->strands[i]);
    }
    bool blocked = false; /* the last of all SMs waits to learn of room in the network */
    do {
        const bool beside = shared && r->busy;
        r->limit = limit;
        begin_round(r, beside && !blocked);
        bool any = go_all(r);
        struct distance d = round_ends(r);
        uint32_t fault = settle(r, d.all, d.noted, d.fault, &cycle);
        blocked = d.blocked_at == d.all;
        if (beside && any && !blocked)
            memsys_inform(m->mem);
        else
            follow(r);
        if (fault == NO_SLOT) {
            if (d.wants)
                feed_strands(r);
            bool done = r->ended == r->total && machine_idle(m);
            if (done && d.farthest == r->reached)
                break;
            bool stays = pays(r);
            if (!stays)
                go_plain(r);
            if (!stays || !is_far_from_limit(r) || (m->threads > 1 && m->rounds == ALONE_ROUNDS))
                limit = min_u64(limit, d.farthest);
            if (!done && r->followed == r->reached)
                fault = jump(r, limit, &cycle);
        }
        if (fault != NO_SLOT)
            return fault_ends(r, fault, cycle, max_u64(d.farthest, r->reached), now);
    } while (r->reached < limit);
    strands_join(r, now);
    return true;
}
