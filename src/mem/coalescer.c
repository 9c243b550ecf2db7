/* From lanes to lines and banks.
 *
 * Lanes of one line are found by a comparison of all lanes with it: what a warp touches is mostly few lines,
 * and where it is not, looking them up lane by lane would take as long. Only texels, of which there may be
 * many more, are brought together by a table of the lines that came before: with a guess of what comes next,
 * as they mostly go up, or through the same lines again, and a small hash table where they do neither. */
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

/* The lanes for which v has this value. */
static inline uint32_t lanes_with(const uint32_t *v, uint32_t value) {
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

/* The lanes for which a bit of v is set. */
static inline uint32_t lanes_bit(const uint32_t *v, uint32_t bit) {
    uint32_t lanes = 0;
    for (uint32_t l = 0; l < MEM_LANES; l++)
        lanes |= (v[l] >> bit & 1) << l;
    return lanes;
}

#ifdef __x86_64__
static inline WIDE uint32_t lanes_with_wide(const uint32_t *v, uint32_t value) {
    uint32_t lanes = 0;
    for (uint32_t l = 0; l < MEM_LANES; l += 8) {
        __m256i same =
            _mm256_cmpeq_epi32(_mm256_loadu_si256((const __m256i *)(v + l)), _mm256_set1_epi32((int)value));
        lanes |= (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(same)) << l;
    }
    return lanes;
}

static inline WIDE uint32_t lanes_bit_wide(const uint32_t *v, uint32_t bit) {
    uint32_t lanes = 0;
    for (uint32_t l = 0; l < MEM_LANES; l += 8) {
        __m256i top = _mm256_slli_epi32(_mm256_loadu_si256((const __m256i *)(v + l)), (int)(31 - bit));
        lanes |= (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(top)) << l;
    }
    return lanes;
}
#else
#define lanes_with_wide lanes_with
#define lanes_bit_wide  lanes_bit
#endif

/* The sectors of a line that a store fills: each byte of them is written by one of the lanes. */
static uint32_t full_sectors(const struct coalescer_spec *s, const uint32_t *off, uint32_t lanes,
                             uint32_t each) {
    uint64_t half[2] = {0}; /* bytes of the line that are written */
    uint32_t full = 0;
    for (uint32_t left = lanes; left; left &= left - 1) {
        uint32_t at = off[__builtin_ctz(left)] & (s->line - 1);
        half[at / 64] |= ((UINT64_C(1) << each) - 1) << at % 64;
    }
    for (uint32_t k = 0; k < MEM_MAX_SECTORS; k++)
        full |= (uint32_t)((uint32_t)(half[k / 2] >> k % 2 * 32) == UINT32_MAX) << k;
    return full;
}

/* Atomics: how many lanes operate on a line, and the most on one address. */
static WIDE_PART void count_atomics(const uint32_t *off, struct mem_access *x, bool wide) {
    x->ops = (uint8_t)__builtin_popcount(x->lanes);
    for (uint32_t left = x->lanes, same; left; left &= ~same) {
        uint32_t at = off[__builtin_ctz(left)];
        same = (wide ? lanes_with_wide : lanes_with)(off, at) & left;
        uint32_t n = (uint32_t)__builtin_popcount(same);
        x->serial = n > x->serial ? (uint8_t)n : x->serial;
    }
}

/* Lanes that form requests together, at base + off; base is a line's first byte. */
static WIDE_PART uint32_t part_of(const struct coalescer_spec *spec, const struct coalescer_inst *inst,
                                  uint64_t base, const uint32_t *off, uint32_t part, struct mem_access *out,
                                  bool wide) {
    const uint32_t inside = spec->line - 1;
    uint32_t line[MEM_LANES], n = 0;
    /* In which half of its line each lane is, and in which quarter: each is a sector. */
    uint32_t upper = spec->line > 2 * MEM_SECTOR ? (wide ? lanes_bit_wide : lanes_bit)(off, 6) : 0;
    uint32_t odd = spec->line > MEM_SECTOR ? (wide ? lanes_bit_wide : lanes_bit)(off, 5) : 0;
    for (uint32_t l = 0; l < MEM_LANES; l++)
        line[l] = off[l] & ~inside;
    for (uint32_t left = part, same; left; left &= ~same) {
        uint32_t at = line[__builtin_ctz(left)];
        same = (wide ? lanes_with_wide : lanes_with)(line, at) & left;
        uint32_t low = same & ~upper, high = same & upper;
        uint32_t sectors = (uint32_t)((low & ~odd) != 0) | (uint32_t)((low & odd) != 0) << 1 |
                           (uint32_t)((high & ~odd) != 0) << 2 | (uint32_t)((high & odd) != 0) << 3;
        uint32_t bytes = (uint32_t)__builtin_popcount(same) * inst->bytes, full = 0;
        if (inst->kind == MEM_STORE && bytes >= MEM_SECTOR)
            full = full_sectors(spec, off, same, inst->bytes);
        out[n] = (struct mem_access){
            .line = base + at,
            .lanes = same,
            .bytes = (uint16_t)bytes,
            .sectors = (uint8_t)sectors,
            .full = (uint8_t)full,
            .kind = inst->kind,
            .flags = inst->flags,
        };
        if (inst->kind == MEM_ATOMIC)
            count_atomics(off, &out[n], wide);
        n++;
    }
    return n;
}

static WIDE uint32_t coalesce_part_wide(const struct coalescer_spec *spec, const struct coalescer_inst *inst,
                                        uint64_t base, const uint32_t *off, uint32_t part,
                                        struct mem_access *out) {
    return part_of(spec, inst, base, off, part, out, true);
}

static uint32_t coalesce_part(const struct coalescer_spec *spec, const struct coalescer_inst *inst,
                              uint64_t base, const uint32_t *off, uint32_t part, struct mem_access *out) {
    return HOST_IS_WIDE ? coalesce_part_wide(spec, inst, base, off, part, out)
                        : part_of(spec, inst, base, off, part, out, false);
}

/* Lanes that form requests together: Fermi moves at most 128 bytes at a time. */
static uint32_t part_lanes(const struct coalescer_spec *s, uint32_t bytes) {
    return s->split_wide && bytes > 4 ? MEM_LANES * 4 / bytes : MEM_LANES;
}

/* The lanes of a mask from first on. */
static uint32_t part_from(uint32_t mask, uint32_t first, uint32_t lanes) {
    return mask & (uint32_t)((UINT64_C(1) << lanes) - 1) << first;
}

uint32_t coalesce_near(const struct coalescer_spec *s, const struct coalescer_inst *i, uint64_t base,
                       const uint32_t *off, struct mem_access *out) {
    assert(i->bytes && i->bytes <= 16 && line_of(s, base) == base);
    uint32_t n = 0, lanes = part_lanes(s, i->bytes);
    for (uint32_t first = 0; first < MEM_LANES; first += lanes)
        n += coalesce_part(s, i, base, off, part_from(i->mask, first, lanes), out + n);
    return n;
}

/* Lanes that are far from one another. */
static uint32_t coalesce_far(const struct coalescer_spec *s, const struct coalescer_inst *i,
                             const uint64_t *addr, uint32_t part, struct mem_access *out) {
    uint32_t n = 0;
    for (uint32_t left = part, same; left; left &= ~same, n++) {
        uint32_t off[MEM_LANES] = {0};
        uint64_t line = line_of(s, addr[__builtin_ctz(left)]);
        same = 0;
        for (uint32_t l = 0; l < MEM_LANES; l++) {
            off[l] = (uint32_t)(addr[l] - line);
            same |= (uint32_t)(line_of(s, addr[l]) == line) << l;
        }
        same &= left;
        coalesce_part(s, i, line, off, same, out + n);
    }
    return n;
}

uint32_t coalesce(const struct coalescer_spec *s, const struct coalescer_inst *i, const uint64_t *addr,
                  struct mem_access *out) {
    uint32_t off[MEM_LANES], far = 0, n = 0, lanes = part_lanes(s, i->bytes);
    uint64_t base = line_of(s, addr[i->mask ? __builtin_ctz(i->mask) : 0]) - (UINT64_C(1) << 31);
    for (uint32_t l = 0; l < MEM_LANES; l++) {
        off[l] = (uint32_t)(addr[l] - base);
        far |= (uint32_t)((addr[l] - base) >> 32 != 0) << l;
    }
    if (!(far & i->mask))
        return coalesce_near(s, i, base, off, out);
    for (uint32_t first = 0; first < MEM_LANES; first += lanes)
        n += coalesce_far(s, i, addr, part_from(i->mask, first, lanes), out + n);
    return n;
}

/* Lanes, from the first on, that one at a place counted from theirs, which may be before, and the n - 1
 * behind it are. */
static uint32_t lanes_from(int32_t place, uint32_t n) {
    uint32_t lanes = (uint32_t)((UINT64_C(1) << n) - 1);
    return place >= MEM_LANES ? 0 : place >= 0 ? lanes << place : -place < MEM_LANES ? lanes >> -place : 0;
}

uint32_t coalesce_row(const struct coalescer_spec *s, const struct coalescer_inst *i, uint64_t addr,
                      struct mem_access *out) {
    enum { EACH = 4, WORDS = MEM_SECTOR / EACH };
    uint64_t end = addr + MEM_LANES * EACH;
    uint32_t n = 0;
    for (uint64_t line = line_of(s, addr); line < end; line += s->line) {
        int32_t first = (int32_t)(int64_t)(line - addr) / EACH; /* of the line's words: the lane */
        uint32_t lanes = lanes_from(first, s->line / EACH) & i->mask, sectors = 0, full = 0;
        if (!lanes)
            continue;
        if (lanes == UINT32_MAX)
            sectors = full = mem_all_sectors(s->line);
        for (uint32_t k = 0; lanes != UINT32_MAX && k < s->line / MEM_SECTOR; k++) {
            int32_t at = first + (int32_t)(WORDS * k);
            uint32_t own = lanes_from(at, WORDS);
            sectors |= (uint32_t)((lanes & own) != 0) << k;
            full |= (uint32_t)((lanes & own) == own && at >= 0 && at <= MEM_LANES - WORDS) << k;
        }
        out[n++] = (struct mem_access){
            .line = line,
            .lanes = lanes,
            .bytes = (uint16_t)(EACH * (uint32_t)__builtin_popcount(lanes)),
            .sectors = (uint8_t)sectors,
            .full = (uint8_t)(i->kind == MEM_STORE ? full : 0),
            .kind = i->kind,
            .flags = i->flags,
        };
    }
    return n;
}

uint32_t coalesce_same(const struct coalescer_spec *s, const struct coalescer_inst *i, uint64_t addr,
                       struct mem_access *out) {
    uint32_t n = 0, lanes = part_lanes(s, i->bytes);
    for (uint32_t first = 0; first < MEM_LANES; first += lanes) {
        uint32_t part = part_from(i->mask, first, lanes);
        if (part)
            n += uniform(s, i, addr, part, (uint32_t)__builtin_popcount(part), &out[n]);
    }
    return n;
}

/* ---- local memory ------------------------------------------------------------------------------------ */

uint32_t coalesce_local(const struct coalescer_spec *s, const struct coalescer_inst *i, uint64_t base,
                        const uint32_t *at, struct mem_access *out) {
    uint32_t words = i->bytes > 4 ? i->bytes / 4 : 1, n = 0;
    struct coalescer_inst word = *i;
    if (i->bytes > 4)
        word.bytes = 4;
    for (uint32_t w = 0; w < words; w++) {
        uint32_t off[MEM_LANES];
        for (uint32_t l = 0; l < MEM_LANES; l++)
            off[l] = (uint32_t)local_address(0, at[l] + 4 * w, l);
        n += coalesce_part(s, &word, base, off, i->mask, out + n);
    }
    return n;
}

/* ---- constant memory --------------------------------------------------------------------------------- */

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

/* The numbers that lanes have for which v has this value, as bits. */
static inline uint32_t named_with(const uint8_t *name, const uint32_t *v, uint32_t value) {
    uint32_t named = 0;
    for (uint32_t l = 0; l < MEM_LANES; l++)
        named |= (uint32_t)(v[l] == value) << name[l];
    return named;
}

#ifdef __x86_64__
static inline WIDE uint32_t named_with_wide(const uint8_t *name, const uint32_t *v, uint32_t value) {
    __m256i named = _mm256_setzero_si256();
    for (uint32_t l = 0; l < MEM_LANES; l += 8) {
        __m256i same =
            _mm256_cmpeq_epi32(_mm256_loadu_si256((const __m256i *)(v + l)), _mm256_set1_epi32((int)value));
        __m256i at = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(name + l)));
        named = _mm256_or_si256(named, _mm256_and_si256(_mm256_sllv_epi32(_mm256_set1_epi32(1), at), same));
    }
    __m128i four = _mm_or_si128(_mm256_castsi256_si128(named), _mm256_extracti128_si256(named, 1));
    uint64_t two = (uint64_t)_mm_cvtsi128_si64(_mm_or_si128(four, _mm_unpackhi_epi64(four, four)));
    return (uint32_t)(two | two >> 32);
}
#else
#define named_with_wide named_with
#endif

