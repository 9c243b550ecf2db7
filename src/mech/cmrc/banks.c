/* The arbiter: each bank serves one request in a cycle, or two whose sub-banks differ (Table I). Writes go
 * first, then the oldest read whose collector can take it; the partner is the oldest that fits. The banks
 * take turns in being first, because they share the collectors. */
#include "core/points.h"
#include "mech/cmrc/cmrc.h"

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

/* How many arrays some sub-banks have. */
static const uint8_t arrays_of_mask[1 << CMRC_FULL] = {0, 2, 2, 4, 2, 4, 4, 6, 2, 4, 4, 6, 4, 6, 6, 8};

/* The bank looks at a write: what it takes is found out once. */
static inline void look_once(struct cmrc *m, int32_t id) {
    if (m->ops[id].looked != m->sm->ops[id].next_write + 1)
        cmrc_look(m, id);
}

/* The same where registers have no owner and all rules hold. */
static EVERY_TIME void look_at_usual(struct cmrc *m, int32_t id) {
    const struct core_op *op = &m->sm->ops[id];
    struct cmrc_op *o = &m->ops[id];
    if (o->looked == op->next_write + 1)
        return;
    if (op->mask != UINT32_MAX || op->pc == CORE_NO_PC) {
        cmrc_look(m, id);
        return;
    }
    const uint32_t *value = m->sm->warps[op->warp].w->r[op->i->d + op->next_write];
    o->looked = (uint8_t)(op->next_write + 1);
    o->queued = ++m->order;
    o->expands = 0;
    o->whole = false;
    o->form = cmrc_form(m->params->sign, value, UINT32_MAX);
    o->write = cmrc_mask(o->form.width, m->odd[op->place]);
}

/* The functions below are compiled twice: for CMRC as it is usually, which m->usual says, and for all. */
static EVERY_TIME enum cmrc_pairing pairing(const struct cmrc *m, bool usual) {
    return usual ? PAIR_ALL : m->params->pairing;
}

static EVERY_TIME bool bank_keeps(const struct cmrc *m, enum cmrc_rule rule, bool usual) {
    return usual || cmrc_keeps(m, rule);
}

static EVERY_TIME struct cmrc_reg *reg_at(struct cmrc *m, uint32_t place, bool usual) {
    return usual ? &m->regs[m->slots[place]] : cmrc_at(m, place);
}

static EVERY_TIME struct request write_at(struct cmrc *m, int32_t id, int32_t prev) {
    const struct cmrc_op *o = &m->ops[id];
    look_once(m, id);
    return (struct request){
        id, prev, id, true, o->expands ? o->expands : o->write, m->sm->ops[id].place, o->queued};
}

static EVERY_TIME struct request read_at(struct cmrc *m, int32_t at, int32_t prev) {
    const struct core_read *r = &m->sm->reads[at];
    const struct cmrc_op *o = &m->ops[r->op];
    uint8_t mask = r->source == CORE_NONE ? cmrc_place_mask(m, r->place) : o->mask[r->source];
    return (struct request){at, prev, r->op, false, mask, r->place, o->queued};
}

