/* Physical registers, for mechanisms that decide where values live.
 *
 * A register holds 32 lanes. It is free (in the list), or referenced: by rename tables, by a mechanism's
 * buffers, by instructions in flight. The last reference that goes returns it to the free list, some cycles
 * later. Invariant (regfile_check): every register is referenced, on its way to the free list, or in it. */
#ifndef REPRISE_CORE_REGFILE_H
#define REPRISE_CORE_REGFILE_H

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "isa/isa.h"
#include "sim/queue.h"

enum { REG_NONE = 0xffff };

/* Where a warp's logical register is, and whether its latch (struct warp's r) has the value: then reading it
 * costs nothing. Whoever changes the mapping, or the value of a register that is mapped, says what the latch
 * has. */
struct reg_map {
    uint16_t id;  /* REG_NONE: never written, reads zero */
    bool latched; /* the latch has what the physical register holds */
    bool pinned;  /* this mapping is the only one, and the register is overwritten in place */
};

/* So many registers are free from a cycle on. */
struct reg_leaving {
    uint64_t at;
    uint32_t n;
};

struct regfile {
    uint32_t n, regs;                  /* physical registers; logical ones of a warp */
    uint32_t (*v)[WARP_LANES];         /* values */
    uint32_t *refs;                    /* references to each */
    uint64_t *unwritten;               /* bits: the value is still on its way to the bank */
    uint16_t *free;                    /* ring: the free list, behind it those on their way there, by time */
    uint32_t first_free, nfree;        /* of it: the list alone */
    uint32_t end;                      /* the place behind all of them */
    uint32_t delay;                    /* cycles from the last reference's end to the free list */
    uint64_t next_free;                /* when the first of them will be free; UINT64_MAX: there are none */
    QUEUE(struct reg_leaving) leaving; /* when they will be free: at most one item for each of these cycles */
    struct reg_leaving *last;          /* the newest of these items, or one that is of no cycle */
    struct reg_map *map;               /* [warp * regs + logical] */
    uint32_t most_refs;                /* largest count seen */
};

void regfile_init(struct regfile *f, struct arena *a, uint32_t n, uint32_t warps, uint32_t regs,
                  uint32_t delay);
/* As initialised. */
void regfile_reset(struct regfile *f, uint32_t warps);
/* No registers are on their way to the free list. */
static inline void regfile_none_leaves(struct regfile *f) {
    static struct reg_leaving never = {.at = UINT64_MAX};
    f->last = &never;
    f->next_free = UINT64_MAX;
}
/* Registers whose time has come are free. To be called in every cycle in which references end, or before the
 * next of these cycles. */
static inline void regfile_tick(struct regfile *f, uint64_t now) {
    while (f->next_free <= now) {
        f->nfree += queue_head(&f->leaving)->n;
        queue_pop(&f->leaving);
        if (queue_empty(&f->leaving))
            regfile_none_leaves(f);
        else
            f->next_free = queue_head(&f->leaving)->at;
    }
}
/* Registers on their way to the free list that regfile_tick would have freed in the cycles from first to
 * last, summed over these cycles: what somebody who slept did not see. */
uint64_t regfile_idle(const struct regfile *f, uint64_t first, uint64_t last);
/* The register that regfile_alloc will give when it is called for the n-th time after this one, if there are
 * so many. */
static inline uint16_t regfile_ahead(const struct regfile *f, uint32_t n) {
    uint32_t at = f->first_free + n;
    return f->free[at < f->n ? at : 0];
}
/* A free register, with one reference; REG_NONE when there is none. */
static inline uint16_t regfile_alloc(struct regfile *f) {
    if (!f->nfree)
        return REG_NONE;
    uint16_t id = f->free[f->first_free];
    f->first_free = f->first_free + 1 < f->n ? f->first_free + 1 : 0;
    f->nfree--;
    f->refs[id] = 1;
    return id;
}
/* NULL, or which of the invariants does not hold. refs: references the owner counts, in all. */
const char *regfile_check(const struct regfile *f, uint64_t refs);

static inline void regfile_ref(struct regfile *f, uint16_t id) {
    if (++f->refs[id] > f->most_refs)
        f->most_refs = f->refs[id];
}

/* The value of a register is on its way to the bank; it is there. */
static inline void regfile_write(struct regfile *f, uint16_t id) {
    f->unwritten[id / 64] |= UINT64_C(1) << id % 64;
}
static inline void regfile_wrote(struct regfile *f, uint16_t id) {
    f->unwritten[id / 64] &= ~(UINT64_C(1) << id % 64);
}
static inline bool regfile_unwritten(const struct regfile *f, uint16_t id) {
    return f->unwritten[id / 64] >> id % 64 & 1;
}

/* Returns whether the reference was the last one: then regfile_leave must follow. */
static inline bool regfile_drop(struct regfile *f, uint16_t id) {
    int32_t *refs = (int32_t *)f->refs; /* so that one comparison also finds a register given up twice */
    return --refs[id] <= 0;
}
/* A register without references sets out for the free list. */
void regfile_leave(struct regfile *f, uint16_t id, uint64_t now);
/* Both. Returns whether the reference was the last one. */
static inline bool regfile_unref(struct regfile *f, uint16_t id, uint64_t now) {
    if (!regfile_drop(f, id))
        return false;
    regfile_leave(f, id, now);
    return true;
}

static inline struct reg_map *regfile_map(const struct regfile *f, uint32_t warp, uint32_t reg) {
    return &f->map[warp * f->regs + reg];
}

/* Its latch has it, and it is not pinned, as is the rule. */
static inline bool regfile_is_plain(const struct reg_map *map) {
    static const struct reg_map plain = {.latched = true};
    return !memcmp(&map->latched, &plain.latched, sizeof *map - offsetof(struct reg_map, latched));
}

/* Copies a logical register into its latch; what was never written reads zero. */
void regfile_copy(struct regfile *f, struct reg_map *map, uint32_t latch[WARP_LANES]);
/* Sees to it that the latch has it. */
static inline void regfile_read(struct regfile *f, struct reg_map *map, uint32_t latch[WARP_LANES]) {
    if (!map->latched)
        regfile_copy(f, map, latch);
}

#endif
