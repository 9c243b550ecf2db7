/* The streaming multiprocessor, cycle by cycle.
 *
 *   fetch -> instruction buffers -> issue (scoreboard) -> operand collectors <- register banks
 *                                                              |
 *                                        SP, SFU, DP, tensor, load/store, texture units
 *                                                              |
 *                                                   writeback -> banks, scoreboard
 *
 * An instruction's effect on registers and memory happens when it issues (exec/); here it takes its time.
 * Latency of an operation is counted from its issue to the issue of an instruction that needs its result,
 * with no conflicts between. Stages tick in reverse order, so that what one stage frees in a cycle the stage
 * before it can use in the same cycle.
 *
 * An SM that cannot do anything until a known cycle sleeps: sm_tick then returns that cycle, and the slots of
 * the cycles in between are counted with the reason of the first. A test proves that sleeping changes
 * nothing. */
#ifndef REPRISE_CORE_CORE_H
#define REPRISE_CORE_CORE_H

#include "base/often.h"
#include "exec/later.h"
#include "mech/mech.h"
#include "mem/coalescer.h"
#include "mem/memsys.h"
#include "sim/probe.h"

enum {
    CORE_MAX_WARPS = 64,
    CORE_MAX_BANKS = 32,
    CORE_OPS = 1024,    /* instructions on their way in an SM, at most */
    CORE_ARRAYS = 8,    /* arrays side by side in a register bank, each of four lanes */
    CORE_WHEEL = 2048,  /* cycles ahead that a completion can be scheduled */
    CORE_ARRIVALS = 64, /* cycles ahead that instructions on their way to buffers are noted */
    CORE_NONE = -1,
    CORE_BUFFER = 16,           /* instructions a warp's buffer holds at most; a power of two */
    CORE_AHEAD = 32,            /* instructions from a warp's fetch pc on that can be skipped */
    CORE_STREAMS = 2,           /* second instruction streams that an SM can have */
    CORE_NO_BLOCK = UINT16_MAX, /* instead of a block slot: the warp is a second stream */
    CORE_NO_PC = -1,            /* of ops that are not in the code the warp runs */
    CORE_NO_PLACE = 0xffff,     /* instead of a physical register: none */
};
#define CORE_REQUEST 0x80000000u /* in the token of an access to memory: it is a mechanism's own ... */
#define CORE_OF_OP   0x40000000u /* ... for the op of this number */

enum core_sched { SCHED_LRR, SCHED_GTO, SCHED_TWO_LEVEL, SCHED_OLDEST };
enum core_mapping { MAP_WID, MAP_WSHIFT };
struct sm;
/* Some cycles, see sm_run. */
typedef uint64_t sm_run_fn(struct sm *sm, uint64_t *now, uint64_t end, void (*done)(void *ctx, struct cta *c),
                           void *ctx);
/* A copy of the stages that is compiled with one mechanism and for it: the mechanism's points, as they are
 * there, and the cycle, of SHAPE_USUAL. Nothing of it runs where that does not hold. */
struct core_alone {
    const struct mech_points *points;
    sm_run_fn *run;
};

/* What the stages take for granted, a constant where they are compiled, once for each of these; each also
 * takes for granted what those before it do. */
enum core_shape {
    SHAPE_ANY,    /* nothing */
    SHAPE_USUAL,  /* no watchers or sanitizers, greedy schedulers of one slot, collectors take what comes */
    SHAPE_BASE,   /* no mechanisms */
    SHAPE_SINGLE, /* collectors of one kind */
    SHAPE_PAIR    /* two schedulers, and one fetch in a cycle */
};
enum core_space { CORE_GLOBAL, CORE_SHARED, CORE_LOCAL, CORE_TEXTURE };

/* Operand collectors may be divided between kinds of units. */
enum collect_kind { COLLECT_SP, COLLECT_SFU, COLLECT_MEM, COLLECT_KINDS };

/* What an SM is made of. */
struct core_spec {
    uint32_t warps, blocks;     /* resident at most */
    uint32_t registers;         /* of a whole warp, in all banks */
    uint32_t schedulers, width; /* width: instructions one scheduler issues in a cycle, from one warp */
    enum core_sched policy;
    uint32_t active;       /* two-level: warps of a scheduler in its active set */
    uint32_t ibuffer;      /* instructions buffered per warp */
    uint32_t fetch_groups; /* fetches per cycle, one per group of warps */
    uint32_t fetch_width;  /* instructions one fetch brings */
    uint32_t decode;       /* cycles from fetch to buffer */
    uint32_t banks;
    uint32_t collectors[COLLECT_KINDS]; /* of each kind; 0: those instructions use the first kind's, too */
    uint32_t collector_ports; /* operands that a collector takes in a cycle; 0: one from every bank */
    bool dual_port;           /* a bank reads and writes in one cycle */
    enum core_mapping mapping;
    struct {
        uint32_t count, interval; /* units, and cycles between two warp instructions on one */
    } units[UNIT_COUNT];
    uint32_t latency[LAT_COUNT];
    struct core_tensor {
        uint32_t f16, f64;                          /* multiply-adds of one tensor core in a cycle */
        uint32_t step, double_latency, double_step; /* latency beside that of LAT_MMA */
    } tensor;
    uint32_t shared_latency, remote_latency; /* remote: shared memory of another block of the cluster */
    uint32_t cluster_latency;                /* of its barrier */
    uint32_t lsu_queue; /* memory instructions waiting behind the one being served; so for textures */
    struct coalescer_spec coalescer;
    bool sleep; /* skip cycles in which nothing can happen */
};

