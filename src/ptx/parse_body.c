/* Statements of a function: scopes, labels, declarations, label tables, instructions.
 *
 * A statement that cannot be read only refuses its function: reading goes on after the next ';'. What breaks
 * the nesting of braces is a problem of the module, since nobody can tell where the function ends. */
#include <string.h>

#include "ptx/parser.h"

static const char *const module_only[] = {".entry", ".func",    ".visible", ".extern",
                                          ".weak",  ".version", ".target",  ".address_size",
                                          ".alias", ".section", ".common"};

bool at_module_directive(const struct ptx_parser *p) {
    for (size_t i = 0; i < sizeof module_only / sizeof *module_only; i++)
        if (at_word(p, module_only[i]))
            return true;
    return false;
}

bool parse_pragma(struct ptx_parser *p) {
    advance(p);
    do {
        if (p->tok.kind != TOK_STRING)
            return unexpected(p, "a string after .pragma");
        if (p->depth && !parse_annotation(p, &p->tok))
            return false;
        advance(p);
    } while (accept(p, ','));
    return expect(p, ';', "the pragma");
}

/* File, line and column of a .loc as they are looked up. */
static uint64_t loc_key(const uint64_t v[3]) {
    return hash_bytes(v, 3 * sizeof *v);
}

static uint32_t number_in_range(uint64_t v, uint64_t most) {
    return v <= most ? (uint32_t)v : 0;
}

/* A function was inlined at v. What v is in may have been inlined, too: the .loc of that place, which comes
 * before in the same function, says where. Returns the number of the site, plus 1. */
static uint32_t find_site(struct ptx_parser *p, const uint64_t v[3]) {
    struct ptx_site s = {number_in_range(v[0], PTX_MAX_FILE), number_in_range(v[1], UINT32_MAX),
                         number_in_range(v[2], UINT32_MAX), 0};
    uintptr_t outer = (uintptr_t)map_get_u64(&p->site_at, loc_key(v));
    s.site = outer ? (uint32_t)(outer - 1) : 0;
    uint64_t key = hash_bytes(&s, sizeof s);
    uintptr_t known = (uintptr_t)map_get_u64(&p->sites, key);
    if (known && !memcmp(&p->m->sites.at[known - 1], &s, sizeof s))
        return (uint32_t)known;
    vec_push(&p->m->sites, s);
    map_set_u64(&p->sites, key, (void *)(uintptr_t)p->m->sites.len);
    return p->m->sites.len;
}

static bool parse_loc_numbers(struct ptx_parser *p, uint64_t v[3]) {
    for (int i = 0; i < 3; i++) {
        if (p->tok.kind != TOK_INT)
            return unexpected(p, "a number in .loc");
        v[i] = p->tok.bits;
        advance(p);
    }
    return true;
}

/* .loc file line column [, function_name label [+ offset]] [, inlined_at file line column] */
bool parse_loc(struct ptx_parser *p) {
    uint64_t v[3], at[3];
    advance(p);
    if (!parse_loc_numbers(p, v))
        return false;
    if (v[1]) { /* line 0 is code of no line: it stays with the one before */
        p->dbg_file = number_in_range(v[0], PTX_MAX_FILE);
        p->dbg_line = number_in_range(v[1], UINT32_MAX);
        p->dbg_site = 0;
    }
    while (accept(p, ',')) {
        struct token name, label;
        if (!expect_ident(p, "function_name or inlined_at", &name))
            return false;
        if (name.len == strlen("inlined_at") && !memcmp(p->m->src.text + name.at, "inlined_at", name.len)) {
            if (!parse_loc_numbers(p, at))
                return false;
            p->dbg_site = find_site(p, at);
            continue;
        }
        if (name.len == strlen("function_name") && !expect_ident(p, "a label", &label))
            return false;
        accept(p, '+');
        while (p->tok.kind == TOK_INT)
            advance(p);
    }
    map_set_u64(&p->site_at, loc_key(v), (void *)((uintptr_t)p->dbg_site + 1));
    return true;
}

/* A list of names, as tokens in the arena; NULL after a problem. */
static const struct token *parse_names(struct ptx_parser *p, const char *what, uint32_t *n) {
    VEC(struct token) names = {0};
    struct token name, *out = NULL;
    bool ok;
    do {
        ok = expect_ident(p, what, &name);
        vec_push(&names, name);
    } while (ok && accept(p, ','));
    if (ok) {
        *n = names.len;
        out = arena_array(&p->m->arena, struct token, names.len);
        memcpy(out, names.at, names.len * sizeof *out);
    }
    vec_free(&names);
    return out;
}

static bool parse_label_list(struct ptx_parser *p, struct ptx_targets *t) {
    const struct token *names = parse_names(p, "a label", &t->nlabels);
    if (!names)
        return false;
    t->labels = arena_array(&p->m->arena, uint32_t, t->nlabels);
    for (uint32_t i = 0; i < t->nlabels; i++)
        vec_push(&p->uses, (struct ptx_use){.kind = USE_LABEL,
                                            .branch = true,
                                            .at = names[i].at,
                                            .len = names[i].len,
                                            .func = p->func,
                                            .to.label = &t->labels[i]});
    return true;
}

