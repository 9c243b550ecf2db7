/* fastWalshTransform: dyadic convolution of a long signal with a short kernel. See README.md. */
#include "host.h"

enum { THREADS = 256, PIECE_LOG2 = 11, KERNEL_LOG2 = 7 };

static const int sizes[WL_SIZES] = {13, 17, 21, 23};

/* Transforms 1 << log2n elements in place. */
static void transform(struct wl *w, CUdeviceptr data, int log2n) {
    unsigned transforms = 1;
    for (; log2n > PIECE_LOG2; log2n -= 2, transforms *= 4) {
        int stride = 1 << (log2n - 2);
        WL_LAUNCH(w, "walsh_step", wl_dim((unsigned)stride / THREADS, transforms), wl_dim(THREADS, 1), 0,
                  &data, &data, &stride);
    }
    unsigned n = 1u << log2n;
    WL_LAUNCH(w, "walsh_piece", wl_dim(transforms, 1), wl_dim(n / 4, 1), n * (unsigned)sizeof(float), &data,
              &data, &log2n);
}

/* The definition: element i is the sum of data[i ^ k] kernel[k]. */
static void reference(float *out, const float *data, const float *kernel, size_t n) {
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t k = 0; k < 1 << KERNEL_LOG2; k++)
            sum += (double)data[i ^ k] * kernel[k];
        out[i] = (float)sum;
    }
}

static void run(struct wl *w) {
    int log2n = wl_option(w, "log2n", sizes[w->size]);
    if (log2n < PIECE_LOG2 || log2n > 26)
        wl_fail(w, "log2n is %d to 26", PIECE_LOG2);
    size_t n = (size_t)1 << log2n, bytes = n * sizeof(float);
    float *data = WL_ARRAY(w, float, n), *kernel = WL_ARRAY(w, float, n);
    wl_random_floats(w, data, n, 0, 1);
    wl_random_floats(w, kernel, 1 << KERNEL_LOG2, 0, 1);

    CUdeviceptr d_data = wl_upload(w, data, bytes), d_kernel = wl_upload(w, kernel, bytes);
    int count = (int)n;
    transform(w, d_data, log2n);
    transform(w, d_kernel, log2n);
    WL_LAUNCH(w, "walsh_modulate", wl_dim(128, 1), wl_dim(THREADS, 1), 0, &d_data, &d_kernel, &count);
    transform(w, d_data, log2n);

    float *got = WL_ARRAY(w, float, n), *want = WL_ARRAY(w, float, n);
    wl_get(w, got, d_data, bytes);
    if (w->check)
        reference(want, data, kernel, n);
    /* each of three transforms rounds log2n times, none of which changes the norm by more than one rounding;
     * the result of 2^7 products of means 1/4 is their mean, 32, plus a small part, and the product adds two
     * roundings */
    wl_check_f32(w, "convolution", got, want, n, (struct wl_tolerance){(3 * log2n + 2) * 0x1p-24, 32});
}

const struct workload workload = {"fastWalshTransform", run};
