#include "cpu/rewrite.h"

#include <elf.h>
#include <string.h>

#include "cpu/memo.h"

/* Instructions, as far as they are needed here. */
enum {
    OP_B = 0x14000000,
    OP_B_NE = 0x54000001,
    OP_BL = (int)0x94000000,
    OP_LD_CRC = 0x22000000,
    OP_ADD_IMM = (int)0x91000000,
    OP_REG_CRC = 0x42000000,
    OP_LOOKUP = 0x62000000,
    OP_UPDATE = (int)0x82000000,
    OP_INVALIDATE = (int)0xa2000000,
    OP_FP = 0x01000000, /* the same with a floating-point register */
    OP_FMOV_S_W = 0x1e270000,
    OP_FMOV_W_S = 0x1e260000,
    OP_FMOV_WIDE = (int)0x80400000, /* the same, of eight bytes */
    OP_MOV_WIDE = (int)0x80000000,
    OP_MOV_W = 0x2a0003e0,
    OP_LSR_32 = (int)0xd360fc00,
    OP_ORR_LSL_32 = (int)0xaa008000,
};

struct writer {
    uint8_t *file;
    size_t size;
    uint64_t at; /* address of the code behind the program */
    VEC(uint32_t) code;
    bool failed;
};

static void put(struct writer *w, uint32_t word) {
    vec_push(&w->code, word);
}

static uint64_t here(const struct writer *w) {
    return w->at + 4ull * w->code.len;
}

static uint32_t branch(uint64_t from, uint64_t to) {
    return OP_B | ((uint32_t)((to - from) >> 2) & 0x3ffffff);
}

static void put_branch(struct writer *w, uint64_t to) {
    put(w, branch(here(w), to));
}

/* The word of the program at an address; NULL when that is not in the file. */
static uint8_t *word_at(struct writer *w, uint64_t address) {
    Elf64_Ehdr h;
    memcpy(&h, w->file, sizeof h);
    for (uint32_t k = 0; k < h.e_phnum; k++) {
        Elf64_Phdr p;
        memcpy(&p, w->file + h.e_phoff + k * sizeof p, sizeof p);
        uint64_t from = address - p.p_vaddr;
        if (p.p_type == PT_LOAD && address >= p.p_vaddr && p.p_filesz >= 4 && from <= p.p_filesz - 4 &&
            p.p_offset <= w->size && w->size - p.p_offset >= 4 && from <= w->size - p.p_offset - 4)
            return w->file + p.p_offset + from;
    }
    w->failed = true;
    return NULL;
}

/* Makes the instruction at an address a branch to here; the instruction. */
static uint32_t divert(struct writer *w, uint64_t address) {
    uint8_t *at = word_at(w, address);
    uint32_t word = 0, new = branch(address, here(w));
    if (at) {
        memcpy(&word, at, 4);
        memcpy(at, &new, 4);
    }
    return word;
}

/* An instruction of the program that stands elsewhere now: calls still go where they went. */
static void put_moved(struct writer *w, uint32_t word, uint64_t from) {
    int64_t by = (int64_t)(int32_t)(word << 6) >> 6;
    bool call = (word & 0xfc000000) == (uint32_t)OP_BL;
    put(w, call ? (uint32_t)OP_BL | (branch(here(w), from + 4 * (uint64_t)by) & 0x3ffffff) : word);
}

static bool is_fp(const struct region_value *v) {
    return v->reg >= A64_V0;
}

/* An instruction of the unit with a register of a value; at: where the register stands. */
static uint32_t unit(uint32_t op, const struct region_value *v, uint32_t table, uint32_t at) {
    return op | (is_fp(v) ? OP_FP : 0) | (v->bytes == 8 ? 3u : 2u) << 22 | table << 19 |
           (uint32_t)(v->reg & 31) << at;
}

static uint32_t move_from(const struct region_value *v, uint32_t to) {
    return is_fp(v) ? (uint32_t)OP_FMOV_W_S | (v->reg & 31u) << 5 | to
                    : (uint32_t)OP_MOV_W | (uint32_t)v->reg << 16 | to;
}