/* Texels of a texture, as many as a warp has lanes, each read by a lane: lines and what is wanted of them. Of
 * these texels those from n on are copies of others. */
static WIDE_PART uint32_t lines_of_some(const struct coalescer_spec *s, uint64_t base, const uint32_t *off,
                                        const uint8_t *lane, uint32_t n, uint32_t bytes,
                                        struct mem_access *out, bool wide) {
    struct coalescer_inst inst = {.bytes = bytes, .kind = MEM_LOAD};
    uint32_t line[MEM_LANES], texels = (uint32_t)((UINT64_C(1) << n) - 1), lines;
    lines = part_of(s, &inst, base, off, texels, out, wide);
    for (uint32_t l = 0; l < MEM_LANES; l++)
        line[l] = off[l] & ~(s->line - 1);
    for (uint32_t k = 0; k < lines; k++)
        out[k].lanes = (wide ? named_with_wide : named_with)(lane, line, (uint32_t)(out[k].line - base));
    return lines;
}

/* Any number of texels. */
static WIDE_PART uint32_t lines_of_texels(const struct coalescer_spec *s, const uint64_t *addr,
                                          const uint8_t *lane, uint32_t n, uint32_t bytes,
                                          struct mem_access *out, bool wide) {
    uint64_t base = line_of(s, addr[0]) - (UINT64_C(1) << 31), far = 0;
    uint32_t lines = 0;
    struct seen seen;
    seen_clear(&seen, n);
    for (uint32_t first = 0; first < n; first += MEM_LANES) {
        uint32_t some = n - first < MEM_LANES ? n - first : MEM_LANES, off[MEM_LANES];
        uint8_t name[MEM_LANES];
        for (uint32_t k = 0; k < MEM_LANES; k++) {
            uint64_t from = addr[first + (k < some ? k : 0)] - base;
            name[k] = lane[first + (k < some ? k : 0)];
            off[k] = (uint32_t)from;
            far |= from >> 32;
        }
        struct mem_access each[MEM_LANES], *to = n <= MEM_LANES ? out : each;
        uint32_t more = lines_of_some(s, base, off, name, some, bytes, to, wide);
        if (far)
            break;
        if (to == out)
            return more;
        for (uint32_t k = 0; k < more; k++) {
            uint32_t i = seen_find(&seen, each[k].line);
            if (i == lines) {
                out[lines++] = each[k];
                continue;
            }
            out[i].lanes |= each[k].lanes;
            out[i].sectors |= each[k].sectors;
            out[i].bytes += each[k].bytes;
        }
    }
    return far ? 0 : lines;
}

