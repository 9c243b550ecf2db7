/* reprise disasm: the machine code of a PTX file's kernels. */
#include <stdio.h>
#include <string.h>

#include "base/io.h"
#include "cli/cli.h"
#include "flow/classes.h"
#include "gpu/resolve.h"
#include "opt/mech_pass.h"
#include "opt/opt.h"
#include "ptx/lower.h"

static const char help[] =
    "usage: reprise disasm [options] FILE.ptx [KERNEL...]\n"
    "\n"
    "Compiles the kernels of a PTX file and prints their machine code, with register, shared,\n"
    "local and constant sizes. Without KERNEL all of them.\n"
    "\n"
    "  --mech NAME      as the mechanism, or a stack NAME+NAME, has it compiled, with what its passes say\n"
    "                   of each instruction, and the streams they add\n"
    "  --gpu, --set     as in run: older GPUs lack operations of three operands\n"
    "  --classes        on what each result depends, whether it is affine, and from where that comes\n"
    "  --regs N         registers per thread the allocator may use (default 255)\n"
    "  --passes         also print the code after each pass that changed it\n"
    "  --after PASS     the same for one pass\n"
    "  --without PASS   leave a pass out (repeatable); --without all leaves out every optional one\n";

/* What opt.dump of a request points to when dumps are wanted; each kernel has a text of its own. */
static struct str wanted_dump;

/* What to explain of a class: what makes most of a difference. */
static uint32_t worst_deps(struct vclass c) {
    return c.deps & DEP_ANY ? DEP_ANY : c.deps & ~DEP_BLOCK ? c.deps & ~(uint32_t)DEP_BLOCK : c.deps;
}

/* Notes the classes of an address and of the first result, and the way to that; of what has neither, of all
 * that it reads. */
static void note_class(const struct pass_run *r, const struct classes *c, uint32_t block, uint32_t index) {
    struct inst *i = &c->f->blocks.at[block].insts.at[index];
    struct span span[MAX_SPANS];
    struct str text = {0};
    bool memory = op_info[i->op].form == FORM_MEM && i->nsrc, writes = inst_writes(&c->reach.v, i, span) > 0;
    uint32_t v = writes ? reach_written(&c->reach, block, index, span[0].first) : NONE;
    if (memory) {
        str_printf(&text, "address ");
        class_print(&text, class_of_source(c, block, index, 0));
    }
    if (writes || !memory) {
        struct vclass of = v != NONE ? class_of(c, v) : class_of_reads(c, block, index);
        str_printf(&text, memory ? "; " : "");
        class_print(&text, of);
        if (v != NONE && of.deps) {
            str_printf(&text, "; ");
            class_explain(&text, c, v, worst_deps(of), 0);
        }
    }
    note_add(r->p, i, "%s", str_text(&text));
    str_free(&text);
}

static bool note_classes(const struct pass_run *r) {
    struct arena a = {0};
    const struct class_options o = {
        .loads = LOADS_DISTINCT, .accesses = accesses_of(&a, r->p), .reasons = true};
    for (uint32_t n = 0; n < r->p->fns.len; n++) {
        const struct classes *c = classes_of(&a, r->p->fns.at[n], &o);
        for (uint32_t b = 0; b < c->f->blocks.len; b++)
            for (uint32_t k = 0; k < c->f->blocks.at[b].insts.len; k++)
                note_class(r, c, b, k);
    }
    arena_free(&a);
    return false;
}

static const struct mech_pass class_passes[] = {{"classes", AFTER_REGISTERS, note_classes}, {NULL, 0, NULL}};

struct request {
    const char *file;
    struct rp_options machine;
    VEC(const char *) set; /* of machine */
    uint32_t regs;
    bool classes;
    struct opt_options opt;
    char **kernels;
    int nkernels;
};

static bool wanted(const struct request *r, const char *name) {
    for (int i = 0; i < r->nkernels; i++)
        if (!strcmp(r->kernels[i], name))
            return true;
    return !r->nkernels;
}

static bool show(struct ptx_module *m, struct ptx_func *f, const struct request *r) {
    struct diag d = {0};
    struct str out = {0}, dump = {0};
    struct opt_options o = r->opt;
    if (o.dump)
        o.dump = &dump;
    struct program *p = ptx_lower(m, f, &d);
    bool ok = p != NULL;
    if (p) {
        p->reg_limit = r->regs;
        ok = opt_compile_with(p, &o, &d);
    }
    fputs(str_text(&dump), stdout);
    if (ok) {
        ir_print_program(&out, p);
        str_printf(
            &out,
            "; %s: %u registers, %u instructions, %u bytes shared, %u local, %u of parameters, %u constant\n",
            p->name, p->nregs, p->ncode, p->shared_static, p->local_bytes, p->param_bytes, p->const_bytes);
        fputs(str_text(&out), stdout);
    }
    fputs(str_text(&d.text), stderr);
    program_destroy(p);
    str_free(&out);
    str_free(&dump);
    diag_free(&d);
    return ok;
}

