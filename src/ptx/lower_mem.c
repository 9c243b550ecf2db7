/* Data movement: mov, loads, stores, atomics, address conversion, asynchronous copies, barrier objects. */
#include "ptx/lower.h"

#define T(i) in_type(l, i)

/* ---- mov ---- */

/* Packs element values of esize bytes (1, 2) into one word. */
static void pack_word(struct lower *l, struct opd d, const struct ptx_opd *e, uint32_t n, uint32_t esize) {
    struct opd v[4];
    for (uint32_t k = 0; k < n; k++)
        v[k] = e[k].kind == OPD_SINK ? opd_rz() : src_word(l, &e[k], PTX_U32, 0);
    if (esize == 2) {
        emit3(l, OP_PRMT, d, v[0], n > 1 ? v[1] : opd_rz(), opd_imm(0x5410));
        return;
    }
    struct opd lo = n > 2 ? opd_reg(tmp(l, 1), 0) : d;
    emit3(l, OP_PRMT, lo, v[0], n > 1 ? v[1] : opd_rz(),
          opd_imm(n > 2 ? 0x0040 : 0x4440)); /* upper bytes do not matter yet */
    if (n > 2) {
        struct opd hi = opd_reg(tmp(l, 1), 0);
        emit3(l, OP_PRMT, hi, v[2], n > 3 ? v[3] : opd_rz(), opd_imm(0x0040));
        emit3(l, OP_PRMT, d, lo, hi, opd_imm(0x5410));
    }
}

/* Bytes of each element when the vector's elements fill a value of type t. */
static uint32_t elem_bytes(struct lower *l, const struct ptx_opd *vec, enum ptx_type t) {
    uint32_t size = ptx_type_size(t);
    if (!vec->nelems || size % vec->nelems || size / vec->nelems > 8)
        lower_refuse(l, "the elements do not fill the value");
    return size / vec->nelems;
}

static void mov_pack(struct lower *l, const struct ptx_opd *d, const struct ptx_opd *v, enum ptx_type t) {
    uint32_t esize = elem_bytes(l, v, t), words = type_words(t);
    uint32_t g = tmp(l, words); /* the destination may be among the elements */
    for (uint32_t w = 0; w < words; w++) {
        if (esize >= 4) {
            uint32_t per = esize / 4;
            emit1(l, OP_MOV, opd_reg(g, w),
                  src_word(l, &v->elems[w / per], per == 2 ? PTX_U64 : PTX_U32, w % per));
        } else {
            uint32_t per = 4 / esize, first = w * per, n = v->nelems - first < per ? v->nelems - first : per;
            pack_word(l, opd_reg(g, w), &v->elems[first], n, esize);
        }
    }
    for (uint32_t w = 0; w < words; w++)
        emit1(l, OP_MOV, dst_word(l, d, w), opd_reg(g, w));
}

static void mov_unpack(struct lower *l, const struct ptx_opd *v, const struct ptx_opd *s, enum ptx_type t) {
    uint32_t esize = elem_bytes(l, v, t), words = type_words(t), g = tmp(l, words);
    for (uint32_t w = 0; w < words; w++)
        emit1(l, OP_MOV, opd_reg(g, w), src_word(l, s, t, w));
    for (uint32_t k = 0; k < v->nelems; k++) {
        const struct ptx_opd *e = &v->elems[k];
        if (e->kind == OPD_SINK)
            continue;
        uint32_t byte = k * esize, shift = byte % 4 * 8;
        if (esize >= 4) {
            for (uint32_t w = 0; w < esize / 4; w++)
                emit1(l, OP_MOV, dst_word(l, e, w), opd_reg(g, byte / 4 + w));
        } else if (shift) {
            emit_mode(l, OP_SHR, dst_word(l, e, 0), opd_reg(g, byte / 4), opd_imm(shift), none, 0, false);
        } else {
            emit1(l, OP_MOV, dst_word(l, e, 0), opd_reg(g, byte / 4));
        }
    }
}

