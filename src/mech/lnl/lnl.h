/* Lock and Load on one SM, between its files. */
#ifndef REPRISE_MECH_LNL_LNL_H
#define REPRISE_MECH_LNL_LNL_H

#include "mech/lnl/pass.h"
#include "mech/mechanism.h"

/* An entry of the load checking history table. */
struct lnl_entry {
    bool valid, alike;
    uint8_t left;   /* regions that will use it, less one */
    int32_t op;     /* the load that is on its way; CORE_NONE: none */
    uint32_t mask;  /* lanes that were compared */
    uint32_t edges; /* anchors that differ from the one before */
};

/* A path of a warp in an approximated region. */
struct lnl_path {
    uint32_t lanes; /* 0: the record is free */
    uint32_t anchors, edges;
    uint8_t region;
};

struct lnl_warp {
    struct lnl_entry entries[LNL_ENTRIES];
    struct lnl_path paths[WARP_LANES]; /* their lanes are disjoint: there are never more */
    uint32_t npaths;                   /* records up to the last that is not free */
};

/* What is known of an op on its way. */
struct lnl_op {
    bool filled;   /* lanes of what it stores were filled in */
    bool one;      /* one lane works for all */
    uint8_t extra; /* lanes of the other warp that work in it, too */
};

struct lnl_marks {
    const struct image *img;
    struct lnl_fact *at; /* by instruction */
    double threshold;    /* that the kernel names; less than 0: none */
    bool any;            /* the kernel is annotated */
};

struct lnl_counters {
#define COUNTER(field, name, unit, help) uint64_t field;
#include "mech/lnl/counters.def"
#undef COUNTER
};

struct lnl {
    struct sm *sm;
    const struct lnl_params *params;
    const struct lnl_marks *marks;
    double threshold;  /* of this launch ... */
    double levels;     /* the same for integers */
    uint32_t fixed;    /* ... as the comparison units have it */
    uint32_t row_ends; /* lanes with which a row of the block begins, where interpolation stops there */
    struct lnl_warp warps[CORE_MAX_WARPS];
    uint64_t waiting; /* warps with loads on their way that were not compared yet */
    uint32_t leader;  /* lane that computes for all (operands.c); WARP_LANES: none */
    uint32_t led;     /* lanes it computes for */
    bool filled;      /* something was filled in for the instruction that is about to take effect */
    struct lnl_op *ops;
    struct lnl_fuse *fuse; /* fuse.c */
    struct lnl_counters n;
    bool untimed;              /* timing was cut, and regions that had begun come to their end ... */
    struct lnl_counters timed; /* ... which does not count */
};

static inline bool lnl_rule(const struct lnl *m, enum lnl_rule rule) {
    return !(m->params->omit & (int32_t)rule);
}
static inline const struct lnl_fact *lnl_fact_of(const struct lnl *m, const struct xinst *i) {
    return &m->marks->at[i - m->marks->img->code];
}
/* The first lane of each group that is among these. */
static inline uint32_t lnl_anchors(uint32_t lanes, uint32_t group) {
    uint32_t all = 0, mask = group < WARP_LANES ? (1u << group) - 1 : UINT32_MAX;
    for (uint32_t first = 0; first < WARP_LANES; first += group) {
        uint32_t here = lanes & mask << first;
        all |= here & (0u - here);
    }
    return all;
}

/* ---- marks of linked code (marks of a launch, lnl.c) ---- */
const void *lnl_kernel(void *shared, struct arena *launch, const struct image *img);

/* An instruction took effect. */
void lnl_issued(void *state, int32_t op);

/* ---- lcht.c: loads are compared, and regions ask what came out ---- */
void lnl_load_issued(struct lnl *m, int32_t op, const struct lnl_fact *f);
void lnl_load_done(struct lnl *m, int32_t op, const struct lnl_fact *f);
/* The warp is about to start a region and must wait for loads. */
bool lnl_must_wait(const struct lnl *m, uint32_t warp);
/* Lanes start a region: begins a path if they may be approximated. True: they are. */
bool lnl_start(struct lnl *m, uint32_t warp, const struct xinst *i, const struct lnl_fact *f, uint32_t mask);

/* ---- fill.c: lanes that have not computed ---- */
/* Of these lanes, those that an instruction of a region leaves to their anchors. Ends paths that have left
 * their region. */
uint32_t lnl_off(struct lnl *m, uint32_t warp, const struct lnl_fact *f, uint32_t mask);
/* Are lanes of the warp in a region in which they leave instructions to their anchors? Forgets those that
 * have left it. */
bool lnl_inside(struct lnl *m, uint32_t warp);
/* At a branch that is not precise, lanes go where their anchor goes. */
void lnl_lead(struct lnl *m, uint32_t warp, const struct xinst *i, const struct lnl_fact *f);
/* Fills in what is stored; false: nothing was missing. */
bool lnl_fill_in(struct lnl *m, uint32_t warp, const struct xinst *i, const struct lnl_fact *f,
                 uint32_t mask);

/* ---- operands.c: Warp Approximation ---- */
/* Lanes for which an instruction takes effect, one if it stands for all. */
uint32_t lnl_compare_operands(struct lnl *m, uint32_t warp, const struct xinst *i, uint32_t mask);

/* ---- profile.c ---- */
/* Once for each launch. */
void lnl_profile_unit(struct lnl *m);
void lnl_profile_load(struct lnl *m, const struct lnl_fact *f, const uint32_t *v, uint32_t mask);
void lnl_profile_store(struct lnl *m, uint32_t warp, const struct xinst *i, const struct lnl_fact *f,
                       uint32_t mask);

/* ---- fuse.c ---- */
struct lnl_fuse *lnl_fuse_create(struct arena *a, struct sm *sm);
void lnl_fuse_start(struct lnl *m);
void lnl_fuse_warp(struct lnl *m, uint32_t warp);
/* The warp has started a region, approximated or not. */
void lnl_fuse_started(struct lnl *m, uint32_t warp, bool approximated);
uint64_t lnl_fuse_fetch(void *state, uint64_t wanting, uint64_t now);
uint64_t lnl_fuse_eligible(struct lnl *m, uint64_t ready, uint64_t now);
uint32_t lnl_fuse_slots(void *state, uint32_t sched, uint32_t free, uint64_t now);
enum mech_verdict lnl_fuse_take(void *state, int32_t op, uint64_t now);
void lnl_fuse_control(struct lnl *m, uint32_t warp, const struct xinst *i);
/* The leader's instruction goes to its unit: requests of both go to memory. */
void lnl_fuse_dispatch(struct lnl *m, int32_t op);
/* It is over: so is the follower's, whose result goes to the banks, too. */
void lnl_fuse_result(struct lnl *m, int32_t op);
void lnl_fuse_describe(const struct lnl *m, struct str *out);

#endif
