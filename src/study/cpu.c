#include "study/cpu.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/io.h"
#include "cpu/machine.h"
#include "study/key.h"
#include "study/place.h"

bool cpu_look(struct model *m) {
    struct config c = {0};
    struct diag d = {0};
    struct str text = {0};
    VEC(const char *) set = {0};
    for (uint32_t i = 0; i < m->set.len; i++)
        vec_push(&set, m->set.at[i]);
    vec_push(&set, NULL);
    bool ok = cpu_machine_config(&c, m->cpu, set.at, &d);
    struct config_setting s;
    for (uint32_t i = 0; ok && config_setting_at(&c, i, &s); i++)
        str_printf(&text, "%s=%s\n", s.name, s.value);
    if (!ok)
        fprintf(stderr, "reprise: %s", str_text(&d.text));
    m->machine = hash_bytes(str_text(&text), text.len);
    m->approximate = strcmp(m->mech, "base") && strcmp(m->mech, CPU_ANALYSIS);
    vec_free(&set);
    str_free(&text);
    diag_free(&d);
    config_free(&c);
    return ok;
}

bool cpu_fits(const struct table *t) {
    for (uint32_t b = 0; b < t->benches.len; b++)
        for (uint32_t m = 0; m < t->models.len; m++) {
            const struct bench *bench = &t->benches.at[b];
            bool cpu = bench->workload && bench->workload->cpu;
            if (cpu != (t->models.at[m].cpu != NULL)) {
                fprintf(stderr, "reprise: %s is a program for the %s, and %s a %s\n", bench->label,
                        cpu ? "CPU" : "GPU", t->models.at[m].label, cpu ? "GPU" : "CPU");
                return false;
            }
        }
    return true;
}

/* The file of the program that a model runs. */
static bool program_of(const struct bench *b, const struct model *m, char *path, size_t size) {
    struct str name = {0};
    bool plain = !strcmp(m->mech, "base");
    const char *variant = strcmp(m->mech, CPU_ANALYSIS) ? m->mech : "unfused";
    str_printf(&name, "cpu/%s%s%s", b->workload->program, plain ? "" : ".", plain ? "" : variant);
    bool ok = place_workload(name.at, path, size);
    if (!ok)
        fprintf(stderr,
                "reprise: workload %s has not been built: that needs aarch64-linux-gnu-gcc; install "
                "gcc-aarch64-linux-gnu and libc6-dev-arm64-cross and run 'make'\n",
                name.at + 4);
    str_free(&name);
    return ok;
}

bool cpu_built(const struct table *t) {
    char path[PATH_MAX];
    for (uint32_t b = 0; b < t->benches.len; b++)
        for (uint32_t m = 0; m < t->models.len; m++)
            if (t->models.at[m].cpu && !program_of(&t->benches.at[b], &t->models.at[m], path, sizeof path))
                return false;
    return true;
}

static enum workload_size size_of(const struct bench *b, const struct model *m) {
    return strcmp(m->mech, CPU_ANALYSIS) ? b->size : SIZE_TINY;
}

void cpu_key(const struct bench *b, const struct model *m, uint64_t *program, uint64_t *input) {
    char path[PATH_MAX];
    *program = program_of(b, m, path, sizeof path) ? key_file(0, path) : 0;
    struct str text = {0};
    str_printf(&text, "%s %d", b->workload->name, (int)size_of(b, m));
    for (uint32_t i = 0; i < b->arguments.len; i++)
        str_printf(&text, " %s", b->arguments.at[i]);
    *input = hash_bytes(text.at, text.len);
    str_free(&text);
}

static void add(cpu_words *w, const char *word) {
    vec_push(w, xstrdup(word));
}

bool cpu_command(const struct bench *b, const struct model *m, const char *report, const char *results,
                 char ***words) {
    char path[PATH_MAX];
    cpu_words w = {0};
    bool analysis = !strcmp(m->mech, CPU_ANALYSIS), ok = program_of(b, m, path, sizeof path);
    static const char *const run[] = {"reprise", "cpu", "run", "--region"}, *const analyse[] = {"reprise",
                                                                                                "cpu", "memo",
                                                                                                "--region"};
    for (uint32_t i = 0; i < sizeof run / sizeof run[0]; i++)
        add(&w, analysis ? analyse[i] : run[i]);
    if (report) {
        add(&w, "--json");
        add(&w, report);
    }
    add(&w, "--cpu");
    add(&w, m->cpu);
    for (uint32_t i = 0; i < m->set.len; i++) {
        add(&w, "--set");
        add(&w, m->set.at[i]);
    }
    add(&w, "--");
    add(&w, ok ? path : b->workload->program);
    add(&w, "--size");
    add(&w, workload_sizes[size_of(b, m)]);
    for (uint32_t i = 0; i < b->arguments.len; i++)
        add(&w, b->arguments.at[i]);
    if (results) {
        add(&w, "--results");
        add(&w, results);
    }
    vec_push(&w, NULL);
    *words = w.at;
    return ok;
}
