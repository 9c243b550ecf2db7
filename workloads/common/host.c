/* The host side that all workloads share: options, context and module, memory, launches, checking. */
#include "host.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_KERNELS = 32, MAX_OPTIONS = 8 };

struct kernel_entry {
    const char *name;
    CUfunction function;
};

struct option {
    const char *name; /* up to '=' */
    int value;
    bool used;
};

/* In front of every piece of host memory, so that all of it can be freed at the end. */
struct piece {
    struct piece *next;
    _Alignas(max_align_t) char data[];
};

enum { MAX_ARRAYS = 64 };

struct wl_state {
    struct piece *pieces;
    CUdeviceptr memory[MAX_ARRAYS];
    CUtexObject textures[MAX_ARRAYS];
    CUarray arrays[MAX_ARRAYS];
    int n_memory, n_textures, n_arrays;
    CUmodule module;
    struct kernel_entry kernels[MAX_KERNELS];
    int n_kernels;
    struct option options[MAX_OPTIONS];
    int n_options;
    const char *ptx; /* --ptx */
    /* --results: written beside its place, where it comes when it is whole */
    FILE *results;
    const char *results_path;
    char results_part[4096];
    bool accept; /* --accept */
    /* what has been checked */
    size_t values, wrong;
    bool inexact;
    double max_error, tolerance; /* of the comparison closest to its tolerance */
    uint64_t checksum;
};

static const char *const size_names[WL_SIZES] = {"tiny", "small", "medium", "large"};

static const char usage[] =
    "usage: %s [--size tiny|small|medium|large] [--bits 64|32] [--ptx FILE] [--seed N]\n"
    "          [--set NAME=VALUE] [--check|--accept|--no-check] [--results FILE]\n";

/* ---- failure
 * ----------------------------------------------------------------------------------------------------- */

_Noreturn void wl_fail(struct wl *w, const char *format, ...) {
    va_list ap;
    fflush(stdout);
    fprintf(stderr, "%s %s: FAILED: ", workload.name, size_names[w->size]);
    va_start(ap, format);
    vfprintf(stderr, format, ap);
    va_end(ap);
    fputc('\n', stderr);
    if (w->state->results)
        unlink(w->state->results_part);
    exit(1);
}

static void driver(struct wl *w, CUresult result, const char *what) {
    if (result == CUDA_SUCCESS)
        return;
    const char *name = NULL;
    if (cuGetErrorName(result, &name) != CUDA_SUCCESS || !name)
        name = "unknown error";
    wl_fail(w, "%s: %s (%d)", what, name, (int)result);
}

/* ---- options
 * ----------------------------------------------------------------------------------------------------- */

static _Noreturn void bad_usage(const char *why, const char *what) {
    fprintf(stderr, "%s: %s %s\n", workload.name, why, what);
    fprintf(stderr, usage, workload.name);
    exit(2);
}

static enum wl_size read_size(const char *text) {
    for (int i = 0; i < WL_SIZES; i++)
        if (!strcmp(text, size_names[i]))
            return (enum wl_size)i;
    bad_usage("unknown size", text);
}

static uint64_t read_number(const char *text) {
    char *end;
    uint64_t v = strtoull(text, &end, 0);
    if (!*text || *end)
        bad_usage("not a number:", text);
    return v;
}

static void read_set(struct wl_state *s, char *text) {
    char *equals = strchr(text, '=');
    if (!equals || s->n_options == MAX_OPTIONS)
        bad_usage(equals ? "too many --set at" : "--set needs NAME=VALUE, not", text);
    *equals = 0;
    s->options[s->n_options++] = (struct option){text, (int)read_number(equals + 1), false};
}

