#include "base/vec.h"

#include <stdio.h>
#include <string.h>

void str_add(struct str *s, const char *bytes, size_t n) {
    vec_reserve(s, s->len + (uint32_t)n + 1);
    memcpy(s->at + s->len, bytes, n);
    s->len += (uint32_t)n;
    s->at[s->len] = 0;
}

void str_vprintf(struct str *s, const char *fmt, va_list ap) {
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    vec_reserve(s, s->len + (uint32_t)n + 1);
    vsnprintf(s->at + s->len, (size_t)n + 1, fmt, ap);
    s->len += (uint32_t)n;
}

void str_printf(struct str *s, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    str_vprintf(s, fmt, ap);
    va_end(ap);
}

const char *str_text(const struct str *s) {
    return s->at ? s->at : "";
}

void str_free(struct str *s) {
    vec_free(s);
}
