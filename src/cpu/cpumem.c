#include "cpu/cpumem.h"

#include <string.h>

enum {
    MORE = 1,        /* accesses in a cycle that a first cache takes beside the first; see open_port */
    MERGES = 8,      /* accesses that wait for one line */
    QUEUE = 16,      /* requests on their way to the next level */
    TO_DRAM = 256,   /* requests between L2 and DRAM */
    L1_FETCH = 1024, /* instead of a number: for the instruction cache */
    CONFIDENT = 2,   /* times that a stride must be seen */
    TLB_WAYS = 4,
};

/* ---- building ---------------------------------------------------------------------------------------- */

static struct cache_spec cache_of(const struct cpu_config *c, uint64_t size, uint32_t ways, uint32_t kept,
                                  uint32_t latency, uint32_t mshrs, uint32_t more, enum mem_client client) {
    return (struct cache_spec){
        .bank = {.tags = {.sets = (uint32_t)(size / (uint64_t)c->line / ways),
                          .ways = kept,
                          .replacement = REPLACE_LRU,
                          .line = (uint32_t)c->line},
                 .mshrs = mshrs,
                 .merges = MERGES,
                 .queue = QUEUE},
        .latency = latency,
        .interval = 1,
        .more = more,
        .write_back = client == MEM_DATA,
        .client = client,
    };
}

static struct dram_spec dram_of(const struct cpu_config *c) {
    uint32_t queue = (uint32_t)c->dram_queue;
    return (struct dram_spec){
        .banks = (uint32_t)c->dram_banks,
        .groups = 1,
        .line = (uint32_t)c->line,
        .row = (uint32_t)c->dram_row,
        .chunk = (uint32_t)c->dram_interleave,
        .hash = true,
        .burst_bytes = 64,
        .burst_ticks = 4,
        .queue = queue,
        .write_queue = queue,
        .reads = queue + TO_DRAM,
        .write_high = queue - queue / 4,
        .write_low = queue / 4,
        .starve = 1000,
        .latency = (uint32_t)c->dram_latency,
        .t = {.rcd = (uint32_t)c->dram_rcd,
              .rp = (uint32_t)c->dram_rp,
              .ras = (uint32_t)c->dram_ras,
              .rc = (uint32_t)c->dram_rc,
              .rrd = (uint32_t)c->dram_rrd,
              .faw = (uint32_t)c->dram_faw,
              .cl = (uint32_t)c->dram_cl,
              .wl = (uint32_t)c->dram_wl,
              .ccd = 4,
              .ccdl = 4,
              .wr = (uint32_t)c->dram_wr,
              .wtr = (uint32_t)c->dram_wtr,
              .rtp = (uint32_t)c->dram_rtp},
    };
}

static void tlb_init(struct tlb *t, struct arena *a, uint32_t entries) {
    *t = (struct tlb){.ways = TLB_WAYS, .sets = entries / TLB_WAYS, .last = NEVER};
    t->page = arena_array(a, uint64_t, entries);
    t->stamp = arena_array(a, uint64_t, entries);
}

