/* Warp instruction reuse (Kim and Ro), between the files of this folder.
 *
 *   issue -> [rename, reuse: front.c] -> collectors ... execution -> [hash, signature buffer: alloc.c]
 *         -> verify-read or write -> retire
 *
 * Every value lives in a physical register (core/regfile.h). The rename tables change when an instruction
 * retires; the logical scoreboard sees to it that nobody reads a mapping before. References: rename tables,
 * reuse buffer (sources and result), signature buffer, instructions in flight (sources until retirement, and
 * a register being verified or given to the result). */
#ifndef REPRISE_MECH_WIR_WIR_H
#define REPRISE_MECH_WIR_WIR_H

#include "core/owner.h"
#include "core/view.h"
#include "mech/wir/blocks.h"
#include "mech/wir/h3.h"
#include "mech/wir/pendq.h"
#include "mech/wir/rb.h"
#include "mech/wir/vc.h"
#include "mech/wir/vsb.h"
#include "sim/queue.h"

enum {
    WIR_SOURCES = MAX_SOURCE_WORDS,
    WIR_MAX_RESULT = 4,    /* registers a control instruction writes, at most */
    WIR_COPY_RESERVE = 64, /* ops kept for copies of registers */
    WIR_FRESH = 2,         /* words written in a cycle without queues */
    WIR_AHEAD = 3,         /* so many results before one is written, the host fetches its register */
    ALL_LANES = -1,
};

enum wir_policy { WIR_MAX, WIR_CAPPED };
enum wir_load_rule { WIR_SAFE, WIR_PAPER };

/* Its parameters; wir.c says what they mean. */
struct wir_params {
    int32_t rb_entries, vsb_entries, vc_entries, queue;
    bool loads, pending;
    enum wir_policy policy;
    enum wir_load_rule load_rule;
    bool bank_copies;
    bool predicates;
    int32_t immediate_bits, front, alloc, release, ports, hash_bits;
    double pj_rename, pj_rb, pj_hash, pj_vsb, pj_alloc, pj_refcount, pj_vc;
};

/* What an instruction does to memory, for the loads behind it. */
enum wir_access { ACCESS_NONE, ACCESS_STORE, ACCESS_ATOMIC, ACCESS_SYNC };

/* A source register in an op's first line that those with a tag are too narrow to have. */
enum { MARK_NONE = 7 };

/* What WIR needs to know of an instruction, from the kernel's text alone. */
struct wir_mark {
    _Alignas(64) bool reusable; /* the reuse buffer may have its result */
    bool too_wide;              /* ... were its operands not too many or too wide for a tag */
    bool preds;                 /* it reads predicates, which go by value */
    bool scoped;     /* it is a load of memory that is written: block and count belong to its tag */
    uint8_t access;  /* enum wir_access of those that are not reusable ... */
    uint8_t spaces;  /* ... and where: BLOCKS_* */
    uint8_t sources; /* source registers, as bits, that are in its tag */
    uint8_t source[RB_OPERANDS]; /* which of the op's source registers a word of the tag is; or MARK_NONE */
    uint8_t renames;             /* accesses to the rename tables */
    bool simple;                 /* it is reusable, and registers and lanes are all that its tag lacks */
    struct rb_tag tag;           /* its tag: registers, predicates, lanes, block and count of a load are 0 */
    uint64_t pieces;             /* rb_pieces of that */
};

struct wir_counters {
#define COUNTER(field, ...) uint64_t field;
#include "mech/wir/counters.def"
#undef COUNTER
};

/* What WIR knows of an op in flight: what all stages need is in one line of the host's cache, and a tag in
 * another. */
struct wir_op {
    _Alignas(64) uint8_t nsrc; /* references held to its sources */
    uint8_t kind;              /* enum collect_kind of its collector */
    bool divergent;
    bool look;      /* it has still to be looked up in the reuse buffer */
    bool record;    /* its result enters the reuse buffer: at its reserved place, or anew */
    bool done;      /* all words have a register; it waits for copies */
    bool holes;     /* some of its sources were never written */
    bool signs;     /* its words go through the signature buffer */
    uint16_t dst;   /* register of the word in work */
    uint16_t movs;  /* copies under way */
    int16_t owner;  /* of a copy: the op it belongs to */
    uint16_t index; /* place in the reuse buffer */
    uint16_t next;  /* the op behind it on the way to the signature buffer ... */
    uint16_t place; /* ... and where the word in work is looked up there */
    uint32_t hash;  /* of the word in work */
    uint64_t stamp;
    uint64_t at;               /* when the word in work is at the signature buffer */
    struct reg_map *map;       /* where its destination is: of the word in work, as is ... */
    uint32_t *value;           /* ... the latch */
    uint16_t src[WIR_SOURCES]; /* physical registers of its sources, in the order in which they are read */
    struct rb_tag tag;
};
_Static_assert(offsetof(struct wir_op, src) <= 56 && sizeof(struct wir_op) == 128,
               "four sources are in the first line");

