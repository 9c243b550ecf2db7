/* Jmeint: whether two triangles in space meet, for many pairs.
 *
 * The block is the determinant of three vectors, nine numbers of four bytes, whose sign says on which side of
 * a triangle a point is. Triangles are random, so that inputs do not repeat. */
#include "bench.h"

#ifndef BITS
#define BITS 6
#endif

struct vector {
    float x, y, z;
};

static struct vector minus(struct vector a, struct vector b) {
    return (struct vector){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline float determinant(struct vector a, struct vector b, struct vector c) {
    float d = 0;
    AX_REG_F32(a.x, 0, BITS);
    AX_REG_F32(a.y, 0, BITS);
    AX_REG_F32(a.z, 0, BITS);
    AX_REG_F32(b.x, 0, BITS);
    AX_REG_F32(b.y, 0, BITS);
    AX_REG_F32(b.z, 0, BITS);
    AX_REG_F32(c.x, 0, BITS);
    AX_REG_F32(c.y, 0, BITS);
    AX_REG_F32(c.z, 0, BITS);
    if (!AX_LOOKUP_F32(d, 0)) {
        d = a.x * (b.y * c.z - b.z * c.y) + a.y * (b.z * c.x - b.x * c.z) + a.z * (b.x * c.y - b.y * c.x);
        AX_UPDATE_F32(d, 0);
    }
    return d;
}

/* On which side of the plane through t a point is. */
static float side(const struct vector *t, struct vector p) {
    return determinant(minus(t[0], p), minus(t[1], p), minus(t[2], p));
}

/* Whether the way from a to b, which are on two sides of t, goes through it. */
static bool pierces(const struct vector *t, struct vector a, struct vector b) {
    struct vector v[3] = {minus(t[0], a), minus(t[1], a), minus(t[2], a)}, way = minus(b, a);
    bool first = determinant(way, v[0], v[1]) > 0;
    return first == (determinant(way, v[1], v[2]) > 0) && first == (determinant(way, v[2], v[0]) > 0);
}

/* Whether an edge of t goes through u. */
static bool crosses(const struct vector *t, const struct vector *u) {
    bool above[3];
    for (int k = 0; k < 3; k++)
        above[k] = side(u, t[k]) > 0;
    for (int k = 0; k < 3; k++) {
        int next = k == 2 ? 0 : k + 1;
        if (above[k] != above[next] && pierces(u, t[k], t[next]))
            return true;
    }
    return false;
}

static __attribute__((noinline)) void test_pairs(const struct vector *v, uint8_t *out, int n) {
    for (int k = 0; k < n; k++)
        out[k] = crosses(&v[6 * k], &v[6 * k + 3]) || crosses(&v[6 * k + 3], &v[6 * k]);
}

int main(int argc, char **argv) {
    static const int sizes[SIZES] = {500, 8000, 40000, 145000};
    int n = sizes[bench_start(argc, argv)];
    struct vector *v = bench_alloc(n, 6 * sizeof *v);
    uint8_t *out = bench_alloc(n, 1);
    for (int k = 0; k < 6 * n; k++)
        v[k] = (struct vector){bench_uniform(), bench_uniform(), bench_uniform()};
    AX_BEGIN();
    test_pairs(v, out, n);
    AX_END();
    bench_result("u8", 1, "meetings", out, (size_t)n);
    return 0;
}
