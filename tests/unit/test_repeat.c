/* Repeated computations, counted by hand; and the probe that counts them changes nothing else. */
#include <stdio.h>
#include <unistd.h>

#include "profile/spans.h"
#include "profile/window.h"
#include "report/trace.h"
#include "timing_rig.h"

/* ---- windows ---- */

/* Steps that are nothing, between two of one key. */
static struct window_seen after(struct window *w, uint32_t between) {
    window_step(w, 77);
    for (uint32_t i = 0; i < between; i++)
        window_step(w, WINDOW_NOTHING);
    return window_step(w, 77);
}

static void edge_of_the_window(void **state) {
    (void)state;
    for (uint32_t distance = 999; distance <= 1001; distance++) {
        struct window w;
        window_init(&w, 1000);
        struct window_seen seen = after(&w, distance - 1);
        assert_int_equal(seen.recent, distance <= 1000);
        assert_int_equal(seen.in_block, distance <= 999); /* the block is the first 1000 steps */
        window_free(&w);
    }
}

/* Blocks begin anew, however near the last appearance is. */
static void edge_of_the_block(void **state) {
    (void)state;
    struct window w;
    window_init(&w, 4);
    static const uint32_t in_block[] = {0, 1, 2, 3, 0, 1, 2, 3, 0}, recent[] = {0, 1, 2, 3, 4, 4, 4, 4, 4};
    for (uint32_t i = 0; i < 9; i++) {
        struct window_seen seen = window_step(&w, 5);
        assert_int_equal(seen.in_block, in_block[i]);
        assert_int_equal(seen.recent, recent[i]);
    }
    window_free(&w);
}

/* Against counting one by one, with keys that crowd in a few slots of the table and wrap around its end. */
static void counts_as_the_naive_way_does(void **state) {
    (void)state;
    enum { STEPS = 3000 };
    static uint64_t keys[STEPS];
    static const uint32_t sizes[] = {1, 2, 3, 7, 64, 1000};
    for (uint32_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        uint32_t size = sizes[s];
        uint64_t x = 12345 + s;
        struct window w;
        window_init(&w, size);
        for (uint32_t i = 0; i < STEPS; i++) {
            x = x * UINT64_C(6364136223846793005) + 1442695040888963407u;
            uint32_t pick = (uint32_t)(x >> 40) % (i / 500 * 40 + 3);
            keys[i] = pick ? ((uint64_t)pick << 32) - pick % 5 : WINDOW_NOTHING;
            struct window_seen want = {0}, seen = window_step(&w, keys[i]);
            for (uint32_t k = i > size ? i - size : 0; keys[i] != WINDOW_NOTHING && k < i; k++) {
                want.recent += keys[k] == keys[i];
                want.in_block += keys[k] == keys[i] && k / size == i / size;
            }
            assert_int_equal(seen.recent, want.recent);
            assert_int_equal(seen.in_block, want.in_block);
        }
        window_free(&w);
    }
}

/* Spans say what two windows say of their blocks, where the longer block is so many of the shorter. Keys
 * crowd in a few slots; many are new in every long span, so that the table is as full as it gets. */
static void spans_are_blocks_of_two_windows(void **state) {
    (void)state;
    static const uint32_t sizes[][2] = {{1, 1}, {1, 7}, {5, 3}, {64, 1}, {100, 10}, {1000, 10}};
    for (uint32_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        uint32_t size = sizes[k][0], times = sizes[k][1];
        uint64_t x = 777 + k;
        struct window brief, lengthy;
        struct spans *s = spans_create(2, size, times);
        window_init(&brief, size);
        window_init(&lengthy, size * times);
        for (uint32_t i = 0; i < 40000; i++) {
            x = x * UINT64_C(6364136223846793005) + 1442695040888963407u;
            uint32_t pick = (uint32_t)(x >> 40) % (i / 5000 * 4000 + 3);
            uint64_t key = pick ? ((uint64_t)pick << 32) - pick % 5 : WINDOW_NOTHING;
            bool in_short = window_step(&brief, key).in_block, in_long = window_step(&lengthy, key).in_block;
            struct spans_seen seen = {0};
            if (key == WINDOW_NOTHING)
                spans_pass(s);
            else
                seen = spans_step(s, key);
            assert_int_equal(seen.in_short, in_short);
            assert_int_equal(seen.in_long, in_long);
        }
        window_free(&brief);
        window_free(&lengthy);
        assert_false(spans_step(s + 1, 1).in_long); /* another, which knows nothing of it */
        spans_destroy(s);
    }
}

