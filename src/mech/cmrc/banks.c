/* The arbiter: each bank serves one request in a cycle, or two whose sub-banks differ (Table I). Writes go
 * first, then the oldest read whose collector can take it; the partner is the oldest that fits. The banks
 * take turns in being first, because they share the collectors. */
#include "mech/cmrc/cmrc.h"

#include <stddef.h>

/* A request that waits at a bank. */
struct request {
    int32_t at, prev; /* read or op in its list, and the one before it; CORE_NONE: no request, the first */
    int32_t op;
    bool write;
    uint8_t mask; /* sub-banks */
    uint32_t place;
    uint64_t queued; /* order */
};
static const struct request no_request = {.at = CORE_NONE};

/* How many sub-banks a mask has. */
static const uint8_t width_of[1 << CMRC_FULL] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};

/* The bank looks at a write: what it takes is found out once. */
static inline void look_once(struct cmrc *m, int32_t id) {
    if (m->ops[id].looked != m->sm->ops[id].next_write + 1)
        cmrc_look(m, id);
}

static inline struct request write_at(struct cmrc *m, int32_t id, int32_t prev) {
    const struct cmrc_op *o = &m->ops[id];
    look_once(m, id);
    return (struct request){
        id, prev, id, true, o->expands ? o->expands : o->write, m->sm->ops[id].place, o->queued};
}

static inline struct request read_at(struct cmrc *m, int32_t at, int32_t prev) {
    const struct core_read *r = &m->sm->reads[at];
    uint8_t mask = r->source == CORE_NONE ? cmrc_place_mask(m, r->place) : m->ops[r->op].mask[r->source];
    return (struct request){at, prev, r->op, false, mask, r->place, m->ops[r->op].queued};
}

/* A read of the register waits at the bank. */
static EVERY_TIME bool is_read(const struct sm *sm, uint32_t bank, uint32_t place) {
    for (int32_t r = sm->read_banks >> bank & 1 ? sm->bank_reads[bank][0] : CORE_NONE; r != CORE_NONE;
         r = sm->reads[r].next)
        if (sm->reads[r].place == place)
            return true;
    return false;
}

/* What the collector of an op has taken in this cycle. */
static EVERY_TIME struct cmrc_port *port_of(struct cmrc *m, int32_t op) {
    struct cmrc_port *p = &m->ports[op];
    if (p->cycle != m->sm->now)
        *p = (struct cmrc_port){.cycle = m->sm->now};
    return p;
}

/* The collector can take what the request reads; with: the request that is served together with it. */
static EVERY_TIME bool has_slices(struct cmrc *m, const struct request *q, const struct request *with,
                                  uint32_t bank) {
    if (q->write || m->sm->reads[q->at].source == CORE_NONE || !m->sm->spec->collector_ports)
        return true;
    const struct cmrc_port *p = port_of(m, q->op);
    bool same = with->at != CORE_NONE && !with->write && with->op == q->op;
    uint32_t operands = p->operands + same, taken = p->slices | (same ? with->mask : 0);
    if (m->params->pairing == PAIR_ANY)
        return operands < 2;
    if (m->params->pairing == PAIR_READS && p->operands && p->bank != bank)
        return false;
    return !(taken & q->mask) || !cmrc_keeps(m, CM_SLICES);
}

/* Whether two requests of a bank can go together. */
static bool pairs(const struct cmrc *m, const struct request *a, const struct request *b) {
    switch (m->params->pairing) {
    case PAIR_READS:
        return !a->write && !b->write && a->op == b->op && !(a->mask & b->mask);
    case PAIR_ANY:
        return a->place != b->place;
    default:
        return !(a->mask & b->mask);
    }
}

/* The oldest write (read) of a bank that can be served, with another if there is one; false: there is none.
 */
