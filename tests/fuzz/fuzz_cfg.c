/* libFuzzer target: any bytes given to the configuration reader yield diagnostics, or a configuration that
 * keeps its promises. The first byte says how many of the lines that follow are --set strings; the rest is
 * the file. What it inherits from comes from the folder of configurations. */
#include <string.h>

#include "base/arena.h"
#include "cfg/config.h"

#define CHECK(c)                                                                                             \
    do {                                                                                                     \
        if (!(c))                                                                                            \
            __builtin_trap();                                                                                \
    } while (0)

enum { MAX_SET = 3 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A loaded value is in its range: what it prints as reads back, and as the same value. */
static void check_param(const struct gpu_config *c, const struct param *p) {
    struct gpu_config copy = *c;
    struct str text = {0}, again = {0};
    union param_value v;
    param_print(p, c, false, &text);
    CHECK(param_read(p, text.at, text.len, false, &v) == PARAM_OK);
    param_store(p, &copy, &v);
    param_print(p, &copy, false, &again);
    CHECK(!strcmp(text.at, again.at));
    str_free(&text);
    str_free(&again);
}

static void check_config(const struct gpu_config *c) {
    for (uint32_t i = 0; i < config_params.count; i++)
        check_param(c, &config_params.rows[i]);
    struct config_setting s;
    for (uint32_t i = 0; config_setting_at(c, i, &s); i++)
        CHECK(*s.value && *s.origin);
    for (uint32_t threads = 0; threads < 1100; threads += 33) {
        int blocks = config_occupancy(c, threads, threads % 64, threads * 16);
        CHECK(blocks >= 0 && blocks <= c->sm_blocks && blocks * (int)threads <= c->sm_threads);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena a = {0};
    struct diag d = {0};
    const char *set[MAX_SET + 1] = {0};
    size_t at = size > 0;
    for (uint32_t i = 0; at && i < data[0] % (MAX_SET + 1u); i++) {
        const uint8_t *end = memchr(data + at, '\n', size - at);
        size_t len = end ? (size_t)(end - (data + at)) : size - at;
        set[i] = arena_strndup(&a, (const char *)data + at, len);
        at += len + (end != NULL);
    }
    size_t len = size - at;
    char *text = xmalloc(len ? len : 1); /* of the exact length, so that reading past its end is noticed */
    if (len)
        memcpy(text, data + at, len);
    struct gpu_config c;
    bool ok = config_parse(&c, text, len, "fuzz.yaml", set, CONFIG_DIR, &d);
    CHECK(ok == (d.errors == 0));
    check_config(&c);
    free(text);
    diag_free(&d);
    arena_free(&a);
    return 0;
}
