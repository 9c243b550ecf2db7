/* DAC on one SM: the affine warp with its stack, the tuple queue, the expansion units, and the queues of the
 * warps. README.md says which section of the paper is where. */
#ifndef REPRISE_MECH_DAC_DAC_H
#define REPRISE_MECH_DAC_DAC_H

#include "mech/dac/params.h"
#include "mech/dac/split.h"
#include "mech/dac/tuple.h"
#include "mech/mechanism.h"

enum {
    DAC_WARPS = CORE_MAX_WARPS,
    DAC_LINES = 32,  /* lines that an access of a warp touches at most */
    DAC_WORDS = 8,   /* of a lane's element */
    DAC_RING = 256,  /* entries that any queue can have */
    DAC_MASKS = 320, /* conditions: those in registers, predicates and queues */
    DAC_PATHS = 128, /* paths of the affine warp */
    DAC_FLYING = 8,  /* accesses of a warp that have issued, beside those in its queue */
};

/* Threads of all warps, by warp slot and lane. */
struct dac_mask {
    uint32_t w[DAC_WARPS];
};

/* What is known of an instruction, in either stream. */
struct dac_mark {
    const struct dac_fact *fact; /* NULL: none */
    uint32_t roles;              /* of the fact */
    bool then_none;              /* the instruction behind it has none */
    bool address;                /* it takes an address, and nothing else, for all threads of its path */
    bool quiet; /* nothing has to be done for it: it takes nothing, and leaves its warp able */
    bool data;  /* of this launch: data are fetched ahead */
    bool flip;  /* affine: the kernel has the branch the other way around */
};

/* A predicate of the affine warp. */
enum dac_pred_kind { PRED_SAME, PRED_MASK, PRED_CARRY };
struct dac_pred {
    uint8_t kind;
    bool same;      /* PRED_SAME: its value */
    bool subtract;  /* PRED_CARRY: of a + b, or a - b, in two words: those of struct dac_carry */
    uint16_t mask;  /* PRED_MASK: condition */
    uint64_t ready; /* number of the tuple with which its expansion ends */
};
struct dac_carry {
    struct val a, b;
};

struct dac_path {
    uint32_t pc, rpc;
    struct dac_mask mask;
};

enum dac_compare { COMPARE_SCALAR, COMPARE_ENDS, COMPARE_FULL };

/* A tuple in the queue (ATQ). */
struct dac_tuple {
    bool address, data, push;          /* push: of predicates, that warps wait for it */
    uint8_t size;                      /* entries that it takes */
    bool wide;                         /* address of 64 bits */
    uint32_t number, epoch[DAC_WARPS]; /* epoch: barriers before it, by block */
    uint64_t left;                     /* blocks for which it is not expanded */
    const struct inst *in;
    struct num_val at; /* address */
    struct dac_mask mask;
    struct dac_mask result; /* predicate */
    uint8_t compare[DAC_WARPS];
};

/* Where an access goes, and what was found there: word k of the element of each lane. */
struct dac_place {
    uint64_t addr[WARP_LANES];
    struct mem_access line[DAC_LINES];
    _Alignas(64) uint32_t word[DAC_WORDS][WARP_LANES];
};

/* An access of a warp, on its way from the expansion unit to the instruction that takes it. */
struct dac_access {
    uint32_t number, mask;
    uint8_t n, expanded, taken; /* lines: in all, in the queue so far, gone from it */
    bool data, issued;
    bool plain;           /* without data, of one plain tuple: its place is made when it is taken */
    struct block_num num; /* plain: the tuple */
    /* Those with data: */
    bool served;        /* the load/store unit has come to it */
    uint8_t read, done; /* lines asked for, and answered */
    uint32_t warp;
    uint32_t arrived, have; /* lines that are in the cache; lanes whose data are here ... */
    uint32_t given;         /* ... and were when it issued */
    int32_t op;             /* that takes it, or CORE_NONE */
    const struct inst *in;
    struct dac_place *at; /* apart, because these fields are read in most cycles */
};

/* A predicate in its queue. */
struct dac_taken {
    uint32_t mask, number;
};

/* The queues of a warp: addresses (PWAQ) and predicates (PWPQ). */
struct dac_queues {
    struct dac_access *access; /* ring of naccess: from first on those that have issued, then the others */
    uint32_t first, issued, count;
    uint32_t used;          /* entries of the queue that lines take */
    struct dac_taken *pred; /* ring of DAC_RING, the first pfilled of which are there */
    uint32_t pfirst, pcount, pfilled;
};

