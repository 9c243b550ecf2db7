/* The instructions of A64: one table, from which decoder, printer and executors come.
 *
 * A row of a64_*.def is
 *
 *   A64(id, "mnemonic", "encoding", form, argument, class, flags, template, semantics...)
 *
 * encoding   32 characters, from bit 31 down: 0 and 1 are fixed, a letter is a bit of the field of that
 * letter. The letters d n m a are registers (d the destination, or what a load or store transfers), s tells
 * 64-bit from 32-bit registers, q 128-bit from 64-bit vectors, z the size of elements (log2 of bytes), f
 * double from single, c a condition, k a shift or extension; i, j and h are immediates and pieces of them. No
 * two rows match the same word, unless the form of one of them refuses it. form       operands: which words
 * are allocated, how they are printed, which registers are read and written: forms.def. argument   a
 * character that the form may want. class      what the instruction is to the timing and energy models: enum
 * a64_class. flags      A64_*, without the prefix. template   the macro of the file that includes the row's
 * table which makes executors of the semantics.
 *
 * The instructions are those of ARMv8.0-A that run at EL0, with CRC32, without cryptography and
 * half-precision arithmetic. */
#ifndef REPRISE_CPU_A64_H
#define REPRISE_CPU_A64_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

enum a64_op {
#define A64(id, ...) A64_##id,
#include "cpu/a64.def"
#undef A64
    A64_OPS
};

/* What an instruction is to the timing and energy models. */
enum a64_class {
    CLASS_ALU,
    CLASS_SHIFT,
    CLASS_MUL,
    CLASS_DIV,
    CLASS_BRANCH,
    CLASS_LOAD,
    CLASS_STORE,
    CLASS_FMOV,
    CLASS_FADD,
    CLASS_FMUL,
    CLASS_FMA,
    CLASS_FDIV,
    CLASS_FSQRT,
    CLASS_FCMP,
    CLASS_FCVT,
    CLASS_VALU,
    CLASS_VMUL,
    CLASS_SYS,
    CLASS_MEMO,
    A64_CLASSES
};

enum {
    A64_WFLAGS = 1, /* writes the condition flags */
    A64_RFLAGS = 2, /* reads them */
    A64_MEMO = 8,   /* uses the memoization unit */
    A64_ENDS = 4,   /* the instruction behind it is never the next one, or must be decoded anew */
};

/* Numbers of registers: the general ones, then the stack pointer, what reads as zero, where results of XZR
 * go, the flags; and the vector registers. */
enum {
    A64_LR = 30,
    A64_SP = 31,
    A64_ZERO = 32,
    A64_SINK = 33,
    A64_XREGS = 34,
    A64_NZCV = 34,
    A64_MEMO_ORDER = 35,
    A64_V0 = 64,
    A64_REGS = 96
};

struct cpu;
struct block;
struct a64_inst;

/* Executes an instruction; the next one, or NULL when the CPU has to leave the chain of instructions. */
typedef const struct a64_inst *a64_fn(struct cpu *c, const struct a64_inst *i);

/* An instruction as executors want it. Registers of 31 have become A64_SP, A64_ZERO or A64_SINK. */
struct a64_inst {
    a64_fn *fn;
    uint8_t rd, rn, rm, ra;
    uint16_t aux;
    uint16_t op; /* enum a64_op */
    int64_t imm;
    union {
        struct block *to; /* where a branch went */
        const void *note; /* of a watcher */
    };
};

enum { A64_MAX_USES = 8 };

/* Registers an instruction reads and writes, flags included; XZR is neither. */
struct a64_uses {
    uint8_t nsrc, ndst;
    uint8_t src[A64_MAX_USES], dst[A64_MAX_USES];
};

struct a64_info {
    const char *name, *encoding;
    uint32_t mask, value; /* a word with (word & mask) == value has this encoding */
    uint16_t form;
    char arg;
    uint8_t class, flags;
    a64_fn *const *exec; /* by variant */
    uint32_t variants;
};

/* The row of an operation. */
const struct a64_info *a64_info(enum a64_op op);
/* Decodes a word at address pc. False: it is no instruction of this CPU, and out is untouched. */
bool a64_decode(uint32_t word, uint64_t pc, struct a64_inst *out);
/* The operation of a word, or A64_OPS. */
enum a64_op a64_find(uint32_t word);
/* Adds the instruction as assembly language without aliases; ".inst" when there is none. */
void a64_print(struct str *out, uint32_t word, uint64_t pc);
/* The registers that a word, which must be an instruction, reads and writes. */
void a64_uses(uint32_t word, struct a64_uses *u);
/* What a word would be on a CPU with more extensions, as "ldadd (atomics)"; NULL: unallocated as far as is
 * known. */
const char *a64_lacking(uint32_t word);
/* Bytes a load or store moves; of one register of a pair. */
uint32_t a64_access_size(uint32_t word);
/* Whether a load or store also writes its base register. */
bool a64_writes_base(uint32_t word);

#endif
