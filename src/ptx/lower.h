/* Lowering of PTX functions to machine code with virtual registers.
 *
 * Conventions. A PTX register of up to 32 bits is one word; 8- and 16-bit values have undefined upper bits,
 * so whoever needs them extended does so (ext_src). 64-bit registers are groups of two words. Local memory of
 * a called function is addressed relative to its frame register; arguments travel in local memory at the
 * start of the callee's frame, results first. Generic addresses of shared and local memory lie in two windows
 * at the bottom of the device's address range. */
#ifndef REPRISE_PTX_LOWER_H
#define REPRISE_PTX_LOWER_H

#include <setjmp.h>

#include "ir/ir.h"
#include "ptx/ptx.h"

/* Where a module's variables and functions live; made once per module by ptx_layout. */
struct ptx_layout {
    uint32_t symbol_bytes; /* size of the symbol bank */
    uint32_t const_bytes;  /* size of the .const space */
};

/* Assigns var->user: slot offset of .global variables and references, offset of .const variables; func->user:
 * slot offset of functions. Returns false with a diagnostic when .const exceeds 64 KB. */
bool ptx_layout(struct ptx_module *m, struct ptx_layout *out, struct diag *d);
/* Slot in the symbol bank of a function's address; its value there is FUNC_ADDR(index of the function). */
uint32_t ptx_func_slot(const struct ptx_func *f);

/* Lowers kernel k and all it calls into a new program; NULL when it cannot be, with the reason in d. */
struct program *ptx_lower(struct ptx_module *m, struct ptx_func *k, struct diag *d);

/* Offset in the parameter buffer of each of k's parameters, in order; returns the buffer's size. */
uint32_t ptx_param_offset(const struct ptx_func *k, uint32_t i);
uint32_t ptx_param_bytes(const struct ptx_func *k);

/* ---- shared by the lower_*.c files ---- */

struct lower {
    struct ptx_module *mod;
    struct program *prog;
    struct ptx_func *func;
    struct fn *fn;
    const struct ptx_inst *in;
    struct diag *diag;
    jmp_buf *fail;         /* where lower_refuse goes */
    uint32_t block;        /* being filled */
    uint32_t cc;           /* predicate that holds the carry flag */
    uint32_t vmark, pmark; /* registers from here on are temporaries of the current instruction */
    uint32_t top;          /* register that holds the end of what alloca gave; VREG_RZ where nobody asks */
    uint32_t exit_block;   /* of a called function */
    uint32_t *label_block; /* block of each label */
    struct map fn_index;   /* ptx_func -> index in prog->fns, plus one */
    struct map places;     /* ptx_var -> offset plus one: shared, local, incoming and outgoing parameters */
    VEC(struct ptx_func *) queue; /* functions to lower, in the order of prog->fns */
    bool indirect;                /* all functions whose address is taken were queued */
};

typedef void lower_fn(struct lower *l);

/* No operand. */
static const struct opd none = {0};

