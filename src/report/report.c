/* The JSON report. */
#include "report/report.h"

#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "reprise.h"

struct report {
    const struct report_machine *machine;
    json_t *settings, *runs;
    uint32_t timed[REPORT_TIMED_ALL + 1]; /* runs by how much of them was timed */
};

/* ---- parts of an entry ------------------------------------------------------------------------------- */

static json_t *integer(uint64_t v) {
    return json_integer((json_int_t)v);
}

static json_t *settings(const struct config *c) {
    json_t *all = json_object();
    struct config_setting s;
    for (uint32_t i = 0; config_setting_at(c, i, &s); i++) {
        json_t *value =
            s.kind == CONFIG_TEXT ? json_string(s.value) : json_loads(s.value, JSON_DECODE_ANY, NULL);
        json_object_set_new(all, s.name, value ? value : json_string(s.value));
    }
    return all;
}

static void add_facts(json_t *to, const struct report_run *run) {
    for (uint32_t i = 0; i < run->nfacts; i++) {
        const struct report_fact *f = &run->facts[i];
        json_t *list = f->n > 1 ? json_array() : NULL;
        for (uint32_t k = 0; list && k < f->n; k++)
            json_array_append_new(list, integer(f->value[k]));
        json_object_set_new(to, f->name, list ? list : integer(f->value[0]));
    }
}

static void add_values(json_t *to, const struct counter_registry *r, const uint64_t *values) {
    struct counter_info info;
    char name[COUNTER_NAME_SIZE];
    for (uint32_t i = 0; counters_info(r, i, name, &info); i++)
        json_object_set_new(to, name, integer(values[i]));
}

static void add_counters(json_t *to, const struct report_machine *m, const struct report_run *run,
                         enum report_timing timing) {
    json_t *all = json_object();
    add_values(all, m->counters, run->counters);
    if (timing != REPORT_TIMED_NONE)
        add_values(all, m->timed, run->timed);
    json_object_set_new(to, "counters", all);
}

/* How much was timed, and how long that took. */
static void add_time(json_t *to, const struct report_machine *m, const struct report_run *run,
                     enum report_timing timing) {
    static const char *const words[] = {
        [REPORT_TIMED_NONE] = "none", [REPORT_TIMED_PART] = "part", [REPORT_TIMED_ALL] = "all"};
    json_object_set_new(to, "timed", json_string(words[timing]));
    if (timing == REPORT_TIMED_NONE)
        return;
    json_object_set_new(to, m->timed_insts, integer(run->timed_insts));
    json_object_set_new(to, "cycles", integer(run->cycles));
    json_object_set_new(to, "ipc", json_real((double)run->timed_insts / (double)run->cycles));
}

/* Joules by part, and all together, in each account. Only what was timed has any. */
static void add_energy(json_t *to, const struct report_machine *m, const struct report_run *run,
                       enum report_timing timing) {
    for (uint32_t a = 0; timing != REPORT_TIMED_NONE && a < m->naccounts; a++) {
        const struct energy_model *e = &m->energy[a];
        double *joules = xcalloc(e->spec.nparts, sizeof *joules);
        json_t *all = json_object();
        double sum = energy_sum(e, run->timed, run->cycles, joules);
        for (uint32_t i = energy_told(e, 0); i != UINT32_MAX; i = energy_told(e, i + 1))
            json_object_set_new(all, e->spec.parts[i].name, json_real(joules[i]));
        free(joules);
        json_object_set_new(all, "total", json_real(sum));
        json_object_set_new(to, e->spec.key, all);
    }
}

/* What names in formulas stand for: members of the first object that has them. */
static bool look_up(void *ctx, const char *name, double *value) {
    json_t *const *in = ctx;
    for (; *in; in++) {
        const json_t *found = json_object_get(*in, name);
        if (json_is_number(found)) {
            *value = json_number_value(found);
            return true;
        }
    }
    return false;
}

/* Formulas that have a value, over the counters of to and the settings. */
static void add_derived(json_t *to, const struct formula_table *t, json_t *settings) {
    json_t *in[] = {json_object_get(to, "counters"), settings, to, NULL}, *all = json_object();
    for (uint32_t i = 0; i < t->count; i++) {
        double value;
        if (formula_eval(t->rows[i].text, look_up, in, &value) == FORMULA_OK)
            json_object_set_new(all, t->rows[i].name, json_real(value));
    }
    json_object_set_new(to, "derived", all);
}

/* Counters of each part of the machine: a list by part for each name. */
static void add_parts(json_t *to, const struct report_machine *m, const struct report_run *run) {
    json_t *all = json_object();
    struct counter_info info;
    char name[COUNTER_NAME_SIZE];
    for (uint32_t i = 0; counters_info(m->timed, i, name, &info); i++) {
        if (!counters_shared_out(m->timed, i))
            continue;
        json_t *values = json_array();
        for (uint32_t p = 0; p < run->nparts; p++)
            json_array_append_new(values, integer(run->parts[(size_t)p * m->timed->count + i]));
        json_object_set_new(all, name, values);
    }
    json_object_set_new(to, m->parts, all);
}

