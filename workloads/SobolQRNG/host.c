/* SobolQRNG: Sobol's quasi-random numbers. See README.md. */
#include "host.h"

enum { THREADS = 64, BITS = 32, MAX_DEGREE = 16 };

static const struct {
    int points, dimensions;
} sizes[WL_SIZES] = {{4000, 12}, {50000, 32}, {100000, 100}, {100000, 100}};

/* Whether x generates all nonzero elements of the field of 2^degree elements: steps through its powers. */
static bool is_primitive(uint32_t polynomial, int degree) {
    uint32_t x = 1, order = 0;
    do {
        x <<= 1;
        x ^= x >> degree & 1 ? polynomial : 0;
        order++;
    } while (x > 1 && order < 1u << degree);
    return x == 1 && order == (1u << degree) - 1;
}

/* The next polynomial, in ascending order, that is primitive over two elements. */
static uint32_t next_polynomial(struct wl *w, uint32_t p, int *degree) {
    for (p += 2;; p += 2) {
        while (p >> (*degree + 1))
            (*degree)++;
        if (*degree > MAX_DEGREE)
            wl_fail(w, "too many dimensions");
        if (is_primitive(p, *degree))
            return p;
    }
}

/* Direction numbers: the first dimension counts in binary with the bits reversed; each further one has a
 * polynomial of its own, odd starting numbers m_k < 2^k, and the recurrence the polynomial defines. */
static void make_directions(struct wl *w, uint32_t *v, int dimensions) {
    uint32_t polynomial = 1;
    int degree = 1;
    for (int i = 0; i < BITS; i++)
        v[i] = 1u << (BITS - 1 - i);
    for (int d = 1; d < dimensions; d++) {
        uint32_t *row = v + (size_t)d * BITS;
        polynomial = next_polynomial(w, polynomial, &degree);
        for (int i = 0; i < BITS; i++) {
            if (i < degree) {
                row[i] = (2 * wl_random_below(w, 1u << i) + 1) << (BITS - 1 - i);
                continue;
            }
            row[i] = row[i - degree] ^ row[i - degree] >> degree;
            for (int k = 1; k < degree; k++)
                row[i] ^= polynomial >> (degree - k) & 1 ? row[i - k] : 0;
        }
    }
}

static float reference(const uint32_t *v, uint32_t i) {
    uint32_t x = 0;
    for (uint32_t gray = i ^ i >> 1, k = 0; gray; gray >>= 1, k++)
        x ^= gray & 1 ? v[k] : 0;
    return (float)x * 0x1p-32f;
}

/* Blocks for each dimension, a power of two so that steps between a thread's points are one: a single one if
 * the dimensions fill the GPU, as in the SDK. */
static unsigned block_count(int points, int dimensions) {
    unsigned blocks = wl_blocks((unsigned)points, THREADS), limit = dimensions < 96 ? 16 : 1, n = 1;
    blocks = blocks < limit ? blocks : limit;
    while (n < blocks)
        n *= 2;
    return n;
}

static void run(struct wl *w) {
    int points = wl_option(w, "points", sizes[w->size].points);
    int dimensions = wl_option(w, "dimensions", sizes[w->size].dimensions);
    if (points < 1 || dimensions < 1)
        wl_fail(w, "points and dimensions must be positive");
    size_t n = (size_t)points * (size_t)dimensions, directions = (size_t)dimensions * BITS;
    uint32_t *v = WL_ARRAY(w, uint32_t, directions);
    make_directions(w, v, dimensions);

    CUdeviceptr d_v = wl_upload(w, v, directions * sizeof *v), d_out = wl_alloc(w, n * sizeof(float));
    WL_LAUNCH(w, "sobol_points", wl_dim(block_count(points, dimensions), (unsigned)dimensions),
              wl_dim(THREADS, 1), 0, &points, &d_v, &d_out);
    float *got = WL_ARRAY(w, float, n), *want = WL_ARRAY(w, float, n);
    wl_get(w, got, d_out, n * sizeof(float));
    for (int d = 0; w->check && d < dimensions; d++)
        for (int i = 0; i < points; i++)
            want[(size_t)d * (size_t)points + (size_t)i] = reference(v + (size_t)d * BITS, (uint32_t)i);
    /* an integer is rounded to a float once, on both sides: every bit must agree */
    wl_check_same(w, "number", WL_F32, got, want, n);
}

const struct workload workload = {"SobolQRNG", run};
