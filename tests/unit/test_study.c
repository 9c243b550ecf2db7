/* Plans and keys: what texts mean, what tells runs apart. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/io.h"
#include "study/command.h"
#include "study/key.h"
#include "study/plan.h"

static char folder[PATH_MAX];

static int make_folder(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/reprise-test-XXXXXX");
    return !mkdtemp(folder);
}

static int remove_folder(void **state) {
    (void)state;
    return rmdir(folder);
}

/* ---- commands ---- */

/* A text becomes words as a shell makes them, and what command_quote wrote the words it was given. */
static void texts_become_words(void **state) {
    (void)state;
    static const struct {
        const char *text;
        char *words[5], *input;
    } cases[] = {
        {"./a", {"./a"}, NULL},
        {"  ./a\t64\n 7 ", {"./a", "64", "7"}, NULL},
        {"'a b' \"c 'd'\" e\\ f", {"a b", "c 'd'", "e f"}, NULL},
        {"a '' \"\"", {"a", "", ""}, NULL},
        {"a\"b c\"'d'", {"ab cd"}, NULL},
        {"'\\a' \"\\a\\\"\" $HOME *", {"\\a", "\\a\"", "$HOME", "*"}, NULL},
        {"./a 1 < 'b c' 2", {"./a", "1", "2"}, "b c"},
        {"<b ./a '<c>' d<e", {"./a", "<c>", "d<e"}, "b"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct command c = {0}, again = {0};
        struct str quoted = {0};
        assert_true(command_split(&c, cases[i].text));
        command_quote(&quoted, c.words.at);
        assert_true(command_split(&again, quoted.at));
        uint32_t n = 0;
        for (; cases[i].words[n]; n++) {
            assert_string_equal(c.words.at[n], cases[i].words[n]);
            assert_string_equal(again.words.at[n], cases[i].words[n]);
        }
        assert_null(c.words.at[n]);
        assert_null(again.words.at[n]);
        assert_string_equal(c.input ? c.input : "", cases[i].input ? cases[i].input : "");
        assert_null(again.input);
        command_free(&c);
        command_free(&again);
        str_free(&quoted);
    }
    static const char *const wrong[] = {"", "  ", "a 'b", "a \"b\\\"", "a <", "a < b <c", "<b", "a < 'b"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct command c = {0};
        assert_false(command_split(&c, wrong[i]));
        command_free(&c);
    }
}

/* ---- plans ---- */

static void benchmarks_from_texts(void **state) {
    (void)state;
    struct plan p = {.size = SIZE_SMALL, .bits = 64};
    static char *program[] = {"/some/where/prog", "7", NULL};
    assert_true(plan_add_bench(&p, "hotspot"));
    assert_true(plan_add_bench(&p, "nw:size=tiny:bits=32:seed=7:penalty=3"));
    assert_true(plan_add_bench(&p, "hotspot"));
    assert_true(plan_add_bench(&p, "hotspot:seed=2"));
    plan_add_program(&p, program);
    plan_add_rows(&p);
    assert_true(plan_complete(&p));
    const struct bench *b = p.table.benches.at;
    assert_int_equal(p.table.benches.len, 4);
    assert_string_equal(b[0].label, "hotspot");
    assert_int_equal(b[0].size, SIZE_SMALL);
    assert_int_equal(b[0].bits, 64);
    assert_int_equal(b[0].arguments.len, 0);
    assert_string_equal(b[1].workload->name, "nw");
    assert_int_equal(b[1].size, SIZE_TINY);
    assert_int_equal(b[1].bits, 32);
    static const char *const words[] = {"--seed", "7", "--set", "penalty=3"};
    assert_int_equal(b[1].arguments.len, 4);
    for (int i = 0; i < 4; i++)
        assert_string_equal(b[1].arguments.at[i], words[i]);
    assert_string_equal(b[2].label, "hotspot:seed=2");
    assert_string_equal(b[3].label, "prog");
    assert_ptr_equal(b[3].program, program);
    plan_free(&p);
    static const char *const wrong[] = {"hotspto", "nw:size=huge", "nw:bits=16",
                                        "nw:seed", "nw:=3",        "nw:seed="};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct plan q = {0};
        if (plan_add_bench(&q, wrong[i]))
            fail_msg("%s is a benchmark", wrong[i]);
        plan_free(&q);
    }
}

