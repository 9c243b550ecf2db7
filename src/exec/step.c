/* The functional interpreter: one warp, instruction after instruction. */
#include <string.h>

#include "exec/later.h"
#include "exec/observe.h"
#include "exec/watch.h"

/* What reading the clock takes: loops that wait for it to advance shall not be longer than on a GPU. */
enum { CLOCK_COST = 20 };
enum { SPIN_COST = 64, SPINS_MANY = 16, SLEEP_COST = PATH_TURN };

/* Part of who calls it, where they are compiled together. */
#ifdef __clang__
#define EVERY_STEP
#else
#define EVERY_STEP inline __attribute__((always_inline))
#endif

/* The predicates that an operation reads, and writes for lanes m. */
static inline void read_predicates(struct lane_io *io, const struct warp *w, const struct xinst *i) {
    for (int k = 0; k < 2; k++)
        io->pin[k] = w->p[i->ps[k]] ^ (0u - (uint32_t)i->pneg[k]);
}

static inline void write_predicates(const struct lane_io *io, struct warp *w, const struct xinst *i,
                                    uint32_t m) {
    for (int k = 0; k < 2; k++)
        if (i->pd[k] != PRED_PT)
            w->p[i->pd[k]] = (w->p[i->pd[k]] & ~m) | (io->pout[k] & m);
}

/* The operands of an ALU operation whose words need no room in between. */
static inline __attribute__((always_inline)) void set_words(struct lane_io *io, const struct exec *x,
                                                            const struct warp *w, const struct xinst *i) {
    for (uint32_t k = 0; k < i->nsw; k++)
        io->s[k] = src_lanes(x, w, i->s[k]);
    io->m = &i->in->m;
    io->d[0] = w->r[i->d];
    io->d[1] = w->r[i->d + 1];
}

/* Operations that need room for words in between: those with neg or abs, or for some lanes only. */
static __attribute__((noinline)) void run_alu_through(struct exec *x, struct warp *w, const struct xinst *i,
                                                      uint32_t m) {
    struct lane_io io;
    _Alignas(64) uint32_t mod[8][WARP_LANES];
    _Alignas(64) uint32_t tmp[2][WARP_LANES];
    set_words(&io, x, w, i);
    for (uint32_t left = i->mods ? i->mods->words : 0; left; left &= left - 1) {
        uint32_t k = (uint32_t)__builtin_ctz(left);
        lane_modify(mod[k], io.s[k], i->mods->and_mask[k], i->mods->xor_mask[k]);
        io.s[k] = mod[k];
    }
    bool direct = m == 0xffffffffu || !i->ndw;
    if (!direct) {
        io.d[0] = tmp[0];
        io.d[1] = tmp[1];
    }
    if (i->sole) {
        io.pin[0] = io.pin[1] = UINT32_MAX;
        lane_run(i->op, &io);
    } else {
        read_predicates(&io, w, i);
        lane_run(i->op, &io);
        write_predicates(&io, w, i, m);
    }
    if (direct)
        return;
    lane_blend(w->r[i->d], tmp[0], m);
    if (i->ndw > 1)
        lane_blend(w->r[i->d + 1], tmp[1], m);
}

/* Carries out an ALU operation that is easy, for all lanes. */
static inline __attribute__((always_inline)) void run_easy(struct exec *x, struct warp *w,
                                                           const struct xinst *i) {
    struct lane_io io;
    set_words(&io, x, w, i);
    io.pin[0] = io.pin[1] = UINT32_MAX;
    i->op.fn(&io);
}

/* Carries out any ALU operation: the only kind that goes through the lane executors. */
static inline __attribute__((always_inline)) void run_alu(struct exec *x, struct warp *w,
                                                          const struct xinst *i, uint32_t m) {
    if (i->mods || (m != 0xffffffffu && i->ndw)) {
        run_alu_through(x, w, i, m);
        return;
    }
    struct lane_io io;
    set_words(&io, x, w, i);
    read_predicates(&io, w, i);
    lane_run(i->op, &io);
    write_predicates(&io, w, i, m);
}

