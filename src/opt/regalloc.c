/* Register allocation: linear scan over live ranges with holes.
 *
 * Registers are taken in the order in which their ranges start and get the lowest aligned machine registers
 * that are free during all of their segments, word by word, so that a dead word of a group is free for
 * others. When none is, the cheapest of the conflicting registers and the new one, by references per position
 * weighted by loop depth, goes to memory: its uses get registers of their own, and allocation starts again.
 * Predicates go first, since those that do not fit move to general registers. */
#include <string.h>

#include "opt/ranges.h"

/* A segment that is taken in some machine register. */
struct taken {
    uint32_t from, to, owner;
};
typedef VEC(struct taken) taken_list;

struct item {
    uint32_t start, id;
};

/* One class of registers being placed: general registers or predicates. */
struct alloc {
    struct arena arena;
    struct fn *f;
    struct ranges r;
    bool preds;
    uint32_t nphys, n; /* machine registers; virtual registers */
    taken_list *phys;  /* by machine register, ascending */
    uint32_t *place;   /* by virtual register: first machine register, NONE */
    float *weight;     /* by virtual register; negative: must not be spilled */
    bool *spilled;
    bool any_spilled, stuck;
    bool thrifty; /* only what can be made again may give way */
    VEC(struct item) heap;
    uint32_t reserved; /* machine register that is never given out, or NONE */
};

static uint32_t size_of(const struct alloc *a, uint32_t id) {
    return a->preds ? 1 : a->f->vregs.at[id];
}

static const struct range *range_of(const struct alloc *a, uint32_t id, uint32_t word) {
    return &a->r.of[a->preds ? value_of_pred(&a->r.v, id) : a->r.v.base[id] + word];
}

/* ---- the queue, by start ---- */

static bool before(struct item x, struct item y) {
    return x.start != y.start ? x.start < y.start : x.id < y.id;
}

static void push(struct alloc *a, struct item it) {
    vec_push(&a->heap, it);
    uint32_t k = a->heap.len - 1;
    for (; k && before(it, a->heap.at[(k - 1) / 2]); k = (k - 1) / 2)
        a->heap.at[k] = a->heap.at[(k - 1) / 2];
    a->heap.at[k] = it;
}

static struct item pop(struct alloc *a) {
    struct item top = a->heap.at[0], last = a->heap.at[--a->heap.len];
    uint32_t k = 0;
    for (uint32_t child; (child = 2 * k + 1) < a->heap.len; k = child) {
        if (child + 1 < a->heap.len && before(a->heap.at[child + 1], a->heap.at[child]))
            child++;
        if (!before(a->heap.at[child], last))
            break;
        a->heap.at[k] = a->heap.at[child];
    }
    if (a->heap.len)
        a->heap.at[k] = last;
    return top;
}

static uint32_t start_of(const struct alloc *a, uint32_t id) {
    uint32_t start = NONE;
    for (uint32_t w = 0; w < size_of(a, id); w++) {
        const struct range *r = range_of(a, id, w);
        if (r->n && r->at[0].from < start)
            start = r->at[0].from;
    }
    return start;
}

/* ---- machine registers ---- */

/* First taken segment of list that ends after pos. */
static uint32_t seek(const taken_list *list, uint32_t pos) {
    uint32_t lo = 0, hi = list->len;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        if (list->at[mid].to <= pos)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static bool is_free(const taken_list *list, const struct range *r) {
    for (uint32_t s = 0; s < r->n; s++) {
        uint32_t k = seek(list, r->at[s].from);
        if (k < list->len && list->at[k].from < r->at[s].to)
            return false;
    }
    return true;
}

static void take(taken_list *list, const struct range *r, uint32_t owner) {
    for (uint32_t s = 0; s < r->n; s++) {
        uint32_t k = seek(list, r->at[s].from);
        vec_push(list, (struct taken){0});
        memmove(list->at + k + 1, list->at + k, (list->len - 1 - k) * sizeof *list->at);
        list->at[k] = (struct taken){r->at[s].from, r->at[s].to, owner};
    }
}

static void release(taken_list *list, uint32_t owner) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < list->len; k++)
        if (list->at[k].owner != owner)
            list->at[n++] = list->at[k];
    list->len = n;
}

