/* Launches by device code: the order in which children run, how deep they nest, and what is left of them
 * after a fault. */
#include "timing_rig.h"

/* Kernel k writes its number into the log and launches what its row of the table says: pairs of kernel number
 * (from 1) and stream, up to 0. */
static const char text[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".extern .func (.param .b64 r) __cuda_syscall_cnpv2GetParameterBufferV2(.param .b64 a, .param .align 4 "
    ".b8 b[12],\n"
    "    .param .align 4 .b8 c[12], .param .b32 d);\n"
    ".extern .func (.param .b32 r) __cuda_syscall_cnpv2LaunchDeviceV2(.param .b64 a, .param .b64 b);\n"
    ".visible .entry k(.param .u64 buffer, .param .u32 n, .param .u32 x)\n{\n"
    ".reg .b64 %l<12>; .reg .b32 %r<16>; .reg .pred %p<3>;\n"
    "ld.param.u64 %l0, [buffer]; ld.param.u32 %r0, [n]; ld.param.u32 %r1, [x];\n"
    /* the log: its length, then numbers */
    "atom.global.add.u32 %r2, [%l0], 1; mul.wide.u32 %l1, %r2, 4; add.u64 %l1, %l1, %l0; st.global.u32 "
    "[%l1+4], %r0;\n"
    "setp.eq.u32 %p2, %r0, 99; @%p2 trap;\n"
    "mul.wide.u32 %l2, %r0, 64; add.u64 %l2, %l2, %l0; add.u64 %l2, %l2, 65536;\n"
    "LOOP: ld.global.v2.u32 {%r3, %r4}, [%l2]; setp.eq.u32 %p0, %r3, 0; @%p0 bra DONE;\n"
    "mov.u64 %l3, k;\n"
    "{ .param .b64 a; .param .align 4 .b8 b[12]; .param .align 4 .b8 c[12]; .param .b32 d; .param .b64 r;\n"
    "st.param.b64 [a], %l3; st.param.b32 [b], 1; st.param.b32 [b+4], 1; st.param.b32 [b+8], 1;\n"
    "st.param.b32 [c], %r1; st.param.b32 [c+4], 1; st.param.b32 [c+8], 1; st.param.b32 [d], 0;\n"
    "call (r), __cuda_syscall_cnpv2GetParameterBufferV2, (a, b, c, d); ld.param.b64 %l4, [r]; }\n"
    "st.u64 [%l4], %l0; st.u32 [%l4+8], %r3; st.u32 [%l4+12], %r1; cvt.u64.u32 %l5, %r4;\n"
    "{ .param .b64 a; .param .b64 b; .param .b32 r; st.param.b64 [a], %l4; st.param.b64 [b], %l5;\n"
    "call (r), __cuda_syscall_cnpv2LaunchDeviceV2, (a, b); ld.param.b32 %r5, [r]; }\n"
    "setp.ne.u32 %p1, %r5, 0; @%p1 st.global.u32 [%l0+32768], %r5;\n"
    "add.u64 %l2, %l2, 8; bra LOOP;\n"
    "DONE: exit;\n}\n";

enum { TABLE = 65536, ERROR = 32768, TAIL = 3 };

static uint32_t *words(const struct rig *r, uint32_t at) {
    return (uint32_t *)(uintptr_t)(r->buffer + at);
}

/* A row of the table: kernel row launches these. */
static void launches(const struct rig *r, uint32_t row, const uint32_t *pairs, uint32_t n) {
    memcpy(words(r, TABLE + 64 * row), pairs, n * sizeof *pairs);
}

/* Runs kernel 1 and all that it launches; the status of the last. */
static enum rp_status run_all(struct rig *r, uint32_t threads) {
    struct rp_kernel *k = rp_module_kernel(r->m, "k");
    struct rig_params p = {.buffer = r->buffer, .n = 1, .x = threads};
    struct rp_launch l = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .params = &p, .param_bytes = sizeof p};
    enum rp_status s;
    char *report = NULL;
    do
        s = rp_launch(r->g, k, &l, &report);
    while (s == RP_OK && rp_next_launch(r->g, &k, &l));
    free(report);
    return s;
}

