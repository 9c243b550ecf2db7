// Breadth-first search, level by level: one thread for each node, 512 in a block. The first kernel visits the
// neighbours of the nodes of the present level, the second makes the nodes found the next level.
#include "device.h"

// A node's edges: the first one's number, and how many.
KERNEL bfs_visit(const int2 *nodes, const int *edges, uchar *present, uchar *found, const uchar *visited,
                 int *cost, int n) {
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node < n && present[node]) {
        present[node] = 0;
        int first = nodes[node].x, count = nodes[node].y;
        for (int i = first; i < first + count; i++) {
            int to = edges[i];
            if (!visited[to]) {
                cost[to] = cost[node] + 1;
                found[to] = 1;
            }
        }
    }
}

KERNEL bfs_advance(uchar *present, uchar *found, uchar *visited, int *more, int n) {
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node < n && found[node]) {
        present[node] = 1;
        visited[node] = 1;
        *more = 1;
        found[node] = 0;
    }
}
