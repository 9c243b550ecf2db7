/* CMRC as it is usually, which m->usual says: registers have no owner, all rules hold, and any two accesses
 * whose sub-banks differ may share a port. Most banks then serve one request, or a first one that needs no
 * search and an operand with it; the others are left to the arbiter for all (banks.c).
 *
 * Where the mechanism is alone, most requests never wait in a list: operands of an op that are the only ones
 * at their banks (sm->lone), and results that come to a bank where nothing waits (cmrc_write_now). */
#include "mech/cmrc/banks.h"

/* A destination word that has a value for all lanes, as it is to be written. */
struct word {
    struct cmrc_form form;
    uint8_t mask; /* sub-banks */
    uint8_t kept; /* instead of the form, in the copy of the stages */
};

/* The word in work of an op; in the copy of the stages it goes through its planes, if it has not yet. */
static EVERY_TIME struct word find_word(const struct cmrc *m, const struct sm *sm, const struct core_op *op) {
    uint8_t kept = op->tag;
    if (CMRC_ALONE && kept)
        return (struct word){.mask = kept & CMRC_ALL, .kept = kept};
    uint32_t *latch = sm->warps[op->warp].w->r[op->i->d + op->next_write];
    if (CMRC_ALONE) {
        kept = cmrc_kept_as(m, op->place, cmrc_through(m->params->sign, latch));
        return (struct word){.mask = kept & CMRC_ALL, .kept = kept};
    }
    struct cmrc_form f = cmrc_form(m->params->sign, latch, UINT32_MAX);
    return (struct word){.form = f, .mask = cmrc_mask(f.width, m->odd[op->place])};
}

/* The register is written. */
static EVERY_TIME void put_word(struct cmrc *m, uint32_t place, const struct word *w) {
    if (CMRC_ALONE) {
        m->kept[place] = w->kept;
        return;
    }
    struct cmrc_reg *r = &m->regs[place];
    *r = (struct cmrc_reg){
        .form = w->form, .known = true, .spared = (uint8_t)(CMRC_ALL & ~w->mask), .version = r->version + 1};
}

EVERY_TIME uint32_t cmrc_write_now(void *state, int32_t id, uint32_t bank) {
    struct cmrc *m = state;
    const struct core_op *op = &m->sm->ops[id];
    if (!CMRC_USUAL(m))
        return 0;
    if (__builtin_expect(op->mask == UINT32_MAX, 1)) {
        struct word w = find_word(m, m->sm, op);
        put_word(m, op->place, &w);
        m->written[bank] = w.mask;
        count_port(m, 1);
        if (CMRC_ALONE) {
            m->granted[w.mask]++;
            return op->write_arrays;
        }
        return count_sent(m, w.mask, NULL);
    }
    cmrc_look(m, id);
    if (m->ops[id].expands)
        return 0;
    m->written[bank] = m->ops[id].write;
    cmrc_write(m, id);
    count_port(m, 1);
    return count_sent(m, m->written[bank], NULL);
}

/* The only write that waits at a bank is served, and with it an operand that waits there, if one fits. False:
 * it cannot be served yet. */
static EVERY_TIME bool write_first(struct cmrc *m, struct sm *sm, uint32_t bank, int32_t id, int32_t at) {
    struct core_op *op = &sm->ops[id];
    struct cmrc_op *o = &m->ops[id];
    bool all = op->mask == UINT32_MAX;
    struct word w;
    if (!CMRC_ALONE && op->pc == CORE_NO_PC)
        return false;
    if (__builtin_expect(all, 1)) {
        w = find_word(m, sm, op);
    } else {
        look_once(m, id);
        if (o->expands)
            return false;
        w.mask = o->write;
    }
    if (at != CORE_NONE && cmrc_is_read(sm, bank, op->place))
        return false;
    if (at != CORE_NONE && w.mask != CMRC_ALL)
        cmrc_serve_partner(m, bank, id, id, true, w.mask);
    count_port(m, 1);
    if (__builtin_expect(all, 1)) {
        put_word(m, op->place, &w);
        if (CMRC_ALONE)
            op->noted = false;
        else
            o->looked = 0;
    } else {
        cmrc_write(m, id);
    }
    core_serve_write_of(sm, bank, CORE_NONE, count_sent(m, w.mask, all ? m->writes : NULL));
    return true;
}

/* The first operand that waits at a bank without writes is served, and with it another, if one fits. False:
 * its collector may have a say. */
static EVERY_TIME bool read_first(struct cmrc *m, struct sm *sm, uint32_t bank, int32_t at) {
    const struct core_read *r = &sm->reads[at];
    const struct cmrc_op *p = &m->ops[r->op];
    if (CMRC_ALONE ? m->nfrozen : r->source == CORE_NONE)
        return false;
    uint8_t mask = CMRC_ALONE ? cmrc_usual_mask(m, r->place) : p->mask[r->source];
    if (PORTS(sm) && p->cycle == sm->now && p->slices & mask)
        return false;
    if (r->next != CORE_NONE && mask != CMRC_ALL)
        cmrc_serve_partner(m, bank, at, r->op, false, mask);
    count_port(m, 1);
    cmrc_deliver(m, sm, r, mask, bank, true);
    core_serve_read_of(sm, bank, CORE_NONE, count_sent(m, mask, m->reads));
    return true;
}

