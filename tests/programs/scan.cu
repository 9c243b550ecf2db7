// Prefix sums over several blocks: warp shuffles (inclusive), Blelloch's tree with padding (exclusive), and
// the three-kernel scheme that adds the blocks' offsets.
#include "test.h"

const int block_size = 256;

__device__ int warp_scan(int v) {
    int lane = threadIdx.x & 31;
    for (int d = 1; d < 32; d <<= 1) {
        int up = __shfl_up_sync(0xffffffffu, v, d);
        if (lane >= d)
            v += up;
    }
    return v;
}

__global__ void scan_shuffle(const int *in, int *out, int *sums, int n) {
    __shared__ int warp_sum[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x, warp = threadIdx.x >> 5;
    int v = warp_scan(i < n ? in[i] : 0);
    if ((threadIdx.x & 31) == 31)
        warp_sum[warp] = v;
    __syncthreads();
    if (warp == 0) {
        int w = threadIdx.x < blockDim.x / 32 ? warp_sum[threadIdx.x] : 0;
        warp_sum[threadIdx.x] = warp_scan(w);
    }
    __syncthreads();
    if (warp > 0)
        v += warp_sum[warp - 1];
    if (i < n)
        out[i] = v;
    if (threadIdx.x == blockDim.x - 1)
        sums[blockIdx.x] = v;
}

__global__ void add_offsets(int *out, const int *sums, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (blockIdx.x > 0 && i < n)
        out[i] += sums[blockIdx.x - 1];
}

__device__ int padded(int i) {
    return i + (i >> 5);
}

__global__ void scan_tree(const int *in, int *out, int *sums, int n) {
    __shared__ int s[2 * block_size + 2 * block_size / 32];
    int t = threadIdx.x, base = blockIdx.x * 2 * block_size, offset = 1;
    for (int k = t; k < 2 * block_size; k += block_size)
        s[padded(k)] = base + k < n ? in[base + k] : 0;
    for (int d = block_size; d > 0; d >>= 1, offset <<= 1) {
        __syncthreads();
        if (t < d)
            s[padded(offset * (2 * t + 2) - 1)] += s[padded(offset * (2 * t + 1) - 1)];
    }
    if (t == 0) {
        sums[blockIdx.x] = s[padded(2 * block_size - 1)];
        s[padded(2 * block_size - 1)] = 0;
    }
    for (int d = 1; d <= block_size; d <<= 1) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            int a = padded(offset * (2 * t + 1) - 1), b = padded(offset * (2 * t + 2) - 1), left = s[a];
            s[a] = s[b];
            s[b] += left;
        }
    }
    __syncthreads();
    for (int k = t; k < 2 * block_size; k += block_size)
        if (base + k < n)
            out[base + k] = s[padded(k)];
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 50000), blocks = div_up(n, block_size), trees = div_up(n, 2 * block_size);
    random_source rng(2);
    std::vector<int> in(n), want(n);
    for (int i = 0, sum = 0; i < n; i++) {
        in[i] = int(rng.below(2001)) - 1000;
        want[i] = sum += in[i];
    }
    dev_array<int> src(in), dst(n), sums(blocks), sums2(blocks), tops(div_up(blocks, block_size));
    scan_shuffle<<<blocks, block_size>>>(src, dst, sums, n);
    scan_shuffle<<<div_up(blocks, block_size), block_size>>>(sums, sums2, tops, blocks);
    add_offsets<<<blocks, block_size>>>(dst, sums2, n);
    SYNC();
    if (blocks <= block_size)
        verdict("inclusive", dst.get() == want);
    print_sum("inclusive", dst.get());
    print_sum("block sums", sums2.get());

    scan_tree<<<trees, block_size>>>(src, dst, sums, n);
    SYNC();
    std::vector<int> got = dst.get(), tree_sums = sums.get();
    bool ok = true;
    for (int i = 0, sum = 0; i < n; i++) {
        sum = i % (2 * block_size) ? sum : 0;
        ok = ok && got[i] == sum;
        sum += in[i];
    }
    verdict("exclusive per block", ok);
    print_sum("exclusive", got);
    tree_sums.resize(trees);
    print_sum("tree sums", tree_sums);
    return finish();
}
