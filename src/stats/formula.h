/* Derived statistics: formulas over counters, as text, so that what is computed is what is shown. */
#ifndef REPRISE_STATS_FORMULA_H
#define REPRISE_STATS_FORMULA_H

#include <stdbool.h>
#include <stdint.h>

/* A value derived from counters and parameters of a machine. */
struct formula_info {
    const char *name, *unit, *meaning, *text;
};

/* The formulas of a machine. */
struct formula_table {
    const struct formula_info *rows;
    uint32_t count;
};

/* The value a name stands for; false: there is nothing of that name. */
typedef bool (*formula_lookup)(void *ctx, const char *name, double *value);

enum formula_result { FORMULA_OK, FORMULA_UNKNOWN_NAME, FORMULA_DIVIDED_BY_ZERO, FORMULA_BAD_SYNTAX };

/* Evaluates arithmetic of names, numbers, + - * / and parentheses. A name is letters, digits, dots,
 * underscores and $; "@" and a word up to a blank, a parenthesis, * or / may follow it, or an argument in
 * parentheses: both are part of the name that lookup is asked for. */
enum formula_result formula_eval(const char *text, formula_lookup lookup, void *ctx, double *value);

#endif
