// Shuffles from lanes that are not there: on another path, predicated off, gone, or never started. A GPU
// gives 0 for them, and many reductions of fewer than 32 values count on it.
#include "test.h"

enum mode { UP, DOWN, BFLY, IDX };

// The instruction itself, with its predicate; b and c as PTX has them.
template <int MODE> __device__ unsigned shuffle(unsigned v, unsigned b, unsigned c, unsigned members, unsigned &in_range) {
    unsigned d;
#define SHUFFLE(NAME)                                                                                        \
    asm volatile("{ .reg .pred q; shfl.sync." NAME ".b32 %0|q, %2, %3, %4, %5; selp.u32 %1, 1, 0, q; }"      \
                 : "=r"(d), "=r"(in_range)                                                                   \
                 : "r"(v), "r"(b), "r"(c), "r"(members))
    if (MODE == UP)
        SHUFFLE("up");
    else if (MODE == DOWN)
        SHUFFLE("down");
    else if (MODE == BFLY)
        SHUFFLE("bfly");
    else
        SHUFFLE("idx");
    return d;
}

// Each thread leaves result and predicate; those that do not take part, what was there.
template <int MODE> __global__ void part(unsigned *out, int way, unsigned b, unsigned c) {
    unsigned l = threadIdx.x, v = 100 + l, p = 0, d = 0, to = MODE == IDX ? (l + b) & 31 : b;
    switch (way) {
    case 0: // half of the warp
        if (l < 16)
            d = shuffle<MODE>(v, to, c, 0xffff, p);
        break;
    case 1: // every other lane
        if (!(l & 1))
            d = shuffle<MODE>(v, to, c, 0x55555555, p);
        break;
    case 2: // the others have ended
        if (l >= 20)
            return;
        d = shuffle<MODE>(v, to, c, 0xfffff, p);
        break;
    case 3: // two instructions, for half of the warp each
        if (l < 16)
            d = shuffle<MODE>(v, to, c, 0xffff, p);
        else
            d = shuffle<MODE>(v + 1000, to, c, 0xffff0000, p);
        break;
    case 4: // three paths
        if (l % 3 == 0)
            d = shuffle<MODE>(v, to, c, 0x49249249, p);
        else if (l % 3 == 1)
            d = shuffle<MODE>(v + 1000, to, c, 0x92492492, p);
        else
            d = shuffle<MODE>(v + 2000, to, c, 0x24924924, p);
        break;
    case 5: // lanes leave a loop one after the other
        for (unsigned i = 0; i < l; i++)
            d = shuffle<MODE>(v * 3 + i, to, c, 0xfffffffeu << i, p);
        break;
    }
    out[l] = d * 2 + p;
}

// Predicated, not branched around.
__global__ void guarded(unsigned *out, unsigned n) {
    unsigned l = threadIdx.x, v = 100 + l, d = 7;
    asm volatile("{ .reg .pred q; setp.lt.u32 q, %2, %3; @q shfl.sync.down.b32 %0, %1, 9, 31, 0xfffff; }"
                 : "+r"(d)
                 : "r"(v), "r"(l), "r"(n));
    out[l] = d;
}

// The reduction of the CUDA samples, whose last warp has fewer lanes than it adds up.
__global__ void reduce(unsigned *out, unsigned n) {
    unsigned l = threadIdx.x, v = 100 + l, members = __ballot_sync(~0u, l < n);
    if (l < n) {
        unsigned down = v, cross = v;
        for (int offset = 16; offset > 0; offset /= 2) {
            down += __shfl_down_sync(members, down, offset);
            cross += __shfl_xor_sync(members, cross, offset);
        }
        out[l] = down * 10000 + cross;
    }
}

template <int MODE> static void parts(const char *name, unsigned whole, unsigned eights) {
    for (int way = 0; way < 6; way++)
        for (int threads = 32; threads >= 24; threads -= 8) { // lanes that never started
            std::vector<unsigned> all;
            for (unsigned b : {1u, 5u, 16u, 23u})
                for (unsigned c : {whole, eights}) {
                    dev_array<unsigned> out(32);
                    part<MODE><<<1, threads>>>(out, way, b, c);
                    SYNC();
                    for (unsigned v : out.get())
                        all.push_back(v);
                }
            printf("%s, way %d, %d threads: ", name, way, threads);
            print_sum("sum", all);
        }
}

int main() {
    parts<UP>("up", 0, 0x1800);
    parts<DOWN>("down", 31, 0x181f);
    parts<BFLY>("bfly", 31, 0x181f);
    parts<IDX>("idx", 31, 0x181f);
    for (unsigned n : {1u, 8u, 20u, 31u}) {
        dev_array<unsigned> out(32), sums(32);
        guarded<<<1, 32>>>(out, 20);
        reduce<<<1, 32>>>(sums, n);
        SYNC();
        print_sum("guarded", out.get());
        printf("of %u: %u %u\n", n, sums.get()[0], sums.get()[n - 1]);
    }
    return finish();
}
