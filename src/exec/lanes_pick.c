/* Chooses, once, which build of the executors this host runs. */
#if !defined(__x86_64__)
#include <fenv.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "exec/lanes_isa.h"
#include "exec/mma.h"

extern const struct lane_set lane_set_generic;
#if defined(__x86_64__)
#include <cpuid.h>

extern const struct lane_set lane_set_avx2, lane_set_avx512;

/* What older compilers have no name for. */
static bool has_f16c_lzcnt(void) {
    unsigned a, b, c, extended;
    return __get_cpuid(1, &a, &b, &c, &extended) && c & bit_F16C &&
           __get_cpuid(0x80000001, &a, &b, &extended, &c) && extended & bit_LZCNT;
}

static bool has_avx2(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt") && has_f16c_lzcnt();
}

static bool has_avx512(void) {
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512cd");
}
#endif

static bool always(void) {
    return true;
}

/* Best first. */
static const struct {
    const struct lane_set *set;
    bool (*supported)(void);
} candidates[] = {
#if defined(__x86_64__)
    {&lane_set_avx512, has_avx512},
    {&lane_set_avx2, has_avx2},
#endif
    {&lane_set_generic, always},
};

static const struct lane_set *current;
void (*lane_modify)(uint32_t *d, const uint32_t *s, uint32_t and_mask, uint32_t xor_mask);
void (*lane_blend)(uint32_t *d, const uint32_t *s, uint32_t mask);
struct lane_memory lane_memory;
struct lane_texture lane_texture;
struct lane_matrix lane_matrix;

bool lane_use(const char *name) {
    for (unsigned k = 0; k < sizeof candidates / sizeof *candidates; k++) {
        const struct lane_set *set = candidates[k].set;
        if (!candidates[k].supported() || (name && strcmp(name, set->name) != 0))
            continue;
        current = set;
        lane_modify = set->modify;
        lane_blend = set->blend;
        lane_memory = set->memory;
        lane_texture = *set->texture;
        lane_matrix = *set->matrix;
        return true;
    }
    return false;
}

/* The function pointers must be set before anything runs, so the choice is made when the program is loaded.
 */
__attribute__((constructor)) static void choose(void) {
#ifdef HOST_BITS
    if (!__builtin_cpu_supports("popcnt") || !__builtin_cpu_supports("bmi") ||
        !__builtin_cpu_supports("bmi2")) {
        fputs("reprise: this processor lacks instructions (popcnt, bmi, bmi2) of the one this was built on;"
              " build it here, or with 'meson setup -Dportable=true build'\n",
              stderr);
        _exit(1);
    }
#endif
    const char *wish = getenv("REPRISE_ISA");
    if (!wish || !lane_use(wish))
        lane_use(NULL);
}

const char *lane_isa(void) {
    return current->name;
}

/* Host rounding mode that instruction i needs. Conversions to integers and to integral values round
 * explicitly. */
static uint8_t rounding_of(const struct inst *i) {
    enum op_form form = op_info[i->op].form;
    bool arith = form >= FORM_F1_1 && form <= FORM_D2_222;
    bool convert = i->op == OP_I2F || (i->op == OP_F2F && !i->m.rint);
    return (arith || convert) && i->m.rnd <= RND_RP ? i->m.rnd : RND_RN;
}

struct lane_op lane_pick(const struct inst *i) {
    uint8_t rnd = rounding_of(i);
    if (rnd != RND_RN) {
        lane_fn *fn = current->pick_rounded(i->op, &i->m);
        if (fn)
            return (struct lane_op){.fn = fn, .rnd = RND_RN};
    }
    return (struct lane_op){.fn = current->pick[i->op](&i->m), .rnd = rnd};
}

#if defined(__x86_64__)
void lane_set_rounding(unsigned rnd) {
    /* Executors use SSE registers only, so the x87 control word, which fesetround also loads, may stay. */
    static const uint8_t modes[] = {[RND_RN] = 0, [RND_RZ] = 3, [RND_RM] = 1, [RND_RP] = 2};
    __builtin_ia32_ldmxcsr((__builtin_ia32_stmxcsr() & ~0x6000u) | (uint32_t)modes[rnd] << 13);
}
#else
void lane_set_rounding(unsigned rnd) {
    static const int modes[] = {
        [RND_RN] = FE_TONEAREST, [RND_RZ] = FE_TOWARDZERO, [RND_RM] = FE_DOWNWARD, [RND_RP] = FE_UPWARD};
    fesetround(modes[rnd]);
}
#endif
