/* Which instructions one lane may compute for others (sections 2.3.1 to 2.3.3), and what becomes of them. */
#include <string.h>

#include "mech/gscalar/marks.h"

/* ---- marks of a kernel ------------------------------------------------------------------------------- */

/* Special registers that are the same in all lanes of a warp, whichever of these are active. */
static const bool same_for_all[SR_COUNT] = {
    [SR_CTAID_X] = true,  [SR_CTAID_Y] = true,    [SR_CTAID_Z] = true, [SR_NWARPID] = true,
    [SR_SMID] = true,     [SR_NSMID] = true,      [SR_GRIDID] = true,  [SR_DYN_SMEM] = true,
    [SR_DYN_SIZE] = true, [SR_TOTAL_SMEM] = true, [SR_ZERO] = true,    [SR_WARPID] = true,
};

/* Whether each lane accesses what the others do if they have the same address. */
static bool shared_space(const struct xinst *i) {
    return i->in->m.space != MS_LOCAL && i->in->m.space != MS_GENERIC;
}

/* By what executes it; of what is not listed nothing is assumed. */
static enum gscalar_class class_of(const struct xinst *i, bool local_too, bool lanes_too) {
    const struct op_info *info = &op_info[i->in->op];
    switch ((enum xkind)i->kind) {
    case X_ALU:
        return info->flags & (OPF_LANE | OPF_CROSS | OPF_EFFECT) ? CLASS_NEVER
               : info->unit == UNIT_SFU                          ? CLASS_SFU
                                                                 : CLASS_ALU;
    case X_S2R:
        return same_for_all[i->in->m.mode] || lanes_too ? CLASS_ALU : CLASS_NEVER;
    case X_LOAD:
    case X_STORE:
        return shared_space(i) || local_too ? CLASS_MEM : CLASS_NEVER;
    case X_LDC:
        return CLASS_MEM;
    case X_SHFL:
    case X_ATOM:
        return lanes_too ? CLASS_ALU : CLASS_NEVER;
    default:
        return CLASS_NEVER;
    }
}

enum gscalar_class gscalar_class(const struct xinst *i) {
    return class_of(i, false, false);
}

const void *gscalar_kernel(void *shared, struct arena *launch, const struct image *img) {
    const struct gscalar_params *p = shared;
    struct gscalar_marks *m = arena_new(launch, struct gscalar_marks);
    m->img = img;
    m->facts = arena_array(launch, uint8_t, img->ncode + 1);
    const bool can[] = {[CLASS_ALU] = p->alu, [CLASS_SFU] = p->sfu, [CLASS_MEM] = p->mem};
    for (uint32_t pc = 0; pc < img->ncode; pc++) {
        const struct xinst *i = &img->code[pc];
        struct core_need need = core_need(i);
        enum gscalar_class class = class_of(i, p->omit & GS_LOCAL, p->omit & GS_LANE);
        m->facts[pc] =
            (uint8_t)(class | (can[class] ? FACT_CAN : 0) | (need.control || !need.nwrites ? NEEDS_NONE : 0) |
                      (i->guard == PRED_PT && !i->gneg ? NEEDS_MASK : 0) |
                      (i->ps[0] != PRED_PT || i->ps[1] != PRED_PT ? NEEDS_PREDS : 0));
    }
    if (p->skip_dead)
        m->live = gscalar_liveness(launch, img);
    return m;
}

/* ---- operands ---------------------------------------------------------------------------------------- */

/* All lanes of active have one value in the register. */
static bool is_scalar(const struct gscalar *m, const struct code_reg *r, uint32_t active) {
    if (!r->known)
        return false;
    if (!r->divergent)
        return r->full_scalar;
    bool one =
        gscalar_keeps(m, GS_FULL) ? r->full_scalar : r->shared[0] == CODE_WORD && r->shared[1] == CODE_WORD;
    bool lanes = m->params->subset ? !(active & ~r->lanes) : active == r->lanes;
    return one && (lanes || !gscalar_keeps(m, GS_EXACT));
}

