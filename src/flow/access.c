#include "flow/access.h"

/* ---- bases of values ---- */

struct tracer {
    struct accesses *m;
    const struct fn *f;
    struct reach r;
    uint64_t *carries; /* by version: set of bases */
};

static uint64_t base_bit(struct accesses *m, enum base_kind kind, uint32_t v) {
    for (uint32_t k = 0; k < m->nbases; k++)
        if (m->bases[k].kind == kind && m->bases[k].v == v)
            return UINT64_C(1) << k;
    if (m->nbases == MAX_BASES)
        return BASE_UNKNOWN;
    m->bases[m->nbases] = (struct access_base){.kind = (uint8_t)kind, .v = v};
    return UINT64_C(1) << m->nbases++;
}

/* The base that a constant operand may be. */
static uint64_t bases_of_const(struct accesses *m, const struct opd *o) {
    if (o->kind == O_IMM && o->v >= SHARED_WINDOW && o->v < WINDOW_END)
        return base_bit(m, o->v < LOCAL_WINDOW ? BASE_SHARED : BASE_LOCAL, 0);
    if (o->kind != O_CONST)
        return 0;
    if (o->bank == BANK_PARAM && o->v >= PARAM_BASE)
        return base_bit(m, BASE_PARAM, o->v);
    if (o->bank == BANK_PARAM && (o->v == PARAM_BLOCK || o->v == PARAM_ENVREG))
        return base_bit(m, o->v == PARAM_BLOCK ? BASE_PARAMS : BASE_PARAM, o->v);
    if (o->bank == BANK_SYMBOL)
        return o->v == SYMBOL_CONST_BASE ? base_bit(m, BASE_CONST, 0) : base_bit(m, BASE_SYMBOL, o->v);
    return o->bank == BANK_CONST ? BASE_UNKNOWN : 0; /* pointers may be kept there */
}

/* Bases of word w of a source. */
static uint64_t bases_of_source(const struct tracer *t, uint32_t block, uint32_t index, uint32_t s,
                                uint32_t w) {
    const struct opd *o = &t->f->blocks.at[block].insts.at[index].src[s];
    if (o->kind != O_REG)
        return w ? 0 : bases_of_const(t->m, o);
    if (o->v == VREG_RZ)
        return 0;
    uint32_t v = reach_read(&t->r, block, index, value_of_opd(&t->r.v, o) + w);
    return v != NONE ? t->carries[v] : BASE_UNKNOWN;
}

/* Sources of products and shifts, which carry no pointer: bit s is set for source s. */
static uint32_t factors_of(const struct inst *i) {
    switch (i->op) {
    case OP_IMUL:
    case OP_IMULHI:
    case OP_IMULW:
    case OP_IMUL24:
    case OP_IMUL24HI:
    case OP_IMAD:
    case OP_IMADHI:
    case OP_IMADW:
        return 3;
    case OP_LEA:
        return 1;
    case OP_LEAHI:
        return 5;
    case OP_SHL:
    case OP_SHLHI:
        return 15;
    default:
        return 0;
    }
}

/* Of word k of the destination; nothing comes down from the upper word of what a wide product is added to. */
static uint64_t bases_of_result(const struct tracer *t, uint32_t block, uint32_t index, uint32_t k) {
    const struct inst *i = &t->f->blocks.at[block].insts.at[index];
    uint32_t factors = factors_of(i);
    uint64_t set = 0;
    if (op_info[i->op].flags & OPF_LOAD)
        return BASE_UNKNOWN;
    for (uint32_t s = 0; s < i->nsrc; s++)
        for (uint32_t w = 0; w < inst_src_words(i, s) && !(factors >> s & 1); w++)
            if (w <= k || i->op != OP_IMADW)
                set |= bases_of_source(t, block, index, s, w);
    return set;
}

static bool grow(struct tracer *t, uint32_t version, uint64_t set) {
    bool more = set & ~t->carries[version];
    t->carries[version] |= set;
    return more;
}

static bool trace_inst(struct tracer *t, uint32_t block, uint32_t index) {
    const struct inst *i = &t->f->blocks.at[block].insts.at[index];
    bool more = false;
    if (i->dst.kind != O_REG || i->dst.v == VREG_RZ)
        return false;
    for (uint32_t w = 0; w < inst_dst_words(i); w++) {
        uint64_t set = bases_of_result(t, block, index, w);
        uint32_t v = reach_written(&t->r, block, index, value_of_opd(&t->r.v, &i->dst) + w);
        more |= grow(t, v, set | (t->r.at[v].before != NONE ? t->carries[t->r.at[v].before] : 0));
    }
    return more;
}

static bool trace_merges(struct tracer *t, uint32_t block) {
    bool more = false;
    for (uint32_t k = t->r.merge_at[block]; k < t->r.merge_at[block + 1]; k++) {
        uint32_t v = t->r.merges[k];
        for (uint32_t p = 0; p < t->f->blocks.at[block].pred.len; p++) {
            uint32_t in = t->r.inputs[t->r.at[v].input + p];
            more |= in != NONE && grow(t, v, t->carries[in]);
        }
    }
    return more;
}

