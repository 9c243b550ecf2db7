/* Counters: the table is complete, and every operation belongs to the instruction mix. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/mix.h"

static void rows_are_complete(void **state) {
    (void)state;
    for (uint32_t i = 0; i < COUNTER_COUNT; i++) {
        const struct counter_info *c = &counter_info[i];
        assert_true(*c->name && *c->unit && *c->meaning);
        assert_int_equal(c->meaning[strlen(c->meaning) - 1], '.');
        for (uint32_t k = 0; k < i; k++)
            assert_string_not_equal(c->name, counter_info[k].name);
    }
}

static void every_operation_counts_once(void **state) {
    (void)state;
    for (uint32_t op = 0; op < OP_COUNT; op++)
        for (uint32_t space = MS_GENERIC; space <= MS_CONST; space++) {
            struct inst in = {.op = (uint16_t)op, .m = {.space = (uint8_t)space}};
            assert_true((uint32_t)mix_counter(&in) < COUNTER_MIX);
        }
}

/* A few that the energy class alone would put elsewhere, or that the memory space decides. */
static void exceptions_are_where_they_belong(void **state) {
    (void)state;
    static const struct {
        enum op op;
        enum mem_space space;
        enum counter want;
    } rows[] = {
        {OP_IADD, 0, COUNTER_insts_int},
        {OP_FFMA, 0, COUNTER_insts_fp32},
        {OP_HFMA2, 0, COUNTER_insts_fp16},
        {OP_DDIV, 0, COUNTER_insts_fp64},
        {OP_FDIV, 0, COUNTER_insts_sfu},
        {OP_MUFU, 0, COUNTER_insts_sfu},
        {OP_SHFL, 0, COUNTER_insts_warp},
        {OP_S2R, 0, COUNTER_insts_move},
        {OP_BAR, 0, COUNTER_insts_barrier},
        {OP_EXIT, 0, COUNTER_insts_control},
        {OP_LDC, MS_CONST, COUNTER_insts_load_const},
        {OP_LD, MS_SHARED, COUNTER_insts_load_shared},
        {OP_ST, MS_LOCAL, COUNTER_insts_store_local},
        {OP_RED, MS_GLOBAL, COUNTER_insts_atomic},
        {OP_SURED, 0, COUNTER_insts_texture},
    };
    for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct inst in = {.op = (uint16_t)rows[i].op, .m = {.space = (uint8_t)rows[i].space}};
        assert_int_equal(mix_counter(&in), rows[i].want);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_complete),
        cmocka_unit_test(every_operation_counts_once),
        cmocka_unit_test(exceptions_are_where_they_belong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
