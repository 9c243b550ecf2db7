// Electrostatic potential of atoms on a lattice of points, within a cutoff: a block of 8x2x8 threads makes a
// region of 8x8x8 points, four points to a thread.
//
// Atoms lie in bins as large as a region, at most eight in each. A block goes through the bins within reach,
// a list of offsets in constant memory: 32 bins at a time are staged in shared memory, then every thread adds
// up every atom; the charge 0 ends a bin.
#include "device.h"

#define REGION         8
#define ROWS           2
#define POINTS         4
#define DEPTH          8
#define STAGED         32
#define BIN_WORDS      (DEPTH * 4)
#define MAX_NEIGHBOURS 384

__constant__ int3 cutcp_neighbours[MAX_NEIGHBOURS];

// The lattice, and the bins, which reach `margin` beyond it on every side.
struct lattice {
    int bins_x, bins_y, margin, neighbours;
    float spacing, cutoff2, inverse_cutoff2;
};

// The potential of charge q at a squared distance, smoothed so as to vanish at the cutoff.
DEVICE_FN float term(float q, float r2, const lattice &l) {
    float s = 1.0f - r2 * l.inverse_cutoff2;
    return q * rsqrtf(r2) * s * s;
}

// Makes the regions of one layer. Atoms are (x, y, z, charge).
KERNEL cutcp_layer(float *regions, const float *atoms, int layer, lattice l) {
    __shared__ float4 staged[STAGED * DEPTH];
    float *words = (float *)staged;
    int tx = threadIdx.x, ty = threadIdx.y, tz = threadIdx.z;
    int thread = (tz * ROWS + ty) * REGION + tx, lane = thread % BIN_WORDS, first = thread / BIN_WORDS;
    int bin_x = (int)blockIdx.x + l.margin, bin_y = (int)blockIdx.y + l.margin, bin_z = layer + l.margin;
    float x = (float)((int)blockIdx.x * REGION + tx) * l.spacing;
    float y = (float)((int)blockIdx.y * REGION + ty) * l.spacing;
    float z = (float)(layer * REGION + tz) * l.spacing;
    float rows = (float)ROWS * l.spacing;
    float e0 = 0.0f, e1 = 0.0f, e2 = 0.0f, e3 = 0.0f;

    for (int base = 0; base < l.neighbours; base += STAGED) {
        int count = min(STAGED, l.neighbours - base);
        __syncthreads();
        for (int i = first; i < count; i += REGION * ROWS * REGION / BIN_WORDS) {
            int3 to = cutcp_neighbours[base + i];
            int bin = ((bin_z + to.z) * l.bins_y + bin_y + to.y) * l.bins_x + bin_x + to.x;
            words[i * BIN_WORDS + lane] = atoms[bin * BIN_WORDS + lane];
        }
        __syncthreads();

        for (int i = 0; i < count; i++)
#pragma unroll 1
            for (int a = 0; a < DEPTH; a++) {
                float4 atom = staged[i * DEPTH + a];
                if (atom.w == 0.0f)
                    break;
                float dx = atom.x - x, dy = atom.y - y, dz = atom.z - z;
                float plane = dx * dx + dz * dz;
                float r2 = dy * dy + plane;
                if (r2 < l.cutoff2)
                    e0 += term(atom.w, r2, l);
                dy -= rows;
                r2 = dy * dy + plane;
                if (r2 < l.cutoff2)
                    e1 += term(atom.w, r2, l);
                dy -= rows;
                r2 = dy * dy + plane;
                if (r2 < l.cutoff2)
                    e2 += term(atom.w, r2, l);
                dy -= rows;
                r2 = dy * dy + plane;
                if (r2 < l.cutoff2)
                    e3 += term(atom.w, r2, l);
            }
    }

    int region = (layer * (int)gridDim.y + (int)blockIdx.y) * (int)gridDim.x + (int)blockIdx.x;
    float *out = regions + region * (REGION * REGION * REGION) + (tz * REGION + ty) * REGION + tx;
    out[0] = e0;
    out[ROWS * REGION] = e1;
    out[2 * ROWS * REGION] = e2;
    out[3 * ROWS * REGION] = e3;
}