void cpumem_init(struct cpumem *m, const struct cpu_config *cfg, uint32_t l2_ways) {
    *m = (struct cpumem){.cfg = *cfg,
                         .nports = (uint32_t)cfg->cores,
                         .due = NEVER,
                         .visit = NEVER,
                         .dram_at = NEVER,
                         .dram_soon = NEVER};
    struct arena *a = &m->arena;
    m->shift = mem_line_shift((uint32_t)cfg->line);
    m->dram_clock = clock_make((uint64_t)cfg->dram_clock * 1000, (uint64_t)cfg->clock * 1000);
    struct cache_spec i = cache_of(cfg, cfg->l1i_size, (uint32_t)cfg->l1i_ways, (uint32_t)cfg->l1i_ways,
                                   (uint32_t)cfg->l1i_latency, (uint32_t)cfg->l1i_mshrs, MORE, MEM_INST);
    struct cache_spec d = cache_of(cfg, cfg->l1d_size, (uint32_t)cfg->l1d_ways, (uint32_t)cfg->l1d_ways,
                                   (uint32_t)cfg->l1d_latency, (uint32_t)cfg->l1d_mshrs, MORE, MEM_DATA);
    struct cache_spec l2 = cache_of(cfg, cfg->l2_size, (uint32_t)cfg->l2_ways, l2_ways,
                                    (uint32_t)cfg->l2_latency, (uint32_t)cfg->l2_mshrs, 0, MEM_DATA);
    for (uint32_t k = 0; k < m->nports; k++) {
        struct port *p = &m->port[k];
        p->memory = m;
        p->space = (uint64_t)k << 40;
        p->l1i = cache_create(a, &i, k);
        p->l1d = cache_create(a, &d, k);
        tlb_init(&p->itlb, a, (uint32_t)cfg->tlb_entries);
        tlb_init(&p->dtlb, a, (uint32_t)cfg->tlb_entries);
        p->strides = arena_array(a, struct stride, cfg->prefetch_entries);
    }
    m->l2 = cache_create(a, &l2, 0);
    struct dram_spec ds = dram_of(cfg);
    for (int32_t k = 0; k < cfg->dram_channels; k++)
        m->channel[k] = (struct channel){dram_create(a, &ds), NEVER, NEVER};
    m->interleave = divisor_make((uint64_t)cfg->dram_interleave);
    m->channels = divisor_make((uint64_t)cfg->dram_channels);
    queue_init(&m->to_dram, a, TO_DRAM);
}

void cpumem_free(struct cpumem *m) {
    arena_free(&m->arena);
}

/* ---- time moves -------------------------------------------------------------------------------------- */

/* What comes back from L2 names the cache that asked, and the request of that cache. */
static uint32_t l2_token(uint32_t cache, uint32_t id) {
    return id << 2 | cache;
}

/* First caches by number: those of a port after those of the one before, data and then code. */
static struct cache *first_cache(const struct cpumem *m, uint32_t k) {
    return k & 1 ? m->port[k >> 1].l1i : m->port[k >> 1].l1d;
}

/* A request for L2 waits in a first cache; it goes on in the next cycle. */
static void leaves(struct cpumem *m, uint32_t cache) {
    m->leaving |= 1u << cache;
    m->due = min_u64(m->due, m->now + 1);
    m->visit = min_u64(m->visit, m->now + 1);
}

/* The lone miss becomes a request. */
static __attribute__((noinline)) void spread(struct cpumem *m) {
    const struct lone_miss *x = &m->lone;
    struct mem_packet p = {.line = x->line, .id = x->token, .kind = MEM_LOAD, .sectors = x->sectors};
    bank_ask(&first_cache(m, x->cache)->bank, x->slot, &x->victim, &p);
    leaves(m, x->cache);
    m->lone.on = false;
}

static uint32_t port_number(const struct port *p) {
    return (uint32_t)(p - p->memory->port);
}

static void drain_l1(struct cpumem *m, uint32_t k) {
    struct cache *l1 = first_cache(m, k);
    const struct mem_packet *p;
    while ((p = cache_out(l1))) {
        struct mem_access x = {
            .line = p->line, .sectors = p->sectors, .full = p->full, .kind = p->kind, .flags = p->flags};
        if (!mem_accepted(cache_access(m->l2, m->now, &x, l2_token(k, p->id))))
            return;
        cache_sent(l1, 1);
    }
    m->leaving &= ~(1u << k);
}

/* Completed accesses of a core's caches. */
static void collect_data(struct port *p) {
    struct mem_done d;
    while (cache_pop(p->l1d, NEVER - 1, &d))
        p->done[d.token] = d.ready;
}

static void collect_code(struct port *p) {
    struct mem_done d;
    while (cache_pop(p->l1i, NEVER - 1, &d))
        p->fetched = d.ready;
}

