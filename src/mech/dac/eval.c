/* Tuple arithmetic of the affine warp (sections 4.4 and 4.6): what each instruction of its stream makes of
 * the values in its registers. An instruction all of whose operands are the same in the grid is computed as
 * in the program, on one number; the others by the rules of tuples. */
#include "mech/dac/dac.h"

#include <string.h>

void dac_broken(struct dac *d, const char *what) {
    if (d->broken)
        return;
    d->broken = true;
    d->affine_unchanged = false;
    d->sm->n.check_wrong++;
    if (d->sm->check.out)
        str_printf(d->sm->check.out, "check: DAC on SM %u: %s; the affine warp is at 0x%x\n", d->sm->id, what,
                   d->depth ? d->path[d->depth - 1].pc * INST_BYTES : 0);
}

/* ---- conditions ---- */

uint16_t dac_mask_new(struct dac *d) {
    for (uint16_t k = 0; k < DAC_MASKS; k++)
        if (!d->mask_refs[k]) {
            d->mask_refs[k] = 1;
            d->n.stack_accesses++;
            return k;
        }
    dac_broken(d, "no room for a condition");
    return 0;
}

void dac_hold(struct dac *d, const uint16_t cond[DAC_CONDS], bool hold) {
    for (uint32_t k = 0; k < DAC_CONDS; k++)
        if (cond[k] != DAC_NO_COND)
            d->mask_refs[cond[k]] = (uint16_t)(d->mask_refs[cond[k]] + (hold ? 1 : -1));
}

/* A register gets a value; conditions are counted. */
static void set_reg(struct dac *d, uint32_t reg, const struct val *v) {
    struct val *to = &d->regs[reg];
    dac_hold(d, v->cond, true);
    dac_hold(d, to->cond, false);
    uint32_t same;
    if (!dac_rule(d->params, DAC_RULE_WHOLE) && val_uniform(v, &same) && to->kind == VAL_WORD)
        to->word[0].f[0] = same;
    else
        val_copy(to, v);
    if (val_uniform(v, &same))
        for (uint32_t l = 0; l < WARP_LANES; l++)
            d->sm->warps[d->stream->slot].w->r[reg][l] = same;
}

static void hold_pred(struct dac *d, const struct dac_pred *p, const struct dac_carry *c, bool hold) {
    if (p->kind == PRED_MASK)
        dac_hold(d, (uint16_t[]){p->mask, DAC_NO_COND}, hold);
    if (p->kind == PRED_CARRY) {
        dac_hold(d, c->a.cond, hold);
        dac_hold(d, c->b.cond, hold);
    }
}

/* carry: of a PRED_CARRY. */
static void set_pred(struct dac *d, uint32_t p, struct dac_pred v, const struct dac_carry *carry) {
    if (p == PRED_PT)
        return;
    hold_pred(d, &v, carry, true);
    hold_pred(d, &d->preds[p], &d->carry[p], false);
    d->preds[p] = v;
    if (v.kind != PRED_CARRY)
        return;
    val_copy(&d->carry[p].a, &carry->a);
    val_copy(&d->carry[p].b, &carry->b);
}

void dac_clear(struct dac *d) {
    for (uint32_t k = 0; k < d->affine->prog->nregs; k++) {
        dac_hold(d, d->regs[k].cond, false);
        val_const(&d->regs[k], 0);
    }
    for (uint32_t k = 0; k < NUM_PRED; k++) {
        hold_pred(d, &d->preds[k], &d->carry[k], false);
        d->preds[k] = (struct dac_pred){.kind = PRED_SAME};
    }
}

uint32_t dac_pred_lanes(const struct dac *d, uint32_t p, uint32_t warp) {
    const struct dac_pred *x = &d->preds[p];
    if (p == PRED_PT || x->kind == PRED_SAME)
        return p == PRED_PT || x->same ? UINT32_MAX : 0;
    return x->kind == PRED_MASK ? d->masks[x->mask].w[warp] : 0;
}

uint32_t dac_guard(struct dac *d, const struct xinst *i, uint32_t warp) {
    bool ask = dac_asks(&d->side[i - d->affine->code]);
    return (ask ? d->vector[warp].mask : dac_pred_lanes(d, i->guard, warp)) ^ (0u - (uint32_t)i->gneg);
}

