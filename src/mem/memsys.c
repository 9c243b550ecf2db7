/* Ties the units together: who is due in a cycle, and what moves between them.
 *
 * Each clock domain knows the next tick in which one of its units has work, so a cycle without any costs a
 * comparison for each domain. Units that are waiting for nothing stand in no set. */
#include "mem/memsys.h"

#include <string.h>

/* A clock domain. next: the first tick in which one of its units may have work. */
struct domain {
    struct clock clock;
    uint64_t next, at;       /* ... and the core cycle into which it falls */
    uint64_t cycle, arrival; /* arrival: the first tick after core cycle cycle, once someone asked */
};

enum { CORE, ICNT, L2, DRAM, DOMAINS };

/* Reasons to stall that data from memory may end. */
enum { CURED_BY_FILL = 1 << MEM_STALL_MSHR | 1 << MEM_STALL_MERGE | 1 << MEM_STALL_WAYS };

/* A request of an SM's cache, and the cycle in which it was made: it leaves in the next at the earliest. */
struct made {
    uint64_t at;
    struct mem_packet packet;
};

/* Requests of a cache, in the order in which they were made: a ring, by numbers that only grow. */
struct made_log {
    struct made *ring;
    uint32_t mask;
};

/* How far the requests of a port were sent. */
struct sender {
    uint32_t turn;              /* the client that sends first */
    uint32_t made[MEM_CLIENTS]; /* requests of each */
    uint32_t sent[MEM_CLIENTS]; /* ... that have left */
};

/* A reply on its way, and the tick in which it is out. */
struct coming {
    uint64_t at;
    struct mem_packet packet;
};

struct port {
    _Alignas(
        64) struct l1 *data; /* ports may be at work at the same time: each has its own lines of the host's */
    struct cache *cache[MEM_CLIENTS]; /* data: its reading half */
    uint32_t turn;                    /* the client that sends first */
    uint64_t fresh_at[MEM_CLIENTS];   /* the last cycle with an access ... */
    uint32_t
        fresh[MEM_CLIENTS]; /* ... and the requests made in it, which leave in the next at the earliest */
    struct port_times *times;
    /* While ports are apart, of the port: */
    struct made_log log[MEM_CLIENTS];
    struct sender known;          /* what left, as far as the port knows */
    QUEUE(struct coming) replies; /* that will arrive, as far as is known */
    uint64_t sends_from;          /* the first cycle of which the port does not know what it sends */
    uint64_t full_before;         /* the network gets no more room than is known in cycles before this */
    uint64_t due;                 /* the first cycle in which it has something to do by itself */
    uint64_t reply_at;            /* the cycle in which it takes the next reply; NEVER: not known of any */
    uint64_t takes_from;          /* the first cycle in which it may take one */
    uint32_t room;                /* requests that the network is known to have room for */
    bool waits;                   /* there are requests to send */
    bool unsure;                  /* in cycle sends_from the network may have room, or not */
    /* ... and of the networks: */
    _Alignas(64) struct sender sender; /* what they know of was made */
    uint32_t coming;                   /* replies that the port was told of */
};

struct memsys {
    struct mem_spec spec;
    struct domain domain[DOMAINS];
    uint64_t at; /* the first core cycle in which one of them has work */
    struct port *port;
    struct port_times *times; /* of each port, side by side */
    struct icnt *request, *reply;
    struct l2 **l2;
    struct dram **dram;
    uint64_t *data_at;   /* the L2 tick in which each partition gets data from its channel */
    struct bits sending; /* SMs with requests to send */
    struct bits l2_busy, dram_busy;
    struct bits woken;       /* SMs whose port has something for them earlier than they knew */
    const struct bits *open; /* while ports are apart: those that take part */
    uint64_t reached;        /* ... and the first cycle that everything but the ports has not gone through */
    bool apart, eager;
};

/* ---- building ---------------------------------------------------------------------------------------- */

