/* DARSIE (Yeh, Green and Rogers), between the files of this folder.
 *
 *   stream.fetch [PC coalescer, skip table: front.c] -> stream.decoded [leaders, versions: front.c, rename.c]
 *     -> issue ... -> retire [leader's write-back: table.c];  branches, barriers [majority path: path.c]
 *
 * Values. A warp's private registers are its latches, as in the base machine. What a leader computes goes to
 * a register of its block's own (struct darsie.value), to which the leader and all that follow are mapped: an
 * instruction that reads such a register gets it from there (registers.fill), whatever the latch holds. The
 * program goes on with it.
 *
 * Order. Maps change in program order: when an instruction is decoded, or skipped with all before it decoded.
 * Decoding stops behind a control instruction that has not issued, so nothing is decoded that does not come
 * next. Instructions take the registers of their sources with them from there on (struct darsie_inst).
 *
 * References to a register of a block: each mapping of a warp, each instruction on its way that reads it,
 * keeps lanes of it or writes it, and each entry of the skip table whose result it is. With the last it is
 * free. */
#ifndef REPRISE_MECH_DARSIE_DARSIE_H
#define REPRISE_MECH_DARSIE_DARSIE_H

#include "core/view.h"
#include "mech/darsie/marks.h"
#include "sim/queue.h"

enum {
    DARSIE_PRIVATE = 0xffff,           /* instead of a register of the block: the warp's own */
    DARSIE_MOST = 64,                  /* registers of a block: bits of a word */
    DARSIE_SETS = (MAX_GPR + 64) / 64, /* words of a set of registers */
    DARSIE_ALL_LANES = -1,
};

/* Rules that tests leave out to see what they are for: bits of darsie.omit. */
enum darsie_rule {
    RULE_VERSIONS = 1 << 0,   /* followers have the sources of their leader */
    RULE_ORDER = 1 << 1,      /* no load is skipped before an older store has issued */
    RULE_HELD = 1 << 2,       /* an entry holds its registers */
    RULE_GENERATION = 1 << 3, /* a late leader does not write back for another's entry */
    RULE_CLEAR = 1 << 4,      /* entries are cleared at branches and barriers */
    RULE_CAPTURE = 1 << 5,    /* sources are those at decode, not those at issue */
    RULE_MERGE = 1 << 6,      /* a guarded write keeps the old lanes */
    RULE_LEVEL = 1 << 7,      /* barriers bring back only warps in the same round */
    RULE_COPY = 1 << 8,       /* a warp that leaves takes its values with it */
    RULE_ATOMICS = 1 << 9,    /* atomics and fences drop entries of loads */
};

struct darsie_counters {
#define COUNTER(field, ...) uint64_t field;
#include "mech/darsie/counters.def"
#undef COUNTER
};

/* What a leader's sources look like. */
enum darsie_form { FORM_UNIFORM, FORM_AFFINE, FORM_UNSTRUCTURED };

/* An instruction that warps of a block can skip. */
struct darsie_entry {
    bool valid, load, global;
    uint8_t form;    /* enum darsie_form */
    uint8_t pending; /* the leader's result and the lanes it keeps: not yet in the block's register */
    uint8_t ndst;
    uint64_t history;    /* of branches, when these are no barriers */
    uint64_t generation; /* of all entries, one after the other */
    uint64_t done;       /* warps that have passed */
    uint64_t standing;   /* warps that stand before it; true only of those of darsie.standing */
    uint64_t awaited;    /* warps with an instruction at decode that waits for it; perhaps others, too */
    uint16_t dst[DARSIE_WORDS];
    /* Serials of the leader's sources, and of what a guarded result keeps: a register that was freed and
     * given to another value is another version. 0: private. Only those that the instruction has are set. */
    uint64_t old[DARSIE_WORDS], src[DARSIE_SOURCES];
};

struct darsie_block {
    uint64_t members, majority; /* warps */
    uint64_t arrived;           /* ... of the majority path that wait at a branch */
    uint64_t free;              /* registers */
    uint32_t used;              /* entries, as bits */
    uint32_t rounds;            /* barriers that brought all together */
    struct darsie_entry *entries;
    uint32_t *pcs; /* of these */
};

/* An instruction between decode and its end that names registers of the block: in a buffer, where
 * darsie.naming says so, or on its way, with its op noted. References are held to all registers named. */
