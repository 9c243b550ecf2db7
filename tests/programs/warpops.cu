// Warp-wide operations: votes, match, redux, shuffles of every mode and width with their predicates, active
// masks, and the same under divergence and with partial masks; ballots as a game of life; warp-aggregated
// atomics.
#include "test.h"

__global__ void votes(const int *in, unsigned *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i];
    unsigned r = __ballot_sync(~0u, v & 1);
    r = r * 31 + __any_sync(~0u, v == 17);
    r = r * 31 + __all_sync(~0u, v >= 0);
    r = r * 31 + __match_any_sync(~0u, v & 7);
    int same;
    unsigned mask = __match_all_sync(~0u, v >> 30, &same);
    r = r * 31 + mask + same;
    r = r * 31 + __match_any_sync(~0u, (long long)(v & 3) << 40);
    if (v & 1) {
        unsigned active = __activemask();
        r = r * 31 + __ballot_sync(active, v & 2) + active;
    } else if (v & 4) {
        unsigned others = __ballot_sync(__activemask(), v & 8);
        r ^= others;
    }
    __syncwarp();
    unsigned half = (threadIdx.x & 16) ? 0xffff0000u : 0x0000ffffu;
    r = r * 31 + __ballot_sync(half, v & 16);
    out[i] = r;
}

__global__ void redux(const int *in, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i];
    unsigned odd = 0xaaaaaaaau, mask = threadIdx.x & 1 ? odd : ~odd;
    int r = __reduce_add_sync(mask, v) + 3 * __reduce_min_sync(mask, v) + 5 * __reduce_max_sync(mask, v);
    unsigned u = v;
    r += 7 * __reduce_and_sync(mask, u | 0xff) + 11 * __reduce_or_sync(mask, u & 0xf0f0) +
         13 * __reduce_xor_sync(mask, u);
    out[i] = r + int(__reduce_max_sync(~0u, u) ^ __reduce_min_sync(~0u, u));
}

template <class T> __global__ void shuffles(const T *in, T *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    T v = in[i], r = v;
    r += 2 * __shfl_sync(~0u, v, lane * 5 + 3);
    r += 3 * __shfl_up_sync(~0u, v, 3);
    r += 4 * __shfl_down_sync(~0u, v, 7);
    r += 5 * __shfl_xor_sync(~0u, v, 21);
    r += 6 * __shfl_sync(~0u, v, lane ^ 3, 8);
    r += 7 * __shfl_up_sync(~0u, v, 2, 4);
    r += 8 * __shfl_down_sync(~0u, v, 5, 16);
    r += 9 * __shfl_xor_sync(~0u, v, 9, 8);
    out[i] = r;
}

__global__ void predicates(const int *in, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i], r, p;
    asm("{ .reg .pred q; shfl.sync.up.b32 %0|q, %2, 4, 0x1800, -1; selp.s32 %1, 1, 0, q; }"
        : "=r"(r), "=r"(p)
        : "r"(v));
    out[i] = r * 2 + p;
    asm("{ .reg .pred q; shfl.sync.down.b32 %0|q, %2, 9, 31, -1; selp.s32 %1, 1, 0, q; }"
        : "=r"(r), "=r"(p)
        : "r"(v));
    out[i] += r * 6 + p;
}

// A cell per lane, 32 columns a row; the row's bits by ballot, the neighbours' rows by shared memory.
__global__ void life(const unsigned *in, unsigned *out, int rows) {
    __shared__ unsigned row[34];
    int lane = threadIdx.x, y = threadIdx.y;
    row[y + 1] = in[y];
    if (y == 0 && lane == 0)
        row[0] = in[rows - 1], row[rows + 1] = in[0];
    __syncthreads();
    int n = 0;
    for (int dy = 0; dy <= 2; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (dx || dy != 1)
                n += row[y + dy] >> ((lane + dx) & 31) & 1;
    bool alive = row[y + 1] >> lane & 1;
    unsigned next = __ballot_sync(~0u, n == 3 || (alive && n == 2));
    if (lane == 0)
        out[y] = next;
}

__global__ void filter(const int *in, int *out, int *count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    bool keep = i < n && in[i] % 5 == 0;
    unsigned mask = __ballot_sync(~0u, keep);
    int base = 0, leader = __ffs(mask) - 1;
    if (lane == leader)
        base = atomicAdd(count, __popc(mask));
    base = __shfl_sync(~0u, base, leader < 0 ? 0 : leader);
    if (keep)
        out[base + __popc(mask & ((1u << lane) - 1))] = in[i];
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 2048) / 128 * 128;
    random_source rng(38);
    std::vector<int> in(n);
    std::vector<double> reals(n);
    std::vector<long long> longs(n);
    for (int i = 0; i < n; i++) {
        in[i] = int(rng.below(1000));
        reals[i] = in[i] * 0.5;
        longs[i] = (long long)in[i] << 33;
    }
    dev_array<int> src(in), out(n), count(1);
    dev_array<unsigned> uout(n);
    votes<<<n / 128, 128>>>(src, uout);
    redux<<<n / 128, 128>>>(src, out);
    SYNC();
    print_sum("votes", uout.get());
    print_sum("redux", out.get());
    shuffles<<<n / 128, 128>>>(src.ptr, out.ptr);
    dev_array<double> dsrc(reals), dout(n);
    dev_array<long long> lsrc(longs), lout(n);
    shuffles<<<n / 128, 128>>>(dsrc.ptr, dout.ptr);
    shuffles<<<n / 128, 128>>>(lsrc.ptr, lout.ptr);
    SYNC();
    print_sum("shuffles int", out.get());
    print_sum("shuffles double", dout.get());
    print_sum("shuffles long", lout.get());
    predicates<<<n / 128, 128>>>(src, out);
    SYNC();
    print_sum("predicates", out.get());

    std::vector<unsigned> cells(32);
    for (unsigned &c : cells)
        c = rng.next() & rng.next();
    dev_array<unsigned> a(cells), b(32);
    for (int g = 0; g < 10; g++) {
        life<<<1, dim3(32, 32)>>>(a, b, 32);
        life<<<1, dim3(32, 32)>>>(b, a, 32);
    }
    filter<<<div_up(n, 128), 128>>>(src, out, count, n);
    SYNC();
    print_sum("life", a.get());
    long long sum = 0, want = 0;
    int kept = 0;
    std::vector<int> got = out.get();
    for (int v : in)
        if (v % 5 == 0)
            want += v * v, kept++;
    for (int i = 0; i < kept; i++)
        sum += got[i] * got[i];
    verdict("filter", count.get()[0] == kept && sum == want);
    return finish();
}