/* Where the address expansion unit is, for a block. */
struct dac_expansion {
    uint64_t at; /* number of the tuple */
    bool begun;
    bool single;    /* it is, and has one record for each warp, which is no more than its number */
    uint64_t warps; /* left of it */
    bool prepared;  /* the access of the first of them */
    uint8_t why;    /* of a block that asks the cache: why that refused */
    const struct mem_access *asks; /* ... and for what ... */
    uint64_t since;                /* ... and the tuple it was at when its turn came in this cycle */
    bool plain;                    /* it is one plain tuple ... */
    struct block_num num;          /* ... which in this block is this */
};

struct dac_counters {
#define COUNTER(field, name, unit, help) uint64_t field;
#include "mech/dac/counters.def"
#undef COUNTER
};

struct dac {
    struct sm *sm;
    const struct dac_params *params;
    bool on;
    const struct exec *split; /* what warps of the program run in a launch that is split; else NULL */
    const struct image *affine;
    struct dac_mark *main, *side; /* by instruction of the kernel, of the affine stream */
    struct core_stream *stream;

    /* the affine warp */
    struct val *regs;
    struct dac_pred preds[NUM_PRED + 1];
    struct dac_carry *carry; /* by predicate */
    struct dac_path *path;
    uint32_t depth;
    uint64_t batch;  /* warps for which it runs, or ran last */
    uint64_t served; /* ... of which are still on the SM */
    uint64_t block_warps[DAC_WARPS];
    struct coords *coords;         /* by warp */
    uint32_t coords_of[DAC_WARPS]; /* index of the warp in its block, and 1; 0: none of such blocks */
    struct dims dims;
    struct dac_mask *masks; /* conditions */
    uint16_t *mask_refs;
    uint16_t named[DAC_MASKS];                    /* by condition: tuples in the queue that name it */
    uint32_t nnamed;                              /* conditions of which there are any */
    uint32_t epoch[DAC_WARPS], passed[DAC_WARPS]; /* barriers by block: of the affine warp, of the block */
    bool at_bar[DAC_WARPS];
    bool broken;                        /* a value has no form: the launch fails */
    uint64_t sent;                      /* warps whose bit vector waits for the affine warp */
    struct dac_taken vector[DAC_WARPS]; /* of a branch that depends on data */
    uint32_t asked[DAC_WARPS];          /* lanes that came to it */

    /* queues and expansion */
    struct dac_tuple *tuples; /* ring of DAC_RING */
    uint64_t head, tail;      /* numbers of tuples */
    uint32_t used;            /* entries of the queue in use */
    uint64_t peu;             /* the next predicate to expand */
    uint64_t peu_warps, peu_wait;
    uint64_t blocks;  /* for which the affine warp has begun */
    uint64_t waiting; /* blocks for which the address expansion unit can do nothing until something changes */
    uint64_t queued, barred; /* of these, those for which it waits for room in a queue, at a barrier */
    uint64_t asking;         /* blocks for which it asks the cache next, which has refused that */
    struct dac_expansion exp[DAC_WARPS];
    uint32_t turn; /* block that the address expansion unit served last */
    struct dac_queues q[DAC_WARPS];
    struct dac_access *accesses;        /* of all warps */
    struct dac_access **access_of;      /* by op that takes data */
    struct dac_taken *taken;            /* the same of predicates */
    uint32_t naccess, depth_a, depth_p; /* of a warp's queues */
    uint64_t draining;                  /* warps of which a load takes its lines */
    uint32_t slots;                     /* issue slots that full comparisons still take */

