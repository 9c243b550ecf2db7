#include "core/regfile.h"

void regfile_init(struct regfile *f, struct arena *a, uint32_t n, uint32_t warps, uint32_t regs,
                  uint32_t delay) {
    *f = (struct regfile){.n = n, .regs = regs, .delay = delay};
    f->v = arena_alloc(a, n * sizeof *f->v);
    f->refs = arena_array(a, uint32_t, n);
    f->unwritten = arena_array(a, uint64_t, n / 64 + 1);
    f->free = arena_array(a, uint16_t, n);
    queue_init(&f->leaving, a, delay + 2);
    f->map = arena_array(a, struct reg_map, warps * regs);
    regfile_reset(f, warps);
}

void regfile_reset(struct regfile *f, uint32_t warps) {
    f->first_free = f->end = f->leaving.len = 0;
    regfile_none_leaves(f);
    f->nfree = f->n;
    for (uint32_t k = 0; k < f->n; k++)
        f->free[k] = (uint16_t)k;
    memset(f->refs, 0, f->n * sizeof *f->refs);
    memset(f->unwritten, 0, (f->n / 64 + 1) * sizeof *f->unwritten);
    for (uint32_t k = 0; k < warps * f->regs; k++)
        f->map[k] = (struct reg_map){.id = REG_NONE};
}

void regfile_copy(struct regfile *f, struct reg_map *map, uint32_t latch[WARP_LANES]) {
    if (map->id == REG_NONE)
        memset(latch, 0, WARP_LANES * sizeof *latch);
    else
        memcpy(latch, f->v[map->id], WARP_LANES * sizeof *latch);
    map->latched = map->id != REG_NONE;
}

void regfile_leave(struct regfile *f, uint16_t id, uint64_t now) {
    assert(!f->refs[id]);
    uint64_t at = now + f->delay;
    f->free[f->end] = id;
    f->end = f->end + 1 < f->n ? f->end + 1 : 0;
    if (f->last->at == at) {
        f->last->n++;
        return;
    }
    if (queue_empty(&f->leaving))
        f->next_free = at;
    f->last = queue_add(&f->leaving);
    *f->last = (struct reg_leaving){at, 1};
}

uint64_t regfile_idle(const struct regfile *f, uint64_t first, uint64_t last) {
    uint64_t sum = 0;
    for (uint32_t k = 0; k < f->leaving.len && queue_item(&f->leaving, k)->at <= last; k++) {
        const struct reg_leaving *l = queue_item(&f->leaving, k);
        sum += l->n * (last + 1 - (l->at > first ? l->at : first));
    }
    return sum;
}

const char *regfile_check(const struct regfile *f, uint64_t refs) {
    uint32_t used = 0, leaving = 0;
    uint64_t sum = 0;
    for (uint32_t k = 0; k < f->n; k++) {
        used += f->refs[k] != 0;
        sum += f->refs[k];
    }
    for (uint32_t k = 0; k < f->leaving.len; k++)
        leaving += queue_item(&f->leaving, k)->n;
    if (used + f->nfree + leaving != f->n)
        return "a physical register was lost: free + referenced is not what there is";
    return sum == refs ? NULL : "references to physical registers were lost or counted twice";
}