void lower_mov(struct lower *l) {
    const struct ptx_opd *d = arg(l, 0), *s = arg(l, 1);
    enum ptx_type t = T(0);
    if (t == PTX_PRED) {
        emit_plop(l, dst_pred(l, d), BOOL_AND, src_pred(l, s), (struct popd){VPRED_PT, false});
    } else if (has(l, MOD_V2) || has(l, MOD_V4)) { /* element by element, through copies */
        if (d->kind != OPD_VECTOR || s->kind != OPD_VECTOR || d->nelems != s->nelems)
            lower_refuse(l, "vectors of the same length are needed");
        uint32_t words = type_words(t), g[4];
        for (uint32_t k = 0; k < s->nelems && k < 4; k++) {
            g[k] = tmp(l, words);
            for (uint32_t w = 0; w < words; w++)
                emit1(l, OP_MOV, opd_reg(g[k], w), src_word(l, &s->elems[k], t, w));
        }
        for (uint32_t k = 0; k < s->nelems && k < 4; k++)
            for (uint32_t w = 0; w < words && d->elems[k].kind != OPD_SINK; w++)
                emit1(l, OP_MOV, dst_word(l, &d->elems[k], w), opd_reg(g[k], w));
    } else if (s->kind == OPD_VECTOR) {
        mov_pack(l, d, s, t);
    } else if (d->kind == OPD_VECTOR) {
        mov_unpack(l, d, s, t);
    } else {
        for (uint32_t w = 0; w < type_words(t); w++)
            emit1(l, OP_MOV, dst_word(l, d, w), src_word(l, s, t, w));
    }
}

/* ---- loads and stores ---- */

static uint32_t inst_vec(struct lower *l) {
    return has(l, MOD_V8) ? 8 : has(l, MOD_V4) ? 4 : has(l, MOD_V2) ? 2 : 1;
}

static bool is_ordered(struct lower *l) {
    return has(l, MOD_VOLATILE) || has(l, MOD_RELAXED) || has(l, MOD_ACQUIRE) || has(l, MOD_RELEASE) ||
           has(l, MOD_MMIO) || has(l, MOD_CV);
}

/* What the instruction says about memory order; weak: what it means when it says nothing. */
static void set_order(struct lower *l, struct imods *m, enum mem_order weak) {
    m->order = (uint8_t)(has(l, MOD_ACQ_REL) || has(l, MOD_SC)     ? ORDER_ACQ_REL
                         : has(l, MOD_ACQUIRE)                     ? ORDER_ACQUIRE
                         : has(l, MOD_RELEASE)                     ? ORDER_RELEASE
                         : has(l, MOD_RELAXED) || has(l, MOD_MMIO) ? ORDER_RELAXED
                         : has(l, MOD_VOLATILE) || has(l, MOD_CV)  ? ORDER_VOLATILE
                                                                   : weak);
    m->scope = has(l, MOD_CTA) ? SCOPE_BLOCK : has(l, MOD_SYS) ? SCOPE_SYSTEM : SCOPE_GPU;
}

/* Element k of a vector operand, or the operand itself. */
static const struct ptx_opd *element(struct lower *l, const struct ptx_opd *o, uint32_t k, uint32_t vec) {
    if (vec == 1 && o->kind != OPD_VECTOR)
        return o;
    if (o->kind != OPD_VECTOR || o->nelems != vec)
        lower_refuse(l, "a vector of %u elements is needed", vec);
    return &o->elems[k];
}

/* Writes loaded words to a register that may be wider than the loaded type. */
static void store_element(struct lower *l, const struct ptx_opd *d, enum ptx_type t, uint32_t group,
                          uint32_t first) {
    uint32_t words = type_words(t);
    if (d->kind == OPD_SINK)
        return;
    for (uint32_t w = 0; w < dst_words(l, d); w++) {
        struct opd to = dst_word(l, d, w);
        if (w < words)
            emit1(l, OP_MOV, to, opd_reg(group, first + w));
        else if (type_is_signed(t))
            emit_mode(l, OP_SHR, to, opd_reg(group, first + words - 1), opd_imm(31), none, 0, true);
        else
            emit1(l, OP_MOV, to, opd_rz());
    }
}

