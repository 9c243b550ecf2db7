/* libFuzzer target: any bytes given to the PTX parser yield diagnostics, or a module that keeps its promises.
 */
#include "base/diag.h"
#include "ptx/ptx.h"

#define CHECK(c)                                                                                             \
    do {                                                                                                     \
        if (!(c))                                                                                            \
            __builtin_trap();                                                                                \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What ptx.h says of an operand whose function is not refused. */
static void check_opd(const struct ptx_func *f, const struct ptx_opd *o) {
    CHECK(o->kind != OPD_NONE);
    CHECK(o->kind != OPD_REG || o->reg < f->nregs);
    CHECK(o->kind != OPD_VAR || o->var);
    CHECK(o->kind != OPD_FUNC || o->func);
    CHECK(o->kind != OPD_SREG || (o->sreg < SREG_COUNT && o->comp >= -1 && o->comp < 4));
    CHECK(o->kind != OPD_LABEL || o->label < f->nlabels);
    CHECK(o->kind != OPD_TARGETS || o->targets);
    CHECK(o->kind != OPD_PAIR || o->nelems == 2);
    CHECK(o->kind != OPD_ADDR || o->nelems >= 1);
    for (uint32_t i = 0; o->kind == OPD_TARGETS && i < o->targets->nlabels; i++)
        CHECK(o->targets->labels[i] < f->nlabels);
    for (uint32_t i = 0; i < o->nelems; i++)
        check_opd(f, &o->elems[i]);
}

static void check_func(const struct ptx_func *f) {
    char text[64];
    for (uint32_t i = 0; i < f->nlabels; i++)
        CHECK(f->labels[i].inst <= f->ninsts);
    for (uint32_t i = 0; i < f->nregs; i++)
        CHECK(f->regs[i].name && f->regs[i].type < PTX_TYPE_COUNT);
    for (uint32_t i = 0; i < f->ninsts; i++) {
        const struct ptx_inst *in = &f->insts[i];
        ptx_inst_text(in, text, sizeof text);
        CHECK(!in->guarded || (in->guard < f->nregs && f->regs[in->guard].type == PTX_PRED));
        for (uint32_t k = 0; k < in->nopds; k++)
            check_opd(f, &in->opds[k]);
    }
}

static void check_var(const struct ptx_var *v) {
    uint64_t last = 0;
    CHECK(v->align && !(v->align & (v->align - 1)));
    for (uint32_t i = 0; i < v->ninit; i++) {
        CHECK(v->init[i].offset >= last);
        last = v->init[i].offset + v->init[i].size;
        CHECK(last <= v->size);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct diag d = {0};
    struct ptx_module *m = ptx_parse((const char *)data, size, "fuzz.ptx", &d);
    CHECK(m || d.errors); /* a module that cannot be used must say why */
    for (uint32_t i = 0; m && i < m->nfuncs; i++)
        if (!m->funcs[i]->refused)
            check_func(m->funcs[i]);
    for (uint32_t i = 0; m && i < m->nvars; i++)
        check_var(m->vars[i]);
    ptx_free(m);
    diag_free(&d);
    return 0;
}
