/* A comparison as JSON and as CSV. */
#include <math.h>

#include "report/csv.h"
#include "study/table.h"

static const char *const status_words[] = {"missing", "ok", "failed", "wrong"};

static json_t *number(double v) {
    return isfinite(v) ? json_real(v) : json_null();
}

static json_t *row_json(const struct table *t, const struct row *r) {
    const struct metric *metric;
    json_t *all = json_pack("{s:s, s:s, s:s}", "workload", t->benches.at[r->bench].label, "model",
                            t->models.at[r->model].label, "status", status_words[r->status]);
    if (r->message)
        json_object_set_new(all, "message", json_string(r->message));
    json_t *values = json_object();
    for (enum metric_part part = 0; part < table_parts(t); part++)
        for (uint32_t i = 0; (metric = metric_at(part, i)); i++)
            json_object_set_new(values, metric->id, number(metric_value(t, r, metric)));
    json_object_set_new(all, "metrics", values);
    static const char *const kept[] = {"gpu",         "cpu",   "mech",          "settings", "totals",
                                       "approximate", "error", "launch_errors", "manifest"};
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        json_object_set(all, kept[i], json_object_get(r->report, kept[i]));
    return all;
}

static json_t *means_json(const struct table *t, uint32_t model) {
    const struct metric *metric;
    json_t *all = json_object();
    for (enum metric_part part = 0; part < PART_ERROR; part++)
        for (uint32_t i = 0; (metric = metric_at(part, i)); i++)
            if (metric_has_mean(metric))
                json_object_set_new(all, metric->id, number(metric_mean(t, model, metric)));
    return all;
}

json_t *table_json(const struct table *t) {
    json_t *benches = json_array(), *models = json_array(), *rows = json_array(), *means = json_object();
    for (uint32_t b = 0; b < t->benches.len; b++)
        json_array_append_new(benches, json_string(t->benches.at[b].label));
    for (uint32_t m = 0; m < t->models.len; m++) {
        json_array_append_new(models, json_string(t->models.at[m].label));
        if (t->models.at[m].base != m)
            json_object_set_new(means, t->models.at[m].label, means_json(t, m));
    }
    for (uint32_t i = 0; i < t->rows.len; i++)
        json_array_append_new(rows, row_json(t, &t->rows.at[i]));
    return json_pack("{s:i, s:o, s:o, s:o, s:o}", "schema", 1, "workloads", benches, "models", models, "runs",
                     rows, "geometric_means", means);
}

void table_csv(const struct table *t, struct str *out) {
    const struct metric *metric;
    csv_add(out, "workload");
    csv_add(out, "model");
    csv_add(out, "status");
    for (enum metric_part part = 0; part < table_parts(t); part++)
        for (uint32_t i = 0; (metric = metric_at(part, i)); i++)
            csv_add(out, metric->id);
    csv_add(out, "digest");
    csv_end_row(out);
    for (uint32_t k = 0; k < t->rows.len; k++) {
        const struct row *r = &t->rows.at[k];
        csv_add(out, t->benches.at[r->bench].label);
        csv_add(out, t->models.at[r->model].label);
        csv_add(out, status_words[r->status]);
        for (enum metric_part part = 0; part < table_parts(t); part++)
            for (uint32_t i = 0; (metric = metric_at(part, i)); i++)
                csv_add_number(out, metric_value(t, r, metric));
        const char *digest =
            json_string_value(json_object_get(json_object_get(r->report, "totals"), "digest"));
        csv_add(out, digest ? digest : "");
        csv_end_row(out);
    }
}
