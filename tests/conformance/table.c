/* Tables of variants.
 *
 * A row is   NAME | outputs | inputs | body [| approx]   on one line, with blanks around each bar; # starts a
 * comment line; a line that ends with \ goes on. NAME may hold groups <a,b,c>: the row is expanded for every
 * combination. An alternative may have parts a/x/y; the first stands in the name, and anywhere in the row $1
 * is the first part chosen for group 1, $1' its second, $1'' its third (the first, where there is none). $0
 * is the name without its ~suffix. Operands are name:type or name:type@set, the set being one of values.c;
 * a*4:type is a0 to a3, which the body may call {a*4}. */
#include "conform.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_GROUPS = 6, MAX_ALTS = 40, MAX_PARTS = 3, MAX_TEXT = 8192 };

static const struct type types[] = {
    {"pred", 1, ".pred", 0, 0},  {"b8", 8, ".b16", 0, 0},       {"b16", 16, ".b16", 0, 0},
    {"u16", 16, ".u16", 0, 0},   {"s16", 16, ".s16", 0, 0},     {"b32", 32, ".b32", 0, 0},
    {"u32", 32, ".u32", 0, 0},   {"s32", 32, ".s32", 0, 0},     {"b64", 64, ".b64", 0, 0},
    {"u64", 64, ".u64", 0, 0},   {"s64", 64, ".s64", 0, 0},     {"f16", 16, ".b16", 16, 10},
    {"bf16", 16, ".b16", 16, 7}, {"f16x2", 32, ".b32", 16, 10}, {"bf16x2", 32, ".b32", 16, 7},
    {"f32", 32, ".f32", 32, 23}, {"f64", 64, ".f64", 64, 52},   {"tf32", 32, ".b32", 32, 23},
};

const struct type *type_find(const char *name, size_t len) {
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strlen(types[i].name) == len && !memcmp(types[i].name, name, len))
            return &types[i];
    return NULL;
}

/* A piece of text inside a line. */
struct span {
    const char *s;
    size_t n;
};

struct group {
    int nalts;
    struct span part[MAX_ALTS][MAX_PARTS];
};

/* One row, cut into its pieces, and the alternatives now chosen. */
struct row {
    const char *file;
    int line;
    struct span field[5];
    struct group group[MAX_GROUPS];
    int ngroups;
    int choice[MAX_GROUPS];
};

static bool complain(const struct row *r, const char *what, struct span at) {
    fprintf(stderr, "%s:%d: %s: %.*s\n", r->file, r->line, what, (int)at.n, at.s);
    return false;
}

static struct span trim(struct span s) {
    while (s.n && (*s.s == ' ' || *s.s == '\t'))
        s.s++, s.n--;
    while (s.n && (s.s[s.n - 1] == ' ' || s.s[s.n - 1] == '\t' || s.s[s.n - 1] == '\n'))
        s.n--;
    return s;
}

/* Cuts the next piece up to sep off the front of *rest. */
static struct span cut(struct span *rest, char sep) {
    const char *p = memchr(rest->s, sep, rest->n);
    struct span head = {rest->s, p ? (size_t)(p - rest->s) : rest->n};
    size_t skip = head.n + (p ? 1 : 0);
    rest->s += skip;
    rest->n -= skip;
    return head;
}

/* The same for fields, whose separator is a bar between blanks: PTX has bars of its own. */
static struct span cut_field(struct span *rest) {
    struct span all = *rest;
    for (size_t i = 1; i + 1 < all.n; i++)
        if (all.s[i] == '|' && all.s[i - 1] == ' ' && all.s[i + 1] == ' ') {
            *rest = (struct span){all.s + i + 1, all.n - i - 1};
            return trim((struct span){all.s, i});
        }
    *rest = (struct span){all.s + all.n, 0};
    return trim(all);
}

static bool read_group(struct row *r, struct span inside) {
    if (r->ngroups == MAX_GROUPS)
        return complain(r, "too many groups", inside);
    struct group *g = &r->group[r->ngroups++];
    g->nalts = 0;
    bool more = true;
    while (more) {
        more = memchr(inside.s, ',', inside.n) != NULL;
        struct span alt = cut(&inside, ',');
        if (g->nalts == MAX_ALTS)
            return complain(r, "too many alternatives", alt);
        struct span *part = g->part[g->nalts++];
        for (int k = 0; k < MAX_PARTS; k++)
            part[k] = cut(&alt, '/');
    }
    return true;
}