/* All operands of an op that reads alone come in one cycle, from different banks. */
static EVERY_TIME void read_lone(struct cmrc *m, struct sm *sm, int32_t id) {
    const struct core_op *op = &sm->ops[id];
    const struct cmrc_op *p = &m->ops[id];
    const struct cmrc_reg *regs = &m->regs[op->warp * MAX_GPR];
    const uint8_t *reads = op->need->reads;
    uint32_t n = op->pending, arrays = 0, changed = 0;
    m->n.collector_writes++;
    if (CMRC_ALONE) {
        for (uint32_t k = 0; k < n; k++)
            m->reads[cmrc_usual_mask(m, op->warp * MAX_GPR + reads[k])]++;
        core_serve_lone(sm, id, 0);
        return;
    }
    for (uint32_t k = 0; k < n; k++) {
        changed |= regs[reads[k]].version ^ p->version[k];
        arrays += count_access(m, p->mask[k]);
    }
    if (changed)
        m->wrong = read_too_late;
    m->n.type5 += n - 1;
    m->n.unsent += n * CORE_ARRAYS - arrays;
    m->n.port_cycles += n;
    m->n.operands += n;
    core_serve_lone(sm, id, arrays);
}

/* A write waits that may come to another bank in this cycle. */
static bool writes_go_on(const struct sm *sm) {
    for (uint32_t left = sm->write_banks; left; left &= left - 1) {
        const struct core_op *op = &sm->ops[sm->bank_writes[__builtin_ctz(left)][0]];
        if (op->next != CORE_NONE || op->next_write + 1 < op->writes)
            return true;
    }
    return false;
}

/* Banks by their turn in this cycle: from the first on, and around. */
static EVERY_TIME uint32_t by_turn(const struct sm *sm, uint32_t banks, uint32_t first) {
    return (uint32_t)((banks | (uint64_t)banks << sm->spec->banks) >> first) & sm->all_banks;
}

/* Ops that read alone, in `lone` by the turn of the last of their banks; returns these turns. */
static EVERY_TIME uint32_t find_lone(struct sm *sm, uint32_t first, int32_t *lone) {
    uint32_t ends = 0;
    if (sm->write_banks)
        core_queue_lone(sm, writes_go_on(sm) ? UINT32_MAX : sm->write_banks);
    for (uint32_t k = 0, n = sm->nlone; k < n; k++) {
        uint32_t end = 31 - (uint32_t)__builtin_clz(by_turn(sm, sm->lone[k].banks, first));
        lone[end] = sm->lone[k].op;
        ends |= 1u << end;
    }
    sm->read_banks &= ~sm->lone_banks;
    sm->nlone = sm->lone_banks = 0;
    return ends;
}

/* One request, or several, wait at a bank. True: a word that was written may now wait at another bank. */
static EVERY_TIME bool serve_one(struct cmrc *m, struct sm *sm, uint32_t bank) {
    int32_t at = sm->bank_reads[bank][0], id = sm->bank_writes[bank][0];
    if (id == CORE_NONE) {
        if (!read_first(m, sm, bank, at))
            cmrc_serve_several(m, bank);
        return false;
    }
    const struct core_op *op = &sm->ops[id];
    bool goes_on = op->next_write + 1 < op->writes;
    if (op->next == CORE_NONE && write_first(m, sm, bank, id, at))
        return goes_on;
    cmrc_serve_several(m, bank);
    return true;
}

EVERY_TIME void cmrc_serve_usual(struct cmrc *m, struct sm *sm, uint32_t first) {
    int32_t lone[CORE_MAX_BANKS];
    if (sm->nlone == 1 && sm->read_banks == sm->lone_banks &&
        !sm->write_banks) { /* nobody else reads or writes */
        sm->read_banks = sm->nlone = sm->lone_banks = 0;
        read_lone(m, sm, sm->lone[0].op);
        return;
    }
    uint32_t ends = sm->nlone ? find_lone(sm, first, lone) : 0;
    uint32_t waiting = by_turn(sm, sm->read_banks | sm->write_banks, first) | ends;
    for (const uint32_t taken = sm->written_banks; waiting;) {
        uint32_t turn = (uint32_t)__builtin_ctz(waiting), bank = sm->bank_at[turn + first];
        waiting &= waiting - 1;
        if (ends >> turn & 1)
            read_lone(m, sm, lone[turn]);
        else if (taken >> bank & 1 ? cmrc_serve_beside(m, bank) : serve_one(m, sm, bank))
            waiting |= by_turn(sm, sm->write_banks, first) & ~1u << turn;
    }
}
