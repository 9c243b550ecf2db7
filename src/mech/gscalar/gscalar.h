/* G-Scalar: compressed registers, and instructions of which one lane computes for others.
 *
 * What is known of registers is known by their place, a physical register: that of the warp's register, or,
 * where a mechanism owns the registers, what that says (core_holds, op->place). An instruction computes with
 * what arrays and base values give back, not with what was written, so that a register which was compressed
 * wrongly makes the program wrong.
 *
 * That may be done when the register is written, since nobody else changes its latch: the latch is then what
 * comes back.
 *
 * In time: sources are looked at when the instruction is about to take effect (gscalar_sources), when all
 * earlier writes to them have reached their banks; a destination changes when its bank is written
 * (gscalar_write). */
#ifndef REPRISE_MECH_GSCALAR_GSCALAR_H
#define REPRISE_MECH_GSCALAR_GSCALAR_H

#include "core/view.h"
#include "mech/gscalar/code.h"

struct gscalar_params {
    enum gscalar_code code;
    bool halves;
    bool alu, sfu, mem, half, divergent; /* what one lane may execute */
    bool subset;
    bool one_beat, dedicated;
    bool skip_dead, pairs;
    int32_t latency, file_ports, omit;
    double pj_small_read, pj_small_write, pj_compress, pj_decompress, pj_unsent;
};

/* Rules that tests leave out to see what they are for: bits of gscalar.omit. */
enum gscalar_rule {
    GS_MOVE = 1 << 0,   /* a compressed register is expanded before some lanes write it */
    GS_HALF = 1 << 1,   /* a half executes on one lane only if no source was written by some lanes */
    GS_FULL = 1 << 2,   /* what some lanes wrote is scalar if both halves are, and have one value */
    GS_LOCAL = 1 << 3,  /* accesses that may be of local memory are each lane's own */
    GS_GUARD = 1 << 4,  /* lanes that the guard leaves out are not active */
    GS_PREDS = 1 << 5,  /* predicates are sources */
    GS_LANE = 1 << 6,   /* operations that depend on the lane, or on others, are never scalar */
    GS_LEADER = 1 << 7, /* the lane that executes is an active one */
    GS_EXACT = 1 << 8,  /* what some lanes wrote is scalar for these lanes */
    GS_DEAD = 1 << 9,   /* a register is dead if it is so on every path of the warp */
};

/* What executes an instruction that one lane may compute. */
enum gscalar_class { CLASS_NEVER, CLASS_ALU, CLASS_SFU, CLASS_MEM };
/* That of an instruction, under all rules. */
enum gscalar_class gscalar_class(const struct xinst *i);
/* By values, and not by what is known of them: the sources are the same in all active lanes. */
bool gscalar_equal(const struct warp *w, const struct xinst *i, const struct core_need *need,
                   uint32_t active);

/* How an instruction executes. */
enum gscalar_way { WAY_VECTOR, WAY_SCALAR, WAY_HALF, WAY_DIVERGENT };

enum { GSCALAR_SOURCES = 12, GSCALAR_WORDS = 8 };

/* In the copy of the stages that is compiled for G-Scalar (core/points.h), which runs where m->plain holds,
 * all that follows from an instruction's operands and result is seen to when it takes effect, or memory has
 * answered: nobody else looks at its registers before the result is written. In the counters that makes no
 * difference when a launch has ended; what is on its way when one is cut is not counted (gscalar_tally). */
#ifdef CORE_ALONE
#define GSCALAR_EARLY true
#else
#define GSCALAR_EARLY false
#endif
#define GSCALAR_PLAIN(m) (GSCALAR_EARLY || (m)->plain)

/* What one lane may compute of a register that all lanes read, and whether arrays lack some of it. */
enum gscalar_flag {
    READ_HALVES = 3,         /* bits: all lanes of a half have one value, and all lanes wrote the register */
    READ_SCALAR = 1 << 2,    /* all lanes have one value */
    READ_COMPRESSED = 1 << 3 /* some of it is not in the arrays */
};

/* Kinds of registers, by what an access does: the form of one that all lanes wrote, of which the first shares
 * nothing, as do those of which nothing is known, and divergent ones; but one of these has one value. */