void dac_guarded(struct dac *d, const struct xinst *i, struct dac_mask *m) {
    const uint32_t *top = dac_top(d)->w;
    const struct dac_pred *p = &d->preds[i->guard];
    bool asks = dac_asks(&d->side[i - d->affine->code]);
    if (!asks && p->kind == PRED_MASK) {
        const uint32_t *lanes = d->masks[p->mask].w, flip = 0u - (uint32_t)i->gneg;
        for (uint64_t left = d->batch; left; left &= left - 1) {
            uint32_t w = (uint32_t)__builtin_ctzll(left);
            m->w[w] = top[w] & (lanes[w] ^ flip);
        }
        return;
    }
    uint32_t same = asks ? 0 : dac_guard(d, i, 0);
    for (uint64_t left = d->batch; left; left &= left - 1) {
        uint32_t w = (uint32_t)__builtin_ctzll(left);
        m->w[w] = top[w] & (asks ? dac_guard(d, i, w) : same);
    }
}

/* ---- operands ---- */

/* Word k of an instruction's sources; room: for one that is no register. */
static const struct val *source(const struct dac *d, const struct xinst *i, uint32_t k, struct val *room) {
    if (!(i->s[k] & POOL))
        return &d->regs[i->s[k]];
    val_const(room, d->stream->x.pool[i->s[k] & ~POOL][0]);
    return room;
}

void dac_lanes(struct dac *d, const struct val *v, uint32_t warp, uint32_t *out) {
    uint32_t c[DAC_CONDS] = {0};
    for (uint32_t k = 0; k < DAC_CONDS; k++)
        c[k] = v->cond[k] == DAC_NO_COND ? 0 : d->masks[v->cond[k]].w[warp];
    val_expand(v, &d->coords[warp], c, out);
}

void dac_address(struct dac *d, const struct xinst *i, struct num_val *at) {
    struct val room[2];
    const struct val *lo = source(d, i, 0, &room[0]), *hi = &room[1];
    if (i->in->m.a64)
        hi = source(d, i, 1, &room[1]);
    else
        val_const(&room[1], 0);
    num_join(at, &d->dims, lo, hi);
    for (uint32_t k = 0; at->ok && k < at->nalt; k++)
        at->n[k].f[0] += (uint64_t)(int64_t)i->in->imm;
    if (!at->ok)
        dac_broken(d, "an address is not affine");
}

/* ---- the same in all threads ---- */

/* All sources are: computes the results as the program would. */
static bool eval_same(struct dac *d, const struct xinst *i, uint32_t out[2], uint32_t pout[2]) {
    _Alignas(64) uint32_t s[8][WARP_LANES], r[2][WARP_LANES];
    struct lane_io io = {.d = {r[0], r[1]}, .m = &i->in->m};
    if (i->kind != X_ALU || i->nsw > 8 || i->ndw > 2)
        return false;
    for (uint32_t k = 0; k < i->nsw; k++) {
        struct val room;
        uint32_t x;
        if (!val_uniform(source(d, i, k, &room), &x))
            return false;
        if (i->mods)
            x = (x & i->mods->and_mask[k]) ^ i->mods->xor_mask[k];
        for (uint32_t l = 0; l < WARP_LANES; l++)
            s[k][l] = x;
        io.s[k] = s[k];
    }
    for (uint32_t k = 0; k < 2; k++) {
        const struct dac_pred *p = &d->preds[i->ps[k]];
        if (i->ps[k] != PRED_PT && p->kind != PRED_SAME)
            return false;
        io.pin[k] = dac_pred_lanes(d, i->ps[k], 0) ^ (0u - (uint32_t)i->pneg[k]);
    }
    lane_run(i->op, &io);
    out[0] = r[0][0];
    out[1] = r[1][0];
    for (uint32_t k = 0; k < 2; k++)
        pout[k] = io.pout[k] & 1;
    return true;
}

/* ---- tuples ---- */

/* The condition a < b (a > b) in each thread, for minima (maxima); of absolute values: a < 0. */
static uint16_t smaller(struct dac *d, const struct val *a, const struct val *b, bool sgn, bool greater) {
    uint16_t m = dac_mask_new(d);
    for (uint64_t left = d->batch; left; left &= left - 1) {
        uint32_t w = (uint32_t)__builtin_ctzll(left), x[WARP_LANES], y[WARP_LANES], lanes = 0;
        dac_lanes(d, a, w, x);
        dac_lanes(d, b, w, y);
        for (uint32_t l = 0; l < WARP_LANES; l++) {
            uint32_t p = greater ? y[l] : x[l], q = greater ? x[l] : y[l];
            lanes |= (uint32_t)(sgn ? (int32_t)p < (int32_t)q : p < q) << l;
        }
        d->masks[m].w[w] = lanes;
    }
    return m;
}

