/* A walk over the code that knows, at every instruction, which instruction made each value.
 *
 * Within a block the last write decides, so this works for registers that are written many times; beyond it,
 * only for registers with a single, unguarded write that dominates the place. A pass may change the
 * instruction at hand (its operation and its sources) while it walks, never what earlier ones write. */
#ifndef REPRISE_OPT_WALK_H
#define REPRISE_OPT_WALK_H

#include "opt/pass.h"

struct walk {
    struct arena arena;
    struct fn *f;
    struct defs d;
    struct dom dom;
    uint32_t *stamp, *last; /* by value: block plus one and index of the last write in it */
    uint32_t block, index, k;
};

void walk_begin(struct walk *w, struct fn *f);
/* The next instruction in dominator preorder, NULL at the end; notes what the previous one wrote. */
struct inst *walk_next(struct walk *w);
void walk_end(struct walk *w);

/* The unguarded instruction whose write of value is seen here, and where it is; NULL when it is not known. */
struct inst *walk_def(const struct walk *w, uint32_t value, struct def_site *at);
/* True when value is now what it was when the instruction at site began. */
bool walk_same(const struct walk *w, uint32_t value, struct def_site at);
/* The same for all words of an operand. */
bool walk_same_opd(const struct walk *w, const struct opd *o, uint32_t words, struct def_site at);

/* True when operand o (one word) is known to be a number. */
bool walk_number(const struct walk *w, const struct opd *o, uint32_t *out);
/* The operand that word number word of register operand o copies, if it is a copy that still holds. */
bool walk_copied(const struct walk *w, const struct opd *o, uint32_t word, struct opd *out);

#endif
