/* Registers: their widths, the planes they lie in. */
#include <string.h>

#include "mech/cmrc/cmrc.h"

void cmrc_lay_out(struct cmrc *m) {
    uint32_t banks = m->sm->spec->banks, regs = m->sm->x->img->prog->nregs;
    bool shifts = m->sm->spec->mapping != MAP_WID;
    if (m->laid_out == m->regs_of_warp)
        return;
    m->laid_out = m->regs_of_warp;
    for (uint32_t warp = 0; warp < CORE_MAX_WARPS; warp++) {
        /* With MAP_WSHIFT the number of a register among all, by banks: quotient, and rest. */
        uint32_t number = warp * m->regs_of_warp, place = warp * MAX_GPR;
        uint32_t entry = shifts ? number / banks : warp / banks * m->regs_of_warp, rest = number % banks;
        for (uint32_t r = 0; r < MAX_GPR && r < regs + banks; r++, place++) {
            m->slots[place] = (uint16_t)(m->usual ? place : entry * banks + bank_of(m->sm, warp, r));
            m->odd[place] = entry & 1;
            m->kept[place] = (uint8_t)(CMRC_ALL | (entry & 1 ? KEPT_ODD : 0));
            bool next = !shifts || rest + 1 == banks;
            rest = next ? 0 : rest + 1;
            entry += next;
        }
    }
}

static bool is_odd(const struct cmrc *m, uint32_t place) {
    if (CMRC_ALONE)
        return m->kept[place] & KEPT_ODD;
    return m->owned ? place / m->sm->spec->banks & 1 : m->odd[place];
}

static uint8_t mask_of(const struct cmrc *m, uint32_t place, struct cmrc_form f) {
    return cmrc_mask(f.width, is_odd(m, place));
}

static struct cmrc_form form_at(struct cmrc *m, uint32_t place) {
    if (CMRC_ALONE)
        return (struct cmrc_form){(uint8_t)__builtin_popcount(m->kept[place] & CMRC_ALL),
                                  m->kept[place] & KEPT_ONES};
    bool known = place != CORE_NO_PLACE && cmrc_at(m, place)->known;
    return known ? cmrc_at(m, place)->form : (struct cmrc_form){CMRC_FULL, false};
}

uint8_t cmrc_place_mask(struct cmrc *m, uint32_t place) {
    return (uint8_t)(CMRC_ALL & ~(place == CORE_NO_PLACE ? 0 : cmrc_at(m, place)->spared));
}

/* What is known of a source that somebody else decides the place of; NULL: nothing. */
static const struct cmrc_reg *find_owned(struct cmrc *m, uint32_t warp, uint32_t reg, uint32_t place) {
    bool raw = m->raw[warp][reg / 64] >> (reg % 64) & 1;
    return place == CORE_NO_PLACE || raw ? NULL : cmrc_at(m, place);
}

/* What the planes of a source make goes to the instruction. */
static APART void read_planes(struct cmrc *m, uint32_t warp, uint32_t reg, const struct cmrc_reg *r,
                              uint32_t mask) {
    uint32_t value[WARP_LANES], *latch = core_latch(m->sm, warp, reg, mask);
    cmrc_load(m->params->sign, r->form, m->sm->warps[warp].w->r[reg], latch ? latch : value);
    if (!latch)
        core_operand(m->sm, warp, reg, value, mask);
}

/* The same where somebody else decides in which registers values live. */
static void sources_owned(struct cmrc *m, uint32_t warp, const struct xinst *i, const struct core_need *need,
                          uint32_t mask) {
    struct cmrc_op *o = &m->ops[core_next_op(m->sm)];
    for (uint32_t k = 0; k < need->nreads; k++) {
        uint32_t reg = need->reads[k];
        const struct cmrc_reg *r = find_owned(m, warp, reg, core_holds(m->sm, warp, reg));
        if (r && r->spared)
            read_planes(m, warp, reg, r, mask);
    }
    for (uint32_t k = 0; k < i->ndw && k < CMRC_WORDS; k++)
        o->before[k] = (uint16_t)core_holds(m->sm, warp, i->d + k);
}

