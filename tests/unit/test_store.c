/* The store: what is found again, what several processes do to it, formats, full disks. */
#include <ftw.h>
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/io.h"
#include "study/store.h"

static char folder[PATH_MAX];

static int make_folder(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/reprise-test-XXXXXX");
    return !mkdtemp(folder);
}

static int remove_one(const char *path, const struct stat *s, int kind, struct FTW *at) {
    (void)s;
    (void)kind;
    (void)at;
    return remove(path);
}

static int remove_folder(void **state) {
    (void)state;
    return nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* ---- rows to play with ---- */

static struct run_key key_number(uint64_t n) {
    struct run_key key = {.hash = n};
    snprintf(key.text, sizeof key.text, "nw-%016llx", (unsigned long long)n);
    return key;
}

static json_t *manifest_of(const char *benchmark, const char *size, double seconds) {
    return json_pack(
        "{s:s, s:b, s:s, s:i, s:n, s:[s,s], s:s, s:s, s:s, s:[], s:b, s:n, s:s, s:s, s:s, s:s, s:s, "
        "s:s, s:s, s:f, s:s}",
        "benchmark", benchmark, "workload", 1, "size", size, "bits", 64, "seed", "arguments", "--set",
        "a 'b'\n<c>", "gpu", "h200", "mech", "wir", "probes", "", "settings", "checked", 0, "max_insts",
        "version", "1.0", "simulator", "00", "program_hash", "01", "input_hash", "02", "machine_hash", "03",
        "host", "here", "started", "2026-01-31T12:00:00Z", "wall_s", seconds, "command", "reprise run nw");
}

static json_t *report_of(int cycles) {
    return json_pack("{s:i, s:s, s:s, s:{s:i}, s:[{s:s, s:[i,i,i], s:i, s:s, s:{s:i, s:i}}], s:{s:i, s:{s:i, "
                     "s:i}, s:{s:f}, s:s, "
                     "s:s}, s:{s:{s:[s,s]}}, s:{s:f}}",
                     "schema", 1, "gpu", "H200", "mech", "wir", "settings", "sm.warps", 64, "kernels", "name",
                     "k<int>", "grid", 6, 5, 1, "warp_insts", 70, "digest", "abc", "counters", "insts.int", 3,
                     "none", 0, "totals", "cycles", cycles, "counters", "insts.int", 5, "none", 0, "energy",
                     "total", 0.25, "timed", "all", "digest", "def", "units", "counters", "insts.int",
                     "warp instructions", "Integers.", "host", "peak_rss_mb", 9.5);
}

static bool put(struct store *s, uint64_t n, int cycles, const char *results) {
    struct run_key key = key_number(n);
    json_t *m = manifest_of("nw", "tiny", 2), *r = report_of(cycles);
    bool ok = store_put(s, &key, m, r, results);
    json_decref(m);
    json_decref(r);
    return ok;
}

static int cycles_of(struct store *s, uint64_t n) {
    struct run_key key = key_number(n);
    struct store_row row;
    if (!store_find(s, &key, &row))
        return -1;
    int cycles = (int)json_integer_value(json_object_get(json_object_get(row.report, "totals"), "cycles"));
    json_decref(row.report);
    free(row.results);
    return cycles;
}

/* The first column of the first row that a question gives. */
static sqlite3_int64 ask(struct store *s, const char *sql) {
    sqlite3_stmt *q;
    assert_int_equal(sqlite3_prepare_v2(store_db(s), sql, -1, &q, NULL), SQLITE_OK);
    sqlite3_int64 n = sqlite3_step(q) == SQLITE_ROW ? sqlite3_column_int64(q, 0) : -1;
    sqlite3_finalize(q);
    return n;
}

static char *place_of(const char *name) {
    static char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* ---- tests ---- */

static void finished_runs_are_found_again(void **state) {
    (void)state;
    struct store *s = store_open(place_of("new/place"), STORE_MAKE);
    assert_non_null(s);
    assert_int_equal(cycles_of(s, 1), -1);
    assert_true(put(s, 1, 7, NULL));
    store_close(s);
    s = store_open(place_of("new/place"), STORE_MAKE);
    struct run_key key = key_number(1);
    struct store_row row;
    assert_true(store_find(s, &key, &row));
    json_t *want = report_of(7), *kernel = json_array_get(json_object_get(want, "kernels"), 0);
    static const char *const not_rebuilt[] = {"units", "host"}, *const of_kernel[] = {"grid", "warp_insts",
                                                                                      "counters"};
    for (int i = 0; i < 2; i++)
        json_object_del(want, not_rebuilt[i]);
    for (int i = 0; i < 3; i++)
        json_object_del(kernel, of_kernel[i]);
    const json_t *told = json_object_get(row.report, "manifest");
    assert_string_equal(json_string_value(json_object_get(told, "host")), "here");
    assert_string_equal(json_string_value(json_object_get(told, "started")), "2026-01-31T12:00:00Z");
    assert_string_equal(json_string_value(json_object_get(told, "command")), "reprise run nw");
    json_object_del(row.report, "manifest");
    assert_true(json_equal(row.report, want));
    assert_null(row.results);
    json_decref(row.report);
    json_decref(want);
    assert_true(store_has(s, &key, false));
    assert_false(store_has(s, &key, true));
    key = key_number(2);
    assert_false(store_has(s, &key, false));
    store_close(s);
}

static void a_run_can_be_put_again_with_results(void **state) {
    (void)state;
    struct store *s = store_open(place_of("again"), STORE_MAKE);
    struct run_key key = key_number(1);
    struct store_row row;
    assert_true(put(s, 1, 7, NULL) && put(s, 2, 9, NULL));
    char *part = store_file(s, "parts", "x.part");
    assert_true(io_write(part, "abc", 3));
    assert_true(put(s, 1, 8, part));
    assert_int_not_equal(access(part, F_OK), 0);
    assert_true(store_find(s, &key, &row) && row.results && store_has(s, &key, true));
    size_t len;
    char *text = io_read(row.results, &len);
    assert_int_equal(len, 3);
    assert_memory_equal(text, "abc", 3);
    assert_int_equal(ask(s, "SELECT count(*) FROM run"), 2);
    assert_int_equal(ask(s, "SELECT count(*) FROM value"), 2 * 4);
    assert_int_equal(ask(s, "SELECT count(*) FROM kernel"), 2);
    assert_int_equal(ask(s, "SELECT count(*) FROM machine"), 1);
    assert_int_equal(ask(s, "SELECT cycles FROM runs WHERE key = '0000000000000001'"), 8);
    assert_int_equal(
        ask(s, "SELECT count(*) FROM counter WHERE unit = 'warp instructions' AND name = 'insts.int'"), 1);
    assert_int_equal(ask(s, "SELECT grid = '6,5,1' AND insts = 70 FROM kernel"), 1);
    assert_int_equal(
        ask(s, "SELECT json_extract(arguments, '$[1]') = 'a ''b''' || char(10) || '<c>' FROM run"), 1);
    unlink(row.results); /* without the file there are no results */
    assert_false(store_has(s, &key, true));
    json_decref(row.report);
    free(row.results);
    free(text);
    free(part);
    store_close(s);
}

static void a_temporary_store_leaves_nothing(void **state) {
    (void)state;
    struct store *s = store_open(NULL, STORE_MAKE);
    char *place = xstrdup(store_path(s));
    assert_true(put(s, 1, 7, NULL));
    assert_int_equal(cycles_of(s, 1), 7);
    *strrchr(place, '/') = 0;
    assert_int_equal(access(place, R_OK), 0);
    store_close(s);
    assert_int_not_equal(access(place, F_OK), 0);
    free(place);
}

static void failures_stay_until_success(void **state) {
    (void)state;
    struct store *s = store_open(place_of("failures"), STORE_MAKE);
    struct run_key key = key_number(1);
    json_t *m = manifest_of("nw", "tiny", 1);
    char *message, *command;
    assert_int_equal(store_failure(s, &key, &message, &command), 0);
    for (uint32_t i = 1; i < 3; i++) {
        store_fail(s, &key, m, "nw wir", i == 1 ? "first" : "second");
        assert_int_equal(store_failure(s, &key, &message, &command), i);
        assert_string_equal(message, i == 1 ? "first" : "second");
        assert_string_equal(command, "reprise run nw");
        free(message);
        free(command);
    }
    assert_false(store_has(s, &key, false));
    assert_true(put(s, 1, 7, NULL));
    assert_int_equal(store_failure(s, &key, &message, &command), 0);
    json_decref(m);
    store_close(s);
}

static void comparisons_go_with_their_runs(void **state) {
    (void)state;
    struct store *s = store_open(place_of("comparisons"), STORE_MAKE);
    struct run_key run = key_number(1), base = key_number(2);
    char *message = NULL;
    json_t *error = json_pack("{s:f, s:n, s:i}", "max", 0.5, "psnr", "values", 3);
    assert_true(put(s, 1, 7, NULL) && put(s, 2, 8, NULL));
    assert_int_equal(store_verdict(s, &run, &base, &message), 0);
    store_compare(s, &run, &base, NULL, error);
    assert_int_equal(store_verdict(s, &run, &base, &message), 1);
    assert_int_equal(ask(s, "SELECT count(*) FROM error"), 2); /* what has no value is not there */
    store_compare(s, &run, &base, "memory differs", NULL);
    assert_int_equal(store_verdict(s, &run, &base, &message), -1);
    assert_string_equal(message, "memory differs");
    free(message);
    assert_true(put(s, 2, 9, NULL)); /* another base machine's run: nothing is known of it */
    assert_int_equal(store_verdict(s, &run, &base, &message), 0);
    assert_int_equal(ask(s, "SELECT count(*) FROM error"), 0);
    json_decref(error);
    store_close(s);
}

static void past_runs_tell_how_long(void **state) {
    (void)state;
    struct store *s = store_open(place_of("seconds"), STORE_MAKE);
    assert_true(isnan(store_seconds(s, "nw", "tiny", "wir")));
    static const struct {
        const char *benchmark, *size;
        double seconds;
    } rows[] = {{"nw", "tiny", 2}, {"nw", "tiny", 4}, {"nw", "small", 30}, {"bfs", "small", 90}};
    for (uint64_t i = 0; i < 4; i++) {
        struct run_key key = key_number(i);
        json_t *m = manifest_of(rows[i].benchmark, rows[i].size, rows[i].seconds), *r = report_of(1);
        assert_true(store_put(s, &key, m, r, NULL));
        json_decref(m);
        json_decref(r);
    }
    assert_true(store_seconds(s, "nw", "tiny", "wir") == 3);
    assert_true(store_seconds(s, "nw", "tiny", "dac") == 3);
    assert_true(store_seconds(s, "nw", "large", "wir") == 12);
    assert_true(store_seconds(s, "hotspot", "small", "wir") == 60);
    assert_true(store_seconds(s, "prog", NULL, "base") == 31.5);
    store_close(s);
}

/* Two processes: one claims, the other has to wait, until the first releases or is gone. */
static void claims_are_of_one_process(void **state) {
    (void)state;
    struct run_key key = key_number(UINT64_MAX - 5), other = key_number(1 << 20);
    struct store *s = store_open(place_of("claims"), STORE_MAKE),
                 *second = store_open(place_of("claims"), STORE_MAKE);
    assert_true(store_claim(s, &key));
    assert_false(store_claim(second, &key));
    assert_true(store_claim(second, &other));
    store_release(s, &key);
    assert_true(store_claim(second, &key));
    store_close(second);
    assert_true(store_claim(s, &key) && store_claim(s, &other));
    store_close(s);
}

/* What a killed process was writing goes when the store is opened, what another is writing stays. */
static void leavings_are_removed(void **state) {
    (void)state;
    struct run_key key = key_number(77);
    struct store *s = store_open(place_of("leavings"), STORE_MAKE);
    char *mine = store_file(s, "parts", "nw-000000000000004d.report.part"),
         *dead = store_file(s, "parts", "nw-000000000000004e.report.part");
    assert_true(store_claim(s, &key) && io_write(mine, "x", 1) && io_write(dead, "x", 1));
    store_close(store_open(place_of("leavings"), STORE_MAKE));
    assert_int_equal(access(mine, F_OK), 0);
    assert_int_not_equal(access(dead, F_OK), 0);
    free(mine);
    free(dead);
    store_close(s);
}

/* Several processes write at once: nothing is lost, nothing is there twice. */
static void many_write_at_once(void **state) {
    (void)state;
    enum { WRITERS = 4, EACH = 25 };
    for (uint64_t w = 0; w < WRITERS; w++)
        if (!fork()) {
            struct store *s = store_open(place_of("many"), STORE_MAKE);
            bool ok = s;
            for (uint64_t i = 0; ok && i < EACH; i++)
                ok = put(s, 1 + w * (EACH - 5) + i, 5, NULL); /* neighbours have five in common */
            _exit(!ok);
        }
    for (int w = 0; w < WRITERS; w++) {
        int status;
        wait(&status);
        assert_int_equal(status, 0);
    }
    struct store *s = store_open(place_of("many"), STORE_MAKE);
    assert_int_equal(ask(s, "SELECT count(*) FROM run"), WRITERS * (EACH - 5) + 5);
    assert_int_equal(ask(s, "SELECT count(*) FROM value"), 4 * (WRITERS * (EACH - 5) + 5));
    assert_int_equal(ask(s, "SELECT count(*) FROM counter"), 5);
    store_close(s);
}

/* Launches have counters of their own, with units; those that are 0 have no row, and all go with their run.
 */
static void launches_have_counters(void **state) {
    (void)state;
    struct store *s = store_open(place_of("launches"), STORE_MAKE);
    assert_true(put(s, 1, 7, NULL) && put(s, 2, 7, NULL) && put(s, 1, 8, NULL));
    assert_int_equal(ask(s, "SELECT count(*) FROM kernel_value"), 4);
    assert_int_equal(ask(s,
                         "SELECT value FROM tidy_kernels WHERE kernel = 'k<int>' AND number = 0 AND part = "
                         "'counter' AND name = 'insts.int' AND unit = 'warp instructions'"),
                     3);
    assert_int_equal(ask(s, "SELECT value FROM tidy_kernels WHERE part = 'total' AND name = 'warp_insts'"),
                     70);
    assert_int_equal(ask(s, "SELECT count(*) FROM kernels WHERE benchmark = 'nw' AND grid = '6,5,1'"), 2);
    assert_int_equal(sqlite3_exec(store_db(s), "DELETE FROM run", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(ask(s, "SELECT count(*) FROM kernel_value"), 0);
    store_close(s);
}

/* A disk that is full: what was there stays, and nothing is there in halves. */
static void a_full_disk_leaves_no_halves(void **state) {
    (void)state;
    struct store *s = store_open(place_of("full"), STORE_MAKE);
    assert_true(put(s, 1, 7, NULL));
    store_close(s);
    pid_t child = fork();
    if (!child) {
        struct rlimit limit = {300 << 10, 300 << 10};
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &limit);
        freopen("/dev/null", "w", stderr);
        struct store *f = store_open(place_of("full"), STORE_MAKE);
        uint64_t n = 2;
        while (n < 10000 && put(f, n, 7, NULL))
            n++;
        _exit(n == 10000 || n < 10);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    s = store_open(place_of("full"), STORE_MAKE);
    sqlite3_int64 n = ask(s, "SELECT count(*) FROM run");
    assert_true(n >= 9);
    assert_int_equal(ask(s, "SELECT count(*) FROM value"), 4 * n);
    assert_int_equal(ask(s, "SELECT count(*) FROM kernel"), n);
    assert_int_equal(ask(s, "SELECT count(*) FROM kernel_value"), 2 * n);
    assert_int_equal(ask(s, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"), 1);
    assert_true(put(s, 20000, 7, NULL));
    store_close(s);
}

static void formats_are_known_or_refused(void **state) {
    (void)state;
    static const char *const refused[] = {"PRAGMA user_version = 99",
                                          "PRAGMA application_id = 1; PRAGMA user_version = 1"};
    for (int i = 0; i < 2; i++) {
        char name[8];
        snprintf(name, sizeof name, "f%d", i);
        struct store *s = store_open(place_of(name), STORE_MAKE);
        assert_int_equal(sqlite3_exec(store_db(s), refused[i], NULL, NULL, NULL), SQLITE_OK);
        store_close(s);
        assert_null(store_open(place_of(name), STORE_MAKE));
        assert_null(store_open(place_of(name), STORE_READ));
    }
    assert_true(
        io_make_folder(place_of("text")) &&
        io_write(place_of("text/runs.db"),
                 "this is no database, but a text of many words, longer than a header of one hundred bytes",
                 88));
    assert_null(store_open(place_of("text"), STORE_MAKE));
    assert_null(store_open(place_of("nowhere"), STORE_READ));
    assert_null(store_open("/proc/nowhere", STORE_MAKE));
    assert_true(io_make_folder(place_of("empty")) && io_write(place_of("empty/runs.db"), "", 0));
    struct store *s = store_open(place_of("empty"), STORE_MAKE); /* made, but never written */
    assert_true(s && put(s, 1, 1, NULL));
    store_close(s);
}

/* A store of the first format, with a run in it, is brought up to date, also by one who only reads. */
static void older_formats_are_brought_up_to_date(void **state) {
    (void)state;
    struct store *s = store_open(place_of("older"), STORE_MAKE);
    assert_true(put(s, 1, 7, NULL));
    sqlite3_int64 newest = ask(s, "PRAGMA user_version");
    assert_int_equal(sqlite3_exec(store_db(s),
                                  "DROP INDEX run_simulator; DROP VIEW kernels; DROP VIEW tidy_kernels;"
                                  "DROP TABLE kernel_value; PRAGMA user_version = 1",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    store_close(s);
    s = store_open(place_of("older"), STORE_READ);
    assert_non_null(s);
    assert_int_equal(ask(s, "PRAGMA user_version"), newest);
    assert_int_equal(ask(s, "SELECT count(*) FROM sqlite_master WHERE name = 'run_simulator'"), 1);
    assert_int_equal(cycles_of(s, 1), 7);
    assert_int_equal(ask(s, "SELECT count(*) FROM kernels"), 1);
    assert_int_equal(ask(s, "SELECT count(*) FROM tidy_kernels"), 0);
    store_close(s);
    s = store_open(place_of("older"), STORE_MAKE);
    assert_true(s && put(s, 2, 8, NULL) && cycles_of(s, 2) == 8);
    store_close(s);
}

static void the_spool_becomes_rows(void **state) {
    (void)state;
    struct store *s = store_open(place_of("spool"), STORE_MAKE);
    struct run_key good = key_number(1), bad = key_number(2);
    char *spool = store_file(s, "spool", ""), *results = store_file(s, "parts", "y"), *message, *command;
    json_t *m = manifest_of("nw", "tiny", 1), *r = report_of(11);
    assert_true(io_write(results, "abc", 3));
    assert_true(store_spool(spool, &good, m, "nw wir", r, results, NULL));
    assert_true(store_spool(spool, &bad, m, "nw wir", NULL, NULL, "it fell\nover"));
    assert_int_equal(store_absorb(s), 2);
    assert_int_equal(store_absorb(s), 0);
    assert_int_equal(cycles_of(s, 1), 11);
    assert_true(store_has(s, &good, true));
    assert_int_equal(store_failure(s, &bad, &message, &command), 1);
    assert_string_equal(message, "it fell\nover");
    free(message);
    free(command);
    free(spool);
    free(results);
    json_decref(m);
    json_decref(r);
    store_close(s);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(finished_runs_are_found_again),
        cmocka_unit_test(a_run_can_be_put_again_with_results),
        cmocka_unit_test(a_temporary_store_leaves_nothing),
        cmocka_unit_test(failures_stay_until_success),
        cmocka_unit_test(comparisons_go_with_their_runs),
        cmocka_unit_test(past_runs_tell_how_long),
        cmocka_unit_test(claims_are_of_one_process),
        cmocka_unit_test(leavings_are_removed),
        cmocka_unit_test(many_write_at_once),
        cmocka_unit_test(launches_have_counters),
        cmocka_unit_test(a_full_disk_leaves_no_halves),
        cmocka_unit_test(formats_are_known_or_refused),
        cmocka_unit_test(older_formats_are_brought_up_to_date),
        cmocka_unit_test(the_spool_becomes_rows),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
