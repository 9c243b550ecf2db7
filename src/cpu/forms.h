/* Operands of instructions: what decoder and printer share. */
#ifndef REPRISE_CPU_FORMS_H
#define REPRISE_CPU_FORMS_H

#include "cpu/a64.h"

/* The fields of a word by letter. Making an instruction of them may change some: z becomes the size of the
 * elements where it is told in other ways, m a whole register number; x and y become indices of elements. */
struct a64_fields {
    const struct a64_info *row;
    uint32_t word;
    uint64_t pc;
    uint32_t at[26];
};

#define FIELD(f, letter) ((f)->at[(letter) - 'a'])

/* Fills immediates of out, whose registers follow later. Returns the executor's variant, or -1: unallocated.
 */
typedef int form_make(struct a64_fields *f, struct a64_inst *out);

struct a64_form {
    form_make *make;
    const char *operands;
};
extern const struct a64_form a64_forms[];

/* A register among the operands of a form. */
struct form_reg {
    char role, kind, letter;
};
/* Steps through the registers of operands: the text behind the next one, or NULL. */
const char *form_next_reg(const char *operands, struct form_reg *r);

/* Splits a word into its fields; row is its instruction. */
void a64_split(const struct a64_info *row, uint32_t word, uint64_t pc, struct a64_fields *f);

/* Registers of the system that programs may use. */
struct a64_sysreg {
    const char *name;
    uint16_t code; /* op1, CRn, CRm, op2; op0 is 3 */
    bool writable;
};
enum a64_sysreg_id {
    SYS_NZCV,
    SYS_FPCR,
    SYS_FPSR,
    SYS_TPIDR,
    SYS_TPIDRRO,
    SYS_CTR,
    SYS_DCZID,
    SYS_CNTFRQ,
    SYS_CNTVCT,
    SYS_REGS
};
extern const struct a64_sysreg a64_sysregs[SYS_REGS];

/* The truth table of a condition over the flags: bit NZCV tells whether it holds. */
uint16_t a64_condition(uint32_t cond);
/* The value of the immediate of a logical instruction; false: reserved. */
bool a64_bitmask(uint32_t n, uint32_t immr, uint32_t imms, bool wide, uint64_t *value);
/* The floating-point number that eight bits stand for, in the format of 8 << z bits. */
uint64_t a64_float(uint32_t imm8, uint32_t z);

#endif
