/* The state of racecheck: what each thread is ordered behind, and what synchronisation passes on. */
#ifndef REPRISE_SANITIZE_RACE_H
#define REPRISE_SANITIZE_RACE_H

#include "sanitize/shadow.h"
#include "sanitize/tool.h"
#include "sanitize/view.h"

#define SHARED_PLACE (UINT64_C(1) << 56) /* shared memory of blocks in the shadow, 4 GB for each place */

enum { BLOCK_WARPS = 32, MEMO = 64 };

/* What a thread knows of: accesses in general; perhaps more reads, because a strong write passes on that the
 * reads before it are done even without a fence, since their values have come; and accesses that a fence has
 * made visible to the whole GPU or to the block, which its own strong writes pass on. */
enum known { KNOWN_ALL, KNOWN_READS, KNOWN_FENCED, KNOWN_FENCED_BLOCK, KNOWN_KINDS };

/* Threads that have arrived at a barrier which has not opened. */
struct race_barrier {
    uint32_t waiting[BLOCK_WARPS]; /* lanes of each warp that wait */
    uint32_t passed[BLOCK_WARPS];  /* lanes that arrived and went on */
    struct view *view;             /* what the latter passed on */
    uint32_t base;                 /* of them, the latest */
};

/* An asynchronous copy into shared memory that its thread has not waited for. */
struct race_copy {
    uint32_t at, bytes, group;
    uint8_t lane;
};

/* Weak reads that a warp did lately. */
enum { READS_KEPT = 4 };
struct race_reads {
    struct {
        uint32_t pc, mask, time;
        uint64_t at[WARP_LANES];
    } last[READS_KEPT];
    uint32_t next;
};

/* A location through which threads synchronise. */
struct race_sync {
    struct view *gpu, *block; /* what a reader learns; from a fence or release for its own block only */
    struct view *reads;       /* the same of reads alone */
    uint32_t of_block;        /* whose block that is */
    struct view *phase;       /* barrier objects: of arrivals in the phase that is not over */
    bool odd;                 /* the phase that is not over is an odd one */
};

/* A block. Times of earlier blocks in the same place are behind base. */
struct race_block {
    uint32_t number, nthreads, nwarps;
    uint64_t shared;                 /* where its shared memory begins in the shadow */
    bool views;                      /* some thread has one */
    uint32_t *base;                  /* of each thread: everything its block did up to then is behind it */
    uint32_t lanes[BLOCK_WARPS];     /* that a warp has */
    uint32_t least[BLOCK_WARPS];     /* of a warp's bases */
    uint32_t (*row)[WARP_LANES];     /* of each thread: what it knows of the lanes of its warp */
    struct view **view[KNOWN_KINDS]; /* of each thread: what it knows besides; NULL: nothing */
    struct race_barrier barriers[MAX_BARRIERS];
    VEC(struct race_copy) copies[BLOCK_WARPS];
    struct race_reads *reads; /* of each warp */
    uint32_t *groups;         /* of each thread: groups of copies it has closed */
    VEC(uint64_t) synced;     /* locations in its shared memory that have a struct race_sync */
    /* Of the first block of a cluster: when the cluster's barrier last opened, and what was passed on there.
     */
    uint32_t opened_at;
    struct view *opened;
};

struct racecheck {
    struct sanitizer *s;
    struct exec *x;
    bool lockstep, given_up;
    uint32_t now, start; /* start: everything up to then is behind the launch */
    uint64_t begun;      /* blocks of the launch that have begun */
    uint32_t slots;      /* places of blocks that were ever made */
    struct shadow shadow;
    struct map sync; /* location -> struct race_sync */
    struct {
        struct view *a, *b, *joined;
    } memo[MEMO];
    uint8_t
        *prelude; /* of each instruction: a read whose thread went on to an atomic access of the same place */
    uint32_t *line_pc; /* of each instruction: the first one of its source line; NULL: not yet asked for */
};

static inline struct race_block *race_block(const struct warp *w) {
    return ((struct block_state *)w->cta->watched)->race;
}

/* The block whose shared memory a lane accesses. */
static inline struct race_block *race_owner(const struct access *a, uint32_t lane) {
    return ((struct block_state *)touch_block(a->w, &a->t, lane)->watched)->race;
}

/* One lane of a warp, as an access sees it. */
struct who {
    struct race_block *b;
    uint32_t warp, lane, tid;
    const struct view *view; /* what it knows of accesses, or of reads; race_behind sets it */
};

/* ---- race_past.c ---- */
/* Whether a past access, a read or another, happened before what the thread does now. */
bool race_behind(const struct racecheck *r, struct who *t, const struct past *p, bool past_write);
/* Remembers n instead of p; beside p, which n is not ordered behind. Of weak and strong ones the weak are
 * kept, which race with more. */
void race_replace(struct racecheck *r, struct past *p, const struct past *n);
void race_merge(struct racecheck *r, struct past *p, const struct past *n);

/* ---- race_report.c ---- */
/* An access of a lane, which will be remembered as now, races with a past one. */
void race_report(struct racecheck *r, const struct access *a, uint32_t lane, const struct past *p,
                 bool past_write, const struct past *now);

/* ---- race_sync.c ---- */
/* Ends the moment: what happens from here on is later than what has happened. */
void race_tick(struct racecheck *r);
/* Thread t learns what a view knows. */
void race_learn(struct racecheck *r, struct race_block *b, uint32_t t, enum known what, struct view *v);
/* A strong access of a thread to a location: it learns what was passed on there, and passes on what it may.
 */
void race_strong(struct racecheck *r, struct race_block *b, const struct access *a, uint32_t lane,
                 uint64_t at);
void race_forget(struct racecheck *r);
/* Makes the copies of a lane complete that are not in its last few groups. */
void race_complete(struct racecheck *r, struct warp *w, uint32_t lane, uint32_t open_groups);
/* Frees what a block's threads know, and what was passed on in its shared memory. */
void race_block_reset(struct racecheck *r, struct race_block *b);

#endif
