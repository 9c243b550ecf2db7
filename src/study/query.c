/* Answers of the store as a table, CSV, JSON and SQL. */
#include "study/query.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "report/csv.h"

static const char *text_at(sqlite3_stmt *q, int c) {
    const char *text = (const char *)sqlite3_column_text(q, c);
    return text ? text : "";
}

/* ---- for people ---- */

/* Adds a value as it is shown: numbers short, control characters as escapes. */
static void add_shown(struct str *s, sqlite3_stmt *q, int c) {
    if (sqlite3_column_type(q, c) == SQLITE_FLOAT) {
        str_printf(s, "%.4g", sqlite3_column_double(q, c));
        return;
    }
    for (const char *t = text_at(q, c); *t; t++)
        if (*t == '\n')
            str_printf(s, "\\n");
        else if ((unsigned char)*t < ' ' || *t == 127)
            str_printf(s, "\\x%02x", (unsigned char)*t);
        else
            str_add(s, t, 1);
}

/* Characters that a text takes on a terminal; those of UTF-8 that follow another take none. */
static int width_of(const char *text) {
    int n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xC0) != 0x80;
    return n;
}

struct cell {
    char *text;
    bool number;
};

/* Makes the widest columns of text narrower until the table has as many columns of characters as it may. A
 * text in the last one is nobody's neighbour. */
static void fit(int *widths, const struct cell *titles, uint32_t n) {
    enum { COLUMNS = 100, LEAST = 8 };
    int all = 0, widest = LEAST;
    for (uint32_t c = 0; c < n; c++)
        all += c < n - 1 || titles[c].number ? widths[c] + 2 : 0;
    for (all -= 2; all > COLUMNS && widest >= LEAST; all--) {
        uint32_t at = n;
        widest = LEAST;
        for (uint32_t c = 0; c + 1 < n; c++)
            if (!titles[c].number && widths[c] > widest) {
                widest = widths[c];
                at = c;
            }
        if (at == n)
            return;
        widths[at]--;
    }
}

/* Cuts a text that is wider than its column; its end says so. */
static void cut(char *text, int width) {
    if (width_of(text) <= width)
        return;
    for (int n = 0; n < width - 1 || ((unsigned char)*text & 0xC0) == 0x80; text++)
        n += ((unsigned char)*text & 0xC0) != 0x80;
    strcpy(text, "~");
}

static void print_cell(FILE *to, const struct cell *c, int width, bool last) {
    if (!c->number && !last)
        cut(c->text, width);
    int gap = width - width_of(c->text);
    if (c->number)
        fprintf(to, "%*s%s", gap, "", c->text);
    else
        fprintf(to, "%s%*s", c->text, last ? 0 : gap, "");
    fputs(last ? "\n" : "  ", to);
}

bool query_print(sqlite3_stmt *q, FILE *to) {
    VEC(struct cell) cells = {0};
    uint32_t n = (uint32_t)sqlite3_column_count(q);
    int *widths = xcalloc(n + 1, sizeof *widths), rc;
    for (uint32_t c = 0; c < n; c++)
        vec_push(&cells, (struct cell){xstrdup(sqlite3_column_name(q, (int)c)), false});
    while ((rc = sqlite3_step(q)) == SQLITE_ROW)
        for (uint32_t c = 0; c < n; c++) {
            struct str s = {0};
            int type = sqlite3_column_type(q, (int)c);
            add_shown(&s, q, (int)c);
            vec_push(&cells, (struct cell){s.at ? s.at : xstrdup(""),
                                           type == SQLITE_INTEGER || type == SQLITE_FLOAT});
        }
    for (uint32_t i = 0; i < cells.len; i++) {
        int width = width_of(cells.at[i].text);
        widths[i % n] = width > widths[i % n] ? width : widths[i % n];
        if (i >= n && i < 2 * n)
            cells.at[i - n].number = cells.at[i].number; /* a title stands as its first value */
    }
    fit(widths, cells.at, n);
    for (uint32_t i = 0; i < cells.len; i++) {
        print_cell(to, &cells.at[i], widths[i % n], i % n == n - 1);
        free(cells.at[i].text);
    }
    vec_free(&cells);
    free(widths);
    return rc == SQLITE_DONE;
}

