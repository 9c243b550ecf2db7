/* A DRAM channel. Requests stand in a list for each bank and kind, in the order in which they came; with the
 * oldest one that hits the open row known, a tick looks at one request for each bank that has any.
 * Constraints are kept as the first tick in which a command may be given: of the bank, its group and the
 * channel. */
#include "mem/dram.h"

#include "base/often.h"

#include "sim/pool.h"
#include "sim/queue.h"

#define NO_ROW UINT64_MAX

enum { BUS_TURN = 1, ACTIVATES = 4, MAX_BANKS = 64 };

struct request {
    uint64_t arrival, row;
    uint32_t order; /* of arrival */
    uint32_t id;
    uint8_t bank, sectors, bursts; /* bursts still to move */
    bool started, opened;          /* a column command was given; the row was opened for it */
};

/* Requests of one bank and kind. */
struct list {
    uint32_t first, last, hit; /* hit: the oldest one of the open row, or NO_SLOT */
};

enum kind { READS, WRITES, KINDS };

struct group_state {
    uint64_t column_at[KINDS];
};

struct bank_state {
    uint64_t row; /* open, or NO_ROW */
    uint64_t activate_at, precharge_at, column_at;
    struct list list[KINDS];
    struct group_state *group;
};

struct finished {
    uint64_t ready;
    uint32_t id;
    uint8_t sectors;
};

struct dram {
    struct dram_spec spec;
    struct divisor chunk, nbanks, chunks; /* bytes of a chunk, banks, chunks of a row */
    struct request *request;
    struct pool pool;
    struct bank_state *bank;
    struct group_state *group;
    uint64_t banks[KINDS]; /* sets of banks that have requests ... */
    uint64_t hits[KINDS];  /* ... that hit the open row */
    uint64_t open;         /* set of banks with an open row */
    uint32_t waiting[KINDS];
    uint64_t column_at[KINDS], activate_at, activated[ACTIVATES];
    uint32_t activates;
    QUEUE(struct finished) done;
    bool writing;
    uint32_t order;
    uint64_t next;
    uint64_t patience[KINDS]; /* until this tick at least no request has waited too long */
    uint8_t bursts[MEM_SETS]; /* that a set of sectors takes */
    dram_probe *probe;
    void *probe_ctx;
    struct dram_counters n;
};

static void count_bursts(struct dram *d) {
    uint32_t bytes = d->spec.burst_bytes < MEM_SECTOR ? MEM_SECTOR : d->spec.burst_bytes;
    uint32_t each = (bytes + d->spec.burst_bytes - 1) / d->spec.burst_bytes, sectors = bytes / MEM_SECTOR;
    uint32_t all = mem_all_sectors(d->spec.line), most = d->spec.line / MEM_SECTOR;
    for (uint32_t set = 0; set <= all; set++)
        for (uint32_t s = 0; s < most; s += sectors) {
            uint32_t mask = sectors >= most ? all : ((1u << sectors) - 1) << s;
            d->bursts[set] += set & mask ? (uint8_t)each : 0;
        }
}

struct dram *dram_create(struct arena *a, const struct dram_spec *s) {
    assert(s->banks && s->banks <= MAX_BANKS && s->groups && s->burst_bytes && s->burst_ticks &&
           s->row >= s->chunk && mem_line_is_valid(s->line) && s->chunk % s->line == 0);
    assert(s->queue && s->reads && s->write_queue && s->write_low < s->write_high &&
           s->write_high <= s->write_queue);
    struct dram *d = arena_new(a, struct dram);
    d->spec = *s;
    d->chunk = divisor_make(s->chunk);
    d->nbanks = divisor_make(s->banks);
    d->chunks = divisor_make(s->row / s->chunk);
    d->request = arena_array(a, struct request, s->queue + s->write_queue);
    pool_init(&d->pool, a, s->queue + s->write_queue);
    d->bank = arena_array(a, struct bank_state, s->banks);
    d->group = arena_array(a, struct group_state, s->groups);
    for (uint32_t i = 0; i < s->banks; i++) {
        d->bank[i].row = NO_ROW;
        d->bank[i].group = &d->group[i % s->groups];
        for (enum kind k = 0; k < KINDS; k++)
            d->bank[i].list[k] = (struct list){NO_SLOT, NO_SLOT, NO_SLOT};
    }
    queue_init(&d->done, a, s->reads);
    d->next = NEVER;
    count_bursts(d);
    return d;
}