static void suites_take_the_items_of_their_text(void **state) {
    (void)state;
    struct plan p = {0};
    assert_true(plan_add_bench(&p, "dozen:size=tiny"));
    assert_int_equal(p.table.benches.len, 12);
    assert_string_equal(p.table.benches.at[0].label, "backprop:size=tiny");
    assert_int_equal(p.table.benches.at[11].size, SIZE_TINY);
    plan_free(&p);
}

/* Every GPU has a base machine, which stands before what is compared with it. */
static void models_have_a_base_on_their_gpu(void **state) {
    (void)state;
    static const char *const texts[] = {"wir", "base", "wir:gpu=gtx480:wir.rb_entries=32:repeat",
                                        "base:gpu=wir", "base:sm.warps=8"};
    static const char *const labels[] = {
        "base",           "wir", "base:gpu=gtx480", "wir:gpu=gtx480:wir.rb_entries=32:repeat", "base:gpu=wir",
        "base:sm.warps=8"};
    static const uint32_t bases[] = {0, 0, 2, 2, 4, 0};
    struct plan p = {0};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_true(plan_add_model(&p, texts[i], texts[i]));
    assert_int_equal(p.table.models.len, 6);
    for (uint32_t m = 0; m < 6; m++) {
        assert_string_equal(p.table.models.at[m].label, labels[m]);
        assert_int_equal(p.table.models.at[m].base, bases[m]);
    }
    const struct model *m = &p.table.models.at[3];
    assert_string_equal(m->mech, "wir");
    assert_string_equal(m->gpu, "gtx480");
    assert_string_equal(str_text(&m->probes), "repeat");
    assert_int_equal(m->set.len, 1);
    assert_string_equal(m->set.at[0], "wir.rb_entries=32");
    assert_null(p.table.models.at[0].gpu);
    plan_free(&p);
    struct plan q = {0};
    assert_false(plan_add_model(&q, "x", "sm.warps=3"));
    assert_int_equal(q.table.models.len, 0);
    plan_free(&q);
}

/* Models on a CPU are compared with the first of those, whatever CPU it is, and run programs of the CPU
 * alone. */
static void models_on_a_cpu(void **state) {
    (void)state;
    struct plan p = {0};
    assert_true(plan_add_bench(&p, "cpu-fft:size=tiny"));
    assert_true(plan_add_model(&p, "4K", "memo:cpu=memo-4k"));
    assert_true(plan_add_model(&p, "8K", "memo:cpu=memo-8k:memo.sample=0"));
    assert_true(plan_add_model(&p, "software", "soft:cpu=hpi"));
    assert_int_equal(p.table.models.len, 4);
    assert_string_equal(p.table.models.at[0].label, "base:cpu=hpi");
    plan_add_rows(&p);
    p.gpu = "gtx480";
    assert_true(plan_complete(&p));
    for (uint32_t m = 0; m < 4; m++) {
        const struct model *x = &p.table.models.at[m];
        assert_int_equal(x->base, 0);
        assert_null(x->gpu);
        assert_int_equal(x->approximate, m > 0);
        for (uint32_t o = 0; o < m; o++) /* what software runs on is the base machine */
            assert_int_equal(x->machine == p.table.models.at[o].machine, m == 3 && o == 0);
    }
    struct run_key base = key_of(&p.table.benches.at[0], &p.table.models.at[0], false, 0),
                   soft = key_of(&p.table.benches.at[0], &p.table.models.at[3], false, 0);
    assert_true(base.hash != soft.hash);
    plan_free(&p);
    struct plan q = {0};
    assert_true(plan_add_bench(&q, "hotspot:size=tiny") && plan_add_model(&q, "4K", "memo:cpu=memo-4k"));
    plan_add_rows(&q);
    assert_false(plan_complete(&q));
    plan_free(&q);
    struct plan r = {0};
    assert_true(plan_add_bench(&r, "cpu-fft") && plan_add_model(&r, "x", "memo:cpu=memo-9k"));
    plan_add_rows(&r);
    assert_false(plan_complete(&r));
    plan_free(&r);
    struct plan all = {0};
    assert_true(plan_add_bench(&all, "all"));
    for (uint32_t b = 0; b < all.table.benches.len; b++)
        assert_false(all.table.benches.at[b].workload->cpu);
    plan_free(&all);
}

