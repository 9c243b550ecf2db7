/* Reports of a machine that is no GPU: its names, facts, counters, energy and formulas, and nothing else. */
#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "report/report.h"

struct mill_params {
    int32_t stones;
    double pj_sack, watts;
    param_string owner;
};
static const struct param params[] = {
    {"mill.stones", PARAM_AT(struct mill_params, stones), 1, 8, 2, "stones", "Stones."},
    {"mill.pj.sack", PARAM_AT(struct mill_params, pj_sack), 0, 1e6, 500, "pJ", "A sack."},
    {"mill.watts", PARAM_AT(struct mill_params, watts), 0, 1e6, 2, "W", "The wheel."},
    {"mill.owner", PARAM_AT(struct mill_params, owner), 1, 9, 0, "", "Whose it is.", .text = "nobody"},
};
static const struct param_table param_table = PARAM_TABLE(struct mill_params, params, NULL);

struct sacks {
    uint64_t ground, spilt;
};
static const struct counter_info rows[] = {
    {"ground", "sacks", "Ground.", offsetof(struct sacks, ground)},
    {"spilt", "sacks", "Spilt.", offsetof(struct sacks, spilt)},
};
static const struct counter_info all_rows[] = {{"insts", "instructions", "Instructions.", 0}};
static const struct counter_table sack_table = COUNTER_TABLE(rows), all_table = COUNTER_TABLE(all_rows);

enum { STONES, WHEEL, PARTS };
static const struct energy_part parts[PARTS] = {{"stones", "what grinds"}, {"wheel", "what turns"}};
static const struct energy_event events[] = {
    {STONES, "stone.ground", "mill.pj.sack", ENERGY_PJ},
    {WHEEL, NULL, "mill.watts", ENERGY_WATT},
};
static const struct energy_table energy_table = ENERGY_TABLE(events);
static const struct formula_info formula_rows[] = {
    {"loss", "ratio", "Sacks spilt.", "stone.spilt / (stone.spilt + stone.ground)"},
    {"sacks_per_stone", "sacks", "Sacks.", "stone.ground / mill.stones"},
    {"nothing", "", "No such thing.", "miller / 2"},
};
static const struct formula_table formulas = {formula_rows, 3};

/* A mill and what it is made of. */
struct mill {
    struct config config;
    struct counter_registry all, timed;
    struct energy_model energy;
    struct report_machine machine;
};

static void open_mill(struct mill *m) {
    *m = (struct mill){.config = {.what = "mill"}};
    config_add(&m->config, &param_table);
    counters_add(&m->all, "", &all_table, false);
    counters_add(&m->timed, "stone.", &sack_table, true);
    energy_init(&m->energy, &(struct energy_spec){.key = "energy",
                                                  .title = "energy",
                                                  .parts = parts,
                                                  .nparts = PARTS,
                                                  .scale = 0.5,
                                                  .burst_bits = 64,
                                                  .hz = 1e6});
    assert_null(energy_add(&m->energy, &energy_table, &m->config, &m->timed));
    m->machine = (struct report_machine){.kind = "mill",
                                         .name = "by the river",
                                         .mech = "base",
                                         .runs = "days",
                                         .timed_insts = "timed_insts",
                                         .parts = "stones",
                                         .config = &m->config,
                                         .counters = &m->all,
                                         .timed = &m->timed,
                                         .energy = &m->energy,
                                         .naccounts = 1,
                                         .formulas = &formulas};
}

static void close_mill(struct mill *m) {
    energy_free(&m->energy);
    counters_free(&m->all);
    counters_free(&m->timed);
    config_free(&m->config);
}

/* Writes a report of two days, of which one was timed, and reads it again. */
static json_t *written(struct mill *m, bool with_parts) {
    char path[] = "/tmp/test_report.XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    static const uint64_t insts = 90, both = 100, sacks[] = {30, 10}, shares[] = {20, 10, 10, 0},
                          digest = 0xabc;
    static const struct report_fact facts[] = {{"insts", 1, {90}}, {"place", 2, {3, 4}}};
    struct report *r = report_create(&m->machine);
    report_add(r, &(struct report_run){.name = "monday",
                                       .facts = facts,
                                       .nfacts = 2,
                                       .timing = REPORT_TIMED_ALL,
                                       .cycles = 40,
                                       .timed_insts = 80,
                                       .counters = &insts,
                                       .timed = sacks,
                                       .parts = with_parts ? shares : NULL,
                                       .nparts = 2,
                                       .digest = &digest});
    report_add(r, &(struct report_run){.name = "tuesday", .remark = "no wind", .counters = &insts});
    assert_true(report_write(
        r, &(struct report_run){.cycles = 40, .timed_insts = 80, .counters = &both, .timed = sacks},
        &(struct report_host){2, 50, "insts_per_s"}, NULL, path));
    report_free(r);
    json_t *all = json_load_file(path, 0, NULL);
    assert_non_null(all);
    unlink(path);
    return all;
}

