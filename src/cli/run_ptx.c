/* reprise run FILE.ptx: one launch, without any host program. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ending.h"
#include "base/io.h"
#include "base/vec.h"
#include "base/waiting.h"
#include "cli/cli.h"
#include "gpu/gpu_profile.h"
#include "gpu/gpu_report.h"
#include "gpu/options.h"
#include "report/results.h"
#include "report/trace.h"
#include "reprise.h"

enum { MAX_PARAM_BYTES = 4096, MAX_BUFFERS = 64, SHOWN_WORDS = 64 };
enum { LOOK_PAUSES = 16 }; /* pauses of a launch between two looks at whether it does nothing but wait */

struct buffer {
    uint64_t addr;
    size_t bytes;
};

struct request {
    const char *file, *entry;
    struct rp_launch launch;
    char *args[MAX_BUFFERS];
    uint32_t nargs;
    uint8_t params[MAX_PARAM_BYTES];
    struct buffer buffers[MAX_BUFFERS];
    uint32_t nbuffers;
};

static bool read_dims(const char *text, uint32_t dims[3]) {
    dims[0] = dims[1] = dims[2] = 1;
    for (int i = 0; i < 3; i++) {
        char *end;
        unsigned long v = strtoul(text, &end, 0);
        if (end == text || v > UINT32_MAX)
            return false;
        dims[i] = (uint32_t)v;
        if (!*end)
            return true;
        if (*end != ',')
            return false;
        text = end + 1;
    }
    return false;
}

static bool make_buffer(struct rp_gpu *g, struct request *r, size_t bytes, bool iota, uint64_t *addr) {
    if (r->nbuffers == MAX_BUFFERS)
        return false;
    *addr = rp_mem_alloc(g, bytes, RP_MEM_DEVICE);
    if (!*addr)
        return false;
    uint32_t *w = rp_mem_ptr(g, *addr, bytes);
    rp_mem_written(g, *addr, bytes);
    for (size_t i = 0; iota && i < bytes / 4; i++)
        w[i] = (uint32_t)i;
    r->buffers[r->nbuffers++] = (struct buffer){*addr, bytes};
    return true;
}

/* One "type:value"; the bits go to *bits. */
static bool read_arg(struct rp_gpu *g, struct request *r, const char *a, uint64_t *bits) {
    const char *v = strchr(a, ':');
    if (!v || !v[1])
        return false;
    size_t n = (size_t)(v - a);
    char *end;
    v++;
    if (!strncmp(a, "f32", n) && n == 3) {
        float f = strtof(v, &end);
        memcpy(bits, &f, 4);
        return !*end;
    }
    if (!strncmp(a, "f64", n) && n == 3) {
        double d = strtod(v, &end);
        memcpy(bits, &d, 8);
        return !*end;
    }
    unsigned long long u = *v == '-' ? (unsigned long long)strtoll(v, &end, 0) : strtoull(v, &end, 0);
    if (*end)
        return false;
    if ((!strncmp(a, "buf", n) && n == 3) || (!strncmp(a, "iota", n) && n == 4))
        return make_buffer(g, r, n == 4 ? (size_t)u * 4 : (size_t)u, n == 4, bits);
    static const char *const types[] = {"i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"};
    for (uint32_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strlen(types[i]) == n && !strncmp(a, types[i], n)) {
            *bits = u;
            return true;
        }
    return false;
}

static bool fill_params(struct rp_gpu *g, struct request *r, struct rp_kernel *k) {
    struct rp_param_info p;
    uint32_t i = 0;
    for (; rp_kernel_param(k, i, &p); i++) {
        uint64_t bits = 0;
        if (i >= r->nargs) {
            fprintf(stderr, "reprise: kernel %s has more parameters than the %u --arg given\n",
                    rp_kernel_name(k), r->nargs);
            return false;
        }
        if (!read_arg(g, r, r->args[i], &bits)) {
            fprintf(stderr, "reprise: --arg %s is not TYPE:VALUE, see 'reprise run --help'\n", r->args[i]);
            return false;
        }
        if (p.offset + p.size <= sizeof r->params)
            memcpy(r->params + p.offset, &bits, p.size < 8 ? p.size : 8);
        r->launch.param_bytes = p.offset + p.size;
    }
    if (i < r->nargs)
        fprintf(stderr, "reprise: kernel %s takes only %u parameters\n", rp_kernel_name(k), i);
    return i == r->nargs;
}

