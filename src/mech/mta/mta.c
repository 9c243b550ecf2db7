/* MTA, many-thread-aware prefetching (Lee et al., MICRO 2010), as DAC is compared with it: strides between
 * the accesses of a warp to one instruction, and between those of neighbouring warps, are learnt from a few
 * warps and then held for all; what they predict is fetched into a buffer beside L1. README.md has what is
 * decided here. */
#include "mech/mechanism.h"

#include <string.h>

struct mta_params {
    int32_t kb, table, agree, degree, period, latency;
    double early_low, early_high, merge_low, pj_table, pj_buffer;
};
static const struct param params[] = {
    {"mta.kb", PARAM_AT(struct mta_params, kb), 1, 256, 16, "KB",
     "MTA: prefetch buffer of an SM, beside L1 (DAC, table 1)."},
    {"mta.table", PARAM_AT(struct mta_params, table), 1, 256, 64, "entries",
     "MTA: load instructions whose strides are kept."},
    {"mta.agree", PARAM_AT(struct mta_params, agree), 1, 32, 3, "times",
     "MTA: a stride that comes so often in a row, from any warp, holds for all."},
    {"mta.degree", PARAM_AT(struct mta_params, degree), 1, 8, 1, "strides", "MTA: how far ahead is fetched."},
    {"mta.period", PARAM_AT(struct mta_params, period), 16, 1 << 20, 1024, "loads",
     "MTA: after so many loads the throttle is set anew."},
    {"mta.latency", PARAM_AT(struct mta_params, latency), 1, 1024, 24, "cycles",
     "MTA: from the load/store unit to data of the buffer, about L1's."},
    {"mta.early_low", PARAM_AT(struct mta_params, early_low), 0, 1, 0.01, "",
     "MTA: with fewer lines than this share thrown out unused, more is fetched again."},
    {"mta.early_high", PARAM_AT(struct mta_params, early_high), 0, 1, 0.02, "",
     "MTA: with more, less is fetched."},
    {"mta.merge_low", PARAM_AT(struct mta_params, merge_low), 0, 1, 0.15, "",
     "MTA: with less than this share of prefetches that loads wait for, more is fetched again."},
    {"mta.pj.table", PARAM_AT(struct mta_params, pj_table), 0, 1e6, 3.4, "pJ",
     "MTA: an access to the tables of strides, of the size of DAC's address queue."},
    {"mta.pj.buffer", PARAM_AT(struct mta_params, pj_buffer), 0, 1e6, 40, "pJ",
     "MTA: a line put into the buffer or read from it; a third of an L1 access, by size."},
};

enum { LEVELS = 5, QUEUE = 32, FETCHES = 4, NOTHING = UINT32_MAX };

/* A stride that is being learnt, or holds. */
struct mta_stride {
    int64_t stride;
    uint32_t seen;
};
struct mta_entry {
    int32_t pc; /* plus one; 0: empty */
    struct mta_stride within, between;
    uint64_t last[CORE_MAX_WARPS]; /* address, by warp; 0: none yet */
    uint32_t warp;                 /* that came last */
};
struct mta_line {
    uint64_t line, stamp;
    bool present, pending, used, far; /* far: from DRAM */
};
struct mta {
    struct sm *sm;
    const struct mta_params *params;
    struct mta_entry *table;
    struct mta_line *buffer;
    uint32_t lines;
    uint64_t queue[QUEUE];
    uint32_t first, count;
    uint64_t stamp;
    uint32_t level, loads, issued, thrown, merged; /* of the period */
    uint64_t looked, fetched, used, early, hits, late, dropped, throttled, far_fetched, far_used;
};

/* ---- the buffer ---- */

static struct mta_line *find(struct mta *m, uint64_t line) {
    for (uint32_t k = 0; k < m->lines; k++)
        if (m->buffer[k].present && m->buffer[k].line == line)
            return &m->buffer[k];
    return NULL;
}

static struct mta_line *victim(struct mta *m) {
    struct mta_line *best = NULL;
    for (uint32_t k = 0; k < m->lines; k++) {
        struct mta_line *x = &m->buffer[k];
        if (!x->present)
            return x;
        if (!x->pending && (!best || x->stamp < best->stamp))
            best = x;
    }
    return best;
}

static void want(struct mta *m, uint64_t line) {
    for (uint32_t k = 0; k < m->count; k++)
        if (m->queue[(m->first + k) % QUEUE] == line)
            return;
    if (m->count == QUEUE || find(m, line))
        return;
    m->queue[(m->first + m->count++) % QUEUE] = line;
}

