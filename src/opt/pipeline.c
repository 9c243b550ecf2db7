/* The order of passes, and what surrounds each: validation and dumps. */
#include <string.h>

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

static void validate(struct compiler *c, struct fn *f, const char *after) {
    const char *error = c->failed ? NULL : ir_validate(c->p, f);
    if (!error)
        return;
    diag_add(c->d, DIAG_ERROR, "internal error after %s: %s", after, error);
    c->failed = true;
}

/* Runs one pass; true when it changed the function. */
static bool run_pass(struct compiler *c, struct fn *f, enum opt_pass n) {
    if (c->failed || ((c->o->disable >> n & 1) && !passes[n].needed))
        return false;
    bool changed = passes[n].run(c->p, f);
    if (changed)
        dump(c, f, passes[n].name);
    validate(c, f, passes[n].name);
    return changed;
}
#define PASS(c, f, id) run_pass((c), (f), OPT_##id)

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
        changed |= PASS(c, f, OPERANDS);
        changed |= PASS(c, f, STRENGTH);
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

static void compile_fn(struct compiler *c, struct fn *f) {
    dump(c, f, "lowering");
    validate(c, f, "lowering");
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
    if (c->failed)
        return;
    const char *error = regalloc(c->p, f, wants_check(c->o, f));
    if (error) {
        dump(c, f, "allocation");
        diag_add(c->d, DIAG_ERROR, "internal error: %s", error);
        c->failed = true;
        return;
    }
    abi_finish(f);
    dump(c, f, "allocation");
    validate(c, f, "allocation");
}

bool opt_compile_with(struct program *p, const struct opt_options *o, struct diag *d) {
    struct compiler c = {.p = p, .o = o, .d = d};
    for (uint32_t n = 0; n < p->fns.len && !c.failed; n++)
        compile_fn(&c, p->fns.at[n]);
    if (!c.failed && p->fns.len)
        link_program(p);
    return !c.failed;
}

bool opt_compile(struct program *p, struct diag *d) {
    const struct opt_options o = {0};
    return opt_compile_with(p, &o, d);
}
