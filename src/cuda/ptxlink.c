/* The device linker. It splits each unit into its top-level statements, learns what each one declares or
 * defines, and writes the statements that belong in the result: prototypes first, then variables, then
 * functions, so that everything is declared before it is used. Debug sections are left out. */
#include "cuda/ptxlink.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/vec.h"

enum item_kind {
    ITEM_VERSION,
    ITEM_TARGET,
    ITEM_SIZE,
    ITEM_FILE,
    ITEM_SKIP,
    ITEM_PROTOTYPE,
    ITEM_VARIABLE,
    ITEM_FUNCTION
};
enum linkage { LINK_NONE, LINK_VISIBLE, LINK_EXTERN, LINK_WEAK };

/* One top-level statement. */
struct item {
    enum item_kind kind;
    enum linkage linkage;
    const char *at, *end, *name;
    size_t name_len;
    uint32_t unit;
};

struct linker {
    VEC(struct item) items;
    bool *included;     /* per unit */
    struct map defined; /* name -> 1 + index of the item that defines it */
    struct map emitted; /* names declared or weakly defined already */
    struct str out;
};

/* ---- tokens ------------------------------------------------------------------------------------------- */

struct scan {
    const char *at, *end;
};

static bool ident_start(char c) {
    return isalpha((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

static bool ident_char(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static void skip_space(struct scan *s) {
    while (s->at < s->end) {
        size_t left = (size_t)(s->end - s->at);
        if (isspace((unsigned char)*s->at))
            s->at++;
        else if (left > 1 && s->at[0] == '/' && s->at[1] == '/') {
            const char *nl = memchr(s->at, '\n', left);
            s->at = nl ? nl + 1 : s->end;
        } else if (left > 1 && s->at[0] == '/' && s->at[1] == '*') {
            const char *close = memmem(s->at + 2, left - 2, "*/", 2);
            s->at = close ? close + 2 : s->end;
        } else
            return;
    }
}

/* Steps over one token and returns where it began; NULL at the end. Directives keep their dot. */
static const char *token(struct scan *s, size_t *len) {
    skip_space(s);
    const char *from = s->at;
    if (from == s->end)
        return NULL;
    s->at++;
    if (*from == '"') {
        while (s->at < s->end && *s->at != '"')
            s->at += *s->at == '\\' && s->end - s->at > 1 ? 2 : 1;
        s->at += s->at < s->end;
    } else if (*from == '.' || ident_start(*from) || isdigit((unsigned char)*from))
        while (s->at < s->end && ident_char(*s->at))
            s->at++;
    *len = (size_t)(s->at - from);
    return from;
}

static bool is(const char *t, size_t len, const char *word) {
    return len == strlen(word) && !memcmp(t, word, len);
}

/* ---- splitting ------------------------------------------------------------------------------------------
 */

static void to_line_end(struct scan *s) {
    const char *nl = memchr(s->at, '\n', (size_t)(s->end - s->at));
    s->at = nl ? nl : s->end;
}

static void over_braces(struct scan *s) {
    size_t len;
    int depth = 0;
    for (const char *t; (t = token(s, &len));) {
        if (*t == '{')
            depth++;
        else if (*t == '}' && --depth <= 0)
            return;
    }
}

/* A declaration or definition; s stands after its first token, t. */
static void declaration(struct scan *s, struct item *it, const char *t, size_t len) {
    bool func = false, named = false;
    int depth = 0;
    it->kind = ITEM_VARIABLE;
    for (; t; t = token(s, &len)) {
        if (is(t, len, ".visible") && !depth)
            it->linkage = LINK_VISIBLE;
        else if (is(t, len, ".extern") && !depth)
            it->linkage = LINK_EXTERN;
        else if ((is(t, len, ".weak") || is(t, len, ".common")) && !depth)
            it->linkage = LINK_WEAK;
        else if (is(t, len, ".func") || is(t, len, ".entry"))
            func = true;
        else if (*t == '(' || *t == '[')
            depth++;
        else if (*t == ')' || *t == ']')
            depth--;
        else if (*t == '=')
            named = true;
        else if (ident_start(*t) && depth == 0 && !named) {
            it->name = t;
            it->name_len = len;
            named = func;
        } else if (*t == '{') {
            s->at = t;
            over_braces(s);
            if (func) {
                it->kind = ITEM_FUNCTION;
                return;
            }
        } else if (*t == ';' && depth <= 0) {
            if (func)
                it->kind = ITEM_PROTOTYPE;
            return;
        }
    }
}

static void statement(struct scan *s, struct item *it) {
    size_t len;
    const char *t = token(s, &len);
    it->at = t;
    if (is(t, len, ".version") || is(t, len, ".target") || is(t, len, ".address_size")) {
        it->kind = t[1] == 'v' ? ITEM_VERSION : t[1] == 't' ? ITEM_TARGET : ITEM_SIZE;
        to_line_end(s);
    } else if (is(t, len, ".file")) {
        it->kind = ITEM_FILE;
        to_line_end(s);
    } else if (is(t, len, ".section")) {
        it->kind = ITEM_SKIP;
        over_braces(s);
    } else
        declaration(s, it, t, len);
    it->end = s->at;
}

static void split(struct linker *l, const struct ptx_unit *unit, uint32_t number) {
    struct scan s = {unit->text, unit->text + unit->len};
    for (skip_space(&s); s.at < s.end; skip_space(&s)) {
        struct item it = {.unit = number};
        statement(&s, &it);
        vec_push(&l->items, it);
    }
}

/* ---- symbols --------------------------------------------------------------------------------------------
 */

static bool defines(const struct item *it) {
    return it->name && it->linkage != LINK_EXTERN && (it->kind == ITEM_VARIABLE || it->kind == ITEM_FUNCTION);
}

/* Enters what every unit defines for others to see; a plain definition wins over a weak one. */
static void enter_symbols(struct linker *l) {
    for (int weak = 0; weak < 2; weak++)
        for (uint32_t i = 0; i < l->items.len; i++) {
            struct item *it = &l->items.at[i];
            if (defines(it) && it->linkage != LINK_NONE && (it->linkage == LINK_WEAK) == weak &&
                !map_getn(&l->defined, it->name, it->name_len))
                map_setn(&l->defined, it->name, it->name_len, (void *)(uintptr_t)(i + 1));
        }
}

static struct item *definition(struct linker *l, const struct item *of) {
    uintptr_t i = (uintptr_t)map_getn(&l->defined, of->name, of->name_len);
    return i ? &l->items.at[i - 1] : NULL;
}

static bool is_root(const struct item *it, const char *const *roots, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (is(it->name, it->name_len, roots[i]))
            return true;
    return false;
}

/* Marks the units that define a root, then those the marked ones need, until nothing changes. */
static void choose_units(struct linker *l, uint32_t n, const char *const *roots, uint32_t nroots) {
    for (uint32_t i = 0; i < n; i++)
        l->included[i] = nroots == 0;
    for (uint32_t i = 0; i < l->items.len; i++)
        if (defines(&l->items.at[i]) && is_root(&l->items.at[i], roots, nroots))
            l->included[l->items.at[i].unit] = true;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < l->items.len; i++) {
            struct item *it = &l->items.at[i], *def;
            if (it->linkage == LINK_EXTERN && it->name && l->included[it->unit] &&
                (def = definition(l, it)) && !l->included[def->unit])
                changed = l->included[def->unit] = true;
        }
    }
}

/* ---- writing --------------------------------------------------------------------------------------------
 */

/* The private name of a unit's own symbol when another unit uses the same name; set up per unit. */
static void rename_locals(struct linker *l, uint32_t unit, struct map *renamed) {
    struct map others = {0};
    for (uint32_t i = 0; i < l->items.len; i++) {
        struct item *it = &l->items.at[i];
        if (it->name && it->unit != unit && l->included[it->unit])
            map_setn(&others, it->name, it->name_len, it);
    }
    for (uint32_t i = 0; i < l->items.len; i++) {
        struct item *it = &l->items.at[i];
        if (it->unit == unit && defines(it) && it->linkage == LINK_NONE &&
            map_getn(&others, it->name, it->name_len))
            map_setn(renamed, it->name, it->name_len, it);
    }
    map_free(&others);
}

#define FILES_PER_UNIT 10000 /* .file numbers of different units are kept apart by this much */

/* Copies the item's text, with renamed symbols, file numbers of its own, and linkage that fits. */
static void write_item(struct linker *l, const struct item *it, const struct map *renamed, bool resolved) {
    struct scan s = {it->at, it->end};
    const char *copied = it->at, *t;
    size_t len, before_len = 0;
    const char *before = NULL;
    while ((t = token(&s, &len))) {
        bool number = before && isdigit((unsigned char)*t) &&
                      (is(before, before_len, ".file") || is(before, before_len, ".loc"));
        bool local = ident_start(*t) && map_getn(renamed, t, len);
        bool unextern = resolved && is(t, len, ".extern");
        if (number || local || unextern) {
            str_add(&l->out, copied, (size_t)(t - copied));
            if (number)
                str_printf(&l->out, "%u", (unsigned)strtoul(t, NULL, 10) + it->unit * FILES_PER_UNIT);
            else if (unextern)
                str_printf(&l->out, ".visible");
            else
                str_printf(&l->out, "%.*s$unit%u", (int)len, t, it->unit);
            copied = t + len;
        }
        before = t;
        before_len = len;
    }
    str_add(&l->out, copied, (size_t)(it->end - copied));
    str_add(&l->out, "\n", 1);
}

/* Whether the item has a place in the result. External declarations and weak definitions appear once. */
static bool wanted(struct linker *l, const struct item *it, bool *resolved) {
    *resolved = false;
    if (!it->name)
        return it->kind == ITEM_FILE || it->kind == ITEM_PROTOTYPE || it->kind == ITEM_VARIABLE;
    struct item *def = definition(l, it);
    if (it->linkage == LINK_EXTERN) {
        *resolved = def != NULL;
        if (def && it->kind != ITEM_PROTOTYPE)
            return false; /* the variable itself comes */
        if (map_getn(&l->emitted, it->name, it->name_len))
            return false;
        map_setn(&l->emitted, it->name, it->name_len, (void *)(uintptr_t)it);
        return true;
    }
    return !(defines(it) && it->linkage == LINK_WEAK && def != it);
}

static void write_kind(struct linker *l, enum item_kind kind, const struct map *renamed) {
    for (uint32_t i = 0; i < l->items.len; i++) {
        struct item *it = &l->items.at[i];
        bool resolved;
        if (it->kind == kind && l->included[it->unit] && wanted(l, it, &resolved))
            write_item(l, it, &renamed[it->unit], resolved);
    }
}

/* The highest number after the directive among the units that take part: the newest version or target. */
static void write_newest(struct linker *l, enum item_kind kind) {
    const struct item *best = NULL;
    double best_number = -1;
    for (uint32_t i = 0; i < l->items.len; i++) {
        const struct item *it = &l->items.at[i];
        if (it->kind != kind || !l->included[it->unit])
            continue;
        const char *digits = it->at;
        while (digits < it->end && !isdigit((unsigned char)*digits))
            digits++;
        char number[16] = {0};
        memcpy(number, digits, (size_t)(it->end - digits) < 15 ? (size_t)(it->end - digits) : 15);
        double n = strtod(number, NULL);
        if (n > best_number) {
            best_number = n;
            best = it;
        }
    }
    if (best) {
        str_add(&l->out, best->at, (size_t)(best->end - best->at));
        str_add(&l->out, "\n", 1);
    }
}

char *ptx_link(const struct ptx_unit *units, uint32_t n, const char *const *roots, uint32_t nroots,
               size_t *len) {
    struct linker l = {.included = xcalloc(n ? n : 1, sizeof *l.included)};
    struct map *renamed = xcalloc(n ? n : 1, sizeof *renamed);
    for (uint32_t i = 0; i < n; i++)
        split(&l, &units[i], i);
    enter_symbols(&l);
    choose_units(&l, n, roots, nroots);
    for (uint32_t i = 0; i < n; i++)
        rename_locals(&l, i, &renamed[i]);
    write_newest(&l, ITEM_VERSION);
    write_newest(&l, ITEM_TARGET);
    write_newest(&l, ITEM_SIZE);
    write_kind(&l, ITEM_FILE, renamed);
    write_kind(&l, ITEM_PROTOTYPE, renamed);
    write_kind(&l, ITEM_VARIABLE, renamed);
    write_kind(&l, ITEM_FUNCTION, renamed);
    str_add(&l.out, "", 0);
    for (uint32_t i = 0; i < n; i++)
        map_free(&renamed[i]);
    free(renamed);
    free(l.included);
    map_free(&l.defined);
    map_free(&l.emitted);
    vec_free(&l.items);
    *len = l.out.len;
    return l.out.at ? l.out.at : xstrdup("");
}