/* Asks for one line a cycle. */
static void fetch(struct mta *m, uint64_t now) {
    uint64_t line = m->queue[m->first];
    struct mta_line *x = victim(m);
    const void *mapped = exec_global(m->sm->x, line, 1); /* what no page backs is not fetched */
    if (x && mapped) {
        uint32_t bytes = m->sm->spec->coalescer.line;
        struct mem_access a = {.line = line,
                               .lanes = 1,
                               .bytes = (uint16_t)bytes,
                               .sectors = mem_all_sectors(bytes),
                               .kind = MEM_LOAD,
                               .flags = MEM_BYPASS};
        if (!mem_accepted(core_request(m->sm, &a, (uint32_t)(x - m->buffer), now)))
            return;
        m->thrown += x->present && !x->used;
        m->early += x->present && !x->used;
        *x = (struct mta_line){.line = line, .stamp = ++m->stamp, .present = true, .pending = true};
        m->fetched++;
        m->issued++;
    }
    m->first = (m->first + 1) % QUEUE;
    m->count--;
}

static void arrived(void *state, uint32_t token, uint64_t now) {
    struct mta *m = state;
    (void)now;
    m->buffer[token].pending = false;
    m->buffer[token].far = core_arrived_from_dram(m->sm);
    m->far_fetched += m->buffer[token].far;
}

/* ---- strides ---- */

static void learn(const struct mta *m, struct mta_stride *s, int64_t stride) {
    if (s->stride == stride) {
        s->seen += s->seen < (uint32_t)m->params->agree;
    } else if (s->seen) {
        s->seen--;
    } else {
        *s = (struct mta_stride){stride, 1};
    }
}

static bool holds(const struct mta *m, const struct mta_stride *s) {
    return s->seen >= (uint32_t)m->params->agree && s->stride;
}

static void predict(struct mta *m, const struct core_op *o, int64_t stride) {
    uint64_t before = NOTHING, bytes = m->sm->spec->coalescer.line;
    if (m->level == LEVELS || (m->level && m->stamp % (m->level + 1)))
        return;
    for (int32_t k = 1; k <= m->params->degree; k++)
        for (uint32_t n = 0; n < o->naccess && n < FETCHES; n++) {
            uint64_t at = m->sm->access_pool[o->accesses * COALESCER_MAX + n].line + (uint64_t)(stride * k);
            at &= ~(bytes - 1);
            if (at != before)
                want(m, at);
            before = at;
        }
}

static void train(struct mta *m, const struct core_op *o) {
    struct mta_entry *e = &m->table[(uint32_t)o->pc % (uint32_t)m->params->table];
    uint64_t at = m->sm->access_pool[o->accesses * COALESCER_MAX].line;
    m->looked++;
    m->stamp++;
    if (e->pc != o->pc + 1)
        *e = (struct mta_entry){.pc = o->pc + 1, .warp = NOTHING};
    if (e->last[o->warp])
        learn(m, &e->within, (int64_t)(at - e->last[o->warp]));
    if (e->warp != NOTHING && e->warp != o->warp && e->last[e->warp]) {
        int64_t apart = (int64_t)o->warp - (int64_t)e->warp, delta = (int64_t)(at - e->last[e->warp]);
        if (delta % apart == 0)
            learn(m, &e->between, delta / apart);
    }
    e->last[o->warp] = at;
    e->warp = o->warp;
    if (holds(m, &e->within))
        predict(m, o, e->within.stride);
    else if (holds(m, &e->between))
        predict(m, o, e->between.stride);
}

/* By how many prefetches came in vain, and how many loads still wait for theirs. */
static void throttle(struct mta *m) {
    double early = m->issued ? (double)m->thrown / m->issued : 0,
           merged = m->issued ? (double)m->merged / m->issued : 0;
    if (early > m->params->early_high)
        m->level += m->level < LEVELS;
    else if (early < m->params->early_low || merged < m->params->merge_low)
        m->level -= m->level > 0;
    m->throttled += m->level;
    m->loads = m->issued = m->thrown = m->merged = 0;
}

/* ---- the pipeline ---- */

/* All lines of a load are in the buffer. */
static bool has_all(struct mta *m, const struct core_op *o) {
    bool all = true;
    for (uint32_t k = 0; k < o->naccess; k++) {
        struct mta_line *x = find(m, m->sm->access_pool[o->accesses * COALESCER_MAX + k].line);
        m->merged += x && x->pending;
        m->late += x && x->pending;
        all &= x && !x->pending;
    }
    return all;
}

