/* Neighbouring words in one load: loads of consecutive words from one base register become one load of two or
 * four words, as vendors' compilers make them.
 *
 * The first of the loads takes the others' words along, into a group of registers; where the others stood,
 * copies remain, which copy propagation removes. That is safe when all stand in one block, the base is the
 * same, and nothing in between can write what they read. The address must be known to be a multiple of the
 * size of the whole: the trailing zero bits of every word follow from the operations that make it. Words of
 * shared, local and constant memory only; where global memory begins is not known here. */
#include <string.h>

#include "opt/pass.h"

/* REACH: how many instructions loads that are joined may stand apart: registers hold what is loaded early. */
enum { WORD = 4, MAX_WORDS = 4, ALL_BITS = 32, REACH = 48 };

struct vector {
    struct fn *f;
    struct values v;
    uint8_t *zeros; /* by value: trailing bits known to be zero, whoever wrote it */
    bool changed;
};

/* ---- trailing zeros ---- */

static uint32_t zeros_of_number(uint32_t k) {
    return k ? (uint32_t)__builtin_ctz(k) : ALL_BITS;
}

static uint32_t zeros_of(const struct vector *c, const struct opd *o) {
    if (o->kind == O_IMM)
        return zeros_of_number(o->v);
    if (o->kind != O_REG || o->mod)
        return 0;
    return is_rz(o) ? ALL_BITS : c->zeros[value_of_opd(&c->v, o)];
}

static uint32_t least(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

/* Trailing zeros of the low word that i writes. */
static uint32_t zeros_made(const struct vector *c, const struct inst *i) {
    enum { DYNAMIC_ALIGN = 4 }; /* dynamic shared memory begins at a multiple of 16 bytes */
    uint32_t z[3] = {0, 0, 0}, n = i->nsrc < 3 ? i->nsrc : 3;
    if (i->frame)
        return 0;
    for (uint32_t s = 0; s < n; s++)
        z[s] = zeros_of(c, &i->src[s]);
    switch (i->op) {
    case OP_MOV:
        return z[0];
    case OP_IADD:
    case OP_ISUB:
    case OP_OR:
    case OP_XOR:
    case OP_IMIN:
    case OP_IMAX:
    case OP_SEL:
        return least(z[0], z[1]);
    case OP_IADDC:
        return is_pf(&i->psrc[0]) ? least(z[0], z[1]) : 0;
    case OP_IADD3:
        return least(z[0], least(z[1], z[2]));
    case OP_AND:
        return z[0] > z[1] ? z[0] : z[1];
    case OP_SHL:
        return i->src[1].kind == O_IMM ? z[0] + least(i->src[1].v, ALL_BITS) : z[0];
    case OP_LEA:
        return least(z[0] + (i->m.mode & 31), z[1]);
    case OP_IMUL:
    case OP_IMULW:
        return z[0] + z[1];
    case OP_IMAD:
    case OP_IMADW:
        return least(z[0] + z[1], z[2]);
    case OP_S2R:
        return i->m.mode == SR_DYN_SMEM ? DYNAMIC_ALIGN : 0;
    default:
        return 0;
    }
}

static bool lower_zeros(struct vector *c, const struct inst *i) {
    struct span span[MAX_SPANS];
    bool changed = false;
    uint32_t n = inst_writes(&c->v, i, span);
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t w = 0; w < span[k].n; w++) {
            uint32_t made = w ? 0 : least(zeros_made(c, i), ALL_BITS);
            uint8_t *known = &c->zeros[span[k].first + w];
            if (made < *known) {
                *known = (uint8_t)made;
                changed = true;
            }
        }
    return changed;
}

/* Everything may be zero at first; what is written lowers it until nothing changes. */
static void find_zeros(struct vector *c) {
    memset(c->zeros, ALL_BITS, c->v.n);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = 0; b < c->f->blocks.len; b++)
            for (uint32_t k = 0; k < c->f->blocks.at[b].insts.len; k++)
                changed |= lower_zeros(c, &c->f->blocks.at[b].insts.at[k]);
    }
}

/* ---- loads ---- */

static bool is_candidate(const struct inst *i) {
    if (i->op != OP_LDC && (i->op != OP_LD || (i->m.space != MS_SHARED && i->m.space != MS_LOCAL)))
        return false;
    return i->m.size == WORD && i->m.vec <= 1 && inst_is_pure(i) && !i->frame && !is_guarded(i) &&
           i->nsrc == 1 && i->dst.kind == O_REG && !is_rz(&i->dst) && i->src[0].kind == O_REG && !i->m.a64 &&
           i->imm % WORD == 0;
}

