/* Coalescing and bank conflicts: textbook patterns with the counts they must have, and random ones against a
 * slow and plain reference. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "mem/coalescer.h"

/* Numbers that look random and are the same everywhere. */
static uint64_t rng;

static uint32_t draw(uint32_t below) {
    rng = rng * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((rng >> 33) % below);
}

/* ---- coalescing -------------------------------------------------------------------------------------- */

static const struct coalescer_spec fermi = {.split_wide = true, .line = 128}, pascal = {.line = 128};

static struct mem_access got[COALESCER_MAX];

/* Coalesces base + lane * stride; returns the number of lines. */
static uint32_t strided(const struct coalescer_spec *s, uint32_t mask, uint32_t bytes, uint64_t base,
                        uint64_t stride) {
    uint64_t addr[MEM_LANES];
    struct coalescer_inst i = {mask, bytes, MEM_STORE, 0};
    for (uint32_t l = 0; l < MEM_LANES; l++)
        addr[l] = mask >> l & 1 ? base + l * stride : 0xdead0001;
    return coalesce(s, &i, addr, got);
}

static uint32_t sectors_of(uint32_t n) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += (uint32_t)__builtin_popcount(got[i].sectors);
    return sum;
}

/* Lines and sectors of textbook patterns. */
static void test_coalesce_counts(void **state) {
    (void)state;
    static const struct {
        uint32_t mask, bytes;
        uint64_t base, stride;
        uint32_t fermi_lines, lines, sectors;
    } cases[] = {
        {~0u, 4, 0x1000, 4, 1, 1, 4},         /* consecutive words, aligned */
        {~0u, 4, 0x1004, 4, 2, 2, 5},         /* one word off: 31 + 1 */
        {~0u, 4, 0x1040, 4, 2, 2, 4},         /* half a line off */
        {~0u, 4, 0x1000, 0, 1, 1, 1},         /* all the same word */
        {~0u, 4, 0x1000, 8, 2, 2, 8},         /* every other word */
        {~0u, 4, 0x1000, 32, 8, 8, 32},       /* a sector each */
        {~0u, 4, 0x1000, 128, 32, 32, 32},    /* a line each */
        {~0u, 4, 0x1000, 4096, 32, 32, 32},   /* columns of a matrix */
        {~0u, 1, 0x1000, 1, 1, 1, 1},         /* bytes */
        {~0u, 2, 0x1000, 2, 1, 1, 2},         /* half words */
        {~0u, 1, 0x107f, 1, 2, 2, 2},         /* bytes across a line */
        {~0u, 8, 0x1000, 8, 2, 2, 8},         /* doubles */
        {~0u, 16, 0x1000, 16, 4, 4, 16},      /* float4 */
        {~0u, 8, 0x1000, 0, 2, 1, 1},         /* one double: Fermi's halves ask each for itself */
        {~0u, 16, 0x1000, 0, 4, 1, 1},        /* one float4: quarters */
        {~0u, 8, 0x1040, 8, 4, 3, 8},         /* doubles, half a line off: 2 + 2 lines by halves */
        {0xffff, 4, 0x1000, 4, 1, 1, 2},      /* half a warp */
        {0x1, 4, 0x1000, 4, 1, 1, 1},         /* one lane */
        {0x80000001, 4, 0x1000, 4, 1, 1, 2},  /* first and last */
        {0x80000001, 8, 0x1000, 8, 2, 2, 2},  /* */
        {0x00010001, 16, 0x1000, 0, 2, 1, 1}, /* lanes of two quarters */
        {0x55555555, 4, 0x1000, 4, 1, 1, 4},  /* even lanes */
        {0, 4, 0x1000, 4, 0, 0, 0},           /* nobody */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t n = strided(&pascal, cases[i].mask, cases[i].bytes, cases[i].base, cases[i].stride);
        assert_int_equal(n, cases[i].lines);
        assert_int_equal(sectors_of(n), cases[i].sectors);
        n = strided(&fermi, cases[i].mask, cases[i].bytes, cases[i].base, cases[i].stride);
        assert_int_equal(n, cases[i].fermi_lines);
    }
}

