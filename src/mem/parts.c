/* Partitions of L2, each with its DRAM channel, that are gone through by themselves.
 *
 * A partition depends on the others through the networks only, and for a while it can do without them: what a
 * request takes through its network is known, so all that arrive in the next cycles are there; and replies
 * find room as long as the network is known to have some, whether it sends any or not. So partitions go
 * ahead, in any order and by several threads. They leave the requests that they take where they are, with the
 * tick, and keep their replies. Then the networks follow, who take both over in their own time. A partition
 * that has a reply when it does not know of room waits for them.
 *
 * Everything happens in the very ticks in which it would if all were gone through together. */
#include "mem/memsys_state.h"

enum { MOST_PIECES = 16 };

void memsys_create_parts(struct memsys *m, struct arena *a) {
    m->part = arena_array(a, struct part, m->spec.partitions);
    for (uint32_t p = 0; p < m->spec.partitions; p++) {
        struct part *q = &m->part[p];
        q->data_at = NEVER;
        for (uint32_t i = 0; i < DOMAINS; i++)
            q->domain[i] = m->domain[i];
        queue_init(&q->took, a, m->spec.request.output_queue);
        queue_init(&q->replies, a, m->spec.reply.input_queue);
    }
}

/* ---- one partition ----------------------------------------------------------------------------------- */

/* The next cycle in which it has something to do. */
static uint64_t part_next(const struct memsys *m, uint32_t p) {
    const struct part *q = &m->part[p];
    const struct domain *d = m->domain;
    uint64_t l2 = max_u64(l2_due(m, p), clock_tick(&d[L2].clock, q->at));
    uint64_t at = min_u64(clock_cycle(&d[L2].clock, l2), clock_cycle(&d[DRAM].clock, dram_next(m->dram[p])));
    if (l2_has_room(m->l2[p]))
        at = min_u64(at, clock_cycle(&d[ICNT].clock, icnt_out_at(m->request, p, q->took.len)));
    return max_u64(at, q->at);
}

static void go_dram(struct memsys *m, uint32_t p, uint64_t now) {
    struct domain *d = &m->part[p].domain[DRAM];
    struct dram *c = m->dram[p];
    uint64_t tick = domain_first(d, now), end = domain_arrival(d, now);
    for (; (tick = max_u64(tick, dram_next(c))) < end; tick++) {
        dram_tick(c, tick);
        if (m->part[p].data_at == NEVER)
            memsys_expect_data(m, p);
    }
}

static void go_l2(struct memsys *m, uint32_t p, uint64_t now) {
    struct part *q = &m->part[p];
    struct l2 *l = m->l2[p];
    uint64_t tick = domain_first(&q->domain[L2], now), end = domain_arrival(&q->domain[L2], now);
    for (; (tick = max_u64(tick, l2_due(m, p))) < end; tick++) {
        memsys_take_data(m, tick, p);
        l2_tick(l, tick);
        const struct mem_packet *reply = l2_reply(l, tick);
        if (reply && q->room) {
            q->room--;
            queue_push(&q->replies, (struct coming){domain_arrival(&q->domain[ICNT], now), *reply});
            l2_replied(l, tick);
        }
        memsys_feed_dram(m, now, p, &q->domain[DRAM]);
    }
}

/* Requests that came out of the network, one a tick. */
static void go_requests(struct memsys *m, uint32_t p, uint64_t now) {
    struct part *q = &m->part[p];
    uint64_t tick = domain_first(&q->domain[ICNT], now), end = domain_arrival(&q->domain[ICNT], now);
    for (; (tick = max_u64(tick, icnt_out_at(m->request, p, q->took.len))) < end; tick++) {
        if (!l2_has_room(m->l2[p]))
            return;
        l2_push(m->l2[p], domain_arrival(&q->domain[L2], now), icnt_item(m->request, p, q->took.len));
        queue_push(&q->took, tick);
    }
}

/* Whether it is known if replies of cycle now find room. */
static bool knows_room(const struct memsys *m, uint32_t p, uint64_t now) {
    const struct part *q = &m->part[p];
    if (now < q->blind_from)
        return true;
    const struct clock *c = &q->domain[L2].clock;
    uint64_t tick = clock_tick(c, now), ticks = clock_tick(c, now + 1) - tick;
    return q->room >= ticks || (ticks == 1 && !l2_reply(m->l2[p], tick));
}

/* Goes through cycles before end, as far as it can. */
static void part_go(struct memsys *m, uint32_t p, uint64_t end) {
    struct part *q = &m->part[p];
    while ((q->at = part_next(m, p)) < end) {
        if (!knows_room(m, p, q->at))
            return;
        go_dram(m, p, q->at);
        go_l2(m, p, q->at);
        go_requests(m, p, q->at);
        q->at++;
    }
    q->at = end;
}

/* ---- all of them ------------------------------------------------------------------------------------- */