/* Options that take a value; returns false for a name that is none of them. */
static bool read_valued(struct wl *w, const char *name, char *value) {
    struct wl_state *s = w->state;
    if (!strcmp(name, "--size"))
        w->size = read_size(value);
    else if (!strcmp(name, "--bits"))
        w->bits = (int)read_number(value);
    else if (!strcmp(name, "--ptx"))
        s->ptx = value;
    else if (!strcmp(name, "--seed"))
        w->seed = read_number(value);
    else if (!strcmp(name, "--set"))
        read_set(s, value);
    else if (!strcmp(name, "--results")) {
        s->results_path = value;
        snprintf(s->results_part, sizeof s->results_part, "%s.%d.part", value, (int)getpid());
        s->results = fopen(s->results_part, "wb");
        if (!s->results || fputs("reprise results 1\n", s->results) < 0)
            bad_usage("cannot write", value);
    } else
        return false;
    return true;
}

static void read_options(struct wl *w, int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--check"))
            w->check = true;
        else if (!strcmp(argv[i], "--accept"))
            w->check = w->state->accept = true;
        else if (!strcmp(argv[i], "--no-check"))
            w->check = false;
        else if (i + 1 < argc && read_valued(w, argv[i], argv[i + 1]))
            i++;
        else
            bad_usage("cannot read option", argv[i]);
    }
    if (w->bits != 32 && w->bits != 64)
        bad_usage("--bits is 32 or 64", "");
}

int wl_option(struct wl *w, const char *name, int fallback) {
    struct wl_state *s = w->state;
    for (int i = 0; i < s->n_options; i++)
        if (!strcmp(s->options[i].name, name)) {
            s->options[i].used = true;
            return s->options[i].value;
        }
    return fallback;
}

static void reject_unused_options(const struct wl_state *s) {
    for (int i = 0; i < s->n_options; i++)
        if (!s->options[i].used)
            bad_usage("this workload has no setting", s->options[i].name);
}

/* ---- context and module
 * ------------------------------------------------------------------------------------------ */

static char *read_text(struct wl *w, const char *path) {
    FILE *f = fopen(path, "rb");
    if (!f)
        wl_fail(w, "cannot read %s", path);
    size_t capacity = 1 << 16, n = 0;
    char *text = malloc(capacity);
    while (text) {
        n += fread(text + n, 1, capacity - 1 - n, f);
        if (n < capacity - 1)
            break;
        text = realloc(text, capacity *= 2);
    }
    if (!text || ferror(f))
        wl_fail(w, "cannot read %s", path);
    fclose(f);
    text[n] = 0;
    return text;
}

/* The module beside the executable: its path, with the width and .ptx appended, of the annotated kernels if
 * they are asked for. */
static void default_ptx(struct wl *w, char *path, size_t size) {
    ssize_t n = readlink("/proc/self/exe", path, size - 16);
    if (n <= 0 || (size_t)n >= size - 16)
        wl_fail(w, "cannot find the directory of the executable; give --ptx");
    snprintf(path + n, 16, "%s.%d.ptx", wl_option(w, "annotated", 0) ? ".approx" : "", w->bits);
}

static int address_bits(const char *ptx) {
    const char *at = strstr(ptx, "\n.address_size");
    return at && atoi(at + strlen("\n.address_size")) == 64 ? 64 : 32;
}

