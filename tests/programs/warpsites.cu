// Warp-wide operations whose members are at different instructions of the same kind, which PTX allows, as long
// as they name the same members: what one path brings the others get.
#include "test.h"

// Each path computes in its own registers; "memory" keeps the compiler from merging the two instructions.
#define SITES(LOW, HIGH)                                                                                     \
    if (l < 11) {                                                                                            \
        LOW;                                                                                                 \
        asm volatile("" ::: "memory");                                                                       \
        out[l] += r;                                                                                         \
    } else {                                                                                                 \
        HIGH;                                                                                                \
        asm volatile("" ::: "memory");                                                                       \
        out[l] ^= r * 3;                                                                                     \
    }

__global__ void sites(unsigned *out, int what, unsigned all, const unsigned *in) {
    unsigned l = threadIdx.x, v = in[l], r = 0;
    int same = 0;
    switch (what) {
    case 0:
        SITES(r = __shfl_sync(all, v, 31 - l), r = __shfl_sync(all, v * 5, 31 - l));
        break;
    case 1:
        SITES(r = __shfl_down_sync(all, v, 7), r = __shfl_down_sync(all, v ^ 0x55, 9));
        break;
    case 2:
        SITES(r = __shfl_xor_sync(all, v, 16, 32), r = __shfl_xor_sync(all, v + 9, 24, 32));
        break;
    case 3:
        SITES(r = __ballot_sync(all, v & 1), r = __ballot_sync(all, v & 2));
        break;
    case 4:
        SITES(r = __match_any_sync(all, v & 3), r = __match_any_sync(all, v >> 2 & 3));
        break;
    case 5:
        SITES(r = __match_all_sync(all, v & 64, &same) + same, r = __match_all_sync(all, v & 128, &same) + 2 * same);
        break;
    case 6:
        SITES(r = __all_sync(all, v < 200), r = 2 + __all_sync(all, v < 300));
        break;
    case 7:
        SITES(r = __any_sync(all, v == 1000), r = 2 + __any_sync(all, v == 131));
        break;
    case 8:
        SITES(__syncwarp(all); r = out[32 + (l ^ 31)], out[32 + l] = v; __syncwarp(all); r = 7);
        break;
    case 9: // three sites, one of them twice in a row
        if (l % 3 == 0)
            r = __shfl_sync(all, v, l + 1) + 2 * __shfl_sync(all, v + 1, l + 2);
        else if (l % 3 == 1)
            r = __shfl_sync(all, v + 100, l + 1) + 2 * __shfl_sync(all, v + 200, l + 2);
        else
            for (int k = 1; k <= 2; k++)
                r += k * __shfl_sync(all, v + 1000 * k, l + k);
        out[l] += r;
        break;
    }
}

int main() {
    std::vector<unsigned> in(32);
    for (unsigned l = 0; l < 32; l++)
        in[l] = 100 + l;
    dev_array<unsigned> values(in);
    for (int what = 0; what < 10; what++) {
        dev_array<unsigned> out(64);
        sites<<<1, 32>>>(out, what, 0xffffffffu, values);
        SYNC();
        std::vector<unsigned> got = out.get();
        printf("%d: %u %u %u %u ", what, got[0], got[10], got[11], got[31]);
        print_sum("sum", got);
    }
    return finish();
}
