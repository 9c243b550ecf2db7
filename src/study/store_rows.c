/* Rows of the store: runs that finished, those that failed, and how they compare. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "study/store_db.h"

/* ---- statements ---- */

sqlite3_stmt *store_prepare(const struct store *s, const char *sql) {
    sqlite3_stmt *q = NULL;
    if (sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) != SQLITE_OK)
        store_complain(s);
    return q;
}

/* Binds a value of JSON: numbers as such, truths as 0 and 1, what is missing as NULL, lists and objects as
 * their text. */
static void bind(sqlite3_stmt *q, int at, const json_t *v) {
    if (json_is_string(v)) {
        sqlite3_bind_text(q, at, json_string_value(v), -1, SQLITE_TRANSIENT);
    } else if (json_is_integer(v)) {
        sqlite3_bind_int64(q, at, json_integer_value(v));
    } else if (json_is_real(v)) {
        sqlite3_bind_double(q, at, json_real_value(v));
    } else if (json_is_boolean(v)) {
        sqlite3_bind_int(q, at, json_is_true(v));
    } else if (json_is_array(v) || json_is_object(v)) {
        char *text = json_dumps(v, JSON_COMPACT);
        sqlite3_bind_text(q, at, text, -1, SQLITE_TRANSIENT);
        free(text);
    } else {
        sqlite3_bind_null(q, at);
    }
}

static void bind_text(sqlite3_stmt *q, int at, const char *text) {
    if (text)
        sqlite3_bind_text(q, at, text, -1, SQLITE_TRANSIENT);
    else
        sqlite3_bind_null(q, at);
}

/* Steps a statement that gives no rows, and readies it for the next. */
static bool done(const struct store *s, sqlite3_stmt *q) {
    bool ok = q && sqlite3_step(q) == SQLITE_DONE;
    if (!ok)
        store_complain(s);
    sqlite3_reset(q);
    return ok;
}

static bool execute(const struct store *s, const char *sql) {
    bool ok = sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK;
    if (!ok)
        store_complain(s);
    return ok;
}

static void forget_counters(struct store *s) {
    for (uint32_t i = 0; i < s->counters.len; i++)
        free((char *)s->counters.entries[i].key);
    map_free(&s->counters);
    s->counters = (struct map){0};
}

static bool begin(const struct store *s) {
    return execute(s, "BEGIN IMMEDIATE");
}

/* Ends a transaction: all of it, or nothing. */
static bool end(struct store *s, bool ok) {
    ok = ok && execute(s, "COMMIT");
    if (!ok) {
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
        forget_counters(s); /* some may not be there any more */
    }
    return ok;
}

static void key_text(const struct run_key *key, char text[17]) {
    snprintf(text, 17, "%016" PRIx64, key->hash);
}

/* The number of a run's row; 0 when there is none. */
static sqlite3_int64 run_number(struct store *s, const struct run_key *key) {
    char text[17];
    key_text(key, text);
    sqlite3_stmt *q = store_prepare(s, "SELECT id FROM run WHERE key = ?");
    sqlite3_int64 id = 0;
    bind_text(q, 1, text);
    if (q && sqlite3_step(q) == SQLITE_ROW)
        id = sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    return id;
}

/* ---- counters ---- */

/* What the numbers of totals are that stand in no object. */
static const struct {
    const char *name, *unit, *meaning;
} totals[] = {
    {"launches", "launches", "Kernels that were launched."},
    {"warp_insts", "warp instructions", "Executed by the program."},
    {"thread_insts", "thread instructions", "Executed by the program."},
    {"insts", "instructions", "Executed by the program."},
    {"timed_warp_insts", "warp instructions", "Executed in what was timed."},
    {"timed_insts", "instructions", "Executed in what was timed."},
    {"cycles", "cycles", "Of the machine's clock, in what was timed."},
    {"ipc", "instructions/cycle", "Executed in a cycle of what was timed."},
};

