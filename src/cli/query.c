/* reprise query: what the store has. */
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/io.h"
#include "cli/cli.h"
#include "study/query.h"
#include "study/store.h"

static const char help[] =
    "usage: reprise query [options]\n"
    "       reprise query [options] 'SELECT ...'\n"
    "\n"
    "Prints runs that 'reprise compare', 'repro' and 'sweep' have kept: what ran, cycles, instructions\n"
    "and energy in joules; or the answer to a question in SQL, for which docs/results.md lists tables\n"
    "and views. Nothing is changed.\n"
    "\n"
    "  --benchmark NAME  only these (as --mech, --gpu and --size; each repeatable)\n"
    "  --mech NAME       ... with these mechanisms, 'base' for none\n"
    "  --gpu NAME        ... on this GPU\n"
    "  --size S          ... of this size\n"
    "  --counter NAME    one column more, see 'reprise list counters'; energy.PART is energy in\n"
    "                    joules (repeatable)\n"
    "  --kernels         one line for each launch of a kernel in these runs\n"
    "  --tidy            one line for each number, with its unit\n"
    "  --failures        runs that failed and have not succeeded since, with what repeats them\n"
    "  --csv FILE        write it as CSV, - for stdout, with all columns: the table that is printed says\n"
    "                    above it what all rows have in common, and leaves out what none has\n"
    "  --json FILE       ... as JSON, a list of objects\n"
    "  --sql FILE        ... as statements of SQL that make a table 'result'\n"
    "  --store DIR       where runs are kept (see docs/results.md)\n"
    "\n"
    "examples: reprise query --mech wir --counter l1.read_hits --csv wir.csv\n"
    "          reprise query \"SELECT mech, avg(ipc) FROM runs WHERE benchmark = 'nw' GROUP BY mech\"\n";

/* What rows are chosen by, and what is shown. */
enum { FILTERS = 4 };
static const char *const filters[FILTERS] = {"benchmark", "mech", "gpu", "size"};

struct request {
    const char *store, *sql;
    VEC(const char *) values[FILTERS];
    VEC(const char *) counters;
    bool kernels, tidy, failures;
    const char *files[3];
};

static const struct {
    const char *option;
    bool (*write)(sqlite3_stmt *q, FILE *to);
} formats[] = {{"--csv", query_csv}, {"--json", query_json}, {"--sql", query_sql}};
enum { FORMATS = sizeof formats / sizeof formats[0] };

/* ---- the command line ---- */

static const char *next_option(void *ctx, uint32_t i) {
    static const char *const options[] = {"--benchmark", "--mech",  "--gpu",      "--size", "--counter",
                                          "--kernels",   "--tidy",  "--failures", "--csv",  "--json",
                                          "--sql",       "--store", NULL};
    (void)ctx;
    return options[i];
}

static int unknown(const char *word) {
    const char *near = diag_nearest(word, strlen(word), next_option, NULL);
    struct str what = {0};
    str_printf(&what, "unknown option %s%s%s%s", word, near ? "; did you mean " : "", near ? near : "",
               near ? "?" : "");
    cli_usage_error(help, str_text(&what), "");
    str_free(&what);
    return 2;
}

/* Takes an option that has a value; false when it is none of those. */
static bool take_value(struct request *r, const char *option, const char *value) {
    for (int i = 0; i < FILTERS; i++)
        if (!strcmp(option + 2, filters[i])) {
            vec_push(&r->values[i], value);
            return true;
        }
    for (int i = 0; i < FORMATS; i++)
        if (!strcmp(option, formats[i].option)) {
            r->files[i] = value;
            return true;
        }
    if (!strcmp(option, "--counter"))
        vec_push(&r->counters, value);
    else if (!strcmp(option, "--store"))
        r->store = value;
    else
        return false;
    return true;
}