static void machines_must_exist(void **state) {
    (void)state;
    static const char *const wrong[] = {"wri", "wir+wir-r", "base:sm.wraps=3", "base:repaet",
                                        "base:gpu=gtx48"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct plan p = {0};
        assert_true(plan_add_model(&p, wrong[i], wrong[i]));
        if (plan_complete(&p))
            fail_msg("%s is a machine", wrong[i]);
        plan_free(&p);
    }
}

/* Of a program that runs on a machine which approximates, somebody must say what the results are. */
static void approximations_need_results(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++) {
        static char *program[] = {"/bin/true", NULL}, spec[] = "k:0:f32";
        struct plan p = {.bits = 64};
        plan_add_program(&p, program);
        assert_true(plan_add_model(&p, "toy", "toy"));
        p.table.models.at[1].approximate = k & 1;
        if (k & 2)
            vec_push(&p.results, spec);
        assert_int_equal(plan_complete(&p), k != 1);
        assert_int_equal(p.table.benches.at[0].results.len, k / 2);
        plan_free(&p);
    }
    struct plan p = {.bits = 64}; /* workloads declare theirs */
    assert_true(plan_add_bench(&p, "nw") && plan_add_model(&p, "toy", "toy"));
    p.table.models.at[1].approximate = true;
    assert_true(plan_complete(&p));
    plan_free(&p);
}

/* ---- keys ---- */

/* Errors would be those of the part that is timed: without a wish of the user's all of it is. */
static void approximations_are_timed_whole(void **state) {
    (void)state;
    for (uint32_t k = 0; k < 4; k++) {
        struct plan p = {.size = SIZE_TINY, .bits = 32, .max_insts = 1000, .usual_part = k & 1};
        assert_true(plan_add_bench(&p, "hotspot-approx"));
        assert_true(plan_add_model(&p, "model", k & 2 ? "lnl" : "wir"));
        assert_true(plan_complete(&p));
        assert_int_equal(plan_sampled(&p, &p.table.benches.at[0]) != 0, k != 3);
        plan_free(&p);
    }
}

/* The key of the last row of a plan with one benchmark and one model. */
static uint64_t key_for(struct plan p, const char *bench, const char *model) {
    static char set[] = "latency.alu=9";
    if (p.set.len) {
        p.set.len = 0;
        vec_push(&p.set, set);
    }
    p.bits = p.bits ? p.bits : 64;
    assert_true(plan_add_bench(&p, bench));
    assert_true(plan_add_model(&p, "model", model));
    assert_true(plan_complete(&p));
    struct run_key key =
        key_of(&p.table.benches.at[0], &p.table.models.at[p.table.models.len - 1], p.check, p.max_insts);
    plan_free(&p);
    return key.hash;
}

