/* Surveys of redundancy: every kind counted by hand in small kernels, and against the probes and mechanisms
 * whose definitions they share; a survey changes nothing else. */
#include <stdio.h>
#include <unistd.h>

#include <jansson.h>

#include "gpu/gpu_profile.h"
#include "levels.h"
#include "profile/groups.h"
#include "timing_rig.h"

#define HEAD   ".version 7.0\n.target sm_70\n.address_size 64\n"
#define PARAMS "(.param .u64 buffer, .param .u32 n, .param .u32 x)\n"

static const char kernels[] = HEAD
    ".visible .entry levels" PARAMS LEVELS_BODY
    /* A load, a store of what it brought, the same load again, and a store that changes all but lane 0. */
    ".visible .entry memory" PARAMS "{ .reg .b32 %r<8>; .reg .b64 %l<4>;\n"
    "ld.param.u64 %l0, [buffer]; mov.u32 %r0, %tid.x;\n"
    "mul.wide.u32 %l1, %r0, 4; add.u64 %l1, %l1, %l0;\n"
    "ld.global.u32 %r1, [%l1];\n"
    "st.global.u32 [%l1], %r1;\n"
    "ld.global.u32 %r2, [%l1];\n"
    "add.u32 %r3, %r2, %r0;\n"
    "st.global.u32 [%l1], %r3; exit; }\n"
    /* Each warp loads the word behind shared memory's start that is its own, twice, and nobody changes it. */
    ".visible .entry shared" PARAMS "{ .reg .b32 %r<8>; .reg .b64 %l<4>; .shared .b32 s[64];\n"
    "ld.param.u64 %l0, [buffer]; mov.u32 %r0, %tid.x; mov.u32 %r4, s;\n"
    "ld.volatile.shared.u32 %r1, [%r4];\n"
    "ld.volatile.shared.u32 %r2, [%r4];\n"
    "add.u32 %r3, %r2, %r1; add.u32 %r3, %r3, %r0;\n"
    "mul.wide.u32 %l1, %r0, 4; add.u64 %l1, %l1, %l0;\n"
    "st.global.u32 [%l1], %r3; exit; }\n"
    ".visible .entry operands" PARAMS "{ .reg .b32 %r<12>; .reg .b64 %l<4>; .reg .pred %p<2>;\n"
    "ld.param.u64 %l0, [buffer]; ld.param.u32 %r9, [x]; mov.u32 %r0, %tid.x;\n"
    "shr.u32 %r1, %r0, 4;\n"                                   /* one value in each half */
    "mul.lo.u32 %r2, %r1, %r1;\n"                              /* half */
    "mov.u32 %r3, %ctaid.x;\n"                                 /* scalar */
    "mul.lo.u32 %r4, %r3, %r9;\n"                              /* scalar */
    "xor.b32 %r5, %r2, %r4;\n"                                 /* half */
    "setp.gt.u32 %p0, %r0, 7;\n"                               /* an affine predicate */
    "@%p0 bra DONE;\n"                                         /* divergent */
    "mul.lo.u32 %r5, %r4, %r4;\n"                              /* divergent scalar */
    "bar.warp.sync 0xff;\n"                                    /* divergent */
    "DONE: mul.wide.u32 %l1, %r0, 4; add.u64 %l1, %l1, %l0;\n" /* the upper word's sum is scalar */
    "st.global.u32 [%l1], %r5; exit; }\n"
    /* A loop of n rounds that every warp goes through: what is computed does not depend on the round. */
    ".visible .entry rounds" PARAMS "{ .reg .b32 %r<12>; .reg .b64 %l<4>; .reg .pred %p<2>;\n"
    "ld.param.u64 %l0, [buffer]; ld.param.u32 %r8, [n]; ld.param.u32 %r9, [x]; mov.u32 %r0, %tid.x;\n"
    "mov.u32 %r1, 0; mov.u32 %r7, 0;\n"
    "mul.wide.u32 %l1, %r0, 4; add.u64 %l1, %l1, %l0;\n"
    "AGAIN: ld.global.u32 %r2, [%l1];\n"
    "xor.b32 %r3, %r2, %r9;\n"
    "and.b32 %r4, %r1, 1;\n"
    "setp.eq.u32 %p0, %r4, 1;\n"
    "@%p0 add.u32 %r7, %r7, %r3;\n"
    "add.u32 %r1, %r1, 1;\n"
    "and.b32 %r5, %r0, 3; add.u32 %r5, %r5, %r8;\n" /* lanes leave in different rounds */
    "setp.lt.u32 %p1, %r1, %r5;\n"
    "@%p1 bra AGAIN;\n"
    "st.global.u32 [%l1+4096], %r7; exit; }\n"
    /* Conditions and addresses that come from memory are not affine. */
    ".visible .entry data" PARAMS "{ .reg .b32 %r<12>; .reg .b64 %l<4>; .reg .pred %p<2>;\n"
    "ld.param.u64 %l0, [buffer]; mov.u32 %r0, %tid.x;\n"
    "mul.wide.u32 %l1, %r0, 4; add.u64 %l1, %l1, %l0;\n"
    "ld.global.u32 %r1, [%l1];\n"
    "and.b32 %r2, %r1, 60; cvt.u64.u32 %l2, %r2; add.u64 %l2, %l2, %l0;\n"
    "setp.eq.u32 %p0, %r1, 5; setp.lt.u32 %p1, %r0, %r1;\n"
    "selp.u32 %r3, %r0, 1, %p1;\n"
    "@%p0 st.global.u32 [%l2], %r3; exit; }\n";

