/* Input of the character the papers' data files have, from arithmetic that is exact everywhere: integers, and
 * float additions, multiplications and divisions, which IEEE 754 defines to the last bit. */
#include "host.h"
#include <stdlib.h>

uint64_t wl_random(struct wl *w) {
    uint64_t z = w->seed += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

uint32_t wl_random_below(struct wl *w, uint32_t n) {
    return (uint32_t)(((wl_random(w) >> 32) * n) >> 32);
}

float wl_random_float(struct wl *w, float lo, float hi) {
    return lo + (hi - lo) * ((float)(wl_random(w) >> 40) * 0x1p-24f);
}

void wl_random_floats(struct wl *w, float *out, size_t n, float lo, float hi) {
    for (size_t i = 0; i < n; i++)
        out[i] = wl_random_float(w, lo, hi);
}

/* The series converges at once for v / 1024; ten squarings undo the division. */
float wl_exp(float v) {
    double x = (double)v / 1024, e = 1 + x * (1 + x / 2 * (1 + x / 3 * (1 + x / 4 * (1 + x / 5))));
    for (int i = 0; i < 10; i++)
        e *= e;
    return (float)e;
}

/* Value noise: random values on a coarse lattice, blended by a cubic that is flat at the lattice points. */
void wl_smooth_field(struct wl *w, float *out, int width, int height, int cell, float lo, float hi) {
    int columns = width / cell + 2, rows = height / cell + 2, flat = wl_option(w, "flat", 0);
    for (size_t i = 0; flat && i < (size_t)width * (size_t)height; i++)
        out[i] = flat == 1 ? lo : 0;
    if (flat)
        return;
    float *lattice = WL_ARRAY(w, float, (size_t)columns *(size_t)rows);
    wl_random_floats(w, lattice, (size_t)columns * (size_t)rows, lo, hi);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            float u = (float)(x % cell) / (float)cell, v = (float)(y % cell) / (float)cell;
            u = u * u * (3 - 2 * u);
            v = v * v * (3 - 2 * v);
            const float *a = lattice + (size_t)(y / cell) * (size_t)columns + x / cell, *b = a + columns;
            float top = a[0] + (a[1] - a[0]) * u, bottom = b[0] + (b[1] - b[0]) * u;
            out[(size_t)y * (size_t)width + (size_t)x] = top + (bottom - top) * v;
        }
}

/* Adds a disc or a bar of one brightness. */
static void draw_shape(struct wl *w, float *out, int width, int height) {
    int size = (width < height ? width : height);
    int cx = (int)wl_random_below(w, (uint32_t)width), cy = (int)wl_random_below(w, (uint32_t)height);
    int rx = size / 16 + (int)wl_random_below(w, (uint32_t)size / 6 + 1), ry = rx / 2 + 1;
    bool disc = wl_random_below(w, 2);
    float shade = wl_random_float(w, 20, 235);
    for (int y = cy - ry < 0 ? 0 : cy - ry; y < height && y <= cy + ry; y++)
        for (int x = cx - rx < 0 ? 0 : cx - rx; x < width && x <= cx + rx; x++) {
            float dx = (float)(x - cx) / (float)rx, dy = (float)(y - cy) / (float)ry;
            float *p = out + (size_t)y * (size_t)width + (size_t)x;
            if (!disc || dx * dx + dy * dy <= 1)
                *p = shade + 0.125f * *p;
        }
}

void wl_image(struct wl *w, unsigned char *out, int width, int height) {
    size_t n = (size_t)width * (size_t)height;
    float *shading = WL_ARRAY(w, float, n), noise = (float)wl_option(w, "noise", 15) / 10;
    int cell = (width < height ? width : height) / 4 + 1;
    bool flat = wl_option(w, "flat", 0);
    wl_smooth_field(w, shading, width, height, cell, 40, 200);
    for (int i = 0; !flat && i < 12; i++)
        draw_shape(w, shading, width, height);
    for (size_t i = 0; i < n; i++) {
        float v = flat ? shading[i] : shading[i] + wl_random_float(w, -noise, noise);
        out[i] = (unsigned char)(v < 0 ? 0 : v > 255 ? 255 : v);
    }
}