/* True when register at would hold a register that is reserved or does not exist. */
static bool out_of_bounds(const struct alloc *a, uint32_t at, uint32_t size) {
    return at + size > a->nphys || (a->reserved != NONE && a->reserved >= at && a->reserved < at + size);
}

static uint32_t find_free(const struct alloc *a, uint32_t id) {
    uint32_t size = size_of(a, id), align = size > 4 ? 4 : size;
    for (uint32_t at = 0; at + size <= a->nphys; at += align) {
        bool free = !out_of_bounds(a, at, size);
        for (uint32_t w = 0; w < size && free; w++)
            free = is_free(&a->phys[at + w], range_of(a, id, w));
        if (free)
            return at;
    }
    return NONE;
}

static void assign(struct alloc *a, uint32_t id, uint32_t at) {
    for (uint32_t w = 0; w < size_of(a, id); w++)
        take(&a->phys[at + w], range_of(a, id, w), id);
    a->place[id] = at;
}

static void unassign(struct alloc *a, uint32_t id) {
    for (uint32_t w = 0; w < size_of(a, id); w++)
        release(&a->phys[a->place[id] + w], id);
    a->place[id] = NONE;
}

/* Most expensive of the registers that stand in the way of id at machine register at; negative: immovable. */
static float price(const struct alloc *a, uint32_t id, uint32_t at) {
    float most = 0;
    for (uint32_t w = 0; w < size_of(a, id); w++) {
        const struct range *r = range_of(a, id, w);
        const taken_list *list = &a->phys[at + w];
        for (uint32_t s = 0; s < r->n; s++)
            for (uint32_t k = seek(list, r->at[s].from); k < list->len && list->at[k].from < r->at[s].to;
                 k++) {
                float weight = a->weight[list->at[k].owner];
                if (weight < 0)
                    return -1;
                most = weight > most ? weight : most;
            }
    }
    return most;
}

/* Takes everything that stands in the way of id out of the machine registers at at; it queues again. */
static void evict(struct alloc *a, uint32_t id, uint32_t at) {
    for (uint32_t w = 0; w < size_of(a, id); w++) {
        const struct range *r = range_of(a, id, w);
        for (uint32_t s = 0; s < r->n; s++) {
            uint32_t k = seek(&a->phys[at + w], r->at[s].from);
            while (k < a->phys[at + w].len && a->phys[at + w].at[k].from < r->at[s].to) {
                uint32_t owner = a->phys[at + w].at[k].owner;
                unassign(a, owner);
                push(a, (struct item){start_of(a, owner), owner});
                k = seek(&a->phys[at + w], r->at[s].from);
            }
        }
    }
}

static void place_one(struct alloc *a, uint32_t id) {
    uint32_t at = find_free(a, id), best = NONE;
    if (at != NONE) {
        assign(a, id, at);
        return;
    }
    uint32_t size = size_of(a, id), align = size > 4 ? 4 : size;
    float low = a->weight[id] < 0 ? 3e38f : a->weight[id];
    for (at = 0; at + size <= a->nphys; at += align) {
        float cost = out_of_bounds(a, at, size) ? -1 : price(a, id, at);
        if (cost >= 0 && cost < low) {
            low = cost;
            best = at;
        }
    }
    if (best != NONE) {
        evict(a, id, best);
        assign(a, id, best);
    } else if (a->weight[id] < 0) {
        a->stuck = true;
    } else {
        a->spilled[id] = true;
        a->any_spilled = true;
    }
}