static WIDE uint32_t coalesce_texels_wide(const struct coalescer_spec *s, const uint64_t *addr,
                                          const uint8_t *lane, uint32_t n, uint32_t bytes,
                                          struct mem_access *out) {
    return lines_of_texels(s, addr, lane, n, bytes, out, true);
}

/* Texels that are far from one another, one by one. */
static uint32_t texels_far(const struct coalescer_spec *s, const uint64_t *addr, const uint8_t *lane,
                           uint32_t n, uint32_t bytes, struct mem_access *out) {
    struct seen seen;
    uint32_t lines = 0;
    seen_clear(&seen, n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = seen_find(&seen, line_of(s, addr[i]));
        if (k == lines)
            out[lines++] = (struct mem_access){.line = line_of(s, addr[i]), .kind = MEM_LOAD};
        out[k].lanes |= 1u << lane[i];
        out[k].sectors |= (uint8_t)(1u << sector_of(s, addr[i]));
        out[k].bytes += (uint16_t)bytes;
    }
    return lines;
}

uint32_t coalesce_texels(const struct coalescer_spec *s, const uint64_t *addr, const uint8_t *lane,
                         uint32_t n, uint32_t bytes, struct mem_access *out) {
    assert(n && n <= COALESCER_MAX);
    uint32_t lines = HOST_IS_WIDE ? coalesce_texels_wide(s, addr, lane, n, bytes, out)
                                  : lines_of_texels(s, addr, lane, n, bytes, out, false);
    return lines ? lines : texels_far(s, addr, lane, n, bytes, out);
}

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