/* Coordinates of the warp's threads in the block along one axis: they count on from those of the first. */
static void read_thread(const struct exec *x, const struct warp *w, uint32_t axis, uint32_t *d) {
    uint32_t t = w->index * WARP_LANES, width = x->block[0], height = x->block[1];
    if (!(width & (width - 1)) && !(height & (height - 1))) {
        uint32_t x_bits = (uint32_t)__builtin_ctz(width), y_bits = (uint32_t)__builtin_ctz(height);
        uint32_t below = axis == 0 ? 0 : axis == 1 ? x_bits : x_bits + y_bits;
        uint32_t mask = axis == 0 ? width - 1 : axis == 1 ? height - 1 : UINT32_MAX;
        for (uint32_t l = 0; l < WARP_LANES; l++)
            d[l] = (t + l) >> below & mask;
        return;
    }
    uint32_t at[3] = {t % width, t / width % height, t / width / height};
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        d[l] = at[axis];
        if (++at[0] < width)
            continue;
        at[0] = 0;
        if (++at[1] < height)
            continue;
        at[1] = 0;
        at[2]++;
    }
}

/* Registers that follow from the number of the lane. */
static void read_lane(enum mreg r, uint32_t *d) {
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        uint32_t own = 1u << l, below = own - 1;
        d[l] = r == SR_LANEID        ? l
               : r == SR_LANEMASK_EQ ? own
               : r == SR_LANEMASK_LT ? below
               : r == SR_LANEMASK_LE ? below | own
               : r == SR_LANEMASK_GT ? ~(below | own)
                                     : ~below;
    }
}

/* Value of a special register in each lane. */
static void read_special(struct exec *x, struct warp *w, enum mreg r, uint32_t *d) {
    const struct cta *c = w->cta;
    uint64_t clock = x->clock + x->warp_insts;
    uint32_t same = 0;
    if (r == SR_CLOCK_LO || r == SR_GLOBALTIMER_LO)
        x->clock += CLOCK_COST;
    switch (r) {
    case SR_TID_X:
    case SR_TID_Y:
    case SR_TID_Z:
        read_thread(x, w, r - SR_TID_X, d);
        return;
    case SR_LANEID:
    case SR_LANEMASK_EQ:
    case SR_LANEMASK_LT:
    case SR_LANEMASK_LE:
    case SR_LANEMASK_GT:
    case SR_LANEMASK_GE:
        read_lane(r, d);
        return;
    case SR_CTAID_X:
    case SR_CTAID_Y:
    case SR_CTAID_Z:
        same = c->id[r - SR_CTAID_X];
        break;
    case SR_CLUSTER_CTAID_X:
    case SR_CLUSTER_CTAID_Y:
    case SR_CLUSTER_CTAID_Z:
        same = c->id[r - SR_CLUSTER_CTAID_X] % x->cluster[r - SR_CLUSTER_CTAID_X];
        break;
    case SR_CLUSTER_CTARANK:
        same = c->rank;
        break;
    case SR_CLUSTERID_X:
    case SR_CLUSTERID_Y:
    case SR_CLUSTERID_Z:
        same = c->id[r - SR_CLUSTERID_X] / x->cluster[r - SR_CLUSTERID_X];
        break;
    case SR_WARPID:
        same = w->index;
        break;
    case SR_NWARPID:
        same = c->nwarps;
        break;
    case SR_SMID:
        same = c->sm;
        break;
    case SR_NSMID:
        same = x->nsms;
        break;
    case SR_GRIDID:
        same = (uint32_t)x->grid_id;
        break;
    case SR_CLOCK_LO:
    case SR_GLOBALTIMER_LO:
        same = (uint32_t)clock;
        break;
    case SR_CLOCK_HI:
    case SR_GLOBALTIMER_HI:
        same = (uint32_t)(clock >> 32);
        break;
    case SR_DYN_SMEM:
        same = x->shared_static;
        break;
    case SR_DYN_SIZE:
        same = x->shared_dynamic;
        break;
    case SR_TOTAL_SMEM:
        same = x->shared_static + x->shared_dynamic;
        break;
    default:
        same = 0;
    }
    for (uint32_t l = 0; l < WARP_LANES; l++)
        d[l] = same;
}

static bool run_s2r(struct exec *x, struct warp *w, const struct xinst *i, uint32_t m) {
    _Alignas(64) uint32_t v[WARP_LANES];
    bool direct = m == UINT32_MAX && i->ndw;
    read_special(x, w, (enum mreg)i->in->m.mode, direct ? w->r[i->d] : v);
    if (!direct && i->ndw)
        lane_blend(w->r[i->d], v, m);
    return true;
}

