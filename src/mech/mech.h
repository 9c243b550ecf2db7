/* Mechanisms: what they are, and the points of the SM's pipeline at which they act.
 *
 * A mechanism is a struct of optional operations, one state per SM, and tables of its own: parameters,
 * counters and energy events. Users name it with --mech. Several can be stacked.
 *
 * The points are grouped by what they own. Whoever fills in a point of a group owns what the group stands
 * for: two mechanisms of one stack cannot own the same thing, and the stack is refused. Three groups own
 * nothing and are open to all: life, watch and gate; each of their points calls the mechanisms of the stack
 * that have it, in the order of their `order`. The SM tests one bit per point, so a machine without
 * mechanisms pays a predictable branch and nothing else.
 *
 * Time and values. An instruction takes effect when it issues: exec/ computes its results from the warp's
 * latches (struct warp's r) and leaves them there. A mechanism that owns the registers keeps the values of
 * registers in physical registers of its own (core/regfile.h): it fills the latches of the sources before the
 * effect, and takes the result from the latches when execution is over. Until then the scoreboard keeps every
 * other instruction of the warp from reading or writing these registers. So the latches never carry a value
 * from one instruction to the next: a wrong mapping gives a wrong program.
 *
 *   stream.fetch -> stream.decoded -> gate.eligible -> lanes.choose -> registers.fill -> values.sources
 *     -> watch.before -> (effect) -> watch.issued -> front.take -> watch.collected -> registers.place,
 *     forms.arrays -> units.dispatch -> memory.access -> watch.result -> back.result -> registers.place,
 *     forms.arrays -> watch.written -> back.written -> watch.retire
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

#include "cfg/param.h"
#include "energy/gpu.h"
#include "stats/counter.h"

struct arena;
struct image;
struct mech_pass;
struct sm;
struct str;
struct xinst;

enum { MECH_MAX = 4 };

/* What becomes of an op after a point that can take it. */
enum mech_verdict {
    MECH_PASS, /* it goes on as without the mechanism */
    MECH_TAKEN /* the mechanism has it now, and hands it on later through core/view.h */
};

/* What becomes of an instruction that was fetched and decoded. */
enum mech_decode {
    DECODE_KEEP, /* it enters the warp's buffer */
    DECODE_DROP, /* it does not, and counts as executed: as if skipped, though it was fetched */
    DECODE_WAIT, /* it stays where it is, with those behind it; asked again in the next cycle */
    DECODE_HOLD, /* the same, but asked again only after core_ask, when the warp has been blocked and
                  * is no more, or where probes watch */
};

/* When a mechanism is asked whether it uses issue slots (gate.slots). */
enum mech_slots {
    SLOTS_NEVER,
    SLOTS_READY, /* in cycles in which a warp of the scheduler is ready that concerns it (core_concern) */
    SLOTS_ALWAYS /* in every cycle in which the SM does not sleep */
};

/* How an op uses its unit. */
struct mech_work {
    uint32_t lanes; /* that work: for energy, the result does not depend on it */
    uint32_t beats; /* cycles until the unit takes the next op */
};

/* In all points m is the mechanism's state on this SM; op numbers an op in flight (sm->ops); warp is a warp
 * slot of the SM; sets of warps are bits by slot. Unless said otherwise a point may change the mechanism's
 * own state only, and act on the SM through core/view.h. */

