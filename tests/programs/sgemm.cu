// C = alpha A B + beta C, with 16x16 tiles in shared memory, and a register-blocked variant; float and
// double. The sums use explicit fma in a fixed order, so the result is exact to the bit.
#include "test.h"

__device__ float mul_add(float a, float b, float c) {
    return fmaf(a, b, c);
}
__device__ double mul_add(double a, double b, double c) {
    return fma(a, b, c);
}

template <class T> __global__ void gemm(const T *a, const T *b, T *c, int n, T alpha, T beta) {
    __shared__ T ta[16][17], tb[16][17];
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    T acc = 0;
    for (int k0 = 0; k0 < n; k0 += 16) {
        ta[threadIdx.y][threadIdx.x] = a[row * n + k0 + threadIdx.x];
        tb[threadIdx.y][threadIdx.x] = b[(k0 + threadIdx.y) * n + col];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; k++)
            acc = mul_add(ta[threadIdx.y][k], tb[k][threadIdx.x], acc);
        __syncthreads();
    }
    c[row * n + col] = mul_add(alpha, acc, beta * c[row * n + col]);
}

// Each thread computes a 4x4 patch of a 64x64 tile; vector loads from global memory.
__global__ __launch_bounds__(256) void gemm_blocked(const float *a, const float *b, float *c, int n) {
    __shared__ float ta[8][64], tb[8][64];
    int t = threadIdx.x, tx = t % 16, ty = t / 16, row0 = blockIdx.y * 64, col0 = blockIdx.x * 64;
    float acc[4][4] = {};
    for (int k0 = 0; k0 < n; k0 += 8) {
        float2 va = *reinterpret_cast<const float2 *>(&a[(row0 + t / 4) * n + k0 + t % 4 * 2]);
        float2 vb = *reinterpret_cast<const float2 *>(&b[(k0 + t / 32) * n + col0 + t % 32 * 2]);
        ta[t % 4 * 2][t / 4] = va.x;
        ta[t % 4 * 2 + 1][t / 4] = va.y;
        *reinterpret_cast<float2 *>(&tb[t / 32][t % 32 * 2]) = vb;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 8; k++) {
            float4 ra = *reinterpret_cast<float4 *>(&ta[k][ty * 4]),
                   rb = *reinterpret_cast<float4 *>(&tb[k][tx * 4]);
            float xa[4] = {ra.x, ra.y, ra.z, ra.w}, xb[4] = {rb.x, rb.y, rb.z, rb.w};
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++)
                    acc[i][j] = fmaf(xa[i], xb[j], acc[i][j]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            c[(row0 + ty * 4 + i) * n + col0 + tx * 4 + j] = acc[i][j];
}

template <class T> static void run(const char *name, int n, random_source &rng) {
    std::vector<T> a(n * n), b(n * n), c(n * n);
    for (int i = 0; i < n * n; i++) {
        a[i] = rng.unit() - T(0.5);
        b[i] = rng.unit() - T(0.5);
        c[i] = rng.unit();
    }
    dev_array<T> da(a), db(b), dc(c);
    T alpha = T(1.25), beta = T(-0.75);
    gemm<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(da.ptr, db.ptr, dc.ptr, n, alpha, beta);
    SYNC();
    print_sum(name, dc.get());
    if (n > 256) // the host would take longer than the GPU is worth
        return;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            T acc = 0;
            for (int k = 0; k < n; k++)
                acc = std::fma(a[i * n + k], b[k * n + j], acc);
            c[i * n + j] = std::fma(alpha, acc, beta * c[i * n + j]);
        }
    verdict(name, dc.get() == c);
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 128);
    random_source rng(4);
    run<float>("sgemm", n, rng);
    run<double>("dgemm", n / 2, rng);
    std::vector<float> a(n * n), b(n * n);
    for (int i = 0; i < n * n; i++) {
        a[i] = rng.unit();
        b[i] = rng.unit() - 0.5f;
    }
    dev_array<float> da(a), db(b), dc(n * n), dd(n * n);
    gemm_blocked<<<dim3(n / 64, n / 64), 256>>>(da, db, dc, n);
    gemm<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(da.ptr, db.ptr, dd.ptr, n, 1.0f, 0.0f);
    SYNC();
    verdict("blocked", dc.get() == dd.get());
    print_sum("blocked", dc.get());
    return finish();
}
