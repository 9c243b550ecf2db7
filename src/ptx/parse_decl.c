/* Declarations of variables and registers. */
#include <string.h>

#include "ptx/parser.h"

/* Words that may stand before a declared name. */
enum spec_word { WORD_SPACE, WORD_ALIGN, WORD_VEC, WORD_ATTRIBUTE, WORD_PTR };

static const struct {
    const char *word;
    enum spec_word kind;
    uint32_t value;
} spec_words[] = {
    {".reg", WORD_SPACE, SPACE_REG},
    {".const", WORD_SPACE, SPACE_CONST},
    {".global", WORD_SPACE, SPACE_GLOBAL},
    {".local", WORD_SPACE, SPACE_LOCAL},
    {".param", WORD_SPACE, SPACE_PARAM},
    {".shared", WORD_SPACE, SPACE_SHARED},
    {".tex", WORD_SPACE, SPACE_TEX},
    {".surf", WORD_SPACE, SPACE_TEX},
    {".align", WORD_ALIGN, 0},
    {".v2", WORD_VEC, 2},
    {".v4", WORD_VEC, 4},
    {".v8", WORD_VEC, 8},
    {".attribute", WORD_ATTRIBUTE, 0},
    {".ptr", WORD_PTR, 0},
    {".shared::cta", WORD_SPACE, SPACE_SHARED},
    {".sreg", WORD_SPACE, SPACE_SREG},
};

enum { NSPEC_WORDS = sizeof spec_words / sizeof *spec_words };

static int find_spec_word(const struct ptx_parser *p) {
    for (int i = 0; i < NSPEC_WORDS; i++)
        if (at_word(p, spec_words[i].word))
            return i;
    return -1;
}

bool at_space(const struct ptx_parser *p) {
    int i = find_spec_word(p);
    return i >= 0 && spec_words[i].kind == WORD_SPACE;
}

bool parse_attribute(struct ptx_parser *p, bool *managed) {
    if (!expect(p, '(', ".attribute"))
        return false;
    do {
        if (p->tok.kind != TOK_WORD)
            return unexpected(p, "an attribute such as .managed");
        *managed |= at_word(p, ".managed");
        advance(p);
        if (accept(p, '(')) { /* .unified(uuid, uuid) */
            uint64_t uuid;
            do
                if (!parse_uint(p, "an identifier's half", UINT64_MAX, &uuid))
                    return false;
            while (accept(p, ','));
            if (!expect(p, ')', "the identifier"))
                return false;
        }
    } while (accept(p, ','));
    return expect(p, ')', "the attributes");
}

static bool parse_align(struct ptx_parser *p, uint32_t *align) {
    uint32_t at = p->tok.at;
    uint64_t v;
    if (!parse_uint(p, "an alignment", 1 << 16, &v))
        return false;
    if (!v || (v & (v - 1)))
        return fail(p, at, "an alignment must be a power of two");
    *align = (uint32_t)v;
    return true;
}

bool parse_bank(struct ptx_parser *p) {
    uint64_t bank;
    if (!accept(p, '[') || accept(p, ']'))
        return true;
    return parse_uint(p, "a bank number", 10, &bank) && expect(p, ']', "the bank");
}

static bool parse_spec_word(struct ptx_parser *p, struct decl_spec *s, int word) {
    uint32_t at = p->tok.at, ignored;
    advance(p);
    switch (spec_words[word].kind) {
    case WORD_SPACE:
        if (s->ptr) /* the space a parameter's pointer points to */
            return true;
        if (s->space != SPACE_GENERIC)
            return fail(p, at, "a declaration has one state space");
        s->space = (enum ptx_space)spec_words[word].value;
        return s->space != SPACE_CONST || parse_bank(p);
    case WORD_ALIGN:
        return parse_align(p, s->ptr ? &ignored : &s->align);
    case WORD_VEC:
        s->vec = spec_words[word].value;
        return true;
    case WORD_ATTRIBUTE:
        return parse_attribute(p, &s->managed);
    default:
        s->ptr = true;
        return true;
    }
}

static const char *next_decl_word(void *ctx, uint32_t i) {
    (void)ctx;
    if (i < NSPEC_WORDS)
        return spec_words[i].word + 1;
    return i - NSPEC_WORDS < PTX_TYPE_COUNT ? ptx_type_words[i - NSPEC_WORDS] : NULL;
}

/* The old spaces .tex and .surf hold references, whatever integer type they are declared with. */
static void adjust_spec(struct decl_spec *s, bool surf) {
    if (s->space == SPACE_TEX) {
        s->space = SPACE_GLOBAL;
        s->type = surf ? PTX_SURFREF : PTX_TEXREF;
    }
}

