/* Passes of mechanisms: code changed before and after register allocation, facts that the kernel point finds,
 * notes in listings, a second stream, and what is refused. mech_select is wrapped, so that the passes here
 * are those of mechanisms with names, for GPUs and for `reprise disasm` alike. */
#include <stdio.h>
#include <unistd.h>

#include "cli/cli.h"
#include "mech_rig.h"
#include "opt/mech_pass.h"
#include "opt/pass.h"

/* ---- the passes ---- */

struct toy_fact {
    uint32_t number; /* of the addition in the program, from 1 */
};

static uint32_t runs; /* of pass_add */

/* Adds 2 where the program adds 1, and numbers additions. */
static bool add_two(const struct pass_run *r) {
    bool changed = false;
    uint32_t n = 0;
    runs++;
    for (uint32_t k = 0; k < r->p->fns.len; k++)
        for (uint32_t b = 0; b < r->p->fns.at[k]->blocks.len; b++) {
            struct block *at = &r->p->fns.at[k]->blocks.at[b];
            for (uint32_t j = 0; j < at->insts.len; j++) {
                struct inst *i = &at->insts.at[j];
                if (i->op != OP_IADD)
                    continue;
                struct toy_fact *fact = fact_make(r->p, r->pass, i, sizeof *fact);
                fact->number = ++n;
                note_add(r->p, i, "addition %u", n);
                if (i->src[1].kind == O_IMM && i->src[1].v == 1) {
                    i->src[1].v = 2;
                    changed = true;
                }
            }
        }
    *(uint32_t *)fact_make(r->p, r->pass, NULL, sizeof(uint32_t)) = n;
    return changed;
}

/* A stream that stores 7 + the thread's number where the kernel's first parameter points, beyond what the
 * kernel stores; beside it something that nobody needs. */
static bool second_stream(const struct pass_run *r) {
    struct program *s = program_stream(r->p, "second");
    struct fn *f = s->fns.at[0];
    fn_block(f);
    struct inst code[6];
    uint32_t tid = fn_vreg(f, 1), pair = fn_vreg(f, 2), sum = fn_vreg(f, 1), unused = fn_vreg(f, 1);
    code[0] = inst_new(OP_S2R);
    code[0].dst = opd_reg(tid, 0);
    code[0].m.mode = SR_TID_X;
    code[1] = inst_new(OP_IADD);
    code[1].dst = opd_reg(sum, 0);
    code[1].nsrc = 2;
    code[1].src[0] = opd_reg(tid, 0);
    code[1].src[1] = opd_imm(7);
    code[2] = code[1];
    code[2].dst = opd_reg(unused, 0);
    for (uint32_t w = 0; w < 2; w++) {
        code[3 + w] = inst_new(OP_MOV);
        code[3 + w].dst = opd_reg(pair, w);
        code[3 + w].nsrc = 1;
        code[3 + w].src[0] = opd_const(BANK_PARAM, PARAM_BASE + 4 * w);
    }
    code[5] = inst_new(OP_ST);
    code[5].nsrc = 2;
    code[5].m = (struct imods){.space = MS_GLOBAL, .size = 4, .vec = 1, .a64 = true};
    code[5].src[0] = opd_reg(pair, 0);
    code[5].src[1] = opd_reg(sum, 0);
    code[5].imm = 4096;
    for (uint32_t k = 0; k < 6; k++)
        vec_push(&f->blocks.at[0].insts, code[k]);
    vec_push(&f->blocks.at[0].insts, inst_new(OP_EXIT));
    note_add(r->p, &f->blocks.at[0].insts.at[1], "in the second stream");
    return false;
}

/* Names the registers of stores, and has register 40 written in front of the first instruction. */
static bool mark_stores(const struct pass_run *r) {
    for (uint32_t n = 0; n <= r->p->streams.len; n++) {
        struct program *p = n ? r->p->streams.at[n - 1] : r->p;
        struct fn *f = p->fns.at[0];
        assert_true(f->allocated);
        for (uint32_t b = 0; b < f->blocks.len; b++)
            for (uint32_t k = 0; k < f->blocks.at[b].insts.len; k++) {
                struct inst *i = &f->blocks.at[b].insts.at[k];
                if (i->op == OP_ST)
                    note_add(r->p, i, "stores R%u", i->src[1].v);
            }
    }
    struct inst added[2] = {inst_new(OP_MOV), inst_new(OP_NOP)}; /* the second goes away again */
    added[0].nsrc = 1;
    added[0].dst = opd_reg(40, 0);
    added[0].src[0] = opd_imm(5);
    block_insert(&r->p->fns.at[0]->blocks.at[0], 0, added, 2);
    return true;
}

