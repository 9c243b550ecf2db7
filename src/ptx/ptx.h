/* PTX as parsed: the module's variables, functions and instructions with every name resolved.
 *
 * The parser knows the grammar of operands and the words that may follow an opcode; which words go together
 * and what an instruction means is the lowering's business. Everything lives in the module's arena.
 *
 * Invariants: every register operand indexes its function's regs; every symbol operand points to a variable
 * or function of the module; every label operand indexes its function's labels, all of which are placed. */
#ifndef REPRISE_PTX_PTX_H
#define REPRISE_PTX_PTX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/vec.h"

/* Fundamental types, in the order of types.def-like tables below. */
/* The formatter never settles on how to break this list. */
/* clang-format off */
#define PTX_TYPES(X)                                                                                         \
    X(NONE, "", 0) X(U8, "u8", 1) X(U16, "u16", 2) X(U32, "u32", 4) X(U64, "u64", 8) X(S8, "s8", 1)          \
    X(S16, "s16", 2) X(S32, "s32", 4) X(S64, "s64", 8) X(B8, "b8", 1) X(B16, "b16", 2) X(B32, "b32", 4)      \
    X(B64, "b64", 8) X(B128, "b128", 16) X(F16, "f16", 2) X(F16X2, "f16x2", 4) X(BF16, "bf16", 2)            \
    X(BF16X2, "bf16x2", 4) X(F32, "f32", 4) X(F32X2, "f32x2", 8) X(F64, "f64", 8) X(TF32, "tf32", 4)         \
    X(U16X2, "u16x2", 4) X(S16X2, "s16x2", 4) X(E4M3, "e4m3", 1) X(E5M2, "e5m2", 1)                          \
    X(E4M3X2, "e4m3x2", 2) X(E5M2X2, "e5m2x2", 2) X(E4M3X4, "e4m3x4", 4) X(E5M2X4, "e5m2x4", 4)              \
    X(E2M3, "e2m3", 1) X(E3M2, "e3m2", 1) X(E2M1, "e2m1", 1) X(E2M3X2, "e2m3x2", 2)                          \
    X(E3M2X2, "e3m2x2", 2) X(E2M1X2, "e2m1x2", 1) X(E2M3X4, "e2m3x4", 4) X(E3M2X4, "e3m2x4", 4)              \
    X(E2M1X4, "e2m1x4", 2) X(UE8M0, "ue8m0", 1) X(UE8M0X2, "ue8m0x2", 2) X(UE4M3, "ue4m3", 1)                \
    X(S4, "s4", 1) X(U4, "u4", 1) X(S2, "s2", 1) X(U2, "u2", 1) X(B1, "b1", 1) X(B8X16, "b8x16", 16)         \
    X(B6X16_P32, "b6x16_p32", 16) X(B6P2X16, "b6p2x16", 16) X(B4X16, "b4x16", 8)                             \
    X(B4X16_P64, "b4x16_p64", 16) X(B1024, "b1024", 128) X(PRED, "pred", 1) X(TEXREF, "texref", 8)           \
    X(SAMPLERREF, "samplerref", 8) X(SURFREF, "surfref", 8)

/* clang-format on */
enum ptx_type {
#define X(id, name, size) PTX_##id,
    PTX_TYPES(X)
#undef X
        PTX_TYPE_COUNT
};

enum ptx_space {
    SPACE_GENERIC,
    SPACE_REG,
    SPACE_SREG,
    SPACE_CONST,
    SPACE_GLOBAL,
    SPACE_LOCAL,
    SPACE_PARAM,
    SPACE_SHARED,
    SPACE_TEX
};

enum ptx_linkage { LINK_NONE, LINK_EXTERN, LINK_VISIBLE, LINK_WEAK, LINK_COMMON };

struct ptx_var;
struct ptx_func;

/* One element of an initialiser, already converted to the element type's bits, or a symbol's address. */
struct ptx_init {
    uint64_t bits;
    uint64_t offset;             /* byte offset in the variable */
    uint32_t size;               /* bytes at that offset */
    const struct ptx_var *var;   /* address of var + bits, or NULL */
    const struct ptx_func *func; /* address of func, or NULL */
    bool generic;                /* generic(sym): convert the address to generic space */
    uint8_t shift; /* mask operator 0xFF..(sym): the byte of the address taken, as a right shift */
};