static bool pred_scalar(const struct gscalar *m, const struct gscalar_pred *p, uint32_t active) {
    bool lanes = p->lanes == CODE_ALL || (m->params->subset ? !(active & ~p->lanes) : active == p->lanes);
    return p->same && lanes;
}

static bool preds_scalar(const struct gscalar *m, uint32_t warp, const struct xinst *i, uint32_t active) {
    for (int k = 0; k < 2 && gscalar_keeps(m, GS_PREDS); k++)
        if (i->ps[k] != PRED_PT && !pred_scalar(m, &m->preds[warp][i->ps[k]], active))
            return false;
    return true;
}

/* The registers of an instruction's sources, as core_need names them. */
struct sources {
    const struct core_need *need;
    const struct code_reg *reg[GSCALAR_SOURCES];
};

static bool all_scalar(const struct gscalar *m, const struct sources *s, uint32_t active) {
    for (uint32_t k = 0; k < s->need->nreads; k++)
        if (!is_scalar(m, s->reg[k], active))
            return false;
    return true;
}

/* Halves in which every source has one value, and was written by all lanes. */
static uint8_t scalar_halves(const struct gscalar *m, const struct sources *s) {
    uint8_t halves = 3;
    for (uint32_t k = 0; k < s->need->nreads; k++) {
        const struct code_reg *r = s->reg[k];
        bool whole = r->known && (!r->divergent || !gscalar_keeps(m, GS_HALF));
        for (uint32_t h = 0; h < 2; h++)
            if (!whole || r->shared[h] != CODE_WORD)
                halves &= (uint8_t) ~(1u << h);
    }
    return halves;
}

/* How an instruction of all lanes executes, of whose sources all have these flags. */
static inline enum gscalar_way decide_whole(const struct gscalar *m, uint32_t flags, struct gscalar_op *o) {
    o->halves = 3;
    if (flags & READ_SCALAR)
        return WAY_SCALAR;
    o->halves = (uint8_t)(flags & m->half_flags);
    return o->halves ? WAY_HALF : WAY_VECTOR;
}

static enum gscalar_way decide(const struct gscalar *m, uint32_t warp, const struct xinst *i,
                               const struct sources *s, uint32_t facts, struct gscalar_op *o) {
    uint32_t active = o->active;
    if (!(facts & FACT_CAN) || !preds_scalar(m, warp, i, active))
        return WAY_VECTOR;
    if (active == CODE_ALL)
        return decide_whole(m, all_scalar(m, s, active) ? READ_SCALAR : scalar_halves(m, s), o);
    return m->params->divergent && all_scalar(m, s, active) ? WAY_DIVERGENT : WAY_VECTOR;
}

bool gscalar_equal(const struct warp *w, const struct xinst *i, const struct core_need *need,
                   uint32_t active) {
    uint32_t leader = code_leader(active);
    uint32_t p = w->p[i->ps[0]] & active, q = w->p[i->ps[1]] & active;
    if ((p && p != active) || (q && q != active))
        return false;
    for (uint32_t k = 0, n = need->nreads; k < n; k++) {
        const uint32_t *v = w->r[need->reads[k]], one = v[leader];
        for (uint32_t left = active; left; left &= left - 1)
            if (v[__builtin_ctz(left)] != one) /* most values that differ do so at once */
                return false;
    }
    return true;
}

/* What the arrays and base values of a source make goes to the instruction. */
static void restore(struct gscalar *m, uint32_t warp, uint32_t reg, const struct code_reg *r, uint32_t mask) {
    uint32_t value[WARP_LANES];
    code_back(&m->spec, r, m->sm->warps[warp].w->r[reg], value);
    core_operand(m->sm, warp, reg, value, mask);
}

