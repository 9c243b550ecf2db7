/* fft: a batch of Fourier transforms of 512 points, and back. See README.md. */
#include "host.h"
#include <complex.h>
#include <math.h>

enum { THREADS = 64, POINTS = 512, BITS = 9 };

static const int batches[WL_SIZES] = {48, 768, 12288, 12288};

struct point {
    float re, im;
};

/* Each signal is a square wave in one part and a sawtooth in the other, with noise. */
static void make_signals(struct wl *w, struct point *data, int batch) {
    for (int b = 0; b < batch; b++) {
        int period = 8 + (int)wl_random_below(w, 120);
        for (int i = 0; i < POINTS; i++) {
            int phase = i % period;
            data[b * POINTS + i] =
                (struct point){(phase < period / 2 ? 1.0f : -1.0f) + wl_random_float(w, -0.125f, 0.125f),
                               2 * (float)phase / (float)period - 1 + wl_random_float(w, -0.125f, 0.125f)};
        }
    }
}

/* Radix 2, in place, double precision: points in bit-reversed order, then butterflies of growing span. */
static void reference(double complex *a) {
    for (unsigned i = 0; i < POINTS; i++) {
        unsigned j = 0;
        for (int bit = 0; bit < BITS; bit++)
            j |= (i >> bit & 1) << (BITS - 1 - bit);
        if (j > i) {
            double complex t = a[i];
            a[i] = a[j];
            a[j] = t;
        }
    }
    for (int span = 1; span < POINTS; span *= 2)
        for (int k = 0; k < span; k++) {
            double complex turn = cexp(-I * M_PI * k / span);
            for (int i = k; i < POINTS; i += 2 * span) {
                double complex t = turn * a[i + span];
                a[i + span] = a[i] - t;
                a[i] += t;
            }
        }
}

/* Transforms data in place; returns the largest sum of magnitudes over a signal. */
static double transform_all(struct point *data, int batch) {
    double complex a[POINTS];
    double largest = 0;
    for (int b = 0; b < batch; b++, data += POINTS) {
        double sum = 0;
        for (int i = 0; i < POINTS; i++) {
            a[i] = data[i].re + I * (double)data[i].im;
            sum += cabs(a[i]);
        }
        largest = sum > largest ? sum : largest;
        reference(a);
        for (int i = 0; i < POINTS; i++)
            data[i] = (struct point){(float)creal(a[i]), (float)cimag(a[i])};
    }
    return largest;
}

static void run(struct wl *w) {
    int batch = wl_option(w, "batch", batches[w->size]);
    if (batch < 1)
        wl_fail(w, "batch must be positive");
    size_t n = (size_t)batch * POINTS, bytes = n * sizeof(struct point);
    struct point *data = WL_ARRAY(w, struct point, n), *spectrum = WL_ARRAY(w, struct point, n),
                 *back = WL_ARRAY(w, struct point, n);
    make_signals(w, data, batch);

    CUdeviceptr d_data = wl_upload(w, data, bytes);
    WL_LAUNCH(w, "fft_forward", wl_dim((unsigned)batch, 1), wl_dim(THREADS, 1), 0, &d_data);
    wl_get(w, spectrum, d_data, bytes);
    WL_LAUNCH(w, "fft_inverse", wl_dim((unsigned)batch, 1), wl_dim(THREADS, 1), 0, &d_data);
    wl_get(w, back, d_data, bytes);

    for (size_t i = 0; i < n; i++)
        back[i] = (struct point){back[i].re / POINTS, back[i].im / POINTS};
    /* Every point reaches a frequency through 9 additions and 3 products, some 12 roundings, and two twiddle
     * factors of approximate sine and cosine, good to 2^-19 up to an angle of 2 pi; the errors add up like
     * the points' magnitudes at worst. Back again, the same once more, on a mean instead of a sum of the
     * frequencies. */
    double error = 12 * 0x1p-24 + 2 * 0x1p-19;
    struct point *want = WL_ARRAY(w, struct point, n);
    for (size_t i = 0; i < n; i++)
        want[i] = data[i];
    double sum = w->check ? transform_all(want, batch) : 1;
    wl_check_f32(w, "spectrum", &spectrum[0].re, &want[0].re, 2 * n, (struct wl_tolerance){error, sum});
    /* the transform keeps the mean square, so the mean magnitude of frequencies is at most sqrt(512) times a
     * point's */
    wl_check_f32(w, "signal", &back[0].re, &data[0].re, 2 * n,
                 (struct wl_tolerance){2 * error, sqrt(POINTS) * sum / POINTS});
}

const struct workload workload = {"fft", run};