static int take(struct request *r, int argc, char **argv) {
    for (int i = 0; i < argc; i++) {
        const char *near = next_option(NULL, 0);
        uint32_t k = 0;
        if (argv[i][0] != '-') {
            if (r->sql)
                return cli_usage_error(help, "one question at a time; is it in quotes?", "");
            r->sql = argv[i];
            continue;
        }
        while (near && strcmp(near, argv[i]))
            near = next_option(NULL, ++k);
        if (!near)
            return unknown(argv[i]);
        bool *flag = !strcmp(argv[i], "--kernels")    ? &r->kernels
                     : !strcmp(argv[i], "--tidy")     ? &r->tidy
                     : !strcmp(argv[i], "--failures") ? &r->failures
                                                      : NULL;
        if (flag)
            *flag = true;
        else if (i + 1 == argc)
            return cli_usage_error(help, "a value is needed after", argv[i]);
        else if (take_value(r, argv[i], argv[i + 1]))
            i++;
    }
    bool chosen = r->kernels || r->tidy || r->counters.len;
    for (int i = 0; i < FILTERS; i++)
        chosen |= r->values[i].len != 0;
    if (chosen && (r->sql || r->failures))
        return cli_usage_error(help, "a question in SQL, or --failures, chooses rows by itself", "");
    return 0;
}

/* ---- the question ---- */

struct names {
    sqlite3_stmt *q;
    VEC(char *) all;
};

static const char *next_name(void *ctx, uint32_t i) {
    const struct names *n = ctx;
    return i < n->all.len ? n->all.at[i] : NULL;
}

/* A counter that nobody has counted: says so, with one of a name like it. */
static void no_counter(sqlite3 *db, const char *name) {
    struct names n = {0};
    if (sqlite3_prepare_v2(
            db, "SELECT iif(part IN ('energy', 'gpuwattch'), part || '.', '') || name FROM counter", -1, &n.q,
            NULL) == SQLITE_OK)
        while (sqlite3_step(n.q) == SQLITE_ROW)
            vec_push(&n.all, xstrdup((const char *)sqlite3_column_text(n.q, 0)));
    const char *near = diag_nearest(name, strlen(name), next_name, &n);
    fprintf(stderr, "reprise: no run has a counter '%s'%s%s%s\n", name,
            near ? "; did you mean '" : "; 'reprise list counters' names them", near ? near : "",
            near ? "'?" : "");
    for (uint32_t i = 0; i < n.all.len; i++)
        free(n.all.at[i]);
    vec_free(&n.all);
    sqlite3_finalize(n.q);
}

/* The number of a counter by the name that people give it; 0 when there is none. */
static sqlite3_int64 counter_number(sqlite3 *db, const char *name) {
    sqlite3_stmt *q;
    sqlite3_int64 id = 0;
    if (sqlite3_prepare_v2(
            db,
            "SELECT id FROM counter WHERE (part IN ('total', 'counter', 'derived') AND name = ?1)"
            " OR (part IN ('energy', 'gpuwattch') AND part || '.' || name = ?1) ORDER BY id LIMIT 1",
            -1, &q, NULL) != SQLITE_OK)
        return 0;
    sqlite3_bind_text(q, 1, name, -1, SQLITE_STATIC);
    if (sqlite3_step(q) == SQLITE_ROW)
        id = sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    return id;
}

/* Adds a column for each counter; false after a message. */
static bool add_counters(const struct request *r, sqlite3 *db, struct str *sql) {
    for (uint32_t i = 0; i < r->counters.len; i++) {
        sqlite3_int64 id = counter_number(db, r->counters.at[i]);
        if (!id) {
            no_counter(db, r->counters.at[i]);
            return false;
        }
        char *name = sqlite3_mprintf("\"%w\"", r->counters.at[i]);
        if (r->kernels) /* what is 0 in a launch has no row; that of a run which lacks it is not known */
            str_printf(
                sql,
                ", iif(EXISTS(SELECT 1 FROM value WHERE value.run = kernels.run AND counter = %lld) AND"
                " EXISTS(SELECT 1 FROM kernel_value AS v WHERE v.run = kernels.run AND kernel = number),"
                " coalesce((SELECT value FROM kernel_value AS v WHERE v.run = kernels.run AND"
                " kernel = number AND counter = %lld), 0), NULL) AS %s",
                (long long)id, (long long)id, name);
        else
            str_printf(sql, ", (SELECT value FROM value WHERE value.run = runs.id AND counter = %lld) AS %s",
                       (long long)id, name);
        sqlite3_free(name);
    }
    return true;
}

/* Adds what rows are chosen by; their values are bound in this order. */
static void add_filters(const struct request *r, struct str *sql) {
    const char *word = " WHERE";
    for (int i = 0; i < FILTERS; i++) {
        for (uint32_t k = 0; k < r->values[i].len; k++)
            str_printf(sql, k ? ", ?" : "%s %s IN (?", word, filters[i]);
        if (r->values[i].len) {
            str_printf(sql, ")");
            word = " AND";
        }
    }
}

