/* The in-order core in time: microbenchmarks for each unit and hazard, with cycles worked out by hand from
 * the parameters (docs/cpu.md). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cpu/hpi.h"
#include "guest_rig.h"

enum { FEW = 20, MANY = 120, COPIES = 64, MAX_WORDS = 20000 };

/* ---- code -------------------------------------------------------------------------------------------- */

static uint32_t code[MAX_WORDS];
static uint32_t words;

static void emit(uint32_t word) {
    assert_true(words < MAX_WORDS);
    code[words++] = word;
}

static uint32_t addi(uint32_t d, uint32_t n, uint32_t imm) {
    return 0x91000000 | imm << 10 | n << 5 | d;
}

static uint32_t subs(uint32_t d, uint32_t n, uint32_t imm) {
    return 0xf1000000 | imm << 10 | n << 5 | d;
}

static uint32_t mul(uint32_t d, uint32_t n, uint32_t m) {
    return 0x9b007c00 | m << 16 | n << 5 | d;
}

static uint32_t umull(uint32_t d, uint32_t n, uint32_t m) {
    return 0x9ba07c00 | m << 16 | n << 5 | d;
}

static uint32_t udiv(uint32_t d, uint32_t n, uint32_t m) {
    return 0x9ac00800 | m << 16 | n << 5 | d;
}

static uint32_t sdiv(uint32_t d, uint32_t n, uint32_t m) {
    return 0x9ac00c00 | m << 16 | n << 5 | d;
}

static uint32_t csel_eq(uint32_t d, uint32_t n, uint32_t m) {
    return 0x9a800000 | m << 16 | n << 5 | d;
}

static uint32_t fadd(uint32_t d, uint32_t n, uint32_t m) {
    return 0x1e602800 | m << 16 | n << 5 | d;
}

static uint32_t fdiv_s(uint32_t d, uint32_t n, uint32_t m) {
    return 0x1e201800 | m << 16 | n << 5 | d;
}

static uint32_t fdiv_d(uint32_t d, uint32_t n, uint32_t m) {
    return 0x1e601800 | m << 16 | n << 5 | d;
}

static uint32_t fsqrt(uint32_t d, uint32_t n, bool is_double) {
    return 0x1e21c000 | (uint32_t)is_double << 22 | n << 5 | d;
}

static uint32_t fmadd(uint32_t d, uint32_t n, uint32_t m, uint32_t a) {
    return 0x1f400000 | m << 16 | a << 10 | n << 5 | d;
}

static uint32_t add_vector(uint32_t d, uint32_t n, uint32_t m) {
    return 0x4ea08400 | m << 16 | n << 5 | d;
}

static uint32_t ldr(uint32_t t, uint32_t n, uint32_t offset) {
    return 0xf9400000 | offset / 8 << 10 | n << 5 | t;
}

static uint32_t str(uint32_t t, uint32_t n, uint32_t offset) {
    return 0xf9000000 | offset / 8 << 10 | n << 5 | t;
}

static uint32_t movz(uint32_t d, uint32_t imm, uint32_t shift) {
    return 0xd2800000 | shift / 16 << 21 | imm << 5 | d;
}

static uint32_t b(int32_t offset) {
    return 0x14000000 | ((uint32_t)(offset / 4) & 0x3ffffff);
}

static uint32_t b_ne(int32_t offset) {
    return 0x54000001 | ((uint32_t)(offset / 4) & 0x7ffff) << 5;
}

static const uint32_t exit_code[] = {0xd2800000, 0xd2800ba8, 0xd4000001};

/* ---- running ----------------------------------------------------------------------------------------- */

struct result {
    uint64_t cycles;
    struct hpi_counters n;
    struct cache_counters l1d, l2;
};

static struct cpu_config config(void) {
    struct cpu_config c;
    param_defaults(&cpu_params, &c);
    return c;
}

/* Runs what was emitted. setup may change registers and memory. */
static struct result run_code(const struct cpu_config *cfg, void (*setup)(struct guest *)) {
    struct cpumem memory;
    struct hpi core;
    struct guest *g = rig_guest(code, words);
    if (setup)
        setup(g);
    cpumem_init(&memory, cfg, (uint32_t)cfg->l2_ways);
    hpi_init(&core, cfg, &memory.port[0], &memory.arena);
    hpi_attach(&core, &g->cpu);
    assert_int_equal(guest_run(g, 100000000), CPU_SYSCALL);
    assert_true(g->exited);
    hpi_finish(&core);
    assert_int_equal(core.n.insts, cpu_counter(&g->cpu));
    struct result r = {core.n.cycles, core.n, memory.port[0].l1d->n, memory.l2->n};
    cpumem_free(&memory);
    rig_free(g);
    return r;
}

