/* Loads a configuration: the file, the files it inherits from, --set, and the checks between parameters.
 *
 * The whole chain of files is read before anything is applied, so that one run shows every error, and the
 * texts stay until the end, so that a check between two parameters can point at the line that broke it. */
#include "cfg/config.h"

#include <assert.h>
#include <string.h>

#include "cfg/files.h"
#include "cfg/read.h"

/* ---- blocks ----------------------------------------------------------------------------------------- */

void config_add(struct config *c, const struct param_table *t) {
    struct config_block b = {t, arena_alloc(&c->arena, t->size), c->params.len};
    param_defaults(t, b.values);
    vec_push(&c->blocks, b);
    for (uint32_t i = 0; i < t->count; i++) {
        vec_push(&c->params, &t->rows[i]);
        vec_push(&c->origins, ((struct config_origin){0}));
    }
}

void *config_values(const struct config *c, const struct param_table *t) {
    for (uint32_t i = 0; i < c->blocks.len; i++)
        if (c->blocks.at[i].table == t)
            return c->blocks.at[i].values;
    return NULL;
}

const struct config_block *config_block_of(const struct config *c, uint32_t i) {
    const struct config_block *b = c->blocks.at;
    while (i >= b->first + b->table->count)
        b++;
    return b;
}

bool config_float(const struct config *c, const char *path, double *value) {
    uint32_t i = param_find(&c->params, path, strlen(path));
    if (i == UINT32_MAX || c->params.at[i]->type != PARAM_FLOAT)
        return false;
    memcpy(value, (const char *)config_block_of(c, i)->values + c->params.at[i]->offset, sizeof *value);
    return true;
}

static void set_defaults(struct config *c) {
    for (uint32_t i = 0; i < c->blocks.len; i++)
        param_defaults(c->blocks.at[i].table, c->blocks.at[i].values);
    for (uint32_t i = 0; i < c->origins.len; i++)
        c->origins.at[i] = (struct config_origin){0};
    memset(c->files, 0, sizeof c->files);
}

void config_free(struct config *c) {
    vec_free(&c->blocks);
    vec_free(&c->params);
    vec_free(&c->origins);
    arena_free(&c->arena);
}

/* Everything of one config_load. */
struct loader {
    struct arena arena;
    struct diag *d;
    const char *dir;
    struct config *config;
    struct settings chain[CONFIG_MAX_DEPTH]; /* each inherits from the next */
    struct file_id ids[CONFIG_MAX_DEPTH];
    uint32_t depth;
    struct given { /* where each value was given, for the checks */
        const struct diag_source *src;
        size_t at;
    } * given;
    const struct config_block *checked; /* whose relations are looked at */
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
    const char *message =
        file_read(&l->arena, l->config->what, name, from ? from->src.name : NULL, l->dir, &s->src, id);
    for (uint32_t i = 0; !message && i < l->depth; i++)
        if (l->ids[i].dev == id->dev && l->ids[i].ino == id->ino && id->ino)
            message = arena_printf(&l->arena, "inherit goes in a circle: %s inherits from itself",
                                   l->chain[i].src.name);
    if (message) {
        no_file(l, from, message);
        return false;
    }
    l->depth++;
    settings_read_yaml(s, &l->config->params, &l->arena, l->d);
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
        param_store(l->config->params.at[x->param], config_block_of(l->config, x->param)->values, &x->value);
        l->config->origins.at[x->param] = (struct config_origin){(uint8_t)kind, (uint8_t)file, line};
        l->given[x->param].src = &s->src;
        l->given[x->param].at = x->at;
    }
}

static void apply_files(struct loader *l) {
    for (uint32_t i = l->depth; i-- > 0;) {
        const char *path = l->chain[i].src.name, *slash = strrchr(path, '/');
        strncpy(l->config->files[i], slash ? slash + 1 : path, CONFIG_NAME_SIZE - 1);
        apply(l, &l->chain[i], CONFIG_FROM_FILE, i);
    }
}

