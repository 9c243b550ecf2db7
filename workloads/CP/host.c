/* CP: Coulombic potential of a molecule on a slice of a grid. See README.md. */
#include "host.h"
#include <math.h>

enum { BLOCK_X = 16, BLOCK_Y = 8, POINTS = 8, MAX_ATOMS = 4000 };

static const struct {
    int width, height, atoms;
} sizes[WL_SIZES] = {{128, 64, 60}, {256, 256, 160}, {512, 512, 600}, {512, 512, 4000}};

static const float spacing = 0.1f; /* angstrom */

struct atom {
    float x, y, dz2, charge;
};

/* Atoms anywhere over the slice, 1 to 13 angstrom from it, with charges of either sign. */
static void molecule(struct wl *w, struct atom *atoms, int n, int width, int height) {
    for (int i = 0; i < n; i++) {
        float z = wl_random_float(w, 1, 13);
        atoms[i] =
            (struct atom){wl_random_float(w, 0, spacing * (float)width),
                          wl_random_float(w, 0, spacing * (float)height), z * z, wl_random_float(w, -1, 1)};
    }
}

/* Adds the potential of the atoms at each point; returns the largest sum of magnitudes over a point. */
static double reference(float *energy, const struct atom *atoms, int n, int width, int height) {
    double largest = 0;
    for (int row = 0; row < height; row++)
        for (int column = 0; column < width; column++) {
            double sum = 0, magnitudes = 0;
            for (int i = 0; i < n; i++) {
                double dx = (double)spacing * column - atoms[i].x, dy = (double)spacing * row - atoms[i].y;
                double term = atoms[i].charge / sqrt(dx * dx + dy * dy + atoms[i].dz2);
                sum += term;
                magnitudes += fabs(term);
            }
            energy[row * width + column] += (float)sum;
            largest = magnitudes > largest ? magnitudes : largest;
        }
    return largest;
}

static void run(struct wl *w) {
    int width = sizes[w->size].width, height = sizes[w->size].height;
    int n = wl_option(w, "atoms", sizes[w->size].atoms);
    if (n < 1 || n > MAX_ATOMS)
        wl_fail(w, "atoms must be 1 to %d", MAX_ATOMS);
    size_t points = (size_t)width * (size_t)height, bytes = points * sizeof(float);
    struct atom *atoms = WL_ARRAY(w, struct atom, n);
    molecule(w, atoms, n, width, height);
    float *want = WL_ARRAY(w, float, points), *got = WL_ARRAY(w, float, points);

    CUdeviceptr d_energy = wl_alloc(w, bytes);
    wl_symbol(w, "cp_atoms", atoms, (size_t)n * sizeof *atoms);
    WL_LAUNCH(w, "cp_potential", wl_dim((unsigned)width / (BLOCK_X * POINTS), (unsigned)height / BLOCK_Y),
              wl_dim(BLOCK_X, BLOCK_Y), 0, &n, (void *)&spacing, &d_energy);
    wl_get(w, got, d_energy, bytes);
    double scale = w->check ? reference(want, atoms, n, width, height) : 1;
    /* A term passes through 8 roundings (the reciprocal root counts for 2); its coordinates, up to the width
     * of the slice, are rounded up to 8 times before a distance of at least 1 is taken. The roundings of the
     * sum are independent of each other and grow with the root of their number; four times that is allowed.
     */
    double coordinates = 8 * (double)spacing * (width > height ? width : height);
    wl_check_f32(w, "energy", got, want, points,
                 (struct wl_tolerance){(8 + coordinates / sqrt(n) + 4 * sqrt(n)) * 0x1p-24, scale});
}

const struct workload workload = {"CP", run};
