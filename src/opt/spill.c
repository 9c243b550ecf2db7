/* Spilling: registers to local memory, predicates to registers.
 *
 * Every instruction that touches a spilled register gets a short-lived register of its own, loaded before it
 * and stored after it. A guarded write loads the old value first, because it may not happen. Values that one
 * MOV or S2R makes are made again where they are needed and take no memory. */
#include "opt/ranges.h"

enum { WORD = 4 };

bool can_recompute(struct fn *f, const struct defs *d, uint32_t v) {
    for (uint32_t w = 0; w < f->vregs.at[v]; w++) {
        uint32_t value = d->v.base[v] + w;
        if (!d->count[value] && !d->uses[value])
            continue;
        if (d->count[value] != 1)
            return false;
        const struct inst *i = def_inst(f, d, value);
        bool constant = i->op == OP_MOV && !i->frame && (is_const(&i->src[0]) || is_rz(&i->src[0]));
        bool place = i->op == OP_S2R && (i->m.mode <= SR_LANEID || i->m.mode == SR_DYN_SMEM);
        if (!constant && !place)
            return false;
    }
    return true;
}

struct spiller {
    struct fn *f;
    const bool *spilled;
    uint32_t nspilled; /* length of spilled */
    flag_list *fixed;
    struct defs defs;
    uint32_t *slot;  /* by spilled register: offset in the frame; by spilled predicate: register */
    bool *recompute; /* by spilled register */
    VEC(struct inst) out;
};

static void inherit_line(struct inst *i, const struct inst *from) {
    inst_from(i, from);
    i->rpc = 0;
    i->id = 0;
}

static bool is_spilled(const struct spiller *s, uint32_t id) {
    return id < s->nspilled && s->spilled[id];
}

static void mark_fixed(flag_list *list, uint32_t id) {
    while (list->len <= id)
        vec_push(list, 0);
    list->at[id] = 1;
}

/* What one instruction does with one spilled register. */
struct touch {
    uint32_t reg, temp;
    uint32_t first, end; /* words it touches */
    uint32_t refs;
    uint8_t reads, writes; /* sets of words */
};

static void note(struct touch *t, uint32_t *n, const struct opd *o, uint32_t words, bool write, bool read) {
    uint32_t k = 0;
    while (k < *n && t[k].reg != o->v)
        k++;
    if (k == *n)
        t[(*n)++] = (struct touch){.reg = o->v, .first = o->word, .end = o->word};
    uint8_t set = (uint8_t)(((1u << words) - 1) << o->word);
    t[k].refs++;
    t[k].first = o->word < t[k].first ? o->word : t[k].first;
    t[k].end = o->word + words > t[k].end ? o->word + words : t[k].end;
    t[k].reads |= read ? set : 0;
    t[k].writes |= write ? set : 0;
}

static uint32_t find_touches(const struct spiller *s, const struct inst *i, struct touch t[5]) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < i->nsrc; k++)
        if (i->src[k].kind == O_REG && i->src[k].v != VREG_RZ && is_spilled(s, i->src[k].v))
            note(t, &n, &i->src[k], inst_src_words(i, k), false, true);
    if (i->dst.kind == O_REG && i->dst.v != VREG_RZ && is_spilled(s, i->dst.v))
        note(t, &n, &i->dst, inst_dst_words(i), true, is_guarded(i));
    return n;
}

/* Register for the touched words; several operands share the whole group, a single one gets no more than it
 * needs. */
static void make_temp(struct spiller *s, struct touch *t) {
    uint32_t words = s->f->vregs.at[t->reg];
    if (t->refs == 1) {
        uint32_t need = t->end - t->first, size = need > 4 ? 8 : need > 2 ? 4 : need;
        if (size < words)
            words = size;
    }
    if (words == s->f->vregs.at[t->reg])
        t->first = 0;
    t->temp = fn_vreg(s->f, words);
    mark_fixed(s->fixed, t->temp);
}

