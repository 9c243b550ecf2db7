/* Machine code of one kernel and the functions it calls, before and after register allocation.
 *
 * Before allocation registers are virtual: a virtual register is a group of 1, 2, 4 or 8 words that will be
 * placed together, aligned to its size (groups of 8 to 4), and an operand names (register, first word).
 * Different words of a group may be written by different instructions. After allocation (fn->allocated) an
 * operand's reg is the machine register and word is 0. Code is not in SSA form.
 *
 * Invariants (ir_validate): a block ends with BRA, BRX, RET or EXIT, or falls through into succ[0]; only its
 * last instruction is one of those; a conditional (guarded) BRA has succ = {target, next block}; operands
 * match the form. */
#ifndef REPRISE_IR_IR_H
#define REPRISE_IR_IR_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/vec.h"
#include "isa/isa.h"

enum opd_kind { O_NONE, O_REG, O_IMM, O_CONST };
enum opd_mod { OMOD_NEG = 1, OMOD_ABS = 2 };

/* A source or destination operand. RZ is O_REG with reg = VREG_RZ before and after allocation. */
struct opd {
    uint8_t kind, mod; /* mod: float neg/abs, neg applied last; for a pair they act on the 64-bit value */
    uint8_t word;      /* O_REG: first word within the virtual register */
    uint8_t bank;      /* O_CONST */
    uint32_t v; /* O_REG: register; O_IMM: 32 bits (for a 64-bit operand the high word, low word zero if the
                   form is floating point; sign-extended if integer); O_CONST: byte offset */
};
#define VREG_RZ  0xffffffffu
#define VPRED_PT 0xffffffffu

/* A predicate operand; VPRED_PT is the constant true (destination: result unused). */
struct popd {
    uint32_t id;
    bool neg;
};

struct inst {
    uint16_t op; /* enum op */
    uint8_t nsrc;
    bool frame; /* imm is relative to the end of this function's own frame: frame size is added when it is
                   known */
    struct imods m;
    struct popd guard;
    struct popd pdst[2], psrc[2];
    struct opd dst, src[4];
    int32_t imm;     /* address offset of memory operations */
    uint32_t target; /* BRA: block (after layout: instruction index); CALL: function; BRX: table; */
    uint32_t rpc;  /* BRA, BRX after layout: index of the reconvergence point; NO_RPC: none before the end */
    uint32_t line; /* line of the PTX text */
    uint32_t dbg_file, dbg_line;
    uint32_t
        dbg_site; /* where the function that line is in was inlined: ptx_module.sites, plus 1; 0: nowhere */
    uint32_t id;  /* number by which facts are kept (ir/facts.h); 0: none */
};
#define NO_RPC 0xffffffffu

/* Gives an instruction the place in the PTX and in the source that another has, from which it was made. */
static inline void inst_from(struct inst *i, const struct inst *of) {
    i->line = of->line;
    i->dbg_file = of->dbg_file;
    i->dbg_line = of->dbg_line;
    i->dbg_site = of->dbg_site;
}

struct block {
    VEC(struct inst) insts;
    VEC(uint32_t) succ, pred; /* block indices; pred is valid after cfg_edges */
    uint32_t ipdom;           /* immediate post-dominator, or NO_BLOCK; valid after cfg_joins */
    uint32_t depth;           /* loop nesting; valid after cfg_joins */
    bool no_unroll;           /* a loop that begins here stays as it is */
};
#define NO_BLOCK 0xffffffffu

/* A kernel body or a device function. */
struct fn {
    const char *name;
    VEC(struct block) blocks; /* block 0 is the entry; order is layout order */
    VEC(uint8_t) vregs;       /* words of each virtual register */
    uint32_t npreds;          /* virtual predicates */
    VEC(struct {
        uint32_t *blocks;
        uint32_t n;
    })
    tables;            /* BRX targets (after layout: instruction indices) */
    uint32_t frame;    /* bytes of local memory: variables, then spills and saved registers */
    uint32_t vars;     /* of frame: what stands before spills and saved registers */
    uint32_t args;     /* bytes of incoming results + parameters at the start of the frame */
    uint32_t outgoing; /* bytes of arguments beyond the frame that system calls read */
    bool entry, calls, allocated;
    bool in_step;   /* another stream takes the same ways: where ways meet must not change any more */
    uint32_t nregs; /* machine registers used, after allocation */
    uint32_t fp;    /* virtual register that holds the frame's address; VREG_RZ in an entry */
};

/* Register that holds the frame base of called functions; never allocated otherwise in functions that call or
 * are called. */
enum { REG_FRAME = 1 };

