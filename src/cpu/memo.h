/* AxMemo's memoization unit (Liu, chapter 4): tables of results that are found by a CRC of a computation's
 * inputs.
 *
 * A program streams the inputs of a block, their low bits cleared, into the hash register of one of eight
 * logical tables; a look-up takes the hash as key, and either gives the result, so that the block is skipped,
 * or misses, and an update behind the block puts the result into the table. All logical tables share one
 * array of sets of 64 bytes, 8 entries of 4 bytes of data or 4 of 8, beside the core; behind it there may be
 * a larger one in ways of L2, which all cores share and which holds everything that the small ones hold.
 *
 * Rules where the thesis is silent (docs/cpu.md): a look-up empties its hash register and keeps the key
 * for the update, which also needs the stack pointer of the look-up and does nothing without such a key; so
 * that a block that is left early, or is entered again below itself, puts nothing wrong into a table. A
 * victim is chosen when the update comes. What is here computes values only; hpi.c takes the time. */
#ifndef REPRISE_CPU_MEMO_H
#define REPRISE_CPU_MEMO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "stats/counter.h"

enum { MEMO_TABLES = 8, MEMO_SET_BYTES = 64, MEMO_WAYS = 8, MEMO_CORES = 2 };
#define MEMO_START 0xffffffffu /* of a hash */

struct memo_spec {
    uint32_t l1_bytes; /* 0: there is no unit; nothing ever hits */
    uint32_t l2_bytes; /* 0: none */
    bool truncate;     /* false: no bits are cleared, whatever programs say */
    uint32_t sample;   /* every so many hits one is told as a miss, to compare; 0: never */
    uint32_t window;   /* comparisons until it is decided */
    uint32_t bad;      /* of them, more than which switch memoization off */
    bool apart;        /* they switch off their own table only */
    double error;      /* relative error that is bad */
    uint32_t direct; /* if not 0: instead of sets, 2^direct entries for each table, chosen by the CRC and not
                        told apart: what software memoization has */
    uint32_t epoch_bits; /* of a table's entries; when they are used up, all entries are looked at once */
};

struct memo_entry {
    uint64_t data, true_key; /* true_key: a longer hash, which tells whether a hit is a collision */
    uint64_t used;           /* for LRU; 0: empty */
    uint32_t crc;
    uint16_t epoch;
    uint8_t table, owner;
};

/* An array of sets. */
struct memo_array {
    struct memo_entry *entry; /* by set, MEMO_WAYS each */
    uint32_t sets;
    uint64_t time;
};

struct memo_counters { /* in words: memo.c */
    uint64_t inputs, cleared, crc_words, lookups, l1_hits, l2_lookups, l2_hits, misses, samples, updates,
        l2_updates, stale_updates, invalidates, sweeps, evictions, l2_evictions, back_invalidations,
        collisions, comparisons, bad_comparisons, switched_off, refused;
};

enum memo_outcome {
    MEMO_NONE,
    MEMO_INPUT,
    MEMO_L1_HIT,
    MEMO_L2_HIT,
    MEMO_MISS,
    MEMO_SAMPLED,
    MEMO_UPDATED,
    MEMO_IGNORED,
    MEMO_CLEARED,
    MEMO_SWEPT
};

/* The array in L2; all cores have it in common. */
struct memo_l2;

struct memo {
    struct memo_spec spec;
    uint32_t core;
    bool wide; /* entries have 8 bytes of data: from the first such access on */
    uint32_t hash[MEMO_TABLES];
    uint64_t true_hash[MEMO_TABLES];
    uint16_t epoch[MEMO_TABLES];
    struct memo_pending {
        bool valid, sampled;
        uint8_t level; /* at which a sampled look-up had hit */
        uint32_t crc;
        uint64_t true_key, sp, data; /* data: of a sampled hit */
    } pending[MEMO_TABLES];
    struct memo_monitor {
        uint32_t hits, comparisons, bad;
        bool off;
    } monitor[MEMO_TABLES];
    struct memo_array l1;
    struct memo_l2 *l2;
    struct map direct; /* entries by table and place */
    struct arena *arena;
    struct memo_counters n;
    /* what the last instruction did, for timing */
    enum memo_outcome last;
    uint32_t last_bytes;
    bool last_l2; /* it also looked into L2, or wrote there */
};

extern const struct counter_table memo_counters;

/* How an update's data are compared with what a sampled hit gave: as the register they come from says, as two
 * halves, or as four numbers of 16 bits in fixed point, which have been rounded, so that a difference of one
 * is no error. */
enum memo_kind { MEMO_INTEGER, MEMO_FLOAT, MEMO_TWO_FLOATS, MEMO_TWO_INTEGERS, MEMO_FOUR_SHORTS, MEMO_KINDS };

struct memo_l2 *memo_l2_create(struct arena *a, const struct memo_spec *s);
void memo_init(struct memo *m, struct arena *a, const struct memo_spec *s, uint32_t core, struct memo_l2 *l2);
void memo_free(struct memo *m);

/* An input of so many bytes, of which n low bits are cleared, for a table. */
void memo_input(struct memo *m, uint32_t table, uint64_t value, uint32_t bytes, uint32_t n);
/* Looks up what was put in. True: *data is the result. sp: the stack pointer. */
bool memo_lookup(struct memo *m, uint32_t table, uint32_t bytes, uint64_t sp, uint64_t *data);
/* The result of the block behind a look-up that missed. */
void memo_update(struct memo *m, uint32_t table, uint64_t data, uint32_t bytes, uint64_t sp,
                 enum memo_kind kind);
/* Forgets all of a table. */
void memo_invalidate(struct memo *m, uint32_t table);

/* The CRC of bytes of a value, continued. */
uint32_t memo_crc(uint32_t crc, uint64_t value, uint32_t bytes);

#endif