/* Emits a loop of so many rounds over copies of a body; x20 counts. */
static void loop(uint32_t rounds, const uint32_t *body, uint32_t n, uint32_t copies) {
    words = 0;
    emit(movz(20, rounds, 0));
    emit(movz(19, RIG_DATA >> 16, 16));
    uint32_t start = words;
    for (uint32_t k = 0; k < copies * n; k++)
        emit(body[k % n]);
    emit(subs(20, 20, 1));
    emit(b_ne(-(int32_t)(4 * (words - start))));
    for (uint32_t k = 0; k < 3; k++)
        emit(exit_code[k]);
}

/* Cycles of one copy of a body in the long run, without what starts and ends. */
static double cycles_of(const uint32_t *body, uint32_t n, void (*setup)(struct guest *)) {
    struct cpu_config cfg = config();
    loop(FEW, body, n, COPIES);
    uint64_t few = run_code(&cfg, setup).cycles;
    loop(MANY, body, n, COPIES);
    return (double)(run_code(&cfg, setup).cycles - few) / ((MANY - FEW) * COPIES);
}

/* The loop itself takes a few cycles of each round; a copy's share of these is allowed for. */
static void expect_cycles(double got, double expected) {
    if (got < expected - 0.001 || got > expected + 4.0 / COPIES)
        fail_msg("%.4f cycles instead of %.4f", got, expected);
}

#define BODY_CYCLES(setup, ...)                                                                              \
    cycles_of((const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t),   \
              setup)

static void setup_numbers(struct guest *g) {
    for (uint32_t k = 0; k < 19; k++)
        g->cpu.x[k] = 3;
    for (uint32_t k = 0; k < 32; k++)
        g->cpu.v[k].d[0] = 0x3ff0000000000000;
}

/* The first word of the data is its own address. */
static void setup_pointer(struct guest *g) {
    uint64_t self = RIG_DATA;
    setup_numbers(g);
    g->cpu.x[1] = RIG_DATA;
    space_write(&g->space, RIG_DATA, &self, sizeof self);
}

/* ---- integers ---------------------------------------------------------------------------------------- */

static void test_integers(void **unused) {
    (void)unused;
    /* one after the other: taken over two cycles before the three are over */
    expect_cycles(BODY_CYCLES(setup_numbers, addi(1, 1, 1)), 1);
    /* two in a cycle */
    expect_cycles(BODY_CYCLES(setup_numbers, addi(1, 1, 1), addi(2, 2, 1)), 1);
    expect_cycles(BODY_CYCLES(setup_numbers, addi(1, 1, 1), addi(2, 2, 1), addi(3, 3, 1)), 1.5);
    /* a comparison and the selection by its flags issue together */
    expect_cycles(BODY_CYCLES(setup_numbers, subs(31, 1, 3), csel_eq(1, 1, 2)), 1);
    /* but an addition with carry waits a cycle for them */
    expect_cycles(BODY_CYCLES(setup_numbers, subs(2, 1, 3), 0x9a020041 /* adc x1, x2, x2 */), 2);
}

static void test_multiplication(void **unused) {
    (void)unused;
    expect_cycles(BODY_CYCLES(setup_numbers, mul(1, 1, 2)), 4);
    expect_cycles(BODY_CYCLES(setup_numbers, umull(1, 1, 2)), 3);
    expect_cycles(BODY_CYCLES(setup_numbers, mul(1, 2, 3)), 1); /* the unit is pipelined */
    /* three cycles to the multiplication, which gets nothing early, and two back */
    expect_cycles(BODY_CYCLES(setup_numbers, addi(1, 1, 1), mul(1, 1, 2)), 5);
}

static void test_division(void **unused) {
    (void)unused;
    /* 3 / 3: two bits, less one of the divisor's half: nothing more than three cycles */
    expect_cycles(BODY_CYCLES(setup_numbers, udiv(1, 2, 3)), 3);
    /* -9 / 3: four bits of nine, none of a quarter of the divisor; one cycle for them, and one for the signs
     */
    expect_cycles(BODY_CYCLES(setup_numbers, 0x92800102 /* movn x2, #8 */, sdiv(1, 2, 3)), 5);
    /* ~0 / 3: 64 bits less one are 63, 15 times four of them; the divider is busy as long */
    expect_cycles(BODY_CYCLES(setup_numbers, 0x92800002 /* movn x2, #0 */, udiv(1, 2, 3)), 18);
}