/* The same where registers have none, and rules may be left out. */
static APART void sources_any(struct cmrc *m, uint32_t warp, const struct xinst *i, uint32_t mask) {
    const struct core_need *need = m->sm->warps[warp].need;
    struct cmrc_op *o = &m->ops[core_next_op(m->sm)];
    if (m->params->pairing == PAIR_IDEAL)
        return;
    if (m->owned) {
        sources_owned(m, warp, i, need, mask);
        return;
    }
    o->looked = 0;
    o->queued = ++m->order;
    for (uint32_t k = 0; k < need->nreads; k++) {
        const struct cmrc_reg *r = cmrc_at(m, warp * MAX_GPR + need->reads[k]);
        o->version[k] = r->version;
        o->mask[k] = CMRC_ALL & ~r->spared;
        if (r->spared)
            read_planes(m, warp, need->reads[k], r, mask);
    }
}

/* A register goes through its planes, and need not do so again before it is written if nobody else has a say
 * in what latches hold. */
static APART void read_usual(struct cmrc *m, uint32_t warp, uint32_t reg, struct cmrc_reg *r, uint32_t mask) {
    read_planes(m, warp, reg, r, mask);
    r->latched = mask == UINT32_MAX && m->sm->mech.n == 1 && !m->sm->check.on;
}

/* What the instruction computes with, and the masks with which its reads begin to wait, at once where nobody
 * takes it before it collects. */
EVERY_TIME void cmrc_sources(void *state, uint32_t warp, const struct xinst *i, uint32_t mask) {
    struct cmrc *m = state;
    if (__builtin_expect(!CMRC_USUAL(m), 0)) {
        sources_any(m, warp, i, mask);
        return;
    }
    const struct core_need *need = m->sm->warps[warp].need;
    struct cmrc_op *o = &m->ops[core_next_op(m->sm)];
    struct cmrc_reg *regs = &m->regs[warp * MAX_GPR];
    o->looked = 0;
    o->queued = ++m->order;
    for (uint32_t k = 0, n = need->nreads; k < n; k++) {
        struct cmrc_reg *r = &regs[need->reads[k]];
        uint8_t spared = r->spared;
        o->version[k] = r->version;
        o->mask[k] = CMRC_ALL & ~spared;
        if (spared && !r->latched)
            read_usual(m, warp, need->reads[k], r, mask);
    }
}

void cmrc_tally(void *state) {
    struct cmrc *m = state;
    struct sm *sm = m->sm;
    if (!m->copied)
        return;
    for (uint32_t mask = 1; mask < 1 << CMRC_FULL; mask++) {
        uint64_t used = 2 * (uint64_t)__builtin_popcount(mask), spared = CORE_ARRAYS - used;
        uint64_t reads = m->reads[mask], writes = m->writes[mask], granted = m->granted[mask];
        *m->by_mask[mask] += reads + writes + granted;
        m->n.unsent += (reads + writes + granted) * spared;
        sm->n.rf_reads += reads;
        sm->n.rf_read_arrays += reads * used;
        sm->n.rf_read_spared += reads * spared;
        sm->n.rf_writes += writes;
        sm->n.rf_write_arrays += writes * used - granted * spared;
        sm->n.rf_write_spared += (writes + granted) * spared;
        m->reads[mask] = m->writes[mask] = m->granted[mask] = 0;
    }
    uint64_t reads = sm->n.rf_reads - m->reads_before, writes = sm->n.rf_writes - m->writes_before;
    /* An operand comes to its collector as the first in a cycle, with one from another bank, or with one from
     * its own. */
    m->n.operands += reads;
    m->n.type5 +=
        reads - (m->n.collector_writes - m->before.collector_writes) - (m->n.type1 - m->before.type1);
    m->n.port_cycles +=
        reads + writes + (m->n.expansions - m->before.expansions) - (m->n.pairs - m->before.pairs);
    m->copied = false;
}

