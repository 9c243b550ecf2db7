/* reprise report: the JSON that other commands write, as one page of HTML. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/io.h"
#include "base/map.h"
#include "cli/cli.h"
#include "report/csv.h"
#include "study/page.h"
#include "study/place.h"

static const char help[] =
    "usage: reprise report [options] FILE.json...\n"
    "\n"
    "Makes one HTML file of what other commands wrote with --json: comparisons ('reprise compare'), runs\n"
    "('run'), profiles ('profile'), papers' figures ('repro' writes report/repro/PAPER.json). It needs no\n"
    "network and no other file; its charts can be saved as SVG, PNG and CSV. Runs of workloads on the H200\n"
    "are shown beside the counters of a real one.\n"
    "\n"
    "  -o FILE           where the page goes (default report/index.html)\n"
    "  --title TEXT      what it is called\n"
    "\n"
    "examples: reprise compare dozen --mech wir,darsie,dac --json c.json && reprise report c.json\n"
    "          reprise report report/repro/*.json -o papers.html\n";

struct request {
    const char *out, *title;
    VEC(const char *) files;
};

static const char *next_option(void *ctx, uint32_t i) {
    static const char *const all[] = {"-o", "--title"};
    (void)ctx;
    return i < 2 ? all[i] : NULL;
}

/* Takes the command line; 0, or the exit status after a message. */
static int take(struct request *r, int argc, char **argv) {
    for (int i = 0; i < argc; i++) {
        if (argv[i][0] != '-' || !argv[i][1]) {
            vec_push(&r->files, argv[i]);
            continue;
        }
        const char **to = !strcmp(argv[i], "-o") ? &r->out : !strcmp(argv[i], "--title") ? &r->title : NULL;
        if (!to) {
            const char *near = diag_nearest(argv[i], strlen(argv[i]), next_option, NULL);
            return cli_usage_error(help, near ? "unknown option; did you mean" : "unknown option",
                                   near ? near : argv[i]);
        }
        if (i + 1 == argc)
            return cli_usage_error(help, "a value is needed after", argv[i]);
        *to = argv[++i];
    }
    return r->files.len ? 0 : cli_usage_error(help, "of which files?", "");
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

/* Kinds of files, in the order in which they are tried; the page's scripts know them by their names. */
static const struct {
    const char *name;
    bool (*is)(const json_t *v);
} kinds[] = {
    {"figures", is_figures}, {"comparison", is_comparison}, {"profile", is_profile}, {"run", is_run}};
enum { NKINDS = sizeof kinds / sizeof kinds[0] };

/* Of a run's launches, which may be many, what the page shows. */
static void shorten(json_t *run) {
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
    if (kinds[kind].is == is_run)
        shorten(value);
    json_array_append_new(sources, json_pack("{s:o, s:s, s:s, s:O*, s:o}", "name", name_of(path), "kind",
                                             kinds[kind].name, "hash", hash, "version",
                                             json_object_get(value, "version"), "value", value));
    return true;
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

/* Whether a run is among the sources: only then are the counters of a real GPU of use. */
static bool has_run(const json_t *sources) {
    size_t i;
    json_t *s;
    json_array_foreach(sources, i, s) {
        if (!strcmp(json_string_value(json_object_get(s, "kind")), "run"))
            return true;
    }
    return false;
}

static json_t *page_data(const struct request *r, json_t *sources) {
    char host[256] = "?", made[32];
    time_t now = time(NULL);
    struct tm utc;
    gethostname(host, sizeof host - 1);
    strftime(made, sizeof made, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    json_t *title = json_string(r->title ? r->title : "Reprise report");
    return json_pack("{s:i, s:o, s:s, s:s, s:s, s:O, s:o}", "schema", 1, "title",
                     title ? title : json_string("Reprise report"), "version", REPRISE_VERSION, "host", host,
                     "made", made, "sources", sources, "hardware",
                     has_run(sources) ? hardware() : json_array());
}

/* Makes the page; the exit status. */
static int report(const struct request *r) {
    if (!io_try(r->out))
        return 1;
    json_t *sources = json_array();
    bool ok = true;
    for (uint32_t i = 0; ok && i < r->files.len; i++)
        ok = add_source(sources, r->files.at[i]);
    json_t *data = ok ? page_data(r, sources) : NULL;
    ok = data && page_write(r->out, data);
    if (ok)
        printf("report: %s\n", r->out);
    json_decref(data);
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
