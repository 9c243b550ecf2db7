/* The compiler's part (section 4.2): a pass behind register allocation that marks every instruction with the
 * class of its result. */
#include "mech/darsie/pass.h"
#include "flow/classes.h"

_Static_assert((int)CLASS_DR == (int)DEP_BLOCK && (int)CLASS_V == (int)DEP_ANY &&
                   (int)CLASS_CR == (DEP_BLOCK | DEP_TID_X) &&
                   (int)CLASS_CRXY == (DEP_BLOCK | DEP_TID_X | DEP_TID_Y),
               "classes are sets of enum class_dep");

/* Both readings of a function. */
struct reading {
    const struct pass_run *run;
    const struct accesses *accesses;
    const struct classes *by_address; /* loads are as their addresses */
    const struct classes *stable;     /* only those of memory that nothing writes */
    uint32_t fn;
};

/* The set of a predicate that instruction index of block reads. */
static uint32_t pred_deps(const struct classes *c, uint32_t block, uint32_t index, const struct popd *p) {
    if (p->id == VPRED_PT)
        return 0;
    uint32_t v = reach_read(&c->reach, block, index, value_of_pred(&c->reach.v, p->id));
    return v == NONE ? (uint32_t)DEP_ANY : class_read(c, v, block).deps;
}

/* The set of all predicates it reads: they are not renamed, so that no version tells whether they are equal.
 */
static uint32_t all_pred_deps(const struct classes *c, uint32_t block, uint32_t index) {
    const struct inst *i = &c->f->blocks.at[block].insts.at[index];
    return pred_deps(c, block, index, &i->guard) | pred_deps(c, block, index, &i->psrc[0]) |
           pred_deps(c, block, index, &i->psrc[1]);
}

/* Operations that warps may do for each other: one result in registers, nothing else done. */
static bool may_follow(const struct inst *i) {
    const struct op_info *o = &op_info[i->op];
    uint32_t words = inst_dst_words(i);
    return words && words <= DARSIE_WORDS && i->dst.kind == O_REG && i->dst.v != VREG_RZ &&
           i->pdst[0].id == VPRED_PT && i->pdst[1].id == VPRED_PT && o->unit != UNIT_CTRL &&
           !(o->flags & (OPF_EFFECT | OPF_CROSS | OPF_ATOMIC | OPF_STORE)) && i->op != OP_P2R &&
           i->op != OP_SULD;
}

/* The old value of a guarded destination, without regard to memory. */
static uint32_t old_deps(const struct classes *c, uint32_t block, uint32_t index) {
    const struct inst *i = &c->f->blocks.at[block].insts.at[index];
    uint32_t all = 0;
    for (uint32_t k = 0; is_guarded(i) && k < inst_dst_words(i); k++) {
        uint32_t v = reach_written(&c->reach, block, index, value_of_opd(&c->reach.v, &i->dst) + k);
        uint32_t before = v == NONE ? NONE : c->reach.at[v].before;
        all |= before == NONE ? (uint32_t)DEP_ANY : class_read(c, before, block).deps;
    }
    return all;
}

static void note(const struct reading *r, uint32_t block, uint32_t index, uint32_t deps) {
    const struct classes *c = r->by_address;
    struct inst *i = &c->f->blocks.at[block].insts.at[index];
    const char *name =
        !(deps & ~(uint32_t)CLASS_DR)                                                                ? "DR"
        : !(deps & ~(uint32_t)CLASS_CR)                                                              ? "CR"
        : !(deps & ~(uint32_t)CLASS_CRXY) && ((const struct darsie_params *)r->run->params)->three_d ? "CRxy"
                                                                                                     : "V";
    note_add(r->run->p, i, "%s", name);
    if (!((const struct darsie_params *)r->run->params)->why)
        return;
    struct str text = {0};
    struct span span[MAX_SPANS];
    uint32_t v =
        inst_writes(&c->reach.v, i, span) ? reach_written(&c->reach, block, index, span[0].first) : NONE;
    uint32_t worst = deps & DEP_ANY               ? DEP_ANY
                     : deps & ~(uint32_t)CLASS_CR ? deps & ~(uint32_t)CLASS_CR
                     : deps & ~(uint32_t)CLASS_DR ? deps & ~(uint32_t)CLASS_DR
                                                  : deps;
    if (v != NONE)
        class_explain(&text, c, v, worst, 0);
    if (text.len)
        note_add(r->run->p, i, "%s", str_text(&text));
    else if (!may_follow(i) && (deps & DEP_ANY))
        note_add(r->run->p, i, "no result that can be renamed");
    str_free(&text);
}

