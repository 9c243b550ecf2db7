/* Kernels: what can be asked about them, their arguments, and running them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/graph.h"
#include "cuda/queue.h"

#define LAUNCH_NS 2000 /* what a launch costs before it computes anything */
#define EVENT_NS  500  /* events in a row still differ */

int cud_func_info(struct CUfunc_st *f, struct rp_kernel_info *info) {
    int error = cud_func_ready(f);
    if (error)
        return error;
    if (!rp_kernel_compiled(f->kernel))
        cud_settle(); /* where code lies follows from the order of the calls */
    char *log = NULL;
    error = cud_error_of(rp_kernel_info(f->kernel, info, &log));
    if (error && log && !f->refused)
        fprintf(stderr, "reprise: cannot compile kernel %s\n%s", f->name, log);
    f->refused |= error && log;
    free(log);
    return error;
}

/* Dynamic shared memory a launch may ask for. */
static size_t dynamic_limit(const struct CUfunc_st *f, const struct rp_kernel_info *k) {
    size_t all = rp_gpu_info(cud.gpu)->shared_per_block;
    if (f->max_dynamic >= 0)
        return (size_t)f->max_dynamic;
    return all > k->shared_static ? all - k->shared_static : 0;
}

int cud_func_attribute(struct CUfunc_st *f, int attribute, int *value) {
    struct rp_kernel_info k;
    const struct rp_gpu_info *gpu = rp_gpu_info(cud.gpu);
    int error = cud_func_info(f, &k);
    if (error)
        return error;
    const long long all[] = {
        k.max_threads,
        (long long)k.shared_static,
        (long long)k.const_bytes,
        (long long)k.local_per_thread,
        k.regs,
        k.target,
        gpu->cc_major * 10 + gpu->cc_minor,
        0,
        (long long)dynamic_limit(f, &k),
        f->carveout,
        k.cluster[0] != 0, /* must be set, and along each axis */
        k.cluster[0],
        k.cluster[1],
        k.cluster[2],
        f->big_clusters,
        f->cluster_policy,
    };
    if (attribute < 0 || (size_t)attribute >= sizeof all / sizeof *all)
        return cudaErrorInvalidValue;
    *value = (int)all[attribute];
    return cudaSuccess;
}

enum { ATTR_MAX_DYNAMIC = 8, ATTR_CARVEOUT = 9, ATTR_NON_PORTABLE_CLUSTER = 14, ATTR_CLUSTER_POLICY = 15 };

int cud_func_set_attribute(struct CUfunc_st *f, int attribute, int value) {
    struct rp_kernel_info k;
    int error = cud_func_info(f, &k);
    if (error)
        return error;
    size_t most = rp_gpu_info(cud.gpu)->shared_per_block_optin;
    switch (attribute) {
    case ATTR_MAX_DYNAMIC:
        if (value < 0 || (size_t)value + k.shared_static > most)
            return cudaErrorInvalidValue;
        f->max_dynamic = value;
        return cudaSuccess;
    case ATTR_CARVEOUT:
        if (value < -1 || value > 100)
            return cudaErrorInvalidValue;
        f->carveout = value;
        return cudaSuccess;
    case ATTR_NON_PORTABLE_CLUSTER:
        f->big_clusters = value != 0;
        return cudaSuccess;
    case ATTR_CLUSTER_POLICY:
        if (value < 0 || value > 2)
            return cudaErrorInvalidValue;
        f->cluster_policy = value; /* blocks of a cluster are always spread */
        return cudaSuccess;
    default:
        return cudaErrorInvalidValue;
    }
}

/* Code that launches in the queue were submitted with stays as it is until they are done. */
static void before_compiling(const struct CUfunc_st *f, uint32_t threads) {
    if (rp_launch_recompiles(f->kernel, threads))
        cud_drain();
}

int cud_occupancy(struct CUfunc_st *f, int block, size_t dynamic, int *blocks) {
    struct rp_kernel_info k;
    int error = cud_func_info(f, &k);
    if (error)
        return error;
    if (block <= 0 || !blocks)
        return cudaErrorInvalidValue;
    before_compiling(f, (uint32_t)block);
    bool fits = block <= k.max_threads && dynamic <= dynamic_limit(f, &k);
    *blocks = fits ? rp_kernel_occupancy(f->kernel, (uint32_t)block, dynamic) : 0;
    return cudaSuccess;
}

