/* Typed parameters: rows that say what a setting is called, what values it takes and where it is kept.
 *
 * An owner of parameters (a GPU, a mechanism, a probe) has a table of rows and a plain struct for their
 * values. Everything that reads, writes, checks or explains settings works from the rows and knows no setting
 * by name, so a new row concerns its owner alone:
 *
 *   struct toy_params {
 *       int32_t entries;
 *   };
 *   static const struct param rows[] = {
 *       {"toy.entries", PARAM_AT(struct toy_params, entries), 1, 4096, 64, "entries", "What it means."},
 *   };
 *   static const struct param_table table = PARAM_TABLE(struct toy_params, rows, NULL);
 *
 * Numbers of a row (range, default) are doubles, which hold every integer up to 2^53, far beyond any of them;
 * an INT's range lies within int32_t. */
#ifndef REPRISE_CFG_PARAM_H
#define REPRISE_CFG_PARAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

enum param_type {
    PARAM_INT,     /* int32_t */
    PARAM_BYTES,   /* uint64_t; K, M, G, T are powers of 1024 */
    PARAM_FLOAT,   /* double */
    PARAM_BOOL,    /* bool */
    PARAM_ENUM,    /* an enum whose constants number the words of choices */
    PARAM_VERSION, /* int32_t: major.minor, held as 10 * major + minor */
    PARAM_STRING,  /* param_string */
};

enum { PARAM_STRING_SIZE = 128 };
typedef char param_string[PARAM_STRING_SIZE];

/* One parameter. */
struct param {
    const char *path; /* "group.name"; every path has at least one dot */
    enum param_type type;
    size_t offset;    /* of its member in the struct */
    double min, max;  /* of a STRING: of its length */
    double initial;   /* the default: what holds when nobody says otherwise */
    const char *unit; /* "": none */
    const char *help;
    const char *const *choices; /* the words of an ENUM in the order of its constants, NULL-terminated */
    const char *text;           /* the default of a STRING */
};

/* Type and place of a member, as a row of a table wants them. The type follows from that of the member. */
#define PARAM_AT(block, member)                                                                              \
    .type = _Generic(((block *)NULL)->member,                                                                \
        int32_t: PARAM_INT,                                                                                  \
        uint64_t: PARAM_BYTES,                                                                               \
        double: PARAM_FLOAT,                                                                                 \
        bool: PARAM_BOOL,                                                                                    \
        unsigned: PARAM_ENUM,                                                                                \
        char *: PARAM_STRING),                                                                               \
    .offset = offsetof(block, member)

/* Called for two parameters, given by their offsets, that disagree: "a (value) <words> b (value)". */
typedef void param_fault(void *ctx, size_t a, size_t b, const char *words);

/* The parameters of one owner. */
struct param_table {
    const struct param *rows;
    uint32_t count;
    size_t size; /* of the struct that has their values */
    /* Reports what must hold between parameters and does not, or NULL. It may rely on every value being in
     * its own range. */
    void (*check)(const void *values, param_fault *fault, void *ctx);
};

#define PARAM_TABLE(block, rows, check)                                                                      \
    { (rows), sizeof(rows) / sizeof *(rows), sizeof(block), (check) }

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
/* The default of p. */
union param_value param_initial(const struct param *p);
/* Puts a value where p is kept in the struct at base. */
void param_store(const struct param *p, void *base, const union param_value *v);
/* Puts every default of a table into the struct at base. */
void param_defaults(const struct param_table *t, void *base);
/* Adds the value p has in the struct at base: as a file would say it ("48K"), or plainly ("49152"). */
void param_print(const struct param *p, const void *base, bool plain, struct str *out);
/* The same of the default of p, as a file would say it. */
void param_print_initial(const struct param *p, struct str *out);
/* Adds what p accepts: "an integer, 1 to 64 warps". */
void param_describe(const struct param *p, struct str *out);

/* Adds what is wrong with a row of a table: a name without a group, a default outside its range, and the
 * like; false when there is nothing. For tables that come from outside. */
bool param_is_wrong(const struct param_table *t, const struct param *p, struct str *why);

/* Rows of several owners in one list. */
struct param_list {
    const struct param **at;
    uint32_t len, cap;
};

/* The number of the row called path, or UINT32_MAX. */
uint32_t param_find(const struct param_list *l, const char *path, size_t len);
/* Whether path is a group: the front part of some row's path. */
bool param_is_group(const struct param_list *l, const char *path, size_t len);
/* The parameter or group that was probably meant by path, or NULL; kept in a until it is freed. */
const char *param_suggest(const struct param_list *l, const char *path, size_t len, struct arena *a);

#endif
