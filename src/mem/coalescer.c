/* From lanes to lines and banks.
 *
 * The common shapes, all lanes in one line or consecutive elements, are found by loops the compiler turns
 * into vector code. All others go through a small hash table of what the warp has touched so far, so that the
 * cost is linear in the lanes however they are scattered. */
#include "mem/coalescer.h"

#include <assert.h>
#include <string.h>

enum { SLOTS = 2 * COALESCER_MAX }; /* of the hash table */

/* A set of numbered keys. */
struct seen {
    uint16_t slot[SLOTS]; /* number of the key + 1; 0: empty */
    uint32_t mask, count;
    uint64_t key[COALESCER_MAX];
};

/* keys: that may come at most. */
static void seen_clear(struct seen *s, uint32_t keys) {
    s->mask = keys <= MEM_LANES ? 2 * MEM_LANES - 1 : keys <= COALESCER_MAX / 2 ? SLOTS / 2 - 1 : SLOTS - 1;
    s->count = 0;
    memset(s->slot, 0, (s->mask + 1) * sizeof *s->slot);
}

/* The number of a key; a new one gets the next number. */
static uint32_t seen_find(struct seen *s, uint64_t key) {
    uint32_t i = (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 40) & s->mask;
    while (s->slot[i]) {
        if (s->key[s->slot[i] - 1u] == key)
            return s->slot[i] - 1u;
        i = (i + 1) & s->mask;
    }
    s->key[s->count] = key;
    s->slot[i] = (uint16_t)(s->count + 1);
    return s->count++;
}

/* ---- the lanes that form requests together ----------------------------------------------------------- */

/* The first byte of the line of an address, and the sector in it that holds the address. */
static uint64_t line_of(const struct coalescer_spec *s, uint64_t addr) {
    return addr & ~(uint64_t)(s->line - 1);
}

static uint32_t sector_of(const struct coalescer_spec *s, uint64_t addr) {
    return ((uint32_t)addr & (s->line - 1)) / MEM_SECTOR;
}

/* Which bytes of a line a store writes, and from that the sectors it fills. */
struct written {
    uint64_t half[2];
};

/* at: of the line. */
static void write_bytes(struct written *w, uint32_t at, uint32_t bytes) {
    w->half[at / 64] |= ((UINT64_C(1) << bytes) - 1) << at % 64;
}

static uint8_t full_sectors(const struct written *w) {
    uint32_t full = 0;
    for (uint32_t s = 0; s < MEM_MAX_SECTORS; s++)
        full |= (uint32_t)((uint32_t)(w->half[s / 2] >> s % 2 * 32) == UINT32_MAX) << s;
    return (uint8_t)full;
}

/* Any pattern. */
static uint32_t scattered(const struct coalescer_spec *spec, const struct coalescer_inst *inst, uint32_t part,
                          const uint64_t *addr, struct mem_access *out) {
    struct written w[MEM_LANES];
    struct seen seen;
    seen_clear(&seen, MEM_LANES);
    uint64_t last = UINT64_MAX;
    uint32_t i = 0, n = 0;
    bool store = inst->kind == MEM_STORE;
    for (uint32_t left = part; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        uint64_t line = line_of(spec, addr[lane]);
        if (line != last) {
            i = seen_find(&seen, line);
            last = line;
            if (i == n) {
                n++;
                w[i] = (struct written){{0}};
                out[i] = (struct mem_access){.line = line, .kind = inst->kind, .flags = inst->flags};
            }
        }
        out[i].sectors |= (uint8_t)(1u << sector_of(spec, addr[lane]));
        out[i].bytes += (uint16_t)inst->bytes;
        out[i].lanes |= 1u << lane;
        if (store)
            write_bytes(&w[i], (uint32_t)(addr[lane] - line), inst->bytes);
    }
    for (i = 0; store && i < n; i++)
        out[i].full = full_sectors(&w[i]);
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
static bool is_run(const uint64_t *addr, uint32_t first, uint32_t count, uint64_t step) {
    uint64_t expected = addr[first], wrong = 0;
    for (uint32_t l = first; l < first + count; l++) {
        wrong |= addr[l] ^ expected;
        expected += step;
    }
    return !wrong;
}

/* The lanes that form requests together, from first on. */
static uint32_t coalesce_part(const struct coalescer_spec *spec, const struct coalescer_inst *inst,
                              const uint64_t *addr, uint32_t first, uint32_t count, struct mem_access *out) {
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

uint32_t coalesce_constant(const struct coalescer_spec *s, const struct coalescer_inst *i,
                           const uint64_t *addr, struct mem_access *out) {
    struct seen seen;
    uint32_t n = 0;
    if (i->mask && is_run(addr, 0, MEM_LANES, 0))
        return uniform(s, i, addr[0], i->mask, (uint32_t)__builtin_popcount(i->mask), out);
    seen_clear(&seen, MEM_LANES);
    for (uint32_t left = i->mask; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left), k = seen_find(&seen, addr[lane]);
        if (k == n)
            n += uniform(s, i, addr[lane], 0, 0, &out[k]);
        out[k].lanes |= 1u << lane;
        out[k].bytes += (uint16_t)i->bytes;
    }
    return n;
}

/* ---- textures ---------------------------------------------------------------------------------------- */

uint32_t coalesce_texels(const struct coalescer_spec *s, const uint64_t *addr, const uint8_t *lane,
                         uint32_t n, uint32_t bytes, struct mem_access *out) {
    struct seen seen;
    uint64_t last = UINT64_MAX;
    uint32_t k = 0, lines = 0;
    assert(n <= COALESCER_MAX);
    seen_clear(&seen, n);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t line = line_of(s, addr[i]);
        if (line != last)
            k = seen_find(&seen, line);
        last = line;
        if (k == lines)
            out[lines++] = (struct mem_access){.line = line, .kind = MEM_LOAD};
        out[k].lanes |= 1u << lane[i];
        out[k].sectors |= (uint8_t)(1u << sector_of(s, addr[i]));
        out[k].bytes += (uint16_t)bytes;
    }
    return lines;
}

