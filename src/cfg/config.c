/* Loads a configuration: the file, the files it inherits from, --set, and the checks between parameters.
 *
 * The whole chain of files is read before anything is applied, so that one run shows every error, and the
 * texts stay until the end, so that a check between two parameters can point at the line that broke it. */
#include "cfg/config.h"

#include <string.h>

#include "cfg/files.h"
#include "cfg/read.h"

#define CHOICES(tag, ...) static const char *const choices_##tag[] = {__VA_ARGS__ NULL};
#define CHOICE(id, name)  name,
#include "cfg/choices.def"

#define KIND_INT       PARAM_INT
#define KIND_BYTES     PARAM_BYTES
#define KIND_FLOAT     PARAM_FLOAT
#define KIND_BOOL      PARAM_BOOL
#define KIND_ENUM(tag) PARAM_ENUM, .choices = choices_##tag
#define KIND_VERSION   PARAM_VERSION
#define KIND_STRING    PARAM_STRING

static const struct param rows[] = {
#define PARAM(field_, path_, type_, min_, max_, default_, unit_, help_)                                      \
    {.path = path_,                                                                                          \
     .type = KIND_##type_,                                                                                   \
     .min = (double)(min_),                                                                                  \
     .max = (double)(max_),                                                                                  \
     .offset = offsetof(struct gpu_config, field_),                                                          \
     .unit = unit_,                                                                                          \
     .help = help_},
#include "cfg/params.def"
};

const struct param_table config_params = {rows, CONFIG_PARAMS};

const struct gpu_config config_default = {
#define PARAM(field_, path_, type_, min_, max_, default_, ...) .field_ = default_,
#include "cfg/params.def"
};

static const struct check {
    enum config_param a, b;
    const char *words;
} checks[] = {
#define CHECK(a, b, condition, words) {CFG_##a, CFG_##b, words},
#include "cfg/checks.def"
#undef CHECK
};

enum { CHECKS = sizeof checks / sizeof *checks };

/* Everything of one config_load. */
struct loader {
    struct arena arena;
    struct diag *d;
    const char *dir;
    struct gpu_config config;
    struct settings chain[CONFIG_MAX_DEPTH]; /* each inherits from the next */
    struct file_id ids[CONFIG_MAX_DEPTH];
    uint32_t depth;
    struct { /* where each value was given, for the checks */
        const struct diag_source *src;
        size_t at;
    } given[CONFIG_PARAMS];
};

/* ---- files ------------------------------------------------------------------------------------------ */

/* The message of a name that leads to no readable file, at the place that gave it if there is one. */
static void no_file(struct loader *l, const struct settings *from, const char *message) {
    if (from)
        diag_at(l->d, DIAG_ERROR, &from->src, from->inherit_at, "%s", message);
    else
        diag_add(l->d, DIAG_ERROR, "%s", message);
}

/* Reads the file called name into the chain; from is the configuration that inherits from it, or NULL. */
static bool add_file(struct loader *l, const char *name, const struct settings *from) {
    if (l->depth == CONFIG_MAX_DEPTH) {
        no_file(l, from,
                arena_printf(&l->arena, "inherit is nested too deeply: at most %d files", CONFIG_MAX_DEPTH));
        return false;
    }
    struct settings *s = &l->chain[l->depth];
    struct file_id *id = &l->ids[l->depth];
    const char *message = file_read(&l->arena, name, from ? from->src.name : NULL, l->dir, &s->src, id);
    for (uint32_t i = 0; !message && i < l->depth; i++)
        if (l->ids[i].dev == id->dev && l->ids[i].ino == id->ino && id->ino)
            message = arena_printf(&l->arena, "inherit goes in a circle: %s inherits from itself",
                                   l->chain[i].src.name);
    if (message) {
        no_file(l, from, message);
        return false;
    }
    l->depth++;
    settings_read_yaml(s, &config_params, &l->arena, l->d);
    return true;
}

/* Follows inherit from the last file of the chain to the end. */
static void add_ancestors(struct loader *l) {
    const struct settings *last = &l->chain[l->depth - 1];
    while (last->inherit && add_file(l, last->inherit, last))
        last = &l->chain[l->depth - 1];
}

/* ---- values ----------------------------------------------------------------------------------------- */

static void apply(struct loader *l, const struct settings *s, enum config_origin_kind kind, uint32_t file) {
    for (uint32_t i = 0; i < s->list.len; i++) {
        const struct setting *x = &s->list.at[i];
        uint32_t line, col;
        diag_line_col(&s->src, x->at, &line, &col);
        param_store(&rows[x->param], &l->config, &x->value);
        l->config.origin[x->param] = (struct config_origin){(uint8_t)kind, (uint8_t)file, line};
        l->given[x->param].src = &s->src;
        l->given[x->param].at = x->at;
    }
}

