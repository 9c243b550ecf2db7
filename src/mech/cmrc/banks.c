/* The arbiter: each bank serves one request in a cycle, or two whose sub-banks differ (Table I). Writes go
 * first, then the oldest read whose collector can take it; the partner is the oldest that fits. The banks
 * take turns in being first, because they share the collectors. */
#include "mech/cmrc/banks.h"

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

/* The functions below are compiled twice: for CMRC as it is usually, which m->usual says, and for all. */
static EVERY_TIME enum cmrc_pairing pairing(const struct cmrc *m, bool usual) {
    return usual ? PAIR_ALL : m->params->pairing;
}

static EVERY_TIME bool bank_keeps(const struct cmrc *m, enum cmrc_rule rule, bool usual) {
    return usual || cmrc_keeps(m, rule);
}

static EVERY_TIME struct request write_at(struct cmrc *m, int32_t id, int32_t prev) {
    const struct cmrc_op *o = &m->ops[id];
    look_once(m, id);
    return (struct request){
        id, prev, id, true, o->expands ? o->expands : o->write, m->sm->ops[id].place, o->queued};
}

static EVERY_TIME struct request read_at(struct cmrc *m, int32_t at, int32_t prev) {
    const struct core_read *r = &m->sm->reads[at];
    uint64_t queued = CMRC_ALONE ? m->sm->ops[r->op].ready : m->ops[r->op].queued;
    return (struct request){at, prev, r->op, false, mask_of_read(m, at), r->place, queued};
}

/* What the collector of an op has taken in this cycle. */
static EVERY_TIME struct cmrc_op *port_of(struct cmrc *m, int32_t op) {
    struct cmrc_op *p = &m->ops[op];
    if (p->cycle != m->sm->now) {
        p->cycle = m->sm->now;
        p->slices = p->operands = p->bank = 0;
    }
    return p;
}

/* The collector can take what the request reads; with: the request that is served together with it. */
static EVERY_TIME bool has_slices(struct cmrc *m, const struct request *q, const struct request *with,
                                  uint32_t bank, bool usual) {
    if (!PORTS(m->sm) || q->write || m->sm->reads[q->at].source == CORE_NONE)
        return true;
    const struct cmrc_op *p = port_of(m, q->op);
    bool same = with->at != CORE_NONE && !with->write && with->op == q->op;
    uint32_t operands = p->operands + same, taken = p->slices | (same ? with->mask : 0);
    if (pairing(m, usual) == PAIR_ANY)
        return operands < 2;
    if (pairing(m, usual) == PAIR_READS && p->operands && p->bank != bank)
        return false;
    return !(taken & q->mask) || !bank_keeps(m, CM_SLICES, usual);
}

