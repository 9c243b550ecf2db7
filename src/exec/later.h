/* Accesses to global memory that take effect later than they issue.
 *
 * SMs that are simulated at the same time must not touch what they share. Each keeps its accesses here, with
 * the values that their operands have when they issue, and they are carried out when all SMs are as far, in
 * the order in which a machine that goes cycle by cycle would have: by cycle, SM and place in the program.
 * Until then no instruction may issue that needs a result.
 *
 * A load may be carried out at once, on memory as it is when others begin to go ahead: that was right if
 * nobody writes to its lines meanwhile, else it is carried out again in its turn. So an SM also notes the
 * lines that its accesses touch; a guess is made of a load whose lines it does not itself write to before. */
#ifndef REPRISE_EXEC_LATER_H
#define REPRISE_EXEC_LATER_H

#include "exec/warp.h"

/* One access, followed by what it takes to carry it out. Where its spot is known, those are the offsets of
 * lanes if they need them, and the words to store; else those of its source words that are registers: first
 * those that are not also its destination, then those that are. */
struct later_access {
    _Alignas(64) struct warp *w; /* NULL: a read that the caller has made, and makes again (later_note) */
    const struct xinst *i;
    uint64_t cycle;
    uint64_t at;          /* of its spot */
    uint32_t m;           /* lanes */
    int32_t tag;          /* the caller's */
    uint16_t words, lost; /* lost: source words that are also its destination */
    uint32_t led;         /* lanes that get the result of lane `leader` instead of their own */
    uint8_t leader;
    uint8_t shape; /* of its spot */
    bool guessed;
    bool given; /* somebody else gave the result, one word: its destination is not touched any more */
};

enum { LATER_READS, LATER_WRITES, LATER_LINES = 192 }; /* lines that are known one by one */

/* How many lines accesses touch. all: it may be any line. */
struct later_count {
    uint32_t n;
    bool all;
};

/* Accesses of one SM, oldest first. */
struct later {
    _Alignas(64) uint8_t *at;
    size_t first, end, size;       /* bytes */
    size_t last;                   /* where the one noted last is ... */
    uint32_t last_reads;           /* ... and the first line of those read that is its own */
    uint32_t due;                  /* accesses that were not carried out */
    struct later_count touched[2]; /* by those that read, and by the others */
    uint16_t line[2][LATER_LINES]; /* numbers of these; those of different lines may be the same */
};

/* Whether an instruction can be carried out later. */
static inline bool later_can(const struct xinst *i) {
    return i->kind == X_LOAD || i->kind == X_STORE || i->kind == X_ATOM || i->kind == X_TEX;
}

/* Whether all of a kernel's accesses to what SMs share are such instructions, and its second streams have
 * none.
 */
bool later_suits(const struct image *img);
/* Bytes that so many accesses of a kernel take at most. */
size_t later_bytes(const struct image *img, uint32_t accesses);
/* Lanes of m for which the instruction accesses what SMs share. */
uint32_t later_lanes(const struct exec *x, const struct warp *w, const struct xinst *i, uint32_t m);
/* Notes an access for lanes m, at least one, at the spot p. */
void later_add(struct later *l, const struct exec *x, struct warp *w, const struct xinst *i, uint32_t m,
               const struct spot *p, uint64_t cycle, int32_t tag);
/* Notes that the caller has read a line, of 128 bytes, for itself. */
void later_note(struct later *l, uint64_t line, uint64_t cycle, int32_t tag);
/* The access noted last touches a line, of 128 bytes; any: it may be all. */
void later_touches(struct later *l, uint64_t line, bool any);
/* Carries out the access noted last if it is a load whose result can be guessed. */
void later_guess(struct later *l, struct exec *x);
/* The access with this tag, which has a destination that nobody else gave, or NULL. */
struct later_access *later_find(const struct later *l, int32_t tag);
/* The oldest, or NULL. */
static inline struct later_access *later_first(const struct later *l) {
    return l->first < l->end ? (struct later_access *)(void *)(l->at + l->first) : NULL;
}
/* Carries out the oldest access, again if it was guessed, and forgets it; false on a fault (x->fault). */
bool later_run(struct later *l, struct exec *x);
/* Forgets the oldest access. */
void later_drop(struct later *l);
/* The same for a warp that has ended, whose registers nobody needs. */
bool later_finish(struct later *l, struct exec *x);

#endif
