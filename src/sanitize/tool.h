/* What the tools share: the run's state, accesses as they see them, findings, what is kept of allocations. */
#ifndef REPRISE_SANITIZE_TOOL_H
#define REPRISE_SANITIZE_TOOL_H

#include "base/map.h"
#include "sanitize/sanitize.h"

enum { TRACE_FRAMES = 24, BITS_PAD = 9 /* bytes behind a set of bits, which is read 64 bits at a time */ };

/* Where the host was. */
struct trace {
    void *frame[TRACE_FRAMES];
    uint32_t n;
};

/* What is kept of an allocation as long as it lives. */
struct kept {
    uint64_t addr, size;
    enum rp_mem_kind kind;
    bool device;      /* allocated by device code */
    struct trace at;  /* when it was allocated */
    uint8_t *written; /* initcheck: a bit for each byte; NULL: all of it counts as written */
};

/* A kind of mistake at one place of a launch. */
struct finding {
    uint64_t key, count;
    bool hazard;            /* the count is of hazards, and all of them are one error */
    uint32_t before_atomic; /* racecheck: a read that races with an atomic access, plus one; or 0 */
    struct str text, rest;  /* rest: what follows the count of hazards */
};

/* An access of some lanes of a warp to one kind of place. */
struct access {
    struct exec *x;
    struct warp *w;
    const struct xinst *i;
    uint32_t pc;
    bool read, write, atomic;
    bool async; /* a copy that is complete only when it has been waited for */
    struct touch t;
};

struct racecheck;

struct sanitizer {
    struct watch watch; /* first: execution knows the sanitizer by it */
    struct sanitizer_options opt;
    struct memory *mem;
    const struct rp_host_trace *host;
    struct str text;
    uint64_t errors, printed, leaked_bytes, leaks;
    uint64_t races; /* of errors: pairs of accesses */
    bool limit_said;

    struct map kept;    /* address -> struct kept */
    struct kept *hint;  /* the one that was hit last */
    struct rp_alloc at; /* memcheck: the allocation that was hit last; size 0: none */

    struct exec *x; /* the launch, while there is one */
    struct trace launched;
    VEC(struct finding) found; /* in this launch, in the order in which they came up */
    struct map found_at;       /* key -> index in found, plus one */
    struct map told;           /* what earlier launches of the same kernels have brought up */
    bool wrong_access;

    struct racecheck *race;
    struct map mbarriers; /* synccheck: address of a live barrier object -> anything */
};

static inline bool tool_on(const struct sanitizer *s, enum rp_tool tool) {
    return s->opt.tools & tool;
}

/* ---- finding.c ---- */
/* Counts a mistake. When it is the first of its kind at its place, which key tells, in this launch, returns
 * it for its text to be filled; else NULL. */
struct finding *finding_add(struct sanitizer *s, uint64_t key, bool hazard);
/* It was none. */
void finding_drop(struct sanitizer *s, struct finding *f);
/* Ends the text of a new finding of a launch: the host's part. */
void finding_end(struct sanitizer *s, struct str *text);
/* The findings of the launch become text of the run. */
void findings_flush(struct sanitizer *s);
/* One that belongs to no launch. */
void finding_alone(struct sanitizer *s, const struct str *text);
/* Lines of a report: "at" an instruction, with the calls that led to it; "by" a thread. */
void finding_place(const struct access *a, uint32_t lane, struct str *text);
void finding_thread(const struct access *a, uint32_t lane, struct str *text);
/* FUNCTION+0xOFFSET in FILE:LINE */
void describe_pc(const struct exec *x, uint32_t pc, struct str *text);
void describe_trace(const struct sanitizer *s, const struct trace *t, const char *when, struct str *text);
void trace_take(const struct sanitizer *s, struct trace *t);

/* ---- kept.c ---- */
struct kept *kept_add(struct sanitizer *s, uint64_t addr, bool device);
void kept_remove(struct sanitizer *s, uint64_t addr);
/* The one that holds addr, or NULL. */
struct kept *kept_find(struct sanitizer *s, uint64_t addr);
void kept_free(struct sanitizer *s);

/* ---- memcheck.c ---- */
/* Lanes of a whose access is right. */
uint32_t memcheck_access(struct sanitizer *s, const struct access *a);
/* The same of a texture or surface instruction, for lanes m. */
uint32_t memcheck_texture(struct sanitizer *s, const struct access *a, uint32_t m);
bool memcheck_free(struct sanitizer *s, const struct access *a, uint32_t lane, uint64_t addr);
void memcheck_leaks(struct sanitizer *s, const void *owner);

/* ---- initcheck.c ---- */
void initcheck_access(struct sanitizer *s, const struct access *a);
void initcheck_written(struct sanitizer *s, uint64_t addr, uint64_t size);
void initcheck_copied(struct sanitizer *s, uint64_t to, uint64_t from, uint64_t size);

/* ---- synccheck.c ---- */
void synccheck_together(struct sanitizer *s, struct exec *x, struct warp *w, const struct xinst *i,
                        uint32_t m);
void synccheck_arrive(struct sanitizer *s, struct warp *w, const struct xinst *i, uint32_t id, uint32_t want,
                      uint32_t m);
/* A barrier opens. */
void synccheck_open(struct sanitizer *s, struct cta *c, uint32_t id);
/* The launch ended because nobody could go on; the report says who waits for whom. */
void synccheck_stuck(struct sanitizer *s, const char *report);
/* Lanes m are about to act on barrier objects in memory. */
void synccheck_object(struct sanitizer *s, const struct access *a);

/* ---- racecheck.c ---- */
struct racecheck *racecheck_create(struct sanitizer *s);
void racecheck_destroy(struct racecheck *r);
void racecheck_begin(struct racecheck *r, struct exec *x, bool lockstep);
void racecheck_end(struct racecheck *r);
void racecheck_access(struct racecheck *r, const struct access *a);
void racecheck_object(struct racecheck *r, const struct access *a);
void racecheck_fence(struct racecheck *r, struct warp *w, const struct xinst *i, uint32_t m);
void racecheck_together(struct racecheck *r, struct exec *x, struct warp *w, const struct xinst *i,
                        uint32_t m);
void racecheck_arrive(struct racecheck *r, struct warp *w, const struct xinst *i, uint32_t id, uint32_t m);
void racecheck_open(struct racecheck *r, struct cta *c, uint32_t id);
void racecheck_cluster_open(struct racecheck *r, struct cluster *k);
void racecheck_cluster_pass(struct racecheck *r, struct warp *w, uint32_t m);
void racecheck_block(struct racecheck *r, struct cta *c);
void racecheck_block_end(struct racecheck *r, struct cta *c);
/* Memory is new: what was known of it does not count. */
void racecheck_forget(struct racecheck *r, uint64_t addr, uint64_t size);

/* What a block's state of all tools hangs on: struct cta.watched. */
struct block_state {
    uint8_t *shared_written; /* initcheck: a bit for each byte of shared memory */
    struct race_block *race;
};

#endif
