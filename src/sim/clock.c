/* Exact conversion between clocks. Products fit into 64 bits except in runs of days of simulated time. */
#include "sim/clock.h"

#include <assert.h>

__extension__ typedef unsigned __int128 wide;

static uint64_t gcd(uint64_t a, uint64_t b) {
    while (b) {
        uint64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

struct clock clock_make(uint64_t khz, uint64_t core_khz) {
    assert(khz && core_khz);
    uint64_t g = gcd(khz, core_khz), num = khz / g, den = core_khz / g;
    return (struct clock){num, den, divisor_make(num), divisor_make(den), UINT64_MAX / 2 / max_u64(num, den)};
}

uint64_t clock_scale_down(uint64_t a, uint64_t b, uint64_t c) {
    uint64_t product;
    if (!__builtin_mul_overflow(a, b, &product))
        return product / c;
    return (uint64_t)((wide)a * b / c);
}

uint64_t clock_scale_up(uint64_t a, uint64_t b, uint64_t c) {
    uint64_t product;
    if (!__builtin_mul_overflow(a, b, &product) && product <= UINT64_MAX - c)
        return (product + c - 1) / c;
    return (uint64_t)(((wide)a * b + c - 1) / c);
}