bool parse_decl_spec(struct ptx_parser *p, struct decl_spec *s) {
    bool surf = at_word(p, ".surf");
    s->vec = 1;
    s->at = p->tok.at;
    while (p->tok.kind == TOK_WORD) {
        const char *text = tok_text(p, &p->tok) + 1;
        size_t len = p->tok.len - 1;
        int word = find_spec_word(p);
        if (word >= 0) {
            if (!parse_spec_word(p, s, word))
                return false;
            continue;
        }
        uintptr_t type = (uintptr_t)map_getn(&p->types, text, len);
        if (!type)
            return fail(p, p->tok.at, "unknown word '.%.*s' in a declaration%s", shown_len(len), text,
                        did_you_mean(p, text, len, next_decl_word, NULL));
        if (s->type)
            return fail(p, p->tok.at, "a declaration has one type");
        s->type = (enum ptx_type)(type - 1);
        advance(p);
    }
    if (!s->type)
        return unexpected(p, "a type");
    adjust_spec(s, surf);
    if (s->type == PTX_PRED && s->space != SPACE_REG)
        return fail(p, s->at, "only registers can be predicates");
    return true;
}

bool set_size(struct ptx_parser *p, struct ptx_var *v, const uint64_t *dims, uint32_t ndims) {
    uint64_t count = 1;
    bool overflow = false;
    v->unsized = ndims && dims[0] == UINT64_MAX;
    for (uint32_t i = v->unsized; i < ndims; i++)
        overflow |= __builtin_mul_overflow(count, dims[i], &count);
    uint64_t size;
    overflow |= __builtin_mul_overflow(count, (uint64_t)ptx_type_size(v->type) * v->vec, &size);
    if (overflow || size > PTX_MAX_BYTES)
        return fail(p, v->at, "'%.100s' is larger than the simulated GPU's address space", v->name);
    v->count = v->unsized ? 0 : count;
    v->size = v->unsized ? 0 : size;
    return true;
}

/* [n][m]...; only the first may be empty, which is kept as UINT64_MAX. */
static bool parse_dims(struct ptx_parser *p, uint64_t *dims, uint32_t *ndims) {
    *ndims = 0;
    while (accept(p, '[')) {
        uint64_t n = UINT64_MAX;
        if (*ndims == PTX_MAX_DIMS)
            return fail(p, p->tok.at, "an array has at most %d dimensions", PTX_MAX_DIMS);
        if (at_punct(p, ']') && *ndims)
            return fail(p, p->tok.at, "only an array's first dimension may be left open");
        if (!at_punct(p, ']') && !parse_uint(p, "an array's size", PTX_MAX_BYTES, &n))
            return false;
        dims[(*ndims)++] = n;
        if (!expect(p, ']', "an array's size"))
            return false;
    }
    return true;
}

static struct ptx_var *parse_sized_name(struct ptx_parser *p, const struct decl_spec *s, struct token *name,
                                        uint64_t *dims, uint32_t *ndims) {
    if (!expect_ident(p, "a name", name))
        return NULL;
    struct ptx_var *v = arena_new(&p->m->arena, struct ptx_var);
    *v = (struct ptx_var){.name = tok_strdup(p, name),
                          .type = s->type,
                          .space = s->space,
                          .linkage = s->linkage,
                          .vec = s->vec,
                          .align = s->align ? s->align : ptx_type_size(s->type) * s->vec,
                          .ptr = s->ptr,
                          .managed = s->managed,
                          .at = name->at,
                          .func = p->func};
    if (v->align & (v->align - 1))
        v->align = 1;
    if (!parse_dims(p, dims, ndims))
        return NULL;
    v->array = *ndims > 0;
    return set_size(p, v, dims, *ndims) ? v : NULL;
}

struct ptx_var *parse_declarator(struct ptx_parser *p, const struct decl_spec *s, struct token *name) {
    uint64_t dims[PTX_MAX_DIMS];
    uint32_t ndims;
    return parse_sized_name(p, s, name, dims, &ndims);
}

/* Two declarations of a module variable are one when at most one of them is not .extern. */
static bool declare_global(struct ptx_parser *p, const struct token *name, struct ptx_var *v) {
    struct ptx_symbol *s = symbol_intern(p, tok_text(p, name), name->len);
    if (s->func)
        return fail(p, name->at, "'%.200s' is already declared as a function", v->name);
    if (!s->var) {
        s->var = v;
        vec_push(&p->vars, v);
        return true;
    }
    struct ptx_var *old = s->var;
    if (old->linkage != LINK_EXTERN && v->linkage != LINK_EXTERN)
        return fail(p, name->at, "'%.200s' is already defined", v->name);
    if (old->space != v->space)
        return fail(p, name->at, "'%.200s' is already declared in another state space", v->name);
    if (old->linkage == LINK_EXTERN && (v->linkage != LINK_EXTERN || old->unsized))
        *old = *v; /* operands already point to the first declaration */
    return true;
}

static bool declare_variable(struct ptx_parser *p, const struct token *name, struct ptx_var *v) {
    if (!p->func)
        return declare_global(p, name, v);
    vec_push(&p->func_vars, v);
    if (v->space == SPACE_GLOBAL || v->space == SPACE_CONST)
        vec_push(&p->vars, v);
    return local_declare(p, name, (struct ptx_local){.kind = LOCAL_VAR, .var = v});
}

