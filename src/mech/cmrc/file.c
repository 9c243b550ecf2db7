/* Registers: their widths, the planes they lie in. */
#include <string.h>

#include "mech/cmrc/cmrc.h"

void cmrc_lay_out(struct cmrc *m) {
    uint32_t banks = m->sm->spec->banks, regs = m->sm->x->img->prog->nregs;
    if (m->laid_out == m->regs_of_warp)
        return;
    m->laid_out = m->regs_of_warp;
    for (uint32_t warp = 0; warp < CORE_MAX_WARPS; warp++)
        for (uint32_t r = 0; r < MAX_GPR && r < regs + banks; r++) {
            uint32_t entry = m->sm->spec->mapping == MAP_WID ? warp / banks * m->regs_of_warp + r
                                                             : (warp * m->regs_of_warp + r) / banks;
            m->slots[warp * MAX_GPR + r] = (uint16_t)(entry * banks + bank_of(m->sm, warp, r));
            m->odd[warp * MAX_GPR + r] = entry & 1;
        }
}

static bool is_odd(const struct cmrc *m, uint32_t place) {
    return m->owned ? place / m->sm->spec->banks & 1 : m->odd[place];
}

static uint8_t mask_of(const struct cmrc *m, uint32_t place, struct cmrc_form f) {
    return cmrc_mask(f.width, is_odd(m, place));
}

static struct cmrc_form form_at(struct cmrc *m, uint32_t place) {
    bool known = place != CORE_NO_PLACE && cmrc_at(m, place)->known;
    return known ? cmrc_at(m, place)->form : (struct cmrc_form){CMRC_FULL, false};
}

uint8_t cmrc_place_mask(struct cmrc *m, uint32_t place) {
    return mask_of(m, place, form_at(m, place));
}

static bool is_raw(const struct cmrc *m, uint32_t warp, uint32_t reg) {
    return m->raw[warp][reg / 64] >> (reg % 64) & 1;
}

/* What the planes of a source make goes to the instruction. */
static void read_source(struct cmrc *m, uint32_t warp, uint32_t reg, uint32_t mask) {
    uint32_t place = m->owned ? core_holds(m->sm, warp, reg) : warp * MAX_GPR + reg, value[WARP_LANES];
    const struct cmrc_reg *r = place == CORE_NO_PLACE ? NULL : cmrc_at(m, place);
    if (!r || !r->known || r->form.width == CMRC_FULL || is_raw(m, warp, reg))
        return;
    uint32_t *latch = core_latch(m->sm, warp, reg, mask);
    cmrc_load(m->params->sign, r->form, m->sm->warps[warp].w->r[reg], latch ? latch : value);
    if (!latch)
        core_operand(m->sm, warp, reg, value, mask);
}

void cmrc_sources(void *state, uint32_t warp, const struct xinst *i, uint32_t mask) {
    struct cmrc *m = state;
    const struct core_warp *cw = &m->sm->warps[warp];
    const struct core_need *need = &cw->needs[cw->next];
    if (m->params->pairing == PAIR_IDEAL)
        return;
    for (uint32_t k = 0; k < need->nreads; k++)
        read_source(m, warp, need->reads[k], mask);
    for (uint32_t k = 0; m->owned && k < i->ndw && k < CMRC_WORDS; k++)
        m->next.before[k] = (uint16_t)core_holds(m->sm, warp, i->d + k);
}

void cmrc_issued(void *state, int32_t id) {
    struct cmrc *m = state;
    m->ops[id] = m->next;
    if (m->params->latency)
        core_delay(m->sm, id, (uint32_t)m->params->latency);
}

/* Reads begin to wait, with the masks that their registers have now. */
void cmrc_collected(void *state, int32_t id) {
    struct cmrc *m = state;
    const struct core_op *op = &m->sm->ops[id];
    struct cmrc_op *o = &m->ops[id];
    o->looked = 0;
    o->queued = ++m->order;
    for (uint32_t k = 0; k < op->need->nreads; k++) {
        uint32_t place = core_place(m->sm, id, k, false);
        bool raw = op->pc != CORE_NO_PC && is_raw(m, op->warp, op->need->reads[k]);
        o->mask[k] =
            raw ? mask_of(m, place, (struct cmrc_form){CMRC_FULL, false}) : cmrc_place_mask(m, place);
        o->version[k] = place == CORE_NO_PLACE ? 0 : cmrc_at(m, place)->version;
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
    uint32_t others = other_lanes(m, op);
    o->looked = (uint8_t)(op->next_write + 1);
    o->queued = ++m->order;
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

void cmrc_write(struct cmrc *m, int32_t id) {
    const struct core_op *op = &m->sm->ops[id];
    struct cmrc_op *o = &m->ops[id];
    uint32_t reg = op->i->d + op->next_write;
    struct cmrc_reg *r = cmrc_at(m, op->place);
    bool injected = op->pc == CORE_NO_PC;
    if (o->whole &&
        !cmrc_keeps(m, CM_EXPAND)) /* the other lanes were not read, and have no more planes than before */
        cmrc_lose(form_at(m, op->place), m->sm->warps[op->warp].w->r[reg], ~op->mask);
    r->form = o->form;
    r->known = m->owned || !injected; /* else the latches have what the copy is of */
    r->version++;
    if (!injected)
        m->raw[op->warp][reg / 64] &= ~(UINT64_C(1) << (reg % 64));
    o->looked = 0;
}

void cmrc_forget(struct cmrc *m, uint32_t warp, uint32_t first, uint32_t n) {
    for (uint32_t r = first; r < first + n; r++) {
        m->raw[warp][r / 64] |= UINT64_C(1) << (r % 64);
        if (!m->owned)
            cmrc_at(m, warp * MAX_GPR + r)->known = false;
    }
}
