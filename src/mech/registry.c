/* Names of mechanisms, and stacks of them. */
#include "mech/registry.h"

#include <string.h>

#include "mech/load.h"

/* mechanisms.def is made by the build from its list of mechanisms (meson.build of this folder). */
#define MECHANISM(id) extern const struct mechanism mech_##id;
#define ALONE(id)     extern const struct core_alone alone_##id;
#include "mechanisms.def"

static const struct mechanism *const built_in[] = {
#define MECHANISM(id) &mech_##id,
#include "mechanisms.def"
};

/* Copies of the stages for mechanisms that are alone. */
static const struct {
    const struct mechanism *of;
    const struct core_alone *alone;
} copies[] = {
#define ALONE(id) {&mech_##id, &alone_##id},
#include "mechanisms.def"
    {NULL, NULL},
};

const struct core_alone *mech_alone(const struct mechanism *m) {
    uint32_t k = 0;
    while (copies[k].of && copies[k].of != m)
        k++;
    return copies[k].alone;
}

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
        str_printf(out, "%-20s %s\n", n.name, n.help);
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

/* One runs instructions whose registers the other would have to hold. */
static bool holds_code_of(const struct mechanism *a, const struct mechanism *b) {
    return a->points.stream.own_code && mech_owns(&b->points) >> MECH_registers & 1;
}

/* One must see every instruction, and the other lets warps pass over some. */
static bool passes_over(const struct mechanism *a, const struct mechanism *b) {
    bool skips = b->points.stream.fetch || b->points.stream.decoded;
    return skips && (a->points.watch.every || (a->points.watch.places && !b->points.registers.holds));
}

/* Why the two cannot stand in one stack, or NULL. */
static const char *conflict(const struct mechanism *a, const struct mechanism *b) {
    if (!strcmp(a->name, b->name))
        return "are models of one mechanism";
    uint32_t both = mech_owns(&a->points) & mech_owns(&b->points);
    for (uint32_t g = 0; g < MECH_GROUPS_ALL; g++) {
        const char *what = mech_group_what((enum mech_group)g);
        if (both >> g & 1 && what)
            return what;
    }
    if (holds_code_of(a, b) || holds_code_of(b, a))
        return "would hold the registers of instructions that are not the program's";
    if (passes_over(a, b) || passes_over(b, a))
        return "decide what becomes of registers, and one lets warps pass over instructions that the other "
               "must see";
    return NULL;
}

bool mech_add(struct mech_set *s, const struct mechanism *m, const struct mech_model *model, struct diag *d) {
    const char *name = model ? model->name : m->name, *wrong = mech_wrong(&m->points);
    if (wrong) {
        diag_add(d, DIAG_ERROR, "the mechanism '%s' is not whole: %s", name, wrong);
        return false;
    }
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

bool mech_approximate(const struct mech_set *s) {
    for (uint32_t k = 0; k < s->n; k++)
        if (s->at[k]->approximate)
            return true;
    return false;
}

bool mech_streams(const struct mech_set *s) {
    for (uint32_t k = 0; k < s->n; k++)
        if (s->at[k]->points.stream.own_code)
            return true;
    return false;
}
