/* What the compiler passes leave for the hardware, and the parameters both go by. */
#ifndef REPRISE_MECH_LNL_PASS_H
#define REPRISE_MECH_LNL_PASS_H

#include "opt/mech_pass.h"

/* LNL_ENTRIES: of the load checking history table, at most. LNL_CONSUMERS: regions that two bits of an entry
 * can count. LNL_REGIONS: of a kernel. */
enum { LNL_ENTRIES = 8, LNL_CONSUMERS = 4, LNL_REGIONS = 255 };

/* Rules that tests switch off (lnl.omit), to see that something goes wrong without them. */
enum lnl_rule {
    LNL_STICKY = 1 << 0,   /* an entry stays while a loop without its load uses it again */
    LNL_MASK = 1 << 1,     /* a region's lanes lie within those that were compared */
    LNL_INSIDE = 1 << 2,   /* checked loads inside a region are precise */
    LNL_ANCHORS = 1 << 3,  /* anchors are chosen once, at the start */
    LNL_PLACES = 1 << 4,   /* values are refused that are made where an anchor may not go */
    LNL_PATHS = 1 << 5,    /* what other paths of the warp do ends nothing */
    LNL_FLOATS = 1 << 6,   /* only floating point and pixels are interpolated */
    LNL_MEMORY = 1 << 7,   /* what is written approximately feeds no precise instruction */
    LNL_SPILLS = 1 << 8,   /* what goes to local memory is precise */
    LNL_BYTES = 1 << 9,    /* pixels are interpolated by component */
    LNL_SAME = 1 << 10,    /* only warps at the same place of the same block are fused */
    LNL_RELEASE = 1 << 11, /* a warp whose partner will not come goes on alone */
    LNL_FINITE = 1 << 12,  /* infinities are alike only if they are equal */
    LNL_EXACT = 1 << 13,   /* equal anchors give their value */
    LNL_WAIT = 1 << 14,    /* a region waits for loads that are on their way */
};

enum lnl_metric { LNL_HARDWARE, LNL_RELATIVE };
enum lnl_fill { LNL_INTERPOLATE, LNL_REPLICATE };
enum lnl_trigger { LNL_LOADS, LNL_OPERANDS };

/* Its parameters; lnl.c says what they mean. */
struct lnl_params {
    double threshold, levels;
    int32_t group, entries, check_cycles, store_passes, low_bits, time_out, omit;
    enum lnl_metric metric;
    enum lnl_fill fill;
    enum lnl_trigger trigger;
    bool fusion, edges, extrapolate, rows, profile;
    double pj_check, pj_interpolate;
};

enum lnl_kind {
    LNL_OUTSIDE, /* of every region */
    LNL_APPROX,  /* anchors compute it */
    LNL_PRECISE, /* all lanes do */
    LNL_STORE,   /* all lanes do, with interpolated data; INTERP, too */
};

/* Of one instruction. */
struct lnl_fact {
    uint8_t kind;   /* enum lnl_kind */
    uint8_t region; /* from 1 on; 0: none */
    uint8_t words;  /* of what is stored, as bits: those to interpolate */
    uint8_t start;  /* START_APPROX: the region it begins */
    uint8_t sticky; /* START_APPROX: entries that it leaves as they are, as bits */
    bool pixels;    /* interpolated by bytes; of a value: its bytes are components */
    bool check;     /* LD.check, with */
    bool integer;   /* ... integers compared by their difference */
    uint8_t entry;  /* ... its entry, */
    uint8_t count;  /* ... and the regions that will use it, less one */
    uint32_t uses;  /* ... and those regions as the program numbers them */
};

/* Of the kernel. */
struct lnl_kernel {
    float threshold; /* that it names */
    bool named;
};

/* The first finds what annotations speak of, the second, behind register allocation, the regions. */
extern const struct mech_pass lnl_passes[];
/* The owner of their facts. */
#define LNL_OWNER (&lnl_passes[0])

#endif
