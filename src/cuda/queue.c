/* The queue of submitted work: in which order it is done, who does it, and waiting for it. */
#include "cuda/queue.h"

#include <execinfo.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/demangle.h"
#include "base/waiting.h"

enum {
    QUEUE_MAX = 1024, /* work beyond which submitting waits, as a GPU's launches do */
    OVERTAKE = 4096,  /* pauses of a launch after which what somebody waits for passes it */
    SLICE = 16,       /* pauses that a question about the progress of work lets pass */
    BESIDE = 8,       /* launches that run beside one that waits */
    TURNS = 4,        /* of such a launch in a pause */
    LONE = 64,        /* pauses after which a launch is asked whether it waits, when nothing else is queued */
    FRAMES = 32,
    HOST_PATIENCE_MS = 1000, /* after which other streams pass a host function that does not return */
};
enum { BLOCKING = 0, NON_BLOCKING = 1, STAGED_MAX = 65536 };

struct cud_work {
    struct cud_work *next, *before; /* in the order of the calls */
    uint64_t seq;
    struct CUctx_st *ctx;
    struct CUstream_st *stream;
    struct cud_op op;
    struct CUgraphExec_st *exec; /* the graph is lent by it, or NULL */
    struct cud_stamp *stamp;
    bool running, done, awaited;
    bool changes_memory; /* what there is */
    bool calls;          /* host functions, in a graph */
    int error;
    uint64_t now_ns; /* when it can begin; what it has come to when it runs */
    void *staged;    /* what it copies, taken at the call */
    struct rp_beside *beside;
    struct rp_launch launch; /* of it */
    uint32_t nframes;
    void *frames[];
};

static struct {
    struct cud_work *first, *last;
    atomic_uint len, finished; /* work that is not done, work that is */
    uint64_t seq;              /* of the work submitted last */
    uint64_t pass;             /* of looking for work that is ready */
    bool changed, others;      /* since others_ready looked; what it found */
    unsigned unsettled;        /* work that changes what memory there is */
    unsigned streams;          /* that have work */
    atomic_bool runner;        /* a thread does work */
    struct cud_work *current;  /* that it does */
    struct cud_work *calling;  /* a host function that was handed to its thread */
    bool called;               /* it runs */
    struct timespec call_began;
    uint64_t pauses;   /* of the launch that runs */
    uint64_t progress; /* pauses and work done, in all */
    unsigned waiters;  /* threads that wait for progress */
    struct cud_work *beside[BESIDE];
    unsigned nbeside;
    struct rp_totals *before;   /* of the launch that runs */
    struct waiting_quiet quiet; /* it only waits */
    bool closing;
    bool tools;    /* they want to know who submitted what */
    bool blocks;   /* launches end before the calls do, if they can */
    bool released; /* the launch that runs waits: its call may return */
    uint64_t engine_ns[CUD_ENGINES], host_ns, latest_ns;
} q;

static struct cud_bell advanced = CUD_BELL;