static bool break_code(const struct pass_run *r) {
    struct fn *f = r->p->fns.at[0];
    f->blocks.at[0].insts.at[0].dst = opd_reg(f->allocated ? 255 : f->vregs.len, 0);
    return true;
}

static bool refuse(const struct pass_run *r) {
    diag_add(r->d, DIAG_ERROR, "%s: the toy runs no kernel of that name", r->p->name);
    return false;
}

static const struct mech_pass toy_passes[] = {{"toy-add", BEFORE_REGISTERS, add_two},
                                              {"toy-stores", AFTER_REGISTERS, mark_stores},
                                              {"toy-stream", BEFORE_REGISTERS, second_stream},
                                              {NULL, 0, NULL}};
static const struct mech_pass broken_passes[] = {{"toy-broken", BEFORE_REGISTERS, break_code},
                                                 {NULL, 0, NULL}};
static const struct mech_pass late_passes[] = {{"toy-late", AFTER_REGISTERS, break_code}, {NULL, 0, NULL}};
static const struct mech_pass refusing_passes[] = {{"toy-refuse", BEFORE_REGISTERS, refuse}, {NULL, 0, NULL}};

/* ---- the mechanisms ---- */

static const struct image *seen; /* at the kernel point */

static const void *kernel(void *shared, struct arena *launch, const struct image *img) {
    (void)shared, (void)launch;
    seen = img;
    return NULL;
}

static void *create(struct arena *a, const void *params, void *shared, struct sm *sm) {
    (void)a, (void)params, (void)shared;
    return sm;
}

