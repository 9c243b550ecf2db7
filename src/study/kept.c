/* From rows of a store to tables. */
#include "study/kept.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

enum {
    LAUNCHES = 24, /* of a run that are shown: as many as are known of a real GPU */
    MOST = 2000    /* runs that a page can show */
};

/* What the manifest tells of each run: columns of the question below, from the first on. */
static const char *const manifest[] = {
    "key",       "benchmark",    "size",       "bits",         "gpu",  "mech",    "max_insts", "version",
    "simulator", "program_hash", "input_hash", "machine_hash", "host", "started", "wall_s",    "command"};
enum {
    NMANIFEST = sizeof manifest / sizeof manifest[0],
    C_KEY = 0,
    C_BENCHMARK,
    C_SIZE,
    C_BITS,
    C_GPU,
    C_MECH,
    C_MAX_INSTS,
    C_VERSION,
    C_MACHINE = NMANIFEST,
    C_ARGUMENTS,
    C_SEED,
    C_SETTINGS,
    C_PROBES,
    C_ID
};

#define ON_GPUS "machine IN (SELECT id FROM machine WHERE kind = 'gpu')"
#define NEWEST                                                                                               \
    ON_GPUS " AND simulator = (SELECT simulator FROM run WHERE " ON_GPUS                                     \
            " ORDER BY started DESC, id DESC LIMIT 1)"
/* What runs have in common that are compared with each other. The largest such group comes first; in it
 * benchmarks and models come in the order in which the first of each did, however runs at the same time
 * ended.
 */
#define GROUP "gpu, size, bits, max_insts"
static const char count_sql[] = "SELECT count(*) FROM run WHERE " NEWEST;
static const char runs_sql[] =
    "SELECT key, benchmark, size, bits, gpu, mech, max_insts, version, simulator, program_hash, input_hash,"
    " machine_hash, host, started, wall_s, command, machine.name, arguments, seed, run.settings, probes, "
    "run.id"
    " FROM run JOIN machine ON machine.id = run.machine WHERE run.id IN (SELECT id FROM run WHERE " NEWEST
    " ORDER BY started DESC, id DESC LIMIT ?)"
    " WINDOW alike AS (PARTITION BY " GROUP "),"
    " benches AS (PARTITION BY " GROUP ", benchmark, arguments, seed),"
    " models AS (PARTITION BY " GROUP ", mech, probes, run.settings)"
    " ORDER BY count(*) OVER alike DESC, " GROUP ", min(run.id) OVER benches, mech <> 'base',"
    " min(run.id) OVER models, run.id";

/* Runs that are compared with each other, while they are gathered. */
struct group {
    struct table table;
    json_t *manifest, *launches; /* launches: a list for each row, or null */
    char *name, *version;        /* name NULL: there is none yet */
};

static const char *text_at(sqlite3_stmt *q, int column) {
    const char *text = (const char *)sqlite3_column_text(q, column);
    return text ? text : "";
}

static json_t *value_at(sqlite3_stmt *q, int column) {
    switch (sqlite3_column_type(q, column)) {
    case SQLITE_INTEGER:
        return json_integer(sqlite3_column_int64(q, column));
    case SQLITE_FLOAT:
        return json_real(sqlite3_column_double(q, column));
    case SQLITE_TEXT:
        return json_string(text_at(q, column));
    default:
        return json_null();
    }
}

/* What a group is called, which also says what its runs have in common. */
static void add_group_name(struct str *out, sqlite3_stmt *q) {
    str_printf(out, "%s", text_at(q, C_GPU));
    if (*text_at(q, C_SIZE))
        str_printf(out, ", %s, %s-bit", text_at(q, C_SIZE), text_at(q, C_BITS));
    if (sqlite3_column_type(q, C_MAX_INSTS) != SQLITE_NULL)
        str_printf(out, ", %s warp instructions timed at most", text_at(q, C_MAX_INSTS));
}

/* Adds the words of a JSON list to a label. */
static void add_words(struct str *out, const char *list, const char *between) {
    json_t *words = json_loads(list, 0, NULL), *word;
    size_t i;
    json_array_foreach(words, i, word) {
        if (json_is_string(word))
            str_printf(out, "%s%s", between, json_string_value(word));
    }
    json_decref(words);
}

