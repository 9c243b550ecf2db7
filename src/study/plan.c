/* Plans: reading what benchmarks and models are, and completing them. */
#include "study/plan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "reprise.h"
#include "study/cpu.h"
#include "study/key.h"
#include "study/suites.h"

/* ---- benchmarks ---- */

/* Names of workloads, then of suites. */
static const char *next_name(void *ctx, uint32_t i) {
    (void)ctx;
    uint32_t n = 0;
    while (workload_at(n))
        n++;
    if (i < n)
        return workload_at(i)->name;
    return suite_at(i - n) ? suite_at(i - n)->name : NULL;
}

static void add_arguments(struct bench *b, const char *option, const char *value) {
    vec_push(&b->arguments, xstrdup(option));
    vec_push(&b->arguments, xstrdup(value));
}

/* Takes "KEY=VALUE" of a benchmark's text; false when it is nothing of that kind. */
static bool take_item(struct bench *b, const char *item) {
    const char *equals = strchr(item, '='), *value = equals ? equals + 1 : "";
    if (!equals || equals == item || !*value)
        return false;
    if (!strncmp(item, "size=", 5)) {
        b->size = workload_size(value);
        return b->size != SIZES;
    }
    if (!strncmp(item, "bits=", 5)) {
        b->bits = atoi(value);
        return !strcmp(value, "32") || !strcmp(value, "64");
    }
    bool seed = !strncmp(item, "seed=", 5);
    add_arguments(b, seed ? "--seed" : "--set", seed ? value : item);
    return true;
}

/* Adds a workload with the items, ":KEY=VALUE"..., of a text; false when they are wrong. */
static bool add_workload(struct plan *p, const struct workload *w, const char *items) {
    struct table *t = &p->table;
    struct str label = {0};
    uint32_t before = t->benches.len;
    str_printf(&label, "%s%s", w->name, items);
    uint32_t number = table_add_bench(t, label.at);
    str_free(&label);
    if (t->benches.len == before)
        return true;
    bool ok = true;
    char *words = xstrdup(items), *save;
    t->benches.at[number].workload = w;
    for (char *word = strtok_r(words, ":", &save); ok && word; word = strtok_r(NULL, ":", &save))
        ok = take_item(&t->benches.at[number], word);
    free(words);
    return ok;
}