static bool read_groups(struct row *r) {
    struct span name = r->field[0];
    r->ngroups = 0;
    for (;;) {
        cut(&name, '<');
        if (!name.n)
            return true;
        if (!memchr(name.s, '>', name.n))
            return complain(r, "unclosed group", name);
        if (!read_group(r, cut(&name, '>')))
            return false;
    }
}

/* The name for the present choice. */
static void expand_name(const struct row *r, char *out) {
    size_t n = 0;
    int g = 0;
    for (size_t i = 0; i < r->field[0].n && n + 64 < MAX_TEXT; i++) {
        if (r->field[0].s[i] != '<') {
            out[n++] = r->field[0].s[i];
            continue;
        }
        struct span s = r->group[g].part[r->choice[g]][0];
        memcpy(out + n, s.s, s.n);
        n += s.n;
        g++;
        while (r->field[0].s[i] != '>')
            i++;
    }
    out[n] = 0;
}

static struct span alternative(const struct group *g, int choice, int part) {
    return g->part[choice][g->part[choice][part].n ? part : 0];
}

/* A field for the present choice: $0 and $1... replaced. */
static bool expand_field(const struct row *r, struct span f, const char *name, char *out) {
    size_t n = 0;
    for (size_t i = 0; i < f.n; i++) {
        struct span s = {f.s + i, 1};
        if (f.s[i] == '$' && i + 1 < f.n) {
            int g = f.s[++i] - '1', part = 0;
            while (i + 1 < f.n && f.s[i + 1] == '\'')
                part++, i++;
            if (g == -1)
                s = (struct span){name, strcspn(name, "~")};
            else if (g >= 0 && g < r->ngroups && part < MAX_PARTS)
                s = alternative(&r->group[g], r->choice[g], part);
            else
                return complain(r, "no such group", f);
        }
        if (n + s.n >= MAX_TEXT)
            return complain(r, "too long", f);
        memcpy(out + n, s.s, s.n);
        n += s.n;
    }
    out[n] = 0;
    return true;
}

/* The number behind the star of a list's name, which is cut off; 0: a single operand. */
static int list_length(struct span *name) {
    struct span rest = *name, head = cut(&rest, '*');
    int n = 0;
    if (!rest.n)
        return 0;
    for (size_t i = 0; i < rest.n && n < 100; i++)
        n = 10 * n + (rest.s[i] - '0');
    *name = head;
    return n;
}

static bool read_operands(const struct row *r, const char *text, struct operand *o, int max, int *count) {
    struct span rest = trim((struct span){text, strlen(text)});
    *count = 0;
    while (rest.n) {
        struct span word = cut(&rest, ' ');
        rest = trim(rest);
        struct span whole = word, name = cut(&word, ':'), type = cut(&word, '@');
        int n = list_length(&name), times = n ? n : 1;
        if (*count + times > max || times < 0 || !name.n || name.n + 2 >= sizeof o->name)
            return complain(r, "bad operand", whole);
        struct operand one = {.type = type_find(type.s, type.n)};
        if (!one.type)
            return complain(r, "unknown type", whole);
        one.set = word.n ? values_find(word.s, word.n) : values_find(one.type->name, strlen(one.type->name));
        if (!one.set)
            return complain(r, "unknown value set", whole);
        for (int k = 0; k < times; k++, o++, ++*count) {
            *o = one;
            if (n)
                snprintf(o->name, sizeof o->name, "%.*s%d", (int)name.n, name.s, k);
            else
                snprintf(o->name, sizeof o->name, "%.*s", (int)name.n, name.s);
        }
    }
    return true;
}

/* A body with its lists {a*4} written out. */
static char *expand_lists(const char *text) {
    struct text out = {0};
    for (const char *p = text; *p;) {
        size_t n = *p == '{' ? 1 + strcspn(p + 1, "{}") : 0;
        struct span name = {p + 1, n ? n - 1 : 0};
        int length = list_length(&name);
        if (!length) {
            text_add(&out, "%c", *p++);
            continue;
        }
        for (int k = 0; k < length; k++)
            text_add(&out, "%s%.*s%d", k ? "," : "{", (int)name.n, name.s, k);
        text_add(&out, "}");
        p += n + 1;
    }
    return out.s;
}

