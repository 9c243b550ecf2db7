// Built by clang: matrix product with tiles in shared memory, float and double, and a transpose that avoids
// bank conflicts.
#include "clang_cuda.h"

const int T = 16;

template <class V> struct tile { V cell[T][T + 1]; };

static __host__ __device__ float mul_add(float a, float b, float c) {
    return __builtin_fmaf(a, b, c);
}
static __host__ __device__ double mul_add(double a, double b, double c) {
    return __builtin_fma(a, b, c);
}

template <class V> __global__ void __launch_bounds__(T *T) gemm(const V *a, const V *b, V *c, int n) {
    __shared__ tile<V> ta, tb;
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * T + y, col = blockIdx.x * T + x;
    V sum = 0;
    for (int k0 = 0; k0 < n; k0 += T) {
        ta.cell[y][x] = a[row * n + k0 + x];
        tb.cell[y][x] = b[(k0 + y) * n + col];
        __syncthreads();
        for (int k = 0; k < T; k++)
            sum = mul_add(ta.cell[y][k], tb.cell[k][x], sum);
        __syncthreads();
    }
    c[row * n + col] = sum;
}

__global__ void transpose(const double *in, double *out, int n) {
    __shared__ tile<double> t;
    t.cell[threadIdx.y][threadIdx.x] = in[(blockIdx.y * T + threadIdx.y) * n + blockIdx.x * T + threadIdx.x];
    __syncthreads();
    out[(blockIdx.x * T + threadIdx.y) * n + blockIdx.y * T + threadIdx.x] = t.cell[threadIdx.x][threadIdx.y];
}

template <class V> static void run(const char *name, int n) {
    uint32_t seed = 7;
    V *a = new V[n * n], *b = new V[n * n], *c = new V[n * n];
    for (int i = 0; i < n * n; i++) {
        a[i] = V(next_random(&seed)) / V(1 << 24) - V(0.5);
        b[i] = V(next_random(&seed)) / V(1 << 24);
    }
    V *da = device_array(a, n * n), *db = device_array(b, n * n), *dc = device_array<V>(nullptr, n * n);
    gemm<V><<<dim3(n / T, n / T), dim3(T, T)>>>(da, db, dc, n);
    SYNC();
    fetch(c, dc, n * n);
    bool ok = true;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            V sum = 0;
            for (int k = 0; k < n; k++)
                sum = mul_add(a[i * n + k], b[k * n + j], sum);
            ok = ok && sum == c[i * n + j];
        }
    verdict(name, ok);
    print_sum(name, c, n * n * sizeof(V));
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 96) / T * T;
    run<float>("float", n);
    run<double>("double", n);
    double *in = new double[n * n], *out = new double[n * n];
    for (int i = 0; i < n * n; i++)
        in[i] = i * 0.5;
    double *din = device_array(in, n * n), *dout = device_array<double>(nullptr, n * n);
    transpose<<<dim3(n / T, n / T), dim3(T, T)>>>(din, dout, n);
    SYNC();
    fetch(out, dout, n * n);
    bool ok = true;
    for (int i = 0; i < n * n; i++)
        ok = ok && out[i] == in[i % n * n + i / n];
    verdict("transpose", ok);
    return failures ? 1 : 0;
}