struct core_counters {
#define COUNTER(field, name, unit, help) uint64_t field;
#include "core/core.def"
#undef COUNTER
};

/* Lanes that worked and lanes that did not, in instructions as they go to their units: what energy follows.
 * Made of uint64_t only, in the order of lanes.def. */
struct core_lanes {
    uint64_t active[EN_COUNT]; /* by what they did */
    uint64_t idle[UNIT_CTRL];  /* by the unit they were idle in; control has none */
};

/* What the SM needs to know of a static instruction: registers and predicates it reads or writes, and where
 * it goes. */
struct core_need {
    _Alignas(64) uint64_t regs[4];
    /* Destination registers, which lie in one word of such a set, and those that a load writes. Both are
     * empty if they lie in two words (parted). */
    uint64_t dest, loaded;
    const struct xinst *i;
    uint8_t dest_word;
    bool parted;
    uint8_t preds;
    uint8_t sets;                    /* predicates that it writes */
    uint8_t nreads, nwrites;         /* registers read from and written to banks */
    uint8_t nconsts;                 /* operands in constant banks */
    bool control, memory;            /* acts at once, without a collector; accesses memory */
    bool queues;                     /* it may go from its unit to a queue towards memory */
    bool simple;                     /* from its unit it goes to its end, and counts as any other there */
    bool load, store;                /* of memory: into registers, from registers */
    bool beyond;                     /* registers are not only in the first word of the sets */
    bool steps;                      /* changes nothing of its warp's paths but where they stand ... */
    bool computes;                   /* ... and of all else nothing but registers */
    bool told;                       /* there is a mechanism, and it is told when it issues */
    uint8_t unit, latency, energy;   /* of the operation */
    uint8_t left;                    /* instructions up to the end of its line, or of the code */
    uint8_t reads[MAX_SOURCE_WORDS]; /* source registers, each once */
    /* What follows from the machine, in the needs of a launch (core_needs). */
    bool apart;          /* the source registers lie in different banks */
    uint8_t kind;        /* of collector */
    uint16_t cycles;     /* latency */
    uint16_t beats;      /* cycles between two on one unit; textures take several */
    uint64_t read_banks; /* banks of the source registers of warp 0, and above them the same once more */
};

/* An instruction on its way; a cache line each, which also makes finding one by number cheap. */
struct core_op {
    _Alignas(64) const struct xinst *i;
    const struct core_need *need;
    uint64_t ready; /* cycle from which the unit may take it; without mechanisms it always may */
    int32_t next;   /* list link */
    int32_t pc;     /* in the code its warp runs; CORE_NO_PC: it was injected by a mechanism */
    uint32_t mask;  /* lanes for which it took effect */
    uint16_t warp;
    uint16_t place;               /* physical register of the word that waits for its bank */
    uint16_t passes;              /* shared memory, filter of the texture unit */
    uint16_t naccess, sent, done; /* other memory */
    int16_t accesses;             /* slot in access_pool, or CORE_NONE */
    uint16_t delay;               /* cycles that mechanisms add to its execution */
    uint8_t pending;              /* operand reads not yet granted */
    uint8_t writes;               /* destination words not yet written */
    uint8_t next_write;           /* the one waiting for its bank */
    uint8_t space;                /* enum core_space of memory instructions */
    uint8_t lanes;                /* that execute */
    uint8_t write_arrays;         /* of a bank that a write activates: CORE_ARRAYS, or fewer for few lanes */
    bool taken : 1;               /* a mechanism sees to its result */
    bool offered : 1;             /* the owner of memory accesses has seen it */
    bool later : 1;               /* its result is not there yet, see sm.later */
    bool remote : 1;              /* some lanes access the shared memory of another block */
    /* For the owner of the registers, as it likes; where they have none, for that of the banks, with what is
     * behind it. */
    bool noted : 1;
    uint8_t tag;
    uint32_t served;
};
_Static_assert(sizeof(struct core_op) == 64, "an op is a cache line");

/* A warp; of a size that makes finding one by its slot cheap. */
struct core_warp {
    _Alignas(64) struct warp *w; /* NULL: slot is free */
    struct exec *x;              /* the code it runs: the launch's, or a second stream's own */
    const struct core_need *needs;
    const struct core_need *need; /* of the instruction at next */
    uint32_t next;     /* pc of the first instruction in the buffer, or, if there is none, fetch_pc */
    uint32_t fetch_pc; /* of the next instruction to fetch */
    uint32_t ncode;    /* instructions of its code ... */
    uint32_t inflight; /* ops on their way */
    uint64_t code_at;  /* ... and the address of the first */
    uint8_t words;     /* of the sets of registers below that the code uses */
    uint8_t pending_preds;
    bool fetching; /* waits for the instruction cache */
    bool fence;    /* waits for its stores */
    uint8_t most;  /* instructions its next fetch brings at most */
    /* The buffer: a ring of instructions in program order by pc, `buffered` of which can issue, from first
     * on; behind them `arriving` ones that are being decoded. What was skipped is not in it. Where no
     * mechanism skips any (mech.skips) only these numbers count. */
    uint8_t buffered, arriving;
    uint64_t pending[4], memory[4]; /* registers to be written; those of them by loads */
    uint64_t twice[4];              /* pending registers that wait for one more write (core_expect) */
    uint64_t arrive;                /* cycle in which fetched instructions enter the buffer */
    uint64_t found;  /* cycle in which a fetch that hit is answered, until somebody sees to it; or NEVER */
    uint64_t until;  /* waits, at least until this cycle, behind a barrier of the cluster that is opening */
    uint32_t stores; /* unanswered stores and atomics */
    uint32_t epoch;  /* counts flushes of the buffer, so that late fetches are recognised */
    uint32_t *buffer;
    uint32_t first;
    uint32_t skips; /* instructions from fetch_pc on that will not be fetched, as bits; never its first */
    struct {
        uint64_t addr;
        uint32_t pc;
        uint8_t times, others; /* it was repeated; ordered accesses elsewhere since then */
    } spin;                    /* the ordered access that may be a spin loop's */
    uint64_t local_base;
    uint32_t block; /* block slot, or CORE_NO_BLOCK */
};
_Static_assert(sizeof(struct core_warp) == 256, "finding a warp takes a shift");

