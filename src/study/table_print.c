/* The table of a comparison. */
#include <math.h>
#include <string.h>

#include "report/number.h"
#include "study/table.h"

enum { TABLE_WIDTH = 100, NAME_WIDTH = 20 };

/* Room for values of a style; a longer title takes what it needs. */
static const int style_widths[] = {[STYLE_COUNT] = 10, [STYLE_JOULES] = 8,  [STYLE_FACTOR] = 7,
                                   [STYLE_SAVING] = 7, [STYLE_PERCENT] = 7, [STYLE_NUMBER] = 8};

static int column_width(const struct metric *metric) {
    int title = (int)strlen(metric->title), values = style_widths[metric->style];
    return title > values ? title : values;
}

/* Widths of the first two columns. */
struct widths {
    int name, model;
};

static int longer(int least, const char *text) {
    return (int)strlen(text) > least ? (int)strlen(text) : least;
}

/* What the longest labels need, as far as lines are not wider than the table may be. */
static struct widths widths_for(const struct table *t, enum metric_part part) {
    const struct metric *metric;
    int least = (int)strlen("geometric mean"), name = least, model = (int)strlen("mech");
    int room = TABLE_WIDTH - 1;
    for (uint32_t i = 0; i < t->benches.len; i++)
        name = longer(name, t->benches.at[i].label);
    for (uint32_t i = 0; i < t->models.len; i++)
        model = longer(model, t->models.at[i].label);
    for (uint32_t i = 0; (metric = metric_at(part, i)); i++)
        room -= 1 + column_width(metric);
    struct widths w = {.name = name > NAME_WIDTH ? NAME_WIDTH : name};
    if (model > room - w.name) /* rather a line for a benchmark's name than one for each machine's */
        w.name = room - model > least ? room - model : least;
    w.model = model > room - w.name ? room - w.name : model;
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
    case STYLE_PERCENT:
        snprintf(out, NUMBER_TEXT, "%.3g%%", v);
        return out;
    case STYLE_NUMBER:
        return number_short(v, out);
    }
    return out;
}

/* A label that is longer than its column, in lines of its own. */
static void print_long(FILE *to, const char *text, int indent) {
    size_t room = (size_t)(TABLE_WIDTH - indent);
    for (size_t n; *text; text += n) {
        n = strlen(text) > room ? room : strlen(text);
        while (n < strlen(text) && n > 1 && ((unsigned char)text[n] & 0xc0) == 0x80)
            n--; /* a character has several bytes */
        fprintf(to, "%*s%.*s\n", indent, "", (int)n, text);
    }
}