/* Launches, blocks, warps and cycles come and go. Open to all. */
struct mech_life {
    /* A launch begins on the SM: nothing is under way. marks: what kernel() made. */
    void (*start)(void *m, const void *marks);
    /* The launch has ended. cut: the rest of it runs untimed, and instructions may be on their way. Returns
     * NULL, or says which invariant of the mechanism does not hold. */
    const char *(*finish)(void *m, bool cut);
    /* May a block of so many warps enter the SM? All must agree. Asked again in every cycle in which the SM
     * is ticked, as long as the answer is no, so that how often depends on how the SM sleeps; an SM without
     * blocks is not ticked, and must let one enter. */
    bool (*admit)(void *m, uint32_t warps);
    /* A block enters or leaves block slot `block`. Its warps are announced one by one, after the block when
     * it enters, before it when it leaves; a warp leaves with nothing in flight. A second stream is a warp
     * of no block (core_stream_of tells). */
    void (*block)(void *m, uint32_t block, bool enters);
    void (*warp)(void *m, uint32_t warp, bool enters);
    /* Each cycle in which the SM does not sleep, before the banks are served. */
    void (*tick)(void *m, uint64_t now);
    /* The next cycle after now in which tick has something to do; UINT64_MAX: none. The SM may sleep until
     * then. Who has tick must have next. */
    uint64_t (*next)(const void *m, uint64_t now);
    /* How many cycles the SM slept: calls of tick and these make up the SM's cycles. */
    void (*elapsed)(void *m, uint64_t cycles);
    /* What the mechanism holds, for the report of a hang. */
    void (*describe)(const void *m, struct str *out);
    /* It is all the same to it in which order, and before or after its tick, results that reach their banks
     * in one cycle do so, and ops end: the SM may then write results when execution is over, without a queue.
     * Not for those who own registers, banks or results, or have watch.written. */
    bool any_order;
    /* Its states on the SMs have nothing in common that changes, and until execution is over it does not look
     * at what loads, atomics and textures bring, nor lets them end but by core_supply: SMs may then be
     * simulated by several threads, and ahead of each other. It says what it reads of memory on its own
     * (core_reads). */
    bool apart;
    /* What follows is of a mechanism that is alone and has a copy of the stages (core/points.h); where it may
     * not be so in a launch, that does without the copy (core_leave_copy).
     *
     * Instructions of the program go their way as without it. It takes none, nor their results, of which it
     * is told only where they come from memory (watch.result); it parks no warp and runs no code of its own;
     * when an instruction issues it changes nothing of other warps; it injects instructions in issue slots
     * only, and if it has a gate, its slots have just seen all warps that the gate is asked about. */
    bool beside;
    /* The same behind their issue alone, of instructions of its own code, too: it may park warps, and keep
     * them from issuing, give instructions their operands, and take what loads access. It injects and delays
     * none, and when one issues it changes nothing of other warps. */
    bool ahead;
    /* Points, as bits by enum mech_point, that it is told at of ops that it injects only, if at all. */
    uint64_t ignores;
};

/* What happens to instructions, for those who only look. Open to all. */
struct mech_watch {
    /* The instruction is about to take effect: its sources are in the latches. Also called for control
     * instructions. */
    void (*before)(void *m, uint32_t warp, const struct xinst *i, uint32_t mask);
    /* A control instruction (branch, barrier, fence, exit, call) took effect. If it has a destination
     * register, that is not on the scoreboard, and the result is in the latch: of a barrier's, when it opens,
     * for all that waited. */
    void (*control)(void *m, uint32_t warp, const struct xinst *i, uint32_t mask);
    /* Of the block's barriers: warps have come to one and wait, or (opened) one has opened and these warps go
     * on, the one that came last among them. */
    void (*barrier)(void *m, uint32_t block, uint64_t warps, bool opened);
    /* An instruction took effect, its result is in the latches, its destination on the scoreboard; no
     * collector is held yet. */
    void (*issued)(void *m, int32_t op);
    /* The op takes a collector and reads its operands: what is not executed never comes here. Also told of
     * ops that mechanisms injected. */
    void (*collected)(void *m, int32_t op);
    /* Execution is over, the data of loads have come. */
    void (*result)(void *m, int32_t op);
    /* Destination word k was written to its bank. */
    void (*written)(void *m, int32_t op, uint32_t k);
    /* The op ends, whichever way it went; what it still has on the scoreboard is released after this. */
    void (*retire)(void *m, int32_t op);
    /* It must see every instruction of the program: what it knows of a warp's registers is wrong behind one
     * that was skipped. It cannot be stacked with an owner of the stream. */
    bool every;
    /* The same, but what it knows is of physical registers (core_holds, the place of an op): an owner of the
     * stream may pass over instructions if it says where registers lie. */
    bool places;
};

