#include "cpu/predict.h"

enum { WEAKLY_NOT = 1, TAKEN = 2, MAX = 3 };

static uint32_t log2_of(uint32_t v) {
    return 31 - (uint32_t)__builtin_clz(v);
}

static uint8_t *counters(struct arena *a, uint32_t n) {
    uint8_t *c = arena_array(a, uint8_t, n);
    for (uint32_t k = 0; k < n; k++)
        c[k] = WEAKLY_NOT;
    return c;
}

void predict_init(struct predictor *p, struct arena *a, const struct predict_spec *s) {
    *p = (struct predictor){.spec = *s, .local_bits = log2_of(s->local), .global_bits = log2_of(s->global)};
    p->history = arena_array(a, uint16_t, s->local);
    p->local = counters(a, s->local);
    p->global = counters(a, s->global);
    p->choice = counters(a, s->global);
    p->btb = arena_array(a, struct btb_entry, s->btb);
    p->ras = arena_array(a, uint64_t, s->ras);
}

static void count(uint8_t *counter, bool up) {
    uint8_t c = *counter;
    *counter = up ? (uint8_t)(c + (c < MAX)) : (uint8_t)(c - (c > 0));
}

/* Whether a conditional branch is expected to be taken; learns whether it was. */
static bool direction(struct predictor *p, uint64_t pc, bool taken) {
    uint16_t *history = &p->history[pc >> 2 & (p->spec.local - 1)];
    uint8_t *local = &p->local[*history & (p->spec.local - 1)];
    uint32_t at = p->global_history & (p->spec.global - 1);
    bool by_local = *local >= TAKEN, by_global = p->global[at] >= TAKEN, use_global = p->choice[at] >= TAKEN;
    if (by_local != by_global)
        count(&p->choice[at], by_global == taken);
    count(local, taken);
    count(&p->global[at], taken);
    *history = (uint16_t)(*history << 1 | taken);
    p->global_history = p->global_history << 1 | taken;
    return use_global ? by_global : by_local;
}

uint64_t predict_branch(struct predictor *p, enum branch_kind kind, uint64_t pc, uint64_t next) {
    struct btb_entry *e = &p->btb[pc >> 2 & (p->spec.btb - 1)];
    bool taken = kind == BRANCH_COND ? next != pc + 4 : true, known = e->pc == pc;
    uint64_t expected = known ? e->target : pc + 4;
    if (kind == BRANCH_COND && !direction(p, pc, taken))
        expected = pc + 4;
    if (kind == BRANCH_RETURN) {
        expected = p->top ? p->ras[(p->top - 1) % p->spec.ras] : pc + 4;
        p->top -= p->top > 0;
        return expected;
    }
    if (kind == BRANCH_CALL || kind == BRANCH_INDIRECT_CALL)
        p->ras[p->top++ % p->spec.ras] = pc + 4;
    if (taken)
        *e = (struct btb_entry){pc, next};
    return expected;
}
