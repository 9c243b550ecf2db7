/* lbm: a driven fluid in a closed box, by the lattice-Boltzmann method. See README.md. */
#include "host.h"
#include <string.h>

/* The layout is the kernel's. */
enum {
    ROW = 120,
    PITCH = 128,
    ROWS = 120,
    DIRECTIONS = 19,
    KIND = 19,
    FIELDS = 20,
    PLANE = ROWS * FIELDS * PITCH
};
/* Layers to spare below and above: walls push densities out of the box, up to a layer and a row away. */
enum { MARGIN = 2 };
enum { WALL = 1, DRIVEN = 2 };

static const struct {
    int rows, layers, steps;
} sizes[WL_SIZES] = {{8, 8, 3}, {16, 16, 8}, {48, 48, 12}, {120, 150, 100}};

static const double omega = 1.95;

/* Where a density moves, in the kernel's order: C N S E W T B NE NW SE SW NT NB ST SB ET EB WT WB. */
static const int move[DIRECTIONS][3] = {
    {0, 0, 0},   {0, 1, 0},  {0, -1, 0}, {1, 0, 0},   {-1, 0, 0},  {0, 0, 1},  {0, 0, -1},
    {1, 1, 0},   {-1, 1, 0}, {1, -1, 0}, {-1, -1, 0}, {0, 1, 1},   {0, 1, -1}, {0, -1, 1},
    {0, -1, -1}, {1, 0, 1},  {1, 0, -1}, {-1, 0, 1},  {-1, 0, -1},
};

struct box {
    int rows, layers;
};

static double weight(int d) {
    int steps = move[d][0] * move[d][0] + move[d][1] * move[d][1] + move[d][2] * move[d][2];
    return steps == 0 ? 1 / 3.0 : steps == 1 ? 1 / 18.0 : 1 / 36.0;
}

static int opposite(int d) {
    for (int o = 0; o < DIRECTIONS; o++)
        if (move[o][0] == -move[d][0] && move[o][1] == -move[d][1] && move[o][2] == -move[d][2])
            return o;
    return -1;
}

/* Walls all round; the layers next to the floor and the lid are driven, but for their rim. */
static unsigned kind_of(const struct box *b, int x, int y, int z) {
    if (x == 0 || x == ROW - 1 || y == 0 || y == b->rows - 1 || z == 0 || z == b->layers - 1)
        return WALL;
    bool rim = x == 1 || x == ROW - 2 || y == 1 || y == b->rows - 2;
    return (z == 1 || z == b->layers - 2) && !rim ? DRIVEN : 0;
}

/* ---- reference, in double precision: no padding, and what leaves the box is dropped */

static size_t cell_index(const struct box *b, int x, int y, int z) {
    return ((size_t)z * (size_t)b->rows + (size_t)y) * ROW + (size_t)x;
}

/* The densities of a cell after collision. */
static void collide(const double *f, unsigned kind, double *out) {
    double rho = 0, u[3] = {0}, u2 = 0;
    for (int d = 0; d < DIRECTIONS; d++) {
        rho += f[d];
        for (int i = 0; i < 3; i++)
            u[i] += f[d] * move[d][i];
    }
    for (int i = 0; i < 3; i++)
        u[i] /= rho;
    if (kind & DRIVEN) {
        u[0] = 0.005f;
        u[1] = 0.002f;
        u[2] = 0;
    }
    for (int i = 0; i < 3; i++)
        u2 += u[i] * u[i];
    for (int d = 0; d < DIRECTIONS; d++) {
        double along = u[0] * move[d][0] + u[1] * move[d][1] + u[2] * move[d][2];
        double rest = weight(d) * rho * (1 + 3 * along + 4.5 * along * along - 1.5 * u2);
        out[d] = f[d] + omega * (rest - f[d]);
    }
}

static void reference_cell(const struct box *b, int x, int y, int z, const double *from, double *to) {
    const double *f = from + cell_index(b, x, y, z) * DIRECTIONS;
    unsigned kind = kind_of(b, x, y, z);
    double out[DIRECTIONS];
    if (kind & WALL)
        for (int d = 0; d < DIRECTIONS; d++)
            out[d] = f[opposite(d)];
    else
        collide(f, kind, out);
    for (int d = 0; d < DIRECTIONS; d++) {
        int u = x + move[d][0], v = y + move[d][1], h = z + move[d][2];
        if (u >= 0 && u < ROW && v >= 0 && v < b->rows && h >= 0 && h < b->layers)
            to[cell_index(b, u, v, h) * DIRECTIONS + (size_t)d] = out[d];
    }
}