/* Whether two requests of a bank can go together. */
static EVERY_TIME bool pairs(const struct cmrc *m, const struct request *a, const struct request *b,
                             bool usual) {
    switch (pairing(m, usual)) {
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
                                  struct request *q, bool usual) {
    const struct sm *sm = m->sm;
    int32_t prev = CORE_NONE, id = sm->bank_writes[bank][0];
    for (int32_t n = m->params->depth; id != CORE_NONE && n; n--, prev = id, id = sm->ops[id].next) {
        *q = write_at(m, id, prev);
        bool alone = with->at == CORE_NONE;
        if (!alone && ((with->write && with->at == id) || !pairs(m, with, q, usual)))
            continue;
        if (!bank_keeps(m, CM_ORDER, usual) || m->ops[id].expands || !cmrc_is_read(sm, bank, q->place))
            return true;
    }
    return false;
}

/* The bank looks at the writes among which it would find one, but none can go. */
static EVERY_TIME void look_at_writes(struct cmrc *m, uint32_t bank) {
    const struct sm *sm = m->sm;
    int32_t id = sm->bank_writes[bank][0];
    for (int32_t n = m->params->depth; id != CORE_NONE && n; n--, id = sm->ops[id].next)
        look_once(m, id);
}

static EVERY_TIME bool find_read(struct cmrc *m, uint32_t bank, const struct request *with, struct request *q,
                                 bool usual) {
    const struct sm *sm = m->sm;
    int32_t prev = CORE_NONE, at = sm->bank_reads[bank][0];
    for (int32_t n = m->params->depth; at != CORE_NONE && n; n--, prev = at, at = sm->reads[at].next) {
        *q = read_at(m, at, prev);
        bool alone = with->at == CORE_NONE;
        if (!alone && ((!with->write && with->at == at) || !pairs(m, with, q, usual)))
            continue;
        if (has_slices(m, q, with, bank, usual))
            return true;
    }
    return false;
}

/* The access itself; that of a register which must be read before it is written leaves the request where it
 * is. */
static APART void serve(struct cmrc *m, const struct request *q, uint32_t bank, bool usual) {
    if (!q->write) {
        const struct core_read *r = &m->sm->reads[q->at];
        if (r->source != CORE_NONE)
            cmrc_deliver(m, m->sm, r, q->mask, bank, usual);
        let_thaw(m, q->at);
        core_serve_read_of(m->sm, bank, q->prev, count_sent(m, q->mask, m->reads));
    } else if (m->ops[q->at].expands) {
        m->ops[q->at].expands = 0;
        m->n.expansions++;
        m->n.expansion_arrays += count_access(m, q->mask);
    } else {
        cmrc_write(m, q->at);
        core_serve_write_of(m->sm, bank, q->prev,
                            count_sent(m, q->mask, m->sm->ops[q->at].mask == UINT32_MAX ? m->writes : NULL));
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

static EVERY_TIME void serve_bank(struct cmrc *m, uint32_t bank, bool usual) {
    struct request a, w, r;
    if (!find_write(m, bank, &no_request, &a, usual) && !find_read(m, bank, &no_request, &a, usual))
        return;
    count_port(m, 1);
    bool write = false, read = false;
    if (a.mask == CMRC_ALL && pairing(m, usual) != PAIR_ANY) { /* what fills all sub-banks goes alone */
        if (pairing(m, usual) != PAIR_READS)
            look_at_writes(m, bank);
    } else {
        write = pairing(m, usual) != PAIR_READS && find_write(m, bank, &a, &w, usual);
        read = find_read(m, bank, &a, &r, usual);
    }
    const struct request *b = write && !(read && r.queued < w.queued) ? &w : read ? &r : NULL;
    if (b) { /* In one list the partner is behind: what is in front of it must still be there. */
        count_pair(m, &a, b);
        serve(m, b, bank, usual);
    }
    serve(m, &a, bank, usual);
}

APART void cmrc_serve_several(struct cmrc *m, uint32_t bank) {
    serve_bank(m, bank, true);
}

APART void cmrc_serve_partner(struct cmrc *m, uint32_t bank, int32_t at, int32_t op, bool write,
                              uint8_t mask) {
    const struct request first = {.at = at, .op = op, .write = write, .mask = mask};
    struct request q;
    if (!find_read(m, bank, &first, &q, true))
        return;
    count_pair(m, &first, &q);
    serve(m, &q, bank, true);
}

APART bool cmrc_serve_beside(struct cmrc *m, uint32_t bank) {
    const struct request first = {.at = CORE_OPS, .write = true, .mask = m->written[bank]};
    struct request q;
    if (first.mask == CMRC_ALL) {
        look_at_writes(m, bank);
    } else if (find_write(m, bank, &first, &q, true)) {
        count_pair(m, &first, &q);
        serve(m, &q, bank, true);
    }
    return true;
}

/* All banks, from one on and around. */
static APART void serve_any(struct cmrc *m, uint32_t first) {
    struct sm *sm = m->sm;
    uint32_t before = (1u << first) - 1, waiting = sm->read_banks | sm->write_banks;
    for (uint32_t half = 0; half < 2; half++) {
        uint32_t some = half ? before : ~before;
        for (uint32_t left; (left = waiting & some); waiting |= sm->write_banks) {
            uint32_t bank = (uint32_t)__builtin_ctz(left);
            some &= ~1u << bank; /* this one and those before it had their turn */
            serve_bank(m, bank, false);
        }
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

/* The same of CMRC as it seldom is. */
static APART void arbitrate_any(struct cmrc *m, uint32_t first) {
    core_queue_lone(m->sm, UINT32_MAX);
    if (m->params->pairing == PAIR_IDEAL)
        serve_all(m);
    else
        serve_any(m, first);
}

EVERY_TIME void cmrc_arbitrate(void *state, uint64_t now) {
    struct cmrc *m = state;
    struct sm *sm = m->sm;
    if (!(sm->read_banks | sm->write_banks))
        return;
    uint32_t n = sm->spec->banks, first = (uint32_t)(n & (n - 1) ? now % n : now & (n - 1));
    if (CMRC_USUAL(m))
        cmrc_serve_usual(m, sm, first);
    else
        arbitrate_any(m, first);
    if (sm->read_banks | sm->write_banks)
        core_conflicts(sm, lanes_of(sm->read_banks), lanes_of(sm->write_banks));
}

/* Of accesses that are served whatever their sub-banks. */
uint32_t cmrc_arrays(void *state, int32_t op, int32_t k, bool write, uint32_t arrays) {
    (void)state, (void)op, (void)k, (void)write;
    return arrays;
}
