/* What the host half of a workload is made of.
 *
 * A workload's host.c defines `const struct workload workload` and its run function; main(), in host.c here,
 * reads the options, makes the context, loads the module and calls run, which generates input, launches
 * kernels and hands results with those of its own CPU reference to wl_check_*. Errors of the driver end the
 * program with a message; nothing here returns an error. All memory lives until the program ends.
 *
 * The same program runs kernels built for 64-bit and for 32-bit addresses. Kernel arguments are passed by
 * address, and the driver copies as many bytes as the parameter has, so a CUdeviceptr serves both. */
#ifndef WORKLOADS_HOST_H
#define WORKLOADS_HOST_H

#include "reprise_cuda.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wl_size { WL_TINY, WL_SMALL, WL_MEDIUM, WL_LARGE, WL_SIZES };

/* One run of a workload: the choices of the command line, and what has been checked so far. */
struct wl {
    enum wl_size size; /* index of the workload's table of sizes */
    bool check;        /* false: skip the CPU reference and the comparison */
    int bits;          /* address bits of the loaded module, 32 or 64 */
    uint64_t seed;
    struct wl_state *state;
};

struct workload {
    const char *name;
    void (*run)(struct wl *w);
};
extern const struct workload workload;

/* ---- options, failure
 * -------------------------------------------------------------------------------------------- */

/* Value of --set NAME=VALUE, or fallback. Call it before the first launch: a --set nobody asks for is an
 * error. */
