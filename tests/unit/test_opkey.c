/* The same operation: what belongs to it and what does not, and what its results depend on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "exec/opkey.h"

/* Decodes one instruction. The key outlives the program. */
static struct opkey key_of(const struct inst *in, enum opkey_basis *basis) {
    struct inst copy = *in;
    copy.target = 0;
    struct program p = {.code = &copy, .ncode = 1, .nregs = MAX_GPR};
    struct image *img = image_create(&p);
    struct opkey k = opkey_of(&img->code[0]);
    if (basis)
        *basis = opkey_basis(&img->code[0]);
    image_free(img);
    return k;
}

static bool same(const struct inst *a, const struct inst *b) {
    struct opkey x = key_of(a, NULL), y = key_of(b, NULL);
    bool equal = !memcmp(&x, &y, sizeof x);
    assert_int_equal(equal, opkey_hash(&x) == opkey_hash(&y));
    return equal;
}

static struct inst multiply_add(void) {
    struct inst i = inst_new(OP_FFMA);
    i.dst = opd_reg(1, 0);
    i.nsrc = 3;
    for (uint32_t s = 0; s < 3; s++)
        i.src[s] = opd_reg(2 + s, 0);
    return i;
}

/* Where values come from and go to, and who executes, does not matter. */
static void test_places(void **state) {
    (void)state;
    struct inst a = multiply_add(), b = multiply_add();
    b.dst = opd_reg(9, 0);
    b.src[0] = opd_reg(7, 0);
    b.src[1] = opd_imm(5);
    b.src[2] = opd_rz();
    b.guard = (struct popd){2, true};
    b.line = 3;
    b.m.fuse = true;
    assert_true(same(&a, &b));
    b.src[1] = opd_const(BANK_PARAM, 64);
    assert_true(same(&a, &b));
}

/* Bytes that no member of struct imods owns may hold anything. */
static void test_padding(void **state) {
    (void)state;
    struct inst a, b;
    memset(&a, 0, sizeof a);
    memset(&b, 0xff, sizeof b);
    for (uint32_t k = 0; k < 2; k++) {
        struct inst *i = k ? &b : &a;
        i->op = OP_S2R;
        i->nsrc = 0;
        i->imm = 0;
        i->guard = i->pdst[0] = i->pdst[1] = i->psrc[0] = i->psrc[1] = (struct popd){.id = VPRED_PT};
        i->dst = opd_reg(1, 0);
        memset(&i->m, 0, offsetof(struct imods, fuse));
        i->m.fuse = k;
    }
    assert_true(same(&a, &b));
}

/* Every modifier matters, as do sign changes of sources and the offset. */
static void test_modifiers(void **state) {
    (void)state;
    for (uint32_t byte = 0; byte < offsetof(struct imods, fuse); byte++) {
        struct inst a = multiply_add(), b = multiply_add();
        ((uint8_t *)&b.m)[byte] ^= 1;
        assert_false(same(&a, &b));
    }
    for (uint32_t s = 0; s < 3; s++)
        for (uint8_t mod = 1; mod < 4; mod++) {
            struct inst a = multiply_add(), b = multiply_add();
            b.src[s].mod = mod;
            assert_false(same(&a, &b));
            a.src[s].mod = mod;
            assert_true(same(&a, &b));
            a.src[(s + 1) % 3].mod = mod;
            a.src[s].mod = 0;
            assert_false(same(&a, &b));
        }
    struct inst a = multiply_add(), b = multiply_add();
    b.op = OP_IMAD;
    assert_false(same(&a, &b));
    b = a;
    b.imm = 4;
    assert_false(same(&a, &b));
    a = b = inst_new(OP_SEL);
    a.nsrc = b.nsrc = 2;
    a.src[0] = a.src[1] = b.src[0] = b.src[1] = opd_reg(1, 0);
    a.dst = b.dst = opd_reg(1, 0);
    a.psrc[0] = (struct popd){1, false};
    b.psrc[0] = (struct popd){2, false};
    assert_true(same(&a, &b));
    b.psrc[0].neg = true;
    assert_false(same(&a, &b));
}

static enum opkey_basis basis_of(enum op op) {
    struct inst i = inst_new(op);
    enum opkey_basis basis;
    i.m.size = i.m.vec = 1;
    key_of(&i, &basis);
    return basis;
}

static void test_basis(void **state) {
    (void)state;
    static const struct {
        enum op op;
        enum opkey_basis basis;
    } rows[] = {
        {OP_IADD, BASIS_INPUTS},  {OP_FFMA, BASIS_INPUTS},  {OP_ISETP, BASIS_INPUTS},
        {OP_PLOP, BASIS_INPUTS},  {OP_R2P, BASIS_INPUTS},   {OP_ISSPACE, BASIS_INPUTS},
        {OP_LDC, BASIS_CONSTANT}, {OP_TEX, BASIS_CONSTANT}, {OP_TXQ, BASIS_CONSTANT},
        {OP_SULD, BASIS_MEMORY},  {OP_LD, BASIS_MEMORY},    {OP_S2R, BASIS_LANES},
        {OP_P2R, BASIS_LANES},    {OP_SHFL, BASIS_LANES},   {OP_VOTE, BASIS_LANES},
        {OP_ELECT, BASIS_LANES},  {OP_ST, BASIS_NONE},      {OP_ATOM, BASIS_NONE},
        {OP_RED, BASIS_NONE},     {OP_LDGSTS, BASIS_NONE},  {OP_MBAR, BASIS_NONE},
        {OP_SUST, BASIS_NONE},    {OP_MEMBAR, BASIS_NONE},  {OP_WARPSYNC, BASIS_NONE},
        {OP_BRA, BASIS_NONE},     {OP_BAR, BASIS_NONE},     {OP_SYSCALL, BASIS_NONE},
        {OP_NOP, BASIS_NONE},     {OP_LDSM, BASIS_MEMORY},  {OP_MMA, BASIS_LANES},
        {OP_MMA884, BASIS_LANES}, {OP_MOVM, BASIS_LANES},   {OP_STSM, BASIS_NONE},
    };
    for (uint32_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
        assert_int_equal(basis_of(rows[k].op), rows[k].basis);
    /* What has effects or reads more than its sources is never decided by them alone. */
    for (uint32_t op = 0; op < OP_COUNT; op++)
        if (op_info[op].flags &
            (OPF_EFFECT | OPF_STORE | OPF_ATOMIC | OPF_LOAD | OPF_LANE | OPF_CROSS | OPF_END))
            assert_int_not_equal(basis_of((enum op)op), BASIS_INPUTS);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_places), cmocka_unit_test(test_padding),
                                       cmocka_unit_test(test_modifiers), cmocka_unit_test(test_basis)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
