// Two-point angular correlation: how many pairs of points on the sky lie how far apart.
//
// A block of 256 threads for each pair of sets: every set with itself, and the first set with every other.
// 256 points of one set are staged in shared memory; each thread holds a point of the other set and compares
// it with all staged ones. The bin of a cosine is found by bisection in constant memory and counted in one of
// 128 histograms in shared memory, two threads of a warp to each, which are added up at the end.
#include "device.h"

#define THREADS    256
#define BINS       20
#define HISTOGRAMS 128
#define PER_WARP   16

// Cosines of the bins' limits, descending.
__constant__ float tpacf_limits[BINS + 1];

// Sets lie one after another, n points each; coordinates in arrays of their own. counts: BINS for each block.
KERNEL tpacf_pairs(unsigned *counts, const float *xs, const float *ys, const float *zs, int n, int sets) {
    __shared__ float3 staged[THREADS];
    __shared__ unsigned histograms[BINS][HISTOGRAMS];
    int tid = threadIdx.x, block = blockIdx.x;
    bool self = block < sets;
    int left = self ? block * n : 0, right = (self ? block : block - sets + 1) * n;
    int mine = tid / 32 * PER_WARP + tid % PER_WARP;
    for (int i = tid; i < BINS * HISTOGRAMS; i += THREADS)
        histograms[i / HISTOGRAMS][i % HISTOGRAMS] = 0;

    for (int i = 0; i < n; i += THREADS) {
        __syncthreads();
        if (i + tid < n)
            staged[tid] = make_float3(xs[left + i + tid], ys[left + i + tid], zs[left + i + tid]);
        __syncthreads();
        int count = min(THREADS, n - i);
        for (int j = tid; j < n; j += THREADS) {
            float x = xs[right + j], y = ys[right + j], z = zs[right + j];
#pragma unroll 1
            for (int k = 0; k < count; k++) {
                if (self && i + k >= j)
                    continue;
                float cosine = x * staged[k].x + y * staged[k].y + z * staged[k].z;
                int low = 0, high = BINS;
                while (high > low + 1) {
                    int middle = (low + high) / 2;
                    if (cosine >= tpacf_limits[middle])
                        high = middle;
                    else
                        low = middle;
                }
                if (cosine < tpacf_limits[low] && cosine >= tpacf_limits[high])
                    atomicAdd(&histograms[low][mine], 1u);
            }
        }
    }

#pragma unroll 1
    for (int half = HISTOGRAMS / 2; half > 0; half /= 2) {
        __syncthreads();
        for (int i = tid; i < BINS * half; i += THREADS)
            histograms[i / half][i % half] += histograms[i / half][i % half + half];
    }
    __syncthreads();
    if (tid < BINS)
        counts[block * BINS + tid] = histograms[tid][0];
}
