/* Functional state of warps, thread blocks and launches, and what one instruction does to them.
 *
 * The timing model drives the same functions; nothing here knows about cycles. A warp's control state is a
 * stack of entries (SIMT stack). An entry is runnable when no entry above it shares a lane with it: those
 * that do are the paths it waits for. Paths of one divergence have disjoint lanes and may run in any order,
 * so that a path which waits (at a barrier, for other lanes of its warp, in a spin loop) can be set aside for
 * another. */
#ifndef REPRISE_EXEC_WARP_H
#define REPRISE_EXEC_WARP_H

#include "exec/lanes.h"
#include "exec/memory.h"

/* PATH_TURN: instructions after which a functional run lets another path of the same warp go on. */
enum { PATH_TURN = 4096 };
enum {
    MAX_BARRIERS = 16,
    CLUSTER_BARRIER = 16,        /* simt_entry.bar: the cluster's */
    MEM_DEVICE_HEAP = 0x4d414c43 /* rp_alloc.flags of what device code allocated */
};

/* How an instruction is carried out. */
enum xkind {
    X_ALU,
    X_S2R,
    X_P2R,
    X_R2P,
    X_LOAD,
    X_STORE,
    X_LDC,
    X_ATOM,
    X_LDGSTS,
    X_MBAR,
    X_LDSM,
    X_STSM,
    X_TEX,
    X_ISSPACE,
    X_SHFL,
    X_VOTE,
    X_MATCH,
    X_REDUX,
    X_ELECT,
    X_WARPSYNC,
    X_MMA,
    X_MOVM,
    X_BRA,
    X_BRX,
    X_CALL,
    X_CALLI,
    X_RET,
    X_EXIT,
    X_BAR,
    X_TRAP,
    X_SYSCALL,
    X_QUEUE, /* nothing: a mechanism acts on it */
    X_NOP
};

/* An instruction prepared for execution. Operand words are indices: registers as they are, others
 * (immediates, constants, RZ) in the pool of broadcast words, with bit 31 set. */
struct xinst {
    struct lane_op op;
    const struct inst *in;
    const struct xmods *mods;      /* neg and abs of source words, or NULL */
    uint8_t kind, nsw, ndw, guard; /* nsw, ndw: words of all sources, of the destination */
    bool gneg, pneg[2];
    bool turn;   /* other warps run before this one goes on (turns.c) */
    bool sole;   /* no predicate but its guard */
    bool easy;   /* computes in lanes alone: no neg or abs, no predicate but its guard, the usual rounding */
    bool spots;  /* it is a load or store that may have a spot ... */
    bool shaped; /* ... and moves whole words: the shape of where its lanes point says what it does */
    bool shared; /* it accesses shared memory, and no other */
    bool wide;   /* its addresses have 64 bits */
    bool taken;  /* a mechanism puts words of its sources into the pool each time it issues (BANK_QUEUE) */
    uint8_t bytes, words,
        step; /* that one lane accesses in memory; its registers for that, and bytes of each */
    uint8_t ps[2], pd[2];
    uint8_t first[4]; /* index in s of each source's first word */
    uint32_t d,
        s[MAX_SOURCE_WORDS]; /* d: first destination register; if there is none, the first spare row */
};
struct xmods {
    uint32_t and_mask[8], xor_mask[8];
    uint32_t words; /* that are changed, as bits */
};
#define POOL 0x80000000u

/* A word of the pool: an immediate, or a word of a constant bank that each launch reads. */
struct pool_word {
    uint8_t bank; /* BANK_COUNT: immediate */
    uint32_t v;
};

/* A program decoded for execution; shared by all launches of the kernel. */
struct image {
    const struct program *prog;
    struct xinst *code;
    uint32_t ncode;
    uint64_t address; /* where its instructions lie, in a space of their own */
    VEC(struct pool_word) pool;
    struct arena arena;
    struct image **streams; /* of the program's streams, in their order */
    uint32_t nstreams;
};

struct simt_entry {
    uint32_t pc, rpc, mask;
    uint32_t sync;  /* not 0: waits at a warp-wide instruction for these lanes to arrive */
    uint32_t lanes; /* lanes that arrived at the barrier */
    int16_t bar;    /* barrier it waits at, or -1 */
    bool call;      /* bottom of a call: RET returns to the entry below */
    bool given; /* others have carried out its warp-wide instruction, too: results are in given of the warp */
};

/* Rows behind the registers of a warp, for what operations without a destination may compute. */
enum { SPARE_ROWS = 2 };

