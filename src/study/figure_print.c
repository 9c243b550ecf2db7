/* Figures of papers as tables: for people, and as CSV. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/number.h"
#include "study/figure.h"

enum { TABLE_WIDTH = 100, NAME_WIDTH = 21, LEAST_WIDTH = 7, ID_WIDTH = 42 };

static int column_width(const struct figure *f, uint32_t i) {
    int n = (int)strlen(f->columns.at[i].series->name);
    return n > LEAST_WIDTH ? n : LEAST_WIDTH;
}

/* Columns from first on that fit a line; at least one. */
static uint32_t columns_that_fit(const struct figure *f, uint32_t first) {
    int room = TABLE_WIDTH - NAME_WIDTH;
    uint32_t end = first;
    while (end < f->columns.len && (end == first || room > column_width(f, end)))
        room -= 2 + column_width(f, end++);
    return end;
}

/* A line of a figure: its name, and a value for each column. */
struct line {
    const char *name;
    double (*value)(const struct figure *f, uint32_t column, const struct line *l);
    uint32_t bench;                /* for one */
    const struct paper_row *group; /* for average; NULL: all */
};

static double one(const struct figure *f, uint32_t column, const struct line *l) {
    return f->columns.at[column].values[l->bench];
}

static double average(const struct figure *f, uint32_t column, const struct line *l) {
    return figure_average(f, column, l->group);
}

static double least(const struct figure *f, uint32_t column, const struct line *l) {
    (void)l;
    return number_min(f->columns.at[column].values, f->table->benches.len);
}

static double most(const struct figure *f, uint32_t column, const struct line *l) {
    (void)l;
    return number_max(f->columns.at[column].values, f->table->benches.len);
}

static void print_line(const struct figure *f, uint32_t first, uint32_t end, struct line l, FILE *to) {
    char text[NUMBER_TEXT];
    fprintf(to, "%-*.*s", NAME_WIDTH, NAME_WIDTH, l.name);
    for (uint32_t i = first; i < end; i++)
        fprintf(to, "  %*s", column_width(f, i), number_short(l.value(f, i, &l), text));
    fputc('\n', to);
}

/* What averages are called: over all benchmarks, or over a group. */
static const char *average_name(const struct figure *f, const struct paper_row *group, char out[64]) {
    snprintf(out, 64, "%s%s%s", f->row->geometric ? "geometric mean" : "mean", group ? ", " : "",
             group ? group->name : "");
    return out;
}

static void print_columns(const struct figure *f, bool all, uint32_t first, uint32_t end, FILE *to) {
    char name[NAME_WIDTH + 64], text[64];
    const struct paper_row *group = NULL;
    fprintf(to, "%-*s", NAME_WIDTH, "");
    for (uint32_t i = first; i < end; i++)
        fprintf(to, "  %*s", column_width(f, i), f->columns.at[i].series->name);
    fputc('\n', to);
    for (uint32_t b = 0; all && b < f->table->benches.len; b++) {
        const char *label = f->table->benches.at[b].label;
        figure_bench(f, b, text, sizeof text);
        snprintf(name, sizeof name, "%-2s %s", text, strcmp(text, label) ? label : "");
        print_line(f, first, end, (struct line){.name = name, .value = one, .bench = b}, to);
    }
    print_line(f, first, end, (struct line){.name = average_name(f, NULL, text), .value = average}, to);
    while ((group = paper_next(&f->paper, group, PAPER_GROUP)))
        print_line(f, first, end,
                   (struct line){.name = average_name(f, group, text), .value = average, .group = group}, to);
    if (!all) {
        print_line(f, first, end, (struct line){.name = "least", .value = least}, to);
        print_line(f, first, end, (struct line){.name = "most", .value = most}, to);
    }
}

void figure_print(const struct figure *f, bool all, FILE *to) {
    const char *id = f->row->figure;
    bool number = id[0] >= '0' && id[0] <= '9';
    fprintf(to, "\n%s%s%s%s\n", number ? "Figure " : "", number ? id : "", number ? ". " : "", f->row->text);
    for (uint32_t first = 0, end; first < f->columns.len; first = end) {
        end = columns_that_fit(f, first);
        print_columns(f, all, first, end, to);
    }
}