/* A parameter or constant at a fixed place is a constant-bank operand. */
static bool load_fixed(struct lower *l, uint32_t bank, uint32_t at, enum ptx_type t, uint32_t vec) {
    uint32_t size = ptx_type_size(t), words = type_words(t);
    if (size < 4 || at % 4)
        return false;
    uint32_t g = tmp(l, 1);
    for (uint32_t k = 0; k < vec; k++) {
        const struct ptx_opd *d = element(l, arg(l, 0), k, vec);
        if (d->kind == OPD_SINK)
            continue;
        for (uint32_t w = 0; w < dst_words(l, d); w++) {
            struct opd c = opd_const(bank, at + k * size + 4 * w);
            if (w < words) {
                emit1(l, OP_MOV, dst_word(l, d, w), c);
            } else if (type_is_signed(t)) {
                emit1(l, OP_MOV, opd_reg(g, 0), opd_const(bank, at + k * size));
                emit_mode(l, OP_SHR, dst_word(l, d, w), opd_reg(g, 0), opd_imm(31), none, 0, true);
            } else {
                emit1(l, OP_MOV, dst_word(l, d, w), opd_rz());
            }
        }
    }
    return true;
}

static bool is_param(struct lower *l) {
    return has(l, MOD_PARAM) || has(l, MOD_PARAM_ENTRY) || has(l, MOD_PARAM_FUNC);
}

static void emit_load(struct lower *l, struct inst i, enum ptx_type t, uint32_t vec) {
    i.m.size = (uint8_t)ptx_type_size(t);
    i.m.vec = (uint8_t)vec;
    i.m.sgn = type_is_signed(t);
    i.m.vol = is_ordered(l) || has(l, MOD_CG); /* past L1, to see what other SMs have stored */
    set_order(l, &i.m, ORDER_WEAK);
    const struct ptx_opd *d = arg(l, 0);
    if (vec == 1 && d->kind == OPD_REG && dst_words(l, d) == type_words(t)) {
        i.dst = dst_word(l, d, 0);
        emit(l, i);
        return;
    }
    uint32_t words = type_words(t), g = tmp(l, words * vec);
    i.dst = opd_reg(g, 0);
    emit(l, i);
    for (uint32_t k = 0; k < vec; k++)
        store_element(l, element(l, d, k, vec), t, g, k * words);
}

void lower_ld(struct lower *l) {
    enum ptx_type t = T(0);
    uint32_t vec = inst_vec(l);
    const struct ptx_opd *a = arg(l, 1);
    bool param = is_param(l);
    if (a->kind != OPD_ADDR || !a->nelems)
        lower_refuse(l, "an address in brackets is needed");
    const struct ptx_opd *b = &a->elems[0];
    bool entry_param = param && l->func->entry && (b->kind != OPD_VAR || lower_is_incoming(l->func, b->var));
    if (vec * ptx_type_size(t) > 32)
        lower_refuse(l, "a vector of more than 256 bits");
    struct inst i = inst_new(OP_LD);
    i.nsrc = 1;
    if (entry_param || inst_space(l) == MS_CONST) {
        uint32_t bank = entry_param ? BANK_PARAM : BANK_CONST;
        if (b->kind == OPD_VAR && load_fixed(l, bank, (uint32_t)(b->var->user + b->imm + a->imm), t, vec))
            return;
        i.op = OP_LDC;
        i.m.mode = (uint16_t)bank;
        if (b->kind == OPD_VAR) {
            i.src[0] = opd_rz();
            i.imm = (int32_t)(b->var->user + b->imm + a->imm);
        } else {
            struct address at = lower_address(l, a, MS_CONST);
            i.src[0] = at.base;
            i.imm = at.imm;
        }
        i.m.space = MS_CONST;
    } else {
        i.m.space = param ? MS_LOCAL : inst_space(l);
        struct address at = lower_address(l, a, (enum mem_space)i.m.space);
        i.src[0] = at.base;
        i.imm = at.imm;
        i.frame = at.frame;
        i.m.a64 = at.a64;
        if (b->kind == OPD_VAR && i.m.space == MS_GENERIC)
            i.m.space = b->var->space == SPACE_SHARED  ? MS_SHARED
                        : b->var->space == SPACE_LOCAL ? MS_LOCAL
                                                       : MS_GLOBAL;
    }
    emit_load(l, i, t, vec);
}

