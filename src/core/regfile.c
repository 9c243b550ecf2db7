#include "core/regfile.h"

struct regfile *regfile_create(struct arena *a, uint32_t n, uint32_t warps, uint32_t regs, uint32_t delay) {
    struct regfile *f = arena_new(a, struct regfile);
    *f = (struct regfile){.n = n, .regs = regs, .delay = delay};
    f->v = arena_alloc(a, n * sizeof *f->v);
    f->of = arena_array(a, struct reg_state, n);
    f->free = arena_array(a, uint16_t, n);
    queue_init(&f->leaving, a, delay + 2);
    f->map = arena_array(a, struct reg_map, warps * regs);
    regfile_reset(f, warps);
    return f;
}

void regfile_reset(struct regfile *f, uint32_t warps) {
    f->first_free = f->nleaving = f->leaving.len = 0;
    f->next_free = UINT64_MAX;
    f->nfree = f->n;
    for (uint32_t k = 0; k < f->n; k++)
        f->free[k] = (uint16_t)k;
    memset(f->of, 0, f->n * sizeof *f->of);
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
    assert(!f->of[id].refs);
    uint32_t to = f->first_free + f->nfree + f->nleaving++;
    uint64_t at = now + f->delay;
    f->free[to < f->n ? to : to - f->n] = id;
    struct reg_leaving *last = queue_item(&f->leaving, f->leaving.len - 1);
    if (!queue_empty(&f->leaving) && last->at == at) {
        last->n++;
        return;
    }
    if (queue_empty(&f->leaving))
        f->next_free = at;
    queue_push(&f->leaving, (struct reg_leaving){at, 1});
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
    uint32_t used = 0;
    uint64_t sum = 0;
    for (uint32_t k = 0; k < f->n; k++) {
        used += f->of[k].refs != 0;
        sum += f->of[k].refs;
    }
    if (used + f->nfree + f->nleaving != f->n)
        return "a physical register was lost: free + referenced is not what there is";
    return sum == refs ? NULL : "references to physical registers were lost or counted twice";
}
