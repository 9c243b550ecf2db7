/* The pass runs before registers are allocated, as DAC's does: registers that are reused would only hide
 * where values come from. */
#include "profile/reason.h"

#include <string.h>

#include "flow/classes.h"
#include "mech/dac/split.h"
#include "mech/darsie/pass.h"

/* ---- the pass ---------------------------------------------------------------------------------------- */

/* Three readings of one function. */
struct readings {
    const struct classes *by_address; /* loads are as their addresses */
    const struct classes *stable;     /* only those of memory that nothing writes */
    const struct classes *vary;       /* loads may be anything */
};

/* Where members of a class that is too wide come from: of the words an instruction reads, the first. */
static void find_origin(const struct classes *c, uint32_t block, uint32_t index, uint32_t deps,
                        struct reason_fact *f) {
    const struct inst *i = &c->f->blocks.at[block].insts.at[index];
    struct span span[MAX_SPANS];
    uint32_t n = inst_reads(&c->reach.v, i, span);
    for (uint32_t j = 0; j < n; j++)
        for (uint32_t w = 0; w < span[j].n; w++) {
            uint32_t v = reach_read(&c->reach, block, index, span[j].first + w);
            const struct inst *from = v == NONE ? NULL : class_origin(c, v, deps);
            if (!from)
                continue;
            f->origin_op = from->op;
            f->origin_file = from->dbg_file;
            f->origin_line = from->dbg_line;
            f->origin_ptx = from->line;
            return;
        }
}

static void add_static(struct reason_static *n, uint32_t affine) {
    n->insts++;
    n->operands += (affine & DAC_AFFINE_OPERANDS) != 0;
    n->addresses += (affine & DAC_ADDRESS) != 0;
    n->affine_addresses += (affine & DAC_AFFINE_ADDRESS) != 0;
    n->predicates += (affine & DAC_PREDICATE) != 0;
    n->affine_predicates += (affine & DAC_AFFINE_PREDICATE) != 0;
}

static void find_reason(const struct pass_run *run, const struct readings *r, uint32_t block,
                        uint32_t index) {
    struct inst *i = &r->vary->f->blocks.at[block].insts.at[index];
    struct reason_fact *f = fact_make(run->p, run->pass, i, sizeof *f);
    struct vclass c = class_of_reads(r->by_address, block, index);
    if (i->op == OP_S2R) /* it has no sources: what it reads is its result */
        c = class_of_result(r->by_address, block, index, 0);
    f->deps = c.deps;
    f->lack = c.lack;
    f->varies = i->op == OP_S2R ? c.deps : class_of_reads(r->vary, block, index).deps;
    f->result = (uint16_t)darsie_deps(r->by_address, r->stable, block, index);
    f->affine = (uint8_t)dac_affine(r->vary, block, index);
    if (c.deps & (DEP_ANY | DEP_LANE))
        find_origin(r->by_address, block, index, c.deps & DEP_ANY ? DEP_ANY : DEP_LANE, f);
    add_static(fact_make(run->p, run->pass, NULL, sizeof(struct reason_static)), f->affine);
}

static bool find_reasons(const struct pass_run *run) {
    struct arena a = {0};
    for (uint32_t n = 0; n < run->p->fns.len; n++)
        cfg_joins(run->p->fns.at[n]);
    const struct accesses *accesses = accesses_of(&a, run->p);
    for (uint32_t n = 0; n < run->p->fns.len; n++) {
        const struct fn *f = run->p->fns.at[n];
        struct class_options o = {.loads = LOADS_BY_ADDRESS, .accesses = accesses, .reasons = true};
        struct readings r = {.by_address = classes_of(&a, f, &o)};
        o = (struct class_options){.loads = LOADS_READ_ONLY, .accesses = accesses};
        r.stable = classes_of(&a, f, &o);
        o.loads = LOADS_VARY;
        r.vary = classes_of(&a, f, &o);
        for (uint32_t b = 0; b < f->blocks.len; b++)
            for (uint32_t k = 0; k < f->blocks.at[b].insts.len; k++)
                find_reason(run, &r, b, k);
    }
    arena_free(&a);
    return false;
}