/* The data of a store or atomic as one register group of vec elements. */
static struct opd data_group(struct lower *l, const struct ptx_opd *o, enum ptx_type t, uint32_t vec) {
    if (vec == 1)
        return src_group(l, element(l, o, 0, 1), t);
    uint32_t words = type_words(t), g = tmp(l, words * vec);
    for (uint32_t k = 0; k < vec; k++)
        for (uint32_t w = 0; w < words; w++)
            emit1(l, OP_MOV, opd_reg(g, k * words + w), src_word(l, element(l, o, k, vec), t, w));
    return opd_reg(g, 0);
}

void lower_st(struct lower *l) {
    enum ptx_type t = T(0);
    uint32_t vec = inst_vec(l);
    if (has(l, MOD_ASYNC) || has(l, MOD_BULK))
        lower_refuse_form(l);
    if (vec * ptx_type_size(t) > 32)
        lower_refuse(l, "a vector of more than 256 bits");
    struct inst i = inst_new(OP_ST);
    i.m.space = is_param(l) ? MS_LOCAL : inst_space(l);
    struct address at = lower_address(l, arg(l, 0), (enum mem_space)i.m.space);
    const struct ptx_opd *b = &arg(l, 0)->elems[0];
    if (b->kind == OPD_VAR && i.m.space == MS_GENERIC)
        i.m.space = b->var->space == SPACE_SHARED  ? MS_SHARED
                    : b->var->space == SPACE_LOCAL ? MS_LOCAL
                                                   : MS_GLOBAL;
    i.src[0] = at.base;
    i.src[1] = data_group(l, arg(l, 1), t, vec);
    i.nsrc = 2;
    i.imm = at.imm;
    i.frame = at.frame;
    i.m.a64 = at.a64;
    i.m.size = (uint8_t)ptx_type_size(t);
    i.m.vec = (uint8_t)vec;
    i.m.vol = is_ordered(l);
    set_order(l, &i.m, ORDER_WEAK);
    emit(l, i);
}

/* ---- atomics ---- */

static const struct {
    uint16_t mod;
    uint8_t op;
} atomics[] = {{MOD_ADD, ATOM_ADD},   {MOD_MIN, ATOM_MIN}, {MOD_MAX, ATOM_MAX}, {MOD_INC, ATOM_INC},
               {MOD_DEC, ATOM_DEC},   {MOD_AND, ATOM_AND}, {MOD_OR, ATOM_OR},   {MOD_XOR, ATOM_XOR},
               {MOD_EXCH, ATOM_EXCH}, {MOD_CAS, ATOM_CAS}};

