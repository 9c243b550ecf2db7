/* Reads a configuration text. YAML comes as libyaml's events, because they carry their places; groups of
 * parameters are mappings, so a value's path is the keys above it joined by dots. A dotted key says the same
 * in one line. Nothing else of YAML has a meaning here: lists, aliases, tags and further documents are
 * errors. */
#include "cfg/read.h"

#include <string.h>
#include <yaml.h>

/* Deeper nesting has no meaning here and would cost libyaml a time that grows with its square. */
enum { MAX_QUOTE = 48, MAX_NESTING = 64 };

struct reader {
    struct settings *s;
    const struct param_list *l;
    struct arena *a;
    struct diag *d;
    yaml_parser_t yaml;
    yaml_event_t event;     /* the current one */
    bool dead;              /* the text is no YAML from here on */
    size_t chars, bytes;    /* the same place of the text in both measures: libyaml counts characters */
    size_t at;              /* byte offset of the current event */
    uint32_t nesting;       /* lists and mappings that are open after it */
    VEC(size_t) first;      /* for each parameter, 1 + the offset of its first value, or 0 */
    VEC(const char *) open; /* the groups met so far */
};

/* text in quotes, cut short and with unprintable bytes replaced, for a message */
static const char *quote(struct arena *a, const char *text, size_t len) {
    char *q = arena_printf(a, "'%.*s%s'", (int)(len < MAX_QUOTE ? len : MAX_QUOTE), text,
                           len > MAX_QUOTE ? "..." : "");
    for (char *c = q; *c; c++)
        if ((unsigned char)*c < ' ' || (unsigned char)*c > '~')
            *c = '?';
    return q;
}

/* ---- values ----------------------------------------------------------------------------------------- */

static void unknown_name(struct reader *r, const char *path, size_t len, size_t at) {
    const char *near = param_suggest(r->l, path, len, r->a);
    const char *q = quote(r->a, path, len);
    if (near)
        diag_at(r->d, DIAG_ERROR, &r->s->src, at, "no parameter is called %s; did you mean '%s'?", q, near);
    else
        diag_at(r->d, DIAG_ERROR, &r->s->src, at,
                "no parameter is called %s; 'reprise list params' shows all of them", q);
}

static const char *next_choice(void *ctx, uint32_t i) {
    return ((const char *const *)ctx)[i];
}

/* Reads the value of a parameter and records it, or says what it accepts. */
static void set_value(struct reader *r, uint32_t param, const char *text, size_t len, bool quoted,
                      size_t at) {
    const struct param *p = r->l->at[param];
    struct setting x = {.param = param, .at = at};
    enum param_status status = param_read(p, text, len, quoted, &x.value);
    if (status == PARAM_OK) {
        vec_push(&r->s->list, x);
        return;
    }
    struct str message = {0};
    if (status == PARAM_OUT_OF_RANGE)
        str_printf(&message, "%s is out of range at %s", p->path, quote(r->a, text, len));
    else if (len || quoted)
        str_printf(&message, "%s cannot be %s%s", p->path, quoted ? "the text " : "", quote(r->a, text, len));
    else
        str_printf(&message, "%s has no value", p->path);
    str_printf(&message, "; it takes ");
    param_describe(p, &message);
    const char *near =
        p->type == PARAM_ENUM ? diag_nearest(text, len, next_choice, (void *)p->choices) : NULL;
    if (near)
        str_printf(&message, "; did you mean '%s'?", near);
    diag_at(r->d, DIAG_ERROR, &r->s->src, at, "%s", str_text(&message));
    str_free(&message);
}

/* ---- events ----------------------------------------------------------------------------------------- */

/* Byte offset of a libyaml mark. Marks come in the order of the text, so this walks the text once in all. */
static size_t place(struct reader *r, size_t index) {
    const struct diag_source *src = &r->s->src;
    if (index < r->chars)
        r->chars = r->bytes = 0;
    while (r->chars < index && r->bytes < src->len) {
        r->bytes++;
        while (r->bytes < src->len && ((unsigned char)src->text[r->bytes] & 0xC0) == 0x80)
            r->bytes++;
        r->chars++;
    }
    return r->bytes;
}

