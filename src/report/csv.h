/* Comma-separated values, as RFC 4180 has them: quotes where a field needs them, doubled inside. */
#ifndef REPRISE_REPORT_CSV_H
#define REPRISE_REPORT_CSV_H

#include <stdbool.h>

#include "base/vec.h"

struct csv_row {
    VEC(char *) fields;
};

/* A file read: the first row names the columns. A zeroed struct is empty. */
struct csv {
    VEC(struct csv_row) rows;
};

/* Reads a text; false when it ends inside quotes. Rows that are empty lines are left out. */
bool csv_parse(struct csv *c, const char *text, size_t len);
/* Field of a row (from 1) by the name of its column; "" when there is none. */
const char *csv_get(const struct csv *c, uint32_t row, const char *column);
void csv_free(struct csv *c);

/* Appends a field to a line that is being written, with a comma before it unless it is the first. */
void csv_add(struct str *out, const char *field);
/* The same with a number in its shortest exact form; nothing for one that is not a number. */
void csv_add_number(struct str *out, double value);
void csv_end_row(struct str *out);

#endif