/* Whether all units lie among as many in a row as there are banks, so that each has a bank of its own. */
static WIDE_PART bool is_narrow(const uint32_t *unit, uint32_t banks) {
    uint32_t least = UINT32_MAX, most = 0;
    for (uint32_t l = 0; l < MEM_LANES; l++) {
        least = unit[l] < least ? unit[l] : least;
        most = unit[l] > most ? unit[l] : most;
    }
    return most - least < banks;
}

#ifdef __x86_64__
static inline WIDE bool is_narrow_wide(const uint32_t *unit, uint32_t banks) {
    __m256i least = _mm256_loadu_si256((const __m256i *)unit), most = least;
    for (uint32_t l = 8; l < MEM_LANES; l += 8) {
        __m256i v = _mm256_loadu_si256((const __m256i *)(unit + l));
        least = _mm256_min_epu32(least, v);
        most = _mm256_max_epu32(most, v);
    }
    /* The least is the complement of the most of complements: both halves are reduced at once. */
    __m256i ones = _mm256_set1_epi32(-1);
    least = _mm256_xor_si256(least, ones);
    __m256i both = _mm256_max_epu32(_mm256_permute2x128_si256(most, least, 0x20),
                                    _mm256_permute2x128_si256(most, least, 0x31));
    both = _mm256_max_epu32(both, _mm256_shuffle_epi32(both, 0x4e));
    both = _mm256_max_epu32(both, _mm256_shuffle_epi32(both, 0xb1));
    uint32_t high = (uint32_t)_mm_cvtsi128_si32(_mm256_castsi256_si128(both)),
             low = ~(uint32_t)_mm_cvtsi128_si32(_mm256_extracti128_si256(both, 1));
    return high - low < banks;
}
#else
#define is_narrow_wide is_narrow
#endif

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
    uint32_t unit[MEM_LANES];
    for (uint32_t l = 0; l < MEM_LANES; l++)
        unit[l] = (at[l] + add) >> shift;
    if (u.lanes == MEM_LANES && (wide ? is_narrow_wide : is_narrow)(unit, u.banks))
        return 1;
    uint32_t passes = pattern_passes(&u, at);
    if (passes == 1 || (passes && i->mask == UINT32_MAX)) /* if all lanes do with one pass, so do some */
        return passes;
    if (u.lanes == MEM_LANES)
        return i->mask ? bank_passes(unit, i->mask, u.banks, wide) : 1;
    passes = 0;
    for (uint32_t first = 0; first < MEM_LANES; first += u.lanes)
        passes += bank_passes(unit, part_from(i->mask, first, u.lanes), u.banks, wide);
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

uint32_t shared_passes_same(const struct coalescer_spec *s, const struct coalescer_inst *i) {
    uint32_t passes = 0, lanes = part_lanes(s, i->bytes);
    for (uint32_t first = 0; first < MEM_LANES; first += lanes)
        passes += part_from(i->mask, first, lanes) != 0;
    return passes;
}

uint32_t shared_atomic_passes(const struct coalescer_inst *i, const uint32_t *at, uint32_t add) {
    uint8_t lanes[SHARED_BANKS] = {0}, most = 1;
    for (uint32_t left = i->mask; left; left &= left - 1)
        lanes[(at[__builtin_ctz(left)] + add) / SHARED_WORD % SHARED_BANKS]++;
    for (uint32_t bank = 0; bank < SHARED_BANKS; bank++)
        most = lanes[bank] > most ? lanes[bank] : most;
    return most;
}