#define TOY(id, list)                                                                                        \
    static const struct mechanism id = {.name = #id, .passes = list, .kernel = kernel, .create = create}
TOY(toy, toy_passes);
TOY(broken, broken_passes);
TOY(late, late_passes);
TOY(refusing, refusing_passes);
TOY(silent, NULL);

static const struct mechanism *const toys[] = {&toy, &broken, &late, &refusing, &silent};

bool __wrap_mech_select(struct mech_set *out, struct mech_registry *r, const char *text, struct diag *d);
bool __wrap_mech_select(struct mech_set *out, struct mech_registry *r, const char *text, struct diag *d) {
    (void)r;
    *out = (struct mech_set){0};
    for (const char *at = text; at && *at; at += strcspn(at, "+"), at += *at == '+')
        for (uint32_t k = 0; k < sizeof toys / sizeof toys[0]; k++)
            if (!strncmp(at, toys[k]->name, strcspn(at, "+")))
                assert_true(mech_add(out, toys[k], NULL, d));
    return true;
}

/* ---- tests ---- */

static const char ptx[] =
    KERNELS KERNEL("add", "add.u32 %r1, %r0, %r9; add.u32 %r2, %r1, 1; st.global.u32 [%l1], %r2;");

static void open_gpu(struct rig *r, const char *mech, bool functional) {
    static const char *const set[] = {"device.sms=1", NULL};
    seen = NULL;
    runs = 0;
    rig_open_options(
        r, &(struct rp_options){.gpu = "gtx480", .mech = mech, .set = set, .functional = functional}, ptx);
}

static uint32_t first_word(struct rig *r) {
    rig_run(r, "add", 1, 32, (struct rig_params){.x = 100});
    return rig_word(r, 0);
}

/* Timed launches run what the passes made, functional ones the plain code; each is compiled once. */
static void test_codes(void **state) {
    (void)state;
    struct rig r;
    open_gpu(&r, "toy", false);
    struct rp_kernel *k = rp_module_kernel(r.m, "add");
    r.g->opt.some_kernels = true; /* the second and third launch are timed */
    r.g->opt.first_kernel = 1;
    r.g->opt.last_kernel = 2;
    assert_int_equal(first_word(&r), 101);
    assert_int_equal(runs, 0);
    assert_int_equal(first_word(&r), 102);
    assert_int_equal(first_word(&r), 102);
    const struct image *passed = k->passed.img;
    assert_int_equal(first_word(&r), 101);
    assert_int_equal(runs, 1);
    assert_ptr_equal(seen, passed);
    assert_true(k->plain.img && k->plain.img != passed);
    struct rp_kernel_info info;
    assert_int_equal(rp_kernel_info(k, &info, NULL), RP_OK);
    assert_int_equal(info.regs, 41); /* those that the pass uses are counted */
    assert_true(k->plain.prog->nregs < 40);
    /* For fewer registers it is compiled again, with the passes. */
    assert_int_equal(kernel_compile(k, &k->passed, 20, NULL), RP_OK);
    assert_int_equal(runs, 2);
    rig_close(&r);
    open_gpu(&r, "toy", true);
    assert_int_equal(first_word(&r), 101);
    assert_int_equal(runs, 0);
    rig_close(&r);
    open_gpu(&r, "silent", false);
    assert_int_equal(first_word(&r), 101);
    k = rp_module_kernel(r.m, "add");
    assert_null(k->passed.prog); /* nothing would be different */
    rig_close(&r);
}

/* The kernel point finds the facts at the instructions that were marked before registers were allocated. */
static void test_facts(void **state) {
    (void)state;
    struct rig r;
    open_gpu(&r, "silent+toy", false);
    first_word(&r);
    const struct program *p = seen->prog;
    uint32_t additions = 0;
    for (uint32_t c = 0; c < seen->ncode; c++) {
        const struct toy_fact *fact = fact_get(p, &toy_passes[0], seen->code[c].in);
        assert_int_equal(fact != NULL, p->code[c].op == OP_IADD);
        assert_null(fact_get(p, &toy_passes[1], seen->code[c].in));
        if (fact)
            assert_int_equal(fact->number, ++additions);
    }
    assert_int_equal(additions, 2);
    const uint32_t *all = fact_get(p, &toy_passes[0], NULL);
    assert_int_equal(*all, additions);
    assert_null(fact_get(p, &toy_passes[1], NULL));
    assert_null(note_of(p, &p->code[0])); /* nobody would read them */
    rig_close(&r);
}

/* Runs the second stream of the launch that begins, for itself. */
static void run_stream(struct probe *probe, const struct probe_event *e) {
    (void)probe;
    const struct image *img = image_stream(e->kernel->exec->img, "second");
    struct exec x = *e->kernel->exec;
    assert_non_null(img);
    x.img = img;
    x.pool = xaligned((img->pool.len + 1u) * sizeof *x.pool);
    image_fill_pool(&x, img, x.pool);
    x.executed = xcalloc(img->ncode, sizeof *x.executed);
    assert_true(exec_run_grid(&x, 1, &(struct grid_rest){0}));
    free(x.executed);
    free(x.pool);
}

static void test_stream(void **state) {
    (void)state;
    struct rig r;
    struct probe probe = {.event = run_stream, .kinds = 1u << PROBE_KERNEL_BEGIN};
    open_gpu(&r, "toy", false);
    rp_gpu_watch(r.g, &probe);
    first_word(&r);
    for (uint32_t t = 0; t < 32; t++)
        assert_int_equal(rig_word(&r, 1024 + t),
                         t ? (uint32_t)RIG_FILL : 7 + 31); /* all store to one word, the last one stays */
    const struct image *img = image_stream(seen, "second");
    assert_null(image_stream(seen, "third"));
    assert_int_equal(img->ncode, 6); /* without what is not needed */
    assert_ptr_equal(img->prog->kernel, seen->prog);
    assert_true(img->address >= seen->address + seen->ncode * INST_BYTES);
    assert_true(r.g->code_end >= img->address + img->ncode * INST_BYTES);
    assert_int_equal(img->prog->fns.at[0]->allocated, true);
    assert_true(img->prog->nregs >= 4 && img->prog->nregs < seen->prog->nregs);
    rig_close(&r);
}

/* What a pass breaks is named, also after allocation; what it refuses is refused with its words. */
static void test_refusals(void **state) {
    (void)state;
    static const struct {
        const char *mech, *says;
    } cases[] = {
        {"broken", "internal error after toy-broken: add: block 0, instruction 0: destination: no virtual"},
        {"late", "internal error after toy-late: add: block 0, instruction 0: destination: R255"},
        {"refusing", "add: the toy runs no kernel of that name"},
        {"toy+late", "internal error after toy-late"}};
    for (uint32_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        struct rig r;
        char *report = NULL;
        open_gpu(&r, cases[k].mech, false);
        assert_int_equal(rig_try(&r, "add", 1, 32, 0, (struct rig_params){0}, &report), RP_UNSUPPORTED);
        if (!report || !strstr(report, cases[k].says))
            fail_msg("%s: %s", cases[k].mech, report ? report : "nothing was said");
        free(report);
        rig_close(&r);
    }
}

/* ---- the command ---- */

char *__wrap_io_read(const char *path, size_t *len);
char *__wrap_io_read(const char *path, size_t *len) {
    (void)path;
    *len = strlen(ptx);
    return xstrdup(ptx);
}

int cli_usage_error(const char *help, const char *what, const char *word) {
    (void)help, (void)what, (void)word;
    return 2;
}

/* What `reprise disasm` prints, to be freed. */
static char *disassemble(int argc, char **argv) {
    FILE *to = tmpfile();
    assert_non_null(to);
    fflush(stdout);
    int out = dup(1);
    dup2(fileno(to), 1);
    int status = cli_disasm(argc, argv);
    fflush(stdout);
    dup2(out, 1);
    close(out);
    assert_int_equal(status, 0);
    char *text = xcalloc(1, 1 << 16);
    rewind(to);
    assert_true(fread(text, 1, (1 << 16) - 1, to) > 0);
    fclose(to);
    return text;
}

static void test_disasm(void **state) {
    (void)state;
    char *with[] = {"--mech", "toy", "add.ptx"}, *without[] = {"add.ptx"},
         *after[] = {"--mech", "toy", "--after", "toy-stores", "add.ptx"};
    char *text = disassemble(3, with);
    static const char listing[] =
        "add:\n"
        "/*0000*/  MOV R40, 0x5 ;\n"
        "/*0008*/  S2R R0, SR_TID.X ;\n"
        "/*0010*/  IMUL.WIDE.U32 R2, R0, 0x4 ;\n"
        "/*0018*/  IADD.X R2, P0, R2, c[0x0][0x140] ;\n"
        "/*0020*/  IADD.X R3, R3, c[0x0][0x144], P0 ;\n"
        "/*0028*/  IADD R0, R0, c[0x0][0x14c] ;                  # addition 1\n"
        "/*0030*/  IADD R0, R0, 0x2 ;                            # addition 2\n"
        "/*0038*/  ST.GLOBAL.E [R2], R0 ;                        # stores R0\n"
        "/*0040*/  EXIT ;\n"
        "; a stream beside add\n"
        "second:\n"
        "/*0000*/  S2R R0, SR_TID.X ;\n"
        "/*0008*/  IADD R0, R0, 0x7 ;                            # in the second stream\n"
        "/*0010*/  MOV R2, c[0x0][0x140] ;\n"
        "/*0018*/  MOV R3, c[0x0][0x144] ;\n"
        "/*0020*/  ST.GLOBAL.E [R2+0x1000], R0 ;                 # stores R0\n"
        "/*0028*/  EXIT ;\n"
        "; add: 41 registers, 9 instructions, 0 bytes shared, 0 local, 16 of parameters, 336 constant\n";
    assert_string_equal(text, listing);
    free(text);
    text = disassemble(1, without);
    assert_null(strchr(text, '#'));
    assert_non_null(strstr(text, "IADD R0, R0, 0x1 ;"));
    free(text);
    text = disassemble(5, after);
    assert_non_null(strstr(text, "; after toy-stores\n"));
    assert_null(strstr(text, "; after toy-add\n"));
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_codes),    cmocka_unit_test(test_facts),  cmocka_unit_test(test_stream),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_disasm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
