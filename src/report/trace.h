/* Traces: what each instruction of a timed run did in which cycle, written while the run goes on.
 *
 * A file whose name ends in .json is a Chrome trace (Perfetto opens it), any other a Kanata 0004 log (for
 * Konata); docs/traces.md describes both. Memory use does not grow with the run. Lines reach the file whole
 * and in order, so that what an interrupted run leaves can be opened. */
#ifndef REPRISE_REPORT_TRACE_H
#define REPRISE_REPORT_TRACE_H

#include <stdbool.h>

#include "reprise.h"

struct trace;

/* Opens a trace and lets it watch the GPU, which must be timed. NULL: *log says why not; the caller frees it.
 */
struct trace *trace_open(struct rp_gpu *gpu, const struct rp_trace *what, char **log);
/* Completes and closes the file, after the last launch; NULL is ignored. false: *log says what went wrong
 * with it. Also sets *log, and returns true, when the trace is well but empty. */
bool trace_close(struct trace *t, char **log);

#endif