/* What a partition may know of the networks now. */
static void inform_part(struct memsys *m, uint32_t p) {
    struct part *q = &m->part[p];
    const struct clock *c = &m->domain[ICNT].clock;
    q->room = icnt_room(m->reply, p);
    uint64_t moves = m->reached; /* and makes room in the next cycle */
    if (!q->room)
        moves = max_u64(moves, clock_cycle(c, icnt_moves_at(m->reply, p, clock_tick(c, m->reached))));
    q->blind_from = moves + 1;
    q->next = part_next(m, p);
}

/* The networks learn what partitions have sent. Nothing that leaves in a later tick disturbs them. */
static void take_replies(struct memsys *m, uint32_t p) {
    struct part *q = &m->part[p];
    while (!queue_empty(&q->replies)) {
        const struct coming *r = queue_head(&q->replies);
        icnt_push(m->reply, r->at, p, r->packet.port, &r->packet);
        domain_due(m, &m->domain[ICNT], r->at);
        queue_pop(&q->replies);
    }
}

void memsys_pop_taken(struct memsys *m, uint64_t tick) {
    for (uint32_t p = icnt_ready(m->request, tick, 0); p != NO_SLOT;
         p = icnt_ready(m->request, tick, p + 1)) {
        struct part *q = &m->part[p];
        if (queue_empty(&q->took) || *queue_head(&q->took) != tick)
            continue;
        queue_pop(&q->took);
        icnt_pop(m->request, p);
    }
}

/* The networks go through the cycles before end. */
static void go_networks(struct memsys *m, uint64_t end) {
    while (max_u64(m->reached, m->at) < end) {
        uint64_t now = max_u64(m->reached, m->at);
        memsys_tick_networks(m, now);
        m->reached = now + 1;
    }
    m->reached = end;
}

/* How far partitions may go while the networks stand: a request that these let go now arrives no earlier. */
static uint64_t parts_end(const struct memsys *m, uint64_t end) {
    const struct clock *c = &m->spec.icnt_clock;
    return min_u64(end, m->reached + clock_scale_down(m->spec.request.latency, c->den, c->num));
}

void memsys_advance_split(struct memsys *m, uint64_t end) {
    while (m->reached < end) {
        uint64_t to = parts_end(m, end), all = to;
        for (uint32_t p = 0; p < m->spec.partitions; p++) {
            if (m->part[p].at < to)
                part_go(m, p, to);
            all = min_u64(all, m->part[p].at);
            take_replies(m, p);
        }
        go_networks(m, all);
        for (uint32_t p = 0; p < m->spec.partitions; p++)
            inform_part(m, p);
    }
}

bool memsys_is_split(const struct memsys *m) {
    return m->split;
}

uint32_t memsys_pieces(const struct memsys *m) {
    return m->spec.partitions < MOST_PIECES ? m->spec.partitions : MOST_PIECES;
}

/* The first partition of a piece. */
static uint32_t piece_from(const struct memsys *m, uint32_t piece) {
    return piece * m->spec.partitions / memsys_pieces(m);
}

bool memsys_piece_due(const struct memsys *m, uint32_t piece, uint64_t end) {
    uint64_t next = NEVER;
    for (uint32_t p = piece_from(m, piece); p < piece_from(m, piece + 1); p++)
        next = min_u64(next, m->part[p].next);
    return next < end;
}

void memsys_go_piece(struct memsys *m, uint32_t piece, uint64_t end) {
    for (uint32_t p = piece_from(m, piece); p < piece_from(m, piece + 1); p++)
        part_go(m, p, parts_end(m, end));
}

uint64_t memsys_parts_next(const struct memsys *m) {
    uint64_t next = NEVER;
    for (uint32_t p = 0; p < m->spec.partitions; p++)
        next = min_u64(next, m->part[p].next);
    return next;
}

void memsys_split(struct memsys *m, uint64_t now) {
    struct domain *d = m->domain;
    m->split = true;
    d[L2].next = d[L2].at = d[DRAM].next = d[DRAM].at = NEVER;
    m->at = min_u64(d[CORE].at, d[ICNT].at);
    for (uint32_t p = 0; p < m->spec.partitions; p++) {
        m->part[p].at = now;
        inform_part(m, p);
    }
}

void memsys_unsplit(struct memsys *m, uint64_t now) {
    struct domain *d = m->domain;
    m->split = false;
    for (uint32_t p = 0; p < m->spec.partitions; p++) {
        uint64_t l2 = l2_due(m, p), dram = dram_next(m->dram[p]);
        assert(m->part[p].at == now && queue_empty(&m->part[p].took) && queue_empty(&m->part[p].replies));
        bits_remove(&m->l2_busy, p);
        bits_remove(&m->dram_busy, p);
        if (l2 != NEVER) {
            bits_add(&m->l2_busy, p);
            domain_due(m, &d[L2], max_u64(l2, clock_tick(&d[L2].clock, now)));
        }
        if (dram != NEVER) {
            bits_add(&m->dram_busy, p);
            domain_due(m, &d[DRAM], dram);
        }
    }
}