struct darsie_inst {
    _Alignas(64) uint64_t generation;
    uint8_t nsrc, nold, ndst; /* 0: none is of the block */
    uint8_t entry;
    bool valued;                    /* a leader's result is in the block's registers */
    uint16_t src[DARSIE_SOURCES];   /* in the order of core_need.reads */
    uint16_t old[DARSIE_WORDS];     /* where a guarded destination was */
    uint16_t dst[DARSIE_WORDS];     /* of a leader */
    uint16_t place[DARSIE_SOURCES]; /* of each source, from when it is read */
};

/* A register to be copied, for lanes mask: of a warp that leaves, or what a guarded write keeps. */
enum darsie_copy_kind { COPY_LEAVE, COPY_KEEP, COPY_LEAD };
struct darsie_copy {
    uint16_t warp, from, to; /* of the block, or DARSIE_PRIVATE */
    uint8_t kind, reg, entry;
    uint32_t mask;
    uint64_t generation;
};

struct darsie {
    const struct darsie_params *params;
    struct sm *sm;
    bool broken;       /* a register was given back twice */
    bool on;           /* the launch has something to gain */
    uint32_t regs;     /* of each block */
    uint64_t majority; /* warps of all blocks */
    uint64_t waiting;  /* at a branch */
    uint64_t leaving;  /* with copies to make */
    /* Warps with an instruction at decode that must wait, and since when; those of them that look it up in
     * every cycle of that. */
    uint64_t held, looking;
    uint64_t held_at[CORE_MAX_WARPS];
    /* Warps with a control instruction in their buffer; those of which it is not known. Those that may have
     * one with the mark `ordered` there. */
    uint64_t behind, changed, ordering;
    /* Those of which an instruction that was decoded may not enter the buffer at once: all warps that leave,
     * wait, are held or blocked, behind a control instruction or not known to be, and perhaps others. */
    uint64_t special;
    uint64_t generation;
    uint32_t turn; /* warp whose pc the coalescer looks at first */
    /* Warps that found an entry in which all is as it must be but that its leader has not written back, and
     * have neither fetched nor skipped since; and these entries. */
    uint64_t standing;
    struct darsie_entry *stands_at[CORE_MAX_WARPS];
    uint64_t elected_at;             /* cycle of the last election */
    uint32_t elected;                /* in it */
    uint32_t in_use;                 /* registers of all blocks */
    const struct darsie_mark *marks; /* of the launch */
    struct darsie_block *blocks;
    /* The first place of the blocks' registers, of a warp's, and how far one of these is from that. */
    uint32_t block_places, warp_places[CORE_MAX_WARPS], reg_places[MAX_GPR + 1];
    uint32_t row;      /* registers of each warp in the next two, which lie close together */
    uint16_t *map;     /* by warp and register */
    uint64_t *latched; /* serial of the register whose value the latch holds */
    uint64_t renamed[CORE_MAX_WARPS][DARSIE_SETS]; /* registers of a warp that are the block's, as bits */
    uint64_t loaded[CORE_MAX_WARPS][DARSIE_SETS];  /* those for which latched is not 0 */
    uint64_t history[CORE_MAX_WARPS];
    uint32_t copying[CORE_MAX_WARPS]; /* copies of a warp that leaves, under way */
    struct darsie_inst *buffered;     /* as the warps' buffers, but with no more room than they use: ... */
    uint32_t buffer;                  /* ... a power of two */
    uint32_t naming[CORE_MAX_WARPS];  /* which of these name registers of the block, as bits */
    struct darsie_inst *ops;          /* by number of the SM's op */
    struct darsie_copy *copy_of;      /* by number of an injected op */
    uint32_t (*value)[WARP_LANES];    /* of the blocks' registers, by block * DARSIE_MOST + number */
    uint64_t *serial;                 /* of what it holds */
    uint32_t *refs;
    uint64_t next_serial;
    QUEUE(struct darsie_copy) copies;
    int32_t *reading; /* ops whose operands are being read, in the order in which they issued */
    uint32_t nreading;
    struct core_own *movs;
    struct darsie_counters n;
};

static inline bool darsie_keeps(const struct darsie *d, enum darsie_rule rule) {
    return !(d->params->omit & (int32_t)rule);
}

/* The launch has something to gain. If not, a mechanism that is alone rests. */
static inline bool darsie_is_on(const struct darsie *d) {
#ifdef CORE_ALONE
    (void)d;
    return true;
#else
    return d->on;
#endif
}