    /* Most cycles change nothing for those who wait: they are looked at again when something has. */
    uint64_t changed;       /* warps that may have got what they wait for */
    uint64_t able;          /* warps of the program that have all that their next instruction takes */
    uint64_t lines_came;    /* warps whose loads may have a line to take */
    uint64_t *affine_lacks; /* counter of what the affine warp waits for; NULL: nothing ... */
    bool affine_unchanged;  /* ... and it waits for that still: it is parked */
    bool affine_goes;       /* it waits for nothing, until it has issued */
    bool over;              /* some tuple may be one that every block has */
    bool stays;             /* of the blocks that do not wait, the one served last has the oldest tuple */
    bool aeu_rests;         /* the address expansion unit can do nothing ... */
    uint64_t *aeu_lacks;    /* ... and counts this for it, NULL: nothing */
    bool aeu_asks;          /* ... and asks the cache again for what that has refused, the last of it this: */
    struct dac_refused {
        struct mem_access x;
        enum mem_result why;
        uint32_t epoch;  /* of the cache */
        uint32_t whys;   /* all reasons, as bits; for the port some may be accepted in the next cycle */
        bool busy;       /* all were, for the port, in this cycle; */
        uint64_t blocks; /* who was; */
        uint64_t again;  /* who had asked before */
        uint64_t known;  /* blocks that are refused, for the reason they know, as long as there is ... */
        uint32_t room;   /* ... no more room (core_data_room) */
    } refused;

    uint32_t (*shadow)[DAC_WARPS][WARP_LANES]; /* --check: registers of the affine stream in each thread */
    uint32_t shadow_pred[NUM_PRED + 1][DAC_WARPS];
    struct dac_counters n;
};

static inline struct dac_tuple *dac_tuple(struct dac *d, uint64_t number) {
    return &d->tuples[number % DAC_RING];
}
static inline struct dac_mask *dac_top(struct dac *d) {
    return &d->path[d->depth - 1].mask;
}

/* The k-th access of a warp that has not left. */
static inline struct dac_access *dac_nth(const struct dac *d, const struct dac_queues *q, uint32_t k) {
    uint32_t at = q->first + k;
    return &q->access[at < d->naccess ? at : at - d->naccess];
}

/* A branch that depends on data: warps send who takes it. */
static inline bool dac_asks(const struct dac_mark *m) {
    return m->roles & DAC_ASK;
}

/* The address expansion unit may have something to do for these blocks. */
static inline void dac_rouse(struct dac *d, uint64_t blocks) {
    d->aeu_rests = false;
    d->stays &= !(d->waiting & blocks);
    d->waiting &= ~blocks;
}

/* The same for the block of a warp, if it has one. */
static inline void dac_rouse_warp(struct dac *d, uint32_t warp) {
    uint32_t block = d->sm->warps[warp].block;
    dac_rouse(d, block == CORE_NO_BLOCK ? 0 : UINT64_C(1) << block);
}

/* Something came to the queues of a warp, or left them. */
static inline void dac_changed(struct dac *d, uint32_t warp) {
    d->changed |= UINT64_C(1) << warp;
    dac_rouse_warp(d, warp);
}

/* It is known, or not, that a warp of the program has all that its next instruction takes: that stays so
 * until it issues. Of those of which it is known nobody asks. */
static inline void dac_know(struct dac *d, uint64_t warps, bool able) {
    d->able = able ? d->able | warps : d->able & ~warps;
    core_concern(d->sm, d, ~d->able);
}

/* affine.c: the affine warp. */
/* Finds out whether its next instruction has to wait, and for what. */
void dac_affine_look(struct dac *d);
/* It has waited for so many cycles more. */
static inline void dac_count_affine(struct dac *d, uint64_t cycles) {
    if (d->affine_lacks)
        *d->affine_lacks += cycles;
}
/* Its next instruction has to wait, and it is counted for what. */
static inline bool dac_affine_waits(struct dac *d) {
    if (d->affine_goes)
        return false;
    if (!d->affine_unchanged)
        dac_affine_look(d);
    dac_count_affine(d, 1);
    return d->affine_unchanged;
}
/* Its next instruction, which waits for nothing, may issue; prepares what that needs. */
bool dac_affine_ready(struct dac *d);
void dac_affine_issued(struct dac *d, const struct xinst *i, uint32_t pc);
void dac_affine_control(struct dac *d, const struct xinst *i);
/* batch.c: for which blocks it runs. */
/* The affine warp begins for all blocks on the SM, if it can. */
void dac_begin_batch(struct dac *d);
/* It can: it has come to its end, and so have all blocks for which it ran. */
bool dac_can_begin(const struct dac *d);
/* eval.c: what its instructions compute. */
/* Its registers and predicates are 0. */
void dac_clear(struct dac *d);
void dac_eval(struct dac *d, const struct xinst *i);
/* The lanes of a value in a warp. */
void dac_lanes(struct dac *d, const struct val *v, uint32_t warp, uint32_t *out);
/* The address of an access of the affine stream. */
void dac_address(struct dac *d, const struct xinst *i, struct num_val *at);
uint32_t dac_guard(struct dac *d, const struct xinst *i, uint32_t warp);
/* Threads on the path on top for which the guard of an instruction holds, of the warps of the batch. */
void dac_guarded(struct dac *d, const struct xinst *i, struct dac_mask *m);
/* The mask of a warp of a predicate. */
uint32_t dac_pred_lanes(const struct dac *d, uint32_t p, uint32_t warp);
uint16_t dac_mask_new(struct dac *d);
void dac_hold(struct dac *d, const uint16_t cond[DAC_CONDS], bool hold);
/* A value has no form, or the streams disagree: a mistake of this mechanism. */
void dac_broken(struct dac *d, const char *what);