/* ---- floating point ---------------------------------------------------------------------------------- */

static void test_floating_point(void **unused) {
    (void)unused;
    expect_cycles(BODY_CYCLES(setup_numbers, fadd(1, 1, 2)), 4);
    expect_cycles(BODY_CYCLES(setup_numbers, fadd(1, 2, 3)), 1);
    expect_cycles(BODY_CYCLES(setup_numbers, fmadd(1, 2, 3, 1)), 5); /* through the addend */
    expect_cycles(BODY_CYCLES(setup_numbers, fmadd(1, 1, 3, 2)), 6); /* through a factor */
    expect_cycles(BODY_CYCLES(setup_numbers, add_vector(1, 1, 2)), 2);
    expect_cycles(BODY_CYCLES(setup_numbers, fdiv_s(1, 1, 2)), 13);
    expect_cycles(BODY_CYCLES(setup_numbers, fdiv_s(1, 2, 3)), 10);
    /* 24 cycles, two of them saved; the unit takes the next one when the six of its pipeline are left */
    expect_cycles(BODY_CYCLES(setup_numbers, fdiv_d(1, 1, 2)), 22);
    expect_cycles(BODY_CYCLES(setup_numbers, fdiv_d(1, 2, 3)), 19);
    expect_cycles(BODY_CYCLES(setup_numbers, fsqrt(1, 1, false)), 13);
    expect_cycles(BODY_CYCLES(setup_numbers, fsqrt(1, 2, false)), 10);
    expect_cycles(BODY_CYCLES(setup_numbers, fsqrt(1, 1, true)), 22);
    expect_cycles(BODY_CYCLES(setup_numbers, fsqrt(1, 2, true)), 19);
    /* one floating-point and one integer operation in a cycle */
    expect_cycles(BODY_CYCLES(setup_numbers, fadd(1, 2, 3), addi(4, 4, 1)), 1);
}

/* Two in a cycle, but one for each unit beside the integers'. */
static void test_pairs(void **unused) {
    (void)unused;
    expect_cycles(BODY_CYCLES(setup_numbers, mul(1, 2, 3), mul(4, 2, 3)), 2);
    expect_cycles(BODY_CYCLES(setup_numbers, fadd(1, 2, 3), fadd(4, 2, 3)), 2);
    expect_cycles(BODY_CYCLES(setup_numbers, fadd(1, 2, 3), add_vector(4, 5, 6)), 2);
    expect_cycles(BODY_CYCLES(setup_numbers, ldr(1, 19, 0), ldr(2, 19, 8)), 2);
    expect_cycles(BODY_CYCLES(setup_numbers, ldr(1, 19, 0), mul(4, 2, 3)), 1);
    expect_cycles(BODY_CYCLES(setup_numbers, fadd(1, 2, 3), ldr(1, 19, 0), addi(4, 5, 1), addi(6, 7, 1)), 2);
    /* a multiplication ends with the addition of the cycle before, in the fifth cycle behind its own, and its
     * unit has four places: four in five cycles, but for the last ones of a round, behind which others end */
    double both = BODY_CYCLES(setup_numbers, mul(1, 2, 3), fadd(1, 2, 3));
    assert_true(both > 1.2 && both < 1.25);
}

/* ---- memory ------------------------------------------------------------------------------------------ */

static void test_loads_and_stores(void **unused) {
    (void)unused;
    expect_cycles(BODY_CYCLES(setup_numbers, ldr(1, 19, 0)), 1);
    expect_cycles(BODY_CYCLES(setup_numbers, ldr(1, 19, 0), addi(2, 2, 1)), 1);
    expect_cycles(BODY_CYCLES(setup_pointer, ldr(1, 1, 0)),
                  4); /* addresses do not get what loads bring early */
    expect_cycles(BODY_CYCLES(setup_pointer, ldr(1, 1, 0), addi(1, 1, 0)), 3);
    expect_cycles(BODY_CYCLES(setup_numbers, str(1, 19, 0)), 1);
    expect_cycles(BODY_CYCLES(setup_numbers, str(1, 19, 0), ldr(2, 19, 8)), 2); /* one load/store unit */
}