/* Which warps issue, and issue slots for instructions of one's own. Open to all. */
struct mech_gate {
    /* Before a scheduler chooses: returns those of ready that may issue. Called only when ready is not empty;
     * a warp refused now must become eligible through something next() announces or the SM itself wakes for.
     * Not called while the mechanism has said that all may (core_open_gate), or that none of those that are
     * ready concerns it (core_concern). */
    uint64_t (*eligible)(void *m, uint64_t ready, uint64_t now);
    /* A scheduler is about to choose, and has `free` issue slots in this cycle: returns how many of them the
     * mechanism uses for instructions of its own (core_inject, core_issue). Asked as often as it wants to be
     * (core_want_slots): SLOTS_ALWAYS until it says otherwise. */
    uint32_t (*slots)(void *m, uint32_t sched, uint32_t free, uint64_t now);
    /* Asked behind a cycle of warps that are ready: returns those of them that eligible would refuse in every
     * cycle, and do nothing else, until tick has something to do or the SM wakes by itself. If that is all of
     * them the SM may sleep. Optional, for a mechanism that is alone. */
    uint64_t (*refused)(const void *m, uint64_t ready);
};

/* Owns which instructions a warp fetches. */
struct mech_stream {
    /* Each cycle in which warps want instructions: returns those of wanting that may fetch; the others are
     * held. Here, and in tick, it may skip instructions (core_skip) and say how many a fetch brings at most
     * (core_fetch_most). */
    uint64_t (*fetch)(void *m, uint64_t wanting, uint64_t now);
    /* The instruction at pc was decoded, in program order, and is about to enter the warp's buffer. */
    enum mech_decode (*decoded)(void *m, uint32_t warp, uint32_t pc, uint64_t now);
    /* Instructions that it holds (DECODE_HOLD) are forgotten before this cycle asks: the warp goes elsewhere.
     * Who holds must have it. */
    void (*recalled)(void *m, uint32_t warp, uint64_t now);
    /* The warp's path passes over the instruction at pc, which was skipped or dropped: all before it has
     * issued. The path stands at it, so that a mechanism which computes the result elsewhere can let it take
     * effect (warp_step). */
    void (*passed)(void *m, uint32_t warp, uint32_t pc);
    /* Instructions of a warp that it skips in a cycle at most; 0: it does not say. */
    uint32_t most;
    /* It runs instructions of its own (core_stream_open), whose registers no other mechanism can hold. */
    bool own_code;
};

/* Owns which lanes execute. */
struct mech_lanes {
    /* The instruction is about to take effect for lanes mask; returns those of them for which it shall: no
     * other lane reads, writes or accesses memory. Not called for control instructions. */
    uint32_t (*choose)(void *m, uint32_t warp, const struct xinst *i, uint32_t mask);
    /* Timing has been cut, and the warp is about to go on untimed with all its lanes. True: it cannot yet,
     * because of lanes for which instructions took no effect. Then its next instructions still pass choose
     * and values.sources, without time and without any other point, until this is false: what they do must
     * not count. Optional. */
    bool (*bound)(void *m, uint32_t warp);
};

