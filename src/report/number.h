/* Numbers: as text for people and for files, and what many of them come to. */
#ifndef REPRISE_REPORT_NUMBER_H
#define REPRISE_REPORT_NUMBER_H

#include <stdint.h>

#include "stats/formula.h"

enum { NUMBER_TEXT = 40 }; /* bytes that hold any of the texts */

/* The shortest text that reads back as the same number. */
const char *number_exact(double value, char out[NUMBER_TEXT]);
/* Four significant digits, without an exponent where that is short; "-" for what is no number. */
const char *number_short(double value, char out[NUMBER_TEXT]);
/* An amount with a prefix of its unit, e.g. "1.23 mJ"; "-" for what is no number. */
const char *number_unit(double value, const char *unit, char out[NUMBER_TEXT]);

/* "log2(FORMULA)" and "abs(FORMULA)", for names that a formula asks for; false for any other name. */
bool number_function(const char *name, formula_lookup lookup, void *ctx, double *value);

/* Over those of n values that are numbers; NAN when there are none. The geometric mean is NAN unless all of
 * them are above zero. */
double number_mean(const double *v, uint32_t n);
double number_geomean(const double *v, uint32_t n);
double number_median(const double *v, uint32_t n);
double number_min(const double *v, uint32_t n);
double number_max(const double *v, uint32_t n);

#endif