static void setup_pointer_and_one(struct guest *g) {
    setup_pointer(g);
    g->cpu.x[4] = 1;
}

/* The pointer to itself lies in two lines. */
static void setup_split_pointer(struct guest *g) {
    uint64_t self = RIG_DATA + 60;
    setup_numbers(g);
    g->cpu.x[1] = self;
    space_write(&g->space, self, &self, sizeof self);
}

static void test_results_of_loads(void **unused) {
    (void)unused;
    /* multiplication gets nothing early of a load, four cycles; the address two of its four */
    expect_cycles(BODY_CYCLES(setup_pointer_and_one, ldr(1, 1, 0), mul(1, 1, 4)), 4 + 2);
    /* floating point gets it two cycles early, and the address what took six */
    expect_cycles(BODY_CYCLES(setup_pointer, 0xfd400021 /* ldr d1, [x1] */, 0x9e660021 /* fmov x1, d1 */),
                  2 + 4);
    /* a base that is written back is an addition's result */
    expect_cycles(BODY_CYCLES(setup_pointer, 0xf8400422 /* ldr x2, [x1], #0 */), 1);
    expect_cycles(BODY_CYCLES(setup_pointer, 0xf8400c22 /* ldr x2, [x1, #0]! */), 1);
    /* two registers in one access; two lines are one after the other */
    expect_cycles(BODY_CYCLES(setup_numbers, 0xa9400a61 /* ldp x1, x2, [x19] */), 1);
    expect_cycles(BODY_CYCLES(setup_split_pointer, ldr(1, 1, 0)), 5);
}

enum { CHAIN = 0x600000 };

/* A ring of pointers through n lines, in an order without strides. */
static void make_ring(struct guest *g, uint32_t n) {
    assert_true(space_map(&g->space, CHAIN, (uint64_t)n * 64, PERM_READ | PERM_WRITE));
    uint32_t at = 0;
    for (uint32_t k = 0; k < n; k++) { /* a full period: the step is odd and grows */
        uint32_t next = (at * 5 + 13) % n;
        uint64_t to = CHAIN + 64ull * next;
        memcpy(g->space.mem + CHAIN + 64ull * at, &to, sizeof to);
        at = next;
    }
    g->cpu.x[1] = CHAIN;
}

static void ring_of_l2(struct guest *g) {
    make_ring(g, 2048); /* 128 KB */
}

static void ring_of_dram(struct guest *g) {
    make_ring(g, 65536); /* 4 MB */
}

static double chase(void (*setup)(struct guest *), uint32_t lines) {
    struct cpu_config cfg = config();
    cfg.tlb_walk = 0;
    cfg.prefetch_degree = 0;
    uint64_t cycles[2];
    for (uint32_t k = 0; k < 2; k++) {
        loop((k + 1) * lines / COPIES, (const uint32_t[]){ldr(1, 1, 0)}, 1, COPIES);
        cycles[k] = run_code(&cfg, setup).cycles;
    }
    return (double)(cycles[1] - cycles[0]) / lines;
}

static void test_misses(void **unused) {
    (void)unused;
    /* to L2 one cycle, there 13, back one; then as a load that hits: 1 + 13 + 1 + 3 */
    expect_cycles(chase(ring_of_l2, 2048), 18);
    /* L2 looks first, 13 cycles; opening a row and reading, 11 + 11 + 4 ticks, and 16 beside, are 42 ticks or
     * 105 cycles; some rows must be closed first, 11 ticks, some are still open, and ticks are waited for */
    double dram = chase(ring_of_dram, 65536);
    assert_true(dram > 1 + 13 + 31 * 2.5 && dram < 1 + 13 + 1 + 3 + (11 + 42 + 3) * 2.5);
}

/* A pointer in each of 512 pages, twice as many as have a place in the TLB, all of them in the data cache. */
static void ring_of_pages(struct guest *g) {
    const uint32_t n = 512, step = 4096 + 64;
    assert_true(space_map(&g->space, CHAIN, (uint64_t)n * step, PERM_READ | PERM_WRITE));
    for (uint32_t k = 0; k < n; k++) {
        uint64_t to = CHAIN + (uint64_t)step * ((k + 1) % n);
        memcpy(g->space.mem + CHAIN + (uint64_t)step * k, &to, sizeof to);
    }
    g->cpu.x[1] = CHAIN;
}

