/* Makes random AArch64 test programs from the instruction table.
 *
 *   gen single SEED PER_OP FILE.s       PER_OP words of every operation, each on registers of its own
 *   gen sequence SEED COUNT FILE.s      COUNT sequences of instructions, with branches ahead
 *   gen words SEED PER_OP FILE          words of every operation and how they are printed, for a disassembler
 * to compare
 *
 * A program loads all registers, flags and modes from a random state, executes, stores all of them, and goes
 * on to the next test. In the end it writes what it stored, and the memory that loads and stores reached, to
 * its standard output. Whatever runs it must write the same bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/forms.h"

enum { SCRATCH = 1 << 18, STATE_WORDS = 31 + 4 + 1 + 64, BASE_REG = 28, INDEX_REG = 27, MAX_SEQUENCE = 14 };

static uint64_t seed;

static uint64_t rnd(void) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed * 0x2545f4914f6cdd1dull;
}

static uint32_t below(uint32_t n) {
    return (uint32_t)(rnd() >> 33) % n;
}

/* Numbers at which arithmetic goes wrong, if it does. */
static uint64_t value(void) {
    static const uint64_t edges[] = {
        0,
        1,
        2,
        3,
        7,
        8,
        31,
        32,
        63,
        64,
        127,
        128,
        255,
        256,
        0x7fff,
        0x8000,
        0xffff,
        0x10000,
        0x7fffffff,
        0x80000000,
        0xffffffff,
        0x100000000,
        0x7fffffffffffffff,
        0x8000000000000000,
        0xffffffffffffffff,
        0xfffffffffffffffe,
        0x5555555555555555,
        0x0101010101010101,
        0x8080808080808080,
        0x7f7f7f7f7f7f7f7f,
        0x8000800080008000,
        0x8000000080000000,
    };
    switch (below(4)) {
    case 0:
        return edges[below(sizeof edges / sizeof edges[0])];
    case 1:
        return edges[below(sizeof edges / sizeof edges[0])] + below(5) - 2;
    case 2:
        return rnd() >> below(64);
    default:
        return rnd();
    }
}

/* Floating-point numbers of either format: special ones, near ones, those that are whole. */
static uint32_t single(void) {
    static const uint32_t edges[] = {
        0,          0x80000000, 1,          0x80000001, 0x007fffff, 0x00800000, 0x80800000, 0x00800001,
        0x3f800000, 0xbf800000, 0x40000000, 0x3f000000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000,
        0x7fc00000, 0x7fc12345, 0xffc00001, 0x7f800001, 0xff812345, 0x4f000000, 0xcf000000, 0x4effffff,
        0x4f800000, 0x5f000000, 0x5f800000, 0x34000000, 0x4b000001, 0x3effffff, 0x477fe000, 0x477fefff,
        0x477ff000, 0x38800000, 0x33800000, 0x33000000, 0x387fc000, 0x7e800000, 0x00400000, 0x00200000,
    };
    switch (below(5)) {
    case 0:
    case 1:
        return edges[below(sizeof edges / sizeof edges[0])];
    case 2: { /* a small number of halves */
        float f = (float)((int)below(4000) - 2000) / 2;
        uint32_t bits;
        memcpy(&bits, &f, 4);
        return bits;
    }
    case 3: /* exponents around one */
        return (uint32_t)(rnd() & 0x807fffff) | (110 + below(40)) << 23;
    default:
        return (uint32_t)rnd();
    }
}

