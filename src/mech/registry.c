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

/* What each claim is called when two mechanisms want it. */
static const struct {
    uint32_t claim;
    const char *what;
} claims[] = {
    {MECH_REGISTERS, "decide in which registers values live"},
    {MECH_BANKS, "arbitrate the register banks"},
    {MECH_STREAM, "decide which instructions a warp fetches"},
    {MECH_LANES, "decide which lanes execute"},
    {MECH_FRONT, "take instructions between issue and the operand collectors"},
    {MECH_FORMS, "decide how the banks store the lanes of a register"},
    {MECH_BACK, "take results between execution and the register banks"},
    {MECH_SUPPLY, "supply results of instructions that are not executed"},
    {MECH_MEMORY, "access memory on their own"},
};

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

bool mech_add(struct mech_set *s, const struct mech_model *m, struct diag *d) {
    for (uint32_t k = 0; k < s->n; k++) {
        uint32_t both = s->at[k]->mechanism->claims & m->mechanism->claims;
        const char *what = s->at[k]->mechanism == m->mechanism ? "are models of one mechanism" : NULL;
        for (uint32_t c = 0; !what && c < sizeof claims / sizeof claims[0]; c++)
            what = both & claims[c].claim ? claims[c].what : NULL;
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

bool mech_approximate(const struct mech_set *s) {
    for (uint32_t k = 0; k < s->n; k++)
        if (s->at[k]->mechanism->approximate)
            return true;
    return false;
}

void mech_list(struct str *out) {
    for (uint32_t i = 0; i < MODELS; i++)
        str_printf(out, "%-12s %s\n", models[i].name, models[i].help);
}