static void keys_tell_runs_apart(void **state) {
    (void)state;
    const struct {
        struct plan plan;
        const char *bench, *model;
    } rows[] = {
        {{.size = SIZE_TINY}, "hotspot", "base"},
        {{.size = SIZE_SMALL}, "hotspot", "base"},
        {{.size = SIZE_TINY, .bits = 32}, "hotspot", "base"},
        {{.size = SIZE_TINY, .gpu = "gtx480"}, "hotspot", "base"},
        {{.size = SIZE_TINY, .set.len = 1}, "hotspot", "base"},
        {{.size = SIZE_TINY}, "hotspot:seed=2", "base"},
        {{.size = SIZE_TINY}, "hotspot:steps=2", "base"},
        {{.size = SIZE_TINY, .max_insts = 1000}, "hotspot", "base"},
        {{.size = SIZE_TINY, .max_insts = 2000}, "hotspot", "base"},
        {{.size = SIZE_TINY}, "nw", "base"},
        {{.size = SIZE_TINY}, "hotspot", "wir"},
        {{.size = SIZE_TINY, .check = true}, "hotspot", "wir"},
        {{.size = SIZE_TINY}, "hotspot", "wir-r"},
        {{.size = SIZE_TINY}, "hotspot", "base:repeat"},
        {{.size = SIZE_TINY}, "hotspot", "wir:wir.rb_entries=512"},
        {{.size = SIZE_TINY}, "hotspot", "base:wir.rb_entries=512"},
    };
    enum { N = sizeof rows / sizeof rows[0] };
    uint64_t keys[N];
    for (int i = 0; i < N; i++) {
        keys[i] = key_for(rows[i].plan, rows[i].bench, rows[i].model);
        for (int k = 0; k < i; k++)
            if (keys[i] == keys[k])
                fail_msg("rows %d and %d have one key", k, i);
    }
    /* What is written otherwise, but is the same run, has the same key. */
    assert_int_equal(key_for((struct plan){.size = SIZE_SMALL}, "hotspot:size=tiny", "base"), keys[0]);
    assert_int_equal(key_for((struct plan){0}, "hotspot:size=tiny:bits=32", "base"), keys[2]);
    assert_int_equal(key_for((struct plan){0}, "hotspot", "base:gpu=gtx480"), keys[3]);
    assert_int_equal(key_for((struct plan){0}, "hotspot", "base:latency.alu=9"), keys[4]);
    assert_int_equal(key_for((struct plan){.check = true}, "hotspot", "base"), keys[0]);
}

/* A program's key follows the program, its arguments, and the files that these name. */
static void keys_see_the_files_of_a_program(void **state) {
    (void)state;
    struct str program = {0}, input = {0};
    str_printf(&program, "%s/a b:c", folder);
    str_printf(&input, "%s/input", folder);
    char *words[] = {program.at, input.at, NULL};
    struct plan p = {0};
    plan_add_program(&p, words);
    assert_true(plan_add_model(&p, "base", "base") && plan_complete(&p));
    struct bench *b = &p.table.benches.at[0];
    uint64_t keys[6];
    static const char *const texts[][2] = {{"one", "in"}, {"two", "in"}, {"two", "other"}};
    for (int i = 0; i < 6; i++) {
        if (i < 3) {
            io_write(program.at, texts[i][0], strlen(texts[i][0]));
            io_write(input.at, texts[i][1], strlen(texts[i][1]));
        }
        words[1] = i == 3 ? NULL : i == 4 ? folder : input.at; /* a folder is only a word */
        if (i == 5)
            vec_push(&b->results, "k:0:f32");
        struct run_key key = key_of(b, &p.table.models.at[0], false, 0);
        assert_int_equal(strspn(key.text, "a_bc-0123456789def"), strlen(key.text));
        keys[i] = key.hash;
        for (int k = 0; k < i; k++)
            assert_int_not_equal(keys[i], keys[k]);
    }
    unlink(program.at);
    unlink(input.at);
    str_free(&program);
    str_free(&input);
    plan_free(&p);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_become_words),
        cmocka_unit_test(benchmarks_from_texts),
        cmocka_unit_test(suites_take_the_items_of_their_text),
        cmocka_unit_test(models_have_a_base_on_their_gpu),
        cmocka_unit_test(models_on_a_cpu),
        cmocka_unit_test(machines_must_exist),
        cmocka_unit_test(approximations_need_results),
        cmocka_unit_test(approximations_are_timed_whole),
        cmocka_unit_test(keys_tell_runs_apart),
        cmocka_unit_test(keys_see_the_files_of_a_program),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
