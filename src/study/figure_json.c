/* Figures of papers as JSON, for the report: values, how they are drawn, and the claims beside ours. */
#include <math.h>
#include <string.h>

#include "study/figure.h"

static json_t *number(double v) {
    return isfinite(v) ? json_real(v) : json_null();
}

/* Names with commas between them as a list. */
static json_t *list_of(const char *text) {
    json_t *all = json_array();
    while (*text) {
        size_t n = strcspn(text, ",");
        json_array_append_new(all, json_stringn(text, n));
        text += n;
        text += strspn(text, ", ");
    }
    return all;
}

static json_t *column_json(const struct figure *f, uint32_t column) {
    const struct figure_column *c = &f->columns.at[column];
    const struct paper_row *group = NULL;
    json_t *values = json_array(), *groups = json_object();
    for (uint32_t b = 0; b < f->table->benches.len; b++)
        json_array_append_new(values, number(c->values[b]));
    while ((group = paper_next(&f->paper, group, PAPER_GROUP)))
        json_object_set_new(groups, group->name, number(figure_average(f, column, group)));
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o}", "name", c->series->name, "model", c->series->model,
                     "formula", c->series->text, "values", values, "average",
                     number(figure_average(f, column, NULL)), "groups", groups);
}

static json_t *charts_json(const struct figure *f) {
    json_t *all = json_array();
    const struct paper_row *r = NULL;
    while ((r = paper_next(&f->paper, r, PAPER_CHART))) {
        if (strcmp(r->figure, f->row->figure))
            continue;
        json_t *chart =
            json_pack("{s:s, s:s, s:o}", "kind", r->name, "axis", r->axis, "columns", list_of(r->text));
        if (!strcmp(r->name, "curve"))
            json_object_set_new(chart, "curve", figure_curve(f, r->text));
        json_array_append_new(all, chart);
    }
    return all;
}

static json_t *claim_json(const struct claim_row *r) {
    const struct claim *c = &r->claim;
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:s, s:s}", "id", c->id, "metric",
                     c->metric, "unit", c->unit, "aggregation", c->aggregation, "source", c->source, "note",
                     c->note, "formula", r->formula, "paper", number(c->value), "ours", number(r->ours),
                     "difference", number(claim_difference(c, r->ours)), "verdict",
                     verdict_words[figure_verdict(r)], "explanation", r->explanation);
}

json_t *figure_json(const struct figure *f, const struct claim_rows *rows, uint32_t from) {
    json_t *columns = json_array(), *claims = json_array();
    for (uint32_t i = 0; i < f->columns.len; i++)
        json_array_append_new(columns, column_json(f, i));
    for (uint32_t i = from; i < rows->len; i++)
        json_array_append_new(claims, claim_json(&rows->at[i]));
    return json_pack("{s:s, s:s, s:b, s:o, s:o, s:o}", "id", f->row->figure, "title", f->row->text,
                     "geometric", f->row->geometric, "columns", columns, "charts", charts_json(f), "claims",
                     claims);
}

json_t *figures_json(const struct paper *p, const struct table *t, json_t *figures) {
    const struct figure names = {.paper = *p, .table = t};
    const struct paper_row *r = NULL;
    json_t *benches = json_array(), *groups = json_array(), *unable = json_array();
    char text[64];
    for (uint32_t b = 0; b < t->benches.len; b++)
        json_array_append_new(benches,
                              json_pack("{s:s, s:s}", "name", figure_bench(&names, b, text, sizeof text),
                                        "workload", t->benches.at[b].label));
    while ((r = paper_next(p, r, PAPER_GROUP))) {
        json_t *members = json_array();
        for (const char *at = r->text; *at; at += strspn(at, " ")) {
            size_t n = strcspn(at, " ");
            json_array_append_new(members, json_stringn(at, n));
            at += n;
        }
        json_array_append_new(groups, json_pack("{s:s, s:o}", "name", r->name, "benchmarks", members));
    }
    while ((r = paper_next(p, r, PAPER_UNABLE)))
        json_array_append_new(unable, json_pack("{s:s, s:s}", "id", r->name, "reason", r->text));
    return json_pack("{s:i, s:s, s:s, s:o, s:o, s:o, s:o}", "schema", 1, "paper", p->head->name, "title",
                     p->head->text, "benchmarks", benches, "groups", groups, "figures", figures, "unable",
                     unable);
}
