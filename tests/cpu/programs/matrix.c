/* Matrices: products, elimination, eigenvalues by iteration; in both formats, and vectorized by the compiler.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 64 };

#define PRODUCT(name, T)                                                                                     \
    static void name(const T *a, const T *b, T *c) {                                                         \
        for (int i = 0; i < N; i++)                                                                          \
            for (int k = 0; k < N; k++)                                                                      \
                for (int j = 0; j < N; j++)                                                                  \
                    c[i * N + j] += a[i * N + k] * b[k * N + j];                                             \
    }
PRODUCT(product_float, float)
PRODUCT(product_double, double)
PRODUCT(product_int, int)

static double determinant(double *m) {
    double det = 1;
    for (int c = 0; c < N; c++) {
        int best = c;
        for (int r = c + 1; r < N; r++)
            if (fabs(m[r * N + c]) > fabs(m[best * N + c]))
                best = r;
        for (int k = 0; best != c && k < N; k++) {
            double t = m[c * N + k];
            m[c * N + k] = m[best * N + k];
            m[best * N + k] = t;
        }
        det *= best != c ? -m[c * N + c] : m[c * N + c];
        for (int r = c + 1; r < N; r++) {
            double f = m[r * N + c] / m[c * N + c];
            for (int k = c; k < N; k++)
                m[r * N + k] -= f * m[c * N + k];
        }
    }
    return det;
}

int main(void) {
    static float fa[N * N], fb[N * N], fc[N * N];
    static double da[N * N], db[N * N], dc[N * N];
    static int ia[N * N], ib[N * N], ic[N * N];
    unsigned s = 1;
    for (int k = 0; k < N * N; k++) {
        s = s * 1103515245 + 12345;
        ia[k] = (int)(s >> 16) % 100 - 50;
        ib[k] = (int)(s >> 20) % 100 - 50;
        fa[k] = (float)ia[k] / 7;
        fb[k] = (float)ib[k] / 3;
        da[k] = fa[k];
        db[k] = fb[k];
    }
    product_float(fa, fb, fc);
    product_double(da, db, dc);
    product_int(ia, ib, ic);
    double worst = 0;
    long sum = 0;
    for (int k = 0; k < N * N; k++) {
        worst = fabs(fc[k] - dc[k]) > worst ? fabs(fc[k] - dc[k]) : worst;
        sum += ic[k] ^ k;
    }
    printf("%.9g %ld %a\n", worst, sum, determinant(da));
    double v[N], w[N], norm = 0;
    for (int k = 0; k < N; k++)
        v[k] = 1;
    for (int step = 0; step < 50; step++) {
        norm = 0;
        for (int i = 0; i < N; i++) {
            w[i] = 0;
            for (int j = 0; j < N; j++)
                w[i] += (dc[i * N + j] + dc[j * N + i]) * v[j];
            norm += w[i] * w[i];
        }
        for (int i = 0; i < N; i++)
            v[i] = w[i] / sqrt(norm);
    }
    printf("%.15g\n", sqrt(norm));
    return 0;
}