void cmrc_freeze(struct cmrc *m, uint32_t warp, uint32_t first, uint32_t n) {
    struct sm *sm = m->sm;
    core_queue_lone(sm, UINT32_MAX);
    for (uint32_t left = sm->read_banks; left; left &= left - 1)
        for (int32_t r = sm->bank_reads[__builtin_ctz(left)][0]; r != CORE_NONE; r = sm->reads[r].next) {
            uint32_t reg = sm->reads[r].place - warp * MAX_GPR;
            if (reg - first >= n || m->frozen[r])
                continue;
            m->frozen[r] = m->kept[sm->reads[r].place] & CMRC_ALL;
            m->nfrozen++;
        }
}

/* In the copy of the stages a result that is computed goes through its planes here already, while the host
 * has it at hand: until it is written nobody else changes its latch. */
EVERY_TIME void cmrc_issued(void *state, int32_t id) {
    const struct cmrc *m = state;
    if (!CMRC_ALONE) {
        core_delay(m->sm, id, (uint32_t)m->params->latency);
        return;
    }
    struct core_op *op = &m->sm->ops[id];
    if (op->need->computes && op->writes == 1 && op->mask == UINT32_MAX)
        op->tag = cmrc_kept_as(m, op->warp * MAX_GPR + op->i->d,
                               cmrc_through(m->params->sign, m->sm->warps[op->warp].w->r[op->i->d]));
}

/* Where the registers of an op that begins to read lie, if somebody else decides. */
static void collected_owned(struct cmrc *m, int32_t id) {
    const struct core_op *op = &m->sm->ops[id];
    struct cmrc_op *o = &m->ops[id];
    for (uint32_t k = 0; k < op->need->nreads; k++) {
        uint32_t place = core_place(m->sm, id, k, false);
        const struct cmrc_reg *r = place == CORE_NO_PLACE ? NULL : cmrc_at(m, place);
        bool known = op->pc == CORE_NO_PC || find_owned(m, op->warp, op->need->reads[k], place);
        o->mask[k] = (uint8_t)(CMRC_ALL & ~(r && known ? r->spared : 0));
        o->version[k] = r ? r->version : 0;
    }
}

/* Reads begin to wait, with the masks that their registers have now. */
void cmrc_collected(void *state, int32_t id) {
    struct cmrc *m = state;
    const struct core_op *op = &m->sm->ops[id];
    struct cmrc_op *o = &m->ops[id];
    o->looked = 0;
    o->queued = ++m->order;
    if (m->owned) {
        collected_owned(m, id);
        return;
    }
    for (uint32_t k = 0; k < op->need->nreads; k++) {
        const struct cmrc_reg *r = &m->regs[m->slots[op->warp * MAX_GPR + op->need->reads[k]]];
        o->mask[k] = CMRC_ALL & ~r->spared;
        o->version[k] = r->version;
    }
}

/* Lanes whose values must survive a write of these lanes. */
static uint32_t other_lanes(const struct cmrc *m, const struct core_op *op) {
    uint32_t live = cmrc_keeps(m, CM_LIVE) ? m->sm->warps[op->warp].w->live : UINT32_MAX;
    return live & ~op->mask;
}

static struct cmrc_form measure(const struct cmrc *m, const uint32_t *value, uint32_t lanes) {
    if (cmrc_keeps(m, CM_SIGN))
        return cmrc_form(m->params->sign, value, lanes);
    return cmrc_form(SIGN_FILL, value, lanes);
}

/* Some lanes of a result: in the register's form if they fit, else the register is read, merged and written.
 */
