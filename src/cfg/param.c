/* Values of typed parameters: text to value, value to text. What depends on the type is one row of types[].
 */
#include "cfg/param.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"

enum { MAX_NUMBER = 40 };

/* The size suffixes: each is 1024 times the one before; "B" and "iB" may follow. */
static const char suffixes[] = "KMGT";

/* ---- numbers ---------------------------------------------------------------------------------------- */

/* An integer, decimal or 0x; *end is what follows. Too large a number gives UINT64_MAX. */
static bool read_unsigned(const char *s, const char **end, uint64_t *out) {
    bool hex = s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
    const char *digits = hex ? s + 2 : s;
    size_t n = strspn(digits, hex ? "0123456789abcdefABCDEF" : "0123456789");
    if (!n)
        return false;
    *end = digits + n;
    *out = strtoull(digits, NULL, hex ? 16 : 10); /* UINT64_MAX when too large: out of every range */
    return true;
}

static enum param_status in_range(const struct param *p, double v) {
    return v >= p->min && v <= p->max ? PARAM_OK : PARAM_OUT_OF_RANGE;
}

static enum param_status read_int(const struct param *p, const char *s, union param_value *out) {
    bool minus = *s == '-';
    const char *end;
    uint64_t u;
    if (!read_unsigned(s + minus, &end, &u) || *end)
        return PARAM_WRONG_TYPE;
    double v = minus ? -(double)u : (double)u;
    if (in_range(p, v) != PARAM_OK)
        return PARAM_OUT_OF_RANGE;
    out->i = (int32_t)v;
    return PARAM_OK;
}

static enum param_status read_bytes(const struct param *p, const char *s, union param_value *out) {
    const char *end;
    uint64_t u;
    if (*s == '-')
        return read_unsigned(s + 1, &end, &u) ? PARAM_OUT_OF_RANGE : PARAM_WRONG_TYPE;
    if (!read_unsigned(s, &end, &u))
        return PARAM_WRONG_TYPE;
    end += strspn(end, " ");
    const char *suffix = *end ? strchr(suffixes, *end) : NULL;
    uint32_t shift = suffix ? 10 * (uint32_t)(suffix - suffixes + 1) : 0;
    if (suffix)
        end += end[1] == 'i' && end[2] == 'B' ? 3 : end[1] == 'B' ? 2 : 1;
    if (*end)
        return PARAM_WRONG_TYPE;
    double v = (double)u * (double)(UINT64_C(1) << shift);
    if (in_range(p, v) != PARAM_OK)
        return PARAM_OUT_OF_RANGE;
    out->u = u << shift;
    return PARAM_OK;
}

/* The calling program may have set a locale in which numbers have a comma; ours never do. */
static locale_t enter_c_locale(locale_t *c) {
    *c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return *c ? uselocale(*c) : (locale_t)0;
}

static void leave_c_locale(locale_t c, locale_t old) {
    if (!c)
        return;
    uselocale(old);
    freelocale(c);
}

static enum param_status read_float(const struct param *p, const char *s, union param_value *out) {
    if (!*s || s[strspn(s, "0123456789+-.eE")])
        return PARAM_WRONG_TYPE;
    locale_t c, old = enter_c_locale(&c);
    char *end;
    double v = strtod(s, &end);
    leave_c_locale(c, old);
    if (*end)
        return PARAM_WRONG_TYPE;
    out->f = v;
    return in_range(p, v);
}

static enum param_status read_version(const struct param *p, const char *s, union param_value *out) {
    const char *end;
    uint64_t major;
    if (!read_unsigned(s, &end, &major) || end[0] != '.' || end[1] < '0' || end[1] > '9' || end[2])
        return PARAM_WRONG_TYPE;
    double v = (double)major * 10 + (end[1] - '0');
    if (in_range(p, v) != PARAM_OK)
        return PARAM_OUT_OF_RANGE;
    out->i = (int32_t)v;
    return PARAM_OK;
}

/* ---- words ------------------------------------------------------------------------------------------ */

static enum param_status read_bool(const struct param *p, const char *s, union param_value *out) {
    (void)p;
    out->b = !strcmp(s, "true");
    return out->b || !strcmp(s, "false") ? PARAM_OK : PARAM_WRONG_TYPE;
}

static enum param_status read_enum(const struct param *p, const char *s, union param_value *out) {
    for (int32_t i = 0; p->choices[i]; i++)
        if (!strcmp(p->choices[i], s)) {
            out->i = i;
            return in_range(p, i);
        }
    return PARAM_WRONG_TYPE;
}