/* One lane's operands for all active lanes. */
static void share_operands(struct gscalar *m, uint32_t warp, const struct xinst *i, const struct sources *s,
                           uint32_t active) {
    struct warp *w = m->sm->warps[warp].w;
    uint32_t leader = gscalar_keeps(m, GS_LEADER) ? code_leader(active) : 0;
    _Alignas(64) uint32_t value[WARP_LANES];
    for (uint32_t k = 0; k < s->need->nreads; k++) {
        uint32_t reg = s->need->reads[k];
        for (uint32_t l = 0; l < WARP_LANES; l++)
            value[l] = w->r[reg][leader];
        core_operand(m->sm, warp, reg, value, active);
    }
    for (int k = 0; k < 2; k++)
        if (i->ps[k] != PRED_PT) {
            uint32_t *p = &w->p[i->ps[k]], all = 0u - (*p >> leader & 1);
            *p = (*p & ~active) | (all & active);
        }
}

void gscalar_tally_ways(struct gscalar *m) {
    for (uint32_t class = CLASS_ALU; class <= CLASS_MEM; class ++) {
        m->n.halves += m->ways[class][WAY_HALF];
        m->n.divergent_scalar += m->ways[class][WAY_DIVERGENT];
    }
    for (uint32_t way = WAY_VECTOR; way <= WAY_DIVERGENT; way++)
        m->n.sfu += m->ways[CLASS_SFU][way];
    m->n.scalar_alu += m->ways[CLASS_ALU][WAY_SCALAR];
    m->n.scalar_sfu += m->ways[CLASS_SFU][WAY_SCALAR];
    m->n.scalar_mem += m->ways[CLASS_MEM][WAY_SCALAR];
    memset(m->ways, 0, sizeof m->ways);
}

/* An instruction of some lanes. */
static void note_divergent(struct gscalar *m, uint32_t warp, const struct xinst *i, const struct sources *s,
                           struct gscalar_op *o) {
    m->n.small_reads += m->spec.code == CODE_PLANES ? i->ndw * gscalar_sets(m) : 0;
    for (uint32_t k = 0; m->owned && k < i->ndw && k < GSCALAR_WORDS; k++)
        m->before[core_next_op(m->sm)][k] = (uint16_t)core_holds(m->sm, warp, i->d + k);
    m->n.divergent_equal += m->facts[m->sm->warps[warp].next] & FACT_CLASS &&
                            gscalar_equal(m->sm->warps[warp].w, i, s->need, o->active);
}

/* Finds out how an instruction of the program with active lanes executes. */
static inline void examine(struct gscalar *m, uint32_t warp, const struct xinst *i, const struct sources *s,
                           struct gscalar_op *o) {
    uint32_t facts = m->facts[m->sm->warps[warp].next];
    if (o->divergent)
        note_divergent(m, warp, i, s, o);
    if (!(facts & FACT_CLASS))
        return;
    enum gscalar_way way = decide(m, warp, i, s, facts, o);
    o->way = (uint8_t)way;
    m->ways[facts & FACT_CLASS][way]++;
    if (way == WAY_DIVERGENT)
        share_operands(m, warp, i, s, o->active);
}

/* Any instruction, also where somebody else owns the registers or compares, or rules are left out. */
static __attribute__((unused, noinline)) void
any_sources(struct gscalar *m, uint32_t warp, const struct xinst *i, uint32_t mask, struct gscalar_op *o) {
    const struct core_warp *cw = &m->sm->warps[warp];
    struct sources s;
    s.need = cw->need;
    o->divergent = mask != CODE_ALL;
    o->active = gscalar_keeps(m, GS_GUARD) ? mask : cw->w->stack[cw->w->depth - 1].mask;
    for (uint32_t k = 0; k < s.need->nreads; k++) {
        uint32_t reg = s.need->reads[k];
        uint32_t place = !GSCALAR_EARLY && m->owned ? gscalar_find(m, warp, reg) : warp * MAX_GPR + reg;
        s.reg[k] = &m->regs[place];
        o->source[k] = m->kind[place];
        if (!GSCALAR_PLAIN(m) && gscalar_compressed(m, place))
            restore(m, warp, reg, s.reg[k], mask);
    }
    m->n.divergent += o->divergent;
    if (!GSCALAR_EARLY && cw->x != m->sm->x)
        return;
    if (o->active)
        examine(m, warp, i, &s, o);
    if (!GSCALAR_EARLY && m->pairs)
        gscalar_pairs_issue(m, warp, o);
}

