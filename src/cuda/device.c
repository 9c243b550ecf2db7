/* The device: built from the environment on first use, its attributes and limits. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ending.h"
#include "cuda/queue.h"
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

/* The variables that name a file to be written. */
static const char *const file_variables[] = {"REPRISE_JSON", "REPRISE_PROFILE", "REPRISE_RESULTS",
                                             "REPRISE_LAUNCH_RESULTS", "REPRISE_TRACE"};

static pid_t loaded;  /* the process that loaded this library */
static pid_t opened;  /* the process that uses the device */
static bool inherits; /* files that are another's: a process above this one has loaded the library, too */

__attribute__((constructor)) static void note_process(void) {
    static const char owner[] = "REPRISE_OWNER";
    const char *above = getenv(owner);
    char text[16];
    loaded = getpid();
    inherits = above && atoi(above) != loaded; /* the same: it became another program */
    snprintf(text, sizeof text, "%d", (int)loaded);
    for (size_t i = 0; !above && i < sizeof file_variables / sizeof *file_variables; i++)
        if (getenv(file_variables[i]))
            setenv(owner, text, 1);
}

/* Gives the files of a process that others forked, or ran, a name of their own: a.json becomes a.PID.json. */
static void name_files(void) {
    for (size_t i = 0; i < sizeof file_variables / sizeof *file_variables; i++) {
        const char *file = getenv(file_variables[i]);
        if (!file || !*file)
            continue;
        const char *slash = strrchr(file, '/'), *dot = strrchr(slash ? slash : file, '.');
        int stem = (int)(dot ? dot - file : (ptrdiff_t)strlen(file));
        struct str name = {0};
        str_printf(&name, "%.*s.%d%s", stem, file, (int)getpid(), file + stem);
        setenv(file_variables[i], str_text(&name), 1);
        str_free(&name);
    }
}

static int error_exitcode;
/* When everything else has been done at the end of the process, destructors of the program included, what it
 * did not free is leaked; after a fault it could not. Errors may decide the status it ends with. */
static __attribute__((destructor)) void end_findings(void) {
    if (!cud.gpu || getpid() != opened)
        return;
    rp_findings_end(cud.gpu, !cud.primary.pending && !cud.primary.sticky);
    cud_flush_findings();
    if (!error_exitcode || !rp_errors(cud.gpu))
        return;
    fflush(NULL);
    _exit(error_exitcode);
}

static void on_signal(int number) {
    trace_keep(trace);
    cud_report_signal(number);
}

/* What cannot be written makes a run that went well one that failed. The other handlers of the program run
 * nevertheless: exit goes on with them when a handler calls it. */
static void at_exit(int status, void *unused) {
    (void)unused;
    if (getpid() != opened)
        return; /* the files are those of the process that forked this one */
    cud_lock();
    cud_queue_close();
    cud_flush_output(UINT64_MAX);
    bool ok = cud_report_at_exit();
    char *log;
    struct trace *t = trace;
    trace = NULL;
    ok &= trace_close(t, &log);
    print_log(log);
    cud_unlock();
    if (!ok && !status)
        exit(EXIT_FAILURE);
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
    if (inherits || getpid() != loaded)
        name_files();
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
    options_free(&opt);
    failed = !cud.gpu;
    if (failed)
        return cudaErrorInitializationError;
    rp_trace_host(cud.gpu, &cud_host_trace);
    cud_flush_findings();
    opened = getpid();
    cud_queue_open();
    on_exit(at_exit, NULL);
    if (getenv("REPRISE_JSON") || getenv("REPRISE_PROFILE") || trace)
        ending_watch(on_signal);
    rp_gpu_answers(cud.gpu, answer_attribute, answer_limit);
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
        cud_drain(); /* launches before it have the old one */
    if (limit <= RP_LIMIT_MALLOC_HEAP)
        return cud_error_of(rp_limit_set(cud.gpu, (enum rp_limit)limit, value));
    if (limit == LIMIT_L2_PERSISTING && part)
        value = (value + part - 1) / part * part;
    other_limits[limit].set = true;
    other_limits[limit].value = value;
    return cudaSuccess;
}
