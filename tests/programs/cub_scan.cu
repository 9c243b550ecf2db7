// CUB: device-wide scan, reduction, radix sort and selection; block- and warp-wide operations in a kernel of
// its own.
#include "test.h"
#include <cub/cub.cuh>

// Calls a device-wide algorithm twice, as CUB asks: once for the size of its scratch memory, once to run.
template <class F> static void with_scratch(F f) {
    size_t bytes = 0;
    CHECK(f(nullptr, bytes));
    dev_array<char> scratch(bytes + 1);
    CHECK(f(scratch.ptr, bytes));
    SYNC();
}

__global__ void block_ops(const unsigned *in, unsigned *out, unsigned *sums) {
    typedef cub::BlockScan<unsigned, 128> scan_t;
    typedef cub::BlockReduce<unsigned, 128> reduce_t;
    typedef cub::WarpReduce<unsigned> warp_t;
    __shared__ union {
        scan_t::TempStorage scan;
        reduce_t::TempStorage reduce;
        warp_t::TempStorage warp[4];
    } temp;
    int i = blockIdx.x * 128 + threadIdx.x;
    unsigned v = in[i] & 1023, prefix, total;
    scan_t(temp.scan).ExclusiveSum(v, prefix, total);
    __syncthreads();
    unsigned top = reduce_t(temp.reduce).Reduce(v, cuda::maximum<>{});
    __syncthreads();
    unsigned warp_sum = warp_t(temp.warp[threadIdx.x / 32]).Sum(v);
    out[i] = prefix;
    if (threadIdx.x == 0)
        sums[blockIdx.x] = total * 7 + top + warp_sum;
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 8192) / 128 * 128;
    random_source rng(46);
    std::vector<unsigned> in(n), want(n);
    unsigned sum = 0;
    for (int i = 0; i < n; i++) {
        in[i] = rng.next() >> 8;
        want[i] = sum;
        sum += in[i];
    }
    dev_array<unsigned> src(in), out(n), total(1), sums(n / 128);
    with_scratch(
        [&](void *t, size_t &b) { return cub::DeviceScan::ExclusiveSum(t, b, src.ptr, out.ptr, n); });
    verdict("scan", out.get() == want);
    with_scratch([&](void *t, size_t &b) { return cub::DeviceReduce::Sum(t, b, src.ptr, total.ptr, n); });
    verdict("reduce", total.get()[0] == sum);
    with_scratch(
        [&](void *t, size_t &b) { return cub::DeviceRadixSort::SortKeys(t, b, src.ptr, out.ptr, n); });
    print_sum("sort", out.get());
    dev_array<unsigned> chosen(n), count(1);
    auto even = [] __host__ __device__(unsigned v) { return v % 2 == 0; };
    with_scratch([&](void *t, size_t &b) {
        return cub::DeviceSelect::If(t, b, src.ptr, chosen.ptr, count.ptr, n, even);
    });
    printf("selected %u\n", count.get()[0]);
    print_sum("selected", chosen.get());
    block_ops<<<n / 128, 128>>>(src, out, sums);
    SYNC();
    print_sum("block scan", out.get());
    print_sum("block sums", sums.get());
    return finish();
}
