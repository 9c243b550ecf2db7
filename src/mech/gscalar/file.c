/* Registers: what is known of them changes when their bank is written. */
#include <string.h>

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
    o->source[0] = m->kind[place];
    core_delay(m->sm, id, (uint32_t)m->params->latency);
    if (GSCALAR_EARLY)
        m->reads[1][o->source[0]]++;
}

void gscalar_list_kinds(struct gscalar *m) {
    for (uint32_t k = 0; k < CODE_FORMS; k++) {
        struct code_reg c = m->forms[k] = code_of_form(k);
        uint32_t flags = c.full_scalar ? READ_SCALAR : 0;
        flags |= (c.shared[0] == CODE_WORD) | (uint32_t)(c.shared[1] == CODE_WORD) << 1; /* READ_HALVES */
        flags |= code_compressed(&c) ? READ_COMPRESSED : 0;
        m->kinds[k] = (struct gscalar_kind){
            .spared = (uint8_t)(CODE_ARRAYS - code_read_arrays(&m->spec, &c)),
            .shared = c.whole,
            .small = m->spec.code == CODE_SCALAR && code_compressed(&c),
            .flags = (uint8_t)flags,
        };
    }
    m->kinds[KIND_ONE_VALUE].flags = READ_SCALAR;
}

/* So many accesses of registers whose lanes share so many bytes. */
static void count_sharing(struct gscalar *m, uint32_t shared, uint64_t n) {
    uint64_t *const counter[] = {&m->n.access_none, &m->n.access_1, &m->n.access_2, &m->n.access_3,
                                 &m->n.access_scalar};
    *counter[shared] += n;
}

/* By whom a register is accessed, and what all its lanes share. */
static void count_access(struct gscalar *m, bool divergent, uint32_t shared, uint32_t spared) {
    if (divergent)
        m->n.access_divergent++;
    else
        count_sharing(m, shared, 1);
    m->n.unsent += spared;
}

/* Some lanes of a result, or a move, are written, or (n = -1) that is taken back. */
static void count_part(struct gscalar *m, const struct core_op *op, uint32_t place, int64_t n) {
    uint64_t times = (uint64_t)n;
    uint32_t arrays = code_write_arrays(&m->spec, &m->regs[place]);
    m->n.compressions += op->pc != CORE_NO_PC ? times : 0;
    m->n.small_writes += times * (m->small + m->kinds[m->kind[place]].small);
    m->n.access_divergent += times;
    m->n.unsent += times * (CODE_ARRAYS - arrays);
    m->sm->n.rf_write_arrays += times * (arrays - op->write_arrays);
}

void gscalar_count_reads(struct gscalar *m, const struct core_op *op, const struct gscalar_op *o) {
    for (uint32_t k = 0, n = op->need->nreads; k < n; k++)
        m->reads[o->divergent][o->source[k]]++;
}

/* An operand has not been read. */
static void uncount_read(struct gscalar *m, int32_t id, uint32_t k) {
    const struct gscalar_op *o = &m->ops[id];
    m->reads[o->divergent][o->source[k]]--;
}

/* What counts early, and has not happened in a launch that was cut, is taken back. */
static void uncount(struct gscalar *m) {
    const struct sm *sm = m->sm;
    bool unused[CORE_OPS] = {false};
    for (uint32_t k = 0; k < sm->nlone; k++)
        for (uint32_t source = 0; source < sm->ops[sm->lone[k].op].need->nreads; source++)
            uncount_read(m, sm->lone[k].op, source);
    for (uint32_t left = sm->reads_waiting ? sm->read_banks & ~sm->lone_banks : 0; left; left &= left - 1)
        for (int32_t r = sm->bank_reads[__builtin_ctz(left)][0]; r != CORE_NONE; r = sm->reads[r].next)
            uncount_read(m, sm->reads[r].op, (uint32_t)sm->reads[r].source);
    for (int32_t id = sm->free_op; id != CORE_NONE && id < sm->fresh_op; id = next_free_op(sm, id))
        unused[id] = true;
    for (int32_t id = 0; id < sm->fresh_op; id++) {
        const struct core_op *op = &sm->ops[id];
        uint32_t place = op->warp * MAX_GPR + op->i->d;
        for (uint32_t k = op->next_write; !unused[id] && m->ops[id].early && k < op->writes; k++)
            if (op->mask == CODE_ALL)
                m->writes[m->kind[place + k]]--;
            else
                count_part(m, op, place + k, -1);
    }
}

