/* What a computation is (Kim and Ro, "WIR", HPCA 2018, section III-A): an operation (exec/opkey.h), the lanes
 * that execute it, and their input values, wherever these come from and whichever registers hold them. Where
 * inputs do not decide the result (loads, textures, special registers, shuffles) the result belongs to it.
 *
 * A computation is known by a hash of 64 bits, begun with compute_begin, to which sources and results are
 * added in their order. */
#ifndef REPRISE_PROFILE_COMPUTE_H
#define REPRISE_PROFILE_COMPUTE_H

#include "exec/opkey.h"
#include "profile/value.h"

/* A static instruction. */
struct compute_mark {
    uint64_t operation; /* a hash of it */
    bool excluded;      /* no computation: control, barriers, stores, atomics */
    bool result;        /* inputs do not decide it */
    bool waits;         /* it may wait for other lanes of its warp */
};

struct compute_mark compute_mark(const struct xinst *i);

/* Whether an instruction computes something at all, be it for memory: neither control nor a barrier. */
static inline bool compute_is(const struct xinst *i) {
    return op_info[i->in->op].unit != UNIT_CTRL && i->kind != X_NOP && i->kind != X_WARPSYNC;
}
/* The computation of these lanes, without sources. */
static inline uint64_t compute_begin(const struct compute_mark *k, uint32_t lanes) {
    return value_mix(k->operation, lanes);
}
/* Adds the predicates that it reads. */
uint64_t compute_preds(uint64_t h, const struct warp *w, const struct xinst *i, uint32_t lanes);
/* Adds what it has written, where k says that the result belongs to it. */
uint64_t compute_result(uint64_t h, const struct compute_mark *k, const struct warp *w, const struct xinst *i,
                        uint32_t lanes);
/* Behind a warp-wide instruction: the path with these lanes stays where it is until others come. */
bool compute_waiting(const struct warp *w, uint32_t lanes);

#endif
