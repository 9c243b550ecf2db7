/* The simulated processor as a whole: two programs, the same every time; its counters, energy and report. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "cpu/machine.h"
#include "guest_rig.h"

/* Reads 64 lines, a kilobyte apart, as often as x20 says. */
static const uint32_t streaming[] = {
    0xd2800c94, /* movz x20, #100 */
    0xd2a00a01, /* movz x1, #0x50, lsl #16 */
    0xd2800802, /* movz x2, #64 */
    0xf9400020, /* ldr x0, [x1] */
    0x91100021, /* add x1, x1, #0x400 */
    0xf1000442, /* subs x2, x2, #1 */
    0x54ffffa1, /* b.ne -12 */
    0xf1000694, /* subs x20, x20, #1 */
    0x54ffff21, /* b.ne -28 */
    0xd2800000, 0xd2800ba8, 0xd4000001,
};

/* Ten rounds of two instructions between marks, fifty behind them. */
static const uint32_t marked[] = {
    0xd2800154, /* movz x20, #10 */
    0xd5032fdf, /* hint #0x7e */
    0xf1000694, /* subs x20, x20, #1 */
    0x54ffffe1, /* b.ne -4 */
    0xd5032fff, /* hint #0x7f */
    0xd2800654, /* movz x20, #50 */
    0xf1000694, /* subs x20, x20, #1 */
    0x54ffffe1, /* b.ne -4 */
    0xd2800000, 0xd2800ba8, 0xd4000001,
};

static char path[] = "/tmp/reprise_cpu_XXXXXX", marked_path[] = "/tmp/reprise_cpu_XXXXXX";

static bool write_image(char *to, const uint32_t *code, uint32_t words) {
    size_t size;
    char *image = rig_image(code, words, &size);
    int file = mkstemp(to);
    bool ok = file >= 0 && write(file, image, size) == (ssize_t)size;
    free(image);
    close(file);
    return ok;
}

static int write_programs(void **unused) {
    (void)unused;
    return !write_image(path, streaming, sizeof streaming / sizeof *streaming) ||
           !write_image(marked_path, marked, sizeof marked / sizeof *marked);
}

static int remove_programs(void **unused) {
    (void)unused;
    return unlink(path) || unlink(marked_path);
}

static struct cpu_machine *machine(uint32_t programs, bool functional, const char *const *set) {
    static const char *argv[] = {path, NULL};
    struct machine_options o = {
        .nprograms = programs, .functional = functional, .max_insts = UINT64_MAX, .set = set};
    struct diag d = {0};
    for (uint32_t k = 0; k < programs; k++)
        o.programs[k].argv = argv;
    struct cpu_machine *m = cpu_machine_create(&o, &d);
    if (!m)
        fail_msg("%s", str_text(&d.text));
    cpu_machine_run(m);
    for (uint32_t k = 0; k < programs; k++)
        assert_int_equal(m->stop[k], CPU_SYSCALL);
    return m;
}

static uint64_t value(const struct cpu_machine *m, const char *name) {
    uint64_t *all = xcalloc(m->timed.count, sizeof *all), v;
    counters_read(&m->timed, all);
    uint32_t k = counters_find(&m->timed, name);
    assert_true(k != UINT32_MAX);
    v = all[k];
    free(all);
    return v;
}

static void test_one_program(void **unused) {
    (void)unused;
    struct cpu_machine *m = machine(1, false, NULL), *f = machine(1, true, NULL);
    assert_int_equal(cpu_counter(&m->guest[0].cpu), cpu_counter(&f->guest[0].cpu));
    assert_int_equal(value(m, "insts"), cpu_counter(&f->guest[0].cpu));
    assert_int_equal(value(m, "insts.load"), 6400);
    assert_int_equal(value(m, "l1d.reads"), 6400);
    assert_int_equal(value(m, "core.cycles"), cpu_machine_cycles(m));
    assert_int_equal(cpu_machine_cycles(f), 0);
    cpu_machine_free(m);
    cpu_machine_free(f);
}

/* Two programs share L2 and memory, slow each other down, and take the same time in every run. */
static void test_two_programs(void **unused) {
    (void)unused;
    const char *const small[] = {"l2.size=64K", "l1d.size=2K", NULL};
    struct cpu_machine *one = machine(1, false, small), *two = machine(2, false, small),
                       *again = machine(2, false, small);
    uint64_t alone = one->core[0].n.cycles;
    assert_true(two->core[0].n.cycles >= alone && two->core[1].n.cycles >= alone);
    for (uint32_t k = 0; k < 2; k++)
        assert_memory_equal(&two->core[k].n, &again->core[k].n, sizeof two->core[k].n);
    assert_int_equal(value(two, "dram.reads"), value(again, "dram.reads"));
    assert_int_equal(value(two, "insts"), 2 * value(one, "insts"));
    /* nothing is shared but the caches: each has its own lines, so that there are twice as many to be brought
     */
    assert_int_equal(value(two, "l1i.read_misses"), 2 * value(one, "l1i.read_misses"));
    assert_true(value(two, "dram.reads") >= 2 * value(one, "dram.reads"));
    cpu_machine_free(one);
    cpu_machine_free(two);
    cpu_machine_free(again);
}