/* The question that a request means; false after a message. */
static bool question(const struct request *r, sqlite3 *db, struct str *sql) {
    if (r->sql) {
        str_printf(sql, "%s", r->sql);
        return true;
    }
    if (r->failures) {
        str_printf(sql, "SELECT model, attempts, ended, command, message FROM failure ORDER BY ended, key");
        return true;
    }
    if (r->tidy)
        str_printf(sql, "SELECT * FROM %s", r->kernels ? "tidy_kernels" : "tidy");
    else if (r->kernels)
        str_printf(sql, "SELECT benchmark, size, bits, seed, gpu, mech, nullif(settings, '[]') AS settings, "
                        "nullif(probes, '') AS probes,"
                        " number, coalesce(demangled, name) AS kernel, grid, block, timed, cycles, insts,"
                        " energy");
    else
        str_printf(sql, "SELECT benchmark, size, bits, seed, gpu, mech, nullif(settings, '[]') AS settings, "
                        "nullif(probes, '') AS probes,"
                        " cycles, insts, ipc, energy");
    if (!r->tidy && !add_counters(r, db, sql))
        return false;
    str_printf(sql, "%s", r->tidy ? "" : r->kernels ? " FROM kernels" : " FROM runs");
    add_filters(r, sql);
    if (!r->tidy)
        str_printf(sql, " ORDER BY benchmark, size, bits, seed, gpu, mech, settings, %s",
                   r->kernels ? "run, number" : "id");
    return true;
}

/* ---- the answer ---- */

/* Writes the answer once; false after a message. */
static bool answer(sqlite3 *db, sqlite3_stmt *q, bool (*write)(sqlite3_stmt *, FILE *), const char *path) {
    struct io_file f = {.to = stdout};
    if (path && !io_begin(&f, path))
        return false;
    bool ok = write(q, f.to);
    if (!ok)
        fprintf(stderr, "reprise: %s\n", sqlite3_errmsg(db));
    if (path)
        ok = io_end(&f, ok) && ok;
    sqlite3_reset(q);
    return ok;
}

static bool query(const struct request *r, struct store *s) {
    struct str sql = {0};
    sqlite3 *db = store_db(s);
    sqlite3_stmt *q = NULL;
    const char *rest = "";
    bool ok =
        sqlite3_exec(db, "PRAGMA query_only = ON", NULL, NULL, NULL) == SQLITE_OK && question(r, db, &sql);
    if (ok && sqlite3_prepare_v2(db, sql.at, -1, &q, &rest) != SQLITE_OK) {
        fprintf(stderr, "reprise: %s\n", sqlite3_errmsg(db));
        ok = false;
    }
    if (ok && (!q || rest[strspn(rest, " \t\n;")] || !sqlite3_stmt_readonly(q) || !sqlite3_column_count(q))) {
        fprintf(stderr, "reprise: that is not one question: a SELECT that changes nothing\n");
        ok = false;
    }
    int at = 1;
    for (int i = 0; ok && i < FILTERS; i++)
        for (uint32_t k = 0; k < r->values[i].len; k++)
            sqlite3_bind_text(q, at++, r->values[i].at[k], -1, SQLITE_STATIC);
    bool to_file = false;
    for (int i = 0; ok && i < FORMATS; i++)
        if (r->files[i]) {
            to_file = true;
            ok = answer(db, q, formats[i].write, strcmp(r->files[i], "-") ? r->files[i] : NULL);
        }
    if (ok && !to_file)
        ok = answer(db, q, r->sql ? query_print : query_brief, NULL);
    sqlite3_finalize(q);
    str_free(&sql);
    return ok;
}

int cli_query(int argc, char **argv) {
    if (argc && !strcmp(argv[0], "--help")) {
        fputs(help, stdout);
        return 0;
    }
    struct request r = {0};
    int rc = take(&r, argc, argv);
    const char *place = r.store ? r.store : store_usual();
    if (!rc && !place)
        rc = cli_usage_error(help, "where is the store? --store names it", "");
    struct store *s = rc ? NULL : store_open(place, STORE_READ);
    if (!rc)
        rc = s && query(&r, s) ? 0 : 1;
    if (s)
        store_close(s);
    for (int i = 0; i < FILTERS; i++)
        vec_free(&r.values[i]);
    vec_free(&r.counters);
    return rc;
}