static void apply_set(struct loader *l, const char *const *set) {
    for (; set && *set; set++) {
        struct settings *s = arena_new(&l->arena, struct settings);
        s->src = (struct diag_source){.name = "--set", .text = *set, .len = strlen(*set)};
        settings_read_pair(s, &l->config->params, &l->arena, l->d);
        apply(l, s, CONFIG_FROM_SET, 0);
        vec_free(&s->list);
    }
}

/* How late a value was given: what was given later is what broke a relation. */
static uint32_t rank(const struct loader *l, uint32_t param) {
    const struct config_origin *o = &l->config->origins.at[param];
    return o->kind == CONFIG_FROM_FILE ? CONFIG_MAX_DEPTH - o->file : o->kind == CONFIG_FROM_SET ? 100 : 0;
}

/* The number of the parameter that a block keeps at an offset. */
static uint32_t param_at(const struct config_block *b, size_t offset) {
    uint32_t i = 0;
    while (i < b->table->count && b->table->rows[i].offset != offset)
        i++;
    assert(i < b->table->count);
    return b->first + i;
}

/* Two parameters of a block disagree. */
static void report_fault(void *ctx, size_t a, size_t b, const char *words) {
    struct loader *l = ctx;
    const void *values = l->checked->values;
    uint32_t p = param_at(l->checked, a), q = param_at(l->checked, b), at = rank(l, q) > rank(l, p) ? q : p;
    const struct param *const *rows = l->config->params.at;
    struct str one = {0}, other = {0};
    param_print(rows[p], values, false, &one);
    param_print(rows[q], values, false, &other);
    const char *message = arena_printf(&l->arena, "%s (%s) %s %s (%s)", rows[p]->path, str_text(&one), words,
                                       rows[q]->path, str_text(&other));
    if (l->given[at].src)
        diag_at(l->d, DIAG_ERROR, l->given[at].src, l->given[at].at, "%s", message);
    else
        diag_add(l->d, DIAG_ERROR, "%s", message);
    str_free(&one);
    str_free(&other);
}

static void run_checks(struct loader *l) {
    for (uint32_t i = 0; i < l->config->blocks.len; i++) {
        l->checked = &l->config->blocks.at[i];
        if (l->checked->table->check)
            l->checked->table->check(l->checked->values, report_fault, l);
    }
}

/* ---- loading ---------------------------------------------------------------------------------------- */

/* The chain's first file is in place or failed; does the rest. */
static bool finish(struct loader *l, const char *const *set, uint32_t errors) {
    if (l->depth)
        add_ancestors(l);
    apply_files(l);
    apply_set(l, set);
    if (l->d->errors == errors)
        run_checks(l);
    bool ok = l->d->errors == errors;
    if (!ok)
        set_defaults(l->config);
    for (uint32_t i = 0; i < l->depth; i++)
        vec_free(&l->chain[i].list);
    arena_free(&l->arena);
    free(l);
    return ok;
}

static struct loader *start(struct config *c, const char *config_dir, struct diag *d) {
    struct loader *l = xcalloc(1, sizeof *l); /* too large for the stack of a small thread */
    set_defaults(c);
    l->config = c;
    l->d = d;
    l->dir = config_dir;
    l->given = arena_array(&l->arena, struct given, c->params.len);
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

bool config_load(struct config *c, const char *name, const char *const *set, const char *config_dir,
                 struct diag *d) {
    uint32_t errors = d->errors;
    struct loader *l = start(c, config_dir, d);
    struct str dir = {0};
    if (l->dir || file_is_path(name) || config_find_dir(&dir, d)) /* the last says why there is no folder */
        add_file(l, name, NULL);
    str_free(&dir);
    return finish(l, set, errors);
}

bool config_parse(struct config *c, const char *text, size_t len, const char *name, const char *const *set,
                  const char *config_dir, struct diag *d) {
    uint32_t errors = d->errors;
    struct loader *l = start(c, config_dir, d);
    struct settings *s = &l->chain[l->depth++];
    s->src = (struct diag_source){.name = name, .text = text, .len = len};
    settings_read_yaml(s, &c->params, &l->arena, d);
    return finish(l, set, errors);
}
