/* Ports of SMs that are gone through by themselves, and what passes between them and the networks.
 *
 * Both sides send the requests of a port, from the same queues and by the same rule: the networks in their
 * own time, which decides; and the port, as far as it knows that there is room, where an access may have to
 * wait until requests have left. In all other cases the port falls behind, and takes over what the networks
 * did.
 *
 * Replies stay where they lie in the network, which knows when each is given away. A port reads those that it
 * was told of; the network, which is behind, forgets them when it comes to the cycle in which they were read.
 */
#include "mem/memsys_state.h"

#include "base/often.h"

/* Whether a port has requests that have not left, as far as it knows. */
static bool has_unsent(const struct port *p) {
    return p->all_sent != p->all_made;
}

/* Whether a port must see when its requests leave: not only before more are made, but as soon as they do,
 * since somebody waits for that, or there is no room for all of them. */
static bool must_see(const struct port *p) {
    uint32_t unsent = p->all_made - p->all_sent;
    return unsent && (p->urgent || p->room < (int32_t)unsent);
}

/* When a port that is apart has something to do. */
void memsys_note_due(struct port *p) {
    bool sees = must_see(p) && !p->unsure;
    p->times->due = sees ? min_u64(p->sends_from, p->reply_at) : p->reply_at;
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
    uint32_t client = memsys_next_sender(p, s->clients, s->turn, s->sent, now, &next);
    if (client == MEM_CLIENTS)
        return next;
    if (!icnt_has_room(m->request, sm)) {
        icnt_await_room(m->request, sm);
        return m->eager ? now + 1 : NEVER;
    }
    memsys_enter(m, now, sm, cache_request(p->cache[client], s->sent[client]++));
    if (s->sent[client] == s->made[client])
        s->clients &= ~(1u << client);
    s->turn = (client + 1) % MEM_CLIENTS;
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

EVERY_TIME uint64_t memsys_known(const struct memsys *m, uint32_t sm) {
    uint64_t first = promise_next(&m->promises[sm], m->l2_tick, m->port[sm].known_replies);
    if (first >= m->l2_unpromised)
        return m->quiet_for;
    return m->lookahead + max_u64(m->reached, clock_cycle(&m->domain[L2].clock, first)) - m->reached;
}

/* Where L2 stands when all that is apart is informed. */
static void note_l2(struct memsys *m) {
    const struct clock *c = &m->domain[L2].clock;
    m->l2_tick = clock_tick(c, m->reached);
    m->l2_unpromised = m->l2_tick + m->spec.l2.latency;
    m->quiet_for = m->lookahead + max_u64(m->reached, clock_cycle(c, m->l2_unpromised)) - m->reached;
}

uint64_t memsys_packets(const struct memsys *m) {
    return icnt_counters(m->request)->packets + icnt_counters(m->reply)->packets;
}

void memsys_note_made(struct port *p, uint32_t n, uint64_t now) {
    if (!has_unsent(p)) /* what waited before may still leave in this cycle */
        p->sends_from = max_u64(p->sends_from, now + 1);
    p->all_made += n;
    if (must_see(p))
        memsys_note_due(p);
}

/* The oldest n requests of a cache have left, in cycle now, as the port learns. */
static void learn_left(struct memsys *m, uint64_t now, uint32_t sm, uint32_t client, uint32_t n) {
    struct port *p = &m->port[sm];
    cache_sent(p->cache[client], n);
    memsys_note_change(m, sm, client, now, 1u << MEM_STALL_QUEUE);
    p->all_sent += n;
}

/* The cycle in which a port takes its next reply, as far as it knows. */
static void expect_reply(const struct memsys *m, uint32_t sm) {
    struct port *p = &m->port[sm];
    p->reply_at = p->reply == p->known_replies ? NEVER : icnt_packet(m->reply, sm, p->reply)->at;
}

EVERY_TIME void memsys_expect(const struct memsys *m, uint32_t sm) {
    __builtin_prefetch(&m->port[sm].all_made);
    __builtin_prefetch(&m->times[sm]);
}

EVERY_TIME void memsys_show(struct memsys *m, uint32_t sm, uint64_t at) {
    struct port *p = &m->port[sm];
    struct sender *s = &p->sender;
    p->shown = at;
    if (s->all_made == p->all_made)
        return;
    for (uint32_t k = 0; k < MEM_CLIENTS; k++) {
        uint32_t made = cache_requests(p->cache[k]);
        if (s->made[k] == made)
            continue;
        p->sends_at = min_u64(p->sends_at, p->made_at[k][s->made[k] & p->cache[k]->bank.out.mask] + 1);
        s->made[k] = made;
        s->clients |= 1u << k;
    }
    s->all_made = p->all_made;
    bits_add(&m->sending, sm);
    domain_due(m, &m->domain[CORE], max_u64(m->reached, p->sends_at));
}

/* Requests left that the port did not know of. They did before cycle reached; an access that waited for this
 * has not let the port come farther. */
static APART void learn_sends(struct memsys *m, uint32_t sm) {
    struct port *p = &m->port[sm];
    for (uint32_t k = 0; k < MEM_CLIENTS && p->all_sent != p->sender.all_sent; k++) {
        uint32_t n = p->sender.sent[k] - p->cache[k]->bank.out.head;
        if (n)
            learn_left(m, m->reached - 1, sm, k, n);
    }
    p->turn = p->sender.turn;
    p->sends_from = m->reached;
    p->urgent &= has_unsent(p);
}

/* What a port may know of the networks now. sure: of room in cycles before this. */
static EVERY_TIME void inform_port(struct memsys *m, uint32_t sm, uint64_t sure) {
    struct port *p = &m->port[sm];
    uint64_t retry = p->times->retry;
    if (has_unsent(p) && p->sends_from < m->reached)
        learn_sends(m, sm);
    p->unsure = false;
    uint32_t room = icnt_room(m->request, sm);
    p->room = (int32_t)(room - (p->all_sent - p->sender.all_sent));
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
    return has_unsent(p) || p->more.n || p->all_sent != p->sender.all_sent ||
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
    note_l2(m);
    BITS_EACH (open, sm) {
        struct port *p = &m->port[sm];
        p->shown = now;
        p->sender = (struct sender){.turn = p->turn};
        p->all_made = p->all_sent = 0;
        for (uint32_t k = 0; k < MEM_CLIENTS; k++) {
            p->sender.made[k] = p->sender.sent[k] = p->cache[k]->bank.out.head;
            p->all_made += p->cache[k]->bank.out.len;
        }
        p->sends_from = now;
        p->urgent = has_unsent(p);
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
        if (!has_unsent(p))
            continue;
        bits_add(&m->sending, sm);
        domain_due(m, &m->domain[CORE], now);
    }
    memsys_due_replies(m, now);
}

void memsys_learn_sent(struct memsys *m, uint64_t now, uint32_t sm) {
    struct port *p = &m->port[sm];
    bool sure = !p->unsure;
    while (has_unsent(p) && !p->unsure && p->sends_from < now) {
        uint64_t next, at = p->sends_from, more = NEVER;
        while (p->more.n && (more = clock_cycle(&m->domain[ICNT].clock, *p->more.at)) <= at) {
            p->room++;
            p->more.at++;
            p->more.n--;
        }
        uint32_t first[MEM_CLIENTS], clients = memsys_senders(p, first);
        uint32_t client = memsys_next_sender(p, clients, p->turn, first, at, &next);
        if (client == MEM_CLIENTS) {
            p->sends_from = next;
        } else if (p->room > 0) {
            learn_left(m, at, sm, client, 1);
            p->turn = (client + 1) % MEM_CLIENTS;
            p->room--;
            p->sends_from = at + 1;
        } else if (p->more.n) {
            p->sends_from = more;
        } else if (at < p->full_before) {
            p->sends_from = p->full_before;
        } else {
            p->unsure = true;
        }
    }
    p->urgent &= has_unsent(p);
    memsys_note_due(p);
    if (sure && p->unsure) /* the next cycle is looked at for what it needs to know */
        p->times->due = min_u64(p->times->due, now);
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

EVERY_TIME void memsys_port_end(struct memsys *m, uint64_t now, uint32_t sm) {
    struct port *p = &m->port[sm];
    if (p->reply_at <= now) {
        memsys_take_reply(m, now, sm, &icnt_packet(m->reply, sm, p->reply++)->packet);
        expect_reply(m, sm);
    }
    if (must_see(p))
        memsys_learn_sent(m, now + 1, sm);
    else
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
    note_l2(m);
    BITS_EACH (m->open, sm)
        if (has_news(m, sm))
            inform_port(m, sm, sure);
}

uint64_t memsys_advances_at(const struct memsys *m) {
    return max_u64(m->reached, m->at);
}
