/* Jmeint: whether two triangles in space meet, for many pairs.
 *
 * The test is Moeller's, as AxBench's: where each triangle's corners are with respect to the other's plane,
 * and where both cut the line in which the planes meet. The block is the plane of a triangle from its three
 * corners, nine numbers of four bytes; the plane's four numbers are one result of eight bytes, as halves.
 * Triangles are random, so that inputs do not repeat. */
#include <math.h>

#include "bench.h"

#ifndef BITS
#define BITS 6
#endif

typedef float vector[3];

struct plane {
    vector normal;
    float offset;
};

static inline float dot(const float *a, const float *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void cross(float *to, const float *a, const float *b) {
    to[0] = a[1] * b[2] - a[2] * b[1];
    to[1] = a[2] * b[0] - a[0] * b[2];
    to[2] = a[0] * b[1] - a[1] * b[0];
}

static inline uint64_t half_of(float v) {
    __fp16 h = (__fp16)v;
    uint16_t bits;
    memcpy(&bits, &h, sizeof bits);
    return bits;
}

static inline float of_half(uint64_t bits) {
    uint16_t low = (uint16_t)bits;
    __fp16 h;
    memcpy(&h, &low, sizeof h);
    return (float)h;
}

static inline struct plane plane_of(const vector *t) {
    struct plane p;
    int64_t packed = 0;
    const float *u = t[0], *v = t[1];
    vector a = {AX_LDX_F32(u, 0, 0, BITS), AX_LDX_F32(u, 1, 0, BITS), AX_LDX_F32(u, 2, 0, BITS)},
           b = {AX_LDX_F32(u, 3, 0, BITS), AX_LDX_F32(u, 4, 0, BITS), AX_LDX_F32(u, 5, 0, BITS)},
           c = {AX_LDX_F32(v, 3, 0, BITS), AX_LDX_F32(v, 4, 0, BITS), AX_LDX_F32(v, 5, 0, BITS)};
    if (AX_LOOKUP_I64(packed, 0)) {
        for (int k = 0; k < 3; k++)
            p.normal[k] = of_half((uint64_t)packed >> 16 * k);
        p.offset = of_half((uint64_t)packed >> 48);
    } else {
        vector e = {b[0] - a[0], b[1] - a[1], b[2] - a[2]}, f = {c[0] - a[0], c[1] - a[1], c[2] - a[2]};
        cross(p.normal, e, f);
        p.offset = -dot(p.normal, a);
        AX_UPDATE_I64((int64_t)(half_of(p.normal[0]) | half_of(p.normal[1]) << 16 |
                                half_of(p.normal[2]) << 32 | half_of(p.offset) << 48),
                      0);
    }
    return p;
}

/* How far the corners of t are above a plane; false: all on one side. */
static inline bool above(const struct plane *p, const vector *t, float *d) {
    for (int k = 0; k < 3; k++) {
        d[k] = dot(p->normal, t[k]) + p->offset;
        if (fabsf(d[k]) < 1e-6f)
            d[k] = 0;
    }
    return d[0] * d[1] <= 0 || d[0] * d[2] <= 0;
}

/* Where a triangle, of whose corners one is on another side of the plane than two, cuts the line of both
 * planes: from the corners along the line, v, and how far they are above the other plane. */
static inline void cut(const float *v, const float *d, int alone, int one, int other, float *from,
                       float *to) {
    float a = v[alone] + (v[one] - v[alone]) * d[alone] / (d[alone] - d[one]),
          b = v[alone] + (v[other] - v[alone]) * d[alone] / (d[alone] - d[other]);
    *from = a < b ? a : b;
    *to = a < b ? b : a;
}

/* The same, whichever corner it is; false: the triangles are in one plane. */
static inline bool interval(const float *v, const float *d, float *from, float *to) {
    if (d[0] * d[1] > 0)
        cut(v, d, 2, 0, 1, from, to);
    else if (d[0] * d[2] > 0)
        cut(v, d, 1, 0, 2, from, to);
    else if (d[1] * d[2] > 0 || d[0] != 0)
        cut(v, d, 0, 1, 2, from, to);
    else if (d[1] != 0)
        cut(v, d, 1, 0, 2, from, to);
    else if (d[2] != 0)
        cut(v, d, 2, 0, 1, from, to);
    else
        return false;
    return true;
}

/* Random triangles are never in one plane; those that are count as apart. */
static inline bool meet(const vector *t, const vector *u) {
    struct plane p = plane_of(t), q;
    float du[3], dt[3];
    vector line;
    if (!above(&p, u, du))
        return false;
    q = plane_of(u);
    if (!above(&q, t, dt))
        return false;
    cross(line, p.normal, q.normal);
    int axis = fabsf(line[1]) > fabsf(line[0]) ? 1 : 0;
    axis = fabsf(line[2]) > fabsf(line[axis]) ? 2 : axis;
    float vt[3] = {t[0][axis], t[1][axis], t[2][axis]}, vu[3] = {u[0][axis], u[1][axis], u[2][axis]};
    float from, to, start, end;
    return interval(vt, dt, &from, &to) && interval(vu, du, &start, &end) && to >= start && end >= from;
}

static __attribute__((noinline)) void test_pairs(const vector *v, uint8_t *out, int n) {
    for (int k = 0; k < n; k++)
        out[k] = meet(&v[6 * k], &v[6 * k + 3]);
}

int main(int argc, char **argv) {
    static const int sizes[SIZES] = {500, 8000, 40000, 145000};
    int n = sizes[bench_start(argc, argv)];
    vector *v = bench_alloc(n, 6 * sizeof *v);
    uint8_t *out = bench_alloc(n, 1);
    for (int k = 0; k < 6 * n; k++)
        for (int a = 0; a < 3; a++)
            v[k][a] = bench_uniform();
    AX_BEGIN();
    test_pairs((const vector *)v, out, n);
    AX_END();
    bench_result("u8", 1, "meetings", out, (size_t)n);
    return 0;
}
