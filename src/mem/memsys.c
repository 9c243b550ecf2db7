/* Ties the units together: who is due in a cycle, and what moves between them.
 *
 * Each clock domain knows the next tick in which one of its units has work, so a cycle without any costs a
 * comparison for each domain. Units that are waiting for nothing stand in no set. */
#include "mem/memsys_state.h"

#include <string.h>

#include "base/often.h"

/* ---- building ---------------------------------------------------------------------------------------- */

static void create_ports(struct memsys *m, struct arena *a) {
    const struct mem_spec *s = &m->spec;
    m->port = arena_array(a, struct port, s->sms);
    m->times = arena_array(a, struct port_times, s->sms);
    m->fresh_at = arena_array(a, uint64_t, s->sms);
    for (uint32_t i = 0; i < s->sms; i++) {
        struct port *p = &m->port[i];
        p->data = l1_create(a, &s->l1, i);
        p->cache[MEM_DATA] = &p->data->cache;
        p->cache[MEM_TEXTURE] = cache_create(a, &s->texture, i);
        p->cache[MEM_CONSTANT] = cache_create(a, &s->constant, i);
        p->cache[MEM_INST] = cache_create(a, &s->inst, i);
        p->times = &m->times[i];
        memset(p->times, 0xff, sizeof *p->times); /* NEVER */
        p->times->inst = p->cache[MEM_INST];
        for (uint32_t k = 0; k < MEM_CLIENTS; k++) {
            assert(!p->cache[k]->spec.write_back); /* else stores would be done without a reply, too */
            p->made_at[k] = arena_array(a, uint64_t, p->cache[k]->bank.out.mask + 1);
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
    m->spec.reply.gives = &m->domain[ICNT].clock;
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
    /* A port that is apart knows which of its requests leave before the network reads them. */
    struct cache_spec *caches[] = {&m->spec.l1.cache, &m->spec.texture, &m->spec.constant, &m->spec.inst};
    for (uint32_t i = 0; i < sizeof caches / sizeof *caches; i++)
        caches[i]->bank.keep = s->request.input_queue;
    create_ports(m, a);
    m->request = icnt_create(a, &m->spec.request);
    m->reply = icnt_create(a, &m->spec.reply);
    m->lookahead = clock_scale_down(s->reply.latency, s->icnt_clock.den, s->icnt_clock.num);
    m->promises = arena_array(a, struct promises, s->sms);
    m->l2 = arena_array(a, struct l2 *, s->partitions);
    m->dram = arena_array(a, struct dram *, s->partitions);
    m->l2_at = arena_array(a, uint64_t, s->partitions);
    m->dram_at = arena_array(a, uint64_t, s->partitions);
    m->data_at = arena_array(a, uint64_t, s->partitions);
    for (uint32_t i = 0; i < s->partitions; i++) {
        m->l2[i] = l2_create(a, &s->l2);
        l2_promise(m->l2[i], m->promises);
        m->dram[i] = dram_create(a, &s->dram);
        m->l2_at[i] = m->dram_at[i] = m->data_at[i] = NEVER;
    }
    bits_init(&m->sending, a, s->sms);
    bits_init(&m->woken, a, s->sms);
    m->roomy = icnt_roomy(m->request);
    bits_init(&m->crowded, a, s->partitions);
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
    *end = domain_arrival(d, now);
    if (!m->eager)
        first = max_u64(first, d->next);
    return first < *end ? first : NEVER;
}

/* ---- SMs --------------------------------------------------------------------------------------------- */

void memsys_due_replies(struct memsys *m, uint64_t now) {
    uint64_t at = icnt_ready_at(m->reply);
    if (at != NEVER && !m->apart)
        domain_due(m, &m->domain[CORE], max_u64(now, at));
}

/* A cache has completed accesses, or will have. */
static APART void note_done(struct port *p, uint32_t client) {
    struct port_times *t = p->times;
    t->done[client] = cache_next(p->cache[client]);
    t->first = min_u64(min_u64(t->done[0], t->done[1]), min_u64(t->done[2], t->done[3]));
}
_Static_assert(MEM_CLIENTS == 4, "all of them");

/* A cache changed: what it refused for one of these reasons may be possible in the next cycle. */
void memsys_note_change(struct memsys *m, uint32_t sm, uint32_t client, uint64_t now, uint32_t reasons) {
    struct port *p = &m->port[sm];
    if (!(reasons >> p->cache[client]->why & 1))
        return;
    p->times->retry = now + 1;
    if (!m->apart)
        bits_add(&m->woken, sm);
}

/* A reply reaches an SM. */
EVERY_TIME void memsys_take_reply(struct memsys *m, uint64_t now, uint32_t sm, const struct mem_packet *p) {
    if (p->client == MEM_DATA)
        l1_fill(m->port[sm].data, now, p);
    else
        cache_fill(m->port[sm].cache[p->client], now, p);
    note_done(&m->port[sm], p->client);
    if (!m->apart)
        bits_add(&m->woken, sm);
    memsys_note_change(m, sm, p->client, now,
                       p->kind == MEM_LOAD ? MEM_CURED_BY_FILL : 1u << MEM_STALL_STORES);
}

/* What is under way in a core cycle. */
struct step {
    struct memsys *m;
    uint64_t now;
};

static bool take_out_reply(void *ctx, uint32_t sm, const struct mem_packet *p) {
    const struct step *s = ctx;
    memsys_take_reply(s->m, s->now, sm, p);
    return true;
}

/* One reply a cycle reaches an SM. Ports that are apart take theirs by themselves. */
static void receive(struct memsys *m, uint64_t now) {
    icnt_deliver(m->reply, now, take_out_reply, &(struct step){m, now});
    memsys_due_replies(m, now + 1);
}

uint32_t memsys_senders(const struct port *p, uint32_t *first) {
    uint32_t clients = 0;
    for (uint32_t k = 0; k < MEM_CLIENTS; k++) {
        first[k] = p->cache[k]->bank.out.head;
        clients |= (uint32_t)!queue_empty(&p->cache[k]->bank.out) << k;
    }
    return clients;
}

EVERY_TIME uint32_t memsys_next_sender(const struct port *p, uint32_t clients, uint32_t turn,
                                       const uint32_t *first, uint64_t now, uint64_t *next) {
    *next = NEVER;
    for (uint32_t left = (clients | clients << MEM_CLIENTS) >> turn & ((1u << MEM_CLIENTS) - 1); left;
         left &= left - 1) {
        uint32_t k = (turn + (uint32_t)__builtin_ctz(left)) % MEM_CLIENTS;
        uint64_t at = p->made_at[k][first[k] & p->cache[k]->bank.out.mask];
        if (at < now)
            return k;
        *next = min_u64(*next, at + 1);
    }
    return MEM_CLIENTS;
}

EVERY_TIME void memsys_enter(struct memsys *m, uint64_t now, uint32_t sm, const struct mem_packet *p) {
    struct mem_packet q = *p;
    uint64_t tick = domain_arrival(&m->domain[ICNT], now);
    uint32_t to = memsys_partition(&m->spec, q.line, &q.line);
    icnt_push(m->request, tick, sm, to, &q);
    domain_due(m, &m->domain[ICNT], tick);
}

/* One request leaves an SM, if the network has room. */
static void send_request(struct memsys *m, uint64_t now, uint32_t sm) {
    struct port *p = &m->port[sm];
    uint64_t next;
    uint32_t first[MEM_CLIENTS], clients = memsys_senders(p, first),
                                 client = memsys_next_sender(p, clients, p->turn, first, now, &next);
    if (client == MEM_CLIENTS)
        return;
    if (!icnt_has_room(m->request, sm)) {
        icnt_await_room(m->request, sm);
        if (!m->eager)
            bits_remove(&m->sending, sm);
        return;
    }
    memsys_enter(m, now, sm, cache_out(p->cache[client]));
    cache_sent(p->cache[client], 1);
    memsys_note_change(m, sm, client, now, 1u << MEM_STALL_QUEUE);
    p->turn = (client + 1) % MEM_CLIENTS;
    if (clients == 1u << client && queue_empty(&p->cache[client]->bank.out))
        bits_remove(&m->sending, sm);
}

/* One a cycle. */
static void send_requests(struct memsys *m, uint64_t now) {
    BITS_EACH (&m->sending, sm)
        send_request(m, now, sm);
    if (m->sending.count)
        domain_due(m, &m->domain[CORE], now + 1);
}

static void tick_core(struct memsys *m, uint64_t now) {
    if (m->domain[CORE].at > now && !m->eager)
        return;
    begin_tick(&m->domain[CORE]);
    if (m->apart) {
        memsys_send_made(m, now);
    } else {
        receive(m, now);
        send_requests(m, now);
    }
}

/* ---- interconnect ------------------------------------------------------------------------------------ */

/* A partition of L2 has work in a tick. */
static void l2_due(struct memsys *m, uint32_t p, uint64_t tick) {
    m->l2_at[p] = min_u64(m->l2_at[p], tick);
    bits_add(&m->l2_busy, p);
    domain_due(m, &m->domain[L2], tick);
}

/* Requests that came out reach L2, one a tick for each partition. */
static bool take_request(void *ctx, uint32_t p, const struct mem_packet *q) {
    const struct step *s = ctx;
    struct memsys *m = s->m;
    if (!l2_has_room(m->l2[p])) {
        bits_add(&m->crowded, p);
        return false;
    }
    uint64_t at = domain_arrival(&m->domain[L2], s->now);
    l2_push(m->l2[p], at, q);
    l2_due(m, p, at);
    return true;
}

/* Requests that waited for room in the network may leave in this cycle. */
static APART void feed_senders(struct memsys *m, uint64_t now) {
    domain_due(m, &m->domain[CORE], now);
    BITS_EACH (m->roomy, sm) {
        bits_remove(m->roomy, sm);
        bits_add(&m->sending, sm);
        m->port[sm].sends_at = now;
    }
}

static void tick_icnt(struct memsys *m, uint64_t now) {
    struct domain *d = &m->domain[ICNT];
    uint64_t end, tick = first_tick(m, d, now, &end);
    for (; tick < end && tick != NEVER; tick = m->eager ? tick + 1 : d->next) {
        begin_tick(d);
        if (m->eager || icnt_next(m->reply) <= tick) {
            icnt_tick(m->reply, tick);
            memsys_due_replies(m, now);
        }
        if (m->eager || icnt_next(m->request) <= tick)
            icnt_tick(m->request, tick);
        if (m->roomy->count)
            feed_senders(m, now);
        for (uint32_t p = 0; m->eager && p < m->spec.partitions; p++)
            icnt_offer(m->request, p);
        icnt_deliver(m->request, tick, take_request, &(struct step){m, now});
        uint64_t next = min_u64(icnt_next(m->reply), icnt_next(m->request));
        domain_due(m, d, max_u64(tick + 1, min_u64(next, icnt_ready_at(m->request))));
    }
}

/* ---- L2 and DRAM ------------------------------------------------------------------------------------- */

/* Between requests a channel is left to itself: what it does is found out when one comes, when L2 waits for
 * room in its queues, and in time for the data of a read. */
static void run_dram(struct memsys *m, uint64_t now, uint32_t p) {
    dram_run(m->dram[p], domain_arrival(&m->domain[DRAM], now) - 1);
}

/* A channel must be gone through up to a tick. */
static void dram_due(struct memsys *m, uint32_t p, uint64_t tick) {
    if (tick >= m->dram_at[p])
        return;
    m->dram_at[p] = tick;
    bits_add(&m->dram_busy, p);
    domain_due(m, &m->domain[DRAM], tick);
}

/* A channel was gone through. Notes when its partition gets the next data: in the core cycle after it came.
 * If that is not known yet, the channel is looked at again when it may be; where there is nothing to read, as
 * soon as it writes, so that all see when it is idle. */
static EVERY_TIME void expect_data(struct memsys *m, uint32_t p) {
    uint64_t at = dram_pop_at(m->dram[p]);
    m->data_at[p] = m->dram_at[p] = NEVER;
    if (at != NEVER) {
        m->data_at[p] = clock_tick(&m->domain[L2].clock, clock_cycle(&m->domain[DRAM].clock, at) + 1);
        l2_due(m, p, m->data_at[p]);
        return;
    }
    at = dram_pop_from(m->dram[p]);
    dram_due(m, p, at == NEVER ? dram_next(m->dram[p]) : at);
}

static void take_data(struct memsys *m, uint64_t now, uint64_t tick, uint32_t p) {
    while (m->data_at[p] <= tick) {
        uint32_t id;
        uint8_t sectors;
        dram_pop(m->dram[p], &id, &sectors);
        l2_fill(m->l2[p], tick, id, sectors);
        if (dram_pop_at(m->dram[p]) == NEVER)
            run_dram(m, now, p);
        expect_data(m, p);
    }
}

/* A request of L2 to its channel, if there is room. */
static void ask_dram(struct memsys *m, uint64_t now, uint32_t p, const struct mem_packet *q) {
    struct dram *c = m->dram[p];
    bool write = q->kind == MEM_STORE;
    run_dram(m, now, p);
    if (!dram_has_room(c, write))
        return;
    uint64_t at = domain_arrival(&m->domain[DRAM], now);
    dram_push(c, at, q->line, q->sectors, write, q->id);
    l2_sent(m->l2[p]);
    if (m->data_at[p] == NEVER)
        dram_due(m, p, write ? at : dram_soonest(c, at));
}

/* What leaves a partition in one tick: a reply, and a request to its DRAM channel. */
static void drain_l2(struct memsys *m, uint64_t now, uint64_t tick, uint32_t p) {
    struct l2 *l = m->l2[p];
    const struct mem_packet *q = l2_reply(l, tick);
    if (q && icnt_has_room(m->reply, p)) {
        uint64_t at = domain_arrival(&m->domain[ICNT], now);
        icnt_push(m->reply, at, p, q->port, q);
        domain_due(m, &m->domain[ICNT], at);
        l2_replied(l, tick);
    }
    q = l2_out(l);
    if (q)
        ask_dram(m, now, p, q);
}

/* A request that came out of the network and had no room in L2 may have some. */
static APART void let_in(struct memsys *m, uint64_t now, uint32_t p) {
    if (!l2_has_room(m->l2[p]))
        return;
    bits_remove(&m->crowded, p);
    icnt_offer(m->request, p);
    domain_due(m, &m->domain[ICNT], clock_tick(&m->domain[ICNT].clock, now));
}

static void tick_l2(struct memsys *m, uint64_t now) {
    struct domain *d = &m->domain[L2];
    uint64_t end, tick = first_tick(m, d, now, &end);
    for (; tick < end && tick != NEVER; tick = m->eager ? tick + 1 : d->next) {
        begin_tick(d);
        uint64_t first = NEVER, until = m->eager ? NEVER : tick;
        BITS_EACH (&m->l2_busy, p) {
            if (m->l2_at[p] <= until) {
                take_data(m, now, tick, p);
                l2_tick(m->l2[p], tick);
                if (bits_has(&m->crowded, p))
                    let_in(m, now, p);
                drain_l2(m, now, tick, p);
                m->l2_at[p] = min_u64(l2_next(m->l2[p]), m->data_at[p]);
                if (m->l2_at[p] == NEVER) /* data or a request brings it back */
                    bits_remove(&m->l2_busy, p);
            }
            first = min_u64(first, m->l2_at[p]);
        }
        if (first != NEVER)
            domain_due(m, d, max_u64(tick + 1, first));
    }
}

static void tick_dram(struct memsys *m, uint64_t now) {
    struct domain *d = &m->domain[DRAM];
    if (d->at > now && !m->eager)
        return;
    uint64_t end = domain_arrival(d, now), first = NEVER;
    begin_tick(d);
    BITS_EACH (&m->dram_busy, p) {
        if (m->eager || m->dram_at[p] < end) {
            run_dram(m, now, p);
            if (m->data_at[p] == NEVER)
                expect_data(m, p);
        }
        if (m->dram_at[p] == NEVER)
            bits_remove(&m->dram_busy, p);
        first = min_u64(first, m->dram_at[p]);
    }
    if (first != NEVER)
        domain_due(m, d, first);
}

__attribute__((noinline)) void memsys_tick_domains(struct memsys *m, uint64_t now) {
    tick_dram(m, now);
    tick_l2(m, now);
    tick_icnt(m, now);
    tick_core(m, now);
    m->at = NEVER;
    for (uint32_t i = 0; i < DOMAINS; i++)
        m->at = min_u64(m->at, m->domain[i].at);
}

/* ---- the interface ----------------------------------------------------------------------------------- */

void memsys_tick(struct memsys *m, uint64_t now) {
    if (m->at <= now || m->eager)
        memsys_tick_domains(m, now);
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
    const struct bank *b = &p->cache[client]->bank;
    for (uint32_t i = before; i < b->out.len; i++)
        p->made_at[client][(b->out.head + i) & b->out.mask] = now;
    if (m->apart) {
        memsys_note_made(p, b->out.len - before, now);
        return;
    }
    bits_add(&m->sending, sm);
    domain_due(m, &m->domain[CORE], now + 1);
}

/* Before a cache of a port that is apart may be short of room for more requests: sees which have left. */
static void see_sent(struct memsys *m, uint64_t now, uint32_t sm, const struct cache *c) {
    if (queue_room(&c->bank.out) < BANK_MOST_REQUESTS && m->apart && m->port[sm].sends_from < now)
        memsys_learn_sent(m, now, sm);
}

/* An access was refused. If it waits for requests to leave, the port looks when they do. */
static void note_refused(struct memsys *m, uint32_t sm, enum mem_result r) {
    if (r != MEM_STALL_QUEUE || !m->apart)
        return;
    m->port[sm].urgent = true;
    memsys_note_due(&m->port[sm]);
}

EVERY_TIME enum mem_result memsys_access(struct memsys *m, uint64_t now, uint32_t sm, enum mem_client client,
                                         const struct mem_access *x, uint32_t token) {
    struct port *p = &m->port[sm];
    struct cache *c = p->cache[client];
    see_sent(m, now, sm, c);
    uint32_t before = c->bank.out.len;
    p->times->retry = NEVER;
    enum mem_result r =
        client == MEM_DATA ? l1_access(p->data, now, x, token) : cache_access(c, now, x, token);
    if (!mem_accepted(r)) {
        note_refused(m, sm, r);
        return r;
    }
    if (r == MEM_HIT && c->hits.len == 1) /* nothing else is done without a reply */
        note_done(p, client);
    if (c->bank.out.len != before)
        note_requests(m, now, sm, client, before);
    return r;
}

bool memsys_refuse(struct memsys *m, uint64_t now, uint32_t sm, enum mem_client client,
                   const struct mem_access *x, enum mem_result r) {
    struct port *p = &m->port[sm];
    if (!cache_refuse(p->cache[client], now, x, r))
        return false;
    note_refused(m, sm, r);
    p->times->retry = NEVER;
    return true;
}

bool memsys_is_busy(struct memsys *m, uint64_t now, uint32_t sm) {
    const struct cache *c = &m->port[sm].data->cache;
    see_sent(m, now, sm, c);
    return cache_is_busy(c, now);
}

enum mem_result memsys_would_load(struct memsys *m, uint32_t sm, const struct mem_access *x) {
    return l1_would_load(m->port[sm].data, x);
}

void memsys_refused(struct memsys *m, uint64_t now, uint32_t sm, const struct mem_access *x,
                    enum mem_result r, uint32_t whys) {
    struct port *p = &m->port[sm];
    cache_refused(p->cache[MEM_DATA], now, x, r);
    if (whys >> MEM_STALL_QUEUE & 1)
        note_refused(m, sm, MEM_STALL_QUEUE);
    p->times->retry = NEVER;
}

enum mem_result memsys_fetch_line(struct memsys *m, uint64_t now, uint32_t sm, uint64_t line,
                                  uint32_t token) {
    struct cache *c = m->times[sm].inst;
    if (cache_finds(c, now, line))
        return MEM_HIT;
    see_sent(m, now, sm, c);
    uint32_t before = c->bank.out.len;
    struct mem_access x = {.line = line,
                           .lanes = 1,
                           .bytes = (uint16_t)c->spec.bank.tags.line,
                           .sectors = c->bank.all,
                           .kind = MEM_LOAD};
    enum mem_result r = cache_look(c, now, &x, token);
    if (!mem_accepted(r))
        note_refused(m, sm, r);
    else if (c->bank.out.len != before)
        note_requests(m, now, sm, MEM_INST, before);
    return r;
}

struct port_times *memsys_port_times(const struct memsys *m, uint32_t sm) {
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

void memsys_stop_waiting(struct memsys *m, uint64_t now) {
    for (uint32_t i = 0; i < m->spec.sms; i++)
        for (uint32_t k = 0; k < MEM_CLIENTS; k++)
            cache_stop_waiting(m->port[i].cache[k], now);
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
