/* srad_v1: speckle-reducing anisotropic diffusion of an ultrasound image. See README.md. */
#include "host.h"
#include <math.h>

enum { THREADS = 512 };

static const struct {
    int rows, columns, iterations;
} sizes[WL_SIZES] = {{80, 72, 2}, {160, 128, 10}, {256, 240, 60}, {502, 458, 100}};

static const float lambda = 0.5f;

struct image {
    int rows, columns, n;
    float *pixels; /* by columns */
    int *north, *south, *west, *east;
};

static struct image make_image(struct wl *w, int rows, int columns) {
    struct image m = {.rows = rows, .columns = columns, .n = rows * columns};
    unsigned char *grey = WL_ARRAY(w, unsigned char, m.n);
    m.pixels = WL_ARRAY(w, float, m.n);
    wl_image(w, grey, rows, columns); /* one image row is one column of pixels */
    for (int i = 0; i < m.n; i++) {
        /* speckle: noise in proportion to brightness */
        float v = (float)grey[i] * wl_random_float(w, 0.8f, 1.2f);
        m.pixels[i] = v > 255 ? 255 : floorf(v);
    }
    m.north = WL_ARRAY(w, int, rows);
    m.south = WL_ARRAY(w, int, rows);
    m.west = WL_ARRAY(w, int, columns);
    m.east = WL_ARRAY(w, int, columns);
    for (int i = 0; i < rows; i++) {
        m.north[i] = i ? i - 1 : 0;
        m.south[i] = i < rows - 1 ? i + 1 : i;
    }
    for (int i = 0; i < columns; i++) {
        m.west[i] = i ? i - 1 : 0;
        m.east[i] = i < columns - 1 ? i + 1 : i;
    }
    return m;
}

/* Squared coefficient of variation: how much of the variation is speckle. */
static float speckle(double sum, double squares, int n) {
    double mean = sum / n, variance = squares / n - mean * mean;
    return (float)(variance / (mean * mean));
}

/* ---- reference, in double precision
 * ------------------------------------------------------------------------------ */

struct field {
    double *j, *c;
};

static double at(const struct image *m, const double *v, int row, int column) {
    row = row < 0 ? 0 : row >= m->rows ? m->rows - 1 : row;
    column = column < 0 ? 0 : column >= m->columns ? m->columns - 1 : column;
    return v[row + m->rows * column];
}

static double coefficient(const struct image *m, const double *j, int row, int column, double q0) {
    double centre = at(m, j, row, column);
    double dn = at(m, j, row - 1, column) - centre, ds = at(m, j, row + 1, column) - centre;
    double dw = at(m, j, row, column - 1) - centre, de = at(m, j, row, column + 1) - centre;
    double g2 = (dn * dn + ds * ds + dw * dw + de * de) / (centre * centre), l = (dn + ds + dw + de) / centre;
    double q = (0.5 * g2 - l * l / 16) / ((1 + 0.25 * l) * (1 + 0.25 * l));
    double c = 1 / (1 + (q - q0) / (q0 * (1 + q0)));
    return c < 0 ? 0 : c > 1 ? 1 : c;
}

static void reference_iteration(const struct image *m, struct field *f, double *next) {
    double sum = 0, squares = 0;
    for (int i = 0; i < m->n; i++) {
        sum += f->j[i];
        squares += f->j[i] * f->j[i];
    }
    double q0 = speckle(sum, squares, m->n);
    for (int column = 0; column < m->columns; column++)
        for (int row = 0; row < m->rows; row++)
            f->c[row + m->rows * column] = coefficient(m, f->j, row, column, q0);
    for (int column = 0; column < m->columns; column++)
        for (int row = 0; row < m->rows; row++) {
            double v = at(m, f->j, row, column), c = at(m, f->c, row, column);
            double d = c * (at(m, f->j, row - 1, column) - v) +
                       at(m, f->c, row + 1, column) * (at(m, f->j, row + 1, column) - v) +
                       c * (at(m, f->j, row, column - 1) - v) +
                       at(m, f->c, row, column + 1) * (at(m, f->j, row, column + 1) - v);
            next[row + m->rows * column] = v + 0.25 * lambda * d;
        }
}

