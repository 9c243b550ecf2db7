/* mersenneTwister: uniform and normal random numbers. See README.md. */
#include "host.h"
#include <math.h>

enum { THREADS = 128, STATE = 19, MIDDLE = 9 };

static const struct {
    int twisters, per_thread;
} sizes[WL_SIZES] = {{512, 80}, {4096, 240}, {4096, 4000}, {4096, 5860}};

struct twister {
    uint32_t matrix, mask_b, mask_c, seed;
};

/* The words of the twister that follow each other, by the recurrence on the whole sequence. */
static void reference(struct twister t, uint32_t *sequence, int n, float *out, size_t stride) {
    sequence[0] = t.seed;
    for (int i = 1; i < STATE; i++)
        sequence[i] = 1812433253u * (sequence[i - 1] ^ sequence[i - 1] >> 30) + (uint32_t)i;
    for (int i = 0; i < n; i++) {
        uint32_t y = (sequence[i] & ~1u) | (sequence[i + 1] & 1);
        uint32_t x = sequence[i + MIDDLE] ^ y >> 1 ^ (y & 1 ? t.matrix : 0);
        sequence[i + STATE] = x;
        x ^= x >> 12;
        x ^= x << 7 & t.mask_b;
        x ^= x << 15 & t.mask_c;
        x ^= x >> 18;
        out[(size_t)i * stride] = ((float)x + 1) * 0x1p-32f;
    }
}

static void run(struct wl *w) {
    int twisters = wl_option(w, "twisters", sizes[w->size].twisters);
    int per_thread = wl_option(w, "numbers", sizes[w->size].per_thread);
    if (twisters < THREADS || twisters % THREADS || per_thread < 2 || per_thread % 2)
        wl_fail(w, "twisters must be a multiple of %d, numbers even", THREADS);
    struct twister *t = WL_ARRAY(w, struct twister, twisters);
    for (int i = 0; i < twisters; i++)
        t[i] = (struct twister){(uint32_t)wl_random(w) | 0x80000000u, (uint32_t)wl_random(w) & 0xffffff80u,
                                (uint32_t)wl_random(w) & 0xffff8000u, 777};
    size_t n = (size_t)twisters * (size_t)per_thread, bytes = n * sizeof(float);

    CUdeviceptr d_t = wl_upload(w, t, (size_t)twisters * sizeof *t), d_out = wl_alloc(w, bytes);
    unsigned blocks = (unsigned)twisters / THREADS;
    float *uniform = WL_ARRAY(w, float, n), *normal = WL_ARRAY(w, float, n), *want = WL_ARRAY(w, float, n);
    WL_LAUNCH(w, "twister_numbers", wl_dim(blocks, 1), wl_dim(THREADS, 1), 0, &d_t, &d_out, &per_thread);
    wl_get(w, uniform, d_out, bytes);
    WL_LAUNCH(w, "twister_normals", wl_dim(blocks, 1), wl_dim(THREADS, 1), 0, &d_out, &per_thread);
    wl_get(w, normal, d_out, bytes);

    uint32_t *sequence = WL_ARRAY(w, uint32_t, per_thread + STATE);
    for (int i = 0; w->check && i < twisters; i++)
        reference(t[i], sequence, per_thread, want + i, (size_t)twisters);
    wl_check_f32(w, "uniform", uniform, want, n, (struct wl_tolerance){0, 0});
    for (size_t row = 0; w->check && row < (size_t)per_thread; row += 2)
        for (size_t i = row * (size_t)twisters; i < (row + 1) * (size_t)twisters; i++) {
            double radius = sqrt(-2 * log(want[i])),
                   angle = 6.28318530717958647693 * want[i + (size_t)twisters];
            want[i] = (float)(radius * cos(angle));
            want[i + (size_t)twisters] = (float)(radius * sin(angle));
        }
    /* The machine's sine and cosine are good to 2^-20 absolute up to pi and lose in proportion to the angle
     * beyond; a radius is below 7 (a number is at least 2^-32) and good to a few units of 2^-24, its
     * logarithm to 2^-22 near a number of 1, where the radius is small. The scale is the largest radius. */
    wl_check_f32(w, "normal", normal, want, n, (struct wl_tolerance){2 * 0x1p-20, 7});
}

const struct workload workload = {"mersenneTwister", run};
