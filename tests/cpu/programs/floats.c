/* Printing and reading floating-point numbers, and the mathematical library. */
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    static const double values[] = {0,
                                    -0.0,
                                    1,
                                    -1.5,
                                    0.1,
                                    1e300,
                                    1e-300,
                                    5e-324,
                                    2.2250738585072014e-308,
                                    123456789.123456789,
                                    3.14159265358979,
                                    1e15,
                                    1e16,
                                    1.7976931348623157e308,
                                    INFINITY,
                                    -INFINITY,
                                    0.5,
                                    2.5,
                                    1234567.0,
                                    6.02214076e23};
    for (size_t k = 0; k < sizeof values / sizeof values[0]; k++) {
        double v = values[k];
        printf("%g %e %f %a %.17g %.3Lg %10.2f|%-12.4e|%+.0f %#.3g\n", v, v, v, v, v, (long double)v, v, v, v,
               v);
        printf("%d %d %d %a %a\n", isnan(v), isinf(v), signbit(v), nextafter(v, 1), (double)(float)v);
    }
    double s = 0;
    for (int k = 1; k < 200; k++) {
        double x = k * 0.37 - 30;
        printf("%a %a %a %a %a ", sin(x), cos(x), tan(x), exp(x / 10), atan2(x, k));
        printf("%a %a %a %a %a\n", log(fabs(x) + 1), pow(fabs(x), 1.7), cbrt(x), erf(x / 9), tgamma(k / 9.0));
        printf("%a %a %a %a %ld %lld\n", floor(x), ceil(x), round(x), rint(x), lround(x), llrint(x));
        printf("%a %a %a %a\n", (double)sinf((float)x), (double)expf((float)x / 10), (double)logf((float)k),
               (double)powf((float)k, 0.3f));
        printf("%a %a %a\n", fmod(x, 0.7), remainder(x, 0.7), hypot(x, k));
        s += fma(x, s, 1 / x);
    }
    double complex z = 0.3 + 0.4 * I;
    for (int k = 0; k < 10; k++)
        z = z * z + cexp(z) / (1 + I);
    printf("%a %.12g %.12g\n", s, creal(z), cimag(z));
    printf("%a %a %a %d\n", strtod("0x1.8p-3", NULL), strtod("1e-400", NULL),
           strtod("179769313486231580793e289", NULL), atoi("-77"));
    long double q = 1.0L;
    for (int k = 1; k < 25; k++)
        q = q * k / 3 + 0.1L;
    printf("%.25Lg %.20Lg\n", q, sqrtl(q));
    return 0;
}