static void reference(struct wl *w, const struct image *m, int iterations, float *out) {
    struct field f = {WL_ARRAY(w, double, m->n), WL_ARRAY(w, double, m->n)};
    double *next = WL_ARRAY(w, double, m->n);
    for (int i = 0; i < m->n; i++)
        f.j[i] = exp(m->pixels[i] / 255);
    for (int it = 0; it < iterations; it++) {
        reference_iteration(m, &f, next);
        double *swap = f.j;
        f.j = next;
        next = swap;
    }
    for (int i = 0; i < m->n; i++)
        out[i] = (float)(log(f.j[i]) * 255);
}

/* ---- on the GPU
 * -------------------------------------------------------------------------------------------------- */

struct buffers {
    CUdeviceptr image, sums, squares, north, south, west, east, d_n, d_s, d_w, d_e, c;
};

static struct buffers make_buffers(struct wl *w, const struct image *m) {
    size_t bytes = (size_t)m->n * sizeof(float);
    size_t rows = (size_t)m->rows * sizeof(int), columns = (size_t)m->columns * sizeof(int);
    return (struct buffers){
        .image = wl_upload(w, m->pixels, bytes),
        .sums = wl_alloc(w, bytes),
        .squares = wl_alloc(w, bytes),
        .north = wl_upload(w, m->north, rows),
        .south = wl_upload(w, m->south, rows),
        .west = wl_upload(w, m->west, columns),
        .east = wl_upload(w, m->east, columns),
        .d_n = wl_alloc(w, bytes),
        .d_s = wl_alloc(w, bytes),
        .d_w = wl_alloc(w, bytes),
        .d_e = wl_alloc(w, bytes),
        .c = wl_alloc(w, bytes),
    };
}

static void iteration(struct wl *w, const struct image *m, struct buffers *b) {
    int n = m->n, rows = m->rows;
    struct wl_dim block = wl_dim(THREADS, 1), grid = wl_dim(wl_blocks((unsigned)n, THREADS), 1);
    WL_LAUNCH(w, "srad1_prepare", grid, block, 0, &n, &b->image, &b->sums, &b->squares);
    for (int left = n, stride = 1; left > 1; stride *= THREADS) {
        unsigned blocks = wl_blocks((unsigned)left, THREADS);
        WL_LAUNCH(w, "srad1_reduce", wl_dim(blocks, 1), block, 0, &left, &stride, &b->sums, &b->squares);
        left = (int)blocks;
    }
    float sum, squares;
    wl_get(w, &sum, b->sums, sizeof sum);
    wl_get(w, &squares, b->squares, sizeof squares);
    float q0 = speckle(sum, squares, n), l = lambda;
    WL_LAUNCH(w, "srad1_gradient", grid, block, 0, &rows, &n, &b->north, &b->south, &b->west, &b->east,
              &b->d_n, &b->d_s, &b->d_w, &b->d_e, &q0, &b->c, &b->image);
    WL_LAUNCH(w, "srad1_update", grid, block, 0, &l, &rows, &n, &b->south, &b->east, &b->d_n, &b->d_s,
              &b->d_w, &b->d_e, &b->c, &b->image);
}

static void run(struct wl *w) {
    int iterations = wl_option(w, "iterations", sizes[w->size].iterations);
    struct image m = make_image(w, sizes[w->size].rows, sizes[w->size].columns);
    struct buffers b = make_buffers(w, &m);
    struct wl_dim block = wl_dim(THREADS, 1), grid = wl_dim(wl_blocks((unsigned)m.n, THREADS), 1);
    WL_LAUNCH(w, "srad1_extract", grid, block, 0, &m.n, &b.image);
    for (int it = 0; it < iterations; it++)
        iteration(w, &m, &b);
    WL_LAUNCH(w, "srad1_compress", grid, block, 0, &m.n, &b.image);

    float *got = WL_ARRAY(w, float, m.n), *want = WL_ARRAY(w, float, m.n);
    wl_get(w, got, b.image, (size_t)m.n * sizeof *got);
    if (w->check)
        reference(w, &m, iterations, want);
    /* q0, a variance of a few per cent, is a difference of sums near 1: their 20 roundings count 400 times in
     * it, and the coefficient passes on less than a quarter; diffusion damps what earlier iterations left.
     * Each adds about ten of its own. Grey values are 255 times logarithms. */
    wl_check_f32(w, "pixel", got, want, (size_t)m.n,
                 (struct wl_tolerance){(100 + 10 * iterations) * 0x1p-24, 255});
}

const struct workload workload = {"srad_v1", run};
