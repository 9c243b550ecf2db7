/* tpacf: two-point angular correlation of a catalogue of galaxies and of random ones. See README.md. */
#include "host.h"
#include <math.h>

enum { THREADS = 256, BINS = 20, PER_DECADE = 5 };

/* `random` sets of as many points as the catalogue */
static const struct { int points, random; } sizes[WL_SIZES] = {{89, 2}, {487, 2}, {487, 32}, {487, 100}};

struct sky {
    int points, sets;
    float *x, *y, *z;
};

/* The cosine from additions, multiplications and divisions alone, the same on every machine. */
static double cosine(double a) {
    double sum = 1;
    for (int i = 40; i > 0; i -= 2)
        sum = 1 - sum * a * a / (i * (i - 1));
    return sum;
}

/* Limits of bins from 1 to 10^4 minutes of arc, five in a factor of ten. */
static void make_limits(float *limits) {
    double minutes = 1;
    for (int i = 0; i <= BINS; i++) {
        limits[i] = (float)cosine(minutes / 60 * 3.14159265358979323846 / 180);
        minutes *= 1.5848931924611136; /* 10^(1/5) */
    }
}

/* A random direction. */
static void random_point(struct wl *w, float p[3]) {
    float norm;
    do {
        for (int i = 0; i < 3; i++)
            p[i] = wl_random_float(w, -1, 1);
        norm = p[0] * p[0] + p[1] * p[1] + p[2] * p[2];
    } while (norm > 1 || norm < 0.01f);
    for (int i = 0; i < 3; i++)
        p[i] /= sqrtf(norm);
}

/* A point of the catalogue: most are near one before, at distances from a minute of arc to a few degrees. */
static void clustered_point(struct wl *w, const struct sky *s, int before, float p[3]) {
    random_point(w, p);
    if (!before || wl_random_below(w, 4) == 0)
        return;
    uint32_t centre = wl_random_below(w, (uint32_t)before);
    float reach = 0.05f;
    for (uint32_t halvings = wl_random_below(w, 8); halvings; halvings--)
        reach /= 2;
    p[0] = s->x[centre] + reach * p[0];
    p[1] = s->y[centre] + reach * p[1];
    p[2] = s->z[centre] + reach * p[2];
    float norm = sqrtf(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
    for (int i = 0; i < 3; i++)
        p[i] /= norm;
}

static struct sky make_sky(struct wl *w, int points, int sets) {
    int n = points * sets;
    struct sky s = {points, sets, WL_ARRAY(w, float, n), WL_ARRAY(w, float, n), WL_ARRAY(w, float, n)};
    for (int i = 0; i < n; i++) {
        float p[3];
        if (i < points)
            clustered_point(w, &s, i, p);
        else
            random_point(w, p);
        s.x[i] = p[0];
        s.y[i] = p[1];
        s.z[i] = p[2];
    }
    return s;
}

/* Counts a pair: in `sure` if its bin is beyond doubt, else in `doubt` of each bin it may be in. The kernel's
 * cosine has up to three roundings of 2^-24 or less. */
static void count_pair(const struct sky *s, int a, int b, const float *limits, int *sure, int *doubt) {
    double c = (double)s->x[a] * s->x[b] + (double)s->y[a] * s->y[b] + (double)s->z[a] * s->z[b],
           e = 3 * 0x1p-24;
    for (int bin = 0; bin < BINS; bin++) {
        double upper = limits[bin], lower = limits[bin + 1];
        if (c < upper - e && c >= lower + e)
            sure[bin]++;
        else if (c < upper + e && c >= lower - e)
            doubt[bin]++;
    }
}

/* Counts of one block's pair of sets. */
static void reference(const struct sky *s, int block, const float *limits, int *sure, int *doubt) {
    bool self = block < s->sets;
    int left = self ? block : 0, right = self ? block : block - s->sets + 1, n = s->points;
    for (int i = 0; i < n; i++)
        for (int j = self ? i + 1 : 0; j < n; j++)
            count_pair(s, left * n + i, right * n + j, limits, sure, doubt);
}

static void run(struct wl *w) {
    int points = wl_option(w, "points", sizes[w->size].points),
        random = wl_option(w, "sets", sizes[w->size].random);
    struct sky s = make_sky(w, points, random + 1);
    float limits[BINS + 1];
    make_limits(limits);
    wl_symbol(w, "tpacf_limits", limits, sizeof limits);
    size_t bytes = (size_t)points * (size_t)s.sets * sizeof(float);
    int blocks = 2 * random + 1, n = blocks * BINS;
    CUdeviceptr d_x = wl_upload(w, s.x, bytes), d_y = wl_upload(w, s.y, bytes),
                d_z = wl_upload(w, s.z, bytes);
    CUdeviceptr d_counts = wl_alloc(w, (size_t)n * sizeof(int));
    WL_LAUNCH(w, "tpacf_pairs", wl_dim((unsigned)blocks, 1), wl_dim(THREADS, 1), 0, &d_counts, &d_x, &d_y,
              &d_z, &points, &s.sets);

    int *got = WL_ARRAY(w, int, n), *want = WL_ARRAY(w, int, n), *doubt = WL_ARRAY(w, int, n);
    wl_get(w, got, d_counts, (size_t)n * sizeof *got);
    for (int b = 0; w->check && b < blocks; b++)
        reference(&s, b, limits, want + b * BINS, doubt + b * BINS);
    /* pairs in doubt may be counted on either side of a limit */
    for (int i = 0; i < n; i++)
        if (got[i] > want[i])
            want[i] = got[i] < want[i] + doubt[i] ? got[i] : want[i] + doubt[i];
    wl_check_int(w, "count", got, want, (size_t)n);
}

const struct workload workload = {"tpacf", run};