bool plan_add_bench(struct plan *p, const char *text) {
    const char *items = text + strcspn(text, ":");
    struct str name = {0};
    struct workload_list list = {0};
    str_printf(&name, "%.*s", (int)(items - text), text);
    const struct suite *suite = suite_find(name.at), one = {.workloads = name.at};
    bool ok = suite || workload_find(name.at);
    if (ok) {
        suite_workloads(suite ? suite : &one, &list);
    } else {
        const char *near = diag_nearest(name.at, name.len, next_name, NULL);
        fprintf(stderr, "reprise: there is no workload or suite '%s'%s%s%s\n", name.at,
                near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    }
    for (uint32_t i = 0; ok && i < list.len; i++) {
        ok = add_workload(p, list.at[i], items);
        if (!ok)
            fprintf(stderr,
                    "reprise: a benchmark is NAME[:size=S][:bits=B][:seed=N][:SETTING=VALUE]..., not '%s'\n",
                    text);
    }
    vec_free(&list);
    str_free(&name);
    return ok;
}

char *plan_program_label(char **program, const char *input) {
    struct str label = {0};
    const char *slash = strrchr(program[0], '/');
    str_printf(&label, "%s", slash ? slash + 1 : program[0]);
    for (char **w = program + 1; *w; w++)
        str_printf(&label, " %s", *w);
    if (input)
        str_printf(&label, " < %s", input);
    return label.at;
}

struct bench *plan_add_program_as(struct plan *p, char **program, const char *label) {
    char *clean = xstrdup(label);
    uint32_t before = p->table.benches.len;
    for (char *c = clean; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = ' ';
    uint32_t number = table_add_bench(&p->table, clean);
    free(clean);
    if (p->table.benches.len == before)
        return NULL;
    p->table.benches.at[number].program = program;
    return &p->table.benches.at[number];
}

struct bench *plan_add_program(struct plan *p, char **program) {
    const char *slash = strrchr(program[0], '/');
    return plan_add_program_as(p, program, slash ? slash + 1 : program[0]);
}

/* ---- models ---- */

/* Reads what a model's text means; false when it has no mechanism. */
static bool read_model(struct model *m, const char *text) {
    char *words = xstrdup(text), *save, *word = strtok_r(words, ":", &save);
    if (word && !strchr(word, '='))
        m->mech = xstrdup(word);
    for (word = strtok_r(NULL, ":", &save); word && m->mech; word = strtok_r(NULL, ":", &save))
        if (!strncmp(word, "gpu=", 4) || !strncmp(word, "cpu=", 4)) {
            char **name = *word == 'g' ? &m->gpu : &m->cpu;
            free(*name);
            *name = xstrdup(word + 4);
        } else if (strchr(word, '=')) {
            vec_push(&m->set, xstrdup(word));
        } else {
            str_printf(&m->probes, "%s%s", m->probes.len ? "+" : "", word);
        }
    free(words);
    return m->mech != NULL;
}

static bool same_name(const char *a, const char *b) {
    return a && b ? !strcmp(a, b) : a == b;
}

/* The first model with which another is compared: that on the same GPU, or any on a CPU; as many as there are
 * when there is none. */
static uint32_t first_on(const struct table *t, const struct model *of) {
    uint32_t m = 0;
    while (m < t->models.len && !(of->cpu ? t->models.at[m].cpu != NULL
                                          : !t->models.at[m].cpu && same_name(t->models.at[m].gpu, of->gpu)))
        m++;
    return m;
}

static bool is_base_machine(const struct model *m) {
    return !strcmp(m->mech, "base") && !m->set.len && !m->probes.len;
}

static void push_model(struct table *t, const char *label, struct model m) {
    m.base = first_on(t, &m);
    uint32_t number = table_add_model(t, label);
    m.label = t->models.at[number].label;
    t->models.at[number] = m;
}

static void push_base_machine(struct table *t, const struct model *of) {
    struct str label = {0};
    const char *gpu = of->gpu, *cpu = of->cpu ? "hpi" : NULL;
    str_printf(&label, "base%s%s", cpu ? ":cpu=" : gpu ? ":gpu=" : "", cpu ? cpu : gpu ? gpu : "");
    push_model(t, label.at,
               (struct model){.mech = xstrdup("base"),
                              .gpu = gpu ? xstrdup(gpu) : NULL,
                              .cpu = cpu ? xstrdup(cpu) : NULL});
    str_free(&label);
}

bool plan_add_model(struct plan *p, const char *label, const char *text) {
    struct table *t = &p->table;
    struct model m = {0};
    for (uint32_t i = 0; i < t->models.len; i++)
        if (!strcmp(t->models.at[i].label, label))
            return true;
    if (!read_model(&m, text)) {
        fprintf(stderr, "reprise: a model is MECH, MECH:PATH=VALUE or MECH:PROBE, not '%s'\n", text);
        return false;
    }
    if (first_on(t, &m) == t->models.len && !is_base_machine(&m))
        push_base_machine(t, &m);
    push_model(t, label, m);
    return true;
}

uint32_t plan_add_machine(struct plan *p, const char *label, const char *text, const char *gpu,
                          char *const *set, uint32_t nset, uint32_t base) {
    struct table *t = &p->table;
    struct model m = {0};
    for (uint32_t i = 0; i < t->models.len; i++)
        if (!strcmp(t->models.at[i].label, label))
            return i;
    if (!read_model(&m, text)) {
        fprintf(stderr, "reprise: a model is MECH, MECH:PATH=VALUE or MECH:PROBE, not '%s'\n", text);
        return UINT32_MAX;
    }
    if (!m.gpu && !m.cpu && gpu)
        m.gpu = xstrdup(gpu);
    for (uint32_t i = 0; i < nset; i++)
        vec_push(&m.set, xstrdup(set[i]));
    uint32_t number = table_add_model(t, label);
    m.label = t->models.at[number].label;
    m.base = base == UINT32_MAX ? number : base;
    t->models.at[number] = m;
    return number;
}

/* ---- all of it ---- */

void plan_add_rows(struct plan *p) {
    for (uint32_t b = 0; b < p->table.benches.len; b++)
        for (uint32_t m = 0; m < p->table.models.len; m++)
            table_add(&p->table, b, m);
}

/* Puts the settings that hold for all models before those of one. */
static void add_settings(const struct plan *p, struct model *m) {
    struct model all = {0};
    for (uint32_t i = 0; i < p->set.len; i++)
        vec_push(&all.set, xstrdup(p->set.at[i]));
    for (uint32_t i = 0; i < m->set.len; i++)
        vec_push(&all.set, m->set.at[i]);
    free(m->set.at);
    m->set.at = all.set.at;
    m->set.len = all.set.len;
    m->set.cap = all.set.cap;
}

/* Builds the machine of a model to see what it is; false, after a message, when there is no such machine. */
static bool look_at_machine(const struct plan *p, struct model *m) {
    VEC(const char *) set = {0};
    char *log = NULL;
    for (uint32_t i = 0; i < m->set.len; i++)
        vec_push(&set, m->set.at[i]);
    vec_push(&set, NULL);
    struct rp_gpu *gpu = rp_gpu_create(
        &(struct rp_options){
            .gpu = m->gpu, .set = set.at, .mech = m->mech, .load = p->load, .probe = str_text(&m->probes)},
        &log);
    if (log)
        fputs(log, stderr);
    free(log);
    vec_free(&set);
    if (gpu) {
        m->machine = key_machine(gpu, p->load);
        m->approximate |= rp_gpu_approximate(gpu);
        m->streams = rp_gpu_streams(gpu);
    }
    rp_gpu_destroy(gpu);
    return gpu != NULL;
}

/* Whether the results of every benchmark are known, where a model needs them; false after a message. */
static bool results_known(const struct table *t) {
    uint32_t m = 0;
    while (m < t->models.len && !t->models.at[m].approximate)
        m++;
    for (uint32_t i = 0; m < t->models.len && i < t->benches.len; i++)
        if (t->benches.at[i].program && !t->benches.at[i].results.len) {
            fprintf(stderr,
                    "reprise: '%s' only approximates: say with --result which are the results of %s\n",
                    t->models.at[m].mech, t->benches.at[i].label);
            return false;
        }
    return true;
}

/* Whether there are the files that programs are to read; false after a message. */
static bool inputs_exist(const struct table *t) {
    for (uint32_t i = 0; i < t->benches.len; i++) {
        const char *file = t->benches.at[i].input;
        if (file && access(file, R_OK)) {
            fprintf(stderr, "reprise: %s, the input of '%s', cannot be read: %s\n", file,
                    t->benches.at[i].label, strerror(errno));
            return false;
        }
    }
    return true;
}

bool plan_whole_blocks(const struct plan *p) {
    for (uint32_t i = 0; i < p->table.models.len; i++)
        if (p->table.models.at[i].streams)
            return true;
    return false;
}

uint64_t plan_sampled(const struct plan *p, const struct bench *b) {
    uint64_t all = b->workload && !b->workload->cpu ? b->workload->insts[b->size] : 0;
    return p->max_insts && all > p->max_insts ? all : 0;
}

uint64_t plan_part(const struct plan *p, const struct bench *b) {
    if (!plan_sampled(p, b))
        return 0;
    return p->max_insts | (plan_whole_blocks(p) ? UINT64_C(1) << 63 : 0);
}

/* What is not timed is exact: of a run that is timed in part, the error would be that of the part. */
static void time_all(struct plan *p) {
    for (uint32_t i = 0; p->usual_part && i < p->table.models.len; i++)
        if (p->table.models.at[i].approximate)
            p->max_insts = UINT64_MAX;
}

bool plan_complete(struct plan *p) {
    bool ok = true;
    for (uint32_t i = 0; i < p->table.benches.len; i++) {
        struct bench *b = &p->table.benches.at[i];
        for (uint32_t k = 0; b->program && k < p->results.len; k++)
            vec_push(&b->results, p->results.at[k]);
        b->size = b->size == SIZES ? p->size : b->size;
        b->bits = b->bits ? b->bits : p->bits;
    }
    for (uint32_t i = 0; ok && i < p->table.models.len; i++) {
        struct model *m = &p->table.models.at[i];
        if (!m->gpu && !m->cpu && p->gpu)
            m->gpu = xstrdup(p->gpu);
        add_settings(p, m);
        ok = m->cpu ? cpu_look(m) : look_at_machine(p, m);
    }
    time_all(p);
    return ok && cpu_fits(&p->table) && results_known(&p->table) && inputs_exist(&p->table);
}

void plan_free(struct plan *p) {
    vec_free(&p->set);
    vec_free(&p->results);
    table_free(&p->table);
}