/* Owns where register values live. fill, place and restore are needed. */
struct mech_registers {
    /* The instruction is about to take effect: puts its source registers into the latches. */
    void (*fill)(void *m, uint32_t warp, const struct xinst *i, uint32_t mask);
    /* Where the k-th source register (write: k-th destination word) of op lies: the number of a physical
     * register, below 65536, whose bank is that number modulo banks. Asked once for each access, when it
     * begins to wait for its bank; others read it there (core_place). */
    uint32_t (*place)(void *m, int32_t op, uint32_t k, bool write);
    /* The source registers of op (write: words of its result) lie where they would if registers had no owner,
     * who need not be asked; and of a result, that it is all the same when and in which order with others it
     * is written in this cycle, before or after its tick, and the op ends. Asked only of a mechanism that is
     * alone. Optional. */
    bool (*own)(const void *m, int32_t op, bool write);
    /* The instruction in front of the warp's buffer, which changes nothing but registers, is none of its
     * business: it is not told that it issues, and fills nothing. Asked only of a mechanism that is alone.
     * Optional. */
    bool (*silent)(const void *m, uint32_t warp);
    /* What place says of all source registers of op, to stay there until they are read. Optional. */
    const uint16_t *(*places)(void *m, int32_t op);
    /* Timing ends here, with nothing of the warp on its way: puts all its registers into the latches, from
     * which it goes on untimed. */
    void (*restore)(void *m, uint32_t warp);
    /* Where the warp's register lies for the instruction in front of its buffer: of a destination, what it
     * held before. CORE_NO_PLACE: it was never written. Who has no answer cannot say what others know of
     * registers by their place (core_holds); optional. */
    uint32_t (*holds)(void *m, uint32_t warp, uint32_t reg);
};

/* Owns the values that instructions take from the latches. */
struct mech_values {
    /* The instruction is about to take effect: may change the latches of its sources, which are the registers
     * unless a mechanism owns these. */
    void (*sources)(void *m, uint32_t warp, const struct xinst *i, uint32_t mask);
};

/* Owns ops between issue and the collectors, and the results of those that are not executed. */
struct mech_front {
    /* The instruction took effect. TAKEN: the mechanism calls core_collect, core_supply or core_finish, once,
     * at once or later. */
    enum mech_verdict (*take)(void *m, int32_t op, uint64_t now);
    /* It takes every op, and sees to a free collector itself: ops issue without one. Who knows all it needs
     * before ops take effect needs no take then. */
    bool every;
};

/* Owns the arbitration of the register banks. */
struct mech_banks {
    /* Serves the banks for this cycle instead of the SM's own arbiter (core_arbitrate), through
     * core_serve_read and core_serve_write. */
    void (*arbitrate)(void *m, uint64_t now);
    /* The one word of a result is about to wait for its bank, which has taken no other in this cycle, and
     * where nothing waits: if the bank takes it now, returns the arrays that this activates, else 0. Asked
     * only of a mechanism that is alone, as where the word goes is then known (op->place). Optional. */
    uint32_t (*write)(void *m, int32_t op, uint32_t bank);
    /* It also serves ops that read alone (sm->lone), or has their reads wait like others (core_queue_lone).
     * If not, there are none. */
    bool lone;
};

/* Owns how the banks store the lanes of a register. */
struct mech_forms {
    /* Arrays of the bank that the access to the k-th source (write: destination word; k < 0: a read that
     * core_read asked for) activates, of those in arrays; for energy. */
    uint32_t (*arrays)(void *m, int32_t op, int32_t k, bool write, uint32_t arrays);
};

/* Owns how ops use their units. */
struct mech_units {
    /* Operands are complete and the unit takes the op: returns how it works on it. */
    struct mech_work (*dispatch)(void *m, int32_t op, struct mech_work work);
};

/* Owns results between execution and the banks. Both result and written are needed. */
struct mech_back {
    /* Execution is over. TAKEN: the mechanism calls core_write or core_share for each destination word, then
     * core_retire, later. */
    enum mech_verdict (*result)(void *m, int32_t op, uint64_t now);
    /* Word k of an op whose result was taken was written: the mechanism goes on with it. */
    void (*written)(void *m, int32_t op, uint32_t k);
    /* A bank read that core_read asked for was served. */
    void (*read_done)(void *m, int32_t op, uint64_t now);
};

