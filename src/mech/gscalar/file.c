/* Registers: what is known of them changes when their bank is written. */
#include <stddef.h>

#include "mech/gscalar/marks.h"

void gscalar_forget(struct gscalar *m, uint32_t warp, const struct xinst *i) {
    for (uint32_t r = i->d; r < i->d + i->ndw; r++) {
        m->raw[warp][r / 64] |= UINT64_C(1) << (r % 64);
        if (!m->owned)
            m->regs[warp * MAX_GPR + r].known = false;
    }
}

/* A copy that another mechanism makes reads what its register is now. */
void gscalar_collected(void *state, int32_t id) {
    struct gscalar *m = state;
    const struct core_op *op = &m->sm->ops[id];
    struct gscalar_op *o = &m->ops[id];
    if (op->pc != CORE_NO_PC)
        return;
    uint32_t place = core_place(m->sm, id, 0, false);
    struct code_reg r = place == CORE_NO_PLACE ? (struct code_reg){0} : m->regs[place];
    *o = (struct gscalar_op){.move = m->making, .divergent = true};
    o->arrays[0] = (uint8_t)code_read_arrays(&m->spec, &r);
    o->small[0] = (uint8_t)gscalar_small(m, &r);
    core_delay(m->sm, id, (uint32_t)m->params->latency);
}

/* By whom a register is accessed, and what all its lanes share. */
static void count_access(struct gscalar *m, bool divergent, uint32_t shared, uint32_t arrays) {
    static const size_t bytes[] = {
        offsetof(struct gscalar_counters, access_none), offsetof(struct gscalar_counters, access_1),
        offsetof(struct gscalar_counters, access_2), offsetof(struct gscalar_counters, access_3),
        offsetof(struct gscalar_counters, access_scalar)};
    ++*(divergent ? &m->n.access_divergent : (uint64_t *)((char *)&m->n + bytes[shared]));
    m->n.unsent += CODE_ARRAYS - arrays;
}

static uint32_t read_arrays(struct gscalar *m, int32_t id, int32_t k) {
    const struct core_op *op = &m->sm->ops[id];
    struct gscalar_op *o = &m->ops[id];
    m->n.decompressions += m->spec.code != CODE_SCALAR;
    if (k < 0) { /* a register that may equal the word in work: if it does, it has the same form */
        struct code_reg r = code_full(&m->spec, m->sm->warps[op->warp].w->r[op->i->d + op->next_write]);
        uint32_t arrays = code_read_arrays(&m->spec, &r);
        m->n.small_reads += gscalar_small(m, &r);
        count_access(m, false, r.whole, arrays);
        return arrays;
    }
    m->n.small_reads += o->small[k];
    count_access(m, o->divergent, o->shared[k], o->arrays[k]);
    return o->arrays[k];
}

/* The register lies in the arrays as it is from now on; some lanes are about to be overwritten. */
static void expand(struct gscalar *m, uint32_t place) {
    m->regs[place].divergent = true;
    m->regs[place].lanes = CODE_ALL;
}

void gscalar_lose(struct gscalar *m, uint32_t warp, uint32_t reg, uint32_t lanes) {
    struct code_reg *r = &m->regs[warp * MAX_GPR + reg];
    code_lose(&m->spec, r, m->sm->warps[warp].w->r[reg], lanes);
    *r = (struct code_reg){.divergent = true, .known = true};
}

/* Some lanes of an instruction's result. An owner who overwrites in place makes no copy, and gave us no time
 * for a move. */
static void write_part(struct gscalar *m, int32_t id, uint32_t k) {
    const struct core_op *op = &m->sm->ops[id];
    uint32_t reg = op->i->d + k;
    struct code_reg *r = &m->regs[op->place];
    bool compressed = code_compressed(r);
    if (compressed && !m->owned) {
        gscalar_lose(m, op->warp, reg, ~op->mask);
    } else if (compressed && k < GSCALAR_WORDS && m->ops[id].before[k] == op->place) {
        m->n.expansions++;
        m->n.expansion_arrays += code_read_arrays(&m->spec, r);
    }
    *r = code_part(m->sm->warps[op->warp].w->r[reg], op->mask);
}

static __attribute__((noinline)) uint32_t write_arrays(struct gscalar *m, int32_t id, uint32_t k) {
    const struct core_op *op = &m->sm->ops[id];
    const struct gscalar_op *o = &m->ops[id];
    uint32_t reg = op->i->d + k;
    struct code_reg *r = &m->regs[op->place];
    bool full = op->mask == CODE_ALL;
    if (o->move && op->pc == CORE_NO_PC) {
        expand(m, op->place);
    } else if (op->pc == CORE_NO_PC) {
        /* Of another mechanism, and perhaps later than the next result there: what it writes is not
         * compressed. */
        *r = (struct code_reg){.lanes = op->mask, .divergent = true, .known = m->owned};
    } else {
        m->raw[op->warp][reg / 64] &= ~(UINT64_C(1) << (reg % 64));
        m->n.compressions++;
        if (full)
            *r = code_full(&m->spec, m->sm->warps[op->warp].w->r[reg]);
        else
            write_part(m, id, k);
    }
    m->wrong |= (o->way == WAY_SCALAR || o->way == WAY_DIVERGENT) && !r->full_scalar;
    uint32_t arrays = code_write_arrays(&m->spec, r);
    m->n.small_writes += gscalar_small(m, r);
    count_access(m, !full || o->move, r->divergent ? 0 : r->whole, arrays);
    return arrays;
}

uint32_t gscalar_arrays(void *state, int32_t id, int32_t k, bool write, uint32_t arrays) {
    (void)arrays;
    return write ? write_arrays(state, id, (uint32_t)k) : read_arrays(state, id, k);
}