static struct inst frame_access(const struct fn *f, enum op op, struct opd reg, uint32_t words, uint32_t at) {
    struct inst i = inst_new(op);
    i.m.space = MS_LOCAL;
    i.m.size = WORD;
    i.m.vec = (uint8_t)words;
    i.src[0] = f->entry || f->fp == VREG_RZ ? opd_rz() : opd_reg(f->fp, 0);
    i.nsrc = op == OP_ST ? 2 : 1;
    if (op == OP_ST)
        i.src[1] = reg;
    else
        i.dst = reg;
    i.imm = (int32_t)at;
    return i;
}

/* Moves the words in set between the temporary and memory, in the widest pieces that are aligned. */
static void transfer(struct spiller *s, const struct touch *t, uint8_t set, enum op op,
                     const struct inst *at) {
    for (uint32_t w = 0; w < 8;) {
        if (!(set >> w & 1)) {
            w++;
            continue;
        }
        uint32_t n = 4;
        while (n > 1 && (w % n || (set >> w & ((1u << n) - 1)) != (1u << n) - 1))
            n /= 2;
        struct opd reg = opd_reg(t->temp, w - t->first);
        struct inst i = frame_access(s->f, op, reg, n, s->slot[t->reg] + w * WORD);
        inherit_line(&i, at);
        vec_push(&s->out, i);
        w += n;
    }
}

static void recompute(struct spiller *s, const struct touch *t, const struct inst *at) {
    for (uint32_t w = 0; w < 8; w++) {
        if (!(t->reads >> w & 1) || !s->defs.count[s->defs.v.base[t->reg] + w])
            continue;
        struct inst i = *def_inst(s->f, &s->defs, s->defs.v.base[t->reg] + w);
        i.dst = opd_reg(t->temp, w - t->first);
        inherit_line(&i, at);
        vec_push(&s->out, i);
    }
}

static void rename(struct opd *o, const struct touch *t, uint32_t n) {
    for (uint32_t k = 0; k < n && o->kind == O_REG; k++)
        if (o->v == t[k].reg) {
            o->v = t[k].temp;
            o->word = (uint8_t)(o->word - t[k].first);
            return;
        }
}

static void spill_inst(struct spiller *s, struct inst i) {
    struct touch t[5];
    uint32_t n = find_touches(s, &i, t);
    for (uint32_t k = 0; k < n; k++) {
        if (s->recompute[t[k].reg] && t[k].writes)
            return; /* the only write: made again at every use */
        make_temp(s, &t[k]);
        if (s->recompute[t[k].reg])
            recompute(s, &t[k], &i);
        else
            transfer(s, &t[k], t[k].reads, OP_LD, &i);
    }
    rename(&i.dst, t, n);
    for (uint32_t k = 0; k < i.nsrc; k++)
        rename(&i.src[k], t, n);
    vec_push(&s->out, i);
    for (uint32_t k = 0; k < n; k++)
        transfer(s, &t[k], t[k].writes, OP_ST, &i);
}

/* The new code replaces the old only when all blocks are done: recompute() reads the old one. */
static void rewrite_blocks(struct spiller *s, void (*each)(struct spiller *, struct inst)) {
    uint32_t n = s->f->blocks.len;
    struct arena a = {0};
    struct {
        struct inst *at;
        uint32_t len, cap;
    } *fresh = arena_alloc(&a, n * sizeof *fresh);
    for (uint32_t b = 0; b < n; b++) {
        s->out.at = NULL;
        s->out.len = s->out.cap = 0;
        for (uint32_t k = 0; k < s->f->blocks.at[b].insts.len; k++)
            each(s, s->f->blocks.at[b].insts.at[k]);
        fresh[b].at = s->out.at;
        fresh[b].len = s->out.len;
        fresh[b].cap = s->out.cap;
    }
    for (uint32_t b = 0; b < n; b++) {
        struct block *k = &s->f->blocks.at[b];
        vec_free(&k->insts);
        k->insts.at = fresh[b].at;
        k->insts.len = fresh[b].len;
        k->insts.cap = fresh[b].cap;
    }
    arena_free(&a);
}