bool dram_has_room(const struct dram *d, bool write) {
    if (d->spec.mixed)
        return d->waiting[READS] + d->waiting[WRITES] < d->spec.queue;
    return d->waiting[write] < (write ? d->spec.write_queue : d->spec.queue);
}

/* Chunks go around the banks; a row is filled by every banks-th chunk. */
static void locate(const struct dram *d, uint64_t line, struct request *r) {
    uint64_t chunk = divide(&d->chunk, line), round = divide(&d->nbanks, chunk);
    uint64_t bank = chunk - round * d->spec.banks;
    r->row = divide(&d->chunks, round);
    if (d->spec.hash)
        bank = divide_rest(&d->nbanks, bank + (r->row ^ r->row >> 5 ^ r->row >> 11));
    r->bank = (uint8_t)bank;
}

EVERY_TIME void dram_push(struct dram *d, uint64_t now, uint64_t line, uint8_t sectors, bool write,
                          uint32_t id) {
    assert(dram_has_room(d, write));
    uint32_t i = pool_take(&d->pool);
    struct request *r = &d->request[i];
    *r = (struct request){.arrival = now, .order = d->order++, .id = id, .sectors = sectors};
    r->bursts = d->bursts[sectors];
    locate(d, line, r);
    struct bank_state *b = &d->bank[r->bank];
    struct list *l = &b->list[write];
    if (l->first == NO_SLOT)
        l->first = i;
    else
        d->pool.next[l->last] = i;
    l->last = i;
    if (l->hit == NO_SLOT && r->row == b->row) {
        l->hit = i;
        d->hits[write] |= UINT64_C(1) << r->bank;
    }
    d->banks[write] |= UINT64_C(1) << r->bank;
    d->waiting[write]++;
    d->n.reads += !write;
    d->n.writes += write;
    d->next = min_u64(d->next, now);
}

uint64_t dram_soonest(const struct dram *d, uint64_t now) {
    return now + d->spec.t.cl + d->spec.burst_ticks + d->spec.latency;
}

/* ---- commands ---------------------------------------------------------------------------------------- */

/* Finds the oldest request that hits, from request i on: none stands before. */
static void find_hit(struct dram *d, uint32_t bank, enum kind kind, uint32_t i) {
    struct bank_state *b = &d->bank[bank];
    while (i != NO_SLOT && d->request[i].row != b->row)
        i = d->pool.next[i];
    b->list[kind].hit = i;
    uint64_t hit = UINT64_C(1) << bank;
    d->hits[kind] = i == NO_SLOT ? d->hits[kind] & ~hit : d->hits[kind] | hit;
}

static void probe(struct dram *d, uint64_t now, enum dram_command c, uint32_t bank, uint64_t row) {
    if (d->probe)
        d->probe(d->probe_ctx, now, c, bank, row);
}

static void later(uint64_t *t, uint64_t at) {
    *t = max_u64(*t, at);
}

static APART void activate(struct dram *d, uint64_t now, struct request *r) {
    const struct dram_timing *t = &d->spec.t;
    struct bank_state *b = &d->bank[r->bank];
    probe(d, now, DRAM_ACTIVATE, r->bank, r->row);
    d->n.activates++;
    r->opened = true;
    b->row = r->row;
    b->column_at = now + t->rcd;
    b->activate_at = now + t->rc;
    later(&b->precharge_at, now + t->ras);
    d->activate_at = now + t->rrd;
    d->activated[d->activates++ % ACTIVATES] = now + t->faw;
    later(&d->activate_at, d->activated[d->activates % ACTIVATES]); /* the oldest of the four */
    d->open |= UINT64_C(1) << r->bank;
    for (enum kind k = 0; k < KINDS; k++)
        find_hit(d, r->bank, k, b->list[k].first);
}