/* A second instruction stream: code of a mechanism's own, which one warp of no block runs. Made for a launch
 * (core_stream_open), started and stopped while it runs. */
struct core_stream {
    struct exec x; /* a copy of the launch's, with the stream's code and counts */
    struct core_need *needs;
    bool own_needs;  /* they are this SM's; else those of the first SM */
    struct cta *cta; /* of the one warp; the registers are its own */
    uint32_t slot;   /* warp slot, while it runs */
    bool running;
};

struct core_block {
    struct cta *cta; /* NULL: slot is free */
    uint32_t warps;  /* still running or with instructions on their way ... */
    uint64_t slots;  /* ... and where they are */
};

/* Why an SM does not go on by itself: a fault; some warp has exited and has nothing on its way. */
enum { HALT_FAULT = 1, HALT_ENDED = 2 };

struct sm {
    const struct core_spec *spec;
    const struct core_need *needs; /* per instruction of the kernel */
    struct exec *x;                /* the launch */
    struct memsys *mem;
    struct port_times *port;            /* when memory has something for this SM */
    const uint32_t *epoch[MEM_CLIENTS]; /* of its caches */
    uint32_t id;
    uint32_t fit;                     /* blocks of the launch that the SM has room for at once */
    sm_run_fn *run;                   /* while there are no watchers */
    const struct core_alone *alone;   /* of its mechanism, if there is one; NULL: none */
    const struct mech_points *points; /* of that mechanism, where this copy does not run ... */
    bool copied;                      /* ... and whether it does in this launch */
    uint32_t data_accepted;           /* accesses that the data cache has taken */
    uint64_t ticks;                   /* cycles that it went through awake, since somebody set it back */

    struct core_warp warps[CORE_MAX_WARPS];
    uint32_t buffers[CORE_MAX_WARPS][CORE_BUFFER];
    uint64_t resident_before;       /* n.resident_warps when the launch began */
    uint64_t cycles_before;         /* n.cycles when it began */
    uint64_t resident;              /* warp slots in use; these sets are bits by slot */
    uint64_t older[CORE_MAX_WARPS]; /* of each slot in use: slots whose warps came before, and free ones */
    uint64_t streaming;             /* those of second streams */
    uint32_t nwarps;                /* those of the program */
    uint64_t valid;                 /* buffer not empty: of resident ones only */
    uint64_t clear;                 /* scoreboard lets the next instruction pass */
    uint64_t on_memory;             /* if not: a load is what it waits for */
    uint64_t blocked;               /* at a barrier or memory fence */
    uint64_t parked;                /* wait for something of a mechanism's (core_park) */
    uint64_t held;                  /* behind a control instruction */
    uint64_t control;               /* the next instruction is one */
    bool kinds_apart;               /* there are collectors of more than one kind */
    uint64_t
        kind[COLLECT_KINDS]; /* the next instruction needs this kind of collector; where kinds are apart */
    uint64_t hungry;         /* buffer has room and nothing is on its way to it */
    uint64_t fetchers;       /* may fetch: all, or none once the SM was halted */
    uint64_t arriving;       /* instructions were found, or are being decoded ... */
    uint64_t arrivals[CORE_ARRIVALS]; /* ... those of a cycle, modulo their number ... */
    uint64_t arrive_slots;            /* ... which of these are not 0 */
    uint64_t holding; /* those of `arriving` of which a mechanism says when it is asked again (DECODE_HOLD) */
    uint64_t kept;    /* those of `hungry` that a mechanism did not let fetch when it was last asked */
    uint64_t fetched; /* last cycle in which the warps fetched, or would have */
    uint64_t line_mask; /* without the bits of an address that say where in its line it is */
    uint64_t group[4];  /* warps of each scheduler */
    uint32_t last[4];   /* warp each scheduler issued last */
    uint64_t active[4]; /* two-level: active set */
    uint64_t fetch_group[4];
    uint64_t fetch_above[4]; /* slots above the one that fetched last */
    uint64_t fetch_latency;  /* of the instruction cache */
    uint64_t arrive_after;   /* cycles from a fetch that hits until what it brings is in the buffer ... */
    uint64_t arrive_slot;    /* ... and until somebody looks at its warp, at the latest */
    struct {
        uint64_t until;
        uint32_t warp;
    } hold[CORE_MAX_WARPS]; /* ring of held warps in the order in which they go on */
    uint32_t hold_first, hold_count;
    uint64_t hold_next; /* cycle in which the first of them goes on, or cluster_wake if that is before */
    struct core_block blocks[CORE_MAX_WARPS];
    uint32_t nblocks;

