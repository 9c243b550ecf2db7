/* scan: exclusive prefix sums of a batch of arrays. See README.md. */
#include "host.h"

enum { THREADS = 256, PIECE = 4 * THREADS };

static const struct {
    int length, arrays;
} sizes[WL_SIZES] = {{16384, 5}, {65536, 24}, {262144, 26}, {262144, 26}};

static void reference(int *out, const int *in, int length, int arrays) {
    for (int a = 0; a < arrays; a++) {
        unsigned sum = 0;
        for (int i = a * length; i < (a + 1) * length; i++) {
            out[i] = (int)sum;
            sum += (unsigned)in[i];
        }
    }
}

static void run(struct wl *w) {
    int length = sizes[w->size].length, arrays = sizes[w->size].arrays;
    size_t n = (size_t)length * (size_t)arrays, bytes = n * sizeof(int);
    int *in = WL_ARRAY(w, int, n), *got = WL_ARRAY(w, int, n), *want = WL_ARRAY(w, int, n);
    for (size_t i = 0; i < n; i++)
        in[i] = (int)wl_random_below(w, 1 << 16);

    unsigned pieces = (unsigned)(n / PIECE), piece = PIECE, per_array = (unsigned)length / PIECE;
    CUdeviceptr d_in = wl_upload(w, in, bytes), d_out = wl_alloc(w, bytes);
    CUdeviceptr d_totals = wl_alloc(w, pieces * sizeof(unsigned));
    WL_LAUNCH(w, "scan_pieces", wl_dim(pieces, 1), wl_dim(THREADS, 1), 0, &d_out, &d_in, &piece);
    WL_LAUNCH(w, "scan_totals", wl_dim(wl_blocks(pieces, THREADS), 1), wl_dim(THREADS, 1), 0, &d_totals,
              &d_out, &d_in, &pieces, &per_array);
    WL_LAUNCH(w, "scan_add", wl_dim(pieces, 1), wl_dim(THREADS, 1), 0, &d_out, &d_totals);
    wl_get(w, got, d_out, bytes);
    if (w->check)
        reference(want, in, length, arrays);
    wl_check_int(w, "prefix sum", got, want, n);
}

const struct workload workload = {"scan", run};
