/* FDTD3d: finite differences on a 3D volume, radius 4. See README.md. */
#include "host.h"

enum { RADIUS = 4, TILE_X = 32, TILE_Y = 16 };

static const struct {
    int nx, ny, nz, steps;
} sizes[WL_SIZES] = {{40, 24, 12, 1}, {64, 64, 64, 2}, {376, 376, 32, 2}, {376, 376, 376, 5}};

static void reference(const float *in, float *out, int nx, int ny, int nz, const float *stencil) {
    ptrdiff_t row = nx + 2 * RADIUS, plane = row * (ny + 2 * RADIUS);
    for (int z = 0; z < nz; z++)
        for (int y = 0; y < ny; y++)
            for (int x = 0; x < nx; x++) {
                ptrdiff_t at = (z + RADIUS) * plane + (y + RADIUS) * row + x + RADIUS;
                float value = stencil[0] * in[at];
                for (int i = 1; i <= RADIUS; i++)
                    value += stencil[i] * (in[at + i] + in[at - i] + in[at + i * row] + in[at - i * row] +
                                           in[at + i * plane] + in[at - i * plane]);
                out[at] = value;
            }
}

static void run(struct wl *w) {
    int nx = sizes[w->size].nx, ny = sizes[w->size].ny, nz = sizes[w->size].nz;
    int steps = wl_option(w, "steps", sizes[w->size].steps);
    size_t plane = (size_t)(nx + 2 * RADIUS) * (size_t)(ny + 2 * RADIUS);
    size_t cells = plane * (size_t)(nz + 2 * RADIUS), bytes = cells * sizeof(float);
    float stencil[RADIUS + 1], *volume = WL_ARRAY(w, float, cells);
    for (int i = 0; i <= RADIUS; i++)
        stencil[i] = 0.1f;
    wl_random_floats(w, volume, cells, 0, 1);

    wl_symbol(w, "fdtd_stencil", stencil, sizeof stencil);
    CUdeviceptr d_volume[2] = {wl_upload(w, volume, bytes), wl_upload(w, volume, bytes)};
    int now = 0;
    for (int i = 0; i < steps; i++, now ^= 1)
        WL_LAUNCH(w, "fdtd_step", wl_dim(wl_blocks((unsigned)nx, TILE_X), wl_blocks((unsigned)ny, TILE_Y)),
                  wl_dim(TILE_X, TILE_Y), 0, &d_volume[!now], &d_volume[now], &nx, &ny, &nz);
    float *got = WL_ARRAY(w, float, cells), *next = WL_ARRAY(w, float, cells);
    wl_get(w, got, d_volume[now], bytes);
    for (size_t i = 0; i < cells; i++)
        next[i] = volume[i];
    for (int i = 0; w->check && i < steps; i++) {
        reference(volume, next, nx, ny, nz, stencil);
        float *swap = volume;
        volume = next;
        next = swap;
    }
    /* A value passes through 5 additions of cells, a product and up to 5 additions of products in a step, in
     * another order here and there: 11 roundings each; all terms are positive. */
    wl_check_f32(w, "cell", got, volume, cells, (struct wl_tolerance){22 * steps * 0x1p-24, 0});
}

const struct workload workload = {"FDTD3d", run};
