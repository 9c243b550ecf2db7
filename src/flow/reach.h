/* Reaching definitions: which writes a read may see.
 *
 * Code is not in SSA form, so this lays versions over it. Every write of a word or predicate makes a version
 * of that value. Where paths meet that bring different versions of one value, a merge is a version, too, with
 * one input for each edge into the block; and a value that was never written has the version it had when the
 * function was entered. Then every read sees exactly one version, and what reaches it are the writes that
 * are found behind that version's merges.
 *
 * A guarded write makes a version that is new in some threads and old in others: it also names the version it
 * keeps (before).
 *
 * Merges stand at the dominance frontiers of writes, iterated, of values that leave a block (Cytron et al.,
 * "Efficiently computing static single assignment form and the control dependence graph", 1991), and one walk
 * over the dominator tree fills in who sees what. Calls change no version: the called function restores every
 * register it uses, and returns results in memory.
 *
 * Edges must be up to date (cfg_joins). Blocks that cannot be reached read and make no versions. */
#ifndef REPRISE_FLOW_REACH_H
#define REPRISE_FLOW_REACH_H

#include "flow/flow.h"

enum version_kind { VERSION_ENTRY, VERSION_WRITE, VERSION_MERGE };

struct version {
    uint8_t kind;
    uint32_t value;  /* as struct values numbers them */
    uint32_t block;  /* where it is made; entry: 0 */
    uint32_t index;  /* write: instruction of the block */
    uint32_t before; /* guarded write: version that stays where it is skipped; otherwise NONE */
    uint32_t input;  /* merge: first of its inputs in reach.inputs, one for each pred of the block */
};

struct reach {
    const struct fn *f;
    struct values v;
    struct version *at;
    uint32_t n;
    uint32_t *inputs;
    uint32_t *first;    /* by block: number of its first instruction, counted through the function */
    uint32_t *read_at;  /* by that number: place of the instruction's first read in reads */
    uint32_t *write_at; /* the same of versions: its writes are consecutive ones */
    uint32_t *reads;    /* versions of all words and predicates read, in the order of inst_reads */
    uint32_t nreads;
    uint32_t *merge_at; /* by block: its first merge in merges; the last row is the end */
    uint32_t *merges;   /* versions */
};

struct reach reach_of(struct arena *a, const struct fn *f);

/* The version of value that instruction index of block reads, or NONE if it reads no such value. */
uint32_t reach_read(const struct reach *r, uint32_t block, uint32_t index, uint32_t value);
/* The version that it makes of value, or NONE. */
uint32_t reach_written(const struct reach *r, uint32_t block, uint32_t index, uint32_t value);
/* The instruction that made version v; NULL for merges and entry versions. */
const struct inst *reach_inst(const struct reach *r, uint32_t v);
/* The definitions behind version v, through merges and what guarded writes keep: versions that are writes or
 * entries, each once, ascending. Returns how many; *out is in the arena. */
uint32_t reach_definitions(struct arena *a, const struct reach *r, uint32_t v, uint32_t **out);

#endif
