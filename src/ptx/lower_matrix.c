/* Matrices: mma, and their moves between shared memory and registers. */
#include "ptx/lower_matrix.h"

#define T(i) in_type(l, i)

/* ---- registers ---- */

static uint32_t element_words(struct lower *l, const struct ptx_opd *e) {
    return e->kind == OPD_REG ? type_words(l->func->regs[e->reg].type) : 1;
}

uint32_t matrix_words(struct lower *l, const struct ptx_opd *v) {
    uint32_t n = 0;
    for (uint32_t k = 0; v->kind == OPD_VECTOR && k < v->nelems; k++)
        n += element_words(l, &v->elems[k]);
    return n;
}

struct opd matrix_group(struct lower *l, const struct ptx_opd *v, uint32_t first, uint32_t words) {
    uint32_t g = tmp(l, words), at = 0;
    if (matrix_words(l, v) < first + words)
        lower_refuse(l, "a list of registers is too short");
    for (uint32_t k = 0; k < v->nelems; k++) {
        uint32_t n = element_words(l, &v->elems[k]);
        for (uint32_t w = 0; w < n; w++, at++)
            if (at >= first && at < first + words)
                emit1(l, OP_MOV, opd_reg(g, at - first),
                      src_word(l, &v->elems[k], n == 2 ? PTX_U64 : PTX_U32, w));
    }
    return opd_reg(g, 0);
}

void matrix_spread(struct lower *l, const struct ptx_opd *v, struct opd group, uint32_t first,
                   uint32_t words) {
    uint32_t at = 0;
    if (matrix_words(l, v) < first + words)
        lower_refuse(l, "the list of results is too short");
    for (uint32_t k = 0; k < v->nelems; k++) {
        uint32_t n = dst_words(l, &v->elems[k]);
        for (uint32_t w = 0; w < n; w++, at++)
            if (at >= first && at < first + words)
                emit1(l, OP_MOV, dst_word(l, &v->elems[k], w), opd_reg(group.v, group.word + at - first));
    }
}

/* ---- mma ---- */

/* Shapes that mma has. */
static const struct {
    uint16_t mod;
    uint8_t m, log2k;
} shapes[] = {
    {MOD_M8N8K4, 8, 2},    {MOD_M8N8K16, 8, 4},    {MOD_M8N8K32, 8, 5},    {MOD_M8N8K128, 8, 7},
    {MOD_M16N8K4, 16, 2},  {MOD_M16N8K8, 16, 3},   {MOD_M16N8K16, 16, 4},  {MOD_M16N8K32, 16, 5},
    {MOD_M16N8K64, 16, 6}, {MOD_M16N8K128, 16, 7}, {MOD_M16N8K256, 16, 8},
};

/* Element types: whom one may be multiplied with, results, and the least and greatest logarithm of k with 8
 * and with 16 rows; 0: none. Sparse products have twice as many columns. */
static const struct {
    uint8_t ptx, machine, other, results[2], k8, k16[2];
} elements[] = {
    {PTX_F16, MT_F16, PTX_F16, {PTX_F16, PTX_F32}, 0, {3, 4}},
    {PTX_BF16, MT_BF16, PTX_BF16, {PTX_F32}, 0, {3, 4}},
    {PTX_TF32, MT_TF32, PTX_TF32, {PTX_F32}, 0, {2, 3}},
    {PTX_F64, MT_F64, PTX_F64, {PTX_F64}, 2, {2, 4}},
    {PTX_S8, MT_S8, PTX_U8, {PTX_S32}, 4, {4, 5}},
    {PTX_U8, MT_U8, PTX_S8, {PTX_S32}, 4, {4, 5}},
    {PTX_S4, MT_S4, PTX_U4, {PTX_S32}, 5, {5, 6}},
    {PTX_U4, MT_U4, PTX_S4, {PTX_S32}, 5, {5, 6}},
    {PTX_B1, MT_B1, PTX_B1, {PTX_S32}, 7, {7, 8}},
    {PTX_E4M3, MT_E4M3, PTX_E5M2, {PTX_F16, PTX_F32}, 0, {4, 5}},
    {PTX_E5M2, MT_E5M2, PTX_E4M3, {PTX_F16, PTX_F32}, 0, {4, 5}},
};

