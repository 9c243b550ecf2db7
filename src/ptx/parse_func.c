/* Headers of .entry and .func: linkage, results, name, parameters, launch bounds. */
#include <string.h>

#include "ptx/parser.h"

bool parse_params(struct ptx_parser *p, struct ptx_var ***vars, uint32_t *n) {
    VEC(struct ptx_var *) list = {0};
    bool ok = expect(p, '(', "the name");
    bool empty = at_punct(p, ')');
    while (ok && !empty) {
        struct decl_spec s = {0};
        struct token name;
        ok = parse_decl_spec(p, &s);
        if (ok && s.space != SPACE_PARAM && s.space != SPACE_REG)
            ok = fail(p, s.at, "a parameter is declared .param or .reg");
        struct ptx_var *v = ok ? parse_declarator(p, &s, &name) : NULL;
        ok = v != NULL;
        if (ok)
            vec_push(&list, v);
        if (!ok || !accept(p, ','))
            break;
    }
    ok = ok && expect(p, ')', "the parameters");
    *n = list.len;
    *vars = arena_array(&p->m->arena, struct ptx_var *, list.len);
    if (list.len)
        memcpy(*vars, list.at, list.len * sizeof *list.at);
    vec_free(&list);
    return ok;
}

/* One to three sizes, as in .maxntid 16, 16; those not given are 1. */
static bool parse_dim3(struct ptx_parser *p, uint32_t *out) {
    out[0] = out[1] = out[2] = 1;
    for (int i = 0; i < 3; i++) {
        uint64_t v;
        if (!parse_uint(p, "a size", UINT32_MAX, &v))
            return false;
        out[i] = (uint32_t)v;
        if (i == 2 || !accept(p, ','))
            return true;
    }
    return true;
}

static const struct {
    const char *word;
    enum { ATTR_FLAG, ATTR_ONE, ATTR_DIM3, ATTR_SKIP_ONE } form;
    size_t offset;
} attributes[] = {
    {".noreturn", ATTR_FLAG, offsetof(struct ptx_func, noreturn)},
    {".explicitcluster", ATTR_FLAG, offsetof(struct ptx_func, explicitcluster)},
    {".blocksareclusters", ATTR_FLAG, offsetof(struct ptx_func, blocksareclusters)},
    {".maxntid", ATTR_DIM3, offsetof(struct ptx_func, maxntid)},
    {".reqntid", ATTR_DIM3, offsetof(struct ptx_func, reqntid)},
    {".reqnctapercluster", ATTR_DIM3, offsetof(struct ptx_func, reqnctapercluster)},
    {".minnctapersm", ATTR_ONE, offsetof(struct ptx_func, minnctapersm)},
    {".maxnctapersm", ATTR_ONE, offsetof(struct ptx_func, maxnctapersm)},
    {".maxnreg", ATTR_ONE, offsetof(struct ptx_func, maxnreg)},
    {".maxclusterrank", ATTR_ONE, offsetof(struct ptx_func, maxclusterrank)},
    {".abi_preserve", ATTR_SKIP_ONE, 0},
    {".abi_preserve_control", ATTR_SKIP_ONE, 0},
    {".local_maxnreg", ATTR_SKIP_ONE, 0},
};

enum { NATTRIBUTES = sizeof attributes / sizeof *attributes };

static const char *next_attribute(void *ctx, uint32_t i) {
    (void)ctx;
    return i < NATTRIBUTES ? attributes[i].word : NULL;
}

static bool parse_one_attribute(struct ptx_parser *p, struct ptx_func *f, int i) {
    uint64_t v = 0;
    char *field = (char *)f + attributes[i].offset;
    advance(p);
    switch (attributes[i].form) {
    case ATTR_FLAG:
        *(bool *)field = true;
        return true;
    case ATTR_DIM3:
        return parse_dim3(p, (uint32_t *)field);
    default:
        if (!parse_uint(p, "a number", UINT32_MAX, &v))
            return false;
        if (attributes[i].form == ATTR_ONE)
            *(uint32_t *)field = (uint32_t)v;
        return true;
    }
}

bool parse_func_attributes(struct ptx_parser *p, struct ptx_func *f) {
    while (p->tok.kind == TOK_WORD && !at_module_directive(p)) {
        bool managed = false;
        int i = 0;
        while (i < NATTRIBUTES && !at_word(p, attributes[i].word))
            i++;
        if (i < NATTRIBUTES) {
            if (!parse_one_attribute(p, f, i))
                return false;
        } else if (at_word(p, ".pragma")) {
            if (!parse_pragma(p))
                return false;
        } else if (accept_word(p, ".attribute")) {
            if (!parse_attribute(p, &managed))
                return false;
        } else {
            return fail(p, p->tok.at, "unknown directive '%.*s' on a function%s", shown_len(p->tok.len),
                        tok_text(p, &p->tok),
                        did_you_mean(p, tok_text(p, &p->tok), p->tok.len, next_attribute, NULL));
        }
    }
    return true;
}

static bool same_shape(struct ptx_var *const *a, uint32_t na, struct ptx_var *const *b, uint32_t nb) {
    if (na != nb)
        return false;
    for (uint32_t i = 0; i < na; i++)
        if (a[i]->size != b[i]->size && !a[i]->unsized && !b[i]->unsized)
            return false;
    return true;
}

