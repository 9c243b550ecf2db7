/* The arithmetic of derived statistics: sums of products of names, numbers and parentheses. */
#include "stats/formula.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_BYTES = 128, DEPTH_MAX = 32 };

struct reader {
    const char *at;
    formula_lookup lookup;
    void *ctx;
    enum formula_result result; /* the first thing that went wrong */
    uint32_t depth;
};

static double fail(struct reader *r, enum formula_result why) {
    if (r->result == FORMULA_OK)
        r->result = why;
    return 0;
}

/* The next character that is no blank. */
static char peek(struct reader *r) {
    while (*r->at == ' ')
        r->at++;
    return *r->at;
}

static double sum(struct reader *r);

/* Bytes of the name at p: see formula.h. */
static size_t name_length(const char *p) {
    size_t n = 0;
    while (isalnum((unsigned char)p[n]) || p[n] == '.' || p[n] == '_' || p[n] == '$')
        n++;
    if (n && p[n] == '@')
        return n + 1 + strcspn(p + n + 1, " ()*/");
    if (n && p[n] == '(') {
        int open = 0;
        do
            open += (p[n] == '(') - (p[n] == ')');
        while (p[n] && (n++, open));
        return open ? 0 : n;
    }
    return n;
}

static double name(struct reader *r) {
    char text[NAME_MAX_BYTES];
    size_t n = name_length(r->at);
    double v = 0;
    if (!n || n >= sizeof text)
        return fail(r, FORMULA_BAD_SYNTAX);
    memcpy(text, r->at, n);
    text[n] = 0;
    r->at += n;
    return r->lookup(r->ctx, text, &v) ? v : fail(r, FORMULA_UNKNOWN_NAME);
}

static double factor(struct reader *r) {
    char c = peek(r);
    if (c >= '0' && c <= '9') {
        char *end;
        double v = strtod(r->at, &end);
        r->at = end;
        return v;
    }
    if (c != '(')
        return name(r);
    if (r->depth++ == DEPTH_MAX)
        return fail(r, FORMULA_BAD_SYNTAX);
    r->at++;
    double v = sum(r);
    r->depth--;
    if (peek(r) != ')')
        return fail(r, FORMULA_BAD_SYNTAX);
    r->at++;
    return v;
}

static double product(struct reader *r) {
    double v = factor(r);
    for (char c; r->result == FORMULA_OK && ((c = peek(r)) == '*' || c == '/');) {
        r->at++;
        double w = factor(r);
        if (c == '/' && w == 0 && r->result == FORMULA_OK)
            fail(r, FORMULA_DIVIDED_BY_ZERO);
        else
            v = c == '*' ? v * w : v / w;
    }
    return v;
}

static double sum(struct reader *r) {
    double v = product(r);
    for (char c; r->result == FORMULA_OK && ((c = peek(r)) == '+' || c == '-');) {
        r->at++;
        double w = product(r);
        v = c == '+' ? v + w : v - w;
    }
    return v;
}

enum formula_result formula_eval(const char *text, formula_lookup lookup, void *ctx, double *value) {
    struct reader r = {.at = text, .lookup = lookup, .ctx = ctx};
    *value = sum(&r);
    if (r.result == FORMULA_OK && peek(&r))
        r.result = FORMULA_BAD_SYNTAX;
    return r.result;
}
