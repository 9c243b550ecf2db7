/* How often threads come by a block. */
#include "flow/classes.h"

/* The condition of the branch at the end of a block. */
static struct vclass condition(const struct classes *c, uint32_t block) {
    const struct block *at = &c->f->blocks.at[block];
    uint32_t index = at->insts.len - 1;
    const struct inst *last = &at->insts.at[index];
    if (last->op == OP_BRX)
        return class_of_reads(c, block, index);
    if (last->op != OP_BRA || last->guard.id == VPRED_PT)
        return (struct vclass){0};
    uint32_t v = reach_read(&c->reach, block, index, value_of_pred(&c->reach.v, last->guard.id));
    return v == NONE ? (struct vclass){DEP_ANY, LACK_NONE} : class_read(c, v, block);
}

struct vclass class_order(const struct classes *c, uint32_t block) {
    struct arena temp = {0};
    uint32_t n = c->f->blocks.len, len = 0;
    bool *seen = arena_array(&temp, bool, n + 1);
    uint32_t *work = arena_array(&temp, uint32_t, n + 1);
    struct vclass all = {0};
    work[len++] = block;
    seen[block] = true;
    while (len) {
        uint32_t b = work[--len];
        for (uint32_t k = c->control.dep_at[b]; k < c->control.dep_at[b + 1]; k++) {
            uint32_t from = c->control.deps[k];
            all = class_meet(all, condition(c, from));
            if (!seen[from]) {
                seen[from] = true;
                work[len++] = from;
            }
        }
    }
    arena_free(&temp);
    return all;
}