/* ---- for programs ---- */

bool query_csv(sqlite3_stmt *q, FILE *to) {
    struct str line = {0};
    int n = sqlite3_column_count(q), rc;
    for (int c = 0; c < n; c++)
        csv_add(&line, sqlite3_column_name(q, c));
    do {
        csv_end_row(&line);
        fwrite(line.at, 1, line.len, to);
        line.len = 0;
        rc = sqlite3_step(q);
        for (int c = 0; rc == SQLITE_ROW && c < n; c++)
            if (sqlite3_column_type(q, c) == SQLITE_FLOAT || sqlite3_column_type(q, c) == SQLITE_NULL)
                csv_add_number(&line,
                               sqlite3_column_type(q, c) == SQLITE_NULL ? NAN : sqlite3_column_double(q, c));
            else
                csv_add(&line, text_at(q, c));
    } while (rc == SQLITE_ROW);
    str_free(&line);
    return rc == SQLITE_DONE;
}

static json_t *value_at(sqlite3_stmt *q, int c) {
    switch (sqlite3_column_type(q, c)) {
    case SQLITE_INTEGER:
        return json_integer(sqlite3_column_int64(q, c));
    case SQLITE_FLOAT:
        return json_real(sqlite3_column_double(q, c));
    case SQLITE_NULL:
        return json_null();
    default:
        return json_string(text_at(q, c));
    }
}

bool query_json(sqlite3_stmt *q, FILE *to) {
    int rc;
    const char *before = "[";
    while ((rc = sqlite3_step(q)) == SQLITE_ROW) {
        json_t *row = json_object();
        for (int c = 0; c < sqlite3_column_count(q); c++)
            json_object_set_new(row, sqlite3_column_name(q, c), value_at(q, c));
        fprintf(to, "%s\n", before);
        json_dumpf(row, to, JSON_COMPACT);
        json_decref(row);
        before = ",";
    }
    fputs(*before == '[' ? "[]\n" : "\n]\n", to);
    return rc == SQLITE_DONE;
}

static void print_name(const char *name, FILE *to) {
    char *quoted = sqlite3_mprintf("\"%w\"", name);
    fputs(quoted, to);
    sqlite3_free(quoted);
}

static void print_literal(sqlite3_stmt *q, int c, FILE *to) {
    char *quoted = NULL;
    switch (sqlite3_column_type(q, c)) {
    case SQLITE_FLOAT:
        fprintf(to, "%.17g", sqlite3_column_double(q, c));
        return;
    case SQLITE_INTEGER:
        fprintf(to, "%lld", (long long)sqlite3_column_int64(q, c));
        return;
    case SQLITE_NULL:
        fputs("NULL", to);
        return;
    default:
        quoted = sqlite3_mprintf("%Q", text_at(q, c));
        fputs(quoted, to);
        sqlite3_free(quoted);
    }
}

bool query_sql(sqlite3_stmt *q, FILE *to) {
    int n = sqlite3_column_count(q), rc;
    fputs("BEGIN;\nCREATE TABLE result(", to);
    for (int c = 0; c < n; c++) {
        fputs(c ? ", " : "", to);
        print_name(sqlite3_column_name(q, c), to);
    }
    fputs(");\n", to);
    while ((rc = sqlite3_step(q)) == SQLITE_ROW) {
        fputs("INSERT INTO result VALUES(", to);
        for (int c = 0; c < n; c++) {
            fputs(c ? ", " : "", to);
            print_literal(q, c, to);
        }
        fputs(");\n", to);
    }
    fputs("COMMIT;\n", to);
    return rc == SQLITE_DONE;
}
