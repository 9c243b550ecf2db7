/* Constant expressions: C's operators and precedences over 64-bit integers and doubles, folded as read. */
#include <string.h>

#include "ptx/parser.h"

static bool parse_ternary(struct ptx_parser *p, struct ptx_const *c);

static bool is_float(const struct ptx_const *c) {
    return c->kind == CONST_F32 || c->kind == CONST_F64;
}

static double as_double(const struct ptx_const *c) {
    float f;
    double d;
    uint32_t low = (uint32_t)c->bits;
    switch (c->kind) {
    case CONST_F32:
        memcpy(&f, &low, sizeof f);
        return f;
    case CONST_F64:
        memcpy(&d, &c->bits, sizeof d);
        return d;
    case CONST_U64:
        return (double)c->bits;
    default:
        return (double)(int64_t)c->bits;
    }
}

static void set_double(struct ptx_const *c, double v) {
    c->kind = CONST_F64;
    memcpy(&c->bits, &v, sizeof v);
}

static void set_int(struct ptx_const *c, int64_t v) {
    c->kind = CONST_S64;
    c->bits = (uint64_t)v;
}

static bool is_true(const struct ptx_const *c) {
    return is_float(c) ? as_double(c) != 0 : c->bits != 0;
}

/* Binary operators, with C's precedence: a higher one binds tighter. */
static const struct {
    int punct, precedence;
} operators[] = {{'*', 10},      {'/', 10}, {'%', 10}, {'+', 9},      {'-', 9},          {PUNCT_SHL, 8},
                 {PUNCT_SHR, 8}, {'<', 7},  {'>', 7},  {PUNCT_LE, 7}, {PUNCT_GE, 7},     {PUNCT_EQ, 6},
                 {PUNCT_NE, 6},  {'&', 5},  {'^', 4},  {'|', 3},      {PUNCT_ANDAND, 2}, {PUNCT_OROR, 1}};

static int precedence(const struct ptx_parser *p) {
    if (p->tok.kind != TOK_PUNCT)
        return 0;
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (operators[i].punct == p->tok.punct)
            return operators[i].precedence;
    return 0;
}

/* Comparison and logic, the same for all kinds. False when op is none of them. */
static bool fold_compare(int op, struct ptx_const *a, const struct ptx_const *b) {
    bool fl = is_float(a) || is_float(b), un = a->kind == CONST_U64 || b->kind == CONST_U64;
    double x = as_double(a), y = as_double(b);
    bool less = fl ? x < y : un ? a->bits < b->bits : (int64_t)a->bits < (int64_t)b->bits;
    bool equal = fl ? x == y : a->bits == b->bits;
    bool greater = fl ? x > y : !less && !equal;
    switch (op) {
    case '<':
        set_int(a, less);
        return true;
    case '>':
        set_int(a, greater);
        return true;
    case PUNCT_LE:
        set_int(a, less || equal);
        return true;
    case PUNCT_GE:
        set_int(a, greater || equal);
        return true;
    case PUNCT_EQ:
        set_int(a, equal);
        return true;
    case PUNCT_NE:
        set_int(a, !equal);
        return true;
    case PUNCT_ANDAND:
        set_int(a, is_true(a) && is_true(b));
        return true;
    case PUNCT_OROR:
        set_int(a, is_true(a) || is_true(b));
        return true;
    default:
        return false;
    }
}

static bool fold_float(struct ptx_parser *p, uint32_t at, int op, struct ptx_const *a,
                       const struct ptx_const *b) {
    double x = as_double(a), y = as_double(b);
    switch (op) {
    case '+':
        set_double(a, x + y);
        return true;
    case '-':
        set_double(a, x - y);
        return true;
    case '*':
        set_double(a, x * y);
        return true;
    case '/':
        if (y == 0)
            return fail(p, at, "division by zero in a constant expression");
        set_double(a, x / y);
        return true;
    default:
        return fail(p, at, "this operator needs integer constants");
    }
}