/* An op on its way to the reuse stage, which has it at this turn. */
struct wir_due {
    uint64_t at;
    int32_t op;
};

struct wir {
    /* What every instruction or every cycle needs comes first. */
    _Alignas(64) struct sm *sm;
    const struct wir_params *params;
    const struct wir_mark *marks;
    struct wir_op *ops; /* by number of the SM's op */
    uint64_t now;
    uint64_t delay;       /* cycles from issue to the reuse stage */
    uint32_t ports, room; /* lookups a cycle; ops of a kind between issue and the reuse stage */
    uint32_t inflight;    /* ops of the program under way ... */
    uint32_t most;        /* ... below which more may issue */
    uint16_t full;        /* how many of `front` have no room for more */
    uint32_t spare;       /* registers are few when no more than these are free */
    bool capped;          /* no more registers than the program names */
    bool has_signatures;  /* there is a signature buffer */
    bool open;            /* the gate */
    bool low, wanted;     /* low-register mode; somebody at issue needs a register */
    bool touched;         /* a buffer was accessed in this cycle */
    bool changed;         /* where they look, the reuse buffer changed since the waiting ones did */
    bool running;         /* between start and finish of a launch */
    bool gathers;         /* words to be written are gathered in this stage: */
    uint8_t nfresh;       /* so many are in `fresh` */
    int32_t fresh[WIR_FRESH];
    struct regfile regs;
    uint32_t looked; /* of the waiting ones, in a row, without finding a change */
    uint64_t
        turns; /* so many times the oldest of them has gone to the end of the queue since it was looked at */
    uint32_t peak;
    /* Renamed, on their way to the reuse stage and a collector: by its kind, because one that finds none of
     * its kind free does not hold up the others, no more than on the base machine. */
    struct wir_front {
        uint64_t first;      /* when the reuse stage has the first, by wir_turn; UINT64_MAX: there is none */
        uint32_t head, tail; /* places of the first, and behind the last, where they wrap around ... */
        uint32_t mask;       /* ... by this mask */
        int32_t op;          /* the first */
        struct wir_due *at;
    } front[COLLECT_KINDS];
    /* Ops that were executed, on their way to the signature buffer, linked by wir_op.next. */
    struct {
        uint64_t at;         /* when the first is there; UINT64_MAX: there is none */
        int32_t first, last; /* CORE_NONE: there is none */
    } alloc;
    QUEUE(int32_t) unwritten; /* must be compared with a register that is not written yet */
    QUEUE(int32_t) starved;   /* need a free register */
    QUEUE(int32_t) copies;    /* copies that need a collector */
    struct pendq waiting;
    struct rb rb;
    struct vsb vsb;
    struct vc vc;
    struct blocks blocks;
    const struct h3 *h3;
    uint32_t cap;                         /* registers that the resident warps name */
    uint64_t at_barrier;                  /* warps that wait at one */
    uint16_t barrier_reg[CORE_MAX_WARPS]; /* which register its result goes to */
    uint32_t opened[CORE_MAX_WARPS];      /* of each block slot: openings of its barriers that were seen */
    struct core_own *movs;                /* copies, by logical register */
    struct wir_counters n;
};

/* Cycles and kinds as one number: the smallest of several is the earliest, and of these the first kind's. */
static inline uint64_t wir_turn(uint64_t cycle, uint32_t kind) {
    return cycle << 2 | kind;
}
static inline uint32_t wir_turn_kind(uint64_t turn) {
    return turn & 3;
}
static inline uint64_t wir_turn_cycle(uint64_t turn) {
    return turn >> 2;
}

/* A collector of the op's kind is free. */
static inline bool wir_has_collector(const struct wir *w, uint32_t kind) {
    return w->sm->collectors_free[kind];
}

/* So many ops of a kind are between issue and the reuse stage, or a collector. */
static inline uint32_t wir_in_front(const struct wir *w, uint32_t kind) {
    return w->front[kind].tail - w->front[kind].head;
}

/* The first of them has been looked up, and all that it waits for is a collector. */
static inline bool wir_front_stays(const struct wir *w, uint32_t kind) {
    return !w->ops[w->front[kind].op].look && !wir_has_collector(w, kind);
}

/* ---- marks.c ---- */
const struct h3 *wir_hash(const void *shared);
void *wir_shared(struct arena *a, const void *params);
const void *wir_kernel(void *shared, struct arena *launch, const struct image *img);
void wir_release(void *shared);

/* ---- front.c ---- */
void wir_fill(void *m, uint32_t warp, const struct xinst *i, uint32_t mask);
void wir_restore(void *m, uint32_t warp);
void wir_reuse_stage(struct wir *w);
/* What the waiting instructions would have looked up in cycles in which nothing changed. */
void wir_waited(struct wir *w, uint64_t cycles);