/* Cost of keeping each register in memory, per position it would free. */
static void weigh(struct alloc *a, const flag_list *fixed) {
    struct defs d = defs_of(&a->arena, a->f);
    for (uint32_t id = 0; id < a->n; id++) {
        float refs = 0, length = 1;
        for (uint32_t w = 0; w < size_of(a, id); w++) {
            const struct range *r = range_of(a, id, w);
            refs += a->r.weight[r - a->r.of];
            for (uint32_t s = 0; s < r->n; s++)
                length += (float)(r->at[s].to - r->at[s].from);
        }
        bool again = !a->preds && can_recompute(a->f, &d, id);
        if (again)
            refs *= 0.4f;
        bool stays = (id < fixed->len && fixed->at[id]) || (a->thrifty && !again);
        a->weight[id] = stays ? -1 : refs / length;
    }
}

/* What is placed, and what may then be marked as spilled. */
enum kind { PREDICATES, REGISTERS, REGISTERS_MADE_AGAIN };

/* One attempt to place everything; what does not fit is marked in spilled. */
static void attempt(struct alloc *a, struct fn *f, enum kind kind, uint32_t nphys, const flag_list *fixed) {
    bool preds = kind == PREDICATES;
    *a = (struct alloc){.f = f, .preds = preds, .nphys = nphys, .n = preds ? f->npreds : f->vregs.len};
    a->thrifty = kind == REGISTERS_MADE_AGAIN;
    a->reserved = !preds && f->fp != VREG_RZ ? REG_FRAME : NONE;
    a->r = ranges_of(&a->arena, f);
    a->phys = arena_array(&a->arena, taken_list, nphys);
    a->place = arena_array(&a->arena, uint32_t, a->n + 1);
    a->weight = arena_array(&a->arena, float, a->n + 1);
    a->spilled = arena_array(&a->arena, bool, a->n + 1);
    weigh(a, fixed);
    for (uint32_t id = 0; id < a->n; id++) {
        uint32_t start = start_of(a, id);
        a->place[id] = NONE;
        if (start != NONE && (preds || id != f->fp))
            push(a, (struct item){start, id});
    }
    if (!preds && f->fp != VREG_RZ)
        a->place[f->fp] = REG_FRAME;
    while (a->heap.len && !a->stuck)
        place_one(a, pop(a).id);
}

static void attempt_free(struct alloc *a) {
    for (uint32_t k = 0; k < a->nphys; k++)
        vec_free(&a->phys[k]);
    vec_free(&a->heap);
    arena_free(&a->arena);
}

static void rewrite_reg(const struct alloc *a, struct opd *o, uint32_t *nregs, uint32_t words) {
    if (o->kind != O_REG || o->v == VREG_RZ)
        return;
    uint32_t at = a->place[o->v];
    /* A register without a range is only read before it is written: any value will do. */
    *o = (struct opd){.kind = O_REG, .mod = o->mod, .v = at == NONE ? VREG_RZ : at + o->word};
    if (at != NONE && o->v + words > *nregs)
        *nregs = o->v + words;
}

static void rewrite_pred(const struct alloc *a, struct popd *p) {
    if (p->id == VPRED_PT)
        return;
    p->id = a->place[p->id] == NONE ? 0 : a->place[p->id]; /* never written: any value will do */
}

/* Replaces virtual registers by machine registers; copies that became moves to themselves vanish. */
static void rewrite_regs(const struct alloc *a) {
    struct fn *f = a->f;
    for (uint32_t b = 0; b < f->blocks.len; b++)
        for (uint32_t k = 0; k < f->blocks.at[b].insts.len; k++) {
            struct inst *i = &f->blocks.at[b].insts.at[k];
            rewrite_reg(a, &i->dst, &f->nregs, inst_dst_words(i));
            for (uint32_t s = 0; s < i->nsrc; s++)
                rewrite_reg(a, &i->src[s], &f->nregs, inst_src_words(i, s));
            if (i->op == OP_MOV && !i->frame && opd_eq(&i->dst, &i->src[0]))
                i->op = OP_NOP;
        }
    fn_compact(f);
}