static APART void precharge(struct dram *d, uint64_t now, const struct request *r) {
    struct bank_state *b = &d->bank[r->bank];
    probe(d, now, DRAM_PRECHARGE, r->bank, b->row);
    d->n.precharges++;
    b->row = NO_ROW;
    later(&b->activate_at, now + d->spec.t.rp);
    d->open &= ~(UINT64_C(1) << r->bank);
    for (enum kind k = 0; k < KINDS; k++) {
        b->list[k].hit = NO_SLOT;
        d->hits[k] &= ~(UINT64_C(1) << r->bank);
    }
}

/* Takes a request whose last burst was commanded out of its list. */
static APART void finish(struct dram *d, uint64_t now, uint32_t i, enum kind kind) {
    struct request *r = &d->request[i];
    struct list *l = &d->bank[r->bank].list[kind];
    uint32_t before = NO_SLOT, after = d->pool.next[i];
    if (l->first != i)
        for (before = l->first; d->pool.next[before] != i;)
            before = d->pool.next[before];
    if (before == NO_SLOT)
        l->first = after;
    else
        d->pool.next[before] = after;
    if (l->last == i)
        l->last = before;
    if (l->first == NO_SLOT)
        d->banks[kind] &= ~(UINT64_C(1) << r->bank);
    find_hit(d, r->bank, kind, after); /* hits are served in order */
    d->waiting[kind]--;
    if (kind == READS) {
        d->n.read_wait += now - r->arrival;
        queue_push(&d->done, (struct finished){dram_soonest(d, now), r->id, r->sectors});
    }
    pool_give(&d->pool, i);
}

/* A column command: moves one burst of a request whose row is open. */
static EVERY_TIME void column(struct dram *d, uint64_t now, uint32_t i, enum kind kind) {
    const struct dram_timing *t = &d->spec.t;
    struct request *r = &d->request[i];
    struct bank_state *b = &d->bank[r->bank];
    struct group_state *g = b->group;
    uint64_t burst = d->spec.burst_ticks, next = now + max_u64(t->ccd, burst);
    probe(d, now, kind == WRITES ? DRAM_WRITE : DRAM_READ, r->bank, r->row);
    g->column_at[kind] = now + max_u64(t->ccdl, burst);
    later(&d->column_at[kind], next);
    if (kind == WRITES) {
        uint64_t end = now + t->wl + burst;
        later(&d->column_at[READS], end + t->wtr);
        later(&b->precharge_at, end + t->wr);
        d->n.write_bursts++;
    } else {
        uint64_t end = now + t->cl + burst + BUS_TURN; /* written data must not meet read data on the bus */
        later(&d->column_at[WRITES], end > t->wl ? end - t->wl : 0);
        later(&d->column_at[WRITES], next);
        later(&b->precharge_at, now + t->rtp);
        d->n.read_bursts++;
    }
    d->n.busy += burst;
    if (!r->started) {
        d->n.row_hits += !r->opened;
        d->n.row_misses += r->opened;
        r->started = true;
    }
    if (--r->bursts == 0)
        finish(d, now, i, kind);
}

/* ---- scheduling -------------------------------------------------------------------------------------- */

/* What a bank would do next, and when it may. Priorities: smaller goes first. */
struct choice {
    uint32_t request;
    enum dram_command command;
    uint64_t at;
};

static uint64_t column_time(const struct dram *d, uint32_t bank, enum kind kind) {
    const struct bank_state *b = &d->bank[bank];
    return max_u64(max_u64(b->column_at, b->group->column_at[kind]), d->column_at[kind]);
}