/* What an access says beside its line. */
static void test_coalesce_fields(void **state) {
    (void)state;
    uint32_t n = strided(&pascal, ~0u, 4, 0x1010, 4);
    assert_int_equal(n, 2);
    assert_true(got[0].line == 0x1000 && got[0].lanes == 0x0fffffff && got[0].bytes == 112);
    assert_true(got[0].sectors == 0xf && got[0].full == 0xe);
    assert_true(got[1].line == 0x1080 && got[1].lanes == 0xf0000000 && got[1].bytes == 16);
    assert_true(got[1].sectors == 0x1 && got[1].full == 0);
    n = strided(&pascal, 0xff0f, 4, 0x2000, 4); /* two runs */
    assert_true(n == 1 && got[0].sectors == 0x3 && got[0].full == 0x2 && got[0].bytes == 48);
    uint64_t back[MEM_LANES];
    struct coalescer_inst i = {~0u, 4, MEM_STORE, MEM_LOCAL};
    for (uint32_t l = 0; l < MEM_LANES; l++)
        back[l] = 0x3000 + (31 - l) * 8;
    n = coalesce(&pascal, &i, back, got); /* the line of the first lane comes first */
    assert_true(n == 2 && got[0].line == 0x3080 && got[1].line == 0x3000);
    assert_true(got[0].kind == MEM_STORE && got[0].flags == MEM_LOCAL && got[0].full == 0 &&
                got[0].bytes == 64);
}

/* Against a slow and plain reference, on patterns of every kind. */
static void test_coalesce_reference(void **state) {
    (void)state;
    rng = 1;
    for (uint32_t round = 0; round < 20000; round++) {
        const struct coalescer_spec spec = {.line = 32u << draw(3)};
        uint32_t bytes = 1u << draw(5), spread = 1u << draw(14);
        struct coalescer_inst inst = {draw(2) ? ~0u : draw(UINT32_MAX) ^ draw(2) << 31, bytes,
                                      draw(2) ? MEM_STORE : MEM_LOAD, 0};
        uint64_t addr[MEM_LANES], base = UINT64_C(0x110000000000) + (uint64_t)draw(64) * 16;
        uint32_t shape = draw(3);
        for (uint32_t l = 0; l < MEM_LANES; l++)
            addr[l] = base + (shape == 0 ? draw(spread) : shape == 1 ? l : 31 - l) * bytes;
        uint32_t n = coalesce(&spec, &inst, addr, got), seen = 0;
        for (uint32_t i = 0; i < n; i++) {
            uint8_t touched[MEM_MAX_LINE] = {0}, sectors = 0, full = 0;
            uint32_t lanes = 0, count = 0;
            for (uint32_t l = 0; l < MEM_LANES; l++)
                if (inst.mask >> l & 1 && addr[l] / spec.line == got[i].line / spec.line) {
                    lanes |= 1u << l;
                    count += bytes;
                    memset(touched + addr[l] % spec.line, 1, bytes);
                }
            for (uint32_t s = 0; s < MEM_MAX_SECTORS; s++) {
                uint32_t here = 0;
                for (uint32_t b = 0; b < MEM_SECTOR; b++)
                    here += touched[s * MEM_SECTOR + b];
                sectors |= (uint8_t)((here > 0) << s);
                full |= (uint8_t)((here == MEM_SECTOR && inst.kind == MEM_STORE) << s);
            }
            assert_true(got[i].line % spec.line == 0 && got[i].sectors <= mem_all_sectors(spec.line));
            assert_true(got[i].lanes == lanes && got[i].sectors == sectors && got[i].full == full);
            assert_int_equal(got[i].bytes, count);
            assert_true((lanes & seen) == 0 &&
                        (i == 0 || __builtin_ctz(lanes) > __builtin_ctz(got[i - 1].lanes)));
            seen |= lanes;
        }
        assert_int_equal(seen, inst.mask);
    }
}

static void test_coalesce_atomics(void **state) {
    (void)state;
    uint64_t addr[MEM_LANES];
    struct coalescer_inst i = {~0u, 4, MEM_ATOMIC, MEM_RETURN};
    for (uint32_t l = 0; l < MEM_LANES; l++)
        addr[l] = 0x1000;
    assert_int_equal(coalesce(&pascal, &i, addr, got), 1); /* one counter */
    assert_true(got[0].ops == 32 && got[0].serial == 32);
    for (uint32_t l = 0; l < MEM_LANES; l++)
        addr[l] = 0x1000 + l * 4;
    assert_int_equal(coalesce(&pascal, &i, addr, got), 1); /* each its own */
    assert_true(got[0].ops == 32 && got[0].serial == 1);
    for (uint32_t l = 0; l < MEM_LANES; l++)
        addr[l] = l < 20 ? 0x1000 + l % 4 * 4 : 0x2000 + l % 2 * 4;
    i.mask = 0x7fffffff;
    assert_int_equal(coalesce(&pascal, &i, addr, got), 2); /* a histogram */
    assert_true(got[0].ops == 20 && got[0].serial == 5 && got[1].ops == 11 && got[1].serial == 6);
}