static uint8_t machine_type(enum ptx_type t) {
    for (uint32_t k = 0; k < sizeof elements / sizeof *elements; k++)
        if (elements[k].ptx == t)
            return elements[k].machine;
    return t == PTX_F32 ? MT_F32 : MT_S32;
}

struct inst matrix_product(struct lower *l, enum op op, uint16_t mode, enum ptx_type d, enum ptx_type a,
                           enum ptx_type b) {
    struct inst i = inst_new(op);
    i.m.mode = mode;
    i.m.dtype = machine_type(d);
    i.m.stype = machine_type(a);
    i.m.lut = machine_type(b);
    i.m.rnd = (uint8_t)inst_rounding(l);
    i.m.sat = has(l, MOD_SATFINITE);
    i.nsrc = 3;
    return i;
}

/* Which word stands at place n among row and col. */
static bool is_col(const struct lower *l, uint32_t n) {
    for (uint32_t k = 0; k < l->in->nmods; k++)
        if ((l->in->order[k] == MOD_ROW || l->in->order[k] == MOD_COL) && !n--)
            return l->in->order[k] == MOD_COL;
    return false;
}

static void lower_mma884(struct lower *l) {
    if (T(2) != PTX_F16 || (T(0) != PTX_F16 && T(0) != PTX_F32) || (T(3) != PTX_F16 && T(3) != PTX_F32) ||
        (T(0) == PTX_F16 && T(3) == PTX_F32))
        lower_refuse(l, "these types do not go together");
    uint32_t flags = (is_col(l, 0) ? MMA_A_COL : 0) | (is_col(l, 1) ? 0 : MMA_B_ROW);
    struct inst i = matrix_product(l, OP_MMA884, MMA_MODE(2, flags, 0), T(0), T(1), T(2));
    i.m.lut = T(3) == PTX_F32 ? MT_F32 : MT_F16;
    i.src[0] = matrix_group(l, arg(l, 1), 0, 2);
    i.src[1] = matrix_group(l, arg(l, 2), 0, 2);
    i.src[2] = matrix_group(l, arg(l, 3), 0, T(3) == PTX_F32 ? 8 : 4);
    i.dst = opd_reg(tmp(l, T(0) == PTX_F32 ? 8 : 4), 0);
    emit(l, i);
    matrix_spread(l, arg(l, 0), i.dst, 0, T(0) == PTX_F32 ? 8 : 4);
}

/* The mode of an instruction's shape and types, or a refusal. */
static uint16_t mma_mode(struct lower *l, bool sparse) {
    uint32_t s = 0, e = 0;
    while (s < sizeof shapes / sizeof *shapes && !has(l, (enum ptx_mod)shapes[s].mod))
        s++;
    while (e < sizeof elements / sizeof *elements && elements[e].ptx != T(1))
        e++;
    if (s == sizeof shapes / sizeof *shapes || e == sizeof elements / sizeof *elements ||
        has(l, MOD_BLOCK_SCALE))
        lower_refuse(l, "not supported: GPUs up to sm_90 have no such shape or type");
    uint32_t k = shapes[s].log2k - (sparse ? 1u : 0u);
    bool known = shapes[s].m == 8 ? k == elements[e].k8 && !sparse
                                  : k >= elements[e].k16[0] && k <= elements[e].k16[1];
    if (!known)
        lower_refuse(l, "there is no such shape for this type");
    if ((T(2) != T(1) && T(2) != elements[e].other) || T(3) != T(0) ||
        (T(0) != elements[e].results[0] && T(0) != elements[e].results[1]))
        lower_refuse(l, "these types do not go together");
    if (T(1) == PTX_B1 && (sparse || has(l, MOD_AND) == has(l, MOD_XOR)))
        lower_refuse(l, "single bits need .and or .xor");
    return MMA_MODE(
        shapes[s].log2k,
        (shapes[s].m == 16 ? MMA_M16 : 0) | (sparse ? MMA_SPARSE : 0) | (has(l, MOD_AND) ? MMA_AND : 0), 0);
}

