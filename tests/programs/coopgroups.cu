// Cooperative groups within a block: tiles of several widths, shuffles, votes, reductions, coalesced groups,
// partitions.
#include "test.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

template <int W> __global__ void tiles(const int *in, int *out) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<W> tile = cg::tiled_partition<W>(block);
    int i = block.group_index().x * block.size() + block.thread_rank(), v = in[i];
    for (int d = tile.size() / 2; d > 0; d /= 2)
        v += tile.shfl_xor(v, d);
    int up = tile.shfl_up(in[i], 1), first = tile.shfl(in[i], 0);
    unsigned votes = tile.ballot(in[i] & 1);
    int any = tile.any(in[i] > 990), all = tile.all(in[i] < 995);
    int top = cg::reduce(tile, in[i], cg::greater<int>());
    int scan = cg::inclusive_scan(tile, in[i]);
    int before = cg::exclusive_scan(tile, in[i], cg::plus<int>());
    unsigned same = tile.match_any(in[i] % 3);
    out[i] = v + 3 * (tile.thread_rank() ? up : 0) + 5 * first + 7 * int(votes) + 11 * any + 13 * all +
             17 * top + 19 * scan + 23 * before + 29 * int(same) + 31 * int(tile.meta_group_rank());
    tile.sync();
}

__global__ void coalesced(const int *in, int *out, int *counters) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i];
    if (v % 3 == 0) {
        cg::coalesced_group active = cg::coalesced_threads();
        int base = 0;
        if (active.thread_rank() == 0)
            base = atomicAdd(&counters[0], int(active.size()));
        base = active.shfl(base, 0);
        atomicAdd(&counters[1], 1);
        out[i] = int(active.thread_rank() + 100 * active.size()) + cg::reduce(active, v, cg::plus<int>());
        atomicMax(&counters[2], base + int(active.thread_rank()));
    } else {
        auto odd = cg::labeled_partition(cg::coalesced_threads(), v & 3);
        out[i] = int(odd.size()) * 1000 + odd.shfl(v, 0);
    }
}

__global__ void big_tile(int *out) {
    __shared__ cg::block_tile_memory<128> memory;
    auto block = cg::this_thread_block(memory);
    auto half = cg::tiled_partition<64>(block);
    int sum = cg::reduce(half, int(half.thread_rank()) + 1, cg::plus<int>());
    half.sync();
    out[block.thread_rank()] = sum * 10 + int(half.meta_group_rank());
    cg::sync(block);
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 4096) / 128 * 128;
    random_source rng(30);
    std::vector<int> in(n);
    for (int &v : in)
        v = rng.below(1000);
    dev_array<int> src(in), out(n), counters(3);
    tiles<32><<<n / 128, 128>>>(src, out);
    SYNC();
    print_sum("32", out.get());
    tiles<16><<<n / 128, 128>>>(src, out);
    SYNC();
    print_sum("16", out.get());
    tiles<4><<<n / 128, 128>>>(src, out);
    SYNC();
    print_sum("4", out.get());
    coalesced<<<n / 128, 128>>>(src, out, counters);
    SYNC();
    print_sum("coalesced", out.get());
    std::vector<int> c = counters.get();
    int want = 0;
    for (int v : in)
        want += v % 3 == 0;
    verdict("counters", c[0] == want && c[1] == want && c[2] == want - 1);
    dev_array<int> big(128);
    big_tile<<<1, 128>>>(big);
    SYNC();
    print_sum("64", big.get());
    return finish();
}
