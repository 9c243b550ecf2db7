/* Names of mechanisms, and stacks of them. */
#include "mech/registry.h"

#include <string.h>

#include "mech/load.h"

/* mechanisms.def is made by the build from its list of mechanisms (meson.build of this folder). */
#define MECHANISM(id) extern const struct mechanism mech_##id;
#include "mechanisms.def"
#undef MECHANISM

static const struct mechanism *const built_in[] = {
#define MECHANISM(id) &mech_##id,
#include "mechanisms.def"
#undef MECHANISM
};

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
static bool name_at(const struct mech_registry *r, uint32_t i, struct name *out) {
    for (uint32_t k = 0; k < r->mechs.len; k++) {
        const struct mechanism *m = r->mechs.at[k];
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
    return !i ? "base" : name_at(ctx, i - 1, &n) ? n.name : NULL;
}

static void unknown(struct mech_registry *r, const char *name, size_t len, struct diag *d) {
    const char *meant = diag_nearest(name, len, next_name, r);
    if (!len) {
        diag_add(d, DIAG_ERROR, "the name of a mechanism is missing: names are joined by one '+'");
    } else if (meant) {
        diag_add(d, DIAG_ERROR, "there is no mechanism '%.*s'; did you mean '%s'?", (int)len, name, meant);
    } else {
        struct str known = {0};
        struct name n;
        for (uint32_t i = 0; name_at(r, i, &n); i++)
            str_printf(&known, ", %s", n.name);
        diag_add(d, DIAG_ERROR, "there is no mechanism '%.*s'; known are base%s", (int)len, name,
                 str_text(&known));
        str_free(&known);
    }
}

static bool find(struct mech_registry *r, const char *name, size_t len, struct name *out, struct diag *d) {
    for (uint32_t i = 0; name_at(r, i, out); i++)
        if (strlen(out->name) == len && !memcmp(out->name, name, len))
            return true;
    unknown(r, name, len, d);
    return false;
}

void mech_list(const struct mech_registry *r, struct str *out) {
    struct name n;
    for (uint32_t i = 0; name_at(r, i, &n); i++)
        str_printf(out, "%-12s %s\n", n.name, n.help);
}

/* ---- the registry ------------------------------------------------------------------------------------ */

void mech_registry_init(struct mech_registry *r) {
    *r = (struct mech_registry){0};
    for (uint32_t i = 0; i < sizeof built_in / sizeof built_in[0]; i++)
        vec_push(&r->mechs, built_in[i]);
}

void mech_registry_free(struct mech_registry *r) {
    vec_free(&r->mechs);
}

const struct mechanism *mech_registry_load(struct mech_registry *r, const char *path, struct diag *d) {
    const struct mechanism *m = mech_load(path, d);
    uint32_t at = 0;
    if (!m)
        return NULL;
    while (at < r->mechs.len && strcmp(r->mechs.at[at]->name, m->name))
        at++;
    if (at < r->mechs.len)
        r->mechs.at[at] = m;
    else
        vec_push(&r->mechs, m);
    return m;
}

/* The mechanism of a file that stands in a list of names. */
static bool load(struct mech_registry *r, const char *path, size_t len, struct name *out, struct diag *d) {
    struct str copy = {0};
    str_add(&copy, path, len);
    *out = (struct name){.mechanism = mech_registry_load(r, str_text(&copy), d)};
    str_free(&copy);
    return out->mechanism;
}

/* ---- stacks ------------------------------------------------------------------------------------------ */

/* Why two mechanisms cannot be stacked: what both do. NULL: they can. */
static const char *conflict(const struct mechanism *a, const struct mechanism *b) {
    if (!strcmp(a->name, b->name))
        return "are models of one mechanism";
    for (uint32_t c = 0; c < sizeof claims / sizeof claims[0]; c++)
        if (a->claims & b->claims & claims[c].claim)
            return claims[c].what;
    return NULL;
}

bool mech_add(struct mech_set *s, const struct mechanism *m, const struct mech_model *model, struct diag *d) {
    const char *name = model ? model->name : m->name;
    for (uint32_t k = 0; k < s->n; k++) {
        const char *what = conflict(s->at[k], m);
        if (what) {
            diag_add(d, DIAG_ERROR, "'%s' and '%s' cannot be stacked: both %s",
                     s->model[k] ? s->model[k]->name : s->at[k]->name, name, what);
            return false;
        }
    }
    if (s->n == MECH_MAX) {
        diag_add(d, DIAG_ERROR, "at most %d mechanisms can be stacked", MECH_MAX);
        return false;
    }
    s->names[s->n] = name;
    uint32_t at = s->n++;
    for (; at && s->at[at - 1]->order > m->order; at--) {
        s->at[at] = s->at[at - 1];
        s->model[at] = s->model[at - 1];
    }
    s->at[at] = m;
    s->model[at] = model;
    return true;
}

bool mech_select(struct mech_set *out, struct mech_registry *r, const char *text, struct diag *d) {
    *out = (struct mech_set){0};
    if (!text || !*text)
        return true;
    for (const char *at = text;; at++) {
        bool is_file;
        size_t len = mech_name_length(at, &is_file);
        struct name n;
        if (len != 4 || memcmp(at, "base", 4)) {
            bool found = is_file ? load(r, at, len, &n, d) : find(r, at, len, &n, d);
            if (!found || !mech_add(out, n.mechanism, n.model, d))
                return false;
        }
        at += len;
        if (!*at)
            return true;
    }
}
