// All-pairs shortest paths (Floyd-Warshall): one launch for each intermediate node k.
//
// Thread (x, y) of a 16x16 block looks at one pair of nodes: row y of the distance matrix, column x. Of the
// two legs, the one to k is the same for all threads of a row, the one from k for all threads of a column.
#include "device.h"

#define TILE 16

KERNEL floyd_warshall(int *distance, int nodes, int k) {
    int to = blockIdx.x * TILE + threadIdx.x, from = blockIdx.y * TILE + threadIdx.y;
    if (from >= nodes || to >= nodes)
        return;
    int at = from * nodes + to;
    int direct = distance[at], first = distance[from * nodes + k], second = distance[k * nodes + to];
    int through = first + second;
    if (from != to && through < direct)
        distance[at] = through;
}