/* Lines that come from L2. */
static void fill_l1(struct cpumem *m) {
    struct mem_done d;
    while (cache_pop(m->l2, m->now, &d)) {
        uint32_t k = d.token & 3;
        cache_fill(first_cache(m, k), m->now, &(struct mem_packet){.id = d.token >> 2, .sectors = d.sectors});
        if (k & 1)
            collect_code(&m->port[k >> 1]);
        else
            collect_data(&m->port[k >> 1]);
    }
}

/* The channel of a line, and its address there. */
static uint32_t channel_of(const struct cpumem *m, uint64_t line, uint64_t *inside) {
    uint64_t k = divide(&m->interleave, line), round = divide(&m->channels, k);
    *inside = round * m->interleave.by + (line - k * m->interleave.by);
    return (uint32_t)(k - round * m->channels.by);
}

/* When data of a channel may come next. */
static void note_channel(struct cpumem *m, struct channel *c) {
    uint64_t tick = dram_pop_from(c->dram);
    c->at = clock_cycle(&m->dram_clock, tick);
    c->soon = tick == NEVER ? NEVER : clock_cycle(&m->dram_clock, tick - 1) + 1;
    m->dram_at = m->dram_soon = NEVER;
    for (int32_t k = 0; k < m->cfg.dram_channels; k++) {
        m->dram_at = min_u64(m->dram_at, m->channel[k].at);
        m->dram_soon = min_u64(m->dram_soon, m->channel[k].soon);
    }
}

/* Requests whose time has come go to DRAM, in order. What the channels did before comes first: the ticks
 * before the one that is next, and that one if something happened behind the tick before it. */
static void send_to_dram(struct cpumem *m) {
    uint64_t tick = clock_tick(&m->dram_clock, m->now),
             past = clock_tick(&m->dram_clock, m->before) == tick ? tick : tick - 1;
    uint32_t sent = 0;
    m->blocked = false;
    while (!queue_empty(&m->to_dram) && queue_head(&m->to_dram)->ready <= m->now) {
        const struct mem_packet *q = &queue_head(&m->to_dram)->packet;
        uint64_t inside;
        uint32_t k = channel_of(m, q->line, &inside);
        struct dram *d = m->channel[k].dram;
        bool write = q->kind == MEM_STORE;
        if (!(sent >> k & 1) && tick)
            dram_run(d, past);
        m->blocked = !dram_has_room(d, write);
        if (m->blocked)
            break;
        sent |= 1u << k;
        dram_push(d, tick, inside, q->sectors, write, q->id);
        queue_pop(&m->to_dram);
    }
    for (; sent; sent &= sent - 1)
        note_channel(m, &m->channel[__builtin_ctz(sent)]);
}

static void tick_dram(struct cpumem *m) {
    uint64_t tick = clock_tick(&m->dram_clock, m->now);
    for (int32_t k = 0; k < m->cfg.dram_channels; k++) {
        struct channel *c = &m->channel[k];
        if (c->soon > m->now)
            continue;
        dram_run(c->dram, tick);
        while (dram_pop_at(c->dram) <= tick) {
            struct mem_packet q = {0};
            dram_pop(c->dram, &q.id, &q.sectors);
            cache_fill(m->l2, m->now, &q);
        }
        note_channel(m, c);
    }
}

/* The first cycle in which the channel that the next request waits for may have room. */
static uint64_t room_at(struct cpumem *m) {
    uint64_t inside, tick = clock_tick(&m->dram_clock, m->now);
    struct dram *d = m->channel[channel_of(m, queue_head(&m->to_dram)->packet.line, &inside)].dram;
    dram_run(d, tick);
    if (dram_has_room(d, queue_head(&m->to_dram)->packet.kind == MEM_STORE))
        return m->now + 1;
    return clock_cycle(&m->dram_clock, dram_next(d) - 1) + 1;
}

