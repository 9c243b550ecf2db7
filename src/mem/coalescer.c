/* From lanes to lines and banks.
 *
 * The common shapes, all lanes in one line or a fixed distance apart, are found by loops the compiler turns
 * into vector code. Of others, what the warp has touched so far is remembered with a guess of what comes
 * next: lanes mostly go up, or through the same addresses again. Only where they do neither a small hash
 * table is made, so that the cost is linear in the lanes however they are scattered. */
#include "mem/coalescer.h"

#include "base/wide.h"

#include <assert.h>
#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

enum { SLOTS = 2 * COALESCER_MAX }; /* of the hash table */

/* A set of numbered keys. */
struct seen {
    uint32_t count;
    uint32_t guess; /* the number of the key that is likely to come next, if it came before */
    uint32_t mask;  /* slots of the table, less one */
    bool hashed;    /* the keys are in the table: guesses failed */
    uint64_t top;   /* the largest key, before that */
    uint64_t key[COALESCER_MAX];
    uint16_t slot[SLOTS]; /* number of the key + 1; 0: empty */
};

/* keys: that may come at most. */
static void seen_clear(struct seen *s, uint32_t keys) {
    s->mask = keys <= MEM_LANES ? 2 * MEM_LANES - 1 : keys <= COALESCER_MAX / 2 ? SLOTS / 2 - 1 : SLOTS - 1;
    s->count = s->guess = 0;
    s->hashed = false;
}

/* The slot of a key, or the empty one for it. */
static inline uint32_t seen_slot(const struct seen *s, uint64_t key) {
    uint32_t i = (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 40) & s->mask;
    while (s->slot[i] && s->key[s->slot[i] - 1u] != key)
        i = (i + 1) & s->mask;
    return i;
}

/* Makes the table. */
static __attribute__((noinline)) void seen_hash(struct seen *s) {
    memset(s->slot, 0, (s->mask + 1) * sizeof *s->slot);
    for (uint32_t k = 0; k < s->count; k++)
        s->slot[seen_slot(s, s->key[k])] = (uint16_t)(k + 1);
    s->hashed = true;
}

/* The number of a key; a new one gets the next number. */
static inline uint32_t seen_find(struct seen *s, uint64_t key) {
    if (!s->hashed) {
        uint32_t i = s->guess;
        if (i < s->count && s->key[i] == key) {
            s->guess = i + 1 < s->count ? i + 1 : 0;
            return i;
        }
        if (!s->count || key > s->top) {
            s->top = key;
            s->key[s->count] = key;
            return s->count++; /* the guess stays: either a larger one comes, or the first again */
        }
        seen_hash(s);
    }
    uint32_t slot = seen_slot(s, key);
    if (!s->slot[slot]) {
        s->key[s->count] = key;
        s->slot[slot] = (uint16_t)++s->count;
    }
    return s->slot[slot] - 1u;
}

/* ---- the lanes that form requests together ----------------------------------------------------------- */

/* The first byte of the line of an address, and the sector in it that holds the address. */
static uint64_t line_of(const struct coalescer_spec *s, uint64_t addr) {
    return addr & ~(uint64_t)(s->line - 1);
}

static uint32_t sector_of(const struct coalescer_spec *s, uint64_t addr) {
    return ((uint32_t)addr & (s->line - 1)) / MEM_SECTOR;
}

/* The sectors that a store fills: each byte of them is written by a lane. */
static uint8_t full_sectors(const struct coalescer_inst *inst, const uint64_t *addr,
                            const struct mem_access *x) {
    uint64_t half[2] = {0}; /* bytes of the line that are written */
    uint32_t full = 0;
    for (uint32_t left = x->lanes; left; left &= left - 1) {
        uint32_t at = (uint32_t)(addr[__builtin_ctz(left)] - x->line);
        half[at / 64] |= ((UINT64_C(1) << inst->bytes) - 1) << at % 64;
    }
    for (uint32_t s = 0; s < MEM_MAX_SECTORS; s++)
        full |= (uint32_t)((uint32_t)(half[s / 2] >> s % 2 * 32) == UINT32_MAX) << s;
    return (uint8_t)full;
}

