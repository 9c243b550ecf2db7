/* Loops that the compiler turns into vector code, for every type. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1003 };

#define LOOPS(T, name, format, scale)                                                                        \
    static void name(unsigned seed) {                                                                        \
        static T a[N], b[N], c[N], d[3 * N];                                                                 \
        for (int k = 0; k < N; k++) {                                                                        \
            seed = seed * 1664525 + 1013904223;                                                              \
            a[k] = (T)((int)(seed >> 8) / (scale));                                                          \
            b[k] = (T)((int)(seed >> 13) / (scale) + 1);                                                     \
        }                                                                                                    \
        T low = a[0], high = a[0], sum = 0, dot = 0;                                                         \
        int matches = 0;                                                                                     \
        for (int k = 0; k < N; k++) {                                                                        \
            low = a[k] < low ? a[k] : low;                                                                   \
            high = a[k] > high ? a[k] : high;                                                                \
            sum += a[k];                                                                                     \
            dot += a[k] * b[k];                                                                              \
            matches += a[k] > b[k];                                                                          \
            c[k] = a[k] > b[k] ? a[k] - b[k] : b[k] - a[k];                                                  \
        }                                                                                                    \
        for (int k = 0; k < N; k++) {                                                                        \
            d[3 * k] = a[N - 1 - k];                                                                         \
            d[3 * k + 1] = b[k];                                                                             \
            d[3 * k + 2] = c[k];                                                                             \
        }                                                                                                    \
        T mixed = 0;                                                                                         \
        for (int k = 0; k < N; k++)                                                                          \
            mixed += d[3 * k] * 2 - d[3 * k + 1] + (T)(d[3 * k + 2] / 2);                                    \
        printf(#T " " format " " format " " format " " format " " format " %d\n", low, high, sum, dot,       \
               mixed, matches);                                                                              \
    }
LOOPS(int8_t, loops_i8, "%d", 100000)
LOOPS(uint8_t, loops_u8, "%u", 100000)
LOOPS(int16_t, loops_i16, "%d", 1000)
LOOPS(uint16_t, loops_u16, "%u", 1000)
LOOPS(int32_t, loops_i32, "%d", 10)
LOOPS(uint32_t, loops_u32, "%u", 10)
LOOPS(int64_t, loops_i64, "%ld", 1)
LOOPS(uint64_t, loops_u64, "%lu", 1)
LOOPS(float, loops_float, "%a", 1000)
LOOPS(double, loops_double, "%a", 1000)

static void conversions(void) {
    static float f[N];
    static double g[N];
    static int32_t i[N];
    static uint16_t h[N];
    static int8_t c[N];
    for (int k = 0; k < N; k++) {
        c[k] = (int8_t)(k * 7);
        h[k] = (uint16_t)(k * 321);
    }
    for (int k = 0; k < N; k++)
        f[k] = (float)h[k] * 0.25f - c[k];
    for (int k = 0; k < N; k++)
        i[k] = (int32_t)f[k] << (k & 7);
    for (int k = 0; k < N; k++)
        g[k] = (double)i[k] / (f[k] * f[k] + 1);
    for (int k = 0; k < N; k++)
        h[k] = (uint16_t)(g[k] * 1000);
    for (int k = 0; k < N; k++)
        c[k] = (int8_t)(h[k] >> 3 > 127 ? 127 : h[k] >> 3);
    double sum = 0;
    long total = 0;
    for (int k = 0; k < N; k++) {
        sum += g[k] * f[k];
        total += i[k] + h[k] * c[k] + __builtin_popcount((unsigned)i[k]) + abs(i[k]);
    }
    printf("%a %ld\n", sum, total);
}

int main(void) {
    loops_i8(1), loops_u8(2), loops_i16(3), loops_u16(4), loops_i32(5), loops_u32(6), loops_i64(7),
        loops_u64(8);
    loops_float(9), loops_double(10), conversions();
    return 0;
}