/* Says when there is something to do next. */
static void schedule(struct cpumem *m) {
    uint64_t due = m->now + 1;
    if (!m->leaving && !cache_out(m->l2)) {
        due = min_u64(cache_next(m->l2), m->dram_at);
        if (m->blocked)
            due = min_u64(due, min_u64(m->dram_soon, room_at(m)));
        else if (!queue_empty(&m->to_dram))
            due = min_u64(due, queue_head(&m->to_dram)->ready);
        due = max_u64(due, m->now + 1);
    }
    m->due = due;
    m->visit = min_u64(due, m->dram_soon);
}

/* Everything of cycle now. */
static void tick(struct cpumem *m) {
    for (uint32_t left = m->leaving; left; left &= left - 1)
        drain_l1(m, (uint32_t)__builtin_ctz(left));
    if (cache_next(m->l2) <= m->now)
        fill_l1(m);
    const struct mem_packet *p;
    while ((p = cache_out(m->l2)) && !queue_full(&m->to_dram)) {
        queue_push(&m->to_dram, (struct to_dram){*p, m->now + (uint64_t)m->cfg.l2_latency});
        cache_sent(m->l2, 1);
    }
    if (!queue_empty(&m->to_dram) && queue_head(&m->to_dram)->ready <= m->now)
        send_to_dram(m);
    if (m->dram_soon <= m->now)
        tick_dram(m);
    schedule(m);
}

/* While a request waits for room, or there are some for L2, something happens in every cycle. */
static void move_to(struct cpumem *m, uint64_t cycle) {
    if (m->lone.on)
        spread(m);
    while (m->now < cycle) {
        uint64_t next = min_u64(m->due, cycle);
        m->before = m->blocked ? next - 1 : m->now;
        m->now = next;
        if (next >= m->visit)
            tick(m);
    }
}

/* An access is about to happen at cycle now; the cycle in which it does. */
static inline uint64_t enter(struct cpumem *m, uint64_t now) {
    if (now > m->now) {
        if (now < m->visit) {
            m->before = m->blocked ? now - 1 : m->now;
            m->now = now;
        } else {
            move_to(m, now);
        }
    }
    return m->now;
}

/* On to the next cycle in which something happens; in a quiet memory that is the next one. */
static void step(struct cpumem *m) {
    move_to(m, m->due == NEVER ? m->now + 1 : m->due);
}

/* ---- misses of a quiet memory ------------------------------------------------------------------------- */

/* A load of a line that is not in first cache k misses while nothing is under way. False: something is. */
static bool ask_alone(struct cpumem *m, uint32_t k, uint64_t line, uint8_t sectors, uint32_t token) {
    struct cache *c = first_cache(m, k);
    if (m->due != NEVER || !mem_accepted(c->why) || m->stepwise)
        return false;
    uint32_t slot = tags_victim(&c->bank.tags, line);
    struct tags_victim v = bank_expect(&c->bank, slot, line);
    c->n.reads++;
    c->n.read_misses++;
    c->n.read_sectors += mem_sectors(sectors);
    m->lone = (struct lone_miss){true, sectors, k, slot, token, line, v};
    m->due = m->visit = m->now + 1;
    return true;
}

/* Whether every channel takes another write; nothing is read. */
static bool has_room(const struct cpumem *m) {
    bool room = true;
    for (int32_t k = 0; k < m->cfg.dram_channels; k++)
        room &= dram_has_room(m->channel[k].dram, true);
    return room;
}

/* Whether a channel's only read has come by now; then it is taken. */
static bool take_data(struct cpumem *m, struct channel *c) {
    uint64_t tick = clock_tick(&m->dram_clock, m->now);
    uint32_t id;
    uint8_t sectors;
    dram_run(c->dram, tick);
    bool came = dram_pop_at(c->dram) <= tick;
    if (came)
        dram_pop(c->dram, &id, &sectors);
    note_channel(m, c);
    return came;
}