/* The version that a register of the block holds; 0 for a private one, which equals no other. */
static inline uint64_t darsie_version(const struct darsie *d, uint16_t id) {
    return id == DARSIE_PRIVATE ? 0 : d->serial[id];
}

/* The block's register that a warp's is, and whose value is in its latch. */
static inline uint16_t *darsie_mapped(const struct darsie *d, uint32_t warp, uint32_t reg) {
    return &d->map[warp * d->row + reg];
}
static inline uint64_t *darsie_latched(const struct darsie *d, uint32_t warp, uint32_t reg) {
    return &d->latched[warp * d->row + reg];
}

/* Some register of the warp is the block's. */
static inline bool darsie_renames(const struct darsie *d, uint32_t warp) {
    uint64_t any = 0;
    for (uint32_t k = 0; k < DARSIE_SETS; k++)
        any |= d->renamed[warp][k];
    return any;
}

/* What these warps wait for at decode may be there. */
static inline void darsie_ask(struct darsie *d, uint64_t warps) {
    for (uint64_t left = warps & d->held; left; left &= left - 1)
        core_ask(d->sm, (uint32_t)__builtin_ctzll(left));
}

/* The same of those that wait for an entry, with which something has happened. */
static inline void darsie_ask_awaiting(struct darsie *d, struct darsie_entry *e) {
    darsie_ask(d, e->awaited);
    e->awaited = 0;
}

/* The latch of a warp's register holds the value of this register of the block. */
static inline void darsie_latch(struct darsie *d, uint32_t warp, uint32_t reg, uint16_t id) {
    *darsie_latched(d, warp, reg) = d->serial[id];
    d->loaded[warp][reg / 64] |= UINT64_C(1) << (reg % 64);
}
/* The latches of these registers hold something else. */
static inline void darsie_unlatch(struct darsie *d, uint32_t warp, uint32_t first, uint32_t n) {
    for (uint32_t reg = first; reg < first + n; reg++) {
        *darsie_latched(d, warp, reg) = 0;
        d->loaded[warp][reg / 64] &= ~(UINT64_C(1) << (reg % 64));
    }
}

/* ---- rename.c: maps, registers of blocks, copies ---- */
static inline void darsie_ref(struct darsie *d, uint16_t id) {
    d->refs[id]++;
}
void darsie_unref(struct darsie *d, uint16_t id);
/* A register of the block, with one reference; DARSIE_PRIVATE when none is free. */
uint16_t darsie_alloc(struct darsie *d, uint32_t block);
/* The register of a warp becomes id, whose reference is the map's from now on; returns what it was, with its
 * reference. */
uint16_t darsie_map(struct darsie *d, uint32_t warp, uint32_t reg, uint16_t id);
/* The instruction at pc of a warp takes its sources. */
void darsie_capture(struct darsie *d, uint32_t warp, uint32_t pc, struct darsie_inst *c);
/* Some register of the warp is the block's, and some that the instruction names; sources are looked up in the
 * first case. */
static inline bool darsie_names_renamed(struct darsie *d, uint32_t warp, const struct core_need *need) {
    const uint64_t *renamed = d->renamed[warp];
    uint64_t any = renamed[0], named = renamed[0] & need->regs[0];
    for (uint32_t k = 1; __builtin_expect(k < d->sm->warps[warp].words, 0); k++) {
        any |= renamed[k];
        named |= renamed[k] & need->regs[k];
    }
    d->n.renames += any ? need->nreads : 0;
    return named;
}
/* The instruction takes its sources, of which some, or of its destinations, are the block's; the destinations
 * become the warp's own. */
