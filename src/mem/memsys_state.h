/* The state of the memory system, between the files that are it: memsys.c, and apart.c for ports that are
 * gone through by themselves. */
#ifndef REPRISE_MEM_MEMSYS_STATE_H
#define REPRISE_MEM_MEMSYS_STATE_H

#include "mem/memsys.h"

/* A clock domain. Ports that are apart read its clock: what changes has a line of the host's cache of its
 * own. next: the first tick in which one of its units may have work. */
struct domain {
    struct clock clock;
    _Alignas(64) uint64_t next, at; /* ... and the core cycle into which it falls */
    uint64_t cycle, arrival;        /* arrival: the first tick after core cycle cycle, once someone asked */
};

enum { CORE, ICNT, L2, DRAM, DOMAINS };

/* How far the requests of a port were sent, as the networks know. Requests of a cache are numbered as they
 * come to stand in its queue. */
struct sender {
    uint32_t turn;              /* the client that sends first */
    uint32_t clients;           /* those with requests to send, as bits */
    uint32_t made[MEM_CLIENTS]; /* the number of the first request of each that is not known */
    uint32_t sent[MEM_CLIENTS]; /* ... and of the first that has not left */
    uint32_t all_made, all_sent;
};

/* Ports may be at work at the same time, each with its own lines of the host's cache: what never changes,
 * what the networks look at after every round, what only the port needs, and what only the networks do. */
struct port {
    _Alignas(64) struct l1 *data;
    struct cache *cache[MEM_CLIENTS]; /* data: its reading half */
    struct port_times *times;
    /* When each of a cache's requests was made, by its number, as in the queue: it leaves in the next cycle
     * at the earliest. */
    uint64_t *made_at[MEM_CLIENTS];
    /* While ports are apart, of the port: */
    _Alignas(64) uint32_t all_made; /* requests since then, and before if they had not left */
    uint32_t all_sent;              /* ... and those of them that have left, as far as the port knows */
    uint32_t known_replies;         /* the number of the first in the network that it does not know of */
    int32_t room; /* requests that the network is known to have room for; below 0: that were sent to where
                   * there will be room */
    struct icnt_moves more;            /* ticks in which there will be room for one more */
    uint64_t sends_from;               /* the first cycle of which the port does not know what it sends */
    uint32_t turn;                     /* the client that sends first; also while ports are not apart */
    bool urgent;                       /* an access may wait for requests to leave */
    bool unsure;                       /* in cycle sends_from the network may have room, or not */
    _Alignas(64) uint64_t full_before; /* the network gets no more room than is known in cycles before this */
    uint64_t reply_at; /* the cycle in which it takes the next reply; NEVER: not known of any */
    uint32_t reply;    /* its number in the network */
    /* ... and of the networks: */
    _Alignas(64) struct sender sender; /* what they know of was made */
    uint64_t shown;                    /* they know what was made in cycles before this */
    uint64_t sends_at; /* the first cycle in which that may go on; NEVER: there is nothing to send */
};

struct memsys {
    struct mem_spec spec;
    struct port *port;
    struct port_times *times; /* of each port, side by side */
    struct icnt *request, *reply;
    struct l2 **l2;
    struct dram **dram;
    uint64_t *l2_at;    /* the tick in which each partition has work; NEVER: none is known */
    uint64_t *dram_at;  /* the tick up to which each channel must be gone through; NEVER: none is known */
    uint64_t *data_at;  /* the L2 tick in which each partition gets data from its channel */
    uint64_t *fresh_at; /* the tick from which each SM may have requests in the network that are not known */
    struct promises *promises; /* of L2 to each SM */
    uint64_t lookahead;        /* cycles that a packet takes through the network for replies */
    const struct bits *open;   /* while ports are apart: those that take part */
    bool apart, eager;
    bool foresees; /* while ports are apart: as memsys_part was asked */
    /* Ports that are apart read what is above while the networks change what is below. */
    struct domain domain[DOMAINS];
    uint64_t at; /* the first core cycle in which one of them has work */
    /* While ports are apart, when they were last informed: the first tick that L2 has not gone through, that
     * in which the first reply may be ready that it has not promised, and how many cycles it takes until that
     * reaches an SM. */
    uint64_t l2_tick, l2_unpromised, quiet_for;
    uint64_t reached;    /* while ports are apart: the first that everything but these has not gone through */
    struct bits sending; /* SMs with requests to send, but for those that wait for room in the network */
    struct bits *roomy;  /* those that have waited */
    struct bits crowded; /* partitions of L2 that had no room for what came out of the network */
    struct bits l2_busy, dram_busy;
    struct bits woken; /* SMs whose port has something for them earlier than they knew */
};

/* The first tick of a domain after core cycle now. */
static inline uint64_t domain_arrival(struct domain *d, uint64_t now) {
    if (d->cycle != now) {
        d->cycle = now;
        d->arrival = clock_tick(&d->clock, now + 1);
    }
    return d->arrival;
}

static inline void domain_due(struct memsys *m, struct domain *d, uint64_t tick) {
    if (tick >= d->next)
        return;
    d->next = tick;
    d->at = clock_cycle(&d->clock, tick);
    m->at = min_u64(m->at, d->at);
}

/* ---- memsys.c ---- */
/* A cache changed: what it refused for one of these reasons may be possible in the next cycle. */
void memsys_note_change(struct memsys *m, uint32_t sm, uint32_t client, uint64_t now, uint32_t reasons);
/* Replies that will reach SMs, from now on, make the memory system due. */
void memsys_due_replies(struct memsys *m, uint64_t now);
/* A reply reaches an SM. */
void memsys_take_reply(struct memsys *m, uint64_t now, uint32_t sm, const struct mem_packet *p);
/* The clients of a port that have requests to send, as bits; sets first to the numbers of their oldest. */
uint32_t memsys_senders(const struct port *p, uint32_t *first);
/* Which of these clients sends a request in cycle now, the one whose turn it is going first; MEM_CLIENTS:
 * none does. Sets *next to the first cycle in which one will, as far as is known. first: the number of the
 * oldest request of each. */
uint32_t memsys_next_sender(const struct port *p, uint32_t clients, uint32_t turn, const uint32_t *first,
                            uint64_t now, uint64_t *next);
/* A request of an SM enters the network, which has room for it. */
void memsys_enter(struct memsys *m, uint64_t now, uint32_t sm, const struct mem_packet *p);
/* Everything that is due in a core cycle. */
void memsys_tick_domains(struct memsys *m, uint64_t now);

/* ---- apart.c ---- */
/* Notes when a port has something to do, besides what its SM asks of it. */
void memsys_note_due(struct port *p);
/* A cache of a port that is apart made n requests in cycle now. */
void memsys_note_made(struct port *p, uint32_t n, uint64_t now);
/* Finds out which requests of a port that is apart have left in cycles before now, as far as that is known.
 */
void memsys_learn_sent(struct memsys *m, uint64_t now, uint32_t sm);
/* Sends requests of the ports, one a cycle, of those that the networks know. */
void memsys_send_made(struct memsys *m, uint64_t now);

#endif
