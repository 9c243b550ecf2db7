/* An L2 partition: requests are served in order, up to one for each slice in a tick; replies leave in the
 * order in which they are ready. A request that cannot be served blocks those behind it until something
 * changed. */
#include "mem/l2.h"

#include <stddef.h>

#include "base/often.h"

enum { SPARE_REPLIES = 16 }; /* replies that may wait for the network before requests stall */

struct timed {
    struct mem_packet packet;
    uint64_t ready;
};

/* Replies by where they come from; within each they are in the order of ready. */
enum source { FROM_DRAM, FROM_LINES, FROM_ATOMICS, SOURCES };

typedef QUEUE(struct timed) timed_queue;

struct l2 {
    struct l2_spec spec;
    struct bank bank;
    timed_queue in, replies[SOURCES];
    uint64_t reply_at;      /* when the first reply is ready; NEVER: there is none */
    enum source reply_from; /* where it comes from */
    uint64_t atomics_free_at;
    size_t blocked; /* counter of the reason why the oldest request cannot be served; 0: none known */
    uint32_t blocked_epoch, epoch;
    uint64_t blocked_at;
    struct promises *promises; /* to each port; NULL: nobody asks */
    struct l2_counters n;
};

#define REASON(field) (offsetof(struct l2_counters, field))

struct l2 *l2_create(struct arena *a, const struct l2_spec *s) {
    assert(s->latency && s->slices && s->queue && s->atomic_lanes);
    struct l2 *l = arena_new(a, struct l2);
    uint32_t waiters = s->bank.mshrs * s->bank.merges, room = s->latency * s->slices + SPARE_REPLIES;
    struct mem_packet origin = {0};
    l->spec = *s;
    l->reply_at = NEVER;
    bank_init(&l->bank, a, &s->bank, &origin);
    queue_init(&l->in, a, s->queue);
    queue_init(&l->replies[FROM_DRAM], a, waiters + SPARE_REPLIES);
    queue_init(&l->replies[FROM_LINES], a, room);
    queue_init(&l->replies[FROM_ATOMICS], a, room + waiters);
    return l;
}

void l2_promise(struct l2 *l, struct promises *promises) {
    l->promises = promises;
}

bool l2_has_room(const struct l2 *l) {
    return !queue_full(&l->in);
}

void l2_push(struct l2 *l, uint64_t now, const struct mem_packet *p) {
    struct timed *to = queue_add(&l->in);
    to->packet = *p;
    to->ready = now;
}

/* ---- replies ----------------------------------------------------------------------------------------- */

/* The first reply of a source may be the first of all; of those ready at once the lowest source goes. */
static void offer_reply(struct l2 *l, enum source from) {
    uint64_t ready = queue_head(&l->replies[from])->ready;
    if (ready < l->reply_at || (ready == l->reply_at && from < l->reply_from)) {
        l->reply_at = ready;
        l->reply_from = from;
    }
}

/* What is decided now is ready after the latency, or later: an atomic may have to wait for others. */
static EVERY_TIME void reply(struct l2 *l, enum source from, const struct mem_packet *p, uint64_t now,
                             uint64_t later) {
    uint64_t soonest = now + l->spec.latency, ready = soonest + later;
    if (p->flags & MEM_SILENT)
        return;
    if (l->promises)
        promise_reply(&l->promises[p->port], soonest);
    struct timed *r = queue_add(&l->replies[from]);
    r->packet = *p;
    r->ready = ready;
    if (p->kind == MEM_LOAD)
        r->packet.bytes = (uint16_t)(mem_sectors(p->sectors) * MEM_SECTOR);
    else if (!(p->flags & MEM_RETURN))
        r->packet.bytes = 0;
    offer_reply(l, from);
}

const struct mem_packet *l2_reply(const struct l2 *l, uint64_t now) {
    return l->reply_at <= now ? &queue_head(&l->replies[l->reply_from])->packet : NULL;
}

EVERY_TIME void l2_replied(struct l2 *l, uint64_t now) {
    assert(l->reply_at <= now);
    (void)now;
    queue_pop(&l->replies[l->reply_from]);
    l->epoch++;
    l->reply_at = NEVER;
    for (enum source s = 0; s < SOURCES; s++)
        if (!queue_empty(&l->replies[s]))
            offer_reply(l, s);
}

/* ---- requests ---------------------------------------------------------------------------------------- */

/* Performs an atomic whose sectors are present. */
static void operate(struct l2 *l, uint64_t now, const struct mem_packet *p) {
    uint32_t ticks = (p->ops + l->spec.atomic_lanes - 1) / l->spec.atomic_lanes;
    ticks = p->serial > ticks ? p->serial : ticks;
    bank_write(&l->bank, p->line, p->sectors, 0);
    l->atomics_free_at = max_u64(now, l->atomics_free_at) + ticks;
    l->n.atomic_ops += p->ops;
    l->n.atomic_ticks += ticks;
    reply(l, FROM_ATOMICS, p, now, l->atomics_free_at - now);
}

static void count_l2_read(struct l2 *l, const struct mem_packet *p, enum mem_result r) {
    if (p->kind == MEM_ATOMIC) {
        l->n.atomics++;
        l->n.atomic_hits += r == MEM_HIT;
        return;
    }
    l->n.reads++;
    l->n.read_hits += r == MEM_HIT;
    l->n.read_misses += r == MEM_MISS;
    l->n.read_merged += r == MEM_MERGED;
    l->n.read_sectors += mem_sectors(p->sectors);
}