enum { KIND_NONE, KIND_ONE_VALUE = CODE_FORMS, GSCALAR_KINDS };
struct gscalar_kind {
    uint8_t spared; /* arrays that an access does not activate */
    uint8_t shared; /* leading bytes that all lanes share */
    uint8_t small;  /* accesses of small arrays, beside those that go with every access */
    uint8_t flags;  /* enum gscalar_flag */
};

/* An op in flight, or an instruction about to take effect. */
struct gscalar_op {
    _Alignas(32) uint8_t way, halves; /* halves: bits of those that one lane computes */
    bool divergent, move;             /* not all lanes; an expanding move of ours */
    bool early;                       /* its result has been compared, and counts as written */
    uint32_t active;                  /* lanes that count as active */
    uint8_t source[GSCALAR_SOURCES];  /* kinds */
};

/* A predicate: its value in the lanes of the last write is one. */
struct gscalar_pred {
    uint32_t lanes;
    bool same;
};

struct gscalar_counters {
#define COUNTER(field, ...) uint64_t field;
#include "mech/gscalar/counters.def"
#undef COUNTER
};

struct gscalar_marks;
struct gscalar_pairs;

struct gscalar {
    struct sm *sm;
    const struct gscalar_params *params;
    struct code_spec spec;
    bool owned;       /* somebody else decides in which registers values live */
    bool in_order;    /* nobody skips instructions */
    uint8_t small;    /* accesses of small arrays that go with every access of a register */
    bool plain;       /* registers are nobody else's, nobody compares, all rules are kept */
    bool byte_planes; /* that is so, and registers are planes of bytes, with halves */
    bool early;       /* GSCALAR_EARLY is where instructions go */

    struct gscalar_kind kinds[GSCALAR_KINDS];
    /* Accesses by kind, which become counters when somebody reads these (gscalar_tally): reads, of divergent
     * instructions, too, and writes of all lanes. */
    uint64_t reads[2][GSCALAR_KINDS], writes[GSCALAR_KINDS];
    uint64_t ways[CLASS_MEM + 1][WAY_DIVERGENT + 1]; /* the same of instructions, by class and way */
    /* By place; the second follows from the first (gscalar_learn). That of CORE_NO_PLACE is not known. */
    struct code_reg *regs;
    uint8_t *kind;
    struct code_reg *forms;                  /* those that all lanes wrote, by their form, less base values */
    uint32_t (*through_planes)(uint32_t *v); /* code_through_planes, as the host has it */
    uint64_t raw[CORE_MAX_WARPS][4]; /* owned: registers that control instructions wrote, which are not known
                                      * by their place */
    struct gscalar_pred preds[CORE_MAX_WARPS][NUM_PRED + 1];
    const struct gscalar_marks *marks;
    const uint8_t *facts;              /* of the marks */
    uint8_t half_flags;                /* READ_HALVES, if one lane may compute a half */
    struct gscalar_op *ops;            /* from CORE_NONE on, which is for control instructions */
    uint16_t (*before)[GSCALAR_WORDS]; /* of a divergent op: the place of each destination word until now */
    /* Special moves. */
    uint64_t checked, wanting; /* warps whose next instruction was looked at; those that wait for moves ... */
    uint64_t started;          /* ... all of which have begun */
    uint8_t enough[CORE_MAX_WARPS]; /* enum gscalar_fact: what an instruction needs for a warp not to be
                                       looked at */
    uint8_t moving[CORE_MAX_WARPS], moved[CORE_MAX_WARPS]; /* on their way; words that one was made for */
    bool making;                                           /* a move takes its collector */
    struct core_own *movs;
    uint64_t file_free; /* cycle from which the scalar file serves the next operand */
    struct gscalar_pairs *pairs;
    bool wrong;
    struct gscalar_counters n;
};

static inline bool gscalar_keeps(const struct gscalar *m, enum gscalar_rule rule) {
    return !(m->params->omit & (int32_t)rule);
}

