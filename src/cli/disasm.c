/* reprise disasm: the machine code of a PTX file's kernels. */
#include <stdio.h>
#include <string.h>

#include "base/io.h"
#include "cli/cli.h"
#include "opt/opt.h"
#include "ptx/lower.h"

static const char help[] =
    "usage: reprise disasm [options] FILE.ptx [KERNEL...]\n"
    "\n"
    "Compiles the kernels of a PTX file and prints their machine code, with register, shared,\n"
    "local and constant sizes. Without KERNEL all of them.\n"
    "\n"
    "  --regs N         registers per thread the allocator may use (default 255)\n"
    "  --passes         also print the code after each pass that changed it\n"
    "  --after PASS     the same for one pass\n"
    "  --without PASS   leave a pass out (repeatable); --without all leaves out every optional one\n";

struct request {
    const char *file;
    uint32_t regs;
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
        fputs(str_text(&out), stdout);
    }
    fputs(str_text(&d.text), stderr);
    program_destroy(p);
    str_free(&out);
    str_free(&dump);
    diag_free(&d);
    return ok;
}

static int run(const struct request *r) {
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

int cli_disasm(int argc, char **argv) {
    struct request r = {.regs = MAX_GPR};
    static struct str marker;
    for (int i = 0; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (!strcmp(argv[i], "--help")) {
            fputs(help, stdout);
            return 0;
        } else if (!strcmp(argv[i], "--passes")) {
            r.opt.dump = &marker;
        } else if (!strcmp(argv[i], "--after") && value) {
            r.opt.dump = &marker;
            r.opt.only = argv[++i];
        } else if (!strcmp(argv[i], "--without") && value) {
            uint64_t bit = strcmp(value, "all") ? opt_pass_bit(value) : ~UINT64_C(0);
            if (!bit)
                return cli_usage_error(help, "there is no pass called", value);
            r.opt.disable |= bit;
            i++;
        } else if (!strcmp(argv[i], "--regs") && value) {
            r.regs = (uint32_t)strtoul(argv[++i], NULL, 10);
            if (r.regs < 16 || r.regs > MAX_GPR)
                return cli_usage_error(help, "--regs takes 16 to 255, not", value);
        } else if (argv[i][0] == '-') {
            return cli_usage_error(help, "unknown option", argv[i]);
        } else if (!r.file) {
            r.file = argv[i];
        } else {
            r.kernels = &argv[i];
            r.nkernels = argc - i;
            break;
        }
    }
    if (!r.file)
        return cli_usage_error(help, "a PTX file is needed", "");
    return run(&r);
}
