/* Operations that are sequences in machine code: how opt_expand writes them.
 *
 * A sequence reads the operands of one instruction and computes its result into a register of its own. It may
 * leave the way that nearly all threads take for a far block, which stands behind all other code and comes
 * back. */
#ifndef REPRISE_OPT_SEQUENCE_H
#define REPRISE_OPT_SEQUENCE_H

#include "opt/pass.h"

struct seq {
    struct fn *f;
    const struct inst *of; /* the instruction that is replaced */
    uint32_t block;        /* being filled */
    struct popd guard;     /* of what is emitted */
    VEC(uint32_t) near;    /* blocks in their order */
    VEC(uint32_t) far;     /* blocks behind them */
};

/* Computes the result of s->of. */
typedef struct opd seq_fn(struct seq *s);

/* ---- instructions without destination ---- */
struct inst seq1(enum op op, struct opd a);
struct inst seq2(enum op op, struct opd a, struct opd b);
struct inst seq3(enum op op, struct opd a, struct opd b, struct opd c);
struct inst seq_convert(enum op op, enum mtype to, enum mtype from, struct opd a);
static inline struct inst seq_round(struct inst i, enum rounding rnd) {
    i.m.rnd = (uint8_t)rnd;
    return i;
}
static inline struct inst seq_signed(struct inst i) {
    i.m.sgn = true;
    return i;
}
static inline struct inst seq_ftz(struct inst i, bool ftz) {
    i.m.ftz = ftz;
    return i;
}
static inline struct inst seq_mode(struct inst i, uint32_t mode) {
    i.m.mode = (uint16_t)mode;
    return i;
}

/* ---- emission ---- */
/* Emits i into a new register. */
struct opd seq_do(struct seq *s, struct inst i);
/* Emits i into register d. */
void seq_into(struct seq *s, struct opd d, struct inst i);
/* A copy in a register that the sequence may write. */
struct opd seq_copy(struct seq *s, struct opd a, uint32_t words);
/* Compares into a new predicate; true only where and is, too. */
struct popd seq_compare(struct seq *s, struct inst i, uint32_t cmp, struct popd and);
/* Emits i, whose first predicate destination is all it writes. */
struct popd seq_predicate(struct seq *s, struct inst i);
/* p and q joined. */
struct popd seq_join(struct seq *s, enum bool_op how, struct popd p, struct popd q);
/* An addition or subtraction (IADDC, ISUBC) into d; in: carry, or NULL; returns the one it makes. */
struct popd seq_carry(struct seq *s, enum op op, struct opd d, struct opd a, struct opd b,
                      const struct popd *in);

/* ---- ways ---- */
/* Sends threads for which p holds to a new far block, which it returns; the next block is filled from here.
 */
uint32_t seq_leave(struct seq *s, struct popd p);
/* Sends threads of a far block for which p holds to block to, early; the others go on in a new far block. */
void seq_return_if(struct seq *s, struct popd p, uint32_t to);
/* Ends the block: what follows goes to a new one, which it returns. */
uint32_t seq_next(struct seq *s);
/* Ends the block being filled with the way to block to, and goes on filling that. */
void seq_return(struct seq *s, uint32_t to);

/* ---- operands ---- */
static inline struct opd seq_neg(struct opd a) {
    a.mod ^= OMOD_NEG;
    return a;
}
static inline struct opd seq_abs(struct opd a) {
    a.mod = OMOD_ABS;
    return a;
}
static inline struct opd seq_word(struct opd a, uint32_t w) {
    a.word = (uint8_t)(a.word + w);
    a.mod = 0;
    return a;
}
static inline struct popd seq_not(struct popd p) {
    p.neg = !p.neg;
    return p;
}
static inline struct popd seq_always(void) {
    return (struct popd){.id = VPRED_PT};
}

seq_fn seq_fapx, seq_fdiva, seq_fdiv, seq_frcp, seq_fsqrt;                        /* sequence_f32.c */
seq_fn seq_ddiv, seq_drcp, seq_dsqrt, seq_drsq;                                   /* sequence_f64.c */
seq_fn seq_idiv, seq_irem, seq_idiv64, seq_irem64, seq_bfe64, seq_bfi64, seq_fns; /* sequence_int.c */

#endif
