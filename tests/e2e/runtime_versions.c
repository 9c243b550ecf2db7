/* Drives libcudart of a given release the way code compiled for that release does, without a compiler of it:
 * registers a fat binary made here, launches, copies variables, and looks at what differs between releases.
 *
 *     runtime_versions LIBCUDART RELEASE        e.g. .../libcudart.so.11.0 11
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char ptx[] =
    ".version 6.0\n.target sm_50\n.address_size 64\n"
    ".global .texref tex;\n"
    ".visible .global .align 4 .u32 counter = 5;\n"
    ".visible .const .align 4 .b8 factors[16];\n"
    ".visible .entry scale(.param .u64 out, .param .u32 n, .param .f32 by) {\n"
    "  .reg .pred %p; .reg .b32 %r<6>; .reg .f32 %f<4>; .reg .b64 %rd<6>;\n"
    "  ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [n]; ld.param.f32 %f1, [by];\n"
    "  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;\n"
    "  mad.lo.s32 %r2, %r2, %r3, %r4; setp.ge.u32 %p, %r2, %r1; @%p ret;\n"
    "  mov.u64 %rd2, factors; and.b32 %r5, %r2, 3; mul.wide.u32 %rd3, %r5, 4;\n"
    "  add.s64 %rd2, %rd2, %rd3; ld.const.f32 %f2, [%rd2];\n"
    "  mul.f32 %f1, %f1, %f2; mul.wide.u32 %rd3, %r2, 4; add.s64 %rd1, %rd1, %rd3;\n"
    "  st.global.f32 [%rd1], %f1; atom.global.add.u32 %r5, [counter], 1; ret;\n}\n"
    ".visible .entry fetch(.param .u64 out) {\n"
    "  .reg .b32 %r<2>; .reg .f32 %f<5>; .reg .b64 %rd<4>;\n"
    "  ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x;\n"
    "  tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [tex, {%r1}];\n"
    "  mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2; st.global.f32 [%rd1], %f1; ret;\n}\n";

enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    INVALID_CONFIGURATION = 9,
    INVALID_FUNCTION = 98,
    INVALID_HANDLE = 400,
    NOT_SUPPORTED = 801
};
enum { TO_DEVICE = 1, TO_HOST = 2, N = 100 };

typedef struct {
    unsigned x, y, z;
} dim3;

struct channels {
    int x, y, z, w, kind;
};

struct texture_reference {
    int normalized, filter, address[3];
    struct channels channels;
    int rest[32];
};

static void *lib;
static int release, failures;

static void *call(const char *name) {
    void *fn = dlsym(lib, name);
    if (!fn) {
        fprintf(stderr, "%s is not exported\n", name);
        exit(1);
    }
    return fn;
}

static void expect(const char *what, long got, long want) {
    if (got == want)
        return;
    fprintf(stderr, "release %d: %s: %ld, expected %ld\n", release, what, got, want);
    failures++;
}

/* A container with one plain PTX entry, as fatbinary writes it. */
static void *container(void) {
    size_t text = (sizeof ptx + 7) / 8 * 8;
    unsigned char *c = calloc(1, 16 + 64 + text);
    uint64_t body = 64 + text, payload = text, flags = 0x11;
    memcpy(c, &(uint32_t){0xba55ed50}, 4);
    memcpy(c + 4, &(uint16_t[]){1, 16}, 4);
    memcpy(c + 8, &body, 8);
    memcpy(c + 16, &(uint16_t[]){1, 0x101}, 4);
    memcpy(c + 20, &(uint32_t){64}, 4);
    memcpy(c + 24, &payload, 8);
    memcpy(c + 16 + 24, &(uint16_t[]){0, 6}, 4);
    memcpy(c + 16 + 28, &(uint32_t){50}, 4);
    memcpy(c + 16 + 40, &flags, 8);
    memcpy(c + 80, ptx, sizeof ptx);
    return c;
}

/* Host addresses that stand for device things, as compilers make them. */
static char scale_stub, fetch_stub, not_a_stub, counter_shadow, factors_shadow;
static struct texture_reference tex;

static void register_all(void) {
    static struct {
        uint32_t magic, version;
        void *data, *unused;
    } wrapper = {0x466243b1, 1, NULL, NULL};
    wrapper.data = container();
    void **h = ((void **(*)(void *))call("__cudaRegisterFatBinary"))(&wrapper);
    void (*function)(void **, const void *, char *, const char *, int, void *, void *, void *, void *,
                     int *) = call("__cudaRegisterFunction");
    void (*variable)(void **, char *, char *, const char *, int, size_t, int, int) =
        call("__cudaRegisterVar");
    void (*texture)(void **, const void *, const void **, const char *, int, int, int) =
        call("__cudaRegisterTexture");
    function(h, &scale_stub, "scale", "scale", -1, NULL, NULL, NULL, NULL, NULL);
    function(h, &fetch_stub, "fetch", "fetch", -1, NULL, NULL, NULL, NULL, NULL);
    variable(h, &counter_shadow, "counter", "counter", 0, 4, 0, 0);
    variable(h, &factors_shadow, "factors", "factors", 0, 16, 1, 0);
    texture(h, &tex, NULL, "tex", 1, 0, 0);
    ((void (*)(void **))call("__cudaRegisterFatBinaryEnd"))(h);
}

