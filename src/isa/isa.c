#include "isa/mma.h"

const struct op_info op_info[OP_COUNT] = {
#define OP(id, name, form, unit, lat, energy, flags, ...)                                                    \
    [OP_##id] = {name, FORM_##form, UNIT_##unit, LAT_##lat, EN_##energy, flags},
#include "isa/ops.def"
#undef OP
};

const struct form_info form_info[FORM_COUNT] = {
#define FORM(id, dst, pdst, nsrc, s0, s1, s2, s3, psrc)                                                      \
    [FORM_##id] = {dst, pdst, nsrc, {s0, s1, s2, s3}, psrc},
#include "isa/forms.def"
#undef FORM
};

static const struct {
    const char *name;
    uint8_t size;
} types[MT_COUNT] = {
    [MT_U8] = {"U8", 1},         [MT_S8] = {"S8", 1},         [MT_U16] = {"U16", 2},
    [MT_S16] = {"S16", 2},       [MT_U32] = {"U32", 4},       [MT_S32] = {"S32", 4},
    [MT_U64] = {"U64", 8},       [MT_S64] = {"S64", 8},       [MT_F16] = {"F16", 2},
    [MT_BF16] = {"BF16", 2},     [MT_F32] = {"F32", 4},       [MT_F64] = {"F64", 8},
    [MT_TF32] = {"TF32", 4},     [MT_F16X2] = {"F16X2", 4},   [MT_BF16X2] = {"BF16X2", 4},
    [MT_E4M3X2] = {"E4M3X2", 2}, [MT_E5M2X2] = {"E5M2X2", 2}, [MT_B128] = {"B128", 16},
    [MT_E4M3] = {"E4M3", 1},     [MT_E5M2] = {"E5M2", 1},     [MT_S4] = {"S4", 1},
    [MT_U4] = {"U4", 1},         [MT_B1] = {"B1", 1},
};

uint32_t mtype_size(enum mtype t) {
    return types[t].size;
}

uint32_t mma_bits(enum mtype t) {
    return t == MT_B1 ? 1 : t == MT_S4 || t == MT_U4 ? 4 : 8u * types[t].size;
}

const char *mtype_name(enum mtype t) {
    return types[t].name;
}
