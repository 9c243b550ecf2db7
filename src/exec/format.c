#include "exec/format.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum {
    LIMIT = 4096
}; /* of width and precision: output of one conversion stays small whatever the program asks */

/* The arguments not consumed yet. */
struct reader {
    const uint8_t *at;
    size_t size, pos;
};

static uint64_t take(struct reader *r, size_t size) {
    uint64_t v = 0;
    r->pos = (r->pos + size - 1) & ~(size - 1);
    if (r->pos <= r->size && r->size - r->pos >= size)
        memcpy(&v, r->at + r->pos, size);
    r->pos += size;
    return v;
}

/* One conversion, as parsed. */
struct spec {
    char flags[8];
    int width, precision; /* -1: none */
    int length;           /* bytes of an integer argument: 1, 2, 4, 8 */
    char conv;
};

static int clip(int64_t n) {
    return n > LIMIT ? LIMIT : (int)n;
}

/* A number, or * taken from the arguments; -1 when neither stands there. */
static int64_t parse_number(const char **p, struct reader *r) {
    if (**p == '*') {
        ++*p;
        return (int32_t)take(r, 4);
    }
    if (**p < '0' || **p > '9')
        return -1;
    int64_t n = 0;
    for (; **p >= '0' && **p <= '9'; ++*p)
        n = n > LIMIT ? n : n * 10 + (**p - '0');
    return n;
}

static void add_flag(struct spec *s, char c) {
    size_t n = strlen(s->flags);
    if (!strchr(s->flags, c) && n + 1 < sizeof s->flags) {
        s->flags[n] = c;
        s->flags[n + 1] = 0;
    }
}

static int parse_length(const char **p) {
    int length = 4;
    for (;; ++*p) {
        switch (**p) {
        case 'h':
            length = length == 2 ? 1 : 2;
            break;
        case 'l':
        case 'z':
        case 'j':
        case 't':
        case 'q':
        case 'L':
            length = 8;
            break;
        default:
            return length;
        }
    }
}

/* Parses what follows a '%'; returns the first character after it. */
static const char *parse_spec(const char *p, struct reader *r, struct spec *s) {
    *s = (struct spec){.precision = -1};
    while (*p && strchr("-+ #0", *p))
        add_flag(s, *p++);
    int64_t width = *p == '*' || (*p >= '1' && *p <= '9') ? parse_number(&p, r) : 0;
    if (width < 0) {
        add_flag(s, '-');
        width = -width;
    }
    s->width = clip(width);
    if (*p == '.') {
        p++;
        bool given = *p == '*';
        int64_t precision = parse_number(&p, r);
        s->precision = precision >= 0 ? clip(precision) : given ? -1 : 0;
    }
    s->length = parse_length(&p);
    s->conv = *p;
    return *p ? p + 1 : p;
}

/* Builds the C conversion: "%" flags * .* length conv. */
static void c_format(char *buf, size_t size, const struct spec *s, const char *length) {
    snprintf(buf, size, "%%%s*%s%s%c", s->flags, s->precision >= 0 ? ".*" : "", length, s->conv);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void put_integer(struct str *out, const struct spec *s, uint64_t v) {
    char f[32];
    bool sgn = s->conv == 'd' || s->conv == 'i';
    unsigned spare = 64 - 8 * (unsigned)s->length;
    v = sgn ? (uint64_t)((int64_t)(v << spare) >> spare) : (v << spare) >> spare;
    c_format(f, sizeof f, s, "ll");
    if (s->precision >= 0)
        str_printf(out, f, s->width, s->precision, (long long)v);
    else
        str_printf(out, f, s->width, (long long)v);
}

static void put_double(struct str *out, const struct spec *s, uint64_t bits) {
    char f[32];
    double v;
    memcpy(&v, &bits, sizeof v);
    c_format(f, sizeof f, s, "");
    if (s->precision >= 0)
        str_printf(out, f, s->width, s->precision, v);
    else
        str_printf(out, f, s->width, v);
}
#pragma GCC diagnostic pop

/* Text padded to the width. */
static void put_text(struct str *out, const struct spec *s, const char *text, size_t n) {
    size_t pad = (size_t)s->width > n ? (size_t)s->width - n : 0;
    bool left = strchr(s->flags, '-') != NULL;
    if (!left)
        str_printf(out, "%*s", (int)pad, "");
    str_add(out, text, n);
    if (left)
        str_printf(out, "%*s", (int)pad, "");
}

static void put_string(struct str *out, const struct spec *s, uint64_t addr, format_string_fn *read_string,
                       void *ctx) {
    size_t n = 0;
    const char *text = addr ? read_string(ctx, addr, &n) : NULL;
    if (!text) {
        text = "(null)";
        n = strlen(text);
    }
    n = strnlen(text, n);
    if (s->precision >= 0 && n > (size_t)s->precision)
        n = (size_t)s->precision;
    put_text(out, s, text, n);
}

static void put_pointer(struct str *out, const struct spec *s, uint64_t v) {
    char text[24];
    int n = snprintf(text, sizeof text, "0x%llx", (unsigned long long)v);
    put_text(out, s, text, (size_t)n);
}

/* One conversion; false when there is no such conversion. */
static bool put_spec(struct str *out, const struct spec *s, struct reader *r, format_string_fn *read_string,
                     void *ctx) {
    char c;
    switch (s->conv) {
    case 'd':
    case 'i':
    case 'u':
    case 'o':
    case 'x':
    case 'X':
        put_integer(out, s, take(r, s->length == 8 ? 8 : 4));
        return true;
    case 'c':
        c = (char)take(r, 4);
        put_text(out, s, &c, 1);
        return true;
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
        put_double(out, s, take(r, 8));
        return true;
    case 's':
        put_string(out, s, take(r, 8), read_string, ctx);
        return true;
    case 'p':
        put_pointer(out, s, take(r, 8));
        return true;
    case '%':
        str_add(out, "%", 1);
        return true;
    default:
        return false;
    }
}

void format_device(struct str *out, const char *fmt, const uint8_t *args, size_t nargs,
                   format_string_fn *read_string, void *ctx) {
    struct reader r = {args, nargs, 0};
    while (*fmt) {
        size_t plain = strcspn(fmt, "%");
        str_add(out, fmt, plain);
        fmt += plain;
        if (!*fmt)
            break;
        struct spec s;
        const char *after = parse_spec(fmt + 1, &r, &s);
        if (!put_spec(out, &s, &r, read_string, ctx))
            str_add(out, fmt, (size_t)(after - fmt));
        fmt = after;
    }
}