    struct core_op ops[CORE_OPS];
    int32_t free_op;
    int32_t fresh_op; /* it and those behind it were not used in this launch; each is free before the next */
    uint32_t collectors_free[COLLECT_KINDS];
    uint8_t bank_at[CORE_MAX_WARPS + MAX_GPR]; /* banks by warp, or by the sum of warp and register */
    uint8_t banks_past[CORE_MAX_WARPS];        /* of a warp: those from its own to the last */
    uint32_t bank_regs;                        /* bits of a register that count in that sum */
    uint32_t place_bits;                    /* bits of a physical register that are its bank; 0: all count */
    uint32_t all_banks;                     /* a bit for each */
    int32_t bank_reads[CORE_MAX_BANKS][2];  /* FIFO of waiting reads: head, tail, as read records */
    int32_t bank_writes[CORE_MAX_BANKS][2]; /* FIFO of ops waiting to write */
    uint32_t read_banks, write_banks;       /* banks with waiting requests */
    uint32_t reads_waiting, writes_waiting; /* those requests */
    uint32_t written_banks;                 /* that have taken a write in this cycle before they are served */
    /* Ops that are the only ones to read from their banks: they need no records in queues, unless a write is
     * before them. By banks. Not where the SM is of SHAPE_ANY, unless an owner of the registers said where
     * the operands lie. */
    struct core_lone {
        int32_t op;
        uint32_t banks;
        const uint16_t *places; /* NULL: registers have no owner */
    } lone[4];
    uint32_t nlone, lone_banks; /* which are among read_banks, but not among reads_waiting */
    uint32_t nreads;
    struct core_read {
        int16_t op, source; /* which of the op's sources; CORE_NONE: a read for a mechanism */
        uint16_t place;     /* physical register */
        int32_t next;
    } * reads;
    int32_t free_read, fresh_read; /* as of ops */
    struct core_port {
        uint64_t cycle;   /* in which the op's collector last took operands */
        uint32_t taken;   /* so many */
    } * ports;            /* by op; NULL: collectors take whatever comes */
    uint32_t ready_units; /* kinds of units for which an op is ready */
    uint32_t full_units;  /* those whose first one waits for room in the queues towards memory */
    struct core_unit {
        _Alignas(64) uint64_t free[4]; /* of each unit of a kind: the cycle in which it takes the next op */
        uint32_t count;
        int32_t ready[2];     /* FIFO of ops whose operands are complete */
        uint64_t *ops, *idle; /* counters: instructions, and lanes without work */
    } units[UNIT_COUNT];
    int32_t lsu[2]; /* FIFO of memory ops in the load/store unit */
    uint32_t lsu_length, tex_length;
    uint64_t lsu_free;  /* cycle from which the unit serves its first op */
    uint32_t lsu_epoch; /* of the cache when it refused; UINT32_MAX: not refused */
    int32_t tex[2];     /* FIFO of ops that read textures or surfaces */
    uint32_t tex_epoch;
    int32_t wheel[CORE_WHEEL]; /* ops whose execution ends in a cycle */
    uint64_t ends_soon;        /* bits of those cycles, modulo 64, of ops less than 64 cycles away ... */
    uint64_t wheel_bits[CORE_WHEEL / 64]; /* ... of others: bits of all cycles ... */
    uint32_t wheel_words;                 /* ... and words of these bits that are not 0 */
    uint64_t later_ends; /* no op there had an access in `later`, when it came there, that ends after this */
    struct mem_access *access_pool;
    int16_t access_free[64];
    uint32_t naccess_free;
    uint32_t outstanding; /* ops that wait for memory */
    bool answer_far;      /* DRAM was asked for the answer that a mechanism is told of */

    struct core_stream streams[CORE_STREAMS];
    uint32_t nstreams;

    uint64_t now;          /* last cycle ticked */
    uint64_t served;       /* last cycle in which the banks were served, for mechanisms, as `fetched` is */
    struct probe *probe;   /* watchers, or NULL */
    struct later *later;   /* accesses that take effect when all SMs are as far; NULL: they do at once */
    struct sm **peers;     /* all SMs: where other blocks of a cluster are */
    uint64_t cluster_wake; /* cycle in which the next warp leaves a barrier of its cluster */
    uint8_t halts;         /* why the SM does not go on by itself, see below */
    struct core_counters n;
    struct core_lanes lanes;

    struct mech_stack mech;    /* empty in launches in which it rests (core_rest) ... */
    struct mech_stack resting; /* ... and then here until the launch has ended */
    struct {
        bool on;            /* --check: values that mechanisms supply are compared with those computed */
        bool approximate;   /* they may differ: that is counted, and no mistake */
        uint64_t differing; /* ... so often */
        struct str *out;
    } check;
};

extern const struct counter_table core_counter_table; /* struct core_counters */
extern const struct counter_table core_lane_table;    /* struct core_lanes */