static enum mech_verdict access(void *state, int32_t op, uint64_t now) {
    struct mta *m = state;
    const struct core_op *o = &m->sm->ops[op];
    if (o->accesses == CORE_NONE || !o->naccess || o->space != CORE_GLOBAL || o->i->kind == X_LDC)
        return MECH_PASS;
    const struct mem_access *a = &m->sm->access_pool[o->accesses * COALESCER_MAX];
    if (op_info[o->i->in->op].flags & OPF_STORE) {
        for (uint32_t k = 0; k < o->naccess; k++) {
            struct mta_line *x = find(m, a[k].line);
            if (x && !x->pending) {
                x->present = false;
                m->dropped++;
            }
        }
        return MECH_PASS;
    }
    if (o->i->kind != X_LOAD || o->i->in->m.vol)
        return MECH_PASS;
    bool hit = has_all(m, o);
    for (uint32_t k = 0; hit && k < o->naccess; k++) {
        struct mta_line *x = find(m, a[k].line);
        m->used += !x->used;
        m->far_used += !x->used && x->far;
        x->used = true;
        x->stamp = ++m->stamp;
        m->hits++;
    }
    train(m, o);
    if (++m->loads >= (uint32_t)m->params->period)
        throttle(m);
    if (!hit)
        return MECH_PASS;
    core_finish(m->sm, op, now + (uint64_t)m->params->latency);
    return MECH_TAKEN;
}

static void tick(void *state, uint64_t now) {
    struct mta *m = state;
    if (m->count)
        fetch(m, now);
}

static uint64_t next(const void *state, uint64_t now) {
    return ((const struct mta *)state)->count ? now + 1 : UINT64_MAX;
}

static void start(void *state, const void *marks) {
    struct mta *m = state;
    (void)marks;
    memset(m->table, 0, (size_t)m->params->table * sizeof *m->table);
    memset(m->buffer, 0, m->lines * sizeof *m->buffer);
    m->first = m->count = m->level = m->loads = m->issued = m->thrown = m->merged = 0;
}

static void *create(struct arena *a, const void *values, void *shared, struct sm *sm) {
    struct mta *m = arena_new(a, struct mta);
    (void)shared;
    *m = (struct mta){.sm = sm, .params = values};
    m->table = arena_array(a, struct mta_entry, m->params->table);
    m->lines = (uint32_t)m->params->kb * 1024 / sm->spec->coalescer.line;
    m->buffer = arena_array(a, struct mta_line, m->lines);
    return m;
}

static const struct counter_info counters[] = {
    {"mta.loads", "instructions", "loads whose strides are looked at", offsetof(struct mta, looked)},
    {"mta.fetched", "lines", "lines asked for ahead", offsetof(struct mta, fetched)},
    {"mta.used", "lines", "... of them used by a load", offsetof(struct mta, used)},
    {"mta.dram.fetched", "lines", "... of them read from DRAM for it", offsetof(struct mta, far_fetched)},
    {"mta.dram.used", "lines", "... and used by a load", offsetof(struct mta, far_used)},
    {"mta.early", "lines", "... thrown out before", offsetof(struct mta, early)},
    {"mta.dropped", "lines", "... dropped because they were written", offsetof(struct mta, dropped)},
    {"mta.hits", "lines", "lines that loads found in the buffer", offsetof(struct mta, hits)},
    {"mta.late", "lines", "... were still on their way", offsetof(struct mta, late)},
    {"mta.throttle", "levels", "level of the throttle, summed over periods", offsetof(struct mta, throttled)},
};
static const struct energy_event energy[] = {
    {ENERGY_MECHANISM, "mta.loads", "mta.pj.table", ENERGY_PJ_FIXED},
    {ENERGY_MECHANISM, "mta.fetched", "mta.pj.buffer", ENERGY_PJ_FIXED},
    {ENERGY_MECHANISM, "mta.hits", "mta.pj.buffer", ENERGY_PJ_FIXED},
};
MECHANISM(mta) = {
    .name = "mta",
    .help = "Many-thread-aware prefetching: strides within and between warps",
    .order = 41,
    .points = {.life = {.start = start, .tick = tick, .next = next},
               .memory = {.access = access, .arrived = arrived}},
    .params = PARAM_TABLE(struct mta_params, params, NULL),
    .counters = COUNTER_TABLE(counters),
    .energy = ENERGY_TABLE(energy),
    .create = create,
};