void lower_atom(struct lower *l) {
    bool red = l->in->op == PTXOP_RED;
    if (has(l, MOD_ASYNC))
        lower_refuse_form(l);
    enum ptx_type t = T(0);
    uint32_t vec = inst_vec(l), first = red ? 0 : 1;
    struct inst i = inst_new(red ? OP_RED : OP_ATOM);
    i.m.aop = ATOM_COUNT;
    for (uint32_t k = 0; k < sizeof atomics / sizeof atomics[0]; k++)
        if (has(l, (enum ptx_mod)atomics[k].mod))
            i.m.aop = atomics[k].op;
    if (i.m.aop == ATOM_COUNT)
        lower_refuse(l, "no operation is named");
    i.m.space = inst_space(l);
    struct address at = lower_address(l, arg(l, first), (enum mem_space)i.m.space);
    i.m.a64 = at.a64;
    i.m.dtype = (uint8_t)type_machine(t);
    i.m.size = (uint8_t)ptx_type_size(t);
    i.m.vec = (uint8_t)vec;
    i.m.noftz = has(l, MOD_NOFTZ);
    i.m.vol = true;
    set_order(l, &i.m, ORDER_RELAXED);
    i.src[0] = at.base;
    i.imm = at.imm;
    i.src[1] = data_group(l, arg(l, first + 1), t, vec);
    i.nsrc = 2;
    if (i.m.aop == ATOM_CAS) {
        i.src[2] = data_group(l, arg(l, first + 2), t, 1);
        i.nsrc = 3;
    }
    for (uint32_t s = 1; s < i.nsrc; s++) { /* data are always in registers */
        if (i.src[s].kind == O_REG)
            continue;
        uint32_t g = tmp(l, type_words(t));
        for (uint32_t w = 0; w < type_words(t); w++)
            emit1(l, OP_MOV, opd_reg(g, w), pair_word(i.src[s], w));
        i.src[s] = opd_reg(g, 0);
    }
    if (red) {
        emit(l, i);
        return;
    }
    uint32_t words = type_words(t), g = tmp(l, words * vec);
    i.dst = opd_reg(g, 0);
    emit(l, i);
    for (uint32_t k = 0; k < vec; k++)
        store_element(l, element(l, arg(l, 0), k, vec), t, g, k * words);
}

/* ---- addresses ---- */

void lower_cvta(struct lower *l) {
    const struct ptx_opd *d = arg(l, 0), *s = arg(l, 1);
    bool to = has(l, MOD_TO), wide = dst_words(l, d) > 1;
    enum mem_space sp = inst_space(l);
    struct opd lo = src_word(l, s, PTX_U64, 0), hi = src_word(l, s, PTX_U64, 1);
    if (sp == MS_SHARED || sp == MS_LOCAL) {
        uint32_t window = sp == MS_SHARED ? SHARED_WINDOW : LOCAL_WINDOW;
        emit2(l, OP_IADD, dst_word(l, d, 0), lo, opd_imm(to ? 0u - window : window));
        if (wide)
            emit1(l, OP_MOV, dst_word(l, d, 1), opd_imm(to ? 0 : WINDOW_HI));
        return;
    }
    if (sp == MS_GLOBAL || sp == MS_GENERIC) {
        if (!is_param(l)) {
            emit1(l, OP_MOV, dst_word(l, d, 0), lo);
            if (wide)
                emit1(l, OP_MOV, dst_word(l, d, 1), hi);
            return;
        }
    }
    /* .const and .param: the generic address is that of their copy in memory, whose base is a constant */
    struct opd base =
        is_param(l) ? opd_const(BANK_PARAM, PARAM_BLOCK) : opd_const(BANK_SYMBOL, SYMBOL_CONST_BASE);
    uint32_t p = tmp_pred(l), b = tmp(l, 2);
    emit1(l, OP_MOV, opd_reg(b, 0), base);
    emit1(l, OP_MOV, opd_reg(b, 1), pair_word(base, 1));
    emit_carry(l, to ? OP_ISUBC : OP_IADDC, dst_word(l, d, 0), p, lo, opd_reg(b, 0), VPRED_PT);
    if (wide)
        emit_carry(l, to ? OP_ISUBC : OP_IADDC, dst_word(l, d, 1), VPRED_PT, hi, opd_reg(b, 1), p);
}

void lower_isspacep(struct lower *l) {
    struct inst i = inst_new(OP_ISSPACE);
    i.m.a64 = l->mod->address_bits == 64;
    i.m.space = inst_space(l);
    i.m.mode = has(l, MOD_SHARED_CLUSTER) ? ISSPACE_CLUSTER : ISSPACE_OWN;
    i.src[0] = src_group(l, arg(l, 1), i.m.a64 ? PTX_U64 : PTX_U32);
    i.nsrc = 1;
    i.pdst[0].id = dst_pred(l, arg(l, 0));
    emit(l, i);
}

