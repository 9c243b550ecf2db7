/* dct8x8: cosine transform, quantisation and reconstruction of an image by 8x8 tiles. See README.md. */
#include "host.h"
#include <math.h>

enum { N = 8 };

static const int sizes[WL_SIZES] = {128, 384, 512, 512}; /* sides of the square image */

/* sqrt(2/8) cos(k pi / 16): entry u, x of the basis is k = (2x + 1) u, folded into 0..8 */
static const float half_cosine[9] = {
    0.5f, 0.49039264f, 0.46193977f, 0.41573481f, 0.35355339f, 0.27778512f, 0.19134172f, 0.09754516f, 0};

/* The luminance steps of the JPEG standard's Annex K. */
static const int16_t steps[N * N] = {
    16, 11, 10, 16, 24,  40,  51,  61,  /* */
    12, 12, 14, 19, 26,  58,  60,  55,  /* */
    14, 13, 16, 24, 40,  57,  69,  56,  /* */
    14, 17, 22, 29, 51,  87,  80,  62,  /* */
    18, 22, 37, 56, 68,  109, 103, 77,  /* */
    24, 35, 55, 64, 81,  104, 113, 92,  /* */
    49, 64, 78, 87, 103, 121, 120, 101, /* */
    72, 92, 95, 98, 112, 100, 103, 99,
};

static void make_basis(float *basis) {
    for (int u = 0; u < N; u++)
        for (int x = 0; x < N; x++) {
            int k = (2 * x + 1) * u % 32;
            k = k > 16 ? 32 - k : k;
            float v = k > 8 ? -half_cosine[16 - k] : half_cosine[k];
            basis[u * N + x] = u ? v : half_cosine[4];
        }
}

/* One tile: out = basis in basis^T, or with the basis transposed. */
static void transform_tile(const float *basis, bool inverse, const float *in, float *out, int pitch) {
    double half[N][N];
    for (int v = 0; v < N; v++)
        for (int x = 0; x < N; x++) {
            half[v][x] = 0;
            for (int i = 0; i < N; i++)
                half[v][x] += (double)(inverse ? basis[i * N + v] : basis[v * N + i]) * in[i * pitch + x];
        }
    for (int v = 0; v < N; v++)
        for (int u = 0; u < N; u++) {
            double sum = 0;
            for (int i = 0; i < N; i++)
                sum += half[v][i] * (double)(inverse ? basis[i * N + u] : basis[u * N + i]);
            out[v * pitch + u] = (float)sum;
        }
}

static void transform_image(const float *basis, bool inverse, const float *in, float *out, int side) {
    for (int y = 0; y < side; y += N)
        for (int x = 0; x < side; x += N)
            transform_tile(basis, inverse, in + y * side + x, out + y * side + x, side);
}

struct job {
    int side;
    size_t n, bytes;
    float *image, *basis;
    float *got, *want, *quantized;
};

/* Two products of 8 terms each: 16 roundings, relative to the largest coefficient a tile of 128s has; the
 * factored transform has no longer chains. */
static void check_transform(struct wl *w, const struct job *j, const char *what, bool inverse,
                            const float *in) {
    if (w->check)
        transform_image(j->basis, inverse, in, j->want, j->side);
    wl_check_f32(w, what, j->got, j->want, j->n, (struct wl_tolerance){16 * 0x1p-24, 1024});
}

/* The quantised coefficients must follow exactly from those got. */
static void check_quantized(struct wl *w, const struct job *j) {
    for (size_t i = 0; w->check && i < j->n; i++) {
        size_t x = i % (size_t)j->side % N, y = i / (size_t)j->side % N;
        float step = steps[y * N + x];
        j->want[i] = rintf(j->got[i] / step) * step;
    }
    wl_check_f32(w, "quantised coefficient", j->quantized, j->want, j->n, (struct wl_tolerance){0, 0});
}

static CUtexObject texture(struct wl *w, const float *data, int side) {
    return wl_texture_2d(w, data, side, side, CU_AD_FORMAT_FLOAT, 1, (struct wl_sampling){0});
}

static void run(struct wl *w) {
    struct job j = {.side = wl_option(w, "side", sizes[w->size])};
    if (j.side < 32 || j.side % 32)
        wl_fail(w, "side is a multiple of 32");
    j.n = (size_t)j.side * (size_t)j.side;
    j.bytes = j.n * sizeof(float);
    j.image = WL_ARRAY(w, float, j.n);
    j.basis = WL_ARRAY(w, float, N *N);
    j.got = WL_ARRAY(w, float, j.n);
    j.want = WL_ARRAY(w, float, j.n);
    j.quantized = WL_ARRAY(w, float, j.n);
    unsigned char *grey = WL_ARRAY(w, unsigned char, j.n);
    wl_image(w, grey, j.side, j.side);
    for (size_t i = 0; i < j.n; i++)
        j.image[i] = (float)(grey[i] - 128);
    make_basis(j.basis);
    wl_symbol(w, "dct_basis", j.basis, N * N * sizeof(float));
    wl_symbol(w, "dct_steps", steps, sizeof steps);

    unsigned tiles = (unsigned)j.side / N;
    struct wl_dim grid = wl_dim(tiles, tiles), block = wl_dim(N, N);
    struct wl_dim parts = wl_dim((unsigned)j.side / 32, (unsigned)j.side / 16), part = wl_dim3(8, 4, 2);
    CUdeviceptr d_image = wl_upload(w, j.image, j.bytes), d_work = wl_alloc(w, j.bytes),
                d_out = wl_alloc(w, j.bytes);
    CUtexObject source = texture(w, j.image, j.side);
    for (int way = 0; way < 2; way++) {
        if (way == 0)
            WL_LAUNCH(w, "dct_matrix", grid, block, 0, &d_work, &j.side, &source);
        else
            WL_LAUNCH(w, "dct_vectors", parts, part, 0, &d_work, &d_image, &j.side);
        wl_get(w, j.got, d_work, j.bytes);
        check_transform(w, &j, "coefficient", false, j.image);
        WL_LAUNCH(w, "dct_quantize", grid, block, 0, &d_work, &j.side);
        wl_get(w, j.quantized, d_work, j.bytes);
        check_quantized(w, &j);
        if (way == 0) {
            CUtexObject coefficients = texture(w, j.quantized, j.side);
            WL_LAUNCH(w, "dct_matrix_inverse", grid, block, 0, &d_out, &j.side, &coefficients);
        } else
            WL_LAUNCH(w, "dct_vectors_inverse", parts, part, 0, &d_out, &d_work, &j.side);
        wl_get(w, j.got, d_out, j.bytes);
        check_transform(w, &j, "pixel", true, j.quantized);
    }
}

const struct workload workload = {"dct8x8", run};
