/* What papers claim. */
#include "study/claims.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/io.h"
#include "study/place.h"

const char *const verdict_words[] = {"not measured", "agrees", "holds", "differs", "not compared"};

static bool read_table(const char *name, struct csv *out) {
    char path[4096];
    size_t len;
    char *text = place_data(name, path, sizeof path) ? io_read(path, &len) : NULL;
    bool ok = text && csv_parse(out, text, len);
    if (text && !ok)
        fprintf(stderr, "reprise: %s: a quote is never closed\n", path);
    free(text);
    return ok;
}

bool claims_read(struct claims *c) {
    return read_table("claims.csv", &c->table) && read_table("explanations.csv", &c->explanations);
}

bool claim_at(const struct claims *c, uint32_t i, struct claim *out) {
    const struct csv *t = &c->table;
    if (i + 1 >= t->rows.len)
        return false;
    const char *value = csv_get(t, i + 1, "value");
    char *end;
    *out = (struct claim){
        .id = csv_get(t, i + 1, "id"),
        .metric = csv_get(t, i + 1, "metric"),
        .unit = csv_get(t, i + 1, "unit"),
        .aggregation = csv_get(t, i + 1, "aggregation"),
        .source = csv_get(t, i + 1, "source"),
        .note = csv_get(t, i + 1, "note"),
        .value = strtod(value, &end),
    };
    if (!*value || *end)
        out->value = NAN;
    return true;
}

const char *claim_explanation(const struct claims *c, const char *id) {
    for (uint32_t i = 1; i < c->explanations.rows.len; i++)
        if (!strcmp(csv_get(&c->explanations, i, "claim"), id))
            return csv_get(&c->explanations, i, "explanation");
    return "";
}

void claims_free(struct claims *c) {
    csv_free(&c->table);
    csv_free(&c->explanations);
}

/* Whether the claim is a bound, and ours within it. */
static bool holds(const struct claim *c, double ours) {
    static const struct {
        const char *word;
        int sign; /* ours must be: -1 below, 1 above */
    } bounds[] = {{"<", -1}, {">", 1}, {"within", -1}, {"none exceeded", -1}};
    const char *qual = strstr(c->note, "qual: ");
    for (size_t i = 0; qual && i < sizeof bounds / sizeof bounds[0]; i++)
        if (!strncmp(qual + strlen("qual: "), bounds[i].word, strlen(bounds[i].word)))
            return (ours - c->value) * bounds[i].sign >= 0;
    return false;
}

double claim_difference(const struct claim *c, double ours) {
    double d = 100 * (ours - c->value) / fabs(c->value);
    return isfinite(d) ? d : NAN;
}

enum verdict claim_verdict(const struct claim *c, double ours) {
    if (isnan(ours) || isnan(c->value))
        return VERDICT_NONE;
    if (holds(c, ours))
        return VERDICT_HOLDS;
    bool near = fabs(ours - c->value) <= fabs(c->value) / 3;
    return near ? VERDICT_AGREES : VERDICT_DIFFERS;
}