static void test_local(void **state) {
    (void)state;
    uint32_t at[MEM_LANES];
    struct coalescer_inst i = {~0u, 4, MEM_STORE, MEM_LOCAL};
    for (uint32_t l = 0; l < MEM_LANES; l++)
        at[l] = 12;
    assert_int_equal(coalesce_local(&pascal, &i, 0x10000, at, got), 1); /* a spill: one full line */
    assert_true(got[0].line == 0x10000 + 3 * 128 && got[0].full == 0xf && got[0].bytes == 128);
    i.bytes = 8;
    for (uint32_t l = 0; l < MEM_LANES; l++)
        at[l] = 8;
    assert_int_equal(coalesce_local(&pascal, &i, 0x10000, at, got), 2);
    assert_true(got[0].line == 0x10000 + 2 * 128 && got[1].line == 0x10000 + 3 * 128);
    i.bytes = 16;
    for (uint32_t l = 0; l < MEM_LANES; l++)
        at[l] = l * 16; /* an array indexed by lane: every word in a line of its own */
    assert_int_equal(coalesce_local(&pascal, &i, 0x10000, at, got), 128);
    i.bytes = 1;
    i.mask = 0xff;
    for (uint32_t l = 0; l < MEM_LANES; l++)
        at[l] = 5;
    assert_int_equal(coalesce_local(&pascal, &i, 0x10000, at, got), 1);
    assert_true(got[0].line == 0x10000 + 128 && got[0].sectors == 1 && got[0].bytes == 8 &&
                got[0].lanes == 0xff);
    assert_int_equal(local_address(0x10000, 5, 3), 0x10000 + (1 * 32 + 3) * 4 + 1);
}

static uint32_t random_mask(void) {
    return draw(1 << 16) << 16 | draw(1 << 16);
}

/* Lanes in a row, on one address, or wherever near, are what any other accesses are. */
static void test_shapes(void **state) {
    (void)state;
    uint64_t addr[MEM_LANES];
    uint32_t off[MEM_LANES];
    struct mem_access other[COALESCER_MAX];
    struct coalescer_spec short_lines = {false, 32};
    for (uint32_t round = 0; round < 2000; round++) {
        const struct coalescer_spec *spec = round % 3 == 0 ? &pascal : round % 3 == 1 ? &fermi : &short_lines;
        uint32_t mask = round % 7 == 0 ? ~0u : random_mask() & (round % 2 ? ~0u : random_mask());
        struct coalescer_inst i = {mask | 1u << round % 32, 4, round % 4 < 2 ? MEM_LOAD : MEM_STORE, 0};
        uint64_t first = 0x100000 + draw(100) * 4;
        for (uint32_t l = 0; l < MEM_LANES; l++)
            addr[l] = first + 4 * l;
        uint32_t n = coalesce(spec, &i, addr, got);
        assert_int_equal(coalesce_row(spec, &i, first, other), n);
        assert_memory_equal(other, got, n * sizeof *got);
        i.bytes = 4u << round % 3;
        for (uint32_t l = 0; l < MEM_LANES; l++)
            addr[l] = 0x100000;
        n = coalesce(spec, &i, addr, got);
        assert_int_equal(coalesce_same(spec, &i, 0x100000, other), n);
        assert_memory_equal(other, got, n * sizeof *got);
        assert_int_equal(shared_passes_same(spec, &i), n);
        for (uint32_t l = 0; l < MEM_LANES; l++) {
            off[l] = draw(64) * 16;
            addr[l] = 0x100000 + off[l];
        }
        n = coalesce(spec, &i, addr, got);
        assert_int_equal(coalesce_near(spec, &i, 0x100000, off, other), n);
        assert_memory_equal(other, got, n * sizeof *got);
        for (uint32_t l = 0; l < MEM_LANES; l++) /* they need not be near: as the same lines, far apart */
            addr[l] += (addr[l] >> 7) << 34;
        assert_int_equal(coalesce(spec, &i, addr, other), n);
        for (uint32_t k = 0; k < n; k++) {
            assert_true(other[k].lanes == got[k].lanes && other[k].bytes == got[k].bytes);
            assert_true(other[k].sectors == got[k].sectors && other[k].full == got[k].full);
        }
    }
}

