/* What the fields of each form mean. */
#include "cpu/forms.h"

#include <stddef.h>

#include "cpu/memo.h"

const struct a64_sysreg a64_sysregs[SYS_REGS] = {
    [SYS_NZCV] = {"nzcv", 0x1a10, true},
    [SYS_FPCR] = {"fpcr", 0x1a20, true},
    [SYS_FPSR] = {"fpsr", 0x1a21, true},
    [SYS_TPIDR] = {"tpidr_el0", 0x1e82, true},
    [SYS_TPIDRRO] = {"tpidrro_el0", 0x1e83, false},
    [SYS_CTR] = {"ctr_el0", 0x1801, false},
    [SYS_DCZID] = {"dczid_el0", 0x1807, false},
    [SYS_CNTFRQ] = {"cntfrq_el0", 0x1f00, false},
    [SYS_CNTVCT] = {"cntvct_el0", 0x1f02, false},
};

#define F(letter) FIELD(f, letter)

static int64_t sign_extend(uint64_t v, int bits) {
    return (int64_t)(v << (64 - bits)) >> (64 - bits);
}

static uint64_t ones(uint32_t n) {
    return n >= 64 ? ~0ull : (1ull << n) - 1;
}

static uint64_t rotate_in(uint64_t v, uint32_t by, uint32_t width) {
    return by ? ((v >> by) | (v << (width - by))) & ones(width) : v;
}

uint16_t a64_condition(uint32_t cond) {
    uint16_t table = 0;
    for (uint32_t flags = 0; flags < 16; flags++) {
        bool n = flags & 8, z = flags & 4, c = flags & 2, v = flags & 1;
        const bool holds[] = {z, c, n, v, c && !z, n == v, n == v && !z, true};
        bool h = holds[cond >> 1];
        if ((cond & 1) && cond != 15)
            h = !h;
        table |= (uint16_t)(h << flags);
    }
    return table;
}

bool a64_bitmask(uint32_t n, uint32_t immr, uint32_t imms, bool wide, uint64_t *value) {
    if (n && !wide)
        return false;
    uint32_t sizes = n << 6 | (~imms & 63);
    if (sizes < 2)
        return false;
    uint32_t size = 1u << (31 - __builtin_clz(sizes)), s = imms & (size - 1), r = immr & (size - 1);
    if (s == size - 1)
        return false;
    uint64_t element = rotate_in(ones(s + 1), r, size);
    for (uint32_t at = size; at < 64; at *= 2)
        element |= element << at;
    *value = wide ? element : (uint32_t)element;
    return true;
}

uint64_t a64_float(uint32_t imm8, uint32_t z) {
    uint32_t ebits = z == 3 ? 11 : z == 2 ? 8 : 5, fbits = (8u << z) - 1 - ebits;
    uint64_t b = imm8 >> 6 & 1,
             exp = (b ? 0 : 1ull << (ebits - 1)) | (b ? ones(ebits - 3) << 2 : 0) | (imm8 >> 4 & 3);
    return (uint64_t)(imm8 >> 7) << ((8 << z) - 1) | exp << fbits | (uint64_t)(imm8 & 15) << (fbits - 4);
}

/* ---- integers ---- */

static int make_plain(struct a64_fields *f, struct a64_inst *i) {
    i->imm = F('i');
    return 0;
}

static int make_width(struct a64_fields *f, struct a64_inst *i) {
    (void)i;
    return (int)F('s');
}

static int make_adr(struct a64_fields *f, struct a64_inst *i) {
    i->imm = (int64_t)f->pc + sign_extend(F('i') << 2 | F('j'), 21);
    return 0;
}

static int make_adrp(struct a64_fields *f, struct a64_inst *i) {
    i->imm = (int64_t)((f->pc & ~0xfffull) + ((uint64_t)sign_extend(F('i') << 2 | F('j'), 21) << 12));
    return 0;
}

static int make_arith_i(struct a64_fields *f, struct a64_inst *i) {
    i->imm = F('k') ? F('i') << 12 : F('i');
    return (int)F('s');
}