/* All predicates of a lane as bits of a word, and back: callee-saved predicates. */
static void run_p2r(struct warp *w, const struct xinst *i, uint32_t m) {
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        if (!(m >> l & 1) || !i->ndw)
            continue;
        uint32_t v = 0;
        for (uint32_t k = 0; k < NUM_PRED; k++)
            v |= (w->p[k] >> l & 1) << k;
        w->r[i->d][l] = v;
    }
}

static void run_r2p(const struct exec *x, struct warp *w, const struct xinst *i, uint32_t m) {
    const uint32_t *s = src_lanes(x, w, i->s[0]);
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        if (!(m >> l & 1))
            continue;
        for (uint32_t k = 0; k < NUM_PRED; k++)
            w->p[k] = (w->p[k] & ~(1u << l)) | (s[l] >> k & 1) << l;
    }
}

/* Indexed branches: lanes are grouped by target. */
static bool run_brx(struct exec *x, struct warp *w, const struct xinst *i, uint32_t m) {
    const struct branch_table *t = &x->img->prog->tables.at[i->in->target];
    const uint32_t *index = src_lanes(x, w, i->s[0]);
    struct simt_entry *e = w->top;
    uint32_t left = m, rpc = i->in->rpc;
    bool first = true;
    while (left) {
        uint32_t l = (uint32_t)__builtin_ctz(left), same = 0;
        uint32_t n = index[l];
        if (n >= t->n)
            return exec_fault(x, w, i, RP_INVALID_PC, l, n, 0, MS_GENERIC);
        for (uint32_t k = l; k < WARP_LANES; k++)
            same |= (uint32_t)((left >> k & 1) && t->at[index[k] < t->n ? index[k] : n] == t->at[n] &&
                               index[k] < t->n)
                    << k;
        left &= ~same;
        if (first && !left) {
            e->pc = t->at[n];
            return true;
        }
        if (first) {
            if (e->rpc == rpc && !e->call)
                simt_resize(w, w->depth - 1);
            else
                e->pc = rpc;
        }
        first = false;
        if (t->at[n] != rpc)
            simt_push(w, (struct simt_entry){.pc = t->at[n], .rpc = rpc, .mask = same, .bar = -1});
    }
    return true;
}

/* Room left for the callee's frame? The frame register already points behind the caller's. */
static bool check_stack(struct exec *x, struct warp *w, const struct xinst *i, uint32_t fn, uint32_t m) {
    const struct program *p = x->img->prog;
    uint32_t need = p->fns.at[fn]->frame + p->fns.at[fn]->outgoing;
    for (uint32_t l = 0; l < WARP_LANES; l++)
        if ((m >> l & 1) && w->r[REG_FRAME][l] + (uint64_t)need > x->local_bytes)
            return exec_fault(x, w, i, RP_STACK_OVERFLOW, l, w->r[REG_FRAME][l], need, MS_LOCAL);
    return true;
}

static bool run_call(struct exec *x, struct warp *w, const struct xinst *i, uint32_t m, uint32_t fn) {
    if (!check_stack(x, w, i, fn, m))
        return false;
    simt_push(w, (struct simt_entry){
                     .pc = x->img->prog->fn_entry[fn], .rpc = NO_RPC, .mask = m, .bar = -1, .call = true});
    return true;
}

static bool run_calli(struct exec *x, struct warp *w, const struct xinst *i, uint32_t m) {
    const struct program *p = x->img->prog;
    const uint32_t *lo = src_lanes(x, w, i->s[0]);
    uint32_t left = m;
    while (left) {
        uint32_t l = (uint32_t)__builtin_ctz(left), same = 0, fn = 0;
        for (uint32_t k = l; k < WARP_LANES; k++)
            same |= (uint32_t)((left >> k & 1) && lo[k] == lo[l]) << k;
        while (fn < p->fns.len && FUNC_ADDR(p->fn_ids.at[fn]) != lo[l])
            fn++;
        if (fn == p->fns.len || fn == 0)
            return exec_fault(x, w, i, RP_INVALID_PC, l, lo[l], 0, MS_GENERIC);
        if (!run_call(x, w, i, same, fn))
            return false;
        left &= ~same;
    }
    return true;
}

