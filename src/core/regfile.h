/* Physical registers, for mechanisms that decide where values live.
 *
 * A register holds 32 lanes. It is free (in the list), or referenced: by rename tables, by a mechanism's
 * buffers, by instructions in flight. The last reference that goes returns it to the free list, some cycles
 * later. Invariant (regfile_check): every register is referenced, on its way to the free list, or in it. */
#ifndef REPRISE_CORE_REGFILE_H
#define REPRISE_CORE_REGFILE_H

#include "base/arena.h"
#include "isa/isa.h"

enum { REG_NONE = 0xffff };

/* Where a warp's logical register is. */
struct reg_map {
    uint16_t id; /* REG_NONE: never written, reads zero */
    bool pinned; /* this mapping is the only one, and the register is overwritten in place */
};

struct regfile {
    uint32_t n, regs;           /* physical registers; logical ones of a warp */
    uint32_t (*v)[WARP_LANES];  /* values */
    uint32_t *refs;             /* references of each */
    uint64_t *unwritten;        /* bits: the value is still on its way to the bank */
    uint16_t *free;             /* ring */
    uint32_t first_free, nfree; /* of it */
    uint32_t delay;             /* cycles from the last reference's end to the free list */
    struct {
        uint64_t at;
        uint16_t id;
    } * leaving; /* ring of registers on their way to the free list */
    uint32_t first_leaving, nleaving;
    struct reg_map *map; /* [warp * regs + logical] */
    uint32_t most_refs;  /* largest count seen */
};

struct regfile *regfile_create(struct arena *a, uint32_t n, uint32_t warps, uint32_t regs, uint32_t delay);
/* As created. */
void regfile_reset(struct regfile *f, uint32_t warps);
/* Registers whose time has come are free. */
void regfile_tick(struct regfile *f, uint64_t now);
/* The cycle in which regfile_tick has something to do next; UINT64_MAX: none. */
uint64_t regfile_next(const struct regfile *f);
/* A free register, with one reference; REG_NONE when there is none. */
uint16_t regfile_alloc(struct regfile *f);
void regfile_ref(struct regfile *f, uint16_t id);
void regfile_unref(struct regfile *f, uint16_t id, uint64_t now);
/* NULL, or which of the invariants does not hold. refs: references the owner counts, in all. */
const char *regfile_check(const struct regfile *f, uint64_t refs);

static inline struct reg_map *regfile_map(struct regfile *f, uint32_t warp, uint32_t reg) {
    return &f->map[warp * f->regs + reg];
}

static inline bool regfile_is_unwritten(const struct regfile *f, uint16_t id) {
    return f->unwritten[id / 64] >> (id % 64) & 1;
}

static inline void regfile_set_unwritten(struct regfile *f, uint16_t id, bool on) {
    uint64_t bit = UINT64_C(1) << (id % 64);
    f->unwritten[id / 64] = on ? f->unwritten[id / 64] | bit : f->unwritten[id / 64] & ~bit;
}

#endif