static int make_logic_i(struct a64_fields *f, struct a64_inst *i) {
    uint64_t v;
    if (!a64_bitmask(F('h'), F('i'), F('j'), F('s'), &v))
        return -1;
    i->imm = (int64_t)v;
    return (int)F('s');
}

static int make_movw(struct a64_fields *f, struct a64_inst *i) {
    if (!F('s') && F('h') > 1)
        return -1;
    i->aux = (uint16_t)(16 * F('h'));
    i->imm = (int64_t)((uint64_t)F('i') << i->aux);
    return (int)F('s');
}

/* A rotation and a mask do for BFM and UBFM; two shifts do for SBFM. */
static int make_bitfield(struct a64_fields *f, struct a64_inst *i) {
    uint32_t r = F('i'), s = F('j'), width = F('s') ? 64 : 32;
    if (F('h') != F('s') || r >= width || s >= width)
        return -1;
    i->aux = (uint16_t)r;
    i->imm = (int64_t)(rotate_in(ones(s + 1), r, width) & ones(((s - r) & (width - 1)) + 1));
    i->rm = (uint8_t)(width - 1 - s);
    i->ra = (uint8_t)(s >= r ? width - 1 - s + r : r - 1 - s);
    return (int)F('s');
}

static int make_extr(struct a64_fields *f, struct a64_inst *i) {
    if (F('h') != F('s') || (!F('s') && F('i') > 31))
        return -1;
    i->aux = (uint16_t)F('i');
    return (int)F('s');
}

/* Variants: no shift, LSL, LSR, ASR, ROR, for 32 and then 64 bits. */
static int make_logic(struct a64_fields *f, struct a64_inst *i) {
    if (!F('s') && F('i') > 31)
        return -1;
    i->aux = (uint16_t)F('i');
    return (int)(5 * F('s') + (F('i') ? 1 + F('k') : 0));
}

static int make_arith(struct a64_fields *f, struct a64_inst *i) {
    return F('k') == 3 ? -1 : make_logic(f, i);
}

/* Extension is a shift to the left and one back, then the shift proper. */
static int make_extended(struct a64_fields *f, struct a64_inst *i) {
    if (F('i') > 4)
        return -1;
    i->aux = (uint16_t)F('i');
    i->ra = (uint8_t)(64 - (8 << (F('k') & 3)));
    return (int)(2 * F('s') + (F('k') >> 2));
}

static int make_select(struct a64_fields *f, struct a64_inst *i) {
    i->aux = a64_condition(F('c'));
    return (int)F('s');
}

static int make_ccmp(struct a64_fields *f, struct a64_inst *i) {
    i->ra = (uint8_t)F('i');
    return make_select(f, i);
}

static int make_ccmp_i(struct a64_fields *f, struct a64_inst *i) {
    i->rm = (uint8_t)F('j');
    return make_ccmp(f, i);
}

static int branch(struct a64_fields *f, struct a64_inst *i, int bits) {
    i->imm = (int64_t)f->pc + sign_extend(F('i'), bits) * 4;
    return (int)F('s');
}

static int make_branch26(struct a64_fields *f, struct a64_inst *i) {
    return branch(f, i, 26);
}

static int make_branch19(struct a64_fields *f, struct a64_inst *i) {
    return branch(f, i, 19);
}

static int make_branch_cond(struct a64_fields *f, struct a64_inst *i) {
    i->aux = a64_condition(F('c'));
    return branch(f, i, 19);
}

static int make_branch_bit(struct a64_fields *f, struct a64_inst *i) {
    i->rm = (uint8_t)F('j');
    F('s') = F('j') >> 5;
    branch(f, i, 14);
    return 0;
}

static int make_sysreg(struct a64_fields *f, struct a64_inst *i) {
    bool read = f->word >> 21 & 1;
    for (uint32_t k = 0; k < SYS_REGS; k++)
        if (a64_sysregs[k].code == F('i') && (read || a64_sysregs[k].writable)) {
            i->aux = (uint16_t)k;
            return 0;
        }
    return -1;
}

/* ---- memory ---- */

