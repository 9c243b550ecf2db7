/* The error of results that were approximated, against those of the base machine.
 *
 * Of n values x that are right and y that were computed:
 *     RMSE over mean         sqrt(sum (y - x)^2 / n) / |sum x / n|
 *     square error           sum (y - x)^2 / sum x^2
 *     values within a limit  how many, of all, have |y - x| / |x| of at most 0.1%, 1%, 10%
 *     maximum error          max |y - x|
 *     mean relative error    sum |y - x| / |x| / n; where x is 0 and y is not, a value counts as 1, which is
 * 100% PSNR                   20 log10(peak / RMSE) dB, where peak is 255 for bytes, else max x - min x What
 * cannot be computed is NAN: RMSE over a mean of 0, PSNR of values that are equal or when all x are. */
#ifndef REPRISE_STUDY_ERROR_H
#define REPRISE_STUDY_ERROR_H

#include "report/results.h"

enum { ERROR_LIMITS = 3 };

struct error {
    double rmse_over_mean, max, mean_relative, psnr;
    uint64_t values, differing;
    double square, within[ERROR_LIMITS];
};

/* The error of all results of a run: of each figure the worst of any result, as their units need not be the
 * same. false, with the reason in why, when results are not the same arrays, or have an infinity or a NaN
 * where the right ones have another value. */
bool error_of(const struct results *right, const struct results *got, struct error *out, struct str *why);

/* The error of what one launch left, its i-th in `got`, against what the same launch left in `right`; false,
 * with the reason, as above, or when there is no such launch. */
bool error_of_launch(const struct results *right, const struct results *got, uint32_t i, struct error *out,
                     struct str *why);

#endif