/* The same in the copy of the stages, of an instruction of some lanes. */
static APART void look_at_divergent(struct gscalar *m, uint32_t warp, const struct xinst *i, uint32_t mask,
                                    struct gscalar_op *o) {
    const struct core_warp *cw = &m->sm->warps[warp];
    const struct core_need *need = cw->need;
    uint32_t facts = m->facts[cw->next], first = warp * MAX_GPR;
    bool one = facts & FACT_CAN && m->params->divergent;
    o->divergent = true;
    o->active = mask;
    for (uint32_t k = 0, n = need->nreads; k < n; k++) {
        uint32_t place = first + need->reads[k];
        o->source[k] = m->kind[place];
        one = one && is_scalar(m, &m->regs[place], mask);
    }
    m->n.divergent++;
    if (!mask)
        return;
    m->n.small_reads += i->ndw * m->small;
    if (!(facts & FACT_CLASS))
        return;
    bool preds = !(facts & NEEDS_PREDS) || preds_scalar(m, warp, i, mask);
    o->way = one && preds ? WAY_DIVERGENT : WAY_VECTOR;
    m->ways[facts & FACT_CLASS][o->way]++;
    m->n.divergent_equal += gscalar_equal(cw->w, i, need, mask);
    if (o->way == WAY_DIVERGENT) {
        struct sources s = {.need = need};
        share_operands(m, warp, i, &s, mask);
    }
}

/* Registers that all lanes of an instruction read: what holds of all of them (enum gscalar_flag). */
static EVERY_TIME uint32_t look_at_sources(struct gscalar *m, uint32_t warp, const struct core_need *need,
                                           struct gscalar_op *o, bool count) {
    const uint8_t *own = &m->kind[warp * MAX_GPR];
    uint32_t flags = UINT32_MAX;
    for (uint32_t k = 0, n = need->nreads; k < n; k++) {
        uint32_t kind = o->source[k] = own[need->reads[k]];
        flags &= m->kinds[kind].flags;
        if (count)
            m->reads[0][kind]++;
    }
    return flags;
}

EVERY_TIME void gscalar_sources(void *state, uint32_t warp, const struct xinst *i, uint32_t mask) {
    struct gscalar *m = state;
    const struct sm *sm = m->sm;
    struct gscalar_op *o = &m->ops[core_next_op(sm)];
    o->way = WAY_VECTOR;
    o->halves = 0;
    o->divergent = o->move = o->early = false;
    if (mask != CODE_ALL || !GSCALAR_PLAIN(m)) {
        if (GSCALAR_EARLY)
            look_at_divergent(m, warp, i, mask, o);
        else
            any_sources(m, warp, i, mask, o);
        return;
    }
    const struct core_warp *cw = &sm->warps[warp];
    const struct core_need *need = cw->need;
    o->active = mask;
    uint32_t flags = GSCALAR_EARLY && __builtin_expect(need->computes, 1) /* others may fault */
                         ? look_at_sources(m, warp, need, o, true)
                         : look_at_sources(m, warp, need, o, false);
    uint32_t facts = m->facts[cw->next];
    bool some = flags & (READ_SCALAR | m->half_flags) && facts & FACT_CAN;
    enum gscalar_way way = WAY_VECTOR;
    if (some && (!(facts & NEEDS_PREDS) || preds_scalar(m, warp, i, mask)))
        o->way = (uint8_t)(way = decide_whole(m, flags, o));
    m->ways[facts & FACT_CLASS][way]++;
}

/* ---- what follows ------------------------------------------------------------------------------------ */