/* Blocks of a launch's cluster along an axis, and in all. */
static uint32_t cluster_side(const struct cud_launch *l, const struct rp_kernel_info *k, int axis) {
    if (l->cluster[0] || l->cluster[1] || l->cluster[2])
        return l->cluster[axis];
    return k->cluster[axis] ? (uint32_t)k->cluster[axis] : 1;
}

static uint32_t cluster_size(const struct cud_launch *l, const struct rp_kernel_info *k) {
    return cluster_side(l, k, 0) * cluster_side(l, k, 1) * cluster_side(l, k, 2);
}

int cud_occupancy_clusters(const struct cud_launch *l, int *clusters) {
    struct rp_kernel_info k;
    int error = cud_func_info(l->func, &k), blocks = 0;
    uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
    if (error)
        return error;
    if (!clusters || !threads || threads > INT32_MAX)
        return cudaErrorInvalidValue;
    uint32_t n = cluster_size(l, &k), most = l->func->big_clusters ? RP_CLUSTER_MAX : RP_CLUSTER_PORTABLE;
    if (!n || n > most)
        return cudaErrorInvalidClusterSize;
    error = cud_occupancy(l->func, (int)threads, l->shared, &blocks);
    *clusters = blocks ? rp_kernel_clusters(l->func->kernel, (uint32_t)threads, l->shared, n) : 0;
    return error;
}

int cud_occupancy_cluster_size(const struct cud_launch *l, int *size) {
    struct cud_launch one = *l;
    int error = size ? cudaSuccess : cudaErrorInvalidValue, fit = 0;
    one.cluster[1] = one.cluster[2] = 1;
    for (int n = l->func->big_clusters ? RP_CLUSTER_MAX : RP_CLUSTER_PORTABLE; n && !error && !fit; n--) {
        one.cluster[0] = (uint32_t)n;
        error = cud_occupancy_clusters(&one, &fit);
        *size = fit ? n : 0;
    }
    return error;
}

/* The most dynamic shared memory with which that many blocks still fit on an SM. */
int cud_occupancy_dynamic(struct CUfunc_st *f, int blocks, int block, size_t *dynamic) {
    struct rp_kernel_info k;
    int error = cud_func_info(f, &k);
    if (error)
        return error;
    if (block <= 0 || blocks <= 0 || !dynamic)
        return cudaErrorInvalidValue;
    before_compiling(f, (uint32_t)block);
    size_t low = 0, high = rp_gpu_info(cud.gpu)->shared_per_block_optin;
    if (rp_kernel_occupancy(f->kernel, (uint32_t)block, 0) < blocks)
        return cudaErrorInvalidValue;
    while (low < high) {
        size_t mid = low + (high - low + 1) / 2;
        if (rp_kernel_occupancy(f->kernel, (uint32_t)block, mid) >= blocks)
            low = mid;
        else
            high = mid - 1;
    }
    *dynamic = low;
    return cudaSuccess;
}

static size_t param_bytes(struct rp_kernel *k) {
    struct rp_param_info p;
    size_t bytes = 0;
    for (uint32_t i = 0; rp_kernel_param(k, i, &p); i++)
        bytes = p.offset + p.size;
    return bytes;
}

int cud_pack_args(struct cud_launch *l, void *const *args) {
    struct rp_param_info p;
    l->param_bytes = param_bytes(l->func->kernel);
    l->params = xcalloc(1, l->param_bytes + 1);
    for (uint32_t i = 0; rp_kernel_param(l->func->kernel, i, &p); i++) {
        if (!args || !args[i])
            return cudaErrorInvalidValue;
        memcpy(l->params + p.offset, args[i], p.size);
    }
    return cudaSuccess;
}

int cud_pack_buffer(struct cud_launch *l, const void *bytes, size_t n) {
    l->param_bytes = param_bytes(l->func->kernel);
    l->params = xcalloc(1, l->param_bytes + 1);
    if (n > l->param_bytes)
        return cudaErrorLaunchOutOfResources;
    if (!n && l->param_bytes)
        return cudaErrorInvalidValue;
    memcpy(l->params, bytes, n); /* fewer bytes are no error; the rest is zero */
    return cudaSuccess;
}

/* Says on stderr why a launch is refused: the error code alone tells the program little. */
static int refuse(const struct cud_launch *l, int error, const char *what, uint64_t asked, uint64_t most) {
    fprintf(stderr, "bad launch configuration for kernel %s\n  grid (%u,%u,%u), block (%u,%u,%u)\n",
            l->func->name, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2]);
    fprintf(stderr, "  %s: %llu, at most %llu possible\n", what, (unsigned long long)asked,
            (unsigned long long)most);
    return error;
}

