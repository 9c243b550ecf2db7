/* Spin loops: a path that repeats an ordered access may wait for another path of its own warp, which in turn
 * may wait for this one at a reconvergence point. The warp then gives way to that other path. */
#include "core/core.h"

/* Repetitions that make a spin loop; ordered accesses elsewhere after which another one is watched. */
enum { SPIN_TIMES = 16, SPIN_OTHERS = 8 };

bool warp_spins(struct core_warp *cw, const struct xinst *i, uint32_t m) {
    uint64_t a[WARP_LANES];
    exec_addresses(cw->x, cw->w, i, m, a);
    uint64_t addr = a[__builtin_ctz(m)];
    if (cw->spin.pc != cw->next && ++cw->spin.others < SPIN_OTHERS)
        return false;
    bool same = cw->spin.pc == cw->next && cw->spin.addr == addr;
    cw->spin.addr = addr;
    cw->spin.pc = cw->next;
    cw->spin.others = 0;
    cw->spin.times = same ? cw->spin.times + 1 : 0;
    if (cw->spin.times < SPIN_TIMES)
        return false;
    cw->spin.times = 0;
    return true;
}
