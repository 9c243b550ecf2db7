/* lavaMD: forces between particles within a cut-off, space divided into boxes. See README.md. */
#include "host.h"
#include <math.h>

enum { THREADS = 128, PER_BOX = 100, NEAR = 26 };

static const struct {
    int x, y, z; /* boxes */
} sizes[WL_SIZES] = {{3, 1, 1}, {4, 2, 2}, {5, 5, 4}, {10, 10, 10}};

static const float alpha = 0.5f;

struct place {
    float x, y, z, w;
};

struct box {
    int n_near;
    int near[NEAR];
};

static void make_boxes(struct box *boxes, int nx, int ny, int nz) {
    for (int i = 0; i < nx * ny * nz; i++)
        for (int d = 0; d < 27; d++) {
            int x = i % nx + d % 3 - 1, y = i / nx % ny + d / 3 % 3 - 1, z = i / nx / ny + d / 9 - 1;
            if (d != 13 && x >= 0 && x < nx && y >= 0 && y < ny && z >= 0 && z < nz)
                boxes[i].near[boxes[i].n_near++] = (z * ny + y) * nx + x;
        }
}

/* Adds the force of the particles of box b on particle p. */
static void add_box(double sum[4], struct place p, const struct place *places, const float *charges, int b) {
    for (int j = b * PER_BOX; j < (b + 1) * PER_BOX; j++) {
        struct place q = places[j];
        double r2 = (double)p.w + q.w - ((double)p.x * q.x + (double)p.y * q.y + (double)p.z * q.z);
        double potential = exp(-2.0 * alpha * alpha * r2), slope = 2 * potential * charges[j];
        sum[0] += slope * ((double)p.x - q.x);
        sum[1] += slope * ((double)p.y - q.y);
        sum[2] += slope * ((double)p.z - q.z);
        sum[3] += charges[j] * potential;
    }
}

static void reference(float *out, const struct box *boxes, const struct place *places, const float *charges,
                      int n_boxes) {
    for (int b = 0; b < n_boxes; b++)
        for (int i = b * PER_BOX; i < (b + 1) * PER_BOX; i++) {
            double sum[4] = {0};
            add_box(sum, places[i], places, charges, b);
            for (int k = 0; k < boxes[b].n_near; k++)
                add_box(sum, places[i], places, charges, boxes[b].near[k]);
            for (int d = 0; d < 4; d++)
                out[4 * i + d] = (float)sum[d];
        }
}

static void run(struct wl *w) {
    int nx = sizes[w->size].x, ny = sizes[w->size].y, nz = sizes[w->size].z, n_boxes = nx * ny * nz;
    size_t n = (size_t)n_boxes * PER_BOX;
    struct box *boxes = WL_ARRAY(w, struct box, n_boxes);
    struct place *places = WL_ARRAY(w, struct place, n);
    float *charges = WL_ARRAY(w, float, n);
    make_boxes(boxes, nx, ny, nz);
    /* as in the suite, coordinates are relative to no box: tenths from 0.1 to 1.0, and w is a fourth random
     */
    for (size_t i = 0; i < n; i++) {
        float v[5];
        for (int d = 0; d < 5; d++)
            v[d] = (float)(1 + wl_random_below(w, 10)) / 10;
        places[i] = (struct place){v[0], v[1], v[2], v[3]};
        charges[i] = v[4];
    }
    CUdeviceptr d_boxes = wl_upload(w, boxes, (size_t)n_boxes * sizeof *boxes),
                d_places = wl_upload(w, places, n * sizeof *places),
                d_charges = wl_upload(w, charges, n * sizeof *charges),
                d_forces = wl_alloc(w, n * sizeof *places);
    float a = alpha;
    WL_LAUNCH(w, "lava_forces", wl_dim((unsigned)n_boxes, 1), wl_dim(THREADS, 1), 0, &a, &d_boxes, &d_places,
              &d_charges, &d_forces);
    float *got = WL_ARRAY(w, float, 4 * n), *want = WL_ARRAY(w, float, 4 * n);
    wl_get(w, got, d_forces, 4 * n * sizeof *got);
    if (w->check)
        reference(want, boxes, places, charges, n_boxes);
    /* up to 2700 terms below 7 cancel: a rounding of a partial sum for each, 8 in each term */
    wl_check_f32(w, "force", got, want, 4 * n, (struct wl_tolerance){300 * 0x1p-24, 300});
}

const struct workload workload = {"lavaMD", run};