static uint32_t move_to(const struct region_value *v, uint32_t from) {
    uint32_t wide = v->bytes == 8 ? is_fp(v) ? OP_FMOV_WIDE : OP_MOV_WIDE : 0;
    return (is_fp(v) ? (uint32_t)OP_FMOV_S_W | from << 5 | (v->reg & 31u)
                     : (uint32_t)OP_MOV_W | from << 16 | v->reg) |
           wide;
}

/* Low bits that are cleared of an input: none of eight bytes of an integer, which may be an address. */
static uint32_t cleared(bool fp, uint32_t bytes, uint8_t bits) {
    uint32_t most = 8 * bytes - 1;
    return !fp && bytes == 8 ? 0 : bits < most ? bits : most;
}

/* Loads an input that a register leads to and hashes it. */
static void put_pointed(struct writer *w, const struct region *r, const struct pointed *p, uint32_t table,
                        uint8_t bits) {
    uint32_t log = (uint32_t)__builtin_ctz(p->bytes), base = p->reg, n = (uint32_t)p->offset >> log;
    if (n > 7 || p->offset % p->bytes) { /* more than the instruction has room for */
        put(w, (uint32_t)OP_ADD_IMM | (uint32_t)p->offset << 10 | base << 5 | r->pointer_scratch);
        base = r->pointer_scratch;
        n = 0;
    }
    put(w, (uint32_t)OP_LD_CRC | log << 22 | table << 19 | cleared(p->is_fp, p->bytes, bits) << 13 | n << 10 |
               base << 5 | r->pointer_scratch);
}

/* Hashes the inputs, looks up; where it hits, sets the outputs and does what passengers do. behind: the code
 * that goes on behind the block. */
static void put_begin(struct writer *w, const struct region *r, uint32_t table, uint8_t bits,
                      uint64_t behind) {
    uint32_t first = divert(w, r->begin), t = r->scratch;
    struct region_value both = {r->scratch, (uint8_t)(r->outputs == 2 ? 8 : r->output[0].bytes)};
    for (uint32_t k = 0; k < r->loads; k++)
        put(w, r->load[k]);
    for (uint32_t k = 0; k < r->inputs; k++) {
        uint32_t n = cleared(is_fp(&r->input[k]), r->input[k].bytes, bits);
        put(w, unit(OP_REG_CRC, &r->input[k], table, 5) | n << 13);
    }
    for (uint32_t k = 0; k < r->pointers; k++)
        put_pointed(w, r, &r->pointed[k], table, bits);
    put(w, unit(OP_LOOKUP, r->direct ? &r->output[0] : &both, table, 0));
    uint32_t miss = w->code.len;
    put(w, OP_B_NE);
    for (uint32_t k = 0; k < r->passengers; k++) /* which may read and write what an output will be in */
        put(w, r->passenger[k]);
    if (!r->direct)
        put(w, move_to(&r->output[0], t));
    if (r->outputs == 2) {
        put(w, (uint32_t)OP_LSR_32 | t << 5 | t);
        put(w, move_to(&r->output[1], t));
    }
    put_branch(w, behind);
    w->code.at[miss] |= (w->code.len - miss) << 5;
    put_moved(w, first, r->begin);
    put_branch(w, r->begin + 4);
}

/* Puts the result into the table, then goes on behind the block; where that begins. */
static uint64_t put_end(struct writer *w, const struct region *r, uint32_t table) {
    uint32_t last = divert(w, r->end), t = r->scratch, u = r->scratch2;
    if (r->outputs == 1) {
        put(w, unit(OP_UPDATE, &r->output[0], table, 5));
    } else {
        bool floats = is_fp(&r->output[0]) && is_fp(&r->output[1]);
        struct region_value both = {r->scratch, 8};
        put(w, move_from(&r->output[0], t));
        put(w, move_from(&r->output[1], u));
        put(w, (uint32_t)OP_ORR_LSL_32 | u << 16 | t << 5 | t);
        put(w, unit(OP_UPDATE, &both, table, 5) | (uint32_t)(floats ? MEMO_TWO_FLOATS : MEMO_TWO_INTEGERS)
                                                      << 13);
    }
    uint64_t behind = here(w);
    put_moved(w, last, r->end);
    put_branch(w, r->end + 4);
    return behind;
}