/* Words of an explanation, broken into lines. */
static void print_wrapped(const char *text, FILE *to) {
    enum { INDENT = 4 };
    int at = 0;
    while (*text) {
        int n = (int)strcspn(text, " ");
        if (!at || at + 1 + n > TABLE_WIDTH)
            at = fprintf(to, "%s%*s", at ? "\n" : "", INDENT, "") - (at != 0);
        else
            at += fprintf(to, " ");
        at += fprintf(to, "%.*s", n, text);
        text += n + strspn(text + n, " ");
    }
    fputc('\n', to);
}

void figure_print_claims(const struct claim_rows *rows, uint32_t from, FILE *to) {
    char ours[NUMBER_TEXT], paper[NUMBER_TEXT], differs[NUMBER_TEXT];
    if (from < rows->len)
        fprintf(to, "\n%-*s %9s %9s %11s\n", ID_WIDTH, "claim", "paper", "ours", "differs by");
    for (uint32_t i = from; i < rows->len; i++) {
        const struct claim_row *r = &rows->at[i];
        enum verdict v = figure_verdict(r);
        double d = claim_difference(&r->claim, r->ours);
        if (v == VERDICT_NONE && !strncmp(r->claim.aggregation, "per-benchmark", 13))
            continue; /* of a benchmark that was left out */
        snprintf(differs, sizeof differs, isnan(d) ? "-" : "%+.0f%%", d);
        fprintf(to, "%-*s %9s %9s %11s  %s\n", ID_WIDTH, r->claim.id,
                isnan(r->claim.value) ? "-" : number_exact(r->claim.value, paper),
                number_short(r->ours, ours), differs, verdict_words[v]);
        if (v == VERDICT_DIFFERS && *r->explanation)
            print_wrapped(r->explanation, to);
    }
}

static void add_averages(const struct figure *f, const struct paper_row *group, struct str *out) {
    char text[64];
    csv_add(out, average_name(f, group, text));
    csv_add(out, "");
    for (uint32_t i = 0; i < f->columns.len; i++)
        csv_add_number(out, figure_average(f, i, group));
    csv_end_row(out);
}

void figure_csv(const struct figure *f, struct str *out) {
    char text[64];
    const struct paper_row *group = NULL;
    csv_add(out, "benchmark");
    csv_add(out, "workload");
    for (uint32_t i = 0; i < f->columns.len; i++)
        csv_add(out, f->columns.at[i].series->name);
    csv_end_row(out);
    for (uint32_t b = 0; b < f->table->benches.len; b++) {
        csv_add(out, figure_bench(f, b, text, sizeof text));
        csv_add(out, f->table->benches.at[b].label);
        for (uint32_t i = 0; i < f->columns.len; i++)
            csv_add_number(out, f->columns.at[i].values[b]);
        csv_end_row(out);
    }
    add_averages(f, NULL, out);
    while ((group = paper_next(&f->paper, group, PAPER_GROUP)))
        add_averages(f, group, out);
}

void figure_claims_csv(const struct claim_rows *rows, struct str *out) {
    static const char *const titles[] = {"claim", "figure", "metric",       "unit",    "aggregation",
                                         "paper", "ours",   "differs by %", "verdict", "explanation"};
    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++)
        csv_add(out, titles[i]);
    csv_end_row(out);
    for (uint32_t i = 0; i < rows->len; i++) {
        const struct claim_row *r = &rows->at[i];
        csv_add(out, r->claim.id);
        csv_add(out, r->figure);
        csv_add(out, r->claim.metric);
        csv_add(out, r->claim.unit);
        csv_add(out, r->claim.aggregation);
        csv_add_number(out, r->claim.value);
        csv_add_number(out, r->ours);
        csv_add_number(out, claim_difference(&r->claim, r->ours));
        csv_add(out, verdict_words[figure_verdict(r)]);
        csv_add(out, r->explanation);
        csv_end_row(out);
    }
}
