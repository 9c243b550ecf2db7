/* Errors of approximated results. */
#include "study/error.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* What is summed up over one result. */
struct sums {
    double x, xx, square, relative, max, least, most;
    uint64_t numbers, differing, within[ERROR_LIMITS],
        broken; /* broken: no numbers where the right ones are others */
};

static const double limits[ERROR_LIMITS] = {1e-3, 1e-2, 1e-1};

static struct sums sum_up(const struct result *right, const struct result *got) {
    struct sums s = {.least = INFINITY, .most = -INFINITY};
    for (uint64_t i = 0; i < right->count; i++) {
        double x = result_value(right, i), y = result_value(got, i), e = fabs(y - x);
        if (x == y || (isnan(x) && isnan(y)))
            e = 0; /* also of two infinities */
        else
            s.differing++;
        if (!isfinite(e)) {
            s.broken++;
            continue;
        }
        if (!isfinite(x))
            continue;
        s.numbers++;
        double relative = x != 0 ? e / fabs(x) : e != 0;
        s.x += x;
        s.xx += x * x;
        s.square += e * e;
        s.relative += relative;
        for (int k = 0; k < ERROR_LIMITS; k++)
            s.within[k] += relative <= limits[k];
        s.max = fmax(s.max, e);
        s.least = fmin(s.least, x);
        s.most = fmax(s.most, x);
    }
    return s;
}

static double or_nan(bool has, double v) {
    return has && isfinite(v) ? v : NAN;
}

static struct error finish(const struct sums *s, const struct result *right) {
    double n = (double)s->numbers, rmse = n > 0 ? sqrt(s->square / n) : 0;
    double peak = !strcmp(result_type_name(right->type), "u8") ? 255 : s->most - s->least;
    struct error e = {
        .rmse_over_mean = rmse > 0 ? or_nan(s->x != 0, rmse / fabs(s->x / n)) : 0,
        .square = s->square > 0 ? or_nan(s->xx > 0, s->square / s->xx) : 0,
        .max = s->max,
        .mean_relative = n > 0 ? s->relative / n : 0,
        .psnr = or_nan(rmse > 0 && peak > 0, 20 * log10(peak / rmse)),
        .values = right->count,
        .differing = s->differing,
    };
    for (int k = 0; k < ERROR_LIMITS; k++)
        e.within[k] = n > 0 ? (double)s->within[k] / n : 1;
    return e;
}

/* Why two results are not the same array; false when they are. */
static bool differ_in_kind(const struct result *a, const struct result *b, struct str *why) {
    if (!strcmp(a->name, b->name) && a->type == b->type && a->count == b->count)
        return false;
    str_printf(why, "its result is %" PRIu64 " %s of '%s', the base machine's %" PRIu64 " %s of '%s'",
               b->count, result_type_name(b->type), b->name, a->count, result_type_name(a->type), a->name);
    return true;
}

bool error_of(const struct results *right, const struct results *got, struct error *out, struct str *why) {
    *out = (struct error){.rmse_over_mean = NAN, .psnr = NAN, .within = {1, 1, 1}};
    if (right->all.len != got->all.len || !right->all.len) {
        str_printf(why, "it has %u results, the base machine %u", got->all.len, right->all.len);
        return false;
    }
    for (uint32_t i = 0; i < right->all.len; i++) {
        const struct result *a = &right->all.at[i], *b = &got->all.at[i];
        if (differ_in_kind(a, b, why))
            return false;
        struct sums s = sum_up(a, b);
        if (s.broken) {
            str_printf(why, "%" PRIu64 " of %" PRIu64 " values of '%s' are infinite or no numbers", s.broken,
                       a->count, a->name);
            return false;
        }
        struct error e = finish(&s, a);
        out->rmse_over_mean =
            fmax(out->rmse_over_mean, e.rmse_over_mean); /* of a number and NAN the number */
        out->psnr = fmin(out->psnr, e.psnr);
        out->square = fmax(out->square, e.square);
        for (int k = 0; k < ERROR_LIMITS; k++)
            out->within[k] = fmin(out->within[k], e.within[k]);
        out->max = fmax(out->max, e.max);
        out->mean_relative = fmax(out->mean_relative, e.mean_relative);
        out->values += e.values;
        out->differing += e.differing;
    }
    return true;
}

bool error_of_launch(const struct results *right, const struct results *got, uint32_t i, struct error *out,
                     struct str *why) {
    const struct result *b = &got->launches.at[i], *a = NULL;
    for (uint32_t k = 0; !a && k < right->launches.len; k++)
        a = strcmp(right->launches.at[k].name, b->name) ? NULL : &right->launches.at[k];
    if (!a) {
        str_printf(why, "the base machine has no launch like that");
        return false;
    }
    if (differ_in_kind(a, b, why))
        return false;
    struct sums s = sum_up(a, b);
    *out = finish(&s, a);
    if (s.broken)
        str_printf(why, "%" PRIu64 " of %" PRIu64 " values are infinite or no numbers", s.broken, a->count);
    return !s.broken;
}
