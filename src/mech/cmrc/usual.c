/* CMRC as it is usually, which m->usual says: registers have no owner, all rules hold, and any two accesses
 * whose sub-banks differ may share a port. Most banks then serve one request, which takes little; the others
 * are left to the arbiter for all (banks.c).
 *
 * Where the mechanism is alone, most requests never wait in a list: operands of an op that are the only ones
 * at their banks (sm->lone), and results that come to a bank where nothing waits (cmrc_write_now). */
#include "mech/cmrc/banks.h"

/* The register is written in this form. */
static EVERY_TIME void put_usual(struct cmrc *m, uint32_t place, struct cmrc_form f, uint8_t mask) {
    struct cmrc_reg *r = &m->regs[place];
    uint32_t version = CMRC_ALONE ? 0 : r->version + 1; /* nobody looks at it there */
    *r = (struct cmrc_reg){
        .form = f, .known = true, .spared = (uint8_t)(CMRC_ALL & ~mask), .version = version};
}

/* The form of the destination word in work of an op that writes all lanes; in the copy of the stages it goes
 * through its planes. */
static EVERY_TIME struct cmrc_form form_of_word(const struct cmrc *m, const struct core_op *op) {
    uint32_t *latch = m->sm->warps[op->warp].w->r[op->i->d + op->next_write];
    return CMRC_ALONE ? cmrc_through(m->params->sign, latch) : cmrc_form(m->params->sign, latch, UINT32_MAX);
}

EVERY_TIME uint32_t cmrc_write_now(void *state, int32_t id, uint32_t bank) {
    struct cmrc *m = state;
    const struct core_op *op = &m->sm->ops[id];
    if (!CMRC_USUAL(m))
        return 0;
    uint8_t mask;
    if (__builtin_expect(op->mask == UINT32_MAX, 1)) {
        struct cmrc_form f = form_of_word(m, op);
        mask = cmrc_mask(f.width, m->odd[op->place]);
        put_usual(m, op->place, f, mask);
    } else {
        cmrc_look(m, id);
        if (m->ops[id].expands)
            return 0;
        mask = m->ops[id].write;
        cmrc_write(m, id);
    }
    m->written[bank] = mask;
    count_port(m, 1);
    return count_sent(m, mask, op->mask == UINT32_MAX ? m->writes : NULL);
}

/* The only write that waits at a bank is served alone: no operand waits there, or it fills all sub-banks.
 * False: that is not so, or something has to be read before. */
static EVERY_TIME bool write_first(struct cmrc *m, struct sm *sm, uint32_t bank, int32_t id, int32_t at) {
    const struct core_op *op = &sm->ops[id];
    struct cmrc_op *o = &m->ops[id];
    struct cmrc_form f;
    uint8_t mask;
    if (op->mask != UINT32_MAX || op->pc == CORE_NO_PC)
        return false;
    if (o->looked == op->next_write + 1) {
        f = o->form;
        mask = o->write;
    } else {
        f = form_of_word(m, op);
        mask = cmrc_mask(f.width, m->odd[op->place]);
    }
    if (at != CORE_NONE && (mask != CMRC_ALL || cmrc_is_read(sm, bank, op->place)))
        return false;
    count_port(m, 1);
    put_usual(m, op->place, f, mask);
    o->looked = 0;
    core_serve_write_of(sm, bank, CORE_NONE, count_sent(m, mask, m->writes));
    return true;
}

/* The first operand that waits at a bank without writes is served alone: no other waits there, or it fills
 * all sub-banks. False: that is not so, or its collector may have a say. */
static EVERY_TIME bool read_first(struct cmrc *m, struct sm *sm, uint32_t bank, int32_t at) {
    const struct core_read *r = &sm->reads[at];
    if (CMRC_ALONE ? m->nfrozen : r->source == CORE_NONE)
        return false;
    const struct cmrc_op *p = &m->ops[r->op];
    uint8_t mask = CMRC_ALONE ? CMRC_ALL & ~m->regs[r->place].spared : p->mask[r->source];
    if (r->next != CORE_NONE && (mask != CMRC_ALL || PORTS(sm)))
        return false;
    if (PORTS(sm) && p->cycle == sm->now && p->slices & mask)
        return false;
    count_port(m, 1);
    cmrc_deliver(m, r, mask, bank, true);
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
    m->n.type5 += n - 1;
    if (CMRC_ALONE) {
        for (uint32_t k = 0; k < n; k++)
            m->reads[CMRC_ALL & ~regs[reads[k]].spared]++;
        core_serve_lone(sm, id, n * CORE_ARRAYS);
        return;
    }
    for (uint32_t k = 0; k < n; k++) {
        changed |= regs[reads[k]].version ^ p->version[k];
        arrays += count_access(m, p->mask[k]);
    }
    if (changed)
        m->wrong = read_too_late;
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

/* Ops that read alone, in `lone` by the last of their banks, where those before the first come last; returns
 * these banks. */
static EVERY_TIME uint32_t find_lone(struct sm *sm, uint32_t before, int32_t *lone) {
    uint32_t ends = 0;
    if (sm->write_banks)
        core_queue_lone(sm, writes_go_on(sm) ? UINT32_MAX : sm->write_banks);
    for (uint32_t k = 0, n = sm->nlone; k < n; k++) {
        uint32_t banks = sm->lone[k].banks, last = banks & before ? banks & before : banks;
        uint32_t end = 31 - (uint32_t)__builtin_clz(last);
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
    uint32_t before = (1u << first) - 1, ends = sm->nlone ? find_lone(sm, before, lone) : 0;
    uint32_t waiting = sm->read_banks | sm->write_banks | ends, taken = sm->written_banks;
    uint32_t turns = ~before; /* of these banks it is to come; then of those before the first */
    for (;;) {
        uint32_t left = waiting & turns;
        if (!left) {
            if (!(waiting & before))
                return;
            turns = before;
            before = 0;
            continue;
        }
        uint32_t bank = (uint32_t)__builtin_ctz(left);
        turns &= ~1u << bank;
        waiting &= ~(1u << bank);
        if (ends >> bank & 1)
            read_lone(m, sm, lone[bank]);
        else if (taken >> bank & 1 ? cmrc_serve_beside(m, bank) : serve_one(m, sm, bank))
            waiting |= sm->write_banks & (turns | before);
    }
}