/* ---- counts ------------------------------------------------------------------------------------------ */

static const uint32_t warp_shape[3] = {32, 1, 1}, rows_shape[3] = {32, 4, 1};

static void open_rig(struct rig *r, const struct rp_options *o) {
    struct rp_options all = *o;
    static const char *const set[] = {"device.sms=2", NULL};
    all.gpu = all.gpu ? all.gpu : "gtx480";
    all.set = all.set ? all.set : set;
    rig_open_options(r, &all, kernels);
}

static void launch(struct rig *r, const char *kernel, uint32_t grid, const uint32_t shape[3], uint32_t n) {
    struct rig_params p = {.buffer = r->buffer, .n = n, .x = 3};
    struct rp_launch l = {
        .grid = {grid, 1, 1}, .block = {shape[0], shape[1], shape[2]}, .params = &p, .param_bytes = sizeof p};
    char *report = NULL;
    assert_int_equal(rp_launch(r->g, rp_module_kernel(r->m, kernel), &l, &report), RP_OK);
}

/* All that was counted for the last kernel that was launched first. */
static struct survey_counts total(const struct rig *r) {
    struct survey_counts all = {0};
    const struct survey_code *c, *last = NULL;
    for (uint32_t i = 0; (c = survey_code(r->g->survey, i)); i++)
        last = c;
    assert_non_null(last);
    for (uint32_t pc = 0; pc < last->ncode; pc++)
        survey_add(&all, &last->counts[pc]);
    return all;
}

static struct survey_counts survey_of(const char *kernel, uint32_t grid, const uint32_t shape[3], uint32_t n,
                                      bool timed) {
    struct rig r;
    open_rig(&r, &(struct rp_options){.functional = !timed, .profile = true});
    launch(&r, kernel, grid, shape, n);
    struct survey_counts c = total(&r);
    rig_close(&r);
    return c;
}

/* ---- by hand ----------------------------------------------------------------------------------------- */

static void levels(void **state) {
    (void)state;
    for (int timed = 0; timed < 2; timed++) {
        struct survey_counts c = survey_of("levels", 3, rows_shape, 1, timed);
        assert_int_equal(c.insts, 12 * 13);
        assert_int_equal(c.threads, 12 * 13 * 32);
        assert_int_equal(c.warp_uniform, 12 * 4);
        assert_int_equal(c.block_uniform, 12 * 2);
        assert_int_equal(c.block_affine, 12 * 3);
        assert_int_equal(c.block_unstructured, 12 * 1);
        assert_int_equal(c.grid_uniform + c.grid_affine + c.grid_unstructured, 12 * 4);
        assert_int_equal(c.grid_affine, 12 * 3);
        /* In each block three of four warps follow; DARSIE marks the results that are in registers alone. */
        assert_int_equal(c.follows, 3 * 3 * 6);
        assert_int_equal(c.by_uv, 0);
        assert_true(c.by_darsie >= 3 * 3 * 5 && c.by_darsie <= 3 * 3 * 6);
    }
    /* The second warp has one lane: nothing is the same in the block. */
    struct survey_counts part = survey_of("levels", 3, (const uint32_t[3]){33, 1, 1}, 1, false);
    assert_int_equal(part.block_uniform + part.block_affine + part.block_unstructured, 0);
    assert_int_equal(part.follows, 0);
}

