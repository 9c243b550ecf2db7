/* What papers claim, beside what runs give: data/claims.csv and data/explanations.csv. */
#ifndef REPRISE_STUDY_CLAIMS_H
#define REPRISE_STUDY_CLAIMS_H

#include <stdbool.h>

#include "report/csv.h"

/* A row of claims.csv. */
struct claim {
    const char *id, *metric, *unit, *aggregation, *source, *note;
    double value; /* NAN for one in words */
};

struct claims {
    struct csv table, explanations;
};

/* Reads both files of data/; false after a message. */
bool claims_read(struct claims *c);
/* Claim i (from 0) of the table; false past the last one. */
bool claim_at(const struct claims *c, uint32_t i, struct claim *out);
/* Why ours differs from a claim; "" when nobody has said. */
const char *claim_explanation(const struct claims *c, const char *id);
void claims_free(struct claims *c);

enum verdict {
    VERDICT_NONE,    /* there is nothing to compare with */
    VERDICT_AGREES,  /* within a third */
    VERDICT_HOLDS,   /* the claim is a bound, and ours is on the right side of it */
    VERDICT_DIFFERS, /* by more than a third */
    VERDICT_PART,    /* ours is not of what the claim is of: other sizes, or some of the benchmarks */
    VERDICTS
};
extern const char *const verdict_words[];

/* Compares ours with a claim. The note of a claim that is a bound has "qual:" with <, >, within, upper or
 * none exceeded. */
enum verdict claim_verdict(const struct claim *c, double ours);
/* (ours - claim) / |claim| in per cent; NAN when there is nothing to compare, or the claim is zero. */
double claim_difference(const struct claim *c, double ours);

#endif