/* Products whose A does not fit a group of registers are two, over the halves of k. */
enum { MAX_GROUP = 8 };

void lower_mma(struct lower *l) {
    bool sparse = has(l, MOD_SP) || has(l, MOD_SP_ORDERED_METADATA);
    if (has(l, MOD_M8N8K4) && T(1) == PTX_F16) {
        lower_mma884(l);
        return;
    }
    struct inst i = matrix_product(l, OP_MMA, mma_mode(l, sparse), T(0), T(1), T(2));
    if (sparse) {
        const struct ptx_opd *sel = arg(l, 5);
        if (sel->kind != OPD_INT || sel->imm > 3)
            lower_refuse(l, "the sparsity selector must be a constant from 0 to 3");
        i.m.mode |= MMA_MODE(0, 0, (uint32_t)sel->imm);
        i.src[3] = src_word(l, arg(l, 4), PTX_U32, 0);
        i.nsrc = 4;
    }
    uint32_t parts = mma_words_a(&i.m) > MAX_GROUP ? 2 : 1, words = mma_words_c(&i.m);
    i.m.mode = (uint16_t)(i.m.mode - (parts - 1));
    struct opd sum = matrix_group(l, arg(l, 3), 0, words);
    for (uint32_t k = 0; k < parts; k++) {
        struct inst part = i;
        part.src[0] = matrix_group(l, arg(l, 1), k * mma_words_a(&i.m), mma_words_a(&i.m));
        part.src[1] = matrix_group(l, arg(l, 2), k * mma_words_b(&i.m), mma_words_b(&i.m));
        part.src[2] = sum;
        part.dst = sum = opd_reg(tmp(l, words), 0);
        emit(l, part);
    }
    matrix_spread(l, arg(l, 0), sum, 0, words);
}

/* ---- moves ---- */

static void matrix_access(struct lower *l, struct inst *i, uint32_t address, uint32_t data) {
    const struct ptx_opd *v = arg(l, data);
    uint32_t n = has(l, MOD_X4) ? 4 : has(l, MOD_X2) ? 2 : 1;
    if (!has(l, MOD_M8N8) || T(0) != PTX_B16 || v->kind != OPD_VECTOR || v->nelems != n)
        lower_refuse(l, "not supported: GPUs up to sm_90 move matrices of 8 rows of b16");
    i->m.space = inst_space(l);
    struct address at = lower_address(l, arg(l, address), (enum mem_space)i->m.space);
    i->m.a64 = at.a64;
    i->m.size = 4;
    i->m.vec = (uint8_t)n;
    i->m.mode = has(l, MOD_TRANS);
    i->src[0] = at.base;
    i->imm = at.imm;
    i->nsrc = 1;
}

void lower_ldmatrix(struct lower *l) {
    struct inst i = inst_new(OP_LDSM);
    matrix_access(l, &i, 1, 0);
    i.dst = opd_reg(tmp(l, i.m.vec), 0);
    emit(l, i);
    matrix_spread(l, arg(l, 0), i.dst, 0, i.m.vec);
}

void lower_stmatrix(struct lower *l) {
    struct inst i = inst_new(OP_STSM);
    matrix_access(l, &i, 0, 1);
    i.src[1] = matrix_group(l, arg(l, 1), 0, i.m.vec);
    i.nsrc = 2;
    emit(l, i);
}

void lower_movmatrix(struct lower *l) {
    struct inst i = inst_new(OP_MOVM);
    i.src[0] = src_word(l, arg(l, 1), PTX_U32, 0);
    i.nsrc = 1;
    i.dst = dst_word(l, arg(l, 0), 0);
    emit(l, i);
}
