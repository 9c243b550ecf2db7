// Built by clang: atomics on global and shared words through generic pointers, a histogram, a lock per
// bucket, ballots and shuffles for compaction, and odd-even sort in shared memory.
#include "clang_cuda.h"

__device__ unsigned total = 5;
__device__ unsigned long long wide_total;

__global__ void histogram(const unsigned *in, unsigned *bins, int n) {
    __shared__ unsigned local[64];
    if (threadIdx.x < 64)
        local[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&local[in[i] & 63], 1u);
        atomicXor(&local[(in[i] >> 6) & 63], 0u);
    }
    __syncthreads();
    if (threadIdx.x < 64) {
        atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
        atomicAdd(&total, local[threadIdx.x]);
    }
}

__global__ void extremes(const unsigned *in, int *cells, float *sums, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    atomicMin(&cells[0], int(in[i]));
    atomicMax(&cells[1], int(in[i]));
    atomicOr(reinterpret_cast<unsigned *>(&cells[2]), in[i] & 0x3333);
    atomicAdd(&wide_total, (unsigned long long)in[i] << 20);
    atomicAdd(&sums[in[i] & 3], 0.5f);
    int *lock = &cells[4];
    bool done = false;
    while (!done)
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            *(volatile int *)&cells[3] = *(volatile int *)&cells[3] + 2;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
}

__global__ void compact(const unsigned *in, unsigned *out, unsigned *count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    int keep = i < n && in[i] % 3 == 0;
    unsigned votes = __ballot_sync(~0u, keep);
    int base = 0;
    if (lane == 0)
        base = int(atomicAdd(count, unsigned(__popc(votes))));
    base = __shfl_sync(~0u, base, 0);
    if (keep)
        out[base + __popc(votes & ((1u << lane) - 1))] = in[i];
}

__global__ void odd_even_sort(unsigned *data) {
    __shared__ unsigned s[256];
    int t = threadIdx.x;
    s[t] = data[blockIdx.x * 256 + t];
    for (int round = 0; round < 256; round++) {
        __syncthreads();
        int left = 2 * (t / 2) + (round & 1);
        if ((t & 1) == 0 && left + 1 < 256 && s[left] > s[left + 1]) {
            unsigned v = s[left];
            s[left] = s[left + 1];
            s[left + 1] = v;
        }
    }
    __syncthreads();
    data[blockIdx.x * 256 + t] = s[t];
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 4096) / 256 * 256;
    uint32_t seed = 11;
    unsigned *in = new unsigned[n], *out = new unsigned[n], want[64] = {}, bins[64], kept = 0, count;
    unsigned long long wide = 0, wide_got;
    int lo = 0x7fffffff, hi = 0, cells[5] = {0x7fffffff, 0, 0, 0, 0};
    for (int i = 0; i < n; i++) {
        in[i] = next_random(&seed);
        want[in[i] & 63]++;
        wide += (unsigned long long)in[i] << 20;
        kept += in[i] % 3 == 0;
        lo = int(in[i]) < lo ? int(in[i]) : lo;
        hi = int(in[i]) > hi ? int(in[i]) : hi;
    }
    unsigned *din = device_array(in, n), *dbins = device_array<unsigned>(nullptr, 64),
             *dout = device_array<unsigned>(nullptr, n);
    unsigned *dcount = device_array<unsigned>(nullptr, 1), sum;
    int *dcells = device_array(cells, 5);
    float *dsums = device_array<float>(nullptr, 4), sums[4];
    histogram<<<5, 128>>>(din, dbins, n);
    extremes<<<n / 128, 128>>>(din, dcells, dsums, n);
    compact<<<n / 128, 128>>>(din, dout, dcount, n);
    SYNC();
    fetch(bins, dbins, 64);
    fetch(cells, dcells, 5);
    fetch(sums, dsums, 4);
    fetch(&count, dcount, 1);
    CHECK(cudaMemcpyFromSymbol(&sum, total, sizeof sum, 0, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpyFromSymbol(&wide_got, wide_total, sizeof wide_got, 0, cudaMemcpyDeviceToHost));
    verdict("histogram", memcmp(bins, want, sizeof want) == 0 && sum == unsigned(n) + 5);
    verdict("extremes",
            cells[0] == lo && cells[1] == hi && wide_got == wide && cells[3] == 2 * n && cells[4] == 0);
    printf("bits %x sums %g %g %g %g\n", unsigned(cells[2]), sums[0], sums[1], sums[2], sums[3]);
    verdict("compact", count == kept);
    odd_even_sort<<<n / 256, 256>>>(din);
    SYNC();
    fetch(out, din, n);
    bool ok = true;
    for (int i = 1; i < n; i++)
        ok = ok && (i % 256 == 0 || out[i - 1] <= out[i]);
    verdict("sort", ok);
    print_sum("sort", out, n * sizeof(unsigned));
    return failures ? 1 : 0;
}