uint32_t a64_access_size(uint32_t word) {
    uint32_t top = word >> 30, v = word >> 26 & 1;
    if ((word >> 25 & 15) == 1) /* of the memoization unit */
        return 1u << (word >> 22 & 3);
    switch (word >> 27 & 7) {
    case 5: /* pairs */
        return 4u << (v ? top : top >> 1);
    case 3: /* literals */
        return v ? 4u << top : top == 1 ? 8 : 4;
    case 1:
        if (v) { /* structures: what one register takes; a lane its element */
            uint32_t op = word >> 13 & 7, size = word >> 10 & 3;
            bool lane = word >> 24 & 1;
            return !lane     ? 8u << (word >> 30 & 1)
                   : op >= 6 ? 1u << size
                   : op >= 4 ? 4u << (size & 1)
                             : 1u << (op >> 1);
        }
        return 1u << top; /* exclusive */
    default:
        return v && (word >> 23 & 1) ? 16 : 1u << top;
    }
}

static int make_offset_scaled(struct a64_fields *f, struct a64_inst *i) {
    i->imm = (int64_t)F('i') * a64_access_size(f->word);
    return 0;
}

static int make_offset_signed(struct a64_fields *f, struct a64_inst *i) {
    i->imm = sign_extend(F('i'), 9);
    return 0;
}

/* Variants: UXTW, SXTW, 64 bits. */
static int make_offset_register(struct a64_fields *f, struct a64_inst *i) {
    if (!(F('k') & 2))
        return -1;
    i->aux = (uint16_t)(F('i') ? 31 - __builtin_clz(a64_access_size(f->word)) : 0);
    return F('k') & 1 ? 2 : (int)(F('k') >> 2);
}

static int make_literal(struct a64_fields *f, struct a64_inst *i) {
    i->rn = A64_ZERO;
    branch(f, i, 19);
    return 0;
}

static int make_offset_pair(struct a64_fields *f, struct a64_inst *i) {
    i->imm = sign_extend(F('i'), 7) * (int64_t)a64_access_size(f->word);
    return 0;
}

/* Structures always write their base back, by what rm and imm say: nothing unless they are post-indexed. */
static void increment(struct a64_fields *f, struct a64_inst *i, bool post, uint32_t bytes) {
    F('w') = bytes;
    i->rm = post && F('m') != 31 ? (uint8_t)F('m') : A64_ZERO;
    i->imm = post && F('m') == 31 ? bytes : 0;
}

static int structure(struct a64_fields *f, struct a64_inst *i, bool post) {
    if (F('z') == 3 && !F('q') && f->row->name[2] != '1')
        return -1;
    i->aux = (uint16_t)(8 << F('q'));
    increment(f, i, post, i->aux * (uint32_t)(f->row->arg - '0'));
    return (int)F('z');
}

static int make_structure(struct a64_fields *f, struct a64_inst *i) {
    return structure(f, i, false);
}

static int make_structure_post(struct a64_fields *f, struct a64_inst *i) {
    return structure(f, i, true);
}

static int spread(struct a64_fields *f, struct a64_inst *i, bool post) {
    i->aux = (uint16_t)(8 << F('q'));
    increment(f, i, post, (uint32_t)(f->row->arg - '0') << F('z'));
    return (int)F('z');
}

static int make_spread(struct a64_fields *f, struct a64_inst *i) {
    return spread(f, i, false);
}

static int make_spread_post(struct a64_fields *f, struct a64_inst *i) {
    return spread(f, i, true);
}

static int lane(struct a64_fields *f, struct a64_inst *i, uint32_t z, bool post) {
    F('z') = z;
    F('x') = F('q') << (3 - z) | F('j');
    i->aux = (uint16_t)F('x');
    increment(f, i, post, (uint32_t)(f->row->arg - '0') << z);
    return 0;
}

#define LANES(letter, z)                                                                                     \
    static int make_lane_##letter(struct a64_fields *f, struct a64_inst *i) {                                \
        return lane(f, i, z, false);                                                                         \
    }                                                                                                        \
    static int make_lane_post_##letter(struct a64_fields *f, struct a64_inst *i) {                           \
        return lane(f, i, z, true);                                                                          \
    }
LANES(b, 0)
LANES(h, 1)
LANES(s, 2)
LANES(d, 3)

/* ---- scalar floating point: variant 3f, as vectors of one element ---- */