/* All that is told of something that ran. */
static json_t *entry(struct report *r, const struct report_run *run, enum report_timing timing) {
    const struct report_machine *m = r->machine;
    json_t *all = json_object();
    if (run->name)
        json_object_set_new(all, "name", json_string(run->name));
    if (run->demangled)
        json_object_set_new(all, "demangled", json_string(run->demangled));
    if (run->remark)
        json_object_set_new(all, "remark", json_string(run->remark));
    add_facts(all, run);
    add_counters(all, m, run, timing);
    add_time(all, m, run, timing);
    add_energy(all, m, run, timing);
    add_derived(all, m->formulas, r->settings);
    if (run->parts)
        add_parts(all, m, run);
    if (run->digest) {
        char text[17];
        snprintf(text, sizeof text, "%016" PRIx64, *run->digest);
        json_object_set_new(all, "digest", json_string(text));
    }
    return all;
}

/* ---- what numbers are --------------------------------------------------------------------------------- */

static void add_unit(json_t *to, const char *name, const char *unit, const char *meaning) {
    json_object_set_new(to, name, json_pack("[s, s]", unit, meaning));
}

static void add_counter_units(json_t *to, const struct counter_registry *r) {
    struct counter_info info;
    char name[COUNTER_NAME_SIZE];
    for (uint32_t i = 0; counters_info(r, i, name, &info); i++)
        add_unit(to, name, info.unit, info.meaning);
}

static json_t *units(const struct report_machine *m) {
    json_t *all = json_object(), *counters = json_object(), *derived = json_object();
    add_counter_units(counters, m->counters);
    add_counter_units(counters, m->timed);
    for (uint32_t i = 0; i < m->formulas->count; i++)
        add_unit(derived, m->formulas->rows[i].name, m->formulas->rows[i].unit, m->formulas->rows[i].meaning);
    json_object_set_new(all, "counters", counters);
    json_object_set_new(all, "derived", derived);
    for (uint32_t a = 0; a < m->naccounts; a++) {
        const struct energy_model *e = &m->energy[a];
        json_t *parts = json_object();
        for (uint32_t i = energy_told(e, 0); i != UINT32_MAX; i = energy_told(e, i + 1))
            add_unit(parts, e->spec.parts[i].name, "J", e->spec.parts[i].meaning);
        add_unit(parts, "total", "J", "All parts together.");
        json_object_set_new(all, e->spec.key, parts);
    }
    return all;
}

/* ---- the whole --------------------------------------------------------------------------------------- */

struct report *report_create(const struct report_machine *m) {
    struct report *r = xcalloc(1, sizeof *r);
    *r = (struct report){.machine = m, .settings = settings(m->config), .runs = json_array()};
    return r;
}

void report_add(struct report *r, const struct report_run *run) {
    r->timed[run->timing]++;
    json_array_append_new(r->runs, entry(r, run, run->timing));
}

void report_free(struct report *r) {
    if (!r)
        return;
    json_decref(r->settings);
    json_decref(r->runs);
    free(r);
}

/* How much of all runs was timed. */
static enum report_timing whole(const struct report *r) {
    const uint32_t *n = r->timed;
    return n[REPORT_TIMED_PART] || (n[REPORT_TIMED_NONE] && n[REPORT_TIMED_ALL]) ? REPORT_TIMED_PART
           : n[REPORT_TIMED_ALL]                                                 ? REPORT_TIMED_ALL
                                                                                 : REPORT_TIMED_NONE;
}

/* The words of this process's command line; those that are not UTF-8 are left out. */
static json_t *command_line(void) {
    json_t *words = json_array();
    FILE *f = fopen("/proc/self/cmdline", "r");
    char *word = NULL;
    size_t size = 0;
    while (f && getdelim(&word, &size, 0, f) > 0)
        json_array_append_new(words, json_string(word));
    free(word);
    if (f)
        fclose(f);
    return words;
}

json_t *report_host_json(const struct report_host *h) {
    struct rusage use;
    char name[256] = "?", version[32], started[32];
    time_t began = time(NULL) - (time_t)h->seconds;
    struct tm utc;
    getrusage(RUSAGE_SELF, &use);
    gethostname(name, sizeof name - 1);
    snprintf(version, sizeof version, "%d.%d.%d", RP_VERSION_MAJOR, RP_VERSION_MINOR, RP_VERSION_PATCH);
    strftime(started, sizeof started, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&began, &utc));
    return json_pack("{s:f, s:f, s:f, s:s, s:s*, s:s, s:o}", "wall_s", h->seconds, h->rate_name, h->rate,
                     "peak_rss_mb", (double)use.ru_maxrss / 1024, "version", version, "name", name, "started",
                     started, "command", command_line());
}

bool report_write(struct report *r, const struct report_run *totals, const struct report_host *host,
                  const char *incomplete, const char *path) {
    const struct report_machine *m = r->machine;
    json_t *all = json_pack("{s:i, s:s, s:s, s:O, s:O, s:o, s:o}", "schema", 1, m->kind, m->name, "mech",
                            m->mech, "settings", r->settings, m->runs, r->runs, "totals",
                            entry(r, totals, whole(r)), "host", report_host_json(host));
    if (all && m->approximate)
        json_object_set_new(all, "approximate", json_true());
    if (all && m->units)
        json_object_set_new(all, "units", units(m));
    if (all && incomplete)
        json_object_set_new(all, "incomplete", json_string(incomplete));
    struct io_file f;
    bool ok = all && io_begin(&f, path);
    ok = ok && io_end(&f, !json_dumpf(all, f.to, JSON_INDENT(2)));
    json_decref(all);
    return ok;
}