/* Threads for which the condition holds have a, others b. The conditions of the result are held until the
 * register has it. */
static void choose(struct dac *d, struct val *r, uint16_t cond, const struct val *a, const struct val *b) {
    val_select(r, cond, a, b);
    dac_hold(d, r->cond, true);
}

/* The same by a condition that is made for it. */
static void choose_new(struct dac *d, struct val *r, uint16_t cond, const struct val *a,
                       const struct val *b) {
    choose(d, r, cond, a, b);
    dac_hold(d, (uint16_t[]){cond, DAC_NO_COND}, false);
}

/* A SEL, among the threads that are here and whose guard holds. Where all have the same, it is that: the
 * other may be of an older round, if nobody came by there (joins.c). True: conditions are held. */
static bool select_here(struct dac *d, const struct xinst *i, const struct val *s, struct val *r) {
    const struct dac_pred *p = &d->preds[i->ps[0]];
    bool some[2] = {false, false};
    for (uint64_t left = d->batch; left; left &= left - 1) {
        uint32_t w = (uint32_t)__builtin_ctzll(left), here = dac_top(d)->w[w] & dac_guard(d, i, w);
        uint32_t first = dac_pred_lanes(d, i->ps[0], w) ^ (0u - (uint32_t)i->pneg[0]);
        some[0] |= here & first;
        some[1] |= here & ~first;
    }
    bool both = some[0] && some[1];
    if (both)
        choose(d, r, p->mask, &s[i->pneg[0]], &s[!i->pneg[0]]);
    else
        val_copy(r, &s[!some[0]]);
    return both;
}

/* Without its rule the factor of a remainder goes into it, as section 4.4 has it. */
static void scale_into(struct val *r, uint32_t factor) {
    for (uint32_t k = 0; r->kind == VAL_WORD && k < r->nalt; k++) {
        struct atom *a = &r->word[k];
        if (!a->divisor || !factor)
            continue;
        for (uint32_t f = 0; f < DAC_FIELDS; f++)
            a->m[f] *= factor;
        a->divisor *= factor;
        a->scale /= factor;
    }
}

static void product(const struct dac *d, struct val *r, const struct val *a, const struct val *b) {
    uint32_t x;
    bool second = val_uniform(b, &x);
    if (!second && !val_uniform(a, &x)) {
        r->kind = VAL_BAD;
        return;
    }
    val_scale(r, second ? a : b, x);
    if (!dac_rule(d->params, DAC_RULE_SCALE))
        scale_into(r, x);
}

static void low_mask(struct val *r, const struct val *a, const struct val *b) {
    uint32_t x;
    r->kind = VAL_BAD;
    if (!val_uniform(b, &x))
        return;
    if (x == UINT32_MAX)
        val_copy(r, a);
    else if (!(x & (x + 1)))
        val_mod(r, a, x + 1);
}

/* One word from words. held: the conditions of the result are held. */
static bool eval_word(struct dac *d, const struct xinst *i, const struct val *s, struct val *r, bool *held) {
    struct val zero;
    uint32_t x;
    val_const(&zero, 0);
    switch ((enum op)i->in->op) {
    case OP_MOV:
        val_copy(r, &s[0]);
        return true;
    case OP_NOT:
        val_const(&zero, UINT32_MAX);
        val_add(r, &zero, &s[0], true);
        return true;
    case OP_IADD:
    case OP_OR: /* of bits that are zero */
        val_add(r, &s[0], &s[1], false);
        return true;
    case OP_ISUB:
        val_add(r, &s[0], &s[1], true);
        return true;
    case OP_IADD3:
        val_copy(r, &zero);
        for (uint32_t k = 0; k < 3; k++)
            val_add(r, r, &s[k], i->in->m.mode >> k & 1);
        return true;
    case OP_LEA:
        val_scale(r, &s[0], 1u << (i->in->m.mode & 31));
        val_add(r, r, &s[1], false);
        return true;
    case OP_IMUL:
        product(d, r, &s[0], &s[1]);
        return true;
    case OP_IMAD:
        product(d, r, &s[0], &s[1]);
        val_add(r, r, &s[2], false);
        return true;
    case OP_SHL:
        if (val_uniform(&s[1], &x))
            val_scale(r, &s[0], x > 31 ? 0 : 1u << x);
        else
            r->kind = VAL_BAD;
        return true;
    case OP_AND:
        low_mask(r, &s[0], &s[1]);
        return true;
    case OP_SEL:
        *held = select_here(d, i, s, r);
        return true;
    case OP_IMIN:
    case OP_IMAX:
        choose_new(d, r, smaller(d, &s[0], &s[1], i->in->m.sgn, i->in->op == OP_IMAX), &s[0], &s[1]);
        *held = true;
        return true;
    case OP_IABS: {
        struct val minus;
        val_add(&minus, &zero, &s[0], true);
        choose_new(d, r, smaller(d, &s[0], &zero, true, false), &minus, &s[0]);
        *held = true;
        return true;
    }
    default:
        return false;
    }
}