/* Texels: each counts for its line, in the order of the first of each line, near or far. */
static void test_texels(void **state) {
    (void)state;
    static uint64_t addr[COALESCER_MAX];
    static uint8_t lane[COALESCER_MAX];
    static struct mem_access want[COALESCER_MAX];
    for (uint32_t round = 0; round < 500; round++) {
        uint32_t count = 1 + draw(round % 4 ? 140 : COALESCER_MAX), lines = 0, bytes = 1u << round % 5;
        uint64_t far = round % 5 == 0 ? 33 : 7;
        for (uint32_t k = 0; k < count; k++) {
            addr[k] = 0x40000000 + ((uint64_t)(draw(1 + round % 60)) << far) + draw(128);
            lane[k] = (uint8_t)(draw(MEM_LANES));
            uint32_t i = 0;
            while (i < lines && want[i].line != (addr[k] & ~127ull))
                i++;
            if (i == lines)
                want[lines++] = (struct mem_access){.line = addr[k] & ~127ull, .kind = MEM_LOAD};
            want[i].lanes |= 1u << lane[k];
            want[i].bytes = (uint16_t)(want[i].bytes + bytes);
            want[i].sectors |= (uint8_t)(1u << addr[k] % 128 / 32);
        }
        assert_int_equal(coalesce_texels(&pascal, addr, lane, count, bytes, got), lines);
        assert_memory_equal(want, got, lines * sizeof *got);
    }
}

static void test_constant(void **state) {
    (void)state;
    uint32_t at[MEM_LANES];
    struct coalescer_inst i = {~0u, 4, MEM_LOAD, 0};
    for (uint32_t l = 0; l < MEM_LANES; l++)
        at[l] = 0x30;
    assert_int_equal(coalesce_constant(&pascal, &i, at, 0x10, got), 1);
    assert_true(got[0].lanes == ~0u && got[0].line == 0 && got[0].sectors == 4);
    for (uint32_t l = 0; l < MEM_LANES; l++)
        at[l] = 0x30 + l % 3 * 4; /* same line, still one after the other */
    assert_int_equal(coalesce_constant(&pascal, &i, at, 0x10, got), 3);
    assert_true(got[1].lanes == 0x92492492);
    i.mask = 0x3;
    assert_int_equal(coalesce_constant(&pascal, &i, at, 0x10, got), 2);
}

/* ---- shared memory ----------------------------------------------------------------------------------- */

static uint32_t passes(const struct coalescer_spec *s, uint32_t mask, uint32_t bytes, uint32_t stride) {
    uint32_t at[MEM_LANES];
    struct coalescer_inst i = {mask, bytes, MEM_LOAD, 0};
    for (uint32_t l = 0; l < MEM_LANES; l++)
        at[l] = l * stride;
    return shared_passes(s, &i, at, 0);
}

/* Strides in words: the conflicts are those of gcd(stride, 32). */
static void test_shared(void **state) {
    (void)state;
    static const uint32_t expected[][2] = {{0, 1},  {1, 1},   {2, 2},   {3, 1},   {4, 4},  {5, 1},
                                           {6, 2},  {8, 8},   {12, 4},  {16, 16}, {31, 1}, {32, 32},
                                           {33, 1}, {48, 16}, {64, 32}, {17, 1}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        assert_int_equal(passes(&fermi, ~0u, 4, expected[i][0] * 4), expected[i][1]);
        assert_int_equal(passes(&pascal, ~0u, 4, expected[i][0] * 4), expected[i][1]);
    }
    assert_int_equal(passes(&pascal, ~0u, 1, 1), 1); /* four bytes of a word are one access */
    assert_int_equal(passes(&pascal, ~0u, 2, 2), 1);
    assert_int_equal(passes(&pascal, 0xff, 4, 128), 8); /* fewer lanes, fewer conflicts */
    assert_int_equal(passes(&pascal, 1, 4, 128), 1);
    assert_int_equal(passes(&pascal, 0, 4, 4), 1);
    assert_int_equal(passes(&fermi, ~0u, 8, 8), 2); /* 64 words in 32 banks */
    assert_int_equal(passes(&pascal, ~0u, 8, 8), 2);
    assert_int_equal(passes(&fermi, ~0u, 8, 0), 2); /* Fermi: each half for itself; later: one broadcast */
    assert_int_equal(passes(&pascal, ~0u, 8, 0), 1);
    assert_int_equal(passes(&fermi, 0xffff, 8, 8), 1);
    assert_int_equal(passes(&fermi, ~0u, 8, 16), 4); /* two doubles apart: 2 ways in each half */
    assert_int_equal(passes(&pascal, ~0u, 8, 16), 4);
    assert_int_equal(passes(&fermi, ~0u, 16, 16), 4);
    assert_int_equal(passes(&pascal, ~0u, 16, 16), 4);
}