void gscalar_predicates(struct gscalar *m, uint32_t warp, const struct xinst *i, uint32_t active,
                        bool control) {
    const struct warp *w = m->sm->warps[warp].w;
    uint32_t all = (1u << PRED_PT) - 1, sets = (1u << i->pd[0] | 1u << i->pd[1]) & all;
    for (uint32_t left = i->kind == X_R2P ? all : sets; left; left &= left - 1) {
        uint32_t p = (uint32_t)__builtin_ctz(left), value = w->p[p] & active;
        m->preds[warp][p] = (struct gscalar_pred){active, !control && (!value || value == active)};
    }
}

/* Operands of scalar registers come one by one from a file of one bank. */
static void wait_for_file(struct gscalar *m, int32_t id) {
    const struct gscalar_op *o = &m->ops[id];
    uint64_t now = m->sm->now;
    uint32_t operands = 0;
    for (uint32_t k = 0; k < m->sm->ops[id].need->nreads; k++)
        operands += m->small + m->kinds[o->source[k]].small;
    if (!operands)
        return;
    uint32_t ports = (uint32_t)m->params->file_ports;
    uint64_t from = max_u64(m->file_free, now), until = from + (operands + ports - 1) / ports;
    m->file_free = until;
    m->n.file_waits += until - now - 1;
    core_delay(m->sm, id, (uint32_t)(until - now - 1));
}

/* What one lane has computed is the others' result. */
static inline void spread(struct gscalar *m, int32_t id, const struct gscalar_op *o) {
    if (o->way != WAY_HALF) {
        core_spread(m->sm, id, gscalar_keeps(m, GS_LEADER) ? code_leader(o->active) : 0, o->active);
        return;
    }
    for (uint32_t h = 0; h < 2; h++)
        if (o->halves >> h & 1)
            core_spread(m->sm, id, h * CODE_HALF, 0xffffu << h * CODE_HALF);
}

/* What most instructions have none of: results of one lane, predicates, operands of a scalar file. */
static APART void issue_more(struct gscalar *m, int32_t id) {
    const struct core_op *op = &m->sm->ops[id];
    const struct gscalar_op *o = &m->ops[id];
    if (m->params->file_ports)
        wait_for_file(m, id);
    if (!op->mask)
        return;
    if (o->way != WAY_VECTOR)
        spread(m, id, o);
    if (op->need->sets)
        gscalar_predicates(m, op->warp, op->i, o->active, false);
}

/* Its result, which all lanes get from one, goes to its registers. */
static APART void put_one_value(struct gscalar *m, int32_t id) {
    const struct core_op *op = &m->sm->ops[id];
    uint32_t place = op->warp * MAX_GPR + op->i->d;
    uint32_t(*latch)[WARP_LANES] = &m->sm->warps[op->warp].w->r[op->i->d];
    for (uint32_t k = 0; k < op->writes; k++) {
        uint32_t value = latch[k][WARP_LANES - 1];
        struct code_reg *r = &m->regs[place + k];
        lane_fill(latch[k], value, CODE_ALL);
        *r = m->forms[CODE_FORMS - 1];
        r->base[0] = r->base[1] = value;
        m->kind[place + k] = CODE_FORMS - 1;
    }
    m->writes[CODE_FORMS - 1] += op->writes;
    m->ops[id].early = true;
}

/* What one lane of a half has computed is the others' result. */
static APART void spread_halves(struct gscalar *m, const struct core_op *op, uint32_t halves) {
    uint32_t(*latch)[WARP_LANES] = &m->sm->warps[op->warp].w->r[op->i->d];
    for (uint32_t k = 0; k < op->writes; k++)
        for (uint32_t h = 0; h < 2; h++) {
            uint32_t *half = latch[k] + h * CODE_HALF, value = half[0];
            for (uint32_t l = 0; halves >> h & 1 && l < CODE_HALF; l++)
                half[l] = value;
        }
}

/* The next instruction needs no move, which facts alone do not tell: it is on this path, and writes nothing;
 * or nothing is on its way to what it writes, and that is not compressed; or its lanes are known, and all or
 * none. */