/* Of n addresses, the lines, and the bits of their sectors in them. */
static WIDE_PART void find_lines(const struct coalescer_spec *s, const uint64_t *addr, uint32_t n,
                                 uint64_t *line, uint32_t *sector) {
    const uint32_t inside = s->line - 1;
    for (uint32_t k = 0; k < n; k++)
        line[k] = addr[k] & ~(uint64_t)inside;
    for (uint32_t k = 0; k < n; k++)
        sector[k] = 1u << ((uint32_t)addr[k] & inside) / MEM_SECTOR;
}

/* Any pattern. */
static WIDE_PART uint32_t scattered(const struct coalescer_spec *s, const struct coalescer_inst *inst,
                                    uint32_t part, const uint64_t *addr, struct mem_access *out) {
    const uint32_t each = inst->bytes;
    struct mem_access x = {.kind = inst->kind, .flags = inst->flags};
    uint64_t line[MEM_LANES];
    uint32_t sector[MEM_LANES], n = 0;
    struct seen seen;
    seen_clear(&seen, MEM_LANES);
    find_lines(s, addr, MEM_LANES, line, sector);
    for (uint32_t left = part; left;) {
        uint32_t l = (uint32_t)__builtin_ctz(left), before = left, sectors = 0, bytes = 0;
        x.line = line[l];
        do { /* lanes side by side are often in one line */
            sectors |= sector[l];
            bytes += each;
            left &= left - 1;
        } while (left && line[l = (uint32_t)__builtin_ctz(left)] == x.line);
        uint32_t i = seen_find(&seen, x.line);
        if (i == n)
            out[n++] = x;
        out[i].sectors |= (uint8_t)sectors;
        out[i].bytes += (uint16_t)bytes;
        out[i].lanes |= before ^ left;
    }
    for (uint32_t i = 0; inst->kind == MEM_STORE && i < n; i++)
        out[i].full = full_sectors(inst, addr, &out[i]);
    return n;
}

/* A run of bytes: all lanes of the warp touch consecutive elements. */
static uint32_t consecutive(const struct coalescer_spec *spec, const struct coalescer_inst *inst,
                            uint64_t addr, uint32_t lanes, uint32_t first, struct mem_access *out) {
    uint64_t end = addr + (uint64_t)lanes * inst->bytes, line = line_of(spec, addr);
    uint32_t n = 0;
    for (; line < end; line += spec->line, n++) {
        uint64_t from = addr > line ? addr : line, to = end < line + spec->line ? end : line + spec->line;
        uint32_t s0 = (uint32_t)(from - line) / MEM_SECTOR, s1 = (uint32_t)(to - line - 1) / MEM_SECTOR;
        uint32_t f0 = (uint32_t)(from - line + MEM_SECTOR - 1) / MEM_SECTOR,
                 f1 = (uint32_t)(to - line) / MEM_SECTOR;
        uint32_t l0 = first + (uint32_t)((from - addr) / inst->bytes);
        uint32_t count = (uint32_t)((to - from) / inst->bytes);
        out[n] = (struct mem_access){
            .line = line,
            .lanes = (uint32_t)((UINT64_C(1) << count) - 1) << l0,
            .bytes = (uint16_t)(to - from),
            .sectors = (uint8_t)((2u << s1) - (1u << s0)),
            .full = (uint8_t)(f1 > f0 && inst->kind == MEM_STORE ? (1u << f1) - (1u << f0) : 0),
            .kind = inst->kind,
            .flags = inst->flags,
        };
    }
    return n;
}

/* All lanes on one address. */
static uint32_t uniform(const struct coalescer_spec *spec, const struct coalescer_inst *inst, uint64_t addr,
                        uint32_t part, uint32_t lanes, struct mem_access *out) {
    *out = (struct mem_access){
        .line = line_of(spec, addr),
        .lanes = part,
        .bytes = (uint16_t)(lanes * inst->bytes),
        .sectors = (uint8_t)(1u << sector_of(spec, addr)),
        .kind = inst->kind,
        .flags = inst->flags,
    };
    return 1;
}

/* Atomics: how many lanes operate on each line, and the most on one address. */
static void count_atomics(uint32_t part, const uint64_t *addr, struct mem_access *out, uint32_t n) {
    struct seen seen;
    uint8_t lanes[MEM_LANES] = {0};
    seen_clear(&seen, MEM_LANES);
    for (uint32_t i = 0; i < n; i++) {
        out[i].ops = (uint8_t)__builtin_popcount(out[i].lanes);
        for (uint32_t left = out[i].lanes & part; left; left &= left - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(left), k = seen_find(&seen, addr[lane]);
            if (++lanes[k] > out[i].serial)
                out[i].serial = lanes[k];
        }
    }
}

