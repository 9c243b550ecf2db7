/* Fetch: each cycle every group of warps may read the instruction cache once, for the next warp in turn whose
 * buffer has room; those with nothing in it go first, as they have room for a whole fetch. A line holds 16
 * instructions; a fetch brings fetch_width of them, not across a line's end.
 */
#include "core/points.h"

enum { LINE_INSTS = MEM_LINE / INST_BYTES };

static void arrivals(struct sm *sm, uint64_t now) {
    for (uint64_t left = sm->arriving; left; left &= left - 1) {
        uint32_t s = (uint32_t)__builtin_ctzll(left);
        struct core_warp *cw = &sm->warps[s];
        if (cw->arrive > now)
            continue;
        sm->n.decoded += cw->arriving;
        cw->buffered += cw->arriving;
        cw->arriving = 0;
        TELL(sm, tell_warp(sm, PROBE_BUFFER, s));
        warp_update(sm, s);
    }
}

/* Instructions that a fetch brings if it is answered now. */
static uint32_t fetch_count(const struct sm *sm, const struct core_warp *cw) {
    uint32_t pc = cw->next + cw->buffered, room = sm->spec->ibuffer - cw->buffered;
    uint32_t n = sm->spec->fetch_width < room ? sm->spec->fetch_width : room,
             end = LINE_INSTS - pc % LINE_INSTS;
    n = n < end ? n : end;
    return pc + n > sm->x->img->ncode ? sm->x->img->ncode - pc : n;
}

static void bring(struct sm *sm, uint32_t s, uint64_t cycle) {
    struct core_warp *cw = &sm->warps[s];
    cw->arriving = fetch_count(sm, cw);
    cw->arrive = cycle + sm->spec->decode;
    TELL(sm, tell_fetch(sm, PROBE_DECODE, s, cw->arriving));
    warp_update(sm, s);
}

static void fetch_one(struct sm *sm, uint32_t s, uint64_t now) {
    struct core_warp *cw = &sm->warps[s];
    uint64_t addr = sm->x->img->address + (uint64_t)(cw->next + cw->buffered) * INST_BYTES;
    struct mem_access a = {.line = addr & ~(uint64_t)(MEM_LINE - 1),
                           .lanes = 1,
                           .bytes = MEM_LINE,
                           .sectors = MEM_ALL_SECTORS,
                           .kind = MEM_LOAD};
    sm->n.fetches++;
    enum mem_result r = memsys_access(sm->mem, now, sm->id, MEM_INST, &a, s | cw->epoch << 8);
    if (mem_accepted(r)) {
        cw->fetching = true;
        sm->hungry &= ~(UINT64_C(1) << s);
        TELL(sm, tell_fetch(sm, PROBE_FETCH, s, fetch_count(sm, cw)));
    } else {
        sm->n.fetch_stalls++;
    }
}

static void replies(struct sm *sm, uint64_t now) {
    struct mem_done d;
    while (memsys_pop(sm->mem, now, sm->id, MEM_INST, &d)) {
        struct core_warp *cw = &sm->warps[d.token & 0xff];
        if (cw->w && (cw->epoch & 0xffffff) == d.token >> 8) {
            cw->fetching = false;
            bring(sm, d.token & 0xff, now);
        }
    }
}

void sm_fetch(struct sm *sm, uint64_t now) {
    replies(sm, now);
    if (sm->arriving)
        arrivals(sm, now);
    uint64_t hungry = sm->hungry & ~sm->blocked;
    if (HAS(sm, fetch))
        hungry = point_fetch(sm, hungry, now);
    for (uint32_t g = 0; g < sm->spec->fetch_groups && hungry; g++) {
        uint64_t set = hungry & sm->fetch_group[g];
        if (!set)
            continue;
        if (set & ~sm->valid)
            set &= ~sm->valid;
        uint64_t above = sm->fetch_last[g] >= 63 ? 0 : set & (~UINT64_C(0) << (sm->fetch_last[g] + 1));
        uint32_t s = (uint32_t)__builtin_ctzll(above ? above : set);
        sm->fetch_last[g] = s;
        fetch_one(sm, s, now);
    }
}
