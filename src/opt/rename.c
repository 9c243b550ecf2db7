/* Splits registers that are written several times in one block.
 *
 * A value that is overwritten later in its own block has no reader elsewhere; it moves to a register of its
 * own, which is then written once. Other passes reason about such registers only. Guarded and partial writes
 * keep the old value alive and are left alone. */
#include "opt/pass.h"

/* Does the instruction write the whole register, for every thread? */
static bool writes_all(const struct fn *f, const struct inst *i, uint32_t v) {
    return i->dst.kind == O_REG && i->dst.v == v && !is_guarded(i) && i->dst.word == 0 &&
           inst_dst_words(i) == f->vregs.at[v];
}

bool opt_rename(struct program *p, struct fn *f) {
    (void)p;
    bool changed = false;
    uint32_t nregs = f->vregs.len;
    uint32_t *next =
        xcalloc(nregs + 1u, sizeof *next); /* number in the block of the next whole write, plus one */
    uint32_t *mark = xcalloc(nregs + 1u, sizeof *mark); /* block it belongs to, plus one */
    uint32_t *name = xcalloc(nregs + 1u, sizeof *name);
    for (uint32_t b = 0; b < f->blocks.len; b++) {
        struct block *k = &f->blocks.at[b];
        for (uint32_t n = 0; n < k->insts.len; n++) { /* last whole write of each register in this block */
            const struct inst *i = &k->insts.at[n];
            if (i->dst.kind == O_REG && i->dst.v < nregs && i->dst.v != f->fp && writes_all(f, i, i->dst.v)) {
                next[i->dst.v] = n + 1;
                mark[i->dst.v] = b + 1;
            }
        }
        for (uint32_t n = 0; n < k->insts.len; n++) {
            struct inst *i = &k->insts.at[n];
            for (uint32_t s = 0; s < i->nsrc; s++)
                if (i->src[s].kind == O_REG && i->src[s].v < nregs && name[i->src[s].v])
                    i->src[s].v = name[i->src[s].v];
            if (i->dst.kind != O_REG || i->dst.v >= nregs)
                continue;
            uint32_t v = i->dst.v;
            if (writes_all(f, i, v) && mark[v] == b + 1 && next[v] > n + 1) {
                name[v] = fn_vreg(f, f->vregs.at[v]);
                changed = true;
            } else if (writes_all(f, i, v)) {
                name[v] = 0;
            }
            if (name[v])
                i->dst.v = name[v];
        }
    }
    free(next);
    free(mark);
    free(name);
    return changed;
}