/* Whether lane l of the count lanes from first on touches addr[first] + (l - first) * step. */
static WIDE_PART bool is_run(const uint64_t *addr, uint32_t first, uint32_t count, uint64_t step) {
    uint64_t expected = addr[first], wrong = 0;
    for (uint32_t l = first; l < first + count; l++) {
        wrong |= addr[l] ^ expected;
        expected += step;
    }
    return !wrong;
}

/* The lanes that form requests together, from first on. */
static WIDE_PART uint32_t part_of(const struct coalescer_spec *spec, const struct coalescer_inst *inst,
                                  const uint64_t *addr, uint32_t first, uint32_t count,
                                  struct mem_access *out) {
    uint32_t all = (uint32_t)((UINT64_C(1) << count) - 1) << first, part = inst->mask & all, n;
    if (!part)
        return 0;
    if (part == all && is_run(addr, first, count, inst->bytes))
        n = consecutive(spec, inst, addr[first], count, first, out);
    else if (part == all && is_run(addr, first, count, 0))
        n = uniform(spec, inst, addr[first], part, count, out);
    else
        n = scattered(spec, inst, part, addr, out);
    if (inst->kind == MEM_ATOMIC)
        count_atomics(part, addr, out, n);
    return n;
}
WIDE_HERE(uint32_t, coalesce_part,
          (const struct coalescer_spec *spec, const struct coalescer_inst *inst, const uint64_t *addr,
           uint32_t first, uint32_t count, struct mem_access *out),
          part_of, spec, inst, addr, first, count, out)

/* Lanes that form requests together: Fermi moves at most 128 bytes at a time. */
static uint32_t part_lanes(const struct coalescer_spec *s, uint32_t bytes) {
    return s->split_wide && bytes > 4 ? MEM_LANES * 4 / bytes : MEM_LANES;
}

uint32_t coalesce(const struct coalescer_spec *s, const struct coalescer_inst *i, const uint64_t *addr,
                  struct mem_access *out) {
    assert(i->bytes && i->bytes <= 16);
    uint32_t n = 0, lanes = part_lanes(s, i->bytes);
    for (uint32_t first = 0; first < MEM_LANES; first += lanes)
        n += coalesce_part(s, i, addr, first, lanes, out + n);
    return n;
}

uint32_t coalesce_row(const struct coalescer_spec *s, const struct coalescer_inst *i, uint64_t addr,
                      struct mem_access *out) {
    return consecutive(s, i, addr, MEM_LANES, 0, out);
}

/* ---- local memory ------------------------------------------------------------------------------------ */

uint32_t coalesce_local(const struct coalescer_spec *s, const struct coalescer_inst *i, uint64_t base,
                        const uint32_t *at, struct mem_access *out) {
    uint32_t words = i->bytes > 4 ? i->bytes / 4 : 1, n = 0;
    struct coalescer_inst word = *i;
    if (i->bytes > 4)
        word.bytes = 4;
    for (uint32_t w = 0; w < words; w++) {
        uint64_t addr[MEM_LANES];
        for (uint32_t l = 0; l < MEM_LANES; l++)
            addr[l] = local_address(base, at[l] + 4 * w, l);
        n += coalesce_part(s, &word, addr, 0, MEM_LANES, out + n);
    }
    return n;
}

/* ---- constant memory --------------------------------------------------------------------------------- */

/* The lanes for which v has this value. */
static uint32_t lanes_with(const uint32_t *v, uint32_t value) {
    uint32_t lanes = 0;
#ifdef __SSE2__
    for (uint32_t l = 0; l < MEM_LANES; l += 16) {
        __m128i same[4];
        for (uint32_t k = 0; k < 4; k++)
            same[k] = _mm_cmpeq_epi32(_mm_loadu_si128((const __m128i *)(v + l + 4 * k)),
                                      _mm_set1_epi32((int)value));
        __m128i bytes = _mm_packs_epi16(_mm_packs_epi32(same[0], same[1]), _mm_packs_epi32(same[2], same[3]));
        lanes |= (uint32_t)_mm_movemask_epi8(bytes) << l;
    }
#else
    for (uint32_t l = 0; l < MEM_LANES; l++)
        lanes |= (uint32_t)(v[l] == value) << l;
#endif
    return lanes;
}