/* ---- kernels ---- */

#define KERNEL(name, ...)                                                                                    \
    ".visible .entry " name "(.param .u64 buffer, .param .u32 n, .param .u32 x) {\n"                         \
    "  .reg .b32 %r<12>; .reg .b64 %l<4>; .reg .pred %p<4>;\n"                                               \
    "  ld.param.u64 %l0, [buffer]; ld.param.u32 %r1, [n]; ld.param.u32 %r2, [x]; mov.u32 %r3, 0;\n"          \
    "LOOP_" name ":\n" __VA_ARGS__ "  add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, %r1; @%p1 bra LOOP_" name   \
    "; ret; }\n"

/* In machine code: three moves (both halves of the buffer's address, the counter's 0), the loop, EXIT. The
 * loop ends with IADD and ISETP, which differ each time, and a branch. */
static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
    /* LD, IADD, IMUL do the same each time; ST. */
    KERNEL("same", "  ld.volatile.global.u32 %r4, [%l0]; add.u32 %r5, %r4, %r2; mul.lo.u32 %r6, %r5, 77;\n"
                   "  st.global.u32 [%l0+128], %r6;\n")
    /* IMUL of the counter; ST. */
    KERNEL("changing", "  mul.lo.u32 %r5, %r3, %r2; st.global.u32 [%l0], %r5;\n")
    /* ST and LD of one address: the counter. */
    KERNEL("reload", "  st.volatile.global.u32 [%l0], %r3; ld.volatile.global.u32 %r5, [%l0];\n")
    /* RED, ATOM, which are like stores, and BAR. */
    KERNEL("effects", "  red.global.add.u32 [%l0], %r3; atom.global.exch.b32 %r5, [%l0+4], %r3;\n"
                      "  st.global.u32 [%l0+8], %r5; bar.sync 0;\n")
    /* S2R and SHL of the lane's number, IADD, ST. */
    KERNEL("lanes", "  mov.u32 %r4, %laneid; shl.b32 %r5, %r4, 2; add.u32 %r6, %r5, %r2;\n"
                    "  st.volatile.global.u32 [%l0], %r6;\n")
    /* S2R, ISETP, SEL: lanes from 16 on have the counter where others have x; these alone add. */
    KERNEL("guarded", "  mov.u32 %r4, %laneid; setp.lt.u32 %p2, %r4, 16; selp.b32 %r5, %r2, %r3, %p2;\n"
                      "  @%p2 add.u32 %r5, %r5, 3; st.volatile.global.u32 [%l0], %r5;\n");

struct counts {
    uint64_t insts, excluded, repeated, often, recent, recent_often;
};

static struct counts read_counts(const struct rig *r) {
    return (struct counts){rig_counter(r, "repeat.insts"),
                           rig_counter(r, "repeat.excluded"),
                           rig_counter(r, "repeat.repeated"),
                           rig_counter(r, "repeat.more_than_10"),
                           rig_counter(r, "repeat.sliding.repeated"),
                           rig_counter(r, "repeat.sliding.more_than_10")};
}

static void expect(struct counts got, struct counts want) {
    assert_int_equal(got.insts, want.insts);
    assert_int_equal(got.excluded, want.excluded);
    assert_int_equal(got.repeated, want.repeated);
    assert_int_equal(got.often, want.often);
    assert_int_equal(got.recent, want.recent);
    assert_int_equal(got.recent_often, want.recent_often);
}

static void open_probed(struct rig *r, const char *window, const char *sms) {
    const char *set[] = {window, sms, NULL};
    rig_open_options(r, &(struct rp_options){.gpu = "gtx480", .set = set, .probe = "repeat"}, ptx);
    rig_zero(r); /* some results are counted by hand from what is loaded */
}

