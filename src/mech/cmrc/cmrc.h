/* CMRC: two narrow accesses share the port of a register bank, and operands that of a collector.
 *
 * What is known of a register, its width, is known by its place: a physical register, or what an owner of the
 * registers says (core_holds, op->place). Instructions compute with what comes back from the planes, not with
 * what was written, so that a width that is wrong makes the program wrong.
 *
 * In time: a width changes when the bank grants the write, with the data. A read has the mask of its register
 * when it begins to wait; no write of that register is granted before it. */
#ifndef REPRISE_MECH_CMRC_CMRC_H
#define REPRISE_MECH_CMRC_CMRC_H

#include "core/view.h"
#include "mech/cmrc/width.h"

/* Which accesses of a bank go together. */
enum cmrc_pairing {
    PAIR_ALL,   /* CMRC: any two whose sub-banks differ */
    PAIR_READS, /* CORF: two operands of one instruction */
    PAIR_ANY,   /* an upper bound: any two, whatever their sub-banks */
    PAIR_IDEAL, /* no port conflicts: everything that waits */
};

/* In the copy of the stages that is compiled for CMRC (core/points.h), which runs where m->usual holds,
 * instructions take no longer and nobody compares, operands need nothing when they issue. A register goes
 * through its planes when it is written, or before, when its value is computed: nobody else changes its
 * latch. Reads find the mask of their register when they are served, since it is not written before (but see
 * cmrc_freeze), and are older than writes by cycles. Accesses are counted by their masks, which become
 * counters when somebody reads these (cmrc_tally).
 *
 * What it knows of an op lies in the op: tag, what will be kept of the register it computes, 0 if that is not
 * known yet; noted, the word in work was looked at (cmrc_look); served, the cycle in which its collector last
 * took operands, counted from when it began to wait for them. */
#ifdef CORE_ALONE
#define CMRC_ALONE true
#else
#define CMRC_ALONE false
#endif
#define CMRC_USUAL(m) (CMRC_ALONE || (m)->usual)

struct cmrc_params {
    enum cmrc_pairing pairing;
    enum cmrc_sign sign;
    int32_t depth, latency, omit;
    double pj_control, pj_unsent;
};

/* Rules that tests leave out to see what they are for: bits of cmrc.omit. */
enum cmrc_rule {
    CM_PAD = 1 << 0,    /* registers of a warp are padded so that no two share an entry */
    CM_EXPAND = 1 << 1, /* some lanes that do not fit the register's width: it is read and written anew */
    CM_ORDER = 1 << 2,  /* a write waits for reads of its register */
    CM_SLICES = 1 << 3, /* a collector takes no slice twice in a cycle */
    CM_SIGN = 1 << 4,   /* the stored sign must agree with the planes above */
    CM_LIVE = 1 << 5,   /* lanes that have exited do not count as missing */
};

enum { CMRC_SOURCES = 12, CMRC_WORDS = 8 };

/* A register. */
struct cmrc_reg {
    struct cmrc_form form;
    bool known : 1;   /* false: four bytes, and what they are is in the latch */
    bool latched : 1; /* the latch has what the planes hold: it was taken from there */
    uint8_t spared;   /* sub-banks that it does not lie in, as bits; none of one that is not known */
    uint32_t version; /* counts writes */
};

/* What is kept of one in the copy of the stages, a byte, so that those of a warp lie in a line or two of the
 * host's cache: sub-banks that it lies in, as bits, all if it is not known; whether its entry is odd; what
 * the planes above its width hold (cmrc_form.ones). */
enum { KEPT_ODD = 1 << CMRC_FULL, KEPT_ONES = KEPT_ODD << 1 };

/* An op in flight, or an instruction about to take effect. */
struct cmrc_op {
    _Alignas(128) uint64_t queued; /* order among the requests */
    /* Its collector, in a cycle. */
    uint64_t cycle;
    uint8_t slices, operands, bank;
    /* The destination word in work, from when its bank first looks at it. */
    uint8_t looked;  /* its number + 1; 0: none */
    uint8_t write;   /* sub-banks */
    uint8_t expands; /* sub-banks to be read first; 0: none, or it is done */
    struct cmrc_form form;
    bool whole;                     /* all lanes are written, not the active ones alone */
    uint8_t mask[CMRC_SOURCES];     /* sub-banks of each source */
    uint32_t version[CMRC_SOURCES]; /* of it */
    uint16_t before[CMRC_WORDS];    /* owned: place of each destination word until now */
};
_Static_assert(sizeof(struct cmrc_op) == 128, "finding one by its number takes a shift");

struct cmrc_counters {
#define COUNTER(field, ...) uint64_t field;
#include "mech/cmrc/counters.def"
#undef COUNTER
};

