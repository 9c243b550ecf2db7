/* cutcp: electrostatic potential of a box of water on a lattice, within a cutoff. See README.md. */
#include "host.h"
#include <math.h>

enum { REGION = 8, POINTS = REGION * REGION * REGION, DEPTH = 8, MAX_NEIGHBOURS = 384 };

static const struct {
    int regions; /* along a side of the box */
    float cutoff;
} sizes[WL_SIZES] = {{2, 4}, {3, 12}, {6, 12}, {25, 12}};

static const float spacing = 0.5f, bin_side = 4;

/* As in the kernel. */
struct lattice {
    int bins_x, bins_y, margin, neighbours;
    float spacing, cutoff2, inverse_cutoff2;
};

struct atom {
    float x, y, z, charge;
};

struct box {
    int regions, margin;
    float cutoff;
    struct atom *atoms;
    int n;
    int bins; /* along a side, margins included */
    struct atom *binned;
    int *extra; /* atoms that found their bin full */
    int n_extra;
};

/* ---- the water */

static void unit_vector(struct wl *w, float v[3]) {
    float norm;
    do {
        for (int i = 0; i < 3; i++)
            v[i] = wl_random_float(w, -1, 1);
        norm = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    } while (norm > 1 || norm < 0.01f);
    for (int i = 0; i < 3; i++)
        v[i] /= sqrtf(norm);
}

static bool inside(const struct atom *a, float side) {
    return a->x >= 0 && a->x < side && a->y >= 0 && a->y < side && a->z >= 0 && a->z < side;
}

/* Oxygen at a place near (x, y, z), two hydrogens at 0.9572 from it, 104.5 degrees apart. */
static void add_molecule(struct wl *w, struct box *b, float side, float x, float y, float z) {
    float u[3], v[3], along = 0, norm = 0;
    unit_vector(w, u);
    unit_vector(w, v);
    for (int i = 0; i < 3; i++)
        along += u[i] * v[i];
    for (int i = 0; i < 3; i++) {
        v[i] -= along * u[i];
        norm += v[i] * v[i];
    }
    struct atom m[3];
    m[0] = (struct atom){x + wl_random_float(w, -0.4f, 0.4f), y + wl_random_float(w, -0.4f, 0.4f),
                         z + wl_random_float(w, -0.4f, 0.4f), -0.834f};
    for (int i = 0; i < 3; i++)
        v[i] = norm > 1e-4f ? -0.25038f * u[i] + 0.968148f * v[i] / sqrtf(norm) : -u[i];
    m[1] = (struct atom){m[0].x + 0.9572f * u[0], m[0].y + 0.9572f * u[1], m[0].z + 0.9572f * u[2], 0.417f};
    m[2] = (struct atom){m[0].x + 0.9572f * v[0], m[0].y + 0.9572f * v[1], m[0].z + 0.9572f * v[2], 0.417f};
    if (inside(&m[0], side) && inside(&m[1], side) && inside(&m[2], side))
        for (int i = 0; i < 3; i++)
            b->atoms[b->n++] = m[i];
}

static void make_water(struct wl *w, struct box *b) {
    const float apart = 3.1f; /* 0.1 atoms in a cubic angstrom */
    float side = (float)b->regions * bin_side;
    int cells = (int)(side / apart) + 1;
    b->atoms = WL_ARRAY(w, struct atom, 3 * cells * cells * cells);
    for (int z = 0; z < cells; z++)
        for (int y = 0; y < cells; y++)
            for (int x = 0; x < cells; x++)
                add_molecule(w, b, side, apart * ((float)x + 0.5f), apart * ((float)y + 0.5f),
                             apart * ((float)z + 0.5f));
}

static void fill_bins(struct wl *w, struct box *b) {
    size_t bins = (size_t)b->bins * (size_t)b->bins * (size_t)b->bins;
    int *filled = WL_ARRAY(w, int, bins);
    b->binned = WL_ARRAY(w, struct atom, bins * DEPTH);
    b->extra = WL_ARRAY(w, int, b->n);
    for (int i = 0; i < b->n; i++) {
        const struct atom *a = &b->atoms[i];
        int x = (int)(a->x / bin_side) + b->margin, y = (int)(a->y / bin_side) + b->margin;
        int z = (int)(a->z / bin_side) + b->margin, bin = (z * b->bins + y) * b->bins + x;
        if (filled[bin] < DEPTH)
            b->binned[bin * DEPTH + filled[bin]++] = *a;
        else
            b->extra[b->n_extra++] = i;
    }
}

/* Nearest distance of two bins `d` apart along one axis, in bins. */
static int gap(int d) {
    d = d < 0 ? -d : d;
    return d > 1 ? d - 1 : 0;
}