static uint32_t bench_of(struct table *t, sqlite3_stmt *q) {
    struct str label = {0};
    str_printf(&label, "%s", text_at(q, C_BENCHMARK));
    if (sqlite3_column_type(q, C_SEED) != SQLITE_NULL)
        str_printf(&label, ":seed=%s", text_at(q, C_SEED));
    if (*text_at(q, C_SIZE)) /* of a program the benchmark is called by its arguments */
        add_words(&label, text_at(q, C_ARGUMENTS), " ");
    uint32_t bench = table_add_bench(t, label.at);
    str_free(&label);
    return bench;
}

static uint32_t model_of(struct table *t, sqlite3_stmt *q) {
    struct str label = {0}, set = {0};
    str_printf(&label, "%s", text_at(q, C_MECH));
    if (*text_at(q, C_PROBES))
        str_printf(&label, ":%s", text_at(q, C_PROBES));
    add_words(&set, text_at(q, C_SETTINGS), ":");
    str_printf(&label, "%s", str_text(&set));
    uint32_t old = t->models.len, model = table_add_model(t, label.at);
    struct model *m = &t->models.at[model];
    if (model == old) {
        m->mech = xstrdup(text_at(q, C_MECH));
        str_printf(&m->probes, "%s", text_at(q, C_PROBES));
        vec_push(&m->set, xstrdup(str_text(&set)));
    }
    str_free(&label);
    str_free(&set);
    return model;
}

/* Has each model compared with the base machine of its settings, or of none; without one, and the base
 * machine when it is only watched, with itself. */
static void find_bases(struct table *t) {
    for (uint32_t m = 0; m < t->models.len; m++) {
        struct model *model = &t->models.at[m];
        uint32_t plain = m, same = m;
        for (uint32_t b = t->models.len; b-- > 0;) {
            const struct model *base = &t->models.at[b];
            if (strcmp(base->mech, "base") || base->probes.len)
                continue;
            plain = *base->set.at[0] ? plain : b;
            same = strcmp(base->set.at[0], model->set.at[0]) ? same : b;
        }
        bool watched = !strcmp(model->mech, "base") && model->probes.len;
        model->base = watched ? m : same != m || !strcmp(model->mech, "base") ? same : plain;
    }
}

/* The first launches of a run, as its report has them. */
static json_t *launches_of(sqlite3 *db, sqlite3_int64 run) {
    json_t *all = json_array();
    sqlite3_stmt *q = NULL;
    sqlite3_prepare_v2(
        db,
        "SELECT name, grid, block, timed, cycles, insts FROM kernel WHERE run = ? AND number < ?"
        " ORDER BY number",
        -1, &q, NULL);
    sqlite3_bind_int64(q, 1, run);
    sqlite3_bind_int(q, 2, LAUNCHES);
    while (q && sqlite3_step(q) == SQLITE_ROW)
        json_array_append_new(all, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "name", value_at(q, 0), "grid",
                                             value_at(q, 1), "block", value_at(q, 2), "timed", value_at(q, 3),
                                             "cycles", value_at(q, 4), "warp_insts", value_at(q, 5)));
    sqlite3_finalize(q);
    return all;
}

/* What was found when the run was compared with the base machine's. */
static void add_verdict(sqlite3 *db, sqlite3_int64 run, struct row *row) {
    sqlite3_stmt *q = NULL;
    sqlite3_prepare_v2(db, "SELECT message FROM comparison WHERE run = ? AND verdict = 'wrong'", -1, &q,
                       NULL);
    sqlite3_bind_int64(q, 1, run);
    if (q && sqlite3_step(q) == SQLITE_ROW) {
        row->status = ROW_WRONG;
        row->message = xstrdup(text_at(q, 0));
    }
    sqlite3_finalize(q);
    sqlite3_prepare_v2(db, "SELECT name, value FROM error WHERE run = ?", -1, &q, NULL);
    sqlite3_bind_int64(q, 1, run);
    json_t *error = json_object();
    while (q && sqlite3_step(q) == SQLITE_ROW)
        json_object_set_new(error, text_at(q, 0), json_real(sqlite3_column_double(q, 1)));
    if (json_object_size(error))
        json_object_set(row->report, "error", error);
    json_decref(error);
    sqlite3_finalize(q);
}

