/* floydWarshall: all-pairs shortest paths of a directed graph. See README.md. */
#include "host.h"

enum { TILE = 16, FAR = 1 << 28 };

static const struct { int nodes, degree; } sizes[WL_SIZES] = {{48, 6}, {144, 16}, {320, 32}, {512, 128}};

/* Edge lengths 1 to 10, the shorter of two parallel edges; FAR where there is none. */
static void distances(struct wl *w, int *d, int nodes, int degree) {
    struct wl_graph g = wl_graph_rmat(w, nodes, degree);
    for (int i = 0; i < nodes; i++)
        for (int j = 0; j < nodes; j++)
            d[i * nodes + j] = i == j ? 0 : FAR;
    for (int i = 0; i < nodes; i++)
        for (int e = g.first[i]; e < g.first[i + 1]; e++) {
            int *at = &d[i * nodes + g.target[e]], length = 1 + (int)wl_random_below(w, 10);
            *at = length < *at ? length : *at;
        }
}

/* Shortest paths from one node, by Dijkstra's rule on the matrix. */
static void reference(const int *length, int *out, int nodes, int from, bool *done) {
    for (int i = 0; i < nodes; i++) {
        out[i] = i == from ? 0 : FAR;
        done[i] = false;
    }
    for (;;) {
        int near = -1;
        for (int i = 0; i < nodes; i++)
            if (!done[i] && out[i] < FAR && (near < 0 || out[i] < out[near]))
                near = i;
        if (near < 0)
            return;
        done[near] = true;
        for (int i = 0; i < nodes; i++) {
            int through = out[near] + length[near * nodes + i];
            out[i] = through < out[i] ? through : out[i];
        }
    }
}

static void run(struct wl *w) {
    int nodes = wl_option(w, "nodes", sizes[w->size].nodes);
    int degree = wl_option(w, "degree", sizes[w->size].degree);
    if (nodes < 1 || degree < 0)
        wl_fail(w, "nodes must be positive");
    size_t pairs = (size_t)nodes * (size_t)nodes, bytes = pairs * sizeof(int);
    int *length = WL_ARRAY(w, int, pairs), *want = WL_ARRAY(w, int, pairs), *got = WL_ARRAY(w, int, pairs);
    distances(w, length, nodes, degree);

    CUdeviceptr d_distance = wl_upload(w, length, bytes);
    unsigned blocks = wl_blocks((unsigned)nodes, TILE);
    for (int k = 0; k < nodes; k++)
        WL_LAUNCH(w, "floyd_warshall", wl_dim(blocks, blocks), wl_dim(TILE, TILE), 0, &d_distance, &nodes,
                  &k);
    wl_get(w, got, d_distance, bytes);
    bool *done = WL_ARRAY(w, bool, nodes);
    for (int i = 0; w->check && i < nodes; i++)
        reference(length, want + (size_t)i * (size_t)nodes, nodes, i, done);
    wl_check_int(w, "distance", got, want, pairs);
}

const struct workload workload = {"floydWarshall", run};
