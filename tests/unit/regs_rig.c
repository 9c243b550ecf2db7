#include "regs_rig.h"

uint32_t regs_random(uint64_t *x, uint32_t n) {
    *x = *x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*x >> 33) % n;
}

/* Registers %r1 to %r8 hold values, %r0 the thread's number; %p0 to %p3 predicates. */
static uint32_t reg(uint64_t *x) {
    return 1 + regs_random(x, REGS_ROWS);
}

static void compute(struct str *s, uint64_t *x) {
    static const char *const ops[] = {"add.u32",    "sub.u32", "xor.b32", "and.b32",
                                      "mul.lo.u32", "min.s32", "max.u32"};
    uint32_t d = reg(x), a = reg(x), b = reg(x);
    switch (regs_random(x, 12)) {
    case 0:
        str_printf(s, "mov.u32 %%r%u, %u; ", d, regs_random(x, 400));
        break;
    case 1:
        str_printf(s, "shl.b32 %%r%u, %%r%u, %u; ", d, a, regs_random(x, 20));
        break;
    case 2:
        str_printf(s, "selp.u32 %%r%u, %%r%u, %%r%u, %%p%u; ", d, a, b, regs_random(x, 4));
        break;
    case 3:
        str_printf(s, "mov.b32 %%f0, %%r%u; ex2.approx.f32 %%f0, %%f0; mov.b32 %%r%u, %%f0; ", a, d);
        break;
    case 4:
        str_printf(s, "ld.global.u32 %%r%u, [%%l0+%u]; ", d, 4 * regs_random(x, 64));
        break;
    case 5:
        str_printf(s, "ld.global.u32 %%r%u, [%%l1+%u]; ", d, 4 * REGS_WORDS * regs_random(x, REGS_ROWS));
        break;
    case 6:
        str_printf(s, "add.cc.u32 %%r%u, %%r%u, %%r%u; addc.u32 %%r%u, %%r%u, 0; ", d, a, b, b, a);
        break;
    default:
        str_printf(s, "%s %%r%u, %%r%u, %%r%u; ", ops[regs_random(x, 7)], d, a, b);
    }
}

static void compare(struct str *s, uint64_t *x) {
    uint32_t p = regs_random(x, 4);
    if (regs_random(x, 2))
        str_printf(s, "setp.lt.u32 %%p%u, %%r0, %u; ", p, regs_random(x, 40));
    else
        str_printf(s, "setp.lt.s32 %%p%u, %%r%u, %%r%u; ", p, reg(x), reg(x));
}

static void statement(struct str *s, uint64_t *x, uint32_t *label) {
    uint32_t what = regs_random(x, 8), p = regs_random(x, 4);
    if (what == 0) {
        compare(s, x);
    } else if (what == 1) {
        str_printf(s, "@%s%%p%u ", regs_random(x, 2) ? "!" : "", p);
        str_printf(s, "add.u32 %%r%u, %%r%u, %u;\n", reg(x), reg(x), regs_random(x, 9));
    } else if (what == 2) { /* a store keeps it a path of its own */
        uint32_t l = (*label)++;
        str_printf(s, "@%%p%u bra L%u; ", p, l);
        for (uint32_t n = 1 + regs_random(x, 4); n; n--)
            compute(s, x);
        str_printf(s, "st.global.u32 [%%l1+%u], %%r%u;\nL%u: ", 4 * (3 * REGS_RESULT), reg(x), l);
    } else {
        compute(s, x);
    }
}

char *regs_kernel(uint64_t seed) {
    struct str s = {0};
    uint32_t label = 0;
    str_printf(&s, ".version 7.0\n.target sm_70\n.address_size 64\n"
                   ".visible .entry k(.param .u64 buffer, .param .u32 n, .param .u32 x)\n"
                   "{ .reg .b32 %%r<16>; .reg .b64 %%l<4>; .reg .pred %%p<4>; .reg .f32 %%f<2>;\n"
                   "ld.param.u64 %%l0, [buffer]; mov.u32 %%r0, %%tid.x;\n"
                   "mul.wide.u32 %%l1, %%r0, 4; add.u64 %%l1, %%l0, %%l1;\n");
    for (uint32_t p = 0; p < 4; p++)
        str_printf(&s, "setp.lt.u32 %%p%u, %%r0, %u; ", p, 3 + 9 * p);
    for (uint32_t k = 0; k < REGS_ROWS; k++)
        str_printf(&s, "ld.global.u32 %%r%u, [%%l1+%u];\n", k + 1, 4 * k * REGS_WORDS);
    for (uint32_t n = 0; n < 50; n++)
        statement(&s, &seed, &label);
    for (uint32_t k = 0; k < REGS_ROWS; k++)
        str_printf(&s, "st.global.u32 [%%l1+%u], %%r%u;\n", 4 * (REGS_RESULT + k * REGS_WORDS), k + 1);
    str_printf(&s, "exit; }\n");
    return s.at;
}

void regs_fill(const struct rig *r, uint64_t seed) {
    uint32_t *word = (uint32_t *)(uintptr_t)r->buffer;
    for (uint32_t row = 0; row < REGS_ROWS; row++) {
        uint32_t kind = regs_random(&seed, 8), base = regs_random(&seed, UINT32_MAX);
        for (uint32_t i = 0; i < REGS_WORDS; i++) {
            uint32_t any = regs_random(&seed, UINT32_MAX), lane = i % WARP_LANES;
            const uint32_t values[] = {base,
                                       base ^ any % 256,
                                       base ^ any % 65536,
                                       base ^ any % (1u << 24),
                                       base + lane / 16,
                                       lane < 16 ? base : any,
                                       any % 300 - 150,
                                       any};
            word[row * REGS_WORDS + i] = values[kind];
        }
    }
}

void regs_open(struct rig *r, const char *gpu, const char *mech, const char *const *set, const char *text) {
    rig_open_options(
        r, &(struct rp_options){.gpu = gpu, .mech = mech, .set = set, .check = true, .watchdog = 100000},
        text);
}

void regs_base(const char *gpu, const char *text, uint64_t seed, uint32_t threads, uint32_t *result) {
    struct rig r;
    regs_open(&r, gpu, "base", (const char *const[]){"device.sms=1", NULL}, text);
    regs_fill(&r, seed);
    rig_run(&r, "k", 1, threads, (struct rig_params){.n = 1, .x = 2});
    memcpy(result, (uint32_t *)(uintptr_t)r.buffer + REGS_RESULT, REGS_RESULT * sizeof *result);
    rig_close(&r);
}