/* What the kernel needs of the scoreboard and of such a machine, per instruction; in the arena. */
struct core_need *core_needs(struct arena *a, const struct image *img, const struct core_spec *s);
/* The same into an array that has room for one more, which stays as it is: all of it is 0. */
void core_needs_fill(struct core_need *all, const struct image *img, const struct core_spec *s);
/* The same of one instruction, less what follows from the machine. */
struct core_need core_need(const struct xinst *i);

struct sm *sm_create(struct arena *a, const struct core_spec *s, struct memsys *mem, uint32_t id);
/* Prepares for a launch: no blocks, nothing under way. marks: of each mechanism of the stack. */
void sm_start(struct sm *sm, struct exec *x, const struct core_need *needs, const void *const *marks);
/* Who watches the launch that is about to be prepared; NULL: nobody. */
void sm_watch(struct sm *sm, struct probe *p);
/* The launch has ended, after so many cycles; cut: the rest of it runs untimed. NULL, or the invariant of a
 * mechanism that does not hold. */
const char *sm_finish(struct sm *sm, uint64_t cycles, bool cut);
/* Timing is about to be cut: no warp fetches any more, from cycle now on, and what was not decoded is
 * forgotten. What was goes on to its end. */
void sm_halt(struct sm *sm, uint64_t now);
/* Has all that was begun when the SM was halted come to its end? */
bool sm_quiet(const struct sm *sm);
/* Nothing is on its way any more: blocks can go on untimed, with all their registers in the latches. */
void sm_restore(struct sm *sm);
/* Of restored SMs: there is a warp that cannot go on without a mechanism yet. Nothing is timed any more. */
bool sm_bound(struct sm *sm);
/* Such warps go on for some instructions, untimed; others: so do those that can go on alone, because they may
 * be waited for. False after a fault. */
bool sm_unbind(struct sm *sm, bool others);
/* All warps wait: lanes that wait for others of their warp go on alone. False: there are none. */
bool sm_split_waiting(struct sm *sm);
/* Frees what belongs to the launch alone, however it ended. */
void sm_close(struct sm *sm);
/* May a block of so many warps enter, as far as mechanisms have a say? */
bool sm_admits(struct sm *sm, uint32_t warps);
/* Puts a block (already started) on the SM; false when no slot for it is free. */
bool sm_add_block(struct sm *sm, struct cta *c);
/* Room for one more block of so many warps? */
bool sm_has_room(const struct sm *sm, uint32_t warps);
/* One cycle. Returns the next cycle in which the SM may have something to do, NEVER when it only waits for
 * memory. A block that ended is handed to done. */
uint64_t sm_tick(struct sm *sm, uint64_t now, void (*done)(void *ctx, struct cta *c), void *ctx);
/* The same of cycle *now and, where ports are apart, of those before end in which the SM has something to do
 * next, up to one in which somebody else has, too: its port, those who carry out accesses that it waits for,
 * or who sees to a block that ended or a fault. Leaves the last of these cycles in *now. */
sm_run_fn sm_run;
/* Whether an access is to end now that has not taken effect: sm_tick must wait for that. */
bool sm_must_wait(const struct sm *sm, uint64_t now);
/* False when it is sure that it need not. */
static inline bool sm_may_wait(const struct sm *sm, uint64_t now) {
    return now <= sm->later_ends || sm->port->done[MEM_DATA] <= now;
}
/* The oldest access of sm->later has its result; run: not yet, it is carried out now. False on a fault. */
bool sm_catch_up(struct sm *sm, bool run);
/* Counts cycles in which the SM slept, for its mechanisms, too. */
void sm_sleep(struct sm *sm, uint64_t cycles);
/* A warp of its faulted: the launch ends. */
static inline bool sm_faulted(const struct sm *sm) {
    return sm->halts & HALT_FAULT;
}
/* Nothing is on the SM any more. */
bool sm_idle(const struct sm *sm);
/* Says what each warp waits for, at most so many of them; how many there are. For the report of a hang. */
uint32_t sm_describe(const struct sm *sm, struct str *out, uint32_t most);

/* ---- between the files of core/ ---- */
static inline uint64_t warp_bit(uint32_t slot) {
    return UINT64_C(1) << slot;
}

/* One bit of a set of warps. */
static inline void set_bit(uint64_t *set, uint64_t bit, bool on) {
    *set = (*set & ~bit) | ((0 - (uint64_t)on) & bit);
}

/* What an instruction with these needs has to wait for: of all that is pending, and of what loads write. */
static inline uint64_t awaits(const struct core_warp *cw, const struct core_need *n) {
    uint64_t wait = (n->regs[0] & cw->pending[0]) | (n->preds & cw->pending_preds);
    for (uint32_t k = 1; __builtin_expect(n->beyond, 0) && k < 4; k++)
        wait |= n->regs[k] & cw->pending[k];
    return wait;
}
static inline uint64_t awaits_load(const struct core_warp *cw, const struct core_need *n) {
    uint64_t wait = n->regs[0] & cw->memory[0];
    for (uint32_t k = 1; __builtin_expect(n->beyond, 0) && k < 4; k++)
        wait |= n->regs[k] & cw->memory[k];
    return wait;
}

/* Registers or predicates came off the scoreboard, or the next instruction is another one: may it pass? n:
 * its needs. */
static inline void warp_score(struct sm *sm, const struct core_warp *cw, const struct core_need *n,
                              uint64_t bit) {
    if (!awaits(cw, n)) {
        sm->clear |= bit;
        sm->on_memory &= ~bit;
        return;
    }
    sm->clear &= ~bit;
    set_bit(&sm->on_memory, bit, awaits_load(cw, n));
}

