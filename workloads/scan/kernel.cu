// Exclusive prefix sums of many arrays of equal length: within blocks, over the blocks' totals, and added
// back.
//
// A block of 256 threads takes 1024 elements, four in each thread. Scans in shared memory use twice as many
// words as elements: the lower half of each segment is zero, so that the doubling steps need no test for the
// first elements.
#include "device.h"

#define THREADS 256

// Inclusive scan over segments of `size` (a power of two) neighbouring threads.
DEVICE_FN unsigned scan_inclusive(unsigned value, volatile unsigned *words, unsigned size) {
    unsigned at = 2 * threadIdx.x - (threadIdx.x & (size - 1));
    words[at] = 0;
    at += size;
    words[at] = value;
    for (unsigned offset = 1; offset < size; offset <<= 1) {
        __syncthreads();
        unsigned sum = words[at] + words[at - offset];
        __syncthreads();
        words[at] = sum;
    }
    return words[at];
}

DEVICE_FN unsigned scan_exclusive(unsigned value, volatile unsigned *words, unsigned size) {
    return scan_inclusive(value, words, size) - value;
}

DEVICE_FN uint4 scan_exclusive4(uint4 v, volatile unsigned *words, unsigned size) {
    v.y += v.x;
    v.z += v.y;
    v.w += v.z;
    unsigned before = scan_exclusive(v.w, words, size / 4);
    return make_uint4(before, before + v.x, before + v.y, before + v.z);
}

// Scans pieces of `size` <= 1024 elements.
KERNEL scan_pieces(uint4 *out, const uint4 *in, unsigned size) {
    __shared__ unsigned words[2 * THREADS];
    unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    out[at] = scan_exclusive4(in[at], words, size);
}

// Scans the totals of the pieces: the last element's prefix plus the element. `pieces` make up one array.
KERNEL scan_totals(unsigned *totals, const unsigned *out, const unsigned *in, unsigned n, unsigned pieces) {
    __shared__ unsigned words[2 * THREADS];
    unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned value = 0;
    if (at < n)
        value = out[4 * THREADS - 1 + 4 * THREADS * at] + in[4 * THREADS - 1 + 4 * THREADS * at];
    unsigned before = scan_exclusive(value, words, pieces);
    if (at < n)
        totals[at] = before;
}

// Adds to each piece what comes before it in its array.
KERNEL scan_add(uint4 *data, const unsigned *totals) {
    __shared__ unsigned before;
    unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0)
        before = totals[blockIdx.x];
    __syncthreads();
    uint4 v = data[at];
    v.x += before;
    v.y += before;
    v.z += before;
    v.w += before;
    data[at] = v;
}
