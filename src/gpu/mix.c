/* From executions of each instruction to the instruction mix.
 *
 * The interpreter only counts how often each instruction ran, which costs it next to nothing; what kind of
 * work that was follows from the operation table. The energy class of an operation nearly says it; the rest
 * are exceptions. */
#include "gpu/mix.h"

static const struct counter_info rows[COUNTER_COUNT] = {
#define COUNTER(field, name, unit, meaning) {name, unit, meaning, COUNTER_##field * sizeof(uint64_t)},
#include "gpu/mix.def"
#undef COUNTER
};
const struct counter_table mix_table = COUNTER_TABLE(rows);

/* Counter + 1, so that 0 means: no row. */
#define IS(field) (COUNTER_##field + 1)

static const uint8_t by_energy[EN_COUNT] = {
    [EN_MOV] = IS(insts_move),     [EN_LOGIC] = IS(insts_int),   [EN_SHIFT] = IS(insts_int),
    [EN_IADD] = IS(insts_int),     [EN_IMUL] = IS(insts_int),    [EN_IMAD] = IS(insts_int),
    [EN_FADD] = IS(insts_fp32),    [EN_FMUL] = IS(insts_fp32),   [EN_FFMA] = IS(insts_fp32),
    [EN_SFU] = IS(insts_sfu),      [EN_DADD] = IS(insts_fp64),   [EN_DMUL] = IS(insts_fp64),
    [EN_DFMA] = IS(insts_fp64),    [EN_CVT] = IS(insts_convert), [EN_LDST] = IS(insts_load_generic),
    [EN_MMA] = IS(insts_tensor),   [EN_ATOM] = IS(insts_atomic), [EN_TEX] = IS(insts_texture),
    [EN_CTRL] = IS(insts_control),
};

static const uint8_t by_op[OP_COUNT] = {
    [OP_PLOP] = IS(insts_move),         [OP_FCOPYSIGN] = IS(insts_fp32), [OP_HSETP2] = IS(insts_fp16),
    [OP_HADD2] = IS(insts_fp16),        [OP_HSUB2] = IS(insts_fp16),     [OP_HMUL2] = IS(insts_fp16),
    [OP_HFMA2] = IS(insts_fp16),        [OP_HMIN2] = IS(insts_fp16),     [OP_HMAX2] = IS(insts_fp16),
    [OP_HSET2] = IS(insts_fp16),        [OP_LDC] = IS(insts_load_const), [OP_LDGSTS] = IS(insts_load_global),
    [OP_SURED] = IS(insts_texture),     [OP_MEMBAR] = IS(insts_barrier), [OP_CCTL] = IS(insts_barrier),
    [OP_CPCOMMIT] = IS(insts_barrier),  [OP_CPWAIT] = IS(insts_barrier), [OP_MBAR] = IS(insts_barrier),
    [OP_BAR] = IS(insts_barrier),       [OP_SHFL] = IS(insts_warp),      [OP_VOTE] = IS(insts_warp),
    [OP_MATCH] = IS(insts_warp),        [OP_REDUX] = IS(insts_warp),     [OP_ELECT] = IS(insts_warp),
    [OP_WARPSYNC] = IS(insts_warp),     [OP_MOVM] = IS(insts_warp),      [OP_LDSM] = IS(insts_load_shared),
    [OP_STSM] = IS(insts_store_shared),
};

static const uint8_t loads[] = {
    [MS_GENERIC] = COUNTER_insts_load_generic, [MS_GLOBAL] = COUNTER_insts_load_global,
    [MS_SHARED] = COUNTER_insts_load_shared,   [MS_LOCAL] = COUNTER_insts_load_local,
    [MS_CONST] = COUNTER_insts_load_const,
};
static const uint8_t stores[] = {
    [MS_GENERIC] = COUNTER_insts_store_generic, [MS_GLOBAL] = COUNTER_insts_store_global,
    [MS_SHARED] = COUNTER_insts_store_shared,   [MS_LOCAL] = COUNTER_insts_store_local,
    [MS_CONST] = COUNTER_insts_store_generic,
};

enum counter mix_counter(const struct inst *in) {
    if (in->op == OP_LD)
        return loads[in->m.space];
    if (in->op == OP_ST)
        return stores[in->m.space];
    uint8_t row = by_op[in->op] ? by_op[in->op] : by_energy[op_info[in->op].energy];
    return (enum counter)(row - 1);
}

void mix_count(const struct image *img, const uint64_t *executed, uint64_t to[COUNTER_COUNT]) {
    for (uint32_t i = 0; i < img->ncode; i++)
        if (executed[i])
            to[mix_counter(img->code[i].in)] += executed[i];
}
