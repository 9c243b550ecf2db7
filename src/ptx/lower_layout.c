/* Where variables, functions and parameters of a module live; facts about types. */
#include "ptx/lower.h"

enum { CONST_LIMIT = 65536 };

/* ---- layout ---- */

bool ptx_layout(struct ptx_module *m, struct ptx_layout *out, struct diag *d) {
    uint32_t slot = SYMBOL_FIRST;
    uint64_t cbytes = 0;
    for (uint32_t i = 0; i < m->nvars; i++) {
        struct ptx_var *v = m->vars[i];
        if (v->space == SPACE_CONST && !type_is_reference(v->type)) {
            uint64_t align = v->align ? v->align : 1;
            cbytes = (cbytes + align - 1) & ~(align - 1);
            v->user = cbytes;
            cbytes += v->size;
            if (cbytes > CONST_LIMIT) {
                diag_at(d, DIAG_ERROR, &m->src, v->at, "constant variables exceed %u bytes", CONST_LIMIT);
                return false;
            }
        } else if (v->space == SPACE_GLOBAL || v->space == SPACE_TEX || type_is_reference(v->type)) {
            v->user = slot;
            slot += 8;
        }
    }
    for (uint32_t i = 0; i < m->nfuncs; i++) {
        m->funcs[i]->user = (void *)(uintptr_t)slot;
        slot += 8;
    }
    *out = (struct ptx_layout){.symbol_bytes = slot, .const_bytes = (uint32_t)cbytes};
    return true;
}

uint32_t ptx_func_slot(const struct ptx_func *f) {
    return (uint32_t)(uintptr_t)f->user;
}

uint32_t ptx_param_offset(const struct ptx_func *k, uint32_t n) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < k->nparams; i++) {
        at = align_up(at, var_align(k->params[i]));
        if (i == n)
            break;
        at += (uint32_t)k->params[i]->size;
    }
    return at;
}

uint32_t ptx_param_bytes(const struct ptx_func *k) {
    return k->nparams ? ptx_param_offset(k, k->nparams - 1) + (uint32_t)k->params[k->nparams - 1]->size : 0;
}

/* ---- types ---- */

bool type_is_half(enum ptx_type t) {
    return t == PTX_F16 || t == PTX_F16X2 || t == PTX_BF16 || t == PTX_BF16X2;
}

bool type_is_float(enum ptx_type t) {
    return t == PTX_F32 || t == PTX_F64 || t == PTX_TF32 || type_is_half(t);
}

bool type_is_signed(enum ptx_type t) {
    return t == PTX_S8 || t == PTX_S16 || t == PTX_S32 || t == PTX_S64;
}

uint32_t type_words(enum ptx_type t) {
    uint32_t size = ptx_type_size(t);
    return size <= 4 ? 1 : size / 4;
}

enum mtype type_machine(enum ptx_type t) {
    static const uint8_t machine[PTX_TYPE_COUNT] = {
        [PTX_U8] = MT_U8,         [PTX_B8] = MT_U8,       [PTX_S8] = MT_S8,         [PTX_U16] = MT_U16,
        [PTX_B16] = MT_U16,       [PTX_S16] = MT_S16,     [PTX_U32] = MT_U32,       [PTX_B32] = MT_U32,
        [PTX_S32] = MT_S32,       [PTX_U64] = MT_U64,     [PTX_B64] = MT_U64,       [PTX_S64] = MT_S64,
        [PTX_F16] = MT_F16,       [PTX_BF16] = MT_BF16,   [PTX_F32] = MT_F32,       [PTX_F64] = MT_F64,
        [PTX_TF32] = MT_TF32,     [PTX_F16X2] = MT_F16X2, [PTX_BF16X2] = MT_BF16X2, [PTX_E4M3X2] = MT_E4M3X2,
        [PTX_E5M2X2] = MT_E5M2X2, [PTX_B128] = MT_B128,
    };
    return (enum mtype)machine[t];
}
