/* H3 as a product of sparse matrices, so that no 4 KB of ones and zeros have to be read for every hash.
 *
 * Each lane goes through steps of the form x ^= (x shifted) & mask: first three with a mask of ones, which
 * spread every bit over the word and are the same for all lanes, then H3_ROUNDS with random masks, which make
 * lanes differ. Such a step is its own kind of inverse (a triangular matrix with ones on the diagonal), so
 * nothing of a lane is lost. The lanes are added up, and a dense random matrix with full rank makes every bit
 * of the result depend on about half of the value. */
#include "mech/wir/h3.h"

#include <assert.h>
#include <stdbool.h>

typedef uint32_t lanes4 __attribute__((vector_size(16))); /* what every 64-bit host has */
typedef uint32_t lanes8 __attribute__((vector_size(32)));
typedef uint32_t lanes16 __attribute__((vector_size(64)));

static uint32_t draw(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((z ^ z >> 31) >> 32);
}

/* Adds column to a triangular basis; false when it is a sum of those that are in it. */
static bool is_new(uint32_t basis[32], uint32_t column) {
    while (column) {
        uint32_t top = 31 - (uint32_t)__builtin_clz(column);
        if (!basis[top]) {
            basis[top] = column;
            return true;
        }
        column ^= basis[top];
    }
    return false;
}

/* Defines name: the lanes, as many at a time as a vector holds, each through its steps, added up, and what
 * the bytes of that come to. */
#define HASH(name, vector)                                                                                   \
    static uint32_t name(const struct h3 *h, const uint32_t *value) {                                        \
        enum { N = sizeof(vector) / 4, GROUPS = H3_LANES / N };                                              \
        const vector *v = __builtin_assume_aligned(value, 64);                                               \
        const vector *mask = __builtin_assume_aligned(h->mask, 64);                                          \
        vector sum = {0};                                                                                    \
        for (uint32_t i = 0; i < GROUPS; i++) {                                                              \
            vector x = v[i];                                                                                 \
            x ^= x << 13;                                                                                    \
            x ^= x >> 17;                                                                                    \
            x ^= x << 5;                                                                                     \
            x ^= x << 9 & mask[i];                                                                           \
            x ^= x >> 11 & mask[i + GROUPS];                                                                 \
            x ^= x << 15 & mask[i + 2 * GROUPS];                                                             \
            x ^= x >> 7 & mask[i + 3 * GROUPS];                                                              \
            sum ^= x;                                                                                        \
        }                                                                                                    \
        uint32_t s = 0;                                                                                      \
        for (uint32_t k = 0; k < N; k++)                                                                     \
            s ^= sum[k];                                                                                     \
        return h->sum[0][s & 255] ^ h->sum[1][s >> 8 & 255] ^ h->sum[2][s >> 16 & 255] ^ h->sum[3][s >> 24]; \
    }

HASH(hash4, lanes4)
#ifdef __x86_64__
__attribute__((target("avx2"))) HASH(hash8, lanes8) __attribute__((target("avx512f"))) HASH(hash16, lanes16)
#endif

    uint32_t h3_hash(const struct h3 *h, const uint32_t value[H3_LANES]) {
    return h->hash(h, value);
}

static uint32_t (*widest(void))(const struct h3 *h, const uint32_t *value) {
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f"))
        return hash16;
    if (__builtin_cpu_supports("avx2"))
        return hash8;
#endif
    return hash4;
}

struct h3 *h3_create(struct arena *a, uint32_t bits) {
    assert(bits >= 1 && bits <= 32);
    struct h3 *h = arena_new(a, struct h3);
    uint64_t state = H3_SEED;
    uint32_t basis[32] = {0}, keep = UINT32_MAX >> (32 - bits);
    h->hash = widest();
    for (uint32_t r = 0; r < H3_ROUNDS; r++)
        for (uint32_t l = 0; l < H3_LANES; l++)
            h->mask[r][l] = draw(&state);
    for (uint32_t b = 0; b < 32; b++) {
        uint32_t column = draw(&state);
        while (!is_new(basis, column))
            column = draw(&state);
        column &= keep;
        for (uint32_t byte = 0; byte < 256; byte++)
            h->sum[b / 8][byte] ^= byte >> b % 8 & 1 ? column : 0;
    }
    return h;
}