static void trace(struct tracer *t, struct arena *a) {
    struct arena temp = {0};
    uint32_t *order, n = cfg_rpo(&temp, t->f, &order), fp = fn_frame_reg(t->f);
    t->carries = arena_array(a, uint64_t, t->r.n + 1);
    for (uint32_t v = 0; v < t->r.n; v++)
        if (t->r.at[v].kind == VERSION_ENTRY && fp != VREG_RZ && t->r.at[v].value == t->r.v.base[fp])
            t->carries[v] = base_bit(t->m, BASE_LOCAL, 0);
        else if (t->r.at[v].kind == VERSION_ENTRY && !t->f->entry)
            t->carries[v] = BASE_UNKNOWN;
    for (bool again = true; again;) {
        again = false;
        for (uint32_t k = 0; k < n; k++) {
            again |= trace_merges(t, order[k]);
            for (uint32_t i = 0; i < t->f->blocks.at[order[k]].insts.len; i++)
                again |= trace_inst(t, order[k], i);
        }
    }
    arena_free(&temp);
}

/* ---- accesses ---- */

static uint8_t spaces_of_bases(const struct accesses *m, uint64_t bases) {
    static const uint8_t space[] = {
        [BASE_PARAM] = IN_GLOBAL, [BASE_SYMBOL] = IN_GLOBAL, [BASE_SHARED] = IN_SHARED,
        [BASE_LOCAL] = IN_LOCAL,  [BASE_CONST] = IN_CONST,   [BASE_PARAMS] = IN_CONST};
    uint8_t set = 0;
    if (!bases || bases & BASE_UNKNOWN)
        return IN_GLOBAL | IN_SHARED | IN_LOCAL | IN_CONST;
    for (uint32_t k = 0; k < m->nbases; k++)
        if (bases >> k & 1)
            set |= space[m->bases[k].kind];
    return set;
}

/* The number that the address of source s is, without the offset of the instruction; false: not known. */
static bool known_address(const struct tracer *t, uint32_t block, uint32_t index, uint32_t *at) {
    const struct inst *i = &t->f->blocks.at[block].insts.at[index];
    *at = 0;
    if (i->frame || i->src[0].kind != O_REG)
        return false;
    if (i->src[0].v == VREG_RZ)
        return true;
    uint32_t v = reach_read(&t->r, block, index, value_of_opd(&t->r.v, &i->src[0]));
    const struct inst *made = v != NONE ? reach_inst(&t->r, v) : NULL;
    if (!made || made->op != OP_MOV || made->src[0].kind != O_IMM || made->frame || is_guarded(made))
        return false;
    *at = made->src[0].v;
    return true;
}

static void place_access(struct tracer *t, struct access *x, const struct inst *i) {
    uint64_t unknown = BASE_UNKNOWN;
    switch (i->op) {
    case OP_LDC:
        x->bank = true;
        x->spaces = IN_CONST;
        x->bases = unknown;
        return;
    case OP_TEX:
    case OP_TXQ:
    case OP_SULD:
    case OP_SUST:
    case OP_SURED:
        x->spaces = IN_TEXTURE;
        x->bases = unknown;
        return;
    case OP_LDGSTS: /* one side is shared memory, the other global */
        x->bases = base_bit(t->m, BASE_SHARED, 0) | bases_of_source(t, x->block, x->index, 1, 0);
        x->spaces = IN_SHARED | IN_GLOBAL;
        return;
    case OP_MBAR:
        x->bases = base_bit(t->m, BASE_SHARED, 0);
        x->spaces = IN_SHARED;
        return;
    case OP_SYSCALL: /* its arguments and results are in local memory */
        x->bases = base_bit(t->m, BASE_LOCAL, 0);
        x->spaces = IN_LOCAL;
        return;
    default:
        break;
    }
    uint64_t traced = bases_of_source(t, x->block, x->index, 0, 0);
    traced = traced ? traced : unknown;
    x->fixed = known_address(t, x->block, x->index, &x->at);
    x->at += (uint32_t)i->imm;
    switch ((enum mem_space)i->m.space) {
    case MS_SHARED:
        x->spaces = IN_SHARED;
        x->bases = base_bit(t->m, BASE_SHARED, 0);
        x->at %= SHARED_SLICE; /* that of another block of the cluster may be this one's */
        break;
    case MS_LOCAL:
        x->spaces = IN_LOCAL;
        x->bases = base_bit(t->m, BASE_LOCAL, 0);
        break;
    case MS_GLOBAL:
        x->spaces = IN_GLOBAL;
        x->bases = traced;
        x->fixed = false;
        break;
    default:
        x->spaces = spaces_of_bases(t->m, traced);
        x->bases = traced;
        x->fixed = false;
    }
}

static bool accesses_memory(const struct inst *i) {
    return op_info[i->op].flags & (OPF_LOAD | OPF_STORE | OPF_ATOMIC) || i->op == OP_SYSCALL;
}