/* The slice of a block's shared memory in the window of its cluster: offset + (rank + 1) slices. A generic
 * address keeps what stands above it. */
void lower_mapa(struct lower *l) {
    struct opd a = src_word(l, arg(l, 1), T(0), 0), rank = src_word(l, arg(l, 2), PTX_U32, 0);
    struct opd offset = opd_reg(tmp(l, 1), 0), slice = opd_reg(tmp(l, 1), 0), high = opd_reg(tmp(l, 1), 0);
    bool generic = inst_space(l) == MS_GENERIC;
    emit2(l, OP_AND, offset, a, opd_imm(SHARED_SLICE - 1));
    emit2(l, OP_IADD, slice, rank, opd_imm(1));
    emit3(l, OP_IMAD, offset, slice, opd_imm(SHARED_SLICE), offset);
    if (type_words(T(0)) > 1) {
        emit1(l, OP_MOV, high, generic ? src_word(l, arg(l, 1), T(0), 1) : opd_rz());
        emit1(l, OP_MOV, dst_word(l, arg(l, 0), 1), high);
    }
    emit2(l, OP_IADD, dst_word(l, arg(l, 0), 0), offset, opd_imm(generic ? SHARED_WINDOW : 0));
}

void lower_getctarank(struct lower *l) {
    struct opd a = src_word(l, arg(l, 1), T(0), 0), own = opd_reg(tmp(l, 1), 0),
               slice = opd_reg(tmp(l, 1), 0);
    struct opd rank = opd_reg(tmp(l, 1), 0);
    if (inst_space(l) == MS_GENERIC) {
        struct opd offset = opd_reg(tmp(l, 1), 0);
        emit2(l, OP_IADD, offset, a, opd_imm(0u - SHARED_WINDOW));
        a = offset;
    }
    emit_mode(l, OP_S2R, own, none, none, none, SR_CLUSTER_CTARANK, false);
    emit_mode(l, OP_SHR, slice, a, opd_imm((uint32_t)__builtin_ctz(SHARED_SLICE)), none, 0, false);
    emit2(l, OP_IADD, rank, slice, opd_imm(0xffffffffu));
    uint32_t first = emit_isetp(l, CMP_EQ, false, slice, opd_imm(0));
    emit_sel(l, dst_word(l, arg(l, 0), 0), own, rank, (struct popd){first, false});
}

/* Cache hints have no effect on results. */
void lower_nothing(struct lower *l) {
    (void)l;
}

void lower_createpolicy(struct lower *l) {
    for (uint32_t w = 0; w < dst_words(l, arg(l, 0)); w++)
        emit1(l, OP_MOV, dst_word(l, arg(l, 0), w), opd_rz());
}

void lower_membar(struct lower *l) {
    struct inst i = inst_new(OP_MEMBAR);
    set_order(l, &i.m, ORDER_ACQ_REL);
    emit(l, i);
}

/* ---- asynchronous copies ---- */

/* Adds bytes to what the current phase of the mbarrier at an operand still expects from copies. */
static void expect_bytes(struct lower *l, const struct ptx_opd *mbar, enum mem_space space,
                         struct opd bytes) {
    struct inst i = inst_new(OP_MBAR);
    struct address at = lower_address(l, mbar, space);
    i.m.mode = MBAR_EXPECT_TX;
    i.m.space = (uint8_t)space;
    i.m.a64 = at.a64;
    i.m.size = 8;
    i.m.vec = 1;
    i.src[0] = at.base;
    i.src[1] = bytes;
    i.nsrc = 2;
    i.imm = at.imm;
    emit(l, i);
}

static struct opd in_register(struct lower *l, struct opd o) {
    struct opd r = opd_reg(tmp(l, 1), 0);
    emit1(l, OP_MOV, r, o);
    return r;
}

