/* bfs: the distance of every node of a graph from one of them. See README.md. */
#include "host.h"

enum { THREADS = 512, MEAN_DEGREE = 6 };

static const int nodes_of[WL_SIZES] = {2048, 32768, 524288, 1000000};

struct node {
    int first, count;
};

static int busiest(const struct wl_graph *g) {
    int best = 0;
    for (int i = 1; i < g->nodes; i++)
        if (g->first[i + 1] - g->first[i] > g->first[best + 1] - g->first[best])
            best = i;
    return best;
}

static void reference(struct wl *w, const struct wl_graph *g, int source, int *cost) {
    int *queue = WL_ARRAY(w, int, g->nodes), head = 0, tail = 0;
    for (int i = 0; i < g->nodes; i++)
        cost[i] = -1;
    cost[source] = 0;
    queue[tail++] = source;
    while (head < tail) {
        int node = queue[head++];
        for (int i = g->first[node]; i < g->first[node + 1]; i++)
            if (cost[g->target[i]] < 0) {
                cost[g->target[i]] = cost[node] + 1;
                queue[tail++] = g->target[i];
            }
    }
}

static void run(struct wl *w) {
    int n = wl_option(w, "nodes", nodes_of[w->size]);
    struct wl_graph g = wl_graph_rmat(w, n, MEAN_DEGREE);
    size_t count = (size_t)n;
    int source = busiest(&g);
    struct node *nodes = WL_ARRAY(w, struct node, n);
    int *cost = WL_ARRAY(w, int, n), *want = WL_ARRAY(w, int, n);
    unsigned char *flags = WL_ARRAY(w, unsigned char, n);
    for (int i = 0; i < n; i++) {
        nodes[i] = (struct node){g.first[i], g.first[i + 1] - g.first[i]};
        cost[i] = -1;
    }
    cost[source] = 0;
    flags[source] = 1;

    CUdeviceptr d_nodes = wl_upload(w, nodes, count * sizeof *nodes);
    CUdeviceptr d_edges = wl_upload(w, g.target, (size_t)g.edges * sizeof(int));
    CUdeviceptr d_present = wl_upload(w, flags, count), d_visited = wl_upload(w, flags, count);
    CUdeviceptr d_found = wl_alloc(w, count), d_cost = wl_upload(w, cost, count * sizeof(int));
    CUdeviceptr d_more = wl_alloc(w, sizeof(int));
    struct wl_dim grid = wl_dim(wl_blocks((unsigned)n, THREADS), 1), block = wl_dim(THREADS, 1);
    for (int more = 1; more;) {
        more = 0;
        wl_put(w, d_more, &more, sizeof more);
        WL_LAUNCH(w, "bfs_visit", grid, block, 0, &d_nodes, &d_edges, &d_present, &d_found, &d_visited,
                  &d_cost, &n);
        WL_LAUNCH(w, "bfs_advance", grid, block, 0, &d_present, &d_found, &d_visited, &d_more, &n);
        wl_get(w, &more, d_more, sizeof more);
    }
    wl_get(w, cost, d_cost, count * sizeof(int));
    if (w->check)
        reference(w, &g, source, want);
    wl_check_int(w, "distance", cost, want, count);
}

const struct workload workload = {"bfs", run};
