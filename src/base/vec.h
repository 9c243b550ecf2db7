/* Growing arrays and strings. */
#ifndef REPRISE_BASE_VEC_H
#define REPRISE_BASE_VEC_H

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/arena.h"

/* Declares a growing array of T; a zeroed one is empty. Elements move when it grows. */
#define VEC(T)                                                                                               \
    struct {                                                                                                 \
        T *at;                                                                                               \
        uint32_t len, cap;                                                                                   \
    }

#define vec_reserve(v, n)                                                                                    \
    do {                                                                                                     \
        if ((v)->cap < (n)) {                                                                                \
            uint32_t cap_ = (v)->cap ? (v)->cap : 8;                                                         \
            while (cap_ < (n))                                                                               \
                cap_ *= 2;                                                                                   \
            (v)->at = xrealloc((v)->at, cap_ * sizeof *(v)->at);                                             \
            (v)->cap = cap_;                                                                                 \
        }                                                                                                    \
    } while (0)

/* Appends one element, given as an expression (put struct literals in parentheses). */
#define vec_push(v, ...)                                                                                     \
    do {                                                                                                     \
        vec_reserve((v), (v)->len + 1);                                                                      \
        (v)->at[(v)->len++] = (__VA_ARGS__);                                                                 \
    } while (0)

#define vec_free(v)                                                                                          \
    do {                                                                                                     \
        free((v)->at);                                                                                       \
        (v)->at = NULL;                                                                                      \
        (v)->len = (v)->cap = 0;                                                                             \
    } while (0)

/* A growing string, always NUL-terminated once something was added. */
struct str {
    char *at;
    uint32_t len, cap;
};

void str_add(struct str *s, const char *bytes, size_t n);
void str_printf(struct str *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void str_vprintf(struct str *s, const char *fmt, va_list ap);
/* The text so far; "" when empty. */
const char *str_text(const struct str *s);
void str_free(struct str *s);

#endif
