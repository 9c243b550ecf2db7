/* reprise report: the JSON that other commands write, as one page of HTML. */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/io.h"
#include "base/map.h"
#include "cli/cli.h"
#include "cli/report.h"
#include "report/csv.h"
#include "study/kept.h"
#include "study/page.h"
#include "study/place.h"

static const char help[] =
    "usage: reprise report [options] [FILE.json...]\n"
    "\n"
    "Makes one HTML file of what other commands write with --json: comparisons ('reprise compare'),\n"
    "runs ('run'), profiles ('profile'), papers' figures (report/repro/PAPER.json of 'repro'), and\n"
    "pictures of approximated results (report/pictures/pictures.json of tools/pictures.py). It\n"
    "needs no network and no other file; its charts can be saved as SVG, PNG and CSV. Runs of workloads\n"
    "on the H200 are shown beside the counters of a real one. Without files, or with --store, it shows\n"
    "the runs that 'compare', 'repro' and 'sweep' have kept, those of the newest simulator among them.\n"
    "\n"
    "  -o FILE           where the page goes (default report/index.html)\n"
    "  --title TEXT      what it is called\n"
    "  --store DIR       where runs are kept (see docs/results.md)\n"
    "\n"
    "examples: reprise compare dozen --mech wir,darsie,dac --json c.json && reprise report c.json\n"
    "          reprise report report/repro/*.json -o papers.html\n";

struct request {
    const char *out, *title, *store;
    VEC(const char *) files;
};

static const struct {
    const char *name;
    size_t field; /* of struct request */
} options[] = {{"-o", offsetof(struct request, out)},
               {"--title", offsetof(struct request, title)},
               {"--store", offsetof(struct request, store)}};
enum { NOPTIONS = sizeof options / sizeof options[0] };

static const char *next_option(void *ctx, uint32_t i) {
    (void)ctx;
    return i < NOPTIONS ? options[i].name : NULL;
}

/* Takes the command line; 0, or the exit status after a message. */
static int take(struct request *r, int argc, char **argv) {
    for (int i = 0; i < argc; i++) {
        if (argv[i][0] != '-' || !argv[i][1]) {
            vec_push(&r->files, argv[i]);
            continue;
        }
        size_t k = 0;
        while (k < NOPTIONS && strcmp(argv[i], options[k].name))
            k++;
        if (k == NOPTIONS) {
            const char *near = diag_nearest(argv[i], strlen(argv[i]), next_option, NULL);
            return cli_usage_error(help, near ? "unknown option; did you mean" : "unknown option",
                                   near ? near : argv[i]);
        }
        if (i + 1 == argc)
            return cli_usage_error(help, "a value is needed after", argv[i]);
        *(const char **)(void *)((char *)r + options[k].field) = argv[++i];
    }
    return 0;
}

/* ---- what files hold ---- */

static bool is_profile(const json_t *v) {
    const char *kind = json_string_value(json_object_get(v, "kind"));
    return kind && !strcmp(kind, "profile") && json_is_array(json_object_get(v, "kernels"));
}

static bool is_run(const json_t *v) {
    return json_is_object(json_object_get(v, "totals")) && json_is_object(json_object_get(v, "settings"));
}

static bool is_comparison(const json_t *v) {
    return json_is_array(json_object_get(v, "runs")) && json_is_array(json_object_get(v, "models")) &&
           json_is_object(json_object_get(v, "geometric_means"));
}

static bool is_figures(const json_t *v) {
    return json_is_string(json_object_get(v, "paper")) && json_is_array(json_object_get(v, "figures"));
}

static bool is_pictures(const json_t *v) {
    return json_is_array(json_object_get(v, "pictures"));
}

/* Kinds of files, in the order in which they are tried; the page's scripts know them by their names. */
static const struct {
    const char *name;
    bool (*is)(const json_t *v);
} kinds[] = {
    {"figures", is_figures}, {"comparison", is_comparison},
    {"profile", is_profile}, {"pictures", is_pictures},
    {"run", is_run},
};
enum { NKINDS = sizeof kinds / sizeof kinds[0] };

/* Of a run's launches, which may be many, what the page shows. */
static void shorten_launches(json_t *run) {
    static const char *const kept[] = {"name", "demangled", "grid", "block", "timed", "cycles", "warp_insts"};
    json_t *launches = json_array(), *old;
    size_t i;
    json_array_foreach(json_object_get(run, "kernels"), i, old) {
        json_t *launch = json_object();
        for (size_t k = 0; k < sizeof kept / sizeof kept[0]; k++)
            json_object_set(launch, kept[k], json_object_get(old, kept[k]));
        json_array_append_new(launches, launch);
    }
    json_object_set_new(run, "kernels", launches);
}