static uint64_t max_u64(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

void cud_stamp_drop(struct cud_stamp *s) {
    if (s && !--s->refs)
        free(s);
}

bool queue_pending(void) {
    return q.len > 0;
}

bool queue_idle(unsigned *done) {
    unsigned before = *done;
    *done = q.finished;
    return q.len > 0 && !q.runner && *done == before;
}

/* ---- simulated time -------------------------------------------------------------------------------------
 */

static bool legacy(const struct CUstream_st *s) {
    return s == &s->obj.ctx->legacy;
}

static bool blocking(const struct CUstream_st *s) {
    return !(s->flags & NON_BLOCKING);
}

/* When the work can begin, as far as the streams and the program decide it. */
static void begin_time(struct cud_work *w) {
    const struct CUstream_st *s = w->stream;
    w->now_ns = max_u64(w->now_ns, s->clock_ns);
    if (legacy(s))
        w->now_ns = max_u64(w->now_ns, w->ctx->blocking_ns);
    else if (blocking(s))
        w->now_ns = max_u64(w->now_ns, w->ctx->legacy.clock_ns);
}

uint64_t cud_spend(enum cud_engine engine, uint64_t ns) {
    struct cud_work *w = q.current;
    if (engine < CUD_ENGINES)
        w->now_ns = max_u64(w->now_ns, q.engine_ns[engine]);
    w->now_ns += ns;
    if (engine < CUD_ENGINES)
        q.engine_ns[engine] = w->now_ns;
    return w->now_ns;
}

static void end_time(struct cud_work *w) {
    w->stream->clock_ns = w->now_ns;
    if (blocking(w->stream))
        w->ctx->blocking_ns = max_u64(w->ctx->blocking_ns, w->now_ns);
    q.latest_ns = max_u64(q.latest_ns, w->now_ns);
}

/* ---- doing work -----------------------------------------------------------------------------------------
 */

uint64_t cud_running_seq(void) {
    return q.current ? q.current->seq : q.seq;
}

const struct CUgraph_st *cud_running_graph(void) {
    return q.current && q.current->exec ? q.current->op.graph : NULL;
}

uint32_t cud_running_frames(void **frames, uint32_t max) {
    const struct cud_work *w = cud_thread()->acting ? q.current : NULL;
    uint32_t n = w ? w->nframes : 0;
    n = n < max ? n : max;
    if (n)
        memcpy(frames, w->frames, n * sizeof *frames);
    return n;
}

static void tell_progress(void) {
    q.progress++;
    q.changed = true;
    if (q.waiters)
        cud_ring(&advanced);
}

/* Work is done: whoever waits for it learns of it. */
static void finish(struct cud_work *w) {
    struct CUstream_st *s = w->stream;
    end_time(w);
    if (w->stamp && w->op.kind != CUD_OP_WAIT) {
        w->stamp->done = true;
        w->stamp->time_ns = w->now_ns;
    }
    cud_stamp_drop(w->stamp);
    w->stamp = NULL;
    if (w->error && !w->awaited && !w->ctx->pending) {
        w->ctx->pending = w->error;
        w->ctx->fault_seq = w->seq;
    }
    q.unsettled -= w->changes_memory;
    *(w->before ? &w->before->next : &q.first) = w->next;
    *(w->next ? &w->next->before : &q.last) = w->before;
    q.len--;
    q.finished++;
    if (!w->exec)
        cud_op_free(&w->op);
    free(w->staged);
    s->done = w->seq;
    q.streams -= !--s->pending;
    if (!s->pending && s->gone)
        free(s);
    w->done = true;
    if (!w->awaited)
        free(w);
    tell_progress();
}

/* Does the work on this thread, beside what it does already. */
static void run(struct cud_work *w) {
    struct cud_thread *t = cud_thread();
    struct cud_work *current = q.current;
    struct CUctx_st *acting = t->acting;
    w->running = true;
    q.current = w;
    t->acting = w->ctx;
    begin_time(w);
    if (w->op.kind == CUD_OP_WAIT && w->stamp)
        w->now_ns = max_u64(w->now_ns, w->stamp->time_ns);
    w->error = cud_run(&w->op);
    t->acting = acting;
    q.current = current;
    finish(w);
}

static void run_alone(struct cud_work *w) {
    q.runner = true;
    run(w);
    q.runner = false;
}

/* ---- what is ready --------------------------------------------------------------------------------------
 */

static bool is_kernel(const struct cud_work *w) {
    return w->op.kind == CUD_OP_LAUNCH || w->op.kind == CUD_OP_GRAPH;
}

/* Whether nothing that was submitted before, and is not done, must be done first. Looking goes through the
 * queue from its start and marks streams and graphs that have work in this pass. */
static bool free_to_begin(struct cud_work *w) {
    struct CUctx_st *ctx = w->ctx;
    struct CUstream_st *s = w->stream;
    bool ok = s->mark != q.pass && !(w->op.kind == CUD_OP_WAIT && w->stamp && !w->stamp->done);
    ok &= !(w->exec && w->exec->mark == q.pass);
    ok &= !(legacy(s) && ctx->blocking_mark == q.pass);
    ok &= !(blocking(s) && ctx->legacy.mark == q.pass);
    s->mark = q.pass;
    if (w->exec)
        w->exec->mark = q.pass;
    if (blocking(s))
        ctx->blocking_mark = q.pass;
    return ok;
}

/* The first work that is free to begin and that want accepts. */
static struct cud_work *find_ready(bool (*want)(const struct cud_work *)) {
    q.pass++;
    for (struct cud_work *w = q.first; w; w = w->next)
        if (free_to_begin(w) && !w->running && want(w))
            return w;
    return NULL;
}

/* Host functions are called one at a time. */
static bool any(const struct cud_work *w) {
    return !(w->op.kind == CUD_OP_HOST && q.calling);
}

static bool no_kernel(const struct cud_work *w) {
    return any(w) && !is_kernel(w);
}

/* What can run beside another launch. */
static bool one_launch(const struct cud_work *w) {
    return w->op.kind == CUD_OP_LAUNCH && !w->op.launch.alters;
}

static long ms_since(const struct timespec *then) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long)(now.tv_sec - then->tv_sec) * 1000 + (now.tv_nsec - then->tv_nsec) / 1000000;
}

