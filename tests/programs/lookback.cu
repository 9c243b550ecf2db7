// Single-pass prefix sum with decoupled look-back: blocks take a ticket, publish their aggregate, then walk
// back over the blocks before them. Needs forward progress between blocks and acquire/release ordering.
#include "test.h"

const int threads = 128, items = 4, tile = threads * items;
enum : unsigned { EMPTY, AGGREGATE, PREFIX };

// State and value share a 64-bit word, so one access reads both.
__device__ unsigned long long pack(unsigned state, unsigned value) {
    return ((unsigned long long)state << 32) | value;
}

__device__ unsigned look_back(volatile unsigned long long *status, int tile_id, unsigned aggregate) {
    unsigned exclusive = 0;
    for (int back = tile_id - 1; back >= 0; back--) {
        unsigned long long word;
        do
            word = status[back];
        while (unsigned(word >> 32) == EMPTY);
        exclusive += unsigned(word);
        if (unsigned(word >> 32) == PREFIX)
            break;
    }
    status[tile_id] = pack(PREFIX, exclusive + aggregate);
    return exclusive;
}

__global__ void scan(const unsigned *in, unsigned *out, int n, volatile unsigned long long *status,
                     unsigned *ticket) {
    __shared__ unsigned warp_sum[threads / 32], tile_id, exclusive;
    if (threadIdx.x == 0)
        tile_id = atomicAdd(ticket, 1);
    __syncthreads();
    int base = tile_id * tile + threadIdx.x * items, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    unsigned v[items], sum = 0;
    for (int k = 0; k < items; k++) {
        sum += base + k < n ? in[base + k] : 0;
        v[k] = sum;
    }
    unsigned scanned = sum;
    for (int d = 1; d < 32; d <<= 1) {
        unsigned up = __shfl_up_sync(~0u, scanned, d);
        scanned += lane >= d ? up : 0;
    }
    if (lane == 31)
        warp_sum[warp] = scanned;
    __syncthreads();
    unsigned before = 0, aggregate = 0;
    for (int w = 0; w < threads / 32; w++) {
        before += w < warp ? warp_sum[w] : 0;
        aggregate += warp_sum[w];
    }
    if (threadIdx.x == 0) {
        if (tile_id > 0) {
            status[tile_id] = pack(AGGREGATE, aggregate);
            __threadfence();
        }
        exclusive = look_back(status, tile_id, aggregate);
    }
    __syncthreads();
    for (int k = 0; k < items; k++)
        if (base + k < n)
            out[base + k] = exclusive + before + scanned - sum + v[k];
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 60000), tiles = div_up(n, tile);
    random_source rng(3);
    std::vector<unsigned> in(n), want(n);
    unsigned sum = 0;
    for (int i = 0; i < n; i++) {
        in[i] = rng.below(100000);
        want[i] = sum += in[i];
    }
    dev_array<unsigned> src(in), dst(n), ticket(1);
    dev_array<unsigned long long> status(tiles);
    scan<<<tiles, threads>>>(src, dst, n, status, ticket);
    SYNC();
    verdict("scan", dst.get() == want);
    print_sum("scan", dst.get());
    printf("tiles %u\n", ticket.get()[0]);
    return finish();
}
