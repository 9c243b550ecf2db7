/* The compiler's part of DAC (section 4.7): what it says of the instructions of both streams. */
#ifndef REPRISE_MECH_DAC_SPLIT_H
#define REPRISE_MECH_DAC_SPLIT_H

#include "opt/mech_pass.h"

#define DAC_STREAM "affine"

enum { DAC_BASES = 8 }; /* bases of a load, and of stores that it may meet, that a launch compares */

/* What an instruction does with the queues. */
enum dac_role {
    DAC_ENQ = 1 << 0,      /* affine: its address goes into the queue */
    DAC_ENQ_PRED = 1 << 1, /* affine: the predicate it computes does */
    DAC_DEQ = 1 << 2,      /* takes its address, or its data */
    DAC_DEQ_PRED = 1 << 3, /* takes a predicate before it issues */
    DAC_BAR = 1 << 4,      /* a barrier that is in both streams */
    DAC_TAKE = 1 << 5,     /* does nothing but take a predicate */
    DAC_BRANCH = 1 << 6,   /* a branch that is in both streams */
    DAC_ASK = 1 << 7,      /* ... of which the warps say who takes it */
    DAC_PARTS = 1 << 8,    /* ... and at which threads may part */
};

/* The fact about an instruction. A pair that enqueues and dequeues has the same number. */
struct dac_fact {
    uint16_t roles; /* set of enum dac_role */
    uint8_t pred;   /* DEQ_PRED: machine predicate, filled in behind register allocation */
    bool data;      /* ENQ, DEQ: of a load whose data may be fetched ahead ... */
    uint8_t nload, nstore;
    /* ... unless one of its bases lies in the allocation of a base that is stored to: offsets in BANK_PARAM,
     * or, with DAC_SYMBOL, in BANK_SYMBOL. */
    uint32_t load[DAC_BASES], store[DAC_BASES];
    uint32_t number;      /* of the address, predicate or barrier, from 1 on */
    uint32_t pred_number; /* DEQ_PRED: that of the predicate */
};
#define DAC_SYMBOL 0x80000000u

/* Of a kernel (figure 6): its instructions, and those of them that read nothing but affine values. */
struct dac_static {
    uint32_t insts, affine;
};

/* What of an instruction is affine, by classes that take loads to vary: all it reads (figure 6; what is
 * loaded is not), the address of an access that could go to the affine warp, both sides of such a comparison.
 */
enum dac_affine {
    DAC_AFFINE_OPERANDS = 1 << 0,
    DAC_ADDRESS = 1 << 1,
    DAC_AFFINE_ADDRESS = 1 << 2,
    DAC_PREDICATE = 1 << 3,
    DAC_AFFINE_PREDICATE = 1 << 4,
};
struct classes;
uint32_t dac_affine(const struct classes *c, uint32_t block, uint32_t index);

extern const struct mech_pass dac_passes[];
/* The owner of a kernel's struct dac_static. */
static inline const void *dac_static_owner(void) {
    return &dac_passes[1];
}

#endif