/* One warp of a fresh GPU. */
static struct counts count(const char *kernel, uint32_t n, uint32_t x, const char *window) {
    struct rig r;
    open_probed(&r, window, "device.sms=2");
    rig_run(&r, kernel, 1, 32, (struct rig_params){.n = n, .x = x});
    struct counts c = read_counts(&r);
    assert_int_equal(c.insts, rig_counter(&r, "sm.insts.warp"));
    rig_close(&r);
    return c;
}

enum { ODD = 1000003 }; /* no counter comes near it */

static void by_hand(void **state) {
    (void)state;
    const char *k1 = "repeat.window=1000";
    /* Three of seven repeat from the second time on; an eleventh appearance makes all eleven frequent. */
    expect(count("same", 10, ODD, k1), (struct counts){3 + 70 + 1, 20 + 1, 27, 0, 27, 0});
    expect(count("same", 11, ODD, k1), (struct counts){3 + 77 + 1, 22 + 1, 30, 33, 30, 3});
    /* 0 + 1 is the sum, and the counter's first step: values count, not who holds them. */
    expect(count("same", 10, 1, k1), (struct counts){3 + 70 + 1, 20 + 1, 28, 11, 28, 1});
    expect(count("changing", 50, ODD, k1), (struct counts){3 + 250 + 1, 100 + 1, 0, 0, 0, 0});
    /* The address is the same, what lies there is not. */
    expect(count("reload", 50, 0, k1), (struct counts){3 + 250 + 1, 100 + 1, 0, 0, 0, 0});
    expect(count("effects", 50, 0, k1), (struct counts){3 + 350 + 1, 250 + 1, 0, 0, 0, 0});
    expect(count("lanes", 10, ODD, k1), (struct counts){3 + 70 + 1, 20 + 1, 27, 0, 27, 0});
    /* S2R, ISETP and the guarded IADD; SEL and what follows it differ. */
    expect(count("guarded", 10, ODD, k1), (struct counts){3 + 80 + 1, 20 + 1, 27, 0, 27, 0});
}

/* What comes again comes seven instructions later. */
static void edges(void **state) {
    (void)state;
    expect(count("same", 11, ODD, "repeat.window=7"), (struct counts){81, 23, 0, 0, 30, 0});
    expect(count("same", 11, ODD, "repeat.window=6"), (struct counts){81, 23, 0, 0, 0, 0});
    /* Windows of 14: in each of the first five the three come twice, in the last, of 11, once. */
    expect(count("same", 11, ODD, "repeat.window=14"), (struct counts){81, 23, 15, 0, 30, 0});
    /* Ten appearances are among the 70 instructions before the eleventh, and nine among 69. */
    expect(count("same", 11, ODD, "repeat.window=70"), (struct counts){81, 23, 27, 0, 30, 3});
    expect(count("same", 11, ODD, "repeat.window=69"), (struct counts){81, 23, 27, 0, 30, 0});
}

/* Each SM looks at its own instructions, of all its warps and blocks, and does not forget them between
 * launches. */
static void each_sm_for_itself(void **state) {
    (void)state;
    struct rig r;
    struct rig_params p = {.n = 1, .x = ODD};
    enum { INSTS = 11, EXCLUDED = 3 };
    open_probed(&r, "repeat.window=1000", "device.sms=2");
    rig_run(&r, "same", 2, 32, p);
    expect(read_counts(&r), (struct counts){2 * INSTS, 2 * EXCLUDED, 0, 0, 0, 0});
    rig_run(&r, "same", 2, 32, p);
    uint64_t again = 2 * (INSTS - EXCLUDED);
    expect(read_counts(&r), (struct counts){2 * INSTS, 2 * EXCLUDED, again, 0, again, 0});
    rig_close(&r);
    open_probed(&r, "repeat.window=1000", "device.sms=1");
    rig_run(&r, "same", 2, 32, p);
    again = INSTS - EXCLUDED;
    expect(read_counts(&r), (struct counts){2 * INSTS, 2 * EXCLUDED, again, 0, again, 0});
    rig_close(&r);
    /* Half a warp does something else than a whole one. */
    open_probed(&r, "repeat.window=1000", "device.sms=1");
    rig_run(&r, "same", 1, 48, p);
    expect(read_counts(&r), (struct counts){2 * INSTS, 2 * EXCLUDED, 0, 0, 0, 0});
    rig_close(&r);
}

