/* A module: directives, variables and functions, and the names that could not be known before its end. */
#include <stdlib.h>
#include <string.h>

#include "ptx/parser.h"

enum { MAX_TEXT = 1 << 30, BODY_ERRORS = 5 };

static bool parse_version(struct ptx_parser *p) {
    /* 8.7 reads as a number, so take the digits from the text. */
    advance(p);
    const char *text = tok_text(p, &p->tok);
    uint32_t part[2] = {0}, k = 0, n = p->tok.len;
    if (p->tok.kind != TOK_F64 && p->tok.kind != TOK_INT)
        return unexpected(p, "a version such as 8.0");
    for (uint32_t i = 0; i < n; i++) {
        if (text[i] == '.' && k == 0)
            k = 1;
        else if (text[i] >= '0' && text[i] <= '9' && part[k] < 100)
            part[k] = part[k] * 10 + (uint32_t)(text[i] - '0');
        else
            return unexpected(p, "a version such as 8.0");
    }
    if (part[0] == 0 || part[0] > 99 || part[1] > 9)
        return unexpected(p, "a version such as 8.0");
    p->m->version = part[0] * 10 + part[1];
    advance(p);
    return true;
}

/* sm_75, compute_90a: the number; 0 for other words. */
static uint32_t target_number(const char *s, size_t len) {
    size_t i = len > 3 && !memcmp(s, "sm_", 3) ? 3 : len > 8 && !memcmp(s, "compute_", 8) ? 8 : 0;
    uint32_t n = 0;
    size_t first = i;
    while (i && i < len && i < first + 4 && s[i] >= '0' && s[i] <= '9')
        n = n * 10 + (uint32_t)(s[i++] - '0');
    return i + 1 >= len && i > first ? n : 0; /* one letter may follow: sm_90a, sm_100f */
}

static bool parse_target(struct ptx_parser *p) {
    static const char *const options[] = {
        "texmode_unified", "texmode_independent", "debug", "map_f64_to_f32", "sm_75", NULL};
    advance(p);
    do {
        struct token t;
        if (!expect_ident(p, "a target such as sm_75", &t))
            return false;
        const char *text = tok_text(p, &t);
        uint32_t n = target_number(text, t.len), k = 0;
        if (n) {
            p->m->target = n;
            p->m->target_name = tok_strdup(p, &t);
            continue;
        }
        while (options[k] && (strlen(options[k]) != t.len || memcmp(options[k], text, t.len) != 0))
            k++;
        if (!options[k])
            return fail(p, t.at, "unknown target '%.*s'%s", shown_len(t.len), text,
                        did_you_mean(p, text, t.len, next_word, (void *)options));
    } while (accept(p, ','));
    return true;
}

static bool parse_address_size(struct ptx_parser *p) {
    uint64_t bits;
    advance(p);
    uint32_t at = p->tok.at;
    if (!parse_uint(p, "an address size", 64, &bits))
        return false;
    if (bits != 32 && bits != 64)
        return fail(p, at, "an address size is 32 or 64");
    p->m->address_bits = (uint32_t)bits;
    p->address_size_given = true;
    return true;
}

/* .file number "name" [, timestamp, size] */
bool parse_file(struct ptx_parser *p) {
    uint64_t number;
    advance(p);
    if (!parse_uint(p, "a file number", PTX_MAX_FILE, &number))
        return false;
    if (p->tok.kind != TOK_STRING)
        return unexpected(p, "a file name");
    struct ptx_module *m = p->m;
    if (number >= m->nfiles) { /* doubling keeps many files linear */
        uint32_t n = (uint32_t)number + 1 > 2 * m->nfiles ? (uint32_t)number + 1 : 2 * m->nfiles;
        struct ptx_file *files = arena_array(&m->arena, struct ptx_file, n);
        if (m->nfiles)
            memcpy(files, m->files, m->nfiles * sizeof *files);
        m->files = files;
        m->nfiles = n;
    }
    m->files[number].name = arena_strndup(&m->arena, tok_text(p, &p->tok) + 1, p->tok.len - 2);
    advance(p);
    while (accept(p, ',')) {
        uint64_t ignored;
        if (!parse_uint(p, "a time stamp or size", UINT64_MAX, &ignored))
            return false;
    }
    return true;
}

/* .section .debug_info { ... }: debug information is not used, and its body is not PTX. */
static bool parse_section(struct ptx_parser *p) {
    advance(p);
    if (p->tok.kind != TOK_WORD && p->tok.kind != TOK_IDENT)
        return unexpected(p, "a section's name");
    advance(p);
    if (!at_punct(p, '{'))
        return unexpected(p, "'{' after a section's name");
    uint32_t at = p->tok.at;
    bool closed = lex_skip_braces(&p->lx);
    advance(p);
    return closed || fail(p, at, "the section has no closing '}'");
}