static void test_translation(void **unused) {
    (void)unused;
    struct cpu_config cfg = config();
    cfg.prefetch_degree = 0;
    uint64_t cycles[2];
    for (uint32_t k = 0; k < 2; k++) {
        loop((k + 1) * 512 * 4 / COPIES, (const uint32_t[]){ldr(1, 1, 0)}, 1, COPIES);
        cycles[k] = run_code(&cfg, ring_of_pages).cycles;
    }
    expect_cycles((double)(cycles[1] - cycles[0]) / (512 * 4), 4 + 20); /* a hit, and the walk before it */
}

static void ring_of_pages_and_data(struct guest *g) {
    ring_of_pages(g);
    g->cpu.x[18] = RIG_DATA + 16384;
}

/* Memory is ahead of the core when a page was looked for. What hits meanwhile is not held up, be it found at
 * once or not: the lines of a pair are 16 KB apart. */
static void test_hits_behind_a_walk(void **unused) {
    (void)unused;
    struct cpu_config cfg = config();
    cfg.prefetch_degree = 0;
    uint32_t body[17] = {ldr(1, 1, 0)};
    for (uint32_t k = 1; k < 17; k++)
        body[k] = ldr(2 + k % 8, 19 - k % 2, 8 * (k / 2)); /* of x19 and x18 */
    loop(64, body, 17, 8);
    struct result r = run_code(&cfg, ring_of_pages_and_data);
    assert_int_equal(r.l1d.stall_port, 0);
}

static void test_two_misses_at_a_time(void **unused) {
    (void)unused;
    struct cpu_config cfg = config();
    uint32_t body[16];
    for (uint32_t k = 0; k < 16; k++)
        body[k] = ldr(1 + k % 8, 19, 64 * 4 * k); /* sixteen lines of L2, again and again */
    cfg.l1d_size = 1024;
    cfg.prefetch_degree = 0;
    uint64_t cycles[2];
    for (uint32_t one = 0; one < 2; one++) {
        cfg.issue_loads = one ? 1 : 2;
        loop(50, body, 16, 4);
        cycles[one] = run_code(&cfg, NULL).cycles;
    }
    assert_true(cycles[1] > 17 * cycles[0] / 10);
}

static void test_prefetching(void **unused) {
    (void)unused;
    struct cpu_config cfg = config();
    uint64_t cycles[2];
    for (uint32_t on = 0; on < 2; on++) {
        cfg.prefetch_degree = on ? 4 : 0;
        words = 0;
        emit(movz(20, 1000, 0));
        emit(movz(1, CHAIN >> 16, 16));
        emit(ldr(2, 1, 0));
        emit(addi(1, 1, 64));
        emit(addi(3, 2, 1));
        emit(subs(20, 20, 1));
        emit(b_ne(-16));
        for (uint32_t k = 0; k < 3; k++)
            emit(exit_code[k]);
        cycles[on] = run_code(&cfg, ring_of_dram).cycles;
    }
    assert_true(cycles[1] * 2 < cycles[0]);
}

/* Five stores may wait for their lines; the sixth waits for the first. */
static void test_store_buffer(void **unused) {
    (void)unused;
    struct cpu_config cfg = config();
    uint64_t cycles[2];
    for (uint32_t one = 0; one < 2; one++) {
        cfg.issue_stores = one ? 1 : 5;
        words = 0;
        emit(movz(1, CHAIN >> 16, 16));
        for (uint32_t k = 0; k < 200; k++) {
            emit(str(2, 1, 0));
            emit(addi(1, 1, 320));
        }
        for (uint32_t k = 0; k < 3; k++)
            emit(exit_code[k]);
        cycles[one] = run_code(&cfg, ring_of_dram).cycles;
    }
    assert_true(cycles[1] > 2 * cycles[0]);
}

/* A load finds what a store that waits for its line has written, and waits for the line when it wants other
 * bytes of it. */
static void test_store_forwarding(void **unused) {
    (void)unused;
    struct cpu_config cfg = config();
    cfg.prefetch_degree = 0;
    uint64_t cycles[2];
    for (uint32_t other = 0; other < 2; other++) {
        words = 0;
        emit(movz(1, CHAIN >> 16, 16));
        for (uint32_t k = 0; k < 200; k++) {
            emit(str(2, 1, 0));
            emit(ldr(3, 1, other ? 8 : 0));
            emit(addi(4, 3, 1));
            emit(addi(1, 1, 320));
        }
        for (uint32_t k = 0; k < 3; k++)
            emit(exit_code[k]);
        cycles[other] = run_code(&cfg, ring_of_dram).cycles;
    }
    assert_true(cycles[1] > 2 * cycles[0]);
}

