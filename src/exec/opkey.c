#include "exec/opkey.h"

#include <string.h>

#include "base/map.h"

enum { MODS = offsetof(struct imods, fuse) };
_Static_assert(sizeof(struct imods) - MODS <= _Alignof(struct imods), "a modifier stands behind fuse");
_Static_assert(sizeof(struct opkey) == 8 + 64 + OPKEY_MODS, "struct opkey has padding");

struct opkey opkey_of(const struct xinst *i) {
    struct opkey k = {
        .op = i->in->op, .nsw = i->nsw, .pneg = (uint8_t)(i->pneg[0] | i->pneg[1] << 1), .imm = i->in->imm};
    memcpy(k.mods, &i->in->m, MODS);
    memset(k.and_mask, 0xff, sizeof k.and_mask);
    if (i->mods) {
        memcpy(k.and_mask, i->mods->and_mask, sizeof k.and_mask);
        memcpy(k.xor_mask, i->mods->xor_mask, sizeof k.xor_mask);
    }
    return k;
}

uint64_t opkey_hash(const struct opkey *k) {
    return hash_bytes(k, sizeof *k);
}

enum opkey_basis opkey_basis(const struct xinst *i) {
    const struct op_info *op = &op_info[i->in->op];
    if (op->unit == UNIT_CTRL || op->flags & (OPF_STORE | OPF_ATOMIC))
        return BASIS_NONE;
    switch ((enum xkind)i->kind) {
    case X_ALU:
    case X_R2P:
    case X_ISSPACE:
        return op->flags & OPF_EFFECT ? BASIS_NONE : BASIS_INPUTS;
    case X_LDC:
        return BASIS_CONSTANT;
    case X_TEX: /* textures do not change during a kernel; surfaces do */
        return i->in->op == OP_SULD ? BASIS_MEMORY : BASIS_CONSTANT;
    case X_LOAD:
    case X_LDSM:
        return BASIS_MEMORY;
    case X_S2R:
    case X_P2R:
    case X_SHFL:
    case X_VOTE:
    case X_MATCH:
    case X_REDUX:
    case X_ELECT:
    case X_MMA:
    case X_MOVM:
        return BASIS_LANES;
    default:
        return BASIS_NONE;
    }
}