/* L2 had to ask DRAM for a line at a cycle; moves time until that has come, and tells when L2 hands it on. */
static uint64_t from_dram(struct cpumem *m, uint64_t line, uint64_t at) {
    struct cache *l2 = m->l2;
    struct tags *t = &l2->bank.tags;
    uint32_t slot = tags_victim(t, line);
    struct tags_victim v = bank_expect(&l2->bank, slot, line);
    uint64_t inside, ready = at + (uint64_t)m->cfg.l2_latency;
    struct mem_packet read = {.line = line, .kind = MEM_LOAD, .sectors = l2->bank.all},
                      write = {.line = v.line, .kind = MEM_STORE, .sectors = v.dirty};
    if (v.dirty)
        queue_push(&m->to_dram, (struct to_dram){write, ready});
    queue_push(&m->to_dram, (struct to_dram){read, ready});
    m->before = at;
    m->now = ready;
    send_to_dram(m);
    struct channel *c = &m->channel[channel_of(m, line, &inside)];
    while (m->dram_soon > m->now || !take_data(m, c))
        m->now = max_u64(m->dram_at, m->now + 1);
    tags_arrive(t, slot, l2->bank.all);
    l2->n.fills++;
    return l2->last_fill = max_u64(m->now, l2->last_fill) + 1;
}

/* The lone miss goes all its way: time moves until its line has come. False, and nothing happened, if
 * something on the way must wait, or takes up room elsewhere. */
static bool resolve(struct cpumem *m) {
    const struct lone_miss *x = &m->lone;
    struct cache *l1 = first_cache(m, x->cache), *l2 = m->l2;
    struct tags *t = &l2->bank.tags;
    uint64_t at = m->now + 1, came;
    uint8_t all = l2->bank.all;
    uint32_t slot = tags_find(t, x->line), old = x->victim.dirty ? tags_find(t, x->victim.line) : NO_SLOT;
    if (!mem_accepted(l2->why) || at < l2->free_at || (x->victim.dirty && old == NO_SLOT) ||
        (slot == NO_SLOT ? !has_room(m) : t->line[slot].valid != all))
        return false;
    if (x->victim.dirty) { /* goes first, and is in the way for a cycle */
        tags_touch(t, old);
        t->line[old].dirty |= x->victim.dirty;
        t->line[old].valid |= x->victim.dirty;
        l2->n.writes++;
        l2->n.write_hits++;
        l2->n.write_sectors += mem_sectors(x->victim.dirty);
        l2->n.stall_port++;
        at++;
    }
    l2->used_at = at;
    l2->used = 0;
    l2->free_at = at + l2->spec.interval;
    l2->n.reads++;
    l2->n.read_sectors += mem_sectors(all);
    if (slot != NO_SLOT) {
        tags_touch(t, slot);
        l2->n.read_hits++;
        came = at + l2->spec.latency;
    } else {
        l2->n.read_misses++;
        came = from_dram(m, x->line, at);
    }
    tags_arrive(&l1->bank.tags, x->slot, all);
    l1->n.fills++;
    l1->last_fill = max_u64(came, l1->last_fill) + 1;
    if (x->cache & 1)
        m->port[x->cache >> 1].fetched = l1->last_fill;
    else
        m->port[x->cache >> 1].done[x->token] = l1->last_fill;
    m->now = came;
    m->due = m->visit = NEVER;
    m->lone.on = false;
    return true;
}

/* On to where something has happened that an access waits for. */
static void await(struct cpumem *m) {
    if (!m->lone.on || !resolve(m))
        step(m);
}

/* ---- translation ------------------------------------------------------------------------------------- */