static void show_buffers(struct rp_gpu *g, const struct request *r) {
    for (uint32_t b = 0; b < r->nbuffers; b++) {
        size_t words = r->buffers[b].bytes / 4;
        const uint32_t *w = rp_mem_ptr(g, r->buffers[b].addr, r->buffers[b].bytes);
        printf("buffer %u, %zu bytes:", b, r->buffers[b].bytes);
        for (size_t i = 0; i < words && i < SHOWN_WORDS; i++)
            printf("%s%08x", i % 8 ? " " : "\n  ", w[i]);
        puts(words > SHOWN_WORDS ? "\n  ..." : "");
    }
}

static bool write_report(const struct rp_gpu *g, struct gpu_report *report) {
    const char *path = getenv("REPRISE_JSON"), *profile = getenv("REPRISE_PROFILE");
    bool ok = !path || !*path || gpu_report_write(report, NULL, path);
    return (!profile || !*profile || gpu_profile_write(g, NULL, profile)) && ok;
}

/* What is known of a launch that may wait for something that nobody will write. */
struct lonely {
    struct rp_gpu *gpu;
    const char *kernel;
    uint32_t pauses;
    struct waiting_quiet quiet;
};

/* Mentions, once, a launch that has done nothing but wait for long. It is not ended: one of its threads may
 * have much to compute before it writes what the others wait for. */
static const char *on_pause(void *ctx) {
    struct lonely *l = ctx;
    if (++l->pauses % LOOK_PAUSES == 0 && waiting_too_long(&l->quiet, rp_launch_waits(l->gpu)))
        fprintf(
            stderr,
            "reprise: kernel %s does nothing but read memory again and again, as if it waited for something "
            "that nobody writes; --watchdog N ends it after N instructions, and says where its threads are\n",
            l->kernel);
    return NULL;
}

/* Runs a launch and all that it launches. */
static enum rp_status run_all(struct rp_gpu *g, struct rp_kernel *k, struct rp_launch l,
                              struct gpu_report *report, struct results *results, char **log) {
    enum rp_status s;
    do {
        struct rp_totals before = rp_totals(g);
        struct lonely lonely = {.gpu = g, .kernel = rp_kernel_name(k)};
        rp_gpu_pause(g, on_pause, &lonely);
        s = rp_launch(g, k, &l, log);
        rp_gpu_pause(g, NULL, NULL);
        gpu_report_launch(report, k, &l, before);
        results_launch(results, g, k, &l);
    } while (s == RP_OK && rp_next_launch(g, &k, &l));
    return s;
}

