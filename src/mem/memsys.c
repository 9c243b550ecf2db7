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

/* A request that left its SM, and is to enter the network behind the cycle in which it did. */
struct posted {
    uint64_t at;
    uint32_t to;
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
    /* While ports are apart: */
    QUEUE(struct posted) posted; /* what the networks have not taken yet */
    bool waits;                  /* there are requests to send */
    uint64_t sends_from;         /* the first cycle in which it may send again */
    uint64_t due;                /* the first cycle in which it has something to do by itself */
    uint32_t room;               /* requests that the network is known to have room for */
    uint32_t taken;              /* of the replies that are out: those the port has taken */
    uint64_t reply_at;           /* the cycle in which it takes the next; NEVER: not known of any */
    uint64_t takes_from;         /* the first cycle in which it may take one */
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
    struct bits posting;     /* ... and those whose requests the networks have not taken */
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
        queue_init(&p->posted, a, s->request.input_queue);
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
    bits_init(&m->posting, a, s->sms);
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
    p->due = p->waits ? min_u64(p->sends_from + 1, p->reply_at) : p->reply_at;
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
        assert(!m->apart || m->port[sm].taken);
        if (m->apart)
            m->port[sm].taken--;
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

static void tick_core(struct memsys *m, uint64_t now) {
    if (m->domain[CORE].at > now && !m->eager)
        return;
    begin_tick(&m->domain[CORE]);
    receive(m, now);
    if (!m->apart)
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

/* The first cycle in which a network has something to take; NEVER: in none. */
static uint64_t first_posted(const struct memsys *m) {
    uint64_t at = NEVER;
    BITS_EACH (&m->posting, sm)
        at = min_u64(at, queue_head(&m->port[sm].posted)->at + 1);
    return at;
}

/* What left its SM before cycle now enters the network. */
static void take_posted(struct memsys *m, uint64_t now) {
    BITS_EACH (&m->posting, sm) {
        struct port *p = &m->port[sm];
        while (!queue_empty(&p->posted) && queue_head(&p->posted)->at < now) {
            const struct posted *q = queue_head(&p->posted);
            uint64_t tick = arrival(&m->domain[ICNT], q->at);
            icnt_push(m->request, tick, sm, q->to, &q->packet);
            due(m, &m->domain[ICNT], tick);
            queue_pop(&p->posted);
        }
        if (queue_empty(&p->posted))
            bits_remove(&m->posting, sm);
    }
}

uint64_t memsys_lookahead(const struct memsys *m) {
    return clock_scale_down(m->spec.reply.latency, m->spec.icnt_clock.den, m->spec.icnt_clock.num);
}

/* The cycle in which a port takes its next reply, as far as the network has it. */
static void expect_reply(struct memsys *m, uint32_t sm) {
    struct port *p = &m->port[sm];
    uint64_t at = icnt_out_at(m->reply, sm, p->taken);
    p->reply_at = at == NEVER ? NEVER : max_u64(p->takes_from, clock_cycle(&m->domain[ICNT].clock, at));
}

/* What a port may know of the networks now. */
static void inform_port(struct memsys *m, uint32_t sm) {
    struct port *p = &m->port[sm];
    p->room = icnt_room(m->request, sm) - p->posted.len;
    if (p->reply_at == NEVER)
        expect_reply(m, sm);
    note_due(p);
}

void memsys_part(struct memsys *m, uint64_t now, const struct bits *open) {
    m->apart = true;
    m->reached = now;
    m->open = open;
    BITS_EACH (open, sm) {
        struct port *p = &m->port[sm];
        p->sends_from = p->takes_from = now;
        p->waits = has_requests(p);
        p->taken = 0;
        p->reply_at = NEVER;
        inform_port(m, sm);
    }
}

void memsys_join(struct memsys *m, uint64_t now) {
    assert(m->reached == now);
    take_posted(m, now);
    m->apart = false;
    BITS_EACH (m->open, sm) {
        struct port *p = &m->port[sm];
        assert(!p->taken && queue_empty(&p->posted));
        if (!has_requests(p))
            continue;
        bits_add(&m->sending, sm);
        due(m, &m->domain[CORE], now);
        if (p->sends_from < now)
            send_request(m, now - 1, sm);
    }
}

uint64_t memsys_port_due(const struct memsys *m, uint32_t sm) {
    return m->port[sm].due;
}

bool memsys_port_send(struct memsys *m, uint64_t now, uint32_t sm, bool sure) {
    struct port *p = &m->port[sm];
    if (!p->waits || p->sends_from > now)
        return true;
    uint32_t client = next_client(p, now);
    if (client != MEM_CLIENTS && !p->room && !sure)
        return false;
    p->sends_from = now + 1;
    if (client != MEM_CLIENTS && p->room) {
        struct posted q = {.at = now, .packet = *cache_out(p->cache[client])};
        q.to = memsys_partition(&m->spec, q.packet.line, &q.packet.line);
        queue_push(&p->posted, q);
        p->room--;
        cache_sent(p->cache[client]);
        note_change(m, sm, client, now, 1u << MEM_STALL_QUEUE);
        p->turn = client + 1;
        p->waits = has_requests(p);
    }
    note_due(p);
    return true;
}

void memsys_port_receive(struct memsys *m, uint64_t now, uint32_t sm) {
    struct port *p = &m->port[sm];
    if (p->reply_at > now)
        return;
    take_reply(m, now, sm, icnt_item(m->reply, sm, p->taken++));
    p->takes_from = now + 1;
    expect_reply(m, sm);
    note_due(p);
}

void memsys_advance(struct memsys *m, uint64_t end) {
    BITS_EACH (m->open, sm)
        if (!queue_empty(&m->port[sm].posted))
            bits_add(&m->posting, sm);
    for (;;) {
        uint64_t now = max_u64(m->reached, min_u64(m->at, first_posted(m)));
        if (now >= end)
            break;
        take_posted(m, now);
        tick_domains(m, now);
        m->reached = now + 1;
    }
    m->reached = end;
    BITS_EACH (m->open, sm)
        inform_port(m, sm);
}

uint64_t memsys_advances_at(const struct memsys *m) {
    return max_u64(m->reached, min_u64(m->at, first_posted(m)));
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
    if (m->apart) { /* what waited before may still leave in this cycle */
        p->sends_from = max_u64(p->sends_from, p->waits ? now : now + 1);
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

bool memsys_refuse(struct memsys *m, uint64_t now, uint32_t sm, enum mem_client client,
                   const struct mem_access *x, enum mem_result r) {
    struct port *p = &m->port[sm];
    if (!cache_refuse(p->cache[client], now, x, r))
        return false;
    p->times->retry = NEVER;
    return true;
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
