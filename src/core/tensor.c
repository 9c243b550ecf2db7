/* Tensor cores: how long a matrix product takes. A tensor core multiplies and adds at a rate that depends on
 * the width of its operands; the result comes after a fixed time and one that grows with the product. */
#include "core/core.h"
#include "isa/mma.h"

/* How types compare to f16, and which counter has their operations. */
static const struct type {
    uint8_t rate, divide; /* so many times as many in a cycle */
    size_t counter;
} types[MT_COUNT] = {
    [MT_F16] = {1, 1, offsetof(struct core_counters, macs_f16)},
    [MT_BF16] = {1, 1, offsetof(struct core_counters, macs_f16)},
    [MT_TF32] = {1, 2, offsetof(struct core_counters, macs_tf32)},
    [MT_E4M3] = {1, 1, offsetof(struct core_counters, macs_f16)},
    [MT_E5M2] = {1, 1, offsetof(struct core_counters, macs_f16)},
    [MT_F64] = {1, 1, offsetof(struct core_counters, macs_f64)},
    [MT_S8] = {2, 1, offsetof(struct core_counters, macs_s8)},
    [MT_U8] = {2, 1, offsetof(struct core_counters, macs_s8)},
    [MT_S4] = {4, 1, offsetof(struct core_counters, macs_s4)},
    [MT_U4] = {4, 1, offsetof(struct core_counters, macs_s4)},
    [MT_B1] = {16, 1, offsetof(struct core_counters, macs_b1)},
};

/* Multiply-adds; of a sparse product those that are performed. */
static uint32_t operations(const struct inst *i) {
    if (i->op == OP_MMA884)
        return 4 * 8 * 8 * 4;
    return mma_m(i->m.mode) * MMA_N * mma_k(i->m.mode) / (i->m.mode & MMA_SPARSE ? 2 : 1);
}

/* The same as operations of f16 that take as long. */
static uint32_t work(const struct inst *i) {
    const struct type *t = &types[i->m.stype];
    return operations(i) / t->rate * t->divide;
}

uint32_t tensor_interval(const struct core_spec *s, const struct inst *i) {
    uint32_t rate = i->m.dtype == MT_F64 ? s->tensor.f64 : s->tensor.f16, n = work(i);
    if (i->m.mode & MMA_SPARSE)
        n += n / 2;
    uint32_t cycles = (n + rate / 2) / rate, least = s->units[UNIT_TENSOR].interval;
    return cycles > least ? cycles : least;
}

uint32_t tensor_latency(const struct core_spec *s, const struct inst *i) {
    enum { STEP = 1024, DOUBLE_STEP = 256 };
    if (i->m.dtype == MT_F64)
        return s->tensor.double_latency + s->tensor.double_step * operations(i) / DOUBLE_STEP;
    return s->latency[LAT_MMA] + s->tensor.step * work(i) / STEP;
}

void tensor_count(struct sm *sm, const struct inst *i) {
    *(uint64_t *)((char *)&sm->n + types[i->m.stype].counter) += operations(i);
}
