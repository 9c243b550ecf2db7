/* Which registers are live in front of each instruction of linked code, so that nobody moves a value that no
 * one reads (section 2.2.3, after [52]). Calls, returns and indexed branches may go anywhere: behind them
 * everything is live. */
#include <string.h>

#include "mech/gscalar/marks.h"

enum { WORDS = 4 };

struct gscalar_live {
    uint64_t in[WORDS];
};

/* What is live behind an instruction, into out; false: anything may be. */
static bool live_behind(const struct image *img, const struct gscalar_live *all, uint32_t pc, uint64_t *out) {
    const struct xinst *i = &img->code[pc];
    bool guarded = i->guard != PRED_PT || i->gneg;
    memset(out, 0, WORDS * sizeof *out);
    if (i->kind == X_CALL || i->kind == X_CALLI || i->kind == X_RET || i->kind == X_BRX)
        return false;
    for (uint32_t k = 0; k < WORDS; k++) {
        if (i->kind == X_BRA)
            out[k] |= all[i->in->target].in[k];
        if ((i->kind != X_BRA && i->kind != X_EXIT) || guarded)
            out[k] |= all[pc + 1].in[k];
    }
    return true;
}

static bool update(const struct image *img, struct gscalar_live *all, uint32_t pc) {
    const struct xinst *i = &img->code[pc];
    struct core_need need = core_need(i);
    uint64_t in[WORDS];
    if (!live_behind(img, all, pc, in))
        memset(in, 0xff, sizeof in);
    for (uint32_t r = i->d; i->guard == PRED_PT && !i->gneg && r < i->d + i->ndw; r++)
        in[r / 64] &= ~(UINT64_C(1) << (r % 64));
    for (uint32_t k = 0; k < need.nreads; k++)
        in[need.reads[k] / 64] |= UINT64_C(1) << (need.reads[k] % 64);
    bool changed = memcmp(in, all[pc].in, sizeof in);
    memcpy(all[pc].in, in, sizeof in);
    return changed;
}

struct gscalar_live *gscalar_liveness(struct arena *a, const struct image *img) {
    struct gscalar_live *all = arena_array(a, struct gscalar_live, img->ncode + 1);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t pc = img->ncode; pc--;)
            changed |= update(img, all, pc);
    }
    return all;
}

/* The path on top writes its lanes, and those that a guard leaves out go on behind: live_behind of a guarded
 * instruction is what is live in front of it, as its write does not end the old value's life. */
bool gscalar_dead(const struct gscalar *m, uint32_t warp, uint32_t reg) {
    const struct core_warp *cw = &m->sm->warps[warp];
    const struct warp *w = cw->w;
    if (cw->x != m->sm->x)
        return false;
    uint32_t first = gscalar_keeps(m, GS_DEAD) ? 0 : w->depth - 1;
    for (uint32_t e = first; e < w->depth; e++) {
        uint32_t pc = e + 1 == w->depth ? cw->next : w->stack[e].pc;
        if (m->marks->live[pc].in[reg / 64] >> (reg % 64) & 1)
            return false;
    }
    return true;
}
