#include "irsim.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "exec/lanes.h"
#include "isa/eval.h"

enum { MAX_STEPS = 400000, MAX_DEPTH = 16 };

struct sim {
    const struct program *p;
    const struct fn *f;   /* virtual code: the function being run */
    const uint32_t *base; /* virtual code: first word of each register */
    uint32_t *regs;
    bool *preds;
    uint8_t mem[SIM_MEM + 64], local[SIM_LOCAL + 64];
    uint32_t constants[SIM_CONST / 4];
    struct sim_result r;
};

static uint64_t mix(uint64_t h, uint64_t v) {
    h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 29;
}

static uint32_t *word(struct sim *s, const struct opd *o, uint32_t w) {
    return &s->regs[s->base ? s->base[o->v] + o->word + w : o->v + w];
}

static uint32_t read_word(struct sim *s, const struct inst *i, uint32_t src, uint32_t w) {
    const struct opd *o = &i->src[src];
    uint32_t words = inst_src_words(i, src);
    uint32_t v = 0;
    if (o->kind == O_CONST)
        v = s->constants[(o->v / 4 + w) % (SIM_CONST / 4)] * (o->bank + 1u);
    else if (o->kind == O_IMM)
        v = words == 2 && w == 0 ? 0 : o->v;
    else if (o->kind == O_REG && o->v != VREG_RZ)
        v = *word(s, o, w);
    if (w + 1 == words && o->mod & OMOD_ABS)
        v &= 0x7fffffffu;
    if (w + 1 == words && o->mod & OMOD_NEG)
        v ^= 0x80000000u;
    return v;
}

static bool read_pred(const struct sim *s, const struct popd *p) {
    return (p->id == VPRED_PT || s->preds[p->id]) != p->neg;
}

static void write_word(struct sim *s, const struct inst *i, uint32_t w, uint32_t v) {
    if (i->dst.kind == O_REG && i->dst.v != VREG_RZ)
        *word(s, &i->dst, w) = v;
}

static void write_pred(struct sim *s, const struct popd *p, bool v) {
    if (p->id != VPRED_PT)
        s->preds[p->id] = v;
}

static bool boolean(enum bool_op op, bool a, bool b) {
    return op == BOOL_AND ? a && b : op == BOOL_OR ? a || b : a != b;
}

static bool relation(const struct imods *m, uint32_t a, uint32_t b) {
    bool less = m->sgn ? (int32_t)a < (int32_t)b : a < b;
    return m->cmp & (less ? CMP_LT : a == b ? CMP_EQ : CMP_GT);
}

static void run_memory(struct sim *s, const struct inst *i) {
    uint64_t at = read_word(s, i, 0, 0);
    bool local = i->m.space == MS_LOCAL, store = i->op == OP_ST;
    uint32_t bytes = i->m.size * i->m.vec, each = i->m.size, limit = local ? SIM_LOCAL : SIM_MEM;
    uint8_t *memory = local ? s->local : s->mem, data[32];
    if (i->m.a64)
        at |= (uint64_t)read_word(s, i, 0, 1) << 32;
    at += (uint64_t)(int64_t)i->imm;
    if (!i->m.a64)
        at = (uint32_t)at;
    at &= (limit - 1) & ~(bytes - 1u);
    uint32_t per = each > 4 ? each / 4 : 1, values[8];
    for (uint32_t w = 0; w < per * i->m.vec; w++)
        values[w] = store ? read_word(s, i, 1, w) : 0;
    if (store) {
        for (uint32_t e = 0; e < i->m.vec; e++)
            memcpy(data + e * each, &values[e * per], each);
        memcpy(memory + at, data, bytes);
        if (!local) {
            s->r.stores++;
            s->r.hash = mix(mix(s->r.hash, at), bytes);
            for (uint32_t b = 0; b < bytes; b++)
                s->r.hash = mix(s->r.hash, data[b]);
        }
        return;
    }
    for (uint32_t e = 0; e < i->m.vec; e++) {
        memcpy(&values[e * per], memory + at + e * each, each);
        if (each < 4 && i->m.sgn)
            values[e] = (uint32_t)((int32_t)(values[e] << (32 - 8 * each)) >> (32 - 8 * each));
    }
    for (uint32_t w = 0; w < per * i->m.vec; w++)
        write_word(s, i, w, values[w]);
}

