/* Registers: what is known of them changes when their bank is written. */
#include <stddef.h>

#include "mech/gscalar/code_lanes.h"
#include "mech/gscalar/marks.h"

void gscalar_forget(struct gscalar *m, uint32_t warp, const struct xinst *i) {
    for (uint32_t r = i->d; r < i->d + i->ndw; r++) {
        if (m->owned)
            m->raw[warp][r / 64] |= UINT64_C(1) << (r % 64);
        else
            gscalar_unlearn(m, warp * MAX_GPR + r);
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
    *o = (struct gscalar_op){.move = m->making, .divergent = true};
    o->source[0] = place == CORE_NO_PLACE ? (struct gscalar_read){0} : m->regs[place].read;
    o->source[0].shared = 0;
    core_delay(m->sm, id, (uint32_t)m->params->latency);
}

/* By whom a register is accessed, and what all its lanes share. */
static WIDE_PART void count_access(struct gscalar *m, bool divergent, uint32_t shared, uint32_t spared) {
    static const size_t bytes[] = {
        offsetof(struct gscalar_counters, access_none), offsetof(struct gscalar_counters, access_1),
        offsetof(struct gscalar_counters, access_2), offsetof(struct gscalar_counters, access_3),
        offsetof(struct gscalar_counters, access_scalar)};
    ++*(divergent ? &m->n.access_divergent : (uint64_t *)((char *)&m->n + bytes[shared]));
    m->n.unsent += spared;
}

/* A register that may equal the word in work is read: if it does, it has the same form. */
static __attribute__((noinline)) uint32_t read_equal(struct gscalar *m, int32_t id) {
    const struct core_op *op = &m->sm->ops[id];
    struct gscalar_reg r = {.code =
                                code_full(&m->spec, m->sm->warps[op->warp].w->r[op->i->d + op->next_write])};
    gscalar_learn(m, &r);
    m->n.small_reads += m->small + r.read.small;
    count_access(m, false, r.read.shared, r.read.spared);
    return CODE_ARRAYS - r.read.spared;
}

static inline uint32_t read_arrays(struct gscalar *m, int32_t id, int32_t k) {
    const struct gscalar_op *o = &m->ops[id];
    m->n.decompressions += m->spec.code != CODE_SCALAR;
    if (__builtin_expect(k < 0, 0))
        return read_equal(m, id);
    struct gscalar_read read = o->source[k];
    m->n.small_reads += m->small + read.small;
    count_access(m, o->divergent, read.shared, read.spared);
    return CODE_ARRAYS - read.spared;
}

/* The register lies in the arrays as it is from now on; some lanes are about to be overwritten. */
static void expand(struct code_reg *r) {
    r->divergent = true;
    r->lanes = CODE_ALL;
}

void gscalar_lose(struct gscalar *m, uint32_t warp, uint32_t reg, uint32_t lanes) {
    struct gscalar_reg *r = &m->regs[warp * MAX_GPR + reg];
    code_lose(&m->spec, &r->code, m->sm->warps[warp].w->r[reg], lanes);
    r->code = (struct code_reg){.divergent = true, .known = true};
    gscalar_learn(m, r);
}

/* Some lanes of an instruction's result. An owner who overwrites in place makes no copy, and gave us no time
 * for a move. */
static void write_part(struct gscalar *m, int32_t id, uint32_t k) {
    const struct core_op *op = &m->sm->ops[id];
    uint32_t reg = op->i->d + k;
    struct gscalar_reg *r = &m->regs[op->place];
    bool compressed = r->read.flags & READ_COMPRESSED;
    if (compressed && !m->owned) {
        gscalar_lose(m, op->warp, reg, ~op->mask);
    } else if (compressed && k < GSCALAR_WORDS && m->before[id][k] == op->place) {
        m->n.expansions++;
        m->n.expansion_arrays += CODE_ARRAYS - r->read.spared;
    }
    r->code = code_part(m->sm->warps[op->warp].w->r[reg], op->mask);
}

/* The same of an op that is not the program's. */
static void write_copy(struct gscalar *m, int32_t id) {
    const struct core_op *op = &m->sm->ops[id];
    struct code_reg *r = &m->regs[op->place].code;
    if (m->ops[id].move)
        expand(r);
    else /* of another mechanism, and perhaps later than the next result there: what it writes is not
          * compressed */
        *r = (struct code_reg){.lanes = op->mask, .divergent = true, .known = m->owned};
}

/* All lanes of an instruction's result. */
static WIDE_PART uint32_t write_lanes(struct gscalar *m, int32_t id, uint32_t k) {
    const struct core_op *op = &m->sm->ops[id];
    struct gscalar_reg *r = &m->regs[op->place];
    uint32_t *latch = m->sm->warps[op->warp].w->r[op->i->d + k];
    const struct gscalar_reg *form = &m->forms[lanes_form(&m->spec, latch)];
    *r = *form;
    r->code.base[0] = latch[0];
    r->code.base[1] = latch[m->spec.halves ? CODE_HALF : 0];
    if (m->plain && form->read.flags & READ_COMPRESSED)
        lanes_back(&m->spec, &r->code, latch, latch);
    m->wrong |= m->ops[id].way == WAY_SCALAR && !form->code.full_scalar;
    m->n.compressions++;
    m->n.small_writes += m->small + form->read.small;
    count_access(m, false, form->read.shared, form->read.spared);
    return CODE_ARRAYS - form->read.spared;
}
WIDE_HERE(uint32_t, write_full, (struct gscalar * m, int32_t id, uint32_t k), write_lanes, m, id, k)

static __attribute__((noinline)) uint32_t write_arrays(struct gscalar *m, int32_t id, uint32_t k) {
    const struct core_op *op = &m->sm->ops[id];
    const struct gscalar_op *o = &m->ops[id];
    uint32_t reg = op->i->d + k;
    struct gscalar_reg *r = &m->regs[op->place];
    if (op->pc == CORE_NO_PC) {
        write_copy(m, id);
    } else {
        if (m->owned)
            m->raw[op->warp][reg / 64] &= ~(UINT64_C(1) << (reg % 64));
        if (op->mask == CODE_ALL)
            return write_full(m, id, k);
        m->n.compressions++;
        write_part(m, id, k);
    }
    gscalar_learn(m, r);
    m->wrong |= (o->way == WAY_SCALAR || o->way == WAY_DIVERGENT) && !r->code.full_scalar;
    uint32_t arrays = code_write_arrays(&m->spec, &r->code);
    m->n.small_writes += m->small + r->read.small;
    count_access(m, op->mask != CODE_ALL || o->move, r->code.divergent ? 0 : r->code.whole,
                 CODE_ARRAYS - arrays);
    return arrays;
}

EVERY_TIME uint32_t gscalar_arrays(void *state, int32_t id, int32_t k, bool write, uint32_t arrays) {
    struct gscalar *m = state;
    const struct core_op *op = &m->sm->ops[id];
    (void)arrays;
    if (!write)
        return read_arrays(m, id, k);
    if (m->plain && op->mask == CODE_ALL && op->pc != CORE_NO_PC)
        return write_full(m, id, (uint32_t)k);
    return write_arrays(m, id, (uint32_t)k);
}