/* Hands a host function to the thread that calls them. */
static void call(struct cud_work *w) {
    q.calling = w;
    q.called = false;
    q.changed = true;
    clock_gettime(CLOCK_MONOTONIC, &q.call_began);
    worker_calls();
}

struct cud_work *queue_call(void (**fn)(void *), void **data) {
    struct cud_work *w = q.called ? NULL : q.calling;
    if (!w)
        return NULL;
    q.called = w->running = true;
    begin_time(w);
    *fn = w->ctx->pending ? NULL : w->op.host.fn; /* a faulted context runs nothing more */
    *data = w->op.host.data;
    return w;
}

void queue_called(struct cud_work *w) {
    q.calling = NULL;
    finish(w);
}

/* What to do next when no launch runs: that which was submitted first. NULL: nothing now. */
static struct cud_work *next_work(void) {
    if (q.runner || (q.calling && ms_since(&q.call_began) < HOST_PATIENCE_MS))
        return NULL;
    struct cud_work *w = find_ready(any);
    if (w && w->changes_memory && q.nbeside)
        return NULL; /* code and memory stay as they are while others run */
    if (!w || w->op.kind != CUD_OP_HOST)
        return w;
    if (!q.calling)
        call(w);
    return NULL;
}

/* ---- launches beside one that runs ----------------------------------------------------------------------
 */

void cud_launch_begins(struct rp_totals *before) {
    q.before = before;
    q.pauses = 0;
    q.quiet.since = 0;
    q.released = false;
}

void cud_launch_ended(void) {
    q.before = NULL;
}

/* Tells the user something about a launch. */
static void say(const struct cud_work *w, const char *what) {
    const char *name = w->op.kind == CUD_OP_LAUNCH ? w->op.launch.func->name : "of a graph";
    char *plain = demangle(name);
    fprintf(stderr, "reprise: kernel %s %s\n", plain ? plain : name, what);
    free(plain);
}

static void begin_beside(struct cud_work *w) {
    static bool said;
    const struct cud_launch *l = &w->op.launch;
    struct cud_work *current = q.current;
    q.current = w; /* it is its submission that tools report */
    w->launch = cud_rp_launch(l);
    w->beside = w->ctx->pending ? NULL : rp_beside_begin(cud.gpu, l->func->kernel, &w->launch);
    q.current = current;
    if (!w->beside)
        return;
    if (!said && !rp_gpu_functional(cud.gpu))
        say(w, "runs beside one of another stream that waits; it is not timed");
    said = true;
    w->running = q.changed = true;
    q.beside[q.nbeside++] = w;
}

static void end_beside(struct cud_work *w) {
    struct cud_thread *t = cud_thread();
    struct cud_work *current = q.current;
    struct CUctx_st *acting = t->acting;
    struct rp_totals before = rp_totals(cud.gpu);
    q.current = w;
    t->acting = w->ctx;
    begin_time(w);
    char *report = NULL;
    enum rp_status status = rp_beside_end(w->beside, &report);
    cud_grid_ended(w->op.launch.func->kernel, &w->launch, before, CUD_ENGINES, report);
    w->error = cud_launch_result(status);
    struct rp_totals now = rp_totals(cud.gpu);
    if (q.before) {
        q.before->launches += now.launches - before.launches;
        q.before->warp_insts += now.warp_insts - before.warp_insts;
        q.before->thread_insts += now.thread_insts - before.thread_insts;
    }
    t->acting = acting;
    q.current = current;
    finish(w);
}

static void turn_beside(void) {
    for (unsigned i = 0; i < q.nbeside;) {
        struct cud_work *w = q.beside[i];
        bool more = true;
        for (unsigned k = 0; more && k < TURNS; k++)
            more = rp_beside_turn(w->beside);
        if (more) {
            i++;
            continue;
        }
        q.beside[i] = q.beside[--q.nbeside];
        end_beside(w);
    }
}