/* A variable of any state space except registers; also a function's parameters. */
struct ptx_var {
    const char *name;
    enum ptx_type type;
    enum ptx_space space;
    enum ptx_linkage linkage;
    uint32_t vec;   /* 1, 2 or 4 elements of type per array element */
    uint64_t count; /* array elements, all dimensions multiplied; 1 for a scalar */
    uint64_t size;  /* bytes in all; 0 for an unsized array */
    uint32_t align;
    bool array, unsized; /* declared with []; outermost dimension left open */
    bool ptr;            /* parameter declared .ptr */
    bool managed;        /* .attribute(.managed) */
    uint32_t reg;        /* SPACE_REG, a parameter or result passed in a register: its index in func's regs */
    uint32_t at;         /* source offset */
    uint32_t ninit;
    struct ptx_init *init;       /* in increasing offset; the rest is zero */
    const struct ptx_func *func; /* the function it is declared in, or NULL at module scope */
    uint64_t user;               /* the lowering's: place assigned to it */
};

/* A register of a function. */
struct ptx_reg {
    const char *name;
    enum ptx_type type;
    uint32_t user; /* the lowering's: first virtual register */
};

enum ptx_opd_kind {
    OPD_NONE,
    OPD_REG,    /* reg */
    OPD_INT,    /* imm: 64-bit integer constant, two's complement */
    OPD_F32,    /* imm: bits of 0fXXXXXXXX */
    OPD_F64,    /* imm: bits of a decimal or 0dX.. constant */
    OPD_VAR,    /* var + imm: a variable's name, as value or inside an address */
    OPD_FUNC,   /* func: a function's name */
    OPD_SREG,   /* sreg, comp: special register, component 0..3 for .x .y .z .w, else -1 */
    OPD_LABEL,  /* label */
    OPD_SINK,   /* _ */
    OPD_VECTOR, /* { elems } */
    OPD_ADDR,   /* [ elems[0] + imm ]: elems[0] is REG, VAR (its own imm is 0), FUNC or INT; further elems for
                   tex, e.g. a VECTOR */
    OPD_LIST,   /* ( elems ): parameter list of call */
    OPD_PAIR,   /* elems[0]|elems[1]: two predicate destinations */
    OPD_TARGETS, /* label table of brx.idx, call targets or prototype: targets */
};

/* A .branchtargets, .calltargets or .callprototype label. */
struct ptx_targets {
    const char *name;
    uint32_t nlabels;
    uint32_t *labels; /* branch targets */
    uint32_t nfuncs;
    const struct ptx_func **funcs; /* call targets */
    const struct ptx_func *proto;  /* prototype: only rets and params are meaningful */
};

struct ptx_opd {
    enum ptx_opd_kind kind;
    bool neg;      /* !p, or -r / -(imm) is folded for immediates */
    int8_t comp;   /* OPD_SREG: component .x.. (0..3), else -1. A vector register is as many registers, so
                      that v.x is an OPD_REG and v alone an OPD_VECTOR of them */
    uint8_t nsel;  /* bytes or halves chosen by .b3210, .h10 on a video instruction's operand; 0 when none */
    bool sel_half; /* they are halves */
    uint16_t sel;  /* one nibble each, the last written in the lowest */
    uint16_t sreg; /* enum ptx_sreg */
    uint32_t reg, label, nelems, at; /* at: source offset */
    uint64_t imm;
    const struct ptx_var *var;
    const struct ptx_func *func;
    const struct ptx_targets *targets;
    struct ptx_opd *elems;
};

/* Special registers (without %); sregs.def has one SREG(id, "name") each. */
enum ptx_sreg {
#define SREG(id, name) SREG_##id,
#include "ptx/sregs.def"
#undef SREG
    SREG_COUNT
};

/* Opcodes: opcodes.def has OPCODE(id, "name") each; the part before the first dot. */
enum ptx_opcode {
#define OPCODE(id, name) PTXOP_##id,
#include "ptx/opcodes.def"
#undef OPCODE
    PTXOP_COUNT
};

/* Words after an opcode that are not types: MOD(id, "word") in modifiers.def, e.g. MOD(RN, "rn"),
 * MOD(L2_128B, "L2::128B"). State spaces are modifiers too (global, shared, shared::cta, ...). */