static void test_settings(void **unused) {
    (void)unused;
    static const char *argv[] = {path, NULL};
    struct machine_options o = {.nprograms = 1, .max_insts = UINT64_MAX};
    o.programs[0].argv = argv;
    const char *const wrong[][2] = {
        {"l1d.ways=3", NULL}, {"no.such=1", NULL}, {"latency.alu=0", NULL}, {"predict.btb=100", NULL}};
    for (uint32_t k = 0; k < 4; k++) {
        struct diag d = {0};
        o.set = wrong[k];
        assert_null(cpu_machine_create(&o, &d));
        assert_true(d.errors > 0);
        diag_free(&d);
    }
    struct diag d = {0};
    const char *const single[] = {"cpu.cores=1", NULL};
    o.set = single;
    o.nprograms = 2;
    o.programs[1].argv = argv;
    assert_null(cpu_machine_create(&o, &d));
    assert_non_null(strstr(str_text(&d.text), "2 programs and 1 cores"));
    diag_free(&d);
}

/* Energy is counts times table: the parts sum to the total, and every event has a counter and a parameter. */
static void test_energy_and_report(void **unused) {
    (void)unused;
    struct cpu_machine *m = machine(1, false, NULL);
    char file[] = "/tmp/reprise_json_XXXXXX";
    close(mkstemp(file));
    assert_int_equal(m->energy.terms.len, cpu_energy.count);
    assert_true(cpu_machine_report(m, NULL, file));
    json_t *all = json_load_file(file, 0, NULL), *totals = json_object_get(all, "totals"),
           *energy = json_object_get(totals, "energy");
    assert_non_null(energy);
    double sum = 0;
    const char *key;
    json_t *v;
    json_object_foreach(energy, key, v) if (strcmp(key, "total")) sum += json_real_value(v);
    double total = json_real_value(json_object_get(energy, "total"));
    assert_true(total > 0 && sum > total * 0.999999 && sum < total * 1.000001);
    json_t *counters = json_object_get(totals, "counters");
    assert_int_equal(json_integer_value(json_object_get(counters, "insts")), (json_int_t)value(m, "insts"));
    assert_int_equal(json_array_size(json_object_get(all, "programs")), 1);
    assert_true(json_real_value(json_object_get(json_object_get(totals, "derived"), "cpi")) > 0);
    json_decref(all);
    unlink(file);
    cpu_machine_free(m);
}

/* Only what is between marks takes time; without the option marks are hints. */
static void test_regions(void **unused) {
    (void)unused;
    static const char *argv[] = {marked_path, NULL};
    for (int region = 0; region < 2; region++) {
        struct machine_options o = {.nprograms = 1, .max_insts = UINT64_MAX, .region = region};
        struct diag d = {0};
        o.programs[0].argv = argv;
        struct cpu_machine *m = cpu_machine_create(&o, &d);
        assert_non_null(m);
        cpu_machine_run(m);
        assert_int_equal(m->stop[0], CPU_SYSCALL);
        uint64_t all = 3 + 20 + 1 + 100 + 3;
        assert_int_equal(cpu_counter(&m->guest[0].cpu), all);
        assert_int_equal(m->core[0].n.insts, region ? 20 : all);
        if (region)
            assert_in_range(cpu_machine_cycles(m), 20, 400);
        cpu_machine_free(m);
    }
}

/* A trace has every instruction of its window, in the order of cycles, and changes no cycle. */
static void test_trace(void **unused) {
    (void)unused;
    static const char *argv[] = {marked_path, NULL};
    char file[] = "/tmp/reprise_trace_XXXXXX", line[256];
    close(mkstemp(file));
    uint64_t cycles[2], shown = 0, ended = 0, cycle = 0;
    for (int traced = 0; traced < 2; traced++) {
        struct machine_options o = {.nprograms = 1, .max_insts = UINT64_MAX, .trace_last = UINT64_MAX};
        struct diag d = {0};
        o.programs[0].argv = argv;
        o.trace = traced ? file : NULL;
        struct cpu_machine *m = cpu_machine_create(&o, &d);
        assert_non_null(m);
        cpu_machine_run(m);
        cycles[traced] = cpu_machine_cycles(m);
        assert_true(cpu_machine_end_trace(m));
        cpu_machine_free(m);
    }
    assert_int_equal(cycles[0], cycles[1]);
    FILE *f = fopen(file, "r");
    assert_non_null(f);
    assert_non_null(fgets(line, sizeof line, f));
    assert_string_equal(line, "Kanata\t0004\n");
    while (fgets(line, sizeof line, f)) {
        shown += line[0] == 'I';
        ended += line[0] == 'R';
        if (line[0] == 'C')
            cycle = line[1] == '=' ? strtoull(line + 3, NULL, 10) : cycle + strtoull(line + 2, NULL, 10);
    }
    fclose(f);
    unlink(file);
    assert_int_equal(shown, 3 + 20 + 1 + 100 + 3);
    assert_int_equal(ended, shown);
    assert_int_equal(cycle, cycles[0]);
}

/* A program that does not use the memoization unit takes the same time with one. */
static void test_unused_memoization(void **unused) {
    (void)unused;
    const char *const with[] = {"memo.l1=16K", NULL};
    struct cpu_machine *m = machine(1, false, NULL), *n = machine(1, false, with);
    assert_memory_equal(&m->core[0].n, &n->core[0].n, sizeof m->core[0].n);
    assert_int_equal(value(n, "memo.lookups"), 0);
    cpu_machine_free(m);
    cpu_machine_free(n);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_program),
        cmocka_unit_test(test_two_programs),
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_energy_and_report),
        cmocka_unit_test(test_regions),
        cmocka_unit_test(test_trace),
        cmocka_unit_test(test_unused_memoization),
    };
    return cmocka_run_group_tests(tests, write_programs, remove_programs);
}
