/* particlefilter: following an object through a video. See README.md. */
#include "host.h"
#include <math.h>
#include <stdlib.h>

enum { THREADS = 512, SIDE = 128, RADIUS = 5, MODULUS = 2147483647 };

static const struct {
    int particles, frames;
} sizes[WL_SIZES] = {{300, 3}, {1000, 10}, {4000, 10}, {10000, 10}};

/* Offsets of the disc's pixels from its centre; returns their number. */
static int make_disc(int (*disc)[2]) {
    int n = 0;
    for (int dx = -RADIUS; dx <= RADIUS; dx++)
        for (int dy = -RADIUS; dy <= RADIUS; dy++)
            if (dx * dx + dy * dy < RADIUS * RADIUS) {
                disc[n][0] = dx;
                disc[n++][1] = dy;
            }
    return n;
}

/* A bright disc on a dark ground, moving by (1, -2) a frame, with noise; the frames of a pixel lie together.
 */
static void make_video(struct wl *w, unsigned char *video, int frames) {
    for (int x = 0; x < SIDE; x++)
        for (int y = 0; y < SIDE; y++)
            for (int k = 0; k < frames; k++) {
                int dx = x - (SIDE / 2 + k), dy = y - (SIDE / 2 - 2 * k);
                bool object = dx * dx + dy * dy < RADIUS * RADIUS;
                float noise = 0;
                for (int i = 0; i < 4; i++)
                    noise += wl_random_float(w, -4, 4);
                video[(x * SIDE + y) * frames + k] = (unsigned char)((object ? 228 : 100) + noise);
            }
}

/* What a filter of so many particles keeps on the host. */
struct state {
    int particles, frames, disc_points, disc[4 * RADIUS * RADIUS][2];
    int *seeds;
    float *drawn_x, *drawn_y;            /* before the frame */
    float *x, *y, *weight, *sums, *comb; /* the device's during the frame */
    float *want_x, *want_y, *want_weight, *want_sums;
    float total, want_total; /* of the weights before they are normalised */
};

static float uniform(int *seed) {
    *seed = (int)(1103515245u * (unsigned)*seed + 12345u) % MODULUS;
    return fabsf((float)*seed / (float)MODULUS);
}

static double normal(int *seed) {
    double u = uniform(seed), v = uniform(seed);
    return sqrt(-2 * log(u)) * cos(6.28318530717958647693 * v);
}

/* Where the particles should move to. */
static void reference_motion(struct state *s) {
    for (int i = 0; i < s->particles; i++) {
        s->want_x[i] = (float)(s->drawn_x[i] + 1 + 5 * normal(&s->seeds[i]));
        s->want_y[i] = (float)(s->drawn_y[i] - 2 + 2 * normal(&s->seeds[i]));
    }
}

/* The normalised weights of the device's particles. */
static void reference_weights(struct state *s, const unsigned char *video, int frame) {
    double sum = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < s->particles; i++) {
            double likelihood = 0;
            for (int p = 0; p < s->disc_points; p++) {
                int column = (int)roundf(s->x[i]) + s->disc[p][0], row = (int)roundf(s->y[i]) + s->disc[p][1];
                int at = abs((column * SIDE + row) * s->frames + frame), pixels = SIDE * SIDE * s->frames;
                double v = video[at < pixels ? at : 0];
                likelihood += ((v - 100) * (v - 100) - (v - 228) * (v - 228)) / 50;
            }
            double weight = exp(likelihood / s->disc_points - 300) / s->particles;
            if (pass)
                s->want_weight[i] = (float)(weight / sum);
            else
                sum += weight;
        }
    s->want_total = (float)sum;
}

/* Draws from the accumulated weights of the device: comparisons of equal numbers, so the same particles. */
static void reference_draw(struct state *s, const float *cumulative, float comb) {
    for (int i = 0; i < s->particles; i++) {
        float tooth = comb + (float)i / (float)s->particles;
        int k = 0;
        while (k < s->particles - 1 && cumulative[k] < tooth)
            k++;
        s->drawn_x[i] = s->x[k];
        s->drawn_y[i] = s->y[k];
    }
}

static void check_frame(struct wl *w, struct state *s, const unsigned char *video, int frame,
                        const float *drawn_x, const float *drawn_y) {
    size_t n = (size_t)s->particles;
    float sum = 0;
    if (w->check) {
        reference_motion(s);
        reference_weights(s, video, frame);
        for (size_t i = 0; i < n; i++)
            s->want_sums[i] = sum += s->weight[i];
    }
    /* A normal number is below 7 and good to 2^-19; five of it are added to places within the picture. */
    const struct wl_tolerance place = {5 * 7 * 0x1p-19 / SIDE + 4 * 0x1p-24, SIDE};
    wl_check_f32(w, "x", s->x, s->want_x, n, place);
    wl_check_f32(w, "y", s->y, s->want_y, n, place);
    /* A likelihood sums up to 69 terms below 330 in magnitude, each rounded twice besides; its exponential
     * has that absolute error as its relative one. Weights far below the mean do not matter. */
    double relative = 2 * (s->disc_points + 4) * 330 * 0x1p-24;
    wl_check_f32(w, "weight", s->weight, s->want_weight, n,
                 (struct wl_tolerance){relative, 1.0 / s->particles});
    wl_check_f32(w, "total weight", &s->total, &s->want_total, 1, (struct wl_tolerance){relative, 0});
    wl_check_same(w, "cumulative weight", WL_F32, s->sums, s->want_sums, n);
    float comb = 1.0f / (float)s->particles * uniform(&s->seeds[0]);
    wl_check_same(w, "comb", WL_F32, s->comb, &comb, 1);
    reference_draw(s, s->sums, comb);
    wl_check_same(w, "drawn x", WL_F32, drawn_x, s->drawn_x, n);
    wl_check_same(w, "drawn y", WL_F32, drawn_y, s->drawn_y, n);
}

