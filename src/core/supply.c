/* Values that mechanisms supply instead of what instructions computed or read. --check compares the two. */
#include <assert.h>
#include <string.h>

#include "core/points.h"
#include "core/view.h"

/* What a mechanism supplied is not what the instruction computed: a bug of the mechanism, or, for a load, a
 * race of the program; unless it is one that approximates. */
static APART void wrong_value(struct sm *sm, uint32_t warp, const struct xinst *i, const uint32_t *value,
                              const uint32_t *computed) {
    enum { SHOWN = 10 };
    uint32_t lane = 0;
    if (sm->check.approximate) {
        sm->check.differing++;
        return;
    }
    while (value[lane] == computed[lane])
        lane++;
    if (sm->n.check_wrong++ < SHOWN)
        str_printf(sm->check.out,
                   "check: SM %u, warp %u, %s at line %u: lane %u was given 0x%x, computed 0x%x\n", sm->id,
                   warp, op_info[i->in->op].name, i->in->line, lane, value[lane], computed[lane]);
}

/* A latch gets a value that a mechanism has, instead of the one in it. */
static EVERY_TIME void replace_latch(struct sm *sm, uint32_t warp, const struct xinst *i, uint32_t *latch,
                                     const uint32_t value[WARP_LANES]) {
    if (sm->check.on && memcmp(latch, value, WARP_LANES * sizeof *latch))
        wrong_value(sm, warp, i, value, latch);
    memcpy(latch, value, WARP_LANES * sizeof *latch);
}

/* The destination word in work gets a value that a mechanism has, instead of the one computed. */
static void replace_word(struct sm *sm, int32_t id, const uint32_t value[WARP_LANES]) {
    const struct core_op *op = &sm->ops[id];
    replace_latch(sm, op->warp, op->i, sm->warps[op->warp].w->r[op->i->d + op->next_write], value);
}

void core_operand(struct sm *sm, uint32_t warp, uint32_t reg, const uint32_t value[WARP_LANES],
                  uint32_t lanes) {
    const struct core_warp *cw = &sm->warps[warp];
    uint32_t *latch = cw->w->r[reg];
    _Alignas(64) uint32_t given[WARP_LANES], merged[WARP_LANES];
    memcpy(given, value, sizeof given); /* which need not be aligned as latches are */
    if (!sm->check.on) {
        lane_blend(latch, given, lanes);
        return;
    }
    memcpy(merged, latch, sizeof merged);
    lane_blend(merged, given, lanes);
    replace_latch(sm, warp, &cw->x->img->code[cw->next], latch, merged);
}

void core_spread(struct sm *sm, int32_t id, uint32_t from, uint32_t lanes) {
    const struct core_op *op = &sm->ops[id];
    struct warp *w = sm->warps[op->warp].w;
    _Alignas(64) uint32_t value[WARP_LANES];
    if (op->later) {
        struct later_access *a = later_find(sm->later, id);
        a->leader = (uint8_t)from;
        a->led = lanes;
    }
    for (uint32_t k = 0; k < op->i->ndw; k++) {
        uint32_t *latch = w->r[op->i->d + k];
        if (!sm->check.on) {
            lane_spread(latch, from, lanes);
            continue;
        }
        memcpy(value, latch, sizeof value);
        lane_spread(value, from, lanes);
        replace_latch(sm, op->warp, op->i, latch, value);
    }
    for (int k = 0; k < 2 && op->need->sets; k++) {
        uint32_t *p = &w->p[op->i->pd[k]], all = op->i->pd[k] == PRED_PT ? *p : 0u - (*p >> from & 1);
        uint32_t after = (*p & ~lanes) | (all & lanes);
        sm->n.check_wrong += sm->check.on && after != *p;
        *p = after;
    }
}

void core_share(struct sm *sm, int32_t id, const uint32_t value[WARP_LANES]) {
    if (value)
        replace_word(sm, id, value);
    sm->ops[id].next_write++;
}

EVERY_TIME void core_give(struct sm *sm, int32_t id, const uint32_t value[WARP_LANES]) {
    struct core_op *op = &sm->ops[id];
    if (op->later) {
        assert(op->i->ndw == 1);
        later_find(sm->later, id)->given = true;
        op->later = false;
    }
    replace_word(sm, id, value);
    TELL(sm, tell_note(sm, id, "supplied"));
}

void core_supply(struct sm *sm, int32_t id, const uint32_t value[WARP_LANES]) {
    core_give(sm, id, value);
    core_retire(sm, id);
}
