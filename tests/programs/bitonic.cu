// Bitonic sort of key/value pairs: the small strides in shared memory, the large ones in global memory.
#include "test.h"

const int tile = 512;

__device__ void order(unsigned &ka, unsigned &va, unsigned &kb, unsigned &vb, bool up) {
    if ((ka > kb) == up) {
        unsigned k = ka, v = va;
        ka = kb, va = vb;
        kb = k, vb = v;
    }
}

__global__ void sort_tile(unsigned *keys, unsigned *vals, int from, int to) {
    __shared__ unsigned k[tile], v[tile];
    int base = blockIdx.x * tile, t = threadIdx.x;
    for (int i = t; i < tile; i += tile / 2) {
        k[i] = keys[base + i];
        v[i] = vals[base + i];
    }
    for (int size = from; size <= to; size <<= 1)
        for (int stride = min(size, tile) / 2; stride > 0; stride >>= 1) {
            __syncthreads();
            int a = 2 * t - (t & (stride - 1)), b = a + stride;
            order(k[a], v[a], k[b], v[b], ((base + a) & size) == 0);
        }
    __syncthreads();
    for (int i = t; i < tile; i += tile / 2) {
        keys[base + i] = k[i];
        vals[base + i] = v[i];
    }
}

__global__ void merge_step(unsigned *keys, unsigned *vals, int size, int stride) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, a = 2 * t - (t & (stride - 1)), b = a + stride;
    order(keys[a], vals[a], keys[b], vals[b], (a & size) == 0);
}

int main(int argc, char **argv) {
    int n = 1 << size_arg(argc, argv, 13);
    random_source rng(7);
    std::vector<unsigned> keys(n), vals(n);
    for (int i = 0; i < n; i++) {
        keys[i] = rng.next();
        vals[i] = i;
    }
    dev_array<unsigned> dk(keys), dv(vals);
    sort_tile<<<n / tile, tile / 2>>>(dk, dv, 2, tile);
    for (int size = 2 * tile; size <= n; size <<= 1) {
        for (int stride = size / 2; stride >= tile; stride >>= 1)
            merge_step<<<n / tile, tile / 2>>>(dk, dv, size, stride);
        sort_tile<<<n / tile, tile / 2>>>(dk, dv, size, size);
    }
    SYNC();
    std::vector<unsigned> k = dk.get(), v = dv.get();
    bool ok = true;
    for (int i = 0; i < n; i++)
        ok = ok && k[i] == keys[v[i]] && (i == 0 || k[i - 1] <= k[i]);
    verdict("sorted", ok);
    print_sum("keys", k);
    return finish();
}
