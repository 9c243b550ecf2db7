/* Second instruction streams: code of a mechanism's own beside the program, and what watchers see of it. */
#include <stdio.h>
#include <unistd.h>

#include "mech_rig.h"
#include "report/trace.h"

static const char kernels[] = KERNELS
    /* A program: each thread adds up n numbers. */
    KERNEL("program", "mov.u32 %r1, 0; mov.u32 %r2, 0;\n"
                      "LOOP: add.u32 %r1, %r1, %r0; add.u32 %r2, %r2, 1; setp.lt.u32 %p0, %r2, %r8;\n"
                      "@%p0 bra LOOP; st.global.u32 [%l1], %r1;")
    /* A stream: lanes below x multiply n times by three, the others twice as often; all store what they have.
     */
    KERNEL("side", "mov.u32 %r1, 1; mov.u32 %r2, 0; mov.u32 %r3, %r8; setp.lt.u32 %p0, %r0, %r9;\n"
                   "@%p0 bra LOOP; add.u32 %r3, %r3, %r8;\n"
                   "LOOP: mul.lo.u32 %r1, %r1, 3; add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, %r3;\n"
                   "@%p1 bra LOOP; bar.sync 0; st.global.u32 [%l1+8192], %r1;")
    /* One that does not end. */
    KERNEL("forever", "LOOP: add.u32 %r1, %r1, 1; bra LOOP;");

enum { OUT = 8192 / 4 };

static struct {
    const struct image *img;
    struct core_stream *stream;
    uint32_t lanes;
    uint32_t begun, ended, started, issued;
    uint64_t insts, executed; /* warp instructions of the stream so far; of its first instruction */
    bool stop, refused;
} s;

static void start(void *m, const void *marks) {
    (void)m, (void)marks;
    s.stream = core_stream_open(mech_sm, s.img);
    assert_non_null(s.stream);
}

static void block(void *m, uint32_t slot, bool enters) {
    (void)m, (void)slot;
    if (enters && !s.stream->running) {
        s.refused = !core_stream_start(mech_sm, s.stream, s.lanes);
        s.started += !s.refused;
    }
    if (!enters && s.stop && s.stream->running && mech_sm->nblocks == 1)
        core_stream_stop(mech_sm, s.stream);
}

static void warp(void *m, uint32_t slot, bool enters) {
    (void)m;
    struct core_stream *t = core_stream_of(mech_sm, slot);
    if (!t)
        return;
    assert_ptr_equal(t, s.stream);
    assert_int_equal(mech_sm->warps[slot].block, CORE_NO_BLOCK);
    s.begun += enters;
    s.ended += !enters;
    s.insts = t->x.warp_insts;
    s.executed = t->x.executed[0];
}

static void issued(void *m, int32_t op) {
    (void)m;
    const struct core_op *o = &mech_sm->ops[op];
    if (core_stream_of(mech_sm, o->warp)) {
        s.issued++;
        assert_ptr_equal(o->i, &s.img->code[o->pc]);
    } else {
        assert_ptr_equal(o->i, &mech_sm->x->img->code[o->pc]);
    }
}

static const struct mech_points points = {.life = {.start = start, .block = block, .warp = warp},
                                          .watch = {.issued = issued},
                                          .stream = {.own_code = true}},
                                *const stack[] = {&points};

static const struct image *image_of(struct rig *r, const char *name) {
    for (uint32_t k = 0; k < r->m->nkernels; k++)
        if (!strcmp(r->m->kernels[k].func->name, name)) {
            struct rp_kernel *side = &r->m->kernels[k];
            assert_int_equal(kernel_compile(side, &side->plain, 0, NULL), RP_OK);
            return side->plain.img;
        }
    fail_msg("there is no kernel %s", name);
    return NULL;
}

static void open_with(struct rig *r, const char *gpu, const char *side, uint32_t lanes, bool stop) {
    memset(&s, 0, sizeof s);
    mech_rig_open(r, gpu, NULL, kernels, side != NULL, stack);
    s.img = side ? image_of(r, side) : NULL;
    s.lanes = lanes;
    s.stop = stop;
}

static uint32_t power_of_3(uint32_t n) {
    uint32_t v = 1;
    while (n--)
        v *= 3;
    return v;
}

/* Both run at once, and right: the stream diverges, loops, passes a barrier of its own and stores. The
 * program's instructions and results are those of a run without it. */