/* Division and remainder; the one signed overflow wraps. */
static bool fold_divide(struct ptx_parser *p, uint32_t at, int op, struct ptx_const *a, uint64_t y) {
    if (!y)
        return fail(p, at, "division by zero in a constant expression");
    if (a->kind == CONST_U64)
        a->bits = op == '/' ? a->bits / y : a->bits % y;
    else if (y == UINT64_MAX)
        a->bits = op == '/' ? 0 - a->bits : 0;
    else
        a->bits = (uint64_t)(op == '/' ? (int64_t)a->bits / (int64_t)y : (int64_t)a->bits % (int64_t)y);
    return true;
}

static void fold_shift(int op, struct ptx_const *a, uint64_t by) {
    bool negative = a->kind == CONST_S64 && (int64_t)a->bits < 0;
    uint64_t fill = negative ? UINT64_MAX : 0;
    if (op == PUNCT_SHL)
        a->bits = by < 64 ? a->bits << by : 0;
    else if (by == 0)
        return;
    else
        a->bits = by < 64 ? a->bits >> by | fill << (64 - by) : fill;
}

static bool fold(struct ptx_parser *p, uint32_t at, int op, struct ptx_const *a, const struct ptx_const *b) {
    if (fold_compare(op, a, b))
        return true;
    if (is_float(a) || is_float(b))
        return fold_float(p, at, op, a, b);
    if (op == PUNCT_SHL || op == PUNCT_SHR) {
        fold_shift(op, a, b->bits);
        return true;
    }
    if (b->kind == CONST_U64)
        a->kind = CONST_U64;
    switch (op) {
    case '+':
        a->bits += b->bits;
        return true;
    case '-':
        a->bits -= b->bits;
        return true;
    case '*':
        a->bits *= b->bits;
        return true;
    case '&':
        a->bits &= b->bits;
        return true;
    case '^':
        a->bits ^= b->bits;
        return true;
    case '|':
        a->bits |= b->bits;
        return true;
    default:
        return fold_divide(p, at, op, a, b->bits);
    }
}

static bool is_warp_size(const struct ptx_parser *p, const struct token *t) {
    return t->kind == TOK_IDENT && t->len == 7 && !memcmp(tok_text(p, t), "WARP_SZ", 7);
}

/* ( expr ), or the casts (.s64) and (.u64) before a unary expression. */
static bool parse_parenthesis(struct ptx_parser *p, struct ptx_const *c, bool *cast) {
    advance(p);
    bool to_signed = at_word(p, ".s64");
    *cast = to_signed || at_word(p, ".u64");
    if (!*cast)
        return parse_ternary(p, c) && expect(p, ')', "the expression");
    advance(p);
    c->kind = to_signed ? CONST_S64 : CONST_U64;
    return expect(p, ')', "the type of a cast");
}

static bool parse_unary(struct ptx_parser *p, struct ptx_const *c);

static bool apply_cast(struct ptx_parser *p, struct ptx_const *c) {
    uint32_t at = p->tok.at;
    enum const_kind kind = c->kind;
    if (!parse_unary(p, c))
        return false;
    if (is_float(c)) {
        double v = as_double(c);
        if (!(v > -9.2e18 && v < 9.2e18))
            return fail(p, at, "the value does not fit an integer");
        set_int(c, (int64_t)v);
    }
    c->kind = kind;
    return true;
}

static bool parse_primary(struct ptx_parser *p, struct ptx_const *c) {
    static const enum const_kind kinds[] = {[TOK_F32] = CONST_F32, [TOK_F64] = CONST_F64};
    struct token *t = &p->tok;
    bool cast = false;
    if (at_punct(p, '('))
        return parse_parenthesis(p, c, &cast) && (!cast || apply_cast(p, c));
    if (t->kind == TOK_INT)
        *c = (struct ptx_const){t->is_unsigned ? CONST_U64 : CONST_S64, t->bits};
    else if (t->kind == TOK_F32 || t->kind == TOK_F64)
        *c = (struct ptx_const){kinds[t->kind], t->bits};
    else if (is_warp_size(p, t))
        *c = (struct ptx_const){CONST_S64, 32};
    else
        return unexpected(p, "a constant");
    advance(p);
    return true;
}

