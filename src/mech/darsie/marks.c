/* The launch's part of the compiler (section 4.2): finds the marks of the pass in the linked code, and makes
 * one bit of the class by the test on the shape of the blocks. */
#include "mech/darsie/marks.h"

struct darsie_marks {
    const struct image *img;
    const struct darsie_fact **at; /* by instruction; NULL: nothing was found out */
    struct darsie_mark *mark;      /* the same: what darsie_finalise makes of it, once for all SMs */
    struct {
        bool made;
        uint32_t redundant; /* so many of them are */
    } * done;
};

const void *darsie_kernel(void *shared, struct arena *launch, const struct image *img) {
    (void)shared;
    struct darsie_marks *m = arena_new(launch, struct darsie_marks);
    m->img = img;
    m->at = arena_array(launch, const struct darsie_fact *, img->ncode + 1);
    m->mark = arena_array(launch, struct darsie_mark, img->ncode + 1);
    m->done = arena_alloc(launch, sizeof *m->done);
    for (uint32_t pc = 0; pc < img->ncode; pc++)
        m->at[pc] = fact_get(img->prog, &darsie_passes[0], img->code[pc].in);
    return m;
}

uint32_t darsie_same(bool three_d, const uint32_t shape[3]) {
    uint32_t x = shape[0], xy = x * shape[1];
    bool rows = x <= WARP_LANES && !(x & (x - 1)) && shape[1] * shape[2] > 1;
    bool planes = three_d && xy <= WARP_LANES && !(xy & (xy - 1)) && shape[2] > 1;
    return planes ? CLASS_CRXY : rows ? CLASS_CR : CLASS_DR;
}

/* A branch behind which the same instruction may come again, or warps may part. */
static bool is_sync(const struct xinst *i, uint32_t pc) {
    bool guarded = i->guard != PRED_PT || i->gneg;
    switch ((enum xkind)i->kind) {
    case X_BRA:
        return guarded || i->in->target <= pc;
    case X_EXIT:
        return guarded;
    case X_BRX:
    case X_CALL:
    case X_CALLI:
    case X_RET:
        return true;
    default:
        return false;
    }
}

static bool is_ordered(const struct xinst *i) {
    uint16_t flags = op_info[i->in->op].flags;
    return (flags & (OPF_STORE | OPF_ATOMIC)) || i->kind == X_LDGSTS || i->kind == X_MBAR ||
           (i->kind == X_LOAD && i->in->m.vol);
}

static void finalise_one(const struct darsie_fact *f, uint32_t same, const struct core_need *need,
                         struct darsie_mark *m) {
    m->level = !(f->order & ~same);
    if (f->deps & ~same)
        return;
    m->redundant = true;
    m->load = f->load;
    m->global = f->global;
    m->old_version = (f->old & ~same) != 0;
    for (uint32_t k = 0; k < need->nreads; k++)
        for (uint32_t s = 0; s < f->nsources; s++)
            if (f->source_reg[s] == need->reads[k] && f->source[s] & ~same)
                m->versions |= (uint16_t)(1u << k);
}

const struct darsie_mark *darsie_finalise(const struct darsie_params *p, const struct darsie_marks *m,
                                          const struct exec *x, uint32_t *redundant) {
    uint32_t same = darsie_same(p->three_d, x->block);
    for (uint32_t pc = 0; !m->done->made && pc < m->img->ncode; pc++) {
        const struct xinst *i = &m->img->code[pc];
        m->mark[pc] = (struct darsie_mark){.sync = is_sync(i, pc), .ordered = is_ordered(i)};
        struct core_need need = core_need(i);
        if (m->at[pc])
            finalise_one(m->at[pc], same, &need, &m->mark[pc]);
        m->mark[pc].special = m->mark[pc].redundant || m->mark[pc].ordered || need.control;
        m->done->redundant += m->mark[pc].redundant;
    }
    m->done->made = true;
    *redundant = m->done->redundant;
    return m->mark;
}