/* .alias name, target; */
static bool parse_alias(struct ptx_parser *p) {
    struct token name, target;
    advance(p);
    if (!expect_ident(p, "a function's name", &name) || !expect(p, ',', "the alias") ||
        !expect_ident(p, "the function it stands for", &target))
        return false;
    struct ptx_symbol *s = symbol_find(p, tok_text(p, &name), name.len);
    if (!s || !s->func)
        return undeclared(p, name.at, name.len);
    if (s->func->defined || s->func->entry)
        return fail(p, name.at, "an alias names a .func that is declared and not defined");
    vec_push(&p->aliases, (struct ptx_alias){s->func, target.at, target.len});
    return expect(p, ';', "the alias");
}

static const struct {
    const char *word;
    bool (*parse)(struct ptx_parser *p);
} directives[] = {
    {".version", parse_version}, {".target", parse_target},   {".address_size", parse_address_size},
    {".file", parse_file},       {".section", parse_section}, {".alias", parse_alias},
    {".pragma", parse_pragma},   {".loc", parse_loc},
};

static const struct {
    const char *word;
    enum ptx_linkage linkage;
} linkages[] = {
    {".extern", LINK_EXTERN}, {".visible", LINK_VISIBLE}, {".weak", LINK_WEAK}, {".common", LINK_COMMON}};

enum { NDIRECTIVES = sizeof directives / sizeof *directives, NLINKAGES = sizeof linkages / sizeof *linkages };

static const char *const declaration_words[] = {".entry",  ".func", ".global", ".const",
                                                ".shared", ".tex",  NULL};

static const char *next_directive(void *ctx, uint32_t i) {
    (void)ctx;
    if (i < NDIRECTIVES)
        return directives[i].word;
    i -= NDIRECTIVES;
    return i < NLINKAGES ? linkages[i].word : declaration_words[i - NLINKAGES];
}

static enum ptx_linkage parse_linkage(struct ptx_parser *p) {
    enum ptx_linkage link = LINK_NONE;
    for (int i = 0; i < NLINKAGES; i++)
        if (accept_word(p, linkages[i].word)) {
            link = linkages[i].linkage;
            i = -1;
        }
    return link;
}

static bool parse_module_item(struct ptx_parser *p) {
    for (int i = 0; i < NDIRECTIVES; i++)
        if (at_word(p, directives[i].word))
            return directives[i].parse(p);
    if (accept(p, ';'))
        return true;
    enum ptx_linkage link = parse_linkage(p);
    if (at_word(p, ".entry") || at_word(p, ".func"))
        return parse_function(p, link);
    if (at_space(p))
        return parse_variable(p, link);
    if (p->tok.kind != TOK_WORD)
        return unexpected(p, "a directive");
    const char *text = tok_text(p, &p->tok);
    return fail(p, p->tok.at, "unknown directive '%.*s'%s", shown_len(p->tok.len), text,
                did_you_mean(p, text, p->tok.len, next_directive, NULL));
}

/* Moves to what looks like the start of the next declaration. */
static void skip_item(struct ptx_parser *p) {
    for (;;) {
        if (at_punct(p, '{'))
            lex_skip_braces(&p->lx);
        bool end = at_punct(p, ';') || p->tok.kind == TOK_END;
        advance(p);
        if (end || at_module_directive(p))
            return;
    }
}

static void parse_items(struct ptx_parser *p) {
    if (!at_word(p, ".version"))
        (void)fail(p, p->tok.at, "a PTX module starts with .version");
    while (p->tok.kind != TOK_END) {
        uint32_t errors = p->d->errors, at = p->tok.at;
        p->nesting = 0;
        if (!parse_module_item(p) && (p->tok.at == at || !at_module_directive(p)))
            skip_item(p);
        if (p->d->errors > errors && p->d->errors > 1000)
            return; /* this is not PTX */
    }
}

/* Reports a use that nothing declares: the function is refused, or the module when it has no function. */
static void report_use(struct ptx_parser *p, const struct ptx_use *u) {
    if (!u->func) {
        undeclared(p, u->at, u->len);
        return;
    }
    if (u->func->refused)
        return;
    p->to = &p->body;
    undeclared(p, u->at, u->len);
    p->to = p->d;
    u->func->refused = arena_strndup(&p->m->arena, str_text(&p->body.text), p->body.text.len);
    p->body.text.len = p->body.errors = 0;
}

static void resolve_later(struct ptx_parser *p) {
    for (uint32_t i = 0; i < p->later.len; i++)
        if (!use_resolve_global(p, &p->later.at[i]))
            report_use(p, &p->later.at[i]);
}

static const struct ptx_func *real_func(const struct ptx_func *f) {
    return f && f->alias ? f->alias : f;
}

static void replace_aliases(struct ptx_opd *opds, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        opds[i].func = real_func(opds[i].func);
        if (opds[i].elems)
            replace_aliases(opds[i].elems, opds[i].nelems);
    }
}

