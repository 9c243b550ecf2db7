// Bulk copies between global and shared memory, and mbarriers that wait for their bytes.
#include "test.h"

enum { WORDS = 512, ROUNDS = 6 };

__device__ unsigned shared_address(const void *p) {
    return static_cast<unsigned>(__cvta_generic_to_shared(p));
}
__device__ void copy_in(unsigned to, const int *from, unsigned bytes, unsigned barrier) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
        "l"(from), "r"(bytes), "r"(barrier)
        : "memory");
}
__device__ uint64_t arrive(unsigned barrier) {
    uint64_t state;
    asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 %0, [%1];"
                 : "=l"(state)
                 : "r"(barrier)
                 : "memory");
    return state;
}
__device__ uint64_t arrive_expect(unsigned barrier, unsigned bytes) {
    uint64_t state;
    asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %0, [%1], %2;"
                 : "=l"(state)
                 : "r"(barrier), "r"(bytes)
                 : "memory");
    return state;
}
__device__ void wait(unsigned barrier, uint64_t state) {
    int over;
    do
        asm volatile("{ .reg .pred p;\n\tmbarrier.try_wait.acquire.cta.shared::cta.b64 p, [%1], %2;\n\t"
                     "selp.b32 %0, 1, 0, p; }"
                     : "=r"(over)
                     : "r"(barrier), "l"(state)
                     : "memory");
    while (!over);
}

// Each round copies a tile in, adds its number to it and copies it out; the bytes are expected before or
// after the copy.
__global__ void tiles(const int *in, int *out) {
    __shared__ alignas(128) int tile[WORDS];
    __shared__ uint64_t barrier;
    unsigned at = shared_address(&barrier), place = shared_address(tile);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at), "r"(blockDim.x) : "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncthreads();
    for (int round = 0; round < ROUNDS; round++) {
        const int *from = in + (blockIdx.x * ROUNDS + round) * WORDS;
        int *to = out + (blockIdx.x * ROUNDS + round) * WORDS;
        bool early = round % 2 == 0;
        uint64_t state;
        if (threadIdx.x != 0) {
            state = arrive(at);
        } else if (early) {
            state = arrive_expect(at, sizeof tile);
            copy_in(place, from, sizeof tile / 2, at);
            copy_in(place + sizeof tile / 2, from + WORDS / 2, sizeof tile / 2, at);
        } else {
            copy_in(place, from, sizeof tile, at);
            state = arrive_expect(at, sizeof tile);
        }
        wait(at, state);
        for (int k = threadIdx.x; k < WORDS; k += blockDim.x)
            tile[k] += round + 1;
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        if (threadIdx.x == 0) {
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(place),
                         "r"(unsigned(sizeof tile))
                         : "memory");
            asm volatile("cp.async.bulk.commit_group;" ::: "memory");
            asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
        }
        __syncthreads();
    }
}

int main() {
    const int blocks = 5, n = blocks * ROUNDS * WORDS;
    random_source rng(71);
    std::vector<int> in(n), want(n);
    for (int i = 0; i < n; i++) {
        in[i] = rng.below(100000);
        want[i] = in[i] + i / WORDS % ROUNDS + 1;
    }
    dev_array<int> src(in), dst(n);
    tiles<<<blocks, 96>>>(src, dst);
    SYNC();
    verdict("tiles", dst.get() == want);
    print_sum("out", dst.get());
    return finish();
}