static void create_ports(struct memsys *m, struct arena *a) {
    const struct mem_spec *s = &m->spec;
    m->port = arena_array(a, struct port, s->sms);
    m->times = arena_array(a, struct port_times, s->sms);
    for (uint32_t i = 0; i < s->sms; i++) {
        struct port *p = &m->port[i];
        p->data = l1_create(a, &s->l1, i);
        p->cache[MEM_DATA] = &p->data->cache;
        p->cache[MEM_TEXTURE] = cache_create(a, &s->texture, i);
        p->cache[MEM_CONSTANT] = cache_create(a, &s->constant, i);
        p->cache[MEM_INST] = cache_create(a, &s->inst, i);
        p->times = &m->times[i];
        memset(p->times, 0xff, sizeof *p->times); /* NEVER */
        queue_init(&p->replies, a, s->reply.output_queue);
        for (uint32_t k = 0; k < MEM_CLIENTS; k++) {
            uint32_t slots = queue_slots(p->cache[k]->bank.out.cap + s->request.input_queue);
            p->log[k] = (struct made_log){.ring = arena_array(a, struct made, slots), .mask = slots - 1};
        }
    }
}

struct memsys *memsys_create(struct arena *a, const struct mem_spec *s) {
    assert(s->sms && s->partitions && s->interleave && s->interleave % s->dram.line == 0);
    struct memsys *m = arena_new(a, struct memsys);
    m->at = NEVER;
    m->spec = *s;
    m->spec.request.inputs = m->spec.reply.outputs = s->sms;
    m->spec.request.outputs = m->spec.reply.inputs = s->partitions;
    m->spec.l1.cache.client = MEM_DATA;
    m->spec.texture.client = MEM_TEXTURE;
    m->spec.constant.client = MEM_CONSTANT;
    m->spec.inst.client = MEM_INST;
    m->domain[CORE].clock = clock_make(1, 1);
    m->domain[ICNT].clock = s->icnt_clock;
    m->domain[L2].clock = s->l2_clock;
    m->domain[DRAM].clock = s->dram_clock;
    for (uint32_t i = 0; i < DOMAINS; i++)
        m->domain[i].next = m->domain[i].at = m->domain[i].cycle = NEVER;
    create_ports(m, a);
    m->request = icnt_create(a, &m->spec.request);
    m->reply = icnt_create(a, &m->spec.reply);
    m->l2 = arena_array(a, struct l2 *, s->partitions);
    m->dram = arena_array(a, struct dram *, s->partitions);
    m->data_at = arena_array(a, uint64_t, s->partitions);
    for (uint32_t i = 0; i < s->partitions; i++) {
        m->l2[i] = l2_create(a, &s->l2);
        m->dram[i] = dram_create(a, &s->dram);
        m->data_at[i] = NEVER;
    }
    bits_init(&m->sending, a, s->sms);
    bits_init(&m->woken, a, s->sms);
    bits_init(&m->l2_busy, a, s->partitions);
    bits_init(&m->dram_busy, a, s->partitions);
    return m;
}

uint32_t memsys_partition(const struct mem_spec *s, uint64_t addr, uint64_t *local) {
    uint64_t chunk = addr / s->interleave, round = chunk / s->partitions;
    uint32_t at = (uint32_t)(chunk - round * s->partitions);
    if (s->hash) {
        uint64_t h = (round ^ round >> 16) * UINT64_C(0x9e3779b97f4a7c15);
        at = (uint32_t)((at + (h >> 40)) % s->partitions);
    }
    *local = round * s->interleave + addr % s->interleave;
    return at;
}

/* ---- time -------------------------------------------------------------------------------------------- */

/* The first tick of a domain after core cycle now. */
static uint64_t arrival(struct domain *d, uint64_t now) {
    if (d->cycle != now) {
        d->cycle = now;
        d->arrival = clock_tick(&d->clock, now + 1);
    }
    return d->arrival;
}

static inline void due(struct memsys *m, struct domain *d, uint64_t tick) {
    if (tick >= d->next)
        return;
    d->next = tick;
    d->at = clock_cycle(&d->clock, tick);
    m->at = min_u64(m->at, d->at);
}

/* A domain looks at its work in a tick; who has more makes it due again. */
static void begin_tick(struct domain *d) {
    d->next = d->at = NEVER;
}

/* The first tick of a domain in core cycle now in which it has work; sets *end to the first tick after the
 * cycle. NEVER: there is none. */
static inline __attribute__((always_inline)) uint64_t first_tick(struct memsys *m, struct domain *d,
                                                                 uint64_t now, uint64_t *end) {
    *end = 0;
    if (d->at > now && !m->eager)
        return NEVER;
    uint64_t first = now && d->cycle == now - 1 ? d->arrival : clock_tick(&d->clock, now);
    *end = arrival(d, now);
    if (!m->eager)
        first = max_u64(first, d->next);
    return first < *end ? first : NEVER;
}

