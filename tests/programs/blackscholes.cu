// European option prices in float and double: expf, logf, sqrtf, erfcf and their double twins; and the fast
// intrinsics. Results of approximate functions are compared within a tolerance with the host's.
#include "test.h"

template <class T> __host__ __device__ T cumulative(T d) {
    const T k = T(1) / (T(1) + T(0.2316419) * fabs(d));
    T poly = k * (T(0.31938153) +
                  k * (T(-0.356563782) + k * (T(1.781477937) + k * (T(-1.821255978) + k * T(1.330274429)))));
    T c = T(0.39894228040143267794) * exp(T(-0.5) * d * d) * poly;
    return d > 0 ? T(1) - c : c;
}

template <class T> __host__ __device__ void price(T s, T x, T t, T r, T v, T &call, T &put) {
    T root = sqrt(t), d1 = (log(s / x) + (r + T(0.5) * v * v) * t) / (v * root), d2 = d1 - v * root;
    T c1 = cumulative(d1), c2 = cumulative(d2), disc = exp(-r * t);
    call = s * c1 - x * disc * c2;
    put = x * disc * (T(1) - c2) - s * (T(1) - c1);
}

template <class T> __global__ void options(const T *s, const T *x, const T *t, T *call, T *put, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        price(s[i], x[i], t[i], T(0.02), T(0.30), call[i], put[i]);
}

// The closed form by the error function, with the hardware's fast exponential and logarithm.
__global__ void options_fast(const float *s, const float *x, const float *t, float *call, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float root = __fsqrt_rn(t[i]),
          d1 = __fdividef(__logf(__fdividef(s[i], x[i])) + 0.065f * t[i], 0.3f * root);
    float d2 = d1 - 0.3f * root;
    call[i] = s[i] * 0.5f * erfcf(-d1 * 0.70710678f) -
              x[i] * __expf(-0.02f * t[i]) * 0.5f * erfcf(-d2 * 0.70710678f);
}

template <class T> static std::vector<T> run(const char *name, int n, double tolerance) {
    random_source rng(21);
    std::vector<T> s(n), x(n), t(n), call(n), put(n);
    for (int i = 0; i < n; i++) {
        s[i] = T(5) + T(25) * rng.unit();
        x[i] = T(1) + T(99) * rng.unit();
        t[i] = T(0.25) + T(9.75) * rng.unit();
        price(s[i], x[i], t[i], T(0.02), T(0.30), call[i], put[i]);
    }
    dev_array<T> ds(s), dx(x), dt(t), dcall(n), dput(n);
    options<<<12, 128>>>(ds.ptr, dx.ptr, dt.ptr, dcall.ptr, dput.ptr, n);
    SYNC();
    verdict(name, max_error(dcall.get(), call) < tolerance && max_error(dput.get(), put) < tolerance);
    if (sizeof(T) == sizeof(float)) {
        options_fast<<<div_up(n, 128), 128>>>((float *)ds.ptr, (float *)dx.ptr, (float *)dt.ptr,
                                              (float *)dcall.ptr, n);
        SYNC();
        verdict("fast", max_error(dcall.get(), call) < 1e-3);
    }
    double sum = 0;
    for (T v : call)
        sum += v;
    printf("%s mean %.3f\n", name, sum / n);
    return call;
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 6000);
    run<float>("float", n, 1e-4);
    run<double>("double", n / 4, 1e-12);
    return finish();
}
