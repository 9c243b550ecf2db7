/* mufu_check: compares the model of the special function unit with a real GPU, for every operand there is.
 *
 *   mufu_check [NAME]     run the functions whose name contains NAME, all by default
 *
 * Tells for each function how many of all 2^32 operands (2^16 of the 16-bit formats; 2^28 pairs for
 * divisions) give different results, with examples; NaN equals NaN. Then prints hashes of the GPU's results
 * over a sample, which tests/unit/mufu_hashes.h keeps so that the model can be tested where there is no GPU.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "exec/lanes_mufu.h"
#include "mufu_hash.h"

enum { CHUNK = 1 << 26, THREADS = 16 };

/* ---- the functions --------------------------------------------------------------------------------- */

struct mufu_function {
    const char *name;
    enum mufu_kind kind;
    uint32_t (*model)(uint32_t);
};

#define MODEL_F32(fn)                                                                                        \
    static uint32_t model_##fn(uint32_t u) {                                                                 \
        return mufu_##fn(u, false);                                                                          \
    }                                                                                                        \
    static uint32_t model_##fn##_ftz(uint32_t u) {                                                           \
        return mufu_##fn(u, true);                                                                           \
    }
MODEL_F32(rcp)
MODEL_F32(rsq)
MODEL_F32(sqrt)
MODEL_F32(lg2)
MODEL_F32(ex2)
MODEL_F32(sin)
MODEL_F32(cos)
static uint32_t model_tanh(uint32_t u) {
    return mufu_tanh(u, false);
}

/* The exact value of 16 bits as f32 bits. */
static uint32_t widen(uint32_t h, bool bf) {
    uint32_t sign = (h & 0x8000u) << 16, mag = h & 0x7fff;
    uint32_t normal = (mag << 13) + (mag >= 0x7c00 ? 0x70000000u : 0x38000000u);
    return bf ? h << 16 : sign | (mag < 0x400 ? f32_bits((float)mag * 0x1p-24f) : normal);
}

#define MODEL_B16(fn)                                                                                        \
    static uint32_t model_##fn##_f16(uint32_t u) {                                                           \
        return mufu_narrow(mufu_unit_##fn(widen(u, false)), false);                                          \
    }                                                                                                        \
    static uint32_t model_##fn##_bf16(uint32_t u) {                                                          \
        return mufu_narrow(mufu_unit_##fn(widen(u, true)), true);                                            \
    }
MODEL_B16(ex2)
MODEL_B16(tanh)

static uint32_t model_rcp64h(uint32_t u) {
    return mufu_unit_rcp64h(u);
}
static uint32_t model_rsq64h(uint32_t u) {
    return mufu_unit_rsq64h(u);
}

#define MODEL_DIV(name, full, ftz)                                                                           \
    static uint32_t model_##name(uint32_t u) {                                                               \
        uint32_t x, y;                                                                                       \
        pair_of(u, &x, &y);                                                                                  \
        return mufu_div(x, y, full, ftz);                                                                    \
    }
MODEL_DIV(div, false, false)
MODEL_DIV(div_ftz, false, true)
MODEL_DIV(div_full, true, false)
MODEL_DIV(div_full_ftz, true, true)

static const struct mufu_function mufu_functions[] = {
    {"rcp.approx.ftz.f32", MUFU_F32, model_rcp_ftz},    {"rcp.approx.f32", MUFU_F32, model_rcp},
    {"rsqrt.approx.ftz.f32", MUFU_F32, model_rsq_ftz},  {"rsqrt.approx.f32", MUFU_F32, model_rsq},
    {"sqrt.approx.ftz.f32", MUFU_F32, model_sqrt_ftz},  {"sqrt.approx.f32", MUFU_F32, model_sqrt},
    {"lg2.approx.ftz.f32", MUFU_F32, model_lg2_ftz},    {"lg2.approx.f32", MUFU_F32, model_lg2},
    {"ex2.approx.ftz.f32", MUFU_F32, model_ex2_ftz},    {"ex2.approx.f32", MUFU_F32, model_ex2},
    {"sin.approx.ftz.f32", MUFU_F32, model_sin_ftz},    {"sin.approx.f32", MUFU_F32, model_sin},
    {"cos.approx.ftz.f32", MUFU_F32, model_cos_ftz},    {"cos.approx.f32", MUFU_F32, model_cos},
    {"tanh.approx.f32", MUFU_F32, model_tanh},          {"rcp.approx.ftz.f64", MUFU_HIGH, model_rcp64h},
    {"rsqrt.approx.ftz.f64", MUFU_HIGH, model_rsq64h},  {"ex2.approx.f16", MUFU_B16, model_ex2_f16},
    {"ex2.approx.ftz.bf16", MUFU_B16, model_ex2_bf16},  {"tanh.approx.f16", MUFU_B16, model_tanh_f16},
    {"tanh.approx.bf16", MUFU_B16, model_tanh_bf16},    {"div.approx.f32", MUFU_DIV, model_div},
    {"div.approx.ftz.f32", MUFU_DIV, model_div_ftz},    {"div.full.f32", MUFU_DIV, model_div_full},
    {"div.full.ftz.f32", MUFU_DIV, model_div_full_ftz},
};
enum { MUFU_FUNCTIONS = sizeof mufu_functions / sizeof *mufu_functions };