struct warp {
    uint32_t (*r)[WARP_LANES];      /* registers, and spare rows */
    uint32_t p[8];                  /* predicates; p[PRED_PT] is all ones */
    struct simt_entry *stack, *top; /* top: the last entry, if there is one */
    uint32_t depth, cap;
    uint32_t live;    /* lanes that have not exited */
    uint32_t index;   /* in the block */
    int64_t patience; /* how long its paths still run in a functional run before one makes way for another */
    uint32_t spins;   /* accesses meanwhile that others may have to answer */
    uint32_t opened;  /* openings of barriers when it began to wait (grid.c), plus 1; 0: it does not */
    uint32_t error[WARP_LANES]; /* the last error of each thread's calls of the device runtime */
    uint32_t arrived;           /* lanes that arrived at the cluster's barrier, which has not opened since */
    uint8_t *local;             /* local memory: word w of lane l at (w * 32 + l) * 4 */
    struct cta *cta;
    uint32_t given[WARP_LANES]; /* results that wait for paths, and predicates */
    uint32_t given_p;
    struct simt_entry few[8]; /* what stack points to while that is enough */
};

struct barrier {
    uint32_t arrived, want;    /* threads; want 0: all of the block */
    uint32_t and_, or_, count; /* reduction in progress */
};

/* Thread blocks that run together and reach each other's shared memory; without clusters, one. They begin
 * together, and their state is kept until all have ended. */
struct cluster {
    struct cta **ctas; /* by rank */
    uint32_t n;
    uint32_t running;       /* blocks that have not ended */
    uint32_t live, arrived; /* threads that have not exited, and those of them that are at the barrier */
    uint32_t opened;        /* times it let them go on */
    uint64_t open_at;       /* timed: cycle in which it does so next */
};

/* A thread block. */
struct cta {
    struct exec *x;
    struct warp *warps;
    uint32_t nwarps, nthreads, live; /* live: threads that have not exited */
    uint32_t id[3], number, sm;      /* sm: where it runs */
    struct cluster *cluster;
    uint32_t rank;                /* in the cluster */
    bool ended;                   /* and no longer among those that run there */
    uint32_t (*rows)[WARP_LANES]; /* shared memory, and registers and local memory of all warps */
    uint8_t *shared;
    uint32_t shared_bytes; /* that threads can access: at least what was asked for */
    struct barrier bars[MAX_BARRIERS];
    uint32_t bars_used; /* those at which somebody has arrived, as bits */
    uint32_t opened;    /* times one of them let threads go on */
    void *watched;      /* what the launch's watcher keeps of the block */
    void *observed;     /* what the launch's observer does */
};

/* What went wrong in a launch. */
struct fault {
    enum rp_status status;
    uint32_t pc, lane;
    const struct warp *w;
    uint64_t addr;
    uint32_t size;
    enum mem_space space;
    const char *what; /* more words, or NULL */
};

struct textures;
struct watch;
struct observer;
struct device_runtime;

/* A launch in execution, with all that instructions may touch. */
struct exec {
    const struct image *img;
    uint32_t (*pool)[WARP_LANES];
    const uint8_t *bank[BANK_COUNT];
    uint32_t bank_bytes[BANK_COUNT];
    struct memory *mem;
    uint32_t grid[3], block[3], cluster[3], nsms; /* cluster: its blocks along each axis, 1 without */
    uint64_t grid_id;
    uint32_t local_bytes, shared_static, shared_dynamic;
    uint64_t clock; /* advances with execution; read by %clock */
    uint64_t warp_insts, thread_insts;
    uint64_t passed;    /* warp instructions that a mechanism let warps pass over; they are in neither ... */
    uint64_t skipped;   /* ... and those that it lets them, which are perhaps more yet */
    uint64_t waited;    /* what a functional run counts as instructions besides: accesses that spin, sleep */
    uint64_t watchdog;  /* warp instructions after which the launch fails; 0: no limit */
    uint64_t divergent; /* of warp_insts: on a path of fewer than 32 lanes */
    uint64_t *executed; /* times each instruction of the image ran */
    struct fault fault;
    struct str *out, *err; /* device printf, assert */
    size_t out_limit;
    struct textures *tex;
    struct watch *watch;       /* sees accesses and synchronisation; NULL: nobody */
    struct observer *observer; /* sees every instruction of a functional run; NULL: nobody */
    uint64_t heap_limit;
    uint64_t *heap_used;            /* of all launches together */
    struct device_runtime *runtime; /* launches by device code */
    struct mem_hints hint;          /* all zero where nothing is known of what is mapped */
    struct str report;              /* of the fault, in words */
    /* Lets others act between two steps of the launch, now and then; NULL: nobody wants to. What it returns,
     * unless NULL, is why the launch must end. */
    const char *(*pause)(void *ctx);
    void *pause_ctx;
    uint64_t pause_next; /* of warp_insts + waited: when it is called next in a functional run */
    const char *stop;    /* what it returned last */
    /* In a pause: brings executed up to date for who looks at it; NULL: it is. */
    void (*gather)(void *ctx);
    void *gather_ctx;
    const char *module_name;
    const char *(*file_name)(void *names, uint32_t file); /* of debug lines; NULL when unknown */
    void *names;
};

