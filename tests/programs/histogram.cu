// Histograms: privatised in shared memory with atomics, straight to global memory, and packed per-warp byte
// counters; plus every integer atomic operator on a few cells.
#include "test.h"

__global__ void histogram_shared(const unsigned char *in, unsigned *bins, int n) {
    __shared__ unsigned local[256];
    for (int b = threadIdx.x; b < 256; b += blockDim.x)
        local[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += gridDim.x * blockDim.x) {
        uchar4 v = reinterpret_cast<const uchar4 *>(in)[i];
        atomicAdd(&local[v.x], 1u);
        atomicAdd(&local[v.y], 1u);
        atomicAdd(&local[v.z], 1u);
        atomicAdd(&local[v.w], 1u);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += blockDim.x)
        atomicAdd(&bins[b], local[b]);
}

__global__ void histogram_global(const unsigned char *in, unsigned *bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&bins[in[i]], 1u);
}

__global__ void histogram_bytes(const unsigned char *in, unsigned *bins, int n) {
    __shared__ unsigned char local[64 * 64];
    int t = threadIdx.x;
    for (int k = 0; k < 64; k++)
        local[k * 64 + t] = 0;
    __syncthreads();
    for (int k = 0; k < 100; k++) {
        int i = (blockIdx.x * 100 + k) * 64 + t;
        if (i < n)
            local[(in[i] >> 2) * 64 + t]++;
    }
    __syncthreads();
    unsigned sum = 0;
    for (int k = 0; k < 64; k++)
        sum += local[t * 64 + ((t + k) & 63)];
    atomicAdd(&bins[t], sum);
}

__global__ void operators(const int *in, int *cell, unsigned *ucell, unsigned long long *wide, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int v = in[i];
    atomicAdd(&cell[0], v);
    atomicSub(&cell[1], v);
    atomicMin(&cell[2], v);
    atomicMax(&cell[3], v);
    atomicAnd(&cell[4], v | 0xff);
    atomicOr(&cell[5], v & 0x1010101);
    atomicXor(&cell[6], v);
    atomicInc(&ucell[0], 999u);
    atomicDec(&ucell[1], 1234u);
    atomicMin(&ucell[2], unsigned(v));
    atomicMax(&ucell[3], unsigned(v));
    atomicAdd(&wide[0], (unsigned long long)(unsigned)v * unsigned(v));
    atomicMin(&wide[1], (unsigned long long)(unsigned)v << 20);
    atomicMax(&wide[2], (unsigned long long)(unsigned)v << 20);
    atomicXor(&wide[3], (unsigned long long)(unsigned)v * 0x100000001ull);
    atomicAnd(&wide[4], ~((unsigned long long)(unsigned)v << 31) | 0xff);
    atomicOr(&wide[5], (unsigned long long)(unsigned)v << 17 & 0x111111111111ull);
}

// Sums of small integers are exact in floating point whatever the order.
__global__ void float_atomics(const int *in, float *f, double *d, int n) {
    __shared__ float s;
    __shared__ double sd;
    if (threadIdx.x == 0)
        s = 0, sd = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(&s, float(in[i] & 255));
        atomicAdd(&sd, in[i] * 0.5);
        atomicAdd(&f[1 + (i & 3)], 0.25f);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(&f[0], s);
        atomicAdd(&d[0], sd);
    }
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 100000) & ~3;
    random_source rng(6);
    std::vector<unsigned char> in(n);
    std::vector<unsigned> want(256), want64(64);
    for (auto &v : in) {
        v = (rng.next() & rng.next()) >> 24;
        want[v]++;
        want64[v >> 2]++;
    }
    dev_array<unsigned char> src(in);
    dev_array<unsigned> a(256), b(256), c(64);
    histogram_shared<<<16, 128>>>(src, a, n);
    histogram_global<<<div_up(n, 256), 256>>>(src, b, n);
    histogram_bytes<<<div_up(n, 6400), 64>>>(src, c, n);
    SYNC();
    verdict("shared", a.get() == want);
    verdict("global", b.get() == want);
    verdict("bytes", c.get() == want64);
    print_sum("bins", a.get());

    int m = 5000;
    std::vector<int> ints(m);
    for (int &v : ints)
        v = int(rng.next()) >> 3;
    dev_array<int> values(ints), cell(std::vector<int>{0, 0, 0x7fffffff, int(0x80000000), -1, 0, 0});
    dev_array<unsigned> ucell(std::vector<unsigned>{0, 0, ~0u, 0});
    dev_array<unsigned long long> wide(std::vector<unsigned long long>{0, ~0ull, 0, 0, ~0ull, 0});
    operators<<<div_up(m, 192), 192>>>(values, cell, ucell, wide, m);
    dev_array<float> f(5);
    dev_array<double> d(1);
    float_atomics<<<div_up(m, 192), 192>>>(values, f, d, m);
    SYNC();
    for (int v : cell.get())
        printf("cell %d\n", v);
    for (unsigned v : ucell.get())
        printf("unsigned %u\n", v);
    for (unsigned long long v : wide.get())
        printf("wide %llu\n", v);
    for (float v : f.get())
        printf("float %g\n", v);
    printf("double %.1f\n", d.get()[0]);
    return finish();
}
