/* Work that the program has submitted and the GPU has yet to do.
 *
 * Work is done in the order of the calls that submitted it, by one thread at a time: a thread of the program
 * that waits for it, or the worker, when the program does something else. So what a program computes, what is
 * reported, and in which order, does not depend on who is faster.
 *
 * Only work that waits is passed. While a kernel does nothing but wait for somebody (rp_launch_waits), or a
 * host function does not return, what other streams have ready goes on, and another kernel runs beside it.
 * Copies and the like also pass a kernel that runs for very long, if somebody waits for them.
 *
 * Times are simulated. Each stream has a clock; work begins when the stream, those it must wait for and the
 * part of the GPU it needs are free: one launch has all SMs, and copies from and to the host have an engine
 * each. The program's own clock stands still while it computes, and moves on when it waits. */
#ifndef REPRISE_CUDA_QUEUE_H
#define REPRISE_CUDA_QUEUE_H

#include "cuda/graph.h"

#pragma GCC visibility push(default)

/* Work to be done once, for whoever waits for it: an event that was recorded, a graph that was launched. */
struct cud_stamp {
    unsigned refs;
    bool done;
    uint64_t time_ns;     /* when it was done */
    uint64_t seq, stream; /* what it is: number of the work, and of its stream */
};
void cud_stamp_drop(struct cud_stamp *s);

/* Parts of the GPU that do one thing at a time. */
enum cud_engine { CUD_ENGINE_SMS, CUD_ENGINE_TO_DEVICE, CUD_ENGINE_TO_HOST, CUD_ENGINES };

/* Submits an operation, which it takes over. wait: comes back when it is done, with its error. */
int cud_enqueue(struct CUstream_st *s, struct cud_op *op, bool wait);
/* The same for a graph, which is lent. */
int cud_enqueue_graph(struct CUstream_st *s, struct CUgraphExec_st *e);
/* Records e, as what the stream has come to. */
int cud_enqueue_record(struct CUstream_st *s, struct CUevent_st *e);
/* Lets the stream wait for a stamp. */
int cud_enqueue_wait(struct CUstream_st *s, struct cud_stamp *stamp);

/* Waits for all work. */
void cud_drain(void);
/* Waits until the stamp is done. */
void cud_await(struct cud_stamp *s);
/* Waits for work in the queue that changes which memory there is, or which kernels are compiled. */
void cud_settle(void);
/* Waits for a stream, or for an event; without patience the answer may be cudaErrorNotReady, but the work has
 * gone on meanwhile. Faults surface. */
int cud_stream_done(struct CUstream_st *s, bool patient);
int cud_stamp_done(struct cud_stamp *s, bool patient);

/* ---- default_stream.c ---- */
/* Whether the default stream of this program is one for each thread. */
bool cud_default_per_thread(void);
/* This thread's, in a context. */
struct CUstream_st *cud_thread_stream(struct CUctx_st *ctx);

/* For operations that run: takes time on an engine, or on none (CUD_ENGINES); what the time is for them then.
 */
uint64_t cud_spend(enum cud_engine engine, uint64_t ns);
/* The number of the work that runs on this thread. */
uint64_t cud_running_seq(void);
/* The graph whose launch it is, or NULL. */
const struct CUgraph_st *cud_running_graph(void);
/* Where the program submitted it; how many frames. */
uint32_t cud_running_frames(void **frames, uint32_t max);
/* A launch has begun or ended; totals before it, to which those of launches beside it are added meanwhile. */
void cud_launch_begins(struct rp_totals *before);
void cud_launch_ended(void);

/* The device is open: launches can be interrupted. */
void cud_queue_open(void);
/* The program ends: does what is left, but waits for nobody who cannot come any more. */
void cud_queue_close(void);

#pragma GCC visibility pop

/* ---- worker.c: the threads ------------------------------------------------------------------------------
 */

/* There is work; now: it should not wait until the program is idle. */
void worker_wake(bool now);
/* The program has called: it is not idle. */
void worker_note_call(void);
/* The thread for host functions is there. */
void worker_calls(void);
/* A process was forked: it has no threads but the one that did so. */
void worker_forked(void);

/* ---- queue.c, for the threads; under the lock ---- */

/* Does some work that can be done; false: there is none. */
bool queue_work(void);
/* The host function to be called next, when there is one; it is done. */
struct cud_work *queue_call(void (**fn)(void *), void **data);
void queue_called(struct cud_work *w);
/* Whether work is left; needs no lock. */
bool queue_pending(void);

#endif
