/* Mechanisms: what they are, and the points of the SM's pipeline at which they act.
 *
 * A mechanism is a struct of optional operations, one state per SM, and tables: parameters (params.def of its
 * folder), counters and energy events. mechanisms.def lists the models users name with --mech. Several can be
 * stacked; each point calls those of the stack that have it, in order of their `order`. The SM tests one bit
 * per point, so a machine without mechanisms pays a predictable branch and nothing else.
 *
 * Time and values. An instruction takes effect when it issues: exec/ computes its results from the warp's
 * latches (struct warp's r) and leaves them there. A mechanism that owns the registers (MECH_REGISTERS) keeps
 * the values of registers in physical registers of its own (core/regfile.h): it fills the latches of the
 * sources at the operands point, and takes the result from the latches at the result point. Until then the
 * scoreboard keeps every other instruction of the warp from reading or writing these registers. So the
 * latches never carry a value from one instruction to the next: a wrong mapping gives a wrong program.
 *
 *   fetch -> eligible -> lanes -> operands -> (effect) -> issued -> place, arrays -> dispatch
 *         -> access (memory) -> result -> place, arrays -> written -> retire
 *
 * tests/unit/test_points.c proves the contracts below; docs/adding-a-mechanism.md walks through a small
 * mechanism, docs/mechanism-points.md says which points each published mechanism needs.
 *
 * This header stands between core/ and the mechanisms: core/ calls what is declared here, and knows no
 * mechanism; mechanisms see core/view.h. */
#ifndef REPRISE_MECH_MECH_H
#define REPRISE_MECH_MECH_H

#include <stdbool.h>
#include <stdint.h>

#include "stats/stats.h"

struct arena;
struct energy_event;
struct gpu_config;
struct image;
struct sm;
struct str;
struct xinst;

enum { MECH_MAX = 4 };

/* What becomes of an op after a point. */
enum mech_verdict {
    MECH_PASS, /* it goes on as without the mechanism */
    MECH_TAKEN /* the mechanism has it now, and hands it on later through core/view.h */
};

/* Exclusive parts of the machine: two mechanisms that claim one cannot be stacked. */
enum mech_claim {
    MECH_REGISTERS = 1 << 0, /* where register values live */
    MECH_BANKS = 1 << 1,     /* arbitration of the register banks */
    MECH_STREAM = 1 << 2,    /* which instructions a warp fetches */
    MECH_LANES = 1 << 3,     /* which lanes execute */
    MECH_FRONT = 1 << 4,     /* ops between issue and the collectors: takes every op at the issued point, and
                                itself sees to a free collector */
    MECH_FORMS = 1 << 5,     /* how the banks store the lanes of a register */
    MECH_BACK = 1 << 6,      /* results between execution and the banks: takes ops at the result point */
    MECH_SUPPLY = 1 << 7,    /* results of instructions that are not executed (core_give) */
    MECH_MEMORY = 1 << 8,    /* accesses to memory of its own (core_request) */
};

/* The points. m is the mechanism's state on this SM; op numbers an op in flight (core_op_at); warp is a warp
 * slot of the SM; sets of warps are bits by slot. Unless said otherwise a point may change the mechanism's
 * own state only, and act on the SM through core/view.h. */
struct mech_points {
    /* A launch begins on the SM: nothing is under way. marks: what kernel() made. */
    void (*start)(void *m, const void *marks);
    /* The launch has ended. Returns NULL, or says which invariant of the mechanism does not hold. */
    const char *(*finish)(void *m);
    /* A block enters or leaves block slot `block`. Its warps are announced one by one, after the block when
     * it enters, before it when it leaves; a warp leaves with nothing in flight. */
    void (*block)(void *m, uint32_t block, bool enters);
    void (*warp)(void *m, uint32_t warp, bool enters);

    /* Fetch, each cycle in which warps want instructions: returns those of wanting that may fetch. May skip
     * instructions (core_skip). */
    uint64_t (*fetch)(void *m, uint64_t wanting, uint64_t now);
    /* Before a scheduler chooses: returns those of ready that may issue. Called only when ready is not empty;
     * a warp refused now must become eligible through something next() announces or the SM itself wakes for.
     */
    uint64_t (*eligible)(void *m, uint64_t ready, uint64_t now);
    /* A scheduler is about to choose, and has `free` issue slots in this cycle: returns how many of them the
     * mechanism uses for instructions of its own (core_inject with CORE_OWN, core_issue). */
    uint32_t (*slots)(void *m, uint32_t sched, uint32_t free, uint64_t now);
    /* The instruction is about to take effect for lanes mask; returns those of them for which it shall: no
     * other lane reads, writes or accesses memory. Not called for control instructions. */
    uint32_t (*lanes)(void *m, uint32_t warp, const struct xinst *i, uint32_t mask);
    /* The instruction is about to take effect: its source registers must be in the latches. May change the
     * latches of its sources, which are the registers unless a mechanism owns these. Also called for control
     * instructions. */
    void (*operands)(void *m, uint32_t warp, const struct xinst *i, uint32_t mask);
    /* A control instruction (branch, barrier, fence, exit, call) took effect. If it has a destination
     * register, that is not on the scoreboard, and the result is in the latch: of a barrier's, when it opens
     * (struct cta's opened), for all that waited. */
    void (*control)(void *m, uint32_t warp, const struct xinst *i, uint32_t mask);
    /* The instruction took effect, its result is in the latches, its destination on the scoreboard; no
     * collector is held yet. TAKEN: the mechanism calls core_collect, core_supply or core_finish, once, at
     * once or later. Mechanisms behind it in the stack see the op when it calls core_collect. */
    enum mech_verdict (*issued)(void *m, int32_t op, uint64_t now);

