/* What libcuda and libcudart share: one process-wide state behind one lock.
 *
 * Both libraries are thin: an entry point checks and converts its arguments, calls a cud_ function from
 * here, and converts the error code. Errors are cudaError numbers everywhere (the driver's numbers are the
 * same ones; the few that only the runtime has are mapped when libcuda returns).
 *
 * Invariants. Every cud_ function runs under the lock that cud_begin_* takes. A handle is the address of an
 * object that starts with struct cud_object and stands in the table of live objects; a handle that does not
 * is refused. Work submitted to a stream is queued (queue.h); its faults surface at the next synchronising
 * call, as on a real GPU. Whoever runs a launch holds the lock, and gives it up in the launch's pauses. */
#ifndef REPRISE_CUDA_CORE_H
#define REPRISE_CUDA_CORE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "reprise.h"

#define CUD_DRIVER_VERSION 13000

#pragma GCC visibility push(default) /* libcuda and libcudart call these */

enum cudaError {
#define ERROR(code, runtime, driver, text)        runtime = code,
#define RUNTIME_ERROR(code, runtime, text)        runtime = code,
#define DRIVER_ERROR(code, runtime, driver, text) runtime = code,
#include "cuda/errors.def"
#undef ERROR
#undef RUNTIME_ERROR
#undef DRIVER_ERROR
};

/* Names and texts; NULL for a code that API does not have. */
const char *cud_error_name(int code, bool driver);
const char *cud_error_text(int code, bool driver);
/* The error of a simulator status. */
int cud_error_of(enum rp_status s);

/* ---- objects ---------------------------------------------------------------------------------------- */

enum cud_kind {
    CUD_CTX = 1,
    CUD_STREAM,
    CUD_EVENT,
    CUD_MODULE,
    CUD_FUNC,
    CUD_ARRAY,
    CUD_MIPMAP,
    CUD_TEXREF,
    CUD_GRAPH,
    CUD_NODE,
    CUD_EXEC,
    CUD_POOL,
    CUD_LINK,
    CUD_USER,
    CUD_MEMORY,
};

/* Head of every object that has a handle. */
struct cud_object {
    enum cud_kind kind;
    struct CUctx_st *ctx; /* owner; NULL for objects that outlive contexts */
};

/* A zeroed live object of size bytes. */
void *cud_object_new(enum cud_kind kind, size_t size, struct CUctx_st *ctx);
/* handle as an object of that kind, or NULL when it is none. */
void *cud_object_get(const void *handle, enum cud_kind kind);
void cud_object_free(void *object);

/* ---- process, device, contexts ---------------------------------------------------------------------- */

/* An attribute of a stream, as the program set it. */
struct cud_stream_attribute {
    unsigned char value[64];
};
enum { CUD_STREAM_ATTRIBUTES = 16 };

struct CUstream_st {
    struct cud_object obj;
    unsigned flags;
    int priority;
    uint64_t id;
    struct CUgraph_st *capture; /* graph under construction while the stream captures, else NULL */
    bool capture_origin;        /* this stream's EndCapture ends it */
    bool capture_lent;          /* the graph was there before */
    int capture_mode;
    VEC(struct CUgraphNode_st *) tail; /* nodes the next captured operation depends on */
    struct cud_stream_attribute attributes[CUD_STREAM_ATTRIBUTES];
    uint64_t last, done; /* work of it: submitted last, done last */
    unsigned pending;    /* work that is not done */
    bool gone;           /* the program has destroyed it; what is pending keeps it */
    uint64_t mark;       /* it has work in that pass through the queue */
    uint64_t clock_ns;   /* simulated time that it has come to */
};

struct CUctx_st {
    struct cud_object obj;
    bool primary, alive;
    unsigned refs;      /* retains of the primary context */
    bool runtime_holds; /* one of them is the runtime's */
    unsigned flags, api_version;
    int pending;        /* fault of a launch that no synchronising call has reported yet, */
    uint64_t fault_seq; /* the work that had it */
    int sticky;         /* fault that every call reports from now on */
    bool told;          /* the tools know of it */
    int cache_config, shared_config;
    uint64_t id;
    struct CUstream_st legacy;           /* default stream; not in the object table */
    uint64_t blocking_ns, blocking_mark; /* of all streams that the legacy one waits for */
};

struct cud_config {
    uint32_t grid[3], block[3];
    size_t shared;
    struct CUstream_st *stream;
};

#define CUD_CONTEXT_DEPTH 64
#define CUD_CONFIG_DEPTH  64

