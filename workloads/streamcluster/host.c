/* streamcluster: clustering by opening and closing centres while that lowers the cost. See README.md. */
#include "host.h"
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 512, START_CENTRES = 12, MAX_CENTRES = 64 };

static const struct {
    int points, dim, candidates;
} sizes[WL_SIZES] = {{2048, 16, 8}, {8192, 32, 30}, {65536, 256, 4}, {65536, 256, 300}};

struct point {
    float weight, cost;
    int centre;
};

struct clustering {
    int n, dim, centres, stride;
    float *coords; /* coords[d * n + i] */
    struct point *points;
    int *centre_table; /* for each centre point, its number */
    float open_cost;   /* of keeping one more centre */
    double *distance;  /* of each point, squared, from the last x that was asked for */
};

/* Points anywhere, each coordinate in [0, 1). */
static void make_points(struct wl *w, struct clustering *c) {
    wl_random_floats(w, c->coords, (size_t)c->n * (size_t)c->dim, 0, 1);
    for (int i = 0; i < c->n; i++)
        c->points[i].weight = 1;
}

/* Squared distances of all points from x, dimension by dimension, which is how the coordinates lie in memory.
 */
static void find_distances(struct clustering *c, int x) {
    memset(c->distance, 0, (size_t)c->n * sizeof *c->distance);
    for (int d = 0; d < c->dim; d++) {
        const float *coords = c->coords + (size_t)d * (size_t)c->n;
        for (int i = 0; i < c->n; i++) {
            double diff = (double)coords[i] - coords[x];
            c->distance[i] += diff * diff;
        }
    }
}

/* Point `centre` becomes a centre; points nearer to it than to theirs move. */
static void open_centre(struct clustering *c, int centre, bool first) {
    find_distances(c, centre);
    for (int i = 0; i < c->n; i++) {
        float cost = (float)c->distance[i] * c->points[i].weight;
        if (first || cost < c->points[i].cost) {
            c->points[i].cost = cost;
            c->points[i].centre = centre;
        }
    }
}

/* Numbers the centres that have points. */
static void number_centres(struct clustering *c) {
    memset(c->centre_table, -1, (size_t)c->n * sizeof(int));
    c->centres = 0;
    for (int i = 0; i < c->n; i++)
        if (c->centre_table[c->points[i].centre] < 0)
            c->centre_table[c->points[i].centre] = c->centres++;
}

/* Where the kernel left what point i contributes: the saving if it moves, else the price if it has to. */
static float contribution(const struct clustering *c, const float *sums, const unsigned char *moves, int i) {
    const float *row = sums + (size_t)i * (size_t)c->stride;
    return moves[i] ? row[c->centres] : -row[c->centre_table[c->points[i].centre]];
}

/* Adds up the rows, decides, and moves points to x, whose distances are known, if that pays. */
static void decide(struct clustering *c, int x, const float *sums, const unsigned char *moves) {
    double closing[MAX_CENTRES] = {0}, change = c->open_cost;
    for (int i = 0; i < c->n; i++) {
        const float *row = sums + (size_t)i * (size_t)c->stride;
        for (int k = 0; k < c->centres; k++)
            closing[k] += row[k];
        change += row[c->centres];
    }
    for (int k = 0; k < c->centres; k++) {
        closing[k] += c->open_cost;
        if (closing[k] > 0)
            change -= closing[k];
    }
    if (change >= 0 || c->centres == MAX_CENTRES - 1)
        return;
    for (int i = 0; i < c->n; i++)
        if (moves[i] || closing[c->centre_table[c->points[i].centre]] > 0) {
            c->points[i].cost = (float)c->distance[i] * c->points[i].weight;
            c->points[i].centre = x;
        }
    number_centres(c);
}

struct buffers {
    CUdeviceptr coords, points, sums, table, moves;
};

static void try_candidate(struct wl *w, struct clustering *c, struct buffers *b, int x, float *sums,
                          unsigned char *moves) {
    size_t n = (size_t)c->n;
    c->stride = (c->centres + 1 + 31) / 32 * 32;
    wl_put(w, b->points, c->points, n * sizeof *c->points);
    wl_put(w, b->table, c->centre_table, n * sizeof(int));
    wl_fill(w, b->sums, 0, n * (size_t)c->stride * sizeof(float));
    wl_fill(w, b->moves, 0, n);
    WL_LAUNCH(w, "stream_gain", wl_dim(wl_blocks((unsigned)n, BLOCK), 1), wl_dim(BLOCK, 1), 0, &c->n, &c->dim,
              &x, &b->points, &c->centres, &c->stride, &b->coords, &b->sums, &b->table, &b->moves);
    wl_get(w, sums, b->sums, n * (size_t)c->stride * sizeof(float));
    wl_get(w, moves, b->moves, n);
}

static void check_candidate(struct wl *w, const struct clustering *c, const float *sums,
                            const unsigned char *moves, float *got, float *want) {
    for (int i = 0; i < c->n; i++) {
        got[i] = contribution(c, sums, moves, i);
        want[i] = w->check ? (float)(c->distance[i] * c->points[i].weight - c->points[i].cost) : 0;
    }
    /* the difference of two sums of dim squares, near dim / 6 each: half a rounding for each term. A point on
     * the verge of moving contributes next to nothing either way. */
    wl_check_f32(w, "contribution", got, want, (size_t)c->n,
                 (struct wl_tolerance){(c->dim + 4) * 0x1p-24, c->dim / 12.0});
}

static void run(struct wl *w) {
    struct clustering c = {.n = wl_option(w, "points", sizes[w->size].points), .dim = sizes[w->size].dim};
    int candidates = wl_option(w, "candidates", sizes[w->size].candidates);
    size_t n = (size_t)c.n;
    c.coords = WL_ARRAY(w, float, n *(size_t)c.dim);
    c.points = WL_ARRAY(w, struct point, n);
    c.distance = WL_ARRAY(w, double, n);
    c.centre_table = WL_ARRAY(w, int, n);
    make_points(w, &c);
    for (int k = 0; k < START_CENTRES; k++)
        open_centre(&c, (int)wl_random_below(w, (uint32_t)c.n), k == 0);
    number_centres(&c);
    double total = 0;
    for (int i = 0; i < c.n; i++)
        total += c.points[i].cost;
    c.open_cost = (float)(total / 64);

    struct buffers b = {.coords = wl_upload(w, c.coords, n * (size_t)c.dim * sizeof(float)),
                        .points = wl_alloc(w, n * sizeof *c.points),
                        .sums = wl_alloc(w, n * MAX_CENTRES * sizeof(float)),
                        .table = wl_alloc(w, n * sizeof(int)),
                        .moves = wl_alloc(w, n)};
    float *sums = WL_ARRAY(w, float, n *MAX_CENTRES), *got = WL_ARRAY(w, float, n);
    float *want = WL_ARRAY(w, float, n);
    unsigned char *moves = WL_ARRAY(w, unsigned char, n);
    for (int k = 0; k < candidates; k++) {
        int x = (int)wl_random_below(w, (uint32_t)c.n);
        try_candidate(w, &c, &b, x, sums, moves);
        find_distances(&c, x);
        check_candidate(w, &c, sums, moves, got, want);
        decide(&c, x, sums, moves);
    }
}

const struct workload workload = {"streamcluster", run};
