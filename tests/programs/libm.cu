// The mathematical library in float and double over many arguments, compared with the host's within a few
// units in the last place of the result's size; includes slow paths (large arguments of sin, subnormals).
#include "test.h"

template <class T> __host__ __device__ void all_functions(T x, T y, T *o) {
    T p = fabs(x) + T(1e-3);
    o[0] = sin(x);
    o[1] = cos(x);
    o[2] = tan(y * T(0.5));
    o[3] = exp(y * T(3));
    o[4] = log(p);
    o[5] = pow(p, y);
    o[6] = sqrt(p);
    o[7] = T(1) / sqrt(p);
    o[8] = cbrt(x);
    o[9] = atan2(y, x);
    o[10] = asin(y * T(0.5));
    o[11] = acos(y * T(0.25));
    o[12] = sinh(y);
    o[13] = cosh(y);
    o[14] = tanh(y);
    o[15] = erf(y);
    o[16] = erfc(y);
    o[17] = lgamma(p);
    o[18] = tgamma(fabs(y) + T(1));
    o[19] = hypot(x, y);
    o[20] = fmod(x, p * T(0.37));
    o[21] = log2(p) + log10(p);
    o[22] = exp2(y) + expm1(y) + log1p(p);
    o[23] = floor(x) + ceil(y) + trunc(x) + round(y) + rint(x);
    o[24] = ldexp(y, 5) + fdim(x, y) + fmax(x, y) - fmin(x, y);
    int e;
    o[25] = frexp(x, &e);
    o[25] += e;
    T whole;
    o[26] = modf(x, &whole) + whole;
    o[27] = asinh(x) + acosh(p + T(1)) + atanh(y * T(0.2));
    o[28] = x / (y + T(3));
    o[29] = remainder(x, T(2.5));
}
const int functions = 30;

template <class T> __global__ void run(const T *x, const T *y, T *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        all_functions(x[i], y[i], out + i * functions);
}

template <class T> static void compare(const char *name, int n, double tolerance) {
    random_source rng(43);
    std::vector<T> x(n), y(n), want(n * functions);
    for (int i = 0; i < n; i++) {
        x[i] = T((rng.unit() - 0.5f) * ldexpf(1, int(rng.below(24)) - 6));
        y[i] = T(rng.unit() * 4 - 2);
    }
    x[0] = T(123456.789);
    x[1] = T(-1e7);
    x[2] = T(1e-20);
    for (int i = 0; i < n; i++)
        all_functions(x[i], y[i], &want[i * functions]);
    dev_array<T> dx(x), dy(y), out(n * functions);
    run<<<div_up(n, 64), 64>>>(dx.ptr, dy.ptr, out.ptr, n);
    SYNC();
    std::vector<T> got = out.get();
    for (int f = 0; f < functions; f++) {
        double worst = 0;
        for (int i = 0; i < n; i++) {
            double a = got[i * functions + f], b = want[i * functions + f];
            double err = std::fabs(a - b) / std::fmax(1.0, std::fabs(b));
            worst = err > worst || std::isnan(err) ? err : worst;
        }
        printf("%s %d %s\n", name, f, worst < tolerance ? "OK" : "MISMATCH");
        failures += !(worst < tolerance);
    }
}

__global__ void fast(const float *x, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float v = x[i];
    float *o = out + i * 8;
    o[0] = __sinf(v);
    o[1] = __cosf(v);
    o[2] = __expf(v);
    o[3] = __logf(v + 4.0f);
    o[4] = __powf(v + 4.0f, 0.7f);
    o[5] = __fdividef(v, 3.7f);
    o[6] = rsqrtf(v + 4.0f);
    o[7] = __tanf(v * 0.3f);
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 256);
    compare<float>("float", n, 4e-6);
    compare<double>("double", n, 4e-14);
    std::vector<float> x(n), want(n * 8);
    random_source rng(44);
    for (int i = 0; i < n; i++) {
        float v = x[i] = rng.unit() * 6 - 3;
        const float w[8] = {sinf(v),           cosf(v),  expf(v),          logf(v + 4),
                            powf(v + 4, 0.7f), v / 3.7f, 1 / sqrtf(v + 4), tanf(v * 0.3f)};
        std::copy(w, w + 8, &want[i * 8]);
    }
    dev_array<float> dx(x), out(n * 8);
    fast<<<div_up(n, 64), 64>>>(dx, out, n);
    SYNC();
    verdict("fast", max_error(out.get(), want) < 1e-5);
    return finish();
}
