/* The table of a comparison. */
#include <math.h>
#include <string.h>

#include "report/number.h"
#include "study/table.h"

enum { TABLE_WIDTH = 100, NAME_WIDTH = 20 };

/* Room for values of a style; a longer title takes what it needs. */
static const int style_widths[] = {
    [STYLE_COUNT] = 11, [STYLE_JOULES] = 8, [STYLE_FACTOR] = 7, [STYLE_SAVING] = 7};

static int column_width(const struct metric *metric) {
    int title = (int)strlen(metric->title), values = style_widths[metric->style];
    return title > values ? title : values;
}

/* Widths of the first two columns. */
struct widths {
    int name, model;
};

static size_t longest(char *const *at, uint32_t n, size_t least) {
    for (uint32_t i = 0; i < n; i++)
        least = strlen(at[i]) > least ? strlen(at[i]) : least;
    return least;
}

/* What the longest labels need, as far as lines are not wider than the table may be. */
static struct widths widths_for(const struct results *r) {
    const struct metric *metric;
    size_t name = longest(r->workloads.at, r->workloads.len, strlen("geometric mean"));
    size_t model = longest(r->models.at, r->models.len, strlen("mech"));
    int room = TABLE_WIDTH - 1;
    for (uint32_t i = 0; (metric = metric_at(i)); i++)
        room -= 1 + column_width(metric);
    struct widths w = {.name = name > NAME_WIDTH ? NAME_WIDTH : (int)name};
    w.model = (int)model > room - w.name ? room - w.name : (int)model;
    return w;
}

static const char *value_text(const struct metric *metric, double v, char out[NUMBER_TEXT]) {
    if (!isfinite(v))
        return strcpy(out, "-");
    switch (metric->style) {
    case STYLE_COUNT:
        snprintf(out, NUMBER_TEXT, "%.0f", v);
        return out;
    case STYLE_JOULES:
        return number_unit(v, "J", out);
    case STYLE_FACTOR:
        snprintf(out, NUMBER_TEXT, "%.3f", v);
        return out;
    case STYLE_SAVING:
        snprintf(out, NUMBER_TEXT, "%.1f%%", fabs(v) < 0.05 ? 0 : v);
        return out;
    }
    return out;
}

static void print_start(FILE *to, const char *name, const char *model, struct widths w) {
    fprintf(to, "%-*.*s %-*.*s", w.name, w.name, name, w.model, w.model, model);
}

/* A cell of a column, or nothing: then the next one is so much further. */
static void print_cell(FILE *to, int *further, const struct metric *metric, const char *text) {
    *further += 1 + column_width(metric);
    if (*text) {
        fprintf(to, "%*s", *further, text);
        *further = 0;
    }
}

static bool relative(const struct metric *metric) {
    return metric->style == STYLE_FACTOR || metric->style == STYLE_SAVING;
}

static const char *status_text(const struct run *run) {
    static const char *const texts[] = {"not run", "", "FAILED", "WRONG RESULT"};
    return texts[run->status];
}

static void print_run(const struct results *r, uint32_t w, uint32_t m, struct widths width, FILE *to) {
    const struct metric *metric;
    char text[NUMBER_TEXT];
    const struct run *run = results_run(r, w, m);
    int further = 0;
    print_start(to, m ? "" : r->workloads.at[w], r->models.at[m], width);
    if (run->status != RUN_OK)
        fprintf(to, "  %s", status_text(run));
    for (uint32_t i = 0; run->status == RUN_OK && (metric = metric_at(i)); i++) {
        bool one = !m && relative(metric); /* the base machine beside itself says nothing */
        print_cell(to, &further, metric, one ? "" : value_text(metric, metric_value(r, w, m, metric), text));
    }
    fputc('\n', to);
}

static void print_means(const struct results *r, struct widths width, FILE *to) {
    const struct metric *metric;
    char text[NUMBER_TEXT];
    for (uint32_t m = 1; m < r->models.len; m++) {
        int further = 0;
        print_start(to, m == 1 ? "geometric mean" : "", r->models.at[m], width);
        for (uint32_t i = 0; (metric = metric_at(i)); i++) {
            bool none = !relative(metric);
            print_cell(to, &further, metric, none ? "" : value_text(metric, metric_mean(r, m, metric), text));
        }
        fputc('\n', to);
    }
}

/* A message, its lines indented. */
static void print_message(FILE *to, const char *text) {
    while (*text) {
        size_t n = strcspn(text, "\n");
        fprintf(to, "    %.*s\n", (int)n, text);
        text += n + (text[n] == '\n');
    }
}

static void print_failures(const struct results *r, FILE *to) {
    for (uint32_t w = 0; w < r->workloads.len; w++)
        for (uint32_t m = 0; m < r->models.len; m++) {
            const struct run *run = results_run(r, w, m);
            if (run->status == RUN_FAILED || run->status == RUN_WRONG) {
                fprintf(to, "\n%s, %s: %s\n", r->workloads.at[w], r->models.at[m], status_text(run));
                print_message(to, run->message ? run->message : "");
            }
        }
}

void results_print(const struct results *r, FILE *to) {
    const struct metric *metric;
    struct widths width = widths_for(r);
    print_start(to, "workload", "mech", width);
    for (uint32_t i = 0; (metric = metric_at(i)); i++)
        fprintf(to, " %*s", column_width(metric), metric->title);
    fputc('\n', to);
    for (uint32_t w = 0; w < r->workloads.len; w++)
        for (uint32_t m = 0; m < r->models.len; m++)
            print_run(r, w, m, width, to);
    if (r->workloads.len > 1)
        print_means(r, width, to);
    print_failures(r, to);
}
