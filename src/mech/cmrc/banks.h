/* Accesses of banks, between the arbiter for all (banks.c) and the usual one (usual.c). */
#ifndef REPRISE_MECH_CMRC_BANKS_H
#define REPRISE_MECH_CMRC_BANKS_H

#include "core/points.h"
#include "mech/cmrc/cmrc.h"

static const char read_too_late[] = "CMRC: a register was overwritten before it was read";

/* How many arrays some sub-banks have. */
static const uint8_t arrays_of_mask[1 << CMRC_FULL] = {0, 2, 2, 4, 2, 4, 4, 6, 2, 4, 4, 6, 4, 6, 6, 8};

/* Two arrays make a sub-bank: those of an access to these, which is counted by its width. */
static EVERY_TIME uint32_t count_access(struct cmrc *m, uint8_t mask) {
    ++*m->by_mask[mask];
    return arrays_of_mask[mask];
}

/* The same of one to or from outside the banks; whole: in the copy of the stages it is one of these, which
 * activate all arrays without CMRC, and which are counted later. */
static EVERY_TIME uint32_t count_sent(struct cmrc *m, uint8_t mask, uint64_t *whole) {
    if (CMRC_ALONE && whole) {
        whole[mask]++;
        return 0;
    }
    if (mask == CMRC_ALL) {
        m->n.width4++;
        return CORE_ARRAYS;
    }
    uint32_t arrays = count_access(m, mask);
    m->n.unsent += CORE_ARRAYS - arrays;
    return arrays;
}

/* A read of the register waits at the bank. */
static EVERY_TIME bool cmrc_is_read(const struct sm *sm, uint32_t bank, uint32_t place) {
    for (int32_t r = sm->bank_reads[bank][0]; r != CORE_NONE; r = sm->reads[r].next)
        if (sm->reads[r].place == place)
            return true;
    return false;
}

/* The bank looks at a write: what it takes is found out once. */
static EVERY_TIME void look_once(struct cmrc *m, int32_t id) {
    const struct core_op *op = &m->sm->ops[id];
    if (CMRC_ALONE ? !op->noted : m->ops[id].looked != op->next_write + 1)
        cmrc_look(m, id);
}

/* The port of a bank is used. */
static EVERY_TIME void count_port(struct cmrc *m, uint32_t n) {
    if (!CMRC_ALONE)
        m->n.port_cycles += n;
}

/* What read number `at` that waits activates. */
static EVERY_TIME uint8_t mask_of_read(struct cmrc *m, int32_t at) {
    const struct core_read *r = &m->sm->reads[at];
    if (!CMRC_ALONE)
        return r->source == CORE_NONE ? cmrc_place_mask(m, r->place) : m->ops[r->op].mask[r->source];
    if (__builtin_expect(m->nfrozen, 0) && m->frozen[at])
        return m->frozen[at];
    return cmrc_usual_mask(m, r->place);
}

/* It is served, and keeps no mask any more. */
static EVERY_TIME void let_thaw(struct cmrc *m, int32_t at) {
    if (CMRC_ALONE && __builtin_expect(m->nfrozen, 0)) {
        m->nfrozen -= m->frozen[at] != 0;
        m->frozen[at] = 0;
    }
}

/* An operand arrives at a collector that takes whatever comes, in the copy of the stages. */
static EVERY_TIME void deliver_alone(struct cmrc *m, struct sm *sm, const struct core_read *r) {
    struct core_op *op = &sm->ops[r->op];
    uint32_t cycle = (uint32_t)(sm->now - op->ready);
    m->n.collector_writes += op->served != cycle;
    op->served = cycle;
}

/* An operand arrives at a collector. usual: m->usual is known to hold. */
static EVERY_TIME void cmrc_deliver(struct cmrc *m, struct sm *sm, const struct core_read *r, uint8_t mask,
                                    uint32_t bank, bool usual) {
    struct cmrc_op *p = &m->ops[r->op];
    if (CMRC_ALONE) {
        deliver_alone(m, sm, r);
        return;
    }
    const struct cmrc_reg *reg = usual ? &m->regs[r->place] : cmrc_at(m, r->place);
    if (reg->version != p->version[r->source])
        m->wrong = read_too_late;
    if (p->cycle != m->sm->now) {
        p->cycle = m->sm->now;
        p->slices = p->operands = 0;
        m->n.collector_writes++;
    } else if (!p->operands) { /* it was asked whether it has room */
        m->n.collector_writes++;
    } else {
        m->n.type5 += p->bank != bank;
    }
    if (p->slices & mask && (usual || m->params->pairing == PAIR_ALL) && PORTS(m->sm))
        m->wrong = "CMRC: a collector took one slice from two registers";
    m->n.operands++;
    p->slices |= mask;
    p->bank = (uint8_t)bank;
    p->operands++;
}

/* ---- banks.c ---- */
/* Two requests of a bank, or one, as fits; CMRC as it is usually. */
void cmrc_serve_several(struct cmrc *m, uint32_t bank);
/* An operand goes together with a request that the bank is about to serve, with these sub-banks, if one
 * can. */
void cmrc_serve_partner(struct cmrc *m, uint32_t bank, int32_t at, int32_t op, bool write, uint8_t mask);
/* The same as the first of a bank that has taken a write in this cycle, before which nothing waited: of those
 * that came later one may go with it. True. */
bool cmrc_serve_beside(struct cmrc *m, uint32_t bank);

/* ---- usual.c ---- */
/* The banks from one on and around, one after the other: what is written at one may then wait at the next. */
void cmrc_serve_usual(struct cmrc *m, struct sm *sm, uint32_t first);

#endif