uint32_t coalesce_constant(const struct coalescer_spec *s, const struct coalescer_inst *i, const uint32_t *at,
                           uint32_t add, struct mem_access *out) {
    uint32_t n = 0;
    for (uint32_t left = i->mask, same; left; left &= ~same) {
        uint32_t first = at[__builtin_ctz(left)];
        same = lanes_with(at, first) & left;
        n += uniform(s, i, first + add, same, (uint32_t)__builtin_popcount(same), &out[n]);
    }
    return n;
}

/* ---- textures ---------------------------------------------------------------------------------------- */

static WIDE_PART uint32_t lines_of_texels(const struct coalescer_spec *s, const uint64_t *addr,
                                          const uint8_t *lane, uint32_t n, uint32_t bytes,
                                          struct mem_access *out) {
    uint64_t line[COALESCER_MAX + 1];
    uint32_t sector[COALESCER_MAX], lines = 0;
    struct seen seen;
    assert(n <= COALESCER_MAX);
    seen_clear(&seen, n);
    find_lines(s, addr, n, line, sector);
    line[n] = UINT64_MAX;
    for (uint32_t i = 0; i < n;) {
        uint32_t first = i, sectors = 0, lanes = 0;
        uint64_t own = line[i];
        do { /* texels side by side are often in one line */
            sectors |= sector[i];
            lanes |= 1u << lane[i];
        } while (line[++i] == own);
        uint32_t k = seen_find(&seen, own);
        if (k == lines)
            out[lines++] = (struct mem_access){.line = own, .kind = MEM_LOAD};
        out[k].lanes |= lanes;
        out[k].sectors |= (uint8_t)sectors;
        out[k].bytes += (uint16_t)((i - first) * bytes);
    }
    return lines;
}
WIDE_TOO(uint32_t, coalesce_texels,
         (const struct coalescer_spec *s, const uint64_t *addr, const uint8_t *lane, uint32_t n,
          uint32_t bytes, struct mem_access *out),
         lines_of_texels, s, addr, lane, n, bytes, out)

/* ---- shared memory ----------------------------------------------------------------------------------- */

/* The lanes whose unit its bank serves. */
static inline uint32_t lanes_served(const uint32_t *unit, const uint32_t *bank, const uint32_t *served) {
    uint32_t lanes = 0;
    for (uint32_t l = 0; l < MEM_LANES; l++)
        lanes |= (uint32_t)(served[bank[l]] == unit[l]) << l;
    return lanes;
}

#ifdef __x86_64__
static inline WIDE uint32_t lanes_served_wide(const uint32_t *unit, const uint32_t *bank,
                                              const uint32_t *served) {
    uint32_t lanes = 0;
    for (uint32_t l = 0; l < MEM_LANES; l += 8) {
        __m256i own = _mm256_loadu_si256((const __m256i *)(unit + l)),
                at = _mm256_loadu_si256((const __m256i *)(bank + l));
        __m256i same = _mm256_cmpeq_epi32(_mm256_i32gather_epi32((const int *)served, at, 4), own);
        lanes |= (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(same)) << l;
    }
    return lanes;
}
#else
#define lanes_served_wide lanes_served
#endif

/* The most different units in one of so many banks that lanes touch: in each pass every bank serves one of
 * them, wherever it is wanted. */
static WIDE_PART uint32_t bank_passes(const uint32_t *unit, uint32_t lanes, uint32_t banks, bool wide) {
    uint32_t bank[MEM_LANES], served[SHARED_BANKS] = {0}, passes = 0;
    for (uint32_t l = 0; l < MEM_LANES; l++)
        bank[l] = unit[l] & (banks - 1);
    for (; lanes; passes++) {
        if (lanes == UINT32_MAX)
#pragma GCC unroll 8
            for (uint32_t l = 0; l < MEM_LANES; l++)
                served[bank[l]] = unit[l];
        else
            for (uint32_t left = lanes; left; left &= left - 1) {
                uint32_t l = (uint32_t)__builtin_ctz(left);
                served[bank[l]] = unit[l];
            }
        lanes &= ~(wide ? lanes_served_wide : lanes_served)(unit, bank, served);
    }
    return passes;
}

