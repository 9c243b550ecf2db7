// Radix-2 fast Fourier transform: one block per signal in shared memory, bit reversal by brev, twiddles by
// sincospif; then the inverse, which must give the signal back.
#include "test.h"

template <int LOG> __global__ void fft(const float2 *in, float2 *out, float direction) {
    const int n = 1 << LOG;
    __shared__ float2 s[n];
    int t = threadIdx.x;
    for (int i = t; i < n; i += n / 2)
        s[__brev(i) >> (32 - LOG)] = in[blockIdx.x * n + i];
    for (int half = 1; half < n; half <<= 1) {
        __syncthreads();
        int k = t & (half - 1), a = 2 * t - k, b = a + half;
        float sn, cs;
        sincospif(direction * float(k) / float(half), &sn, &cs);
        float2 u = s[a], v = s[b];
        float2 w = make_float2(v.x * cs - v.y * sn, v.x * sn + v.y * cs);
        s[a] = make_float2(u.x + w.x, u.y + w.y);
        s[b] = make_float2(u.x - w.x, u.y - w.y);
    }
    __syncthreads();
    for (int i = t; i < n; i += n / 2)
        out[blockIdx.x * n + i] = s[i];
}

int main(int argc, char **argv) {
    const int log = 9, n = 1 << log;
    int signals = size_arg(argc, argv, 8);
    random_source rng(13);
    std::vector<float2> in(signals * n);
    for (float2 &v : in)
        v = make_float2(rng.unit() - 0.5f, rng.unit() - 0.5f);
    dev_array<float2> src(in), freq(in.size()), back(in.size());
    fft<log><<<signals, n / 2>>>(src, freq, -1.0f);
    fft<log><<<signals, n / 2>>>(freq, back, 1.0f);
    SYNC();
    std::vector<float2> f = freq.get(), g = back.get();
    double err = 0, round_trip = 0;
    for (int k = 0; k < n; k += 37) {
        double re = 0, im = 0;
        for (int i = 0; i < n; i++) {
            double angle = -2 * M_PI * double(i) * k / n;
            re += in[i].x * std::cos(angle) - in[i].y * std::sin(angle);
            im += in[i].x * std::sin(angle) + in[i].y * std::cos(angle);
        }
        err = std::fmax(err, std::hypot(re - f[k].x, im - f[k].y));
    }
    for (size_t i = 0; i < in.size(); i++)
        round_trip = std::fmax(round_trip, std::hypot(g[i].x / n - in[i].x, g[i].y / n - in[i].y));
    verdict("transform", err < 1e-4);
    verdict("round trip", round_trip < 1e-6);
    return finish();
}