static EVERY_TIME bool find_write(struct cmrc *m, uint32_t bank, const struct request *with,
                                  struct request *q) {
    const struct sm *sm = m->sm;
    if (!(sm->write_banks >> bank & 1))
        return false;
    int32_t prev = CORE_NONE, id = sm->bank_writes[bank][0];
    for (int32_t n = m->params->depth; id != CORE_NONE && n; n--, prev = id, id = sm->ops[id].next) {
        *q = write_at(m, id, prev);
        bool alone = with->at == CORE_NONE;
        if (!alone && ((with->write && with->at == id) || !pairs(m, with, q)))
            continue;
        if (!cmrc_keeps(m, CM_ORDER) || m->ops[id].expands || !is_read(sm, bank, q->place))
            return true;
    }
    return false;
}

/* The bank looks at the writes among which it would find one, but none can go. */
static void look_at_writes(struct cmrc *m, uint32_t bank) {
    const struct sm *sm = m->sm;
    int32_t id = sm->write_banks >> bank & 1 ? sm->bank_writes[bank][0] : CORE_NONE;
    for (int32_t n = m->params->depth; id != CORE_NONE && n; n--, id = sm->ops[id].next)
        look_once(m, id);
}

static EVERY_TIME bool find_read(struct cmrc *m, uint32_t bank, const struct request *with,
                                 struct request *q) {
    const struct sm *sm = m->sm;
    if (!(sm->read_banks >> bank & 1))
        return false;
    int32_t prev = CORE_NONE, at = sm->bank_reads[bank][0];
    for (int32_t n = m->params->depth; at != CORE_NONE && n; n--, prev = at, at = sm->reads[at].next) {
        *q = read_at(m, at, prev);
        bool alone = with->at == CORE_NONE;
        if (!alone && ((!with->write && with->at == at) || !pairs(m, with, q)))
            continue;
        if (has_slices(m, q, with, bank))
            return true;
    }
    return false;
}

/* Operands arrive at a collector. */
static EVERY_TIME void deliver(struct cmrc *m, const struct request *q, uint32_t bank) {
    struct cmrc_port *p = port_of(m, q->op);
    const struct core_read *r = &m->sm->reads[q->at];
    if (r->source == CORE_NONE)
        return;
    if (cmrc_at(m, q->place)->version != m->ops[q->op].version[r->source])
        m->wrong = "CMRC: a register was overwritten before it was read";
    if (m->params->pairing == PAIR_ALL && m->sm->spec->collector_ports && p->slices & q->mask)
        m->wrong = "CMRC: a collector took one slice from two registers";
    m->n.type5 += p->operands && p->bank != bank;
    m->n.collector_writes += !p->operands;
    m->n.operands++;
    p->slices |= q->mask;
    p->bank = (uint8_t)bank;
    p->operands++;
}

/* The access itself; that of a register which must be read before it is written leaves the request where it
 * is. */
static EVERY_TIME void serve(struct cmrc *m, const struct request *q, uint32_t bank) {
    static const size_t widths[] = {[1] = offsetof(struct cmrc_counters, width1),
                                    offsetof(struct cmrc_counters, width2),
                                    offsetof(struct cmrc_counters, width3),
                                    offsetof(struct cmrc_counters, width4)};
    uint32_t width = width_of[q->mask];
    m->serving = q->mask;
    ++*(uint64_t *)((char *)&m->n + widths[width]);
    if (!q->write) {
        deliver(m, q, bank);
        core_serve_read(m->sm, bank, q->prev);
    } else if (m->ops[q->at].expands) {
        m->ops[q->at].expands = 0;
        m->n.expansions++;
        m->n.expansion_arrays += 2 * width;
    } else {
        cmrc_write(m, q->at);
        core_serve_write(m->sm, bank, q->prev);
    }
}

static void count_pair(struct cmrc *m, const struct request *a, const struct request *b) {
    bool reads = !a->write && !b->write;
    m->n.pairs++;
    m->n.type1 += reads && a->op == b->op;
    m->n.type2 += reads && a->op != b->op;
    m->n.type3 += a->write && b->write;
    m->n.type4 += a->write != b->write;
}

/* One request waits at the bank, and no other: it needs no partner, and a write no look at reads before it.
 */
