/* wmma: fragments as GPUs from sm_80 on lay them out, which is as mma has its operands.
 *
 * One of the two factors is tall: its lines (rows of A) are taken 16 at a time, those of the other one
 * (columns of B) 8 at a time. A product of a few rows and many columns is computed transposed, so that B is
 * the tall one. Along a line runs k, of which a register holds as many elements as fit, and four lanes what
 * lies side by side; lane 4 * g + t has line g. An accumulator has the tall factor's lines, and along them
 * the other one's. Where a fragment has more registers than it needs, the others repeat them. */
#include "ptx/lower_matrix.h"

#define T(i) in_type(l, i)

static const struct shape {
    uint16_t mod;
    uint8_t m, n, k;
} shapes[] = {
    {MOD_M16N16K16, 16, 16, 16}, {MOD_M32N8K16, 32, 8, 16}, {MOD_M8N32K16, 8, 32, 16},
    {MOD_M16N16K8, 16, 16, 8},   {MOD_M8N8K4, 8, 8, 4},     {MOD_M8N8K32, 8, 8, 32},
    {MOD_M8N8K128, 8, 8, 128},
};

/* Elements: their bits, and the k they come with. */
static const struct {
    uint8_t type, bits, k;
} factors[] = {
    {PTX_F16, 16, 16}, {PTX_BF16, 16, 16}, {PTX_S8, 8, 16}, {PTX_U8, 8, 16},  {PTX_TF32, 32, 8},
    {PTX_F64, 64, 4},  {PTX_S4, 4, 32},    {PTX_U4, 4, 32}, {PTX_B1, 1, 128},
};