static uint64_t dbl(void) {
    static const uint64_t edges[] = {
        0,
        0x8000000000000000,
        1,
        0x8000000000000001,
        0x000fffffffffffff,
        0x0010000000000000,
        0x8010000000000000,
        0x0010000000000001,
        0x3ff0000000000000,
        0xbff0000000000000,
        0x4000000000000000,
        0x3fe0000000000000,
        0x7fefffffffffffff,
        0xffefffffffffffff,
        0x7ff0000000000000,
        0xfff0000000000000,
        0x7ff8000000000000,
        0x7ff8123456789abc,
        0xfff8000000000001,
        0x7ff0000000000001,
        0xfff4000000000000,
        0x41e0000000000000,
        0xc1e0000000000000,
        0x41dfffffffc00000,
        0x43e0000000000000,
        0xc3e0000000000000,
        0x43f0000000000000,
        0x41f0000000000000,
        0x43efffffffffffff,
        0x47efffffe0000000,
        0x47efffffefffffff,
        0x47effffff0000000,
        0x380fffffe0000000,
        0x3810000000000000,
        0x36a0000000000000,
        0x3690000000000000,
        0x3680000000000000,
        0x380ffffff0000000,
        0x3fdfffffffffffff,
        0x4330000000000001,
        0x40effe0000000000,
        0x0008000000000000,
        0x7fd0000000000000,
    };
    switch (below(5)) {
    case 0:
    case 1:
        return edges[below(sizeof edges / sizeof edges[0])];
    case 2: {
        double f = (double)((int)below(4000) - 2000) / 2;
        uint64_t bits;
        memcpy(&bits, &f, 8);
        return bits;
    }
    case 3:
        return (rnd() & 0x800fffffffffffff) | (uint64_t)(990 + below(66)) << 52;
    default:
        return rnd();
    }
}

/* Zeros, infinities, NaNs and the like. */
static uint32_t special_single(void) {
    static const uint32_t list[] = {
        0,          0x80000000, 0x7f800000, 0xff800000, 0x7fc00001, 0xffc00002,
        0x7f800003, 0xff800004, 0x3f800000, 0xbf800000, 0x00800000, 0x00000001,
        0x807fffff, 0x7f7fffff, 0x00ffffff, 0x3f000000}; /* whose product is rounded up to the smallest normal
                                                            number */
    return list[below(sizeof list / sizeof list[0])];
}

static uint64_t special_double(void) {
    static const uint64_t list[] = {
        0,
        0x8000000000000000,
        0x7ff0000000000000,
        0xfff0000000000000,
        0x7ff8000000000001,
        0xfff8000000000002,
        0x7ff0000000000003,
        0xfff0000000000004,
        0x3ff0000000000000,
        0xbff0000000000000,
        0x0010000000000000,
        0x0000000000000001,
        0x800fffffffffffff,
        0x7fefffffffffffff,
        0x001fffffffffffff, /* whose product is rounded up to the smallest normal number */
        0x3fe0000000000000,
        0x380fffffffffffff, /* the same when it becomes single */
    };
    return list[below(sizeof list / sizeof list[0])];
}

static uint16_t half(void) {
    static const uint16_t edges[] = {0,      0x8000, 1,      0x3ff,  0x400,  0x7bff, 0x7c00,
                                     0xfc00, 0x7e00, 0x7c01, 0xfe01, 0x3c00, 0x7fff};
    return below(2) ? edges[below(sizeof edges / sizeof edges[0])] : (uint16_t)rnd();
}

