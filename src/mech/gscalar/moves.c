/* Special moves (section 2.2.3): before some lanes write a compressed register, a move that all lanes take
 * part in writes it back as it is. It is inserted where the scoreboard lets the instruction pass, takes an
 * issue slot, and the instruction waits for its end. */
#include "mech/gscalar/marks.h"

/* Destination words that must be expanded first. */
static uint32_t compressed_words(const struct gscalar *m, uint32_t warp) {
    const struct core_warp *cw = &m->sm->warps[warp];
    const struct core_need *need = cw->need;
    const struct xinst *i = need->i;
    uint32_t place = warp * MAX_GPR + i->d;
    uint32_t words = 0;
    for (uint32_t k = 0, n = i->ndw; k < n; k++)
        words |= (uint32_t)gscalar_compressed(m, place + k) << k;
    if (!words)
        return 0;
    uint32_t mask = cw->w->top->mask & (cw->w->p[i->guard] ^ (0u - (uint32_t)i->gneg));
    bool moves = !need->control && mask != CODE_ALL && mask && (GSCALAR_EARLY || gscalar_keeps(m, GS_MOVE));
    return moves ? words : 0;
}

/* Looks at the next instruction of warps, which the scoreboard lets pass: once for each. */
static APART void gscalar_look(struct gscalar *m, uint64_t warps) {
    for (uint64_t left = warps & ~m->checked; left; left &= left - 1) {
        uint32_t warp = (uint32_t)__builtin_ctzll(left);
        m->moved[warp] = 0;
        gscalar_find_enough(m, warp);
        if (compressed_words(m, warp))
            m->wanting |= UINT64_C(1) << warp;
    }
    m->checked |= warps;
    gscalar_concern(m);
}

EVERY_TIME uint64_t gscalar_eligible(void *state, uint64_t ready, uint64_t now) {
    (void)now;
    struct gscalar *m = state;
    if (!GSCALAR_EARLY && m->owned)
        return ready;
    if (!GSCALAR_EARLY && ready & ~m->checked) /* else those who ask for slots have looked */
        gscalar_look(m, ready);
    return ready & ~m->wanting;
}

/* The next move that a warp needs; true: there was a slot's worth of it. */
static bool make_move(struct gscalar *m, uint32_t warp) {
    uint32_t words = compressed_words(m, warp) & ~(uint32_t)m->moved[warp];
    if (!words)
        return false;
    uint32_t k = (uint32_t)__builtin_ctz(words), reg = m->sm->warps[warp].need->i->d + k;
    if (!core_collector_free(m->sm, &m->movs[reg].need))
        return false;
    m->moved[warp] |= (uint8_t)(1u << k);
    if (m->params->skip_dead && gscalar_dead(m, warp, reg)) {
        gscalar_lose(m, warp, reg, CODE_ALL); /* nobody will read it */
        m->n.moves_dead++;
        return false;
    }
    int32_t id = core_inject(m->sm, warp, &m->movs[reg], CODE_ALL);
    if (id == CORE_NONE) {
        m->moved[warp] &= (uint8_t) ~(1u << k);
        return false;
    }
    m->moving[warp]++;
    m->n.moves++;
    m->making = true;
    core_collect(m->sm, id);
    m->making = false;
    return true;
}

/* Nothing is left to begin before the warp's instruction, or to do. */
static void settle(struct gscalar *m, uint32_t warp) {
    if (compressed_words(m, warp) & ~(uint32_t)m->moved[warp])
        return;
    set_bit(&m->started, warp_bit(warp), m->moving[warp]);
    if (m->moving[warp])
        return;
    m->wanting &= ~warp_bit(warp);
    gscalar_concern(m);
}

/* The moves of warps that have not begun theirs. */
static APART uint32_t make_moves(struct gscalar *m, uint64_t warps, uint32_t free) {
    uint32_t used = 0;
    for (uint64_t left = warps; left && used < free; left &= left - 1) {
        uint32_t warp = (uint32_t)__builtin_ctzll(left);
        while (used < free && make_move(m, warp))
            used++;
        settle(m, warp);
    }
    return used;
}

EVERY_TIME uint32_t gscalar_slots(void *state, uint32_t sched, uint32_t free, uint64_t now) {
    (void)now;
    struct gscalar *m = state;
    if (!GSCALAR_EARLY && m->owned)
        return 0;
    uint64_t group = m->sm->group[sched], ready = group & ready_warps(m->sm);
    if (ready & ~m->checked)
        gscalar_look(m, ready);
    uint64_t waits = group & m->wanting & ~m->started;
    return waits ? make_moves(m, waits, free) : 0;
}

void gscalar_moved(struct gscalar *m, uint32_t warp) {
    m->moving[warp]--;
    settle(m, warp);
}
