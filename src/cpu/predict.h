/* The branch predictor: local and global history of taken branches with a choice between them, branch
 * targets, return addresses. A branch whose target is not known is predicted not to be taken, whatever its
 * history. */
#ifndef REPRISE_CPU_PREDICT_H
#define REPRISE_CPU_PREDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

struct predict_spec {
    uint32_t local, global, btb; /* powers of two */
    uint32_t ras;
};

enum branch_kind {
    BRANCH_COND,
    BRANCH_DIRECT,
    BRANCH_CALL,
    BRANCH_INDIRECT,
    BRANCH_INDIRECT_CALL,
    BRANCH_RETURN
};

struct predictor {
    struct predict_spec spec;
    uint32_t local_bits, global_bits;
    uint16_t *history;                /* of each branch */
    uint8_t *local, *global, *choice; /* counters of two bits */
    uint32_t global_history;
    struct btb_entry {
        uint64_t pc, target;
    } * btb;
    uint64_t *ras;
    uint32_t top; /* of ras, counted up for ever */
};

void predict_init(struct predictor *p, struct arena *a, const struct predict_spec *s);
/* A branch at pc went to next, which is pc + 4 if it was not taken. Returns where the predictor had expected
 * it to go, and learns. */
uint64_t predict_branch(struct predictor *p, enum branch_kind kind, uint64_t pc, uint64_t next);

#endif
