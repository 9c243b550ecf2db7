/* The table of A64: that it is a table, what it prints, which registers it names, that executors are jumps.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cpu/cpu.h"
#include "cpu/exec.h"
#include "cpu/forms.h"

static uint64_t state = 88172645463325252ull;

static uint32_t rnd(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 24);
}

static uint32_t random_word(enum a64_op op) {
    const struct a64_info *r = a64_info(op);
    for (int tries = 0; tries < 5000; tries++) {
        uint32_t word = (rnd() & ~r->mask) | r->value;
        if (a64_find(word) == op)
            return word;
    }
    return 0;
}

/* The operation whose row accepts a word alone. */
static bool accepts(enum a64_op op, uint32_t word) {
    const struct a64_info *r = a64_info(op);
    struct a64_fields f;
    struct a64_inst i = {0};
    if ((word & r->mask) != r->value)
        return false;
    a64_split(r, word, 0, &f);
    int variant = a64_forms[r->form].make(&f, &i);
    return variant >= 0 && (uint32_t)variant < r->variants && r->exec[variant];
}

/* Words that two encodings match belong to one of them. */
static void test_rows_are_disjoint(void **unused) {
    (void)unused;
    for (enum a64_op a = 0; a < A64_OPS; a++)
        for (enum a64_op b = a + 1; b < A64_OPS; b++) {
            const struct a64_info *x = a64_info(a), *y = a64_info(b);
            if ((x->value ^ y->value) & x->mask & y->mask)
                continue;
            for (int k = 0; k < 2000; k++) {
                uint32_t word = (rnd() & ~(x->mask | y->mask)) | x->value | y->value;
                if (accepts(a, word) && accepts(b, word))
                    fail_msg("0x%08x is %s (%d) and %s (%d)", word, x->name, a, y->name, b);
            }
        }
}

static void test_every_row_has_words(void **unused) {
    (void)unused;
    for (enum a64_op op = 0; op < A64_OPS; op++)
        if (op != A64_MSR && op != A64_MRS && !random_word(op))
            fail_msg("no word is %s (%d)", a64_info(op)->name, op);
}

