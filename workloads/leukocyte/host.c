/* leukocyte: finding and following white blood cells in video microscopy. See README.md. */
#include "host.h"
#include <math.h>
#include <string.h>

enum { MAX_CIRCLES = 7, MAX_POINTS = 150, MARGIN = 22, ROWS = 220, BLOCK = ROWS - 2 * MARGIN };
enum { FLOW_ROWS = 41, FLOW_COLS = 81, FLOW_CELLS = FLOW_ROWS * FLOW_COLS, FLOW_BLOCK = 320 };

static const struct {
    int columns, circles, points, disc_radius, cells, iterations;
} sizes[WL_SIZES] = {
    {46, 2, 30, 1, 2, 2}, {46, 7, 150, 8, 4, 12}, {84, 7, 150, 12, 16, 100}, {640, 7, 150, 12, 36, 500}};

static const float cutoff = 0.0001f;

struct video {
    int columns, n;
    float *grey, *grad_x, *grad_y; /* by columns */
};

struct circle_tables {
    float cos[MAX_POINTS], sin[MAX_POINTS];
    int dx[MAX_CIRCLES * MAX_POINTS], dy[MAX_CIRCLES * MAX_POINTS];
};

/* ---- input ---- */

/* A slowly varying background with cells: discs darker than it, with a bright rim. */
static struct video make_video(struct wl *w, int columns) {
    struct video v = {.columns = columns, .n = ROWS * columns};
    v.grey = WL_ARRAY(w, float, v.n);
    v.grad_x = WL_ARRAY(w, float, v.n);
    v.grad_y = WL_ARRAY(w, float, v.n);
    wl_smooth_field(w, v.grey, ROWS, columns, 24, 90, 130);
    for (int cell = 0; cell < 3 + columns / 16; cell++) {
        int cx = (int)wl_random_below(w, (uint32_t)columns), cy = (int)wl_random_below(w, ROWS);
        int radius = 8 + (int)wl_random_below(w, 10);
        for (int x = 0; x < columns; x++)
            for (int y = 0; y < ROWS; y++) {
                int d2 = (x - cx) * (x - cx) + (y - cy) * (y - cy);
                if (d2 < radius * radius)
                    v.grey[x * ROWS + y] = d2 > (radius - 2) * (radius - 2) ? 190.0f : 60.0f;
            }
    }
    for (int i = 0; i < v.n; i++)
        v.grey[i] = floorf(v.grey[i] + wl_random_float(w, -2, 2)) / 255;
    for (int x = 0; x < columns; x++)
        for (int y = 0; y < ROWS; y++) {
            int i = x * ROWS + y;
            int west = x ? i - ROWS : i, east = x < columns - 1 ? i + ROWS : i;
            int north = y ? i - 1 : i, south = y < ROWS - 1 ? i + 1 : i;
            v.grad_x[i] = (v.grey[east] - v.grey[west]) / 2;
            v.grad_y[i] = (v.grey[south] - v.grey[north]) / 2;
        }
    return v;
}

/* Points around circles of radius 8, 10, ... 20, by repeated rotation through a fixed angle. */
static void make_circles(struct circle_tables *t, int points) {
    double c = points == MAX_POINTS ? 0.99912283009885834 : 0.97814760073380569; /* cos 2 pi / 150, / 30 */
    double s = points == MAX_POINTS ? 0.041875653729199623 : 0.20791169081775931, x = 1, y = 0;
    for (int n = 0; n < points; n++) {
        t->cos[n] = (float)x;
        t->sin[n] = (float)y;
        for (int k = 0; k < MAX_CIRCLES; k++) {
            t->dx[k * MAX_POINTS + n] = (int)(x * (8 + 2 * k));
            t->dy[k * MAX_POINTS + n] = (int)(y * (8 + 2 * k));
        }
        double turned = x * c - y * s;
        y = x * s + y * c;
        x = turned;
    }
}

/* The edges of a patch of the image, from 0 to 1. */
static void make_patch(struct wl *w, const struct video *v, float *patch) {
    int x0 = (int)wl_random_below(w, (uint32_t)(v->columns - FLOW_ROWS)),
        y0 = (int)wl_random_below(w, ROWS - FLOW_COLS);
    float most = 1e-6f;
    for (int i = 0; i < FLOW_CELLS; i++) {
        int at = (x0 + i / FLOW_COLS) * ROWS + y0 + i % FLOW_COLS;
        patch[i] = sqrtf(v->grad_x[at] * v->grad_x[at] + v->grad_y[at] * v->grad_y[at]);
        most = patch[i] > most ? patch[i] : most;
    }
    for (int i = 0; i < FLOW_CELLS; i++)
        patch[i] /= most;
}