static void load_module(struct wl *w) {
    char path[4096];
    if (!w->state->ptx)
        default_ptx(w, path, sizeof path);
    char *text = read_text(w, w->state->ptx ? w->state->ptx : path);
    w->bits = address_bits(text);
    CUdevice device;
    CUcontext context;
    driver(w, cuInit(0), "cuInit");
    driver(w, cuDeviceGet(&device, 0), "cuDeviceGet");
    driver(w, cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    driver(w, cuCtxSetCurrent(context), "cuCtxSetCurrent");
    driver(w, cuModuleLoadData(&w->state->module, text), "cuModuleLoadData");
    free(text);
}

/* ---- memory
 * ------------------------------------------------------------------------------------------------------ */

void *wl_host(struct wl *w, size_t n, size_t size) {
    size_t bytes;
    struct piece *p = NULL;
    if (!__builtin_mul_overflow(n, size, &bytes) && bytes < SIZE_MAX / 2)
        p = calloc(1, sizeof *p + bytes);
    if (!p)
        wl_fail(w, "no host memory for %zu x %zu bytes", n, size);
    p->next = w->state->pieces;
    w->state->pieces = p;
    return p->data;
}

static void free_pieces(struct wl_state *s) {
    for (struct piece *p = s->pieces, *next; p; p = next) {
        next = p->next;
        free(p);
    }
}

static CUdeviceptr device_memory(struct wl *w, size_t bytes) {
    struct wl_state *s = w->state;
    if (s->n_memory == MAX_ARRAYS)
        wl_fail(w, "more than %d allocations", MAX_ARRAYS);
    driver(w, cuMemAlloc(&s->memory[s->n_memory], bytes), "cuMemAlloc");
    return s->memory[s->n_memory++];
}

static void keep_texture(struct wl *w, CUtexObject texture) {
    if (w->state->n_textures == MAX_ARRAYS)
        wl_fail(w, "more than %d textures", MAX_ARRAYS);
    w->state->textures[w->state->n_textures++] = texture;
}

static void free_device(struct wl *w) {
    struct wl_state *s = w->state;
    for (int i = 0; i < s->n_textures; i++)
        driver(w, cuTexObjectDestroy(s->textures[i]), "cuTexObjectDestroy");
    for (int i = 0; i < s->n_arrays; i++)
        driver(w, cuArrayDestroy(s->arrays[i]), "cuArrayDestroy");
    for (int i = 0; i < s->n_memory; i++)
        driver(w, cuMemFree(s->memory[i]), "cuMemFree");
}

CUdeviceptr wl_alloc(struct wl *w, size_t bytes) {
    CUdeviceptr p = device_memory(w, bytes);
    driver(w, cuMemsetD8(p, 0, bytes), "cuMemsetD8");
    return p;
}

CUdeviceptr wl_upload(struct wl *w, const void *from, size_t bytes) {
    CUdeviceptr p = device_memory(w, bytes);
    wl_put(w, p, from, bytes);
    return p;
}

void wl_put(struct wl *w, CUdeviceptr to, const void *from, size_t bytes) {
    driver(w, cuMemcpyHtoD(to, from, bytes), "cuMemcpyHtoD");
}

void wl_get(struct wl *w, void *to, CUdeviceptr from, size_t bytes) {
    driver(w, cuMemcpyDtoH(to, from, bytes), "cuMemcpyDtoH");
}

void wl_copy(struct wl *w, CUdeviceptr to, CUdeviceptr from, size_t bytes) {
    driver(w, cuMemcpyDtoD(to, from, bytes), "cuMemcpyDtoD");
}

void wl_fill(struct wl *w, CUdeviceptr to, unsigned char value, size_t bytes) {
    driver(w, cuMemsetD8(to, value, bytes), "cuMemsetD8");
}

void wl_symbol(struct wl *w, const char *name, const void *from, size_t bytes) {
    CUdeviceptr p;
    size_t size;
    driver(w, cuModuleGetGlobal(&p, &size, w->state->module, name), name);
    if (bytes > size)
        wl_fail(w, "%s has %zu bytes, not %zu", name, size, bytes);
    wl_put(w, p, from, bytes);
}

/* ---- textures
 * ---------------------------------------------------------------------------------------------------- */

CUtexObject wl_texture_1d(struct wl *w, CUdeviceptr data, size_t bytes, CUarray_format format, int channels) {
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_LINEAR};
    resource.res.linear.devPtr = data;
    resource.res.linear.format = format;
    resource.res.linear.numChannels = (unsigned)channels;
    resource.res.linear.sizeInBytes = bytes;
    CUDA_TEXTURE_DESC how = {.flags = CU_TRSF_READ_AS_INTEGER};
    CUtexObject object;
    driver(w, cuTexObjectCreate(&object, &resource, &how, NULL), "cuTexObjectCreate");
    keep_texture(w, object);
    return object;
}

static size_t format_bytes(CUarray_format format) {
    return format == CU_AD_FORMAT_UNSIGNED_INT8 || format == CU_AD_FORMAT_SIGNED_INT8     ? 1
           : format == CU_AD_FORMAT_UNSIGNED_INT16 || format == CU_AD_FORMAT_SIGNED_INT16 ? 2
                                                                                          : 4;
}