static inline bool is_alone(const struct sm *sm, uint32_t bank) {
    bool reads = sm->read_banks >> bank & 1, writes = sm->write_banks >> bank & 1;
    if (reads && writes)
        return false;
    return (reads ? sm->reads[sm->bank_reads[bank][0]].next : sm->ops[sm->bank_writes[bank][0]].next) ==
           CORE_NONE;
}

static EVERY_TIME void serve_alone(struct cmrc *m, uint32_t bank) {
    const struct sm *sm = m->sm;
    struct request q = sm->read_banks >> bank & 1 ? read_at(m, sm->bank_reads[bank][0], CORE_NONE)
                                                  : write_at(m, sm->bank_writes[bank][0], CORE_NONE);
    if (!has_slices(m, &q, &no_request, bank))
        return;
    m->n.port_cycles++;
    serve(m, &q, bank);
}

static EVERY_TIME void serve_bank(struct cmrc *m, uint32_t bank) {
    struct request a, w, r;
    if (is_alone(m->sm, bank)) {
        serve_alone(m, bank);
        return;
    }
    if (!find_write(m, bank, &no_request, &a) && !find_read(m, bank, &no_request, &a))
        return;
    m->n.port_cycles++;
    bool write = false, read = false;
    if (a.mask == CMRC_ALL && m->params->pairing != PAIR_ANY) { /* what fills all sub-banks goes alone */
        if (m->params->pairing != PAIR_READS)
            look_at_writes(m, bank);
    } else {
        write = m->params->pairing != PAIR_READS && find_write(m, bank, &a, &w);
        read = find_read(m, bank, &a, &r);
    }
    const struct request *b = write && !(read && r.queued < w.queued) ? &w : read ? &r : NULL;
    if (b) { /* In one list the partner is behind: what is in front of it must still be there. */
        count_pair(m, &a, b);
        serve(m, b, bank);
    }
    serve(m, &a, bank);
}

/* Banks from one up to another, one after the other: what is written at one may then wait at the next. */
static void serve_banks(struct cmrc *m, uint32_t from, uint32_t to) {
    const struct sm *sm = m->sm;
    while (from < to) {
        uint32_t left = (sm->read_banks | sm->write_banks) >> from;
        if (!left)
            return;
        from += (uint32_t)__builtin_ctz(left);
        if (from < to)
            serve_bank(m, from);
        from++;
    }
}

/* No port conflicts: whatever waits is served. */
static void serve_all(struct cmrc *m) {
    struct sm *sm = m->sm;
    while (sm->write_banks) {
        core_serve_write(sm, (uint32_t)__builtin_ctz(sm->write_banks), CORE_NONE);
        m->n.port_cycles++;
        m->n.width4++;
    }
    while (sm->read_banks) {
        core_serve_read(sm, (uint32_t)__builtin_ctz(sm->read_banks), CORE_NONE);
        m->n.port_cycles++;
        m->n.width4++;
        m->n.operands++;
        m->n.collector_writes++;
    }
}

void cmrc_arbitrate(void *state, uint64_t now) {
    struct cmrc *m = state;
    struct sm *sm = m->sm;
    if (!(sm->read_banks | sm->write_banks))
        return;
    uint32_t n = sm->spec->banks, first = (uint32_t)(n & (n - 1) ? now % n : now & (n - 1));
    if (m->params->pairing == PAIR_IDEAL) {
        serve_all(m);
        return;
    }
    serve_banks(m, first, n);
    serve_banks(m, 0, first);
    if (sm->read_banks | sm->write_banks)
        core_conflicts(sm, lanes_of(sm->read_banks), lanes_of(sm->write_banks));
}

/* Two arrays make a sub-bank. */
uint32_t cmrc_arrays(void *state, int32_t op, int32_t k, bool write, uint32_t arrays) {
    (void)op, (void)k, (void)write;
    struct cmrc *m = state;
    if (m->params->pairing == PAIR_IDEAL)
        return arrays;
    uint32_t used = 2u * width_of[m->serving];
    m->n.unsent += CORE_ARRAYS - used;
    return used;
}