const struct mech_pass reason_passes[] = {{"reasons", BEFORE_REGISTERS, find_reasons}, {NULL, 0, NULL}};

const struct reason_fact *reason_of(const struct program *p, const struct inst *i) {
    return fact_get(p, &reason_passes[0], i);
}

const struct reason_static *reason_total(const struct program *p) {
    return fact_get(p, &reason_passes[0], NULL);
}

/* ---- in words ---------------------------------------------------------------------------------------- */

static const char *const dep_words[] = {"blockIdx.x",  "blockIdx.y",  "blockIdx.z", "threadIdx.x",
                                        "threadIdx.y", "threadIdx.z", "the lane",   "the warp's number"};

/* "blockIdx.x, threadIdx.x and parameters". */
static void print_deps(struct str *out, uint32_t deps, bool memory) {
    const char *last = memory ? "memory that it reads at such addresses" : "parameters";
    uint32_t n = 0;
    for (uint32_t k = 0; k < sizeof dep_words / sizeof *dep_words; k++)
        if (deps >> k & 1)
            str_printf(out, "%s%s", n++ ? ", " : "", dep_words[k]);
    str_printf(out, "%s%s", n ? " and " : "", last);
}

/* Where values come from that may be anything. */
static void print_source(struct str *out, uint32_t op) {
    const struct op_info *o = &op_info[op];
    if (o->flags & OPF_ATOMIC)
        str_printf(out, "what an atomic operation returns");
    else if (o->flags & OPF_CROSS)
        str_printf(out, "other lanes");
    else if (o->flags & OPF_LOAD)
        str_printf(out, "memory that may have changed");
    else
        str_printf(out, "the result of %s", o->name);
}

static void print_origin(struct str *out, const struct reason_fact *f, const char *file) {
    const char *slash = file ? strrchr(file, '/') : NULL;
    str_printf(out, "may differ in every thread: ");
    if (!f->origin_ptx) { /* values that a function was called with, say */
        str_printf(out, "what it depends on cannot be followed");
        return;
    }
    str_printf(out, "depends on ");
    print_source(out, f->origin_op);
    if (f->origin_line && file)
        str_printf(out, " (%s:%u)", slash ? slash + 1 : file, f->origin_line);
    else
        str_printf(out, " (PTX line %u)", f->origin_ptx);
}

bool reason_darsie(const struct reason_fact *f, const uint32_t shape[3]) {
    return f && !(f->result & ~darsie_same(true, shape));
}

void reason_print(struct str *out, const struct reason_fact *f, const uint32_t shape[3], const char *file) {
    if (!f) {
        str_printf(out, "added by the register allocator");
        return;
    }
    bool memory = f->varies & ~f->deps;
    uint32_t same = darsie_same(true, shape);
    if (f->deps & DEP_ANY) {
        print_origin(out, f, file);
        return;
    }
    if (!f->deps)
        str_printf(out, "same in every thread of the grid: depends on ");
    else if (!(f->deps & ~(uint32_t)DEP_BLOCK))
        str_printf(out, "same in every thread of the block: depends on ");
    else if (!(f->deps & ~same))
        str_printf(out, "same in every warp of the block, as its rows have %u threads: depends on ",
                   shape[0]);
    else if (!(f->deps & ~(uint32_t)(DEP_BLOCK | DEP_WARP)))
        str_printf(out, "same in all lanes of a warp: depends on ");
    else if (!(f->lack & LACK_NONE) && !(f->deps & (DEP_LANE | DEP_WARP)))
        str_printf(out, "affine, base + stride x index: depends on ");
    else
        str_printf(out, "differs between threads: depends on ");
    print_deps(out, f->deps, memory);
    str_printf(out, " only");
}
