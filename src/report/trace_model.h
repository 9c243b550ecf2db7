/* Between the files of a trace: what is on the SMs, as probes tell it, and what a format writes about it.
 *
 * trace.c follows the events and calls the format at the end of each cycle, in the order of cycles. A stage
 * begins in the cycle of its event and lasts up to the cycle in which the next begins; what happens within
 * one cycle is not shown. An instruction that ends in a cycle still counts as there in that cycle. */
#ifndef REPRISE_REPORT_TRACE_MODEL_H
#define REPRISE_REPORT_TRACE_MODEL_H

#include <stdbool.h>

#include "base/io.h"
#include "base/vec.h"
#include "reprise.h"
#include "sim/probe.h"

enum {
    TRACE_NONE = -1,
    TRACE_NOTES = 2,
    TRACE_INST_BYTES = 8 /* an instruction in memory: pcs are shown as addresses */
};

/* Where an instruction is: X(id, "name in the trace", "meaning"). */
#define TRACE_STAGES(X)                                                                                      \
    X(FETCH, "F", "asked of the instruction cache")                                                          \
    X(DECODE, "D", "decoded")                                                                                \
    X(BUFFER, "B", "in the warp's instruction buffer")                                                       \
    X(OPERANDS, "O", "issued; reads operands")                                                               \
    X(READY, "U", "operands complete; waits for its unit")                                                   \
    X(EXECUTE, "X", "executes")                                                                              \
    X(QUEUE, "Q", "in the queue of the load/store or texture unit")                                          \
    X(MEMORY, "M", "memory accesses under way")                                                              \
    X(WRITE, "W", "writes its result")                                                                       \
    X(SKIPPED, "Sk", "skipped by a mechanism")

enum trace_stage {
    STAGE_NONE,
#define X(id, name, meaning) STAGE_##id,
    TRACE_STAGES(X)
#undef X
        STAGES
};

/* Why an instruction leaves the trace. */
enum trace_end { END_RETIRED, END_FLUSHED, END_CUT /* the trace ends before it does */ };

struct trace_inst {
    uint64_t serial;   /* order of appearance */
    uint64_t warp;     /* number in the grid; streams of instructions of mechanisms come last */
    uint64_t number;   /* among the instructions of its warp; before it issues: if nothing is flushed */
    uint64_t addr;     /* of its first line */
    uint64_t issue_at; /* cycle */
    const char *notes[TRACE_NOTES], *unit;
    uint32_t id; /* of the format */
    uint32_t pc, mask;
    int32_t next;               /* list link */
    uint16_t slot;              /* which may be another warp's when the end is written */
    uint16_t lines, back, hits; /* lines of its memory accesses: all, returned, found in the cache at once */
    uint8_t stage, shown;       /* enum trace_stage: now, and in the file */
    uint8_t reason, reason_shown; /* enum probe_state it waits in, PROBE_STATES: none */
    uint8_t nnotes, notes_shown;
    bool live, issued, issue_shown, memory, foreign; /* foreign: a mechanism's, not the program's */
    bool dirty, done, flushed, skipped;
};

struct trace_warp {
    uint64_t block, issued; /* block in the grid; instructions so far */
    uint64_t begin, free;   /* cycle of its first instruction; from which the slot is free */
    uint64_t since;         /* cycle from which it is in the state shown */
    uint32_t index;         /* in the block */
    uint32_t stream;        /* 0: the program, else the second stream it is */
    int32_t first, last;    /* fetched, not issued */
    int32_t control;        /* the control instruction it stands behind */
    uint8_t state, shown,
        told; /* enum probe_state: now, in the file, told for a cycle to come; PROBE_STATES: none */
    bool used;
};

/* What is counted for each SM. */
struct trace_counts {
    uint32_t issued;           /* instructions in TRACE_SAMPLE cycles */
    uint32_t resident, memory; /* warps, memory instructions under way: at the end of these cycles */
};
enum { TRACE_SAMPLE = 64, TRACE_STREAMS = 4 };

struct trace_sm {
    uint32_t id;
    bool watched;
    struct trace_warp *warps;
    uint64_t streamed[TRACE_STREAMS]; /* instructions that second streams have issued so far */
    uint64_t touched, told;           /* warps whose state was told for this cycle, for a cycle to come */
    struct trace_inst *insts;
    uint32_t ninsts;
    int32_t free;
    int32_t *ops;              /* instruction of each op */
    VEC(int32_t) dirty;        /* changed in this cycle, in order */
    VEC(int32_t) ending;       /* ended in this cycle */
    VEC(uint64_t) blocks;      /* resident */
    uint32_t resident, memory; /* warps; memory instructions under way */
    uint32_t issued;           /* since the last sample */
    struct trace_counts written;
    uint64_t named; /* for formats: slots that have a name */
};

/* A file written in whole lines. */
struct trace_out {
    struct io_file file;
    int error; /* errno of the write that failed; nothing is written after it */
    char *path, *buffer;
    size_t len;
};