/* Where functions of blocks begin, tables are forgotten. */
static void put_entries(struct writer *w, const struct region *blocks, uint32_t n) {
    for (uint32_t k = 0; k < n; k++) {
        bool first = blocks[k].entry != 0;
        for (uint32_t o = 0; o < k; o++)
            first &= blocks[o].entry != blocks[k].entry;
        if (!first)
            continue;
        uint32_t word = divert(w, blocks[k].entry);
        for (uint32_t o = k; o < n; o++)
            if (blocks[o].entry == blocks[k].entry)
                put(w, (uint32_t)OP_INVALIDATE | o << 19);
        put(w, word);
        put_branch(w, blocks[k].entry + 4);
    }
}

/* The header that can become one of a segment more, and the end of the others. */
static bool find_room(const uint8_t *file, size_t size, size_t *header, uint64_t *end, struct diag *d) {
    Elf64_Ehdr h = {.e_type = ET_NONE};
    if (size >= sizeof h)
        memcpy(&h, file, sizeof h);
    bool found = false;
    *end = 0;
    if (h.e_phentsize != sizeof(Elf64_Phdr) || h.e_phoff > size ||
        (size - h.e_phoff) / sizeof(Elf64_Phdr) < h.e_phnum) {
        diag_add(d, DIAG_ERROR, "the program's headers are damaged");
        return false;
    }
    if (h.e_type != ET_EXEC) {
        diag_add(d, DIAG_ERROR,
                 "only programs at fixed addresses can be rewritten: link with -static -no-pie");
        return false;
    }
    for (uint32_t k = 0; k < h.e_phnum; k++) {
        Elf64_Phdr p;
        memcpy(&p, file + h.e_phoff + k * sizeof p, sizeof p);
        if (p.p_type == PT_LOAD && p.p_vaddr + p.p_memsz > *end)
            *end = p.p_vaddr + p.p_memsz;
        if (p.p_type == PT_NOTE && !found) {
            found = true;
            *header = h.e_phoff + k * sizeof p;
        }
    }
    if (!found)
        diag_add(d, DIAG_ERROR, "the program has no note in whose place a segment could be put");
    return found;
}

uint8_t *rewrite(const uint8_t *file, size_t size, const struct region *blocks, const uint8_t *bits,
                 uint32_t n, size_t *new_size, struct diag *d) {
    size_t header = 0, begin = (size + PAGE_SIZE - 1) / PAGE_SIZE * PAGE_SIZE;
    uint64_t end;
    if (!n) { /* then there is nothing to put behind it */
        uint8_t *same = xmalloc(size);
        memcpy(same, file, size);
        *new_size = size;
        return same;
    }
    if (!find_room(file, size, &header, &end, d))
        return NULL;
    struct writer w = {
        .file = xmalloc(size), .size = size, .at = (end + PAGE_SIZE - 1) & ~(PAGE_SIZE - 1ull)};
    memcpy(w.file, file, size);
    for (uint32_t k = 0; k < n; k++) {
        uint64_t behind = put_end(&w, &blocks[k], k);
        put_begin(&w, &blocks[k], k, bits[k], behind);
    }
    put_entries(&w, blocks, n);
    uint8_t *out = NULL;
    if (w.failed) {
        diag_add(d, DIAG_ERROR, "a block is not in the program's file");
    } else {
        uint64_t bytes = 4ull * w.code.len;
        Elf64_Phdr p = {.p_type = PT_LOAD,
                        .p_flags = PF_R | PF_X,
                        .p_offset = begin,
                        .p_vaddr = w.at,
                        .p_paddr = w.at,
                        .p_filesz = bytes,
                        .p_memsz = bytes,
                        .p_align = PAGE_SIZE};
        *new_size = begin + bytes;
        out = xcalloc(*new_size, 1);
        memcpy(out, w.file, size);
        memcpy(out + header, &p, sizeof p);
        memcpy(out + begin, w.code.at, bytes);
    }
    free(w.file);
    vec_free(&w.code);
    return out;
}
