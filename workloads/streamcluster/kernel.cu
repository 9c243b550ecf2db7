// What opening a centre at point x would save: one thread for each point, 512 in a block.
//
// Coordinates are stored dimension by dimension. A point nearer to x than to its centre would move to x; of
// the others, each adds to what its centre's closing would cost. Each point has a row of `stride` sums of its
// own, one for each centre and one for x; the host adds the rows up.
#include "device.h"

struct stream_point {
    float weight, cost; // cost: weighted squared distance to the centre
    int centre;         // a point
};

DEVICE_FN float stream_distance(const float *coords, int n, int dim, int a, int b) {
    float sum = 0.0f;
#pragma unroll 1
    for (int d = 0; d < dim; d++) {
        float diff = coords[d * n + a] - coords[d * n + b];
        sum += diff * diff;
    }
    return sum;
}

KERNEL stream_gain(int n, int dim, int x, const stream_point *points, int centres, int stride,
                   const float *coords, float *sums, const int *centre_table, unsigned char *moves) {
    int block = (int)(blockIdx.x + gridDim.x * blockIdx.y);
    int i = (int)blockDim.x * block + (int)threadIdx.x;
    if (i >= n)
        return;
    float *mine = sums + i * stride;
    float x_cost = stream_distance(coords, n, dim, i, x) * points[i].weight;
    float cost = points[i].cost;
    if (x_cost < cost) {
        moves[i] = 1;
        mine[centres] += x_cost - cost;
    } else {
        mine[centre_table[points[i].centre]] += cost - x_cost;
    }
}
