/* From lowered machine code to code that runs: clean-up passes, register allocation, layout. */
#ifndef REPRISE_OPT_OPT_H
#define REPRISE_OPT_OPT_H

#include "ir/ir.h"

struct mech_pass;

enum opt_pass {
#define PASS(id, ...) OPT_##id,
#include "opt/passes.def"
#undef PASS
    OPT_COUNT
};

/* A mechanism as the compiler sees it. */
struct opt_mech {
    const struct mech_pass *passes; /* or NULL */
    const void *params;             /* values of its own parameters, for the passes */
};

/* How to compile; a zeroed struct is the default. */
struct opt_options {
    uint64_t disable; /* bit set of enum opt_pass; passes that are needed for correct code ignore it */
    struct str *dump; /* text of each function after every pass that changed it, when not NULL */
    const char *only; /* dump after the pass of this name only, when not NULL */
    enum {
        CHECK_SMALL,
        CHECK_ALWAYS,
        CHECK_NEVER
    } check; /* allocation checker: small functions by default */
    /* Mechanisms whose passes run behind the others. */
    const struct opt_mech *mechs;
    uint32_t nmechs;
    bool notes; /* keep what they note beside instructions */
};

/* Bit of the pass called name in opt_options.disable; 0 when there is none. */
uint64_t opt_pass_bit(const char *name);
/* Name of pass number n; NULL beyond the last. */
const char *opt_pass_name(uint32_t n);

/* Optimises, allocates and links all functions of p, and the streams that mechanisms add; fills in the part
 * of struct program that runs. False, with the reason in d, when a pass broke an invariant, a function cannot
 * be allocated, or a mechanism refuses the kernel. */
bool opt_compile(struct program *p, struct diag *d);
bool opt_compile_with(struct program *p, const struct opt_options *o, struct diag *d);

#endif