/* Whether there is work that need not wait for what runs; the answer changes only with the queue. */
static bool others_ready(void) {
    if (q.changed)
        q.others = q.streams > 1 && find_ready(any);
    q.changed = false;
    return q.others;
}

/* Lets it pass, except for kernels. */
static void overtake(void) {
    struct cud_work *w;
    while ((w = find_ready(no_kernel)))
        if (w->op.kind == CUD_OP_HOST)
            call(w);
        else
            run(w);
}

/* Mentions, once, a launch that has done nothing but wait for long, in terms of the host's time. */
static void mention(bool waits) {
    if (waiting_too_long(&q.quiet, waits))
        say(q.current, "does nothing but read memory again and again, as if it waited for the host or for "
                       "another kernel");
}

/* A pause of the launch that runs: other threads call, ready work passes. */
static const char *on_pause(void *unused) {
    (void)unused;
    cud_yield();
    q.pauses++;
    q.progress++;
    if (q.waiters && q.pauses % SLICE == 0)
        cud_ring(&advanced);
    bool others = others_ready();
    bool ask = others || q.closing || q.pauses % (q.blocks ? LONE / 16 : LONE) == 0;
    bool waits = ask && rp_launch_waits(cud.gpu);
    if (others && (waits || (q.waiters && q.pauses >= OVERTAKE)))
        overtake();
    if (ask)
        mention(waits);
    if (waits && q.blocks && !q.released) {
        q.released = true;
        tell_progress();
    }
    bool room = q.nbeside < BESIDE && !(q.current && q.current->changes_memory);
    struct cud_work *w = waits && others && room ? find_ready(one_launch) : NULL;
    if (w)
        begin_beside(w);
    bool last = waits && q.closing && !q.nbeside && !w && !q.calling;
    turn_beside();
    return last ? "the program has ended: nobody is left who could write what the threads wait for" : NULL;
}

/* The launch they ran beside has ended: they go on. */
static void run_beside(void) {
    q.runner = true;
    cud_yield();
    q.pauses++;
    overtake();
    struct cud_work *w = q.pauses % LONE == 0 && q.nbeside < BESIDE ? find_ready(one_launch) : NULL;
    if (w)
        begin_beside(w);
    turn_beside();
    q.runner = false;
    tell_progress();
}

/* ---- waiting --------------------------------------------------------------------------------------------
 */

/* What a thread waits for. */
struct goal {
    uint64_t seq;                  /* work up to this one is done, */
    struct CUstream_st *stream;    /* of this stream; NULL: of all */
    const struct CUctx_st *ctx;    /* or of the streams of a context that the legacy stream waits for */
    const struct cud_stamp *stamp; /* or this is */
    const struct cud_work *work;   /* or this is */
};

static bool blocking_done(const struct CUctx_st *ctx, uint64_t seq) {
    for (const struct cud_work *w = q.first; w && w->seq <= seq; w = w->next)
        if (w->ctx == ctx && blocking(w->stream))
            return false;
    return true;
}

static bool reached(const struct goal *g) {
    if (g->work)
        return g->work->done || (q.blocks && q.released && q.current == g->work);
    if (g->stamp)
        return g->stamp->done;
    if (g->ctx)
        return blocking_done(g->ctx, g->seq);
    if (g->stream)
        return g->stream->done >= g->seq;
    return !q.first || q.first->seq > g->seq;
}

/* Whether the thread that waits may do the work itself: only what it waits for, since it cannot leave a
 * launch that does not end. */
static bool may_run(const struct goal *g, const struct cud_work *w) {
    if (w->calls || (q.blocks && g->work == w))
        return false;
    if (g->stamp)
        return w->stream->id == g->stamp->stream;
    if (g->ctx)
        return w->ctx == g->ctx && blocking(w->stream);
    const struct CUstream_st *s = g->work ? g->work->stream : g->stream;
    if (!s || s == w->stream)
        return true;
    return s->obj.ctx == w->ctx && blocking(s) && blocking(w->stream) && (legacy(s) || legacy(w->stream));
}

/* Whether this thread does work, or calls a host function: it cannot wait for other work. */
static bool in_function(void) {
    return cud_thread()->acting || cud_thread()->calls;
}