static void test_beside(void **state) {
    (void)state;
    enum { N = 40, X = 7, LANES = 0x00ffffff };
    static const char *const gpus[] = {"gtx480", "dac", "darsie"};
    for (uint32_t g = 0; g < 3; g++) {
        struct rig r;
        open_with(&r, gpus[g], NULL, 0, false);
        rig_run(&r, "program", 4, 96, (struct rig_params){.n = N, .x = X});
        uint64_t insts = rig_counter(&r, "sm.insts.warp"), slots = rig_counter(&r, "slot.issued"),
                 fetched = rig_counter(&r, "fetch.insts");
        rig_close(&r);
        open_with(&r, gpus[g], "side", LANES, false);
        rig_run(&r, "program", 4, 96, (struct rig_params){.n = N, .x = X});
        assert_int_equal(s.begun, s.started);
        assert_int_equal(s.ended, s.started);
        assert_true(s.started >= 1 && s.issued > 3 * N);
        assert_int_equal(s.executed, s.started);
        assert_int_equal(rig_counter(&r, "sm.insts.warp"), insts);
        assert_int_equal(rig_counter(&r, "slot.issued"), slots);
        assert_int_equal(rig_counter(&r, "slot.mechanism"), s.insts);
        assert_true(rig_counter(&r, "fetch.insts") >= fetched + s.insts);
        for (uint32_t t = 0; t < 96; t++)
            assert_int_equal(rig_word(&r, t), N * t);
        for (uint32_t l = 0; l < WARP_LANES; l++)
            assert_int_equal(rig_word(&r, OUT + l),
                             LANES >> l & 1 ? power_of_3(l < X ? N : 2 * N) : RIG_FILL);
        rig_close(&r);
    }
}

/* A stream that is stopped lets the launch end; the next launch has one of its own. */
static void test_stop(void **state) {
    (void)state;
    struct rig r;
    open_with(&r, "gtx480", "forever", 1, true);
    for (uint32_t k = 0; k < 3; k++) {
        rig_run(&r, "program", 3, 64, (struct rig_params){.n = 30});
        assert_int_equal(s.ended, k + 1);
        assert_int_equal(rig_word(&r, 63), 30 * 63);
    }
    rig_close(&r);
}

/* Streams take slots beyond the program's where there are some; an SM full of warps has none left. */
static void test_slots(void **state) {
    (void)state;
    struct rig r;
    open_with(&r, "gtx480", "side", 1, false); /* 48 warps */
    rig_run(&r, "program", 2, 768, (struct rig_params){.n = 3});
    assert_int_equal(rig_counter(&r, "sm.blocks"), 2);
    assert_true(s.started && s.stream->slot >= 48);
    rig_close(&r);
    open_with(&r, "darsie", "side", 1, false); /* 64 */
    rig_run(&r, "program", 2, 1024, (struct rig_params){.n = 30});
    assert_int_equal(rig_counter(&r, "sm.blocks"), 2);
    assert_int_equal(s.started, 1); /* before the first block's warps took theirs */
    assert_true(s.stream->slot == 63);
    rig_close(&r);
}

/* A launch that does not end says what the stream does. */
static void test_hang(void **state) {
    (void)state;
    struct rig r;
    char *report = NULL;
    open_with(&r, "gtx480", "forever", 1, false);
    enum rp_status st = rig_try(&r, "program", 1, 32, 0, (struct rig_params){.n = 3}, &report);
    assert_int_not_equal(st, RP_OK);
    assert_non_null(report);
    assert_non_null(strstr(report, "a stream of instructions of a mechanism: "));
    free(report);
    rig_close(&r);
}

/* Traces have the stream's instructions, by name, in both formats. */
static void test_trace(void **state) {
    (void)state;
    static const char *const suffixes[] = {".kanata", ".json"}, *const words[] = {"stream 1 ",
                                                                                  "stream 1 of a"};
    for (uint32_t k = 0; k < 2; k++) {
        struct rig r;
        char path[64], *log = NULL;
        snprintf(path, sizeof path, "/tmp/reprise_stream_%d%s", (int)getpid(), suffixes[k]);
        open_with(&r, "gtx480", "side", 0xff, false);
        struct trace *t = trace_open(r.g, &(struct rp_trace){.path = path, .last = UINT64_MAX}, &log);
        assert_non_null(t);
        rig_run(&r, "program", 2, 64, (struct rig_params){.n = 5, .x = 3});
        assert_true(trace_close(t, &log));
        FILE *f = fopen(path, "r");
        char line[8192];
        uint32_t named = 0, multiplied = 0;
        assert_non_null(f);
        while (fgets(line, sizeof line, f)) {
            named += strstr(line, words[k]) != NULL;
            multiplied += strstr(line, "IMUL") != NULL || strstr(line, "IMAD") != NULL;
        }
        fclose(f);
        remove(path);
        assert_true(named > 0 && multiplied >= 5);
        free(log);
        rig_close(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_beside), cmocka_unit_test(test_stop),  cmocka_unit_test(test_slots),
        cmocka_unit_test(test_hang),   cmocka_unit_test(test_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
