/* Registered counters. */
#include "stats/registry.h"

#include <stdio.h>
#include <string.h>

uint32_t counters_add(struct counter_registry *r, const char *prefix, const struct counter_table *t,
                      bool shared_out) {
    struct counter_block b = {.prefix = prefix, .table = t, .first = r->count, .shared_out = shared_out};
    vec_push(&r->blocks, b);
    r->count += t->count;
    return r->blocks.len - 1;
}

void counters_bind(struct counter_registry *r, uint32_t block, const void *counts) {
    vec_push(&r->blocks.at[block].counts, counts);
}

void counters_free(struct counter_registry *r) {
    for (uint32_t i = 0; i < r->blocks.len; i++)
        vec_free(&r->blocks.at[i].counts);
    vec_free(&r->blocks);
    r->count = 0;
}

/* The block of counter i. */
static const struct counter_block *block_of(const struct counter_registry *r, uint32_t i) {
    const struct counter_block *b = r->blocks.at;
    while (i >= b->first + b->table->count)
        b++;
    return b;
}

bool counters_info(const struct counter_registry *r, uint32_t i, char name[COUNTER_NAME_SIZE],
                   struct counter_info *info) {
    if (i >= r->count)
        return false;
    const struct counter_block *b = block_of(r, i);
    *info = b->table->rows[i - b->first];
    snprintf(name, COUNTER_NAME_SIZE, "%s%s", b->prefix, info->name);
    info->name = name;
    return true;
}

uint32_t counters_find(const struct counter_registry *r, const char *name) {
    for (uint32_t k = 0; k < r->blocks.len; k++) {
        const struct counter_block *b = &r->blocks.at[k];
        size_t n = strlen(b->prefix);
        if (strncmp(name, b->prefix, n))
            continue;
        for (uint32_t c = 0; c < b->table->count; c++)
            if (!strcmp(name + n, b->table->rows[c].name))
                return b->first + c;
    }
    return UINT32_MAX;
}

bool counters_shared_out(const struct counter_registry *r, uint32_t i) {
    return i < r->count && block_of(r, i)->shared_out;
}

/* Adds what one unit has counted to the values of its block. */
static void add(const struct counter_block *b, const void *counts, uint64_t *to) {
    for (uint32_t c = 0; c < b->table->count; c++)
        to[b->first + c] += counter_value(&b->table->rows[c], counts);
}

void counters_read(const struct counter_registry *r, uint64_t *to) {
    memset(to, 0, r->count * sizeof *to);
    for (uint32_t k = 0; k < r->blocks.len; k++)
        for (uint32_t i = 0; i < r->blocks.at[k].counts.len; i++)
            add(&r->blocks.at[k], r->blocks.at[k].counts.at[i], to);
}

void counters_read_part(const struct counter_registry *r, uint32_t part, uint64_t *to) {
    memset(to, 0, r->count * sizeof *to);
    for (uint32_t k = 0; k < r->blocks.len; k++) {
        const struct counter_block *b = &r->blocks.at[k];
        if (b->shared_out && part < b->counts.len)
            add(b, b->counts.at[part], to);
    }
}