/* The unit and meaning of a number, from the report, or as far as is known. */
static void unit_of(json_t *report, const char *object, const char *name, const char **unit,
                    const char **meaning) {
    json_t *told = json_object_get(json_object_get(json_object_get(report, "units"), object), name);
    *unit = json_string_value(json_array_get(told, 0));
    *meaning = json_string_value(json_array_get(told, 1));
    for (size_t i = 0; !*object && i < sizeof totals / sizeof totals[0]; i++)
        if (!strcmp(totals[i].name, name)) {
            *unit = totals[i].unit;
            *meaning = totals[i].meaning;
        }
}

/* The id that a statement which makes a row or finds it returns, and ends it; 0 after a message. */
static sqlite3_int64 id_of(struct store *s, sqlite3_stmt *q) {
    sqlite3_int64 id = 0;
    if (q && sqlite3_step(q) == SQLITE_ROW)
        id = sqlite3_column_int64(q, 0);
    else
        store_complain(s);
    if (q && sqlite3_step(q) != SQLITE_DONE)
        id = 0;
    sqlite3_finalize(q);
    return id;
}

/* What an object of a report's totals is called in the store. "" are the numbers that stand in none. */
static const char *part_of(const char *object) {
    return !*object ? "total" : strcmp(object, "counters") ? object : "counter";
}

static const char *object_of(const char *part) {
    return !strcmp(part, "counter") ? "counters" : part;
}

/* The number of a counter's row, which is made if there is none; 0 after a message. */
static sqlite3_int64 counter_number(struct store *s, json_t *report, const char *object, const char *name) {
    struct str label = {0};
    const char *part = part_of(object), *unit, *meaning;
    str_printf(&label, "%s %s", part, name);
    sqlite3_int64 id = (sqlite3_int64)(uintptr_t)map_get(&s->counters, label.at);
    if (id) {
        str_free(&label);
        return id;
    }
    unit_of(report, object, name, &unit, &meaning);
    /* Who knows the unit says it, also where a run before could not. */
    sqlite3_stmt *q = store_prepare(
        s, "INSERT INTO counter(part, name, unit, meaning) VALUES(?1, ?2, coalesce(?3, ''), coalesce(?4, ''))"
           " ON CONFLICT(part, name) DO UPDATE SET unit = coalesce(?3, unit), meaning = coalesce(?4, meaning)"
           " RETURNING id");
    bind_text(q, 1, part);
    bind_text(q, 2, name);
    bind_text(q, 3, unit);
    bind_text(q, 4, meaning);
    id = id_of(s, q);
    if (id)
        map_set(&s->counters, xstrdup(label.at), (void *)(uintptr_t)id);
    str_free(&label);
    return id;
}

/* Puts a number by a statement that takes its counter and value as the second and third. */
static bool put_value(struct store *s, sqlite3_stmt *q, json_t *report, const char *object, const char *name,
                      const json_t *v) {
    if (!json_is_number(v))
        return true;
    sqlite3_int64 id = counter_number(s, report, object, name);
    sqlite3_bind_int64(q, 2, id);
    bind(q, 3, v);
    return id && done(s, q);
}

/* All numbers of a report's totals. */
static bool put_values(struct store *s, sqlite3_int64 run, json_t *report) {
    sqlite3_stmt *q = store_prepare(s, "INSERT INTO value(run, counter, value) VALUES(?, ?, ?)");
    bool ok = q;
    const char *object, *name;
    json_t *members, *v;
    sqlite3_bind_int64(q, 1, run);
    json_object_foreach(json_object_get(report, "totals"), object, members) {
        ok = ok && put_value(s, q, report, "", object, members);
        json_object_foreach(members, name, v) ok = ok && put_value(s, q, report, object, name, v);
    }
    sqlite3_finalize(q);
    return ok;
}

/* ---- launches ---- */

/* "6,6,1" from a list; NULL from anything else. */
static char *numbers_text(const json_t *list) {
    struct str s = {0};
    size_t i;
    json_t *v;
    json_array_foreach(list, i, v) str_printf(&s, "%s%lld", i ? "," : "", (long long)json_integer_value(v));
    return s.at;
}

static json_t *list_of(json_t *report) {
    json_t *kernels = json_object_get(report, "kernels");
    return kernels ? kernels : json_object_get(report, "programs");
}

