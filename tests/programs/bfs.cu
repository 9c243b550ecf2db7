// Breadth-first search three ways over one graph: level-synchronous masks, worklists with an atomic tail, and
// topology-driven relaxation; then shortest paths and connected components with atomicMin.
#include "test.h"

struct graph {
    int nodes;
    const int *row, *col, *weight;
};

__global__ void bfs_level(graph g, int *level, int depth, int *changed) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= g.nodes || level[v] != depth)
        return;
    for (int e = g.row[v]; e < g.row[v + 1]; e++) {
        int w = g.col[e];
        if (level[w] < 0) {
            level[w] = depth + 1;
            *changed = 1;
        }
    }
}

__global__ void bfs_worklist(graph g, int *level, int depth, const int *in, int count, int *out, int *tail) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    int v = in[i];
    for (int e = g.row[v]; e < g.row[v + 1]; e++) {
        int w = g.col[e];
        if (atomicCAS(&level[w], -1, depth + 1) == -1)
            out[atomicAdd(tail, 1)] = w;
    }
}

__global__ void relax(graph g, int *dist, int *changed) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= g.nodes)
        return;
    int d = *(volatile int *)&dist[v];
    if (d == 0x3fffffff)
        return;
    for (int e = g.row[v]; e < g.row[v + 1]; e++)
        if (atomicMin(&dist[g.col[e]], d + g.weight[e]) > d + g.weight[e])
            *changed = 1;
}

__global__ void hook(graph g, int *label, int *changed) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= g.nodes)
        return;
    for (int e = g.row[v]; e < g.row[v + 1]; e++) {
        int a = label[v], b = label[g.col[e]];
        if (a < b) {
            atomicMin(&label[g.col[e]], a);
            *changed = 1;
        } else if (b < a) {
            atomicMin(&label[v], b);
            *changed = 1;
        }
    }
}

static bool take_flag(dev_array<int> &flag) {
    SYNC();
    int set = flag.get()[0];
    flag.put({0});
    return set;
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 4000), degree = 6, blocks = div_up(n, 128);
    random_source rng(9);
    std::vector<int> row(n + 1), col, weight;
    for (int v = 0; v < n; v++) { // local edges and a few long ones; the last tenth of the nodes is an island
        int limit = v < n * 9 / 10 ? n * 9 / 10 : n, base = v < n * 9 / 10 ? 0 : n * 9 / 10;
        for (int k = 0; k < 1 + int(rng.below(degree)); k++) {
            int w = rng.below(8) ? v + int(rng.below(17)) - 8 : base + int(rng.below(limit - base));
            if (w >= base && w < limit) {
                col.push_back(w);
                weight.push_back(1 + rng.below(20));
            }
        }
        row[v + 1] = int(col.size());
    }
    std::vector<int> want(n, -1), queue{0};
    want[0] = 0;
    for (size_t q = 0; q < queue.size(); q++)
        for (int e = row[queue[q]]; e < row[queue[q] + 1]; e++)
            if (want[col[e]] < 0) {
                want[col[e]] = want[queue[q]] + 1;
                queue.push_back(col[e]);
            }

    dev_array<int> drow(row), dcol(col), dweight(weight), flag(1), a(n), b(n);
    graph g = {n, drow, dcol, dweight};
    std::vector<int> start(n, -1);
    start[0] = 0;
    dev_array<int> level(start);
    int depth = 0;
    do
        bfs_level<<<blocks, 128>>>(g, level, depth++, flag);
    while (take_flag(flag));
    verdict("levels", level.get() == want);
    print_sum("levels", level.get());
    printf("depth %d\n", depth);

    level.put(start);
    a.put({0});
    int count = 1, visited = 1, *in = a, *out = b;
    for (int d = 0; count > 0; d++, visited += count) {
        bfs_worklist<<<div_up(count, 64), 64>>>(g, level, d, in, count, out, flag);
        SYNC();
        count = flag.get()[0];
        flag.put({0});
        int *t = in;
        in = out;
        out = t;
    }
    verdict("worklist", level.get() == want);
    printf("visited %d\n", visited);

    std::vector<int> far(n, 0x3fffffff), own(n);
    far[0] = 0;
    level.put(far);
    do
        relax<<<blocks, 128>>>(g, level, flag);
    while (take_flag(flag));
    print_sum("distances", level.get());

    for (int v = 0; v < n; v++)
        own[v] = v;
    level.put(own);
    do
        hook<<<blocks, 128>>>(g, level, flag);
    while (take_flag(flag));
    print_sum("components", level.get());
    return finish();
}
