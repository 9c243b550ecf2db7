/* Floating-point numbers and their bits. */
#ifndef REPRISE_BASE_IEEE_H
#define REPRISE_BASE_IEEE_H

#include <stdint.h>
#include <string.h>

static inline float float_of(uint32_t bits) {
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static inline double double_of(uint64_t bits) {
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static inline uint32_t bits_of_float(float v) {
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static inline uint64_t bits_of_double(double v) {
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

#endif