static int make_scalar(struct a64_fields *f, struct a64_inst *i) {
    F('z') = 2 + F('f');
    i->aux = 1;
    return (int)(3 * F('f'));
}

static int make_scalar_select(struct a64_fields *f, struct a64_inst *i) {
    int variant = make_scalar(f, i);
    i->aux = a64_condition(F('c'));
    return variant;
}

static int make_scalar_ccmp(struct a64_fields *f, struct a64_inst *i) {
    i->ra = (uint8_t)F('i');
    return make_scalar_select(f, i);
}

static int make_scalar_imm(struct a64_fields *f, struct a64_inst *i) {
    int variant = make_scalar(f, i);
    i->imm = (int64_t)a64_float(F('i'), F('z'));
    return variant;
}

static int make_to_int(struct a64_fields *f, struct a64_inst *i) {
    i->aux = 0;
    F('z') = 2 + F('f');
    return (int)(2 * F('s') + F('f'));
}

static int make_to_fixed(struct a64_fields *f, struct a64_inst *i) {
    if (!F('s') && F('i') < 32)
        return -1;
    int variant = make_to_int(f, i);
    i->aux = (uint16_t)(64 - F('i'));
    return variant;
}

/* ---- vectors of integers: variants by the size of elements; aux is bytes, imm a mask of the upper half ----
 */

static int make_vector(struct a64_fields *f, struct a64_inst *i) {
    if (F('z') == 3 && !F('q'))
        return -1;
    i->aux = (uint16_t)(8 << F('q'));
    i->imm = F('q') ? -1 : 0;
    return (int)F('z');
}

static int make_vector_s(struct a64_fields *f, struct a64_inst *i) {
    F('z') = 2;
    return make_vector(f, i);
}

static int make_element(struct a64_fields *f, struct a64_inst *i) {
    i->aux = (uint16_t)(1 << F('z'));
    return (int)F('z');
}

static bool element_index(struct a64_fields *f, struct a64_inst *i) {
    switch (F('z')) {
    case 1:
        F('x') = F('h') << 2 | F('j') << 1 | F('k');
        break;
    case 2:
        F('x') = F('h') << 1 | F('j');
        F('m') |= F('k') << 4;
        break;
    case 3:
        F('x') = F('h');
        F('m') |= F('k') << 4;
        if (F('j'))
            return false;
        break;
    default:
        return false;
    }
    i->ra = (uint8_t)F('x');
    return true;
}

static int make_by_element(struct a64_fields *f, struct a64_inst *i) {
    return element_index(f, i) ? make_vector(f, i) : -1;
}

static int make_by_element_sc(struct a64_fields *f, struct a64_inst *i) {
    return element_index(f, i) ? make_element(f, i) : -1;
}

/* Long and narrow: aux picks the upper half, imm is 1 for scalars. */
static int make_longer(struct a64_fields *f, struct a64_inst *i) {
    i->aux = (uint16_t)F('q');
    return F('z') == 3 ? -1 : (int)F('z');
}

static int make_longer_sc(struct a64_fields *f, struct a64_inst *i) {
    i->imm = 1;
    return make_longer(f, i);
}

static int make_by_element_long(struct a64_fields *f, struct a64_inst *i) {
    return element_index(f, i) ? make_longer(f, i) : -1;
}

static int make_by_element_long_sc(struct a64_fields *f, struct a64_inst *i) {
    return element_index(f, i) ? make_longer_sc(f, i) : -1;
}

static int make_across(struct a64_fields *f, struct a64_inst *i) {
    return F('z') == 2 && !F('q') ? -1 : make_vector(f, i);
}

static int make_pair_d(struct a64_fields *f, struct a64_inst *i) {
    (void)i;
    F('z') = 3;
    F('q') = 1;
    return 0;
}

/* The highest bit of immh tells the size, all of immh:immb the shift. */
static bool shift_size(struct a64_fields *f, struct a64_inst *i, bool left) {
    if (F('i') < 8)
        return false;
    F('z') = 28 - (uint32_t)__builtin_clz(F('i'));
    uint32_t bits = 8u << F('z');
    F('w') = left ? F('i') - bits : 2 * bits - F('i');
    i->ra = (uint8_t)F('w');
    return true;
}

