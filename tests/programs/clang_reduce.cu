// Built by clang: vector addition, a reduction by shuffles and shared memory, and a saxpy, launched with
// <<<>>>.
#include "clang_cuda.h"

__global__ void add(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

__global__ void saxpy(float alpha, const float *x, float *y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = fmaf(alpha, x[i], y[i]);
}

__global__ void reduce(const int *in, int *out, int n) {
    __shared__ int warps[8];
    int sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += in[i];
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_down_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < int(blockDim.x / 32); w++)
            sum += warps[w];
        atomicAdd(out, sum);
    }
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 30000), sum = 0, got = 0;
    uint32_t seed = 1;
    float *a = new float[n], *b = new float[n], *c = new float[n];
    int *v = new int[n];
    for (int i = 0; i < n; i++) {
        a[i] = next_random(&seed) * 0.001f;
        b[i] = next_random(&seed) * 0.01f;
        v[i] = int(next_random(&seed) & 0xffff) - 30000;
        sum += v[i];
    }
    float *da = device_array(a, n), *db = device_array(b, n), *dc = device_array<float>(nullptr, n);
    int *dv = device_array(v, n), *total = device_array<int>(nullptr, 1);
    add<<<(n + 127) / 128, 128>>>(da, db, dc, n);
    saxpy<<<10, 96>>>(0.3f, da, dc, n);
    reduce<<<12, 256>>>(dv, total, n);
    SYNC();
    fetch(c, dc, n);
    fetch(&got, total, 1);
    bool ok = true;
    for (int i = 0; i < n; i++)
        ok = ok && c[i] == __builtin_fmaf(0.3f, a[i], a[i] + b[i]);
    verdict("saxpy", ok);
    verdict("reduce", got == sum);
    print_sum("saxpy", c, n * sizeof(float));
    return failures ? 1 : 0;
}