/* Registers or predicates came off the scoreboard. */
static inline void warp_freed(struct sm *sm, const struct core_warp *cw, uint32_t slot) {
    if (!(sm->clear >> slot & 1))
        warp_score(sm, cw, cw->need, warp_bit(slot));
}

/* Instructions came into the buffer, or are on their way to it. */
static inline void warp_buffer(struct sm *sm, uint32_t slot) {
    const struct core_warp *cw = &sm->warps[slot];
    uint64_t bit = warp_bit(slot);
    set_bit(&sm->valid, bit, cw->buffered);
    set_bit(&sm->arriving, bit, cw->arriving || cw->found != NEVER);
    set_bit(&sm->hungry, bit,
            cw->w->live && !cw->fetching && !cw->arriving && cw->buffered < sm->spec->ibuffer &&
                cw->fetch_pc < cw->ncode);
}

/* Where collectors are divided: the kind that the next instruction takes. */
static inline void warp_kind(struct sm *sm, const struct core_need *n, uint64_t bit) {
    uint64_t *kind = &sm->kind[n->kind];
    if (*kind & bit) /* most are of the kind of the one before */
        return;
    for (uint32_t k = 0; k < COLLECT_KINDS; k++)
        sm->kind[k] &= ~bit;
    *kind |= bit;
}

/* The next instruction is another one. */
static inline void warp_turn(struct sm *sm, const struct core_warp *cw, uint64_t bit) {
    const struct core_need *n = cw->need;
    set_bit(&sm->control, bit, n->control);
    if (sm->kinds_apart)
        warp_kind(sm, n, bit);
    warp_score(sm, cw, n, bit);
}

/* The same after one that was no control instruction: it could pass, and so it is said of the warp. */
static inline void warp_turn_on(struct sm *sm, const struct core_warp *cw, uint64_t bit,
                                enum core_shape shape) {
    const struct core_need *n = cw->need;
    if (__builtin_expect(n->control, 0))
        sm->control |= bit;
    if (shape < SHAPE_SINGLE && sm->kinds_apart)
        warp_kind(sm, n, bit);
    if (!awaits(cw, n))
        return;
    sm->clear &= ~bit;
    if (awaits_load(cw, n))
        sm->on_memory |= bit;
}

/* All of that. */
static inline void warp_update(struct sm *sm, uint32_t slot) {
    warp_buffer(sm, slot);
    warp_turn(sm, &sm->warps[slot], warp_bit(slot));
}

/* Warps that could issue, if units and collectors let them. */
static inline uint64_t ready_warps(const struct sm *sm) {
    return sm->valid & sm->clear & ~(sm->blocked | sm->held);
}

/* The free op behind this one, of which sm->free_op is the first; CORE_NONE behind the last. */
static inline int32_t next_free_op(const struct sm *sm, int32_t op) {
    if (op < sm->fresh_op)
        return sm->ops[op].next;
    return op + 1 < CORE_OPS ? op + 1 : CORE_NONE;
}

/* Warps of a set whose next instruction does not access memory. */
static inline uint64_t without_access(const struct sm *sm, uint64_t set) {
    for (uint64_t left = set; left; left &= left - 1) {
        uint32_t s = (uint32_t)__builtin_ctzll(left);
        set &= ~((uint64_t)sm->warps[s].need->memory << s);
    }
    return set;
}

/* Takes an op from those that are free, of which there must be one; at: where it lies. */
static inline int32_t op_take(struct sm *sm, struct core_op **at) {
    int32_t id = sm->free_op;
    struct core_op *op = *at = &sm->ops[id];
    sm->free_op = op->next;
    if (id == sm->fresh_op) {
        sm->fresh_op++;
        sm->free_op = sm->fresh_op < CORE_OPS ? sm->fresh_op : CORE_NONE;
    }
    return id;
}

/* Fetch and buffers (fetch.c). */
/* Instructions that have been decoded by now enter their buffers. */
void sm_arrivals(struct sm *sm, uint64_t now);
void sm_fetch(struct sm *sm, uint64_t now, enum core_shape shape);
/* The first cycle after now whose slot is in the set; there must be one. */
static inline uint64_t next_slot(uint64_t slots, uint64_t now) {
    uint32_t turn = (uint32_t)((now + 1) % CORE_ARRIVALS);
    return now + 1 +
           (uint64_t)__builtin_ctzll(slots >> turn | slots << (CORE_ARRIVALS - turn) % CORE_ARRIVALS);
}
/* The next cycle before end in which instructions enter a buffer and the SM must be awake; end if there is
 * none. */
uint64_t fetch_wakes(const struct sm *sm, uint64_t now, uint64_t end);
/* Whether it has anything to do. */
static inline bool fetch_due(const struct sm *sm, uint64_t now) {
    return sm->hungry & sm->fetchers & ~sm->blocked || sm->arrive_slots >> now % CORE_ARRIVALS & 1 ||
           sm->port->done[MEM_INST] <= now;
}
/* The next instruction of the warp is that at pc. */
static inline void warp_next(struct core_warp *cw, uint32_t pc) {
    cw->next = pc;
    cw->need = &cw->needs[pc];
}
/* The pc of the first instruction in the warp's buffer, or of the next to be fetched. */
static inline uint32_t buffer_front(const struct core_warp *cw) {
    return cw->buffered + cw->arriving ? cw->buffer[cw->first] : cw->fetch_pc;
}
/* The warp's path passes over instructions that were skipped, from one pc up to another. */
void path_pass(struct sm *sm, uint32_t slot, uint32_t from, uint32_t to);
/* Empties the buffer; the warp goes on at pc. */
void buffer_flush(struct sm *sm, uint32_t slot, uint32_t pc);
/* A fetch that hit was answered, and what it brings depends on how many instructions the buffer held then: to
 * be called before that changes. */