/* ---- SMs --------------------------------------------------------------------------------------------- */

/* Replies that are out, or will be, wake the SMs. */
static void due_replies(struct memsys *m, uint64_t now) {
    uint64_t at = icnt_ready_at(m->reply);
    if (at != NEVER)
        due(m, &m->domain[CORE], max_u64(now, clock_cycle(&m->domain[ICNT].clock, at)));
}

/* When a port that is apart has something to do. */
static void note_due(struct port *p) {
    p->due = p->waits && !p->unsure ? min_u64(p->sends_from + 1, p->reply_at) : p->reply_at;
}

/* A cache has completed accesses, or will have. */
static void note_done(struct port *p, uint32_t client) {
    struct port_times *t = p->times;
    t->done[client] = cache_next(p->cache[client]);
    t->first = min_u64(min_u64(t->done[0], t->done[1]), min_u64(t->done[2], t->done[3]));
}
_Static_assert(MEM_CLIENTS == 4, "all of them");

/* A cache changed: what it refused for one of these reasons may be possible in the next cycle. */
static void note_change(struct memsys *m, uint32_t sm, uint32_t client, uint64_t now, uint32_t reasons) {
    struct port *p = &m->port[sm];
    if (!(reasons >> p->cache[client]->why & 1))
        return;
    p->times->retry = now + 1;
    if (!m->apart)
        bits_add(&m->woken, sm);
}

/* A reply reaches an SM. */
static void take_reply(struct memsys *m, uint64_t now, uint32_t sm, const struct mem_packet *p) {
    if (p->client == MEM_DATA)
        l1_fill(m->port[sm].data, now, p);
    else
        cache_fill(m->port[sm].cache[p->client], now, p);
    note_done(&m->port[sm], p->client);
    if (!m->apart)
        bits_add(&m->woken, sm);
    note_change(m, sm, p->client, now, p->kind == MEM_LOAD ? CURED_BY_FILL : 1u << MEM_STALL_STORES);
}

/* One reply a cycle reaches an SM. Ports that are apart have taken it before. */
static void receive(struct memsys *m, uint64_t now) {
    uint64_t tick = arrival(&m->domain[ICNT], now) - 1;
    for (uint32_t sm = icnt_ready(m->reply, tick, 0); sm != NO_SLOT;
         sm = icnt_ready(m->reply, tick, sm + 1)) {
        assert(!m->apart || m->port[sm].coming);
        if (m->apart)
            m->port[sm].coming--;
        else
            take_reply(m, now, sm, icnt_head(m->reply, sm));
        icnt_pop(m->reply, sm);
    }
    due_replies(m, now + 1);
}

/* The next client of an SM that may send a request, taking turns; MEM_CLIENTS when there is none. */
static uint32_t next_client(const struct port *p, uint64_t now) {
    for (uint32_t i = 0; i < MEM_CLIENTS; i++) {
        uint32_t client = (p->turn + i) % MEM_CLIENTS, out = p->cache[client]->bank.out.len;
        if (out && (p->fresh_at[client] != now || out > p->fresh[client]))
            return client;
    }
    return MEM_CLIENTS;
}

static bool has_requests(const struct port *p) {
    for (uint32_t i = 0; i < MEM_CLIENTS; i++)
        if (cache_out(p->cache[i]))
            return true;
    return false;
}

/* One request leaves an SM, if the network has room. */
static void send_request(struct memsys *m, uint64_t now, uint32_t sm) {
    struct port *p = &m->port[sm];
    uint32_t client = icnt_has_room(m->request, sm) ? next_client(p, now) : MEM_CLIENTS;
    if (client == MEM_CLIENTS)
        return;
    uint64_t tick = arrival(&m->domain[ICNT], now);
    struct mem_packet q = *cache_out(p->cache[client]);
    uint32_t to = memsys_partition(&m->spec, q.line, &q.line);
    icnt_push(m->request, tick, sm, to, &q);
    cache_sent(p->cache[client]);
    note_change(m, sm, client, now, 1u << MEM_STALL_QUEUE);
    p->turn = client + 1;
    due(m, &m->domain[ICNT], tick);
    if (!has_requests(p))
        bits_remove(&m->sending, sm);
}