static void memory(void **state) {
    (void)state;
    for (int timed = 0; timed < 2; timed++) {
        struct survey_counts c = survey_of("memory", 1, warp_shape, 1, timed);
        assert_int_equal(c.loads, 2);
        assert_int_equal(c.loads_again, 1);
        assert_int_equal(c.stores, 2);
        assert_int_equal(c.silent, 1);
        assert_int_equal(c.silent_threads, 32 + 1); /* lane 0 adds 0 */
        assert_int_equal(c.addresses, 4);
        assert_int_equal(c.affine_addresses, 4);
        assert_int_equal(c.predicates, 0);
    }
    /* The same offset in the shared memory of another block is another place. */
    struct survey_counts c = survey_of("shared", 3, warp_shape, 1, false);
    assert_int_equal(c.loads, 6);
    assert_int_equal(c.loads_again, 3);
}

static void operands(void **state) {
    (void)state;
    for (int timed = 0; timed < 2; timed++) {
        struct survey_counts c = survey_of("operands", 1, warp_shape, 1, timed);
        assert_int_equal(c.insts, 15);
        assert_int_equal(c.scalar, 3);
        assert_int_equal(c.half, 2);
        assert_int_equal(c.divergent, 3);
        assert_int_equal(c.divergent_scalar, 1);
        assert_int_equal(c.by_gscalar, 6);
        assert_int_equal(c.access_scalar, 8);
        assert_int_equal(c.access_3byte, 14);
        assert_int_equal(c.access_2byte + c.access_1byte + c.access_none, 0);
        assert_int_equal(c.access_divergent, 2);
        assert_int_equal(c.width_1 + c.width_2 + c.width_3 + c.width_4, 24);
        assert_true(c.width_1 >= 20); /* all but addresses */
        assert_int_equal(c.predicates, 1);
        assert_int_equal(c.affine_predicates, 1);
        assert_int_equal(c.affine_addresses, 1);
    }
    struct survey_counts c = survey_of("data", 1, warp_shape, 1, false);
    assert_int_equal(c.addresses, 1); /* the store that no lane carries out is not counted */
    assert_int_equal(c.affine_addresses, 1);
    assert_int_equal(c.predicates, 2);
    assert_int_equal(c.affine_predicates, 0);
    assert_int_equal(c.stores, 0);
}

/* Rounds of a loop repeat each other, near or far. */
static void repeats(void **state) {
    (void)state;
    struct survey_counts few = survey_of("rounds", 1, warp_shape, 8, false);
    assert_int_equal(few.repeat_1k, few.repeat_10k);
    assert_true(few.repeat_1k > 8 && few.repeat_1k < few.insts);
    /* Blocks of other SMs have windows of their own; those of one SM follow each other. */
    struct survey_counts two = survey_of("rounds", 2, warp_shape, 8, false);
    assert_int_equal(two.repeat_10k, 2 * few.repeat_10k);
    struct survey_counts far = survey_of("levels", 400, rows_shape, 1, false);
    assert_true(far.repeat_10k > far.repeat_1k);
    assert_true(far.old >= far.repeat_10k && far.old + far.one_lane <= far.insts);
}

/* ---- against probes and mechanisms ------------------------------------------------------------------- */

