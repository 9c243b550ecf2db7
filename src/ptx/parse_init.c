/* Initial values of variables.
 *
 * Values are written to the variable's byte offsets one after another; a brace that opens in the middle
 * starts the next row of its dimension. Zeros are left out and neighbouring constants share an entry, since
 * tables of bytes are large. */
#include <string.h>

#include "ptx/parser.h"

/* The shape being filled: dims are the array's dimensions and, last, a vector's elements. */
struct shape {
    struct ptx_var *v;
    uint64_t dims[PTX_MAX_DIMS + 1];
    uint64_t stride[PTX_MAX_DIMS + 1]; /* bytes of one element of that dimension */
    uint32_t ndims, elem;
    uint64_t filled; /* first byte behind the last value */
};

/* A symbol's address as it is written: generic(sym), mask(sym), sym+offset. */
struct address {
    struct token name;
    uint64_t offset;
    bool generic, masked;
    uint8_t shift;
};

static bool is_generic_word(const struct ptx_parser *p) {
    return p->tok.kind == TOK_IDENT && p->tok.len == 7 && !memcmp(tok_text(p, &p->tok), "generic", 7);
}

/* sym, generic(sym), either with an offset. */
static bool parse_symbol_address(struct ptx_parser *p, struct address *a) {
    a->generic = is_generic_word(p) && peek_token(p).punct == '(';
    if (a->generic) {
        advance(p);
        advance(p);
    }
    if (!expect_ident(p, "a variable or function", &a->name) || !parse_offset(p, &a->offset))
        return false;
    return !a->generic || (expect(p, ')', "generic(...") && parse_offset(p, &a->offset));
}

/* 0xFF00(sym): one byte of the address. */
static bool parse_masked_address(struct ptx_parser *p, struct address *a) {
    uint64_t mask = p->tok.bits;
    uint32_t at = p->tok.at;
    uint32_t shift = mask ? (uint32_t)__builtin_ctzll(mask) : 1;
    if (shift % 8 || mask >> shift != 0xFF)
        return fail(p, at, "a mask selects one byte of an address: 0xFF, 0xFF00, ...");
    a->masked = true;
    a->shift = (uint8_t)shift;
    advance(p);
    advance(p);
    return parse_symbol_address(p, a) && expect(p, ')', "the masked address");
}

/* Adds a symbol's address. A name of the function's scopes is known now, others at the end of the module. */
static bool put_address(struct ptx_parser *p, const struct shape *s, uint64_t at, const struct address *a) {
    struct init_value v = {.at = a->name.at, .len = a->name.len};
    v.init = (struct ptx_init){
        .bits = a->offset, .offset = at, .size = s->elem, .generic = a->generic, .shift = a->shift};
    if (s->elem < 4 && !a->masked)
        return fail(p, a->name.at, "an address does not fit type .%s", ptx_type_name(s->v->type));
    uint32_t index;
    const struct ptx_local *l = p->func ? local_find(p, tok_text(p, &a->name), a->name.len, &index) : NULL;
    if (l && l->kind == LOCAL_VAR)
        v.init.var = l->var;
    vec_push(&p->inits, v);
    return true;
}

/* Adds a constant of the element's size, joined to the one before it when both fit eight bytes. */
static void put_bits(struct ptx_parser *p, const struct shape *s, uint64_t at, uint64_t bits) {
    uint32_t size = s->elem > 8 ? 8 : s->elem;
    if (size < 8)
        bits &= ((uint64_t)1 << size * 8) - 1;
    if (!bits)
        return;
    struct init_value *last = p->inits.len ? &p->inits.at[p->inits.len - 1] : NULL;
    if (last && !last->len && at + size - last->init.offset <= 8) {
        uint64_t gap = at - last->init.offset;
        last->init.bits |= bits << gap * 8;
        last->init.size = (uint32_t)(gap + size);
        return;
    }
    vec_push(&p->inits, (struct init_value){.init = {.bits = bits, .offset = at, .size = size}});
}

static uint64_t float_bits(double v) {
    float f = (float)v;
    uint32_t bits;
    memcpy(&bits, &f, sizeof f);
    return bits;
}

