// Forces between particles in boxes: a block of 128 threads for each box, a thread for each of 100 particles.
//
// The block goes through its own box and the boxes around it; the particles of the box at hand are staged in
// shared memory, and every thread adds the forces of all of them on its own particle. Threads 100 to 127
// idle.
#include "device.h"

#define THREADS 128
#define PER_BOX 100

// Neighbours of a box, itself not among them.
struct lava_box {
    int n_near;
    int near[26];
};

KERNEL lava_forces(float alpha, const lava_box *boxes, const float4 *places, const float *charges,
                   float4 *forces) {
    __shared__ float4 home[PER_BOX];
    __shared__ float4 other[PER_BOX];
    __shared__ float charge[PER_BOX];
    int tx = threadIdx.x, box = blockIdx.x;
    float a2 = 2.0f * alpha * alpha;
    for (int i = tx; i < PER_BOX; i += THREADS)
        home[i] = places[box * PER_BOX + i];
    __syncthreads();
#pragma unroll 1
    for (int k = 0; k < 1 + boxes[box].n_near; k++) {
        int first = (k == 0 ? box : boxes[box].near[k - 1]) * PER_BOX;
        for (int i = tx; i < PER_BOX; i += THREADS) {
            other[i] = places[first + i];
            charge[i] = charges[first + i];
        }
        __syncthreads();
        for (int i = tx; i < PER_BOX; i += THREADS) {
            float4 me = home[i], force = forces[box * PER_BOX + i];
#pragma unroll 1
            for (int j = 0; j < PER_BOX; j++) {
                float4 it = other[j];
                float r2 = me.w + it.w - (me.x * it.x + me.y * it.y + me.z * it.z);
                float potential = expf(-(a2 * r2)), slope = 2.0f * potential;
                force.w += charge[j] * potential;
                force.x += charge[j] * (slope * (me.x - it.x));
                force.y += charge[j] * (slope * (me.y - it.y));
                force.z += charge[j] * (slope * (me.z - it.z));
            }
            forces[box * PER_BOX + i] = force;
        }
        __syncthreads();
    }
}