void gscalar_tally(void *state) {
    struct gscalar *m = state;
    uint64_t reads = 0, writes = 0; /* arrays spared */
    if (m->early)
        uncount(m);
    for (uint32_t k = 0; k < GSCALAR_KINDS; k++) {
        const struct gscalar_kind *kind = &m->kinds[k];
        uint64_t whole = m->reads[0][k], divergent = m->reads[1][k], written = m->writes[k];
        m->n.decompressions += m->spec.code != CODE_SCALAR ? whole + divergent : 0;
        m->n.compressions += written;
        m->n.small_reads += (whole + divergent) * (m->small + kind->small);
        m->n.small_writes += written * (m->small + kind->small);
        m->n.access_divergent += divergent;
        m->n.unsent += (whole + divergent + written) * kind->spared;
        count_sharing(m, kind->shared, whole + written);
        reads += (whole + divergent) * kind->spared;
        writes += written * kind->spared;
    }
    if (m->early) { /* nobody has asked how many arrays accesses activate */
        m->sm->n.rf_read_arrays -= reads;
        m->sm->n.rf_read_spared += reads;
        m->sm->n.rf_write_arrays -= writes;
        m->sm->n.rf_write_spared += writes;
    }
    gscalar_tally_ways(m);
    memset(m->reads, 0, sizeof m->reads);
    memset(m->writes, 0, sizeof m->writes);
}

/* A register that may equal the word in work is read: if it does, it has the same form. */
static __attribute__((noinline)) uint32_t read_equal(struct gscalar *m, int32_t id) {
    const struct core_op *op = &m->sm->ops[id];
    struct code_reg r = code_full(&m->spec, m->sm->warps[op->warp].w->r[op->i->d + op->next_write]);
    uint32_t kind = gscalar_kind_of(&r);
    m->reads[0][kind]++;
    return CODE_ARRAYS - m->kinds[kind].spared;
}

static EVERY_TIME uint32_t read_arrays(struct gscalar *m, int32_t id, int32_t k) {
    const struct gscalar_op *o = &m->ops[id];
    if (__builtin_expect(k < 0, 0))
        return read_equal(m, id);
    uint32_t kind = o->source[k];
    m->reads[o->divergent][kind]++;
    return CODE_ARRAYS - m->kinds[kind].spared;
}

/* The register lies in the arrays as it is from now on; some lanes are about to be overwritten. */
static void expand(struct code_reg *r) {
    r->divergent = true;
    r->lanes = CODE_ALL;
}

void gscalar_lose(struct gscalar *m, uint32_t warp, uint32_t reg, uint32_t lanes) {
    uint32_t place = warp * MAX_GPR + reg;
    code_lose(&m->spec, &m->regs[place], m->sm->warps[warp].w->r[reg], lanes);
    m->regs[place] = (struct code_reg){.divergent = true, .known = true};
    gscalar_learn(m, place);
}

/* Some lanes of an instruction's result. An owner who overwrites in place makes no copy, and gave us no time
 * for a move. */
static void write_part(struct gscalar *m, int32_t id, uint32_t k) {
    const struct core_op *op = &m->sm->ops[id];
    uint32_t reg = op->i->d + k;
    bool compressed = gscalar_compressed(m, op->place);
    if (compressed && !m->owned) {
        gscalar_lose(m, op->warp, reg, ~op->mask);
    } else if (compressed && k < GSCALAR_WORDS && m->before[id][k] == op->place) {
        m->n.expansions++;
        m->n.expansion_arrays += CODE_ARRAYS - m->kinds[m->kind[op->place]].spared;
    }
    m->regs[op->place] = code_part(m->sm->warps[op->warp].w->r[reg], op->mask);
}

/* The same of an op that is not the program's. */
static void write_copy(struct gscalar *m, int32_t id) {
    const struct core_op *op = &m->sm->ops[id];
    struct code_reg *r = &m->regs[op->place];
    if (m->ops[id].move)
        expand(r);
    else /* of another mechanism, and perhaps later than the next result there: what it writes is not
          * compressed */
        *r = (struct code_reg){.lanes = op->mask, .divergent = true, .known = m->owned};
}