static void sleep_until_progress(long ms) {
    q.waiters++;
    cud_wait(&advanced, ms);
    q.waiters--;
}

static void wait_for(const struct goal *g) {
    while (!reached(g)) {
        struct cud_work *w = next_work();
        bool all = !g->work && !g->stamp && !g->stream && !g->ctx;
        if (w && may_run(g, w)) {
            run_alone(w);
        } else if (q.nbeside && !q.runner && all) {
            run_beside();
        } else {
            if (w || q.nbeside)
                worker_wake(true);
            sleep_until_progress(100);
        }
    }
}

bool queue_work(void) {
    struct cud_work *w = next_work();
    if (w)
        run_alone(w);
    else if (q.nbeside && !q.runner)
        run_beside();
    else
        return false;
    return true;
}

void cud_drain(void) {
    if (!in_function())
        wait_for(&(struct goal){.seq = q.seq});
    q.host_ns = max_u64(q.host_ns, q.latest_ns);
}

void cud_await(struct cud_stamp *s) {
    if (s && !s->done && !in_function())
        wait_for(&(struct goal){.stamp = s});
}

/* Whether it has to wait depends on who is faster, so the program's clock must not show it. */
void cud_settle(void) {
    if (q.unsettled && !in_function())
        wait_for(&(struct goal){.seq = q.seq});
}

/* Waits a little; whether that was enough. */
static bool look_again(const struct goal *g) {
    uint64_t enough = q.progress + 2 * SLICE;
    for (int tries = 0; !reached(g) && q.progress < enough && tries < 4; tries++) {
        worker_wake(true);
        sleep_until_progress(5);
    }
    return reached(g);
}

/* Comes back when the goal is reached, or without patience soon. */
static int settle(const struct goal *g, bool patient, uint64_t seq) {
    if (in_function())
        return cudaErrorNotPermitted; /* work behind a host function cannot be done while it runs */
    if (patient)
        wait_for(g);
    else if (!reached(g) && !look_again(g))
        return cudaErrorNotReady;
    return cud_synchronize(cud_current(), seq);
}

int cud_stream_done(struct CUstream_st *s, bool patient) {
    struct goal g = {.seq = s->last, .stream = s};
    if (legacy(s)) /* it waits for others, too */
        g = (struct goal){.seq = q.seq, .ctx = s->obj.ctx};
    int error = settle(&g, patient, g.seq);
    if (error != cudaErrorNotReady)
        q.host_ns = max_u64(q.host_ns, legacy(s) ? s->obj.ctx->blocking_ns : s->clock_ns);
    return error;
}

int cud_stamp_done(struct cud_stamp *s, bool patient) {
    struct goal g = {.stamp = s};
    s->refs++;
    int error = settle(&g, patient, s->seq);
    if (s->done)
        q.host_ns = max_u64(q.host_ns, s->time_ns);
    cud_stamp_drop(s);
    return error;
}

/* ---- submitting -----------------------------------------------------------------------------------------
 */

static struct cud_work *submit(struct CUstream_st *s, struct cud_op *op) {
    struct cud_work *w = xcalloc(1, sizeof *w + (q.tools ? FRAMES * sizeof *w->frames : 0));
    if (q.tools)
        w->nframes = (uint32_t)backtrace(w->frames, FRAMES);
    w->seq = ++q.seq;
    w->ctx = s->obj.ctx;
    w->stream = s;
    w->op = *op;
    w->now_ns = q.host_ns;
    s->last = w->seq;
    q.streams += !s->pending++;
    w->before = q.last;
    *(q.last ? &q.last->next : &q.first) = w;
    q.last = w;
    q.len++;
    q.changed = true;
    return w;
}

/* The queue has got longer. */
static void submitted(struct cud_work *w) {
    q.unsettled += w->changes_memory;
    if (q.len > QUEUE_MAX && !in_function())
        wait_for(&(struct goal){.seq = w->seq - QUEUE_MAX / 2});
    worker_wake(false);
}

static bool has_host_node(const struct CUgraph_st *g) {
    for (uint32_t i = 0; i < g->nodes.len; i++) {
        const struct cud_op *op = &g->nodes.at[i]->op;
        if (op->kind == CUD_OP_HOST || (op->kind == CUD_OP_GRAPH && has_host_node(op->graph)))
            return true;
    }
    return false;
}

