// Coulombic potential of point charges on one slice of a grid: direct summation.
//
// A block of 16x8 threads makes 128x8 points of the slice: each thread has eight points of one row, 16 apart,
// so that the sixteen threads of a row store neighbouring points. Atoms come from constant memory as
// (x, y, squared distance from the slice, charge), the same one for all threads at a time.
#include "device.h"

#define POINTS    8
#define MAX_ATOMS 4000

__constant__ float4 cp_atoms[MAX_ATOMS];

KERNEL cp_potential(int atoms, float spacing, float *energy) {
    int column = blockIdx.x * blockDim.x * POINTS + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int width = gridDim.x * blockDim.x * POINTS;
    int at = row * width + column;
    float x = spacing * column, y = spacing * row;
    float apart = spacing * blockDim.x;
    float sum[POINTS] = {};
#pragma unroll 1
    for (int i = 0; i < atoms; i++) {
        float4 atom = cp_atoms[i];
        float dy = y - atom.y;
        float dyz2 = dy * dy + atom.z;
        float dx = x - atom.x;
#pragma unroll
        for (int p = 0; p < POINTS; p++) {
            sum[p] += atom.w * rsqrtf(dx * dx + dyz2);
            dx += apart;
        }
    }
#pragma unroll
    for (int p = 0; p < POINTS; p++)
        energy[at + p * (int)blockDim.x] += sum[p];
}
