/* SILICON-SYNC (DARSIE, section 6.2): what waiting at branches costs without anything gained by it. The base
 * machine, whose kernels have a barrier of the whole block where a basic block begins, as the paper's authors
 * put
 * __syncthreads() into the programs that they ran on a real GPU.
 *
 * A block of code gets one only if all threads of the thread block come by equally often: elsewhere some
 * would wait for others that never come. */
#include "flow/classes.h"
#include "mech/mech.h"
#include "opt/mech_pass.h"

struct silicon_sync {
    uint64_t unused; /* a mechanism has a state */
};

static struct inst barrier(void) {
    struct inst i = inst_new(OP_BAR);
    i.nsrc = 2;
    i.src[0] = i.src[1] = opd_imm(0);
    return i;
}

static bool begins_with_barrier(const struct block *b) {
    return b->insts.len && b->insts.at[0].op == OP_BAR;
}

static bool insert_barriers(const struct pass_run *r) {
    struct arena a = {0};
    const struct class_options o = {.loads = LOADS_READ_ONLY, .accesses = accesses_of(&a, r->p)};
    struct fn *f = r->p->fns.at[0];
    const struct classes *c = classes_of(&a, f, &o);
    const struct inst bar = barrier();
    bool changed = false;
    bool *level = arena_array(&a, bool, f->blocks.len + 1);
    for (uint32_t b = 1; b < f->blocks.len; b++)
        level[b] = f->blocks.at[b].insts.len && !begins_with_barrier(&f->blocks.at[b]) &&
                   class_uniform_block(class_order(c, b));
    for (uint32_t b = 1; b < f->blocks.len; b++)
        if (level[b]) {
            block_insert(&f->blocks.at[b], 0, &bar, 1);
            changed = true;
        }
    arena_free(&a);
    return changed;
}

static const struct mech_pass passes[] = {{"silicon-sync", AFTER_REGISTERS, insert_barriers},
                                          {NULL, 0, NULL}};

static void *create(struct arena *a, const void *params, void *shared, struct sm *sm) {
    (void)params;
    (void)shared;
    (void)sm;
    return arena_new(a, struct silicon_sync);
}

const struct mechanism mech_silicon_sync = {
    .name = "silicon-sync",
    .help = "the base machine with a barrier of the block at basic-block boundaries",
    .order = 90,
    .passes = passes,
    .create = create,
};