static struct opd negated(struct lower *l, struct opd o) {
    struct opd r = opd_reg(tmp(l, 1), 0);
    emit2(l, OP_ISUB, r, opd_rz(), o);
    return r;
}

/* Bulk copies between global memory and the block's shared memory. They are complete when they are issued, so
 * their groups need no waiting and the bytes arrive at the mbarrier at once. */
static void lower_bulk(struct lower *l) {
    if (has(l, MOD_COMMIT_GROUP) || has(l, MOD_WAIT_GROUP) || has(l, MOD_PREFETCH))
        return;
    bool out = has(l, MOD_BULK_GROUP);
    if (!has(l, MOD_GLOBAL) || (!out && !has(l, MOD_MBARRIER_COMPLETE_TX_BYTES)))
        lower_refuse_form(l);
    struct inst i = inst_new(OP_LDGSTS);
    struct address shared = lower_address(l, arg(l, out), MS_SHARED),
                   global = lower_address(l, arg(l, !out), MS_GLOBAL);
    i.m.mode = out ? LDGSTS_BULK_OUT : LDGSTS_BULK;
    i.m.size = 16;
    i.m.vec = 1;
    i.m.a64 = global.a64;
    i.m.space = MS_GLOBAL;
    i.src[0] = shared.base;
    i.imm = shared.imm;
    i.src[1] = lower_address_sum(l, &global);
    i.src[2] = in_register(l, src_word(l, arg(l, 2), PTX_U32, 0));
    i.nsrc = 3;
    emit(l, i);
    if (!out)
        expect_bytes(l, arg(l, 3), MS_SHARED, negated(l, i.src[2]));
}

void lower_cp(struct lower *l) {
    if (!has(l, MOD_ASYNC) || has(l, MOD_REDUCE) || has(l, MOD_TENSOR) || has(l, MOD_MULTICAST_CLUSTER))
        lower_refuse_form(l);
    if (has(l, MOD_BULK)) {
        lower_bulk(l);
        return;
    }
    if (has(l, MOD_COMMIT_GROUP) || has(l, MOD_WAIT_GROUP) || has(l, MOD_WAIT_ALL)) {
        struct inst i = inst_new(has(l, MOD_COMMIT_GROUP) ? OP_CPCOMMIT : OP_CPWAIT);
        i.imm = has(l, MOD_WAIT_GROUP) ? (int32_t)arg(l, 0)->imm : 0;
        emit(l, i);
        return;
    }
    if (has(l, MOD_MBARRIER)) { /* copies are complete when they are issued: a plain arrival, unless .noinc */
        struct inst i = inst_new(OP_MBAR);
        struct address at = lower_address(l, arg(l, 0), inst_space(l));
        i.m.mode = MBAR_ARRIVE;
        i.m.space = inst_space(l);
        i.m.a64 = at.a64;
        i.m.lut = !has(l, MOD_NOINC);
        i.src[0] = at.base;
        i.src[1] = opd_imm(1);
        i.nsrc = 2;
        i.imm = at.imm;
        emit(l, i);
        return;
    }
    struct inst i = inst_new(OP_LDGSTS);
    struct address to = lower_address(l, arg(l, 0), MS_SHARED), from = lower_address(l, arg(l, 1), MS_GLOBAL);
    if (arg(l, 2)->kind != OPD_INT)
        lower_refuse(l, "the size must be an immediate");
    uint64_t size = arg(l, 2)->imm;
    if (size != 4 && size != 8 && size != 16)
        lower_refuse(l, "the size must be 4, 8 or 16");
    i.m.size = (uint8_t)size;
    i.m.vec = 1;
    i.m.a64 = from.a64;
    i.m.space = MS_GLOBAL;
    i.src[0] = to.base;
    i.imm = to.imm;
    i.src[1] = lower_address_sum(l, &from);
    i.nsrc = 2;
    const struct ptx_opd *n = l->in->nopds > 3 && !has(l, MOD_L2_CACHE_HINT) ? arg(l, 3)
                              : l->in->nopds > 4                             ? arg(l, 3)
                                                                             : NULL;
    if (n) { /* bytes taken from the source, or a predicate that takes none; the rest is zero */
        struct opd bytes = opd_reg(tmp(l, 1), 0);
        if (n->kind == OPD_REG && l->func->regs[n->reg].type == PTX_PRED)
            emit_sel(l, bytes, opd_rz(), opd_imm((uint32_t)size), src_pred(l, n));
        else
            emit1(l, OP_MOV, bytes, src_word(l, n, PTX_U32, 0));
        i.src[2] = bytes;
        i.nsrc = 3;
    }
    emit(l, i);
}

