/* Names: what they stand for, in a function's nested scopes and in the module. */
#include <string.h>

#include "ptx/parser.h"

enum { MAX_INDEX_DIGITS = 7, MAX_CANDIDATES = 2000 };

/* The scope of a function's outermost braces; the one around it holds its parameters. */
enum { BODY_DEPTH = 2 };

struct ptx_symbol *symbol_find(const struct ptx_parser *p, const char *name, size_t len) {
    return map_getn(&p->m->symbols, name, len);
}

struct ptx_symbol *symbol_intern(struct ptx_parser *p, const char *name, size_t len) {
    struct ptx_symbol *s = symbol_find(p, name, len);
    if (!s) {
        s = arena_new(&p->m->arena, struct ptx_symbol);
        map_setn(&p->m->symbols, name, len, s);
    }
    return s;
}

void scope_open(struct ptx_parser *p) {
    p->depth++;
    vec_push(&p->scope_locals, p->locals.len);
    vec_push(&p->scope_uses, p->uses.len);
}

static bool ends_in_digit(const char *name) {
    size_t n = strlen(name);
    return n && name[n - 1] >= '0' && name[n - 1] <= '9';
}

static bool is_index_free(const struct ptx_local *l) {
    return l->kind != LOCAL_RANGE || !ends_in_digit(l->name);
}

/* Forgets the declarations from index first on, newest first, so that the hidden ones come back. */
static void drop_locals(struct ptx_parser *p, uint32_t first) {
    while (p->locals.len > first) {
        struct ptx_local *l = &p->locals.at[--p->locals.len];
        l->sym->local = l->outer;
        p->digit_ranges -= !is_index_free(l);
    }
}

/* Gives a use the label or table that the innermost scope declares; false when it declares none. */
static bool resolve_label(struct ptx_parser *p, const struct ptx_use *u) {
    struct ptx_symbol *s = symbol_find(p, p->m->src.text + u->at, u->len);
    const struct ptx_local *l = s && s->local ? &p->locals.at[s->local - 1] : NULL;
    if (!l || l->depth != p->depth || (l->kind != LOCAL_LABEL && l->kind != LOCAL_TARGETS))
        return false;
    if (u->kind == USE_LABEL && l->kind == LOCAL_LABEL) {
        *u->to.label = l->first;
        return true;
    }
    if (u->kind != USE_OPERAND)
        return false;
    u->to.opd->kind = l->kind == LOCAL_LABEL ? OPD_LABEL : OPD_TARGETS;
    u->to.opd->label = l->first;
    u->to.opd->targets = l->targets;
    u->to.opd->nelems = 0;
    return true;
}

void scope_close(struct ptx_parser *p) {
    uint32_t first_use = p->scope_uses.at[--p->scope_uses.len];
    uint32_t kept = first_use;
    for (uint32_t i = first_use; i < p->uses.len; i++) {
        const struct ptx_use *u = &p->uses.at[i];
        if (resolve_label(p, u))
            continue;
        if (p->depth == BODY_DEPTH && u->branch)
            undeclared(p, u->at, u->len);
        else
            p->uses.at[kept++] = *u;
    }
    p->uses.len = kept;
    drop_locals(p, p->scope_locals.at[--p->scope_locals.len]);
    p->depth--;
}

void scope_close_all(struct ptx_parser *p) {
    drop_locals(p, 0);
    p->depth = p->uses.len = p->scope_locals.len = p->scope_uses.len = 0;
}

/* The newest declaration of a name of the given sort: a range, or anything else. */
static const struct ptx_local *newest(const struct ptx_parser *p, const char *name, size_t len, bool range) {
    struct ptx_symbol *s = symbol_find(p, name, len);
    for (uint32_t i = s ? s->local : 0; i; i = p->locals.at[i - 1].outer)
        if ((p->locals.at[i - 1].kind == LOCAL_RANGE) == range)
            return &p->locals.at[i - 1];
    return NULL;
}

/* Value of the digits from name[from] on; false when they are no index of a range (leading zero, too long).
 */
static bool index_of(const char *name, size_t len, size_t from, uint32_t *index) {
    if (from == len || len - from > MAX_INDEX_DIGITS || (name[from] == '0' && len - from > 1))
        return false;
    *index = 0;
    for (size_t i = from; i < len; i++)
        *index = *index * 10 + (uint32_t)(name[i] - '0');
    return true;
}

static size_t digits_start(const char *name, size_t len) {
    size_t from = len;
    while (from > 1 && name[from - 1] >= '0' && name[from - 1] <= '9')
        from--;
    return from;
}