static void expect_log(const struct rig *r, const uint32_t *want, uint32_t n) {
    assert_int_equal(*words(r, 0), n);
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(words(r, 4)[i], want[i]);
}

/* Children in order, each with its own before the next; tail launches last, and those of a child before its
 * sibling. */
static void test_order(void **state) {
    (void)state;
    for (int functional = 0; functional < 2; functional++) {
        struct rig r;
        rig_open(&r, "h200", NULL, functional, text);
        rig_zero(&r);
        launches(&r, 1, (uint32_t[]){5, TAIL, 2, 0, 3, 4, 4, TAIL}, 8);
        launches(&r, 2, (uint32_t[]){6, TAIL, 7, 0}, 4);
        launches(&r, 7, (uint32_t[]){8, 0}, 2);
        launches(&r, 5, (uint32_t[]){9, 0}, 2);
        size_t used = rp_mem_used(r.g);
        assert_int_equal(run_all(&r, 1), RP_OK);
        expect_log(&r, (uint32_t[]){1, 2, 7, 8, 6, 3, 5, 9, 4}, 9);
        assert_int_equal(*words(&r, ERROR), 0);
        assert_int_equal(rp_mem_used(r.g), used); /* parameter buffers are given back */
        rig_close(&r);
    }
}

/* Nesting has an end, tail launches of oneself have none. */
static void test_depth(void **state) {
    (void)state;
    struct rig r;
    rig_open(&r, "h200", NULL, true, text);
    rig_zero(&r);
    launches(&r, 1, (uint32_t[]){1, 0}, 2);
    assert_int_equal(run_all(&r, 1), RP_OK);
    assert_int_equal(*words(&r, 0), DEVICE_MAX_NESTING);
    assert_int_equal(*words(&r, ERROR), DEVICE_MAX_DEPTH);
    rig_close(&r);
    rig_open(&r, "h200", NULL, true, text);
    rig_zero(&r);
    for (uint32_t k = 1; k < 60; k++)
        launches(&r, k, (uint32_t[]){k + 1, TAIL}, 2);
    assert_int_equal(run_all(&r, 1), RP_OK);
    assert_int_equal(*words(&r, 0), 60);
    assert_int_equal(*words(&r, ERROR), 0);
    rig_close(&r);
}

/* A launch that cannot be is refused where it is made; a fault drops all that waits. */
static void test_failures(void **state) {
    (void)state;
    struct rig r;
    struct rp_kernel *k;
    struct rp_launch l;
    rig_open(&r, "h200", NULL, true, text);
    rig_zero(&r);
    launches(&r, 1, (uint32_t[]){2, 0}, 2);
    assert_int_equal(run_all(&r, 2000), RP_OK);
    expect_log(&r, (uint32_t[]){1}, 1);
    assert_int_equal(*words(&r, ERROR), DEVICE_INVALID_CONFIG);
    rig_close(&r);
    rig_open(&r, "h200", NULL, true, text);
    rig_zero(&r);
    launches(&r, 1, (uint32_t[]){99, 0, 2, 0}, 4);
    assert_int_equal(run_all(&r, 1), RP_TRAP);
    expect_log(&r, (uint32_t[]){1, 99}, 2);
    assert_false(rp_next_launch(r.g, &k, &l));
    launches(&r, 1, (uint32_t[]){2, 77, 0, 0}, 4); /* no such stream */
    *words(&r, 0) = 0;
    assert_int_equal(run_all(&r, 1), RP_OK);
    expect_log(&r, (uint32_t[]){1}, 1);
    assert_int_equal(*words(&r, ERROR), DEVICE_INVALID_VALUE);
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
