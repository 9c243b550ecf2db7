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

/* The same of one to or from outside the banks. */
static EVERY_TIME uint32_t count_sent(struct cmrc *m, uint8_t mask) {
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

/* An operand arrives at a collector. usual: m->usual is known to hold. */
static EVERY_TIME void cmrc_deliver(struct cmrc *m, const struct core_read *r, uint8_t mask, uint32_t bank,
                                    bool usual) {
    struct cmrc_op *p = &m->ops[r->op];
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
/* The same of a bank that has taken a write in this cycle, before which nothing waited: of those that came
 * later one may go with it. True. */
bool cmrc_serve_beside(struct cmrc *m, uint32_t bank);

/* ---- usual.c ---- */
/* The banks from one on and around, one after the other: what is written at one may then wait at the next. */
void cmrc_serve_usual(struct cmrc *m, struct sm *sm, uint32_t first);

#endif
