// An open-addressing hash table in global memory: 64-bit compare-and-swap of key and value, lookups, and 128
// threads that fight for the same keys; also exchange and CAS on 16-bit and on shared words.
#include "test.h"

typedef unsigned long long u64;
const u64 empty = ~0ull;

__host__ __device__ unsigned hash(unsigned k) {
    k ^= k >> 16;
    k *= 0x85ebca6bu;
    k ^= k >> 13;
    k *= 0xc2b2ae35u;
    return k ^ k >> 16;
}

// Counts how often each key occurs: the high word is the key, the low one the count.
__global__ void insert(u64 *table, unsigned mask, const unsigned *keys, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned key = keys[i], slot = hash(key) & mask;
    for (;;) {
        u64 old = atomicCAS(&table[slot], empty, (u64)key << 32 | 1);
        if (old == empty)
            return;
        if (unsigned(old >> 32) == key) {
            atomicAdd(&table[slot], 1ull);
            return;
        }
        slot = (slot + 1) & mask;
    }
}

__global__ void lookup(const u64 *table, unsigned mask, const unsigned *keys, unsigned *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned slot = hash(keys[i]) & mask, found = 0;
    while (table[slot] != empty) {
        if (unsigned(table[slot] >> 32) == keys[i]) {
            found = unsigned(table[slot]);
            break;
        }
        slot = (slot + 1) & mask;
    }
    out[i] = found;
}

__global__ void small_words(unsigned short *halves, int *out) {
    __shared__ int order;
    __shared__ u64 best;
    if (threadIdx.x == 0)
        order = 0, best = 0;
    __syncthreads();
    unsigned short old = halves[threadIdx.x & 7], seen;
    do {
        seen = old;
        old = atomicCAS(&halves[threadIdx.x & 7], seen, (unsigned short)(seen + threadIdx.x));
    } while (old != seen);
    atomicAdd(&order, 1);
    atomicMax(&best, (u64)hash(threadIdx.x) << 32 | threadIdx.x);
    int previous = atomicExch(&out[1], int(threadIdx.x) + 1); // each value comes back once, but for the last
    atomicAdd(&out[2], previous);
    __syncthreads();
    if (threadIdx.x == 0) {
        out[0] = order;
        out[3] = int(best & 0xffffffff);
        out[2] += out[1];
        out[1] = 0;
    }
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 6000), queries = 2000;
    unsigned size = 1;
    while (size < unsigned(n))
        size <<= 1;
    random_source rng(42);
    std::vector<unsigned> keys(n), asked(queries), want(queries);
    for (unsigned &k : keys)
        k = rng.below(n / 2) * 2654435761u >> 1;
    for (int q = 0; q < queries; q++)
        asked[q] = q & 1 ? keys[rng.below(n)] : rng.below(n) * 2654435761u >> 1;
    std::vector<std::vector<unsigned>> chain(4096);
    for (unsigned k : keys)
        chain[k & 4095].push_back(k);
    for (int q = 0; q < queries; q++)
        for (unsigned k : chain[asked[q] & 4095])
            want[q] += k == asked[q];
    dev_array<u64> table(std::vector<u64>(size, empty));
    dev_array<unsigned> dkeys(keys), dasked(asked), out(queries);
    insert<<<div_up(n, 128), 128>>>(table, size - 1, dkeys, n);
    lookup<<<div_up(queries, 128), 128>>>(table, size - 1, dasked, out, queries);
    SYNC();
    verdict("counts", out.get() == want);
    print_sum("counts", out.get());

    dev_array<unsigned short> halves(8);
    dev_array<int> results(4);
    small_words<<<1, 128>>>(halves, results);
    SYNC();
    for (unsigned short h : halves.get())
        printf("%u ", h);
    printf("\n");
    for (int v : results.get())
        printf("%d ", v);
    printf("\n");
    return finish();
}