static bool run_bar(struct exec *x, struct warp *w, const struct xinst *i, uint32_t m) {
    if (i->in->m.mode >= BAR_CLUSTER_ARRIVE) {
        (i->in->m.mode == BAR_CLUSTER_ARRIVE ? cluster_arrive : cluster_wait)(w, m);
        return true;
    }
    uint32_t id = src_lanes(x, w, i->s[0])[__builtin_ctz(m)],
             want = src_lanes(x, w, i->s[1])[__builtin_ctz(m)];
    uint32_t p = w->p[i->ps[0]] ^ (0u - (uint32_t)i->pneg[0]);
    if (x->watch)
        x->watch->arrive(x->watch, w, i, id, want, m);
    if (id >= MAX_BARRIERS || want % WARP_LANES)
        return exec_fault(x, w, i, RP_ILLEGAL_INSTRUCTION, (uint32_t)__builtin_ctz(m), id, 0, MS_GENERIC);
    barrier_arrive(w->cta, w, id, want, m, p, i->in->m.mode != BAR_ARRIVE);
    return true;
}

/* Lanes exit, so many. */
static void leave_block(struct warp *w, uint32_t m, uint32_t lanes) {
    simt_exit(w, m);
    w->cta->live -= lanes;
    barrier_check(w->cta);
    cluster_exit(w, m);
}

typedef bool exec_fn(struct exec *, struct warp *, const struct xinst *, uint32_t);
static exec_fn *const simple[] = {
    [X_LOAD] = exec_load,       [X_STORE] = exec_store, [X_LDC] = exec_ldc,   [X_ATOM] = exec_atom,
    [X_LDGSTS] = exec_ldgsts,   [X_MBAR] = exec_mbar,   [X_TEX] = exec_tex,   [X_ISSPACE] = exec_isspace,
    [X_SYSCALL] = exec_syscall, [X_MMA] = exec_mma,     [X_MOVM] = exec_movm, [X_LDSM] = exec_ldsm,
    [X_STSM] = exec_stsm,       [X_S2R] = run_s2r,
};

bool exec_simple(struct exec *x, struct warp *w, const struct xinst *i, uint32_t m) {
    return simple[i->kind](x, w, i, m);
}

/* Spinning on memory must not keep others from running for long. Who reads nothing does not spin. */
static inline void count_spin(struct exec *x, struct warp *w, const struct xinst *i) {
    if (i->in->m.vol && op_info[i->in->op].flags & OPF_LOAD) {
        x->waited += SPIN_COST;
        w->spins++;
    }
}

/* Carries out an instruction that is neither control nor computes in lanes alone; false after a fault. */
static inline bool run_simple(struct exec *x, struct warp *w, const struct xinst *i, uint32_t m,
                              bool watched) {
    bool ok = true;
    if (watched && m)
        m = x->watch->access(x->watch, x, w, i, m);
    if (m)
        ok = simple[i->kind](x, w, i, m);
    if (watched && m && ok)
        x->watch->accessed(x->watch, x, w, i, m);
    count_spin(x, w, i);
    return ok;
}

/* A divergent path, begun when before instructions had run, leaves off; UINT64_MAX: it was not divergent. */
static inline void count_divergent(struct exec *x, uint64_t before) {
    if (before != UINT64_MAX)
        x->divergent += x->warp_insts - before;
}

/* only: lanes for which instructions may take effect; callers give constants where they can. watched: there
 * is somebody to tell of accesses. observed: of every instruction. */
