/* Where warps of a functional run take turns.
 *
 * On hardware the warps of a block advance together: each issues until it needs what it has loaded, then
 * others issue. Programs can see that, if they race: when eight warps add to one word in step, all read it
 * before one writes it. So a warp's turn ends behind the last load of a batch, which is followed by a use of
 * something that the batch loads, or by a place where control may come or go; which loads these are does not
 * depend on values and is marked here once. Loads of local memory and constants are nobody else's affair. */
#include <string.h>

#include "exec/warp.h"

static bool loads(const struct xinst *i) {
    if (i->kind == X_LOAD)
        return i->in->m.space != MS_LOCAL;
    return i->kind == X_LDSM || i->kind == X_ATOM || i->kind == X_TEX;
}

/* Instructions where control comes from elsewhere. */
static bool *targets(const struct image *img) {
    const struct program *p = img->prog;
    bool *at = xcalloc(img->ncode + 1, sizeof *at);
    for (uint32_t i = 0; i < img->ncode; i++)
        if (img->code[i].kind == X_BRA)
            at[img->code[i].in->target] = true;
    for (uint32_t t = 0; t < p->tables.len; t++)
        for (uint32_t k = 0; k < p->tables.at[t].n; k++)
            at[p->tables.at[t].at[k]] = true;
    for (uint32_t f = 0; f < p->fns.len; f++)
        at[p->fn_entry[f]] = true;
    return at;
}

static bool touches(const struct xinst *i, const bool *pending) {
    bool any = false;
    for (uint32_t k = 0; k < i->nsw; k++)
        any |= !(i->s[k] & POOL) && pending[i->s[k]];
    for (uint32_t k = 0; k < i->ndw; k++)
        any |= pending[i->d + k];
    return any;
}

void image_mark_turns(struct image *img) {
    uint32_t nregs = img->prog->nregs;
    bool *pending = xcalloc(nregs, sizeof *pending), *target = targets(img);
    struct xinst *last = NULL; /* load of the batch */
    for (uint32_t n = 0; n < img->ncode; n++) {
        struct xinst *i = &img->code[n];
        if (last && (target[n] || op_info[i->in->op].form == FORM_CTRL || touches(i, pending))) {
            last->turn = true;
            last = NULL;
            memset(pending, 0, nregs * sizeof *pending);
        }
        if (!loads(i))
            continue;
        last = i;
        for (uint32_t k = 0; k < i->ndw; k++)
            pending[i->d + k] = true;
    }
    free(pending);
    free(target);
}