/* A state: x0 to x30, sp, nzcv, fpcr, fpsr, a word of padding, v0 to v31. */
static void random_state(uint64_t *s) {
    for (int k = 0; k < 31; k++)
        s[k] = value();
    s[32] = (uint64_t)below(16) << 28;
    /* rounding modes, flush to zero, default NaN, alternative half; mostly none */
    s[33] = below(2) ? 0 : (rnd() & 0x00c00000) | (below(4) ? 0 : rnd() & 0x07000000);
    s[34] = below(8) ? 0 : rnd() & 0x0800009f;
    s[35] = 0;
    uint32_t special = below(4); /* all of one kind, so that they meet */
    for (int k = 0; k < 32; k++) {
        uint64_t *v = &s[36 + 2 * k];
        switch (special == 0 ? 6 : below(6)) {
        case 4: /* numbers of bits to shift by */
            for (int j = 0; j < 8; j++) {
                uint32_t size = below(4);
                ((uint16_t *)v)[j] = (uint16_t)((int)(8u << size) * (below(2) ? 1 : -1) + (int)below(3) - 1);
            }
            break;
        case 6:
            for (int j = 0; j < 4; j++)
                ((uint32_t *)v)[j] = special_single();
            if (below(2))
                v[0] = special_double(), v[1] = special_double();
            break;
        case 0:
            v[0] = value();
            v[1] = value();
            break;
        case 1:
            for (int j = 0; j < 8; j++)
                ((uint16_t *)v)[j] = half();
            break;
        case 2:
            for (int j = 0; j < 4; j++)
                ((uint32_t *)v)[j] = single();
            break;
        default:
            v[0] = dbl();
            v[1] = dbl();
            break;
        }
    }
}

/* ---- which words can be tested, and what they need ---- */

static bool is_memory(enum a64_op op) {
    uint8_t class = a64_info(op)->class;
    return class == CLASS_LOAD || class == CLASS_STORE;
}

static bool is_branch(enum a64_op op) {
    return a64_info(op)->class == CLASS_BRANCH;
}

/* Instructions of this CPU alone, which others do not have. */
static bool is_ours(enum a64_op op) {
    return a64_info(op)->flags & A64_MEMO;
}

/* Leaves out what asks the system, or shows the place of the code or of the machine. */
static bool wanted(enum a64_op op) {
    if (is_ours(op))
        return false;
    switch (op) {
    case A64_SVC:
    case A64_BRK:
    case A64_UDF:
    case A64_HINT:
    case A64_MRS:
    case A64_MSR:
    case A64_BR:
    case A64_BLR:
    case A64_RET:
        return false;
    default:
        return true;
    }
}

static uint32_t field(uint32_t word, int at, int bits) {
    return word >> at & ((1u << bits) - 1);
}

static bool writes_base(enum a64_op op) {
    return strstr(a64_forms[a64_info(op)->form].operands, "%+B") != NULL;
}

/* Words whose effect the architecture leaves open: one register in two roles. */
static bool is_unpredictable(enum a64_op op, uint32_t word) {
    const struct a64_info *r = a64_info(op);
    const char *operands = a64_forms[r->form].operands;
    bool general = r->arg == 'w' || r->arg == 'x';
    uint32_t d = field(word, 0, 5), n = field(word, 5, 5), a = field(word, 10, 5), m = field(word, 16, 5);
    if (strstr(operands, "%*ta") && r->class == CLASS_LOAD && d == a)
        return true;
    if (writes_base(op) && general && n != 31 && (n == d || (strstr(operands, "ta") && n == a)))
        return true;
    if (strstr(operands, "%=Wm") && (m == d || m == n || (strstr(operands, "ta") && m == a)))
        return true;
    return false;
}

/* A branch of which only the displacement is not random: over the next instruction. */
static uint32_t aim(enum a64_op op, uint32_t word, uint32_t instructions) {
    switch (op) {
    case A64_B:
    case A64_BL:
        return (word & 0xfc000000) | instructions;
    case A64_TBZ:
    case A64_TBNZ:
        return (word & 0xfff8001f) | instructions << 5;
    default:
        return (word & 0xff00001f) | instructions << 5;
    }
}

static bool pc_relative(enum a64_op op) {
    const char *encoding = a64_info(op)->encoding;
    return strstr(encoding, "iiiiiiiiiiiiiiiiiii") && is_memory(op);
}

/* A random word of an operation; 0: none was found. */
static uint32_t random_word(enum a64_op op) {
    const struct a64_info *r = a64_info(op);
    for (int tries = 0; tries < 400; tries++) {
        uint32_t word = ((uint32_t)rnd() & ~r->mask) | r->value;
        if (pc_relative(op)) /* into the code that follows */
            word = (word & 0xff00001f) | (4 * below(4)) << 5;
        if (a64_find(word) == op && !is_unpredictable(op, word))
            return word;
    }
    return 0;
}