static int make_shift_right(struct a64_fields *f, struct a64_inst *i) {
    return shift_size(f, i, false) ? make_vector(f, i) : -1;
}

static int make_shift_left(struct a64_fields *f, struct a64_inst *i) {
    return shift_size(f, i, true) ? make_vector(f, i) : -1;
}

static int make_shift_right_sc(struct a64_fields *f, struct a64_inst *i) {
    return shift_size(f, i, false) ? make_element(f, i) : -1;
}

static int make_shift_left_sc(struct a64_fields *f, struct a64_inst *i) {
    return shift_size(f, i, true) ? make_element(f, i) : -1;
}

static int make_shift_narrow(struct a64_fields *f, struct a64_inst *i) {
    return shift_size(f, i, false) ? make_longer(f, i) : -1;
}

static int make_shift_narrow_sc(struct a64_fields *f, struct a64_inst *i) {
    return shift_size(f, i, false) ? make_longer_sc(f, i) : -1;
}

static int make_shift_long(struct a64_fields *f, struct a64_inst *i) {
    return shift_size(f, i, true) ? make_longer(f, i) : -1;
}

static int make_shift_long_full(struct a64_fields *f, struct a64_inst *i) {
    F('w') = 8 << F('z');
    i->ra = (uint8_t)F('w');
    return make_longer(f, i);
}

/* The lowest bit of imm5 tells the size, those above it the element. */
static bool copy_size(struct a64_fields *f, struct a64_inst *i) {
    if (!(F('i') & 15))
        return false;
    F('z') = (uint32_t)__builtin_ctz(F('i'));
    F('x') = F('i') >> (F('z') + 1);
    i->ra = (uint8_t)F('x');
    return true;
}

static int make_dup(struct a64_fields *f, struct a64_inst *i) {
    return copy_size(f, i) ? make_vector(f, i) : -1;
}

static int make_dup_sc(struct a64_fields *f, struct a64_inst *i) {
    return copy_size(f, i) ? make_element(f, i) : -1;
}

static int make_smov(struct a64_fields *f, struct a64_inst *i) {
    if (!copy_size(f, i) || F('z') > 1 + F('q'))
        return -1;
    F('s') = F('q');
    return (int)(3 * F('q') + F('z'));
}

static int make_umov(struct a64_fields *f, struct a64_inst *i) {
    if (!copy_size(f, i) || (F('z') == 3) != F('q'))
        return -1;
    F('s') = F('q');
    return (int)F('z');
}

static int make_insert(struct a64_fields *f, struct a64_inst *i) {
    if (!copy_size(f, i))
        return -1;
    F('y') = F('j') >> F('z');
    i->aux = (uint16_t)F('y');
    return (int)F('z');
}

static int make_ext(struct a64_fields *f, struct a64_inst *i) {
    if (!F('q') && F('i') > 7)
        return -1;
    i->ra = (uint8_t)F('i');
    return make_vector(f, i);
}

static int make_tbl(struct a64_fields *f, struct a64_inst *i) {
    i->ra = (uint8_t)(F('i') + 1);
    return make_vector(f, i);
}

static int make_movi(struct a64_fields *f, struct a64_inst *i) {
    uint64_t v = F('i') << 5 | F('j');
    F('w') = (uint32_t)v;
    switch (f->row->arg) {
    case 's':
        v <<= 8 * F('k');
        break;
    case 'm': /* shifts ones in */
        v = F('k') ? v << 16 | 0xffff : v << 8 | 0xff;
        break;
    case 'h':
        v <<= 8 * F('k');
        v |= v << 16;
        break;
    default:
        v |= v << 8;
        v |= v << 16;
        break;
    }
    F('z') = f->row->arg == 'b' ? 0 : f->row->arg == 'h' ? 1 : 2;
    i->aux = (uint16_t)(8 << F('q'));
    i->imm = (int64_t)(v | v << 32);
    return 0;
}

static int make_movi_d(struct a64_fields *f, struct a64_inst *i) {
    uint64_t v = 0, bits = F('i') << 5 | F('j');
    for (int k = 0; k < 8; k++)
        if (bits >> k & 1)
            v |= 0xffull << 8 * k;
    F('z') = 3;
    F('q') = f->row->arg == '2';
    i->aux = (uint16_t)(8 << F('q'));
    i->imm = (int64_t)v;
    return 0;
}