enum ptx_mod {
#define MOD(id, word) MOD_##id,
#include "ptx/modifiers.def"
#undef MOD
    MOD_COUNT
};

enum { PTX_MOD_WORDS = (MOD_COUNT + 63) / 64, PTX_MAX_TYPES = 6, PTX_MAX_OPDS = 16, PTX_MAX_ORDER = 12 };

struct ptx_inst {
    enum ptx_opcode op;
    uint8_t ntypes, nopds;
    uint8_t types[PTX_MAX_TYPES];  /* type words in order: cvt.rn.f32.s32 has F32, S32 */
    uint64_t mods[PTX_MOD_WORDS];  /* set of enum ptx_mod */
    uint16_t order[PTX_MAX_ORDER]; /* the modifiers in order of appearance (the first 12), as enum ptx_mod */
    uint8_t nmods;                 /* how many of them order holds */
    bool guarded, guard_neg;
    uint32_t guard;              /* register index */
    struct ptx_opd *opds;        /* call: [LIST of rets], FUNC or REG, [LIST of args], [TARGETS] */
    uint32_t at;                 /* source offset of the opcode */
    uint32_t line;               /* line in the PTX text, from 1 */
    uint32_t dbg_file, dbg_line; /* .loc in force; 0 when none */
    uint32_t dbg_site;           /* where that was inlined: in ptx_module.sites, plus 1; 0: nowhere */
};

static inline bool ptx_has(const struct ptx_inst *i, enum ptx_mod m) {
    return i->mods[m / 64] >> (m % 64) & 1;
}

struct ptx_label {
    const char *name;
    uint32_t inst; /* index of the instruction that follows; ninsts at the end */
};

struct ptx_func {
    const char *name;
    bool entry, defined, noreturn;
    enum ptx_linkage linkage;
    uint32_t at;
    uint32_t nparams, nrets, nregs, nvars, ninsts, nlabels;
    struct ptx_var **params, **rets;
    struct ptx_reg *regs;
    struct ptx_var **vars; /* variables declared in the body: .shared, .local, .param, .const, .global */
    struct ptx_inst *insts;
    struct ptx_label *labels;
    uint32_t maxntid[3], reqntid[3], minnctapersm, maxnreg;      /* 0 when absent */
    uint32_t maxnctapersm, maxclusterrank, reqnctapercluster[3]; /* 0 when absent */
    bool explicitcluster, blocksareclusters;
    const struct ptx_func *alias; /* .alias: what this name stands for; operands already name the target */
    const char *refused; /* why this function cannot be compiled (unknown or malformed instruction): a whole
                            diagnostic with file, line and caret; NULL when all is well */
    void *user;          /* the lowering's */
};

struct ptx_file {
    const char *name;
};

/* A place where a function was inlined, from inlined_at of .loc. */
struct ptx_site {
    uint32_t file, line, column;
    uint32_t site; /* where the function that this is in was inlined itself, plus 1; 0: nowhere */
};

struct ptx_module {
    struct arena arena;
    struct diag_source src;
    uint32_t version; /* 10 * major + minor */
    uint32_t target;  /* sm_75 -> 75 */
    const char *target_name;
    uint32_t address_bits;
    uint32_t nvars, nfuncs, nfiles;
    struct ptx_var **vars;   /* module scope, in order, and .global/.const variables of function bodies */
    struct ptx_func **funcs; /* in order; a declaration and its definition are one entry */
    struct ptx_file *files;  /* index = .file number; name NULL when unused */
    VEC(struct ptx_site) sites;
    struct map symbols; /* name -> index bookkeeping of the parser */
};

/* Parses text into a module. Returns NULL when the module cannot be used; errors and warnings are in d.
 * The text is copied. Problems inside one function's body that leave the rest readable (an opcode or word
 * we do not know) only set that function's refused. */
struct ptx_module *ptx_parse(const char *text, size_t len, const char *name, struct diag *d);
void ptx_free(struct ptx_module *m);

const char *ptx_type_name(enum ptx_type t);
uint32_t ptx_type_size(enum ptx_type t);
const char *ptx_opcode_name(enum ptx_opcode op);
const char *ptx_mod_name(enum ptx_mod m);
const char *ptx_sreg_name(enum ptx_sreg s);
/* The instruction's opcode with all its words, for messages; written to buf. */
const char *ptx_inst_text(const struct ptx_inst *i, char *buf, size_t size);

#endif
