/* hotspot: temperature of a chip from its floor plan's power. See README.md. */
#include "host.h"
#include <stdlib.h>

enum { TILE = 16 };

static const struct {
    int side, steps, per_launch;
} sizes[WL_SIZES] = {{64, 4, 2}, {256, 8, 2}, {512, 26, 2}, {512, 60, 2}};

/* As in the kernel. */
struct chip {
    float capacity, rx, ry, rz, step;
};

/* A silicon die of 16 x 16 mm, 0.5 mm thick, cut into side x side cells. */
static struct chip chip_model(int side) {
    double thickness = 0.0005, die = 0.016, conductivity = 100, heat_capacity = 0.5 * 1.75e6;
    double cell = die / side;
    double capacity = heat_capacity * thickness * cell * cell;
    double r_side = cell / (2 * conductivity * thickness * cell),
           r_up = thickness / (conductivity * cell * cell);
    double step = 0.001 / (3.0e6 / (heat_capacity * thickness));
    return (struct chip){(float)capacity, (float)r_side, (float)r_side, (float)r_up, (float)step};
}

/* Power: a smooth background and rectangular units that draw more. */
static void floor_plan(struct wl *w, float *power, int side) {
    int units = wl_option(w, "flat", 0) ? 0 : 12;
    wl_smooth_field(w, power, side, side, side / 4, 0, 0.0002f);
    for (int unit = 0; unit < units; unit++) {
        int width = side / 16 + (int)wl_random_below(w, (uint32_t)side / 4);
        int height = side / 16 + (int)wl_random_below(w, (uint32_t)side / 4);
        int x0 = (int)wl_random_below(w, (uint32_t)(side - width)),
            y0 = (int)wl_random_below(w, (uint32_t)(side - height));
        float draw = wl_random_float(w, 0.0005f, 0.003f);
        for (int y = y0; y < y0 + height; y++)
            for (int x = x0; x < x0 + width; x++)
                power[y * side + x] = draw;
    }
}

static void reference_step(float *out, const float *in, const float *power, int n, struct chip c) {
    const float step_over_cap = c.step / c.capacity, inv_rx = 1 / c.rx, inv_ry = 1 / c.ry, inv_rz = 1 / c.rz;
    const float ambient = 80;
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            float t = in[y * n + x];
            float north = in[(y ? y - 1 : 0) * n + x], south = in[(y < n - 1 ? y + 1 : y) * n + x];
            float west = in[y * n + (x ? x - 1 : 0)], east = in[y * n + (x < n - 1 ? x + 1 : x)];
            out[y * n + x] = t + step_over_cap * (power[y * n + x] + (south + north - 2.0f * t) * inv_ry +
                                                  (east + west - 2.0f * t) * inv_rx + (ambient - t) * inv_rz);
        }
}

static void run(struct wl *w) {
    int n = wl_option(w, "side", sizes[w->size].side), steps = wl_option(w, "steps", sizes[w->size].steps);
    int per_launch = wl_option(w, "pyramid", sizes[w->size].per_launch);
    if (per_launch < 1 || per_launch > TILE / 2 - 1)
        wl_fail(w, "pyramid must be 1 to %d", TILE / 2 - 1);
    size_t cells = (size_t)n * (size_t)n, bytes = cells * sizeof(float);
    float *temp = WL_ARRAY(w, float, cells), *power = WL_ARRAY(w, float, cells);
    wl_smooth_field(w, temp, n, n, n / 4, 323, 341);
    floor_plan(w, power, n);
    struct chip chip = chip_model(n);

    CUdeviceptr d_power = wl_upload(w, power, bytes),
                d_temp[2] = {wl_upload(w, temp, bytes), wl_alloc(w, bytes)};
    int now = 0;
    for (int done = 0; done < steps; done += per_launch, now ^= 1) {
        int s = steps - done < per_launch ? steps - done : per_launch;
        unsigned blocks = wl_blocks((unsigned)n, (unsigned)(TILE - 2 * s));
        WL_LAUNCH(w, "hotspot_steps", wl_dim(blocks, blocks), wl_dim(TILE, TILE), 0, &s, &d_power,
                  &d_temp[now], &d_temp[!now], &n, &n, &chip);
    }
    float *got = WL_ARRAY(w, float, cells), *next = WL_ARRAY(w, float, cells);
    wl_get(w, got, d_temp[now], bytes);
    for (int s = 0; w->check && s < steps; s++) {
        reference_step(next, temp, power, n, chip);
        float *swap = temp;
        temp = next;
        next = swap;
    }
    /* each step rounds the new temperature once here and once in the reference; a weighted mean amplifies
     * nothing */
    wl_check_f32(w, "temperature", got, temp, cells, (struct wl_tolerance){2 * steps * 0x1p-24, 0});
}

const struct workload workload = {"hotspot", run};
