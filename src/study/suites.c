/* Suites of workloads. */
#include "study/suites.h"

#include <stdio.h>
#include <string.h>

#include "base/diag.h"

static const struct suite suites[] = {
#define SUITE(name, paper, collection, workloads, summary) {name, paper, collection, workloads, summary},
#include "study/suites.def"
#undef SUITE
};
enum { NSUITES = sizeof suites / sizeof suites[0] };

/* The order of a paper's figures, where papers.def gives it. */
static const struct {
    const char *paper, *abbreviation, *kind;
} figures[] = {
#define FIGURE(paper, abbreviation, kind, value, source) {#paper, #abbreviation, #kind},
#include "papers.def"
#undef FIGURE
};

const struct suite *suite_at(uint32_t i) {
    return i < NSUITES ? &suites[i] : NULL;
}

const struct suite *suite_find(const char *name) {
    for (uint32_t i = 0; i < NSUITES; i++)
        if (!strcmp(suites[i].name, name))
            return &suites[i];
    return NULL;
}

static const struct workload *by_abbreviation(const char *paper, const char *abbreviation) {
    const struct workload *w;
    char text[24];
    for (uint32_t i = 0; (w = workload_at(i)); i++) {
        workload_abbreviation(w, paper, text, sizeof text);
        if (!strcmp(text, abbreviation))
            return w;
    }
    return NULL;
}

static bool named(const char *list, const char *name) {
    size_t len = strlen(name);
    for (const char *p = list; p && *p; p += strcspn(p, " "), p += *p == ' ')
        if (strcspn(p, " ") == len && !strncmp(p, name, len))
            return true;
    return false;
}

static void add_once(struct workload_list *out, const struct workload *w) {
    for (uint32_t i = 0; i < out->len; i++)
        if (out->at[i] == w)
            return;
    vec_push(out, w);
}

void suite_workloads(const struct suite *s, struct workload_list *out) {
    const struct workload *w;
    char text[24] = "";
    for (uint32_t i = 0; s->paper && i < sizeof figures / sizeof figures[0]; i++)
        if (!strcmp(figures[i].paper, s->paper) && !strcmp(figures[i].kind, "fp") &&
            (w = by_abbreviation(s->paper, figures[i].abbreviation)))
            add_once(out, w);
    for (uint32_t i = 0; (w = workload_at(i)); i++) {
        if (s->paper)
            workload_abbreviation(w, s->paper, text, sizeof text);
        if (s->paper        ? *text != 0
            : s->collection ? !w->cpu && !strcmp(w->suite, s->collection)
            : s->workloads  ? named(s->workloads, w->name)
                            : !w->cpu)
            add_once(out, w);
    }
}

void suite_list(FILE *to) {
    for (uint32_t i = 0; i < NSUITES; i++) {
        struct workload_list w = {0};
        suite_workloads(&suites[i], &w);
        fprintf(to, "%-10s %3u workloads: %s\n", suites[i].name, w.len, suites[i].summary);
        vec_free(&w);
    }
}