/* mbarrier objects: 64 bits in shared memory. */
void lower_mbarrier(struct lower *l) {
    static const struct {
        uint16_t mod;
        uint8_t mode;
    } modes[] = {{MOD_INIT, MBAR_INIT},
                 {MOD_INVAL, MBAR_INVAL},
                 {MOD_ARRIVE, MBAR_ARRIVE},
                 {MOD_ARRIVE_DROP, MBAR_ARRIVE_DROP},
                 {MOD_TEST_WAIT, MBAR_TEST_WAIT},
                 {MOD_TRY_WAIT, MBAR_TEST_WAIT},
                 {MOD_PENDING_COUNT, MBAR_COUNT_PENDING}};
    bool tx = has(l, MOD_EXPECT_TX) || has(l, MOD_COMPLETE_TX);
    struct inst i = inst_new(OP_MBAR);
    i.m.mode = 0xffff;
    for (uint32_t k = 0; k < sizeof modes / sizeof modes[0]; k++)
        if (has(l, (enum ptx_mod)modes[k].mod))
            i.m.mode = modes[k].mode;
    if (i.m.mode == 0xffff && !tx)
        lower_refuse_form(l);
    if (i.m.mode == MBAR_COUNT_PENDING) { /* the state is a plain value: its low 20 bits */
        emit2(l, OP_AND, dst_word(l, arg(l, 0), 0), src_word(l, arg(l, 1), PTX_U64, 0), opd_imm(0xfffff));
        return;
    }
    bool result = arg(l, 0)->kind != OPD_ADDR;
    uint32_t at = result;
    i.m.space = inst_space(l);
    if (tx) { /* its operand is bytes; with .arrive, an arrival of one follows */
        struct opd bytes = in_register(l, src_word(l, arg(l, at + 1), PTX_U32, 0));
        expect_bytes(l, arg(l, at), (enum mem_space)i.m.space,
                     has(l, MOD_COMPLETE_TX) ? negated(l, bytes) : bytes);
        if (i.m.mode == 0xffff)
            return;
    }
    struct address a = lower_address(l, arg(l, at), (enum mem_space)i.m.space);
    i.m.a64 = a.a64;
    i.src[0] = a.base;
    i.imm = a.imm;
    i.nsrc = 2;
    i.m.size = 8;
    i.m.vec = 1;
    bool test = i.m.mode == MBAR_TEST_WAIT;
    i.m.sgn = has(l, MOD_PARITY);
    i.src[1] = opd_imm(1);
    if (l->in->nopds > at + 1 && !tx)
        i.src[1] = !test                ? src_word(l, arg(l, at + 1), PTX_U32, 0)
                   : has(l, MOD_PARITY) ? make_pair(l, src_word(l, arg(l, at + 1), PTX_U32, 0), opd_rz())
                                        : src_group(l, arg(l, at + 1), PTX_U64);
    if (i.src[1].kind != O_REG)
        i.src[1] = in_register(l, i.src[1]);
    if (result && test)
        i.pdst[0].id = dst_pred(l, arg(l, 0));
    else if (result && arg(l, 0)->kind != OPD_SINK)
        i.dst = dst_word(l, arg(l, 0), 0);
    emit(l, i);
}
