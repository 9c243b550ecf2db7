/* Hotspot: the temperature of a chip over time, from the power of its parts.
 *
 * The block is a cell's next temperature from its power, its temperature, and the sums of its neighbours' in
 * two directions: four numbers of four bytes. Constants are those of Rodinia's program, in whose steps
 * temperatures change by less than a thousandth; inputs are such as its measured ones: parts of a chip have
 * one power each, and temperatures are smooth and no two are the same. */
#include "bench.h"

#ifndef BITS
#define BITS 8
#endif

enum { PARTS = 18, STEPS = 6 };

/* What a step needs to know of a chip of n by n cells: how well heat goes to a neighbour and to the outside,
 * and how far a step goes. */
struct chip {
    float beside, out, pace;
};

static struct chip chip_of(int n) {
    const float width = 0.016f, thickness = 0.0005f, conductivity = 100, heat = 1.75e6f, fitting = 0.5f;
    const float most_power = 3e6f, precision = 0.001f;
    float cell = width / (float)n, capacity = fitting * heat * thickness * cell * cell,
          slope = most_power / (fitting * thickness * heat);
    return (struct chip){2 * conductivity * thickness, conductivity * cell * cell / thickness,
                         precision / slope / 1000 / capacity};
}

static __attribute__((noinline)) void step(const struct chip *chip, const float *in, const float *power,
                                           float *out, int n) {
    const float ambient = 80, beside = chip->beside, outwards = chip->out, pace = chip->pace;
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
                next = t + pace * (p + (vertical - 2 * t) * beside + (horizontal - 2 * t) * beside +
                                   (ambient - t) * outwards);
                AX_UPDATE_F32(next, 0);
            }
            out[at] = next;
        }
}

/* A part of the chip: its power, and the warmth around it. */
static void add_part(float *temperature, float *power, int n) {
    int x = (int)bench_below((uint32_t)n), y = (int)bench_below((uint32_t)n),
        w = n / 10 + (int)bench_below((uint32_t)n / 5), h = n / 10 + (int)bench_below((uint32_t)n / 5);
    float watts = 0.001f + 0.009f * bench_uniform(), warmth = 10 * bench_uniform();
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            float dx = (float)(2 * (i - x) - w) / (float)w, dy = (float)(2 * (j - y) - h) / (float)h;
            temperature[j * n + i] += warmth / (1 + dx * dx + dy * dy);
            if (i >= x && i < x + w && j >= y && j < y + h)
                power[j * n + i] = watts;
        }
}

int main(int argc, char **argv) {
    static const int sizes[SIZES] = {24, 96, 256, 512};
    int n = sizes[bench_start(argc, argv)];
    size_t cells = (size_t)n * (size_t)n;
    float *a = bench_alloc(cells, 4), *b = bench_alloc(cells, 4), *power = bench_alloc(cells, 4);
    struct chip chip = chip_of(n);
    for (size_t k = 0; k < cells; k++) {
        a[k] = 323;
        power[k] = 0.0005f;
    }
    for (int k = 0; k < PARTS; k++)
        add_part(a, power, n);
    AX_BEGIN();
    for (int k = 0; k < STEPS; k++) {
        step(&chip, a, power, b, n);
        float *t = a;
        a = b;
        b = t;
    }
    AX_END();
    bench_result("f32", 4, "temperatures", a, cells);
    return 0;
}