/* One a cycle. */
static void send_requests(struct memsys *m, uint64_t now) {
    BITS_EACH (&m->sending, sm)
        send_request(m, now, sm);
    if (m->sending.count)
        due(m, &m->domain[CORE], now + 1);
}

/* The client of a port that is apart that sends a request in cycle now; MEM_CLIENTS: none does. Sets *next to
 * the first cycle in which one will, as far as is known. */
static uint32_t next_made(const struct port *p, const struct sender *s, uint64_t now, uint64_t *next) {
    *next = NEVER;
    for (uint32_t i = 0; i < MEM_CLIENTS; i++) {
        uint32_t client = (s->turn + i) % MEM_CLIENTS;
        const struct made_log *l = &p->log[client];
        if (s->sent[client] == s->made[client])
            continue;
        uint64_t at = l->ring[s->sent[client] & l->mask].at;
        if (at < now)
            return client;
        *next = min_u64(*next, at + 1);
    }
    return MEM_CLIENTS;
}

/* The first cycle, from reached on, in which the network may have more room for requests of an SM. */
static uint64_t room_from(const struct memsys *m, uint32_t sm) {
    uint64_t now = clock_tick(&m->domain[ICNT].clock, m->reached);
    return max_u64(m->reached, clock_cycle(&m->domain[ICNT].clock, icnt_moves_at(m->request, sm, now)));
}

/* One request leaves an SM that is apart, if the network has room. Returns when that may be possible again.
 */
static uint64_t send_made(struct memsys *m, uint64_t now, uint32_t sm) {
    struct port *p = &m->port[sm];
    struct sender *s = &p->sender;
    uint64_t next;
    uint32_t client = next_made(p, s, now, &next);
    if (client == MEM_CLIENTS)
        return next;
    if (!icnt_has_room(m->request, sm))
        return room_from(m, sm);
    uint64_t tick = arrival(&m->domain[ICNT], now);
    struct mem_packet q = p->log[client].ring[s->sent[client]++ & p->log[client].mask].packet;
    uint32_t to = memsys_partition(&m->spec, q.line, &q.line);
    icnt_push(m->request, tick, sm, to, &q);
    due(m, &m->domain[ICNT], tick);
    s->turn = client + 1;
    return now;
}

/* One a cycle, of those that the networks know. */
static void send_all_made(struct memsys *m, uint64_t now) {
    uint64_t first = NEVER;
    BITS_EACH (&m->sending, sm) {
        uint64_t next = send_made(m, now, sm);
        if (next == NEVER)
            bits_remove(&m->sending, sm);
        first = min_u64(first, next);
    }
    if (first != NEVER)
        due(m, &m->domain[CORE], max_u64(now + 1, first));
}

static void tick_core(struct memsys *m, uint64_t now) {
    if (m->domain[CORE].at > now && !m->eager)
        return;
    begin_tick(&m->domain[CORE]);
    receive(m, now);
    if (m->apart)
        send_all_made(m, now);
    else
        send_requests(m, now);
}

/* ---- interconnect ------------------------------------------------------------------------------------ */

/* Requests that came out reach L2, one a tick for each partition. */
static void deliver_requests(struct memsys *m, uint64_t now, uint64_t tick) {
    struct domain *l2 = &m->domain[L2];
    for (uint32_t p = icnt_ready(m->request, tick, 0); p != NO_SLOT;
         p = icnt_ready(m->request, tick, p + 1)) {
        if (!l2_has_room(m->l2[p]))
            continue;
        uint64_t at = arrival(l2, now);
        l2_push(m->l2[p], at, icnt_head(m->request, p));
        bits_add(&m->l2_busy, p);
        due(m, l2, at);
        icnt_pop(m->request, p);
    }
}

static void tick_icnt(struct memsys *m, uint64_t now) {
    struct domain *d = &m->domain[ICNT];
    uint64_t end, tick = first_tick(m, d, now, &end);
    for (; tick < end && tick != NEVER; tick = m->eager ? tick + 1 : d->next) {
        begin_tick(d);
        if (m->eager || icnt_next(m->reply) <= tick) {
            icnt_tick(m->reply, tick);
            due_replies(m, now);
        }
        if (m->eager || icnt_next(m->request) <= tick)
            icnt_tick(m->request, tick);
        deliver_requests(m, now, tick);
        uint64_t next = min_u64(icnt_next(m->reply), icnt_next(m->request));
        due(m, d, max_u64(tick + 1, min_u64(next, icnt_ready_at(m->request))));
    }
}

