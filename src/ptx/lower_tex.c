/* Textures and surfaces. */
#include "ptx/lower.h"

#define T(i) in_type(l, i)

static const struct {
    uint16_t mod;
    uint8_t geom, words, dims;
} geometries[] = {
    {MOD_A1D, TEX_A1D, 2, 1},   {MOD_A2D, TEX_A2D, 3, 2}, {MOD_ACUBE, TEX_ACUBE, 4, 3},
    {MOD_CUBE, TEX_CUBE, 3, 3}, {MOD__1D, TEX_1D, 1, 1},  {MOD__2D, TEX_2D, 2, 2},
    {MOD__3D, TEX_3D, 3, 3},
};

/* Row of geometries; TXQ names none. */
static uint32_t inst_geom(struct lower *l) {
    for (uint32_t k = 0; k < sizeof geometries / sizeof geometries[0]; k++)
        if (has(l, (enum ptx_mod)geometries[k].mod))
            return k;
    lower_refuse(l, "this geometry is not supported");
}

/* Handle of a texture or surface: a 64-bit value, or what the reference's slot holds. */
static struct opd handle(struct lower *l, const struct ptx_opd *o) {
    if (o->kind == OPD_VAR) {
        struct opd c = opd_const(BANK_SYMBOL, (uint32_t)o->var->user);
        return make_pair(l, c, pair_word(c, 1));
    }
    return src_group(l, o, PTX_U64);
}

/* n elements of a vector (or a single value) as one register group. */
static struct opd coords(struct lower *l, const struct ptx_opd *o, uint32_t n, enum ptx_type t) {
    static const uint8_t widths[] = {0, 1, 2, 4, 4};
    if (o->kind != OPD_VECTOR && n == 1) {
        struct opd v = opd_reg(tmp(l, 1), 0);
        emit1(l, OP_MOV, v, src_word(l, o, t, 0));
        return v;
    }
    if (o->kind != OPD_VECTOR || o->nelems < n)
        lower_refuse(l, "%u coordinates are needed", n);
    uint32_t g = tmp(l, widths[n]);
    for (uint32_t k = 0; k < n; k++)
        emit1(l, OP_MOV, opd_reg(g, k), src_word(l, &o->elems[k], t, 0));
    return opd_reg(g, 0);
}

/* Splits [handle, {coords}] or [handle, sampler, {coords}]. */
static const struct ptx_opd *bracket(struct lower *l, const struct ptx_opd *o, struct opd *h) {
    if (o->kind != OPD_ADDR || o->nelems < 2)
        lower_refuse(l, "[texture, coordinates] is needed");
    *h = handle(l, &o->elems[0]);
    return &o->elems[o->nelems - 1];
}

/* Destination elements from the words of a result group. */
static void deliver(struct lower *l, const struct ptx_opd *d, struct opd group, uint32_t words_each) {
    if (d->kind == OPD_PAIR)
        d = &d->elems[0];
    uint32_t n = d->kind == OPD_VECTOR ? d->nelems : 1;
    for (uint32_t k = 0; k < n; k++) {
        const struct ptx_opd *e = d->kind == OPD_VECTOR ? &d->elems[k] : d;
        for (uint32_t w = 0; w < words_each && e->kind != OPD_SINK; w++)
            emit1(l, OP_MOV, dst_word(l, e, w), pair_word(group, k * words_each + w));
    }
}

void lower_tex(struct lower *l) {
    uint32_t g = inst_geom(l);
    bool gather = l->in->op == PTXOP_TLD4;
    struct inst i = inst_new(OP_TEX);
    i.m.geom = geometries[g].geom;
    i.m.dtype = (uint8_t)type_machine(T(0));
    i.m.stype = (uint8_t)(gather ? MT_F32 : type_machine(T(1)));
    i.m.mode = gather              ? TEXM_GATHER
               : has(l, MOD_LEVEL) ? TEXM_LEVEL
               : has(l, MOD_GRAD)  ? TEXM_GRAD
                                   : TEXM_PLAIN;
    i.m.lut = has(l, MOD_G) ? 1 : has(l, MOD_B) ? 2 : has(l, MOD_A) ? 3 : 0;
    if (!gather)
        i.m.lut = 0;
    i.m.a64 = true;
    i.m.vec = 4; /* opt_dce drops components that nobody reads */
    const struct ptx_opd *c = bracket(l, arg(l, 1), &i.src[0]);
    i.src[1] = coords(l, c, geometries[g].words, PTX_U32);
    i.nsrc = 2;
    uint32_t extra = 2;
    if (i.m.mode == TEXM_LEVEL) {
        i.src[2] = coords(l, arg(l, extra++), 1, PTX_U32);
        i.nsrc = 3;
    } else if (i.m.mode == TEXM_GRAD) {
        i.src[2] = coords(l, arg(l, extra), geometries[g].dims, PTX_U32);
        i.src[3] = coords(l, arg(l, extra + 1), geometries[g].dims, PTX_U32);
        extra += 2;
        i.nsrc = 4;
    }
    if (l->in->nopds > extra)
        lower_refuse(l, "texel offsets and depth comparison are not supported");
    i.dst = opd_reg(tmp(l, 4), 0);
    emit(l, i);
    const struct ptx_opd *d = arg(l, 0);
    bool packed = has(l, MOD_V2) && T(0) == PTX_F16X2;
    if (!packed) {
        deliver(l, d, i.dst, 1);
        return;
    }
    struct opd halves = opd_reg(tmp(l, 2), 0);
    for (uint32_t k = 0; k < 2; k++)
        emit3(l, OP_PRMT, pair_word(halves, k), pair_word(i.dst, 2 * k), pair_word(i.dst, 2 * k + 1),
              opd_imm(0x5410));
    deliver(l, d, halves, 1);
}

