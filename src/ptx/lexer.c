/* Characters to tokens. */
#include "ptx/lexer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { IDENT_START = 1, IDENT_PART = 2, DIGIT = 4, HEX = 8, SPACE = 16 };

/* What each character may be part of. */
static const uint8_t classes[256] = {
    ['a' ... 'f'] = IDENT_START | IDENT_PART | HEX,
    ['g' ... 'z'] = IDENT_START | IDENT_PART,
    ['A' ... 'F'] = IDENT_START | IDENT_PART | HEX,
    ['G' ... 'Z'] = IDENT_START | IDENT_PART,
    ['0' ... '9'] = IDENT_PART | DIGIT | HEX,
    ['_'] = IDENT_START | IDENT_PART,
    ['$'] = IDENT_START | IDENT_PART,
    ['%'] = IDENT_START,
    [' '] = SPACE,
    ['\t' ... '\r'] = SPACE,
};

static char peek(const struct lexer *lx, uint32_t ahead) {
    return ahead < lx->len - lx->at ? lx->text[lx->at + ahead] : 0;
}

static bool is(const struct lexer *lx, uint32_t ahead, int wanted) {
    return ahead < lx->len - lx->at && classes[(unsigned char)lx->text[lx->at + ahead]] & wanted;
}

static void skip_line(struct lexer *lx) {
    while (lx->at < lx->len && lx->text[lx->at] != '\n')
        lx->at++;
}

/* Skips a comment to its end; false when it has none. */
static bool skip_block_comment(struct lexer *lx) {
    lx->at += 2;
    for (; lx->at < lx->len; lx->at++) {
        if (lx->text[lx->at] == '\n')
            lx->line++;
        else if (lx->text[lx->at] == '*' && peek(lx, 1) == '/') {
            lx->at += 2;
            return true;
        }
    }
    return false;
}

/* The debug lines of PTX 1.x (@@DWARF ...) and the line markers of a preprocessor carry nothing we need. */
static bool at_ignored_line(const struct lexer *lx) {
    if (peek(lx, 0) == '@')
        return peek(lx, 1) == '@';
    if (peek(lx, 0) != '#')
        return false;
    return (peek(lx, 1) == ' ' && is(lx, 2, DIGIT)) ||
           (lx->len - lx->at >= 6 && !memcmp(lx->text + lx->at, "#line ", 6));
}

/* Skips white space and comments; false at a comment without end, which is then where it starts. */
static bool skip_space(struct lexer *lx) {
    for (;;) {
        if (is(lx, 0, SPACE)) {
            lx->line += lx->text[lx->at] == '\n';
            lx->at++;
        } else if (peek(lx, 0) == '/' && peek(lx, 1) == '/') {
            skip_line(lx);
        } else if (peek(lx, 0) == '/' && peek(lx, 1) == '*') {
            struct lexer start = *lx;
            if (!skip_block_comment(lx)) {
                *lx = start;
                return false;
            }
        } else if (at_ignored_line(lx)) {
            skip_line(lx);
        } else {
            return true;
        }
    }
}

static struct token bad(struct token t, const char *problem) {
    t.kind = TOK_BAD;
    t.problem = problem;
    return t;
}

static uint32_t digit_value(char c) {
    return (uint32_t)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
}

/* Digits of a base up to 16 with an optional U; at stands at the first digit. */
static struct token lex_based(struct lexer *lx, struct token t, uint32_t base) {
    uint64_t v = 0;
    bool overflow = false;
    uint32_t first = lx->at;
    while (is(lx, 0, HEX) && digit_value(peek(lx, 0)) < base) {
        overflow |= __builtin_mul_overflow(v, base, &v);
        overflow |= __builtin_add_overflow(v, digit_value(peek(lx, 0)), &v);
        lx->at++;
    }
    bool empty = lx->at == first;
    t.kind = TOK_INT;
    t.bits = v;
    t.is_unsigned = v > INT64_MAX;
    if (peek(lx, 0) == 'U' || peek(lx, 0) == 'u') {
        t.is_unsigned = true;
        lx->at++;
    }
    if (empty || is(lx, 0, IDENT_PART)) {
        while (is(lx, 0, IDENT_PART))
            lx->at++;
        return bad(t, "malformed number");
    }
    return overflow ? bad(t, "integer constant does not fit 64 bits") : t;
}

/* 0f and 0d constants: exactly 8 or 16 hexadecimal digits. */
static struct token lex_float_bits(struct lexer *lx, struct token t, uint32_t digits) {
    lx->at += 2;
    uint32_t n = 0;
    while (is(lx, 0, IDENT_PART)) {
        if (is(lx, 0, HEX))
            t.bits = t.bits << 4 | digit_value(peek(lx, 0));
        else
            digits = 0;
        n++;
        lx->at++;
    }
    t.kind = digits == 8 ? TOK_F32 : TOK_F64;
    return n == digits ? t : bad(t, "a 0f constant has 8 hexadecimal digits, a 0d constant 16");
}

