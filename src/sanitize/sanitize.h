/* Tools that find mistakes of programs while they run: memcheck, initcheck, racecheck, synccheck.
 *
 * They watch execution (exec/watch.h) and hear of allocations, copies and API errors from the host side. What
 * they find is text for the user, in the form compute-sanitizer made known: findings of one kind at one place
 * are one entry with a count, and come out when their launch has ended. */
#ifndef REPRISE_SANITIZE_SANITIZE_H
#define REPRISE_SANITIZE_SANITIZE_H

#include "exec/watch.h"

struct sanitizer;

struct sanitizer_options {
    unsigned tools;       /* set of enum rp_tool */
    uint64_t print_limit; /* findings that are printed in a run */
    bool leaks;           /* memory never freed is an error */
};

struct sanitizer *sanitizer_create(const struct sanitizer_options *o, struct memory *mem);
void sanitizer_destroy(struct sanitizer *s);
/* How the host's part of a report is made; NULL: there is none. */
void sanitizer_trace_host(struct sanitizer *s, const struct rp_host_trace *how);

/* A launch begins, and becomes watched; lockstep: its warps run as before Volta, lanes of one path together.
 * When it has ended, true means that it accessed memory in a way no GPU would let pass. */
void sanitizer_begin(struct sanitizer *s, struct exec *x, bool lockstep);
bool sanitizer_end(struct sanitizer *s, struct exec *x);

/* A launch that takes turns with the one that has begun, or follows it. It is watched between two swaps, by
 * all tools but racecheck, which follows one launch. The end says what sanitizer_end does. */
struct sanitizer_aside;
struct sanitizer_aside *sanitizer_aside_begin(struct sanitizer *s, struct exec *x);
void sanitizer_aside_swap(struct sanitizer *s, struct sanitizer_aside *a);
bool sanitizer_aside_end(struct sanitizer *s, struct sanitizer_aside *a);

/* The host allocated or is about to free memory, wrote or copied device memory, called something that
 * failed. */
void sanitizer_allocated(struct sanitizer *s, uint64_t addr);
void sanitizer_freeing(struct sanitizer *s, uint64_t addr);
void sanitizer_written(struct sanitizer *s, uint64_t addr, size_t size);
void sanitizer_copied(struct sanitizer *s, uint64_t to, uint64_t from, size_t size);
void sanitizer_api_error(struct sanitizer *s, const struct rp_api_error *e);

/* Memory of an owner (NULL: of any, and of device code) that is still allocated is leaked. */
void sanitizer_leaks(struct sanitizer *s, const void *owner);
/* The run ends: leaks, if they are to be looked for, and the summary. */
void sanitizer_finish(struct sanitizer *s, bool leaks);
/* Text since it was last taken; the caller empties it. */
struct str *sanitizer_text(struct sanitizer *s);
/* Errors so far. */
uint64_t sanitizer_errors(const struct sanitizer *s);

#endif
