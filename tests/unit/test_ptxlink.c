/* The device linker: names meet across units, private names do not, and units nobody needs stay out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cuda/ptxlink.h"

#define HEADER(version, target) ".version " version "\n.target " target "\n.address_size 64\n"

static const char caller[] = HEADER(
    "7.5", "sm_75") ".extern .func (.param .b32 r) twice (.param .b32 x);\n"
                    ".extern .global .align 4 .u32 shared_value;\n"
                    ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"
                    ".global .align 1 .b8 $str[3] = {97, 98, 0};\n"
                    ".weak .func both() { ret; }\n"
                    ".visible .entry kernel(.param .u64 p) {\n"
                    "  mov.u64 %rd1, $str; // $str in a comment\n  call.uni (r), twice, (x);\n  ret;\n}\n";

static const char callee[] =
    HEADER("7.8", "sm_80") ".file 1 \"callee.cu\"\n"
                           ".section .debug_str { .b8 0 }\n"
                           ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"
                           ".global .align 1 .b8 $str[3] = {99, 100, 0};\n"
                           ".visible .global .align 4 .u32 shared_value = 7;\n"
                           ".weak .func both() { ret; }\n"
                           ".visible .func (.param .b32 r) twice (.param .b32 x) {\n"
                           "  .loc 1 2 3\n  mov.u64 %rd1, $str;\n  ret;\n}\n";

static const char unrelated[] = HEADER("9.0", "sm_121") ".entry __internal_kernel() { ret; }\n"
                                                        ".visible .func unused() { ret; }\n";

static unsigned count(const char *text, const char *word) {
    unsigned n = 0;
    for (const char *at = text; (at = strstr(at, word)); at += strlen(word))
        n++;
    return n;
}

static char *link_all(const char *const *roots, uint32_t nroots) {
    const struct ptx_unit units[] = {
        {caller, strlen(caller)}, {callee, strlen(callee)}, {unrelated, strlen(unrelated)}};
    size_t len;
    char *text = ptx_link(units, 3, roots, nroots, &len);
    assert_int_equal(strlen(text), len);
    return text;
}

static void test_symbols_meet(void **state) {
    (void)state;
    char *t = link_all(NULL, 0);
    assert_int_equal(count(t, ".visible .func (.param .b32 r) twice (.param .b32 x);"), 1);
    assert_int_equal(count(t, ".visible .func (.param .b32 r) twice (.param .b32 x) {"), 1);
    assert_int_equal(count(t, ".extern .func (.param .b32 r) vprintf"), 1);
    assert_int_equal(count(t, "shared_value"), 1);
    assert_int_equal(count(t, ".weak .func both() { ret; }"), 1);
    assert_true(strstr(t, "twice (.param .b32 x);") < strstr(t, ".entry kernel"));
    assert_true(strstr(t, "shared_value = 7") < strstr(t, ".entry kernel"));
    free(t);
}

static void test_private_names_differ(void **state) {
    (void)state;
    char *t = link_all(NULL, 0);
    assert_int_equal(count(t, "$str$unit0[3] = {97, 98, 0}"), 1);
    assert_int_equal(count(t, "$str$unit1[3] = {99, 100, 0}"), 1);
    assert_int_equal(count(t, "mov.u64 %rd1, $str$unit0; // $str in a comment"), 1);
    assert_int_equal(count(t, "mov.u64 %rd1, $str$unit1;"), 1);
    free(t);
}

static void test_header_and_lines(void **state) {
    (void)state;
    const char *roots[] = {"kernel"};
    char *t = link_all(roots, 1);
    assert_int_equal(count(t, ".version"), 1);
    assert_non_null(strstr(t, ".version 7.8\n.target sm_80\n.address_size 64\n"));
    assert_non_null(strstr(t, ".file 10001 \"callee.cu\""));
    assert_non_null(strstr(t, ".loc 10001 2 3"));
    assert_null(strstr(t, ".section"));
    free(t);
}

static void test_only_what_is_needed(void **state) {
    (void)state;
    const char *roots[] = {"kernel"};
    char *t = link_all(roots, 1);
    assert_non_null(strstr(t, "twice"));
    assert_null(strstr(t, "unused"));
    assert_null(strstr(t, "__internal_kernel"));
    free(t);
}

static void test_broken_text(void **state) {
    (void)state;
    static const char *const broken[] = {"",       ".visible .entry k(", "{{{", "/* open", "\"open", ".file",
                                         ".global"};
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        struct ptx_unit u = {broken[i], strlen(broken[i])};
        size_t len;
        char *t = ptx_link(&u, 1, NULL, 0, &len);
        assert_int_equal(t[len], '\0');
        free(t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_symbols_meet),     cmocka_unit_test(test_private_names_differ),
        cmocka_unit_test(test_header_and_lines), cmocka_unit_test(test_only_what_is_needed),
        cmocka_unit_test(test_broken_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
