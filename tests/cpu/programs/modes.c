/* Rounding modes and exceptions of floating point, and integers of 128 bits. */
#include <fenv.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>

int main(void) {
    static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    static volatile double a[] = {1, 3, -1, 0.1, 1e308, 1e-308, 5e-324, 0, 2.5, -2.5, 1e16};
    for (int m = 0; m < 4; m++) {
        fesetround(modes[m]);
        for (int i = 0; i < 11; i++)
            for (int j = 0; j < 11; j++) {
                feclearexcept(FE_ALL_EXCEPT);
                volatile double sum = a[i] + a[j], product = a[i] * a[j], quotient = a[i] / a[j],
                                root = sqrt(a[i]);
                volatile float narrow = (float)a[i], fq = (float)a[i] / (float)a[j];
                printf("%a %a %a %a %a %a %ld %a %x\n", sum, product, quotient, root, (double)narrow,
                       (double)fq, lrint(a[i] / 4), nearbyint(a[j]), (unsigned)fetestexcept(FE_ALL_EXCEPT));
            }
    }
    fesetround(FE_TONEAREST);
    unsigned __int128 x = 1, y = 0;
    for (int k = 1; k < 40; k++) {
        x = x * (unsigned)(k + 7) + (x >> 61);
        y += x / (unsigned)(k * k + 1) ^ x % 1000003;
        __int128 z = -(__int128)(y >> 3);
        printf("%016llx%016llx %d %d\n", (unsigned long long)(y >> 64), (unsigned long long)y, z < 0,
               (int)(z / 1000 % 1000));
    }
    for (int64_t n = -5; n <= 5; n += 2)
        for (int64_t d = -3; d <= 3; d++)
            if (d)
                printf("%lld %lld %lld ", (long long)(n * 123456789 / d), (long long)(n % d),
                       (long long)((uint64_t)n / (uint64_t)d));
    puts("");
    return 0;
}
