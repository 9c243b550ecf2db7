/* The compiler's work on regions, behind register allocation: what becomes of the marks, and the facts that
 * the hardware goes by. */
#include "mech/lnl/compile.h"

static const char *const kind_names[] = {"", "approximate", "precise", "interpolated"};

/* Of one instruction of a region. */
static void mark_inst(struct lnl_code *c, const struct lnl_region *r, uint32_t number, uint32_t block,
                      uint32_t index) {
    struct inst *i = lnl_inst(c, block, index);
    struct lnl_fact *f = lnl_fact(c, i);
    bool all = bits_get(r->precise, lnl_number(c, block, index));
    f->region = (uint8_t)number;
    f->kind = i->op == OP_ST ? (f->words ? LNL_STORE : LNL_PRECISE) : all ? LNL_PRECISE : LNL_APPROX;
    note_add(c->run->p, i, "%s%s", kind_names[f->kind], f->kind == LNL_STORE && f->pixels ? " by bytes" : "");
}

/* The end of a region: what lives on is interpolated, word by word. */
static void write_end(struct lnl_code *c, const struct lnl_region *r, uint32_t number) {
    struct block *b = &c->f->blocks.at[r->end.block];
    VEC(struct inst) list = {0};
    for (uint32_t v = 0; v < c->reach.v.nwords; v++) {
        if (r->dropped || !bits_get(r->values, v))
            continue;
        struct inst i = inst_new(OP_INTERP);
        i.dst = i.src[0] = opd_reg(v, 0);
        i.nsrc = 1;
        struct lnl_fact *f = lnl_fact(c, &i);
        *f = (struct lnl_fact){.kind = LNL_STORE, .region = (uint8_t)number, .words = 1};
        note_add(c->run->p, &i, "interpolated");
        vec_push(&list, i);
    }
    b->insts.at[r->end.index] = inst_new(OP_NOP);
    block_insert(b, r->end.index, list.at, list.len);
    vec_free(&list);
}

static void write_start(struct lnl_code *c, const struct lnl_region *r, uint32_t number) {
    struct inst *i = lnl_inst(c, r->start.block, r->start.index);
    if (r->dropped) {
        *i = inst_new(OP_NOP);
        return;
    }
    i->op = OP_APPROX;
    i->m.mode = r->loads;
    struct lnl_fact *f = lnl_fact(c, i);
    *f = (struct lnl_fact){.start = (uint8_t)number, .sticky = r->sticky};
    note_add(c->run->p, i, "region %u, loads %x%s", number, r->loads,
             r->sticky ? ", kept for the next round" : "");
}

/* Ends come later in a block than starts, so that places stay what they are until they are used. */
static void write_marks(struct lnl_code *c) {
    for (uint32_t n = 0; n < c->regions.len; n++)
        write_start(c, &c->regions.at[n], n + 1);
    for (uint32_t b = 0; b < c->f->blocks.len; b++)
        for (uint32_t k = c->f->blocks.at[b].insts.len; k--;)
            for (uint32_t n = 0; n < c->regions.len; n++)
                if (c->regions.at[n].end.block == b && c->regions.at[n].end.index == k)
                    write_end(c, &c->regions.at[n], n + 1);
}

static bool mark_regions(struct lnl_code *c) {
    if (!lnl_find_regions(c))
        return false;
    lnl_choose_entries(c);
    for (uint32_t n = 0; n < c->regions.len; n++) {
        struct lnl_region *r = &c->regions.at[n];
        if (r->dropped)
            continue;
        if (!lnl_slice(c, r))
            return false;
        for (uint32_t b = 0; b < c->f->blocks.len; b++)
            for (uint32_t k = 0; k < c->f->blocks.at[b].insts.len; k++)
                if (bits_get(r->in, lnl_number(c, b, k)))
                    mark_inst(c, r, n + 1, b, k);
    }
    for (uint32_t b = 0; b < c->f->blocks.len; b++)
        for (uint32_t k = 0; k < c->f->blocks.at[b].insts.len; k++) {
            struct inst *i = lnl_inst(c, b, k);
            const struct lnl_fact *f = fact_get(c->run->p, LNL_OWNER, i);
            if (f && f->check)
                note_add(c->run->p, i, "checked, entry %u for %u regions", f->entry, f->count + 1u);
        }
    write_marks(c);
    return true;
}

bool lnl_regions_pass(const struct pass_run *r) {
    struct arena a = {0};
    struct lnl_code c = {.run = r, .arena = &a, .f = r->p->fns.at[0]};
    cfg_joins(c.f);
    c.accesses = accesses_of(&a, r->p);
    const struct class_options o = {.loads = LOADS_READ_ONLY, .accesses = c.accesses};
    c.classes = classes_of(&a, c.f, &o);
    c.reach = c.classes->reach;
    c.control = c.classes->control;
    for (uint32_t b = 0; b < c.f->blocks.len; b++)
        c.n += c.f->blocks.at[b].insts.len;
    mark_regions(&c);
    vec_free(&c.regions);
    arena_free(&a);
    return true;
}

const struct mech_pass lnl_passes[] = {
    {"lnl-marks", BEFORE_REGISTERS | WITH_ANNOTATIONS, lnl_marks_pass},
    {"lnl", AFTER_REGISTERS | WITH_ANNOTATIONS, lnl_regions_pass},
    {0},
};