static bool parse_func_list(struct ptx_parser *p, struct ptx_targets *t) {
    const struct token *names = parse_names(p, "a function", &t->nfuncs);
    if (!names)
        return false;
    t->funcs = arena_array(&p->m->arena, const struct ptx_func *, t->nfuncs);
    for (uint32_t i = 0; i < t->nfuncs; i++)
        vec_push(&p->later, (struct ptx_use){.kind = USE_FUNC,
                                             .at = names[i].at,
                                             .len = names[i].len,
                                             .func = p->func,
                                             .to.func = &t->funcs[i]});
    return true;
}

/* .callprototype [(results)] _ [(parameters)] attributes */
static bool parse_prototype(struct ptx_parser *p, struct ptx_targets *t) {
    struct ptx_func *f = arena_new(&p->m->arena, struct ptx_func);
    struct token name;
    t->proto = f;
    if (at_punct(p, '(') && !parse_params(p, &f->rets, &f->nrets))
        return false;
    if (!expect_ident(p, "'_' in a prototype", &name))
        return false;
    f->name = t->name;
    f->at = name.at;
    if (at_punct(p, '(') && !parse_params(p, &f->params, &f->nparams))
        return false;
    return parse_func_attributes(p, f);
}

/* What may follow a label on the same line: one of the tables. */
static bool parse_targets(struct ptx_parser *p, struct token *label) {
    struct ptx_targets *t = arena_new(&p->m->arena, struct ptx_targets);
    t->name = tok_strdup(p, label);
    bool ok = accept_word(p, ".branchtargets") ? parse_label_list(p, t)
              : accept_word(p, ".calltargets") ? parse_func_list(p, t)
                                               : (advance(p), parse_prototype(p, t));
    return ok && expect(p, ';', "the list") &&
           local_declare(p, label, (struct ptx_local){.kind = LOCAL_TARGETS, .targets = t});
}

static bool parse_label(struct ptx_parser *p) {
    struct token name = p->tok;
    advance(p);
    advance(p);
    if (at_word(p, ".branchtargets") || at_word(p, ".calltargets") || at_word(p, ".callprototype"))
        return parse_targets(p, &name);
    vec_push(&p->labels, (struct ptx_label){.name = tok_strdup(p, &name), .inst = p->insts.len});
    local_declare(p, &name, (struct ptx_local){.kind = LOCAL_LABEL, .first = p->labels.len - 1});
    return true; /* a second label of that name is reported; the statement behind it is as good as any */
}

static const char *const body_words[] = {
    ".reg",  ".local",         ".shared", ".param", ".global",      ".const",         ".loc", ".pragma",
    ".file", ".branchtargets", ".tex",    ".surf",  ".calltargets", ".callprototype", NULL};

static bool parse_body_directive(struct ptx_parser *p) {
    if (at_word(p, ".loc"))
        return parse_loc(p);
    if (at_word(p, ".pragma"))
        return parse_pragma(p);
    if (at_word(p, ".file"))
        return parse_file(p);
    if (at_space(p))
        return parse_variable(p, LINK_NONE);
    const char *text = tok_text(p, &p->tok);
    return fail(p, p->tok.at, "unknown directive '%.*s' in a function%s", shown_len(p->tok.len), text,
                did_you_mean(p, text, p->tok.len, next_word, (void *)body_words));
}

static bool parse_statement(struct ptx_parser *p) {
    if (p->tok.kind == TOK_WORD)
        return parse_body_directive(p);
    if (p->tok.kind == TOK_IDENT && peek_token(p).punct == ':')
        return parse_label(p);
    if (accept(p, ';'))
        return true;
    return parse_instruction(p);
}

/* Goes back to a statement's start and moves behind its ';', or to the brace or directive that ends it. */
static void skip_statement(struct ptx_parser *p, struct lexer start, struct token first) {
    uint32_t depth = 0;
    p->lx = start;
    p->tok = first;
    while (p->tok.kind != TOK_END && !at_module_directive(p) && !accept(p, ';')) {
        if (at_punct(p, '{'))
            depth++;
        else if (at_punct(p, '}') && !depth--)
            return;
        advance(p);
    }
}

static bool open_block(struct ptx_parser *p) {
    if (p->depth >= PTX_MAX_DEPTH) {
        diag_at(p->d, DIAG_ERROR, &p->m->src, p->tok.at, "scopes are nested too deeply");
        return false;
    }
    advance(p);
    scope_open(p);
    return true;
}

/* The function's text ends or another function begins before its '}'. */
static bool missing_brace(struct ptx_parser *p) {
    diag_at(p->d, DIAG_ERROR, &p->m->src, p->tok.at, "function '%.200s' has no closing '}' before this",
            p->func->name);
    return false;
}

bool parse_body(struct ptx_parser *p) {
    uint32_t outer = p->depth;
    scope_open(p);
    while (p->depth > outer) {
        if (p->tok.kind == TOK_END || at_module_directive(p))
            return missing_brace(p);
        if (at_punct(p, '{')) {
            if (!open_block(p))
                return false;
        } else if (at_punct(p, '}')) {
            scope_close(p);
            advance(p);
        } else {
            struct lexer start = p->lx;
            struct token first = p->tok;
            p->nesting = p->opds.len = 0;
            if (!parse_statement(p))
                skip_statement(p, start, first);
        }
    }
    return true;
}