CUtexObject wl_texture_2d(struct wl *w, const void *texels, int width, int height, CUarray_format format,
                          int channels, struct wl_sampling sampling) {
    CUDA_ARRAY_DESCRIPTOR shape = {(size_t)width, (size_t)height, format, (unsigned)channels};
    CUarray array;
    if (w->state->n_arrays == MAX_ARRAYS)
        wl_fail(w, "more than %d arrays", MAX_ARRAYS);
    driver(w, cuArrayCreate(&array, &shape), "cuArrayCreate");
    w->state->arrays[w->state->n_arrays++] = array;
    size_t row = (size_t)width * (size_t)channels * format_bytes(format);
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = texels,
                          .srcPitch = row,
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .dstArray = array,
                          .WidthInBytes = row,
                          .Height = (size_t)height};
    driver(w, cuMemcpy2D(&copy), "cuMemcpy2D");
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY};
    resource.res.array.hArray = array;
    CUaddress_mode edge = sampling.wrap ? CU_TR_ADDRESS_MODE_WRAP : CU_TR_ADDRESS_MODE_CLAMP;
    CUDA_TEXTURE_DESC how = {
        .addressMode = {edge, edge, edge},
        .filterMode = sampling.linear ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT,
        .flags = (sampling.as_float ? 0u : CU_TRSF_READ_AS_INTEGER) |
                 (sampling.normalized ? CU_TRSF_NORMALIZED_COORDINATES : 0u),
    };
    CUtexObject object;
    driver(w, cuTexObjectCreate(&object, &resource, &how, NULL), "cuTexObjectCreate");
    keep_texture(w, object);
    return object;
}

/* ---- launching
 * --------------------------------------------------------------------------------------------------- */

static CUfunction find_kernel(struct wl *w, const char *name) {
    struct wl_state *s = w->state;
    for (int i = 0; i < s->n_kernels; i++)
        if (!strcmp(s->kernels[i].name, name))
            return s->kernels[i].function;
    if (s->n_kernels == MAX_KERNELS)
        wl_fail(w, "more than %d kernels", MAX_KERNELS);
    struct kernel_entry *k = &s->kernels[s->n_kernels++];
    k->name = name;
    driver(w, cuModuleGetFunction(&k->function, s->module, name), name);
    return k->function;
}

void wl_launch(struct wl *w, const char *kernel, struct wl_dim grid, struct wl_dim block,
               unsigned shared_bytes, void **args) {
    reject_unused_options(w->state);
    driver(w,
           cuLaunchKernel(find_kernel(w, kernel), grid.x, grid.y, grid.z, block.x, block.y, block.z,
                          shared_bytes, NULL, args, NULL),
           kernel);
}

/* ---- checking
 * ---------------------------------------------------------------------------------------------------- */

/* FNV-1a, 64 bits. */
static uint64_t hash_bytes(uint64_t h, const void *data, size_t n) {
    const unsigned char *p = data;
    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * UINT64_C(0x100000001b3);
    return h;
}

/* The types of results: their names in files, and what an element has. */
static const struct {
    const char *name;
    size_t bytes;
} types[] = {[WL_U8] = {"u8", 1}, [WL_U16] = {"u16", 2}, [WL_I32] = {"i32", 4}, [WL_F32] = {"f32", 4}};

/* Adds to the file of results: type, number of elements and name in a line, then the elements as memory has
 * them. */
static void keep_result(struct wl *w, const char *what, enum wl_type type, const void *data, size_t n) {
    FILE *f = w->state->results;
    if (f && (fprintf(f, "%s %zu %s\n", types[type].name, n, what) < 0 ||
              fwrite(data, types[type].bytes, n, f) != n))
        wl_fail(w, "cannot write the results");
}

/* A value for people. */
static const char *value_text(enum wl_type type, const void *value, char out[32]) {
    switch (type) {
    case WL_U8:
        snprintf(out, 32, "%d", *(const uint8_t *)value);
        break;
    case WL_U16:
        snprintf(out, 32, "%d", *(const uint16_t *)value);
        break;
    case WL_I32:
        snprintf(out, 32, "%d", *(const int32_t *)value);
        break;
    case WL_F32:
        snprintf(out, 32, "%.9g", *(const float *)value);
        break;
    }
    return out;
}

