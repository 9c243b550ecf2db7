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
    o->source[0] = place == CORE_NO_PLACE ? (struct gscalar_read){0} : m->regs[place].read;
    core_delay(m->sm, id, (uint32_t)m->params->latency);
}

void gscalar_list_kinds(struct gscalar *m) {
    for (uint32_t k = 0; k < CODE_FORMS; k++) {
        struct code_reg c = m->forms[k].code = code_of_form(k);
        uint32_t flags = c.full_scalar ? READ_SCALAR : 0;
        flags |= (c.shared[0] == CODE_WORD) | (uint32_t)(c.shared[1] == CODE_WORD) << 1; /* READ_HALVES */
        flags |= code_compressed(&c) ? READ_COMPRESSED : 0;
        m->kinds[k] = (struct gscalar_kind){
            .spared = (uint8_t)(CODE_ARRAYS - code_read_arrays(&m->spec, &c)),
            .shared = c.whole,
            .small = m->spec.code == CODE_SCALAR && code_compressed(&c),
            .flags = (uint8_t)flags,
        };
        m->forms[k].read = (struct gscalar_read){(uint8_t)k, (uint8_t)flags};
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

void gscalar_tally(void *state) {
    struct gscalar *m = state;
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
    }
    memset(m->reads, 0, sizeof m->reads);
    memset(m->writes, 0, sizeof m->writes);
}

/* A register that may equal the word in work is read: if it does, it has the same form. */
static __attribute__((noinline)) uint32_t read_equal(struct gscalar *m, int32_t id) {
    const struct core_op *op = &m->sm->ops[id];
    struct gscalar_reg r = {.code =
                                code_full(&m->spec, m->sm->warps[op->warp].w->r[op->i->d + op->next_write])};
    gscalar_learn(m, &r);
    m->reads[0][r.read.kind]++;
    return CODE_ARRAYS - m->kinds[r.read.kind].spared;
}

static EVERY_TIME uint32_t read_arrays(struct gscalar *m, int32_t id, int32_t k) {
    const struct gscalar_op *o = &m->ops[id];
    if (__builtin_expect(k < 0, 0))
        return read_equal(m, id);
    uint32_t kind = o->source[k].kind;
    m->reads[o->divergent][kind]++;
    return CODE_ARRAYS - m->kinds[kind].spared;
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
        m->n.expansion_arrays += CODE_ARRAYS - m->kinds[r->read.kind].spared;
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

/* All lanes of an instruction's result, where registers are planes of bytes. */
static EVERY_TIME uint32_t write_planes(struct gscalar *m, int32_t id, uint32_t k) {
    const struct core_op *op = &m->sm->ops[id];
    struct gscalar_reg *r = &m->regs[op->place];
    uint32_t *latch = m->sm->warps[op->warp].w->r[op->i->d + k];
    uint32_t base[2] = {latch[0], latch[CODE_HALF]}, form = code_through_planes(latch);
    *r = m->forms[form];
    r->code.base[0] = base[0];
    r->code.base[1] = base[1];
    if (__builtin_expect(m->ops[id].way == WAY_SCALAR, 0))
        m->wrong |= !r->code.full_scalar;
    m->writes[form]++;
    return CODE_ARRAYS - m->kinds[form].spared;
}

/* The same wherever they lie. */
static uint32_t write_full(struct gscalar *m, int32_t id, uint32_t k) {
    const struct core_op *op = &m->sm->ops[id];
    struct gscalar_reg *r = &m->regs[op->place];
    uint32_t *latch = m->sm->warps[op->warp].w->r[op->i->d + k];
    r->code = code_full(&m->spec, latch);
    gscalar_learn(m, r);
    if (m->plain && r->read.flags & READ_COMPRESSED)
        code_back(&m->spec, &r->code, latch, latch);
    m->wrong |= m->ops[id].way == WAY_SCALAR && !r->code.full_scalar;
    m->writes[r->read.kind]++;
    return CODE_ARRAYS - m->kinds[r->read.kind].spared;
}

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
    m->n.small_writes += m->small + m->kinds[r->read.kind].small;
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
    if (m->byte_planes && op->mask == CODE_ALL && op->pc != CORE_NO_PC)
        return write_planes(m, id, (uint32_t)k);
    return write_arrays(m, id, (uint32_t)k);
}