/* ---- alloc.c ---- */
/* Lanes of a convergent op's result that have exited become 0, so that equal results are equal. */
static inline void wir_clear_dead(uint32_t *value, uint32_t mask) {
    static const _Alignas(64) uint32_t none[WARP_LANES];
    if (__builtin_expect(mask != UINT32_MAX, 0))
        lane_blend(value, none, ~mask);
}
enum mech_verdict wir_result(void *m, int32_t op, uint64_t now);
void wir_read_done(void *m, int32_t op, uint64_t now);
void wir_written(void *m, int32_t op, uint32_t k);
void wir_control(void *m, uint32_t warp, const struct xinst *i, uint32_t mask);
void wir_allocation_stage(struct wir *w);
/* The end of the cycle: words which that stage has given registers are written, if nothing is in their way.
 */
void wir_write_stage(struct wir *w);
/* Would a control instruction of the warp find the registers it writes? */
bool wir_can_write(struct wir *w, uint32_t warp, const struct xinst *i);

/* ---- wir.c ---- */
static inline void wir_ref(struct wir *w, uint32_t reg) {
    w->n.ref_ops++;
    regfile_ref(&w->regs, (uint16_t)reg);
}

/* Nobody refers to the register any more. */
APART void wir_free(struct wir *w, uint32_t reg);
static inline void wir_unref(struct wir *w, uint32_t reg) {
    w->n.ref_ops++;
    if (__builtin_expect(regfile_drop(&w->regs, (uint16_t)reg), 0))
        wir_free(w, reg);
}

/* The logical register is in dst from now on; the reference to dst becomes the table's. A register that is
 * not pinned has all of what was computed, as the latch does. */
static inline void wir_remap(struct wir *w, struct reg_map *map, uint16_t dst, bool pinned) {
    uint16_t old = map->id;
    *map = (struct reg_map){.id = dst, .latched = !pinned, .pinned = pinned};
    w->n.rename_ops++;
    w->n.ref_ops++; /* the reference to dst is the op's, which becomes the table's */
    if (old != REG_NONE)
        wir_unref(w, old);
}

/* An entry of this tag enters a buffer: it refers to its sources. */
static inline void wir_ref_sources(struct wir *w, const struct rb_tag *t) {
    uint32_t *refs = w->regs.refs;
    uint32_t set = t->regs, most = w->regs.most_refs;
    w->n.ref_ops += (uint32_t)__builtin_popcount(set);
    for (uint32_t k = 0; k < RB_OPERANDS; k++)
        if (set >> k & 1) {
            uint32_t all = ++refs[t->word[k]];
            most = all > most ? all : most;
        }
    w->regs.most_refs = most;
}

/* An entry left a buffer: its references go. */
static inline void wir_drop(struct wir *w, const struct rb_entry *e) {
    if (!e->valid)
        return;
    uint32_t set = e->tag.regs;
    for (uint32_t k = 0; k < RB_OPERANDS; k++)
        if (set >> k & 1)
            wir_unref(w, e->tag.word[k]);
    if (!e->pending)
        wir_unref(w, e->result);
}
static inline void wir_drop_signature(struct wir *w, const struct vsb_entry *e) {
    if (e->valid)
        wir_unref(w, e->reg);
}
/* The same where some of them were never written. */
APART void wir_drop_some(struct wir *w, struct wir_op *o);
/* An op needs its sources no longer. */
static inline void wir_drop_sources(struct wir *w, struct wir_op *o) {
    uint32_t n = o->nsrc;
    if (__builtin_expect(o->holes, 0)) {
        wir_drop_some(w, o);
        return;
    }
    o->nsrc = 0;
    w->n.ref_ops += n;
    for (uint32_t k = 0; k < n; k++)
        if (__builtin_expect(regfile_drop(&w->regs, o->src[k]), 0))
            wir_free(w, o->src[k]);
}
/* An op ends: what WIR holds of it goes. */
static inline void wir_leave(struct wir *w, int32_t id) {
    struct wir_op *o = &w->ops[id];
    w->inflight -= o->owner == CORE_NONE; /* copies are not counted */
    wir_drop_sources(w, o);
}
static inline void wir_end(struct wir *w, int32_t id) {
    wir_leave(w, id);
    owner_retire(w->sm, id, w);
}
/* Opens the gate for warps, or shuts it: to be called when ops or registers have become fewer, and before
 * warps issue. While it is shut, eligible decides. */
static inline void wir_gate(struct wir *w) {
    bool open = w->inflight < w->most && !w->full && w->regs.nfree >= WIR_MAX_RESULT;
    if (open != w->open)
        core_open_gate(w->sm, w, w->open = open);
}
/* The same behind what gives or takes registers, or ends ops. */
static inline void wir_gate_again(struct wir *w) {
    if (__builtin_expect(!w->open | (w->regs.nfree < WIR_MAX_RESULT), 0))
        wir_gate(w);
}

#endif