/* The number of a machine's parameters in the list, to which they are added when they are not there yet. */
static size_t machine_number(json_t *machines, json_t *settings) {
    size_t n = json_array_size(machines);
    for (size_t i = 0; i < n; i++)
        if (json_equal(json_array_get(machines, i), settings))
            return i;
    json_array_append(machines, settings);
    return n;
}

/* Of a run, alone or compared with others, what the page shows: issue slots and energy, but not every
 * counter; its machine's parameters once for all runs. */
static void shorten_run(json_t *run, json_t *machines) {
    static const char *const kept[] = {"cycles", "timed", "warp_insts", "energy", "gpuwattch"};
    json_t *totals = json_object_get(run, "totals"), *settings = json_object_get(run, "settings"), *value;
    json_t *fewer = json_object(), *slots = json_object();
    const char *name;
    for (size_t k = 0; k < sizeof kept / sizeof kept[0]; k++)
        json_object_set(fewer, kept[k], json_object_get(totals, kept[k]));
    json_object_foreach(json_object_get(totals, "counters"), name, value) {
        if (!strncmp(name, "slot.", strlen("slot.")))
            json_object_set(slots, name, value);
    }
    json_object_set_new(fewer, "counters", slots);
    if (totals)
        json_object_set(run, "totals", fewer);
    json_decref(fewer);
    if (settings)
        json_object_set_new(run, "machine", json_integer((json_int_t)machine_number(machines, settings)));
    json_object_del(run, "settings");
    json_object_del(run, "manifest");
}

/* The same for whatever a source holds. */
static void shorten(json_t *source, json_t *machines) {
    json_t *value = json_object_get(source, "value"), *run;
    const char *kind = json_string_value(json_object_get(source, "kind"));
    size_t i;
    if (!strcmp(kind, "run")) {
        shorten_launches(value);
        shorten_run(value, machines);
    }
    json_array_foreach(json_object_get(value, "runs"), i, run) shorten_run(run, machines);
}

/* What a file is called in the page: its name without folder and suffix. */
static json_t *name_of(const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t n = strlen(name);
    if (n > 5 && !strcmp(name + n - 5, ".json"))
        n -= 5;
    json_t *text = json_stringn(name, n);
    return text ? text : json_string("?"); /* not UTF-8 */
}

/* Adds a file to the sources; false after a message. */
static bool add_source(json_t *sources, const char *path) {
    size_t len, kind = 0;
    char *text = io_read(path, &len), hash[17];
    json_error_t error;
    json_t *value = text ? json_loadb(text, len, 0, &error) : NULL;
    if (text && !value)
        fprintf(stderr, "reprise: %s:%d:%d: %s\n", path, error.line, error.column, error.text);
    if (text)
        snprintf(hash, sizeof hash, "%016" PRIx64, hash_bytes(text, len));
    free(text);
    while (value && kind < NKINDS && !kinds[kind].is(value))
        kind++;
    if (value && kind == NKINDS) {
        fprintf(stderr, "reprise: %s: this is not what reprise run, compare, profile or repro writes\n",
                path);
        json_decref(value);
        value = NULL;
    }
    if (!value)
        return false;
    json_array_append_new(sources, json_pack("{s:o, s:s, s:s, s:O*, s:o}", "name", name_of(path), "kind",
                                             kinds[kind].name, "hash", hash, "version",
                                             json_object_get(value, "version"), "value", value));
    return true;
}

/* Adds the runs that were kept; false after a message. */
static bool add_store(json_t *sources, const char *place) {
    const char *usual = place ? place : store_usual();
    struct store *s = usual ? store_open(usual, STORE_READ) : NULL;
    int n = s ? kept_comparisons(s, sources) : -1;
    if (!n)
        fprintf(stderr, "reprise: no runs on GPUs are kept in %s\n", usual);
    if (s)
        store_close(s);
    return n > 0;
}

/* ---- what else the page shows ---- */

/* The counters of a real GPU; an empty list, after a message, when they cannot be read. */
static json_t *hardware(void) {
    json_t *all = json_array();
    struct csv table = {0};
    char path[4096];
    size_t len;
    char *text = place_data("h200-counters.csv", path, sizeof path) ? io_read(path, &len) : NULL;
    bool ok = text && csv_parse(&table, text, len);
    static const char *const texts[] = {"workload", "size", "kernel", "grid", "block"};
    static const char *const numbers[] = {"launch", "cycles", "warp_insts"};
    for (uint32_t i = 1; ok && i < table.rows.len; i++) {
        json_t *row = json_object();
        for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++)
            json_object_set_new(row, texts[k], json_string(csv_get(&table, i, texts[k])));
        for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++)
            json_object_set_new(row, numbers[k], json_integer(atoll(csv_get(&table, i, numbers[k]))));
        json_array_append_new(all, row);
    }
    csv_free(&table);
    free(text);
    return all;
}