void spill_regs(struct fn *f, const bool *spilled, flag_list *fixed_regs) {
    struct arena a = {0};
    struct spiller s = {.f = f, .spilled = spilled, .nspilled = f->vregs.len, .fixed = fixed_regs};
    s.defs = defs_of(&a, f);
    s.slot = arena_array(&a, uint32_t, f->vregs.len + 1);
    s.recompute = arena_array(&a, bool, f->vregs.len + 1);
    for (uint32_t v = 0; v < s.nspilled; v++) {
        if (!spilled[v])
            continue;
        s.recompute[v] = can_recompute(f, &s.defs, v);
        if (s.recompute[v])
            continue;
        uint32_t bytes = f->vregs.at[v] * WORD, align = bytes > 16 ? 16 : bytes;
        f->frame = (f->frame + align - 1) / align * align;
        s.slot[v] = f->frame;
        f->frame += bytes;
    }
    rewrite_blocks(&s, spill_inst);
    arena_free(&a);
}

/* ---- predicates ---- */

static void load_pred(struct spiller *s, uint32_t pred, uint32_t reg, const struct inst *at) {
    struct inst i = inst_new(OP_ISETP);
    i.m.cmp = CMP_LT | CMP_GT;
    i.pdst[0].id = pred;
    i.nsrc = 2;
    i.src[0] = opd_reg(reg, 0);
    i.src[1] = opd_rz();
    inherit_line(&i, at);
    vec_push(&s->out, i);
}

static void store_pred(struct spiller *s, uint32_t pred, uint32_t reg, const struct inst *at) {
    struct inst i = inst_new(OP_SEL);
    i.dst = opd_reg(reg, 0);
    i.nsrc = 2;
    i.src[0] = opd_rz();
    i.src[1] = opd_imm(1);
    i.psrc[0] = (struct popd){.id = pred, .neg = true};
    inherit_line(&i, at);
    vec_push(&s->out, i);
}

static void spill_pred_inst(struct spiller *s, struct inst i) {
    struct popd *opds[5] = {&i.guard, &i.psrc[0], &i.psrc[1], &i.pdst[0], &i.pdst[1]};
    uint32_t old[5], temp[5];
    const struct inst at = i;
    for (uint32_t k = 0; k < 5; k++) {
        old[k] = opds[k]->id;
        temp[k] = NONE;
        if (old[k] == VPRED_PT || !is_spilled(s, old[k]))
            continue;
        bool read = k < 3 || is_guarded(&at), known = false;
        for (uint32_t j = 0; j < k; j++)
            if (old[j] == old[k]) {
                temp[k] = temp[j];
                known = true;
            }
        if (!known) {
            temp[k] = fn_pred(s->f);
            mark_fixed(s->fixed, temp[k]);
            if (read)
                load_pred(s, temp[k], s->slot[old[k]], &at);
        }
        opds[k]->id = temp[k];
    }
    vec_push(&s->out, i);
    for (uint32_t k = 3; k < 5; k++)
        if (temp[k] != NONE)
            store_pred(s, temp[k], s->slot[old[k]], &at);
}

void spill_preds(struct fn *f, const bool *spilled, flag_list *fixed_preds) {
    struct arena a = {0};
    struct spiller s = {.f = f, .spilled = spilled, .nspilled = f->npreds, .fixed = fixed_preds};
    s.slot = arena_array(&a, uint32_t, f->npreds + 1);
    for (uint32_t p = 0; p < s.nspilled; p++)
        if (spilled[p])
            s.slot[p] = fn_vreg(f, 1);
    rewrite_blocks(&s, spill_pred_inst);
    arena_free(&a);
}