static void as_probes_count(void **state) {
    (void)state;
    static const char *const names[] = {"levels", "memory", "operands", "rounds", "data"};
    static const char *const windows[] = {"repeat.window=1000", "repeat.window=10000"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        for (size_t w = 0; w < 2; w++) {
            struct rig r;
            const char *const set[] = {"device.sms=2", windows[w], NULL};
            open_rig(&r, &(struct rp_options){.set = set, .probe = "repeat+redundant", .profile = true});
            launch(&r, names[k], 5, rows_shape, 3);
            struct survey_counts c = total(&r);
            assert_int_equal(rig_counter(&r, "repeat.insts"), c.insts);
            assert_int_equal(rig_counter(&r, "repeat.repeated"), w ? c.repeat_10k : c.repeat_1k);
            assert_int_equal(rig_counter(&r, "redundant.warp"), c.warp_uniform);
            assert_int_equal(rig_counter(&r, "redundant.block.uniform"), c.block_uniform);
            assert_int_equal(rig_counter(&r, "redundant.block.affine"), c.block_affine);
            assert_int_equal(rig_counter(&r, "redundant.block.unstructured"), c.block_unstructured);
            assert_int_equal(rig_counter(&r, "redundant.grid"),
                             c.grid_uniform + c.grid_affine + c.grid_unstructured);
            rig_close(&r);
        }
}

static void as_mechanisms_count(void **state) {
    (void)state;
    static const char *const names[] = {"levels", "operands", "rounds", "data"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        struct survey_counts c = survey_of(names[k], 5, rows_shape, 3, false);
        struct rig r;
        open_rig(&r, &(struct rp_options){.mech = "gscalar"});
        launch(&r, names[k], 5, rows_shape, 3);
        assert_int_equal(rig_counter(&r, "gscalar.divergent"), c.divergent);
        assert_int_equal(rig_counter(&r, "gscalar.divergent.equal"), c.divergent_scalar);
        rig_close(&r);
        open_rig(&r, &(struct rp_options){.mech = "dac"});
        launch(&r, names[k], 5, rows_shape, 3);
        uint64_t insts = rig_counter(&r, "dac.static.insts"), affine = rig_counter(&r, "dac.static.affine");
        rig_close(&r);
        open_rig(&r, &(struct rp_options){.functional = true, .profile = true});
        launch(&r, names[k], 5, rows_shape, 3);
        const struct survey_code *code = survey_code(r.g->survey, 0);
        assert_int_equal(insts, 2 * code->affine.insts); /* each of two SMs counts the kernel */
        assert_int_equal(affine, 2 * code->affine.operands);
        rig_close(&r);
    }
}

/* Cycles, results and counters are the same with a survey and without. */
static void only_watches(void **state) {
    (void)state;
    for (int with = 0; with < 2; with++) {
        static uint64_t cycles, sum;
        struct rig r;
        open_rig(&r, &(struct rp_options){.profile = with});
        launch(&r, "rounds", 5, rows_shape, 3);
        uint64_t got = 0;
        const uint32_t *words = (const uint32_t *)rp_mem_ptr(r.g, r.buffer, RIG_BYTES) + 1024;
        for (uint32_t i = 0; i < 128; i++)
            got = got * 31 + words[i];
        if (with) {
            assert_int_equal(rp_totals(r.g).cycles, cycles);
            assert_int_equal(got, sum);
        }
        cycles = rp_totals(r.g).cycles;
        sum = got;
        rig_close(&r);
    }
}

/* ---- groups of instances ----------------------------------------------------------------------------- */

static void groups(void **state) {
    (void)state;
    const struct group_instance a = {7, 0, true}, b = {8, 0, true}, part = {7, 0, false};
    struct group_ring r = {0};
    /* Two of three, then the third: complete; one that differs is not. */
    assert_false(group_ring_add(&r, 0, &a, 3).follows);
    assert_true(group_ring_add(&r, 0, &a, 3).follows);
    assert_true(group_ring_add(&r, 0, &a, 3).complete);
    assert_int_equal(r.n, 0);
    group_ring_add(&r, 1, &a, 3);
    assert_false(group_ring_add(&r, 1, &b, 3).follows);
    assert_false(group_ring_add(&r, 1, &a, 3).complete);
    group_ring_add(&r, 2, &a, 3);
    assert_false(group_ring_add(&r, 2, &part, 3).follows);
    /* One warp far ahead: what it leaves behind is forgotten, and is no group when others come to it. */
    group_ring_reset(&r);
    for (uint32_t n = 0; n < GROUP_BEHIND + 10; n++)
        group_ring_add(&r, n, &a, 2);
    assert_int_equal(r.n, GROUP_BEHIND);
    assert_false(group_ring_add(&r, 9, &a, 2).complete);
    assert_true(group_ring_add(&r, 10, &a, 2).complete);
    assert_true(group_ring_add(&r, GROUP_BEHIND + 9, &a, 2).complete);
    group_ring_free(&r);
    struct group_list l = {0};
    uint64_t room = 1;
    assert_true(group_list_add(&l, 0, &a, &room));
    assert_false(group_list_add(&l, 1, &a, &room));
    assert_true(group_list_add(&l, 0, &a, &room));
    group_list_free(&l);
}

/* ---- reasons and lines ------------------------------------------------------------------------------- */

static const char placed[] =
    HEAD ".file 1 \"no such\\\\file <\\\"&>.cu\"\n"
         ".visible .entry k" PARAMS "{ .reg .b32 %r<8>; .reg .b64 %l<4>;\n"
         ".loc 1 10 0\n"
         "ld.param.u64 %l0, [buffer]; ld.param.u32 %r5, [n];\n"
         ".loc 1 11 2\n"
         "mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x;\n"
         ".loc 1 12 4, function_name $L, inlined_at 1 20 3\n"
         ".loc 1 13 4, function_name $L, inlined_at 1 12 4\n"
         "mul.lo.u32 %r2, %r1, %r5;\n"
         ".loc 1 0 4\n"
         "add.u32 %r3, %r2, 5;\n"
         ".loc 1 21 1\n"
         "mul.wide.u32 %l1, %r0, 4; add.u64 %l1, %l1, %l0;\n"
         "ld.global.u32 %r4, [%l1]; add.u32 %r4, %r4, %r3; st.global.u32 [%l1], %r4;\n"
         "exit; }\n";

static json_t *find_line(json_t *profile, uint32_t line) {
    json_t *lines = json_object_get(json_array_get(json_object_get(profile, "kernels"), 0), "lines"), *l;
    size_t i;
    json_array_foreach(lines, i, l) if (json_integer_value(json_object_get(l, "line")) == line) return l;
    return NULL;
}

static void lines_and_reasons(void **state) {
    (void)state;
    char path[] = "/tmp/survey.XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    struct rig r;
    rig_open_options(&r, &(struct rp_options){.gpu = "gtx480", .functional = true, .profile = true}, placed);
    launch(&r, "k", 3, rows_shape, 4);
    assert_true(gpu_profile_write(r.g, NULL, path));
    rig_close(&r);
    json_t *profile = json_load_file(path, 0, NULL), *l = find_line(profile, 13);
    unlink(path);
    assert_non_null(l);
    /* Line 0 stays with the one before; the calls are told from the innermost on. */
    assert_int_equal(json_integer_value(json_object_get(l, "insts")), 1); /* IMAD does both */
    json_t *via = json_object_get(l, "inlined_at");
    assert_int_equal(json_array_size(via), 2);
    assert_int_equal(json_integer_value(json_object_get(json_array_get(via, 0), "line")), 12);
    assert_int_equal(json_integer_value(json_object_get(json_array_get(via, 1), "line")), 20);
    assert_string_equal(json_string_value(json_object_get(l, "file")), "no such\\\\file <\\\"&>.cu");
    assert_string_equal(json_string_value(json_object_get(l, "reason")),
                        "same in every thread of the block: depends on blockIdx.x and parameters only");
    json_t *mechs = json_object_get(l, "mechanisms"), *m;
    size_t i;
    bool darsie = false;
    json_array_foreach(mechs, i, m) darsie |= !strcmp(json_string_value(m), "darsie");
    assert_true(darsie);
    assert_null(json_object_get(find_line(profile, 11), "inlined_at"));
    json_decref(profile);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels),
        cmocka_unit_test(memory),
        cmocka_unit_test(operands),
        cmocka_unit_test(repeats),
        cmocka_unit_test(groups),
        cmocka_unit_test(as_probes_count),
        cmocka_unit_test(only_watches),
        cmocka_unit_test(as_mechanisms_count),
        cmocka_unit_test(lines_and_reasons),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