/* ---- scores ---- */

static double reference_score(const struct video *v, const struct circle_tables *t, int circles, int points,
                              int column, int row) {
    double best = 0;
    for (int k = 0; k < circles; k++) {
        double p[MAX_POINTS], mean = 0, squares = 0;
        for (int n = 0; n < points; n++) {
            int at = (column + t->dx[k * MAX_POINTS + n]) * ROWS + row + t->dy[k * MAX_POINTS + n];
            p[n] = (double)v->grad_x[at] * t->cos[n] + (double)v->grad_y[at] * t->sin[n];
            mean += p[n] / points;
        }
        for (int n = 0; n < points; n++)
            squares += (p[n] - mean) * (p[n] - mean);
        best = fmax(best, fabs(mean) / sqrt(squares / (points - 1)));
    }
    return best;
}

/* Leaves the scores on the host and on the device. */
static CUdeviceptr score(struct wl *w, const struct video *v, int circles, int points, float *scores) {
    static struct circle_tables t;
    size_t bytes = (size_t)v->n * sizeof(float);
    int rows = ROWS;
    make_circles(&t, points);
    wl_symbol(w, "lk_cos", t.cos, sizeof t.cos);
    wl_symbol(w, "lk_sin", t.sin, sizeof t.sin);
    wl_symbol(w, "lk_dx", t.dx, sizeof t.dx);
    wl_symbol(w, "lk_dy", t.dy, sizeof t.dy);
    CUtexObject grad_x = wl_texture_1d(w, wl_upload(w, v->grad_x, bytes), bytes, CU_AD_FORMAT_FLOAT, 1),
                grad_y = wl_texture_1d(w, wl_upload(w, v->grad_y, bytes), bytes, CU_AD_FORMAT_FLOAT, 1);
    CUdeviceptr d_scores = wl_alloc(w, bytes);
    WL_LAUNCH(w, "lk_gicov", wl_dim((unsigned)(v->columns - 2 * MARGIN), 1), wl_dim(BLOCK, 1), 0, &rows,
              &circles, &points, &grad_x, &grad_y, &d_scores);
    wl_get(w, scores, d_scores, bytes);
    float *got = WL_ARRAY(w, float, v->n), *want = WL_ARRAY(w, float, v->n);
    for (int x = 0; x < v->columns; x++)
        for (int y = 0; y < ROWS; y++) {
            int i = x * ROWS + y;
            bool scored = x >= MARGIN && x < v->columns - MARGIN && y >= MARGIN && y < ROWS - MARGIN;
            got[i] = fabsf(scores[i]); /* the sign may flip where two circles are equally good */
            want[i] = w->check && scored ? (float)reference_score(v, &t, circles, points, x, y) : 0;
        }
    /* a mean of terms that cancel to the order of a hundredth, and sums of `points` squares */
    wl_check_f32(w, "score", got, want, (size_t)v->n, (struct wl_tolerance){4 * points * 0x1p-24, 0.01});
    return d_scores;
}

/* ---- dilation ---- */

static void dilate(struct wl *w, const struct video *v, CUdeviceptr d_scores, const float *scores,
                   int radius) {
    int side = 2 * radius + 1, rows = ROWS, columns = v->columns, disc[25 * 25] = {0};
    for (int i = 0; i < side * side; i++) {
        int dx = i % side - radius, dy = i / side - radius;
        disc[i] = dx * dx + dy * dy <= radius * radius;
    }
    wl_symbol(w, "lk_disc", disc, sizeof disc);
    size_t bytes = (size_t)v->n * sizeof(float);
    CUtexObject texture = wl_texture_1d(w, d_scores, bytes, CU_AD_FORMAT_FLOAT, 1);
    CUdeviceptr d_dilated = wl_alloc(w, bytes);
    WL_LAUNCH(w, "lk_dilate", wl_dim(wl_blocks((unsigned)v->n, BLOCK), 1), wl_dim(BLOCK, 1), 0, &rows,
              &columns, &side, &texture, &d_dilated);
    float *got = WL_ARRAY(w, float, v->n), *want = WL_ARRAY(w, float, v->n);
    wl_get(w, got, d_dilated, bytes);
    for (int i = 0; w->check && i < v->n; i++)
        for (int k = 0; k < side * side; k++) {
            int x = i / ROWS + k % side - radius, y = i % ROWS + k / side - radius;
            if (disc[k] && x >= 0 && x < columns && y >= 0 && y < ROWS && scores[x * ROWS + y] > want[i])
                want[i] = scores[x * ROWS + y];
        }
    /* of the GPU's own scores, the maximum is exact */
    wl_check_f32(w, "dilated score", got, want, (size_t)v->n, (struct wl_tolerance){0, 0});
}