/* ---- L2 and DRAM ------------------------------------------------------------------------------------- */

/* What leaves a partition in one tick: a reply, and requests to its DRAM channel. */
static void drain_l2(struct memsys *m, uint64_t now, uint64_t tick, uint32_t p) {
    struct l2 *l = m->l2[p];
    const struct mem_packet *q = l2_reply(l, tick);
    if (q && icnt_has_room(m->reply, p)) {
        uint64_t at = arrival(&m->domain[ICNT], now);
        icnt_push(m->reply, at, p, q->port, q);
        due(m, &m->domain[ICNT], at);
        l2_replied(l, tick);
    }
    q = l2_out(l);
    if (q && dram_has_room(m->dram[p], q->kind == MEM_STORE)) {
        uint64_t at = arrival(&m->domain[DRAM], now);
        dram_push(m->dram[p], at, q->line, q->sectors, q->kind == MEM_STORE, q->id);
        bits_add(&m->dram_busy, p);
        due(m, &m->domain[DRAM], at);
        l2_sent(l);
    }
}

/* Notes when a partition gets the next data from its channel: in the core cycle after it came. */
static void expect_data(struct memsys *m, uint32_t p) {
    uint64_t at = dram_pop_at(m->dram[p]);
    m->data_at[p] = NEVER;
    if (at != NEVER)
        m->data_at[p] = clock_tick(&m->domain[L2].clock, clock_cycle(&m->domain[DRAM].clock, at) + 1);
}

static void take_data(struct memsys *m, uint64_t tick, uint32_t p) {
    while (m->data_at[p] <= tick) {
        uint32_t id;
        uint8_t sectors;
        dram_pop(m->dram[p], &id, &sectors);
        l2_fill(m->l2[p], tick, id, sectors);
        expect_data(m, p);
    }
}

/* The next tick in which a partition has work. */
static uint64_t l2_due(const struct memsys *m, uint32_t p) {
    return min_u64(l2_next(m->l2[p]), m->data_at[p]);
}

static void tick_l2(struct memsys *m, uint64_t now) {
    struct domain *d = &m->domain[L2];
    uint64_t end, tick = first_tick(m, d, now, &end);
    for (; tick < end && tick != NEVER; tick = m->eager ? tick + 1 : d->next) {
        begin_tick(d);
        uint64_t first = NEVER;
        BITS_EACH (&m->l2_busy, p) {
            if (m->eager || l2_due(m, p) <= tick) {
                take_data(m, tick, p);
                l2_tick(m->l2[p], tick);
                drain_l2(m, now, tick, p);
            }
            uint64_t next = l2_due(m, p);
            if (next == NEVER) /* data or a request brings it back */
                bits_remove(&m->l2_busy, p);
            first = min_u64(first, next);
        }
        if (first != NEVER)
            due(m, d, max_u64(tick + 1, first));
    }
}

static void tick_dram(struct memsys *m, uint64_t now) {
    struct domain *d = &m->domain[DRAM];
    uint64_t end, tick = first_tick(m, d, now, &end);
    for (; tick < end && tick != NEVER; tick = m->eager ? tick + 1 : d->next) {
        begin_tick(d);
        uint64_t first = NEVER;
        BITS_EACH (&m->dram_busy, p) {
            struct dram *c = m->dram[p];
            if (m->eager || dram_next(c) <= tick) {
                dram_tick(c, tick);
                if (m->data_at[p] == NEVER && dram_pop_at(c) != NEVER) {
                    expect_data(m, p);
                    bits_add(&m->l2_busy, p);
                    due(m, &m->domain[L2], m->data_at[p]);
                }
            }
            uint64_t next = dram_next(c);
            if (next == NEVER)
                bits_remove(&m->dram_busy, p);
            first = min_u64(first, next);
        }
        if (first != NEVER)
            due(m, d, max_u64(tick + 1, first));
    }
}

static __attribute__((noinline)) void tick_domains(struct memsys *m, uint64_t now) {
    tick_dram(m, now);
    tick_l2(m, now);
    tick_icnt(m, now);
    tick_core(m, now);
    m->at = NEVER;
    for (uint32_t i = 0; i < DOMAINS; i++)
        m->at = min_u64(m->at, m->domain[i].at);
}

