/* mufu_dump: what the special-function unit of a real GPU computes, over whole ranges of inputs.
 *
 *   mufu_dump record DIR              run every section on the GPU, write DIR/mufu_*.bin
 *   mufu_dump read FILE...            verify the sections of files, tell the distribution of errors
 *   mufu_dump unpack FILE SECTION OUT write the results of one section as plain 32-bit words
 *
 * A section is one instruction over equally spaced inputs (consecutive bit patterns, multiples of 2^-23, or
 * high words of f64). Each result is stored as its difference, in units of the last place, from the correctly
 * rounded one, which reader and writer compute alike; a hash of the true results proves that they did.
 * Differences are packed in blocks of BLOCK_N: mode (0: the differences, 1: each minus the one before), bits
 * each, least, then the bits. Little-endian. */
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_N = 1024, MAX_N = 1 << 23 };

/* How an input is made from its index, and of which type it is. */
enum kind { BITS, GRID, HIGH, HALF, BRAIN };

struct section {
    const char *file, *name, *op;
    enum kind kind;
    double (*ref)(double);
    uint32_t start, count, step;
};

static double ref_rcp(double x) {
    return 1 / x;
}
static double ref_rsqrt(double x) {
    return 1 / sqrt(x);
}

#define OCTAVE(file, op, ref, tag, start, step)                                                              \
    { file, op "@" tag, op, BITS, ref, start, (1 << 23) / (step), step }

