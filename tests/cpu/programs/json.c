/* A JSON reader and writer, recursive, on pointers. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum type { NUL, BOOL, NUMBER, STRING, ARRAY, OBJECT };
struct value {
    enum type type;
    double number;
    char *text, *key;
    struct value *first, *next;
};

static const char *p;

static void skip(void) {
    while (isspace((unsigned char)*p))
        p++;
}

static char *string(void) {
    char buf[256];
    size_t n = 0;
    for (p++; *p != '"'; p++) {
        if (*p == '\\') {
            p++;
            if (*p == 'u') {
                char hex[5] = {p[1], p[2], p[3], p[4], 0};
                buf[n++] = (char)strtol(hex, NULL, 16);
                p += 4;
                continue;
            }
            buf[n++] = *p == 'n' ? '\n' : *p == 't' ? '\t' : *p;
        } else {
            buf[n++] = *p;
        }
    }
    p++;
    buf[n] = 0;
    return strdup(buf);
}

static struct value *read_value(void) {
    struct value *v = calloc(1, sizeof *v);
    skip();
    if (*p == '{' || *p == '[') {
        char end = *p == '{' ? '}' : ']';
        struct value **tail = &v->first;
        v->type = *p == '{' ? OBJECT : ARRAY;
        p++;
        for (skip(); *p != end; skip()) {
            char *key = NULL;
            if (v->type == OBJECT) {
                key = string();
                skip();
                p++;
            }
            *tail = read_value();
            (*tail)->key = key;
            tail = &(*tail)->next;
            skip();
            if (*p == ',')
                p++;
        }
        p++;
    } else if (*p == '"') {
        v->type = STRING;
        v->text = string();
    } else if (!strncmp(p, "true", 4) || !strncmp(p, "null", 4)) {
        v->type = *p == 't' ? BOOL : NUL;
        v->number = *p == 't';
        p += 4;
    } else if (!strncmp(p, "false", 5)) {
        v->type = BOOL;
        p += 5;
    } else {
        char *end;
        v->type = NUMBER;
        v->number = strtod(p, &end);
        p = end;
    }
    return v;
}

static void print(const struct value *v, int depth) {
    if (v->key)
        printf("%*s\"%s\": ", depth, "", v->key);
    switch (v->type) {
    case NUL:
        printf("null");
        break;
    case BOOL:
        printf(v->number != 0 ? "true" : "false");
        break;
    case NUMBER:
        printf("%.15g", v->number);
        break;
    case STRING:
        printf("\"%s\"", v->text);
        break;
    default:
        printf("%c\n", v->type == OBJECT ? '{' : '[');
        for (const struct value *c = v->first; c; c = c->next) {
            print(c, depth + 2);
            printf("%s\n", c->next ? "," : "");
        }
        printf("%*s%c", depth, "", v->type == OBJECT ? '}' : ']');
    }
}

int main(void) {
    static const char text[] =
        "{\"name\": \"test \\u0041\\n\", \"list\": [1, 2.5, -3e10, 1e-320, 0.1, 123456789012345678], "
        "\"deep\": "
        "[[[[{\"a\": null, \"b\": true, \"c\": false}]]]], \"empty\": {}, \"none\": []}";
    for (int k = 0; k < 20; k++) {
        p = text;
        struct value *v = read_value();
        if (k == 19)
            print(v, 0);
    }
    putchar('\n');
    return 0;
}