/* How the current event changes the nesting. */
static int nesting_step(const struct reader *r) {
    yaml_event_type_t t = r->event.type;
    return (t == YAML_MAPPING_START_EVENT || t == YAML_SEQUENCE_START_EVENT) -
           (t == YAML_MAPPING_END_EVENT || t == YAML_SEQUENCE_END_EVENT);
}

static void report_yaml_error(struct reader *r) {
    const yaml_parser_t *y = &r->yaml;
    size_t at = y->error == YAML_READER_ERROR ? y->problem_offset : place(r, y->problem_mark.index);
    diag_at(r->d, DIAG_ERROR, &r->s->src, at, "not valid YAML: %s%s%s",
            y->problem ? y->problem : "out of memory", y->context ? " " : "", y->context ? y->context : "");
}

/* Steps to the next event. false at the end of what can be understood, which is then diagnosed. */
static bool next(struct reader *r) {
    if (r->dead)
        return false;
    yaml_event_delete(&r->event);
    if (!yaml_parser_parse(&r->yaml, &r->event)) {
        r->dead = true;
        report_yaml_error(r);
        return false;
    }
    r->at = place(r, r->event.start_mark.index);
    r->nesting += (uint32_t)nesting_step(r);
    if (r->nesting > MAX_NESTING) {
        r->dead = true;
        diag_at(r->d, DIAG_ERROR, &r->s->src, r->at, "lists and groups are nested too deeply");
    }
    return !r->dead;
}

/* Steps over the node that starts at the current event. */
static void skip(struct reader *r) {
    if (nesting_step(r) <= 0)
        return;
    uint32_t outside = r->nesting - 1;
    while (r->nesting > outside && next(r))
        ;
}

/* An error at the current event, whose node is stepped over. */
static void refuse(struct reader *r, const char *what, const char *path) {
    diag_at(r->d, DIAG_ERROR, &r->s->src, r->at, "%s%s", what, path);
    skip(r);
}

static bool is_scalar(struct reader *r) {
    return r->event.type == YAML_SCALAR_EVENT && !r->event.data.scalar.tag;
}

static bool is_quoted(const struct reader *r) {
    return r->event.data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
}

/* ---- the grammar ------------------------------------------------------------------------------------ */

static void read_inherit(struct reader *r) {
    const char *text = is_scalar(r) ? (const char *)r->event.data.scalar.value : "";
    if (!*text || strlen(text) != r->event.data.scalar.length) {
        refuse(r, "inherit takes the name of a configuration, or the path of a file", "");
    } else if (r->s->inherit) {
        refuse(r, "inherit is given twice", "");
    } else {
        r->s->inherit = arena_strndup(r->a, text, strlen(text));
        r->s->inherit_at = r->at;
    }
}

static void read_param(struct reader *r, uint32_t param, size_t key_at) {
    const struct param *p = r->l->at[param];
    size_t *first = &r->first.at[param];
    if (*first) {
        uint32_t line, col;
        diag_line_col(&r->s->src, *first - 1, &line, &col);
        diag_at(r->d, DIAG_ERROR, &r->s->src, key_at, "%s is given twice; the first is on line %u", p->path,
                line);
        skip(r);
        return;
    }
    *first = 1 + key_at;
    if (r->event.type == YAML_SCALAR_EVENT && r->event.data.scalar.tag)
        refuse(r, "a tag has no meaning here: ", p->path);
    else if (!is_scalar(r))
        refuse(r,
               r->event.type == YAML_ALIAS_EVENT ? "aliases are not supported: give the value of "
                                                 : "one value is needed, not a list or group: ",
               p->path);
    else
        set_value(r, param, (const char *)r->event.data.scalar.value, r->event.data.scalar.length,
                  is_quoted(r), r->at);
}

static void read_mapping(struct reader *r, const char *prefix);