/* Numbers of 64 bits, word by word: the lower word of a sum leaves a carry from which the upper one is found.
 */
static bool eval_halves(struct dac *d, const struct xinst *i, const struct val *s, struct val r[2]) {
    struct num_val a, b, c;
    uint32_t x;
    switch ((enum op)i->in->op) {
    case OP_IADDC:
    case OP_ISUBC: {
        const struct dac_pred *in = &d->preds[i->ps[0]];
        bool subtract = i->in->op == OP_ISUBC;
        if (i->ps[0] == PRED_PT && i->pneg[0] == subtract) /* a carry into the lower word */
            return true;
        if (i->ps[0] == PRED_PT) {
            val_add(&r[0], &s[0], &s[1], subtract);
            struct dac_carry carry;
            val_copy(&carry.a, &s[0]);
            val_copy(&carry.b, &s[1]);
            set_pred(d, i->pd[0], (struct dac_pred){.kind = PRED_CARRY, .subtract = subtract}, &carry);
            return true;
        }
        if (in->kind == PRED_CARRY && in->subtract == subtract && !i->pneg[0]) {
            num_join(&a, &d->dims, &d->carry[i->ps[0]].a, &s[0]);
            num_join(&b, &d->dims, &d->carry[i->ps[0]].b, &s[1]);
            num_add(&a, &a, &b, subtract);
            num_high(&r[0], &a);
        }
        return true;
    }
    case OP_SHLHI:
        num_join(&a, &d->dims, &s[0], &s[2]);
        if (!val_uniform(&s[1], &x))
            return true;
        num_scale(&a, &a, x > 63 ? 0 : UINT64_C(1) << x);
        num_high(&r[0], &a);
        return true;
    case OP_SHR: /* by 31: the sign */
        num_widen(&a, &d->dims, &s[0], true);
        num_high(&r[0], &a);
        return true;
    case OP_IMULW:
    case OP_IMADW: {
        bool sgn = i->in->m.sgn, second = val_uniform(&s[1], &x);
        if (!second && !val_uniform(&s[0], &x))
            return true;
        num_widen(&a, &d->dims, &s[second ? 0 : 1], sgn);
        num_scale(&a, &a, sgn ? (uint64_t)(int64_t)(int32_t)x : x);
        if (i->in->op == OP_IMADW) {
            num_join(&c, &d->dims, &s[2], &s[3]);
            num_add(&a, &a, &c, false);
        }
        num_low(&r[0], &a);
        num_high(&r[1], &a);
        return true;
    }
    default:
        return false;
    }
}

/* ---- predicates ---- */

/* The value of each thread lies on the same side of the other operand if those of the first and the last do:
 * one tuple, one row of threads, no wrap-around in the comparison's reading. */
