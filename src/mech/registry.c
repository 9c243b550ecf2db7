#include "mech/registry.h"

#include <string.h>

#define MODEL(name, id, ...) extern const struct mechanism mech_##id;
#include "mech/mechanisms.def"
#undef MODEL

#define MODEL(model, id, text, ...)                                                                          \
    {.name = model,                                                                                          \
     .help = text,                                                                                           \
     .mechanism = &mech_##id,                                                                                \
     .settings = (const char *const[]){__VA_ARGS__ __VA_OPT__(, ) NULL}},
static const struct mech_model models[] = {
#include "mech/mechanisms.def"
};
#undef MODEL

enum { MODELS = sizeof models / sizeof models[0] };

const struct mech_model *mech_model_at(uint32_t i) {
    return i < MODELS ? &models[i] : NULL;
}

static const char *name_at(void *ctx, uint32_t i) {
    (void)ctx;
    return !i ? "base" : i <= MODELS ? models[i - 1].name : NULL;
}

static const struct mech_model *find(const char *name, size_t len, struct diag *d) {
    for (uint32_t i = 0; i < MODELS; i++)
        if (strlen(models[i].name) == len && !memcmp(models[i].name, name, len))
            return &models[i];
    const char *meant = diag_nearest(name, len, name_at, NULL);
    if (!len) {
        diag_add(d, DIAG_ERROR, "the name of a mechanism is missing: names are joined by one '+'");
    } else if (meant) {
        diag_add(d, DIAG_ERROR, "there is no mechanism '%.*s'; did you mean '%s'?", (int)len, name, meant);
    } else {
        struct str known = {0};
        for (uint32_t i = 0; i < MODELS; i++)
            str_printf(&known, ", %s", models[i].name);
        diag_add(d, DIAG_ERROR, "there is no mechanism '%.*s'; known are base%s", (int)len, name,
                 str_text(&known));
        str_free(&known);
    }
    return NULL;
}

/* One runs instructions whose registers the other would have to hold. */
static bool holds_code_of(const struct mechanism *a, const struct mechanism *b) {
    return a->points.stream.own_code && mech_owns(&b->points) >> MECH_registers & 1;
}

/* Why the two cannot stand in one stack, or NULL. */
static const char *conflict(const struct mechanism *a, const struct mechanism *b) {
    if (a == b)
        return "are models of one mechanism";
    uint32_t both = mech_owns(&a->points) & mech_owns(&b->points);
    for (uint32_t g = 0; g < MECH_GROUPS_ALL; g++) {
        const char *what = mech_group_what((enum mech_group)g);
        if (both >> g & 1 && what)
            return what;
    }
    if (holds_code_of(a, b) || holds_code_of(b, a))
        return "would hold the registers of instructions that are not the program's";
    return NULL;
}

bool mech_add(struct mech_set *s, const struct mech_model *m, struct diag *d) {
    const char *wrong = mech_wrong(&m->mechanism->points);
    if (wrong) {
        diag_add(d, DIAG_ERROR, "the mechanism '%s' is not whole: %s", m->name, wrong);
        return false;
    }
    for (uint32_t k = 0; k < s->n; k++) {
        const char *what = conflict(s->at[k]->mechanism, m->mechanism);
        if (what) {
            diag_add(d, DIAG_ERROR, "'%s' and '%s' cannot be stacked: both %s", s->at[k]->name, m->name,
                     what);
            return false;
        }
    }
    if (s->n == MECH_MAX) {
        diag_add(d, DIAG_ERROR, "at most %d mechanisms can be stacked", MECH_MAX);
        return false;
    }
    uint32_t at = s->n++;
    for (; at && s->at[at - 1]->mechanism->order > m->mechanism->order; at--)
        s->at[at] = s->at[at - 1];
    s->at[at] = m;
    return true;
}

bool mech_select(struct mech_set *out, const char *text, struct diag *d) {
    *out = (struct mech_set){0};
    if (!text || !*text)
        return true;
    for (const char *at = text;; at++) {
        size_t len = strcspn(at, "+");
        if (len != 4 || memcmp(at, "base", 4)) {
            const struct mech_model *m = find(at, len, d);
            if (!m || !mech_add(out, m, d))
                return false;
        }
        at += len;
        if (!*at)
            return true;
    }
}

void mech_list(struct str *out) {
    for (uint32_t i = 0; i < MODELS; i++)
        str_printf(out, "%-12s %s\n", models[i].name, models[i].help);
}