static inline __attribute__((always_inline)) enum warp_state run(struct exec *x, struct warp *w, uint64_t n,
                                                                 uint32_t only, bool watched, bool observed) {
    const struct xinst *code = x->img->code;
    uint64_t *executed = x->executed;
    for (;;) {
        struct simt_entry *e = simt_top(w);
        if (!e)
            return w->live ? WARP_WAITING : WARP_DONE;
        uint32_t pc = e->pc, rpc = e->rpc, mask = e->mask, threads = (uint32_t)__builtin_popcount(mask);
        uint64_t before = mask == UINT32_MAX ? UINT64_MAX : x->warp_insts;
        /* Straight-line execution of one path until control changes. */
        for (;;) {
            if (!n) {
                e->pc = pc;
                count_divergent(x, before);
                return WARP_RUNNING;
            }
            n--;
            const struct xinst *i = &code[pc];
            uint32_t m = mask & only & (w->p[i->guard] ^ (0u - (uint32_t)i->gneg));
            if (observed)
                x->observer->step(x->observer, x, w, i, mask, m);
            x->warp_insts++;
            executed[pc]++;
            x->thread_insts += m == mask ? threads : (uint32_t)__builtin_popcount(m);
            bool ok = true;
            switch ((enum xkind)i->kind) {
            case X_ALU:
                if (i->easy && m == UINT32_MAX)
                    run_easy(x, w, i);
                else if (m)
                    run_alu(x, w, i, m);
                break;
            case X_S2R:
                if (m)
                    run_s2r(x, w, i, m);
                break;
            case X_P2R:
                run_p2r(w, i, m);
                break;
            case X_R2P:
                run_r2p(x, w, i, m);
                break;
            case X_QUEUE:
                break;
            case X_NOP:
                if (i->in->op == OP_NANOSLEEP) { /* let the others run */
                    x->waited += SLEEP_COST;
                    n = 0;
                }
                if (watched && m)
                    x->watch->fence(x->watch, x, w, i, m);
                break;
            case X_BRA:
                if (!m)
                    break;
                if (m == mask) {
                    pc = i->in->target;
                } else {
                    e->pc = pc;
                    simt_diverge(w, m, i->in->target, pc + 1, i->in->rpc);
                    goto control;
                }
                if (pc == rpc) {
                    e->pc = pc;
                    goto control;
                }
                continue;
            case X_BRX:
                e->pc = pc;
                if (!run_brx(x, w, i, m))
                    return WARP_FAULT;
                goto control;
            case X_CALL:
            case X_CALLI:
                e->pc = pc + 1;
                if (m && !(i->kind == X_CALL ? run_call(x, w, i, m, i->in->target) : run_calli(x, w, i, m)))
                    return WARP_FAULT;
                goto control;
            case X_RET:
                e->pc = pc + 1;
                simt_return(w, m);
                goto control;
            case X_EXIT:
                e->pc = pc + 1;
                if (m)
                    leave_block(w, m, (uint32_t)__builtin_popcount(m));
                goto control;
            case X_BAR:
                if (!m)
                    break;
                e->pc = pc + 1;
                if (!run_bar(x, w, i, m))
                    return WARP_FAULT;
                goto control;
            case X_SHFL:
            case X_VOTE:
            case X_MATCH:
            case X_REDUX:
            case X_ELECT:
            case X_WARPSYNC:
                if (!m)
                    break;
                e->pc = pc;
                if (!exec_wide(x, w, i, only))
                    goto control;
                e->pc = pc + 1;
                if (w->depth > 1 && simt_join(w))
                    goto control;
                break;
            case X_TRAP:
                if (m) {
                    exec_fault(x, w, i, RP_TRAP, (uint32_t)__builtin_ctz(m), 0, 0, MS_GENERIC);
                    return WARP_FAULT;
                }
                break;
            case X_MMA:
            case X_MOVM:
            case X_LDSM:
            case X_STSM:
                if (!m)
                    break;
                e->pc = pc;
                m = exec_meet(w, i) & only;
                if (!m)
                    goto control;
                ok = run_simple(x, w, i, m, watched);
                if (i->turn)
                    n = 0;
                e->pc = pc + 1;
                if (ok && w->depth > 1 && simt_join(w))
                    goto control;
                break;
            default:
                ok = run_simple(x, w, i, m, watched);
                if (i->turn)
                    n = 0;
            }
            if (!ok)
                return WARP_FAULT;
            if (++pc == rpc) {
                e->pc = pc;
                goto control;
            }
        }
    control:
        count_divergent(x, before);
    }
}

/* A turn of which every instruction is told. */
static enum warp_state run_observed(struct exec *x, struct warp *w, uint64_t n) {
    enum warp_state s = run(x, w, n, UINT32_MAX, x->watch, true);
    x->observer->settle(x->observer);
    return s;
}

enum warp_state warp_run(struct exec *x, struct warp *w, uint64_t n) {
    uint64_t before = x->warp_insts + x->waited;
    enum warp_state s = x->observer ? run_observed(x, w, n)
                        : x->watch  ? run(x, w, n, UINT32_MAX, true, false)
                                    : run(x, w, n, UINT32_MAX, false, false);
    w->patience -= (int64_t)(x->warp_insts + x->waited - before);
    if (s != WARP_RUNNING || w->patience > 0)
        return s;
    if (w->spins >= SPINS_MANY)
        simt_yield(w);
    else
        simt_rotate(w);
    w->spins = 0;
    w->patience = PATH_TURN;
    return s;
}