/* Targets of an indexed branch, as instruction indices. */
struct branch_table {
    const uint32_t *at;
    uint32_t n;
};

struct facts;

/* A kernel with everything it needs to run, or a stream of instructions beside one. Owns its memory through
 * arena. */
struct program {
    struct arena arena;
    const char *name;
    const char *source;       /* name of the text it was compiled from, or NULL */
    const char *const *files; /* by number, those that debug lines name; NULL where one has none */
    uint32_t nfiles;
    VEC(struct fn *) fns;   /* fns[0] is the kernel; CALL targets index this */
    VEC(uint32_t) fn_ids;   /* module-wide function number of each, for indirect calls */
    VEC(uint32_t) literals; /* bank BANK_LITERAL */
    uint32_t reg_limit;     /* machine registers the allocator may use */
    /* Filled by link_program: all functions in one array. */
    struct inst *code;
    uint32_t ncode;
    uint32_t *fn_entry;              /* index in code of each function */
    VEC(struct branch_table) tables; /* what BRX targets index after layout */
    uint32_t nregs;                  /* of the whole program, at least 1 */
    uint32_t shared_static, shared_align, param_bytes, const_bytes;
    uint32_t local_bytes; /* per thread; without recursion it suffices for the deepest call chain */
    bool recursive;       /* calls may nest without a static bound: stack limit applies */
    uint32_t address_bits;
    struct facts *facts;           /* of mechanisms' passes, or NULL; the kernel's own them */
    const char *remark;            /* what a mechanism's pass has to say of the whole kernel, or NULL */
    VEC(struct program *) streams; /* that mechanisms' passes added to a kernel */
    const struct program *kernel;  /* of a stream: the kernel it belongs to, whose literals it reads */
};

/* ---- building (ir/build.c) ---- */
/* A function without blocks, in the arena of p; the caller puts it into p->fns. */
struct fn *fn_create(struct program *p, const char *name);
/* A stream beside kernel p: a program of one function, an entry without blocks. It runs in the same launches,
 * with the same constant banks. */
struct program *program_stream(struct program *p, const char *name);
uint32_t fn_vreg(struct fn *f, uint32_t words);
uint32_t fn_pred(struct fn *f);
uint32_t fn_block(struct fn *f);
/* Puts n instructions in front of number at of a block; their lines become those of that instruction. */
void block_insert(struct block *b, uint32_t at, const struct inst *list, uint32_t n);
/* Releases the arrays of a block that is dropped. */
void block_free(struct block *b);
/* Releases what the arena does not own. */
void program_free(struct program *p);
/* The same for a program that ptx_lower made: the struct itself, too. NULL is ignored. */
void program_destroy(struct program *p);
/* An instruction with all predicates PT and no operands. */
struct inst inst_new(enum op op);

static inline struct opd opd_reg(uint32_t v, uint32_t word) {
    return (struct opd){.kind = O_REG, .word = (uint8_t)word, .v = v};
}
static inline struct opd opd_imm(uint32_t v) {
    return (struct opd){.kind = O_IMM, .v = v};
}
static inline struct opd opd_const(uint32_t bank, uint32_t offset) {
    return (struct opd){.kind = O_CONST, .bank = (uint8_t)bank, .v = offset};
}
static inline struct opd opd_rz(void) {
    return (struct opd){.kind = O_REG, .v = VREG_RZ};
}

/* ---- facts (ir/query.c) ---- */
/* Words of the destination register group, 0 when there is none. */
uint32_t inst_dst_words(const struct inst *i);
/* Words of source s, 0 when absent. */
uint32_t inst_src_words(const struct inst *i, uint32_t s);
/* Bytes of memory from each address of a memory instruction on that it accesses. */
uint32_t inst_access_bytes(const struct inst *i);
/* True when a plain 32-bit immediate or constant may stand as source s. */
bool inst_src_may_be_const(const struct inst *i, uint32_t s);
/* True for memory, texture, warp and control operations: any number of constant operands where they are
 * allowed. */
bool inst_has_free_operands(const struct inst *i);
/* True if the instruction may be removed when its results are unused. */
bool inst_is_pure(const struct inst *i);

/* ---- checking and printing ---- */
/* Checks the invariants; returns NULL or a description of the first violation (in the program's arena). */
const char *ir_validate(struct program *p, struct fn *f);
/* Appends one instruction / a function / the linked program as text. */
void ir_print_inst(struct str *out, const struct inst *i);
void ir_print_fn(struct str *out, const struct fn *f);
void ir_print_program(struct str *out, const struct program *p);

#endif
