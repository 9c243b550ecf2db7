/* What passes share: facts (flow/flow.h), clean-up of code, the back end.
 *
 * A pass is bool opt_name(struct program *, struct fn *), true when it changed something. */
#ifndef REPRISE_OPT_PASS_H
#define REPRISE_OPT_PASS_H

#include "flow/flow.h"
#include "opt/opt.h"

/* Removes NOPs. */
void fn_compact(struct fn *f);
/* Points every edge from block to block of f (branches, tables, fall-through) at map[old]; drops blocks
 * mapped to NONE. The blocks that stay keep their order; map must be ascending over them. */
void fn_renumber(struct fn *f, const uint32_t *map, uint32_t n);

/* ---- the passes ---- */
typedef bool opt_fn(struct program *p, struct fn *f);
#define PASS(id, name, fn, ...) opt_fn fn;
#include "opt/passes.def"
#undef PASS

/* ---- the back end ---- */
/* Places virtual registers into machine registers. NULL, or what went wrong (in the program's arena). */
const char *regalloc(struct program *p, struct fn *f, bool check);
/* Saves and restores what a called function uses; fixes the frame size and everything relative to it. */
void abi_finish(struct fn *f);
/* Lays out the code of all functions. */
void link_program(struct program *p);

#endif