/* Text of an instruction of the kernel. */
struct trace_text {
    char *inst, *where;
};

struct trace;

/* A format. Operations it has no use for are NULL. Cycles are those from which what they tell holds. */
struct trace_format {
    void (*open)(struct trace *t);
    void (*kernel)(struct trace *t, uint64_t cycle, bool begin);
    void (*block)(struct trace *t, uint64_t cycle, struct trace_sm *sm, uint64_t block, bool begin);
    void (*warp)(struct trace *t, uint64_t cycle, struct trace_sm *sm, uint32_t slot, bool begin);
    /* A warp was in its state shown since w->since, up to this cycle. */
    void (*state)(struct trace *t, uint64_t cycle, const struct trace_sm *sm, uint32_t slot);
    void (*begin)(struct trace *t, uint64_t cycle, const struct trace_sm *sm, struct trace_inst *i);
    /* It has issued, in cycle i->issue_at. */
    void (*issue)(struct trace *t, uint64_t cycle, const struct trace_sm *sm, const struct trace_inst *i);
    void (*note)(struct trace *t, uint64_t cycle, const struct trace_sm *sm, const struct trace_inst *i,
                 const char *text);
    /* From i->shown to i->stage. */
    void (*stage)(struct trace *t, uint64_t cycle, const struct trace_sm *sm, struct trace_inst *i);
    /* From i->reason_shown to i->reason. */
    void (*reason)(struct trace *t, uint64_t cycle, const struct trace_sm *sm, const struct trace_inst *i);
    void (*end)(struct trace *t, uint64_t cycle, const struct trace_sm *sm, const struct trace_inst *i,
                enum trace_end how);
    /* Counts that differ from those written before, of the TRACE_SAMPLE cycles from cycle on. */
    void (*counts)(struct trace *t, uint64_t cycle, const struct trace_sm *sm, const struct trace_counts *n);
    void (*close)(struct trace *t);
};

struct trace {
    struct probe probe; /* first: the machine knows no more of a trace */
    const struct trace_format *format;
    struct rp_gpu *gpu;
    struct rp_trace what;
    struct trace_out out;
    const struct probe_kernel *kernel; /* NULL between launches */
    char *name;                        /* its name */
    struct trace_text *text;           /* of its instructions, made when first wanted */
    uint32_t ntext;
    struct trace_sm *sms;
    uint32_t nsms, slots, nops;
    uint64_t now, told_at; /* the cycle being followed; that for which states have been told, 0: none */
    uint64_t serial;
    uint64_t base, most; /* first retire id of the launch; instructions of the warp that issued most */
    bool open;           /* the window is */
    bool begun;          /* it was at some time */
    /* For formats. */
    uint64_t file_cycle;
    uint32_t next_id;
};

/* Warps of the launch's grid. */
uint64_t trace_grid_warps(const struct trace *t);
/* Where an instruction belongs, in short: block and warp, or the stream of a mechanism. */
void trace_owner(const struct trace *t, const struct trace_inst *i, char *to, size_t size);
/* The retire id of an instruction: the same in every run of the program, whatever the machine. */
uint64_t trace_retire_id(const struct trace *t, const struct trace_inst *i);
const struct trace_text *trace_text(struct trace *t, uint32_t pc);
void trace_block_id(const struct trace *t, uint64_t block, uint32_t id[3]);

extern const char *const trace_stage_names[STAGES], *const trace_state_names[PROBE_STATES];
extern const struct trace_format trace_kanata, trace_chrome;

/* Calls an operation of the format, if it has it and the window is open. */
#define FORMAT(t, op, ...)                                                                                   \
    do {                                                                                                     \
        if ((t)->open && (t)->format->op)                                                                    \
            (t)->format->op((t), __VA_ARGS__);                                                               \
    } while (0)

/* ---- trace_window.c ---- */
/* Goes on to a later cycle, by way of those in which something changes. */
void trace_advance(struct trace *t, uint64_t to);
/* Ends an instruction and forgets it. */
void trace_end_inst(struct trace *t, struct trace_sm *sm, struct trace_inst *i, uint64_t cycle,
                    enum trace_end how);
/* The warp is in a state since cycle. */
void trace_show_state(struct trace *t, struct trace_sm *sm, uint32_t slot, uint64_t cycle);
/* Ends whatever is still there, at cycle, because the window or the launch ends. */
void trace_end_all(struct trace *t, uint64_t cycle);
void trace_close_window(struct trace *t, uint64_t cycle);

/* ---- trace_out.c ---- */
/* false: errno says why. */
bool trace_out_open(struct trace_out *o, const char *path);
/* Appends one or more whole lines. */
void trace_out_printf(struct trace_out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void trace_out_flush(struct trace_out *o);
/* Puts the file in its place, unless there was an error. */
void trace_out_close(struct trace_out *o);

#endif