/* ---- only watching ---- */

struct outcome {
    uint64_t cycles[5], counters[5][RIG_COUNTERS];
    uint32_t n[5];
    uint8_t memory[65536];
};

/* Launches with barriers, atomics, divergence, shuffles and a lock. probe and trace: NULL for none. */
static struct outcome *run_set(const char *mech, const char *probe, const char *trace) {
    static const struct {
        const char *kernel;
        uint32_t grid, block;
    } set[] = {
        {"reduce", 40, 200}, {"atomics", 7, 45}, {"diverge", 33, 77}, {"produce", 40, 64}, {"lock", 2, 40},
    };
    struct outcome *o = calloc(1, sizeof *o);
    char *text = rig_file("mixed.ptx"), *log = NULL;
    struct rig r;
    rig_open_options(&r, &(struct rp_options){.gpu = "wir", .mech = mech, .probe = probe}, text);
    rig_zero(&r);
    struct rp_trace what = {.path = trace, .last = UINT64_MAX, .last_sm = UINT64_MAX};
    struct trace *t = trace ? trace_open(r.g, &what, &log) : NULL;
    for (uint32_t i = 0; i < 5; i++) {
        o->cycles[i] =
            rig_run(&r, set[i].kernel, set[i].grid, set[i].block, (struct rig_params){r.buffer, 0, 0});
        o->n[i] = rig_counters(&r, o->counters[i]);
    }
    memcpy(o->memory, (const void *)(uintptr_t)r.buffer, sizeof o->memory);
    assert_true(trace_close(t, &log));
    free(log);
    rig_close(&r);
    free(text);
    return o;
}

/* The same launches: counters of b that a has, too, are equal. */
static void expect_same(const struct outcome *a, const struct outcome *b) {
    assert_memory_equal(a->cycles, b->cycles, sizeof a->cycles);
    assert_memory_equal(a->memory, b->memory, sizeof a->memory);
    for (uint32_t i = 0; i < 5; i++)
        assert_memory_equal(a->counters[i], b->counters[i], a->n[i] * sizeof a->counters[i][0]);
}

static void changes_nothing(void **state) {
    (void)state;
    static const char *const mechs[] = {NULL, "wir"};
    char path[64];
    snprintf(path, sizeof path, "/tmp/reprise_repeat_%d.kanata", (int)getpid());
    for (int m = 0; m < 2; m++) {
        struct outcome *plain = run_set(mechs[m], NULL, NULL), *probed = run_set(mechs[m], "repeat", NULL),
                       *both = run_set(mechs[m], "repeat", path);
        assert_true(probed->n[0] > plain->n[0]);
        expect_same(plain, probed);
        expect_same(probed, both); /* also: the same again, the probe's own counters included */
        assert_int_equal(probed->n[0], both->n[0]);
        free(plain);
        free(probed);
        free(both);
        remove(path);
    }
}

static void names(void **state) {
    (void)state;
    struct profile_set s;
    struct diag d = {0};
    assert_true(profile_select(&s, NULL, &d) && !s.n);
    assert_true(profile_select(&s, "repeat", &d) && s.n == 1);
    assert_false(profile_select(&s, "repaet", &d));
    assert_non_null(strstr(str_text(&d.text), "known are oldest, repeat"));
    assert_false(profile_select(&s, "repeat+repeat", &d));
    assert_non_null(strstr(str_text(&d.text), "named twice"));
    assert_false(profile_select(&s, "repeat+", &d));
    diag_free(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edge_of_the_window),
        cmocka_unit_test(edge_of_the_block),
        cmocka_unit_test(counts_as_the_naive_way_does),
        cmocka_unit_test(spans_are_blocks_of_two_windows),
        cmocka_unit_test(by_hand),
        cmocka_unit_test(edges),
        cmocka_unit_test(each_sm_for_itself),
        cmocka_unit_test(changes_nothing),
        cmocka_unit_test(names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
