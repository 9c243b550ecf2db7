/* Answers of the store as a table, CSV, JSON and SQL. */
#include "study/query.h"

#include <jansson.h>
#include <math.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

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

/* An answer as it is shown: titles, then rows. */
struct answer {
    VEC(struct cell) cells;
    uint32_t columns;
    int *widths;  /* of columns, in characters */
    bool *hidden; /* columns that are left out */
};

static uint32_t rows_of(const struct answer *a) {
    return a->cells.len / a->columns;
}

/* The last column that is shown. */
static uint32_t last_of(const struct answer *a) {
    uint32_t c = a->columns - 1;
    while (c && a->hidden[c])
        c--;
    return c;
}

/* How wide a table may be: as the terminal, and where that is narrow or there is none, as here. */
static int most_columns(FILE *to) {
    enum { COLUMNS = 100 };
    struct winsize size = {0};
    return isatty(fileno(to)) && !ioctl(fileno(to), TIOCGWINSZ, &size) && size.ws_col > COLUMNS ? size.ws_col
                                                                                                : COLUMNS;
}

/* Makes the widest columns of text narrower until the table is as wide as it may be. A text in the last one
 * is nobody's neighbour. */
static void fit(struct answer *a, int most) {
    enum { LEAST = 8 };
    uint32_t last = last_of(a);
    int all = -2, widest = LEAST;
    for (uint32_t c = 0; c <= last; c++)
        if (!a->hidden[c])
            all += c < last || a->cells.at[c].number ? a->widths[c] + 2 : 0;
    for (; all > most && widest >= LEAST; all--) {
        uint32_t at = last;
        widest = LEAST;
        for (uint32_t c = 0; c < last; c++)
            if (!a->hidden[c] && !a->cells.at[c].number && a->widths[c] > widest) {
                widest = a->widths[c];
                at = c;
            }
        if (at == last)
            return;
        a->widths[at]--;
    }
}

/* Bytes of a text that go into a line of a column: to its end, else behind the last character at which names
 * can be parted, else as many as there is room for. */
static int line_of(const char *text, int width) {
    int n = 0, bytes = 0, parted = 0;
    while (text[bytes] && (n < width || ((unsigned char)text[bytes] & 0xC0) == 0x80)) {
        n += ((unsigned char)text[bytes] & 0xC0) != 0x80;
        if (strchr(" ,:+;/_", text[bytes++]))
            parted = bytes;
    }
    return !text[bytes] || !parted ? bytes : parted;
}

/* Prints a row; what does not fit its column goes on in the next lines. */
static void print_row(FILE *to, const struct answer *a, const struct cell *row) {
    uint32_t last = last_of(a);
    const char **rest = xcalloc(a->columns, sizeof *rest);
    struct str line = {0};
    for (uint32_t c = 0; c < a->columns; c++)
        rest[c] = row[c].text;
    for (bool more = true; more;) {
        more = false;
        line.len = 0;
        for (uint32_t c = 0; c <= last; c++) {
            if (a->hidden[c])
                continue;
            bool whole = c == last || row[c].number;
            int bytes = whole ? (int)strlen(rest[c]) : line_of(rest[c], a->widths[c]);
            struct str part = {0};
            str_printf(&part, "%.*s", bytes, rest[c]);
            int gap = a->widths[c] - width_of(str_text(&part));
            str_printf(&line, "%*s%s%*s", row[c].number ? gap : 0, "", str_text(&part),
                       (row[c].number ? 0 : gap) + 2, "");
            str_free(&part);
            rest[c] += bytes;
            more |= *rest[c] != 0;
        }
        while (line.len && line.at[line.len - 1] == ' ')
            line.len--;
        fprintf(to, "%.*s\n", (int)line.len, line.at);
    }
    str_free(&line);
    free(rest);
}

/* Reads all rows; false when the database could not give them. */
static bool read_answer(struct answer *a, sqlite3_stmt *q) {
    int rc;
    uint32_t n = a->columns = (uint32_t)sqlite3_column_count(q);
    a->widths = xcalloc(n, sizeof *a->widths);
    a->hidden = xcalloc(n, sizeof *a->hidden);
    for (uint32_t c = 0; c < n; c++)
        vec_push(&a->cells, (struct cell){xstrdup(sqlite3_column_name(q, (int)c)), false});
    while ((rc = sqlite3_step(q)) == SQLITE_ROW)
        for (uint32_t c = 0; c < n; c++) {
            struct str s = {0};
            int type = sqlite3_column_type(q, (int)c);
            add_shown(&s, q, (int)c);
            vec_push(&a->cells, (struct cell){s.at ? s.at : xstrdup(""),
                                              type == SQLITE_INTEGER || type == SQLITE_FLOAT});
        }
    for (uint32_t i = 0; i < a->cells.len; i++) {
        int width = width_of(a->cells.at[i].text);
        a->widths[i % n] = width > a->widths[i % n] ? width : a->widths[i % n];
        if (i >= n && i < 2 * n)
            a->cells.at[i - n].number = a->cells.at[i].number; /* a title stands as its first value */
    }
    return rc == SQLITE_DONE;
}

/* Hides columns that tell no row from another: those that are empty, and, of those that say what ran and how,
 * those that are the same in all rows, which are said above. */
static void hide(struct answer *a, FILE *to) {
    static const char *const how[] = {"key", "benchmark", "size",     "bits",   "seed",
                                      "gpu", "mech",      "settings", "probes", "timed"};
    const char *before = "all: ";
    for (uint32_t c = 0; rows_of(a) > 1 && c < a->columns; c++) {
        const char *title = a->cells.at[c].text, *first = a->cells.at[a->columns + c].text;
        bool same = true, tells = !*first;
        for (uint32_t r = 2; r < rows_of(a); r++)
            same &= !strcmp(a->cells.at[r * a->columns + c].text, first);
        for (size_t i = 0; rows_of(a) > 2 && i < sizeof how / sizeof how[0]; i++)
            tells |= !strcmp(how[i], title);
        a->hidden[c] = same && tells;
        if (a->hidden[c] && *first) {
            fprintf(to, "%s%s %s", before, title, first);
            before = ", ";
        }
    }
    fputs(*before == ',' ? "\n\n" : "", to);
}

static bool print(sqlite3_stmt *q, FILE *to, bool brief) {
    struct answer a = {0};
    bool ok = read_answer(&a, q);
    bool nothing = brief && ok && rows_of(&a) == 1;
    if (nothing)
        fputs("nothing was found\n", to);
    else if (brief)
        hide(&a, to);
    fit(&a, most_columns(to));
    for (uint32_t r = 0; !nothing && r < rows_of(&a); r++)
        print_row(to, &a, &a.cells.at[r * a.columns]);
    for (uint32_t i = 0; i < a.cells.len; i++)
        free(a.cells.at[i].text);
    vec_free(&a.cells);
    free(a.widths);
    free(a.hidden);
    return ok;
}

bool query_print(sqlite3_stmt *q, FILE *to) {
    return print(q, to, false);
}

bool query_brief(sqlite3_stmt *q, FILE *to) {
    return print(q, to, true);
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