/* Whether there are launches that could be laid beside the counters of a real GPU. */
static bool has_launches(const json_t *sources) {
    size_t i, k;
    json_t *s, *run;
    json_array_foreach(sources, i, s) {
        json_t *value = json_object_get(s, "value");
        if (!strcmp(json_string_value(json_object_get(s, "kind")), "run"))
            return true;
        json_array_foreach(json_object_get(value, "runs"), k, run) {
            if (json_object_get(run, "kernels"))
                return true;
        }
    }
    return false;
}

static json_t *hash_json(const json_t *value) {
    char *text = value ? json_dumps(value, JSON_SORT_KEYS | JSON_COMPACT) : NULL, hash[17];
    snprintf(hash, sizeof hash, "%016" PRIx64, hash_bytes(text ? text : "", text ? strlen(text) : 0));
    json_t *made = text ? json_string(hash) : json_null();
    free(text);
    return made;
}

/* Adds to a manifest what ran, and on which machine. */
static void add_manifest(json_t *all, json_t *told, const json_t *run, json_t *name, const char *mech) {
    const json_t *gpu = json_object_get(run, "gpu");
    json_object_set(told, "benchmark", name);
    json_object_set(told, "machine", gpu ? (json_t *)gpu : json_object_get(run, "cpu"));
    json_object_set(told, "mech", json_object_get(run, mech));
    json_array_append_new(all, told);
}

/* The manifest of the runs of a source, as they tell it themselves, unless the store has told it. */
static void find_manifest(json_t *source) {
    const json_t *value = json_object_get(source, "value"), *host = json_object_get(value, "host");
    json_t *all = json_array(), *run, *told;
    size_t i;
    json_array_foreach(json_object_get(value, "runs"), i, run) {
        if ((told = json_object_get(run, "manifest")))
            add_manifest(all, json_copy(told), run, json_object_get(run, "workload"), "model");
    }
    if (json_object_get(host, "version")) {
        told = json_pack("{s:O*, s:O*, s:O*, s:O*, s:o, s:o}", "version", json_object_get(host, "version"),
                         "host", json_object_get(host, "name"), "started", json_object_get(host, "started"),
                         "wall_s", json_object_get(host, "wall_s"), "machine_hash",
                         hash_json(json_object_get(value, "settings")), "input_hash",
                         hash_json(json_object_get(host, "command")));
        add_manifest(all, told, value, json_object_get(source, "name"), "mech");
        json_object_set(source, "version", json_object_get(host, "version"));
    }
    if (json_array_size(all) && !json_object_get(source, "manifest"))
        json_object_set(source, "manifest", all);
    json_decref(all);
}

static json_t *page_data(const char *called, json_t *sources) {
    json_t *machines = json_array(), *source;
    size_t i;
    json_array_foreach(sources, i, source) {
        find_manifest(source);
        shorten(source, machines);
    }
    char host[256] = "?", made[32];
    time_t now = time(NULL);
    struct tm utc;
    gethostname(host, sizeof host - 1);
    strftime(made, sizeof made, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    json_t *title = json_string(called ? called : "Reprise report");
    return json_pack("{s:i, s:o, s:s, s:s, s:s, s:O, s:o, s:o}", "schema", 1, "title",
                     title ? title : json_string("Reprise report"), "version", REPRISE_VERSION, "host", host,
                     "made", made, "sources", sources, "machines", machines, "hardware",
                     has_launches(sources) ? hardware() : json_array());
}

bool cli_report_page(const char *out, const char *title, json_t *sources) {
    json_t *data = page_data(title, sources);
    bool ok = data && page_write(out, data);
    json_decref(data);
    return ok;
}

/* Makes the page; the exit status. */
static int report(const struct request *r) {
    if (!io_try(r->out))
        return 1;
    json_t *sources = json_array();
    bool ok = r->files.len && !r->store ? true : add_store(sources, r->store);
    for (uint32_t i = 0; ok && i < r->files.len; i++)
        ok = add_source(sources, r->files.at[i]);
    ok = ok && cli_report_page(r->out, r->title, sources);
    if (ok)
        printf("report: %s\n", r->out);
    json_decref(sources);
    return ok ? 0 : 1;
}

int cli_report(int argc, char **argv) {
    if (argc && !strcmp(argv[0], "--help")) {
        fputs(help, stdout);
        return 0;
    }
    struct request r = {.out = "report/index.html"};
    int rc = take(&r, argc, argv);
    if (!rc)
        rc = report(&r);
    vec_free(&r.files);
    return rc;
}
