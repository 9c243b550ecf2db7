// Block matching for video: how well each block of a frame fits every place of a reference frame within a
// search range, as sums of absolute differences (SADs).
//
// sad_4x4 does blocks of 4x4 pixels: a block of 61 threads for each, every thread trying 18 of the 33x33
// places, one after the other along rows. The SADs of larger blocks are sums of those: sad_8 makes 8x4, 4x8
// and 8x8, sad_16 makes 16x8, 8x16 and 16x16, for two places at once. The SADs of a block lie together,
// padded to 1096.
#include "device.h"

#define RANGE      16
#define SPAN       (2 * RANGE + 1)
#define PLACES     (SPAN * SPAN)
#define PADDED     1096
#define PER_THREAD 18
#define THREADS    61

// blockIdx is the 4x4 block; its SADs come after those of the blocks before it in its macroblock of 16x16
// pixels.
KERNEL __launch_bounds__(THREADS)
    sad_4x4(unsigned *sads, const unsigned short *frame, int mb_width, texture_t reference) {
    __shared__ unsigned short pixels[16];
    __shared__ unsigned words[PADDED / 2];
    unsigned short *found = (unsigned short *)words;
    int tid = threadIdx.x, bx = blockIdx.x, by = blockIdx.y, x = 4 * bx, y = 4 * by;
    if (tid < 16)
        pixels[tid] = frame[(y + tid / 4) * 16 * mb_width + x + tid % 4];
    if (tid < PADDED - PLACES)
        found[PLACES + tid] = 0;
    __syncthreads();

    int place = tid * PER_THREAD, end = min(place + PER_THREAD, PLACES);
    int dx = place % SPAN - RANGE, dy = place / SPAN - RANGE;
    for (; place < end; place++) {
        int sum = 0;
#pragma unroll
        for (int row = 0; row < 4; row++)
#pragma unroll
            for (int column = 0; column < 4; column++) {
                int there = (int)texture_2d_uint(reference, (float)(x + dx + column), (float)(y + dy + row));
                sum += abs(there - pixels[row * 4 + column]);
            }
        found[place] = (unsigned short)sum;
        if (++dx > RANGE) {
            dx = -RANGE;
            dy++;
        }
    }
    __syncthreads();

    int block = ((by / 4) * mb_width + bx / 4) * 16 + (by % 4) * 4 + bx % 4;
    for (int i = tid; i < PADDED / 2; i += THREADS)
        sads[block * (PADDED / 2) + i] = words[i];
}

DEVICE_FN ushort2 add(ushort2 a, ushort2 b) {
    return make_ushort2((unsigned short)(a.x + b.x), (unsigned short)(a.y + b.y));
}

// For macroblock blockIdx; threadIdx.y is one of its four blocks of 8x8.
KERNEL sad_8(ushort2 *sads_8x8, ushort2 *sads_8x4, ushort2 *sads_4x8, const ushort2 *sads_4x4) {
    const int n = PADDED / 2;
    int mb = (int)(blockIdx.y * gridDim.x + blockIdx.x), part = threadIdx.y;
    const ushort2 *in = sads_4x4 + (mb * 16 + part / 2 * 8 + part % 2 * 2) * n;
    int whole = (mb * 4 + part) * n, halves = (mb * 8 + part * 2) * n;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        ushort2 a = in[i], b = in[i + n], c = in[i + 4 * n], d = in[i + 5 * n];
        ushort2 upper = add(a, b), lower = add(c, d);
        sads_8x4[halves + i] = upper;
        sads_8x4[halves + n + i] = lower;
        sads_4x8[halves + i] = add(a, c);
        sads_4x8[halves + n + i] = add(b, d);
        sads_8x8[whole + i] = add(upper, lower);
    }
}

// For macroblock blockIdx.
KERNEL sad_16(ushort2 *sads_16x16, ushort2 *sads_16x8, ushort2 *sads_8x16, const ushort2 *sads_8x8) {
    const int n = PADDED / 2;
    int mb = (int)(blockIdx.y * gridDim.x + blockIdx.x);
    const ushort2 *in = sads_8x8 + mb * 4 * n;
    int whole = mb * n, halves = mb * 2 * n;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        ushort2 a = in[i], b = in[i + n], c = in[i + 2 * n], d = in[i + 3 * n];
        ushort2 upper = add(a, b), lower = add(c, d);
        sads_16x8[halves + i] = upper;
        sads_16x8[halves + n + i] = lower;
        sads_8x16[halves + i] = add(a, c);
        sads_8x16[halves + n + i] = add(b, d);
        sads_16x16[whole + i] = add(upper, lower);
    }
}