static void run_carry(struct sim *s, const struct inst *i) {
    uint64_t a = read_word(s, i, 0, 0), b = read_word(s, i, 1, 0), in = read_pred(s, &i->psrc[0]);
    uint64_t out = a + (i->op == OP_IADDC ? b : (uint32_t)~b) + in;
    write_word(s, i, 0, (uint32_t)out);
    write_pred(s, &i->pdst[0], out >> 32 & 1);
}

/* True for a number that all machines compare alike: finite, and not subnormal. */
static bool ordinary(uint32_t bits, float *out) {
    memcpy(out, &bits, sizeof bits);
    return isnormal(*out) || *out == 0.0f;
}

static void run_compare(struct sim *s, const struct inst *i) {
    uint32_t a = read_word(s, i, 0, 0), b = read_word(s, i, 1, 0);
    bool r = relation(&i->m, a, b), c = read_pred(s, &i->psrc[0]);
    if (i->op == OP_ISETPX) {
        struct imods strict = i->m;
        strict.cmp &= CMP_LT | CMP_GT;
        r = relation(&strict, a, b) || (a == b && read_pred(s, &i->psrc[1]));
    }
    if (i->op == OP_FSETP || i->op == OP_DSETP) {
        /* mirrored comparisons of swapped operands must agree */
        uint64_t x = (uint64_t)read_word(s, i, 0, i->op == OP_DSETP) << 1,
                 y = (uint64_t)read_word(s, i, 1, i->op == OP_DSETP) << 1;
        r = i->m.cmp & (x < y ? CMP_LT : x == y ? CMP_EQ : CMP_GT);
        float p, q; /* these the compiler may compare */
        if (i->op == OP_FSETP && ordinary(a, &p) && ordinary(b, &q))
            r = i->m.cmp & (p < q ? CMP_LT : p == q ? CMP_EQ : CMP_GT);
    }
    write_pred(s, &i->pdst[0], boolean(i->m.bop, r, c));
    write_pred(s, &i->pdst[1], boolean(i->m.bop, !r, c));
}

static uint64_t read_float(struct sim *s, const struct inst *i, uint32_t src) {
    uint64_t v = read_word(s, i, src, 0);
    return inst_src_words(i, src) == 2 ? v | (uint64_t)read_word(s, i, src, 1) << 32 : v << 32;
}

/* Stands for a product: the order of the factors does not matter, and the sign is the product of theirs. */
static uint64_t product(uint64_t a, uint64_t b, uint64_t keep) {
    const uint64_t sign = UINT64_C(1) << 63;
    return ((mix(7, (a & ~sign)) + mix(7, (b & ~sign))) & ~sign & keep) | ((a ^ b) & sign);
}

static uint64_t sum(uint64_t a, uint64_t b, uint64_t keep) {
    return (mix(9, a) + mix(9, b)) & keep;
}

/* Additions, products, and both at once. */
static bool run_float(struct sim *s, const struct inst *i) {
    bool wide = i->op == OP_DADD || i->op == OP_DMUL || i->op == OP_DFMA;
    uint64_t keep = wide ? UINT64_MAX : UINT64_MAX << 32, r;
    if (i->op == OP_FADD || i->op == OP_DADD)
        r = sum(read_float(s, i, 0), read_float(s, i, 1), keep);
    else if (i->op == OP_FMUL || i->op == OP_DMUL)
        r = product(read_float(s, i, 0), read_float(s, i, 1), keep);
    else if (i->op == OP_FFMA || i->op == OP_DFMA)
        r = sum(product(read_float(s, i, 0), read_float(s, i, 1), keep), read_float(s, i, 2), keep);
    else
        return false;
    if (wide)
        write_word(s, i, 0, (uint32_t)r);
    write_word(s, i, wide, (uint32_t)(r >> 32));
    return true;
}

static void run_hashed(struct sim *s, const struct inst *i) {
    bool minmax = i->op == OP_FMIN || i->op == OP_FMAX;
    uint64_t h = i->op, first = 0;
    for (uint32_t k = 0; k < i->nsrc; k++) {
        uint64_t one = 1;
        for (uint32_t w = 0; w < inst_src_words(i, k); w++)
            one = mix(one, read_word(s, i, k, w));
        /* commuting operations must not see the order of the first two */
        if (((op_info[i->op].flags & OPF_COMMUTES) || minmax) && k < 2)
            first += one;
        else
            h = mix(h, one);
    }
    h = mix(h, first);
    for (uint32_t w = 0; w < inst_dst_words(i); w++)
        write_word(s, i, w, (uint32_t)(h >> (16 * w)));
}