/* Opaque types may be initialised by { field = value, ... }, which is the host's business in practice. */
static bool skip_opaque_initialiser(struct ptx_parser *p) {
    if (!expect(p, '{', "'='"))
        return false;
    while (!at_punct(p, '}') && p->tok.kind != TOK_END && !at_punct(p, ';'))
        advance(p);
    return expect(p, '}', "the fields");
}

static bool parse_one_variable(struct ptx_parser *p, const struct decl_spec *s) {
    uint64_t dims[PTX_MAX_DIMS];
    uint32_t ndims;
    struct token name;
    struct ptx_var *v = parse_sized_name(p, s, &name, dims, &ndims);
    if (!v)
        return false;
    if (at_punct(p, '<'))
        return fail(p, p->tok.at, "only registers are declared in ranges");
    if (accept(p, '=')) {
        bool opaque = v->type == PTX_TEXREF || v->type == PTX_SAMPLERREF || v->type == PTX_SURFREF;
        if (!opaque && v->space != SPACE_GLOBAL && v->space != SPACE_CONST)
            return fail(p, name.at, "only .global and .const variables have initial values");
        if (opaque ? !skip_opaque_initialiser(p) : !parse_initialiser(p, v, dims, ndims))
            return false;
    }
    return declare_variable(p, &name, v);
}

bool parse_variable(struct ptx_parser *p, enum ptx_linkage linkage) {
    struct decl_spec s = {.linkage = linkage};
    if (at_word(p, ".reg") && p->func)
        return parse_reg(p);
    if (!parse_decl_spec(p, &s))
        return false;
    if (s.space == SPACE_GENERIC)
        return fail(p, s.at, "a variable needs a state space");
    if (s.space == SPACE_REG || s.space == SPACE_SREG || (s.space == SPACE_PARAM && !p->func))
        return fail(p, s.at, "this state space cannot be declared here");
    do
        if (!parse_one_variable(p, &s))
            return false;
    while (accept(p, ','));
    return expect(p, ';', "the declaration");
}

/* Decimal digits of n. */
static uint32_t digits(uint64_t n) {
    uint32_t d = 1;
    for (; n >= 10; n /= 10)
        d++;
    return d;
}

/* Names the registers of a range; a vector's elements share theirs. */
static void name_range(struct ptx_parser *p, const struct token *name, uint32_t first, uint32_t count,
                       uint32_t vec) {
    size_t room = name->len + digits(count) + 1;
    char *text = arena_alloc(&p->m->arena, room * count);
    for (uint32_t i = 0; i < count; i++) {
        char *out = text + room * i;
        uint32_t n = digits(i);
        memcpy(out, tok_text(p, name), name->len);
        for (uint32_t k = n, v = i; k > 0; k--, v /= 10)
            out[name->len + k - 1] = (char)('0' + v % 10);
        for (uint32_t k = 0; k < vec; k++)
            p->regs.at[first + i * vec + k].name = out;
    }
}

bool add_regs(struct ptx_parser *p, const struct token *name, const struct decl_spec *s, uint64_t count,
              bool range, uint32_t *first) {
    uint64_t n = count * s->vec;
    if (n > PTX_MAX_REGS || p->regs.len + n > PTX_MAX_REGS)
        return fail(p, name->at, "a function has at most %d registers", PTX_MAX_REGS);
    p->module_regs += n * (1 + name->len / 16); /* long names of a range take memory too */
    if (p->module_regs > PTX_MAX_MODULE_REGS + p->m->src.len)
        return fail(p, name->at, "the module declares too many registers");
    *first = p->regs.len;
    const char *one = range ? NULL : tok_strdup(p, name);
    for (uint64_t i = 0; i < n; i++)
        vec_push(&p->regs, (struct ptx_reg){.name = one, .type = s->type});
    if (range && count)
        name_range(p, name, *first, (uint32_t)count, s->vec);
    return true;
}

static bool parse_one_reg(struct ptx_parser *p, const struct decl_spec *s) {
    struct token name;
    uint64_t count = 1;
    if (!expect_ident(p, "a register's name", &name))
        return false;
    bool range = accept(p, '<');
    if (range) {
        if (p->tok.kind != TOK_INT)
            return unexpected(p, "the number of registers");
        count = p->tok.bits > PTX_MAX_REGS ? (uint64_t)PTX_MAX_REGS + 1 : p->tok.bits;
        advance(p);
        if (!expect(p, '>', "the number of registers"))
            return false;
    }
    uint32_t first;
    if (!add_regs(p, &name, s, count, range, &first))
        return false;
    return local_declare(p, &name,
                         (struct ptx_local){.kind = range ? LOCAL_RANGE : LOCAL_REG,
                                            .first = first,
                                            .count = (uint32_t)count,
                                            .vec = s->vec});
}

bool parse_reg(struct ptx_parser *p) {
    struct decl_spec s = {0};
    if (!parse_decl_spec(p, &s))
        return false;
    do
        if (!parse_one_reg(p, &s))
            return false;
    while (accept(p, ','));
    return expect(p, ';', "the registers");
}