static bool by_ends(const struct dac *d, const struct val *v, const struct coords *at, bool sgn,
                    int64_t *first, int64_t *last) {
    if (v->kind != VAL_WORD ||
        ((v->nalt != 1 || v->word[0].divisor) && dac_rule(d->params, DAC_RULE_PLAIN)) ||
        (!at->row && dac_rule(d->params, DAC_RULE_ROWS)))
        return false;
    const uint32_t *f = v->word[0].f;
    uint32_t base = f[0] + f[4] * at->ctaid[0] + f[5] * at->ctaid[1] + f[6] * at->ctaid[2] +
                    f[1] * at->tid[0][0] + f[2] * at->tid[1][0] + f[3] * at->tid[2][0];
    *first = sgn ? (int64_t)(int32_t)base : (int64_t)base;
    *last = *first + (int64_t)(int32_t)f[1] * (WARP_LANES - 1);
    if (!dac_rule(d->params, DAC_RULE_ENDS)) {
        *last = sgn ? (int64_t)(int32_t)*last : (int64_t)(uint32_t)*last;
        return true;
    }
    return sgn ? *last >= INT32_MIN && *last <= INT32_MAX : *last >= 0 && *last <= UINT32_MAX;
}

static int order(int64_t a, int64_t b) {
    return (a > b) - (a < b);
}

/* The comparison of a warp; how it was decided. */
static enum dac_compare compare(struct dac *d, const struct xinst *i, const struct val *s, uint32_t warp,
                                uint32_t pout[2]) {
    _Alignas(64) uint32_t x[2][WARP_LANES];
    struct lane_io io = {.s = {x[0], x[1]}, .m = &i->in->m};
    const struct coords *at = &d->coords[warp];
    int64_t first[2], last[2];
    bool ends = i->in->op == OP_ISETP;
    for (uint32_t k = 0; k < 2; k++) {
        ends = ends && by_ends(d, &s[k], at, i->in->m.sgn, &first[k], &last[k]);
        io.pin[k] = dac_pred_lanes(d, i->ps[k], warp) ^ (0u - (uint32_t)i->pneg[k]);
    }
    ends = ends && (first[0] == last[0] || first[1] == last[1]) &&
           (order(first[0], first[1]) == order(last[0], last[1]) || !dac_rule(d->params, DAC_RULE_SIDES));
    for (uint32_t k = 0; k < 2; k++)
        if (ends)
            for (uint32_t l = 0; l < WARP_LANES; l++)
                x[k][l] = (uint32_t)first[k];
        else
            dac_lanes(d, &s[k], warp, x[k]);
    lane_run(i->op, &io);
    pout[0] = io.pout[0];
    pout[1] = io.pout[1];
    return ends ? COMPARE_ENDS : COMPARE_FULL;
}

/* Makes a predicate of masks; under a guard the old value stays elsewhere. */
static void predicate(struct dac *d, const struct xinst *i, uint32_t k, const struct dac_mask *m) {
    if (i->pd[k] == PRED_PT)
        return;
    struct dac_pred p = {.kind = PRED_MASK, .mask = dac_mask_new(d), .ready = d->tail};
    for (uint64_t left = d->batch; left; left &= left - 1) {
        uint32_t w = (uint32_t)__builtin_ctzll(left), g = dac_guard(d, i, w);
        d->masks[p.mask].w[w] = (m->w[w] & g) | (dac_pred_lanes(d, i->pd[k], w) & ~g);
    }
    set_pred(d, i->pd[k], p, NULL);
    dac_hold(d, (uint16_t[]){p.mask, DAC_NO_COND}, false);
}

static bool guarded(const struct xinst *i) {
    return i->guard != PRED_PT || i->gneg;
}

static void eval_compare(struct dac *d, const struct xinst *i, const struct val *s) {
    const struct dac_mark *mark = &d->side[i - d->affine->code];
    struct dac_mask result[2] = {0};
    uint8_t how[DAC_WARPS] = {0};
    uint32_t out[2], pout[2];
    bool same = eval_same(d, i, out, pout);
    for (uint64_t left = d->batch; left; left &= left - 1) {
        uint32_t w = (uint32_t)__builtin_ctzll(left), lanes[2] = {0u - pout[0], 0u - pout[1]};
        if (!dac_top(d)->w[w])
            continue;
        how[w] = COMPARE_SCALAR;
        if (!same)
            how[w] = (uint8_t)compare(d, i, s, w, lanes);
        result[0].w[w] = lanes[0];
        result[1].w[w] = lanes[1];
    }
    if (d->shadow)
        dac_check_predicate(d, i, &result[0]);
    dac_put_predicate(d, i, mark, &result[0], how);
    for (uint32_t k = 0; k < 2; k++)
        if (same && !guarded(i) && i->pd[k] != PRED_PT)
            set_pred(d, i->pd[k], (struct dac_pred){.kind = PRED_SAME, .same = pout[k], .ready = d->tail},
                     NULL);
        else
            predicate(d, i, k, &result[k]);
}