/* ---- shared memory ----------------------------------------------------------------------------------- */

/* Whether the lanes of part touch no two words of one bank; several may touch the same word. */
static bool one_of_each(uint32_t part, const uint32_t *at, uint32_t words) {
    uint32_t word[SHARED_BANKS], known = 0, last = UINT32_MAX;
    for (uint32_t left = part; left; left &= left - 1) {
        uint32_t first = at[__builtin_ctz(left)] / SHARED_WORD;
        if (first == last)
            continue;
        last = first;
        for (uint32_t w = first; w < first + words; w++) {
            uint32_t bank = w % SHARED_BANKS, bit = 1u << bank;
            if (!(known & bit))
                word[bank] = w;
            else if (word[bank] != w)
                return false;
            known |= bit;
        }
    }
    return true;
}

/* The most different words of one bank that the lanes of part touch. */
static uint32_t conflicts(uint32_t part, const uint32_t *at, uint32_t words) {
    struct seen seen;
    uint8_t bank[SHARED_BANKS] = {0}, most = 0;
    seen_clear(&seen, MEM_LANES * words);
    for (uint32_t left = part; left; left &= left - 1) {
        uint32_t first = at[__builtin_ctz(left)] / SHARED_WORD;
        for (uint32_t w = first; w < first + words; w++) {
            uint32_t known = seen.count;
            if (seen_find(&seen, w) == known && ++bank[w % SHARED_BANKS] > most)
                most = bank[w % SHARED_BANKS];
        }
    }
    return most;
}

/* Whether a full warp's words follow one another, or are all the same: the usual case. */
static bool in_a_row(const uint32_t *at) {
    uint32_t same = 0, stride = 0, first = at[0] / SHARED_WORD;
    for (uint32_t l = 0; l < MEM_LANES; l++) {
        uint32_t word = at[l] / SHARED_WORD;
        same |= word ^ first;
        stride |= word ^ (first + l);
    }
    return !same || !stride;
}

uint32_t shared_passes(const struct coalescer_spec *s, const struct coalescer_inst *i, const uint32_t *at) {
    uint32_t words = i->bytes > SHARED_WORD ? i->bytes / SHARED_WORD : 1, lanes = part_lanes(s, i->bytes),
             passes = 0;
    if (words == 1 && i->mask == UINT32_MAX && in_a_row(at))
        return 1;
    for (uint32_t first = 0; first < MEM_LANES; first += lanes) {
        uint32_t part = i->mask & (uint32_t)((UINT64_C(1) << lanes) - 1) << first;
        passes += !part ? 0 : one_of_each(part, at, words) ? 1 : conflicts(part, at, words);
    }
    return passes ? passes : 1;
}

uint32_t shared_atomic_passes(const struct coalescer_inst *i, const uint32_t *at) {
    uint8_t bank[SHARED_BANKS] = {0}, most = 1;
    for (uint32_t left = i->mask; left; left &= left - 1) {
        uint32_t b = at[__builtin_ctz(left)] / SHARED_WORD % SHARED_BANKS;
        if (++bank[b] > most)
            most = bank[b];
    }
    return most;
}