/* ---- decode.c ---- */
/* Prepares a linked program and its streams; memory is the image's. */
struct image *image_create(const struct program *p);
void image_free(struct image *img);
/* The stream of that name beside a kernel, or NULL. */
const struct image *image_stream(const struct image *img, const char *name);
/* Fills the pool of an image (its own, or one of a stream's) for a launch, from the launch's constant banks:
 * img->pool.len entries. */
void image_fill_pool(const struct exec *x, const struct image *img, uint32_t (*pool)[WARP_LANES]);

/* ---- turns.c ---- */
/* Marks where warps of a functional run take turns. */
void image_mark_turns(struct image *img);

/* ---- simt.c ---- */
void simt_init(struct warp *w, uint32_t mask);
/* The entry to run, with entries that reached their reconvergence point or lost all lanes removed; NULL when
 * the warp has ended or every entry waits. */
static inline struct simt_entry *simt_top(struct warp *w);
/* The same, for when it may not be the one on top. */
struct simt_entry *simt_settle(struct warp *w);
/* Splits the top entry: lanes taken go to target, the others to next; they meet again at rpc. */
void simt_diverge(struct warp *w, uint32_t taken, uint32_t target, uint32_t next, uint32_t rpc);
/* Pushes a path. */
void simt_push(struct warp *w, struct simt_entry e);
/* Removes lanes that exited. */
void simt_exit(struct warp *w, uint32_t lanes);
/* Returns lanes from a call. */
void simt_return(struct warp *w, uint32_t lanes);
/* Brings another runnable path that does not wait to the top; false when there is none. */
bool simt_rotate(struct warp *w);
/* The same for a warp that spins: when no other path can run, lanes that wait at a reconvergence point go on
 * without the others, because what the others wait for may be theirs to do. */
bool simt_yield(struct warp *w);
/* Lets lanes go on alone that wait at a reconvergence point, if one of these is among them. */
bool simt_part(struct warp *w, uint32_t lanes);
/* Paths that stand where the topmost one does, and go on to the same place, become one with it: as on
 * hardware, lanes that met at a warp-wide instruction go on together. True if there were any. */
bool simt_join(struct warp *w);

/* The stack has so many entries now. */
static inline void simt_resize(struct warp *w, uint32_t depth) {
    w->depth = depth;
    w->top = &w->stack[depth ? depth - 1 : 0];
}

static inline struct simt_entry *simt_top(struct warp *w) {
    if (w->depth) {
        struct simt_entry *e = w->top;
        if (e->mask && (e->pc != e->rpc || e->call) && e->bar < 0 && !e->sync)
            return e;
    }
    return simt_settle(w);
}

/* ---- barrier.c ---- */
/* Lanes of the top entry, which has passed the instruction, arrive at barrier id (of want threads, 0: all),
 * voting p. */
void barrier_arrive(struct cta *c, struct warp *w, uint32_t id, uint32_t want, uint32_t lanes, uint32_t p,
                    bool wait);
/* Threads left the block: barriers may be complete now. */
void barrier_check(struct cta *c);

/* ---- cluster.c ---- */
/* Blocks of one cluster of the launch, and their end. */
struct cluster *cluster_create(struct exec *x);
void cluster_free(struct cluster *k);
/* Starts a cluster; first: number of the first of its blocks in the order in which blocks begin. */
void cluster_start(struct cluster *k, uint64_t first);
/* A block has ended; true when it was the last of its cluster. */
bool cluster_end(struct cta *c);
/* Lanes of a warp arrive at the cluster's barrier; those that have arrived wait for it on the path on top. */
void cluster_arrive(struct warp *w, uint32_t lanes);
void cluster_wait(struct warp *w, uint32_t lanes);
/* Lanes of a warp exit. */
void cluster_exit(struct warp *w, uint32_t lanes);
/* Host address of bytes in the cluster's shared memory, or NULL. */
uint8_t *cluster_shared(const struct cta *c, uint64_t at, uint32_t bytes);