static const struct section sections[] = {
    OCTAVE("algebraic", "rcp.approx.ftz.f32", ref_rcp, "1", 0x3f800000, 1),
    OCTAVE("algebraic", "sqrt.approx.ftz.f32", sqrt, "1", 0x3f800000, 1),
    OCTAVE("algebraic", "sqrt.approx.ftz.f32", sqrt, "2", 0x40000000, 1),
    OCTAVE("algebraic", "rsqrt.approx.ftz.f32", ref_rsqrt, "1", 0x3f800000, 1),
    OCTAVE("algebraic", "rsqrt.approx.ftz.f32", ref_rsqrt, "2", 0x40000000, 1),
    {"algebraic", "rcp.approx.ftz.f64@1", "rcp.approx.ftz.f64", HIGH, ref_rcp, 0x3ff00000, 1 << 20, 1},
    {"algebraic", "rsqrt.approx.ftz.f64@1", "rsqrt.approx.ftz.f64", HIGH, ref_rsqrt, 0x3ff00000, 1 << 20, 1},
    {"algebraic", "rsqrt.approx.ftz.f64@2", "rsqrt.approx.ftz.f64", HIGH, ref_rsqrt, 0x40000000, 1 << 20, 1},
    OCTAVE("log", "lg2.approx.ftz.f32", log2, "0.5", 0x3f000000, 1),
    OCTAVE("log", "lg2.approx.ftz.f32", log2, "1", 0x3f800000, 1),
    OCTAVE("log", "lg2.approx.ftz.f32", log2, "2", 0x40000000, 4),
    OCTAVE("log", "lg2.approx.ftz.f32", log2, "0.25", 0x3e800000, 4),
    OCTAVE("log", "lg2.approx.ftz.f32", log2, "2^64", 0x5f800000, 16),
    {"exp", "ex2.approx.ftz.f32@grid", "ex2.approx.ftz.f32", GRID, exp2, 0, 1 << 23, 1},
    OCTAVE("exp", "ex2.approx.ftz.f32", exp2, "2^-12", 0x39800000, 16),
    OCTAVE("exp", "ex2.approx.ftz.f32", exp2, "2^-4", 0x3d800000, 4),
    OCTAVE("exp", "ex2.approx.ftz.f32", exp2, "0.25", 0x3e800000, 4),
    OCTAVE("exp", "ex2.approx.ftz.f32", exp2, "1", 0x3f800000, 2),
    OCTAVE("exp", "ex2.approx.ftz.f32", exp2, "-0.5", 0xbf000000, 2),
    OCTAVE("exp", "ex2.approx.ftz.f32", exp2, "-0.25", 0xbe800000, 4),
    OCTAVE("exp", "ex2.approx.ftz.f32", exp2, "16", 0x41800000, 8),
    {"exp", "ex2.approx.f16@all", "ex2.approx.f16", HALF, exp2, 0, 1 << 16, 1},
    {"exp", "ex2.approx.ftz.bf16@all", "ex2.approx.ftz.bf16", BRAIN, exp2, 0, 1 << 16, 1},
#define TRIG(f, op)                                                                                          \
    OCTAVE(#f, op, f, "2^-8", 0x3b800000, 16), OCTAVE(#f, op, f, "2^-4", 0x3d800000, 8),                     \
        OCTAVE(#f, op, f, "2^-3", 0x3e000000, 4), OCTAVE(#f, op, f, "0.25", 0x3e800000, 4),                  \
        OCTAVE(#f, op, f, "0.5", 0x3f000000, 1), OCTAVE(#f, op, f, "1", 0x3f800000, 2),                      \
        OCTAVE(#f, op, f, "2", 0x40000000, 4), OCTAVE(#f, op, f, "4", 0x40800000, 4),                        \
        OCTAVE(#f, op, f, "-1", 0xbf800000, 16)
    TRIG(sin, "sin.approx.ftz.f32"),
    TRIG(cos, "cos.approx.ftz.f32"),
    OCTAVE("tanh", "tanh.approx.f32", tanh, "2^-12", 0x39800000, 16),
    OCTAVE("tanh", "tanh.approx.f32", tanh, "2^-7", 0x3c000000, 16),
    OCTAVE("tanh", "tanh.approx.f32", tanh, "2^-6", 0x3c800000, 16),
    OCTAVE("tanh", "tanh.approx.f32", tanh, "2^-5", 0x3d000000, 16),
    OCTAVE("tanh", "tanh.approx.f32", tanh, "2^-4", 0x3d800000, 16),
    OCTAVE("tanh", "tanh.approx.f32", tanh, "2^-3", 0x3e000000, 16),
    OCTAVE("tanh", "tanh.approx.f32", tanh, "0.25", 0x3e800000, 16),
    OCTAVE("tanh", "tanh.approx.f32", tanh, "0.5", 0x3f000000, 4),
    OCTAVE("tanh", "tanh.approx.f32", tanh, "1", 0x3f800000, 4),
    OCTAVE("tanh", "tanh.approx.f32", tanh, "2", 0x40000000, 16),
    OCTAVE("tanh", "tanh.approx.f32", tanh, "4", 0x40800000, 16),
    OCTAVE("tanh", "tanh.approx.f32", tanh, "8", 0x41000000, 16),
    {"tanh", "tanh.approx.f16@all", "tanh.approx.f16", HALF, tanh, 0, 1 << 16, 1},
    {"tanh", "tanh.approx.bf16@all", "tanh.approx.bf16", BRAIN, tanh, 0, 1 << 16, 1},
};
enum { SECTIONS = sizeof sections / sizeof *sections };

/* ---- the correctly rounded result ------------------------------------------------------------------- */

static double half_value(uint32_t h, int mant) {
    int ebits = 15 - mant, bias = (1 << (ebits - 1)) - 1, e = (int)(h >> mant & ((1u << ebits) - 1));
    uint32_t frac = h & ((1u << mant) - 1);
    double sign = h >> 15 & 1 ? -1 : 1;
    if (e == (1 << ebits) - 1)
        return frac ? NAN : sign * INFINITY;
    return e ? sign * ldexp(frac | 1u << mant, e - bias - mant) : sign * ldexp(frac, 1 - bias - mant);
}

/* A double rounded to nearest even in a 16-bit format. */
static uint32_t half_bits(double x, int mant) {
    int ebits = 15 - mant, bias = (1 << (ebits - 1)) - 1, e;
    uint32_t sign = signbit(x) ? 0x8000 : 0, inf = ((1u << ebits) - 1) << mant;
    x = fabs(x);
    if (isnan(x))
        return 0x7fff;
    if (isinf(x))
        return sign | inf;
    frexp(x, &e);
    e = x == 0 || e - 1 < 1 - bias ? 1 - bias : e - 1;
    double steps = nearbyint(ldexp(x, mant - e)); /* ties to even, the default */
    uint64_t bits = ((uint64_t)(e + bias - 1) << mant) + (uint64_t)steps;
    return sign | (uint32_t)(bits > inf ? inf : bits);
}

static float float_of(uint32_t u) {
    float f;
    memcpy(&f, &u, 4);
    return f;
}

static uint32_t bits_of(float f) {
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
}

static uint32_t reference(const struct section *s, uint32_t i) {
    uint32_t u = s->start + i * s->step;
    double x, y;
    uint64_t w;
    switch (s->kind) {
    case BITS:
        return bits_of((float)s->ref(float_of(u)));
    case GRID:
        return bits_of((float)s->ref((double)u * 0x1p-23));
    case HIGH:
        w = (uint64_t)u << 32;
        memcpy(&x, &w, 8);
        y = s->ref(x);
        memcpy(&w, &y, 8);
        return (uint32_t)(w >> 32);
    case HALF:
        return half_bits(s->ref(half_value(u, 10)), 10);
    default:
        return half_bits(s->ref(half_value(u, 7)), 7);
    }
}

/* ---- packing ---------------------------------------------------------------------------------------- */

static uint64_t hash(const uint32_t *p, uint32_t n) {
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (uint32_t i = 0; i < n; i++)
        h = (h ^ p[i]) * UINT64_C(0x100000001b3);
    return h;
}

static void put_le(FILE *f, uint64_t x, int bytes) {
    for (; bytes; bytes--, x >>= 8)
        fputc((int)(x & 255), f);
}

static uint64_t get_le(FILE *f, int bytes) {
    uint64_t x = 0;
    for (int i = 0; i < bytes; i++)
        x |= (uint64_t)(unsigned char)fgetc(f) << 8 * i;
    return x;
}

static int bits_needed(const int32_t *d, int n, int32_t *least) {
    int32_t lo = d[0], hi = d[0];
    for (int i = 1; i < n; i++) {
        lo = d[i] < lo ? d[i] : lo;
        hi = d[i] > hi ? d[i] : hi;
    }
    *least = lo;
    int w = 0;
    while ((int64_t)hi - lo >= INT64_C(1) << w)
        w++;
    return w;
}

static void put_block(FILE *f, const int32_t *d, int n) {
    int32_t delta[BLOCK_N], lo0, lo1;
    delta[0] = d[0];
    for (int i = 1; i < n; i++)
        delta[i] = (int32_t)((uint32_t)d[i] - (uint32_t)d[i - 1]);
    int w0 = bits_needed(d, n, &lo0), w1 = bits_needed(delta, n, &lo1), mode = w1 < w0;
    const int32_t *v = mode ? delta : d;
    int w = mode ? w1 : w0;
    int32_t lo = mode ? lo1 : lo0;
    put_le(f, (uint64_t)mode, 1);
    put_le(f, (uint64_t)w, 1);
    put_le(f, (uint32_t)lo, 4);
    uint64_t acc = 0;
    int have = 0;
    for (int i = 0; i < n; i++) {
        acc |= (uint64_t)((uint32_t)v[i] - (uint32_t)lo) << have;
        for (have += w; have >= 8; have -= 8, acc >>= 8)
            fputc((int)(acc & 255), f);
    }
    if (have)
        fputc((int)(acc & 255), f);
}

static void get_block(FILE *f, int32_t *d, int n) {
    int mode = (int)get_le(f, 1), w = (int)get_le(f, 1) & 63, have = 0;
    uint32_t lo = (uint32_t)get_le(f, 4);
    uint64_t acc = 0;
    for (int i = 0; i < n; i++) {
        for (; have < w; have += 8)
            acc |= (uint64_t)(unsigned char)fgetc(f) << have;
        d[i] = (int32_t)((uint32_t)(acc & ((UINT64_C(1) << w) - 1)) + lo);
        acc >>= w;
        have -= w;
        if (mode && i)
            d[i] = (int32_t)((uint32_t)d[i] + (uint32_t)d[i - 1]);
    }
}

static void put_section(FILE *f, const struct section *s, const uint32_t *results) {
    fprintf(f, "%s %u\n", s->name, s->count);
    put_le(f, hash(results, s->count), 8);
    for (uint32_t at = 0; at < s->count; at += BLOCK_N) {
        int32_t d[BLOCK_N];
        for (uint32_t i = 0; i < BLOCK_N; i++)
            d[i] = (int32_t)(results[at + i] - reference(s, at + i));
        put_block(f, d, BLOCK_N);
    }
}

/* ---- the GPU ---------------------------------------------------------------------------------------- */

typedef struct object *handle;
static struct {
    int (*init)(unsigned), (*get)(int *, int), (*retain)(handle *, int), (*current)(handle);
    int (*alloc)(unsigned long long *, size_t), (*to_host)(void *, unsigned long long, size_t);
    int (*load)(handle *, const void *), (*function)(handle *, handle, const char *);
    int (*launch)(handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, handle,
                  void **, void **);
} cu;

static int open_gpu(unsigned long long *buffer) {
    static const char *const names[] = {"cuInit",           "cuDeviceGet",         "cuDevicePrimaryCtxRetain",
                                        "cuCtxSetCurrent",  "cuMemAlloc_v2",       "cuMemcpyDtoH_v2",
                                        "cuModuleLoadData", "cuModuleGetFunction", "cuLaunchKernel"};
    void *const slots[] = {&cu.init,    &cu.get,  &cu.retain,   &cu.current, &cu.alloc,
                           &cu.to_host, &cu.load, &cu.function, &cu.launch};
    void *lib = dlopen("libcuda.so.1", RTLD_NOW);
    for (size_t i = 0; lib && i < sizeof names / sizeof *names; i++) {
        void *f = dlsym(lib, names[i]);
        if (!f)
            lib = NULL;
        memcpy(slots[i], &f, sizeof f);
    }
    int device;
    handle context;
    if (!lib || cu.init(0) || cu.get(&device, 0) || cu.retain(&context, device) || cu.current(context) ||
        cu.alloc(buffer, 4 * MAX_N)) {
        fprintf(stderr, "no GPU\n");
        return 0;
    }
    return 1;
}

/* The body of a kernel, which turns %u (input bits or index) into %r (result bits). */
static const char *const bodies[] = {
    [BITS] = ".reg .f32 x; mov.b32 x, %%u; %s x, x; mov.b32 %%r, x;",
    [GRID] = ".reg .f32 x; cvt.rn.f32.u32 x, %%u; mul.f32 x, x, 0f34000000; %s x, x; mov.b32 %%r, x;",
    [HIGH] = ".reg .f64 x; .reg .b32 y; mov.b64 x, {0, %%u}; %s x, x; mov.b64 {y, %%r}, x;",
    [HALF] = ".reg .b16 x; cvt.u16.u32 x, %%u; %s x, x; cvt.u32.u16 %%r, x;",
    [BRAIN] = ".reg .b16 x; cvt.u16.u32 x, %%u; %s x, x; cvt.u32.u16 %%r, x;",
};

static void section_ptx(char *out, size_t size, const struct section *s) {
    char body[512];
    snprintf(body, sizeof body, bodies[s->kind], s->op);
    snprintf(out, size,
             ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry dump(.param .u64 out)\n{\n"
             ".reg .u64 %%o; .reg .u32 %%i, %%c, %%u, %%r;\n"
             "mov.u32 %%i, %%tid.x; mov.u32 %%c, %%ctaid.x; mad.lo.u32 %%i, %%c, 256, %%i;\n"
             "mad.lo.u32 %%u, %%i, %u, %u;\n%s\n"
             "ld.param.u64 %%o, [out]; mad.wide.u32 %%o, %%i, 4, %%o; st.global.u32 [%%o], %%r; ret;\n}\n",
             s->step, s->start, body);
}

static int run_section(const struct section *s, unsigned long long buffer, uint32_t *results) {
    char ptx[2048];
    handle module, function;
    void *args[] = {&buffer};
    section_ptx(ptx, sizeof ptx, s);
    int r = cu.load(&module, ptx);
    if (!r)
        r = cu.function(&function, module, "dump");
    if (!r)
        r = cu.launch(function, s->count / 256, 1, 1, 256, 1, 1, 0, NULL, args, NULL);
    if (!r)
        r = cu.to_host(results, buffer, 4 * (size_t)s->count);
    if (r)
        fprintf(stderr, "%s: error %d\n", s->name, r);
    return r;
}

static int record(const char *dir) {
    static uint32_t results[MAX_N];
    unsigned long long buffer;
    int bad = 0;
    if (!open_gpu(&buffer))
        return 1;
    FILE *f = NULL;
    for (int k = 0; k < SECTIONS; k++) {
        const struct section *s = &sections[k];
        if (!f || strcmp(s->file, sections[k - 1].file)) {
            char path[4096];
            snprintf(path, sizeof path, "%s/mufu_%s.bin", dir, s->file);
            if (f)
                fclose(f);
            f = fopen(path, "wb");
            if (!f) {
                perror(path);
                return 1;
            }
        }
        if (run_section(s, buffer, results)) {
            bad = 1;
            continue;
        }
        put_section(f, s, results);
        printf("%s: %u results\n", s->name, s->count);
        fflush(stdout);
    }
    if (f)
        fclose(f);
    return bad;
}

/* ---- reading ---------------------------------------------------------------------------------------- */

/* Reads the next section of f into results; NULL at the end. */
static const struct section *get_section(FILE *f, uint32_t *results, int32_t *diffs) {
    char name[64];
    uint32_t count;
    if (fscanf(f, "%63s %u", name, &count) != 2 || fgetc(f) != '\n')
        return NULL;
    const struct section *s = NULL;
    for (int k = 0; k < SECTIONS; k++)
        if (!strcmp(sections[k].name, name) && sections[k].count == count)
            s = &sections[k];
    if (!s) {
        fprintf(stderr, "unknown section %s\n", name);
        return NULL;
    }
    uint64_t want = get_le(f, 8);
    for (uint32_t at = 0; at < s->count; at += BLOCK_N)
        get_block(f, diffs + at, BLOCK_N);
    for (uint32_t i = 0; i < s->count; i++)
        results[i] = reference(s, i) + (uint32_t)diffs[i];
    if (hash(results, s->count) != want)
        printf("%s: the results do not hash as recorded\n", s->name);
    return s;
}

static uint32_t results[MAX_N];
static int32_t diffs[MAX_N];

static int read_file(const char *path) {
    FILE *f = fopen(path, "rb");
    const struct section *s;
    if (!f) {
        perror(path);
        return 1;
    }
    while ((s = get_section(f, results, diffs))) {
        uint32_t by[7] = {0};
        int32_t lo = 0, hi = 0;
        for (uint32_t i = 0; i < s->count; i++) {
            int32_t d = diffs[i];
            by[d < -2 ? 0 : d > 2 ? 6 : d + 3]++;
            lo = d < lo ? d : lo;
            hi = d > hi ? d : hi;
        }
        printf("%-30s n=%u  <-2:%u -2:%u -1:%u 0:%u +1:%u +2:%u >2:%u  range %d..%d\n", s->name, s->count,
               by[0], by[1], by[2], by[3], by[4], by[5], by[6], lo, hi);
    }
    fclose(f);
    return 0;
}

static int unpack(const char *path, const char *name, const char *out) {
    FILE *f = fopen(path, "rb");
    const struct section *s;
    if (!f) {
        perror(path);
        return 1;
    }
    while ((s = get_section(f, results, diffs)) && strcmp(s->name, name))
        ;
    fclose(f);
    FILE *o = s ? fopen(out, "wb") : NULL;
    if (!o) {
        fprintf(stderr, "%s: no section %s, or cannot write %s\n", path, name, out);
        return 1;
    }
    fwrite(results, 4, s->count, o);
    return fclose(o) != 0;
}

int main(int argc, char **argv) {
    if (argc == 3 && !strcmp(argv[1], "record"))
        return record(argv[2]);
    if (argc == 5 && !strcmp(argv[1], "unpack"))
        return unpack(argv[2], argv[3], argv[4]);
    if (argc < 3 || strcmp(argv[1], "read")) {
        fputs("usage: mufu_dump record DIR | read FILE... | unpack FILE SECTION OUT\n", stderr);
        return 2;
    }
    int status = 0;
    for (int i = 2; i < argc; i++)
        status |= read_file(argv[i]);
    return status;
}
