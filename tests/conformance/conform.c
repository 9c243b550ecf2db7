/* conform: one-instruction kernels, run on a CUDA device and compared with what a real GPU computed.
 *
 *   conform [-t DIR] record FILE [PATTERN]  write goldens
 *   conform [-t DIR] check FILE [PATTERN]   run and compare; exit status 1 if anything differs
 *   conform [-t DIR] list [PATTERN]         name the variants
 *   conform [-t DIR] ptx [PATTERN]          print them as one module
 *
 * PATTERN is a shell pattern or part of a name. Results must agree bit for bit, except that all NaNs of a
 * floating-point result are equal and that approximate instructions need only be as near to the true value as
 * the PTX ISA promises; for those, the number of results that differ from the GPU's bits is told. */
#include "conform.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef CONFORM_DIR
#define CONFORM_DIR "tests/conformance"
#endif

enum { BATCH = 64, SHOWN = 4 };

/* A run of the suite: the chosen variants, what to do with results, and the count. */
struct run {
    const struct variant **v;
    size_t n;
    struct golden golden;
    FILE *file; /* recording to */
    size_t passed, failed;
    size_t approx_results, approx_differ;
};

static bool matches(const struct variant *v, const char *pattern) {
    return !pattern || !fnmatch(pattern, v->name, 0) || strstr(v->name, pattern);
}

static void put_u32(FILE *f, uint32_t x) {
    uint8_t b[] = {(uint8_t)x, (uint8_t)(x >> 8), (uint8_t)(x >> 16), (uint8_t)(x >> 24)};
    fwrite(b, 1, 4, f);
}

static void record(struct run *r, const struct variant *v, const uint64_t *in, const uint64_t *out) {
    uint8_t raw[RAW * 8 * MAX_OUT];
    uint32_t hashes[HASHES];
    size_t len = strlen(v->name), bytes = golden_raw_bytes(v);
    golden_pack(v, out, raw, hashes);
    fputc((int)(len & 255), r->file);
    fputc((int)(len >> 8), r->file);
    fwrite(v->name, 1, len, r->file);
    put_u32(r->file, golden_signature(v, in));
    put_u32(r->file, (uint32_t)bytes);
    fwrite(raw, 1, bytes, r->file);
    for (int h = 0; h < HASHES; h++)
        put_u32(r->file, hashes[h]);
    r->passed++;
}

/* Names a variant that failed, before its first wrong tuple; *bad counts those seen so far. True while more
 * of them should be shown. */
static bool wrong(const struct variant *v, int *bad) {
    if (!*bad)
        printf("FAIL %s\n", v->name);
    return (*bad)++ < SHOWN;
}

static void show_tuple(const struct variant *v, const uint64_t *in, int t) {
    printf("    tuple %d:", t);
    for (int k = 0; k < v->nin; k++) {
        int digits = v->in[k].type->bits < 4 ? 1 : v->in[k].type->bits / 4;
        printf(" %s=0x%0*" PRIx64, v->in[k].name, digits, in[k * TUPLES + t]);
    }
}

static void show_output(const struct operand *o, uint64_t got) {
    printf(" %s=0x%0*" PRIx64, o->name, o->type->bits < 4 ? 1 : o->type->bits / 4, got);
}

/* Compares with the golden; returns the number of wrong tuples or, beyond the raw ones, wrong chunks. */
static int compare_exact(const struct variant *v, const uint64_t *in, const uint64_t *out, const uint8_t *raw,
                         const uint32_t *hashes) {
    static uint8_t mine[RAW * 8 * MAX_OUT];
    uint32_t my_hashes[HASHES];
    int bad = 0;
    golden_pack(v, out, mine, my_hashes);
    if (memcmp(mine, raw, golden_raw_bytes(v)))
        for (int t = 0; t < RAW; t++)
            for (int k = 0; k < v->nout; k++) {
                uint64_t got = golden_value(v, mine, k, t), want = golden_value(v, raw, k, t);
                if (got == want || !wrong(v, &bad))
                    continue;
                show_tuple(v, in, t);
                printf(" got");
                show_output(&v->out[k], got);
                printf(" want");
                show_output(&v->out[k], want);
                printf("\n");
            }
    for (int h = 0; h < HASHES; h++) {
        if (my_hashes[h] == hashes[h] || !wrong(v, &bad))
            continue;
        printf("    one or more of tuples %d to %d differ; the first:\n", RAW + h * CHUNK,
               RAW + h * CHUNK + CHUNK - 1);
        show_tuple(v, in, RAW + h * CHUNK);
        printf(" got");
        for (int k = 0; k < v->nout; k++)
            show_output(&v->out[k], out[k * TUPLES + RAW + h * CHUNK]);
        printf("\n");
    }
    return bad;
}

static int compare_approx(struct run *r, const struct variant *v, const uint64_t *in, const uint64_t *out,
                          const uint8_t *raw) {
    int bad = 0, differ = 0;
    for (int t = 0; t < TUPLES; t++) {
        uint64_t tuple[MAX_IN];
        double want;
        for (int k = 0; k < v->nin; k++)
            tuple[k] = in[k * TUPLES + t];
        if (t < RAW)
            differ += canonical(v->out[0].type, out[t]) != golden_value(v, raw, 0, t);
        if (approx_ok(v, tuple, out[t], &want) || !wrong(v, &bad))
            continue;
        show_tuple(v, in, t);
        printf(" got");
        show_output(&v->out[0], out[t]);
        printf(" true value %.17g\n", want);
    }
    r->approx_results += RAW;
    r->approx_differ += (size_t)differ;
    if (differ)
        printf("note %s: %d of %d results are not the GPU's bits\n", v->name, differ, RAW);
    return bad;
}

