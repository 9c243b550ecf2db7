/* spmv: sparse matrix times vector, jagged diagonal storage. See README.md. */
#include "host.h"
#include <math.h>
#include <stdlib.h>

enum { BLOCK = 192, GROUP = 32, RADIUS = 2, MAX_CONSTANT = 5000 };

static const struct { int side, times; } sizes[WL_SIZES] = {{100, 1}, {383, 1}, {383, 15}, {383, 50}};

/* The stiffness matrix of a square mesh: each node is coupled with nodes at most two away, most with all of
 * them; the diagonal outweighs the rest of its row. */
static struct wl_sparse mesh_matrix(struct wl *w, int side) {
    int n = side * side, reach = (2 * RADIUS + 1) * (2 * RADIUS + 1);
    struct wl_sparse m = {.rows = n, .columns = n};
    m.first = WL_ARRAY(w, int, n + 1);
    m.column = WL_ARRAY(w, int, n *reach);
    m.value = WL_ARRAY(w, float, n *reach);
    for (int row = 0; row < n; row++) {
        int x = row % side, y = row / side, diagonal = 0;
        float weight = 0;
        bool sparse = wl_random_below(w, 3) == 0;
        for (int dy = -RADIUS; dy <= RADIUS; dy++)
            for (int dx = -RADIUS; dx <= RADIUS; dx++) {
                bool self = !dx && !dy;
                if (x + dx < 0 || x + dx >= side || y + dy < 0 || y + dy >= side ||
                    (!self && sparse && wl_random_below(w, 2)))
                    continue;
                float v = self ? 0 : -(float)(1 + wl_random_below(w, 8)) / 8;
                weight -= v;
                if (self)
                    diagonal = m.nonzeros;
                m.column[m.nonzeros] = row + dy * side + dx;
                m.value[m.nonzeros++] = v;
            }
        m.value[diagonal] = weight + 1;
        m.first[row + 1] = m.nonzeros;
    }
    return m;
}

struct jagged {
    int groups, diagonals;
    int *diagonal, *length;           /* constants of the kernel */
    int *column, *permutation, total; /* entries and padding */
    float *value;
};

static const int *sort_first;
static int by_length(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    int lx = sort_first[x + 1] - sort_first[x], ly = sort_first[y + 1] - sort_first[y];
    return lx != ly ? (lx < ly ? 1 : -1) : (x > y) - (x < y);
}

/* Padding has value 0 and column 0. */
static struct jagged make_jagged(struct wl *w, const struct wl_sparse *m) {
    struct jagged j = {.groups = (m->rows + GROUP - 1) / GROUP};
    j.permutation = WL_ARRAY(w, int, m->rows);
    j.length = WL_ARRAY(w, int, j.groups);
    for (int i = 0; i < m->rows; i++)
        j.permutation[i] = i;
    sort_first = m->first;
    qsort(j.permutation, (size_t)m->rows, sizeof(int), by_length);
    for (int g = 0; g < j.groups; g++) {
        int longest = j.permutation[g * GROUP];
        j.length[g] = m->first[longest + 1] - m->first[longest];
    }
    j.diagonals = j.length[0];
    if (j.groups > MAX_CONSTANT || j.diagonals > MAX_CONSTANT)
        wl_fail(w, "the matrix is too large for constant memory");
    j.diagonal = WL_ARRAY(w, int, j.diagonals);
    j.column = WL_ARRAY(w, int, (size_t)j.diagonals *(size_t)j.groups *GROUP);
    j.value = WL_ARRAY(w, float, (size_t)j.diagonals *(size_t)j.groups *GROUP);
    for (int k = 0; k < j.diagonals; k++) {
        j.diagonal[k] = j.total;
        for (int g = 0; g < j.groups && j.length[g] > k; g++)
            for (int i = g * GROUP; i < (g + 1) * GROUP; i++, j.total++) {
                int row = i < m->rows ? j.permutation[i] : -1;
                if (row < 0 || m->first[row] + k >= m->first[row + 1])
                    continue;
                j.column[j.total] = m->column[m->first[row] + k];
                j.value[j.total] = m->value[m->first[row] + k];
            }
    }
    return j;
}

static void reference(float *y, const struct wl_sparse *m, const float *x) {
    for (int row = 0; row < m->rows; row++) {
        double sum = 0;
        for (int i = m->first[row]; i < m->first[row + 1]; i++)
            sum += (double)m->value[i] * x[m->column[i]];
        y[row] = (float)sum;
    }
}

static void run(struct wl *w) {
    int side = wl_option(w, "side", sizes[w->size].side), times = wl_option(w, "times", sizes[w->size].times);
    struct wl_sparse m = mesh_matrix(w, side);
    struct jagged j = make_jagged(w, &m);
    size_t n = (size_t)m.rows;
    float *x = WL_ARRAY(w, float, n), *got = WL_ARRAY(w, float, n), *want = WL_ARRAY(w, float, n);
    wl_random_floats(w, x, n, 0, 1);

    wl_symbol(w, "spmv_diagonal", j.diagonal, (size_t)j.diagonals * sizeof(int));
    wl_symbol(w, "spmv_length", j.length, (size_t)j.groups * sizeof(int));
    CUdeviceptr d_value = wl_upload(w, j.value, (size_t)j.total * sizeof(float)),
                d_column = wl_upload(w, j.column, (size_t)j.total * sizeof(int)),
                d_permutation = wl_upload(w, j.permutation, n * sizeof(int)),
                d_x = wl_upload(w, x, n * sizeof(float)), d_y = wl_alloc(w, n * sizeof(float));
    for (int i = 0; i < times; i++)
        WL_LAUNCH(w, "spmv_jds", wl_dim(wl_blocks((unsigned)n, BLOCK), 1), wl_dim(BLOCK, 1), 0, &d_y,
                  &d_value, &d_column, &d_permutation, &d_x, &m.rows);
    wl_get(w, got, d_y, n * sizeof(float));
    if (w->check)
        reference(want, &m, x);
    /* one rounding for each of up to 25 products and sums, of partial sums below 25 */
    wl_check_f32(w, "y", got, want, n, (struct wl_tolerance){j.diagonals * 0x1p-24, 25});
}

const struct workload workload = {"spmv", run};