/* The first two columns. Labels are never cut, as those of stacks would often become the same. */
static void print_start(FILE *to, const char *name, const char *model, struct widths w) {
    if ((int)strlen(name) > w.name) {
        print_long(to, name, 0);
        name = "";
    }
    if ((int)strlen(model) > w.model) {
        if (*name)
            fprintf(to, "%s\n", name);
        print_long(to, model, w.name + 1);
        name = model = "";
    }
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

static const char *status_text(const struct row *r) {
    static const char *const texts[] = {"not run", "", "FAILED", "WRONG RESULT"};
    return texts[r->status];
}

/* Whether a row has a line in the part of a table. */
static bool belongs(const struct row *r, enum metric_part part) {
    return r && (part != PART_ERROR || (r->status == ROW_OK && row_approximates(r)));
}

static void print_row(const struct table *t, const struct row *r, enum metric_part part, const char *name,
                      struct widths width, FILE *to) {
    const struct metric *metric;
    char text[NUMBER_TEXT];
    int further = 0;
    print_start(to, name, t->models.at[r->model].label, width);
    if (r->status != ROW_OK)
        fprintf(to, "  %s", status_text(r));
    for (uint32_t i = 0; r->status == ROW_OK && (metric = metric_at(part, i)); i++) {
        bool one =
            table_is_base(t, r) && metric_has_mean(metric); /* the base machine beside itself says nothing */
        print_cell(to, &further, metric, one ? "" : value_text(metric, metric_value(t, r, metric), text));
    }
    fputc('\n', to);
}

/* The rows of a benchmark, whose name stands at the first of them. */
static void print_bench(const struct table *t, uint32_t bench, enum metric_part part, struct widths width,
                        FILE *to) {
    const char *name = t->benches.at[bench].label;
    for (uint32_t m = 0; m < t->models.len; m++) {
        const struct row *r = table_row(t, bench, m);
        if (!belongs(r, part))
            continue;
        print_row(t, r, part, name, width, to);
        name = "";
    }
}

static void print_means(const struct table *t, enum metric_part part, struct widths width, FILE *to) {
    const struct metric *metric;
    const char *name = "geometric mean";
    char text[NUMBER_TEXT];
    for (uint32_t m = 0; m < t->models.len; m++) {
        int further = 0;
        if (t->models.at[m].base == m)
            continue;
        print_start(to, name, t->models.at[m].label, width);
        name = "";
        for (uint32_t i = 0; (metric = metric_at(part, i)); i++) {
            bool none = !metric_has_mean(metric);
            print_cell(to, &further, metric, none ? "" : value_text(metric, metric_mean(t, m, metric), text));
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

static void print_failures(const struct table *t, FILE *to) {
    for (uint32_t i = 0; i < t->rows.len; i++) {
        const struct row *r = &t->rows.at[i];
        if (r->status != ROW_FAILED && r->status != ROW_WRONG)
            continue;
        fprintf(to, "\n%s, %s: %s\n", t->benches.at[r->bench].label, t->models.at[r->model].label,
                status_text(r));
        print_message(to, r->message ? r->message : "");
    }
}

static void print_part(const struct table *t, enum metric_part part, FILE *to) {
    const struct metric *metric;
    struct widths width = widths_for(t, part);
    print_start(to, "workload", "mech", width);
    for (uint32_t i = 0; (metric = metric_at(part, i)); i++)
        fprintf(to, " %*s", column_width(metric), metric->title);
    fputc('\n', to);
    for (uint32_t b = 0; b < t->benches.len; b++)
        print_bench(t, b, part, width, to);
    if (t->benches.len > 1 && part != PART_ERROR)
        print_means(t, part, width, to);
}

static double number_of(const json_t *from, const char *name) {
    const json_t *v = json_object_get(from, name);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

void table_print_launches(const json_t *list, const char *name, uint32_t most, FILE *to) {
    size_t all = json_array_size(list);
    for (size_t i = 0; i < all && i < most; i++) {
        const json_t *e = json_array_get(list, i), *why = json_object_get(e, "message");
        fprintf(to, "%slaunch %lld, %s: ", name, (long long)json_integer_value(json_object_get(e, "launch")),
                json_string_value(json_object_get(e, "result")));
        double psnr = number_of(e, "psnr");
        if (why)
            fprintf(to, "%s\n", json_string_value(why));
        else if (!json_integer_value(json_object_get(e, "differing")))
            fprintf(to, "exact\n");
        else
            fprintf(to, "RMSE %.3g%% of the mean, at most %.4g, %.3g%% of a value on average%s%.*f%s\n",
                    100 * number_of(e, "rmse_over_mean"), number_of(e, "max"),
                    100 * number_of(e, "mean_relative"), isnan(psnr) ? "" : ", PSNR ", isnan(psnr) ? 0 : 1,
                    isnan(psnr) ? 0 : psnr, isnan(psnr) ? "" : " dB");
    }
    if (all > most)
        fprintf(to, "%sand %zu more launches, which --json has\n", name, all - most);
}

/* Errors of single launches, of runs that have several. */
static void print_launches(const struct table *t, FILE *to) {
    enum { MOST = 12 };
    bool any = false;
    for (uint32_t i = 0; i < t->rows.len; i++) {
        const struct row *r = &t->rows.at[i];
        const json_t *list = json_object_get(r->report, "launch_errors");
        if (json_array_size(list) < 2)
            continue;
        if (!any)
            fputs("\nThe same of what single launches left:\n", to);
        any = true;
        struct str name = {0};
        str_printf(&name, "%s, %s, ", t->benches.at[r->bench].label, t->models.at[r->model].label);
        table_print_launches(list, str_text(&name), MOST, to);
        str_free(&name);
    }
}

void table_print(const struct table *t, FILE *to) {
    print_part(t, PART_MACHINE, to);
    if (table_parts(t) > PART_ERROR) {
        fputs("\nErrors of what only approximates, against the base machine's results:\n", to);
        print_part(t, PART_ERROR, to);
        print_launches(t, to);
    }
    print_failures(t, to);
}

void table_print_energy(const struct table *t, FILE *to) {
    fputs("\nEnergy by part, % of all that the base machine uses (L1: with shared memory; memory: L2 and\n"
          "beyond; idle: clocks and leakage):\n",
          to);
    print_part(t, PART_ENERGY, to);
}