static int list_neighbours(const struct box *b, int (*list)[3]) {
    int n = 0, reach = b->margin;
    for (int z = -reach; z <= reach; z++)
        for (int y = -reach; y <= reach; y++)
            for (int x = -reach; x <= reach; x++) {
                int g = gap(x) * gap(x) + gap(y) * gap(y) + gap(z) * gap(z);
                if ((float)g * bin_side * bin_side < b->cutoff * b->cutoff) {
                    list[n][0] = x;
                    list[n][1] = y;
                    list[n++][2] = z;
                }
            }
    return n;
}

/* ---- reference */

/* Where point (x, y, z) lies in an array ordered by regions. */
static size_t point_index(const struct box *b, int x, int y, int z) {
    int region = (z / REGION * b->regions + y / REGION) * b->regions + x / REGION;
    return (size_t)region * POINTS + (size_t)((z % REGION * REGION + y % REGION) * REGION + x % REGION);
}

/* First lattice coordinate that may lie within the cutoff of c, or the one after the last. */
static int first_near(const struct box *b, float c) {
    int i = (int)ceilf((c - b->cutoff) / spacing);
    return i < 0 ? 0 : i;
}
static int end_near(const struct box *b, float c) {
    int i = (int)floorf((c + b->cutoff) / spacing) + 1, end = b->regions * REGION;
    return i > end ? end : i;
}

/* Adds one atom to all points within its reach. */
static void add_atom(const struct box *b, const struct atom *a, double *potential) {
    double cutoff2 = (double)b->cutoff * b->cutoff;
    for (int z = first_near(b, a->z); z < end_near(b, a->z); z++)
        for (int y = first_near(b, a->y); y < end_near(b, a->y); y++)
            for (int x = first_near(b, a->x); x < end_near(b, a->x); x++) {
                double dx = a->x - x * spacing, dy = a->y - y * spacing, dz = a->z - z * spacing;
                double r2 = dx * dx + dy * dy + dz * dz, s = 1 - r2 / cutoff2;
                if (r2 < cutoff2)
                    potential[point_index(b, x, y, z)] += a->charge / sqrt(r2) * s * s;
            }
}

/* ---- on the GPU */

static void launch(struct wl *w, const struct box *b, CUdeviceptr d_regions) {
    int list[MAX_NEIGHBOURS][3] = {{0}};
    struct lattice l = {.bins_x = b->bins, .bins_y = b->bins, .margin = b->margin, .spacing = spacing};
    l.neighbours = list_neighbours(b, list);
    l.cutoff2 = b->cutoff * b->cutoff;
    l.inverse_cutoff2 = 1 / l.cutoff2;
    wl_symbol(w, "cutcp_neighbours", list, sizeof list);
    size_t bins = (size_t)b->bins * (size_t)b->bins * (size_t)b->bins;
    CUdeviceptr d_atoms = wl_upload(w, b->binned, bins * DEPTH * sizeof *b->binned);
    unsigned side = (unsigned)b->regions;
    for (int layer = 0; layer < b->regions; layer++)
        WL_LAUNCH(w, "cutcp_layer", wl_dim(side, side), wl_dim3(8, 2, 8), 0, &d_regions, &d_atoms, &layer,
                  &l);
}

static void run(struct wl *w) {
    struct box b = {.regions = wl_option(w, "regions", sizes[w->size].regions),
                    .cutoff = sizes[w->size].cutoff};
    if (b.regions < 1 || b.regions > 100)
        wl_fail(w, "regions is 1 to 100");
    b.margin = (int)ceilf(b.cutoff / bin_side);
    b.bins = b.regions + 2 * b.margin;
    make_water(w, &b);
    fill_bins(w, &b);
    size_t n = (size_t)b.regions * (size_t)b.regions * (size_t)b.regions * POINTS, bytes = n * sizeof(float);
    CUdeviceptr d_regions = wl_alloc(w, bytes);
    launch(w, &b, d_regions);

    float *got = WL_ARRAY(w, float, n), *want = WL_ARRAY(w, float, n);
    double *potential = WL_ARRAY(w, double, n);
    wl_get(w, got, d_regions, bytes);
    for (int i = 0; i < b.n_extra; i++)
        add_atom(&b, &b.atoms[b.extra[i]], potential);
    for (size_t i = 0; i < n; i++) {
        got[i] = (float)(got[i] + potential[i]);
        potential[i] = 0;
    }
    for (int i = 0; w->check && i < b.n; i++)
        add_atom(&b, &b.atoms[i], potential);
    for (size_t i = 0; i < n; i++)
        want[i] = (float)potential[i];
    /* a running sum of 0.1 atoms for each cubic angstrom within reach, a rounding each, relative to the sum
     * of their magnitudes, 0.12 cutoff^2; a term is good to 8 roundings */
    double terms = 0.42 * pow(b.cutoff, 3);
    wl_check_f32(w, "potential", got, want, n,
                 (struct wl_tolerance){(terms + 8) * 0x1p-24, 0.12 * b.cutoff * b.cutoff});
}

const struct workload workload = {"cutcp", run};
