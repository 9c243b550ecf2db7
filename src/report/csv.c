/* Comma-separated values. */
#include "report/csv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/number.h"

/* Reads one field from p on; returns where it ends, or NULL when a quote is never closed. */
static const char *parse_field(const char *p, const char *end, struct str *field) {
    str_add(field, "", 0);
    if (p == end || *p != '"') {
        const char *from = p;
        while (p < end && *p != ',' && *p != '\n' && *p != '\r')
            p++;
        str_add(field, from, (size_t)(p - from));
        return p;
    }
    for (p++; p < end; p++) {
        if (*p != '"') {
            str_add(field, p, 1);
        } else if (p + 1 < end && p[1] == '"') {
            str_add(field, p++, 1);
        } else {
            return p + 1;
        }
    }
    return NULL;
}

bool csv_parse(struct csv *c, const char *text, size_t len) {
    const char *p = text, *end = text + len;
    while (p < end) {
        if (*p == '\n' || *p == '\r') {
            p++;
            continue;
        }
        struct csv_row row = {0};
        bool more = true;
        while (more) {
            struct str field = {0};
            p = parse_field(p, end, &field);
            vec_push(&row.fields, xstrdup(str_text(&field)));
            str_free(&field);
            more = p && p < end && *p == ',';
            p += more;
        }
        vec_push(&c->rows, row);
        if (!p)
            return false;
        while (p < end && *p != '\n') /* what follows a closing quote is no part of the field */
            p++;
    }
    return true;
}

const char *csv_get(const struct csv *c, uint32_t row, const char *column) {
    if (row >= c->rows.len)
        return "";
    const struct csv_row *names = &c->rows.at[0], *r = &c->rows.at[row];
    for (uint32_t i = 0; i < names->fields.len && i < r->fields.len; i++)
        if (!strcmp(names->fields.at[i], column))
            return r->fields.at[i];
    return "";
}

void csv_free(struct csv *c) {
    for (uint32_t r = 0; r < c->rows.len; r++) {
        for (uint32_t i = 0; i < c->rows.at[r].fields.len; i++)
            free(c->rows.at[r].fields.at[i]);
        vec_free(&c->rows.at[r].fields);
    }
    vec_free(&c->rows);
}

static void separate(struct str *out) {
    if (out->len && out->at[out->len - 1] != '\n')
        str_add(out, ",", 1);
}

void csv_add(struct str *out, const char *field) {
    separate(out);
    if (*field && !field[strcspn(field, "\",\r\n")]) {
        str_add(out, field, strlen(field));
        return;
    }
    str_add(out, "\"", 1);
    for (; *field; field++)
        str_add(out, *field == '"' ? "\"\"" : field, *field == '"' ? 2 : 1);
    str_add(out, "\"", 1);
}

void csv_add_number(struct str *out, double value) {
    char text[NUMBER_TEXT];
    if (isfinite(value))
        csv_add(out, number_exact(value, text));
    else
        csv_add(out, "");
}

void csv_end_row(struct str *out) {
    str_add(out, "\n", 1);
}