/* Conversions and functions of sequences, whose numbers matter: one lane of the executors. */
static void run_lane(struct sim *s, const struct inst *i) {
    _Alignas(64) uint32_t in[2][WARP_LANES] = {0}, out[2][WARP_LANES] = {0};
    for (uint32_t w = 0; w < inst_src_words(i, 0); w++)
        in[w][0] = read_word(s, i, 0, w);
    struct lane_io io = {.d = {out[0], out[1]}, .s = {in[0], in[1]}, .m = &i->m};
    lane_run(lane_pick(i), &io);
    for (uint32_t w = 0; w < inst_dst_words(i); w++)
        write_word(s, i, w, out[w][0]);
}

static bool run_value(struct sim *s, const struct inst *i) {
    uint32_t v[3] = {0}, out;
    for (uint32_t k = 0; k < i->nsrc && k < 3; k++)
        v[k] = i->src[k].kind ? read_word(s, i, k, 0) : 0;
    if (isa_eval((enum op)i->op, &i->m, v[0], v[1], v[2], read_pred(s, &i->psrc[0]), &out)) {
        write_word(s, i, 0, out);
        return true;
    }
    uint64_t wide;
    switch (i->op) {
    case OP_IMULW:
    case OP_IMADW:
        wide = i->m.sgn ? (uint64_t)((int64_t)(int32_t)v[0] * (int32_t)v[1]) : (uint64_t)v[0] * v[1];
        if (i->op == OP_IMADW)
            wide += (uint64_t)read_word(s, i, 2, 1) << 32 | v[2];
        write_word(s, i, 0, (uint32_t)wide);
        write_word(s, i, 1, (uint32_t)(wide >> 32));
        return true;
    case OP_IADDC:
    case OP_ISUBC:
        run_carry(s, i);
        return true;
    case OP_ISETP:
    case OP_ISETPX:
    case OP_FSETP:
    case OP_DSETP:
        run_compare(s, i);
        return true;
    case OP_PLOP:
        write_pred(s, &i->pdst[0], boolean(i->m.bop, read_pred(s, &i->psrc[0]), read_pred(s, &i->psrc[1])));
        return true;
    case OP_S2R:
        write_word(s, i, 0, 1000 + i->m.mode);
        return true;
    case OP_P2R:
        out = 0;
        for (uint32_t k = 0; k < NUM_PRED; k++)
            out |= (uint32_t)s->preds[k] << k;
        write_word(s, i, 0, out);
        return true;
    case OP_R2P:
        for (uint32_t k = 0; k < NUM_PRED; k++)
            s->preds[k] = v[0] >> k & 1;
        return true;
    case OP_LD:
    case OP_ST:
        run_memory(s, i);
        return true;
    case OP_NOP:
        return true;
    case OP_I2F:
    case OP_F2I:
    case OP_MUFU:
        run_lane(s, i);
        return true;
    default:
        if (!run_float(s, i))
            run_hashed(s, i);
        return i->dst.kind == O_REG;
    }
}

static void sim_setup(struct sim *s, const struct program *p, uint32_t garbage) {
    s->p = p;
    memset(s->local, (int)garbage, sizeof s->local);
    for (uint32_t k = 0; k < SIM_MEM; k++)
        s->mem[k] = (uint8_t)(k * 7 + (k >> 5));
    for (uint32_t k = 0; k < SIM_CONST / 4; k++)
        s->constants[k] = k * 2654435761u;
    s->r.hash = 1;
}

struct frame {
    const struct fn *f;
    uint32_t block, index;
    uint32_t *regs, *base;
    bool *preds;
};

/* Virtual registers belong to an activation; the frame register is handed down as the machine would. */
static void enter(struct sim *s, struct frame *fr, const struct fn *f, uint32_t garbage) {
    uint32_t words = 0;
    *fr = (struct frame){.f = f};
    fr->base = xcalloc(f->vregs.len + 1, sizeof *fr->base);
    for (uint32_t v = 0; v < f->vregs.len; v++) {
        fr->base[v] = words;
        words += f->vregs.at[v];
    }
    fr->regs = xcalloc(words + 1, sizeof *fr->regs);
    memset(fr->regs, (int)garbage, words * sizeof *fr->regs);
    fr->preds = xcalloc(f->npreds + 1, 1);
    s->f = f;
    s->base = fr->base;
    s->regs = fr->regs;
    s->preds = fr->preds;
}

static void leave(struct frame *fr) {
    free(fr->regs);
    free(fr->base);
    free(fr->preds);
}

