/* Typed parameters: rows that say what a setting is called, what values it takes and where it is kept.
 *
 * A table of rows and a plain struct belong together; everything that reads, writes, checks or explains the
 * struct's settings works from the rows and knows no setting by name. Numbers of a row (range) are doubles,
 * which hold every integer up to 2^53, far beyond any of them; an INT's range lies within int32_t. */
#ifndef REPRISE_CFG_PARAM_H
#define REPRISE_CFG_PARAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

enum param_type { PARAM_INT, PARAM_BYTES, PARAM_FLOAT, PARAM_BOOL, PARAM_ENUM, PARAM_VERSION, PARAM_STRING };

enum { PARAM_STRING_SIZE = 128 };
typedef char param_string[PARAM_STRING_SIZE];

/* One parameter. */
struct param {
    const char *path; /* "group.name"; every path has at least one dot */
    enum param_type type;
    const char *const *choices; /* the words of an ENUM in the order of its constants, NULL-terminated */
    double min, max;            /* of a STRING: of its length */
    size_t offset;              /* of its member in the struct */
    const char *unit, *help;
};

struct param_table {
    const struct param *rows;
    uint32_t count;
};

/* A value of any type. INT, ENUM and VERSION are in i. */
union param_value {
    int32_t i;
    uint64_t u;
    double f;
    bool b;
    param_string s;
};

enum param_status { PARAM_OK, PARAM_WRONG_TYPE, PARAM_OUT_OF_RANGE };

/* Reads len bytes of text as a value of p. quoted: the text stood in quotes, so it can be only a word. */
enum param_status param_read(const struct param *p, const char *text, size_t len, bool quoted,
                             union param_value *out);
/* Puts a value where p is kept in the struct at base. */
void param_store(const struct param *p, void *base, const union param_value *v);
/* Adds the value p has in the struct at base: as a file would say it ("48K"), or plainly ("49152"). */
void param_print(const struct param *p, const void *base, bool plain, struct str *out);
/* Adds what p accepts: "an integer, 1 to 64 warps". */
void param_describe(const struct param *p, struct str *out);

/* The row called path, or NULL. */
const struct param *param_find(const struct param_table *t, const char *path, size_t len);
/* Whether path is a group: the front part of some row's path. */
bool param_is_group(const struct param_table *t, const char *path, size_t len);
/* The parameter or group that was probably meant by path, or NULL; kept in a until it is freed. */
const char *param_suggest(const struct param_table *t, const char *path, size_t len, struct arena *a);

#endif
