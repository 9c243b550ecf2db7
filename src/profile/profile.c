/* The table of profiles, and their counters as one list. */
#include "profile/profile.h"

#include <string.h>

#define PROFILE(name, id, help) extern const struct profile_kind profile_##id;
#include "profile/probes.def"
#undef PROFILE

static const struct profile_row table[] = {
#define PROFILE(name, id, help) {name, help, &profile_##id},
#include "profile/probes.def"
#undef PROFILE
};

enum { ROWS = sizeof table / sizeof table[0] };

const struct profile_row *profile_at(uint32_t i) {
    return i < ROWS ? &table[i] : NULL;
}

void profile_list(struct str *out) {
    for (uint32_t i = 0; i < ROWS; i++)
        str_printf(out, "%-12s %s\n", table[i].name, table[i].help);
}

static const struct profile_row *find(const char *name, size_t len, struct diag *d) {
    for (uint32_t i = 0; i < ROWS; i++)
        if (strlen(table[i].name) == len && !memcmp(table[i].name, name, len))
            return &table[i];
    struct str known = {0};
    for (uint32_t i = 0; i < ROWS; i++)
        str_printf(&known, "%s%s", i ? ", " : "", table[i].name);
    diag_add(d, DIAG_ERROR, "there is no probe '%.*s'; known are %s", (int)len, name, str_text(&known));
    str_free(&known);
    return NULL;
}

bool profile_select(struct profile_set *out, const char *text, struct diag *d) {
    *out = (struct profile_set){0};
    if (!text || !*text)
        return true;
    for (const char *at = text;; at++) {
        size_t len = strcspn(at, "+");
        const struct profile_row *row = find(at, len, d);
        if (!row)
            return false;
        for (uint32_t i = 0; i < out->n; i++)
            if (out->at[i].kind == row->kind) {
                diag_add(d, DIAG_ERROR, "the probe '%s' is named twice", row->name);
                return false;
            }
        if (out->n == PROFILE_MAX) {
            diag_add(d, DIAG_ERROR, "at most %d probes can watch a run", PROFILE_MAX);
            return false;
        }
        out->at[out->n++].kind = row->kind;
        at += len;
        if (!*at)
            return true;
    }
}

void profile_create(struct profile_set *s, const struct config *config, uint32_t sms) {
    s->sms = sms;
    for (uint32_t i = 0; i < s->n; i++) {
        const struct profile_kind *k = s->at[i].kind;
        s->at[i].probe = k->create(config_values(config, &k->params), sms);
    }
}

void profile_destroy(struct profile_set *s) {
    for (uint32_t i = 0; i < s->n; i++)
        if (s->at[i].probe)
            s->at[i].kind->destroy(s->at[i].probe);
    s->n = 0;
}

void profile_counters(const struct profile_set *s, struct counter_registry *r) {
    for (uint32_t i = 0; i < s->n; i++) {
        const struct profile_kind *k = s->at[i].kind;
        uint32_t block = counters_add(r, "", &k->counters, true);
        for (uint32_t sm = 0; s->at[i].probe && sm < s->sms; sm++)
            counters_bind(r, block, k->counts(s->at[i].probe, sm));
    }
}