/* expand.c: the queue of tuples, and its expansion. */
void dac_put_address(struct dac *d, const struct xinst *i, const struct dac_mark *m);
void dac_put_predicate(struct dac *d, const struct xinst *i, const struct dac_mark *m,
                       const struct dac_mask *result, const uint8_t *compare);
/* A cycle in which the queue is not empty. */
void dac_expand(struct dac *d, uint64_t now);
/* It has something to do in the next cycle; if not, not before something changes. */
bool dac_expands(const struct dac *d);
/* Neither of the units does anything in this cycle, nor is there anything to leave the queue. */
static inline bool dac_expansion_rests(const struct dac *d) {
    return d->aeu_rests && !d->aeu_asks && !d->over && d->peu == d->tail && !d->peu_wait;
}
/* With something in the queue, the address expansion unit has waited for so many cycles more. */
static inline void dac_count_expansion(struct dac *d, uint64_t cycles) {
    if (d->aeu_lacks)
        *d->aeu_lacks += cycles;
}
/* Accesses of a warp that have given all they had are over. */
static inline void dac_drop_taken(const struct dac *d, struct dac_queues *q) {
    while (q->issued && q->access[q->first].taken == q->access[q->first].n) {
        q->first = q->first + 1 < d->naccess ? q->first + 1 : 0;
        q->issued--;
        q->count--;
    }
}
static inline void dac_pop(struct dac *d, struct dac_queues *q) {
    dac_rouse_warp(d, (uint32_t)(q - d->q));
    dac_drop_taken(d, q);
}
void dac_arrived(void *m, uint32_t token, uint64_t now);
/* A line's data are read again, before anybody goes on with them. */
void dac_again(void *m, uint32_t token);
/* Lanes that do not act get the address of one that does. */
void dac_settle_lanes(uint64_t addr[WARP_LANES], uint32_t mask);
bool dac_drained(const struct dac *d);

/* check.c: the affine stream in each thread, as the program has it. */
void dac_shadow(struct dac *d, const struct xinst *i);
void dac_check_address(struct dac *d, const struct xinst *i, const struct dac_tuple *t);
void dac_check_predicate(struct dac *d, const struct xinst *i, const struct dac_mask *result);

/* queue.c: what warps take. */
uint64_t dac_eligible(void *m, uint64_t ready, uint64_t now);
uint64_t dac_refused(const void *m, uint64_t ready);
/* Those of these warps, which wait, whose queue has got what they waited for may be scheduled again. */
void dac_unpark(struct dac *d, uint64_t warps);
/* A warp says which of its lanes take a branch. */
void dac_send(struct dac *d, uint32_t warp, const struct xinst *i, const struct dac_mark *m);
void dac_sources(void *m, uint32_t warp, const struct xinst *i, uint32_t mask);
void dac_given(struct dac *d, int32_t op);
/* Counts a load that takes no data. */
static inline void dac_count_load(struct dac *d, const struct core_op *o) {
    if (!o->need->load || o->i->kind != X_LOAD || !o->mask ||
        (o->space != CORE_GLOBAL && o->space != CORE_LOCAL))
        return;
    d->n.loads_other++;
    d->n.loads_other_lines += o->naccess;
}
/* The same once more, when the load has taken effect again. */
void dac_given_again(void *m, int32_t op);
enum mech_verdict dac_access(void *m, int32_t op, uint64_t now);
/* Loads that take line by line. */
void dac_drain(struct dac *d, uint64_t now);

#endif