/* A read of the register waits at the bank. */
static EVERY_TIME bool cmrc_is_read(const struct sm *sm, uint32_t bank, uint32_t place) {
    for (int32_t r = sm->bank_reads[bank][0]; r != CORE_NONE; r = sm->reads[r].next)
        if (sm->reads[r].place == place)
            return true;
    return false;
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

/* An operand arrives at a collector. */
static EVERY_TIME void cmrc_deliver(struct cmrc *m, const struct core_read *r, uint8_t mask, uint32_t bank,
                                    bool usual) {
    struct cmrc_op *p = port_of(m, r->op);
    if (reg_at(m, r->place, usual)->version != p->version[r->source])
        m->wrong = "CMRC: a register was overwritten before it was read";
    if (p->slices & mask && pairing(m, usual) == PAIR_ALL && PORTS(m->sm))
        m->wrong = "CMRC: a collector took one slice from two registers";
    m->n.type5 += p->operands && p->bank != bank;
    m->n.collector_writes += !p->operands;
    m->n.operands++;
    p->slices |= mask;
    p->bank = (uint8_t)bank;
    p->operands++;
}

/* Two arrays make a sub-bank: those of an access to these, which is counted by its width. */
static EVERY_TIME uint32_t count_access(struct cmrc *m, uint8_t mask) {
    ++*m->by_mask[mask];
    return arrays_of_mask[mask];
}

/* The same of one to or from outside the banks. */
static EVERY_TIME uint32_t count_sent(struct cmrc *m, uint8_t mask) {
    uint32_t arrays = count_access(m, mask);
    m->n.unsent += CORE_ARRAYS - arrays;
    return arrays;
}

/* The access itself; that of a register which must be read before it is written leaves the request where it
 * is. */
static APART void serve(struct cmrc *m, const struct request *q, uint32_t bank, bool usual) {
    if (!q->write) {
        const struct core_read *r = &m->sm->reads[q->at];
        if (r->source != CORE_NONE)
            cmrc_deliver(m, r, q->mask, bank, usual);
        core_serve_read_of(m->sm, bank, q->prev, count_sent(m, q->mask));
    } else if (m->ops[q->at].expands) {
        m->ops[q->at].expands = 0;
        m->n.expansions++;
        m->n.expansion_arrays += count_access(m, q->mask);
    } else {
        cmrc_write(m, q->at);
        core_serve_write_of(m->sm, bank, q->prev, count_sent(m, q->mask));
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
    m->n.port_cycles++;
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

static APART void serve_several(struct cmrc *m, uint32_t bank) {
    serve_bank(m, bank, true);
}

/* The first operand that waits at a bank without writes is served alone: no other waits there, or it fills
 * all sub-banks. False: that is not so, or its collector may have a say. */
static EVERY_TIME bool read_first(struct cmrc *m, struct sm *sm, uint32_t bank, int32_t at) {
    const struct core_read *r = &sm->reads[at];
    if (r->source == CORE_NONE)
        return false;
    const struct cmrc_op *p = &m->ops[r->op];
    uint8_t mask = p->mask[r->source];
    if (r->next != CORE_NONE && (mask != CMRC_ALL || PORTS(sm)))
        return false;
    if (PORTS(sm) && p->cycle == sm->now && p->slices & mask)
        return false;
    m->n.port_cycles++;
    cmrc_deliver(m, r, mask, bank, true);
    core_serve_read_of(sm, bank, CORE_NONE, count_sent(m, mask));
    return true;
}

/* The only write that waits at a bank is served alone: no operand waits there, or it fills all sub-banks.
 * False: that is not so, or something has to be read before. */
static EVERY_TIME bool write_first(struct cmrc *m, struct sm *sm, uint32_t bank, int32_t id, int32_t at) {
    const struct cmrc_op *o = &m->ops[id];
    look_at_usual(m, id);
    if (o->expands)
        return false;
    uint8_t mask = o->write;
    if (at != CORE_NONE && (mask != CMRC_ALL || cmrc_is_read(sm, bank, sm->ops[id].place)))
        return false;
    m->n.port_cycles++;
    cmrc_write_usual(m, id);
    core_serve_write_of(sm, bank, CORE_NONE, count_sent(m, mask));
    return true;
}

/* A bank as it is usually. */
static EVERY_TIME void serve_one(struct cmrc *m, struct sm *sm, uint32_t bank) {
    int32_t at = sm->bank_reads[bank][0], id = sm->bank_writes[bank][0];
    if (id == CORE_NONE ? !read_first(m, sm, bank, at)
                        : sm->ops[id].next != CORE_NONE || !write_first(m, sm, bank, id, at))
        serve_several(m, bank);
}

/* All banks, from one on and around, one after the other: what is written at one may then wait at the next.
 */
static EVERY_TIME void serve_banks(struct cmrc *m, uint32_t first, bool usual) {
    struct sm *sm = m->sm;
    uint32_t before = (1u << first) - 1, waiting = sm->read_banks | sm->write_banks;
    for (uint32_t half = 0; half < 2; half++) {
        uint32_t some = half ? before : ~before;
        for (uint32_t left; (left = waiting & some); waiting |= sm->write_banks) {
            uint32_t bank = (uint32_t)__builtin_ctz(left);
            some &= ~1u << bank; /* this one and those before it had their turn */
            if (usual)
                serve_one(m, sm, bank);
            else
                serve_bank(m, bank, false);
        }
    }
}

static APART void serve_usual(struct cmrc *m, uint32_t first) {
    serve_banks(m, first, true);
}

static APART void serve_any(struct cmrc *m, uint32_t first) {
    serve_banks(m, first, false);
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
    (m->usual ? serve_usual : serve_any)(m, first);
    if (sm->read_banks)
        core_conflicts(sm, lanes_of(sm->read_banks), 0);
    if (sm->write_banks)
        core_conflicts(sm, 0, lanes_of(sm->write_banks));
}

/* Of accesses that are served whatever their sub-banks. */
uint32_t cmrc_arrays(void *state, int32_t op, int32_t k, bool write, uint32_t arrays) {
    (void)state, (void)op, (void)k, (void)write;
    return arrays;
}
