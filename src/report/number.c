/* Numbers as text, and what many of them come to. */
#include "report/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

const char *number_exact(double value, char out[NUMBER_TEXT]) {
    double size = fabs(value);
    int whole = size >= 1 && size < 1e15 ? (int)log10(size) + 1 : 1; /* fewer digits would need an exponent */
    for (int digits = whole; digits <= 17; digits++) {
        snprintf(out, NUMBER_TEXT, "%.*g", digits, value);
        if (strtod(out, NULL) == value)
            break;
    }
    return out;
}

const char *number_short(double value, char out[NUMBER_TEXT]) {
    double size = fabs(value);
    if (!isfinite(value))
        return strcpy(out, "-");
    if (size && (size < 1e-3 || size >= 1e9))
        snprintf(out, NUMBER_TEXT, "%.3g", value);
    else if (size >= 1000 || value == floor(value))
        snprintf(out, NUMBER_TEXT, "%.0f", value);
    else
        snprintf(out, NUMBER_TEXT, "%.*f", size >= 100 ? 1 : size >= 10 ? 2 : 3, value);
    return out;
}

const char *number_unit(double value, const char *unit, char out[NUMBER_TEXT]) {
    static const char *const prefixes[] = {"p", "n", "u", "m", "", "k", "M"};
    enum { NPREFIXES = sizeof prefixes / sizeof prefixes[0] };
    int p = 4;
    if (!isfinite(value))
        return strcpy(out, "-");
    for (; p > 0 && value && fabs(value) < 0.9995; p--)
        value *= 1000;
    for (; p < NPREFIXES - 1 && fabs(value) >= 999.5; p++)
        value /= 1000;
    double size = fabs(value);
    snprintf(out, NUMBER_TEXT, "%.*f %s%s",
             size >= 99.95   ? 0
             : size >= 9.995 ? 1
                             : 2,
             value, value ? prefixes[p] : "", unit);
    return out;
}

bool number_function(const char *name, formula_lookup lookup, void *ctx, double *value) {
    static const struct {
        const char *name;
        double (*compute)(double);
    } functions[] = {{"log2(", log2}, {"abs(", fabs}};
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        size_t n = strlen(functions[i].name), len = strlen(name);
        if (strncmp(name, functions[i].name, n))
            continue;
        char *inner = xstrdup(name + n);
        inner[len - n - 1] = 0; /* the closing parenthesis */
        double v;
        bool ok = formula_eval(inner, lookup, ctx, &v) == FORMULA_OK;
        *value = ok ? functions[i].compute(v) : NAN;
        free(inner);
        return true;
    }
    return false;
}

double number_mean(const double *v, uint32_t n) {
    double sum = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++)
        if (isfinite(v[i])) {
            sum += v[i];
            count++;
        }
    return count ? sum / count : NAN;
}

double number_geomean(const double *v, uint32_t n) {
    double sum = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (isfinite(v[i]) && v[i] <= 0)
            return NAN;
        if (isfinite(v[i])) {
            sum += log(v[i]);
            count++;
        }
    }
    return count ? exp(sum / count) : NAN;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double number_median(const double *v, uint32_t n) {
    double *sorted = xcalloc(n + 1, sizeof *sorted), median = NAN;
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++)
        if (isfinite(v[i]))
            sorted[count++] = v[i];
    qsort(sorted, count, sizeof *sorted, compare);
    if (count)
        median = (sorted[count / 2] + sorted[(count - 1) / 2]) / 2;
    free(sorted);
    return median;
}

double number_min(const double *v, uint32_t n) {
    double least = NAN;
    for (uint32_t i = 0; i < n; i++)
        least = isfinite(v[i]) ? fmin(least, v[i]) : least;
    return least;
}

double number_max(const double *v, uint32_t n) {
    double most = NAN;
    for (uint32_t i = 0; i < n; i++)
        most = isfinite(v[i]) ? fmax(most, v[i]) : most;
    return most;
}