int wl_option(struct wl *w, const char *name, int fallback);
/* Prints NAME SIZE: FAILED and the message, and exits with status 1. */
_Noreturn void wl_fail(struct wl *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- memory
 * ------------------------------------------------------------------------------------------------------ */

/* Zeroed host memory for n elements of size bytes. */
void *wl_host(struct wl *w, size_t n, size_t size);
#define WL_ARRAY(w, type, n) ((type *)wl_host((w), (n), sizeof(type)))

CUdeviceptr wl_alloc(struct wl *w, size_t bytes); /* zeroed device memory */
CUdeviceptr wl_upload(struct wl *w, const void *from, size_t bytes);
void wl_put(struct wl *w, CUdeviceptr to, const void *from, size_t bytes);
void wl_get(struct wl *w, void *to, CUdeviceptr from, size_t bytes);
void wl_copy(struct wl *w, CUdeviceptr to, CUdeviceptr from, size_t bytes);
void wl_fill(struct wl *w, CUdeviceptr to, unsigned char value, size_t bytes);
/* Writes a __constant__ or __device__ variable of the module. */
void wl_symbol(struct wl *w, const char *name, const void *from, size_t bytes);

/* ---- textures
 * ---------------------------------------------------------------------------------------------------- */

/* A 1D texture of integer coordinates over device memory. */
CUtexObject wl_texture_1d(struct wl *w, CUdeviceptr data, size_t bytes, CUarray_format format, int channels);

/* How a 2D texture is sampled; coordinates beyond the edge clamp unless wrap is set. */
struct wl_sampling {
    bool linear;     /* blend four texels; otherwise take the nearest */
    bool normalized; /* coordinates in [0, 1) */
    bool wrap;       /* needs normalized */
    bool as_float;   /* integer texels read as numbers in [0, 1] */
};
/* A 2D texture over an array of its own, filled from texels (rows without padding). */
CUtexObject wl_texture_2d(struct wl *w, const void *texels, int width, int height, CUarray_format format,
                          int channels, struct wl_sampling sampling);

/* ---- launching
 * --------------------------------------------------------------------------------------------------- */

struct wl_dim {
    unsigned x, y, z;
};
static inline struct wl_dim wl_dim(unsigned x, unsigned y) {
    return (struct wl_dim){x, y, 1};
}
static inline struct wl_dim wl_dim3(unsigned x, unsigned y, unsigned z) {
    return (struct wl_dim){x, y, z};
}

void wl_launch(struct wl *w, const char *kernel, struct wl_dim grid, struct wl_dim block,
               unsigned shared_bytes, void **args);
/* WL_LAUNCH(w, "kernel", wl_dim(gx, gy), wl_dim(bx, by), dynamic shared bytes, &arg0, &arg1, ...) */
#define WL_LAUNCH(w, kernel, grid, block, shared, ...)                                                       \
    wl_launch((w), (kernel), (grid), (block), (shared), (void *[]){__VA_ARGS__})

static inline unsigned wl_blocks(unsigned n, unsigned per_block) {
    return (n + per_block - 1) / per_block;
}

/* ---- checking
 * ---------------------------------------------------------------------------------------------------- */

/* What is compared are the results of the workload, which --results keeps. With --accept, for machines that
 * only approximate, values that are wrong are counted and are no failure. */
enum wl_type { WL_U8, WL_U16, WL_I32, WL_F32 };

/* Every bit of every value must equal the reference's; the checksum printed at the end covers these. */
void wl_check_same(struct wl *w, const char *what, enum wl_type type, const void *got, const void *want,
                   size_t n);
void wl_check_int(struct wl *w, const char *what, const int *got, const int *want, size_t n);
void wl_check_bytes(struct wl *w, const char *what, const void *got, const void *want, size_t n);

/* |got - want| / (|want| + scale) must not exceed tolerance; no value may be a NaN or an infinity. `scale` is
 * the magnitude of the quantities that cancel in a result near zero; 0 asks for a purely relative error. */
struct wl_tolerance {
    double tolerance, scale;
};
void wl_check_f32(struct wl *w, const char *what, const float *got, const float *want, size_t n,
                  struct wl_tolerance t);
/* A statement about a result that is not a comparison of arrays. */
void wl_check_that(struct wl *w, bool holds, const char *what);

/* ---- deterministic data (data.c): the same bytes on every machine
 * ------------------------------------------------ */

uint64_t wl_random(struct wl *w);                        /* 64 random bits */
uint32_t wl_random_below(struct wl *w, uint32_t n);      /* 0 .. n-1 */
float wl_random_float(struct wl *w, float lo, float hi); /* multiples of (hi - lo) / 2^24 */
void wl_random_floats(struct wl *w, float *out, size_t n, float lo, float hi);

/* e^v from additions and multiplications alone, for input data; libraries' own differ in the last bit. */
float wl_exp(float v);

/* A grey image, 0..255: smooth shading, discs and bars with sharp edges, a little sensor noise. With the
 * setting flat there is none of that: 1 leaves the shading's lowest level everywhere, 2 black; fields, too.
 */
void wl_image(struct wl *w, unsigned char *out, int width, int height);
/* The same as floats in [0, 1]. */
void wl_image_f32(struct wl *w, float *out, int width, int height);
/* A field that varies slowly between lo and hi; features are about cell samples across. */
void wl_smooth_field(struct wl *w, float *out, int width, int height, int cell, float lo, float hi);

/* A directed graph in compressed rows: the targets of node i are target[first[i]] .. target[first[i + 1] -
 * 1]. */
struct wl_graph {
    int nodes, edges;
    int *first;  /* nodes + 1 */
    int *target; /* edges, in ascending order for each node */
};
/* Recursive-matrix graph: node degrees follow a skewed distribution of the given mean. */
struct wl_graph wl_graph_rmat(struct wl *w, int nodes, int mean_degree);

/* A sparse matrix in compressed rows with a few long rows and many short ones; values in (0, 1]. */
struct wl_sparse {
    int rows, columns, nonzeros;
    int *first, *column;
    float *value;
};
struct wl_sparse wl_sparse_matrix(struct wl *w, int rows, int columns, int mean_per_row);

/* n x n, row-major, entries in [-1, 1), each diagonal entry larger than its row's sum: factors without
 * pivoting. */
void wl_dominant_matrix(struct wl *w, float *out, int n);

#endif
