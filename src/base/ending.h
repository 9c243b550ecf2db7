/* What a process keeps when a signal ends it: ^C, SIGTERM, or a crash. */
#ifndef REPRISE_BASE_ENDING_H
#define REPRISE_BASE_ENDING_H

#include <stdbool.h>

/* From now on keep(signal) runs, once, before one of these signals ends the process as it would have: SIGHUP,
 * SIGINT, SIGTERM; SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV. Signals that the process ignores or handles stay
 * with it, and so do those it handles later.
 *
 * keep runs in a thread of its own, so that it may allocate and wait for locks. The other threads go on
 * meanwhile; one that has crashed waits, for a few seconds at most, and may hold a lock for ever. */
void ending_watch(void (*keep)(int signal));

/* A signal that ends the process has come. */
bool ending_begun(void);

#endif