static void negate(struct ptx_const *c) {
    if (c->kind == CONST_F32)
        c->bits ^= 0x80000000u;
    else if (c->kind == CONST_F64)
        c->bits ^= (uint64_t)1 << 63;
    else
        c->bits = 0 - c->bits;
}

static bool parse_unary_operator(struct ptx_parser *p, struct ptx_const *c) {
    int op = p->tok.kind == TOK_PUNCT ? p->tok.punct : 0;
    uint32_t at = p->tok.at;
    if (op != '-' && op != '+' && op != '!' && op != '~')
        return parse_primary(p, c);
    advance(p);
    if (!parse_unary(p, c))
        return false;
    if (op == '~' && is_float(c))
        return fail(p, at, "this operator needs an integer constant");
    if (op == '-')
        negate(c);
    else if (op == '!')
        set_int(c, !is_true(c));
    else if (op == '~')
        c->bits = ~c->bits;
    return true;
}

/* Every way to nest goes through here, so this is where depth is limited. */
static bool parse_unary(struct ptx_parser *p, struct ptx_const *c) {
    if (p->nesting >= PTX_MAX_DEPTH)
        return fail(p, p->tok.at, "the expression is nested too deeply");
    p->nesting++;
    bool ok = parse_unary_operator(p, c);
    p->nesting--;
    return ok;
}

static bool parse_binary(struct ptx_parser *p, struct ptx_const *a, int lowest) {
    if (!parse_unary(p, a))
        return false;
    for (int prec; (prec = precedence(p)) >= lowest;) {
        int op = p->tok.punct;
        uint32_t at = p->tok.at;
        struct ptx_const b;
        advance(p);
        if (!parse_binary(p, &b, prec + 1) || !fold(p, at, op, a, &b))
            return false;
    }
    return true;
}

static bool parse_ternary(struct ptx_parser *p, struct ptx_const *c) {
    struct ptx_const yes, no;
    if (!parse_binary(p, c, 1))
        return false;
    if (!accept(p, '?'))
        return true;
    if (p->nesting >= PTX_MAX_DEPTH)
        return fail(p, p->tok.at, "the expression is nested too deeply");
    p->nesting++;
    bool ok = parse_ternary(p, &yes) && expect(p, ':', "the first choice of '?'") && parse_ternary(p, &no);
    p->nesting--;
    if (ok)
        *c = is_true(c) ? yes : no;
    return ok;
}

bool parse_const(struct ptx_parser *p, struct ptx_const *c) {
    return parse_ternary(p, c);
}

bool parse_uint(struct ptx_parser *p, const char *what, uint64_t max, uint64_t *out) {
    struct ptx_const c;
    uint32_t at = p->tok.at;
    if (!at_const(p))
        return unexpected(p, what);
    if (!parse_const(p, &c))
        return false;
    if (is_float(&c))
        return fail(p, at, "%s must be an integer", what);
    if ((c.kind == CONST_S64 && (int64_t)c.bits < 0) || c.bits > max)
        return fail(p, at, "%s must be from 0 to %llu", what, (unsigned long long)max);
    *out = c.bits;
    return true;
}

bool parse_offset(struct ptx_parser *p, uint64_t *offset) {
    struct ptx_const c;
    if (at_punct(p, '+'))
        advance(p);
    else if (!at_punct(p, '-'))
        return true;
    uint32_t at = p->tok.at;
    if (!at_const(p))
        return unexpected(p, "a constant offset");
    if (!parse_const(p, &c))
        return false;
    if (is_float(&c))
        return fail(p, at, "an offset must be an integer");
    *offset += c.bits;
    return true;
}

bool at_const(const struct ptx_parser *p) {
    const struct token *t = &p->tok;
    if (t->kind == TOK_PUNCT)
        return t->punct == '-' || t->punct == '+' || t->punct == '!' || t->punct == '~' || t->punct == '(';
    return t->kind == TOK_INT || t->kind == TOK_F32 || t->kind == TOK_F64 || is_warp_size(p, t);
}