void wl_image_f32(struct wl *w, float *out, int width, int height) {
    size_t n = (size_t)width * (size_t)height;
    unsigned char *grey = WL_ARRAY(w, unsigned char, n);
    wl_image(w, grey, width, height);
    for (size_t i = 0; i < n; i++)
        out[i] = (float)grey[i] / 255;
}

static int compare_ints(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* One edge: at each level the adjacency matrix is cut in four, and a quarter chosen with unequal odds. */
static void rmat_edge(struct wl *w, int levels, int *from, int *to) {
    int a = 0, b = 0;
    for (int i = 0; i < levels; i++) {
        uint32_t r = wl_random_below(w, 100);
        int low = r >= 60, right = (r >= 45 && r < 60) || r >= 75;
        a = a * 2 + low;
        b = b * 2 + right;
    }
    *from = a;
    *to = b;
}

struct wl_graph wl_graph_rmat(struct wl *w, int nodes, int mean_degree) {
    struct wl_graph g = {.nodes = nodes, .edges = nodes * mean_degree};
    int levels = 0;
    while ((1 << levels) < nodes)
        levels++;
    int *from = WL_ARRAY(w, int, g.edges), *to = WL_ARRAY(w, int, g.edges);
    g.first = WL_ARRAY(w, int, nodes + 1);
    g.target = WL_ARRAY(w, int, g.edges);
    for (int i = 0; i < g.edges; i++) {
        do
            rmat_edge(w, levels, &from[i], &to[i]);
        while (from[i] >= nodes || to[i] >= nodes);
        g.first[from[i] + 1]++;
    }
    for (int i = 0; i < nodes; i++)
        g.first[i + 1] += g.first[i];
    int *next = WL_ARRAY(w, int, nodes);
    for (int i = 0; i < g.edges; i++)
        g.target[g.first[from[i]] + next[from[i]]++] = to[i];
    for (int i = 0; i < nodes; i++)
        qsort(g.target + g.first[i], (size_t)next[i], sizeof(int), compare_ints);
    return g;
}

/* Row lengths: most rows between half and all of the mean, one in sixteen up to eight times as long. */
struct wl_sparse wl_sparse_matrix(struct wl *w, int rows, int columns, int mean_per_row) {
    struct wl_sparse m = {.rows = rows, .columns = columns};
    m.first = WL_ARRAY(w, int, rows + 1);
    for (int r = 0; r < rows; r++) {
        uint32_t most = (uint32_t)mean_per_row * (wl_random_below(w, 16) ? 1 : 8);
        int n = (int)(most / 2 + wl_random_below(w, most / 2 + 1));
        m.first[r + 1] = m.first[r] + (n < 1 ? 1 : n > columns ? columns : n);
    }
    m.nonzeros = m.first[rows];
    m.column = WL_ARRAY(w, int, m.nonzeros);
    m.value = WL_ARRAY(w, float, m.nonzeros);
    for (int r = 0; r < rows; r++) {
        /* one column from each of n equal slices of the row: ascending and distinct */
        int n = m.first[r + 1] - m.first[r];
        for (int k = 0; k < n; k++) {
            int lo = (int)((int64_t)columns * k / n), hi = (int)((int64_t)columns * (k + 1) / n);
            m.column[m.first[r] + k] = lo + (int)wl_random_below(w, (uint32_t)(hi - lo));
        }
    }
    for (int i = 0; i < m.nonzeros; i++)
        m.value[i] = (float)(1 + wl_random_below(w, 1024)) / 1024;
    return m;
}

void wl_dominant_matrix(struct wl *w, float *out, int n) {
    for (int r = 0; r < n; r++) {
        float sum = 0;
        for (int c = 0; c < n; c++) {
            float v = wl_random_float(w, -1, 1);
            out[(size_t)r * (size_t)n + (size_t)c] = v;
            sum += v < 0 ? -v : v;
        }
        out[(size_t)r * (size_t)n + (size_t)r] = sum + 1;
    }
}