/* ---- access.c, atomic.c, matrix.c, mma.c, warpops.c, texture_ops.c, syscall.c: carry out one instruction
 * for lanes m ---- */
#define EXEC_OPS(X)                                                                                          \
    X(load)                                                                                                  \
    X(store)                                                                                                 \
    X(ldc) X(atom) X(ldgsts) X(mbar) X(tex) X(isspace) X(syscall) X(ldsm) X(stsm) X(mma) X(movm)
#define X(name) bool exec_##name(struct exec *x, struct warp *w, const struct xinst *i, uint32_t m);
EXEC_OPS(X)
#undef X
/* One of these, by its kind. */
bool exec_simple(struct exec *x, struct warp *w, const struct xinst *i, uint32_t m);
/* Carries out a warp-wide instruction for the path on top and for others that wait for it; it takes effect
 * for no lanes but those in only. False when the path must wait for others. */
bool exec_wide(struct exec *x, struct warp *w, const struct xinst *i, uint32_t only);
/* Lanes whose addresses say where the rows of matrices lie that an instruction loads or stores. */
uint32_t exec_row_lanes(const struct xinst *i);
/* Lanes that carry out the path's instruction, which is the whole warp's, together: those of other paths that
 * wait at it, too, which go past it. 0 when some are still on their way and the path must wait. */
uint32_t exec_meet(struct warp *w, const struct xinst *i);
/* Host bytes of [addr, addr+size) in global memory, or NULL. Addresses of 32-bit modules are widened first.
 */
void *exec_global(struct exec *x, uint64_t addr, uint32_t size);
/* Host addresses of all lanes for an access; false after a fault. Lanes in *local have offsets in their local
 * memory instead; where local is NULL they may not touch it. */
bool exec_resolve(struct exec *x, struct warp *w, const struct xinst *i, uint32_t m, uint32_t bytes,
                  uint64_t *at, uint32_t *local);
/* Whether lanes m may write where they point; false after a fault. Asked only while some memory may not be
 * written. */
bool exec_may_write(struct exec *x, struct warp *w, const struct xinst *i, uint32_t m);
/* Host place of a word of a lane's local memory. */
void *exec_local(const struct warp *w, uint64_t at, uint32_t lane);
/* Records a fault; always returns false. */
bool exec_fault(struct exec *x, const struct warp *w, const struct xinst *i, enum rp_status s, uint32_t lane,
                uint64_t addr, uint32_t size, enum mem_space space);
/* Of lanes m of a store that is about to be carried out, those that find there what they are to write. A
 * store that faults has none. */
uint32_t exec_silent(struct exec *x, struct warp *w, const struct xinst *i, uint32_t m);

/* Source word k of an instruction as 32 lanes (without neg/abs). */
static inline const uint32_t *src_lanes(const struct exec *x, const struct warp *w, uint32_t s) {
    return s & POOL ? x->pool[s & ~POOL] : w->r[s];
}

/* Where lanes of a load or store point, in one piece of memory: found once for the time that it takes and for
 * what it does. */
struct spot {
    enum lane_shape shape; /* LANES_ANY: it is not known */
    uint64_t at; /* address of lane 0, or where it would be; in shared memory an offset; NEAR: the piece's */
    uint32_t *off; /* NEAR: of each lane from there; those of lanes outside are copies of one inside */
};

/* ---- step.c ---- */
enum warp_state { WARP_RUNNING, WARP_WAITING, WARP_DONE, WARP_FAULT };
/* Runs a warp for its turn, at most n instructions; its paths take turns, too. */
enum warp_state warp_run(struct exec *x, struct warp *w, uint64_t n);
/* Runs one instruction of the path on top. */
enum warp_state warp_step(struct exec *x, struct warp *w);
/* The same for an instruction that is not control flow, which takes effect for no lanes but these. */
enum warp_state warp_step_lanes(struct exec *x, struct warp *w, uint32_t only);
/* Runs instruction i, at which the path on top, e, stands, for lanes m of it, of which there are so many: for
 * callers that know them, and for instructions that warp_can_take. */
enum warp_state warp_take(struct exec *x, struct warp *w, struct simt_entry *e, const struct xinst *i,
                          uint32_t m, uint32_t lanes);
/* The same in two steps, which other work may come between: the path goes past an instruction, and one of
 * X_ALU computes. */
void warp_pass(struct exec *x, struct simt_entry *e, uint32_t lanes);
void warp_compute(struct exec *x, struct warp *w, const struct xinst *i, uint32_t m);
/* The same of a load or store that points to p. */
enum warp_state warp_take_at(struct exec *x, struct warp *w, struct simt_entry *e, const struct xinst *i,
                             uint32_t m, uint32_t lanes, const struct spot *p);
