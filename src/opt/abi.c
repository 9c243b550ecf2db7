/* What a called function owes its caller: every register and predicate it uses is saved on entry and restored
 * before it returns. Also settles the size of the frame and everything that is relative to it. */
#include "opt/pass.h"

enum { WORD = 4, FRAME_ALIGN = 16 };

struct used {
    bool reg[MAX_GPR + 1];
    bool preds;
};

static void note_group(struct used *u, const struct opd *o, uint32_t words) {
    for (uint32_t w = 0; w < words && o->v != VREG_RZ; w++)
        u->reg[o->v + w] = true;
}

static void note_inst(struct used *u, const struct inst *i) {
    if (i->dst.kind == O_REG)
        note_group(u, &i->dst, inst_dst_words(i));
    u->preds |= i->pdst[0].id != VPRED_PT || i->pdst[1].id != VPRED_PT || i->op == OP_R2P;
}

static struct inst local_access(enum op op, uint32_t reg, uint32_t at) {
    struct inst i = inst_new(op);
    i.m.space = MS_LOCAL;
    i.m.size = WORD;
    i.m.vec = 1;
    i.src[0] = opd_reg(REG_FRAME, 0);
    i.nsrc = op == OP_ST ? 2 : 1;
    if (op == OP_ST)
        i.src[1] = opd_reg(reg, 0);
    else
        i.dst = opd_reg(reg, 0);
    i.imm = (int32_t)at;
    return i;
}

static struct inst move_preds(enum op op, uint32_t reg) {
    struct inst i = inst_new(op);
    if (op == OP_P2R) {
        i.dst = opd_reg(reg, 0);
    } else {
        i.nsrc = 1;
        i.src[0] = opd_reg(reg, 0);
    }
    return i;
}

typedef VEC(struct inst) inst_list;

static void save_and_restore(struct fn *f) {
    struct used u = {0};
    for (uint32_t b = 0; b < f->blocks.len; b++)
        for (uint32_t k = 0; k < f->blocks.at[b].insts.len; k++)
            note_inst(&u, &f->blocks.at[b].insts.at[k]);
    u.reg[REG_FRAME] = false;
    uint32_t temp = 0; /* carries the predicates; any saved register will do */
    while (temp < REG_RZ && !u.reg[temp])
        temp++;
    if (u.preds && temp == REG_RZ)
        u.reg[temp = 0] = true;
    inst_list save = {0}, restore = {0};
    uint32_t at = (f->frame + WORD - 1) / WORD * WORD;
    for (uint32_t r = 0; r < REG_RZ; r++) {
        if (!u.reg[r])
            continue;
        vec_push(&save, local_access(OP_ST, r, at));
        if (r >= f->nregs)
            f->nregs = r + 1;
        at += WORD;
    }
    if (u.preds) {
        vec_push(&save, move_preds(OP_P2R, temp));
        vec_push(&save, local_access(OP_ST, temp, at));
        vec_push(&restore, local_access(OP_LD, temp, at));
        vec_push(&restore, move_preds(OP_R2P, temp));
        at += WORD;
    }
    uint32_t slot = (f->frame + WORD - 1) / WORD * WORD;
    for (uint32_t r = 0; r < REG_RZ; r++)
        if (u.reg[r]) {
            vec_push(&restore, local_access(OP_LD, r, slot));
            slot += WORD;
        }
    f->frame = at;
    block_insert(&f->blocks.at[0], 0, save.at, save.len);
    for (uint32_t b = 0; b < f->blocks.len; b++) {
        struct inst *last = block_last(&f->blocks.at[b]);
        if (last && last->op == OP_RET)
            block_insert(&f->blocks.at[b], f->blocks.at[b].insts.len - 1, restore.at, restore.len);
    }
    vec_free(&save);
    vec_free(&restore);
}

/* The frame size is final: puts it where the lowering asked for it. */
static void settle_frame(struct fn *f) {
    f->frame = (f->frame + FRAME_ALIGN - 1) / FRAME_ALIGN * FRAME_ALIGN;
    for (uint32_t b = 0; b < f->blocks.len; b++)
        for (uint32_t k = 0; k < f->blocks.at[b].insts.len; k++) {
            struct inst *i = &f->blocks.at[b].insts.at[k];
            if (!i->frame)
                continue;
            if (is_frame_value(i))
                i->src[i->nsrc - 1].v *= f->frame;
            else
                i->imm += (int32_t)f->frame;
            i->frame = false;
        }
}

void abi_finish(struct fn *f) {
    if (!f->entry)
        save_and_restore(f);
    settle_frame(f);
}
