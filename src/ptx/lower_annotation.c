/* Annotations of a program become marks between its instructions. */
#include "ptx/lower.h"

void lower_annotation(struct lower *l) {
    if (!l->in->nopds) {
        l->fn->blocks.at[l->block].no_unroll = true;
        return;
    }
    const struct ptx_opd *value = arg(l, 2);
    struct inst i = inst_new(OP_MARK);
    i.m.mode = (uint16_t)arg(l, 0)->imm;
    i.imm = (int32_t)(uint32_t)arg(l, 1)->imm;
    i.src[0] = value->kind == OPD_REG ? src_word(l, value, l->func->regs[value->reg].type, 0) : opd_rz();
    i.nsrc = 1;
    emit(l, i);
}