/* ---- scalar.c: what one lane may compute ---- */
const void *gscalar_kernel(void *shared, struct arena *launch, const struct image *img);
void gscalar_sources(void *m, uint32_t warp, const struct xinst *i, uint32_t mask);
void gscalar_issued(void *m, int32_t op);
/* Brings the counters of instructions up to date. */
void gscalar_tally_ways(struct gscalar *m);
struct mech_work gscalar_dispatch(void *m, int32_t op, struct mech_work work);
/* Predicates that the instruction wrote are known now; of a control instruction they are not. */
void gscalar_predicates(struct gscalar *m, uint32_t warp, const struct xinst *i, uint32_t active,
                        bool control);

/* ---- file.c: registers ---- */
/* Finds out what accesses of each kind do, and what a register of each form is. */
void gscalar_list_kinds(struct gscalar *m);
/* Brings the counters up to date. */
void gscalar_tally(void *m);
/* What is known of a register has changed. */
static inline uint32_t gscalar_kind_of(const struct code_reg *c) {
    uint32_t kind = c->full_scalar && c->lanes == CODE_ALL ? KIND_ONE_VALUE : KIND_NONE;
    if (!c->divergent)
        kind = code_form(c->whole, c->shared[0], c->shared[1]);
    return c->known ? kind : KIND_NONE;
}
static inline void gscalar_learn(struct gscalar *m, uint32_t place) {
    m->kind[place] = (uint8_t)gscalar_kind_of(&m->regs[place]);
}
/* From now on nothing is known of it. */
static inline void gscalar_unlearn(struct gscalar *m, uint32_t place) {
    m->regs[place].known = false;
    m->kind[place] = KIND_NONE;
}
/* What is not in the arrays of a register that all lanes wrote. */
static inline bool gscalar_compressed(const struct gscalar *m, uint32_t place) {
    return m->kinds[m->kind[place]].flags & READ_COMPRESSED;
}
/* Where a warp's register lies for its next instruction, where somebody else decides in which registers
 * values live; CORE_NO_PLACE: nothing is known of it. */
static inline uint32_t gscalar_find(const struct gscalar *m, uint32_t warp, uint32_t reg) {
    bool raw = m->raw[warp][reg / 64] >> (reg % 64) & 1;
    return raw ? CORE_NO_PLACE : core_holds(m->sm, warp, reg);
}
void gscalar_collected(void *m, int32_t op);
/* Where it is early: the op's operands are read; its result is known. */
void gscalar_count_reads(struct gscalar *m, const struct core_op *op, const struct gscalar_op *o);
void gscalar_put(struct gscalar *m, int32_t id, const struct core_op *op, bool divergent);
void gscalar_result(void *m, int32_t op);
/* A move of ours has written its register. */
void gscalar_expanded(struct gscalar *m, int32_t op);
uint32_t gscalar_arrays(void *m, int32_t op, int32_t k, bool write, uint32_t arrays);
/* These lanes of a compressed register are as its arrays have them. */
void gscalar_lose(struct gscalar *m, uint32_t warp, uint32_t reg, uint32_t lanes);
void gscalar_forget(struct gscalar *m, uint32_t warp, const struct xinst *i);

/* ---- moves.c: special moves before divergent writes ---- */
uint64_t gscalar_eligible(void *m, uint64_t ready, uint64_t now);
uint32_t gscalar_slots(void *m, uint32_t sched, uint32_t free, uint64_t now);
void gscalar_moved(struct gscalar *m, uint32_t warp);

/* ---- pairs.c: pairs of warps as warps of 64 ---- */
struct gscalar_pairs *gscalar_pairs_create(struct arena *a);
void gscalar_pairs_start(struct gscalar *m, uint32_t warp);
/* The instruction about to take effect, of which it is known what one lane can compute. */
void gscalar_pairs_issue(struct gscalar *m, uint32_t warp, const struct gscalar_op *o);

/* ---- dead.c: registers that nobody reads any more ---- */
struct gscalar_live;
struct gscalar_live *gscalar_liveness(struct arena *a, const struct image *img);
/* No path of the warp reads the register before it is written; its next instruction writes some lanes. */
bool gscalar_dead(const struct gscalar *m, uint32_t warp, uint32_t reg);

#endif
