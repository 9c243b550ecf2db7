/* Hash map from strings or 64-bit keys to pointers. Iteration is in insertion order, so nothing that is
 * printed from a map depends on hashing. */
#ifndef REPRISE_BASE_MAP_H
#define REPRISE_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_entry {
    const char *key; /* NULL for a 64-bit key; string keys are the caller's and must outlive the map */
    uint64_t num;    /* the 64-bit key, or the string's length */
    void *value;     /* NULL once removed */
};

/* A zeroed struct is a valid empty map. */
struct map {
    struct map_entry *entries;
    uint32_t *slots;
    uint32_t len, cap, nslots;
};

/* FNV-1a over n bytes. */
uint64_t hash_bytes(const void *p, size_t n);

/* Sets key to value (not NULL), replacing an earlier value. */
void map_set(struct map *m, const char *key, void *value);
void map_setn(struct map *m, const char *key, size_t len, void *value);
/* The value of key, or NULL. */
void *map_get(const struct map *m, const char *key);
void *map_getn(const struct map *m, const char *key, size_t len);
/* The same with 64-bit keys; one map holds one kind of key. */
void map_set_u64(struct map *m, uint64_t key, void *value);
void *map_get_u64(const struct map *m, uint64_t key);
void map_remove_u64(struct map *m, uint64_t key);
void map_free(struct map *m);

#endif