/* ---- branches ---------------------------------------------------------------------------------------- */

static void test_branches(void **unused) {
    (void)unused;
    struct cpu_config cfg = config();
    /* predicted and taken: the next arrives in the third cycle after */
    uint64_t cycles[2];
    for (uint32_t k = 0; k < 2; k++) {
        words = 0;
        emit(movz(20, 1000 * (k + 1), 0));
        emit(subs(20, 20, 1));
        emit(b_ne(-4));
        for (uint32_t j = 0; j < 3; j++)
            emit(exit_code[j]);
        cycles[k] = run_code(&cfg, NULL).cycles;
    }
    assert_int_equal(cycles[1] - cycles[0], 3000);
    /* never taken: as if they were not there */
    expect_cycles(BODY_CYCLES(setup_numbers, addi(1, 1, 1), 0xb4000044 /* cbz x4, +8 */), 1);
}

/* Two branches that share a place among the targets are never known: the branch ends three cycles after its
 * issue, three more until what follows arrives, two until it issues. */
static void test_wrong_predictions(void **unused) {
    (void)unused;
    struct cpu_config cfg = config();
    struct result r[2];
    for (uint32_t k = 0; k < 2; k++) {
        words = 0;
        emit(movz(20, 500 * (k + 1), 0));
        uint32_t first = words;
        emit(b(512));
        while (words < first + 127)
            emit(0xd503201f); /* nop */
        emit(subs(20, 20, 1));
        emit(b(4 + 4 * 60)); /* at first + 128: shares the place of the first */
        while (words < first + 128 + 61)
            emit(0xd503201f);
        emit(b_ne(-4 * (int32_t)(words - first)));
        for (uint32_t j = 0; j < 3; j++)
            emit(exit_code[j]);
        code[first] = b(4 * 127);
        r[k] = run_code(&cfg, NULL);
    }
    assert_int_equal(r[1].n.mispredicts - r[0].n.mispredicts, 1000);
    /* each round: two wrong branches of eight cycles, and the one at the end, taken, three; the subtraction
     * goes with its branch */
    assert_true(r[1].cycles - r[0].cycles >= 500 * 16 && r[1].cycles - r[0].cycles <= 500 * 21);
}

static void test_returns(void **unused) {
    (void)unused;
    struct cpu_config cfg = config();
    words = 0;
    emit(movz(20, 1000, 0));
    emit(0x94000006); /* bl f */
    emit(subs(20, 20, 1));
    emit(b_ne(-8));
    for (uint32_t j = 0; j < 3; j++)
        emit(exit_code[j]);
    emit(0xd65f03c0); /* f: ret */
    struct result r = run_code(&cfg, NULL);
    assert_true(r.n.mispredicts < 10);
    assert_int_equal(r.n.branches, 3000);
}

/* Nine returns of which the stack holds eight: the last one, to another place than the others, goes wrong. */
static void test_deep_returns(void **unused) {
    (void)unused;
    struct cpu_config cfg = config();
    uint64_t wrong[2];
    for (uint32_t nine = 0; nine < 2; nine++) {
        words = 0;
        emit(movz(20, 1000, 0));
        emit(movz(18, RIG_DATA >> 16, 16));
        emit(addi(18, 18, 1024));
        emit(movz(0, 8 + nine, 0));
        emit(0x94000006); /* bl f */
        emit(subs(20, 20, 1));
        emit(b_ne(-12));
        for (uint32_t j = 0; j < 3; j++)
            emit(exit_code[j]);
        emit(0xf81f0e5e); /* f: str x30, [x18, #-16]! */
        emit(subs(0, 0, 1));
        emit(0x54000040); /* b.eq over the call */
        emit(0x97fffffd); /* bl f */
        emit(0xf841065e); /* ldr x30, [x18], #16 */
        emit(0xd65f03c0); /* ret */
        wrong[nine] = run_code(&cfg, NULL).n.mispredicts;
    }
    assert_true(wrong[0] < 50 && wrong[1] >= 1000 && wrong[1] < 1050);
}

