/* Loads that must not give an old value (tests/hazards/loads.ptx): timed runs, without and with each
 * mechanism, leave the memory that a functional run leaves, launch by launch. One SM, so that blocks meet in
 * its buffers. */
#include <stdio.h>

#include "timing_rig.h"

enum { WORDS = 65536, LAUNCHES = 3 };

/* A hazard: launches in a row on the same buffer. */
static const struct hazard {
    struct {
        const char *kernel;
        uint32_t grid, block, x;
    } launch[LAUNCHES];
} hazards[] = {
    {{{"own_store", 2, 64, 1}}},
    {{{"own_store_wide", 2, 64, 1}}},
    {{{"neighbour", 1, 64, 3}}},
    {{{"neighbour_shared", 4, 64, 3}}},
    {{{"equal_barriers", 2, 64, 500}}},
    {{{"equal_fences", 2, 32, 500}}},
    {{{"message", 3, 32, 500}}},
    {{{"message_unfenced", 3, 32, 500}}},
    {{{"last_block", 32, 64, 5000}}},
    {{{"atomics", 2, 128, 9}}},
    {{{"turns", 1, 256, 4}}},
    {{{"slot", 40, 64, 0}}},
    {{{"saturate", 2, 64, 3}}},
    {{{"local", 3, 96, 1}}},
    {{{"generic", 1, 128, 7}}},
    {{{"unordered", 1, 256, 500}}},
    {{{"arrive", 1, 64, 500}}},
    {{{"later_store", 1, 256, 500}}},
    {{{"async_copy", 2, 128, 0}}},
    {{{"parameter", 2, 64, 1}, {"parameter", 2, 64, 2}, {"parameter", 2, 64, 3}}},
    {{{"read", 2, 64, 0}, {"write", 1, 32, 70}, {"read", 2, 64, 0}}},
};
enum { HAZARDS = sizeof hazards / sizeof *hazards };

static const char *const lrr[] = {"device.sms=1", "issue.policy=lrr", NULL};
static const char *const gto[] = {"device.sms=1", "issue.policy=gto", NULL};
static const char *const small[] = {"device.sms=1", "wir.rb_entries=32", "wir.vsb_entries=16", NULL};
static const char *const paper[] = {"device.sms=1", "wir.load_rule=paper", NULL};

/* The machines that are tried. */
static const struct {
    const char *gpu, *mech;
    const char *const *set;
} machines[] = {
    {"gtx480", "base", lrr}, {"gtx480", "base", gto},   {"wir", "base", gto},      {"wir", "wir", gto},
    {"wir", "wir", lrr},     {"wir", "wir", small},     {"wir", "wir-rl", gto},    {"wir", "wir-rlp", lrr},
    {"wir", "wir-r", gto},   {"wir", "wir-rpv", lrr},   {"wir", "wir-rlpvc", gto}, {"wir", "wir-novsb", gto},
    {"gtx480", "wir", lrr},  {"gtx1080ti", "wir", gto},
};

/* Runs launch l of a hazard; the first one finds word i = i. Returns the memory it leaves. */
static const uint32_t *run(struct rig *r, const struct hazard *h, uint32_t l) {
    uint32_t *word = (uint32_t *)(uintptr_t)r->buffer;
    for (uint32_t i = 0; !l && i < WORDS; i++)
        word[i] = i;
    struct rig_params p = {.n = 100 + l, .x = h->launch[l].x};
    rig_run(r, h->launch[l].kernel, h->launch[l].grid, h->launch[l].block, p);
    return word;
}

static void expect_same(const struct hazard *h, uint32_t l, const uint32_t *got, const uint32_t *want) {
    for (uint32_t i = 0; i < WORDS; i++)
        if (got[i] != want[i])
            fail_msg("%s, launch %u: word %u is %u, must be %u", h->launch[l].kernel, l, i, got[i], want[i]);
}

static uint32_t want[HAZARDS][LAUNCHES][WORDS];

static void test_hazards(void **state) {
    (void)state;
    struct rig r;
    char *text = rig_file("../hazards/loads.ptx");
    rig_open(&r, "gtx480", NULL, true, text);
    for (uint32_t h = 0; h < HAZARDS; h++)
        for (uint32_t l = 0; l < LAUNCHES && hazards[h].launch[l].kernel; l++) {
            memcpy(want[h][l], run(&r, &hazards[h], l), sizeof want[h][l]);
            assert_int_not_equal(want[h][l][WORDS / 2], WORDS / 2); /* the first thread's result is there */
        }
    rig_close(&r);
    for (size_t m = 0; m < sizeof machines / sizeof *machines; m++) {
        const struct rp_options o = {
            .gpu = machines[m].gpu, .mech = machines[m].mech, .set = machines[m].set, .check = true};
        rig_open_options(&r, &o, text);
        for (uint32_t h = 0; h < HAZARDS; h++)
            for (uint32_t l = 0; l < LAUNCHES && hazards[h].launch[l].kernel; l++)
                expect_same(&hazards[h], l, run(&r, &hazards[h], l), want[h][l]);
        rig_close(&r);
    }
    free(text);
}

/* The paper's rule gives old values where ours does not, and --check sees it. */
static void test_paper_rule(void **state) {
    (void)state;
    struct rig r;
    char *text = rig_file("../hazards/loads.ptx");
    rig_open_options(&r, &(struct rp_options){.gpu = "wir", .mech = "wir", .set = paper, .check = true},
                     text);
    uint32_t differ = 0;
    for (uint32_t h = 0; h < HAZARDS; h++)
        for (uint32_t l = 0; l < LAUNCHES && hazards[h].launch[l].kernel; l++) {
            bool wrong = memcmp(run(&r, &hazards[h], l), want[h][l], sizeof want[h][l]) != 0;
            differ += wrong;
            if (wrong)
                assert_true(rig_counter(&r, "check.wrong") > 0);
        }
    assert_true(differ > 0);
    rig_close(&r);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_hazards), cmocka_unit_test(test_paper_rule)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
