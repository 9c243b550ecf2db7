/* stencil: Jacobi steps of a seven-point stencil on a 3D grid. See README.md. */
#include "host.h"
#include <string.h>

enum { WIDTH = 32, HEIGHT = 4 };

static const struct {
    int nx, ny, nz, steps;
} sizes[WL_SIZES] = {{128, 32, 8, 2}, {128, 128, 32, 4}, {512, 512, 64, 2}, {512, 512, 64, 100}};

/* Weights of the cell itself and of each neighbour. */
static float c0 = 1.0f / 6.0f, c1 = 1.0f / 36.0f;

/* The boundary keeps its values. */
static void reference_step(float *out, const float *in, int nx, int ny, int nz) {
    int layer = nx * ny;
    for (int z = 1; z < nz - 1; z++)
        for (int y = 1; y < ny - 1; y++)
            for (int x = 1; x < nx - 1; x++) {
                const float *p = in + (z * layer + y * nx + x);
                float around = p[1] + p[-1] + p[nx] + p[-nx] + p[layer] + p[-layer];
                out[z * layer + y * nx + x] = around * c1 - p[0] * c0;
            }
}

static void run(struct wl *w) {
    int nx = sizes[w->size].nx, ny = sizes[w->size].ny, nz = sizes[w->size].nz;
    int steps = wl_option(w, "steps", sizes[w->size].steps);
    size_t cells = (size_t)nx * (size_t)ny * (size_t)nz, bytes = cells * sizeof(float);
    float *grid = WL_ARRAY(w, float, cells), *next = WL_ARRAY(w, float, cells);
    wl_random_floats(w, grid, cells, 0, 1);

    CUdeviceptr d_grid[2] = {wl_upload(w, grid, bytes), wl_upload(w, grid, bytes)};
    int now = 0;
    for (int s = 0; s < steps; s++, now ^= 1)
        WL_LAUNCH(w, "stencil_sweep", wl_dim((unsigned)nx / (2 * WIDTH), (unsigned)ny / HEIGHT),
                  wl_dim(WIDTH, HEIGHT), 0, &c0, &c1, &d_grid[now], &d_grid[!now], &nx, &ny, &nz);
    float *got = WL_ARRAY(w, float, cells);
    wl_get(w, got, d_grid[now], bytes);
    memcpy(next, grid, bytes);
    for (int s = 0; w->check && s < steps; s++) {
        reference_step(next, grid, nx, ny, nz);
        float *swap = grid;
        grid = next;
        next = swap;
    }
    /* a step makes 7 roundings of values below 1/6 and passes on a third of the error it finds */
    wl_check_f32(w, "cell", got, grid, cells, (struct wl_tolerance){2 * 0x1p-24, 1});
}

const struct workload workload = {"stencil", run};