/* Gives up on this kernel: says why, with the instruction's place. Does not return. */
_Noreturn void lower_refuse(struct lower *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same of an instruction, or a form of it, that is not simulated, with what to do about it. */
_Noreturn void lower_refuse_form(struct lower *l);

static inline uint32_t align_up(uint32_t x, uint32_t align) {
    return align > 1 ? (x + align - 1) & ~(align - 1) : x;
}
static inline uint32_t var_align(const struct ptx_var *v) {
    return v->align ? v->align : 1;
}
static inline bool type_is_reference(enum ptx_type t) {
    return t == PTX_TEXREF || t == PTX_SURFREF || t == PTX_SAMPLERREF;
}
bool type_is_float(enum ptx_type t);
bool type_is_signed(enum ptx_type t);
bool type_is_half(enum ptx_type t); /* f16, bf16 and their pairs */
uint32_t type_words(enum ptx_type t);
/* The machine type for memory, conversion and atomics. */
enum mtype type_machine(enum ptx_type t);
static inline enum ptx_type in_type(const struct lower *l, uint32_t i) {
    return i < l->in->ntypes ? (enum ptx_type)l->in->types[i] : PTX_NONE;
}
static inline bool has(const struct lower *l, enum ptx_mod m) {
    return ptx_has(l->in, m);
}
/* Operand i, or a refusal when the instruction has fewer. */
const struct ptx_opd *arg(struct lower *l, uint32_t i);

uint32_t tmp(struct lower *l, uint32_t words);
uint32_t tmp_pred(struct lower *l);

/* Appends i, guarded like the PTX instruction (temporaries of pure operations that cannot fault need no
 * guard), after moving operands that the form does not allow as immediates or constants into registers. */
void emit(struct lower *l, struct inst i);
/* Shorthands: op with operands; they return nothing and write d. */
struct inst mk(enum op op, struct opd d, struct opd a, struct opd b, struct opd c);
void emit1(struct lower *l, enum op op, struct opd d, struct opd a);
void emit2(struct lower *l, enum op op, struct opd d, struct opd a, struct opd b);
void emit3(struct lower *l, enum op op, struct opd d, struct opd a, struct opd b, struct opd c);
void emit_mode(struct lower *l, enum op op, struct opd d, struct opd a, struct opd b, struct opd c,
               uint32_t mode, bool sgn);
/* IADDC: d = a + b + cin with carry out; ISUBC: d = a + ~b + cin, so that a carry means no borrow. cin and
 * cout are predicates, VPRED_PT for none. */
void emit_carry(struct lower *l, enum op op, struct opd d, uint32_t cout, struct opd a, struct opd b,
                uint32_t cin);
/* A new predicate that is a cmp b (32-bit). */
uint32_t emit_isetp(struct lower *l, uint32_t cmp, bool sgn, struct opd a, struct opd b);
void emit_sel(struct lower *l, struct opd d, struct opd a, struct opd b, struct popd p);
void emit_plop(struct lower *l, uint32_t d, enum bool_op op, struct popd a, struct popd b);

/* Word w of operand o read as type t (immediates are converted to t). */
struct opd src_word(struct lower *l, const struct ptx_opd *o, enum ptx_type t, uint32_t w);
/* The whole operand as one machine operand: a register group, a constant pair or, for one word, anything. */
struct opd src_group(struct lower *l, const struct ptx_opd *o, enum ptx_type t);
/* Low word, sign- or zero-extended to 32 bits if t is narrower. */
struct opd src_ext(struct lower *l, const struct ptx_opd *o, enum ptx_type t);
struct popd src_pred(struct lower *l, const struct ptx_opd *o);
/* Destination register word / group; a sink gives RZ. */
struct opd dst_word(struct lower *l, const struct ptx_opd *o, uint32_t w);
uint32_t dst_words(struct lower *l, const struct ptx_opd *o);
uint32_t dst_pred(struct lower *l, const struct ptx_opd *o);
/* Two words in one new register group. */
struct opd make_pair(struct lower *l, struct opd lo, struct opd hi);
struct opd pair_word(struct opd group, uint32_t w);
/* 64 bits in the literal bank. */
struct opd literal64(struct lower *l, uint64_t bits);
uint32_t f32_of_double(uint64_t bits);

/* An address operand ready for a memory instruction. */
struct address {
    struct opd base;
    int32_t imm;
    bool frame, a64;
};
enum mem_space inst_space(struct lower *l);
struct address lower_address(struct lower *l, const struct ptx_opd *o, enum mem_space space);
/* The address as a register, its offset added. */
struct opd lower_address_sum(struct lower *l, const struct address *a);

/* Where what is passed to a callee lies, at an offset from its frame: behind the caller's frame, or behind
 * what alloca gave it and LINKAGE bytes in which the caller keeps its frame register. */
enum { LINKAGE = 16 };
struct address lower_outgoing(struct lower *l, int32_t at);
/* At the start of a function that uses alloca: nothing is allocated. */
void lower_stack_begin(struct lower *l);
/* True when v is a parameter or result of f itself rather than of a call it makes. */
bool lower_is_incoming(const struct ptx_func *f, const struct ptx_var *v);
/* Index of f in prog->fns, queueing it to be lowered when it is new. */
uint32_t lower_fn_index(struct lower *l, struct ptx_func *f);
/* Places parameters one after another from offset at on; returns the end. */
uint32_t lower_place_params(struct lower *l, struct ptx_var *const *vars, uint32_t n, uint32_t at);
/* Places the parameters of all calls in the function, relative to the end of its frame. */
void lower_plan_calls(struct lower *l);

/* CMP_* set of the instruction's comparison word. */
uint32_t inst_cmp(struct lower *l);
enum rounding inst_rounding(struct lower *l);
/* Compares operands ia, ib of type t into pd (and its complement into pq), combined with c by bop. */
void lower_compare(struct lower *l, enum ptx_type t, uint32_t cmp, const struct ptx_opd *a,
                   const struct ptx_opd *b, uint32_t pd, uint32_t pq, enum bool_op bop, struct popd c);

/* One per PTX opcode that has a meaning here; the table in lower_table.c names them. */
/* The formatter never settles on how to break this list. */
/* clang-format off */
#define LOWER_FNS(X)                                                                                         \
    X(add) X(sub) X(mul) X(mad) X(mul24) X(mad24) X(sad) X(div) X(rem) X(abs) X(neg) X(minmax) X(popc)       \
    X(clz) X(bfind) X(fns) X(brev) X(bfe) X(bfi) X(bmsk) X(szext) X(dp) X(testp) X(copysign) X(fma)          \
    X(mufu) X(set) X(setp) X(selp) X(slct) X(logic) X(not) X(cnot) X(lop3) X(shf) X(shift) X(mov) X(shfl)    \
    X(prmt) X(ld) X(st) X(nothing) X(createpolicy) X(isspacep) X(cvta) X(cvt) X(mapa) X(getctarank) X(cp)    \
    X(tex) X(txq) X(suld) X(sust) X(sured) X(bra) X(brx) X(call) X(ret) X(exit) X(bar) X(membar) X(atom)     \
    X(vote) X(match) X(activemask) X(redux) X(elect) X(mbarrier) X(video) X(simd) X(nanosleep) X(trap)       \
    X(mma) X(wmma) X(ldmatrix) X(stmatrix) X(movmatrix) X(alloca) X(stacksave) X(stackrestore) X(annotation)
/* clang-format on */
#define X(name) lower_fn lower_##name;
LOWER_FNS(X)
#undef X

#endif
