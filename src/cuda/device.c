/* The device: built from the environment on first use, its attributes and limits. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static int error_exitcode;
static pid_t opened_by; /* a child of the process has nothing to say about it */

/* When everything else has been done at the end of the process, destructors of the program included, what it
 * did not free is leaked; after a fault it could not. Errors may decide the status it ends with. */
static __attribute__((destructor)) void end_findings(void) {
    if (!cud.gpu || getpid() != opened_by)
        return;
    rp_findings_end(cud.gpu, !cud.primary.pending && !cud.primary.sticky);
    cud_flush_findings();
    if (!error_exitcode || !rp_errors(cud.gpu))
        return;
    fflush(NULL);
    _exit(error_exitcode);
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
    error_exitcode = opt.error_exitcode;
    opened_by = getpid();
    options_free(&opt);
    failed = !cud.gpu;
    if (failed)
        return cudaErrorInitializationError;
    rp_trace_host(cud.gpu, &cud_host_trace);
    cud_flush_findings();
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

/* As an H200 has it. */
int cud_persisting_l2(const struct rp_gpu_info *info) {
    return info->cc_major >= 8 ? (int)(info->l2_bytes / 8 * 5) : 0;
}

/* Limits, numbered as CUlimit. Those from the fourth on change no result here, but programs set them and read
 * them back. */
enum {
    LIMIT_SYNC_DEPTH = 3,
    LIMIT_PENDING_LAUNCHES,
    LIMIT_L2_FETCH,
    LIMIT_L2_PERSISTING,
    LIMIT_SHARED,
    LIMITS
};

#define L2_FETCH_MAX 128
#define L2_PARTS     16 /* the L2 is set aside in these */

static struct {
    bool set;
    size_t value;
} other_limits[LIMITS];

static size_t limit_default(int limit) {
    const struct rp_gpu_info *i = rp_gpu_info(cud.gpu);
    switch (limit) {
    case LIMIT_PENDING_LAUNCHES:
        return 2048;
    case LIMIT_L2_FETCH:
        return 64;
    case LIMIT_L2_PERSISTING:
        return cud_persisting_l2(i) ? i->l2_bytes / L2_PARTS * 3 : 0;
    default:
        return i->shared_per_block_optin;
    }
}

int cud_limit_get(int limit, size_t *value) {
    if (limit < 0 || limit >= LIMITS)
        return cudaErrorInvalidValue;
    if (limit == LIMIT_SYNC_DEPTH)
        return cudaErrorUnsupportedLimit;
    *value = limit <= RP_LIMIT_MALLOC_HEAP ? rp_limit_get(cud.gpu, (enum rp_limit)limit)
             : other_limits[limit].set     ? other_limits[limit].value
                                           : limit_default(limit);
    return cudaSuccess;
}

int cud_limit_set(int limit, size_t value) {
    const struct rp_gpu_info *i = rp_gpu_info(cud.gpu);
    size_t part = i->l2_bytes / L2_PARTS;
    if (limit < 0 || limit >= LIMITS || (limit == LIMIT_L2_FETCH && value > L2_FETCH_MAX) ||
        (limit == LIMIT_L2_PERSISTING && value > (size_t)cud_persisting_l2(i)))
        return cudaErrorInvalidValue;
    if (limit == LIMIT_SYNC_DEPTH)
        return cudaErrorUnsupportedLimit;
    if (limit <= RP_LIMIT_MALLOC_HEAP)
        return cud_error_of(rp_limit_set(cud.gpu, (enum rp_limit)limit, value));
    if (limit == LIMIT_L2_PERSISTING && part)
        value = (value + part - 1) / part * part;
    other_limits[limit].set = true;
    other_limits[limit].value = value;
    return cudaSuccess;
}