static int make_fmov_v(struct a64_fields *f, struct a64_inst *i) {
    F('z') = f->row->arg == 'd' ? 3 : 2;
    if (F('z') == 3)
        F('q') = 1;
    F('i') = F('i') << 5 | F('j');
    uint64_t v = a64_float(F('i'), F('z'));
    i->imm = (int64_t)(F('z') == 3 ? v : v | v << 32);
    i->aux = (uint16_t)(8 << F('q'));
    return 0;
}

/* ---- vectors of floating-point numbers: variant 3f + log2 of their number, which is in aux ---- */

static int fvector(struct a64_fields *f, struct a64_inst *i, bool scalar) {
    uint32_t dbl = F('z') - 2;
    if (scalar) {
        i->aux = 1;
        return (int)(3 * dbl);
    }
    if (dbl && !F('q'))
        return -1;
    uint32_t log = 1 + F('q') - dbl;
    i->aux = (uint16_t)(1 << log);
    return (int)(3 * dbl + log);
}

static int make_fvector(struct a64_fields *f, struct a64_inst *i) {
    F('z') = 2 + F('f');
    return fvector(f, i, false);
}

static int make_fby_element(struct a64_fields *f, struct a64_inst *i) {
    F('z') = 2 + F('f');
    return element_index(f, i) ? fvector(f, i, false) : -1;
}

static int make_fby_element_sc(struct a64_fields *f, struct a64_inst *i) {
    F('z') = 2 + F('f');
    return element_index(f, i) ? fvector(f, i, true) : -1;
}

static int make_fpair(struct a64_fields *f, struct a64_inst *i) {
    F('z') = 2 + F('f');
    F('q') = F('f');
    i->aux = 2;
    return (int)F('f');
}

static int make_facross(struct a64_fields *f, struct a64_inst *i) {
    F('z') = 2;
    F('q') = 1;
    i->aux = 4;
    return 0;
}

static int make_fixed(struct a64_fields *f, struct a64_inst *i) {
    return shift_size(f, i, false) && F('z') >= 2 ? fvector(f, i, false) : -1;
}

static int make_fixed_sc(struct a64_fields *f, struct a64_inst *i) {
    return shift_size(f, i, false) && F('z') >= 2 ? fvector(f, i, true) : -1;
}

static int make_convert_long(struct a64_fields *f, struct a64_inst *i) {
    F('z') = 1 + F('f');
    i->aux = (uint16_t)F('q');
    return (int)F('f');
}

static int make_convert_odd(struct a64_fields *f, struct a64_inst *i) {
    F('z') = 2;
    i->aux = (uint16_t)F('q');
    return 0;
}

static int make_convert_odd_sc(struct a64_fields *f, struct a64_inst *i) {
    i->imm = 1;
    return make_convert_odd(f, i);
}

/* ---- the memoization unit: ra is the table, rm what else the instruction says ---- */

static int make_memo(struct a64_fields *f, struct a64_inst *i) {
    i->ra = (uint8_t)F('h');
    i->rm = (uint8_t)F('j');
    return (int)F('z');
}

static int make_ld_crc(struct a64_fields *f, struct a64_inst *i) {
    i->imm = (int64_t)F('i') << F('z');
    return make_memo(f, i);
}

/* Kinds are those of enum memo_kind: a register of integers holds one, or several numbers of a kind. */
static int make_update(struct a64_fields *f, struct a64_inst *i) {
    if (F('j') == MEMO_FLOAT || F('j') >= MEMO_KINDS || (F('j') && F('z') < 3))
        return -1;
    return make_memo(f, i);
}

static int make_update_f(struct a64_fields *f, struct a64_inst *i) {
    int variant = make_memo(f, i);
    i->rm = 1;
    return variant;
}

static int make_invalidate(struct a64_fields *f, struct a64_inst *i) {
    i->ra = (uint8_t)F('h');
    return 0;
}

const struct a64_form a64_forms[] = {
#define FORM(id, make, operands) {make_##make, operands},
#include "cpu/forms.def"
#undef FORM
};
