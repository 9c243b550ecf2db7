/* Facts about instructions that the operation table leaves to the instruction: how many words its operands
 * have.
 *
 * Operands of the forms whose width varies:
 *   memory     src[0] address (two words with m.a64), then data. Data elements narrower than a word take a
 * word each. LD, LDC: dst data. ST, RED: src[1] data. ATOM: dst data, src[1] data, CAS: src[1] compare,
 * src[2] new. LDGSTS: src[0] shared address (one word), src[1] global address, src[2] source size (optional;
 * of a bulk copy: all bytes). MBAR: dst state (two words), src[1] count (one word) or, for TEST_WAIT, state
 * (two words). texture    src[0] handle (two words with m.a64), src[1] coordinates in one group, array index
 * first, TEX: dst four words, src[2] level or dP/dx, src[3] dP/dy. SULD: dst data. SUST, SURED: src[2] data.
 * matrix     src[0] A, src[1] B, src[2] C, src[3] metadata, as isa/mma.h says; of MMA884 A and B have two
 * words. warp       one word each. control    CALLI: src[0] function (two words with m.a64). SYSCALL: src[0]
 * + imm is where its arguments are in local memory. One word otherwise. */
#include "ir/ir.h"
#include "isa/mma.h"

static uint32_t data_words(const struct imods *m) {
    uint32_t element = m->size > 4 ? m->size / 4u : 1;
    return element * (m->vec ? m->vec : 1);
}

static uint32_t address_words(const struct imods *m) {
    return m->a64 ? 2 : 1;
}

static uint32_t type_words(uint8_t type) {
    uint32_t size = mtype_size(type);
    return size <= 4 ? 1 : size / 4;
}

/* Dimensions a gradient has, and words of coordinates including the array index. */
static const struct {
    uint8_t dims, words;
} geometry[] = {
    [TEX_1D] = {1, 1},  [TEX_2D] = {2, 2},   [TEX_3D] = {3, 3},    [TEX_A1D] = {1, 2},
    [TEX_A2D] = {2, 3}, [TEX_CUBE] = {3, 3}, [TEX_ACUBE] = {3, 4},
};

static uint32_t mem_src_words(const struct inst *i, uint32_t s) {
    if (i->op == OP_LDGSTS)
        return s == 1 ? address_words(&i->m) : 1;
    if (s == 0)
        return address_words(&i->m);
    if (i->op == OP_MBAR)
        return i->m.mode == MBAR_TEST_WAIT ? 2 : 1;
    if (i->op == OP_LD || i->op == OP_LDC || i->op == OP_CCTL)
        return 1;
    return data_words(&i->m);
}

static uint32_t tex_src_words(const struct inst *i, uint32_t s) {
    uint32_t geom = i->m.geom < sizeof geometry / sizeof *geometry ? i->m.geom : TEX_1D;
    if (s == 0)
        return address_words(&i->m);
    if (s == 1)
        return i->op == OP_TXQ ? 1 : geometry[geom].words;
    if (i->op == OP_SUST || i->op == OP_SURED)
        return data_words(&i->m);
    return i->op == OP_TEX && i->m.mode == TEXM_GRAD ? geometry[geom].dims : 1;
}

static uint32_t mma_src_words(const struct inst *i, uint32_t s) {
    if (i->op == OP_MMA884)
        return s < 2 ? 2 : i->m.lut == MT_F16 ? 4 : 8;
    if (s == 2)
        return mma_words_c(&i->m);
    return s ? mma_words_b(&i->m) : mma_words_a(&i->m);
}

static uint32_t variable_src_words(const struct inst *i, uint32_t s) {
    switch (op_info[i->op].form) {
    case FORM_FN_CVT:
        return type_words(i->m.stype);
    case FORM_FN_SPACE:
        return address_words(&i->m);
    case FORM_MEM:
        return mem_src_words(i, s);
    case FORM_TEX:
        return tex_src_words(i, s);
    case FORM_MMA:
        return mma_src_words(i, s);
    default:
        return i->op == OP_CALLI ? address_words(&i->m) : 1;
    }
}

uint32_t inst_src_words(const struct inst *i, uint32_t s) {
    if (s >= i->nsrc || i->src[s].kind == O_NONE)
        return 0;
    uint32_t words = form_info[op_info[i->op].form].src[s];
    return words == WORDS_VAR ? variable_src_words(i, s) : words;
}

uint32_t inst_access_bytes(const struct inst *i) {
    enum { ROW = 16 }; /* of a matrix */
    return i->op == OP_LDSM || i->op == OP_STSM ? ROW : (uint32_t)i->m.size * (i->m.vec ? i->m.vec : 1);
}

uint32_t inst_dst_words(const struct inst *i) {
    uint32_t form = op_info[i->op].form, words = form_info[form].dst;
    if (i->dst.kind != O_REG)
        return 0;
    if (words != WORDS_VAR)
        return words;
    switch (form) {
    case FORM_FN_CVT:
        return type_words(i->m.dtype);
    case FORM_MEM:
        return i->op == OP_MBAR ? 2 : data_words(&i->m);
    case FORM_TEX:
        return i->op == OP_TEX ? i->m.vec : i->op == OP_TXQ ? 1 : data_words(&i->m);
    case FORM_MMA:
        return i->op == OP_MMA884 ? (i->m.dtype == MT_F16 ? 4 : 8) : mma_words_c(&i->m);
    default:
        return 1;
    }
}

bool inst_has_free_operands(const struct inst *i) {
    uint8_t form = op_info[i->op].form;
    return form == FORM_MEM || form == FORM_TEX || form == FORM_WARP || form == FORM_CTRL;
}

bool inst_src_may_be_const(const struct inst *i, uint32_t s) {
    uint32_t form = op_info[i->op].form, nsrc = form_info[form].nsrc;
    switch (form) {
    case FORM_CTRL:
        return i->op != OP_BRX && i->op != OP_CALLI && i->op != OP_SYSCALL;
    case FORM_WARP:
        return s > 0 || i->op != OP_SHFL;
    case FORM_MEM:
    case FORM_TEX:
    case FORM_MMA:
    case FORM_FN_SPACE:
    case FORM_FN_R2P:
        return false;
    default:
        break;
    }
    if (nsrc == 1 || i->op == OP_ISUB || (op_info[i->op].flags & OPF_MACRO))
        return true;
    return s > 0;
}

bool inst_is_pure(const struct inst *i) {
    uint16_t flags = op_info[i->op].flags;
    if (flags & (OPF_EFFECT | OPF_STORE | OPF_ATOMIC | OPF_END))
        return false;
    bool takes = i->nsrc && i->src[0].kind == O_CONST && i->src[0].bank == BANK_QUEUE;
    return !i->m.vol && !takes;
}