static APART bool needs_no_move(const struct gscalar *m, const struct core_op *op) {
    const struct core_warp *cw = &m->sm->warps[op->warp];
    const struct core_need *next = op->need + 1;
    const struct simt_entry *e = cw->w->top;
    bool on = e->pc == (uint32_t)op->pc + 1 && (e->pc != e->rpc || e->call);
    if (!on || !op->need->steps || op->i->in->m.vol || next->parted)
        return false;
    if (m->facts[op->pc + 1] & NEEDS_NONE)
        return true;
    if (!next->nwrites || cw->pending[next->dest_word] & next->dest)
        return false;
    uint32_t place = op->warp * MAX_GPR + next->i->d;
    bool compressed = false;
    for (uint32_t k = 0; k < next->nwrites; k++)
        compressed |= gscalar_compressed(m, place + k);
    if (!compressed)
        return true;
    uint32_t mask = e->mask & (cw->w->p[next->i->guard] ^ (0u - (uint32_t)next->i->gneg));
    return !(cw->pending_preds >> next->i->guard & 1) && (mask == CODE_ALL || !mask);
}

/* Its result goes to its registers. */
static EVERY_TIME void see_to_result(struct gscalar *m, int32_t id, struct core_op *op) {
    const struct gscalar_op *o = &m->ops[id];
    const struct core_need *need = op->need;
    bool more = need->sets || m->params->file_ports;
    if (__builtin_expect(o->way != WAY_VECTOR, 0)) {
        op->noted = true;
        more |= !need->computes || o->way == WAY_DIVERGENT;
        if (!more && o->way == WAY_SCALAR) {
            put_one_value(m, id);
            return;
        }
        if (!more)
            spread_halves(m, op, o->halves);
    }
    if (more)
        issue_more(m, id);
    if (!need->memory && op->writes)
        gscalar_put(m, id, op, o->divergent);
}

/* The same in the copy of the stages: all that follows from an instruction that took effect. */
static EVERY_TIME void see_to(struct gscalar *m, int32_t id) {
    struct core_op *op = &m->sm->ops[id];
    KEEP(op);
    const struct gscalar_op *o = &m->ops[id];
    op->delay = (uint16_t)m->params->latency;
    if (!op->need->computes || o->divergent)
        gscalar_count_reads(m, op, o);
    see_to_result(m, id, op);
    uint32_t enough = m->enough[op->warp];
    bool checked = m->facts[op->pc + 1] & enough; /* nothing behind the code, too */
    gscalar_note_turn(m, op->warp, checked || needs_no_move(m, op));
}

EVERY_TIME void gscalar_issued(void *state, int32_t id) {
    struct gscalar *m = state;
    const struct core_op *op = &m->sm->ops[id];
    const struct gscalar_params *p = m->params;
    if (GSCALAR_EARLY) {
        see_to(m, id);
        return;
    }
    gscalar_turn(m, op->warp, op->pc + 1);
    core_delay(m->sm, id, (uint32_t)p->latency);
    if (m->ops[id].way != WAY_VECTOR || op->need->sets || p->file_ports)
        issue_more(m, id);
}

EVERY_TIME struct mech_work gscalar_dispatch(void *state, int32_t id, struct mech_work work) {
    struct gscalar *m = state;
    const struct gscalar_op *o = &m->ops[id];
    bool vector = GSCALAR_EARLY ? !m->sm->ops[id].noted : o->way == WAY_VECTOR;
    if (vector || !work.lanes) /* moves are vectors, too */
        return work;
    uint32_t lanes = 1, beats = 1;
    if (o->way == WAY_HALF) {
        uint32_t rest = (uint32_t)__builtin_popcount(~o->halves & 3u);
        lanes = 2 - rest + rest * CODE_HALF;
        beats = 2 - rest + rest * (work.beats + 1) / 2;
    }
    m->n.lanes_gated += work.lanes - lanes;
    work.lanes = lanes;
    if (m->params->one_beat)
        work.beats = beats < work.beats ? beats : work.beats;
    if (m->params->dedicated)
        work.beats = 0;
    return work;
}