static bool changes_memory(const struct cud_op *op) {
    switch (op->kind) {
    case CUD_OP_LAUNCH:
        return op->launch.alters;
    case CUD_OP_FREE:
    case CUD_OP_ALLOC:
        return true;
    case CUD_OP_GRAPH:
        for (uint32_t i = 0; i < op->graph->nodes.len; i++)
            if (changes_memory(&op->graph->nodes.at[i]->op))
                return true;
        return false;
    case CUD_OP_COND:
        return true;
    default:
        return false;
    }
}

int cud_enqueue(struct CUstream_st *s, struct cud_op *op, bool wait) {
    void *staged = NULL;
    if (op->kind == CUD_OP_COPY && !wait)
        wait = !cud_copy_stage(&op->copy, STAGED_MAX, &staged);
    if (wait && in_function()) {
        cud_op_free(op);
        return cudaErrorNotPermitted;
    }
    bool launch = op->kind == CUD_OP_LAUNCH;
    bool changes = changes_memory(op);
    struct cud_work *w = submit(s, op);
    w->changes_memory = changes;
    w->staged = staged;
    w->awaited = wait || (launch && q.blocks && !in_function());
    if (!w->awaited) {
        submitted(w);
        return cudaSuccess;
    }
    q.unsettled += changes;
    uint64_t seq = w->seq;
    wait_for(&(struct goal){.work = w});
    if (!w->done) { /* a launch that waits for somebody */
        w->awaited = false;
        return cudaSuccess;
    }
    int error = w->error;
    q.host_ns = max_u64(q.host_ns, w->now_ns);
    free(w);
    if (launch)
        return error;
    int fault = cud_synchronize(cud_current(), seq);
    return error ? error : fault;
}

int cud_enqueue_graph(struct CUstream_st *s, struct CUgraphExec_st *e) {
    struct cud_op op = {.kind = CUD_OP_GRAPH, .graph = e->graph};
    bool changes = changes_memory(&op);
    struct cud_work *w = submit(s, &op);
    w->exec = e;
    w->calls = has_host_node(e->graph);
    w->changes_memory = changes;
    cud_stamp_drop(e->stamp);
    e->stamp = w->stamp = xcalloc(1, sizeof *w->stamp);
    *w->stamp = (struct cud_stamp){.refs = 2, .seq = w->seq, .stream = s->id};
    submitted(w);
    return cudaSuccess;
}

int cud_enqueue_record(struct CUstream_st *s, struct CUevent_st *e) {
    struct cud_op op = {.kind = CUD_OP_RECORD};
    struct cud_work *w = submit(s, &op);
    cud_stamp_drop(e->stamp);
    e->stamp = w->stamp = xcalloc(1, sizeof *w->stamp);
    *w->stamp = (struct cud_stamp){.refs = 2, .seq = w->seq, .stream = s->id};
    submitted(w);
    return cudaSuccess;
}

int cud_enqueue_wait(struct CUstream_st *s, struct cud_stamp *stamp) {
    if (!stamp)
        return cudaSuccess;
    struct cud_op op = {.kind = CUD_OP_WAIT};
    struct cud_work *w = submit(s, &op);
    w->stamp = stamp;
    stamp->refs++;
    submitted(w);
    return cudaSuccess;
}

/* ---- begin and end of the process -----------------------------------------------------------------------
 */

static void before_fork(void) {
    cud_lock();
}

static void after_fork(void) {
    cud_unlock();
}

/* What the parent submitted is the parent's to do. */
static void in_child(void) {
    q.first = q.last = q.current = q.calling = NULL;
    q.len = q.waiters = q.nbeside = q.unsettled = q.streams = 0;
    q.runner = false;
    advanced = (struct cud_bell)CUD_BELL;
    worker_forked();
    cud_lock_forked();
}

void cud_queue_open(void) {
    const char *blocking = getenv("CUDA_LAUNCH_BLOCKING");
    q.tools = rp_gpu_tools(cud.gpu);
    q.blocks = (blocking && *blocking && strcmp(blocking, "0") != 0) || getenv("REPRISE_DIGEST");
    rp_gpu_pause(cud.gpu, on_pause, NULL);
    pthread_atfork(before_fork, after_fork, in_child);
}

void cud_queue_close(void) {
    q.closing = true;
    cud_drain();
}