void darsie_decode_named(struct darsie *d, uint32_t warp, uint32_t pc);
/* Where in the warp's buffer the instruction goes that was decoded, and where the one in front is. */
static inline uint32_t darsie_entering(const struct darsie *d, uint32_t warp) {
    const struct core_warp *cw = &d->sm->warps[warp];
    return (cw->first + cw->buffered) & (d->buffer - 1);
}
static inline uint32_t darsie_front(const struct darsie *d, uint32_t warp) {
    return d->sm->warps[warp].first & (d->buffer - 1);
}
static inline struct darsie_inst *darsie_at(const struct darsie *d, uint32_t warp, uint32_t at) {
    return &d->buffered[warp * d->buffer + at];
}
/* Whether it names registers of the block. */
static inline void darsie_set_naming(struct darsie *d, uint32_t warp, bool names) {
    uint32_t at = darsie_entering(d, warp);
    d->naming[warp] = (d->naming[warp] & ~(1u << at)) | (uint32_t)names << at;
}
/* The instruction in front of the warp's buffer does. */
static inline bool darsie_is_naming(const struct darsie *d, uint32_t warp) {
    return d->naming[warp] >> darsie_front(d, warp) & 1;
}
/* The same of any instruction. */
static inline void darsie_decode_private(struct darsie *d, uint32_t warp, uint32_t pc) {
    bool names = darsie_names_renamed(d, warp, &d->sm->needs[pc]);
    darsie_set_naming(d, warp, names);
    if (__builtin_expect(names, 0))
        darsie_decode_named(d, warp, pc);
}
void darsie_fill(void *m, uint32_t warp, const struct xinst *i, uint32_t mask);
void darsie_restore(void *m, uint32_t warp);
/* Numbers the places of registers, once for a machine. */
void darsie_number_places(struct darsie *d);
uint32_t darsie_place(void *m, int32_t op, uint32_t k, bool write);
bool darsie_own(const void *m, int32_t op, bool write);
const uint16_t *darsie_places(void *m, int32_t op);
bool darsie_silent(const void *m, uint32_t warp);
uint32_t darsie_holds(void *m, uint32_t warp, uint32_t reg);
void darsie_issued(void *m, int32_t op);
void darsie_result(void *m, int32_t op);
void darsie_retire(void *m, int32_t op);
/* The instruction reads no more; it keeps no lanes. */
void darsie_release(struct darsie *d, struct darsie_inst *c);
void darsie_release_old(struct darsie *d, struct darsie_inst *c);
/* Each cycle in which there are any: copies that can go. */
void darsie_copy(struct darsie *d);
/* Ops that have read their operands hold these no more. */
void darsie_release_read(struct darsie *d);
/* All mappings of a warp go, with nobody to read them. */
void darsie_forget_warp(struct darsie *d, uint32_t warp);
/* The warp's slot becomes free. */
void darsie_end_warp(struct darsie *d, uint32_t warp);

/* ---- table.c: the PC skip table ---- */
/* The entry of a redundant instruction that has a leader, or NULL. */
struct darsie_entry *darsie_find(struct darsie *d, uint32_t warp, uint32_t pc);
/* Makes the warp the leader of pc, if it can be: false, with the reason counted, when it executes privately.
 */
bool darsie_lead(struct darsie *d, uint32_t warp, uint32_t pc);
/* Are the sources of the warp, of which some must be of the leader's versions, those of the entry's leader?
 */
bool darsie_same_versions(const struct darsie *d, const struct darsie_entry *e, uint32_t warp, uint32_t pc);
/* The same of any instruction. */
static inline bool darsie_same_sources(const struct darsie *d, const struct darsie_entry *e, uint32_t warp,
                                       uint32_t pc) {
    const struct darsie_mark *m = &d->marks[pc];
    return !(m->versions || m->old_version) || darsie_same_versions(d, e, warp, pc);
}
/* The warp takes the entry's result. */
void darsie_follow(struct darsie *d, uint32_t warp, uint32_t pc, struct darsie_entry *e);
/* The warp has passed; with the last one the entry goes. */
void darsie_passed(struct darsie *d, uint32_t block, struct darsie_entry *e, uint64_t warps);
void darsie_drop(struct darsie *d, uint32_t block, struct darsie_entry *e);
void darsie_clear(struct darsie *d, uint32_t block);
/* Part of a leader's result is in the block's register. */
void darsie_wrote_back(struct darsie *d, uint32_t block, uint32_t entry, uint64_t generation);
/* Memory may have changed: entries of loads go, those of the block, or of global memory in all blocks. */
void darsie_flush_block(struct darsie *d, uint32_t block);
void darsie_flush_global(struct darsie *d);

/* ---- front.c ---- */
uint64_t darsie_fetch(void *m, uint64_t wanting, uint64_t now);
enum mech_decode darsie_decoded(void *m, uint32_t warp, uint32_t pc, uint64_t now);
void darsie_recalled(void *m, uint32_t warp, uint64_t now);

/* ---- path.c: the majority path ---- */
void darsie_enter(struct darsie *d, uint32_t warp);
/* The warp leaves the majority path; it takes its values with it, unless it has ended. */
void darsie_leave(struct darsie *d, uint32_t warp);
void darsie_control(void *m, uint32_t warp, const struct xinst *i, uint32_t mask);
void darsie_barrier(void *m, uint32_t block, uint64_t warps, bool opened);

#endif
