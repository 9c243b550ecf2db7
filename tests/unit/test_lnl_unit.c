/* Lock and Load's comparison unit against its definition, and interpolation against a plain reference. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/alike.h"
#include "base/ieee.h"
#include "mech/lnl/unit.h"

static uint32_t next_random(uint64_t *s) {
    *s = *s * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*s >> 32);
}

/* The reciprocal is within 3.4% of 1/x over all 128 divisors, and somewhere as far off as 3.3%. */
static void reciprocal_is_near(void **state) {
    (void)state;
    double worst = 0;
    for (uint32_t f = 0; f < 128; f++) {
        double exact = 128.0 / (128 + f), got = alike_reciprocal(f) / 256.0;
        assert_true(alike_reciprocal(f) <= 255);
        worst = fmax(worst, fabs(got / exact - 1));
    }
    assert_true(worst < 0.034);
    assert_true(worst > 0.033);
}

/* The unit, written as the text has it: signs, exponents, mantissas of eight bits, a shift, a difference, a
 * product. */
static bool alike_by_text(uint32_t a, uint32_t b, double threshold) {
    int sign_a = a >> 31, sign_b = b >> 31, exp_a = (a >> 23) & 255, exp_b = (b >> 23) & 255;
    if (exp_a == 0 || exp_b == 0 || exp_a == 255 || exp_b == 255)
        return threshold > 0 && (a == b || ((a & 0x7fffffff) == 0 && (b & 0x7fffffff) == 0));
    if (sign_a != sign_b || abs(exp_a - exp_b) >= 2)
        return false;
    int ma = 128 + ((a >> 16) & 127), mb = 128 + ((b >> 16) & 127), div = ma;
    if (exp_a < exp_b) {
        div = mb;
        ma /= 2;
    } else if (exp_b < exp_a) {
        mb /= 2;
    }
    int f = div - 128, recip = f <= 16 ? 255 - 2 * f : f <= 96 ? 240 - f : 191 - f / 2;
    return (double)(abs(ma - mb) * recip) / 32768 < threshold;
}

static void unit_is_what_the_text_says(void **state) {
    (void)state;
    static const double thresholds[] = {0, 0.01, 0.05, 0.1, 0.3, 0.5};
    uint64_t seed = 1;
    for (uint32_t n = 0; n < 2000000; n++) {
        uint32_t a = next_random(&seed),
                 b = n & 1 ? a + (next_random(&seed) >> (6 + n % 20)) : next_random(&seed);
        double th = thresholds[n % 6];
        assert_int_equal(alike_floats(a, b, alike_threshold(th), true), alike_by_text(a, b, th));
    }
}

/* What a threshold of 0.1 lets pass, and what it does not. */
static void unit_is_near_the_exact_metric(void **state) {
    (void)state;
    double accepted = 0, rejected = 1;
    uint64_t seed = 2;
    for (uint32_t n = 0; n < 2000000; n++) {
        uint32_t a = bits_of_float(1 + next_random(&seed) * 0x1p-32f);
        uint32_t b = bits_of_float(float_of(a) * (0.8f + 0.4f * (next_random(&seed) * 0x1p-32f)));
        double er = fabs((double)float_of(a) - float_of(b)) / float_of(a);
        if (alike_floats(a, b, alike_threshold(0.1), true))
            accepted = fmax(accepted, er);
        else
            rejected = fmin(rejected, er);
    }
    assert_true(accepted > 0.11 && accepted < 0.12);
    assert_true(rejected > 0.085 && rejected < 0.1);
}

static void special_numbers(void **state) {
    (void)state;
    uint32_t inf = bits_of_float(INFINITY), large = bits_of_float(3.4e38f), zero = 0, minus = 0x80000000,
             tiny = 1;
    uint32_t th = alike_threshold(0.5);
    assert_false(alike_floats(large, inf, th, true));
    assert_true(alike_floats(large, inf, th, false)); /* without the rule they are */
    assert_true(alike_floats(inf, inf, th, true));
    assert_false(alike_floats(inf, inf | minus, th, true));
    assert_true(alike_floats(zero, minus, th, true));
    assert_false(alike_floats(zero, tiny, th, true));
    assert_false(alike_floats(zero, bits_of_float(1e-30f), th, true));
    assert_false(alike_floats(bits_of_float(1), bits_of_float(1), 0, true)); /* nothing is below 0 */
    assert_true(unit_alike_exact(zero, minus, 0.1));
    assert_false(unit_alike_exact(zero, tiny, 0.1));
    assert_false(unit_alike_exact(inf, large, 0.5));
    assert_true(unit_alike_int(100, 107, 8));
    assert_false(unit_alike_int(107, 99, 8));
    assert_false(unit_alike_int(5, 5, 0));
}

static void interpolation(void **state) {
    (void)state;
    uint64_t seed = 3;
    uint32_t weighted = 0;
    for (uint32_t n = 0; n < 200000; n++) {
        float a = 1 + next_random(&seed) * 0x1p-20f, b = 1 + next_random(&seed) * 0x1p-20f;
        uint32_t span = 1 + n % 16, x = next_random(&seed) % (span + 1);
        double want = a + (double)x / span * ((double)b - a);
        double got = float_of(unit_between(bits_of_float(a), bits_of_float(b), x, span));
        assert_true(fabs(got - want) <= 4 * fmax(a, b) * 0x1p-24);
        assert_int_equal(unit_between(bits_of_float(a), bits_of_float(a), x, span), bits_of_float(a));
        weighted += unit_weighted(bits_of_float(a), bits_of_float(a), x, span) != bits_of_float(a);
    }
    assert_true(weighted > 0); /* a weighted sum does not give back equal ends */
    assert_int_equal(unit_between(bits_of_float(INFINITY), bits_of_float(INFINITY), 1, 4),
                     bits_of_float(INFINITY));
}

static void bytes_are_apart(void **state) {
    (void)state;
    for (uint32_t a = 0; a < 256; a++)
        for (uint32_t b = 0; b < 256; b++)
            for (uint32_t x = 0; x <= 4; x++) {
                uint32_t want = (uint32_t)lround(a + x * ((double)b - a) / 4);
                uint32_t got =
                    unit_between_bytes(a << 24 | b << 16 | 7 << 8 | a, b << 24 | a << 16 | 7 << 8 | b, x, 4);
                assert_int_equal(got >> 8 & 255, 7);
                assert_in_range(got >> 24, want ? want - 1 : 0, want + 1);
                assert_int_equal(got >> 24, got & 255);
                double exact = a + x * ((double)b - a) / 4;
                assert_true(fabs((got & 255) - exact) <= 0.5);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reciprocal_is_near),
        cmocka_unit_test(unit_is_what_the_text_says),
        cmocka_unit_test(unit_is_near_the_exact_metric),
        cmocka_unit_test(special_numbers),
        cmocka_unit_test(interpolation),
        cmocka_unit_test(bytes_are_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