static int launch(struct rp_gpu *g, struct request *r, const char *text, size_t len) {
    struct rp_module *m;
    char *log = NULL;
    enum rp_status s = rp_module_load(g, text, len, r->file, &m, &log);
    if (log)
        fputs(log, stderr);
    free(log);
    if (s != RP_OK)
        return 1;
    struct rp_kernel *k = r->entry ? rp_module_kernel(m, r->entry) : rp_module_kernel_at(m, 0);
    if (!k || (!r->entry && rp_module_kernel_at(m, 1))) {
        fprintf(stderr, "reprise: %s; the kernels of %s are:\n",
                r->entry ? "there is no such kernel" : "name one with --entry", r->file);
        for (uint32_t i = 0; (k = rp_module_kernel_at(m, i)); i++)
            fprintf(stderr, "  %s\n", rp_kernel_name(k));
        rp_module_unload(m);
        return 1;
    }
    r->launch.params = r->params;
    if (!fill_params(g, r, k)) {
        rp_module_unload(m);
        return 2;
    }
    struct gpu_report *report = gpu_report_create(g);
    struct results results = {0};
    s = run_all(g, k, r->launch, report, &results, &log);
    bool written = write_report(g, report);
    written = results_end(&results) && written;
    gpu_report_free(report);
    results_free(&results);
    size_t n;
    const char *out = rp_take_output(g, &n);
    fwrite(out, 1, n, stdout);
    out = rp_take_errors(g, &n);
    fwrite(out, 1, n, stderr);
    if (s != RP_OK && s != RP_WRONG_ACCESS)
        fputs(log ? log : rp_status_text(s), stderr);
    else
        show_buffers(g, r);
    free(log);
    rp_findings_end(g, s == RP_OK);
    out = rp_take_findings(g, &n);
    fwrite(out, 1, n, stderr);
    struct rp_totals t = rp_totals(g);
    if (s == RP_OK)
        printf("%" PRIu64 " warp instructions, %" PRIu64 " thread instructions\n", t.warp_insts,
               t.thread_insts);
    if (s == RP_OK && t.last == RP_TIMED_PART)
        printf("%" PRIu64 " cycles until timing ended\n", t.cycles);
    if (s == RP_OK && t.last != RP_TIMED_NONE)
        gpu_report_summary(g, stdout);
    rp_module_unload(m);
    return s == RP_OK && written ? 0 : 1;
}

static struct trace *trace; /* of the run, or NULL */

static void on_signal(int number) {
    (void)number;
    trace_keep(trace);
}

static int run_traced(struct rp_gpu *g, struct request *r, const struct rp_trace *what, const char *text,
                      size_t len) {
    char *log = NULL;
    trace = what->path ? trace_open(g, what, &log) : NULL;
    if (trace)
        ending_watch(on_signal);
    int rc = what->path && !trace ? 1 : launch(g, r, text, len);
    bool ok = true;
    struct trace *t = trace;
    trace = NULL;
    if (t)
        ok = trace_close(t, &log);
    if (log)
        fputs(log, stderr);
    free(log);
    return ok ? rc : 1;
}

static int run(struct request *r) {
    struct options o;
    options_read(&o);
    char *log = NULL;
    size_t len;
    int rc = 1;
    char *text = io_read(r->file, &len);
    struct rp_gpu *g = text ? rp_gpu_create(&o.rp, &log) : NULL;
    if (log)
        fputs(log, stderr);
    free(log);
    if (text && !g)
        rc = 2;
    else if (g)
        rc = run_traced(g, r, &o.trace, text, len);
    if (g && o.error_exitcode && rp_errors(g))
        rc = o.error_exitcode;
    rp_gpu_destroy(g);
    free(text);
    options_free(&o);
    return rc;
}

int cli_run_ptx(int argc, char **argv, const char *help) {
    static struct request r;
    r = (struct request){.file = argv[0], .launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}}};
    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (cli_is_run_option(argv[i]))
            return cli_usage_error(help, "this option comes before FILE.ptx:", argv[i]);
        if (!value)
            return cli_usage_error(help, "a value is needed after", argv[i]);
        if (!strcmp(argv[i], "--entry")) {
            r.entry = value;
        } else if (!strcmp(argv[i], "--grid") || !strcmp(argv[i], "--block")) {
            if (!read_dims(value, argv[i][2] == 'g' ? r.launch.grid : r.launch.block))
                return cli_usage_error(help, "a size is X, X,Y or X,Y,Z, not", value);
        } else if (!strcmp(argv[i], "--shared")) {
            r.launch.dynamic_shared = strtoul(value, NULL, 0);
        } else if (!strcmp(argv[i], "--arg") && r.nargs < MAX_BUFFERS) {
            r.args[r.nargs++] = argv[i + 1];
        } else {
            return cli_usage_error(help, "unknown option", argv[i]);
        }
    }
    return run(&r);
}