/* ---- ports apart ------------------------------------------------------------------------------------- */

uint64_t memsys_lookahead(const struct memsys *m) {
    return clock_scale_down(m->spec.reply.latency, m->spec.icnt_clock.den, m->spec.icnt_clock.num);
}

/* Notes the last requests of a cache, which were made in cycle now. */
static void log_made(struct port *p, uint32_t client, uint32_t n, uint64_t now) {
    const struct bank *b = &p->cache[client]->bank;
    const struct made_log *l = &p->log[client];
    for (uint32_t i = b->out.len - n; i < b->out.len; i++)
        l->ring[p->known.made[client]++ & l->mask] = (struct made){now, *queue_item(&b->out, i)};
}

/* A request has left, in cycle now, as the port learns. */
static void learn_sent(struct memsys *m, uint64_t now, uint32_t sm, uint32_t client) {
    struct port *p = &m->port[sm];
    cache_sent(p->cache[client]);
    note_change(m, sm, client, now, 1u << MEM_STALL_QUEUE);
    p->known.sent[client]++;
}

/* The cycle in which a port takes its next reply, as far as it knows. */
static void expect_reply(const struct memsys *m, struct port *p) {
    p->reply_at = NEVER;
    if (!queue_empty(&p->replies))
        p->reply_at =
            max_u64(p->takes_from, clock_cycle(&m->domain[ICNT].clock, queue_head(&p->replies)->at));
}

/* What the networks know of a port's requests, now that they and it are to go on. */
static void show_made(struct memsys *m, uint32_t sm) {
    struct port *p = &m->port[sm];
    bool any = false;
    for (uint32_t k = 0; k < MEM_CLIENTS; k++) {
        any |= p->sender.made[k] != p->known.made[k];
        p->sender.made[k] = p->known.made[k];
    }
    if (!any)
        return;
    bits_add(&m->sending, sm);
    due(m, &m->domain[CORE], m->reached);
}

/* Requests left that the port did not know of. They did before cycle reached; an access that waited for this
 * has not let the port come farther. */
static void learn_sends(struct memsys *m, uint32_t sm) {
    struct port *p = &m->port[sm];
    for (uint32_t k = 0; k < MEM_CLIENTS; k++)
        while (p->known.sent[k] != p->sender.sent[k])
            learn_sent(m, m->reached - 1, sm, k);
    p->known.turn = p->sender.turn;
    p->sends_from = m->reached;
    p->waits = has_requests(p);
}

/* What a port may know of the networks now. */
static void inform_port(struct memsys *m, uint32_t sm) {
    struct port *p = &m->port[sm];
    uint64_t retry = p->times->retry;
    if (p->waits && p->sends_from < m->reached)
        learn_sends(m, sm);
    p->unsure = false;
    p->room = icnt_room(m->request, sm);
    for (uint32_t k = 0; k < MEM_CLIENTS; k++)
        p->room -= p->known.sent[k] - p->sender.sent[k];
    p->full_before = room_from(m, sm);
    for (uint64_t at; (at = icnt_out_at(m->reply, sm, p->coming)) != NEVER; p->coming++)
        queue_push(&p->replies, (struct coming){at, *icnt_item(m->reply, sm, p->coming)});
    if (p->reply_at == NEVER)
        expect_reply(m, p);
    note_due(p);
    if (retry != p->times->retry)
        p->due = m->reached;
}

void memsys_part(struct memsys *m, uint64_t now, const struct bits *open) {
    m->apart = true;
    m->reached = now;
    m->open = open;
    BITS_EACH (open, sm) {
        struct port *p = &m->port[sm];
        p->sender = p->known = (struct sender){.turn = p->turn};
        for (uint32_t k = 0; k < MEM_CLIENTS; k++)
            log_made(p, k, p->cache[k]->bank.out.len, 0);
        p->sends_from = p->takes_from = now;
        p->waits = has_requests(p);
        p->coming = 0;
        p->reply_at = NEVER;
        assert(queue_empty(&p->replies));
        inform_port(m, sm);
    }
}