struct cmrc {
    struct sm *sm;
    const struct cmrc_params *params;
    bool owned;            /* somebody else decides in which registers values live */
    bool usual;            /* that is not so, all rules hold, and any two accesses may share a port */
    uint32_t regs_of_warp; /* with padding */
    uint32_t warps;        /* resident */
    bool refuses;          /* the next block waits until some of them have left */
    /* By place: a number of bank and entry; usual: the place itself, as no two have the same; not of those
     * that have an owner. */
    uint16_t *slots;
    bool *odd;                       /* the same: the entry is */
    uint32_t laid_out;               /* for so many registers of a warp */
    struct cmrc_reg *regs;           /* by slot: where in the banks they lie */
    uint8_t *kept;                   /* by place, instead */
    uint64_t raw[CORE_MAX_WARPS][4]; /* owned: registers that control instructions wrote, which are not known
                                      * by their place */
    struct cmrc_op *ops;             /* from CORE_NONE on, which is for control instructions */
    uint64_t order;                  /* of requests */
    uint8_t written[CORE_MAX_BANKS]; /* sub-banks of a write that a bank took before it was served */
    /* In the copy of the stages. */
    bool copied; /* it runs */
    /* Accesses by sub-banks; granted: writes that the SM has counted, as if they activated all arrays. */
    uint64_t reads[1 << CMRC_FULL], writes[1 << CMRC_FULL], granted[1 << CMRC_FULL];
    uint64_t reads_before, writes_before; /* the SM's counters when the launch began */
    uint8_t *frozen;   /* by number of a read that waits: the mask it had when a control instruction wrote its
                          register ... */
    uint32_t nfrozen;  /* ... so many of them */
    const char *wrong; /* what was found to be so */
    struct cmrc_counters n, before;    /* before: when the launch began */
    uint64_t *by_mask[1 << CMRC_FULL]; /* of these: accesses as wide as so many sub-banks, by sub-banks */
};

static inline bool cmrc_keeps(const struct cmrc *m, enum cmrc_rule rule) {
    return !(m->params->omit & (int32_t)rule);
}

enum { CMRC_ALL = (1 << CMRC_FULL) - 1 }; /* sub-banks */

/* ---- file.c: registers ---- */
void cmrc_sources(void *m, uint32_t warp, const struct xinst *i, uint32_t mask);
/* Brings the counters up to date. */
void cmrc_tally(void *m);
/* A control instruction is about to write registers of which reads may wait: these keep their masks. */
void cmrc_freeze(struct cmrc *m, uint32_t warp, uint32_t first, uint32_t n);
void cmrc_issued(void *m, int32_t op);
void cmrc_collected(void *m, int32_t op);
/* Finds out where in the banks the registers of warps lie. */
void cmrc_lay_out(struct cmrc *m);
/* What is known of a place: of its bank and entry, which two places share if the layout is wrong. */
static inline struct cmrc_reg *cmrc_at(struct cmrc *m, uint32_t place) {
    return &m->regs[m->owned ? place : m->slots[place]];
}
/* What is kept of a register that has this form, in the copy of the stages; not 0. */
static inline uint8_t cmrc_kept_as(const struct cmrc *m, uint32_t place, struct cmrc_form f) {
    uint8_t odd = m->kept[place] & KEPT_ODD;
    return (uint8_t)(odd | cmrc_mask(f.width, odd) | (f.ones ? KEPT_ONES : 0));
}
/* The sub-banks of a register that has no owner, where the mechanism is as usual. */
static inline uint8_t cmrc_usual_mask(const struct cmrc *m, uint32_t place) {
    return CMRC_ALONE ? m->kept[place] & CMRC_ALL : CMRC_ALL & ~m->regs[place].spared;
}
/* Nothing is known of it any more. */
static inline void cmrc_unlearn(struct cmrc *m, uint32_t place) {
    if (m->copied) {
        m->kept[place] = (m->kept[place] & KEPT_ODD) | CMRC_ALL;
        return;
    }
    struct cmrc_reg *r = cmrc_at(m, place);
    r->known = false;
    r->spared = 0;
}
/* The destination word in work of an op that waits for its bank: what writing it takes. */
void cmrc_look(struct cmrc *m, int32_t op);
/* It is written. */
void cmrc_write(struct cmrc *m, int32_t op);
void cmrc_forget(struct cmrc *m, uint32_t warp, uint32_t first, uint32_t n);
/* The sub-banks of a register. */
uint8_t cmrc_place_mask(struct cmrc *m, uint32_t place);

/* ---- banks.c: the arbiter ---- */
void cmrc_arbitrate(void *m, uint64_t now);
uint32_t cmrc_arrays(void *m, int32_t op, int32_t k, bool write, uint32_t arrays);

/* ---- usual.c ---- */
uint32_t cmrc_write_now(void *m, int32_t op, uint32_t bank);

#endif
