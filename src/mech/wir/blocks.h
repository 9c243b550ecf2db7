/* Which loads may take a result from the reuse buffer: store flags of warps, barrier counts of blocks.
 *
 * The question. A load L of warp w may take the value that an earlier load E read from the same addresses if
 * no store that comes before L can have come after E: such a store would be visible to L and is missing in
 * E's value. "Comes before" is the order the program is entitled to: the order within a warp, and from warp
 * to warp through barriers and through memory (flags, locks, tickets). Stores that are not ordered with L may
 * be seen or not, so they allow reuse.
 *
 * Whatever orders a store of somebody else before L ends with an act of w, or of a warp of its block followed
 * by a barrier: passing a barrier; or reading memory in a way that synchronises, that is, an atomic, a
 * volatile load or one with acquire, mostly beside a fence. So E is as good as L if it was performed after
 * the last such act and after the last store of w itself. (The tests check the rules below against exactly
 * this.) Hardware has no such clock. It has
 *
 * - flags of each warp, one for each space: it stored, or synchronised through memory, since its last
 * barrier;
 *
 * - a count in each block, of barriers and fences; an entry has the count at which its load was performed;
 *
 * - the block's number in some entries, which only loads of that block may take.
 *
 * A flag is cleared only together with an increment of the count, so entries with the present count are later
 * than the stores the flag stood for. A count that has reached its maximum no longer tells entries apart: the
 * block's loads are out until it ends.
 *
 * Shared memory is the block's own, and its entries carry the block: with flags and counts that is enough.
 *
 * Global memory is everyone's. The paper's rule compares counts across blocks, which says nothing about time:
 * block B stores x, passes its first barrier and loads x; block A passed its first barrier long ago and
 * loaded x then; both count 1, and B gets the value from before its own store. So does a warp whose neighbour
 * stored before the barrier. Marking a block's loads once it has *stored* is not enough either: a block that
 * never stores may still learn of another block's store, by a volatile load of a flag and a fence, after
 * which it counts 1 as well.
 *
 * The safe rule therefore: a block is *exposed* once one of its warps has stored to global memory, executed
 * an atomic, a volatile or acquiring load, or a fence. Loads of an exposed block carry its number, so they
 * take only results of the same block, for which counts do mean time. A block that is not exposed has stored
 * nothing and heard of nobody: no store since the start of the kernel comes before its loads, and any value
 * read since then will do, whoever read it. Loads of the kernel before are another matter: rb_take_loads at
 * its end. A slot's next block would take the old one's entries for its own: rb_take_block when a block ends.
 * The safe rule allows nothing that the paper's does not.
 *
 * What the caller must see to:
 *
 * - These functions are called in the order in which instructions access memory, and the scope of a load is
 * asked for when its value is read. A load that enters its result later (at retirement, after a retry) keeps
 * the scope of then.
 *
 * - bar.arrive waits for nobody: it is no blocks_pass. The count rises when the barrier opens.
 *
 * - Local and volatile loads, and those of generic addresses that may be local, never reuse. Generic stores
 * go to both spaces; whatever else writes memory (surfaces, asynchronous copies, system calls) is a store.
 *
 * - A loop that polls with plain loads need never end: that is the program's error. */
#ifndef REPRISE_MECH_WIR_BLOCKS_H
#define REPRISE_MECH_WIR_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

enum blocks_rule { BLOCKS_SAFE, BLOCKS_PAPER };

/* Spaces an instruction may access; a generic address: both. */
enum { BLOCKS_SHARED = 1, BLOCKS_GLOBAL = 2 };

struct blocks_spec {
    uint32_t warps, blocks; /* slots */
    uint32_t max_count;     /* at which a block stops reusing loads; below 256. The paper: 31 */
    enum blocks_rule rule;
};

struct blocks {
    struct blocks_spec spec;
    uint8_t *flags;    /* of each warp: spaces it must not reuse loads of */
    uint8_t *block_of; /* of each warp */
    uint8_t *count;    /* of each block */
    bool *exposed;     /* of each block; safe rule only */
};

/* What a load's tag says beside its operands; see struct rb_tag. */
struct blocks_scope {
    uint8_t block, count;
};

void blocks_init(struct blocks *b, struct arena *a, const struct blocks_spec *s);
/* A block takes a slot; then each of its warps. The entries of the slot's last block must be gone
 * (rb_take_block). */
void blocks_start(struct blocks *b, uint32_t block);
void blocks_start_warp(struct blocks *b, uint32_t warp, uint32_t block);
/* Whether a load of these spaces may look into the reuse buffer, and enter its result there; if so, with what
 * scope. */
bool blocks_scope(const struct blocks *b, uint32_t warp, unsigned spaces, struct blocks_scope *out);
/* A warp stores. */
void blocks_store(struct blocks *b, uint32_t warp, unsigned spaces);
/* A warp executes an atomic on these spaces, with or without a result. */
void blocks_atomic(struct blocks *b, uint32_t warp, unsigned spaces);
/* A warp executes a volatile or acquiring load. */
void blocks_sync_load(struct blocks *b, uint32_t warp);
/* A barrier of a block opens, once for all; then each warp that waited at it passes. */
void blocks_barrier(struct blocks *b, uint32_t block);
void blocks_pass(struct blocks *b, uint32_t warp);
/* A warp executes a fence of any scope. */
void blocks_fence(struct blocks *b, uint32_t warp);

#endif