static void test_text(void **unused) {
    (void)unused;
    static const struct {
        uint32_t word;
        const char *text;
    } cases[] = {
        {0xd2800540, "movz x0, #0x2a"},
        {0x910083ff, "add sp, sp, #0x20"},
        {0x54000041, "b.ne 0x1008"},
        {0xa9bf7bfd, "stp x29, x30, [sp, #-16]!"},
        {0xf8627820, "ldr x0, [x1, x2, lsl #3]"},
        {0x1e602820, "fadd d0, d1, d0"},
        {0x4e21d400, "fadd v0.4s, v0.4s, v1.4s"},
        {0x0c408400, "ld2 {v0.4h, v1.4h}, [x0]"},
        {0xd65f03c0, "ret"},
        {0xd53bd040, "mrs x0, tpidr_el0"},
        {0x00000000, "udf #0"},
        {0xffffffff, ".inst 0xffffffff"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        struct str s = {0};
        a64_print(&s, cases[k].word, 0x1000);
        assert_string_equal(str_text(&s), cases[k].text);
        str_free(&s);
    }
}

static bool has(const uint8_t *list, uint32_t n, uint32_t reg) {
    for (uint32_t k = 0; k < n; k++)
        if (list[k] == reg)
            return true;
    return false;
}

static void test_uses(void **unused) {
    (void)unused;
    struct a64_uses u;
    a64_uses(0xeb02003f, &u); /* subs xzr, x1, x2 */
    assert_int_equal(u.nsrc, 2);
    assert_int_equal(u.ndst, 1);
    assert_true(has(u.src, u.nsrc, 1) && has(u.src, u.nsrc, 2) && u.dst[0] == A64_NZCV);
    a64_uses(0xa9bf7bfd, &u); /* stp x29, x30, [sp, #-16]! */
    assert_true(u.nsrc == 3 && has(u.src, 3, 29) && has(u.src, 3, 30) && has(u.src, 3, A64_SP));
    assert_true(u.ndst == 1 && u.dst[0] == A64_SP);
    a64_uses(0x4c9f0000, &u); /* st4 {v0.16b-v3.16b}, [x0], #64 */
    assert_true(u.nsrc == 5 && has(u.src, 5, A64_V0 + 3) && has(u.src, 5, 0) && u.ndst == 1);
    a64_uses(0x94000000, &u); /* bl */
    assert_true(u.nsrc == 0 && u.ndst == 1 && u.dst[0] == A64_LR);
    a64_uses(0x9a820020, &u); /* csel x0, x1, x2, eq */
    assert_true(u.nsrc == 3 && has(u.src, 3, A64_NZCV));
    a64_uses(0x4e011800, &u); /* uzp1 v0.16b, v0.16b, v1.16b */
    assert_true(u.nsrc == 2 && u.ndst == 1 && u.dst[0] == A64_V0);
    a64_uses(0x4e61cc00, &u); /* fmla v0.2d, v0.2d, v1.2d: also reads what it writes */
    assert_true(u.nsrc == 3 && u.ndst == 1);
    a64_uses(0x0e212800, &u); /* xtn v0.8b, v0.8h */
    assert_int_equal(u.nsrc, 1);
    a64_uses(0x4e212801, &u); /* xtn2 v1.16b, v0.8h: the lower half stays */
    assert_int_equal(u.nsrc, 2);
}

static void test_what_is_lacking(void **unused) {
    (void)unused;
    assert_int_equal(a64_find(0xf8200000), A64_OPS);
    assert_string_equal(a64_lacking(0xf8200000), "ldadd (atomics, ARMv8.1)");
    assert_string_equal(a64_lacking(0x4e284800), "aese (cryptography)");
    assert_string_equal(a64_lacking(0x04200000), "SVE");
    assert_null(a64_lacking(0xffffffff));
}

/* ---- executors are jumps, or the host's stack would grow with every instruction ---- */

enum { COPIES = 2000, WINDOW = 1 << 20 };
static uintptr_t frame;

EXEC(note_frame) {
    (void)c, (void)i;
    frame = (uintptr_t)__builtin_frame_address(0);
    return NULL;
}

static void test_the_stack_does_not_grow(void **unused) {
    (void)unused;
    struct space space;
    struct cpu *c = xcalloc(1, sizeof *c);
    struct block *b = xcalloc(1, sizeof *b + (COPIES + 1) * sizeof *b->at);
    uint64_t base = 1ull << 30;
    assert_true(space_init(&space));
    assert_true(space_map(&space, base - WINDOW, 2 * WINDOW, PERM_READ | PERM_WRITE));
    cpu_init(c, &space);
    c->block = b;
    for (enum a64_op op = 0; op < A64_OPS; op++) {
        const struct a64_info *r = a64_info(op);
        for (int k = 0; k < 8 && r->class != CLASS_BRANCH && !(r->flags & A64_ENDS); k++) {
            uint32_t word = random_word(op);
            struct a64_inst i;
            if (!word || !a64_decode(word, 0, &i))
                continue;
            for (uint32_t reg = 0; reg < 32; reg++)
                c->x[reg] = base;
            if (i.rm != i.rn && strstr(a64_forms[r->form].operands, "%im"))
                c->x[i.rm] = 0;
            bool post = strstr(a64_forms[r->form].operands, "%+B");
            for (uint32_t j = 0; j < COPIES; j++)
                b->at[j] = i;
            uint32_t n = post ? 8 : COPIES; /* the base must not run away */
            uintptr_t start = (uintptr_t)__builtin_frame_address(0);
            frame = start;
            b->at[n] = (struct a64_inst){.fn = note_frame};
            for (const struct a64_inst *at = b->at; at;)
                at = at->fn(c, at);
            assert_true(start - frame < 4096);
        }
    }
    cpu_free(c);
    space_free(&space);
    free(b);
    free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_are_disjoint),
        cmocka_unit_test(test_every_row_has_words),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_uses),
        cmocka_unit_test(test_what_is_lacking),
        cmocka_unit_test(test_the_stack_does_not_grow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