/* Lets the registers of a load or store point into the scratch memory. False: it cannot. */
static bool set_address(uint64_t *s, enum a64_op op, uint32_t word) {
    const struct a64_info *r = a64_info(op);
    const char *operands = a64_forms[r->form].operands;
    uint32_t n = field(word, 5, 5), m = field(word, 16, 5), size = a64_access_size(word);
    uint64_t middle = SCRATCH / 2 + below(4096),
             align = strstr(r->name, "x") || strstr(r->name, "l") ? 2 * size : 1;
    if (op == A64_DC_ZVA) {
        s[field(word, 0, 5)] = middle;
        return field(word, 0, 5) != 31;
    }
    if (pc_relative(op))
        return true;
    if (strstr(operands, "%im")) {
        if (m == n)
            return false;
        int32_t index = (int32_t)below(512) - 256;
        uint32_t k = field(word, 13, 3);
        uint64_t v = k == 2 ? (uint64_t)(index & 255) : (uint64_t)(int64_t)index;
        if (!(k & 1)) /* only the lower half counts */
            v = (v & 0xffffffff) | rnd() << 32;
        if (m != 31)
            s[m] = v;
    }
    middle -= middle % align;
    if (n == 31) {
        s[31] = middle & ~15ull;
        return true;
    }
    s[n] = middle;
    return true;
}

/* ---- the program ---- */

static FILE *out;

static void header(void) {
    fprintf(out, ".text\n.global _start\n_start:\n");
}

static void load_number(const char *reg, const char *symbol, uint64_t offset) {
    fprintf(out, " ldr %s, =%s+%llu\n", reg, symbol, (unsigned long long)offset);
}

static void begin_test(uint32_t k) {
    load_number("x0", "states", 8ull * STATE_WORDS * k);
    fprintf(out, " bl restore\n ldr x30, [x0, #240]\n ldr x0, [x0]\n");
}

static void end_test(uint32_t k) {
    fprintf(out, " msr tpidr_el0, x30\n");
    load_number("x30", "results", 8ull * STATE_WORDS * k);
    fprintf(out, " str x0, [x30]\n mov x0, x30\n bl save\n");
    if (k % 16 == 15)
        fprintf(out, " b 1f\n .ltorg\n1:\n");
}