/* The number at a path of names, parted by '/'. */
static double number(json_t *all, const char *path) {
    char copy[128], *save;
    snprintf(copy, sizeof copy, "%s", path);
    for (char *word = strtok_r(copy, "/", &save); word; word = strtok_r(NULL, "/", &save))
        all = json_is_array(all) ? json_array_get(all, (size_t)atoi(word)) : json_object_get(all, word);
    if (!json_is_number(all))
        fail_msg("there is no number %s", path);
    return json_number_value(all);
}

static void expect_keys(const json_t *object, const char *want) {
    char text[512] = "";
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, key, value) {
        strcat(text, key);
        strcat(text, " ");
    }
    assert_string_equal(text, want);
}

static void test_names(void **state) {
    (void)state;
    struct mill m;
    open_mill(&m);
    json_t *all = written(&m, true);
    expect_keys(all, "schema mill mech settings days totals host ");
    assert_string_equal(json_string_value(json_object_get(all, "mill")), "by the river");
    json_t *day = json_array_get(json_object_get(all, "days"), 0);
    expect_keys(day, "name insts place counters timed timed_insts cycles ipc energy derived stones digest ");
    expect_keys(json_array_get(json_object_get(all, "days"), 1), "name remark counters timed derived ");
    expect_keys(json_object_get(all, "totals"), "counters timed timed_insts cycles ipc energy derived ");
    expect_keys(json_object_get(all, "host"), "wall_s insts_per_s peak_rss_mb version name started command ");
    assert_string_equal(json_string_value(json_object_get(day, "digest")), "0000000000000abc");
    assert_string_equal(json_string_value(json_object_get(day, "timed")), "all");
    assert_string_equal(json_string_value(json_object_get(json_object_get(all, "totals"), "timed")), "part");
    assert_string_equal(json_string_value(json_object_get(json_object_get(all, "settings"), "mill.owner")),
                        "nobody");
    json_decref(all);
    all = written(&m, false);
    assert_null(json_object_get(json_array_get(json_object_get(all, "days"), 0), "stones"));
    json_decref(all);
    close_mill(&m);
}

static void test_values(void **state) {
    (void)state;
    struct mill m;
    open_mill(&m);
    json_t *all = written(&m, true);
    assert_true(number(all, "settings/mill.stones") == 2);
    assert_true(number(all, "days/0/insts") == 90 && number(all, "days/0/place/1") == 4);
    assert_true(number(all, "days/0/counters/insts") == 90 &&
                number(all, "days/0/counters/stone.ground") == 30);
    assert_true(number(all, "days/0/ipc") == 2 && number(all, "days/0/timed_insts") == 80);
    assert_true(number(all, "days/0/stones/stone.ground/1") == 10 &&
                number(all, "days/0/stones/stone.spilt/0") == 10);
    double stones = number(all, "days/0/energy/stones"), wheel = number(all, "days/0/energy/wheel");
    assert_true(fabs(stones / (30 * 500e-12 * 0.5) - 1) < 1e-12); /* scaled to the process */
    assert_true(fabs(wheel / (40 * 2 / 1e6) - 1) < 1e-12);        /* 40 cycles at 1 MHz */
    assert_true(number(all, "days/0/energy/total") == stones + wheel);
    assert_true(number(all, "days/0/derived/loss") == 0.25 &&
                number(all, "days/0/derived/sacks_per_stone") == 15);
    assert_null(json_object_get(json_object_get(json_array_get(json_object_get(all, "days"), 0), "derived"),
                                "nothing"));
    assert_true(number(all, "days/1/counters/insts") == 90 && number(all, "totals/counters/insts") == 100);
    assert_true(number(all, "totals/energy/total") == stones + wheel &&
                number(all, "host/insts_per_s") == 50);
    json_decref(all);
    close_mill(&m);
}

static void test_summary(void **state) {
    (void)state;
    struct mill m;
    char *text = NULL;
    size_t len;
    FILE *to = open_memstream(&text, &len);
    static const uint64_t sacks[] = {30, 10};
    open_mill(&m);
    report_summary(&m.machine, &(struct report_run){0}, to); /* nothing was timed */
    report_summary(&m.machine, &(struct report_run){.cycles = 40, .timed_insts = 80, .timed = sacks}, to);
    fclose(to);
    assert_string_equal(text, "40 cycles, 40.0 us; IPC 2.00; energy 80.0 uJ, power 2.00 W\n"
                              "  stones             7.50 nJ   0.0%  wheel              80.0 uJ 100.0%\n");
    free(text);
    close_mill(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_summary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