/* Densities of all cells after `steps` steps. */
static double *reference(struct wl *w, const struct box *b, int steps) {
    size_t n = cell_index(b, 0, 0, b->layers) * DIRECTIONS;
    double *from = WL_ARRAY(w, double, n), *to = WL_ARRAY(w, double, n);
    for (size_t i = 0; i < n; i++)
        from[i] = to[i] = (float)weight((int)(i % DIRECTIONS));
    for (int step = 0; step < steps; step++) {
        for (int z = 0; z < b->layers; z++)
            for (int y = 0; y < b->rows; y++)
                for (int x = 0; x < ROW; x++)
                    reference_cell(b, x, y, z, from, to);
        double *swap = from;
        from = to;
        to = swap;
    }
    return from;
}

/* ---- on the GPU */

static size_t field_index(int x, int y, int z, int e) {
    return (((size_t)(z + MARGIN) * ROWS + (size_t)y) * FIELDS + (size_t)e) * PITCH + (size_t)x;
}

/* A fluid at rest. */
static float *make_grid(struct wl *w, const struct box *b) {
    float *grid = WL_ARRAY(w, float, field_index(0, 0, b->layers + MARGIN, 0));
    for (int z = 0; z < b->layers; z++)
        for (int y = 0; y < b->rows; y++)
            for (int x = 0; x < ROW; x++) {
                for (int d = 0; d < DIRECTIONS; d++)
                    grid[field_index(x, y, z, d)] = (float)weight(d);
                unsigned kind = kind_of(b, x, y, z);
                memcpy(&grid[field_index(x, y, z, KIND)], &kind, sizeof kind);
            }
    return grid;
}

/* Copies the densities of all cells that are no walls from the padded grid and the reference. */
static size_t gather(const struct box *b, const float *grid, const double *exact, float *got, float *want) {
    size_t n = 0;
    for (int z = 1; z < b->layers - 1; z++)
        for (int y = 1; y < b->rows - 1; y++)
            for (int x = 1; x < ROW - 1; x++)
                for (int d = 0; d < DIRECTIONS; d++, n++) {
                    got[n] = grid[field_index(x, y, z, d)];
                    if (exact)
                        want[n] = (float)exact[cell_index(b, x, y, z) * DIRECTIONS + (size_t)d];
                }
    return n;
}

static void run(struct wl *w) {
    struct box b = {sizes[w->size].rows, sizes[w->size].layers};
    int steps = wl_option(w, "steps", sizes[w->size].steps);
    float *grid = make_grid(w, &b);
    size_t bytes = field_index(0, 0, b.layers + MARGIN, 0) * sizeof *grid;
    CUdeviceptr d_grid[2] = {wl_upload(w, grid, bytes), wl_upload(w, grid, bytes)};
    size_t margin = MARGIN * PLANE * sizeof *grid;
    for (int step = 0; step < steps; step++) {
        CUdeviceptr from = d_grid[step % 2] + margin, to = d_grid[1 - step % 2] + margin;
        WL_LAUNCH(w, "lbm_step", wl_dim((unsigned)b.rows, (unsigned)b.layers), wl_dim(ROW, 1), 0, &from, &to);
    }

    size_t n = cell_index(&b, 0, 0, b.layers) * DIRECTIONS;
    float *got = WL_ARRAY(w, float, n), *want = WL_ARRAY(w, float, n);
    wl_get(w, grid, d_grid[steps % 2], bytes);
    n = gather(&b, grid, w->check ? reference(w, &b, steps) : NULL, got, want);
    /* 18 roundings of sums of up to 1, half of 2^-24 each, and 10 of speeds made of densities of up to 1/9,
     * threefold: 12 relative to every direction's share, times omega; relaxation passes on 0.95 of the error
     * a density had */
    wl_check_f32(w, "density", got, want, n, (struct wl_tolerance){24 * steps * 0x1p-24, 1 / 36.0});
}

const struct workload workload = {"lbm", run};