static void run(struct wl *w) {
    struct state s = {.particles = wl_option(w, "particles", sizes[w->size].particles),
                      .frames = wl_option(w, "frames", sizes[w->size].frames)};
    if (s.particles < 1 || s.frames < 2 || s.frames > SIDE / 4)
        wl_fail(w, "particles must be positive, frames 2 to %d", SIDE / 4);
    size_t n = (size_t)s.particles, bytes = n * sizeof(float);
    float **arrays[] = {&s.drawn_x, &s.drawn_y, &s.x,      &s.y,           &s.weight,   &s.sums,
                        &s.comb,    &s.want_x,  &s.want_y, &s.want_weight, &s.want_sums};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        *arrays[i] = WL_ARRAY(w, float, n);
    s.seeds = WL_ARRAY(w, int, n);
    for (size_t i = 0; i < n; i++) {
        s.seeds[i] = 1 + (int)wl_random_below(w, MODULUS - 1);
        s.drawn_x[i] = s.drawn_y[i] = SIDE / 2;
    }
    s.disc_points = make_disc(s.disc);
    int pixels = SIDE * SIDE * s.frames, height = SIDE;
    unsigned char *video = WL_ARRAY(w, unsigned char, pixels);
    make_video(w, video, s.frames);

    CUdeviceptr d_x = wl_alloc(w, bytes), d_y = wl_alloc(w, bytes),
                d_drawn_x = wl_upload(w, s.drawn_x, bytes), d_drawn_y = wl_upload(w, s.drawn_y, bytes),
                d_weight = wl_alloc(w, bytes), d_sums = wl_alloc(w, bytes),
                d_comb = wl_alloc(w, sizeof(float)), d_disc = wl_upload(w, s.disc, sizeof s.disc),
                d_video = wl_upload(w, video, (size_t)pixels),
                d_seeds = wl_upload(w, s.seeds, n * sizeof(int));
    int blocks = (int)wl_blocks((unsigned)s.particles, THREADS);
    CUdeviceptr d_partial = wl_alloc(w, (size_t)blocks * sizeof(float));
    struct wl_dim grid = wl_dim((unsigned)blocks, 1), block = wl_dim(THREADS, 1), one = wl_dim(1, 1);
    float *drawn_x = WL_ARRAY(w, float, n), *drawn_y = WL_ARRAY(w, float, n);
    for (int frame = 1; frame < s.frames; frame++) {
        WL_LAUNCH(w, "particle_likelihood", grid, block, 0, &d_x, &d_y, &d_drawn_x, &d_drawn_y, &d_weight,
                  &d_partial, &d_disc, &s.disc_points, &d_video, &d_seeds, &s.particles, &height, &s.frames,
                  &frame, &pixels);
        WL_LAUNCH(w, "particle_sum", one, block, 0, &d_partial, &blocks);
        WL_LAUNCH(w, "particle_normalize", grid, block, 0, &d_weight, &d_partial, &s.particles);
        WL_LAUNCH(w, "particle_accumulate", one, block, 0, &d_weight, &d_sums, &d_comb, &d_seeds,
                  &s.particles);
        WL_LAUNCH(w, "particle_draw", grid, block, 0, &d_x, &d_y, &d_sums, &d_comb, &d_drawn_x, &d_drawn_y,
                  &s.particles);
        wl_get(w, s.x, d_x, bytes);
        wl_get(w, s.y, d_y, bytes);
        wl_get(w, s.weight, d_weight, bytes);
        wl_get(w, s.sums, d_sums, bytes);
        wl_get(w, &s.total, d_partial, sizeof(float));
        wl_get(w, s.comb, d_comb, sizeof(float));
        wl_get(w, drawn_x, d_drawn_x, bytes);
        wl_get(w, drawn_y, d_drawn_y, bytes);
        check_frame(w, &s, video, frame, drawn_x, drawn_y);
    }
    double mean_x = 0, mean_y = 0;
    for (size_t i = 0; i < n; i++) {
        mean_x += drawn_x[i] / (double)n;
        mean_y += drawn_y[i] / (double)n;
    }
    wl_check_that(
        w, fabs(mean_x - (SIDE / 2 + s.frames - 1)) < 3 && fabs(mean_y - (SIDE / 2 - 2 * (s.frames - 1))) < 3,
        "the filter lost the object");
}

const struct workload workload = {"particlefilter", run};
