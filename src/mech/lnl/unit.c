/* Comparison and interpolation, bit for bit. */
#include <math.h>

#include "base/ieee.h"
#include "mech/lnl/unit.h"

enum { TOP_BITS = 8 };

bool unit_alike_exact(uint32_t a, uint32_t b, double threshold) {
    double x = float_of(a), y = float_of(b);
    if (a == b || (x == 0 && y == 0))
        return threshold > 0;
    return fabs(x - y) < threshold * fabs(x) && isfinite(x);
}

bool unit_alike_int(uint32_t a, uint32_t b, double threshold) {
    int64_t d = (int64_t)(int32_t)a - (int32_t)b;
    return (double)(d < 0 ? -d : d) < threshold;
}

uint32_t unit_between(uint32_t a, uint32_t b, uint32_t x, uint32_t n) {
    if (a == b)
        return a;
    float va = float_of(a), vb = float_of(b), w = (float)x / (float)n;
    return bits_of_float(va + w * (vb - va));
}

uint32_t unit_weighted(uint32_t a, uint32_t b, uint32_t x, uint32_t n) {
    float va = float_of(a), vb = float_of(b);
    return bits_of_float(((float)((int32_t)n - (int32_t)x) * va + (float)x * vb) / (float)n);
}

/* One component: rounded to the nearest, halves upwards, and within a byte. */
static uint32_t between_byte(uint32_t a, uint32_t b, int32_t x, int32_t n) {
    int32_t twice = 2 * n * (int32_t)a + 2 * x * ((int32_t)b - (int32_t)a) + n;
    uint32_t v = twice < 0 ? 0 : (uint32_t)twice / (2 * (uint32_t)n);
    return v > 255 ? 255 : v;
}

uint32_t unit_between_bytes(uint32_t a, uint32_t b, uint32_t x, uint32_t n) {
    uint32_t v = 0;
    for (uint32_t k = 0; k < 32; k += TOP_BITS)
        v |= between_byte(a >> k & 0xff, b >> k & 0xff, (int32_t)x, (int32_t)n) << k;
    return v;
}