/* Whether the lanes of each half of the warp touch addresses that are step apart. */
static WIDE_PART bool is_even(const uint32_t *at, uint32_t step) {
    enum { HALF = MEM_LANES / 2 };
    uint32_t wrong = 0;
    for (uint32_t l = 0; l < HALF; l++)
        wrong |= (at[l] ^ (at[0] + l * step)) | (at[HALF + l] ^ (at[HALF] + l * step));
    return !wrong;
}

/* Passes of lanes that touch units so far apart: every banks / gcd(step, banks) lanes the same bank comes
 * again. */
static uint32_t even_passes(uint32_t lanes, uint32_t step, uint32_t banks) {
    uint32_t both = step | banks, period = banks / (both & -both);
    return step ? lanes / period : 1;
}

/* Passes of two rows of half a warp, each of which touches words in a row; by: from the first row to the
 * second. They meet in a bank unless they are half of the banks apart, and then touch different words there
 * unless the rows themselves overlap. */
static uint32_t row_passes(int32_t by) {
    const int32_t half = SHARED_BANKS / 2;
    return (by & (SHARED_BANKS - 1)) == half || (-half < by && by < half) ? 1 : 2;
}

/* Shared memory as elements of one size see it. They are aligned, so that longer ones take words of as many
 * banks side by side: such groups are like banks of longer units. */
struct units {
    uint32_t shift; /* that divides an address by their bytes */
    uint32_t banks;
    uint32_t lanes; /* that are served together */
};

/* Passes of all lanes, if they touch units in a pattern that is known; 0: they do not. */
static WIDE_PART uint32_t pattern_passes(const struct units *u, const uint32_t *at) {
    enum { HALF = MEM_LANES / 2 };
    uint32_t step = at[1] - at[0];
    if (!is_even(at, step))
        return 0;
    if (at[HALF] - at[HALF - 1] == step && step >> u->shift << u->shift == step)
        return even_passes(u->lanes, step >> u->shift, u->banks) * (MEM_LANES / u->lanes);
    bool words = u->banks == SHARED_BANKS && step == SHARED_WORD;
    return words ? row_passes((int32_t)(at[HALF] - at[0]) / SHARED_WORD) : 0;
}

static WIDE_PART uint32_t passes_of(const struct coalescer_spec *s, const struct coalescer_inst *i,
                                    const uint32_t *at, uint32_t add, bool wide) {
    uint32_t shift = (uint32_t)__builtin_ctz(i->bytes > SHARED_WORD ? i->bytes : SHARED_WORD);
    struct units u = {shift, SHARED_BANKS * SHARED_WORD >> shift, part_lanes(s, i->bytes)};
    uint32_t unit[MEM_LANES], passes = pattern_passes(&u, at);
    if (passes == 1 || (passes && i->mask == UINT32_MAX)) /* if all lanes do with one pass, so do some */
        return passes;
    for (uint32_t l = 0; l < MEM_LANES; l++)
        unit[l] = (at[l] + add) >> shift;
    if (u.lanes == MEM_LANES)
        return i->mask ? bank_passes(unit, i->mask, u.banks, wide) : 1;
    passes = 0;
    for (uint32_t first = 0; first < MEM_LANES; first += u.lanes)
        passes +=
            bank_passes(unit, i->mask & (uint32_t)((UINT64_C(1) << u.lanes) - 1) << first, u.banks, wide);
    return passes ? passes : 1;
}

static WIDE uint32_t passes_wide(const struct coalescer_spec *s, const struct coalescer_inst *i,
                                 const uint32_t *at, uint32_t add) {
    return passes_of(s, i, at, add, true);
}

uint32_t shared_passes(const struct coalescer_spec *s, const struct coalescer_inst *i, const uint32_t *at,
                       uint32_t add) {
    return HOST_IS_WIDE ? passes_wide(s, i, at, add) : passes_of(s, i, at, add, false);
}

uint32_t shared_atomic_passes(const struct coalescer_inst *i, const uint32_t *at, uint32_t add) {
    uint8_t lanes[SHARED_BANKS] = {0}, most = 1;
    for (uint32_t left = i->mask; left; left &= left - 1)
        lanes[(at[__builtin_ctz(left)] + add) / SHARED_WORD % SHARED_BANKS]++;
    for (uint32_t bank = 0; bank < SHARED_BANKS; bank++)
        most = lanes[bank] > most ? lanes[bank] : most;
    return most;
}
