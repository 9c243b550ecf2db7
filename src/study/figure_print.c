/* Figures of papers as tables: for people, and as CSV. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/number.h"
#include "study/figure.h"

enum { TABLE_WIDTH = 100, NAME_WIDTH = 21, LEAST_WIDTH = 7, ID_WIDTH = 42 };

static int column_width(const struct repro_data *d, uint32_t i) {
    int n = (int)strlen(d->columns.at[i].series->column);
    return n > LEAST_WIDTH ? n : LEAST_WIDTH;
}

/* Columns from first on that fit a line; at least one. */
static uint32_t columns_that_fit(const struct repro_data *d, uint32_t first) {
    int room = TABLE_WIDTH - NAME_WIDTH;
    uint32_t end = first;
    while (end < d->columns.len && (end == first || room > column_width(d, end)))
        room -= 2 + column_width(d, end++);
    return end;
}

static void print_line(const struct repro_data *d, const char *name, uint32_t first, uint32_t end,
                       double (*value)(const struct repro_data *d, uint32_t column, uint32_t w), uint32_t w) {
    char text[NUMBER_TEXT];
    printf("%-*.*s", NAME_WIDTH, NAME_WIDTH, name);
    for (uint32_t i = first; i < end; i++)
        printf("  %*s", column_width(d, i), number_short(value(d, i, w), text));
    puts("");
}

static double one(const struct repro_data *d, uint32_t column, uint32_t w) {
    return d->columns.at[column].values[w];
}

static double average(const struct repro_data *d, uint32_t column, uint32_t w) {
    (void)w;
    return repro_average(d, column);
}

static double least(const struct repro_data *d, uint32_t column, uint32_t w) {
    (void)w;
    return number_min(d->columns.at[column].values, d->results->workloads.len);
}

static double most(const struct repro_data *d, uint32_t column, uint32_t w) {
    (void)w;
    return number_max(d->columns.at[column].values, d->results->workloads.len);
}

static void print_columns(const struct repro_data *d, bool all, uint32_t first, uint32_t end) {
    char name[NAME_WIDTH + 64], text[64];
    printf("%-*s", NAME_WIDTH, "");
    for (uint32_t i = first; i < end; i++)
        printf("  %*s", column_width(d, i), d->columns.at[i].series->column);
    puts("");
    for (uint32_t w = 0; all && w < d->results->workloads.len; w++) {
        const char *workload = d->results->workloads.at[w];
        repro_benchmark(d, w, text, sizeof text);
        snprintf(name, sizeof name, "%-2s %s", text, strcmp(text, workload) ? workload : "");
        print_line(d, name, first, end, one, w);
    }
    print_line(d, d->figure->geometric ? "geometric mean" : "mean", first, end, average, 0);
    if (!all) {
        print_line(d, "least", first, end, least, 0);
        print_line(d, "most", first, end, most, 0);
    }
}

void repro_print(const struct repro_data *d, bool all) {
    bool number = d->figure->id[0] >= '0' && d->figure->id[0] <= '9';
    printf("\n%s%s%s%s\n", number ? "Figure " : "", number ? d->figure->id : "", number ? ". " : "",
           d->figure->title);
    for (uint32_t first = 0, end; first < d->columns.len; first = end) {
        end = columns_that_fit(d, first);
        print_columns(d, all, first, end);
    }
}

/* Words of an explanation, broken into lines. */
static void print_wrapped(const char *text) {
    enum { INDENT = 4 };
    int at = 0;
    while (*text) {
        int n = (int)strcspn(text, " ");
        if (!at || at + 1 + n > TABLE_WIDTH)
            at = printf("%s%*s", at ? "\n" : "", INDENT, "") - (at != 0);
        else
            at += printf(" ");
        at += printf("%.*s", n, text);
        text += n + strspn(text + n, " ");
    }
    puts("");
}

void repro_print_rows(const struct repro_rows *rows, uint32_t from) {
    char ours[NUMBER_TEXT], paper[NUMBER_TEXT], differs[NUMBER_TEXT];
    if (from < rows->len)
        printf("\n%-*s %9s %9s %11s\n", ID_WIDTH, "claim", "paper", "ours", "differs by");
    for (uint32_t i = from; i < rows->len; i++) {
        const struct repro_row *r = &rows->at[i];
        enum verdict v = claim_verdict(&r->claim, r->ours);
        double d = claim_difference(&r->claim, r->ours);
        if (v == VERDICT_NONE && !strncmp(r->claim.aggregation, "per-benchmark", 13))
            continue; /* of a benchmark that was left out */
        snprintf(differs, sizeof differs, isnan(d) ? "-" : "%+.0f%%", d);
        printf("%-*s %9s %9s %11s  %s\n", ID_WIDTH, r->claim.id,
               isnan(r->claim.value) ? "-" : number_exact(r->claim.value, paper), number_short(r->ours, ours),
               differs, verdict_words[v]);
        if (v == VERDICT_DIFFERS && *r->explanation)
            print_wrapped(r->explanation);
    }
}

void repro_csv(const struct repro_data *d, struct str *out) {
    char text[64];
    csv_add(out, "benchmark");
    csv_add(out, "workload");
    for (uint32_t i = 0; i < d->columns.len; i++)
        csv_add(out, d->columns.at[i].series->column);
    csv_end_row(out);
    for (uint32_t w = 0; w < d->results->workloads.len; w++) {
        csv_add(out, repro_benchmark(d, w, text, sizeof text));
        csv_add(out, d->results->workloads.at[w]);
        for (uint32_t i = 0; i < d->columns.len; i++)
            csv_add_number(out, d->columns.at[i].values[w]);
        csv_end_row(out);
    }
    csv_add(out, d->figure->geometric ? "geometric mean" : "mean");
    csv_add(out, "");
    for (uint32_t i = 0; i < d->columns.len; i++)
        csv_add_number(out, repro_average(d, i));
    csv_end_row(out);
}

void repro_rows_csv(const struct repro_rows *rows, struct str *out) {
    static const char *const titles[] = {"claim", "figure", "metric",       "unit",    "aggregation",
                                         "paper", "ours",   "differs by %", "verdict", "explanation"};
    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++)
        csv_add(out, titles[i]);
    csv_end_row(out);
    for (uint32_t i = 0; i < rows->len; i++) {
        const struct repro_row *r = &rows->at[i];
        csv_add(out, r->claim.id);
        csv_add(out, r->figure);
        csv_add(out, r->claim.metric);
        csv_add(out, r->claim.unit);
        csv_add(out, r->claim.aggregation);
        csv_add_number(out, r->claim.value);
        csv_add_number(out, r->ours);
        csv_add_number(out, claim_difference(&r->claim, r->ours));
        csv_add(out, verdict_words[claim_verdict(&r->claim, r->ours)]);
        csv_add(out, r->explanation);
        csv_end_row(out);
    }
}