/* ---- flow ---- */

static float pull(const float *f, int row, int column, float here, float along) {
    row = row < 0 ? 0 : row >= FLOW_ROWS ? FLOW_ROWS - 1 : row;
    column = column < 0 ? 0 : column >= FLOW_COLS ? FLOW_COLS - 1 : column;
    float d = f[row * FLOW_COLS + column] - here, v = d * along;
    return (v > 0.0001f ? 1.0f : v > -0.0001f ? 0.5f : 0.0f) * d;
}

/* One iteration; returns the mean change. */
static double relax(float *next, const float *f, const float *image, float vx, float vy) {
    double change = 0;
    for (int i = 0; i < FLOW_CELLS; i++) {
        int row = i / FLOW_COLS, column = i % FLOW_COLS;
        float sum = 0;
        for (int dr = -1; dr <= 1; dr++)
            for (int dc = -1; dc <= 1; dc++)
                sum += pull(f, row + dr, column + dc, f[i], (float)dr * vy + (float)dc * vx);
        float v = f[i] + 0.1f * sum;
        next[i] = v - 0.2f * image[i] * (v - image[i]);
        change += fabs((double)next[i] - f[i]);
    }
    return change / FLOW_CELLS;
}

/* Makes as many iterations as the GPU made; it must have stopped where the mean change passed the cut-off. */
static void reference_flow(struct wl *w, float *field, const float *image, int iterations, int most, float vx,
                           float vy) {
    float next[FLOW_CELLS];
    double change = 1;
    memcpy(field, image, sizeof next);
    for (int k = 0; k < iterations; k++) {
        wl_check_that(w, change > 0.9 * cutoff, "a cell's field converged before the GPU stopped");
        change = relax(next, field, image, vx, vy);
        memcpy(field, next, sizeof next);
    }
    wl_check_that(w, iterations == most || change < 1.1 * cutoff, "the GPU stopped too early on a cell");
}

static void flow(struct wl *w, const struct video *v, int cells, int most) {
    size_t n = (size_t)(cells * FLOW_CELLS);
    float *images = WL_ARRAY(w, float, n), *got = WL_ARRAY(w, float, n), *want = WL_ARRAY(w, float, n);
    int *iterations = WL_ARRAY(w, int, cells);
    float vx = 1, vy = 1, limit = cutoff;
    for (int c = 0; c < cells; c++)
        make_patch(w, v, images + c * FLOW_CELLS);
    CUdeviceptr d_images = wl_upload(w, images, n * sizeof(float)), d_fields = wl_alloc(w, n * sizeof(float)),
                d_iterations = wl_alloc(w, (size_t)cells * sizeof(int));
    WL_LAUNCH(w, "lk_flow", wl_dim((unsigned)cells, 1), wl_dim(FLOW_BLOCK, 1), 0, &d_images, &d_fields,
              &d_iterations, &vx, &vy, &most, &limit);
    wl_get(w, got, d_fields, n * sizeof(float));
    wl_get(w, iterations, d_iterations, (size_t)cells * sizeof(int));
    for (int c = 0; w->check && c < cells; c++)
        reference_flow(w, want + c * FLOW_CELLS, images + c * FLOW_CELLS, iterations[c], most, vx, vy);
    /* a rounding may tip the step function at 0.0001, which moves a value by a tenth of half of that; such
     * differences spread and fade, and do not add up beyond ten of them */
    wl_check_f32(w, "flow", got, want, n, (struct wl_tolerance){5e-5, 1});
}

static void run(struct wl *w) {
    int cells = wl_option(w, "cells", sizes[w->size].cells),
        iterations = wl_option(w, "iterations", sizes[w->size].iterations);
    struct video v = make_video(w, sizes[w->size].columns);
    float *scores = WL_ARRAY(w, float, v.n);
    CUdeviceptr d_scores = score(w, &v, sizes[w->size].circles, sizes[w->size].points, scores);
    dilate(w, &v, d_scores, scores, sizes[w->size].disc_radius);
    flow(w, &v, cells, iterations);
}

const struct workload workload = {"leukocyte", run};
