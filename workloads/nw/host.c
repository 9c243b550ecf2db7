/* nw: global alignment of two sequences, Needleman-Wunsch. See README.md. */
#include "host.h"

enum { TILE = 16, LETTERS = 24 };

static const int lengths[WL_SIZES] = {160, 640, 2048, 2048};

/* Similarity of two letters: equal ones score 4 to 11, others -4 to 3, mostly below zero. */
static void similarity(struct wl *w, int table[LETTERS][LETTERS]) {
    for (int i = 0; i < LETTERS; i++) {
        for (int j = 0; j < i; j++) {
            int v = (int)wl_random_below(w, 8) - 4;
            table[i][j] = table[j][i] = v > 0 && wl_random_below(w, 4) ? -1 : v;
        }
        table[i][i] = 4 + (int)wl_random_below(w, 8);
    }
}

static int max3(int a, int b, int c) {
    int m = a > b ? a : b;
    return m > c ? m : c;
}

static void reference_scores(int *score, const int *match, int side, int penalty) {
    for (int y = 1; y < side; y++)
        for (int x = 1; x < side; x++) {
            int at = y * side + x;
            score[at] =
                max3(score[at - side - 1] + match[at], score[at - 1] - penalty, score[at - side] - penalty);
        }
}

static void run(struct wl *w) {
    int n = wl_option(w, "length", lengths[w->size]), penalty = 10;
    if (n < TILE || n % TILE)
        wl_fail(w, "length must be a multiple of %d", TILE);
    int side = n + 1, tiles_side = n / TILE;
    size_t cells = (size_t)side * (size_t)side;
    int table[LETTERS][LETTERS];
    similarity(w, table);
    int *a = WL_ARRAY(w, int, side), *b = WL_ARRAY(w, int, side);
    for (int i = 1; i < side; i++) {
        a[i] = 1 + (int)wl_random_below(w, 10);
        b[i] = 1 + (int)wl_random_below(w, 10);
    }
    int *match = WL_ARRAY(w, int, cells), *score = WL_ARRAY(w, int, cells), *got = WL_ARRAY(w, int, cells);
    for (int y = 1; y < side; y++)
        for (int x = 1; x < side; x++)
            match[y * side + x] = table[a[y]][b[x]];
    for (int i = 1; i < side; i++)
        score[i] = score[i * side] = -penalty * i;

    CUdeviceptr d_match = wl_upload(w, match, cells * sizeof(int)),
                d_score = wl_upload(w, score, cells * sizeof(int));
    for (int tiles = 1; tiles <= tiles_side; tiles++)
        WL_LAUNCH(w, "nw_upper", wl_dim((unsigned)tiles, 1), wl_dim(TILE, 1), 0, &d_match, &d_score, &side,
                  &penalty, &tiles);
    for (int tiles = tiles_side - 1; tiles >= 1; tiles--)
        WL_LAUNCH(w, "nw_lower", wl_dim((unsigned)tiles, 1), wl_dim(TILE, 1), 0, &d_match, &d_score, &side,
                  &penalty, &tiles, &tiles_side);
    wl_get(w, got, d_score, cells * sizeof(int));
    if (w->check)
        reference_scores(score, match, side, penalty);
    wl_check_int(w, "score", got, score, cells);
}

const struct workload workload = {"nw", run};