void lower_txq(struct lower *l) {
    static const struct {
        uint16_t mod;
        uint8_t mode;
    } queries[] = {
        {MOD_WIDTH, TXQ_WIDTH},
        {MOD_HEIGHT, TXQ_HEIGHT},
        {MOD_DEPTH, TXQ_DEPTH},
        {MOD_CHANNEL_DATA_TYPE, TXQ_CHANNEL_TYPE},
        {MOD_CHANNEL_ORDER, TXQ_CHANNEL_ORDER},
        {MOD_NUM_MIPMAP_LEVELS, TXQ_LEVELS},
        {MOD_NUM_SAMPLES, TXQ_SAMPLES},
        {MOD_ARRAY_SIZE, TXQ_ARRAY},
        {MOD_NORMALIZED_COORDS, TXQ_NORMALIZED},
        {MOD_FILTER_MODE, TXQ_FILTER},
        {MOD_ADDR_MODE_0, TXQ_ADDR0},
        {MOD_ADDR_MODE_1, TXQ_ADDR1},
        {MOD_ADDR_MODE_2, TXQ_ADDR2},
    };
    struct inst i = inst_new(OP_TXQ);
    i.m.mode = 0xffff;
    for (uint32_t k = 0; k < sizeof queries / sizeof queries[0]; k++)
        if (has(l, (enum ptx_mod)queries[k].mod))
            i.m.mode = queries[k].mode;
    const struct ptx_opd *a = arg(l, 1);
    if (i.m.mode == 0xffff || a->kind != OPD_ADDR || !a->nelems)
        lower_refuse(l, "this query is not supported");
    i.m.a64 = true;
    i.src[0] = handle(l, &a->elems[0]);
    i.nsrc = 1;
    if (has(l, MOD_LEVEL)) {
        i.src[1] = coords(l, arg(l, 2), 1, PTX_U32);
        i.nsrc = 2;
    }
    i.dst = dst_word(l, arg(l, 0), 0);
    emit(l, i);
}

/* What surface loads, stores and reductions have in common. */
static struct inst surface(struct lower *l, enum op op, const struct ptx_opd *at) {
    uint32_t g = inst_geom(l);
    struct inst i = inst_new(op);
    i.m.geom = geometries[g].geom;
    i.m.size = (uint8_t)ptx_type_size(T(0));
    i.m.vec = has(l, MOD_V4) ? 4 : has(l, MOD_V2) ? 2 : 1;
    i.m.lut = has(l, MOD_CLAMP) ? SURF_CLAMP : has(l, MOD_ZERO) ? SURF_ZERO : SURF_TRAP;
    i.m.a64 = true;
    i.m.dtype = (uint8_t)type_machine(T(0));
    if (has(l, MOD_P))
        lower_refuse(l, "formatted surface access is not supported");
    const struct ptx_opd *c = bracket(l, at, &i.src[0]);
    i.src[1] = coords(l, c, geometries[g].words, PTX_U32);
    i.nsrc = 2;
    return i;
}

void lower_suld(struct lower *l) {
    struct inst i = surface(l, OP_SULD, arg(l, 1));
    uint32_t each = type_words(T(0));
    i.dst = opd_reg(tmp(l, each * i.m.vec), 0);
    emit(l, i);
    deliver(l, arg(l, 0), i.dst, each);
}

static struct opd surface_data(struct lower *l, const struct ptx_opd *o, uint32_t vec) {
    uint32_t each = type_words(T(0)), g = tmp(l, each * vec);
    for (uint32_t k = 0; k < vec; k++) {
        const struct ptx_opd *e = o->kind == OPD_VECTOR && k < o->nelems ? &o->elems[k] : o;
        for (uint32_t w = 0; w < each; w++)
            emit1(l, OP_MOV, opd_reg(g, k * each + w), src_word(l, e, T(0), w));
    }
    return opd_reg(g, 0);
}

void lower_sust(struct lower *l) {
    struct inst i = surface(l, OP_SUST, arg(l, 0));
    i.src[2] = surface_data(l, arg(l, 1), i.m.vec);
    i.nsrc = 3;
    emit(l, i);
}

void lower_sured(struct lower *l) {
    struct inst i = surface(l, OP_SURED, arg(l, 0));
    i.m.aop = has(l, MOD_MIN)   ? ATOM_MIN
              : has(l, MOD_MAX) ? ATOM_MAX
              : has(l, MOD_AND) ? ATOM_AND
              : has(l, MOD_OR)  ? ATOM_OR
                                : ATOM_ADD;
    i.src[2] = surface_data(l, arg(l, 1), 1);
    i.nsrc = 3;
    emit(l, i);
}