static __attribute__((noinline)) uint32_t look_up(struct tlb *t, uint64_t page, uint32_t walk) {
    t->last = page;
    uint32_t set = (uint32_t)(page & (t->sets - 1)) * t->ways, oldest = set;
    for (uint32_t k = set; k < set + t->ways; k++) {
        if (t->page[k] == page) {
            t->stamp[k] = ++t->time;
            return 0;
        }
        if (t->stamp[k] < t->stamp[oldest])
            oldest = k;
    }
    t->page[oldest] = page;
    t->stamp[oldest] = ++t->time;
    t->n.misses++;
    return walk;
}

/* The cycles that finding an address's page takes. */
static inline uint32_t translate(struct tlb *t, uint64_t address, uint32_t walk) {
    uint64_t page = (address >> 12) + 1; /* 0 is an empty entry */
    t->n.looks++;
    return page == t->last ? 0 : look_up(t, page, walk);
}

/* ---- accesses ---------------------------------------------------------------------------------------- */

static uint8_t sectors_of(uint64_t inside, uint32_t size) {
    uint32_t first = (uint32_t)inside / MEM_SECTOR, last = ((uint32_t)inside + size - 1) / MEM_SECTOR;
    return (uint8_t)((2u << last) - (1u << first));
}

/* A number that is free; a core has fewer accesses under way than there are. */
static uint32_t free_number(const struct port *p) {
    assert(~p->busy);
    return (uint32_t)__builtin_ctz(~p->busy);
}

static int take_number(struct port *p, uint32_t number) {
    p->busy |= 1u << number;
    p->done[number] = NEVER;
    return (int)number;
}

/* Whatever a core sends its caches in a cycle they take: it has one unit that sends, and what comes late,
 * since memory is ahead, comes to memory's time. */
static void open_port(struct cache *c) {
    c->used_at = NEVER;
}

/* Offers an access until it is accepted, at cycle now first, moving time if it must wait. */
static enum mem_result offer(struct port *p, struct cache *c, uint64_t now, const struct mem_access *x,
                             uint32_t token, bool announce) {
    struct cpumem *m = p->memory;
    if (m->lone.on)
        spread(m);
    for (;;) {
        open_port(c);
        enum mem_result r = announce ? cache_access(c, now, x, token) : cache_look(c, now, x, token);
        if (mem_accepted(r)) {
            if (cache_out(c))
                leaves(m, 2 * port_number(p) + (c == p->l1i));
            return r;
        }
        step(m);
        now = m->now;
    }
}

/* Most accesses hit a line that was hit before: this finds its slot at once, and does what the cache would
 * do. False: the cache must be asked. */
static inline bool quick_hit(struct recent *recent, struct cache *c, uint64_t line, uint32_t shift,
                             uint8_t sectors, bool write) {
    uint32_t slot = recent->slot[line >> shift & (RECENT - 1)];
    struct tags_line *l = &c->bank.tags.line[slot];
    if (c->bank.tags.key[slot] != tags_key(line) || sectors & ~l->valid || l->prefetched ||
        !mem_accepted(c->why))
        return false;
    tags_touch(&c->bank.tags, slot);
    if (write)
        l->dirty |= sectors;
    recent->hits[write][sectors]++;
    return true;
}

static void note_recent(struct recent *recent, const struct cache *c, uint64_t line, uint32_t shift) {
    uint32_t slot = tags_find(&c->bank.tags, line);
    if (slot != NO_SLOT)
        recent->slot[line >> shift & (RECENT - 1)] = slot;
}

/* Hits that were found so count as any. */
static void count_recent(struct recent *recent, struct cache *c) {
    for (uint32_t k = 0; k < MEM_SETS; k++) {
        uint64_t loads = recent->hits[false][k], stores = recent->hits[true][k],
                 sectors = mem_sectors((uint8_t)k);
        c->n.reads += loads;
        c->n.read_hits += loads;
        c->n.read_sectors += loads * sectors;
        c->n.writes += stores;
        c->n.write_hits += stores;
        c->n.write_sectors += stores * sectors;
    }
    memset(recent->hits, 0, sizeof recent->hits);
}