static void rewrite_preds(const struct alloc *a) {
    struct fn *f = a->f;
    for (uint32_t b = 0; b < f->blocks.len; b++)
        for (uint32_t k = 0; k < f->blocks.at[b].insts.len; k++) {
            struct inst *i = &f->blocks.at[b].insts.at[k];
            rewrite_pred(a, &i->guard);
            for (uint32_t n = 0; n < 2; n++) {
                rewrite_pred(a, &i->pdst[n]);
                rewrite_pred(a, &i->psrc[n]);
            }
        }
    f->npreds = NUM_PRED;
}

enum { MAX_ROUNDS = 40, MIN_REGS = 16, MORE_REGS = 8 };

/* Places all predicates; the code then names machine predicates. */
static bool place_preds(struct fn *f) {
    flag_list fixed = {0};
    bool done = false;
    for (uint32_t round = 0; round < MAX_ROUNDS && !done; round++) {
        struct alloc a;
        attempt(&a, f, PREDICATES, NUM_PRED, &fixed);
        if (a.stuck)
            round = MAX_ROUNDS;
        else if (a.any_spilled)
            spill_preds(f, a.spilled, &fixed);
        else {
            rewrite_preds(&a);
            done = true;
        }
        attempt_free(&a);
    }
    vec_free(&fixed);
    return done;
}

/* Machine registers that an attempt took. */
static uint32_t most_taken(const struct alloc *a) {
    uint32_t most = 0;
    for (uint32_t id = 0; id < a->n; id++)
        if (a->place[id] != NONE && a->place[id] + size_of(a, id) > most)
            most = a->place[id] + size_of(a, id);
    return most;
}

/* References of what an attempt marked, weighted by loop depth: as many instructions are added at most. */
static float price_of_marked(const struct alloc *a) {
    float sum = 0;
    for (uint32_t id = 0; id < a->n; id++)
        for (uint32_t w = 0; a->spilled[id] && w < size_of(a, id); w++)
            sum += a->r.weight[range_of(a, id, w) - a->r.of];
    return sum;
}

static float weight_of_code(const struct fn *f) {
    static const float by_depth[] = {1, 8, 64, 512, 4096};
    float sum = 0;
    for (uint32_t b = 0; b < f->blocks.len; b++)
        sum += by_depth[f->blocks.at[b].depth < 4 ? f->blocks.at[b].depth : 4] *
               (float)f->blocks.at[b].insts.len;
    return sum;
}

/* True when the value is alive in a loop. */
static bool crosses_loop(const struct fn *f, const struct range *r) {
    uint32_t first = 0, s = 0;
    for (uint32_t b = 0; b < f->blocks.len && s < r->n; b++) {
        uint32_t end = first + 2 * f->blocks.at[b].insts.len;
        while (s < r->n && r->at[s].to <= first)
            s++;
        if (f->blocks.at[b].depth && s < r->n && r->at[s].from < end)
            return true;
        first = end;
    }
    return false;
}

/* Marks what can be made again, waits through a loop, and is used outside of all, at one or two places. */
static bool mark_waiting(struct alloc *a) {
    enum { FEW = 3 }; /* its making and the uses */
    for (uint32_t id = 0; id < a->n; id++) {
        float refs = 0;
        bool waits = false;
        for (uint32_t w = 0; a->weight[id] >= 0 && w < size_of(a, id); w++) {
            refs += a->r.weight[range_of(a, id, w) - a->r.of];
            waits |= crosses_loop(a->f, range_of(a, id, w));
        }
        a->spilled[id] = waits && refs <= FEW * (float)size_of(a, id);
        a->any_spilled |= a->spilled[id];
    }
    return a->any_spilled;
}

/* Constants and places of threads that wait long for their use are made again there, as long as that takes a
 * register less and adds next to no instruction. Below LEAST_REGS no GPU holds more warps. */
