// Sorting floats: spread over 1024 buckets, then each bucket by merging, four numbers at a time.
//
// From a histogram the host chooses pivots. Blocks of a single warp count how many of their numbers belong in
// each bucket (pivots in a texture, a binary search for each number) and later put them there. In a bucket,
// groups of four are sorted by a network, and lists of groups merged pairwise, a thread for each pair of
// lists.
#include "device.h"

#define BUCKETS         1024
#define BUCKET_BITS     10
#define HISTOGRAM_WARPS 3
#define BAND            128 // numbers for each thread of hs_count and hs_scatter

__constant__ int hs_start[BUCKETS + 1]; // first group of each bucket
__constant__ int hs_packed[BUCKETS];    // where each bucket's numbers go in the end
__constant__ int hs_size[BUCKETS];      // numbers in each bucket

// Three warps, each with a histogram of its own in shared memory.
KERNEL hs_histogram(const float *in, int n, float least, float scale, unsigned *histogram) {
    __shared__ unsigned bins[HISTOGRAM_WARPS][BUCKETS];
    int tx = threadIdx.x, threads = blockDim.x;
    for (int i = tx; i < HISTOGRAM_WARPS * BUCKETS; i += threads)
        bins[i / BUCKETS][i % BUCKETS] = 0;
    __syncthreads();
    for (int i = (int)blockIdx.x * threads + tx; i < n; i += (int)gridDim.x * threads) {
        int bin = (int)((in[i] - least) * scale);
        atomicAdd(&bins[tx / 32][min(max(bin, 0), BUCKETS - 1)], 1u);
    }
    __syncthreads();
    for (int i = tx; i < BUCKETS; i += threads) {
        unsigned sum = 0;
        for (int w = 0; w < HISTOGRAM_WARPS; w++)
            sum += bins[w][i];
        atomicAdd(&histogram[i], sum);
    }
}

// For each number its bucket and its rank among the block's numbers of that bucket; for each block its
// counts.
KERNEL hs_count(const float *in, int n, texture_t pivots, unsigned *places, unsigned *counts) {
    __shared__ unsigned count[BUCKETS];
    int tx = threadIdx.x, threads = blockDim.x;
    for (int i = tx; i < BUCKETS; i += threads)
        count[i] = 0;
    __syncthreads();
    int first = (int)blockIdx.x * threads * BAND, end = min(first + threads * BAND, n);
    for (int i = first + tx; i < end; i += threads) {
        float v = in[i];
        int bucket = 0;
#pragma unroll 1
        for (int step = BUCKETS / 2; step > 0; step /= 2)
            if (texture_1d(pivots, bucket + step - 1) <= v)
                bucket += step;
        unsigned rank = atomicAdd(&count[bucket], 1u);
        places[i] = rank << BUCKET_BITS | (unsigned)bucket;
    }
    __syncthreads();
    for (int i = tx; i < BUCKETS; i += threads)
        counts[blockIdx.x * BUCKETS + i] = count[i];
}

// A thread for each bucket: counts of the blocks become what lies before each block's share.
KERNEL hs_prefix(unsigned *counts, unsigned *totals, int blocks) {
    int bucket = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    unsigned sum = 0;
#pragma unroll 1
    for (int b = 0; b < blocks; b++) {
        unsigned here = counts[b * BUCKETS + bucket];
        counts[b * BUCKETS + bucket] = sum;
        sum += here;
    }
    totals[bucket] = sum;
}

KERNEL hs_scatter(const float *in, int n, const unsigned *places, const unsigned *counts, float *out) {
    __shared__ unsigned start[BUCKETS];
    int tx = threadIdx.x, threads = blockDim.x;
    for (int i = tx; i < BUCKETS; i += threads)
        start[i] = 4 * (unsigned)hs_start[i] + counts[blockIdx.x * BUCKETS + i];
    __syncthreads();
    int first = (int)blockIdx.x * threads * BAND, end = min(first + threads * BAND, n);
    for (int i = first + tx; i < end; i += threads)
        out[start[places[i] & (BUCKETS - 1)] + (places[i] >> BUCKET_BITS)] = in[i];
}

// Puts two numbers in order, each by a comparison of its own.
DEVICE_FN void hs_order(float &a, float &b) {
    float least = a > b ? b : a;
    b = b > a ? b : a;
    a = least;
}

DEVICE_FN float4 hs_sorted(float4 v) {
    hs_order(v.x, v.y);
    hs_order(v.z, v.w);
    hs_order(v.x, v.z);
    hs_order(v.y, v.w);
    hs_order(v.y, v.z);
    return v;
}

KERNEL hs_sort_groups(texture_t in, float4 *out, int n) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        out[i] = hs_sorted(texture_1d_float4(in, i));
}

// Of two sorted groups, the four smallest and the four largest.
DEVICE_FN void hs_split(float4 &a, float4 &b) {
    float4 low = make_float4(a.x < b.w ? a.x : b.w, a.y < b.z ? a.y : b.z, a.z < b.y ? a.z : b.y,
                             a.w < b.x ? a.w : b.x);
    float4 high = make_float4(a.x >= b.w ? a.x : b.w, a.y >= b.z ? a.y : b.z, a.z >= b.y ? a.z : b.y,
                              a.w >= b.x ? a.w : b.x);
    a = hs_sorted(low);
    b = hs_sorted(high);
}

// Merges list 2k with list 2k + 1 of a bucket, `length` groups each, the last ones shorter. Both lists' next
// groups are fetched before it is known which is taken.
KERNEL hs_merge(texture_t in, float4 *out, int length, int pairs_per_bucket) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), bucket = i / pairs_per_bucket;
    if (bucket >= BUCKETS)
        return;
    int a = hs_start[bucket] + (i - bucket * pairs_per_bucket) * 2 * length, end = hs_start[bucket + 1];
    if (a >= end)
        return;
    int a_end = a + length, b = a_end, b_end = min(b + length, end);
    float4 *to = out + a;
    if (b >= end) {
        for (; a < end; a++)
            *to++ = texture_1d_float4(in, a);
        return;
    }
    float4 low = texture_1d_float4(in, a), high = texture_1d_float4(in, b);
#pragma unroll 1
    for (;;) {
        float4 next_a = texture_1d_float4(in, a + 1), next_b = texture_1d_float4(in, b + 1);
        hs_split(low, high);
        *to++ = low;
        bool left_a = a + 1 < a_end, left_b = b + 1 < b_end;
        if (!left_a && !left_b)
            break;
        if (left_a && (!left_b || next_a.x < next_b.x)) {
            a++;
            low = next_a;
        } else {
            b++;
            low = next_b;
        }
    }
    *to = high;
}

// The buckets without their padding, one after another.
KERNEL hs_pack(const float *in, float *out) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), bucket = blockIdx.y;
    if (i < hs_size[bucket])
        out[hs_packed[bucket] + i] = in[4 * hs_start[bucket] + i];
}
