/* The device: built from the environment on first use, its attributes and limits. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/core.h"
#include "gpu/options.h"
#include "report/trace.h"

static struct trace *trace; /* of the run, or NULL */

static void print_log(char *log) {
    if (log)
        fprintf(stderr, "%s%s", log, *log && log[strlen(log) - 1] == '\n' ? "" : "\n");
    free(log);
}

/* Opens the trace that is wanted; false, after a message, if that cannot be done. */
static bool open_trace(const struct options *o) {
    if (!o->trace.path)
        return true;
    char *log;
    trace = trace_open(cud.gpu, &o->trace, &log);
    print_log(log);
    return trace;
}

static void at_exit(void) {
    cud_lock();
    cud_flush_output();
    cuda_report_at_exit();
    char *log;
    trace_close(trace, &log);
    print_log(log);
    trace = NULL;
    cud_unlock();
}

/* What device code may ask. */
static bool answer_attribute(int attribute, int *value) {
    return cud_device_attribute(attribute, value) == cudaSuccess;
}

static bool answer_limit(int limit, size_t *value) {
    return cud_limit_get(limit, value) == cudaSuccess;
}

int cud_device_open(void) {
    static bool failed;
    if (cud.gpu)
        return cudaSuccess;
    if (failed)
        return cudaErrorInitializationError;
    struct options opt;
    options_read(&opt);
    char *log = NULL;
    cud.gpu = rp_gpu_create(&opt.rp, &log);
    print_log(log);
    if (cud.gpu && !open_trace(&opt)) {
        rp_gpu_destroy(cud.gpu);
        cud.gpu = NULL;
    }
    options_free(&opt);
    failed = !cud.gpu;
    if (failed)
        return cudaErrorInitializationError;
    rp_gpu_answers(cud.gpu, answer_attribute, answer_limit);
    atexit(at_exit);
    return cudaSuccess;
}

int cud_device_attribute(int attribute, int *value) {
    const struct rp_gpu_info *i = rp_gpu_info(cud.gpu);
    switch (attribute) {
#define ATTRIBUTE(number, expr)                                                                              \
    case number:                                                                                             \
        *value = (int)(expr);                                                                                \
        return cudaSuccess;
#include "cuda/attributes.def"
#undef ATTRIBUTE
    default:
        return cudaErrorInvalidValue;
    }
}

/* Derived from the name, so that the same GPU is recognised in every run. */
void cud_device_uuid(unsigned char uuid[16]) {
    const char *name = rp_gpu_info(cud.gpu)->name;
    uint64_t a = hash_bytes(name, strlen(name)), b = hash_bytes(&a, sizeof a);
    memcpy(uuid, &a, 8);
    memcpy(uuid + 8, &b, 8);
}

/* Limits the simulated GPU has no use for, but programs may set and read back; numbered as CUlimit. */
static size_t other_limits[] = {[3] = 2, [4] = 2048, [5] = 64, [6] = 0};

#define LIMIT_SYNC_DEPTH 3
#define LIMITS           (sizeof other_limits / sizeof *other_limits)

int cud_limit_get(int limit, size_t *value) {
    if (limit < 0 || (size_t)limit >= LIMITS)
        return cudaErrorInvalidValue;
    if (limit == LIMIT_SYNC_DEPTH)
        return cudaErrorUnsupportedLimit;
    *value =
        limit <= RP_LIMIT_MALLOC_HEAP ? rp_limit_get(cud.gpu, (enum rp_limit)limit) : other_limits[limit];
    return cudaSuccess;
}

int cud_limit_set(int limit, size_t value) {
    if (limit < 0 || (size_t)limit >= LIMITS)
        return cudaErrorInvalidValue;
    if (limit == LIMIT_SYNC_DEPTH)
        return cudaErrorUnsupportedLimit;
    if (limit <= RP_LIMIT_MALLOC_HEAP)
        return cud_error_of(rp_limit_set(cud.gpu, (enum rp_limit)limit, value));
    other_limits[limit] = value;
    return cudaSuccess;
}
