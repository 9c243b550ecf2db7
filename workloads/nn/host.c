/* nn: the places nearest to one on the map. See README.md. */
#include "host.h"
#include <math.h>
#include <stdlib.h>

enum { BLOCK = 256, NEAREST = 5 };

static const int records[WL_SIZES] = {42764, 42764 * 60, 42764 * 200, 42764 * 200};

struct place {
    float latitude, longitude;
};

/* Hurricanes: each a track of places a short step apart, to tenths of a degree. */
static void tracks(struct wl *w, struct place *p, int n) {
    int y = 0, x = 0, dy = 0, dx = 0;
    for (int i = 0, left = 0; i < n; i++, left--) {
        if (left == 0) {
            left = 12 + (int)wl_random_below(w, 60);
            y = 80 + (int)wl_random_below(w, 400);
            x = 100 + (int)wl_random_below(w, 2400);
            dy = (int)wl_random_below(w, 9);
            dx = (int)wl_random_below(w, 21) - 10;
        }
        y += dy + (int)wl_random_below(w, 3) - 1;
        x += dx + (int)wl_random_below(w, 3) - 1;
        p[i] = (struct place){(float)y / 10, (float)x / 10};
    }
}

/* The k smallest distances, ascending. */
static void nearest(const float *d, int n, float *out, int k) {
    int found = 0;
    for (int i = 0; i < n; i++) {
        if (found == k && d[i] >= out[k - 1])
            continue;
        int at = found < k ? found++ : k - 1;
        for (; at > 0 && out[at - 1] > d[i]; at--)
            out[at] = out[at - 1];
        out[at] = d[i];
    }
}

static void run(struct wl *w) {
    int n = wl_option(w, "records", records[w->size]);
    struct place *p = WL_ARRAY(w, struct place, n);
    float *got = WL_ARRAY(w, float, n), *want = WL_ARRAY(w, float, n);
    float latitude = 30, longitude = 90, got_nearest[NEAREST], want_nearest[NEAREST];
    tracks(w, p, n);
    CUdeviceptr d_places = wl_upload(w, p, (size_t)n * sizeof *p);
    CUdeviceptr d_distances = wl_alloc(w, (size_t)n * sizeof(float));
    WL_LAUNCH(w, "nn_distance", wl_dim(wl_blocks((unsigned)n, BLOCK), 1), wl_dim(BLOCK, 1), 0, &d_places,
              &d_distances, &n, &latitude, &longitude);
    wl_get(w, got, d_distances, (size_t)n * sizeof(float));
    for (int i = 0; w->check && i < n; i++) {
        double dy = (double)latitude - p[i].latitude, dx = (double)longitude - p[i].longitude;
        want[i] = (float)sqrt(dy * dy + dx * dx);
    }
    nearest(got, n, got_nearest, NEAREST);
    nearest(w->check ? want : got, n, want_nearest, NEAREST);
    /* the difference, two squares, a sum and the root: 2.5 roundings, and another on converting the reference
     */
    wl_check_f32(w, "distance", got, want, (size_t)n, (struct wl_tolerance){4 * 0x1p-24, 0});
    wl_check_f32(w, "nearest", got_nearest, want_nearest, NEAREST, (struct wl_tolerance){4 * 0x1p-24, 0});
}

const struct workload workload = {"nn", run};
