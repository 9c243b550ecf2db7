/* Hotspot: the temperature of a chip over time, from the power of its parts.
 *
 * The block is a cell's next temperature from its power, its temperature, and the sums of its neighbours' in
 * two directions: four numbers of four bytes. Parts of a chip have one power each. */
#include "bench.h"

#ifndef BITS
#define BITS 8
#endif

enum { PARTS = 18, STEPS = 6 };

static __attribute__((noinline)) void step(const float *in, const float *power, float *out, int n) {
    const float cap = 0.5f, rx = 0.15f, ry = 0.15f, rz = 0.0125f, ambient = 80, dt = 0.4f;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            int at = j * n + i;
            int up = j ? at - n : at, down = j < n - 1 ? at + n : at, left = i ? at - 1 : at,
                right = i < n - 1 ? at + 1 : at;
            float t = AX_LD_F32(&in[at], 0, BITS), p = AX_LD_F32(&power[at], 0, BITS);
            float vertical = in[up] + in[down], horizontal = in[left] + in[right], next = 0;
            AX_REG_F32(vertical, 0, BITS);
            AX_REG_F32(horizontal, 0, BITS);
            if (!AX_LOOKUP_F32(next, 0)) {
                next = t + dt / cap *
                               (p + (vertical - 2 * t) * ry + (horizontal - 2 * t) * rx + (ambient - t) * rz);
                AX_UPDATE_F32(next, 0);
            }
            out[at] = next;
        }
}

int main(int argc, char **argv) {
    static const int sizes[SIZES] = {24, 96, 256, 512};
    int n = sizes[bench_start(argc, argv)];
    size_t cells = (size_t)n * (size_t)n;
    float *a = bench_alloc(cells, 4), *b = bench_alloc(cells, 4), *power = bench_alloc(cells, 4);
    for (size_t k = 0; k < cells; k++) {
        a[k] = 323;
        power[k] = 0.5f;
    }
    for (int k = 0; k < PARTS; k++) {
        int x = (int)bench_below((uint32_t)n), y = (int)bench_below((uint32_t)n),
            w = n / 10 + (int)bench_below((uint32_t)n / 5), h = n / 10 + (int)bench_below((uint32_t)n / 5);
        float watts = 1 + 4 * bench_uniform(), warm = 323 + 10 * bench_uniform();
        for (int j = y; j < y + h && j < n; j++)
            for (int i = x; i < x + w && i < n; i++) {
                a[j * n + i] = warm;
                power[j * n + i] = watts;
            }
    }
    AX_BEGIN();
    for (int k = 0; k < STEPS; k++) {
        step(a, power, b, n);
        float *t = a;
        a = b;
        b = t;
    }
    AX_END();
    bench_result("f32", 4, "temperatures", a, cells);
    return 0;
}