/* A miss of a load, or the first use of what was fetched ahead: strides are recognised by these. */
static void prefetch(struct port *p, uint64_t address, uint64_t pc) {
    const struct cpu_config *cfg = &p->memory->cfg;
    struct stride *s = &p->strides[(pc >> 2) % (uint64_t)cfg->prefetch_entries];
    int64_t stride = (int64_t)(address - s->last);
    if (s->pc != pc) {
        *s = (struct stride){.pc = pc, .last = address};
        return;
    }
    s->seen = stride == s->stride ? s->seen + 1 : 0;
    s->stride = stride;
    s->last = address;
    if (s->seen < CONFIDENT || !stride)
        return;
    uint64_t line = address >> p->memory->shift;
    for (int32_t k = 1; k <= cfg->prefetch_degree; k++) {
        uint64_t ahead = (address + (uint64_t)(stride * k)) >> p->memory->shift;
        bool asked = stride > 0 ? ahead <= s->ahead : ahead >= s->ahead;
        if (ahead == line || (asked && s->seen > CONFIDENT))
            continue;
        line = ahead;
        struct mem_access x = {
            .line = line << p->memory->shift, .sectors = p->l1d->bank.all, .kind = MEM_PREFETCH};
        if (p->memory->lone.on)
            spread(p->memory);
        open_port(p->l1d);
        if (!mem_accepted(cache_access(p->l1d, p->memory->now, &x, 0)))
            return;
        s->ahead = line;
        if (cache_out(p->l1d))
            leaves(p->memory, 2 * port_number(p));
    }
}

/* Part of a load, in one line. */
static __attribute__((noinline)) int load_line(struct port *p, uint64_t address, uint32_t size, uint64_t pc) {
    struct cpumem *m = p->memory;
    uint64_t line = address >> m->shift << m->shift;
    struct mem_access x = {
        .line = line, .sectors = sectors_of(address - line, size), .bytes = (uint16_t)size, .kind = MEM_LOAD};
    uint64_t useful = p->l1d->bank.n.prefetch_useful;
    uint32_t number = free_number(p);
    bool alone = tags_find(&p->l1d->bank.tags, line) == NO_SLOT &&
                 ask_alone(m, 2 * port_number(p), line, x.sectors, number);
    bool hit = !alone && offer(p, p->l1d, m->now, &x, number, false) == MEM_HIT;
    int result = hit ? CPUMEM_HIT : take_number(p, number);
    if (alone)
        p->data.slot[line >> m->shift & (RECENT - 1)] = m->lone.slot;
    else
        note_recent(&p->data, p->l1d, line, m->shift);
    if (!hit || p->l1d->bank.n.prefetch_useful != useful)
        prefetch(p, address, pc);
    return result;
}

static __attribute__((noinline)) int store_line(struct port *p, uint64_t address, uint32_t size) {
    struct cpumem *m = p->memory;
    uint64_t line = address >> m->shift << m->shift;
    struct mem_access x = {.line = line,
                           .sectors = sectors_of(address - line, size),
                           .bytes = (uint16_t)size,
                           .kind = MEM_STORE,
                           .flags = MEM_SILENT};
    uint32_t slot = tags_find(&p->l1d->bank.tags, line);
    if (slot != NO_SLOT && !(x.sectors & ~p->l1d->bank.tags.line[slot].valid)) {
        offer(p, p->l1d, m->now, &x, 0, true);
        note_recent(&p->data, p->l1d, line, m->shift);
        return CPUMEM_HIT;
    }
    x.flags = 0;
    uint32_t number = free_number(p);
    int result = take_number(p, number);
    if (offer(p, p->l1d, m->now, &x, number, true) ==
        MEM_HIT) /* the line came while the store waited for its turn */
        collect_data(p);
    return result;
}