enum warp_state warp_step(struct exec *x, struct warp *w) {
    return x->watch ? run(x, w, 1, UINT32_MAX, true, false) : run(x, w, 1, UINT32_MAX, false, false);
}

enum warp_state warp_step_lanes(struct exec *x, struct warp *w, uint32_t only) {
    return run(x, w, 1, only, false, false);
}

/* The path e carries out an instruction for so many lanes ... */
static inline void count_step(struct exec *x, const struct simt_entry *e, uint32_t lanes) {
    x->warp_insts++;
    x->executed[e->pc]++;
    x->thread_insts += lanes;
}

/* ... and goes past it. */
static inline void step_past(struct exec *x, struct simt_entry *e) {
    if (e->mask != UINT32_MAX)
        x->divergent++;
    e->pc++;
}

EVERY_STEP void warp_pass(struct exec *x, struct simt_entry *e, uint32_t lanes) {
    count_step(x, e, lanes);
    step_past(x, e);
}

EVERY_STEP void warp_compute(struct exec *x, struct warp *w, const struct xinst *i, uint32_t m) {
    if (__builtin_expect(i->easy && m == UINT32_MAX, 1))
        run_easy(x, w, i);
    else if (m)
        run_alu(x, w, i, m);
}

EVERY_STEP enum warp_state warp_take(struct exec *x, struct warp *w, struct simt_entry *e,
                                     const struct xinst *i, uint32_t m, uint32_t lanes) {
    count_step(x, e, lanes);
    if (i->kind == X_ALU)
        warp_compute(x, w, i, m);
    else if (!run_simple(x, w, i, m, false))
        return WARP_FAULT;
    step_past(x, e);
    return WARP_RUNNING;
}

EVERY_STEP enum warp_state warp_take_at(struct exec *x, struct warp *w, struct simt_entry *e,
                                        const struct xinst *i, uint32_t m, uint32_t lanes,
                                        const struct spot *p) {
    count_step(x, e, lanes);
    exec_at_spot(x, w, i, m, p, NULL);
    count_spin(x, w, i);
    step_past(x, e);
    return WARP_RUNNING;
}

EVERY_STEP void warp_take_branch(struct exec *x, struct warp *w, const struct xinst *i, bool taken,
                                 uint32_t lanes) {
    struct simt_entry *e = w->top;
    count_step(x, e, lanes);
    x->divergent += e->mask != UINT32_MAX;
    e->pc = taken ? i->in->target : e->pc + 1;
}

enum warp_state warp_take_control(struct exec *x, struct warp *w, const struct xinst *i) {
    if (x->watch || (i->kind != X_BRA && i->kind != X_EXIT && i->kind != X_BAR))
        return warp_step(x, w);
    struct simt_entry *e = w->top;
    uint32_t mask = e->mask, m = mask & (w->p[i->guard] ^ (0u - (uint32_t)i->gneg)), next = e->pc + 1;
    uint32_t lanes = (uint32_t)__builtin_popcount(m);
    count_step(x, e, lanes);
    if (i->kind == X_BRA && m && m != mask) {
        simt_diverge(w, m, i->in->target, next, i->in->rpc);
    } else {
        e->pc = i->kind == X_BRA && m ? i->in->target : next;
        if (i->kind == X_EXIT && m)
            leave_block(w, m, lanes);
        else if (i->kind == X_BAR && m && !run_bar(x, w, i, m))
            return WARP_FAULT;
    }
    x->divergent += mask != UINT32_MAX;
    return simt_top(w) ? WARP_RUNNING : w->live ? WARP_WAITING : WARP_DONE;
}

EVERY_STEP enum warp_state warp_take_later(struct exec *x, struct warp *w, const struct xinst *i, uint32_t m,
                                           uint32_t lanes, const struct spot *p, struct later *l,
                                           uint64_t cycle, int32_t tag) {
    struct simt_entry *e = w->top;
    uint32_t later = p->shape != LANES_ANY ? m : later_lanes(x, w, i, m);
    if (!later)
        return warp_take(x, w, e, i, m, lanes);
    count_step(x, e, lanes);
    if (later != m && !exec_simple(x, w, i, m & ~later))
        return WARP_FAULT;
    later_add(l, x, w, i, later, p, cycle, tag);
    count_spin(x, w, i);
    step_past(x, e);
    return WARP_WAITING;
}
