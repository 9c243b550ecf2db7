// Locks between blocks: a test-and-set lock taken by one thread of each block, a ticket lock, a lock per
// bucket taken by every thread in turn, and a lock-free list.
#include "test.h"

__device__ int lock_word, next_ticket, now_serving;
__device__ volatile int guarded;

__device__ void take(int *lock) {
    while (atomicCAS(lock, 0, 1) != 0)
        ;
    __threadfence();
}
__device__ void release(int *lock) {
    __threadfence();
    atomicExch(lock, 0);
}

__global__ void test_and_set(int rounds) {
    for (int r = 0; r < rounds; r++)
        if (threadIdx.x == 0) {
            take(&lock_word);
            guarded = guarded * 1 + 3;
            release(&lock_word);
        }
}

__global__ void ticket(int rounds) {
    if (threadIdx.x != 0)
        return;
    for (int r = 0; r < rounds; r++) {
        int mine = atomicAdd(&next_ticket, 1);
        while (atomicAdd(&now_serving, 0) != mine)
            ;
        __threadfence();
        guarded = guarded + mine;
        __threadfence();
        atomicAdd(&now_serving, 1);
    }
}

// Every lane of a warp takes a lock: the loop holds the critical section, so lanes cannot wait for each
// other.
__global__ void per_bucket(int *locks, volatile int *sums, volatile int *counts, const int *in, int buckets,
                           int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int b = in[i] % buckets;
    bool done = false;
    while (!done)
        if (atomicCAS(&locks[b], 0, 1) == 0) {
            __threadfence();
            sums[b] = sums[b] + in[i];
            counts[b] = counts[b] + 1;
            __threadfence();
            atomicExch(&locks[b], 0);
            done = true;
        }
}

__global__ void push(int *head, int *next, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int old = atomicAdd(head, 0), seen;
    do {
        seen = old;
        next[i] = seen;
        __threadfence();
        old = atomicCAS(head, seen, i);
    } while (old != seen);
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 600), buckets = 13;
    test_and_set<<<16, 64>>>(5);
    SYNC();
    int value;
    CHECK(cudaMemcpyFromSymbol(&value, guarded, sizeof value));
    printf("test and set %d\n", value);
    ticket<<<16, 32>>>(5);
    SYNC();
    CHECK(cudaMemcpyFromSymbol(&value, guarded, sizeof value));
    printf("ticket %d\n", value);

    random_source rng(40);
    std::vector<int> in(n), sums(buckets), counts(buckets);
    for (int &v : in) {
        v = rng.below(1000);
        sums[v % buckets] += v;
        counts[v % buckets]++;
    }
    dev_array<int> locks(buckets), dsums(buckets), dcounts(buckets), src(in);
    per_bucket<<<div_up(n, 64), 64>>>(locks, dsums, dcounts, src, buckets, n);
    SYNC();
    verdict("buckets", dsums.get() == sums && dcounts.get() == counts);

    dev_array<int> head(std::vector<int>{-1}), next(n);
    push<<<div_up(n, 64), 64>>>(head, next, n);
    SYNC();
    std::vector<int> links = next.get();
    std::vector<bool> seen(n);
    int length = 0;
    for (int i = head.get()[0]; i >= 0 && length <= n; i = links[i], length++)
        seen[i] = true;
    bool all = length == n;
    for (int i = 0; i < n; i++)
        all = all && seen[i];
    verdict("list", all);
    return finish();
}