/* Lets every use of an alias mean the function it stands for. */
static void resolve_aliases(struct ptx_parser *p) {
    for (uint32_t i = 0; i < p->aliases.len; i++) {
        const struct ptx_alias *a = &p->aliases.at[i];
        const struct ptx_symbol *s = symbol_find(p, p->m->src.text + a->at, a->len);
        if (!s || !s->func || !s->func->defined)
            (void)fail(p, a->at, "an alias needs a function defined in this module");
        else
            a->func->alias = s->func;
    }
    if (!p->aliases.len)
        return;
    for (uint32_t f = 0; f < p->funcs.len; f++)
        for (uint32_t i = 0; i < p->funcs.at[f]->ninsts; i++)
            replace_aliases(p->funcs.at[f]->insts[i].opds, p->funcs.at[f]->insts[i].nopds);
    for (uint32_t i = 0; i < p->later.len; i++) {
        const struct ptx_use *u = &p->later.at[i];
        if (u->kind == USE_FUNC)
            *u->to.func = real_func(*u->to.func);
        else if (u->kind == USE_INIT)
            u->to.init->func = real_func(u->to.init->func);
    }
}

/* word -> id + 1 for a table of words; empty ones (no type) are left out. */
static void fill_words(struct map *m, const char *const *words) {
    for (uintptr_t i = 0; words[i]; i++)
        if (words[i][0])
            map_set(m, words[i], (void *)(i + 1));
}

static void index_lines(struct ptx_module *m) {
    uint32_t n = 1;
    const char *end = m->src.text + m->src.len;
    for (const char *s = m->src.text; (s = memchr(s, '\n', (size_t)(end - s))); s++)
        n++;
    uint32_t *lines = arena_array(&m->arena, uint32_t, n);
    n = 1;
    for (const char *s = m->src.text; (s = memchr(s, '\n', (size_t)(end - s))); s++)
        lines[n++] = (uint32_t)(s + 1 - m->src.text);
    m->src.lines = lines;
    m->src.nlines = n;
}

static struct ptx_module *new_module(const char *text, size_t len, const char *name) {
    struct ptx_module *m = xcalloc(1, sizeof *m);
    while (len && text[len - 1] == 0) /* fat binaries pad with zeros */
        len--;
    m->src.text = arena_strndup(&m->arena, text, len);
    m->src.len = len;
    m->src.name = arena_strndup(&m->arena, name, strlen(name));
    m->address_bits = 32; /* unless .address_size or an address says otherwise */
    index_lines(m);
    return m;
}

static void free_parser(struct ptx_parser *p) {
    map_free(&p->opcodes);
    map_free(&p->mods);
    map_free(&p->types);
    map_free(&p->sregs);
    map_free(&p->site_at);
    map_free(&p->sites);
    diag_free(&p->body);
    vec_free(&p->vars);
    vec_free(&p->funcs);
    vec_free(&p->aliases);
    vec_free(&p->later);
    vec_free(&p->locals);
    vec_free(&p->uses);
    vec_free(&p->scope_locals);
    vec_free(&p->scope_uses);
    vec_free(&p->regs);
    vec_free(&p->func_vars);
    vec_free(&p->insts);
    vec_free(&p->labels);
    vec_free(&p->opds);
    vec_free(&p->inits);
}

static void keep_module(struct ptx_parser *p) {
    struct ptx_module *m = p->m;
    m->nvars = p->vars.len;
    m->vars = arena_array(&m->arena, struct ptx_var *, p->vars.len);
    if (p->vars.len)
        memcpy(m->vars, p->vars.at, p->vars.len * sizeof *p->vars.at);
    m->nfuncs = p->funcs.len;
    m->funcs = arena_array(&m->arena, struct ptx_func *, p->funcs.len);
    if (p->funcs.len)
        memcpy(m->funcs, p->funcs.at, p->funcs.len * sizeof *p->funcs.at);
}

struct ptx_module *ptx_parse(const char *text, size_t len, const char *name, struct diag *d) {
    if (len > MAX_TEXT) {
        diag_add(d, DIAG_ERROR, "%s: a PTX text has at most %d bytes", name, MAX_TEXT);
        return NULL;
    }
    uint32_t errors = d->errors;
    struct ptx_module *m = new_module(text, len, name);
    struct ptx_parser p = {.m = m, .d = d, .to = d, .body.limit = BODY_ERRORS};
    p.lx = (struct lexer){m->src.text, (uint32_t)m->src.len, 0, 1};
    fill_words(&p.opcodes, ptx_opcode_words);
    fill_words(&p.mods, ptx_mod_words);
    fill_words(&p.types, ptx_type_words);
    fill_words(&p.sregs, ptx_sreg_words);
    advance(&p);
    parse_items(&p);
    resolve_later(&p);
    resolve_aliases(&p);
    keep_module(&p);
    free_parser(&p);
    if (d->errors == errors)
        return m;
    ptx_free(m);
    return NULL;
}

void ptx_free(struct ptx_module *m) {
    if (!m)
        return;
    map_free(&m->symbols);
    vec_free(&m->sites);
    arena_free(&m->arena);
    free(m);
}