/* The same of a branch that all lanes of the path take, or none. */
void warp_take_branch(struct exec *x, struct warp *w, const struct xinst *i, bool taken, uint32_t lanes);
/* Runs instruction i of the path on top, which is control flow, for the lanes that its guard lets pass. */
enum warp_state warp_take_control(struct exec *x, struct warp *w, const struct xinst *i);
/* As warp_take, but accesses to what SMs share are noted in l, with a tag, as issued in a cycle (later.h);
 * WARP_WAITING: there were some. m is not 0. */
struct later;
enum warp_state warp_take_later(struct exec *x, struct warp *w, const struct xinst *i, uint32_t m,
                                uint32_t lanes, const struct spot *p, struct later *l, uint64_t cycle,
                                int32_t tag);
/* Whether an instruction neither changes the path it is on nor concerns others: warp_take can run it, unless
 * somebody watches. */
static inline bool warp_can_take(const struct xinst *i) {
    return i->kind == X_ALU || (i->kind >= X_LOAD && i->kind <= X_MBAR) || i->kind == X_TEX;
}
/* Addresses of a memory instruction as the program computed them; those of lanes outside m are copies of one
 * inside. */
void exec_addresses(const struct exec *x, const struct warp *w, const struct xinst *i, uint32_t m,
                    uint64_t *a);

/* What, with the instruction's offset added, is the low 32 bits of the same, of all lanes as they are:
 * offsets in shared memory. Not for LDGSTS. */
static inline const uint32_t *exec_offsets(const struct exec *x, const struct warp *w,
                                           const struct xinst *i) {
    return src_lanes(x, w, i->s[i->first[0]]);
}

/* Finds where lanes m, which are not none, of an instruction that may have a spot point; p->off has room for
 * that. False: it is not known, as not all of them point into one piece of memory and may access it. */
bool exec_spot(struct exec *x, const struct warp *w, const struct xinst *i, uint32_t m, struct spot *p);
/* Carries out a load or store of which that is known. stored: the words to store; NULL: they are in their
 * registers. */
void exec_at_spot(const struct exec *x, struct warp *w, const struct xinst *i, uint32_t m,
                  const struct spot *p, const uint32_t (*stored)[WARP_LANES]);

/* Thread blocks: state for one of x's blocks; block number n starts in it (again and again). */
struct cta *cta_create(struct exec *x);
void cta_start(struct cta *c, uint32_t n);
void cta_free(struct cta *c);
/* Runs a block from its beginning, alone; false when it does not end as soon as one turn of a functional run
 * allows, or has a fault, or *enough became true meanwhile. */
bool cta_run_to_end(struct cta *c, const bool *enough);

/* What is left of a launch: blocks that have begun, in any state between two instructions, all of a cluster
 * together, and how many have. All zero: the whole launch. */
struct grid_rest {
    VEC(struct cta *) begun;
    uint64_t next;
    uint32_t at;    /* of those that have begun: whose turn it is */
    uint32_t stuck; /* turns in a row in which nothing could go on */
    bool apart;     /* where one alone has begun and ended, the caller decides how to go on */
};

enum grid_state { GRID_RUNNING, GRID_DONE, GRID_FAULT };

/* Lets one block of a launch have its turn. slots: blocks that may be resident together. */
enum grid_state exec_grid_turn(struct exec *x, uint32_t slots, struct grid_rest *rest);
/* Ends a launch that is done or has a fault, which is described; frees its blocks. */
void exec_grid_end(struct exec *x, enum grid_state s, struct grid_rest *rest);
/* Runs the rest of a launch functionally and frees its blocks; false on a fault (x->fault). */
bool exec_run_grid(struct exec *x, uint32_t slots, struct grid_rest *rest);
enum {
    EXEC_PAUSE = 4096, /* instructions of a functional run between two pauses */
    EXEC_TURN = 65536, /* and of a block's turn, which ends when all its warps have gone on once more */
};
/* Calls x->pause; false: the launch must end. */
bool exec_pause(struct exec *x);
/* Where an instruction comes from: module, line, source line, address, the instruction. */
void exec_describe_place(const struct exec *x, uint32_t pc, struct str *out);
/* What each path of a warp waits for and who has not come; lines of a report. */
void exec_describe_paths(const struct warp *w, struct str *out);
enum { STUCK_WARPS = 200 }; /* that a report describes */
/* Describes x->fault in words. */
void fault_describe(const struct exec *x, struct str *out);

#endif
