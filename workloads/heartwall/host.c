/* heartwall: following points of a heart's wall through a film. See README.md. */
#include "host.h"
#include <math.h>

enum { THREADS = 256 };

static const struct {
    int side, points, frames, template_radius, search_radius, max_move, refresh;
} sizes[WL_SIZES] = {{96, 3, 3, 3, 6, 3, 2},
                     {192, 6, 4, 7, 11, 4, 3},
                     {320, 20, 5, 10, 16, 6, 4},
                     {640, 51, 20, 25, 40, 10, 10}};

struct shape {
    int template_side, search_side, conv_side, padded_side, max_move, frame_rows;
    int template_at, search_at, rotated_at, conv_at, padded_at, selected_at, sums_at, squares_at, mask_at,
        allowed_at, stride;
};

static int take(int *at, int n) {
    int from = *at;
    *at += n;
    return from;
}

static struct shape make_shape(int frame_rows, int template_radius, int search_radius, int max_move) {
    int ts = 2 * template_radius + 1, ss = 2 * search_radius + 1, cs = ts + ss - 1, ps = ss + 2 * ts, at = 0;
    struct shape s = {.template_side = ts,
                      .search_side = ss,
                      .conv_side = cs,
                      .padded_side = ps,
                      .max_move = max_move,
                      .frame_rows = frame_rows};
    s.template_at = take(&at, ts * ts);
    s.search_at = take(&at, ss * ss);
    s.rotated_at = take(&at, ts * ts);
    s.conv_at = take(&at, cs * cs);
    s.padded_at = take(&at, ps * ps);
    s.selected_at = take(&at, cs * ps);
    s.sums_at = take(&at, cs * cs);
    s.squares_at = take(&at, cs * cs);
    s.mask_at = take(&at, cs * cs);
    s.allowed_at = take(&at, cs * cs);
    s.stride = at;
    return s;
}

/* ---- the film ---- */

/* Frame f shows the same tissue, stretched about the centre by up to a twelfth as the heart beats; speckled
 * texture, a bright ring for the wall, a little noise. Grey values are whole. */
static void make_frame(struct wl *w, float *frame, const float *tissue, int side, int f) {
    static const int beat[8] = {0, 2, 4, 5, 4, 2, 0, -1};
    int stretch = beat[f % 8];
    for (int c = 0; c < side; c++)
        for (int r = 0; r < side; r++) {
            int x = side / 2 + (c - side / 2) * (64 + stretch) / 64;
            int y = side / 2 + (r - side / 2) * (64 + stretch) / 64;
            x = x < 0 ? 0 : x >= side ? side - 1 : x;
            y = y < 0 ? 0 : y >= side ? side - 1 : y;
            float v = tissue[y + x * side] + wl_random_float(w, -3, 3);
            frame[r + c * side] = floorf(v < 0 ? 0 : v > 255 ? 255 : v);
        }
}

static float *make_tissue(struct wl *w, int side) {
    float *coarse = WL_ARRAY(w, float, side *side), *fine = WL_ARRAY(w, float, side *side);
    wl_smooth_field(w, coarse, side, side, 16, 20, 120);
    wl_smooth_field(w, fine, side, side, 3, 0, 90);
    for (int i = 0; i < side * side; i++) {
        int x = i / side - side / 2, y = i % side - side / 2, r2 = 16 * (x * x + y * y), d2 = side * side;
        coarse[i] += fine[i] + (r2 > d2 / 2 && r2 < d2 ? 40.0f : 0.0f);
    }
    return coarse;
}

/* Points on the wall: around a square ring, so that no trigonometry is needed. */
static void place_points(int *rows, int *columns, int n, int side) {
    int reach = side / 5;
    for (int i = 0; i < n; i++) {
        int along = i * 8 * reach / n, leg = along / (2 * reach), step = along % (2 * reach) - reach;
        int x = leg == 0 ? step : leg == 1 ? reach : leg == 2 ? -step : -reach;
        int y = leg == 0 ? -reach : leg == 1 ? step : leg == 2 ? reach : -step;
        rows[i] = side / 2 + y;
        columns[i] = side / 2 + x;
    }
}

/* ---- reference ---- */

struct tracker {
    const struct shape *s;
    const float *frame;
    double *templates; /* one after another */
};

static double pixel(const struct tracker *t, int row, int column) {
    return t->frame[row + column * t->s->frame_rows];
}

/* Correlation coefficient of a template with the window around (row, column). */
static double correlation(const struct tracker *t, int point, int row, int column) {
    int ts = t->s->template_side, n = ts * ts;
    const double *templ = t->templates + point * n;
    double a = 0, b = 0, aa = 0, bb = 0, ab = 0;
    for (int c = 0; c < ts; c++)
        for (int r = 0; r < ts; r++) {
            double u = templ[r + c * ts], v = pixel(t, row - ts / 2 + r, column - ts / 2 + c);
            a += u;
            b += v;
            aa += u * u;
            bb += v * v;
            ab += u * v;
        }
    return (ab - a * b / n) / sqrt((aa - a * a / n) * (bb - b * b / n));
}

static double best_correlation(const struct tracker *t, int point, int row, int column) {
    double best = -2;
    int m = t->s->max_move;
    for (int dc = -m; dc <= m; dc++)
        for (int dr = -m; dr <= m; dr++)
            best = fmax(best, correlation(t, point, row + dr, column + dc));
    return best;
}