/* State of one host thread. */
struct cud_thread {
    struct CUctx_st *contexts[CUD_CONTEXT_DEPTH]; /* the last of depth is current */
    unsigned depth;
    int last_error; /* cudaGetLastError */
    int capture_mode;
    struct cud_config configs[CUD_CONFIG_DEPTH]; /* <<<...>>> configurations not yet popped */
    unsigned nconfigs;
    struct CUstream_st *own; /* its default stream, the last that it had, */
    uint64_t own_id;         /* whose number is this */
    struct CUctx_st *acting; /* the context whose work the thread does; NULL: none */
    bool sync;               /* the call waits for the work that it submits */
    bool calls;              /* it is the one that calls host functions */
    uint64_t wrong;          /* an address for which the call that runs fails, or 0 */
    size_t wrong_size;       /* with so many bytes, or 0 */
};

/* The process. */
struct cud_state {
    bool initialised; /* cuInit was called */
    struct rp_gpu *gpu;
    struct CUctx_st primary;
    struct map objects;  /* address -> struct cud_object */
    struct map symbols;  /* host address -> struct cud_symbol */
    struct map textures; /* handle -> struct cud_tex */
    uint64_t next_id;
    struct CUpool_st *default_pool, *current_pool;
    unsigned captures; /* streams that have begun to capture */
};

extern struct cud_state cud;
struct cud_thread *cud_thread(void);
/* The current context of this thread, or NULL. */
struct CUctx_st *cud_current(void);
void cud_set_current(struct CUctx_st *ctx);

/* What an entry point needs before it can work. */
enum cud_need {
    CUD_NOTHING, /* the lock alone */
    CUD_DEVICE,  /* the GPU exists */
    CUD_CONTEXT, /* a context is current and has no sticky error */
    CUD_SYNC,    /* the same; the call waits for the work that it submits, and earlier faults surface */
    CUD_DRAIN,   /* the same after all work has been done, and its faults have surfaced */
};

/* Take the lock and see to the need. The runtime makes the primary context current by itself; the driver
 * asks for cuInit and a current context. The _end_ functions release the lock; the runtime's remembers the
 * error for cudaGetLastError, the driver's maps codes that CUresult does not have. */
int cud_begin_runtime(enum cud_need need);
int cud_end_runtime_of(int error, const char *call);
int cud_begin_driver(enum cud_need need);
int cud_end_driver_of(int error, const char *call);
#define cud_end_runtime(error) cud_end_runtime_of(error, __func__)
#define cud_end_driver(error)  cud_end_driver_of(error, __func__)
void cud_lock(void);
void cud_unlock(void);
/* Lets those have the lock who wait for it. */
void cud_yield(void);
/* What threads wait for that have the lock, and give it up meanwhile. */
struct cud_bell {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    uint64_t rings;
};
#define CUD_BELL                                                                                             \
    { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0 }
/* Until it rings, or so many milliseconds have passed; 0: however long that takes. */
void cud_wait(struct cud_bell *b, long ms);
void cud_ring(struct cud_bell *b);
/* In a process that was forked by the owner of the lock: it is free. */
void cud_lock_forked(void);

/* Builds the GPU as the environment says (gpu/options.h). */
int cud_device_open(void);
/* Bytes of the L2 that programs may set aside for lines that shall stay, from compute capability 8 on. */
int cud_persisting_l2(const struct rp_gpu_info *info);
/* Device attribute, numbered as CUdevice_attribute. */
int cud_device_attribute(int attribute, int *value);
void cud_device_uuid(unsigned char uuid[16]);

int cud_context_create(struct CUctx_st **out, unsigned flags, unsigned api_version);
int cud_context_destroy(struct CUctx_st *ctx);
/* Brings the primary context to life. */
void cud_primary_start(void);
/* The same for the runtime, which keeps a retain of its own, and makes it current. */
void cud_primary_use(void);
/* Ends the primary context: memory, modules, streams, everything; clears its sticky error. */
void cud_primary_reset(void);
/* Surfaces faults of work up to seq, which is done, and writes what it has printed. */
int cud_synchronize(struct CUctx_st *ctx, uint64_t seq);
int cud_limit_get(int limit, size_t *value);
int cud_limit_set(int limit, size_t value);

/* Names on stderr, once, an API call that is not there. Returns cudaErrorNotSupported. */
int cud_unsupported(const char *call, bool *named);

/* Writes what was kept back of what work up to seq printed: printf (to stdout), messages (to stderr). */
void cud_flush_output(uint64_t seq);
/* Writes to stderr what the tools have found. */
void cud_flush_findings(void);
/* How findings tell where the program was. */
extern const struct rp_host_trace cud_host_trace;
/* Keeps what a launch, the work of that number, has printed, and why it failed, or NULL. */
void cud_keep_output(uint64_t seq, const char *report);
/* Notes a launch for the JSON report and the file of results. */
void cud_report_launch(struct rp_kernel *k, const struct rp_launch *l, struct rp_totals before);
/* Writes the JSON report named by REPRISE_JSON, the results (report/results.h), and the summary that
 * REPRISE_SUMMARY asks for, at process exit; false after a message. */
bool cud_report_at_exit(void);
/* Writes the JSON report of the launches that have ended, because a signal ends the process. */
void cud_report_signal(int number);

#pragma GCC visibility pop

#endif