/* sp of a state is relative to the scratch memory, if it is used as an address; so are other addresses. */
static void footer(uint32_t tests, const uint64_t *states, const uint32_t *based) {
    fprintf(out,
            " mov x0, #1\n ldr x1, =results\n ldr x2, =%u\n mov x8, #64\n bl write_all\n"
            " mov x0, #1\n ldr x1, =scratch\n ldr x2, =%u\n bl write_all\n mov x0, #0\n mov x8, #94\n svc "
            "#0\n .ltorg\n",
            tests * STATE_WORDS * 8, SCRATCH);
    fprintf(out, "write_all:\n mov x19, x1\n mov x20, x2\n1: mov x0, #1\n mov x1, x19\n mov x2, x20\n mov "
                 "x8, #64\n svc #0\n"
                 " cmp x0, #0\n b.le 2f\n add x19, x19, x0\n subs x20, x20, x0\n b.ne 1b\n2: ret\n");
    fprintf(out, "restore:\n add x1, x0, #288\n");
    for (int k = 0; k < 32; k += 2)
        fprintf(out, " ldp q%d, q%d, [x1], #32\n", k, k + 1);
    fprintf(out, " ldr x1, [x0, #248]\n mov sp, x1\n ldr x1, [x0, #256]\n msr nzcv, x1\n ldr x1, [x0, "
                 "#264]\n msr fpcr, x1\n"
                 " ldr x1, [x0, #272]\n msr fpsr, x1\n");
    for (int k = 1; k < 29; k += 2)
        fprintf(out, " ldp x%d, x%d, [x0, #%d]\n", k, k + 1, 8 * k);
    fprintf(out, " ldr x29, [x0, #232]\n ret\nsave:\n");
    for (int k = 1; k < 29; k += 2)
        fprintf(out, " stp x%d, x%d, [x0, #%d]\n", k, k + 1, 8 * k);
    fprintf(
        out,
        " str x29, [x0, #232]\n mrs x1, tpidr_el0\n str x1, [x0, #240]\n mov x1, sp\n str x1, [x0, #248]\n"
        " mrs x1, nzcv\n str x1, [x0, #256]\n mrs x1, fpcr\n str x1, [x0, #264]\n mrs x1, fpsr\n str x1, "
        "[x0, #272]\n"
        " msr fpcr, xzr\n add x1, x0, #288\n");
    for (int k = 0; k < 32; k += 2)
        fprintf(out, " stp q%d, q%d, [x1], #32\n", k, k + 1);
    fprintf(out, " ret\n.data\n.balign 16\nstates:\n");
    for (uint32_t t = 0; t < tests; t++)
        for (uint32_t k = 0; k < STATE_WORDS; k++) {
            const uint64_t *s = &states[(size_t)t * STATE_WORDS];
            bool address = k < 32 && (based[t] >> k & 1);
            fprintf(out, " .quad %s0x%llx\n", address ? "scratch+" : "", (unsigned long long)s[k]);
        }
    fprintf(out, ".balign 4096\nscratch:\n");
    for (uint32_t k = 0; k < SCRATCH / 8; k++)
        fprintf(out, " .quad 0x%llx\n",
                (unsigned long long)(k % 3 == 0   ? dbl()
                                     : k % 3 == 1 ? value()
                                                  : rnd()));
    fprintf(out, ".bss\n.balign 16\nresults: .skip %u\n", tests * STATE_WORDS * 8);
}

/* Which registers of a state are addresses of the scratch memory. */
static uint32_t address_registers(enum a64_op op, uint32_t word) {
    if (!is_memory(op) || pc_relative(op))
        return 0;
    return op == A64_DC_ZVA ? 1u << field(word, 0, 5) : 1u << field(word, 5, 5);
}

struct tests {
    VEC(uint64_t) states;
    VEC(uint32_t) based;
    uint32_t n;
};

static uint64_t *new_test(struct tests *t) {
    uint64_t s[STATE_WORDS];
    random_state(s);
    s[31] = value();
    for (int k = 0; k < STATE_WORDS; k++)
        vec_push(&t->states, s[k]);
    vec_push(&t->based, 0);
    t->n++;
    return &t->states.at[t->states.len - STATE_WORDS];
}

static void make_single(uint32_t per_op) {
    struct tests t = {0};
    header();
    for (enum a64_op op = 0; op < A64_OPS; op++)
        for (uint32_t k = 0; wanted(op) && k < per_op; k++) {
            uint32_t word = random_word(op);
            if (!word)
                continue;
            uint64_t *s = new_test(&t);
            if (is_memory(op) && !set_address(s, op, word)) {
                t.n--;
                t.states.len -= STATE_WORDS;
                t.based.len--;
                continue;
            }
            t.based.at[t.n - 1] = address_registers(op, word);
            begin_test(t.n - 1);
            if (is_branch(op)) {
                word = aim(op, word, 2);
                fprintf(out, " .inst 0x%08x\n eor x5, x5, #0xff00\n%s", word,
                        op == A64_BL ? " sub x30, x30, x30\n" : "");
            } else if (op == A64_ADR || op == A64_ADRP) {
                fprintf(out, " .inst 0x%08x\n", word);
            } else if (pc_relative(op)) {
                fprintf(out,
                        " .inst 0x%08x\n b 1f\n .quad 0x%llx, 0x%llx, 0x%llx, 0x%llx, 0x%llx, 0x%llx, "
                        "0x%llx, 0x%llx\n1:\n",
                        word, (unsigned long long)value(), (unsigned long long)dbl(),
                        (unsigned long long)rnd(), (unsigned long long)rnd(), (unsigned long long)rnd(),
                        (unsigned long long)rnd(), (unsigned long long)rnd(), (unsigned long long)rnd());
            } else {
                fprintf(out, " .inst 0x%08x\n", word);
            }
            end_test(t.n - 1);
        }
    footer(t.n, t.states.at, t.based.at);
    vec_free(&t.states);
    vec_free(&t.based);
}