void memsys_join(struct memsys *m, uint64_t now) {
    assert(m->reached == now);
    m->apart = false;
    BITS_EACH (m->open, sm) {
        struct port *p = &m->port[sm];
        assert(queue_empty(&p->replies) || p->reply_at >= now);
        p->replies.len = 0;
        p->turn = p->sender.turn;
        bits_remove(&m->sending, sm);
        if (!has_requests(p))
            continue;
        bits_add(&m->sending, sm);
        due(m, &m->domain[CORE], now);
    }
}

uint64_t memsys_port_due(const struct memsys *m, uint32_t sm) {
    return m->port[sm].due;
}

void memsys_port_send(struct memsys *m, uint64_t now, uint32_t sm) {
    struct port *p = &m->port[sm];
    while (p->waits && !p->unsure && p->sends_from < now) {
        uint64_t next, at = p->sends_from;
        uint32_t client = next_made(p, &p->known, at, &next);
        if (client == MEM_CLIENTS) {
            p->sends_from = next;
        } else if (p->room) {
            learn_sent(m, at, sm, client);
            p->known.turn = client + 1;
            p->room--;
            p->sends_from = at + 1;
            p->waits = has_requests(p);
        } else if (at < p->full_before) {
            p->sends_from = p->full_before;
        } else {
            p->unsure = true;
        }
    }
    note_due(p);
}

bool memsys_port_knows(const struct memsys *m, uint32_t sm, bool ticks) {
    const struct port *p = &m->port[sm];
    if (!p->unsure)
        return true;
    for (uint32_t k = 0; k < MEM_CLIENTS; k++) {
        const struct cache *c = p->cache[k];
        if (c->why == MEM_STALL_QUEUE)
            return false;
        uint32_t waiting = c->bank.out.len;
        if (ticks && waiting && waiting + c->spec.more + 2 > c->bank.out.cap)
            return false;
    }
    return true;
}

void memsys_port_receive(struct memsys *m, uint64_t now, uint32_t sm) {
    struct port *p = &m->port[sm];
    if (p->reply_at > now)
        return;
    take_reply(m, now, sm, &queue_head(&p->replies)->packet);
    queue_pop(&p->replies);
    p->takes_from = now + 1;
    expect_reply(m, p);
    note_due(p);
}

void memsys_advance(struct memsys *m, uint64_t end) {
    while (max_u64(m->reached, m->at) < end) {
        uint64_t now = max_u64(m->reached, m->at);
        tick_domains(m, now);
        m->reached = now + 1;
    }
    m->reached = end;
}

void memsys_show(struct memsys *m) {
    BITS_EACH (m->open, sm)
        show_made(m, sm);
}

void memsys_inform(struct memsys *m) {
    BITS_EACH (m->open, sm)
        inform_port(m, sm);
}

uint64_t memsys_advances_at(const struct memsys *m) {
    return max_u64(m->reached, m->at);
}

/* ---- the interface ----------------------------------------------------------------------------------- */

void memsys_tick(struct memsys *m, uint64_t now) {
    if (m->at <= now || m->eager)
        tick_domains(m, now);
}

struct bits *memsys_woken(struct memsys *m) {
    return &m->woken;
}

uint64_t memsys_next(const struct memsys *m) {
    return m->at;
}

/* Notes the requests that an access made. */
static void note_requests(struct memsys *m, uint64_t now, uint32_t sm, enum mem_client client,
                          uint32_t before) {
    struct port *p = &m->port[sm];
    uint32_t made = p->cache[client]->bank.out.len - before;
    if (!made)
        return;
    p->fresh[client] = made + (p->fresh_at[client] == now ? p->fresh[client] : 0);
    p->fresh_at[client] = now;
    if (m->apart) {
        log_made(p, client, made, now);
        if (!p->waits) /* what waited before may still leave in this cycle */
            p->sends_from = max_u64(p->sends_from, now + 1);
        p->waits = true;
        note_due(p);
        return;
    }
    bits_add(&m->sending, sm);
    due(m, &m->domain[CORE], now + 1);
}

enum mem_result memsys_access(struct memsys *m, uint64_t now, uint32_t sm, enum mem_client client,
                              const struct mem_access *x, uint32_t token) {
    struct port *p = &m->port[sm];
    uint32_t before = p->cache[client]->bank.out.len;
    p->times->retry = NEVER;
    enum mem_result r = client == MEM_DATA ? l1_access(p->data, now, x, token)
                                           : cache_access(p->cache[client], now, x, token);
    if (!mem_accepted(r))
        return r;
    note_done(p, client);
    note_requests(m, now, sm, client, before);
    return r;
}