    /* Where the k-th source register (write: k-th destination word) of op lies: the number of a physical
     * register, whose bank is that number modulo banks. Only the owner of the registers has this point;
     * others ask core_place. */
    uint32_t (*place)(void *m, int32_t op, uint32_t k, bool write);
    /* Arrays of the bank that the access to the k-th source (write: destination word; k < 0: a read that
     * core_read asked for) activates, of those in arrays; for energy. */
    uint32_t (*arrays)(void *m, int32_t op, int32_t k, bool write, uint32_t arrays);
    /* Serves the banks for this cycle instead of the SM's own arbiter (core_arbitrate), through
     * core_serve_read and core_serve_write. Only the owner of the banks has this point. */
    void (*arbitrate)(void *m, uint64_t now);
    /* Operands are complete and the unit takes the op: returns how many lanes work, of lanes; for energy, the
     * result does not depend on it. */
    uint32_t (*dispatch)(void *m, int32_t op, uint32_t lanes);
    /* A memory op, textures excepted, is about to be served by the load/store unit; called once. TAKEN: its
     * accesses are not made, and the mechanism finishes it with core_finish or core_retire, at once or
     * later. */
    enum mech_verdict (*access)(void *m, int32_t op, uint64_t now);
    /* Execution is over, the data of loads have come. TAKEN: the mechanism calls core_write for each
     * destination word or core_retire, later. */
    enum mech_verdict (*result)(void *m, int32_t op, uint64_t now);
    /* What core_request asked memory for has come. */
    void (*arrived)(void *m, uint32_t token, uint64_t now);
    /* A bank read that core_read asked for was served. */
    void (*read_done)(void *m, int32_t op, uint64_t now);
    /* Destination word k was written to its bank. If the mechanism took the result, it goes on with the op:
     * core_write for the next word, or core_retire. */
    void (*written)(void *m, int32_t op, uint32_t k);
    /* The op ends, whichever way it went; what it still has on the scoreboard is released after this. */
    void (*retire)(void *m, int32_t op);

    /* Each cycle in which the SM does not sleep, before the banks are served. */
    void (*tick)(void *m, uint64_t now);
    /* The next cycle after now in which tick has something to do; UINT64_MAX: none. The SM may sleep until
     * then. elapsed() tells how many cycles it slept: calls of tick and these make up the SM's cycles. */
    uint64_t (*next)(const void *m, uint64_t now);
    void (*elapsed)(void *m, uint64_t cycles);
    /* What the mechanism holds, for the report of a hang. */
    void (*describe)(const void *m, struct str *out);
};

#define MECH_POINTS(X)                                                                                       \
    X(start)                                                                                                 \
    X(finish)                                                                                                \
    X(block)                                                                                                 \
    X(warp)                                                                                                  \
    X(fetch)                                                                                                 \
    X(eligible)                                                                                              \
    X(slots)                                                                                                 \
    X(lanes)                                                                                                 \
    X(operands)                                                                                              \
    X(control)                                                                                               \
    X(issued)                                                                                                \
    X(place)                                                                                                 \
    X(arrays)                                                                                                \
    X(arbitrate)                                                                                             \
    X(dispatch)                                                                                              \
    X(access)                                                                                                \
    X(result)                                                                                                \
    X(arrived)                                                                                               \
    X(read_done)                                                                                             \
    X(written)                                                                                               \
    X(retire)                                                                                                \
    X(tick)                                                                                                  \
    X(next)                                                                                                  \
    X(elapsed)                                                                                               \
    X(describe)

/* The points by number: MECH_AT_fetch and so on. */
enum mech_point {
#define X(name) MECH_AT_##name,
    MECH_POINTS(X)
#undef X
};

/* A mechanism. */
struct mechanism {
    const char *name;
    uint32_t order;  /* in a stack the smaller acts first */
    uint32_t claims; /* enum mech_claim */
    /* Values that it supplies may differ from those that instructions compute, and so may what programs
     * compute. Without this, memory must be the base machine's, bit for bit; with it, the error of the
     * program's results is measured. */
    bool approximate;
    struct mech_points points;
    /* What all SMs share, made once per machine; NULL: nothing. */
    void *(*shared)(struct arena *a, const struct gpu_config *cfg);
    void (*release)(void *shared); /* of what is not in the arena */
    /* The kernel-load point: facts about each instruction, in the launch's arena. */
    const void *(*kernel)(void *shared, struct arena *launch, const struct image *img);
    /* The state on one SM. */
    void *(*create)(struct arena *a, const struct gpu_config *cfg, void *shared, struct sm *sm);
    const uint64_t *(*counts)(const void *m);
    const struct counter_info *counters;
    uint32_t ncounters;
    const struct energy_event *energy; /* parameters are members of struct gpu_config */
    uint32_t nenergy;
};

/* The mechanisms of one SM. */
struct mech_stack {
    uint32_t has;    /* bits by enum mech_point: some mechanism of the stack has it */
    uint32_t claims; /* of all of them */
    uint32_t n;
    struct {
        const struct mech_points *points;
        void *state;
    } at[MECH_MAX];
};

/* Adds a mechanism's points behind those of a stack. */
void mech_push(struct mech_stack *s, const struct mechanism *m, void *state);

#endif
