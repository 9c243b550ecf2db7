/* The order of passes, and what surrounds each: validation and dumps. */
#include <string.h>

#include "opt/mech_pass.h"
#include "opt/pass.h"

static const struct pass {
    const char *name;
    opt_fn *run;
    bool needed;
} passes[OPT_COUNT] = {
#define PASS(id, name, fn, needed) [OPT_##id] = {name, fn, needed},
#include "opt/passes.def"
#undef PASS
};

uint64_t opt_pass_bit(const char *name) {
    for (uint32_t n = 0; n < OPT_COUNT; n++)
        if (!strcmp(passes[n].name, name))
            return UINT64_C(1) << n;
    return 0;
}

const char *opt_pass_name(uint32_t n) {
    return n < OPT_COUNT ? passes[n].name : NULL;
}

struct compiler {
    struct program *p;
    const struct opt_options *o;
    struct diag *d;
    bool failed;
};

static void dump(struct compiler *c, const struct fn *f, const char *after) {
    if (!c->o->dump || (c->o->only && strcmp(c->o->only, after)))
        return;
    str_printf(c->o->dump, "; after %s\n", after);
    ir_print_fn(c->o->dump, f);
    str_printf(c->o->dump, "\n");
}

static void validate(struct compiler *c, struct program *p, struct fn *f, const char *after) {
    const char *error = c->failed ? NULL : ir_validate(p, f);
    if (!error)
        return;
    diag_add(c->d, DIAG_ERROR, "internal error after %s: %s", after, error);
    c->failed = true;
}

/* Runs one pass; true when it changed the function. */
static bool run_pass(struct compiler *c, struct program *p, struct fn *f, enum opt_pass n) {
    if (c->failed || ((c->o->disable >> n & 1) && !passes[n].needed))
        return false;
    bool changed = passes[n].run(p, f);
    if (changed)
        dump(c, f, passes[n].name);
    validate(c, p, f, passes[n].name);
    return changed;
}
#define PASS(c, f, id) run_pass((c), (c)->p, (f), OPT_##id)

/* Functions below this many instructions are cheap enough to prove their allocation every time. */
enum { CHECK_LIMIT = 5000 };

static bool wants_check(const struct opt_options *o, const struct fn *f) {
    uint32_t n = 0;
    for (uint32_t b = 0; b < f->blocks.len; b++)
        n += f->blocks.at[b].insts.len;
    return o->check == CHECK_ALWAYS || (o->check == CHECK_SMALL && n < CHECK_LIMIT);
}

enum { MAX_CLEANUPS = 4 };

/* The passes that make work for each other, until none finds any. */
static void clean_up(struct compiler *c, struct fn *f) {
    for (uint32_t round = 0; round < MAX_CLEANUPS && !c->failed; round++) {
        bool changed = PASS(c, f, COPYPROP);
        changed |= PASS(c, f, FOLD);
        changed |= PASS(c, f, STRENGTH); /* before constants take the operand that a fused one would need */
        changed |= PASS(c, f, OPERANDS);
        changed |= PASS(c, f, BASES);
        changed |= PASS(c, f, SIGNS);
        changed |= PASS(c, f, ADDRESS);
        changed |= PASS(c, f, CSE);
        changed |= PASS(c, f, DCE);
        changed |= PASS(c, f, IFCONV);
        changed |= PASS(c, f, SIMPLIFY);
        if (!changed)
            break;
    }
}

/* Liveness takes up to a bit for each value in each block. Beyond this no real kernel comes near the host's
 * memory. */
enum { MAX_LIVENESS_MB = 2048 };

static bool too_large(const struct fn *f) {
    uint64_t values = f->npreds;
    for (uint32_t v = 0; v < f->vregs.len; v++)
        values += f->vregs.at[v];
    return values * f->blocks.len / 8 >> 20 > MAX_LIVENESS_MB;
}

static void optimise(struct compiler *c, struct fn *f) {
    dump(c, f, "lowering");
    validate(c, c->p, f, "lowering");
    if (too_large(f)) {
        diag_add(c->d, DIAG_ERROR, "%s: too large to compile (%u blocks, %u registers)", f->name,
                 f->blocks.len, f->vregs.len);
        c->failed = true;
        return;
    }
    PASS(c, f, SIMPLIFY);
    PASS(c, f, RENAME);
    PASS(c, f, COPYPROP);
    PASS(c, f, SIGNS);
    PASS(c, f, DCE);
    PASS(c, f, CONTRACT);
    clean_up(c, f);
    if (PASS(c, f, EXPAND))
        clean_up(c, f);
    if (PASS(c, f, UNROLL)) {
        PASS(c, f, RENAME);
        clean_up(c, f);
    }
    if (PASS(c, f, VECTOR))
        clean_up(c, f);
    PASS(c, f, FUSE);
    PASS(c, f, GROUPS);
}

static void allocate(struct compiler *c, struct program *p, struct fn *f) {
    if (c->failed || f->allocated)
        return;
    const char *error = regalloc(p, f, wants_check(c->o, f));
    if (error) {
        dump(c, f, "allocation");
        diag_add(c->d, DIAG_ERROR, "internal error: %s", error);
        c->failed = true;
        return;
    }
    abi_finish(f);
    dump(c, f, "allocation");
    validate(c, p, f, "allocation");
}