static void find_accesses(struct tracer *t, uint32_t fn, struct access *out, uint32_t *n) {
    for (uint32_t b = 0; b < t->f->blocks.len; b++)
        for (uint32_t k = 0; k < t->f->blocks.at[b].insts.len; k++) {
            const struct inst *i = &t->f->blocks.at[b].insts.at[k];
            if (!accesses_memory(i))
                continue;
            uint16_t flags = op_info[i->op].flags;
            struct access *x = &out[(*n)++];
            *x = (struct access){.fn = fn,
                                 .block = b,
                                 .index = k,
                                 .reads = flags & OPF_LOAD || i->op == OP_SYSCALL,
                                 .writes = flags & (OPF_STORE | OPF_ATOMIC) || i->op == OP_SYSCALL,
                                 .atomic = flags & OPF_ATOMIC,
                                 .vol = i->m.vol,
                                 .bytes = inst_access_bytes(i)};
            place_access(t, x, i);
            t->m->number[fn][t->r.first[b] + k] = *n;
        }
}

static uint32_t count_accesses(const struct program *p) {
    uint32_t n = 0;
    for (uint32_t f = 0; f < p->fns.len; f++)
        for (uint32_t b = 0; b < p->fns.at[f]->blocks.len; b++)
            for (uint32_t k = 0; k < p->fns.at[f]->blocks.at[b].insts.len; k++)
                n += accesses_memory(&p->fns.at[f]->blocks.at[b].insts.at[k]);
    return n;
}

struct accesses *accesses_of(struct arena *a, const struct program *p) {
    struct accesses *m = arena_new(a, struct accesses);
    m->p = p;
    m->at = arena_array(a, struct access, count_accesses(p) + 1);
    m->number = arena_array(a, uint32_t *, p->fns.len + 1);
    m->first = arena_array(a, uint32_t *, p->fns.len + 1);
    for (uint32_t f = 0; f < p->fns.len; f++) {
        struct arena temp = {0};
        struct tracer t = {.m = m, .f = p->fns.at[f], .r = reach_of(&temp, p->fns.at[f])};
        uint32_t total = 0;
        m->first[f] = arena_array(a, uint32_t, t.f->blocks.len + 1);
        for (uint32_t b = 0; b < t.f->blocks.len; total += t.f->blocks.at[b++].insts.len)
            m->first[f][b] = total;
        m->number[f] = arena_array(a, uint32_t, total + 1);
        trace(&t, &temp);
        find_accesses(&t, f, m->at, &m->n);
        arena_free(&temp);
    }
    return m;
}

const struct access *access_at(const struct accesses *m, uint32_t fn, uint32_t block, uint32_t index) {
    uint32_t n = m->number[fn][m->first[fn][block] + index];
    return n ? &m->at[n - 1] : NULL;
}

/* ---- questions ---- */

static bool of_launch(const struct access_base *b) {
    return b->kind == BASE_PARAM || b->kind == BASE_SYMBOL || b->kind == BASE_CONST;
}

static enum access_alias alias_bases(const struct access_base *x, const struct access_base *y) {
    if (x->kind == y->kind && x->v == y->v)
        return ALIAS_MAY;
    if (x->kind != BASE_PARAM && y->kind != BASE_PARAM)
        return ALIAS_NO; /* two variables, or two spaces */
    return of_launch(x) && of_launch(y) ? ALIAS_ARGUMENTS : ALIAS_NO;
}

enum access_alias access_alias(const struct accesses *m, const struct access *x, const struct access *y) {
    enum access_alias worst = ALIAS_NO;
    /* A pointer to the .const space is one to the global memory that holds it. */
    uint32_t sx = x->spaces & IN_CONST ? x->spaces | IN_GLOBAL : x->spaces,
             sy = y->spaces & IN_CONST ? y->spaces | IN_GLOBAL : y->spaces;
    if (!(sx & sy) || x->bank || y->bank)
        return ALIAS_NO;
    if (x->fixed && y->fixed && x->spaces == y->spaces)
        return x->at < y->at + y->bytes && y->at < x->at + x->bytes ? ALIAS_MAY : ALIAS_NO;
    if ((x->bases | y->bases) & BASE_UNKNOWN)
        return ALIAS_MAY;
    for (uint32_t i = 0; i < m->nbases; i++)
        for (uint32_t k = 0; k < m->nbases && x->bases >> i & 1; k++)
            if (y->bases >> k & 1) {
                enum access_alias now = alias_bases(&m->bases[i], &m->bases[k]);
                worst = now > worst ? now : worst;
            }
    return worst;
}

enum access_alias access_written(const struct accesses *m, const struct access *x) {
    enum access_alias worst = ALIAS_NO;
    for (uint32_t k = 0; k < m->n && worst != ALIAS_MAY; k++)
        if (m->at[k].writes) {
            enum access_alias now = access_alias(m, x, &m->at[k]);
            worst = now > worst ? now : worst;
        }
    return worst;
}