/* The most different words in a bank that lanes of part touch, counted the long way. */
static uint32_t slow_passes(uint32_t part, uint32_t bytes, const uint32_t *at) {
    uint32_t words = bytes > 4 ? bytes / 4 : 1, most = 0;
    for (uint32_t bank = 0; bank < SHARED_BANKS; bank++) {
        uint32_t touched[MEM_LANES], n = 0;
        for (uint32_t l = 0; l < MEM_LANES; l++)
            for (uint32_t w = at[l] / 4; part >> l & 1 && w < at[l] / 4 + words; w++) {
                bool counts = w % SHARED_BANKS == bank;
                for (uint32_t k = 0; k < n; k++)
                    counts &= touched[k] != w;
                if (counts)
                    touched[n++] = w;
            }
        most = n > most ? n : most;
    }
    return most;
}

/* Random accesses with and without repeats, even ones, and rows, which may overlap: elements of every size,
 * of some lanes or all of them, by whole warps and by Fermi's parts. */
static void test_shared_reference(void **state) {
    (void)state;
    rng = 3;
    for (uint32_t round = 0; round < 20000; round++) {
        const struct coalescer_spec *spec = draw(2) ? &pascal : &fermi;
        uint32_t at[MEM_LANES], bytes = 1u << draw(5), range = 1u << draw(11), shape = draw(5);
        uint32_t base = 65536 + draw(range) * bytes, step = (draw(70) - 35) * bytes, row = 4u << draw(3);
        uint32_t by = (draw(160) - 80) * bytes;
        struct coalescer_inst i = {draw(2) ? ~0u : draw(UINT32_MAX), bytes, MEM_LOAD, 0};
        for (uint32_t l = 0; l < MEM_LANES; l++)
            at[l] = shape == 0                   ? base + draw(range) * bytes
                    : shape == 1                 ? base + l * step
                    : shape == 2 && l && draw(2) ? at[l - 1]
                    : shape == 2                 ? base + draw(range) * bytes
                                                 : base + l % row * bytes + l / row * by;
        uint32_t lanes = spec->split_wide && bytes > 4 ? 128 / bytes : MEM_LANES, expected = 0;
        for (uint32_t first = 0; first < MEM_LANES; first += lanes)
            expected += slow_passes(i.mask & (uint32_t)((UINT64_C(1) << lanes) - 1) << first, bytes, at);
        uint32_t add = draw(64);
        for (uint32_t l = 0; l < MEM_LANES; l++)
            at[l] -= add;
        assert_int_equal(shared_passes(spec, &i, at, add), expected ? expected : 1);
    }
}

static void test_shared_more(void **state) {
    (void)state;
    uint32_t at[MEM_LANES];
    struct coalescer_inst i = {~0u, 4, MEM_LOAD, 0};
    for (uint32_t l = 0; l < MEM_LANES; l++)
        at[l] = (31 - l) * 4;
    assert_int_equal(shared_passes(&pascal, &i, at, 0), 1); /* any permutation */
    for (uint32_t l = 0; l < MEM_LANES; l++)
        at[l] = l < 16 ? 0 : 128 * (l - 15);
    assert_int_equal(shared_passes(&pascal, &i, at, 0), 17); /* one broadcast word and 16 others of bank 0 */
    for (uint32_t l = 0; l < MEM_LANES; l++)
        at[l] = 64;
    assert_int_equal(shared_atomic_passes(&i, at, 0), 32);
    for (uint32_t l = 0; l < MEM_LANES; l++)
        at[l] = l % 8 * 4;
    assert_int_equal(shared_atomic_passes(&i, at, 0), 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_coalesce_counts),
        cmocka_unit_test(test_coalesce_fields),
        cmocka_unit_test(test_coalesce_reference),
        cmocka_unit_test(test_coalesce_atomics),
        cmocka_unit_test(test_local),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_texels),
        cmocka_unit_test(test_constant),
        cmocka_unit_test(test_shared),
        cmocka_unit_test(test_shared_reference),
        cmocka_unit_test(test_shared_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