/* ---- the GPU --------------------------------------------------------------------------------------- */

typedef struct object *handle;
static struct {
    int (*init)(unsigned), (*get)(int *, int), (*retain)(handle *, int), (*current)(handle);
    int (*alloc)(unsigned long long *, size_t), (*to_host)(void *, unsigned long long, size_t);
    int (*load)(handle *, const void *), (*function)(handle *, handle, const char *);
    int (*launch)(handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, handle,
                  void **, void **);
    int (*host)(void **, size_t);
} cu;

static int open_gpu(unsigned long long *buffer, uint32_t **results) {
    static const char *const names[] = {"cuInit",           "cuDeviceGet",         "cuDevicePrimaryCtxRetain",
                                        "cuCtxSetCurrent",  "cuMemAlloc_v2",       "cuMemcpyDtoH_v2",
                                        "cuModuleLoadData", "cuModuleGetFunction", "cuLaunchKernel",
                                        "cuMemAllocHost_v2"};
    void *const slots[] = {&cu.init,    &cu.get,  &cu.retain,   &cu.current, &cu.alloc,
                           &cu.to_host, &cu.load, &cu.function, &cu.launch,  &cu.host};
    void *lib = dlopen("libcuda.so.1", RTLD_NOW), *memory = NULL;
    for (size_t i = 0; lib && i < sizeof names / sizeof *names; i++) {
        void *f = dlsym(lib, names[i]);
        if (!f)
            lib = NULL;
        memcpy(slots[i], &f, sizeof f);
    }
    int device;
    handle context;
    if (!lib || cu.init(0) || cu.get(&device, 0) || cu.retain(&context, device) || cu.current(context) ||
        cu.alloc(buffer, sizeof(uint32_t) * CHUNK) || cu.host(&memory, sizeof(uint32_t) * CHUNK)) {
        fprintf(stderr, "no GPU\n");
        return 0;
    }
    *results = memory;
    return 1;
}

/* The body of a kernel, which turns %u (the operand's number) into %r (result bits). */
static const char *const bodies[] = {
    [MUFU_F32] = ".reg .f32 x; mov.b32 x, %%u; %s x, x; mov.b32 %%r, x;",
    [MUFU_HIGH] = ".reg .f64 x; .reg .b32 y; mov.b64 x, {0, %%u}; %s x, x; mov.b64 {y, %%r}, x;",
    [MUFU_B16] = ".reg .b16 x; cvt.u16.u32 x, %%u; %s x, x; cvt.u32.u16 %%r, x;",
    [MUFU_DIV] =
        ".reg .f32 x, y; .reg .u32 h; shr.u32 h, %%u, 15; xor.b32 h, h, %%u; mul.lo.u32 h, h, 0x2c1b3c6d;"
        "shr.u32 %%r, h, 12; xor.b32 h, h, %%r; mul.lo.u32 h, h, 0x297a2d39; shr.u32 %%r, h, 15;"
        "xor.b32 h, h, %%r; mov.b32 x, h; mad.lo.u32 h, %%u, 0x9e3779b1, h; shr.u32 %%r, h, 16;"
        "xor.b32 h, h, %%r; mul.lo.u32 h, h, 0x85ebca6b; mov.b32 y, h; %s x, x, y; mov.b32 %%r, x;",
};

static int load_function(const struct mufu_function *f, handle *kernel) {
    char body[1024], ptx[2048];
    handle module;
    snprintf(body, sizeof body, bodies[f->kind], f->name);
    snprintf(ptx, sizeof ptx,
             ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u32 "
             "from)\n{\n"
             ".reg .u64 %%o; .reg .u32 %%i, %%c, %%u, %%r;\n"
             "mov.u32 %%i, %%tid.x; mov.u32 %%c, %%ctaid.x; mad.lo.u32 %%i, %%c, 256, %%i;\n"
             "ld.param.u32 %%u, [from]; add.u32 %%u, %%u, %%i;\n%s\n"
             "ld.param.u64 %%o, [out]; mad.wide.u32 %%o, %%i, 4, %%o; st.global.u32 [%%o], %%r; ret;\n}\n",
             body);
    int r = cu.load(&module, ptx);
    return r ? r : cu.function(kernel, module, "k");
}

struct part {
    const struct mufu_function *f;
    const uint32_t *got;
    uint32_t from, count, wrong, by_exponent[512];
    uint32_t examples[8][3], shown;
};