/* A branch to a register goes where it went last time, or it is wrong. */
static void test_indirect_branches(void **unused) {
    (void)unused;
    struct cpu_config cfg = config();
    uint64_t wrong[2];
    for (uint32_t two = 0; two < 2; two++) {
        words = 0;
        emit(movz(20, 1000, 0));
        emit(0x10000085);              /* adr x5, the first place: 16 bytes on */
        emit(movz(6, two ? 8 : 0, 0)); /* how far the other one is */
        emit(0xca0600a5);              /* eor x5, x5, x6, in each round */
        emit(0xd61f00a0);              /* br x5 */
        emit(b(8));
        emit(b(8)); /* the second place; to nothing */
        emit(b(4));
        emit(subs(20, 20, 1));
        emit(b_ne(-24));
        for (uint32_t j = 0; j < 3; j++)
            emit(exit_code[j]);
        wrong[two] = run_code(&cfg, NULL).n.mispredicts;
    }
    assert_true(wrong[0] < 20 && wrong[1] >= 990 && wrong[1] < 1050);
}

/* A branch that is taken every other time is soon known by its history. */
static void test_history(void **unused) {
    (void)unused;
    struct cpu_config cfg = config();
    words = 0;
    emit(movz(20, 2000, 0));
    emit(0x36000054); /* tbz w20, #0, over the next */
    emit(addi(1, 1, 1));
    emit(subs(20, 20, 1));
    emit(b_ne(-12));
    for (uint32_t j = 0; j < 3; j++)
        emit(exit_code[j]);
    assert_true(run_code(&cfg, NULL).n.mispredicts < 50);
}

/* ---- the rest ---------------------------------------------------------------------------------------- */

/* Code that does not fit into the instruction cache misses with every line, code that does never. */
static void test_instruction_cache(void **unused) {
    (void)unused;
    struct cpu_config cfg = config();
    uint64_t cycles[2];
    for (uint32_t large = 0; large < 2; large++) {
        uint32_t n = large ? 16 * 1024 : 4 * 1024; /* 64 KB, 16 KB */
        loop(large ? 10 : 40, (const uint32_t[]){addi(1, 1, 1), addi(2, 2, 1)}, 2, n / 2);
        cycles[large] = run_code(&cfg, NULL).cycles;
    }
    assert_true(cycles[1] > 2 * cycles[0]);
    assert_true(cycles[0] < 40 * 4 * 1024 / 2 + 40000);
}

/* Instructions end in order and keep their places until then: behind a division of 18 cycles six additions
 * issue, the other ten when it has ended, in five cycles; the division waits three cycles for its operand. */
static void test_places(void **unused) {
    (void)unused;
    struct cpu_config cfg = config();
    uint32_t body[18] = {0x92800002, udiv(1, 2, 3)};
    for (uint32_t k = 2; k < 18; k++)
        body[k] = addi(4 + k % 4, 4 + k % 4, 1);
    uint64_t cycles[2];
    for (uint32_t k = 0; k < 2; k++) {
        loop(50 * (k + 1), body, 18, 10);
        cycles[k] = run_code(&cfg, setup_numbers).cycles;
    }
    double one = (double)(cycles[1] - cycles[0]) / 500;
    if (one < 24 || one > 27)
        fail_msg("%.2f cycles", one);
}

/* The stalls and the cycles in which something issues are all cycles, but for the end. */
static void test_cycles_are_accounted_for(void **unused) {
    (void)unused;
    struct cpu_config cfg = config();
    loop(50, (const uint32_t[]){ldr(1, 1, 0), addi(2, 1, 1), mul(3, 2, 2), str(3, 19, 8), fadd(1, 1, 2)}, 5,
         COPIES);
    struct result r = run_code(&cfg, ring_of_l2);
    const struct hpi_counters *n = &r.n;
    uint64_t stalls =
        n->stall_front + n->stall_operand + n->stall_load + n->stall_unit + n->stall_store + n->stall_window;
    assert_true(stalls < r.cycles && stalls + n->insts > r.cycles - 100);
    uint64_t sum = 0;
    for (uint32_t k = 0; k < A64_CLASSES; k++)
        sum += n->classes[k];
    assert_int_equal(sum, n->insts);
}

/* ---- memoization ------------------------------------------------------------------------------------- */

static struct memo unit_of(struct arena *a, uint32_t l2) {
    struct memo m;
    struct memo_spec s = {.l1_bytes = 8192,
                          .l2_bytes = l2,
                          .truncate = true,
                          .window = 100,
                          .bad = 10,
                          .error = 0.1,
                          .epoch_bits = 4};
    memo_init(&m, a, &s, 0, l2 ? memo_l2_create(a, &s) : NULL);
    return m;
}