static int show_all(const struct request *r) {
    size_t len;
    char *text = io_read(r->file, &len);
    if (!text)
        return 1;
    struct diag d = {0};
    struct ptx_layout layout;
    struct ptx_module *m = ptx_parse(text, len, r->file, &d);
    free(text);
    bool ok = m && ptx_layout(m, &layout, &d);
    fputs(str_text(&d.text), stderr);
    diag_free(&d);
    int found = 0;
    for (uint32_t i = 0; ok && i < m->nfuncs; i++)
        if (m->funcs[i]->entry && m->funcs[i]->defined && wanted(r, m->funcs[i]->name)) {
            found++;
            ok = show(m, m->funcs[i], r) && ok;
        }
    if (ok && !found) {
        fprintf(stderr, "reprise: %s has no such kernel\n", r->file);
        ok = false;
    }
    ptx_free(m);
    return ok ? 0 : 1;
}

/* Adds the passes of the mechanisms to how the kernels are compiled. */
static int run(struct request *r) {
    vec_push(&r->set, NULL);
    r->machine.set = r->set.at;
    struct mech_set mechs;
    struct profile_set profiles;
    struct config config = {0};
    struct diag d = {0};
    bool ok = resolve_options(&r->machine, &mechs, &profiles, &config, &d);
    fputs(str_text(&d.text), stderr);
    diag_free(&d);
    struct opt_mech passes[MECH_MAX + 1];
    for (uint32_t k = 0; ok && k < mechs.n; k++)
        passes[k] = (struct opt_mech){mechs.at[k]->passes, config_values(&config, &mechs.at[k]->params)};
    passes[ok ? mechs.n : 0] = (struct opt_mech){.passes = class_passes};
    r->opt.mechs = passes;
    r->opt.nmechs = mechs.n + r->classes;
    r->opt.notes = true;
    if (ok)
        r->opt.disable |= resolve_lacking(config_values(&config, &gpu_params));
    int status = ok ? show_all(r) : 2;
    config_free(&config);
    return status;
}

/* Reads an option with its value, if it is one; else false. */
static bool read_option(struct request *r, const char *name, const char *value) {
    if (!strcmp(name, "--mech")) {
        r->machine.mech = value;
    } else if (!strcmp(name, "--gpu")) {
        r->machine.gpu = value;
    } else if (!strcmp(name, "--set")) {
        vec_push(&r->set, value);
    } else if (!strcmp(name, "--after")) {
        r->opt.dump = &wanted_dump;
        r->opt.only = value;
    } else {
        return false;
    }
    return true;
}

/* Reads the options; -1, or the status to leave with. */
static int read_options(struct request *r, int argc, char **argv) {
    for (int i = 0; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (!strcmp(argv[i], "--help")) {
            fputs(help, stdout);
            return 0;
        } else if (!strcmp(argv[i], "--passes")) {
            r->opt.dump = &wanted_dump;
        } else if (!strcmp(argv[i], "--classes")) {
            r->classes = true;
        } else if (!strcmp(argv[i], "--without") && value) {
            uint64_t bit = strcmp(value, "all") ? opt_pass_bit(value) : ~UINT64_C(0);
            if (!bit)
                return cli_usage_error(help, "there is no pass called", value);
            r->opt.disable |= bit;
            i++;
        } else if (!strcmp(argv[i], "--regs") && value) {
            r->regs = (uint32_t)strtoul(argv[++i], NULL, 10);
            if (r->regs < 16 || r->regs > MAX_GPR)
                return cli_usage_error(help, "--regs takes 16 to 255, not", value);
        } else if (argv[i][0] == '-' && value && read_option(r, argv[i], value)) {
            i++;
        } else if (argv[i][0] == '-') {
            return cli_usage_error(help, "unknown option", argv[i]);
        } else if (!r->file) {
            r->file = argv[i];
        } else {
            r->kernels = &argv[i];
            r->nkernels = argc - i;
            break;
        }
    }
    return r->file ? -1 : cli_usage_error(help, "a PTX file is needed", "");
}

int cli_disasm(int argc, char **argv) {
    struct request r = {.regs = MAX_GPR};
    int status = read_options(&r, argc, argv);
    if (status < 0)
        status = run(&r);
    vec_free(&r.set);
    return status;
}
