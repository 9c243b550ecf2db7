/* Names of mechanisms, and stacks of them. */
#include "mech/registry.h"

#include <string.h>

/* mechanisms.def is made by the build from its list of mechanisms (meson.build of this folder). */
#define MECHANISM(id) extern const struct mechanism mech_##id;
#include "mechanisms.def"
#undef MECHANISM

static const struct mechanism *const mechs[] = {
#define MECHANISM(id) &mech_##id,
#include "mechanisms.def"
#undef MECHANISM
};

enum { MECHS = sizeof mechs / sizeof mechs[0] };

const struct mechanism *mech_at(uint32_t i) {
    return i < MECHS ? mechs[i] : NULL;
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

/* ---- names ------------------------------------------------------------------------------------------- */

/* A name that users may give. */
struct name {
    const char *name, *help;
    const struct mechanism *mechanism;
    const struct mech_model *model; /* NULL: the mechanism's own name */
};

/* Name number i of all mechanisms, each with its models behind it; false past the last one. */
static bool name_at(uint32_t i, struct name *out) {
    for (uint32_t k = 0; k < MECHS; k++) {
        const struct mechanism *m = mechs[k];
        if (!i--) {
            *out = (struct name){m->name, m->help, m, NULL};
            return true;
        }
        for (const struct mech_model *x = m->models; x && x->name; x++)
            if (!i--) {
                *out = (struct name){x->name, x->help, m, x};
                return true;
            }
    }
    return false;
}

static const char *next_name(void *ctx, uint32_t i) {
    struct name n;
    (void)ctx;
    return !i ? "base" : name_at(i - 1, &n) ? n.name : NULL;
}

static void unknown(const char *name, size_t len, struct diag *d) {
    const char *meant = diag_nearest(name, len, next_name, NULL);
    if (!len) {
        diag_add(d, DIAG_ERROR, "the name of a mechanism is missing: names are joined by one '+'");
    } else if (meant) {
        diag_add(d, DIAG_ERROR, "there is no mechanism '%.*s'; did you mean '%s'?", (int)len, name, meant);
    } else {
        struct str known = {0};
        struct name n;
        for (uint32_t i = 0; name_at(i, &n); i++)
            str_printf(&known, ", %s", n.name);
        diag_add(d, DIAG_ERROR, "there is no mechanism '%.*s'; known are base%s", (int)len, name,
                 str_text(&known));
        str_free(&known);
    }
}

static bool find(const char *name, size_t len, struct name *out, struct diag *d) {
    for (uint32_t i = 0; name_at(i, out); i++)
        if (strlen(out->name) == len && !memcmp(out->name, name, len))
            return true;
    unknown(name, len, d);
    return false;
}

void mech_list(struct str *out) {
    struct name n;
    for (uint32_t i = 0; name_at(i, &n); i++)
        str_printf(out, "%-12s %s\n", n.name, n.help);
}

/* ---- stacks ------------------------------------------------------------------------------------------ */

/* Why two mechanisms cannot be stacked: what both do. NULL: they can. */
static const char *conflict(const struct mechanism *a, const struct mechanism *b) {
    if (a == b)
        return "are models of one mechanism";
    for (uint32_t c = 0; c < sizeof claims / sizeof claims[0]; c++)
        if (a->claims & b->claims & claims[c].claim)
            return claims[c].what;
    return NULL;
}

bool mech_add(struct mech_set *s, const struct mechanism *m, const struct mech_model *model, struct diag *d) {
    for (uint32_t k = 0; k < s->n; k++) {
        const char *what = conflict(s->at[k], m);
        if (what) {
            diag_add(d, DIAG_ERROR, "'%s' and '%s' cannot be stacked: both %s",
                     s->model[k] ? s->model[k]->name : s->at[k]->name, model ? model->name : m->name, what);
            return false;
        }
    }
    if (s->n == MECH_MAX) {
        diag_add(d, DIAG_ERROR, "at most %d mechanisms can be stacked", MECH_MAX);
        return false;
    }
    uint32_t at = s->n++;
    for (; at && s->at[at - 1]->order > m->order; at--) {
        s->at[at] = s->at[at - 1];
        s->model[at] = s->model[at - 1];
    }
    s->at[at] = m;
    s->model[at] = model;
    return true;
}

bool mech_select(struct mech_set *out, const char *text, struct diag *d) {
    *out = (struct mech_set){0};
    if (!text || !*text)
        return true;
    for (const char *at = text;; at++) {
        size_t len = strcspn(at, "+");
        struct name n;
        if (len != 4 || memcmp(at, "base", 4))
            if (!find(at, len, &n, d) || !mech_add(out, n.mechanism, n.model, d))
                return false;
        at += len;
        if (!*at)
            return true;
    }
}
