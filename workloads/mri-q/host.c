/* mri-q: the matrix Q of magnetic resonance image reconstruction. See README.md. */
#include "host.h"
#include <math.h>

enum { BLOCK_PHI = 512, BLOCK_Q = 256, MAX_SAMPLES = 1024 };

static const struct {
    int side_x, side_y, side_z, samples;
} sizes[WL_SIZES] = {{16, 16, 8, 96}, {32, 16, 16, 768}, {32, 32, 32, 2048}, {64, 64, 64, 2048}};

struct sample {
    float kx, ky, kz, magnitude;
};

static void reference(float *re, float *im, const float *const x[3], const struct sample *k, int points,
                      int samples) {
    for (int i = 0; i < points; i++) {
        double r = 0, m = 0;
        for (int s = 0; s < samples; s++) {
            double turns = (double)k[s].kx * x[0][i] + (double)k[s].ky * x[1][i] + (double)k[s].kz * x[2][i];
            r += k[s].magnitude * cos(2 * M_PI * turns);
            m += k[s].magnitude * sin(2 * M_PI * turns);
        }
        re[i] = (float)r;
        im[i] = (float)m;
    }
}

/* Samples along lines through the centre of k-space, their magnitude falling off with the distance. */
static void trajectory(struct wl *w, struct sample *k, float *re, float *im, int n) {
    float direction[3] = {0, 0, 0};
    for (int s = 0; s < n; s++) {
        int step = s % 64;
        if (step == 0)
            wl_random_floats(w, direction, 3, -8, 8);
        float along = (float)(step - 32) / 32, fall = 1 / (1 + 16 * along * along);
        k[s] = (struct sample){along * direction[0], along * direction[1], along * direction[2], 0};
        re[s] = fall * wl_random_float(w, -1, 1);
        im[s] = fall * wl_random_float(w, -1, 1);
    }
}

static void run(struct wl *w) {
    int side[3] = {sizes[w->size].side_x, sizes[w->size].side_y, sizes[w->size].side_z};
    int points = side[0] * side[1] * side[2], samples = wl_option(w, "samples", sizes[w->size].samples);
    size_t bytes = (size_t)points * sizeof(float), sample_bytes = (size_t)samples * sizeof(float);
    float *x[3], *re = WL_ARRAY(w, float, samples), *im = WL_ARRAY(w, float, samples);
    for (int d = 0; d < 3; d++)
        x[d] = WL_ARRAY(w, float, points);
    for (int i = 0, stride[3] = {1, side[0], side[0] * side[1]}; i < points; i++)
        for (int d = 0; d < 3; d++)
            x[d][i] = (float)(i / stride[d] % side[d]) / (float)side[d] - 0.5f;
    struct sample *k = WL_ARRAY(w, struct sample, samples);
    trajectory(w, k, re, im, samples);

    CUdeviceptr d_re = wl_upload(w, re, sample_bytes), d_im = wl_upload(w, im, sample_bytes);
    CUdeviceptr d_magnitude = wl_alloc(w, sample_bytes);
    WL_LAUNCH(w, "mriq_phi_mag", wl_dim(wl_blocks((unsigned)samples, BLOCK_PHI), 1), wl_dim(BLOCK_PHI, 1), 0,
              &d_re, &d_im, &d_magnitude, &samples);
    float *magnitude = WL_ARRAY(w, float, samples), *want_magnitude = WL_ARRAY(w, float, samples);
    wl_get(w, magnitude, d_magnitude, sample_bytes);
    double total = 0;
    for (int s = 0; s < samples; s++) {
        want_magnitude[s] = (float)((double)re[s] * re[s] + (double)im[s] * im[s]);
        total += k[s].magnitude = magnitude[s];
    }
    /* a product, a sum, and the reference rounded to single precision */
    wl_check_f32(w, "magnitude", magnitude, want_magnitude, (size_t)samples,
                 (struct wl_tolerance){3 * 0x1p-24, 0});

    CUdeviceptr d_x[3], d_q[2] = {wl_alloc(w, bytes), wl_alloc(w, bytes)};
    for (int d = 0; d < 3; d++)
        d_x[d] = wl_upload(w, x[d], bytes);
    for (int first = 0; first < samples; first += MAX_SAMPLES) {
        int now = samples - first < MAX_SAMPLES ? samples - first : MAX_SAMPLES;
        wl_symbol(w, "mriq_samples", k + first, (size_t)now * sizeof *k);
        WL_LAUNCH(w, "mriq_q", wl_dim((unsigned)points / BLOCK_Q, 1), wl_dim(BLOCK_Q, 1), 0, &now, &d_x[0],
                  &d_x[1], &d_x[2], &d_q[0], &d_q[1]);
    }
    float *got[2] = {WL_ARRAY(w, float, points), WL_ARRAY(w, float, points)};
    float *want[2] = {WL_ARRAY(w, float, points), WL_ARRAY(w, float, points)};
    if (w->check)
        reference(want[0], want[1], (const float *const *)x, k, points, samples);
    for (int i = 0; i < 2; i++) {
        wl_get(w, got[i], d_q[i], bytes);
        /* the machine's sine errs by 2^-14.7 of a sample's magnitude within 100 pi, the angle (up to 76) by
         * 2^-16; a sum of n samples rounds n times */
        wl_check_f32(w, i ? "imaginary part" : "real part", got[i], want[i], (size_t)points,
                     (struct wl_tolerance){0x1p-14 + samples * 0x1p-24, total});
    }
}

const struct workload workload = {"mri-q", run};