/* Adds the run of the row at which a question stands; false when it has gone. Of several like it the last one
 * stays. */
static bool add_run(struct store *s, struct group *g, sqlite3_stmt *q) {
    struct run_key key = {.hash = strtoull(text_at(q, C_KEY), NULL, 16)};
    struct store_row found;
    if (!store_find(s, &key, &found))
        return false;
    free(found.results);
    struct table *t = &g->table;
    uint32_t bench = bench_of(t, q), model = model_of(t, q), old = t->rows.len;
    struct row *row = table_add(t, bench, model);
    uint32_t number = (uint32_t)(row - t->rows.at);
    json_decref(row->report);
    free(row->message);
    row->message = NULL;
    row->status = ROW_OK;
    row->report = found.report;
    add_verdict(store_db(s), sqlite3_column_int64(q, C_ID), row);
    json_t *launches = strcmp(text_at(q, C_MECH), "base")
                           ? json_null()
                           : launches_of(store_db(s), sqlite3_column_int64(q, C_ID));
    if (number == old)
        json_array_append_new(g->launches, launches);
    else
        json_array_set_new(g->launches, number, launches);
    json_t *told = json_object();
    for (int i = 0; i < NMANIFEST; i++)
        json_object_set_new(told, manifest[i], value_at(q, i));
    json_object_set_new(told, "machine", value_at(q, C_MACHINE));
    json_array_append_new(g->manifest, told);
    return true;
}

static void begin(struct group *g, const char *name, const char *version) {
    *g = (struct group){.manifest = json_array(),
                        .launches = json_array(),
                        .name = xstrdup(name),
                        .version = xstrdup(version)};
}

/* Adds a group to the list, and forgets it. */
static void end(struct group *g, json_t *list) {
    if (!g->name)
        return;
    find_bases(&g->table);
    json_t *value = table_json(&g->table), *run, *runs = json_object_get(value, "runs");
    size_t i;
    json_array_foreach(runs, i, run) {
        json_t *launches = json_array_get(g->launches, i);
        if (json_is_array(launches))
            json_object_set(run, "kernels", launches);
    }
    json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:o, s:o}", "name", g->name, "kind", "comparison",
                                          "version", g->version, "value", value, "manifest", g->manifest));
    json_decref(g->launches);
    table_free(&g->table);
    free(g->name);
    free(g->version);
    *g = (struct group){0};
}

/* How many runs there are to show. */
static int count_runs(struct store *s) {
    sqlite3_stmt *q = NULL;
    int n = 0;
    sqlite3_prepare_v2(store_db(s), count_sql, -1, &q, NULL);
    if (q && sqlite3_step(q) == SQLITE_ROW)
        n = sqlite3_column_int(q, 0);
    sqlite3_finalize(q);
    return n;
}

int kept_comparisons(struct store *s, json_t *list) {
    sqlite3_stmt *q = NULL;
    struct group g = {0};
    int n = 0, all = count_runs(s), rc = sqlite3_prepare_v2(store_db(s), runs_sql, -1, &q, NULL);
    if (all > MOST)
        fprintf(stderr, "reprise: of %d runs the newest %d are shown\n", all, MOST);
    sqlite3_bind_int(q, 1, MOST);
    while (rc == SQLITE_OK && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        struct str name = {0};
        add_group_name(&name, q);
        if (g.name && strcmp(g.name, name.at))
            end(&g, list);
        if (!g.name)
            begin(&g, name.at, text_at(q, C_VERSION));
        str_free(&name);
        n += add_run(s, &g, q);
        rc = SQLITE_OK;
    }
    end(&g, list);
    if (rc != SQLITE_DONE)
        fprintf(stderr, "reprise: %s: %s\n", store_path(s), sqlite3_errmsg(store_db(s)));
    sqlite3_finalize(q);
    return rc == SQLITE_DONE ? n : -1;
}
