/* Ports of SMs that are gone through by themselves, and what passes between them and the networks.
 *
 * Both sides send the requests of a port, from the same log and by the same rule: the port, as far as it
 * knows that there is room, to learn which of its caches' requests have left; and the networks, in their own
 * time, which decides. Where the port has fallen behind it takes over what the networks did.
 *
 * Replies stay where they lie in the network, which knows when each is given away. A port reads those that it
 * was told of; the network, which is behind, forgets them when it comes to the cycle in which they were read.
 */
#include "mem/memsys_state.h"

/* When a port that is apart has something to do. That requests leave need not be seen when they do, but only
 * before the next is made, if nobody waits for it and there is room for all of them. */
void memsys_note_due(struct port *p) {
    bool waits = p->waits && !p->unsure,
         must_see = p->urgent || p->room < (int32_t)(p->known.all_made - p->known.all_sent);
    p->times->due = waits && must_see ? min_u64(p->sends_from + 1, p->reply_at) : p->reply_at;
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

/* One request leaves an SM that is apart, if the network has room. Returns when the next may. */
static uint64_t send_made(struct memsys *m, uint64_t now, uint32_t sm) {
    struct port *p = &m->port[sm];
    struct sender *s = &p->sender;
    uint64_t next;
    uint32_t client = next_made(p, s, now, &next);
    if (client == MEM_CLIENTS)
        return next;
    if (!icnt_has_room(m->request, sm))
        return room_from(m, sm);
    uint64_t tick = domain_arrival(&m->domain[ICNT], now);
    struct mem_packet q = p->log[client].ring[s->sent[client]++ & p->log[client].mask].packet;
    uint32_t to = memsys_partition(&m->spec, q.line, &q.line);
    icnt_push(m->request, tick, sm, to, &q);
    domain_due(m, &m->domain[ICNT], tick);
    s->turn = client + 1;
    return ++s->all_sent == s->all_made ? NEVER : now + 1;
}

/* One a cycle, of those that the networks know. */
void memsys_send_made(struct memsys *m, uint64_t now) {
    uint64_t first = NEVER;
    BITS_EACH (&m->sending, sm) {
        struct port *p = &m->port[sm];
        if (p->sends_at <= now)
            p->sends_at = send_made(m, now, sm);
        if (p->sends_at == NEVER)
            bits_remove(&m->sending, sm);
        first = min_u64(first, p->sends_at);
    }
    if (first != NEVER)
        domain_due(m, &m->domain[CORE], max_u64(now + 1, first));
}

uint64_t memsys_lookahead(const struct memsys *m) {
    return m->lookahead;
}

uint64_t memsys_known(const struct memsys *m) {
    const struct clock *c = &m->domain[L2].clock;
    uint64_t first = clock_tick(c, m->reached) + m->spec.l2.latency; /* of what L2 has not served yet */
    if (icnt_waits(m->reply))
        return m->lookahead;
    for (uint32_t i = 0; i < m->spec.partitions; i++)
        first = min_u64(first, l2_reply_at(m->l2[i]));
    return m->lookahead + max_u64(m->reached, clock_cycle(c, first)) - m->reached;
}

/* Notes the last requests of a cache, which were made in cycle now. */
static void log_made(struct port *p, uint32_t client, uint32_t n, uint64_t now) {
    const struct bank *b = &p->cache[client]->bank;
    const struct made_log *l = &p->log[client];
    p->known.all_made += n;
    for (uint32_t i = b->out.len - n; i < b->out.len; i++)
        l->ring[p->known.made[client]++ & l->mask] = (struct made){now, *queue_item(&b->out, i)};
}

void memsys_note_made(struct port *p, uint32_t client, uint32_t n, uint64_t now) {
    log_made(p, client, n, now);
    if (!p->waits) /* what waited before may still leave in this cycle */
        p->sends_from = max_u64(p->sends_from, now + 1);
    p->waits = true;
    memsys_note_due(p);
}

/* Whether a port has requests that have not left, as far as it knows. */
static bool has_unsent(const struct port *p) {
    return p->known.all_sent != p->known.all_made;
}

/* A request has left, in cycle now, as the port learns. */
static void learn_sent(struct memsys *m, uint64_t now, uint32_t sm, uint32_t client) {
    struct port *p = &m->port[sm];
    cache_sent(p->cache[client]);
    memsys_note_change(m, sm, client, now, 1u << MEM_STALL_QUEUE);
    p->known.sent[client]++;
    p->known.all_sent++;
}

/* The cycle in which a port takes its next reply, as far as it knows. */
static void expect_reply(const struct memsys *m, uint32_t sm) {
    struct port *p = &m->port[sm];
    p->reply_at = p->reply == p->known_replies ? NEVER : icnt_packet(m->reply, sm, p->reply)->at;
}

void memsys_show(struct memsys *m, uint32_t sm, uint64_t at) {
    struct port *p = &m->port[sm];
    p->shown = at;
    if (p->waits && !p->urgent && p->sends_from < at)
        memsys_port_send(m, at, sm);
    if (p->sender.all_made == p->known.all_made)
        return;
    for (uint32_t k = 0; k < MEM_CLIENTS; k++)
        if (p->sender.made[k] != p->known.made[k]) {
            const struct made *first = &p->log[k].ring[p->sender.made[k] & p->log[k].mask];
            p->sends_at = min_u64(p->sends_at, first->at + 1);
            p->sender.made[k] = p->known.made[k];
        }
    p->sender.all_made = p->known.all_made;
    bits_add(&m->sending, sm);
    domain_due(m, &m->domain[CORE], max_u64(m->reached, p->sends_at));
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
    p->waits = has_unsent(p);
    p->urgent &= p->waits;
}

/* What a port may know of the networks now. sure: of room in cycles before this. */
static void inform_port(struct memsys *m, uint32_t sm, uint64_t sure) {
    struct port *p = &m->port[sm];
    uint64_t retry = p->times->retry;
    if (p->waits && p->sends_from < m->reached)
        learn_sends(m, sm);
    p->unsure = false;
    uint32_t room = icnt_room(m->request, sm);
    p->room = (int32_t)(room - (p->known.all_sent - p->sender.all_sent));
    p->more = sure > m->reached ? icnt_foreseen(m->request, sm) : (struct icnt_moves){0};
    p->full_before = room || p->more.n ? sure : max_u64(sure, room_from(m, sm));
    icnt_gave(m->reply, sm, m->reached);
    p->known_replies = icnt_came(m->reply, sm);
    expect_reply(m, sm);
    memsys_note_due(p);
    if (retry != p->times->retry)
        p->times->due = m->reached;
}

/* Whether there may be something to tell a port: not if it has nothing to send, all its requests have moved
 * on in the network, and no reply came. */
static bool has_news(const struct memsys *m, uint32_t sm) {
    const struct port *p = &m->port[sm];
    return p->waits || p->more.n || p->known.all_sent != p->sender.all_sent ||
           p->room != (int32_t)icnt_room(m->request, sm) || p->known_replies != icnt_came(m->reply, sm);
}

/* Whether a port has more requests to send than there is room for. */
static bool lacks_room(const struct memsys *m, uint32_t sm) {
    const struct sender *s = &m->port[sm].sender;
    return s->all_made - s->all_sent > icnt_room(m->request, sm);
}

/* Looks ahead for ports that have no room, where others wait for them. Returns the first cycle in which it is
 * not sure who gets some. */
static uint64_t foresee_room(struct memsys *m) {
    const struct clock *c = &m->domain[ICNT].clock;
    bool lack = false;
    if (!m->foresees)
        return m->reached;
    for (uint32_t sm = 0; sm < m->spec.sms; sm++)
        m->fresh_at[sm] = NEVER;
    BITS_EACH (m->open, sm) {
        const struct port *p = &m->port[sm];
        bool sends = p->sender.all_sent != p->sender.all_made;
        m->fresh_at[sm] = clock_tick(c, (sends ? max_u64(m->reached, p->sends_at) : p->shown + 1) + 1);
        lack |= lacks_room(m, sm);
    }
    if (!lack)
        return m->reached;
    uint64_t now = clock_tick(c, m->reached);
    return max_u64(m->reached,
                   clock_cycle(c, icnt_foresee(m->request, now, now + m->spec.request.latency, m->fresh_at)));
}

void memsys_part(struct memsys *m, uint64_t now, const struct bits *open, bool foresee) {
    m->apart = true;
    m->foresees = foresee;
    m->reached = now;
    m->open = open;
    BITS_EACH (open, sm) {
        struct port *p = &m->port[sm];
        p->shown = now;
        p->sender = p->known = (struct sender){.turn = p->turn};
        for (uint32_t k = 0; k < MEM_CLIENTS; k++)
            log_made(p, k, p->cache[k]->bank.out.len, 0);
        p->sends_from = now;
        p->waits = p->urgent = memsys_has_requests(p);
        p->sends_at = NEVER;
        p->reply = icnt_left(m->reply, sm);
        inform_port(m, sm, now);
    }
}

void memsys_join(struct memsys *m, uint64_t now) {
    assert(m->reached == now);
    m->apart = false;
    BITS_EACH (m->open, sm) {
        struct port *p = &m->port[sm];
        icnt_gave(m->reply, sm, now);
        assert(p->reply == icnt_left(m->reply, sm));
        p->turn = p->sender.turn;
        bits_remove(&m->sending, sm);
        if (!memsys_has_requests(p))
            continue;
        bits_add(&m->sending, sm);
        domain_due(m, &m->domain[CORE], now);
    }
    memsys_due_replies(m, now);
}

void memsys_port_send(struct memsys *m, uint64_t now, uint32_t sm) {
    struct port *p = &m->port[sm];
    while (p->waits && !p->unsure && p->sends_from < now) {
        uint64_t next, at = p->sends_from, more = NEVER;
        while (p->more.n && (more = clock_cycle(&m->domain[ICNT].clock, *p->more.at)) <= at) {
            p->room++;
            p->more.at++;
            p->more.n--;
        }
        uint32_t client = next_made(p, &p->known, at, &next);
        if (client == MEM_CLIENTS) {
            p->sends_from = next;
        } else if (p->room > 0) {
            learn_sent(m, at, sm, client);
            p->known.turn = client + 1;
            p->room--;
            p->sends_from = at + 1;
            p->waits = has_unsent(p);
        } else if (p->more.n) {
            p->sends_from = more;
        } else if (at < p->full_before) {
            p->sends_from = p->full_before;
        } else {
            p->unsure = true;
        }
    }
    p->urgent &= p->waits;
    memsys_note_due(p);
}

bool memsys_port_is_sure(const struct memsys *m, uint32_t sm) {
    return !m->port[sm].unsure;
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
    memsys_take_reply(m, now, sm, &icnt_packet(m->reply, sm, p->reply++)->packet);
    expect_reply(m, sm);
    memsys_note_due(p);
}

void memsys_advance(struct memsys *m, uint64_t end) {
    while (max_u64(m->reached, m->at) < end) {
        uint64_t now = max_u64(m->reached, m->at);
        memsys_tick_domains(m, now);
        m->reached = now + 1;
    }
    m->reached = end;
}

void memsys_inform(struct memsys *m) {
    uint64_t sure = foresee_room(m);
    BITS_EACH (m->open, sm)
        if (has_news(m, sm))
            inform_port(m, sm, sure);
}

uint64_t memsys_advances_at(const struct memsys *m) {
    return max_u64(m->reached, m->at);
}
