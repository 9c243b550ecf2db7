#include "base/map.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

uint64_t hash_bytes(const void *p, size_t n) {
    const unsigned char *s = p;
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ s[i]) * 0x100000001b3u;
    return h ^ (h >> 29);
}

static uint64_t hash_key(const char *key, uint64_t num) {
    return key ? hash_bytes(key, num) : hash_bytes(&num, sizeof num);
}

static bool same(const struct map_entry *e, const char *key, uint64_t num) {
    return e->num == num && (!key || !memcmp(e->key, key, num));
}

/* The slot of key, or the empty slot where it belongs. Slots hold entry index + 1. */
static uint32_t *find(const struct map *m, const char *key, uint64_t num) {
    uint32_t i = (uint32_t)hash_key(key, num) & (m->nslots - 1);
    while (m->slots[i] && !same(&m->entries[m->slots[i] - 1], key, num))
        i = (i + 1) & (m->nslots - 1);
    return &m->slots[i];
}

static void grow(struct map *m) {
    m->cap = m->cap ? m->cap * 2 : 16;
    m->entries = xrealloc(m->entries, m->cap * sizeof *m->entries);
    m->nslots = m->cap * 2;
    free(m->slots);
    m->slots = xcalloc(m->nslots, sizeof *m->slots);
    for (uint32_t i = 0; i < m->len; i++)
        *find(m, m->entries[i].key, m->entries[i].num) = i + 1;
}

static void set(struct map *m, const char *key, uint64_t num, void *value) {
    if (m->len == m->cap)
        grow(m);
    uint32_t *slot = find(m, key, num);
    if (!*slot) {
        m->entries[m->len++] = (struct map_entry){.key = key, .num = num};
        *slot = m->len;
    }
    m->entries[*slot - 1].value = value;
}

static void *get(const struct map *m, const char *key, uint64_t num) {
    if (!m->nslots)
        return NULL;
    uint32_t slot = *find(m, key, num);
    return slot ? m->entries[slot - 1].value : NULL;
}

void map_set(struct map *m, const char *key, void *value) {
    set(m, key, strlen(key), value);
}

void map_setn(struct map *m, const char *key, size_t len, void *value) {
    set(m, key, len, value);
}

void *map_get(const struct map *m, const char *key) {
    return get(m, key, strlen(key));
}

void *map_getn(const struct map *m, const char *key, size_t len) {
    return get(m, key, len);
}

void map_set_u64(struct map *m, uint64_t key, void *value) {
    set(m, NULL, key, value);
}

void *map_get_u64(const struct map *m, uint64_t key) {
    return get(m, NULL, key);
}

void map_remove_u64(struct map *m, uint64_t key) {
    if (get(m, NULL, key))
        set(m, NULL, key, NULL);
}

void map_free(struct map *m) {
    free(m->entries);
    free(m->slots);
    *m = (struct map){0};
}