/* Logic of predicates. */
static void eval_logic(struct dac *d, const struct xinst *i) {
    struct dac_mask result[2] = {0};
    uint32_t out[2], pout[2];
    if (!guarded(i) && eval_same(d, i, out, pout)) {
        for (uint32_t k = 0; k < 2; k++)
            set_pred(d, i->pd[k], (struct dac_pred){.kind = PRED_SAME, .same = pout[k]}, NULL);
        return;
    }
    for (uint64_t left = d->batch; left; left &= left - 1) {
        uint32_t w = (uint32_t)__builtin_ctzll(left);
        struct lane_io io = {.m = &i->in->m};
        for (uint32_t k = 0; k < 2; k++)
            io.pin[k] = dac_pred_lanes(d, i->ps[k], w) ^ (0u - (uint32_t)i->pneg[k]);
        lane_run(i->op, &io);
        for (uint32_t k = 0; k < 2; k++)
            result[k].w[w] = io.pout[k];
    }
    for (uint32_t k = 0; k < 2; k++)
        predicate(d, i, k, &result[k]);
}

/* ---- any instruction ---- */

static void special(struct dac *d, const struct xinst *i, struct val *r) {
    uint32_t mode = i->in->m.mode;
    if (mode <= SR_CTAID_Z)
        val_index(r, 1 + mode);
    else
        val_const(r, mode == SR_DYN_SMEM ? d->sm->x->shared_static : 0);
}

/* Writes results; under a guard that differs between threads the old values stay elsewhere. A SEL has a guard
 * only to say among whom it chooses. */
static void write_results(struct dac *d, const struct xinst *i, struct val r[2]) {
    const struct dac_pred *g = &d->preds[i->guard];
    if (i->guard != PRED_PT && g->kind == PRED_SAME && g->same == i->gneg)
        return;
    for (uint32_t k = 0; k < i->ndw; k++) {
        if (r[k].kind == VAL_BAD)
            dac_broken(d, "a value is not affine");
        if (i->guard == PRED_PT || g->kind == PRED_SAME || i->in->op == OP_SEL) {
            set_reg(d, i->d + k, &r[k]);
            continue;
        }
        struct val both;
        const struct val *old = &d->regs[i->d + k];
        choose(d, &both, g->mask, i->gneg ? old : &r[k], i->gneg ? &r[k] : old);
        if (both.kind == VAL_BAD)
            dac_broken(d, "a value is not affine");
        set_reg(d, i->d + k, &both);
        dac_hold(d, both.cond, false);
    }
}

void dac_eval(struct dac *d, const struct xinst *i) {
    struct val s[6], r[2];
    uint32_t out[2], pout[2];
    if (i->in->op == OP_PLOP) {
        eval_logic(d, i);
        return;
    }
    for (uint32_t k = 0; k < i->nsw && k < 6; k++) {
        const struct val *v = source(d, i, k, &s[k]);
        if (v != &s[k])
            val_copy(&s[k], v);
    }
    if (i->in->op == OP_ISETP || i->in->op == OP_ISETPX) {
        eval_compare(d, i, s);
        return;
    }
    r[0].kind = r[1].kind = VAL_BAD;
    r[0].nalt = r[1].nalt = 1;
    r[0].cond[0] = r[0].cond[1] = r[1].cond[0] = r[1].cond[1] = DAC_NO_COND;
    bool held = false;
    if (i->kind == X_S2R) {
        special(d, i, &r[0]);
    } else if (i->kind == X_LDC) {
        for (uint32_t k = 0; k < i->ndw && k < 2; k++)
            val_const(&r[k], d->sm->warps[d->stream->slot].w->r[i->d + k][0]);
    } else if (eval_same(d, i, out, pout)) {
        for (uint32_t k = 0; k < 2; k++) {
            val_const(&r[k], out[k]);
            if (i->pd[k] != PRED_PT)
                set_pred(d, i->pd[k], (struct dac_pred){.kind = PRED_SAME, .same = pout[k]}, NULL);
        }
    } else if (!eval_word(d, i, s, &r[0], &held)) {
        (void)eval_halves(d, i, s, r);
    }
    write_results(d, i, r);
    if (held)
        dac_hold(d, r[0].cond, false);
}