static void make_again(struct fn *f, flag_list *fixed) {
    enum { LEAST_REGS = 16, SHARE = 50 };
    float budget = weight_of_code(f) / SHARE;
    bool waited = false;
    for (uint32_t limit = MAX_GPR;;) {
        struct alloc a;
        attempt(&a, f, REGISTERS_MADE_AGAIN, limit, fixed);
        bool more = !a.stuck && !(a.any_spilled && limit == MAX_GPR);
        if (more && limit == MAX_GPR && !waited && most_taken(&a) > LEAST_REGS && mark_waiting(&a)) {
            waited = true;
            spill_regs(f, a.spilled, fixed);
        } else if (more && a.any_spilled) {
            budget -= price_of_marked(&a);
            more = budget >= 0;
            if (more)
                spill_regs(f, a.spilled, fixed);
        } else if (more) {
            uint32_t most = most_taken(&a);
            more = most > LEAST_REGS;
            limit = most - more;
        }
        attempt_free(&a);
        if (!more)
            return;
    }
}

/* Places all registers within limit, or gives more when even spilling everything cannot make an instruction
 * fit. */
static bool place_regs(struct fn *f, uint32_t limit) {
    flag_list fixed = {0};
    bool done = false;
    uint32_t round = 0;
    make_again(f, &fixed);
    while (!done && limit <= MAX_GPR) {
        struct alloc a;
        attempt(&a, f, REGISTERS, limit, &fixed);
        if (a.stuck || ++round % MAX_ROUNDS == 0) {
            limit = limit < MAX_GPR && limit + MORE_REGS > MAX_GPR ? MAX_GPR : limit + MORE_REGS;
        } else if (a.any_spilled) {
            spill_regs(f, a.spilled, &fixed);
        } else {
            rewrite_regs(&a);
            done = true;
        }
        attempt_free(&a);
    }
    vec_free(&fixed);
    return done;
}

void regalloc_number(struct fn *f) {
    for (uint32_t b = 0; b < f->blocks.len; b++)
        for (uint32_t k = 0; k < f->blocks.at[b].insts.len; k++)
            f->blocks.at[b].insts.at[k].rpc = k + 1;
}

/* The code as it is, for the checker. */
static struct fn snapshot(struct arena *a, const struct fn *f) {
    struct fn copy = *f;
    copy.blocks.at = arena_array(a, struct block, f->blocks.len + 1);
    copy.vregs.at = arena_array(a, uint8_t, f->vregs.len + 1);
    if (f->vregs.len)
        memcpy(copy.vregs.at, f->vregs.at, f->vregs.len);
    for (uint32_t b = 0; b < f->blocks.len; b++) {
        const struct block *from = &f->blocks.at[b];
        struct block *to = &copy.blocks.at[b];
        *to = *from; /* edges are shared: allocation does not change them */
        to->insts.at = arena_array(a, struct inst, from->insts.len + 1);
        if (from->insts.len)
            memcpy(to->insts.at, from->insts.at, from->insts.len * sizeof *from->insts.at);
    }
    return copy;
}

const char *regalloc(struct program *p, struct fn *f, bool check) {
    struct arena a = {0};
    struct fn before = {0};
    const char *error = NULL;
    uint32_t limit = p->reg_limit ? p->reg_limit : MAX_GPR;
    limit = limit < MIN_REGS ? MIN_REGS : limit > MAX_GPR ? MAX_GPR : limit;
    fn_compact(f);
    regalloc_number(f);
    if (check)
        before = snapshot(&a, f);
    coalesce_groups(f);
    if (!place_preds(f))
        error = arena_printf(&p->arena, "%s: predicates cannot be allocated", f->name);
    else if (f->nregs = 0, !place_regs(f, limit))
        error = arena_printf(&p->arena, "%s: registers cannot be allocated", f->name);
    if (!error) {
        f->allocated = true;
        if (f->fp != VREG_RZ && f->nregs <= REG_FRAME)
            f->nregs = REG_FRAME + 1;
        if (check)
            error = regalloc_check(p, &before, f);
    }
    arena_free(&a);
    return error;
}