/* starved: serve the bank's oldest request, even if others hit. */
static inline struct choice choose(const struct dram *d, uint32_t bank, enum kind kind, bool starved) {
    const struct bank_state *b = &d->bank[bank];
    const struct list *l = &b->list[kind];
    uint32_t i = starved || l->hit == NO_SLOT ? l->first : l->hit;
    if (d->request[i].row == b->row)
        return (struct choice){i, kind == WRITES ? DRAM_WRITE : DRAM_READ, column_time(d, bank, kind)};
    if (b->row != NO_ROW)
        return (struct choice){i, DRAM_PRECHARGE, b->precharge_at};
    return (struct choice){i, DRAM_ACTIVATE, max_u64(b->activate_at, d->activate_at)};
}

static bool older(const struct dram *d, uint32_t a, uint32_t b) {
    return (int32_t)(d->request[a].order - d->request[b].order) < 0;
}

static bool goes_before(const struct dram *d, const struct choice *a, const struct choice *b) {
    static const uint8_t rank[] = {
        [DRAM_READ] = 0, [DRAM_WRITE] = 0, [DRAM_ACTIVATE] = 1, [DRAM_PRECHARGE] = 2};
    if (rank[a->command] != rank[b->command])
        return rank[a->command] < rank[b->command];
    return older(d, a->request, b->request);
}

/* The oldest request of a kind. */
static uint32_t oldest_request(const struct dram *d, enum kind kind) {
    uint32_t best = NO_SLOT;
    for (uint64_t left = d->banks[kind]; left; left &= left - 1) {
        uint32_t i = d->bank[__builtin_ctzll(left)].list[kind].first;
        if (best == NO_SLOT || older(d, i, best))
            best = i;
    }
    return best;
}

static EVERY_TIME void give(struct dram *d, uint64_t now, const struct choice *c, enum kind kind) {
    struct request *r = &d->request[c->request];
    if (c->command == DRAM_ACTIVATE)
        activate(d, now, r);
    else if (c->command == DRAM_PRECHARGE)
        precharge(d, now, r);
    else
        column(d, now, c->request, kind);
}

/* Reading or writing, as the queues stand. */
static enum kind turn(struct dram *d) {
    uint32_t reads = d->waiting[READS], writes = d->waiting[WRITES];
    if (d->writing)
        d->writing = writes && (writes > d->spec.write_low || !reads);
    else
        d->writing = writes && (writes >= d->spec.write_high || !reads);
    return d->writing ? WRITES : READS;
}

/* The request that has waited too long, or NO_SLOT. */
static uint32_t starved(struct dram *d, uint64_t now, enum kind kind) {
    if (now <= d->patience[kind])
        return NO_SLOT;
    uint32_t i = oldest_request(d, kind);
    d->patience[kind] = d->request[i].arrival + d->spec.starve;
    return now > d->patience[kind] ? i : NO_SLOT;
}

/* Of a bank's requests of both kinds: the oldest that hits, or the oldest. */
static enum kind mixed_kind(const struct dram *d, uint32_t bank) {
    const struct list *l = d->bank[bank].list;
    bool hits = l[READS].hit != NO_SLOT || l[WRITES].hit != NO_SLOT;
    uint32_t read = hits ? l[READS].hit : l[READS].first, write = hits ? l[WRITES].hit : l[WRITES].first;
    return read == NO_SLOT || (write != NO_SLOT && older(d, write, read)) ? WRITES : READS;
}

/* The same tick where reads and writes are served as they come. */
static APART void tick_mixed(struct dram *d, uint64_t now) {
    struct choice best = {.request = NO_SLOT};
    enum kind kind = READS;
    d->next = NEVER;
    for (uint64_t left = d->banks[READS] | d->banks[WRITES]; left; left &= left - 1) {
        uint32_t bank = (uint32_t)__builtin_ctzll(left);
        enum kind k = mixed_kind(d, bank);
        struct choice c = choose(d, bank, k, false);
        d->next = min_u64(d->next, c.at);
        if (c.at <= now && (best.request == NO_SLOT || goes_before(d, &c, &best))) {
            best = c;
            kind = k;
        }
    }
    if (best.request != NO_SLOT) {
        give(d, now, &best, kind);
        d->next = now + 1;
    }
}