static void apply_files(struct loader *l) {
    for (uint32_t i = l->depth; i-- > 0;) {
        const char *path = l->chain[i].src.name, *slash = strrchr(path, '/');
        strncpy(l->config.files[i], slash ? slash + 1 : path, CONFIG_NAME_SIZE - 1);
        apply(l, &l->chain[i], CONFIG_FROM_FILE, i);
    }
}

static void apply_set(struct loader *l, const char *const *set) {
    for (; set && *set; set++) {
        struct settings *s = arena_new(&l->arena, struct settings);
        s->src = (struct diag_source){.name = "--set", .text = *set, .len = strlen(*set)};
        settings_read_pair(s, &config_params, &l->arena, l->d);
        apply(l, s, CONFIG_FROM_SET, 0);
        vec_free(&s->list);
    }
}

/* How late a value was given: what was given later is what broke a relation. */
static uint32_t rank(const struct loader *l, enum config_param p) {
    const struct config_origin *o = &l->config.origin[p];
    return o->kind == CONFIG_FROM_FILE ? CONFIG_MAX_DEPTH - o->file : o->kind == CONFIG_FROM_SET ? 100 : 0;
}

static void report_check(struct loader *l, const struct check *k) {
    struct str a = {0}, b = {0};
    param_print(&rows[k->a], &l->config, false, &a);
    param_print(&rows[k->b], &l->config, false, &b);
    const char *message = arena_printf(&l->arena, "%s (%s) %s %s (%s)", rows[k->a].path, str_text(&a),
                                       k->words, rows[k->b].path, str_text(&b));
    enum config_param at = rank(l, k->b) > rank(l, k->a) ? k->b : k->a;
    if (l->given[at].src)
        diag_at(l->d, DIAG_ERROR, l->given[at].src, l->given[at].at, "%s", message);
    else
        diag_add(l->d, DIAG_ERROR, "%s", message);
    str_free(&a);
    str_free(&b);
}

static void run_checks(struct loader *l) {
    const struct gpu_config *c = &l->config;
    const bool holds[] = {
#define CHECK(a, b, condition, words) condition,
#include "cfg/checks.def"
#undef CHECK
    };
    for (uint32_t i = 0; i < CHECKS; i++)
        if (!holds[i])
            report_check(l, &checks[i]);
}

/* ---- loading ---------------------------------------------------------------------------------------- */

/* The chain's first file is in place or failed; does the rest. */
static bool finish(struct loader *l, const char *const *set, uint32_t errors, struct gpu_config *out) {
    l->config = config_default;
    if (l->depth)
        add_ancestors(l);
    apply_files(l);
    apply_set(l, set);
    if (l->d->errors == errors)
        run_checks(l);
    bool ok = l->d->errors == errors;
    *out = ok ? l->config : config_default;
    for (uint32_t i = 0; i < l->depth; i++)
        vec_free(&l->chain[i].list);
    arena_free(&l->arena);
    free(l);
    return ok;
}

static struct loader *start(const char *config_dir, struct diag *d) {
    struct loader *l = xcalloc(1, sizeof *l); /* too large for the stack of a small thread */
    l->d = d;
    l->dir = config_dir;
    if (!config_dir) {
        struct str found = {0};
        struct diag why = {0};
        if (config_find_dir(&found, &why)) /* a file given by its path may need no folder */
            l->dir = arena_strndup(&l->arena, found.at, found.len);
        diag_free(&why);
        str_free(&found);
    }
    return l;
}

bool config_load(struct gpu_config *out, const char *name_or_path, const char *const *set,
                 const char *config_dir, struct diag *d) {
    uint32_t errors = d->errors;
    struct loader *l = start(config_dir, d);
    const char *name = name_or_path ? name_or_path : CONFIG_DEFAULT_GPU;
    struct str dir = {0};
    if (l->dir || file_is_path(name) || config_find_dir(&dir, d)) /* the last says why there is no folder */
        add_file(l, name, NULL);
    str_free(&dir);
    return finish(l, set, errors, out);
}

bool config_parse(struct gpu_config *out, const char *text, size_t len, const char *name,
                  const char *const *set, const char *config_dir, struct diag *d) {
    uint32_t errors = d->errors;
    struct loader *l = start(config_dir, d);
    struct settings *s = &l->chain[l->depth++];
    s->src = (struct diag_source){.name = name, .text = text, .len = len};
    settings_read_yaml(s, &config_params, &l->arena, d);
    return finish(l, set, errors, out);
}
