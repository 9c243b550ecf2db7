/* libFuzzer target: any bytes given to the configuration reader yield diagnostics, or a configuration that
 * keeps its promises. The first byte says how many of the lines that follow are --set strings; the rest is
 * the file. What it inherits from comes from the folder of configurations. */
#include <string.h>

#include "base/arena.h"
#include "cfg/gpu.h"

#define CHECK(c)                                                                                             \
    do {                                                                                                     \
        if (!(c))                                                                                            \
            __builtin_trap();                                                                                \
    } while (0)

enum { MAX_SET = 3 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A loaded value is in its range: what it prints as reads back, and as the same value. */
static void check_param(const struct config_block *b, const struct param *p) {
    void *copy = xmalloc(b->table->size);
    struct str text = {0}, again = {0};
    union param_value v;
    memcpy(copy, b->values, b->table->size);
    param_print(p, b->values, false, &text);
    CHECK(param_read(p, text.at, text.len, false, &v) == PARAM_OK);
    param_store(p, copy, &v);
    param_print(p, copy, false, &again);
    CHECK(!strcmp(text.at, again.at));
    free(copy);
    str_free(&text);
    str_free(&again);
}

static void check_config(const struct config *c) {
    const struct gpu_config *g = config_values(c, &gpu_params);
    for (uint32_t i = 0; i < c->params.len; i++)
        check_param(config_block_of(c, i), c->params.at[i]);
    struct config_setting s;
    for (uint32_t i = 0; config_setting_at(c, i, &s); i++)
        CHECK(*s.value && *s.origin);
    for (uint32_t threads = 0; threads < 1100; threads += 33) {
        int blocks = config_occupancy(g, threads, threads % 64, threads * 16);
        CHECK(blocks >= 0 && blocks <= g->sm_blocks && blocks * (int)threads <= g->sm_threads);
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
    struct config c = {.what = "GPU"};
    config_add(&c, &gpu_params);
    bool ok = config_parse(&c, text, len, "fuzz.yaml", set, CONFIG_DIR, &d);
    CHECK(ok == (d.errors == 0));
    check_config(&c);
    free(text);
    config_free(&c);
    diag_free(&d);
    arena_free(&a);
    return 0;
}
