/* Between the files of a survey: a launch that is seen, its blocks, and what is kept over launches. */
#ifndef REPRISE_PROFILE_SURVEY_LAUNCH_H
#define REPRISE_PROFILE_SURVEY_LAUNCH_H

#include "mech/gscalar/gscalar.h"
#include "profile/compute.h"
#include "profile/groups.h"
#include "profile/spans.h"
#include "profile/survey.h"

/* A vector as it is kept with its register, until that is written again. */
struct survey_value {
    struct value_sum sum;
    uint8_t form;   /* enum value_form */
    uint8_t shared; /* leading bytes that all lanes share */
    uint8_t halves; /* bit h: all lanes of the half have one value */
    uint8_t width;  /* bytes that each of these lanes needs */
    uint32_t lanes;
    uint32_t some_lanes;   /* not all of them; 0: none */
    struct value_sum some; /* the sum of those */
    bool known;
};

/* A static instruction. */
struct survey_mark {
    struct compute_mark compute;
    struct core_need need;
    bool computes, one, uv, darsie; /* one: one lane may compute it for others */
    uint8_t affine;                 /* set of enum dac_affine */
    bool load, by_block, by_warp;   /* what an address means: in the launch, its block, its warp */
};

/* What is kept of a thread block. */
struct survey_block {
    struct survey_value *values; /* by warp and register */
    uint32_t *times;             /* by warp and instruction: how often it was executed */
    struct group_ring *rings;    /* by instruction */
    uint32_t warps, regs, ncode;
};

/* A load that was seen: its addresses and what it returned, as hashes. */
struct survey_load {
    uint64_t key, result;
};
enum { SURVEY_LOADS = 1 << 17 };
enum { SURVEY_GROUPS = 4 << 20 }; /* of a grid, which are kept */

struct survey {
    struct probe probe;
    struct arena arena;
    VEC(struct survey_code *) codes;
    uint32_t sms;
    uint64_t begun;      /* launches */
    struct spans *spans; /* by SM */
    struct survey_load *loads;
};

/* The instruction that was told last and has not been counted yet. */
struct survey_next {
    struct warp *w; /* NULL: there is none */
    const struct xinst *i;
    struct survey_block *block;
    uint32_t pc, m, number;
    uint64_t key; /* of the computation, without its result */
    struct group_instance instance;
    bool silent, one;
};

/* A launch: what its exec's observer is. */
struct survey_launch {
    struct observer observer;
    struct survey *survey;
    struct survey_code *code;
    struct arena arena;
    struct survey_mark *marks; /* by instruction */
    struct survey_value *pool; /* by word of the exec's pool */
    struct group_list *grid;   /* by instruction */
    uint64_t room, id, blocks, warps;
    struct survey_next next;
};

/* ---- survey_step.c ---- */
void survey_step(struct observer *o, struct exec *x, struct warp *w, const struct xinst *i, uint32_t path,
                 uint32_t m);
void survey_settle(struct observer *o);
/* What a vector is; lanes: of which the width counts, not none. */
struct survey_value survey_value(const uint32_t v[WARP_LANES], uint32_t lanes);

#endif