/* Virtual frames are placed far apart; their size is settled later. */
enum { VIRTUAL_FRAME = 1024 };

static uint32_t frame_fix(const struct inst *i, struct inst *copy) {
    *copy = *i;
    if (!i->frame)
        return 0;
    if (i->op == OP_IADD || i->op == OP_MOV)
        copy->src[i->nsrc - 1].v *= VIRTUAL_FRAME;
    else
        copy->imm += VIRTUAL_FRAME;
    return 1;
}

struct sim_result sim_virtual(const struct program *p, uint32_t garbage) {
    struct sim *s = xcalloc(1, sizeof *s);
    struct frame stack[MAX_DEPTH];
    uint32_t depth = 0;
    sim_setup(s, p, garbage);
    enter(s, &stack[depth++], p->fns.at[0], garbage);
    while (depth && !s->r.error) {
        struct frame *fr = &stack[depth - 1];
        const struct block *b = &fr->f->blocks.at[fr->block];
        if (fr->index >= b->insts.len) {
            fr->block = b->succ.at[0];
            fr->index = 0;
            continue;
        }
        struct inst i;
        frame_fix(&b->insts.at[fr->index++], &i);
        if (++s->r.steps > MAX_STEPS)
            s->r.error = "too many steps";
        bool active = read_pred(s, &i.guard);
        bool guarded = i.guard.id != VPRED_PT || i.guard.neg;
        if (op_info[i.op].flags & OPF_END) {
            if (!active || i.op == OP_BRA) {
                fr->block = active ? i.target : b->succ.at[b->succ.len - 1];
                fr->index = 0;
                (void)guarded;
            } else if (i.op == OP_BRX) {
                fr->block = p->fns.at[0]->tables.at[i.target].blocks[read_word(s, &i, 0, 0) %
                                                                     p->fns.at[0]->tables.at[i.target].n];
                fr->index = 0;
            } else if (i.op == OP_EXIT) {
                while (depth)
                    leave(&stack[--depth]);
            } else {
                leave(&stack[--depth]);
                if (depth) {
                    s->f = stack[depth - 1].f;
                    s->base = stack[depth - 1].base;
                    s->regs = stack[depth - 1].regs;
                    s->preds = stack[depth - 1].preds;
                }
            }
        } else if (active && i.op == OP_CALL) {
            uint32_t fp = s->regs[s->base[fr->f->fp]];
            if (depth == MAX_DEPTH) {
                s->r.error = "calls too deep";
                break;
            }
            enter(s, &stack[depth++], p->fns.at[i.target], garbage);
            s->regs[s->base[p->fns.at[i.target]->fp]] = fp;
        } else if (active && !run_value(s, &i)) {
            s->r.error = op_info[i.op].name;
        }
    }
    while (depth)
        leave(&stack[--depth]);
    struct sim_result r = s->r;
    free(s);
    return r;
}

struct sim_result sim_linked(const struct program *p, uint32_t garbage) {
    struct sim *s = xcalloc(1, sizeof *s);
    uint32_t regs[MAX_GPR + 1], pc = p->fn_entry[0], stack[MAX_DEPTH], depth = 0;
    bool preds[NUM_PRED + 1] = {0}, done = false;
    memset(regs, (int)garbage, sizeof regs);
    sim_setup(s, p, garbage);
    s->regs = regs;
    s->preds = preds;
    while (!done && !s->r.error) {
        if (pc >= p->ncode || ++s->r.steps > MAX_STEPS) {
            s->r.error = pc >= p->ncode ? "left the code" : "too many steps";
            break;
        }
        const struct inst *i = &p->code[pc++];
        if (!read_pred(s, &i->guard))
            continue;
        switch (i->op) {
        case OP_BRA:
            pc = i->target;
            break;
        case OP_BRX:
            pc = p->tables.at[i->target].at[read_word(s, i, 0, 0) % p->tables.at[i->target].n];
            break;
        case OP_EXIT:
            done = true;
            break;
        case OP_CALL:
            if (depth == MAX_DEPTH)
                s->r.error = "calls too deep";
            else
                stack[depth++] = pc;
            pc = p->fn_entry[i->target];
            break;
        case OP_RET:
            if (!depth)
                s->r.error = "return from the kernel";
            else
                pc = stack[--depth];
            break;
        default:
            if (!run_value(s, i))
                s->r.error = op_info[i->op].name;
        }
    }
    struct sim_result r = s->r;
    free(s);
    return r;
}