/* A fetch that may be anything but a hit. */
static __attribute__((noinline)) enum mem_result fetch_line(struct memsys *m, uint64_t now, uint32_t sm,
                                                            uint64_t line, uint32_t token) {
    struct cache *c = m->port[sm].cache[MEM_INST];
    uint32_t before = c->bank.out.len;
    struct mem_access x = {.line = line,
                           .lanes = 1,
                           .bytes = (uint16_t)c->spec.bank.tags.line,
                           .sectors = c->bank.all,
                           .kind = MEM_LOAD};
    enum mem_result r = cache_look(c, now, &x, token);
    if (r != MEM_HIT && mem_accepted(r))
        note_requests(m, now, sm, MEM_INST, before);
    return r;
}

enum mem_result memsys_fetch(struct memsys *m, uint64_t now, uint32_t sm, uint64_t line, uint32_t token) {
    struct port *p = &m->port[sm];
    struct cache *c = p->cache[MEM_INST];
    p->times->retry = NEVER;
    return cache_finds(c, now, line, c->bank.all) ? MEM_HIT : fetch_line(m, now, sm, line, token);
}

const struct port_times *memsys_port_times(const struct memsys *m, uint32_t sm) {
    return &m->times[sm];
}

bool memsys_pop(struct memsys *m, uint64_t now, uint32_t sm, enum mem_client client, struct mem_done *out) {
    struct port *p = &m->port[sm];
    if (p->times->done[client] > now || !cache_pop(p->cache[client], now, out))
        return false;
    note_done(p, client);
    return true;
}

uint64_t memsys_port_next(const struct memsys *m, uint32_t sm) {
    return min_u64(m->times[sm].first, m->times[sm].retry);
}

const uint32_t *memsys_port_epoch(const struct memsys *m, uint32_t sm, enum mem_client client) {
    return cache_epoch(m->port[sm].cache[client]);
}

bool memsys_port_idle(const struct memsys *m, uint32_t sm) {
    bool idle = l1_idle(m->port[sm].data);
    for (uint32_t k = MEM_DATA + 1; k < MEM_CLIENTS; k++)
        idle &= cache_idle(m->port[sm].cache[k]);
    return idle;
}

bool memsys_idle(const struct memsys *m) {
    if (!icnt_idle(m->request) || !icnt_idle(m->reply))
        return false;
    for (uint32_t i = 0; i < m->spec.partitions; i++)
        if (!l2_idle(m->l2[i]) || !dram_idle(m->dram[i]))
            return false;
    for (uint32_t i = 0; i < m->spec.sms; i++)
        if (!memsys_port_idle(m, i))
            return false;
    return true;
}

void memsys_flush_l1(struct memsys *m) {
    for (uint32_t i = 0; i < m->spec.sms; i++)
        for (uint32_t k = 0; k < MEM_CLIENTS; k++)
            cache_flush(m->port[i].cache[k]);
}

void memsys_copied(struct memsys *m, uint64_t addr, uint64_t bytes) {
    const struct tags_spec *t = &m->spec.l2.bank.tags;
    uint64_t room = (uint64_t)m->spec.partitions * t->sets * t->ways * t->line, end = addr + bytes;
    if (bytes > 2 * room) /* what comes first would not stay */
        addr = end - 2 * room;
    for (uint64_t line = addr & ~(uint64_t)(t->line - 1); line < end; line += t->line) {
        uint64_t local;
        uint32_t at = memsys_partition(&m->spec, line, &local);
        l2_put(m->l2[at], local);
    }
}

void memsys_set_eager(struct memsys *m, bool eager) {
    m->eager = eager;
}

struct l1 *memsys_l1(struct memsys *m, uint32_t sm) {
    return m->port[sm].data;
}

struct cache *memsys_cache(struct memsys *m, uint32_t sm, enum mem_client client) {
    return m->port[sm].cache[client];
}

const struct icnt *memsys_requests(const struct memsys *m) {
    return m->request;
}

const struct icnt *memsys_replies(const struct memsys *m) {
    return m->reply;
}

const struct l2 *memsys_l2(const struct memsys *m, uint32_t partition) {
    return m->l2[partition];
}

struct dram *memsys_dram(struct memsys *m, uint32_t partition) {
    return m->dram[partition];
}
