/* Traces: what each instruction of a timed run did in which cycle, written while the run goes on.
 *
 * A file whose name ends in .json is a Chrome trace (Perfetto opens it), any other a Kanata 0004 log (for
 * Konata); docs/traces.md describes both. Memory use does not grow with the run. Until its end the file is
 * beside its place (base/io.h). Lines reach it whole and in order, so that what an interrupted run leaves can
 * be opened. */
#ifndef REPRISE_REPORT_TRACE_H
#define REPRISE_REPORT_TRACE_H

#include <stdbool.h>

#include "reprise.h"

struct trace;

/* Opens a trace and lets it watch the GPU, which must be timed. NULL: a message on stderr, or *log, which the
 * caller frees, says why not. */
struct trace *trace_open(struct rp_gpu *gpu, const struct rp_trace *what, char **log);
/* Completes and closes the file, after the last launch; NULL is ignored. false after a
 * message. Also sets *log, and returns true, when the trace is well but empty. */
bool trace_close(struct trace *t, char **log);
/* Puts what there is of it in its place, because a signal ends the process, whatever other threads do; NULL
 * is ignored. */
void trace_keep(const struct trace *t);

#endif