static int launch(const void *stub, dim3 grid, dim3 block, void **args) {
    int (*push)(dim3, dim3, size_t, void *) = call("__cudaPushCallConfiguration");
    int (*pop)(dim3 *, dim3 *, size_t *, void *) = call("__cudaPopCallConfiguration");
    int (*start)(const void *, dim3, dim3, void **, size_t, void *) = call("cudaLaunchKernel");
    size_t shared;
    void *stream;
    expect("push", push(grid, block, 0, NULL), SUCCESS);
    expect("pop", pop(&grid, &block, &shared, &stream), SUCCESS);
    return start(stub, grid, block, args, shared, stream);
}

static void check_properties(void) {
    static const int sizes[] = {[11] = 728, [12] = 1032, [13] = 1008};
    unsigned char prop[2048];
    int version = 0;
    memset(prop, 0xa5, sizeof prop);
    int (*get)(void *, int) = call(release == 12 ? "cudaGetDeviceProperties_v2" : "cudaGetDeviceProperties");
    expect("properties", get(prop, 0), SUCCESS);
    int warp;
    memcpy(&warp, prop + 308, sizeof warp);
    expect("warp size", warp, 32);
    for (size_t i = (size_t)sizes[release]; i < sizeof prop; i++)
        expect("byte behind the properties", prop[i], 0xa5);
    ((int (*)(int *))call("cudaRuntimeGetVersion"))(&version);
    expect("release", version / 1000, release);
}

static void check_launch(void) {
    int (*copy)(void *, const void *, size_t, int) = call("cudaMemcpy");
    int (*to_symbol)(const void *, const void *, size_t, size_t, int) = call("cudaMemcpyToSymbol");
    int (*from_symbol)(void *, const void *, size_t, size_t, int) = call("cudaMemcpyFromSymbol");
    float factors[4] = {1, 2, 3, 4}, got[N], by = 0.5f;
    unsigned n = N, counter = 0;
    void *out, *args[] = {&out, &n, &by};
    expect("malloc", ((int (*)(void **, size_t))call("cudaMalloc"))(&out, sizeof got), SUCCESS);
    expect("to symbol", to_symbol(&factors_shadow, factors, sizeof factors, 0, TO_DEVICE), SUCCESS);
    expect("launch", launch(&scale_stub, (dim3){4, 1, 1}, (dim3){32, 1, 1}, args), SUCCESS);
    expect("copy", copy(got, out, sizeof got, TO_HOST), SUCCESS);
    for (int i = 0; i < N; i++)
        expect("element, in halves", (long)(got[i] * 2), i % 4 + 1);
    expect("from symbol", from_symbol(&counter, &counter_shadow, 4, 0, TO_HOST), SUCCESS);
    expect("counter", counter, 5 + N);
    int none = release >= 13 ? INVALID_HANDLE : INVALID_FUNCTION;
    expect("no kernel", launch(&not_a_stub, (dim3){1, 1, 1}, (dim3){1, 1, 1}, args), none);
    expect("last error", ((int (*)(void))call("cudaGetLastError"))(), none);
    int bad = launch(&scale_stub, (dim3){1, 1, 1}, (dim3){2048, 1, 1}, args);
    expect("2048 threads", bad, release >= 13 ? INVALID_VALUE : INVALID_CONFIGURATION);
    expect("missing call", ((int (*)(void *, void *))call("cudaIpcGetMemHandle"))(got, out), NOT_SUPPORTED);
}

/* Texture references: CUDA 11 had them last. */
static void check_texture_reference(void) {
    int (*copy)(void *, const void *, size_t, int) = call("cudaMemcpy");
    int (*bind)(size_t *, const void *, const void *, const struct channels *, size_t) =
        call("cudaBindTexture");
    int (*unbind)(const void *) = call("cudaUnbindTexture");
    float in[32], got[32];
    void *from, *out, *args[] = {&out};
    size_t offset = 1;
    tex.channels = (struct channels){32, 0, 0, 0, 2};
    for (int i = 0; i < 32; i++)
        in[i] = (float)(i * i);
    ((int (*)(void **, size_t))call("cudaMalloc"))(&from, sizeof in);
    ((int (*)(void **, size_t))call("cudaMalloc"))(&out, sizeof in);
    expect("copy in", copy(from, in, sizeof in, TO_DEVICE), SUCCESS);
    expect("bind", bind(&offset, &tex, from, &tex.channels, SIZE_MAX), SUCCESS);
    expect("offset", (long)offset, 0);
    expect("launch", launch(&fetch_stub, (dim3){1, 1, 1}, (dim3){32, 1, 1}, args), SUCCESS);
    expect("copy out", copy(got, out, sizeof got, TO_HOST), SUCCESS);
    for (int i = 0; i < 32; i++)
        expect("texel", (long)got[i], i * i);
    expect("unbind", unbind(&tex), SUCCESS);
}

int main(int argc, char **argv) {
    release = argc == 3 ? atoi(argv[2]) : 0;
    if (release < 11 || release > 13) {
        fprintf(stderr, "usage: runtime_versions LIBCUDART 11|12|13\n");
        return 2;
    }
    lib = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
    if (!lib) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    register_all();
    check_properties();
    check_launch();
    if (release == 11)
        check_texture_reference();
    return failures != 0;
}