/* Among banks with requests that hit: the oldest such request that can be served in this tick, or NO_SLOT. */
static uint32_t pick_hit(const struct dram *d, uint64_t banks, enum kind kind, uint64_t now) {
    uint32_t best = NO_SLOT;
    if (d->column_at[kind] > now)
        return NO_SLOT;
    for (uint64_t left = banks; left; left &= left - 1) {
        const struct bank_state *b = &d->bank[__builtin_ctzll(left)];
        uint32_t i = b->list[kind].hit;
        if (max_u64(b->column_at, b->group->column_at[kind]) <= now && (best == NO_SLOT || older(d, i, best)))
            best = i;
    }
    return best;
}

/* Among banks with requests none of which hits: the oldest whose row can be opened in this tick, or else the
 * oldest for which another can be closed. */
static EVERY_TIME struct choice pick_row(const struct dram *d, uint64_t banks, enum kind kind, uint64_t now) {
    struct choice best = {NO_SLOT, DRAM_ACTIVATE, now};
    for (uint64_t left = d->activate_at <= now ? banks & ~d->open : 0; left; left &= left - 1) {
        const struct bank_state *b = &d->bank[__builtin_ctzll(left)];
        uint32_t i = b->list[kind].first;
        if (b->activate_at <= now && (best.request == NO_SLOT || older(d, i, best.request)))
            best.request = i;
    }
    if (best.request != NO_SLOT)
        return best;
    best.command = DRAM_PRECHARGE;
    for (uint64_t left = banks & d->open; left; left &= left - 1) {
        const struct bank_state *b = &d->bank[__builtin_ctzll(left)];
        uint32_t i = b->list[kind].first;
        if (b->precharge_at <= now && (best.request == NO_SLOT || older(d, i, best.request)))
            best.request = i;
    }
    return best;
}

/* The first tick in which one of these banks may be given a command: those that hit a column command, the
 * others one to their rows. */
static APART uint64_t possible_from(const struct dram *d, uint64_t hits, uint64_t others, enum kind kind) {
    uint64_t column = NEVER, activate = NEVER, precharge = NEVER;
    for (uint64_t left = hits; left; left &= left - 1) {
        const struct bank_state *b = &d->bank[__builtin_ctzll(left)];
        column = min_u64(column, max_u64(b->column_at, b->group->column_at[kind]));
    }
    for (uint64_t left = others & ~d->open; left; left &= left - 1)
        activate = min_u64(activate, d->bank[__builtin_ctzll(left)].activate_at);
    for (uint64_t left = others & d->open; left; left &= left - 1)
        precharge = min_u64(precharge, d->bank[__builtin_ctzll(left)].precharge_at);
    column = max_u64(column, d->column_at[kind]);
    activate = max_u64(activate, d->activate_at);
    return min_u64(min_u64(column, activate), precharge);
}

/* The command for banks that have requests of the kind that is served: hits go first, then rows that will be
 * needed. If there is none, one for a row that the other kind will need, in a bank that this kind does not
 * want. Sets next when no command is possible in this tick. */
static EVERY_TIME struct choice choose_command(struct dram *d, uint64_t banks, enum kind kind, uint64_t now) {
    enum kind other = kind == READS ? WRITES : READS;
    uint64_t hits = banks & d->hits[kind], rows = banks & ~d->hits[kind],
             rest = d->banks[other] & ~d->banks[kind] & ~d->hits[other];
    uint32_t hit = pick_hit(d, hits, kind, now);
    if (hit != NO_SLOT)
        return (struct choice){hit, kind == WRITES ? DRAM_WRITE : DRAM_READ, now};
    struct choice best = pick_row(d, rows, kind, now);
    if (best.request == NO_SLOT && rest)
        best = pick_row(d, rest, other, now);
    if (best.request == NO_SLOT) {
        d->next = min_u64(d->next, possible_from(d, hits, rows, kind));
        if (rest)
            d->next = min_u64(d->next, possible_from(d, 0, rest, other));
    }
    return best;
}