static void blend(const struct tracker *t, int point, int row, int column, double keep) {
    int ts = t->s->template_side;
    double *templ = t->templates + point * ts * ts;
    for (int c = 0; c < ts; c++)
        for (int r = 0; r < ts; r++)
            templ[r + c * ts] =
                keep * templ[r + c * ts] + (1 - keep) * pixel(t, row - ts / 2 + r, column - ts / 2 + c);
}

/* ---- the run ---- */

struct points {
    int n, *rows, *columns, *last_rows, *last_columns;
    float *scores, *best, *here;
    CUdeviceptr d_rows, d_columns, d_scores;
};

static struct points make_points(struct wl *w, int n, int side) {
    struct points p = {.n = n};
    p.rows = WL_ARRAY(w, int, n);
    p.columns = WL_ARRAY(w, int, n);
    p.last_rows = WL_ARRAY(w, int, n);
    p.last_columns = WL_ARRAY(w, int, n);
    p.scores = WL_ARRAY(w, float, n);
    p.best = WL_ARRAY(w, float, n);
    p.here = WL_ARRAY(w, float, n);
    place_points(p.rows, p.columns, n, side);
    p.d_rows = wl_upload(w, p.rows, (size_t)n * sizeof(int));
    p.d_columns = wl_upload(w, p.columns, (size_t)n * sizeof(int));
    p.d_scores = wl_alloc(w, (size_t)n * sizeof(float));
    return p;
}

/* Places may differ where two windows match equally well: what counts is how well the chosen one matches. */
static void check_frame(struct wl *w, const struct tracker *t, struct points *p) {
    for (int i = 0; i < p->n; i++) {
        p->best[i] = (float)best_correlation(t, i, p->last_rows[i], p->last_columns[i]);
        p->here[i] = (float)correlation(t, i, p->rows[i], p->columns[i]);
        int dr = p->rows[i] - p->last_rows[i], dc = p->columns[i] - p->last_columns[i], m = t->s->max_move;
        wl_check_that(w, dr >= -m && dr <= m && dc >= -m && dc <= m, "a point moved too far");
    }
    /* sums of side^2 products; a coefficient is their difference, some 20 times smaller than they are */
    int n = t->s->template_side * t->s->template_side;
    struct wl_tolerance tolerance = {(20 + n) * 20 * 0x1p-24, 1};
    wl_check_f32(w, "score", p->scores, p->best, (size_t)p->n, tolerance);
    wl_check_f32(w, "match at the chosen place", p->here, p->best, (size_t)p->n, tolerance);
}

static void read_points(struct wl *w, struct points *p, int side, int margin) {
    size_t bytes = (size_t)p->n * sizeof(int);
    for (int i = 0; i < p->n; i++) {
        p->last_rows[i] = p->rows[i];
        p->last_columns[i] = p->columns[i];
    }
    wl_get(w, p->rows, p->d_rows, bytes);
    wl_get(w, p->columns, p->d_columns, bytes);
    wl_get(w, p->scores, p->d_scores, bytes);
    for (int i = 0; i < p->n; i++)
        if (p->rows[i] < margin || p->rows[i] >= side - margin || p->columns[i] < margin ||
            p->columns[i] >= side - margin)
            wl_fail(w, "point %d left the frame", i);
}

static void run(struct wl *w) {
    int side = sizes[w->size].side, refresh = sizes[w->size].refresh;
    int frames = wl_option(w, "frames", sizes[w->size].frames);
    struct shape s = make_shape(side, sizes[w->size].template_radius, sizes[w->size].search_radius,
                                sizes[w->size].max_move);
    struct points p = make_points(w, wl_option(w, "points", sizes[w->size].points), side);
    int margin = sizes[w->size].search_radius + 1, n = s.template_side * s.template_side;
    float *tissue = make_tissue(w, side), *frame = WL_ARRAY(w, float, side *side);
    struct tracker t = {&s, frame, WL_ARRAY(w, double, p.n *n)};

    wl_symbol(w, "heart", &s, sizeof s);
    CUdeviceptr d_frame = wl_alloc(w, (size_t)(side * side) * sizeof(float)),
                d_scratch = wl_alloc(w, (size_t)p.n * (size_t)s.stride * sizeof(float));
    for (int f = 0; f < frames; f++) {
        make_frame(w, frame, tissue, side, f);
        wl_put(w, d_frame, frame, (size_t)(side * side) * sizeof(float));
        WL_LAUNCH(w, "heart_track", wl_dim((unsigned)p.n, 1), wl_dim(THREADS, 1), 0, &f, &refresh, &d_frame,
                  &p.d_rows, &p.d_columns, &d_scratch, &p.d_scores);
        read_points(w, &p, side, margin);
        if (w->check && f > 0)
            check_frame(w, &t, &p);
        for (int i = 0; w->check && i < p.n && f % refresh == 0; i++)
            blend(&t, i, p.rows[i], p.columns[i], f ? 0.87 : 0);
    }
    float *got = WL_ARRAY(w, float, p.n *n), *want = WL_ARRAY(w, float, p.n *n);
    for (int i = 0; i < p.n; i++)
        wl_get(w, got + i * n, d_scratch + (CUdeviceptr)(i * s.stride) * sizeof(float),
               (size_t)n * sizeof(float));
    for (int i = 0; i < p.n * n; i++)
        want[i] = (float)t.templates[i];
    /* a refresh rounds three times and the constants once each */
    wl_check_f32(w, "template", got, want, (size_t)(p.n * n),
                 (struct wl_tolerance){5 * (1 + frames / refresh) * 0x1p-24, 1});
}

const struct workload workload = {"heartwall", run};
