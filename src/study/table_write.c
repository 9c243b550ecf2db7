/* A comparison as JSON and as CSV. */
#include <math.h>

#include "report/csv.h"
#include "study/table.h"

static const char *const status_words[] = {"missing", "ok", "failed", "wrong"};

static json_t *number(double v) {
    return isfinite(v) ? json_real(v) : json_null();
}

static json_t *labels(char *const *at, uint32_t n) {
    json_t *all = json_array();
    for (uint32_t i = 0; i < n; i++)
        json_array_append_new(all, json_string(at[i]));
    return all;
}

static json_t *run_json(const struct results *r, uint32_t w, uint32_t m) {
    const struct run *run = results_run(r, w, m);
    const struct metric *metric;
    json_t *all = json_pack("{s:s, s:s, s:s}", "workload", r->workloads.at[w], "model", r->models.at[m],
                            "status", status_words[run->status]);
    if (run->message)
        json_object_set_new(all, "message", json_string(run->message));
    json_t *values = json_object();
    for (uint32_t i = 0; (metric = metric_at(i)); i++)
        json_object_set_new(values, metric->id, number(metric_value(r, w, m, metric)));
    json_object_set_new(all, "metrics", values);
    static const char *const kept[] = {"gpu", "mech", "settings", "totals"};
    for (int i = 0; i < 4; i++)
        json_object_set(all, kept[i], json_object_get(run->report, kept[i]));
    return all;
}

json_t *results_json(const struct results *r) {
    const struct metric *metric;
    json_t *runs = json_array(), *means = json_object();
    for (uint32_t w = 0; w < r->workloads.len; w++)
        for (uint32_t m = 0; m < r->models.len; m++)
            json_array_append_new(runs, run_json(r, w, m));
    for (uint32_t m = 1; m < r->models.len; m++) {
        json_t *of = json_object();
        for (uint32_t i = 0; (metric = metric_at(i)); i++)
            if (metric->style == STYLE_FACTOR || metric->style == STYLE_SAVING)
                json_object_set_new(of, metric->id, number(metric_mean(r, m, metric)));
        json_object_set_new(means, r->models.at[m], of);
    }
    return json_pack("{s:i, s:o, s:o, s:o, s:o}", "schema", 1, "workloads",
                     labels(r->workloads.at, r->workloads.len), "models", labels(r->models.at, r->models.len),
                     "runs", runs, "geometric_means", means);
}

void results_csv(const struct results *r, struct str *out) {
    const struct metric *metric;
    csv_add(out, "workload");
    csv_add(out, "model");
    csv_add(out, "status");
    for (uint32_t i = 0; (metric = metric_at(i)); i++)
        csv_add(out, metric->id);
    csv_add(out, "digest");
    csv_end_row(out);
    for (uint32_t w = 0; w < r->workloads.len; w++)
        for (uint32_t m = 0; m < r->models.len; m++) {
            const struct run *run = results_run(r, w, m);
            csv_add(out, r->workloads.at[w]);
            csv_add(out, r->models.at[m]);
            csv_add(out, status_words[run->status]);
            for (uint32_t i = 0; (metric = metric_at(i)); i++)
                csv_add_number(out, metric_value(r, w, m, metric));
            const char *digest =
                json_string_value(json_object_get(json_object_get(run->report, "totals"), "digest"));
            csv_add(out, digest ? digest : "");
            csv_end_row(out);
        }
}