static void look_part(struct cmrc *m, int32_t id, const uint32_t *value, uint32_t others) {
    const struct core_op *op = &m->sm->ops[id];
    struct cmrc_op *o = &m->ops[id];
    struct cmrc_form old = form_at(m, op->place);
    bool in_place = !m->owned || (op->next_write < CMRC_WORDS && o->before[op->next_write] == op->place);
    if (!in_place) /* a new register: the owner copies the other lanes */
        old = (struct cmrc_form){CMRC_FULL, false};
    o->form = old;
    if (cmrc_fits(m->params->sign, old, value, op->mask))
        return;
    o->form = measure(m, value, op->mask | others);
    o->whole = true;
    if (cmrc_keeps(m, CM_EXPAND))
        o->expands = mask_of(m, op->place, old);
}

void cmrc_look(struct cmrc *m, int32_t id) {
    const struct core_op *op = &m->sm->ops[id];
    struct cmrc_op *o = &m->ops[id];
    const uint32_t *value = m->sm->warps[op->warp].w->r[op->i->d + op->next_write];
    uint32_t others = op->mask == UINT32_MAX ? 0 : other_lanes(m, op);
    if (CMRC_ALONE)
        m->sm->ops[id].noted = true;
    else
        o->looked = (uint8_t)(op->next_write + 1);
    o->queued = CMRC_ALONE ? m->sm->now : ++m->order;
    o->expands = 0;
    o->whole = false;
    if (op->pc == CORE_NO_PC) /* of another mechanism, and perhaps later than the next result there */
        o->form = (struct cmrc_form){CMRC_FULL, false};
    else if (others)
        look_part(m, id, value, others);
    else
        o->form = measure(m, value, op->mask);
    o->write = mask_of(m, op->place, o->form);
}

/* The same in the copy of the stages: what it lies in, and its latch gets what comes back from there. */
static void write_alone(struct cmrc *m, int32_t id) {
    struct core_op *op = &m->sm->ops[id];
    const struct cmrc_op *o = &m->ops[id];
    op->noted = false;
    m->kept[op->place] = cmrc_kept_as(m, op->place, o->form);
    if (o->form.width == CMRC_FULL)
        return;
    _Alignas(64) uint32_t value[WARP_LANES];
    uint32_t *latch = m->sm->warps[op->warp].w->r[op->i->d + op->next_write];
    cmrc_load(m->params->sign, o->form, latch, value);
    lane_blend(latch, value, op->mask | other_lanes(m, op));
}

void cmrc_write(struct cmrc *m, int32_t id) {
    if (CMRC_ALONE) {
        write_alone(m, id);
        return;
    }
    const struct core_op *op = &m->sm->ops[id];
    struct cmrc_op *o = &m->ops[id];
    uint32_t reg = op->i->d + op->next_write;
    struct cmrc_reg *r = cmrc_at(m, op->place);
    bool injected = op->pc == CORE_NO_PC;
    if (o->whole &&
        !cmrc_keeps(m, CM_EXPAND)) /* the other lanes were not read, and have no more planes than before */
        cmrc_lose(form_at(m, op->place), m->sm->warps[op->warp].w->r[reg], ~op->mask);
    r->form = o->form;
    r->latched = false;
    r->known = m->owned || !injected; /* else the latches have what the copy is of */
    r->spared = (uint8_t)(r->known ? CMRC_ALL & ~o->write : 0);
    r->version++;
    if (m->owned && !injected)
        m->raw[op->warp][reg / 64] &= ~(UINT64_C(1) << (reg % 64));
    o->looked = 0;
}

void cmrc_forget(struct cmrc *m, uint32_t warp, uint32_t first, uint32_t n) {
    for (uint32_t r = first; r < first + n; r++) {
        if (m->owned)
            m->raw[warp][r / 64] |= UINT64_C(1) << (r % 64);
        else
            cmrc_unlearn(m, warp * MAX_GPR + r);
    }
}