/* %r12 is element 12 of %r<..>, or, when some range's prefix ends in a digit, element 2 of %r1<..>. */
static const struct ptx_local *find_in_range(const struct ptx_parser *p, const char *name, size_t len,
                                             uint32_t *index) {
    const struct ptx_local *best = NULL;
    for (size_t from = digits_start(name, len); from < len; from++) {
        uint32_t i;
        if (index_of(name, len, from, &i)) {
            const struct ptx_local *l = newest(p, name, from, true);
            while (l && i >= l->count) {
                uint32_t outer = l->outer;
                while (outer && p->locals.at[outer - 1].kind != LOCAL_RANGE)
                    outer = p->locals.at[outer - 1].outer;
                l = outer ? &p->locals.at[outer - 1] : NULL;
            }
            if (l && (!best || l->depth > best->depth)) {
                best = l;
                *index = i;
            }
        }
        if (!p->digit_ranges)
            break;
    }
    return best;
}

bool local_declare(struct ptx_parser *p, const struct token *name, struct ptx_local l) {
    const char *text = tok_text(p, name);
    l.sym = symbol_intern(p, text, name->len);
    l.depth = p->depth;
    l.outer = l.sym->local;
    l.name = tok_strdup(p, name);
    const struct ptx_local *old = newest(p, text, name->len, l.kind == LOCAL_RANGE);
    uint32_t index;
    if (!old && l.kind == LOCAL_REG)
        old = find_in_range(p, text, name->len, &index);
    if (old && old->depth == l.depth)
        return fail(p, name->at, "'%.*s' is already declared in this scope", shown_len(name->len), text);
    vec_push(&p->locals, l);
    l.sym->local = p->locals.len;
    p->digit_ranges += !is_index_free(&l);
    return true;
}

const struct ptx_local *local_find(const struct ptx_parser *p, const char *name, size_t len,
                                   uint32_t *index) {
    const struct ptx_local *l = newest(p, name, len, false);
    uint32_t i = 0;
    const struct ptx_local *r = find_in_range(p, name, len, &i);
    if (!r || (l && l->depth >= r->depth)) {
        *index = 0;
        return l;
    }
    *index = i;
    return r;
}

/* Candidates for an undeclared name: the open scopes' names, then the module's. */
struct candidates {
    struct ptx_parser *p;
    const char *digits; /* the digits at the end of the name, to complete a range's prefix */
    uint32_t symbol;    /* next entry of the module's symbols */
};

static const char *next_candidate(void *ctx, uint32_t i) {
    struct candidates *c = ctx;
    struct ptx_parser *p = c->p;
    if (i == MAX_CANDIDATES)
        return NULL;
    if (i < p->locals.len) {
        const struct ptx_local *l = &p->locals.at[i];
        if (l->kind != LOCAL_RANGE)
            return l->name;
        return arena_printf(&p->m->arena, "%s%s", l->name, c->digits);
    }
    while (c->symbol < p->m->symbols.len) {
        const struct map_entry *e = &p->m->symbols.entries[c->symbol++];
        const struct ptx_symbol *s = e->value;
        if (s && (s->var || s->func))
            return s->var ? s->var->name : s->func->name;
    }
    return NULL;
}

bool undeclared(struct ptx_parser *p, uint32_t at, uint32_t len) {
    const char *name = p->m->src.text + at;
    int shown = shown_len(len);
    size_t from = digits_start(name, len);
    const struct ptx_local *range = from < len ? newest(p, name, from, true) : NULL;
    if (range && range->count)
        return fail(p, at, "register '%.*s' is not declared: %s<%u> ends at %s%u", shown, name, range->name,
                    range->count, range->name, range->count - 1);
    const char *digits = "0";
    if (from < len)
        digits = arena_strndup(&p->m->arena, name + from, len - from > 16 ? 16 : len - from);
    struct candidates c = {p, digits, 0};
    return fail(p, at, "'%.*s' is not declared%s", shown, name,
                did_you_mean(p, name, len, next_candidate, &c));
}

void note_uses(struct ptx_parser *p, struct ptx_opd *opds, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (opds[i].kind == OPD_NONE)
            vec_push(&p->uses, (struct ptx_use){.kind = USE_OPERAND,
                                                .at = opds[i].at,
                                                .len = opds[i].nelems,
                                                .func = p->func,
                                                .branch = p->in_branch,
                                                .to.opd = &opds[i]});
}

bool use_resolve_global(struct ptx_parser *p, const struct ptx_use *u) {
    const struct ptx_symbol *s = symbol_find(p, p->m->src.text + u->at, u->len);
    if (!s || (!s->var && !s->func))
        return false;
    switch (u->kind) {
    case USE_OPERAND:
        u->to.opd->kind = s->var ? OPD_VAR : OPD_FUNC;
        u->to.opd->var = s->var;
        u->to.opd->func = s->func;
        u->to.opd->nelems = 0;
        return true;
    case USE_FUNC:
        *u->to.func = s->func;
        return s->func != NULL;
    case USE_INIT:
        u->to.init->var = s->var;
        u->to.init->func = s->func;
        return true;
    default:
        return false;
    }
}