/* A load or store in one line: as a rule what it wants is where it was before. */
static inline int access_line(struct port *p, uint64_t address, uint32_t size, uint64_t pc, bool write) {
    uint32_t shift = p->memory->shift;
    uint64_t line = address >> shift << shift;
    if (quick_hit(&p->data, p->l1d, line, shift, sectors_of(address - line, size), write))
        return CPUMEM_HIT;
    return write ? store_line(p, address, size) : load_line(p, address, size, pc);
}

static __attribute__((noinline)) int access_two(struct port *p, uint64_t address, uint32_t part,
                                                uint32_t size, uint64_t pc, bool write) {
    int number = access_line(p, address, part, pc, write);
    if (number != CPUMEM_HIT) /* one line after the other */
        cpumem_wait(p, number);
    p->extra++;
    return access_line(p, address + part, size - part, pc, write);
}

static inline int access_data(struct port *p, uint64_t now, uint64_t address, uint32_t size, uint64_t pc,
                              bool write) {
    struct cpumem *m = p->memory;
    p->extra = translate(&p->dtlb, address, (uint32_t)m->cfg.tlb_walk);
    enter(m, now + p->extra);
    address += p->space;
    uint32_t room = (uint32_t)m->cfg.line - (uint32_t)(address & (uint64_t)(m->cfg.line - 1));
    if (size > room)
        return access_two(p, address, room, size, pc, write);
    return access_line(p, address, size, pc, write);
}

int cpumem_load(struct port *p, uint64_t now, uint64_t address, uint32_t size, uint64_t pc) {
    return access_data(p, now, address, size, pc, false);
}

int cpumem_store(struct port *p, uint64_t now, uint64_t address, uint32_t size) {
    return access_data(p, now, address, size, 0, true);
}

/* A line of code that was not where it was before. */
static __attribute__((noinline)) uint64_t fetch_line(struct port *p, uint64_t now, uint64_t line) {
    struct cpumem *m = p->memory;
    struct mem_access x = {.line = line, .sectors = p->l1i->bank.all, .kind = MEM_LOAD};
    uint32_t slot = tags_find(&p->l1i->bank.tags, line);
    if (slot == NO_SLOT || p->l1i->bank.tags.line[slot].valid != p->l1i->bank.all)
        now = enter(m, now);
    p->fetched = NEVER;
    note_recent(&p->code, p->l1i, line, m->shift);
    bool alone = slot == NO_SLOT && ask_alone(m, 2 * port_number(p) + 1, line, x.sectors, L1_FETCH);
    if (!alone && offer(p, p->l1i, now, &x, L1_FETCH, false) == MEM_HIT)
        return now;
    while (p->fetched == NEVER)
        await(m);
    return p->fetched;
}

uint64_t cpumem_fetch(struct port *p, uint64_t now, uint64_t address) {
    struct cpumem *m = p->memory;
    now += translate(&p->itlb, address, (uint32_t)m->cfg.tlb_walk);
    uint64_t line = (address + p->space) >> m->shift << m->shift;
    if (quick_hit(&p->code, p->l1i, line, m->shift, p->l1i->bank.all, false))
        return now;
    return fetch_line(p, now, line);
}

uint64_t cpumem_wait(struct port *p, int number) {
    while (p->done[number] == NEVER)
        await(p->memory);
    p->busy &= ~(1u << number);
    return p->done[number];
}

void cpumem_move_to(struct port *p, uint64_t now) {
    enter(p->memory, now);
}

uint64_t cpumem_use_l2(struct cpumem *m, uint64_t now) {
    now = max_u64(enter(m, now), m->l2->free_at);
    m->l2->free_at = now + 1;
    return now;
}

void cpumem_settle(struct cpumem *m) {
    for (int32_t k = 0; k < m->cfg.dram_channels; k++)
        dram_run(m->channel[k].dram, clock_tick(&m->dram_clock, m->now));
    for (uint32_t k = 0; k < m->nports; k++) {
        count_recent(&m->port[k].data, m->port[k].l1d);
        count_recent(&m->port[k].code, m->port[k].l1i);
    }
}
