/* Inversek2j: the angles of an arm with two joints from where its hand is.
 *
 * The block takes a place, two numbers of four bytes, and gives two angles. The places are those of an arm
 * that carries things between a few stations: it goes along the same paths again and again, and one
 * measurement of eight differs a little from what it was before. */
#include <math.h>

#include "bench.h"

#ifndef BITS
#define BITS 8
#endif

static const float upper = 0.5f, lower = 0.5f;

static void angles_of(float x, float y, float *t1, float *t2) {
    *t2 = (float)acos(((x * x) + (y * y) - (upper * upper) - (lower * lower)) / (2 * upper * lower));
    *t1 = (float)asin((y * (upper + lower * cos(*t2)) - x * lower * sin(*t2)) / (x * x + y * y));
}

static __attribute__((noinline)) void angles(const float *xy, float *out, int n) {
    for (int k = 0; k < n; k++) {
        float x = AX_LDX_F32(&xy[2 * k], 0, 0, BITS), y = AX_LDX_F32(&xy[2 * k], 1, 0, BITS), t1, t2;
        int64_t both = 0;
        if (AX_LOOKUP_I64(both, 0)) {
            ax_unpack_f32(both, &t1, &t2);
        } else {
            angles_of(x, y, &t1, &t2);
            AX_UPDATE_F32X2(ax_pack_f32(t1, t2), 0);
        }
        out[2 * k] = t1;
        out[2 * k + 1] = t2;
    }
}

enum { STATIONS = 12, STEPS = 40 };

int main(int argc, char **argv) {
    static const int sizes[SIZES] = {2000, 60000, 250000, 1240000};
    int n = sizes[bench_start(argc, argv)], from = 0, to = 1;
    float *xy = bench_alloc(n, 8), *out = bench_alloc(n, 8), station[STATIONS][2];
    for (int s = 0; s < STATIONS; s++)
        for (int a = 0; a < 2; a++)
            station[s][a] = 0.2f + 1.2f * bench_uniform();
    for (int k = 0, step = 0; k < n; k++, step++) {
        if (step == STEPS) {
            from = to;
            to = (from + 1 + (int)bench_below(STATIONS - 1)) % STATIONS;
            step = 0;
        }
        float t = (float)step / STEPS, t1 = station[from][0] + (station[to][0] - station[from][0]) * t,
              t2 = station[from][1] + (station[to][1] - station[from][1]) * t;
        float near = bench_below(8) ? 1 : 1 + (bench_uniform() - 0.5f) * 0x1p-16f;
        xy[2 * k] = (upper * cosf(t1) + lower * cosf(t1 + t2)) * near;
        xy[2 * k + 1] = (upper * sinf(t1) + lower * sinf(t1 + t2)) * near;
    }
    AX_BEGIN();
    angles(xy, out, n);
    AX_END();
    bench_result("f32", 4, "angles", out, 2 * (size_t)n);
    return 0;
}
