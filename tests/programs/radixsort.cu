// Least-significant-digit radix sort, 4 bits per pass: per-block digit counts, a scan of the counts, and a
// stable scatter that ranks equal digits by ballots.
#include "test.h"

const int threads = 256;

__global__ void count_digits(const unsigned *keys, unsigned *counts, int n, int shift) {
    __shared__ unsigned local[16];
    if (threadIdx.x < 16)
        local[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * threads + threadIdx.x;
    if (i < n)
        atomicAdd(&local[keys[i] >> shift & 15], 1u);
    __syncthreads();
    if (threadIdx.x < 16)
        counts[threadIdx.x * gridDim.x + blockIdx.x] = local[threadIdx.x];
}

__global__ void scan_counts(unsigned *counts, int n) {
    __shared__ unsigned s[threads];
    unsigned carry = 0;
    for (int base = 0; base < n; base += threads) {
        int i = base + threadIdx.x;
        unsigned own = i < n ? counts[i] : 0;
        s[threadIdx.x] = own;
        for (int d = 1; d < threads; d <<= 1) {
            __syncthreads();
            unsigned before = threadIdx.x >= d ? s[threadIdx.x - d] : 0;
            __syncthreads();
            s[threadIdx.x] += before;
        }
        __syncthreads();
        if (i < n)
            counts[i] = carry + s[threadIdx.x] - own;
        carry += s[threads - 1];
        __syncthreads();
    }
}

__global__ void scatter(const unsigned *keys, unsigned *out, const unsigned *offsets, int n, int shift) {
    __shared__ unsigned warp_counts[threads / 32][16];
    int i = blockIdx.x * threads + threadIdx.x, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    unsigned key = i < n ? keys[i] : ~0u, digit = key >> shift & 15;
    unsigned peers = __ballot_sync(~0u, i < n);
    for (int bit = 0; bit < 4; bit++) {
        unsigned votes = __ballot_sync(~0u, digit >> bit & 1);
        peers &= digit >> bit & 1 ? votes : ~votes;
    }
    if (lane < 16)
        warp_counts[warp][lane] = 0;
    __syncwarp();
    unsigned rank = __popc(peers & ((1u << lane) - 1));
    if (i < n && rank == 0)
        warp_counts[warp][digit] = __popc(peers);
    __syncthreads();
    if (i < n) {
        for (int w = 0; w < warp; w++)
            rank += warp_counts[w][digit];
        out[offsets[digit * gridDim.x + blockIdx.x] + rank] = key;
    }
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 20000), blocks = div_up(n, threads);
    random_source rng(8);
    std::vector<unsigned> keys(n);
    for (unsigned &k : keys)
        k = rng.next() >> rng.below(16);
    dev_array<unsigned> a(keys), b(n), counts(16 * blocks);
    unsigned *src = a, *dst = b;
    for (int shift = 0; shift < 32; shift += 4) {
        count_digits<<<blocks, threads>>>(src, counts, n, shift);
        scan_counts<<<1, threads>>>(counts, 16 * blocks);
        scatter<<<blocks, threads>>>(src, dst, counts, n, shift);
        unsigned *t = src;
        src = dst;
        dst = t;
    }
    SYNC();
    std::vector<unsigned> got = a.get();
    unsigned long long sum_in = 0, sum_out = 0;
    bool ok = true;
    for (int i = 0; i < n; i++) {
        sum_in += keys[i];
        sum_out += got[i];
        ok = ok && (i == 0 || got[i - 1] <= got[i]);
    }
    verdict("sorted", ok && sum_in == sum_out);
    print_sum("keys", got);
    return finish();
}
