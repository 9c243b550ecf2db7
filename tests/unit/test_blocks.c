/* Functional runs whose blocks are executed at the same time: what a launch leaves is what it leaves when
 * they run one by one. */
#include "gpu/blocks.h"
#include "timing_rig.h"

static const uint32_t counts[] = {2, 3, 16}; /* of threads */
enum { COUNTS = sizeof counts / sizeof *counts };

struct launch {
    const char *kernel;
    uint32_t grid, block;
    struct rig_params p;
    uint32_t settled; /* blocks that must have run at the same time as others, at least */
};

/* What a launch left. */
struct outcome {
    uint64_t insts, threads;
    enum rp_status status;
    char *report;
    uint8_t *memory;
};

static struct outcome run(struct rig *r, const struct launch *l) {
    struct outcome o = {.memory = malloc(RIG_BYTES)};
    struct rp_totals before = rp_totals(r->g);
    rig_zero(r);
    o.status = rig_try(r, l->kernel, l->grid, l->block, 0, l->p, &o.report);
    o.insts = rp_totals(r->g).warp_insts - before.warp_insts;
    o.threads = rp_totals(r->g).thread_insts - before.thread_insts;
    memcpy(o.memory, (const void *)(uintptr_t)r->buffer, RIG_BYTES);
    return o;
}

static void forget(struct outcome *o) {
    free(o->memory);
    free(o->report);
}

static void open_rig(struct rig *r, const char *file, uint32_t threads) {
    char *text = rig_file(file);
    rig_open_options(r, &(struct rp_options){.gpu = "gtx480", .functional = true, .threads = threads}, text);
    free(text);
}

static void compare(const char *file, const struct launch *l, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t t = 0; t < COUNTS; t++) {
            struct rig r;
            open_rig(&r, file, 1);
            struct outcome want = run(&r, &l[i]);
            assert_null(r.g->blocks);
            rig_close(&r);
            open_rig(&r, file, counts[t]);
            for (uint32_t again = 0; again < 2; again++) {
                struct outcome o = run(&r, &l[i]);
                assert_int_equal(o.status, want.status);
                assert_int_equal(o.insts, want.insts);
                assert_int_equal(o.threads, want.threads);
                assert_memory_equal(o.memory, want.memory, RIG_BYTES);
                assert_true(!o.report == !want.report);
                if (o.report)
                    assert_string_equal(o.report, want.report);
                forget(&o);
                if (want.status != RP_OK)
                    break;
            }
            uint64_t settled = r.g->blocks ? r.g->blocks->settled : 0;
            assert_true(settled >= l[i].settled && (l[i].settled || settled < l[i].grid));
            forget(&want);
            rig_close(&r);
        }
}

/* Blocks that leave each other alone, and such that add to what nobody reads, all run so. */
static void independent_blocks_are_the_same(void **state) {
    (void)state;
    static const struct launch l[] = {
        {"alone", 300, 64, {0, 9, 0}, 600},   {"alone", 128, 33, {0, 3, 0}, 1},
        {"alone", 127, 64, {0, 9, 0}, 0},     {"sums", 200, 96, {0, 0, 0}, 400},
        {"again", 200, 64, {0, 0, 999}, 400},
    };
    compare("blocks.ptx", l, sizeof l / sizeof *l);
}

/* Those that read what others write, draw tickets or read their own words again run one by one. */
static void dependent_blocks_are_the_same(void **state) {
    (void)state;
    static const struct launch l[] = {
        {"chain", 200, 64, {0, 0, 64}, 1},   {"chain", 200, 64, {0, 0, 7}, 1},
        {"chain", 300, 64, {0, 0, 4000}, 1}, {"sums", 200, 96, {0, 0, 1}, 0},
        {"again", 200, 64, {0, 1, 999}, 0},
    };
    compare("blocks.ptx", l, sizeof l / sizeof *l);
}

/* The first block with a fault ends the launch, and has what the others left. */
static void faults_are_the_same(void **state) {
    (void)state;
    static const struct launch l[] = {{"again", 300, 64, {0, 0, 77}, 64},
                                      {"again", 300, 64, {0, 0, 0}, 0},
                                      {"again", 300, 64, {0, 0, 299}, 288}};
    compare("blocks.ptx", l, sizeof l / sizeof *l);
}

/* Kernels that were written to race, to wait and to diverge. */
static void others_are_the_same(void **state) {
    (void)state;
    static const struct launch mixed[] = {{"reduce", 130, 33, {0}, 1}, {"diverge", 140, 77, {0}, 1}};
    compare("mixed.ptx", mixed, 2);
    static const struct launch races[] = {{"race", 160, 96, {0, 10, 1}, 0},
                                          {"mixed", 145, 64, {0, 30, 0}, 0}};
    compare("races.ptx", races, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(independent_blocks_are_the_same),
        cmocka_unit_test(dependent_blocks_are_the_same),
        cmocka_unit_test(faults_are_the_same),
        cmocka_unit_test(others_are_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