static enum param_status read_string(const struct param *p, const char *s, union param_value *out) {
    for (const char *c = s; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            return PARAM_WRONG_TYPE;
    memset(out->s, 0, sizeof out->s);
    memcpy(out->s, s, strlen(s));
    return in_range(p, (double)strlen(s));
}

/* ---- printing --------------------------------------------------------------------------------------- */

static void print_int(const struct param *p, const union param_value *v, bool plain, struct str *out) {
    (void)p, (void)plain;
    str_printf(out, "%d", v->i);
}

static void print_bytes(const struct param *p, const union param_value *v, bool plain, struct str *out) {
    (void)p;
    uint64_t u = v->u;
    int suffix = -1;
    while (!plain && u && u % 1024 == 0 && suffixes[suffix + 1]) {
        u /= 1024;
        suffix++;
    }
    str_printf(out, "%llu%.*s", (unsigned long long)u, suffix >= 0, suffix >= 0 ? &suffixes[suffix] : "");
}

/* The shortest text that reads back as the same number. */
static void print_double(double f, struct str *out) {
    char text[MAX_NUMBER];
    locale_t c, old = enter_c_locale(&c);
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, f);
        if (strtod(text, NULL) == f)
            break;
    }
    leave_c_locale(c, old);
    str_add(out, text, strlen(text));
}

static void print_float(const struct param *p, const union param_value *v, bool plain, struct str *out) {
    (void)p, (void)plain;
    print_double(v->f, out);
}

static void print_bool(const struct param *p, const union param_value *v, bool plain, struct str *out) {
    (void)p, (void)plain;
    str_printf(out, "%s", v->b ? "true" : "false");
}

static void print_enum(const struct param *p, const union param_value *v, bool plain, struct str *out) {
    (void)plain;
    str_printf(out, "%s", p->choices[v->i]);
}

static void print_version(const struct param *p, const union param_value *v, bool plain, struct str *out) {
    (void)p, (void)plain;
    str_printf(out, "%d.%d", v->i / 10, v->i % 10);
}

static void print_string(const struct param *p, const union param_value *v, bool plain, struct str *out) {
    (void)p, (void)plain;
    str_printf(out, "%s", v->s);
}

/* ---- types ------------------------------------------------------------------------------------------ */

static const struct {
    const char *what;
    size_t size;    /* of the member */
    bool is_word;   /* may stand in quotes */
    bool has_range; /* min and max are values of this type, worth telling */
    enum param_status (*read)(const struct param *, const char *, union param_value *);
    void (*print)(const struct param *, const union param_value *, bool plain, struct str *);
} types[] = {
    [PARAM_INT] = {"an integer", sizeof(int32_t), false, true, read_int, print_int},
    [PARAM_BYTES] = {"a size", sizeof(uint64_t), false, true, read_bytes, print_bytes},
    [PARAM_FLOAT] = {"a number", sizeof(double), false, true, read_float, print_float},
    [PARAM_BOOL] = {"true or false", sizeof(bool), false, false, read_bool, print_bool},
    [PARAM_ENUM] = {"one of", sizeof(int32_t), true, false, read_enum, print_enum},
    [PARAM_VERSION] = {"major.minor", sizeof(int32_t), false, true, read_version, print_version},
    [PARAM_STRING] = {"printable text", sizeof(param_string), true, true, read_string, print_string},
};

enum param_status param_read(const struct param *p, const char *text, size_t len, bool quoted,
                             union param_value *out) {
    if ((quoted && !types[p->type].is_word) || memchr(text, 0, len))
        return PARAM_WRONG_TYPE;
    if (len >= PARAM_STRING_SIZE) /* longer than any value, so that the readers work on a bounded copy */
        return p->type == PARAM_STRING ? PARAM_OUT_OF_RANGE : PARAM_WRONG_TYPE;
    param_string copy;
    memcpy(copy, text, len);
    copy[len] = 0;
    return types[p->type].read(p, copy, out);
}

void param_store(const struct param *p, void *base, const union param_value *v) {
    memcpy((char *)base + p->offset, v, types[p->type].size);
}

union param_value param_initial(const struct param *p) {
    union param_value v = {0};
    switch (p->type) {
    case PARAM_BYTES:
        v.u = (uint64_t)p->initial;
        break;
    case PARAM_FLOAT:
        v.f = p->initial;
        break;
    case PARAM_BOOL:
        v.b = p->initial != 0;
        break;
    case PARAM_STRING:
        snprintf(v.s, sizeof v.s, "%s", p->text ? p->text : "");
        break;
    default:
        v.i = (int32_t)p->initial;
    }
    return v;
}