static enum mem_result read(struct l2 *l, uint64_t now, const struct mem_packet *p) {
    enum mem_result r = bank_read(&l->bank, p);
    if (!mem_accepted(r))
        return r;
    count_l2_read(l, p, r);
    if (r == MEM_HIT && p->kind == MEM_ATOMIC)
        operate(l, now, p);
    else if (r == MEM_HIT)
        reply(l, FROM_LINES, p, now, 0);
    return r;
}

static enum mem_result write_line(struct l2 *l, uint64_t now, const struct mem_packet *p) {
    enum mem_result r = bank_write(&l->bank, p->line, p->sectors, p->full);
    if (!mem_accepted(r))
        return r;
    l->n.writes++;
    l->n.write_hits += r == MEM_HIT;
    l->n.write_sectors += mem_sectors(p->sectors);
    reply(l, FROM_LINES, p, now, 0);
    return r;
}

/* Serves a request, or tells the counter of the reason why not. */
static size_t serve_packet(struct l2 *l, uint64_t now, const struct mem_packet *p) {
    static const size_t reason[MEM_RESULTS] = {
        [MEM_STALL_MSHR] = REASON(stall_mshr),
        [MEM_STALL_MERGE] = REASON(stall_merge),
        [MEM_STALL_QUEUE] = REASON(stall_queue),
        [MEM_STALL_WAYS] = REASON(stall_ways),
    };
    uint32_t waiting = l->bank.mshr.waiters.used; /* each will need room for its reply */
    if (queue_full(&l->replies[FROM_LINES]) || queue_room(&l->replies[FROM_DRAM]) <= waiting ||
        queue_room(&l->replies[FROM_ATOMICS]) <= waiting)
        return REASON(stall_reply);
    return reason[p->kind == MEM_STORE ? write_line(l, now, p) : read(l, now, p)];
}

/* Counts the ticks the oldest request was blocked. */
static void unblock(struct l2 *l, uint64_t now) {
    if (l->blocked)
        *(uint64_t *)((char *)&l->n + l->blocked) += now - l->blocked_at;
    l->blocked = 0;
}

static bool still_blocked(const struct l2 *l) {
    return l->blocked && l->blocked_epoch == l->epoch + l->bank.epoch;
}

/* Whether there is a request to look at. */
static bool has_request(const struct l2 *l, uint64_t now) {
    return !queue_empty(&l->in) && queue_head(&l->in)->ready <= now;
}

static APART void serve_requests(struct l2 *l, uint64_t now) {
    uint64_t used = 0; /* slices */
    for (uint32_t i = 0; i < l->spec.slices && has_request(l, now); i++) {
        const struct mem_packet *p = &queue_head(&l->in)->packet;
        uint32_t slice = (uint32_t)((p->line >> l->bank.tags.shift) % l->spec.slices);
        if (used >> slice & 1)
            return;
        used |= UINT64_C(1) << slice;
        unblock(l, now);
        l->blocked = serve_packet(l, now, p);
        if (l->blocked) {
            l->blocked_at = now;
            l->blocked_epoch = l->epoch + l->bank.epoch;
            return;
        }
        queue_pop(&l->in);
    }
}

EVERY_TIME void l2_tick(struct l2 *l, uint64_t now) {
    if (has_request(l, now) && !still_blocked(l))
        serve_requests(l, now);
}

uint64_t l2_next(const struct l2 *l) {
    uint64_t next = l->reply_at;
    if (!queue_empty(&l->bank.out))
        return 0;
    if (!queue_empty(&l->in) && !still_blocked(l))
        next = min_u64(next, queue_head(&l->in)->ready);
    return next;
}

/* ---- DRAM -------------------------------------------------------------------------------------------- */

const struct mem_packet *l2_out(const struct l2 *l) {
    return queue_empty(&l->bank.out) ? NULL : queue_head(&l->bank.out);
}

void l2_sent(struct l2 *l) {
    bank_sent(&l->bank, 1);
}

EVERY_TIME void l2_fill(struct l2 *l, uint64_t now, uint32_t id, uint8_t sectors) {
    struct mem_packet waiter;
    uint8_t first = MEM_FAR; /* the others joined it */
    l->n.fills++;
    bank_fill(&l->bank, id, sectors);
    for (; bank_take(&l->bank, id, &waiter); first = 0) {
        waiter.flags |= first;
        if (waiter.kind == MEM_ATOMIC)
            operate(l, now, &waiter);
        else
            reply(l, FROM_DRAM, &waiter, now, 0);
    }
    bank_end_fill(&l->bank, id);
}

void l2_put(struct l2 *l, uint64_t line) {
    bank_put(&l->bank, line);
}

bool l2_idle(const struct l2 *l) {
    for (enum source s = 0; s < SOURCES; s++)
        if (!queue_empty(&l->replies[s]))
            return false;
    return queue_empty(&l->in) && bank_idle(&l->bank);
}

const struct l2_counters *l2_counters(const struct l2 *l) {
    return &l->n;
}

const struct bank_counters *l2_bank_counters(const struct l2 *l) {
    return &l->bank.n;
}