static int check_dimensions(const struct cud_launch *l) {
    static const char *const grid[] = {"grid dimension x", "grid dimension y", "grid dimension z"};
    static const char *const block[] = {"block dimension x", "block dimension y", "block dimension z"};
    const struct rp_gpu_info *gpu = rp_gpu_info(cud.gpu);
    for (int i = 0; i < 3; i++) {
        if (!l->grid[i] || l->grid[i] > (uint32_t)gpu->max_grid[i])
            return refuse(l, cudaErrorInvalidConfiguration, grid[i], l->grid[i], (uint64_t)gpu->max_grid[i]);
        if (!l->block[i] || l->block[i] > (uint32_t)gpu->max_block[i])
            return refuse(l, cudaErrorInvalidConfiguration, block[i], l->block[i],
                          (uint64_t)gpu->max_block[i]);
    }
    return cudaSuccess;
}

static int check_cluster(const struct cud_launch *l, const struct rp_kernel_info *k) {
    uint32_t n = cluster_size(l, k), most = l->func->big_clusters ? RP_CLUSTER_MAX : RP_CLUSTER_PORTABLE;
    if (n > most)
        return refuse(l, cudaErrorInvalidClusterSize, "blocks of a cluster", n, most);
    for (int i = 0; i < 3; i++) {
        uint32_t side = cluster_side(l, k, i), required = (uint32_t)(k->cluster[i] ? k->cluster[i] : 1);
        if (!side || l->grid[i] % side || (k->cluster[0] && side != required))
            return refuse(l, cudaErrorInvalidClusterSize, "blocks of a cluster along an axis", side,
                          k->cluster[0] ? required : l->grid[i]);
    }
    return cudaSuccess;
}

int cud_launch_check(struct cud_launch *l) {
    const struct rp_gpu_info *gpu = rp_gpu_info(cud.gpu);
    struct rp_kernel_info k;
    int error = check_dimensions(l);
    if (error)
        return error;
    uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
    if (threads > (uint64_t)gpu->max_threads_per_block)
        return refuse(l, cudaErrorInvalidConfiguration, "threads per block", threads,
                      (uint64_t)gpu->max_threads_per_block);
    error = cud_func_info(l->func, &k);
    if (error)
        return error;
    size_t shared = dynamic_limit(l->func, &k);
    if (l->shared > shared)
        return refuse(l, cudaErrorInvalidValue, "bytes of dynamic shared memory", l->shared, shared);
    if (threads > (uint64_t)k.max_threads)
        return refuse(l, cudaErrorInvalidValue, "threads per block of this kernel", threads,
                      (uint64_t)k.max_threads);
    error = check_cluster(l, &k);
    if (error)
        return error;
    before_compiling(l->func, (uint32_t)threads);
    l->checked = 0;
    struct rp_launch r = cud_rp_launch(l);
    r.cooperative = false; /* that is asked here */
    char *report;
    enum rp_status status = rp_launch_check(cud.gpu, l->func->kernel, &r, &report);
    if (status == RP_OUT_OF_RESOURCES || (status == RP_OK && !r.slots))
        error = refuse(l, cudaErrorLaunchOutOfResources, "blocks that fit on a multiprocessor", 1, 0);
    else if (status != RP_OK && report)
        fputs(report, stderr);
    free(report);
    if (error || status != RP_OK)
        return error ? error : cud_error_of(status);
    uint64_t blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    if (l->cooperative && blocks > r.slots)
        return refuse(l, cudaErrorCooperativeLaunchTooLarge, "blocks of a cooperative launch", blocks,
                      r.slots);
    l->checked = r.checked;
    l->slots = r.slots;
    l->alters = k.alters;
    return cudaSuccess;
}

struct rp_launch cud_rp_launch(const struct cud_launch *l) {
    struct rp_launch r = {
        .dynamic_shared = l->shared,
        .params = l->params,
        .param_bytes = l->param_bytes,
        .cooperative = l->cooperative,
        .checked = l->checked,
        .slots = l->slots,
    };
    memcpy(r.grid, l->grid, sizeof r.grid);
    memcpy(r.block, l->block, sizeof r.block);
    memcpy(r.cluster, l->cluster, sizeof r.cluster);
    return r;
}