void param_defaults(const struct param_table *t, void *base) {
    memset(base, 0, t->size);
    for (uint32_t i = 0; i < t->count; i++) {
        union param_value v = param_initial(&t->rows[i]);
        param_store(&t->rows[i], base, &v);
    }
}

void param_print(const struct param *p, const void *base, bool plain, struct str *out) {
    union param_value v = {0};
    memcpy(&v, (const char *)base + p->offset, types[p->type].size);
    types[p->type].print(p, &v, plain, out);
}

void param_print_initial(const struct param *p, struct str *out) {
    union param_value v = param_initial(p);
    types[p->type].print(p, &v, false, out);
}

/* One end of the range, as a value of the parameter's type would be printed. */
static void print_limit(const struct param *p, double limit, struct str *out) {
    union param_value v = {0};
    if (p->type == PARAM_FLOAT || p->type == PARAM_STRING)
        print_double(limit, out);
    else if (p->type == PARAM_BYTES)
        print_bytes(p, &(union param_value){.u = (uint64_t)limit}, false, out);
    else {
        v.i = (int32_t)limit;
        types[p->type].print(p, &v, false, out);
    }
}

void param_describe(const struct param *p, struct str *out) {
    str_printf(out, "%s", types[p->type].what);
    for (int32_t i = (int32_t)p->min; p->type == PARAM_ENUM && i <= (int32_t)p->max; i++)
        str_printf(out, "%s%s", i > (int32_t)p->min ? ", " : " ", p->choices[i]);
    if (!types[p->type].has_range)
        return;
    str_printf(out, ", ");
    print_limit(p, p->min, out);
    str_printf(out, " to ");
    print_limit(p, p->max, out);
    if (*p->unit)
        str_printf(out, " %s", p->unit);
}

bool param_is_wrong(const struct param_table *t, const struct param *p, struct str *why) {
    const char *dot = p->path ? strrchr(p->path, '.') : NULL;
    int32_t choices = 0;
    while (p->choices && p->choices[choices])
        choices++;
    if (!dot || dot == p->path || !dot[1]) {
        str_printf(why, "parameter number %u has no name of the form group.name", (unsigned)(p - t->rows));
    } else if ((uint32_t)p->type > PARAM_STRING || !p->unit || !p->help) {
        str_printf(why, "parameter '%s' lacks a type, a unit or help", p->path);
    } else if (p->offset + types[p->type].size > t->size) {
        str_printf(why, "parameter '%s' lies outside its struct", p->path);
    } else if (p->type == PARAM_ENUM && (p->min < 0 || p->max >= choices)) {
        str_printf(why, "parameter '%s' has no word for some of its values", p->path);
    } else {
        union param_value v;
        struct str text = {0};
        param_print_initial(p, &text);
        if (param_read(p, str_text(&text), text.len, false, &v) != PARAM_OK)
            str_printf(why, "the default of parameter '%s' is outside its range", p->path);
        str_free(&text);
    }
    return why->len;
}

/* ---- names ------------------------------------------------------------------------------------------ */

uint32_t param_find(const struct param_list *l, const char *path, size_t len) {
    for (uint32_t i = 0; i < l->len; i++)
        if (strlen(l->at[i]->path) == len && !memcmp(l->at[i]->path, path, len))
            return i;
    return UINT32_MAX;
}

bool param_is_group(const struct param_list *l, const char *path, size_t len) {
    for (uint32_t i = 0; i < l->len; i++)
        if (strlen(l->at[i]->path) > len && l->at[i]->path[len] == '.' && !memcmp(l->at[i]->path, path, len))
            return true;
    return false;
}

struct names {
    const struct param_list *l;
    struct arena *a;
};

/* Candidate i: the paths, then each path's group. */
static const char *next_name(void *ctx, uint32_t i) {
    const struct names *n = ctx;
    if (i >= 2 * n->l->len)
        return NULL;
    const char *path = n->l->at[i % n->l->len]->path;
    return i < n->l->len ? path : arena_strndup(n->a, path, (size_t)(strrchr(path, '.') - path));
}

const char *param_suggest(const struct param_list *l, const char *path, size_t len, struct arena *a) {
    for (uint32_t i = 0; i < l->len; i++) { /* the right name, only its group was left out */
        const char *leaf = strrchr(l->at[i]->path, '.') + 1;
        if (strlen(leaf) == len && !memcmp(leaf, path, len))
            return l->at[i]->path;
    }
    return diag_nearest(path, len, next_name, &(struct names){l, a});
}
