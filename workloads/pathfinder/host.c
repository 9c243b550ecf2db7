/* pathfinder: the cheapest path down a grid, by dynamic programming over rows. See README.md. */
#include "host.h"
#include <string.h>

static const struct {
    int columns, rows;
} sizes[WL_SIZES] = {{2000, 41}, {20000, 61}, {100000, 100}, {100000, 100}};

static int least3(const int *v, int x, int n) {
    int least = v[x];
    if (x > 0 && v[x - 1] < least)
        least = v[x - 1];
    if (x < n - 1 && v[x + 1] < least)
        least = v[x + 1];
    return least;
}

/* The cost of the cheapest path to each cell of the last row. */
static const int *reference(struct wl *w, const int *grid, int columns, int rows) {
    int *now = WL_ARRAY(w, int, columns), *next = WL_ARRAY(w, int, columns);
    memcpy(now, grid, (size_t)columns * sizeof *now);
    for (int y = 1; y < rows; y++) {
        for (int x = 0; x < columns; x++)
            next[x] = grid[(size_t)y * (size_t)columns + (size_t)x] + least3(now, x, columns);
        int *swap = now;
        now = next;
        next = swap;
    }
    return now;
}

static void run(struct wl *w) {
    int columns = sizes[w->size].columns, rows = sizes[w->size].rows;
    int block = wl_option(w, "block", 256), border = wl_option(w, "pyramid", 20);
    if ((block != 256 && block != 1024) || border < 1 || border > block / 2 - 1)
        wl_fail(w, "block must be 256 or 1024, pyramid less than half of it");
    size_t cells = (size_t)columns * (size_t)rows, row_bytes = (size_t)columns * sizeof(int);
    int *grid = WL_ARRAY(w, int, cells), *got = WL_ARRAY(w, int, columns);
    for (size_t i = 0; i < cells; i++)
        grid[i] = (int)wl_random_below(w, 10);

    CUdeviceptr d_wall = wl_upload(w, grid, cells * sizeof *grid);
    CUdeviceptr d_costs[2] = {wl_upload(w, grid, row_bytes), wl_alloc(w, row_bytes)};
    unsigned blocks = wl_blocks((unsigned)columns, (unsigned)(block - 2 * border));
    int now = 0;
    for (int row = 1; row < rows; row += border, now ^= 1) {
        int steps = rows - row < border ? rows - row : border;
        WL_LAUNCH(w, block == 256 ? "pathfinder" : "pathfinder_wide", wl_dim(blocks, 1),
                  wl_dim((unsigned)block, 1), 0, &steps, &d_wall, &d_costs[now], &d_costs[!now], &columns,
                  &row, &border);
    }
    wl_get(w, got, d_costs[now], row_bytes);
    wl_check_int(w, "cost", got, w->check ? reference(w, grid, columns, rows) : got, (size_t)columns);
}

const struct workload workload = {"pathfinder", run};