static void check(struct run *r, const struct variant *v, const uint64_t *in, const uint64_t *out) {
    uint32_t signature, hashes[HASHES];
    const uint8_t *raw;
    int bad = 0;
    const char *why = NULL;
    if (!golden_find(&r->golden, v, &signature, &raw, hashes))
        why = "no golden";
    else if (signature != golden_signature(v, in))
        why = "the golden was recorded for another kernel or other inputs";
    else
        bad = v->approx ? compare_approx(r, v, in, out, raw) : compare_exact(v, in, out, raw, hashes);
    if (why)
        printf("FAIL %s: %s\n", v->name, why);
    else if (bad > SHOWN)
        printf("    and %d more\n", bad - SHOWN);
    if (why || bad)
        r->failed++;
    else
        r->passed++;
}

static void run_all(struct run *r) {
    static uint64_t out[BATCH][MAX_OUT * TUPLES];
    static uint64_t in[MAX_IN * TUPLES];
    static char error[BATCH][256];
    for (size_t i = 0; i < r->n; i += BATCH) {
        size_t n = r->n - i < BATCH ? r->n - i : BATCH;
        memset(error, 0, sizeof error);
        device_run(r->v + i, n, out, error);
        for (size_t k = 0; k < n; k++) {
            const struct variant *v = r->v[i + k];
            values_fill(v, in);
            if (*error[k]) {
                printf("FAIL %s: %s\n", v->name, error[k]);
                r->failed++;
            } else if (r->file) {
                record(r, v, in, out[k]);
            } else {
                check(r, v, in, out[k]);
            }
        }
    }
}

static int list(const struct run *r) {
    for (size_t i = 0; i < r->n; i++)
        printf("%s\n", r->v[i]->name);
    return 0;
}

static int print_ptx(const struct run *r) {
    struct text t = {0};
    ptx_head(&t);
    for (size_t i = 0; i < r->n; i++)
        ptx_kernel(&t, r->v[i]);
    fputs(t.s, stdout);
    free(t.s);
    return 0;
}

static int run_device(struct run *r, const char *file, bool recording) {
    struct timespec t0, t1;
    if (!recording && !golden_load(&r->golden, file))
        return 2;
    if (!device_open())
        return 2;
    if (recording && !(r->file = fopen(file, "wb"))) {
        perror(file);
        return 2;
    }
    if (recording)
        fprintf(r->file, "reprise conformance golden 1, recorded on %s\n", device_name());
    clock_gettime(CLOCK_MONOTONIC, &t0);
    run_all(r);
    clock_gettime(CLOCK_MONOTONIC, &t1);
    free(r->golden.data);
    if (recording && fclose(r->file)) {
        perror(file);
        return 2;
    }
    if (r->approx_results)
        printf("approximate instructions: %zu of %zu results are not the GPU's bits\n", r->approx_differ,
               r->approx_results);
    printf("%s, %.1f s\n", device_name(),
           (double)(t1.tv_sec - t0.tv_sec) + 1e-9 * (double)(t1.tv_nsec - t0.tv_nsec));
    printf("%zu %s, %zu failed\n", r->passed, recording ? "recorded" : "passed", r->failed);
    return r->failed != 0;
}

static int usage(void) {
    fputs("usage: conform [-t DIR] record FILE [PATTERN] | check FILE [PATTERN] | list [PATTERN] | ptx "
          "[PATTERN]\n",
          stderr);
    return 2;
}

int main(int argc, char **argv) {
    const char *dir = CONFORM_DIR;
    if (argc > 2 && !strcmp(argv[1], "-t")) {
        dir = argv[2];
        argv += 2;
        argc -= 2;
    }
    bool recording = (argc == 3 || argc == 4) && !strcmp(argv[1], "record");
    bool checking = (argc == 3 || argc == 4) && !strcmp(argv[1], "check");
    bool listing = (argc == 2 || argc == 3) && !strcmp(argv[1], "list");
    bool printing = (argc == 2 || argc == 3) && !strcmp(argv[1], "ptx");
    if (!recording && !checking && !listing && !printing)
        return usage();
    int at = recording || checking ? 3 : 2;
    const char *pattern = argc > at ? argv[at] : NULL;

    struct suite s = {0};
    if (!suite_load(&s, dir))
        return 2;
    struct run r = {.v = malloc(s.n * sizeof *r.v + 1)};
    for (size_t i = 0; i < s.n; i++)
        if (matches(&s.v[i], pattern))
            r.v[r.n++] = &s.v[i];
    int status = listing ? list(&r) : printing ? print_ptx(&r) : run_device(&r, argv[2], recording);
    if (!r.n) {
        fprintf(stderr, "no variant matches\n");
        status = 2;
    }
    free(r.v);
    suite_free(&s);
    return status;
}
