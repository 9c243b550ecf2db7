/* LPS: Laplace's equation on a 3D grid. See README.md. */
#include "host.h"

enum { TILE_X = 32, TILE_Y = 4 };

static const struct {
    int nx, ny, nz, iterations;
} sizes[WL_SIZES] = {{40, 22, 10, 2}, {100, 100, 40, 2}, {100, 100, 100, 10}, {100, 100, 100, 10}};

struct grid {
    int nx, ny, nz, pitch;
};

static bool on_face(struct grid g, int x, int y, int z) {
    return x == 0 || x == g.nx - 1 || y == 0 || y == g.ny - 1 || z == 0 || z == g.nz - 1;
}

static size_t cell(struct grid g, int x, int y, int z) {
    return ((size_t)z * (size_t)g.ny + (size_t)y) * (size_t)g.pitch + (size_t)x;
}

static void reference(struct grid g, const float *u, float *next) {
    for (int z = 0; z < g.nz; z++)
        for (int y = 0; y < g.ny; y++)
            for (int x = 0; x < g.nx; x++) {
                const float *c = u + cell(g, x, y, z);
                size_t row = (size_t)g.pitch, plane = row * (size_t)g.ny;
                next[cell(g, x, y, z)] =
                    on_face(g, x, y, z)
                        ? *c
                        : (c[-1] + c[1] + *(c - row) + c[row] + *(c - plane) + c[plane]) * (1.0f / 6);
            }
}

static void run(struct wl *w) {
    struct grid g = {sizes[w->size].nx, sizes[w->size].ny, sizes[w->size].nz, 0};
    int iterations = wl_option(w, "iterations", sizes[w->size].iterations);
    g.pitch = (g.nx + TILE_X - 1) / TILE_X * TILE_X;
    size_t cells = (size_t)g.pitch * (size_t)g.ny * (size_t)g.nz, bytes = cells * sizeof(float);
    float *u = WL_ARRAY(w, float, cells), *next = WL_ARRAY(w, float, cells), *got = WL_ARRAY(w, float, cells);
    for (int z = 0; z < g.nz; z++)
        for (int y = 0; y < g.ny; y++)
            for (int x = 0; x < g.nx; x++)
                u[cell(g, x, y, z)] = on_face(g, x, y, z);

    CUdeviceptr d_u[2] = {wl_upload(w, u, bytes), wl_alloc(w, bytes)};
    int now = 0;
    for (int i = 0; i < iterations; i++, now ^= 1)
        WL_LAUNCH(w, "lps_iterate",
                  wl_dim(wl_blocks((unsigned)g.nx, TILE_X), wl_blocks((unsigned)g.ny, TILE_Y)),
                  wl_dim(TILE_X, TILE_Y), 0, &g.nx, &g.ny, &g.nz, &g.pitch, &d_u[now], &d_u[!now]);
    wl_get(w, got, d_u[now], bytes);
    for (int i = 0; w->check && i < iterations; i++) {
        reference(g, u, next);
        float *swap = u;
        u = next;
        next = swap;
    }
    /* Five additions and a product round in an iteration; all terms are positive, so nothing cancels. */
    wl_check_f32(w, "u", got, u, cells, (struct wl_tolerance){6 * iterations * 0x1p-24, 0});
}

const struct workload workload = {"LPS", run};