uint32_t darsie_deps(const struct classes *by_address, const struct classes *stable, uint32_t block,
                     uint32_t index) {
    const struct inst *i = &by_address->f->blocks.at[block].insts.at[index];
    if (!may_follow(i))
        return DEP_ANY;
    uint32_t deps = all_pred_deps(stable, block, index);
    for (uint32_t k = 0; k < inst_dst_words(i); k++)
        deps |= class_of_result(by_address, block, index, k).deps;
    return deps;
}

static void mark_inst(const struct reading *r, uint32_t block, uint32_t index) {
    const struct classes *c = r->by_address, *s = r->stable;
    struct inst *i = &c->f->blocks.at[block].insts.at[index];
    uint32_t deps = darsie_deps(c, s, block, index);
    note(r, block, index, deps);
    if (deps & DEP_ANY)
        return;
    struct darsie_fact *f = fact_make(r->run->p, r->run->pass, i, sizeof *f);
    f->deps = (uint16_t)deps;
    f->old = (uint16_t)old_deps(s, block, index);
    for (uint32_t k = 0; k < i->nsrc; k++)
        for (uint32_t w = 0; w < inst_src_words(i, k) && i->src[k].kind == O_REG; w++) {
            if (i->src[k].v == VREG_RZ || f->nsources == DARSIE_SOURCES)
                continue;
            f->source_reg[f->nsources] = (uint8_t)(i->src[k].v + i->src[k].word + w);
            f->source[f->nsources++] = class_of_source(s, block, index, k).deps;
        }
    const struct access *x = i->op == OP_LD ? access_at(r->accesses, r->fn, block, index) : NULL;
    f->load = x && access_written(r->accesses, x) != ALIAS_NO;
    f->global = x && x->spaces & IN_GLOBAL;
}

static void mark_barrier(const struct reading *r, uint32_t block, uint32_t index) {
    struct inst *i = &r->stable->f->blocks.at[block].insts.at[index];
    if (r->fn || is_guarded(i))
        return;
    struct darsie_fact *f = fact_make(r->run->p, r->run->pass, i, sizeof *f);
    f->deps = DEP_ANY;
    f->order = (uint16_t)class_order(r->stable, block).deps;
}

static bool mark_program(const struct pass_run *run) {
    const struct darsie_params *p = run->params;
    struct arena a = {0};
    struct reading r = {.run = run, .accesses = accesses_of(&a, run->p)};
    for (r.fn = 0; r.fn < run->p->fns.len; r.fn++) {
        const struct fn *f = run->p->fns.at[r.fn];
        struct class_options o = {.loads = p->loads ? LOADS_BY_ADDRESS : LOADS_READ_ONLY,
                                  .accesses = r.accesses,
                                  .pessimistic = p->pessimistic,
                                  .reasons = p->why};
        r.by_address = classes_of(&a, f, &o);
        o = (struct class_options){.loads = LOADS_READ_ONLY, .accesses = r.accesses};
        r.stable = classes_of(&a, f, &o);
        for (uint32_t b = 0; b < f->blocks.len; b++)
            for (uint32_t k = 0; k < f->blocks.at[b].insts.len; k++)
                if (f->blocks.at[b].insts.at[k].op == OP_BAR)
                    mark_barrier(&r, b, k);
                else
                    mark_inst(&r, b, k);
    }
    arena_free(&a);
    return false;
}

const struct mech_pass darsie_passes[] = {{"darsie", AFTER_REGISTERS, mark_program}, {NULL, 0, NULL}};