/* All lanes of a value go to a register, and come back from there; returns its kind. */
static EVERY_TIME uint32_t put_lanes(struct gscalar *m, uint32_t place, uint32_t *latch) {
    struct code_reg *r = &m->regs[place];
    if (__builtin_expect(m->byte_planes, 1)) {
        uint32_t base[2] = {latch[0], latch[CODE_HALF]}, form = m->through_planes(latch);
        *r = m->forms[form];
        r->base[0] = base[0];
        r->base[1] = base[1];
        m->kind[place] = (uint8_t)form;
        return form;
    }
    *r = code_full(&m->spec, latch);
    gscalar_learn(m, place);
    if (GSCALAR_PLAIN(m) && gscalar_compressed(m, place))
        code_back(&m->spec, r, latch, latch);
    return m->kind[place];
}

/* All lanes of an instruction's result. */
static uint32_t write_full(struct gscalar *m, int32_t id, uint32_t k) {
    const struct core_op *op = &m->sm->ops[id];
    uint32_t kind = put_lanes(m, op->place, m->sm->warps[op->warp].w->r[op->i->d + k]);
    m->wrong |= m->ops[id].way == WAY_SCALAR && !m->regs[op->place].full_scalar;
    m->writes[kind]++;
    return CODE_ARRAYS - m->kinds[kind].spared;
}

/* Some lanes of an instruction's result. */
static void put_part(struct gscalar *m, const struct core_op *op, uint32_t place, uint32_t *latch) {
    if (gscalar_compressed(m, place))
        code_lose(&m->spec, &m->regs[place], latch, ~op->mask);
    m->regs[place] = code_part(latch, op->mask);
    gscalar_learn(m, place);
    count_part(m, op, place, 1);
}

/* A result that one lane has computed, if that could be told from what it says of its operands. */
static void expect_one_value(struct gscalar *m, const struct core_op *op, const struct gscalar_op *o) {
    const struct code_reg *r = &m->regs[op->warp * MAX_GPR + op->i->d];
    for (uint32_t k = 0; o->way != WAY_HALF && k < op->writes; k++)
        m->wrong |= !r[k].full_scalar;
}

EVERY_TIME void gscalar_put(struct gscalar *m, int32_t id, const struct core_op *op, bool divergent) {
    struct gscalar_op *o = &m->ops[id];
    uint32_t d = op->i->d, n = op->writes;
    uint32_t place = op->warp * MAX_GPR + d;
    uint32_t(*latch)[WARP_LANES] = &m->sm->warps[op->warp].w->r[d];
    o->early = true;
    do {
        if (__builtin_expect(!divergent, 1))
            m->writes[put_lanes(m, place, *latch)]++;
        else
            put_part(m, op, place, *latch);
        place++;
        latch++;
    } while (--n);
    if (__builtin_expect(o->way != WAY_VECTOR, 0))
        expect_one_value(m, op, o);
}

void gscalar_result(void *state, int32_t id) {
    struct gscalar *m = state;
    const struct core_op *op = &m->sm->ops[id];
    if (op->writes)
        gscalar_put(m, id, op, op->mask != CODE_ALL);
}

void gscalar_expanded(struct gscalar *m, int32_t id) {
    const struct core_op *op = &m->sm->ops[id];
    uint32_t place = op->warp * MAX_GPR + op->i->d;
    expand(&m->regs[place]);
    gscalar_learn(m, place);
    count_part(m, op, place, 1);
}

static __attribute__((noinline)) uint32_t write_arrays(struct gscalar *m, int32_t id, uint32_t k) {
    const struct core_op *op = &m->sm->ops[id];
    const struct gscalar_op *o = &m->ops[id];
    uint32_t reg = op->i->d + k;
    const struct code_reg *r = &m->regs[op->place];
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
    gscalar_learn(m, op->place);
    m->wrong |= (o->way == WAY_SCALAR || o->way == WAY_DIVERGENT) && !r->full_scalar;
    uint32_t arrays = code_write_arrays(&m->spec, r);
    m->n.small_writes += m->small + m->kinds[m->kind[op->place]].small;
    count_access(m, op->mask != CODE_ALL || o->move, r->divergent ? 0 : r->whole, CODE_ARRAYS - arrays);
    return arrays;
}

EVERY_TIME uint32_t gscalar_arrays(void *state, int32_t id, int32_t k, bool write, uint32_t arrays) {
    struct gscalar *m = state;
    (void)arrays;
    if (!write)
        return read_arrays(m, id, k);
    return write_arrays(m, id, (uint32_t)k);
}