/* Joins a header to what the module already knows of the name; NULL when the two disagree. */
static struct ptx_func *declare_func(struct ptx_parser *p, const struct token *name, const struct ptx_func *h,
                                     bool defined) {
    struct ptx_symbol *s = symbol_intern(p, tok_text(p, name), name->len);
    const char *problem = NULL;
    if (s->var)
        problem = "is already declared as a variable";
    else if (s->func && defined && s->func->defined)
        problem = "is already defined";
    else if (s->func && s->func->entry != h->entry)
        problem = "is declared both as .entry and as .func";
    else if (s->func && !(same_shape(s->func->params, s->func->nparams, h->params, h->nparams) &&
                          same_shape(s->func->rets, s->func->nrets, h->rets, h->nrets)))
        problem = "is declared before with other parameters";
    if (problem) {
        (void)fail(p, name->at, "'%.200s' %s", h->name, problem);
        return NULL;
    }
    if (!s->func) {
        s->func = arena_new(&p->m->arena, struct ptx_func);
        *s->func = *h;
        vec_push(&p->funcs, s->func);
    } else if (defined) {
        *s->func = *h; /* uses already point to the declaration */
    }
    s->func->defined |= defined;
    return s->func;
}

/* Makes a definition's parameters and results names of its outermost scope. */
static void declare_params(struct ptx_parser *p, struct ptx_var **vars, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        struct ptx_var *v = vars[i];
        struct token name = {.kind = TOK_IDENT, .at = v->at, .len = (uint32_t)strlen(v->name)};
        struct ptx_local l = {.kind = LOCAL_VAR, .var = v};
        v->func = p->func;
        if (v->space == SPACE_REG) {
            struct decl_spec s = {.type = v->type, .vec = v->vec};
            l = (struct ptx_local){.kind = LOCAL_REG, .vec = v->vec};
            if (!add_regs(p, &name, &s, 1, false, &l.first))
                return;
            v->reg = l.first;
        }
        if (name.len != 1 || v->name[0] != '_')
            local_declare(p, &name, l);
    }
}

#define KEEP(p, f, field, vec, T)                                                                            \
    do {                                                                                                     \
        (f)->field = arena_array(&(p)->m->arena, T, (p)->vec.len);                                           \
        if ((p)->vec.len)                                                                                    \
            memcpy((f)->field, (p)->vec.at, (p)->vec.len * sizeof(T));                                       \
        (f)->n##field = (p)->vec.len;                                                                        \
        (p)->vec.len = 0;                                                                                    \
    } while (0)

/* Moves what was collected from the body into the function. */
static void keep_function(struct ptx_parser *p, struct ptx_func *f) {
    KEEP(p, f, regs, regs, struct ptx_reg);
    KEEP(p, f, vars, func_vars, struct ptx_var *);
    KEEP(p, f, insts, insts, struct ptx_inst);
    KEEP(p, f, labels, labels, struct ptx_label);
    if (p->body.errors) {
        f->refused = arena_strndup(&p->m->arena, str_text(&p->body.text), p->body.text.len);
        p->body.text.len = p->body.errors = p->body.warnings = 0;
    }
    for (uint32_t i = 0; i < p->uses.len; i++)
        if (!use_resolve_global(p, &p->uses.at[i]))
            vec_push(&p->later, p->uses.at[i]);
    p->uses.len = 0;
}

static bool parse_definition(struct ptx_parser *p, struct ptx_func *f) {
    p->func = f;
    p->dbg_file = p->dbg_line = p->dbg_site = p->digit_ranges = 0;
    map_free(&p->site_at);
    scope_open(p);
    p->to = &p->body;
    declare_params(p, f->rets, f->nrets);
    declare_params(p, f->params, f->nparams);
    bool ok = parse_body(p);
    p->to = p->d;
    if (ok)
        scope_close(p);
    keep_function(p, f);
    scope_close_all(p);
    p->func = NULL;
    return ok;
}

bool parse_function(struct ptx_parser *p, enum ptx_linkage linkage) {
    struct ptx_func h = {.entry = at_word(p, ".entry"), .linkage = linkage};
    struct token name;
    advance(p);
    if (!parse_func_attributes(p, &h))
        return false;
    if (at_punct(p, '(') && !h.entry && !parse_params(p, &h.rets, &h.nrets))
        return false;
    if (!expect_ident(p, "a function's name", &name))
        return false;
    h.name = tok_strdup(p, &name);
    h.at = name.at;
    if (at_punct(p, '(') && !parse_params(p, &h.params, &h.nparams))
        return false;
    if (!parse_func_attributes(p, &h))
        return false;
    bool defined = at_punct(p, '{');
    if (!defined && !at_punct(p, ';'))
        return unexpected(p, "'{' or ';' after a function's header");
    struct ptx_func *f = declare_func(p, &name, &h, defined);
    if (defined && !f) { /* read past the body, so that what follows is understood */
        lex_skip_braces(&p->lx);
        advance(p);
        return true;
    }
    advance(p);
    return !defined || parse_definition(p, f);
}