/* Owns accesses to memory, and those of its own (core_request). */
struct mech_memory {
    /* A memory op, textures excepted, is about to be served by the load/store unit; called once. TAKEN: its
     * accesses are not made, and the mechanism finishes it with core_finish or core_retire, at once or
     * later. */
    enum mech_verdict (*access)(void *m, int32_t op, uint64_t now);
    /* What core_request asked memory for has come. */
    void (*arrived)(void *m, uint32_t token, uint64_t now);
    /* What it has read of memory (core_reads) others had written before: it reads it again, with nothing else
     * changed. */
    void (*again)(void *m, uint32_t token);
    /* For the same reason a load took effect again, as if it had just issued: the mechanism gives it what it
     * gave it then. Needed with again. */
    void (*given)(void *m, int32_t op);
};

/* The groups: X(name, what two mechanisms that have it both do; NULL: open to all). */
#define MECH_GROUPS(X)                                                                                       \
    X(life, NULL)                                                                                            \
    X(watch, NULL)                                                                                           \
    X(gate, NULL)                                                                                            \
    X(stream, "decide which instructions a warp fetches")                                                    \
    X(lanes, "decide which lanes execute")                                                                   \
    X(registers, "decide in which registers values live")                                                    \
    X(forms, "decide how the banks store the lanes of a register")                                           \
    X(values, "change the operands of instructions")                                                         \
    X(front, "take instructions between issue and the operand collectors")                                   \
    X(banks, "arbitrate the register banks")                                                                 \
    X(units, "decide how instructions use their units")                                                      \
    X(back, "take results between execution and the register banks")                                         \
    X(memory, "access memory on their own")

/* All points of a mechanism. */
struct mech_points {
#define X(name, what) struct mech_##name name;
    MECH_GROUPS(X)
#undef X
};

/* The points: X(group, name). */
#define MECH_POINTS(X)                                                                                       \
    X(life, start)                                                                                           \
    X(life, finish)                                                                                          \
    X(life, admit)                                                                                           \
    X(life, block)                                                                                           \
    X(life, warp)                                                                                            \
    X(life, tick)                                                                                            \
    X(life, next)                                                                                            \
    X(life, elapsed)                                                                                         \
    X(life, describe)                                                                                        \
    X(watch, before)                                                                                         \
    X(watch, control)                                                                                        \
    X(watch, barrier)                                                                                        \
    X(watch, issued)                                                                                         \
    X(watch, collected)                                                                                      \
    X(watch, result)                                                                                         \
    X(watch, written)                                                                                        \
    X(watch, retire)                                                                                         \
    X(gate, eligible)                                                                                        \
    X(gate, slots)                                                                                           \
    X(gate, refused)                                                                                         \
    X(stream, fetch)                                                                                         \
    X(stream, decoded)                                                                                       \
    X(stream, recalled)                                                                                      \
    X(stream, passed)                                                                                        \
    X(lanes, choose)                                                                                         \
    X(lanes, bound)                                                                                          \
    X(registers, fill)                                                                                       \
    X(registers, place)                                                                                      \
    X(registers, own)                                                                                        \
    X(registers, silent)                                                                                     \
    X(registers, places)                                                                                     \
    X(registers, restore)                                                                                    \
    X(registers, holds)                                                                                      \
    X(values, sources)                                                                                       \
    X(front, take)                                                                                           \
    X(banks, arbitrate)                                                                                      \
    X(banks, write)                                                                                          \
    X(forms, arrays)                                                                                         \
    X(units, dispatch)                                                                                       \
    X(back, result)                                                                                          \
    X(back, written)                                                                                         \
    X(back, read_done)                                                                                       \
    X(memory, access)                                                                                        \
    X(memory, arrived)                                                                                       \
    X(memory, again)                                                                                         \
    X(memory, given)

/* The groups and points by number: MECH_stream, MECH_AT_stream_fetch and so on. */
enum mech_group {
#define X(name, what) MECH_##name,
    MECH_GROUPS(X)
#undef X
        MECH_GROUPS_ALL
};
enum mech_point {
#define X(group, name) MECH_AT_##group##_##name,
    MECH_POINTS(X)
#undef X
        MECH_POINTS_ALL
};
_Static_assert(MECH_POINTS_ALL <= 64, "points are bits of a word");

