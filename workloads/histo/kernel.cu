// A large histogram of an image whose values crowd in a small part of it; counts stop at 255.
//
// histo_prescan looks at an eighth of the image and finds the range of bins where most values lie.
// histo_locate turns values into windows and places in them. histo_main counts: a row of blocks for each
// window of 24 K bins within the range, byte counters in shared memory; what lies outside the range is
// counted in global memory by the first row. histo_final adds up the blocks' counts.
#include "device.h"

#define PRESCAN_THREADS 512
#define MAIN_THREADS    768
#define WINDOW          (24 * 1024)
#define WINDOW_WORDS    (WINDOW / 4)
#define ROWS            16

// Sum of a value of each of 512 threads, by a tree in shared memory; the result is the same in all of them.
DEVICE_FN float block_sum(float *shared, float value) {
    int tid = threadIdx.x;
    __syncthreads();
    shared[tid] = value;
#pragma unroll 1
    for (int stride = PRESCAN_THREADS / 2; stride > 0; stride /= 2) {
        __syncthreads();
        if (tid < stride)
            shared[tid] += shared[tid + stride];
    }
    __syncthreads();
    return shared[0];
}

// range: smallest and largest bin within ten mean deviations of the mean of what a block sees.
KERNEL histo_prescan(unsigned *range, const unsigned *values, int n, int bins) {
    __shared__ float shared[PRESCAN_THREADS];
    int slice = n / (int)gridDim.x, begin = (int)blockIdx.x * slice + (int)threadIdx.x;
    int end = (int)blockIdx.x * slice + slice / 8;
    float sum = 0.0f, seen = 0.0f, deviation = 0.0f;
    for (int i = begin; i < end; i += PRESCAN_THREADS) {
        sum += (float)values[i];
        seen += 1.0f;
    }
    seen = block_sum(shared, seen);
    float mean = block_sum(shared, sum) / seen;
    for (int i = begin; i < end; i += PRESCAN_THREADS)
        deviation += fabsf((float)values[i] - mean);
    deviation = block_sum(shared, deviation) / seen;
    if (threadIdx.x == 0) {
        atomicMin(&range[0], (unsigned)fmaxf(mean - 10.0f * deviation, 0.0f));
        atomicMax(&range[1], (unsigned)fminf(mean + 10.0f * deviation, (float)(bins - 1)));
    }
}

// A block does sixteen rows of the image, each thread two neighbouring columns.
KERNEL histo_locate(uint2 *places, const uint2 *values, int width, int height) {
    int row = (int)blockIdx.x * ROWS, half = width / 2, column = threadIdx.x;
#pragma unroll 1
    for (int i = 0; i < ROWS; i++) {
        if (row + i >= height)
            break;
        uint2 v = values[(row + i) * half + column];
        places[(row + i) * half + column] =
            make_uint2(v.x / WINDOW << 16 | v.x % WINDOW, v.y / WINDOW << 16 | v.y % WINDOW);
    }
}

// Adds one to a byte of shared memory unless it is 255.
DEVICE_FN void increment(unsigned *words, unsigned place) {
    unsigned *word = &words[place / 4], shift = place % 4 * 8, seen = *word, before;
    do {
        before = seen;
        if ((before >> shift & 255u) == 255u)
            return;
        seen = atomicCAS(word, before, before + (1u << shift));
    } while (seen != before);
}

// blockIdx.y is the window, of `windows` from `first` on; outside: a count for each bin; parts: the windows'
// bytes, for each block.
KERNEL __launch_bounds__(MAIN_THREADS) histo_main(unsigned *parts, unsigned *outside, const unsigned *places,
                                                  int n, unsigned first, unsigned windows) {
    __shared__ unsigned words[WINDOW_WORDS];
    unsigned window = first + blockIdx.y;
    for (int i = threadIdx.x; i < WINDOW_WORDS; i += MAIN_THREADS)
        words[i] = 0;
    __syncthreads();

    for (int i = (int)(blockIdx.x * MAIN_THREADS + threadIdx.x); i < n; i += (int)gridDim.x * MAIN_THREADS) {
        unsigned place = places[i];
        if (place >> 16 == window)
            increment(words, place & 0xffffu);
        else if (blockIdx.y == 0 && (place >> 16) - first >= windows)
            atomicAdd(&outside[(place >> 16) * WINDOW + (place & 0xffffu)], 1u);
    }
    __syncthreads();

    unsigned *part = parts + (blockIdx.y * gridDim.x + blockIdx.x) * WINDOW_WORDS;
    for (int i = threadIdx.x; i < WINDOW_WORDS; i += MAIN_THREADS)
        part[i] = words[i];
}

// Four bins at a time: `count` blocks' bytes where the bins lie in a window, otherwise counts from outside.
KERNEL histo_final(uchar4 *histogram, const uchar4 *parts, const uint4 *outside, int words, int count,
                   int first, int windows) {
    int threads = (int)(gridDim.x * blockDim.x);
    for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x); i < words; i += threads) {
        int window = i / WINDOW_WORDS - first, place = i % WINDOW_WORDS;
        uint4 sum = outside[i];
        if (window >= 0 && window < windows)
#pragma unroll 1
            for (int part = 0; part < count; part++) {
                uchar4 v = parts[(window * count + part) * WINDOW_WORDS + place];
                sum.x += v.x;
                sum.y += v.y;
                sum.z += v.z;
                sum.w += v.w;
            }
        uchar4 out;
        out.x = (uchar)min(sum.x, 255u);
        out.y = (uchar)min(sum.y, 255u);
        out.z = (uchar)min(sum.z, 255u);
        out.w = (uchar)min(sum.w, 255u);
        histogram[i] = out;
    }
}