static bool alike(const struct inst *a, const struct inst *b) {
    return a->op == b->op && a->m.space == b->m.space && a->m.mode == b->m.mode &&
           opd_eq(&a->src[0], &b->src[0]);
}

/* True when i may write what the load, whose base is the same there, reads, or must not be passed by it. */
static bool stops(const struct inst *i, const struct inst *load) {
    uint16_t flags = op_info[i->op].flags;
    if (!(flags & (OPF_STORE | OPF_EFFECT | OPF_ATOMIC | OPF_END)) && !i->m.vol)
        return false;
    if (i->op != OP_ST || i->m.vol)
        return true;
    if (load->op == OP_LDC)
        return false;
    if (i->m.space != load->m.space)
        return i->m.space == MS_GENERIC;
    if (i->frame || !opd_eq(&i->src[0], &load->src[0]))
        return true;
    return i->imm < load->imm + WORD && load->imm < i->imm + (int32_t)inst_access_bytes(i);
}

/* Instructions that load the words of a piece of memory, by word. */
struct piece {
    uint32_t at[MAX_WORDS]; /* index in the block, plus one */
};

static bool writes_base(const struct inst *i, const struct inst *load) {
    const struct opd *base = &load->src[0];
    return !is_rz(base) && i->dst.kind == O_REG && i->dst.v == base->v && i->dst.word <= base->word &&
           base->word < i->dst.word + inst_dst_words(i);
}

/* True when the load at index to could stand at index from as well. */
static bool can_rise(const struct block *b, uint32_t from, uint32_t to) {
    for (uint32_t k = from; k < to; k++)
        if (stops(&b->insts.at[k], &b->insts.at[to]))
            return false;
    return true;
}

/* The loads of the piece of so many words around load number at that could all stand there. */
static struct piece piece_around(const struct block *b, uint32_t at, uint32_t words) {
    const struct inst *first = &b->insts.at[at];
    int32_t bytes = (int32_t)words * WORD, start = first->imm & -bytes;
    struct piece p = {.at = {0}};
    for (uint32_t k = at; k < b->insts.len && k < at + REACH; k++) {
        const struct inst *i = &b->insts.at[k];
        if (is_candidate(i) && alike(i, first) && i->imm >= start && i->imm < start + bytes) {
            uint32_t word = (uint32_t)(i->imm - start) / WORD;
            if (!p.at[word] && can_rise(b, at, k))
                p.at[word] = k + 1;
        }
        if (writes_base(i, first))
            break;
    }
    return p;
}

static bool is_whole(const struct piece *p, uint32_t words) {
    for (uint32_t w = 0; w < words; w++)
        if (!p->at[w])
            return false;
    return true;
}

static struct inst copy_of(const struct inst *load, uint32_t group, uint32_t word) {
    struct inst i = inst_new(OP_MOV);
    inst_from(&i, load);
    i.dst = load->dst;
    i.nsrc = 1;
    i.src[0] = opd_reg(group, word);
    return i;
}

/* One load in front of the first, and a copy in the place of each. */
static void join(struct vector *c, struct block *b, const struct piece *p, uint32_t words, uint32_t at) {
    struct inst wide = b->insts.at[at];
    uint32_t group = fn_vreg(c->f, words);
    wide.imm &= -(int32_t)(words * WORD);
    wide.m.vec = (uint8_t)words;
    wide.m.sgn = false;
    wide.dst = opd_reg(group, 0);
    for (uint32_t w = 0; w < words; w++)
        b->insts.at[p->at[w] - 1] = copy_of(&b->insts.at[p->at[w] - 1], group, w);
    block_insert(b, at, &wide, 1);
    c->changed = true;
}

static void visit_block(struct vector *c, struct block *b) {
    for (uint32_t k = 0; k < b->insts.len; k++) {
        const struct inst *i = &b->insts.at[k];
        if (!is_candidate(i))
            continue;
        uint32_t known = zeros_of(c, &i->src[0]);
        for (uint32_t words = MAX_WORDS; words > 1; words /= 2) {
            if (1u << least(known, 31) < words * WORD)
                continue;
            struct piece p = piece_around(b, k, words);
            if (!is_whole(&p, words))
                continue;
            join(c, b, &p, words, k);
            break;
        }
    }
}

bool opt_vector(struct program *p, struct fn *f) {
    (void)p;
    struct arena arena = {0};
    struct vector c = {.f = f, .v = values_of(&arena, f)};
    c.zeros = arena_array(&arena, uint8_t, c.v.n + 1);
    find_zeros(&c);
    for (uint32_t b = 0; b < f->blocks.len; b++)
        visit_block(&c, &f->blocks.at[b]);
    arena_free(&arena);
    return c.changed;
}