/* ---- what mechanisms add ---- */

/* The kernel, then its streams. */
static struct program *program_at(struct compiler *c, uint32_t n) {
    return !n ? c->p : n <= c->p->streams.len ? c->p->streams.at[n - 1] : NULL;
}

static void use_registers(struct fn *f, const struct opd *o, uint32_t words) {
    if (o->kind == O_REG && o->v != VREG_RZ && o->v + words > f->nregs)
        f->nregs = o->v + words;
}

/* The registers of allocated code that was changed. */
static void count_registers(struct fn *f) {
    f->nregs = f->fp != VREG_RZ ? REG_FRAME + 1 : 0;
    for (uint32_t b = 0; b < f->blocks.len; b++)
        for (uint32_t k = 0; k < f->blocks.at[b].insts.len; k++) {
            const struct inst *i = &f->blocks.at[b].insts.at[k];
            use_registers(f, &i->dst, inst_dst_words(i));
            for (uint32_t s = 0; s < i->nsrc; s++)
                use_registers(f, &i->src[s], inst_src_words(i, s));
        }
}

/* Code that a pass changed is as the others leave it: nothing unused, edges and joins up to date. */
static void settle(struct compiler *c, struct program *p, struct fn *f) {
    if (!f->allocated) {
        run_pass(c, p, f, OPT_DCE);
        run_pass(c, p, f, OPT_SIMPLIFY);
        return;
    }
    fn_compact(f);
    cfg_joins(f);
    count_registers(f);
}

static void run_mech_pass(struct compiler *c, const struct mech_pass *m, const void *params) {
    const struct pass_run r = {.pass = m, .p = c->p, .params = params, .d = c->d};
    uint32_t errors = c->d->errors, streams = c->p->streams.len;
    bool changed = m->run(&r);
    c->failed = c->d->errors != errors;
    struct program *p;
    for (uint32_t n = 0; (p = program_at(c, n)); n++)
        for (uint32_t k = 0; k < p->fns.len; k++) {
            struct fn *f = p->fns.at[k];
            bool fresh = n > streams;
            validate(c, p, f, m->name);
            if (c->failed || !(changed || fresh))
                continue;
            settle(c, p, f);
            dump(c, f, m->name);
            validate(c, p, f, m->name);
        }
}

static void run_mech_passes(struct compiler *c, enum pass_place place) {
    for (uint32_t k = 0; k < c->o->nmechs; k++)
        for (const struct mech_pass *m = c->o->mechs[k].passes; m && m->name && !c->failed; m++)
            if ((m->place & ~(uint32_t)WITH_ANNOTATIONS) == (uint32_t)place)
                run_mech_pass(c, m, c->o->mechs[k].params);
}

static void allocate_all(struct compiler *c) {
    struct program *p;
    for (uint32_t n = 0; (p = program_at(c, n)); n++)
        for (uint32_t k = 0; k < p->fns.len; k++)
            allocate(c, p, p->fns.at[k]);
}

static bool has_mech_passes(const struct opt_options *o) {
    for (uint32_t k = 0; k < o->nmechs; k++)
        if (o->mechs[k].passes && o->mechs[k].passes->name)
            return true;
    return false;
}

static bool wants_annotations(const struct opt_options *o) {
    for (uint32_t k = 0; k < o->nmechs; k++)
        for (const struct mech_pass *m = o->mechs[k].passes; m && m->name; m++)
            if (m->place & WITH_ANNOTATIONS)
                return true;
    return false;
}

/* What a program says of itself leaves no trace where nobody wants to know it. */
static void drop_annotations(struct fn *f) {
    for (uint32_t b = 0; b < f->blocks.len; b++) {
        struct block *k = &f->blocks.at[b];
        uint32_t n = 0;
        for (uint32_t i = 0; i < k->insts.len; i++)
            if (k->insts.at[i].op != OP_MARK)
                k->insts.at[n++] = k->insts.at[i];
        k->insts.len = n;
    }
}

bool opt_compile_with(struct program *p, const struct opt_options *o, struct diag *d) {
    struct compiler c = {.p = p, .o = o, .d = d};
    for (uint32_t n = 0; n < p->fns.len && !wants_annotations(o); n++)
        drop_annotations(p->fns.at[n]);
    for (uint32_t n = 0; n < p->fns.len && !c.failed; n++)
        optimise(&c, p->fns.at[n]);
    if (!c.failed && has_mech_passes(o))
        facts_open(p, o->notes);
    if (!c.failed)
        run_mech_passes(&c, BEFORE_REGISTERS);
    allocate_all(&c);
    if (!c.failed)
        run_mech_passes(&c, AFTER_REGISTERS);
    allocate_all(&c); /* streams that those added */
    struct program *q;
    for (uint32_t n = 0; (q = program_at(&c, n)) && !c.failed; n++)
        if (q->fns.len)
            link_program(q);
    return !c.failed;
}

bool opt_compile(struct program *p, struct diag *d) {
    const struct opt_options o = {0};
    return opt_compile_with(p, &o, d);
}