static EVERY_TIME void tick_channel(struct dram *d, uint64_t now) {
    if (d->spec.mixed) {
        tick_mixed(d, now);
        return;
    }
    enum kind kind = turn(d);
    d->next = NEVER;
    uint64_t left = d->banks[kind];
    if (!left)
        return;
    struct choice best = {.request = NO_SLOT};
    uint32_t first = starved(d, now, kind);
    if (first != NO_SLOT) {
        best = choose(d, d->request[first].bank, kind, true);
        left &= ~(UINT64_C(1) << d->request[first].bank);
        d->next = best.at;
    } else {
        d->next = d->patience[kind] + 1;
    }
    if (first != NO_SLOT && best.at <= now)
        d->n.starved++;
    else
        best = choose_command(d, left, kind, now);
    if (best.request != NO_SLOT) {
        give(d, now, &best, kind);
        d->next = now + 1;
    }
}

void dram_tick(struct dram *d, uint64_t now) {
    tick_channel(d, now);
}

uint64_t dram_next(const struct dram *d) {
    return d->next;
}

uint64_t dram_pop_at(const struct dram *d) {
    return queue_empty(&d->done) ? NEVER : queue_head(&d->done)->ready;
}

/* The only request of a channel needs no choice: its commands follow one another. Leaves everything as
 * dram_tick would. */
static APART void run_alone(struct dram *d, uint64_t until, enum kind kind) {
    uint32_t bank = (uint32_t)__builtin_ctzll(d->banks[kind]);
    uint64_t patience = d->patience[kind], now = d->next,
             last = d->request[d->bank[bank].list[kind].first].arrival + d->spec.starve;
    d->writing = kind == WRITES;
    do {
        patience = now > patience ? last : patience;
        bool late = now > patience;
        struct choice c = choose(d, bank, kind, false);
        if (c.at > now) {
            now = late ? c.at : min_u64(c.at, patience + 1);
        } else {
            d->n.starved += late;
            give(d, now++, &c, kind);
        }
    } while (now <= until && d->waiting[kind]);
    d->patience[kind] = patience;
    d->next = now;
}

void dram_run(struct dram *d, uint64_t until) {
    while (d->next <= until)
        if (d->waiting[READS] + d->waiting[WRITES] == 1 && !d->spec.mixed)
            run_alone(d, until, d->waiting[READS] ? READS : WRITES);
        else
            tick_channel(d, d->next);
}

uint64_t dram_pop_from(const struct dram *d) {
    if (!queue_empty(&d->done) || !d->waiting[READS])
        return dram_pop_at(d);
    const struct dram_timing *t = &d->spec.t;
    uint32_t commands = t->rp + t->rcd; /* before the first read: rows are closed and opened */
    for (uint64_t left = d->banks[READS]; left; left &= left - 1) {
        const struct bank_state *b = &d->bank[__builtin_ctzll(left)];
        if (b->list[READS].hit != NO_SLOT)
            commands = 0;
        else if (b->row == NO_ROW)
            commands = commands < t->rcd ? commands : t->rcd;
    }
    return dram_soonest(d, d->next + commands);
}

void dram_pop(struct dram *d, uint32_t *id, uint8_t *sectors) {
    *id = queue_head(&d->done)->id;
    *sectors = queue_head(&d->done)->sectors;
    queue_pop(&d->done);
}

bool dram_idle(const struct dram *d) {
    return !d->waiting[READS] && !d->waiting[WRITES] && queue_empty(&d->done);
}

const struct dram_counters *dram_counters(const struct dram *d) {
    return &d->n;
}

void dram_watch(struct dram *d, dram_probe *p, void *ctx) {
    d->probe = p;
    d->probe_ctx = ctx;
}