static bool same(enum mufu_kind kind, uint32_t a, uint32_t b) {
    uint32_t inf = kind == MUFU_HIGH ? 0x7ff00000u : 0x7f800000u;
    return a == b || (kind != MUFU_B16 && (a & 0x7fffffffu) > inf && (b & 0x7fffffffu) > inf);
}

static void *compare(void *arg) {
    struct part *p = arg;
    for (uint32_t i = 0; i < p->count; i++) {
        uint32_t u = p->from + i, want = p->f->model(u);
        if (same(p->f->kind, p->got[i], want))
            continue;
        p->by_exponent[u >> 23]++;
        if (p->wrong++ % 9973 == 0 && p->shown < 8) {
            uint32_t *e = p->examples[p->shown++];
            e[0] = u, e[1] = p->got[i], e[2] = want;
        }
    }
    return NULL;
}

static uint64_t check(const struct mufu_function *f, uint32_t from, uint32_t count, const uint32_t *got,
                      uint64_t *by_exponent, int *shown) {
    static struct part parts[THREADS];
    pthread_t ids[THREADS];
    uint64_t wrong = 0;
    for (int t = 0; t < THREADS; t++) {
        uint32_t a = (uint32_t)((uint64_t)count * (uint64_t)t / THREADS),
                 b = (uint32_t)((uint64_t)count * (uint64_t)(t + 1) / THREADS);
        memset(&parts[t], 0, sizeof parts[t]);
        parts[t].f = f, parts[t].got = got + a, parts[t].from = from + a, parts[t].count = b - a;
        pthread_create(&ids[t], NULL, compare, &parts[t]);
    }
    for (int t = 0; t < THREADS; t++) {
        pthread_join(ids[t], NULL);
        wrong += parts[t].wrong;
        for (int e = 0; e < 512; e++)
            by_exponent[e] += parts[t].by_exponent[e];
        for (uint32_t k = 0; k < parts[t].shown && *shown < 24; k++, ++*shown)
            printf("  %08x: GPU %08x, model %08x\n", parts[t].examples[k][0], parts[t].examples[k][1],
                   parts[t].examples[k][2]);
    }
    return wrong;
}

static int run(const struct mufu_function *f, unsigned long long buffer, uint32_t *results,
               uint32_t *hashes) {
    handle kernel;
    if (load_function(f, &kernel)) {
        printf("%s: cannot be loaded\n", f->name);
        return 1;
    }
    uint64_t total = f->kind == MUFU_B16   ? 1 << 16
                     : f->kind == MUFU_DIV ? 1 << 28
                                           : UINT64_C(1) << 32,
             wrong = 0;
    uint64_t by_exponent[512] = {0};
    int shown = 0;
    for (uint64_t at = 0; at < total; at += CHUNK) {
        uint32_t from = (uint32_t)at, count = total < CHUNK ? (uint32_t)total : CHUNK;
        void *args[] = {&buffer, &from};
        if (cu.launch(kernel, count / 256, 1, 1, 256, 1, 1, 0, NULL, args, NULL) ||
            cu.to_host(results, buffer, sizeof(uint32_t) * count)) {
            printf("%s: launch failed\n", f->name);
            return 1;
        }
        wrong += check(f, from, count, results, by_exponent, &shown);
        mufu_hash_chunk(f->kind, hashes, from, count, results);
    }
    printf("%s: %llu operands, %llu differ\n", f->name, (unsigned long long)total, (unsigned long long)wrong);
    for (int e = 0; wrong && e < 512; e++)
        if (by_exponent[e])
            printf("  from %08x: %llu\n", (unsigned)e << 23, (unsigned long long)by_exponent[e]);
    fflush(stdout);
    return wrong != 0;
}

int main(int argc, char **argv) {
    unsigned long long buffer;
    uint32_t *results;
    static uint32_t hashes[MUFU_FUNCTIONS][MUFU_HASHES];
    int bad = 0;
    if (!open_gpu(&buffer, &results))
        return 2;
    for (int k = 0; k < MUFU_FUNCTIONS; k++) {
        if (argc > 1 && !strstr(mufu_functions[k].name, argv[1]))
            continue;
        for (int h = 0; h < MUFU_HASHES; h++)
            hashes[k][h] = MUFU_HASH_START;
        bad |= run(&mufu_functions[k], buffer, results, hashes[k]);
    }
    for (int k = 0; k < MUFU_FUNCTIONS; k++) {
        printf("    {\"%s\",\n     {", mufu_functions[k].name);
        for (int h = 0; h < MUFU_HASHES; h++)
            printf("%s0x%08x%s",
                   !h      ? ""
                   : h % 8 ? " "
                           : "\n      ",
                   hashes[k][h], h + 1 < MUFU_HASHES ? "," : "}},\n");
    }
    return bad;
}