void buffer_found(struct sm *sm, uint32_t slot);
/* Forgets what was fetched, or skipped ahead of it, and is not decoded. */
void buffer_undecoded(struct sm *sm, uint32_t slot, uint64_t now);
/* The warp waits no more at a barrier or fence. */
void warp_unblock(struct sm *sm, uint32_t slot);
/* Scheduling (sched.c). */
void sm_issue(struct sm *sm, uint64_t now, enum core_shape shape);
bool sm_can_issue(const struct sm *sm);                /* a ready warp finds what it needs, or may */
void issue_sleep(const struct sm *sm, uint64_t cycle); /* tells what warps of a sleeping SM wait for */
/* Two-level scheduling: the active set of a scheduler, brought up to date. */
uint64_t sched_active(struct sm *sm, uint32_t sched);
void sm_account(struct sm *sm, uint64_t cycles); /* counts cycles in which the SM slept (slots.c) */
/* One instruction (issue.c). alone becomes true when nothing of other warps changed; NULL: it rides with that
 * of another warp, whose slot, collector and unit serve both, and its op is returned, as if taken. */
int32_t warp_issue(struct sm *sm, uint32_t slot, uint64_t now, bool *alone, enum core_shape shape);
/* The warp's instruction at pc took effect: where it goes on, and whether it waits. */
void warp_advance(struct sm *sm, uint32_t slot, uint32_t pc, enum core_shape shape);
/* Does the warp repeat an ordered access, as it does when it waits for another of its own lanes (spin.c)? */
bool warp_spins(struct core_warp *cw, const struct xinst *i, uint32_t m);
/* After a barrier or an exit in a warp slot: the barrier of its cluster may have opened, or be opening
 * (cluster.c). */
void cluster_changed(struct sm *sm, uint32_t slot, const struct xinst *i, uint32_t opened_before,
                     uint64_t now);
/* Threads of a block wait or have exited; opened: a barrier of theirs opened. Returns the warps that go on
 * (control.c). When instead every thread of the block waits, lanes that wait for others of their warp at a
 * reconvergence point go on alone: a barrier counts threads, and theirs may be the arrivals it lacks. */
uint64_t barrier_changed(struct sm *sm, uint32_t block, bool opened);
/* Control instructions and barriers (control.c). */
void control_issue(struct sm *sm, uint32_t slot, const struct xinst *i, uint32_t m, uint64_t now);
static inline uint32_t lanes_of(uint32_t m) {
    return (uint32_t)__builtin_popcount(m);
}
static inline uint32_t warps_of(uint64_t set) {
    return (uint32_t)__builtin_popcountll(set);
}
/* A warp begins in a free slot; of start, what tells it from others is filled in. */
void warp_enter(struct sm *sm, uint32_t slot, struct core_warp start);
/* The stream in a warp slot has ended, and the slot is free (stream.c). */
void stream_ended(struct sm *sm, uint32_t slot);
/* A fault of the warp ends the launch. */
void warp_fault(struct sm *sm, const struct core_warp *cw);
void sm_collect(struct sm *sm, uint64_t now, enum core_shape shape);  /* banks: writes, then operand reads */
void units_init(struct sm *sm);                                       /* of a new SM */
void sm_dispatch(struct sm *sm, uint64_t now, enum core_shape shape); /* from collectors to units */
/* An op whose operands are complete before sm_dispatch goes to its unit at once, if that is of the kind that
 * sm_dispatch serves first, one is free, and nobody waits for it, or has a say in how it is used. False if
 * not. */
bool unit_start(struct sm *sm, int32_t op, struct core_op *at, enum core_shape shape);
/* From there to a queue towards memory. */
void queue_op(struct sm *sm, int32_t op);
/* A matrix product's time: cycles its tensor core is busy, and its latency. */
uint32_t tensor_interval(const struct core_spec *s, const struct inst *i);
uint32_t tensor_latency(const struct core_spec *s, const struct inst *i);
void tensor_count(struct sm *sm, const struct inst *i);
/* When a waiting op can go to its unit; NEVER when that takes an answer of memory. */
uint64_t units_next(const struct sm *sm, uint64_t now);
/* The cache has refused the first op in the load/store or texture queue, and has not changed since. */
bool lsu_refused(const struct sm *sm);
bool tex_refused(const struct sm *sm);
void sm_answers(struct sm *sm, uint64_t now);                         /* data from memory */
void sm_complete(struct sm *sm, uint64_t now, enum core_shape shape); /* ends of execution */
void sm_release(struct sm *sm, uint64_t now); /* warps behind control instructions, or sm_open */
void sm_open(struct sm *sm, uint64_t now);    /* warps behind barriers of their cluster */
void sm_lsu(struct sm *sm, uint64_t now);
/* Accesses of a memory instruction about to issue for lanes m, from the addresses in registers;
 * sm->naccess_free must not be 0. */