/* Whether the digits at this place belong to a decimal floating-point constant. */
static bool at_decimal_float(const struct lexer *lx) {
    uint32_t n = 0;
    while (is(lx, n, DIGIT))
        n++;
    char c = peek(lx, n);
    if (c == '.') /* 1.5 and 1. but not the word in "1.u32" */
        return !is(lx, n + 1, IDENT_START) || peek(lx, n + 1) == 'e' || peek(lx, n + 1) == 'E';
    if (c != 'e' && c != 'E')
        return false;
    return is(lx, n + 1, DIGIT) ||
           ((peek(lx, n + 1) == '-' || peek(lx, n + 1) == '+') && is(lx, n + 2, DIGIT));
}

static struct token lex_decimal_float(struct lexer *lx, struct token t) {
    char buf[128];
    uint32_t n = 0;
    bool exponent = false;
    while (is(lx, n, DIGIT) || (peek(lx, n) == '.' && !exponent) || peek(lx, n) == 'e' ||
           peek(lx, n) == 'E' ||
           (exponent && (peek(lx, n) == '-' || peek(lx, n) == '+') && (peek(lx, n - 1) | 32) == 'e')) {
        exponent |= (peek(lx, n) | 32) == 'e';
        n++;
    }
    const char *start = lx->text + lx->at;
    lx->at += n;
    t.kind = TOK_F64;
    if (n >= sizeof buf)
        return bad(t, "floating-point constant is too long");
    memcpy(buf, start, n);
    buf[n] = 0;
    char *end;
    double v = strtod(buf, &end);
    memcpy(&t.bits, &v, sizeof v);
    return *end || is(lx, 0, IDENT_PART) ? bad(t, "malformed floating-point constant") : t;
}

static struct token lex_number(struct lexer *lx, struct token t) {
    if (peek(lx, 0) == '0') {
        switch (peek(lx, 1) | 32) {
        case 'x':
            lx->at += 2;
            return lex_based(lx, t, 16);
        case 'b':
            lx->at += 2;
            return lex_based(lx, t, 2);
        case 'f':
            return lex_float_bits(lx, t, 8);
        case 'd':
            return lex_float_bits(lx, t, 16);
        default:
            break;
        }
    }
    if (at_decimal_float(lx))
        return lex_decimal_float(lx, t);
    return lex_based(lx, t, peek(lx, 0) == '0' ? 8 : 10);
}

static struct token lex_word(struct lexer *lx, struct token t) {
    lx->at++;
    t.kind = TOK_WORD;
    if (!is(lx, 0, IDENT_PART))
        return bad(t, "'.' without a word");
    for (;;) {
        while (is(lx, 0, IDENT_PART))
            lx->at++;
        if (peek(lx, 0) != ':' || peek(lx, 1) != ':' || !is(lx, 2, IDENT_PART))
            return t;
        lx->at += 2;
    }
}

static struct token lex_string(struct lexer *lx, struct token t) {
    t.kind = TOK_STRING;
    for (lx->at++; lx->at < lx->len && lx->text[lx->at] != '\n'; lx->at++) {
        if (lx->text[lx->at] == '"') {
            lx->at++;
            return t;
        }
        if (lx->text[lx->at] == '\\' && lx->at + 1 < lx->len && lx->text[lx->at + 1] != '\n')
            lx->at++;
    }
    return bad(t, "string without closing quote");
}

static struct token lex_punct(struct lexer *lx, struct token t) {
    static const struct {
        char text[3];
        int code;
    } pairs[] = {{"<<", PUNCT_SHL}, {">>", PUNCT_SHR}, {"<=", PUNCT_LE},     {">=", PUNCT_GE},
                 {"==", PUNCT_EQ},  {"!=", PUNCT_NE},  {"&&", PUNCT_ANDAND}, {"||", PUNCT_OROR}};
    char c = peek(lx, 0);
    t.kind = TOK_PUNCT;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (c == pairs[i].text[0] && peek(lx, 1) == pairs[i].text[1]) {
            t.punct = pairs[i].code;
            lx->at += 2;
            return t;
        }
    t.punct = (unsigned char)c;
    lx->at++;
    return c && strchr("{}()[]<>,;:@!|&^~+-*/%?=", c) ? t : bad(t, "unexpected character");
}

struct token lex_next(struct lexer *lx) {
    bool closed = skip_space(lx);
    struct token t = {.at = lx->at, .line = lx->line};
    if (!closed) {
        lx->at = lx->len;
        t = bad(t, "comment without end");
    } else if (lx->at == lx->len) {
        t.kind = TOK_END;
    } else if (is(lx, 0, DIGIT)) {
        t = lex_number(lx, t);
    } else if (is(lx, 0, IDENT_START) && (peek(lx, 0) != '%' || is(lx, 1, IDENT_PART))) {
        t.kind = TOK_IDENT;
        do
            lx->at++;
        while (is(lx, 0, IDENT_PART));
    } else if (peek(lx, 0) == '.') {
        t = lex_word(lx, t);
    } else if (peek(lx, 0) == '"') {
        t = lex_string(lx, t);
    } else {
        t = lex_punct(lx, t);
    }
    t.len = lx->at - t.at;
    return t;
}

bool lex_skip_braces(struct lexer *lx) {
    uint32_t depth = 1;
    while (skip_space(lx) && lx->at < lx->len) {
        char c = peek(lx, 0);
        if (c == '"') {
            lex_string(lx, (struct token){0});
            continue;
        }
        lx->at++;
        depth += c == '{';
        depth -= c == '}';
        if (!depth)
            return true;
    }
    return false;
}