/* What launches took: cycles as far as they were timed; for the rest as many as if every SM issued an
 * instruction in each. */
static uint64_t compute_ns(struct rp_totals before, struct rp_totals now) {
    const struct rp_gpu_info *gpu = rp_gpu_info(cud.gpu);
    double cycles_per_ns = (double)(gpu->clock_khz ? gpu->clock_khz : 1000000) / 1e6;
    uint64_t untimed = now.warp_insts - before.warp_insts - (now.timed_insts - before.timed_insts);
    double cycles = (double)(now.cycles - before.cycles) + (double)untimed / (gpu->sms ? gpu->sms : 1);
    return (uint64_t)(cycles / cycles_per_ns);
}

void cud_grid_ended(struct rp_kernel *k, const struct rp_launch *r, struct rp_totals before, int engine,
                    char *report) {
    cud_spend((enum cud_engine)engine, LAUNCH_NS + compute_ns(before, rp_totals(cud.gpu)));
    cud_report_launch(k, r, before);
    cud_keep_output(cud_running_seq(), report);
    free(report);
}

/* A fault is kept in the context: the program learns of it when it synchronises. */
int cud_launch_result(enum rp_status status) {
    struct CUctx_st *ctx = cud_current();
    if (status < RP_ILLEGAL_ADDRESS)
        return cud_error_of(status);
    if (!ctx->pending) {
        ctx->pending = cud_error_of(status);
        ctx->fault_seq = cud_running_seq();
    }
    return cudaSuccess;
}

/* Runs one grid. */
static enum rp_status run_grid(struct rp_kernel *k, const struct rp_launch *r) {
    struct rp_totals before = rp_totals(cud.gpu);
    char *report = NULL;
    cud_launch_begins(&before);
    enum rp_status status = rp_launch(cud.gpu, k, r, &report);
    cud_launch_ended();
    cud_grid_ended(k, r, before, CUD_ENGINE_SMS, report);
    return status;
}

/* Runs a checked launch, with all that it launches. */
static int run_launch(const struct cud_launch *l) {
    struct rp_kernel *k = l->func->kernel;
    struct rp_launch r = cud_rp_launch(l);
    enum rp_status status = run_grid(k, &r);
    while (status == RP_OK && rp_next_launch(cud.gpu, &k, &r))
        status = run_grid(k, &r);
    return cud_launch_result(status);
}

/* A stamp of the stream's own is set when the work is done; an event of a graph's node has none yet. */
static int run_record(struct CUevent_st *e) {
    uint64_t now = cud_spend(CUD_ENGINES, EVENT_NS);
    if (!e)
        return cudaSuccess;
    if (!cud_object_get(e, CUD_EVENT))
        return cudaErrorInvalidResourceHandle;
    cud_stamp_drop(e->stamp);
    e->stamp = xcalloc(1, sizeof *e->stamp);
    *e->stamp = (struct cud_stamp){.refs = 1, .done = true, .time_ns = now, .seq = cud_running_seq()};
    return cudaSuccess;
}

int cud_run(struct cud_op *op) {
    struct CUctx_st *ctx = cud_current();
    if (ctx->pending && op->kind != CUD_OP_RECORD)
        return cudaSuccess; /* a faulted context runs nothing more */
    switch (op->kind) {
    case CUD_OP_LAUNCH: {
        int error = cud_func_ready(op->launch.func); /* a replayed graph may outlive a device reset */
        return error ? error : run_launch(&op->launch);
    }
    case CUD_OP_COPY:
        return cud_copy_run(&op->copy);
    case CUD_OP_FILL:
        return cud_fill_run(&op->fill);
    case CUD_OP_HOST:
        cud_unlock(); /* the function may wait for a thread that calls CUDA */
        op->host.fn(op->host.data);
        cud_lock();
        return cudaSuccess;
    case CUD_OP_GRAPH:
        if (cud_running_graph() == op->graph)
            cud_cond_start(op->graph);
        return cud_graph_run(op->graph);
    case CUD_OP_RECORD:
        return run_record(op->event);
    case CUD_OP_FREE:
        return cud_mem_free(op->mem.addr);
    case CUD_OP_ALLOC:
        return cud_graph_mem_allocate(op->mem.addr);
    case CUD_OP_COND:
        return cud_cond_run(op->cond);
    case CUD_OP_EMPTY:
    case CUD_OP_WAIT:
        return cudaSuccess;
    }
    return cudaErrorInvalidValue;
}