void lsu_prepare(struct sm *sm, struct core_warp *cw, struct core_op *op, const struct xinst *i, uint32_t m);
/* The same where lanes are known to point to p; false: that does not tell. */
bool lsu_prepare_spot(struct sm *sm, const struct core_warp *cw, struct core_op *op, const struct xinst *i,
                      uint32_t m, const struct spot *p);
/* The same for texture and surface instructions. */
void tex_prepare(struct sm *sm, struct core_warp *cw, struct core_op *op, const struct xinst *i, uint32_t m);
void sm_tex(struct sm *sm, uint64_t now);
/* Offers the next access of an op to a cache; epoch: that of the cache when it last refused. */
enum core_sent { SENT_NONE, SENT_SOME, SENT_ALL };
enum core_sent op_send(struct sm *sm, int32_t op, enum mem_client client, uint32_t *epoch, uint64_t now);
/* The op of this number takes a collector and asks the banks for its operands. */
void op_collect(struct sm *sm, int32_t id, struct core_op *op, enum core_shape shape);
void op_finish_at(struct sm *sm, int32_t op, uint64_t cycle);
/* The same of an op that may have an access in sm->later. */
static inline void access_finish_at(struct sm *sm, int32_t op, uint64_t cycle) {
    if (sm->ops[op].later && cycle > sm->later_ends)
        sm->later_ends = cycle;
    op_finish_at(sm, op, cycle);
}
/* Execution is over: results go to the banks, or the op ends. */
void op_writeback(struct sm *sm, int32_t id, struct core_op *op, enum core_shape shape);
void op_end(struct sm *sm, int32_t op);
/* A store or atomic has been answered: the warp may wait for that at a fence. */
void store_done(struct sm *sm, uint32_t warp);
/* The bank of a register of a warp, where registers have no owner. */
static inline uint32_t bank_of(const struct sm *sm, uint32_t warp, uint32_t reg) {
    return sm->bank_at[warp + (reg & sm->bank_regs)];
}

/* Events for watchers (tell.c): TELL(sm, tell_op(sm, PROBE_END, id)) calls only if there are any. Where there
 * are, no copy of the stages runs that is compiled for one mechanism (points.h). */
#ifdef CORE_ALONE
#define WATCHED(sm) false
#else
#define WATCHED(sm) __builtin_expect((sm)->probe != NULL, 0)
#endif
#define TELL(sm, call)                                                                                       \
    do {                                                                                                     \
        if (WATCHED(sm))                                                                                     \
            call;                                                                                            \
    } while (0)
APART void tell_block(const struct sm *sm, enum probe_kind kind, const struct cta *c);
APART void tell_warp(const struct sm *sm, enum probe_kind kind, uint32_t slot);
/* Of n instructions from pc on. */
APART void tell_fetch(const struct sm *sm, enum probe_kind kind, uint32_t slot, uint32_t pc, uint32_t n);
/* ISSUE or EFFECT of the warp's next instruction; op CORE_NONE: control. */
APART void tell_issue(const struct sm *sm, enum probe_kind kind, uint32_t slot, uint32_t mask, int32_t op);
APART void tell_op(const struct sm *sm, enum probe_kind kind, int32_t op);
APART void tell_dispatch(const struct sm *sm, int32_t op, enum op_unit unit, bool queued);
APART void tell_send(const struct sm *sm, int32_t op, uint64_t line, enum mem_result answer);
/* What a scheduler's warps wait for. ready: those whose next instruction the scoreboard lets pass; possible:
 * those of them it can choose from; lack: what the others wait for. */
APART void tell_states(const struct sm *sm, uint32_t sched, uint64_t cycle, uint64_t ready, uint64_t possible,
                       enum probe_state lack);
/* Warps of a set that a mechanism does not let issue. */
APART void tell_refused(const struct sm *sm, uint32_t sched, uint64_t warps);
/* What mechanisms do: an op that is not the program's; instructions passed over; words about an op, which
 * stay. */
APART void tell_inject(const struct sm *sm, int32_t op);
APART void tell_skip(const struct sm *sm, uint32_t slot, uint32_t pc);
APART void tell_note(const struct sm *sm, int32_t op, const char *text);

/* Singly linked FIFOs of ops: head and tail. */
static inline void fifo_push(struct sm *sm, int32_t q[2], int32_t id, struct core_op *op) {
    op->next = CORE_NONE;
    if (q[0] == CORE_NONE)
        q[0] = id;
    else
        sm->ops[q[1]].next = id;
    q[1] = id;
}

static inline int32_t fifo_pop(struct sm *sm, int32_t q[2]) {
    int32_t op = q[0];
    if (op != CORE_NONE)
        q[0] = sm->ops[op].next;
    return op;
}

/* The bank of a physical register of the registers' owner. */
static inline uint32_t owned_bank(const struct sm *sm, uint32_t place) {
    uint32_t bits = sm->place_bits;
    return __builtin_expect(bits, 1) ? place & bits : place % sm->spec->banks;
}

/* The op's next destination word waits for a bank. */
static inline void queue_write(struct sm *sm, int32_t op, uint32_t bank) {
    fifo_push(sm, sm->bank_writes[bank], op, &sm->ops[op]);
    sm->write_banks |= 1u << bank;
    sm->writes_waiting++;
}

#endif