static struct variant *suite_push(struct suite *s) {
    if (s->n == s->cap) {
        s->cap = s->cap ? 2 * s->cap : 1024;
        s->v = realloc(s->v, s->cap * sizeof *s->v);
        if (!s->v)
            abort();
    }
    s->v[s->n] = (struct variant){0};
    return &s->v[s->n++];
}

static bool add_variant(struct suite *s, const struct row *r) {
    char name[MAX_TEXT], text[MAX_TEXT];
    expand_name(r, name);
    struct variant *v = suite_push(s);
    v->name = strdup(name);
    if (!expand_field(r, r->field[1], name, text) || !read_operands(r, text, v->out, MAX_OUT, &v->nout) ||
        !expand_field(r, r->field[2], name, text) || !read_operands(r, text, v->in, MAX_IN, &v->nin) ||
        !expand_field(r, r->field[4], name, text))
        return false;
    if (*text && !(v->approx = approx_find(text, strlen(text))))
        return complain(r, "unknown approximation", r->field[4]);
    if (!expand_field(r, r->field[3], name, text))
        return false;
    v->body = expand_lists(text);
    return v->nout > 0 || complain(r, "no outputs", r->field[0]);
}

static bool read_row(struct suite *s, struct row *r, const char *text) {
    struct span rest = {text, strlen(text)};
    for (int i = 0; i < 5; i++)
        r->field[i] = cut_field(&rest);
    if (!r->field[3].n)
        return complain(r, "needs name | outputs | inputs | body", r->field[0]);
    if (!read_groups(r))
        return false;
    memset(r->choice, 0, sizeof r->choice);
    for (;;) {
        if (!add_variant(s, r))
            return false;
        int g = r->ngroups - 1;
        while (g >= 0 && ++r->choice[g] == r->group[g].nalts)
            r->choice[g--] = 0;
        if (g < 0)
            return true;
    }
}

static bool read_table(struct suite *s, const char *path) {
    FILE *f = fopen(path, "r");
    if (!f) {
        perror(path);
        return false;
    }
    static char text[MAX_TEXT];
    struct row r = {.file = path};
    size_t n = 0;
    bool ok = true;
    while (ok && fgets(text + n, (int)(sizeof text - n), f)) {
        r.line++;
        n += strlen(text + n);
        if (n >= 2 && text[n - 1] == '\n' && text[n - 2] == '\\') {
            n -= 2;
            continue;
        }
        struct span t = trim((struct span){text, n});
        if (t.n && *t.s != '#')
            ok = read_row(s, &r, text);
        n = 0;
    }
    fclose(f);
    return ok;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Kernel names must differ too, and they hold letters and digits alone. */
static bool names_unique(const struct suite *s) {
    char **names = malloc(s->n * sizeof *names + 1);
    char buf[256];
    for (size_t i = 0; i < s->n; i++) {
        ptx_kernel_name(buf, sizeof buf, &s->v[i]);
        names[i] = strdup(buf);
    }
    qsort(names, s->n, sizeof *names, by_name);
    bool ok = true;
    for (size_t i = 0; i < s->n; i++)
        if (i && !strcmp(names[i], names[i - 1])) {
            fprintf(stderr, "two variants give the kernel name %s\n", names[i]);
            ok = false;
        }
    for (size_t i = 0; i < s->n; i++)
        free(names[i]);
    free(names);
    return ok;
}

static int is_table(const struct dirent *e) {
    size_t n = strlen(e->d_name);
    return n > 4 && !strcmp(e->d_name + n - 4, ".txt");
}

bool suite_load(struct suite *s, const char *dir) {
    struct dirent **list;
    int n = scandir(dir, &list, is_table, alphasort);
    if (n <= 0) {
        fprintf(stderr, "%s: no tables here\n", dir);
        return false;
    }
    bool ok = true;
    for (int i = 0; i < n; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", dir, list[i]->d_name);
        ok = ok && read_table(s, path);
        free(list[i]);
    }
    free(list);
    return ok && names_unique(s);
}

void suite_free(struct suite *s) {
    for (size_t i = 0; i < s->n; i++) {
        free(s->v[i].name);
        free(s->v[i].body);
    }
    free(s->v);
    *s = (struct suite){0};
}