void wl_check_same(struct wl *w, const char *what, enum wl_type type, const void *got, const void *want,
                   size_t n) {
    struct wl_state *s = w->state;
    size_t bytes = types[type].bytes;
    const char *a = got, *b = want;
    keep_result(w, what, type, got, n);
    s->checksum = hash_bytes(s->checksum, got, n * bytes);
    s->values += n;
    if (!w->check)
        return;
    size_t wrong = 0, first = 0;
    for (size_t i = n; i-- > 0;)
        if (memcmp(a + i * bytes, b + i * bytes, bytes)) {
            wrong++;
            first = i;
        }
    s->wrong += wrong;
    if (wrong && !s->accept) {
        char is[32], should[32];
        wl_fail(w, "%s[%zu] is %s, the reference has %s; %zu of %zu values wrong", what, first,
                value_text(type, a + first * bytes, is), value_text(type, b + first * bytes, should), wrong,
                n);
    }
}

void wl_check_int(struct wl *w, const char *what, const int *got, const int *want, size_t n) {
    wl_check_same(w, what, WL_I32, got, want, n);
}

void wl_check_bytes(struct wl *w, const char *what, const void *got, const void *want, size_t n) {
    wl_check_same(w, what, WL_U8, got, want, n);
}

static double relative_error(double got, double want, double scale) {
    if (!isfinite(got) || !isfinite(want))
        return INFINITY;
    return got == want ? 0 : fabs(got - want) / (fabs(want) + scale);
}

void wl_check_f32(struct wl *w, const char *what, const float *got, const float *want, size_t n,
                  struct wl_tolerance t) {
    struct wl_state *s = w->state;
    keep_result(w, what, WL_F32, got, n);
    s->values += n;
    s->inexact = true;
    if (!w->check)
        return;
    size_t wrong = 0, worst = 0;
    double max = -1;
    for (size_t i = 0; i < n; i++) {
        double e = relative_error(got[i], want[i], t.scale);
        wrong += e > t.tolerance;
        if (e > max) {
            max = e;
            worst = i;
        }
    }
    s->wrong += wrong;
    if (wrong && !s->accept)
        wl_fail(
            w,
            "%s[%zu] is %.9g, the reference has %.9g: error %.3g > tolerance %.3g; %zu of %zu values wrong",
            what, worst, got[worst], want[worst], max, t.tolerance, wrong, n);
    if (n && max * s->tolerance >= s->max_error * t.tolerance) {
        s->max_error = max;
        s->tolerance = t.tolerance;
    }
}

void wl_check_that(struct wl *w, bool holds, const char *what) {
    if (w->check && !holds && !w->state->accept)
        wl_fail(w, "%s", what);
}

static void print_verdict(const struct wl *w) {
    const struct wl_state *s = w->state;
    printf("%s %s: ", workload.name, size_names[w->size]);
    if (!w->check)
        printf("NOT CHECKED (%zu values)\n", s->values);
    else if (s->accept)
        printf("ACCEPTED (%zu values, %zu of them wrong)\n", s->values, s->wrong);
    else if (s->inexact)
        printf("OK (%zu values, max error %.3g <= tolerance %.3g)\n", s->values, s->max_error, s->tolerance);
    else
        printf("OK (%zu values, exact, checksum %016llx)\n", s->values, (unsigned long long)s->checksum);
}

int main(int argc, char **argv) {
    static struct wl_state state = {.checksum = UINT64_C(0xcbf29ce484222325)};
    struct wl w = {.size = WL_SMALL, .check = true, .bits = 64, .seed = 1, .state = &state};
    read_options(&w, argc, argv);
    load_module(&w);
    workload.run(&w);
    driver(&w, cuCtxSynchronize(), "cuCtxSynchronize");
    if (state.results && (fclose(state.results) || rename(state.results_part, state.results_path)))
        wl_fail(&w, "cannot write the results");
    if (!state.values)
        wl_fail(&w, "nothing was compared");
    print_verdict(&w);
    free_device(&w);
    free_pieces(&state);
    return 0;
}