static void read_group(struct reader *r, const char *path, size_t key_at) {
    uint32_t i = 0;
    while (i < r->open.len && strcmp(r->open.at[i], path) != 0)
        i++;
    if (i < r->open.len)
        diag_at(r->d, DIAG_ERROR, &r->s->src, key_at, "group %s is opened twice", path);
    else
        vec_push(&r->open, path);
    if (r->event.type == YAML_MAPPING_START_EVENT)
        read_mapping(r, path);
    else if (!is_scalar(r) || is_quoted(r) || r->event.data.scalar.length) /* a group may be left empty */
        refuse(r, "parameters are needed, since this is a group: ", path);
}

/* The pairs of a mapping whose start is the current event; ends at its end. */
static void read_mapping(struct reader *r, const char *prefix) {
    if (r->event.data.mapping_start.tag)
        diag_at(r->d, DIAG_ERROR, &r->s->src, r->at, "a tag has no meaning here");
    while (next(r) && r->event.type != YAML_MAPPING_END_EVENT) {
        size_t key_at = r->at;
        if (!is_scalar(r)) {
            refuse(r, "the name of a parameter or group is needed", "");
            if (next(r))
                skip(r);
            continue;
        }
        size_t len = r->event.data.scalar.length + (*prefix ? strlen(prefix) + 1 : 0);
        char *path = arena_alloc(r->a, len + 1); /* not printf: the key may hold any byte */
        size_t at = *prefix ? (size_t)sprintf(path, "%s.", prefix) : 0;
        memcpy(path + at, r->event.data.scalar.value, r->event.data.scalar.length);
        if (!next(r))
            return;
        uint32_t p = param_find(r->l, path, len);
        if (!strcmp(path, "inherit") && len == strlen(path)) {
            read_inherit(r);
        } else if (p != UINT32_MAX) {
            read_param(r, p, key_at);
        } else if (param_is_group(r->l, path, len)) {
            read_group(r, path, key_at);
        } else {
            unknown_name(r, path, len, key_at);
            skip(r);
        }
    }
}

static void read_stream(struct reader *r) {
    bool seen = false;
    while (next(r) && r->event.type != YAML_STREAM_END_EVENT) {
        if (r->event.type == YAML_STREAM_START_EVENT || r->event.type == YAML_DOCUMENT_END_EVENT)
            continue;
        if (r->event.type == YAML_DOCUMENT_START_EVENT) {
            if (seen) {
                diag_at(r->d, DIAG_ERROR, &r->s->src, r->at,
                        "a configuration is one document; here another starts");
                return;
            }
            seen = true;
        } else if (r->event.type == YAML_MAPPING_START_EVENT) {
            read_mapping(r, "");
        } else if (!is_scalar(r) || is_quoted(r) || r->event.data.scalar.length) {
            refuse(r, "a configuration is a list of 'group:' and 'parameter: value' lines", "");
        }
    }
}

bool settings_read_yaml(struct settings *s, const struct param_list *l, struct arena *a, struct diag *d) {
    struct reader r = {.s = s, .l = l, .a = a, .d = d};
    uint32_t errors = d->errors;
    if (!yaml_parser_initialize(&r.yaml)) {
        diag_add(d, DIAG_ERROR, "%s: out of memory", s->src.name);
        return false;
    }
    for (uint32_t i = 0; i < l->len; i++)
        vec_push(&r.first, 0);
    yaml_parser_set_encoding(&r.yaml, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r.yaml, (const unsigned char *)s->src.text, s->src.len);
    read_stream(&r);
    yaml_event_delete(&r.event);
    yaml_parser_delete(&r.yaml);
    vec_free(&r.first);
    vec_free(&r.open);
    return d->errors == errors;
}

bool settings_read_pair(struct settings *s, const struct param_list *l, struct arena *a, struct diag *d) {
    struct reader r = {.s = s, .l = l, .a = a, .d = d};
    uint32_t errors = d->errors;
    const char *text = s->src.text, *eq = memchr(text, '=', s->src.len);
    if (!eq) {
        diag_at(d, DIAG_ERROR, &s->src, 0, "'parameter=value' is needed");
        return false;
    }
    size_t len = (size_t)(eq - text);
    uint32_t p = param_find(l, text, len);
    if (p != UINT32_MAX)
        set_value(&r, p, eq + 1, s->src.len - len - 1, false, len + 1);
    else
        unknown_name(&r, text, len, 0);
    return d->errors == errors;
}