static const struct shape *shape_of(struct lower *l) {
    for (uint32_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        if (has(l, (enum ptx_mod)shapes[k].mod))
            return &shapes[k];
    lower_refuse(l, "a shape of wmma is needed");
}

static uint32_t bits_of(struct lower *l, enum ptx_type t, const struct shape *s) {
    for (uint32_t k = 0; k < sizeof factors / sizeof *factors; k++)
        if (factors[k].type == t && factors[k].k == s->k)
            return factors[k].bits;
    lower_refuse(l, "there is no such shape for this type");
}

/* ---- fragments ---- */

/* Registers of a fragment that follow each other at the same place of their lines. */
struct part {
    uint8_t line, at; /* the first line, and the first element along it */
};

struct fragment {
    uint32_t bits;      /* of an element */
    uint32_t words;     /* of registers that hold elements which lie side by side */
    uint32_t n;         /* parts */
    uint32_t lane_step; /* elements from one lane to the next */
    bool along;         /* memory runs along the lines */
    struct part part[8];
};

/* A factor: tall or not, with so many lines of k elements. */
static void lay_factor(struct fragment *f, bool tall, uint32_t lines, uint32_t k) {
    uint32_t step = 4 * 32 / (f->bits > 32 ? 32 : f->bits), block = tall && lines >= 16 ? 16 : 8;
    f->lane_step = step / 4;
    f->words = f->bits == 64 ? 2 : 1;
    f->n = 0;
    for (uint32_t b = 0; b < lines; b += block)
        for (uint32_t at = 0; at < k; at += step)
            for (uint32_t h = 0; h < block; h += 8)
                f->part[f->n++] = (struct part){(uint8_t)(b + h), (uint8_t)at};
}

/* An accumulator of so many lines, with so many elements along them: pairs of elements. */
static void lay_sums(struct fragment *f, uint32_t lines, uint32_t across) {
    f->lane_step = 2;
    f->words = f->bits == 64 ? 4 : f->bits == 32 ? 2 : 1;
    f->n = 0;
    for (uint32_t b = 0; b < lines; b += 16)
        for (uint32_t at = 0; at < across; at += 8)
            for (uint32_t h = 0; h < (lines < 16 ? 8 : 16); h += 8)
                f->part[f->n++] = (struct part){(uint8_t)(b + h), (uint8_t)at};
}

static struct fragment fragment_of(struct lower *l) {
    const struct shape *s = shape_of(l);
    bool swapped = s->n > s->m, a = has(l, MOD_A), b = has(l, MOD_B), row = !has(l, MOD_COL);
    enum ptx_type t = T(0);
    struct fragment f = {0};
    if (a || b) {
        f.bits = bits_of(l, t, s);
        f.along = a == row;
        lay_factor(&f, a != swapped, a ? s->m : s->n, s->k);
        if (f.bits < 8 && !f.along)
            lower_refuse(l, "elements below a byte lie along k");
        return f;
    }
    if (t != PTX_F16 && t != PTX_F32 && t != PTX_S32 && t != PTX_F64)
        lower_refuse(l, "there is no accumulator of this type");
    f.bits = 8 * ptx_type_size(t);
    f.along = row != swapped;
    lay_sums(&f, swapped ? s->n : s->m, swapped ? s->m : s->n);
    return f;
}

/* ---- addresses ---- */

/* Where a fragment lies: element (x, y) is at base + (x * stride + y) elements. */
struct place {
    struct address base;
    enum mem_space space;
    struct opd stride, lane; /* lane: what depends on the lane, in elements or words */
    bool fixed;              /* the stride is a constant ... */
    uint32_t value;          /* ... of so many */
    uint32_t size;           /* bytes of a unit: an element, or a word where those are below a byte */
};

static struct opd new_word(struct lower *l) {
    return opd_reg(tmp(l, 1), 0);
}

/* a * b + c of words, where a constant b comes cheap. */
static struct opd multiply_add(struct lower *l, struct opd a, struct opd b, struct opd c) {
    struct opd d = new_word(l);
    emit3(l, OP_IMAD, d, a, b, c);
    return d;
}

/* p * stride + q * step, for the two parts g and t of the lane. */
static void find_lane(struct lower *l, struct place *p, bool line_first, uint32_t step, uint32_t scale) {
    struct opd lane = new_word(l), g = new_word(l), t = new_word(l), q = new_word(l);
    emit_mode(l, OP_S2R, lane, none, none, none, SR_LANEID, false);
    emit_mode(l, OP_SHR, g, lane, opd_imm(2), none, 0, false);
    emit2(l, OP_AND, t, lane, opd_imm(3));
    emit2(l, OP_IMUL, q, line_first ? t : g, opd_imm(step));
    struct opd first = line_first ? g : t;
    if (scale > 1) {
        first = new_word(l);
        emit2(l, OP_IMUL, first, t, opd_imm(scale));
    }
    p->lane = multiply_add(l, first, p->stride, q);
}

static struct place find_place(struct lower *l, const struct fragment *f, const struct ptx_opd *address,
                               const struct ptx_opd *stride, uint32_t natural) {
    struct place p = {.space = inst_space(l)};
    p.base = lower_address(l, address, p.space);
    uint32_t shift = f->bits == 4 ? 3 : f->bits == 1 ? 5 : 0; /* of the number of elements of a word */
    p.size = f->bits < 8 ? 4 : f->bits / 8;
    p.fixed = !stride || stride->kind == OPD_INT;
    p.value = (stride ? (uint32_t)stride->imm : natural) >> shift;
    p.stride = opd_imm(p.value);
    if (!p.fixed) {
        p.stride = src_word(l, stride, PTX_U32, 0);
        if (shift) {
            struct opd words = new_word(l);
            emit_mode(l, OP_SHR, words, p.stride, opd_imm(shift), none, 0, false);
            p.stride = words;
        }
    }
    return p;
}

/* Addresses are computed from one that all parts share when the stride is a constant, else for each. */
static void point(struct lower *l, const struct place *p, uint32_t x, uint32_t y, struct inst *i) {
    struct opd index = p->lane;
    int64_t offset = (int64_t)y * p->size;
    if (p->fixed)
        offset += (int64_t)x * p->value * p->size;
    else if (x)
        index = multiply_add(l, p->stride, opd_imm(x), p->lane);
    bool fits = p->base.imm + offset < 1 << 23;
    if (!fits) {
        struct opd far = new_word(l);
        emit2(l, OP_IADD, far, index, opd_imm((uint32_t)(offset / p->size)));
        index = far;
        offset = 0;
    }
    i->m.space = (uint8_t)p->space;
    i->m.a64 = p->base.a64;
    i->imm = p->base.imm + (int32_t)offset;
    i->frame = p->base.frame;
    i->nsrc = i->op == OP_ST ? 2 : 1;
    if (!p->base.a64) {
        i->src[0] = multiply_add(l, index, opd_imm(p->size), p->base.base);
        return;
    }
    i->src[0] = opd_reg(tmp(l, 2), 0);
    emit3(l, OP_IMADW, i->src[0], index, opd_imm(p->size), p->base.base);
}

/* ---- loads and stores ---- */

/* How the words of a part come from memory and go there. */
enum way {
    WAY_ALONG,  /* elements of a part side by side */
    WAY_TURNED, /* halves across the lines: words of two lines, which MOVM turns */
    WAY_SINGLE, /* element by element */
};

static enum way way_of(const struct fragment *f) {
    return f->along ? WAY_ALONG : f->bits == 16 ? WAY_TURNED : WAY_SINGLE;
}

static void prepare_lane(struct lower *l, const struct fragment *f, struct place *p) {
    switch (way_of(f)) {
    case WAY_ALONG:
        find_lane(l, p, true, f->bits < 8 ? 1 : f->lane_step, 1);
        break;
    case WAY_TURNED:
        find_lane(l, p, true, 2, 1);
        break;
    default:
        find_lane(l, p, false, 1, f->lane_step);
    }
}

static struct inst access(enum op op, uint32_t size, uint32_t vec) {
    struct inst i = inst_new(op);
    i.m.size = (uint8_t)size;
    i.m.vec = (uint8_t)vec;
    return i;
}

/* Size and number of the pieces of a part that lies side by side. */
static struct inst access_part(enum op op, const struct fragment *f) {
    return f->bits == 64 ? access(op, 8, f->words / 2) : access(op, 4, f->words);
}

static void move_matrix(struct lower *l, struct opd d, struct opd s) {
    emit1(l, OP_MOVM, d, s);
}

/* Elements of a part; those below a word share one. */
static uint32_t part_elements(const struct fragment *f) {
    return f->words * 32 / f->bits;
}

static struct opd load_single(struct lower *l, const struct fragment *f, const struct place *p,
                              struct part part) {
    uint32_t n = part_elements(f), words = f->bits / 32;
    struct opd d = opd_reg(tmp(l, f->words), 0), bytes[4];
    for (uint32_t k = 0; k < n; k++) {
        struct inst i = access(OP_LD, f->bits / 8, 1);
        point(l, p, part.at + k, part.line, &i);
        bytes[k % 4] = words ? opd_reg(d.v, k * words) : new_word(l);
        i.dst = bytes[k % 4];
        emit(l, i);
    }
    if (words)
        return d;
    struct opd low = new_word(l), high = new_word(l);
    emit3(l, OP_PRMT, low, bytes[0], bytes[1], opd_imm(0x0040));
    emit3(l, OP_PRMT, high, bytes[2], bytes[3], opd_imm(0x0040));
    emit3(l, OP_PRMT, d, low, high, opd_imm(0x5410));
    return d;
}

static struct opd load_part(struct lower *l, const struct fragment *f, const struct place *p,
                            struct part part) {
    enum way way = way_of(f);
    if (way == WAY_SINGLE)
        return load_single(l, f, p, part);
    struct inst i = access_part(OP_LD, f);
    uint32_t at = f->bits < 8 ? part.at * f->bits / 32 : part.at;
    point(l, p, way == WAY_ALONG ? part.line : part.at, way == WAY_ALONG ? at : part.line, &i);
    i.dst = opd_reg(tmp(l, f->words), 0);
    emit(l, i);
    if (way == WAY_ALONG)
        return i.dst;
    struct opd turned = new_word(l);
    move_matrix(l, turned, i.dst);
    return turned;
}

/* Matrices of halves in shared memory come four at a time: lane 8 * q + r has the address of line r of part
 * q. */
static void load_halves(struct lower *l, const struct fragment *f, struct place *p, struct opd *parts) {
    uint32_t many = f->n < 4 ? f->n : 4;
    for (uint32_t first = 0; first < f->n; first += many) {
        struct opd lane = new_word(l), r = new_word(l), line = new_word(l), at = new_word(l), q = new_word(l);
        struct part a = f->part[first], b = f->part[first + 1], c = f->part[first + many - 2];
        emit_mode(l, OP_S2R, lane, none, none, none, SR_LANEID, false);
        emit2(l, OP_AND, r, lane, opd_imm(7));
        /* Bit 3 of the lane chooses between the first two parts, bit 4 between them and those after. */
        emit_mode(l, OP_SHR, q, lane, opd_imm(3), none, 0, false);
        emit2(l, OP_AND, q, q, opd_imm(1));
        emit3(l, OP_IMAD, line, q, opd_imm((uint32_t)b.line - a.line), opd_imm(a.line));
        emit3(l, OP_IMAD, at, q, opd_imm((uint32_t)b.at - a.at), opd_imm(a.at));
        if (many == 4) {
            struct opd up = new_word(l);
            emit_mode(l, OP_SHR, up, lane, opd_imm(4), none, 0, false);
            emit3(l, OP_IMAD, line, up, opd_imm((uint32_t)c.line - a.line), line);
            emit3(l, OP_IMAD, at, up, opd_imm((uint32_t)c.at - a.at), at);
        }
        emit2(l, OP_IADD, f->along ? line : at, f->along ? line : at, r);
        p->lane = multiply_add(l, f->along ? line : at, p->stride, f->along ? at : line);
        struct inst i = access(OP_LDSM, 4, many);
        i.m.mode = !f->along;
        point(l, p, 0, 0, &i);
        i.dst = opd_reg(tmp(l, many), 0);
        emit(l, i);
        for (uint32_t k = 0; k < many; k++)
            parts[first + k] = opd_reg(i.dst.v, k);
    }
}

static uint32_t natural_stride(struct lower *l) {
    const struct shape *s = shape_of(l);
    bool row = !has(l, MOD_COL);
    if (has(l, MOD_A))
        return row ? s->k : s->m;
    if (has(l, MOD_B))
        return row ? s->n : s->k;
    return row ? s->n : s->m;
}

static void wmma_load(struct lower *l) {
    struct fragment f = fragment_of(l);
    const struct ptx_opd *d = arg(l, 0);
    struct opd part[8];
    uint32_t words = matrix_words(l, d), all = f.n * f.words;
    struct place p = find_place(l, &f, arg(l, 1), l->in->nopds > 2 ? arg(l, 2) : NULL, natural_stride(l));
    if (words < all || words % all)
        lower_refuse(l, "the fragment needs %u words", all);
    if (p.space == MS_SHARED && f.bits == 16 && !has(l, MOD_C)) {
        load_halves(l, &f, &p, part);
    } else {
        prepare_lane(l, &f, &p);
        for (uint32_t k = 0; k < f.n; k++)
            part[k] = load_part(l, &f, &p, f.part[k]);
    }
    for (uint32_t at = 0; at < words; at += f.words)
        matrix_spread(l, d, part[at % all / f.words], at, f.words);
}

static void wmma_store(struct lower *l) {
    struct fragment f = fragment_of(l);
    const struct ptx_opd *s = arg(l, 1);
    struct place p = find_place(l, &f, arg(l, 0), l->in->nopds > 2 ? arg(l, 2) : NULL, natural_stride(l));
    enum way way = way_of(&f);
    prepare_lane(l, &f, &p);
    for (uint32_t k = 0; k < f.n; k++) {
        struct opd v = matrix_group(l, s, k * f.words, f.words);
        struct part part = f.part[k];
        if (way == WAY_TURNED) {
            struct opd turned = new_word(l);
            move_matrix(l, turned, v);
            v = turned;
        }
        if (way != WAY_SINGLE) {
            struct inst i = access_part(OP_ST, &f);
            point(l, &p, way == WAY_ALONG ? part.line : part.at, way == WAY_ALONG ? part.at : part.line, &i);
            i.src[1] = v;
            emit(l, i);
            continue;
        }
        for (uint32_t e = 0; e < 2; e++) {
            struct inst i = access(OP_ST, f.bits / 8, 1);
            point(l, &p, part.at + e, part.line, &i);
            i.src[1] = opd_reg(v.v, v.word + e * (f.words / 2));
            emit(l, i);
        }
    }
}

/* ---- products ---- */

static struct opd convert(struct lower *l, struct opd group, bool widen) {
    struct opd d = opd_reg(tmp(l, widen ? 4 : 2), 0);
    for (uint32_t k = 0; k < 4 && widen; k++) {
        struct opd half = opd_reg(group.v, k / 2);
        if (k % 2) {
            half = new_word(l);
            emit_mode(l, OP_SHR, half, opd_reg(group.v, k / 2), opd_imm(16), none, 0, false);
        }
        struct inst i = mk(OP_F2F, opd_reg(d.v, k), half, none, none);
        i.m.dtype = MT_F32;
        i.m.stype = MT_F16;
        emit(l, i);
    }
    for (uint32_t k = 0; k < 2 && !widen; k++) {
        struct inst i =
            mk(OP_F2FP, opd_reg(d.v, k), opd_reg(group.v, 2 * k + 1), opd_reg(group.v, 2 * k), none);
        i.m.dtype = MT_F16X2;
        emit(l, i);
    }
    return d;
}

/* The logarithm of k, a power of two. */
static uint32_t log2_of(uint32_t k) {
    return (uint32_t)__builtin_ctz(k);
}

static void wmma_product(struct lower *l) {
    const struct shape *s = shape_of(l);
    bool short_form = l->in->ntypes == 2, swapped = s->n > s->m;
    enum ptx_type dt = T(0), ct = short_form ? T(1) : T(3), a = short_form ? PTX_F16 : T(1);
    bool halves = a == PTX_F16 && (dt == PTX_F16 || ct == PTX_F16);
    if (a == PTX_F16 && has(l, MOD_SATFINITE))
        lower_refuse(l, ".satfinite of floating-point products is not supported: PTX 6.5 has removed it");
    if ((!short_form && T(2) != a) || (a == PTX_F16 && (ct != PTX_F32) + (ct != PTX_F16) != 1) ||
        (a == PTX_F16 && dt != PTX_F32 && dt != PTX_F16))
        lower_refuse(l, "these types do not go together");
    uint32_t bits = bits_of(l, a, s), m = s->m == 8 && s->n == 8 ? 8 : 16;
    if (a != PTX_F16 && (ct != dt || dt != (bits == 64                       ? PTX_F64
                                            : a == PTX_BF16 || a == PTX_TF32 ? PTX_F32
                                                                             : PTX_S32)))
        lower_refuse(l, "these types do not go together");
    /* Products of f16 whose accumulator has another width than the result are of f32. */
    enum ptx_type sum = halves && dt != ct ? PTX_F32 : dt;
    uint32_t steps = a == PTX_TF32 ? 2 : 1; /* which real code takes in two halves of k */
    uint16_t mode =
        MMA_MODE(log2_of(s->k / steps), (m == 16 ? MMA_M16 : 0) | (has(l, MOD_AND) ? MMA_AND : 0), 0);
    struct inst i = matrix_product(l, OP_MMA, mode, sum, a, a);
    uint32_t tall = (swapped ? s->n : s->m) / m, wide = (swapped ? s->m : s->n) / MMA_N;
    uint32_t aw = mma_words_a(&i.m), bw = mma_words_b(&i.m);
    uint32_t cw = mma_words(m * MMA_N, 8 * ptx_type_size(ct)),
             dw = mma_words(m * MMA_N, 8 * ptx_type_size(dt));
    struct opd result[4];
    for (uint32_t k = 0; k < tall * wide; k++) {
        i.dst = matrix_group(l, arg(l, 3), k * cw, cw);
        if (sum != ct)
            i.dst = convert(l, i.dst, true);
        for (uint32_t n = 0; n < steps; n++) {
            i.src[0] = matrix_group(l, arg(l, swapped ? 2 : 1), (k / wide * steps + n) * aw, aw);
            i.src[1] = matrix_group(l, arg(l, swapped ? 1 : 2), (k % wide * steps + n) * bw, bw);
            i.src[2] = i.dst;
            i.dst = opd_reg(tmp(l, mma_words_c(&i.m)), 0);
            emit(l, i);
        }
        result[k] = sum != dt ? convert(l, i.dst, false) : i.dst;
    }
    for (uint32_t k = 0; k < tall * wide; k++)
        matrix_spread(l, arg(l, 0), result[k], k * dw, dw);
}

void lower_wmma(struct lower *l) {
    if (has(l, MOD_LOAD))
        wmma_load(l);
    else if (has(l, MOD_STORE))
        wmma_store(l);
    else
        wmma_product(l);
}