/* The bits of a constant stored as the given type. */
static bool convert(struct ptx_parser *p, uint32_t at, enum ptx_type type, struct ptx_const c,
                    uint64_t *bits) {
    uint32_t size = ptx_type_size(type);
    bool to_float = type == PTX_F32 || type == PTX_F64;
    bool from_float = c.kind == CONST_F32 || c.kind == CONST_F64;
    if (from_float && size < 4)
        return fail(p, at, "type .%s needs an integer constant", ptx_type_name(type));
    *bits = c.bits;
    if ((!to_float && !from_float) || (c.kind == CONST_F32 && size == 4) ||
        (c.kind == CONST_F64 && size == 8))
        return true;
    double v;
    float f;
    uint32_t low = (uint32_t)c.bits;
    memcpy(&f, &low, sizeof f);
    memcpy(&v, &c.bits, sizeof v);
    if (c.kind == CONST_F32)
        v = f;
    else if (!from_float)
        v = c.kind == CONST_U64 ? (double)c.bits : (double)(int64_t)c.bits;
    if (size == 4)
        *bits = float_bits(v);
    else
        memcpy(bits, &v, sizeof v);
    return true;
}

static bool parse_value(struct ptx_parser *p, struct shape *s, uint64_t at) {
    struct address a = {0};
    struct ptx_const c;
    uint32_t where = p->tok.at;
    uint64_t bits;
    s->filled = at + s->elem;
    if (p->tok.kind == TOK_INT && peek_token(p).punct == '(')
        return parse_masked_address(p, &a) && put_address(p, s, at, &a);
    if (p->tok.kind == TOK_IDENT && !at_const(p))
        return parse_symbol_address(p, &a) && put_address(p, s, at, &a);
    if (!at_const(p))
        return unexpected(p, "an initial value");
    if (!parse_const(p, &c) || !convert(p, where, s->v->type, c, &bits))
        return false;
    put_bits(p, s, at, bits);
    return true;
}

/* The values of one dimension from byte at on, after its '{'. Nesting is bounded by the dimensions. */
static bool parse_list(struct ptx_parser *p, struct shape *s, uint32_t level, uint64_t start) {
    uint64_t at = start, stride = s->stride[level];
    uint64_t end = s->dims[level] == UINT64_MAX ? PTX_MAX_BYTES : start + s->dims[level] * stride;
    while (!at_punct(p, '}')) {
        bool row = at_punct(p, '{');
        if (row) /* rows start at a multiple of their size */
            at = start + (at - start + stride - 1) / stride * stride;
        uint64_t size = row ? stride : s->elem;
        if (at + size > end)
            return fail(p, p->tok.at, "'%.200s' has more initial values than elements", s->v->name);
        if (row && level + 1 == s->ndims)
            return fail(p, p->tok.at, "'%.200s' has fewer dimensions than its initial values", s->v->name);
        if (row)
            advance(p);
        if (row ? !parse_list(p, s, level + 1, at) : !parse_value(p, s, at))
            return false;
        at += size;
        s->filled = s->filled > at ? s->filled : at;
        if (!accept(p, ','))
            break;
    }
    return expect(p, '}', "the initial values");
}

/* Moves the collected values to the variable, zeros left out, and notes the names to look up later. */
static void keep_values(struct ptx_parser *p, struct ptx_var *v) {
    v->ninit = p->inits.len;
    v->init = arena_array(&p->m->arena, struct ptx_init, p->inits.len);
    for (uint32_t i = 0; i < p->inits.len; i++) {
        const struct init_value *in = &p->inits.at[i];
        v->init[i] = in->init;
        if (in->len && !in->init.var)
            vec_push(&p->later, (struct ptx_use){
                                    .kind = USE_INIT, .at = in->at, .len = in->len, .to.init = &v->init[i]});
    }
}

bool parse_initialiser(struct ptx_parser *p, struct ptx_var *v, uint64_t *dims, uint32_t ndims) {
    struct shape s = {.v = v, .ndims = ndims, .elem = ptx_type_size(v->type)};
    memcpy(s.dims, dims, ndims * sizeof *dims);
    if (v->vec > 1 || !ndims)
        s.dims[s.ndims++] = v->vec;
    uint64_t stride = s.elem;
    for (uint32_t i = s.ndims; i-- > 0;) {
        s.stride[i] = stride;
        if (s.dims[i] != UINT64_MAX)
            stride *= s.dims[i];
    }
    if (s.stride[0] == 0)
        return fail(p, v->at, "'%.200s' has no elements to initialise", v->name);
    p->inits.len = 0;
    if (!(accept(p, '{') ? parse_list(p, &s, 0, 0) : parse_value(p, &s, 0)))
        return false;
    keep_values(p, v);
    if (!v->unsized)
        return true;
    dims[0] = (s.filled + s.stride[0] - 1) / s.stride[0];
    return set_size(p, v, dims, ndims);
}