/* A word for a sequence, in which x28 stays the address of the scratch memory and x27 a small number. */
static uint32_t sequence_word(void) {
    for (;;) {
        enum a64_op op = below(A64_OPS);
        if (!wanted(op) || op == A64_DC_ZVA || op == A64_IC_IVAU || op == A64_ISB || pc_relative(op) ||
            writes_base(op))
            continue;
        uint32_t word = random_word(op);
        if (!word)
            continue;
        if (op == A64_B || op == A64_BL || op == A64_B_COND || op == A64_CBZ || op == A64_CBNZ ||
            op == A64_TBZ || op == A64_TBNZ)
            return aim(op, word, 1 + below(3));
        if (is_memory(op))
            word = (word & ~(31u << 5)) | BASE_REG << 5;
        if (strstr(a64_forms[a64_info(op)->form].operands, "%im"))
            word = (word & ~(31u << 16)) | INDEX_REG << 16;
        if (is_unpredictable(op, word) || (is_memory(op) && strstr(a64_info(op)->name, "x")))
            continue;
        struct a64_uses u;
        a64_uses(word, &u);
        bool kept = true;
        for (uint32_t k = 0; k < u.ndst; k++)
            kept &= u.dst[k] != BASE_REG && u.dst[k] != INDEX_REG;
        if (kept)
            return word;
    }
}

static void make_sequences(uint32_t count) {
    struct tests t = {0};
    header();
    for (uint32_t k = 0; k < count; k++) {
        uint64_t *s = new_test(&t);
        s[BASE_REG] = SCRATCH / 2 + 16 * below(256);
        s[INDEX_REG] = below(64);
        t.based.at[k] = 1u << BASE_REG;
        begin_test(k);
        uint32_t n = 3 + below(MAX_SEQUENCE - 3);
        for (uint32_t j = 0; j < n; j++)
            fprintf(out, " .inst 0x%08x\n", sequence_word());
        fprintf(out, " nop\n nop\n nop\n nop\n");
        end_test(k);
    }
    footer(t.n, t.states.at, t.based.at);
    vec_free(&t.states);
    vec_free(&t.based);
}

static void make_words(uint32_t per_op) {
    for (enum a64_op op = 0; op < A64_OPS; op++)
        for (uint32_t k = 0; !is_ours(op) && k < per_op; k++) {
            uint32_t word = random_word(op);
            struct str s = {0};
            if (!word)
                continue;
            a64_print(&s, word, 0);
            fprintf(out, "%08x %s\n", word, str_text(&s));
            str_free(&s);
        }
}

int main(int argc, char **argv) {
    if (argc != 5 || !(out = fopen(argv[4], "w"))) {
        fprintf(stderr, "usage: gen single|sequence|words SEED COUNT FILE\n");
        return 2;
    }
    seed = strtoull(argv[2], NULL, 0) * 0x9e3779b97f4a7c15ull + 1;
    uint32_t count = (uint32_t)strtoul(argv[3], NULL, 0);
    if (!strcmp(argv[1], "single"))
        make_single(count);
    else if (!strcmp(argv[1], "sequence"))
        make_sequences(count);
    else
        make_words(count);
    return fclose(out) ? 1 : 0;
}