/* The counters of one launch, by a statement whose run is bound. There are many launches and most counters of
 * each are 0: those have no row. */
static bool put_kernel_values(struct store *s, sqlite3_stmt *q, json_t *report, size_t number, json_t *k) {
    bool ok = true;
    const char *object, *name;
    json_t *members, *v;
    sqlite3_bind_int64(q, 4, (sqlite3_int64)number);
    json_object_foreach(k, object, members) {
        ok = ok && (json_number_value(members) == 0 || put_value(s, q, report, "", object, members));
        json_object_foreach(members, name, v) ok =
            ok && (json_number_value(v) == 0 || put_value(s, q, report, object, name, v));
    }
    return ok;
}

static bool put_kernels(struct store *s, sqlite3_int64 run, json_t *report) {
    sqlite3_stmt *q = store_prepare(s, "INSERT INTO kernel VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
                 *values = store_prepare(
                     s, "INSERT INTO kernel_value(run, counter, value, kernel) VALUES(?, ?, ?, ?)");
    bool ok = q && values;
    sqlite3_bind_int64(values, 1, run);
    size_t i;
    json_t *k;
    json_array_foreach(list_of(report), i, k) {
        char *grid = numbers_text(json_object_get(k, "grid")),
             *block = numbers_text(json_object_get(k, "block"));
        json_t *insts = json_object_get(k, "warp_insts");
        const char *name = json_string_value(json_object_get(k, "name"));
        sqlite3_bind_int64(q, 1, run);
        sqlite3_bind_int64(q, 2, (sqlite3_int64)i);
        bind_text(q, 3, name ? name : "");
        bind(q, 4, json_object_get(k, "demangled"));
        bind_text(q, 5, grid);
        bind_text(q, 6, block);
        bind(q, 7, json_object_get(k, "timed"));
        bind(q, 8, json_object_get(k, "cycles"));
        bind(q, 9, insts ? insts : json_object_get(k, "insts"));
        bind(q, 10, json_object_get(k, "thread_insts"));
        bind(q, 11, json_object_get(json_object_get(k, "energy"), "total"));
        bind(q, 12, json_object_get(k, "digest"));
        ok = ok && done(s, q) && put_kernel_values(s, values, report, i, k);
        free(grid);
        free(block);
    }
    sqlite3_finalize(q);
    sqlite3_finalize(values);
    return ok;
}

/* ---- runs ---- */

/* The number of the machine's row, which is made if there is none; 0 after a message. */
static sqlite3_int64 machine_number(struct store *s, const store_manifest *m, json_t *report) {
    json_t *gpu = json_object_get(report, "gpu"), *cpu = json_object_get(report, "cpu"),
           *settings = json_object_get(report, "settings");
    sqlite3_stmt *q = store_prepare(
        s, "INSERT INTO machine(hash, kind, name, settings) VALUES(?, ?, coalesce(?, ''), coalesce(?, '{}'))"
           " ON CONFLICT(hash) DO UPDATE SET hash = hash RETURNING id");
    bind(q, 1, json_object_get(m, "machine_hash"));
    bind_text(q, 2, cpu ? "cpu" : "gpu");
    bind(q, 3, cpu ? cpu : gpu);
    bind(q, 4, settings);
    return id_of(s, q);
}

/* The columns of a run that its manifest has, as it calls them. */
static const char *const columns[] = {
    "benchmark",    "workload",   "size",         "bits",    "seed",      "arguments", "gpu",
    "mech",         "probes",     "settings",     "checked", "max_insts", "version",   "simulator",
    "program_hash", "input_hash", "machine_hash", "host",    "started",   "wall_s",    "command",
};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

static bool put_run(struct store *s, const char *key, const store_manifest *m, json_t *report, bool results) {
    sqlite3_int64 machine = machine_number(s, m, report);
    struct str sql = {0};
    str_printf(&sql, "INSERT INTO run(key, machine, approximate, timed, digest, results, peak_rss_mb");
    for (int i = 0; i < COLUMNS; i++)
        str_printf(&sql, ", %s", columns[i]);
    str_printf(&sql, ") VALUES(?, ?, ?, ?, ?, ?, ?");
    for (int i = 0; i < COLUMNS; i++)
        str_printf(&sql, ", ?");
    str_printf(&sql, ")");
    sqlite3_stmt *q = machine ? store_prepare(s, sql.at) : NULL;
    str_free(&sql);
    json_t *all = json_object_get(report, "totals");
    bind_text(q, 1, key);
    sqlite3_bind_int64(q, 2, machine);
    sqlite3_bind_int(q, 3, json_is_true(json_object_get(report, "approximate")));
    bind(q, 4, json_object_get(all, "timed"));
    bind(q, 5, json_object_get(all, "digest"));
    sqlite3_bind_int(q, 6, results);
    bind(q, 7, json_object_get(json_object_get(report, "host"), "peak_rss_mb"));
    for (int i = 0; i < COLUMNS; i++)
        bind(q, 8 + i, json_object_get(m, columns[i]));
    bool ok = q && done(s, q);
    sqlite3_finalize(q);
    return ok;
}

static bool delete_key(struct store *s, const char *sql, const char *key) {
    sqlite3_stmt *q = store_prepare(s, sql);
    bind_text(q, 1, key);
    bool ok = q && done(s, q);
    sqlite3_finalize(q);
    return ok;
}

bool store_put(struct store *s, const struct run_key *key, const store_manifest *m, json_t *report,
               const char *results) {
    char text[17];
    key_text(key, text);
    char *kept = store_results(s, text);
    /* The results come first: a row is there when they are. The same run gives the same ones. */
    bool ok = !results || !rename(results, kept);
    if (!ok)
        fprintf(stderr, "reprise: %s cannot be kept\n", kept);
    free(kept);
    ok = ok && begin(s);
    if (!ok)
        return false;
    ok = delete_key(s, "DELETE FROM run WHERE key = ?", text) &&
         delete_key(s, "DELETE FROM failure WHERE key = ?", text) &&
         put_run(s, text, m, report, results != NULL);
    sqlite3_int64 run = sqlite3_last_insert_rowid(s->db);
    ok = ok && put_values(s, run, report) && put_kernels(s, run, report);
    return end(s, ok);
}

/* ---- finding ---- */

bool store_has(struct store *s, const struct run_key *key, bool results) {
    char text[17];
    key_text(key, text);
    sqlite3_stmt *q = store_prepare(s, "SELECT results FROM run WHERE key = ?");
    bind_text(q, 1, text);
    bool found = q && sqlite3_step(q) == SQLITE_ROW;
    bool ok = found && (!results || sqlite3_column_int(q, 0));
    sqlite3_finalize(q);
    char *path = results && ok ? store_results(s, text) : NULL;
    ok = ok && (!path || !access(path, R_OK));
    free(path);
    return ok;
}

static json_t *column_json(sqlite3_stmt *q, int at) {
    switch (sqlite3_column_type(q, at)) {
    case SQLITE_INTEGER:
        return json_integer(sqlite3_column_int64(q, at));
    case SQLITE_FLOAT:
        return json_real(sqlite3_column_double(q, at));
    default:
        return json_null();
    }
}

/* The totals of a run, as its report had them; by name, whoever came first. */
static json_t *get_totals(struct store *s, sqlite3_int64 run) {
    json_t *all = json_object();
    sqlite3_stmt *q =
        store_prepare(s, "SELECT part, name, value FROM value JOIN counter ON counter.id = value.counter"
                         " WHERE run = ? ORDER BY part, name");
    sqlite3_bind_int64(q, 1, run);
    while (q && sqlite3_step(q) == SQLITE_ROW) {
        const char *part = (const char *)sqlite3_column_text(q, 0),
                   *name = (const char *)sqlite3_column_text(q, 1);
        json_t *to = all;
        if (strcmp(part, "total")) {
            to = json_object_get(all, object_of(part));
            if (!to) {
                to = json_object();
                json_object_set_new(all, object_of(part), to);
            }
        }
        json_object_set_new(to, name, column_json(q, 2));
    }
    sqlite3_finalize(q);
    return all;
}

static json_t *get_kernels(struct store *s, sqlite3_int64 run) {
    json_t *all = json_array();
    sqlite3_stmt *q = store_prepare(s, "SELECT name, digest FROM kernel WHERE run = ? ORDER BY number");
    sqlite3_bind_int64(q, 1, run);
    while (q && sqlite3_step(q) == SQLITE_ROW) {
        json_t *k = json_pack("{s:s}", "name", (const char *)sqlite3_column_text(q, 0));
        if (sqlite3_column_type(q, 1) == SQLITE_TEXT)
            json_object_set_new(k, "digest", json_string((const char *)sqlite3_column_text(q, 1)));
        json_array_append_new(all, k);
    }
    sqlite3_finalize(q);
    return all;
}

bool store_find(struct store *s, const struct run_key *key, struct store_row *row) {
    char text[17];
    key_text(key, text);
    sqlite3_stmt *q = store_prepare(
        s, "SELECT run.id, kind, name, machine.settings, mech, approximate, timed, digest,"
           " results, json_object('version', version, 'simulator', simulator, 'machine_hash',"
           " machine_hash, 'program_hash', program_hash, 'input_hash', input_hash, 'host', host,"
           " 'started', started, 'wall_s', wall_s, 'command', command)"
           " FROM run JOIN machine ON machine.id = run.machine WHERE key = ?");
    *row = (struct store_row){0};
    bind_text(q, 1, text);
    if (!q || sqlite3_step(q) != SQLITE_ROW) {
        sqlite3_finalize(q);
        return false;
    }
    sqlite3_int64 run = sqlite3_column_int64(q, 0);
    json_t *all =
        json_pack("{s:i, s:s, s:s}", "schema", 1, (const char *)sqlite3_column_text(q, 1),
                  (const char *)sqlite3_column_text(q, 2), "mech", (const char *)sqlite3_column_text(q, 4));
    json_object_set_new(all, "settings", json_loads((const char *)sqlite3_column_text(q, 3), 0, NULL));
    json_t *sums = get_totals(s, run);
    static const char *const texts[] = {"timed", "digest"};
    for (int i = 0; i < 2; i++)
        if (sqlite3_column_type(q, 6 + i) == SQLITE_TEXT)
            json_object_set_new(sums, texts[i], json_string((const char *)sqlite3_column_text(q, 6 + i)));
    json_object_set_new(all, "kernels", get_kernels(s, run));
    json_object_set_new(all, "totals", sums);
    if (sqlite3_column_int(q, 5))
        json_object_set_new(all, "approximate", json_true());
    json_object_set_new(all, "manifest", json_loads((const char *)sqlite3_column_text(q, 9), 0, NULL));
    row->report = all;
    if (sqlite3_column_int(q, 8))
        row->results = store_results(s, text);
    sqlite3_finalize(q);
    return true;
}

/* ---- failures, comparisons, times ---- */

static void time_text(char text[32]) {
    time_t now = time(NULL);
    struct tm utc;
    strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
}

void store_fail(struct store *s, const struct run_key *key, const store_manifest *m, const char *model,
                const char *message) {
    char text[17], now[32];
    key_text(key, text);
    time_text(now);
    sqlite3_stmt *q = store_prepare(
        s, "INSERT INTO failure VALUES(?1, ?2, ?3, ?4, ?5, 1, ?6) ON CONFLICT(key) DO UPDATE SET"
           " message = ?4, command = ?5, attempts = attempts + 1, ended = ?6");
    bind_text(q, 1, text);
    bind(q, 2, json_object_get(m, "benchmark"));
    bind_text(q, 3, model);
    bind_text(q, 4, message);
    bind(q, 5, json_object_get(m, "command"));
    bind_text(q, 6, now);
    if (q)
        done(s, q);
    sqlite3_finalize(q);
}

static char *column_copy(sqlite3_stmt *q, int at) {
    const char *text = (const char *)sqlite3_column_text(q, at);
    return xstrdup(text ? text : "");
}

uint32_t store_failure(struct store *s, const struct run_key *key, char **message, char **command) {
    char text[17];
    key_text(key, text);
    sqlite3_stmt *q = store_prepare(s, "SELECT attempts, message, command FROM failure WHERE key = ?");
    uint32_t attempts = 0;
    bind_text(q, 1, text);
    if (q && sqlite3_step(q) == SQLITE_ROW) {
        attempts = (uint32_t)sqlite3_column_int(q, 0);
        *message = column_copy(q, 1);
        *command = column_copy(q, 2);
    }
    sqlite3_finalize(q);
    return attempts;
}

static bool put_errors(struct store *s, sqlite3_int64 run, sqlite3_int64 of, json_t *error) {
    sqlite3_stmt *q = store_prepare(s, "INSERT OR REPLACE INTO error VALUES(?, ?, ?, ?)");
    bool ok = q;
    const char *name;
    json_t *v;
    json_object_foreach(error, name, v) {
        if (!json_is_number(v))
            continue;
        sqlite3_bind_int64(q, 1, run);
        sqlite3_bind_int64(q, 2, of);
        bind_text(q, 3, name);
        bind(q, 4, v);
        ok = ok && done(s, q);
    }
    sqlite3_finalize(q);
    return ok;
}

void store_compare(struct store *s, const struct run_key *key, const struct run_key *base, const char *wrong,
                   json_t *error) {
    if (!begin(s))
        return;
    sqlite3_int64 run = run_number(s, key), of = run_number(s, base);
    sqlite3_stmt *q =
        run && of ? store_prepare(s, "INSERT OR REPLACE INTO comparison VALUES(?, ?, ?, ?)") : NULL;
    bool ok = true;
    if (q) {
        sqlite3_bind_int64(q, 1, run);
        sqlite3_bind_int64(q, 2, of);
        bind_text(q, 3, wrong ? "wrong" : "ok");
        bind_text(q, 4, wrong);
        ok = done(s, q) && put_errors(s, run, of, error);
    }
    sqlite3_finalize(q);
    end(s, ok);
}

int store_verdict(struct store *s, const struct run_key *key, const struct run_key *base, char **message) {
    char texts[2][17];
    key_text(key, texts[0]);
    key_text(base, texts[1]);
    sqlite3_stmt *q = store_prepare(
        s, "SELECT verdict, message FROM comparison WHERE run = (SELECT id FROM run WHERE key = ?)"
           " AND base = (SELECT id FROM run WHERE key = ?)");
    int verdict = 0;
    bind_text(q, 1, texts[0]);
    bind_text(q, 2, texts[1]);
    if (q && sqlite3_step(q) == SQLITE_ROW) {
        verdict = strcmp((const char *)sqlite3_column_text(q, 0), "ok") ? -1 : 1;
        if (verdict < 0)
            *message = column_copy(q, 1);
    }
    sqlite3_finalize(q);
    return verdict;
}

double store_seconds(struct store *s, const char *benchmark, const char *size, const char *mech) {
    static const char *const questions[] = {
        "SELECT avg(wall_s) FROM run WHERE benchmark = ?1 AND mech = ?3 AND size IS ?2",
        "SELECT avg(wall_s) FROM run WHERE benchmark = ?1 AND size IS ?2",
        "SELECT avg(wall_s) FROM run WHERE benchmark = ?1",
        "SELECT avg(wall_s) FROM run WHERE size IS ?2 AND ?1 = ?1",
        "SELECT avg(wall_s) FROM run",
    };
    double seconds = NAN;
    for (size_t i = 0; isnan(seconds) && i < sizeof questions / sizeof questions[0]; i++) {
        sqlite3_stmt *q = store_prepare(s, questions[i]);
        const char *const values[] = {benchmark, size, mech};
        for (int k = 0; q && k < sqlite3_bind_parameter_count(q); k++)
            bind_text(q, 1 + k, values[k]);
        if (q && sqlite3_step(q) == SQLITE_ROW && sqlite3_column_type(q, 0) == SQLITE_FLOAT)
            seconds = sqlite3_column_double(q, 0);
        sqlite3_finalize(q);
    }
    return seconds;
}