static struct memo memo;
static struct arena memo_arena;

static void with_memo(struct guest *g) {
    setup_numbers(g);
    memo = unit_of(&memo_arena, 0);
    g->cpu.memo = &memo;
}

static void with_l2_memo(struct guest *g) {
    setup_numbers(g);
    memo = unit_of(&memo_arena, 512 * 1024);
    g->cpu.memo = &memo;
}

static uint32_t reg_crc(uint32_t n, uint32_t size, uint32_t table) {
    return 0x42000000 | size << 22 | table << 19 | n << 5;
}

static uint32_t lookup(uint32_t d, uint32_t table) {
    return 0x62800000 | table << 19 | d;
}

static uint32_t update(uint32_t n, uint32_t table) {
    return 0x82800000 | table << 19 | n << 5;
}

static void test_memoization(void **unused) {
    (void)unused;
    /* one after the other, four bytes a cycle; eight bytes keep the CRC unit for two */
    expect_cycles(BODY_CYCLES(with_memo, reg_crc(1, 2, 0)), 1);
    expect_cycles(BODY_CYCLES(with_memo, reg_crc(1, 3, 0)), 2);
    expect_cycles(BODY_CYCLES(with_memo, reg_crc(1, 2, 0), addi(4, 4, 1)), 1);
    /* an input is there when its instruction has ended, three cycles; its four bytes take four, the look-up
     * two; the update needs what it gives and issues then; the next input is in the order behind it */
    expect_cycles(BODY_CYCLES(with_memo, reg_crc(1, 2, 0), lookup(1, 0), update(1, 0)), 3 + 4 + 2 + 1);
    /* a load and an input by register would go to two units in one cycle, were it not for their order;
     * without a unit, whose CRC takes one input in a cycle, nothing else keeps them apart */
    expect_cycles(BODY_CYCLES(setup_numbers, 0x22800264 /* ld_crc w4, [x19], #0, #0 */, reg_crc(1, 2, 0)), 2);
    expect_cycles(BODY_CYCLES(setup_numbers, ldr(4, 19, 0), reg_crc(1, 2, 0)), 1);
    /* a cycle for each of eight ways; sixteen epochs later all 128 sets are looked at */
    expect_cycles(BODY_CYCLES(with_memo, 0xa2000000 /* invalidate #0 */), (15 * 8 + 128 * 8) / 16.0);
    arena_free(&memo_arena);
}

/* A look-up that finds nothing beside the core takes the latency of L2 more. */
static void test_lookups_in_l2(void **unused) {
    (void)unused;
    /* every input is new, so that every look-up goes to both */
    double without = BODY_CYCLES(with_memo, addi(1, 1, 1), reg_crc(1, 2, 0), lookup(2, 0),
                                 0x8b020021 /* add x1, x1, x2 */);
    double with = BODY_CYCLES(with_l2_memo, addi(1, 1, 1), reg_crc(1, 2, 0), lookup(2, 0), 0x8b020021);
    expect_cycles(with - without, 13);
    arena_free(&memo_arena);
}

/* Without a unit the instructions are there and do nothing, in a cycle of their own. */
static void test_no_unit(void **unused) {
    (void)unused;
    expect_cycles(BODY_CYCLES(setup_numbers, reg_crc(1, 2, 0), addi(4, 4, 1)), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_multiplication),
        cmocka_unit_test(test_division),
        cmocka_unit_test(test_floating_point),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_loads_and_stores),
        cmocka_unit_test(test_results_of_loads),
        cmocka_unit_test(test_misses),
        cmocka_unit_test(test_translation),
        cmocka_unit_test(test_hits_behind_a_walk),
        cmocka_unit_test(test_two_misses_at_a_time),
        cmocka_unit_test(test_prefetching),
        cmocka_unit_test(test_store_buffer),
        cmocka_unit_test(test_store_forwarding),
        cmocka_unit_test(test_branches),
        cmocka_unit_test(test_wrong_predictions),
        cmocka_unit_test(test_returns),
        cmocka_unit_test(test_deep_returns),
        cmocka_unit_test(test_indirect_branches),
        cmocka_unit_test(test_history),
        cmocka_unit_test(test_instruction_cache),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_cycles_are_accounted_for),
        cmocka_unit_test(test_memoization),
        cmocka_unit_test(test_lookups_in_l2),
        cmocka_unit_test(test_no_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