/* Another name of a mechanism, with settings of its own, which hold unless the user sets them otherwise. */
struct mech_model {
    const char *name, *help;
    const char *const *settings; /* "path=value", NULL-terminated; NULL: none */
};
#define MECH_SETTINGS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* A mechanism. params is the struct that its table of parameters describes; NULL when it has none. */
struct mechanism {
    const char *name, *help;         /* what users call it, and a line about it */
    const struct mech_model *models; /* its other names, up to one without a name; NULL: none */
    uint32_t order;                  /* in a stack the smaller acts first */
    /* Values that it supplies may differ from those that instructions compute, and so may what programs
     * compute. Without this, memory must be the base machine's, bit for bit; with it, the error of the
     * program's results is measured. */
    bool approximate;
    struct mech_points points;
    struct param_table params;
    struct counter_table counters;
    struct energy_table energy; /* which may name counters and parameters of the base machine, too */
    /* What all SMs share, made once per machine; NULL: nothing. */
    void *(*shared)(struct arena *a, const void *params);
    void (*release)(void *shared); /* of what is not in the arena */
    /* Passes that kernels are compiled with for it (opt/mech_pass.h), or NULL. */
    const struct mech_pass *passes;
    /* The kernel-load point: facts about each instruction, in the launch's arena. */
    const void *(*kernel)(void *shared, struct arena *launch, const struct image *img);
    /* Is it told of the kernel's instruction at pc when that issues: at values.sources, watch.before and
     * watch.issued? marks: what kernel() made. Asked once for each launch; NULL: it is told of all. Not for
     * owners of registers or of the front. */
    bool (*concerns)(const void *marks, uint32_t pc);
    /* The state on one SM. */
    void *(*create)(struct arena *a, const void *params, void *shared, struct sm *sm);
    /* The struct that counters are members of; NULL: the state itself. */
    const void *(*counts)(const void *m);
    /* Somebody is about to read them: what was not counted one by one is added up. Optional. */
    void (*tally)(void *m);
};

/* The mechanisms of one SM. */
struct mech_stack {
    uint64_t has;  /* bits by enum mech_point: some mechanism of the stack has it */
    uint32_t owns; /* bits by enum mech_group: some mechanism owns it */
    uint32_t n;
    bool takes_every;      /* ops at issue: the owner of the front says so */
    bool skips;            /* instructions: the owner of the stream has a say in what is fetched */
    bool any_order;        /* of results, to all of them */
    uint32_t gates;        /* bits by place in `at`: gates that are not open */
    uint64_t concern;      /* warps that gates and slots of some mechanism concern */
    enum mech_slots slots; /* the most that any of them wants */
    struct {
        const struct mech_points *points;
        void *state;
        enum mech_slots slots;
        uint64_t concern;
        bool rests; /* has nothing to do in this launch */
    } at[MECH_MAX];
    /* The owner of each group that has one. */
    struct {
        const struct mech_points *points;
        void *state;
    } owner[MECH_GROUPS_ALL];
};

/* Points that are filled in, as bits by enum mech_point; groups of which some are, as bits by enum
 * mech_group. */
uint64_t mech_has(const struct mech_points *p);
uint32_t mech_owns(const struct mech_points *p);
/* NULL, or why these points cannot be a mechanism's: a group that lacks a point it needs. */
const char *mech_wrong(const struct mech_points *p);
/* What two mechanisms that both have this group do, or NULL when it is open to all. */
const char *mech_group_what(enum mech_group g);

/* Adds a mechanism's points behind those of a stack, whose groups it must not own. */
void mech_push(struct mech_stack *s, const struct mechanism *m, void *state);
/* What of a mechanism is compiled for the case that it is alone, or NULL (registry.c). */
const struct core_alone *mech_alone(const struct mechanism *m);
/* The mechanism of a stack that has no other is called at these points, which are the same as its own. */
void mech_call_at(struct mech_stack *s, const struct mech_points *points);

#endif
