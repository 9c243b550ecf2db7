/* synccheck: barriers that not all threads of a warp reach together, or with counts that cannot work,
 * warp-wide instructions whose member masks do not fit the threads that execute them, and barrier objects
 * that are used before they are made or beyond their count. */
#include <inttypes.h>
#include <string.h>

#include "sanitize/tool.h"

enum wrong {
    DIVERGED,
    DIVERGED_BLOCK,
    COUNT,
    TOO_MANY,
    OTHER_COUNT,
    NOT_MEMBER,
    ABSENT,
    MASKS_DIFFER,
    NO_OBJECT,
    OVERFLOW_OBJECT,
    BAD_INIT,
    STUCK
};
static const char *const titles[] = {
    [DIVERGED] = "Divergent thread(s) in warp",
    [DIVERGED_BLOCK] = "Divergent thread(s) in block",
    [COUNT] = "Invalid arguments",
    [TOO_MANY] = "Too many threads arrive",
    [OTHER_COUNT] = "Invalid arguments",
    [NOT_MEMBER] = "Invalid arguments",
    [ABSENT] = "Divergent thread(s) in warp",
    [MASKS_DIFFER] = "Invalid arguments",
    [NO_OBJECT] = "Invalid barrier object",
    [OVERFLOW_OBJECT] = "Too many threads arrive",
    [BAD_INIT] = "Invalid arguments",
    [STUCK] = "Threads wait for others that do not come",
};

static struct str *begin(struct sanitizer *s, const struct access *a, enum wrong wrong, uint32_t lane) {
    struct finding *f = finding_add(s, (uint64_t)RP_SYNCCHECK << 48 | (uint64_t)wrong << 40 | a->pc, false);
    if (!f)
        return NULL;
    struct str *text = &f->text;
    str_printf(text, "========= Barrier error detected. %s.\n", titles[wrong]);
    finding_place(a, lane, text);
    return text;
}

static struct access place_of(struct exec *x, struct warp *w, const struct xinst *i) {
    return (struct access){.x = x, .w = w, .i = i, .pc = (uint32_t)(i - x->img->code)};
}

static uint32_t first_lane(uint32_t m) {
    return (uint32_t)__builtin_ctz(m);
}

/* ---- warp-wide instructions ---- */

void synccheck_together(struct sanitizer *s, struct exec *x, struct warp *w, const struct xinst *i,
                        uint32_t m) {
    if (i->in->m.lut) /* the old forms name nobody */
        return;
    const uint32_t *masks = exec_member_masks(x, w, i);
    struct access a = place_of(x, w, i);
    for (uint32_t left = m; left; left &= left - 1) {
        uint32_t l = first_lane(left), named = masks[l], others = 0;
        struct str *text = NULL;
        for (uint32_t rest = named & m; rest; rest &= rest - 1)
            others |= (uint32_t)(masks[first_lane(rest)] != named) << first_lane(rest);
        if (!(named >> l & 1)) {
            if ((text = begin(s, &a, NOT_MEMBER, l)))
                str_printf(text, "=========     The mask 0x%08x does not name the thread itself, lane %u\n",
                           named, l);
        } else if (named & w->live & ~m) {
            if ((text = begin(s, &a, ABSENT, l)))
                str_printf(text, "=========     The mask 0x%08x names lanes 0x%08x, which are not there\n",
                           named, named & w->live & ~m);
        } else if (others) {
            if ((text = begin(s, &a, MASKS_DIFFER, l)))
                str_printf(text, "=========     The mask 0x%08x names lane %u, whose own mask is 0x%08x\n",
                           named, first_lane(others), masks[first_lane(others)]);
        }
        if (text)
            finding_end(s, text);
    }
}

/* ---- barriers of a block ---- */

void synccheck_arrive(struct sanitizer *s, struct warp *w, const struct xinst *i, uint32_t id, uint32_t want,
                      uint32_t m) {
    struct cta *c = w->cta;
    struct access a = place_of(c->x, w, i);
    const struct barrier *b = &c->bars[id < MAX_BARRIERS ? id : 0];
    bool used = id < MAX_BARRIERS && c->bars_used >> id & 1;
    const uint32_t *ids = src_lanes(c->x, w, i->s[0]), *wants = src_lanes(c->x, w, i->s[1]);
    uint32_t lane = first_lane(m), warps = (c->nthreads + WARP_LANES - 1) / WARP_LANES;
    struct str *text = NULL;
    bool differ = false;
    for (uint32_t left = m; left; left &= left - 1)
        differ |= ids[first_lane(left)] != id || wants[first_lane(left)] != want;
    if (id >= MAX_BARRIERS || want % WARP_LANES) {
        if ((text = begin(s, &a, COUNT, lane)))
            str_printf(
                text,
                "=========     Barrier %u for %u threads: there are barriers 0 to 15, for whole warps\n", id,
                want);
    } else if (differ) {
        if ((text = begin(s, &a, COUNT, lane)))
            str_printf(text, "=========     Threads of the warp name different barriers or counts\n");
    } else if (want > warps * WARP_LANES || (i->in->m.mode == BAR_ARRIVE && !want)) {
        if ((text = begin(s, &a, COUNT, lane)))
            str_printf(text, "=========     Barrier %u is for %u threads, the block has %u\n", id, want,
                       c->nthreads);
    } else if (used && b->want != want) {
        if ((text = begin(s, &a, OTHER_COUNT, lane)))
            str_printf(text,
                       "=========     Barrier %u is for %u threads here, and for %u where others arrived\n",
                       id, want, b->want);
    } else if (used && want && b->arrived + WARP_LANES > want) {
        if ((text = begin(s, &a, TOO_MANY, lane)))
            str_printf(text, "=========     Barrier %u is for %u threads, and %u have arrived before\n", id,
                       want, b->arrived);
    }
    if (text)
        finding_end(s, text);
}

/* Lanes of a warp that wait at a barrier by the same instruction as the first of those that do, and that
 * instruction. */
static uint32_t waiting(const struct warp *w, uint32_t id, uint32_t *pc) {
    uint32_t lanes = 0, first = WARP_LANES;
    for (uint32_t k = 0; k < w->depth; k++) {
        const struct simt_entry *e = &w->stack[k];
        uint32_t there = e->bar == (int)id ? e->lanes & w->live : 0;
        if (there && first_lane(there) < first) {
            first = first_lane(there);
            *pc = e->pc - 1;
        }
    }
    for (uint32_t k = 0; k < w->depth; k++)
        if (w->stack[k].bar == (int)id && w->stack[k].pc - 1 == *pc)
            lanes |= w->stack[k].lanes & w->live;
    return lanes;
}

static void report_diverged(struct sanitizer *s, struct cta *c, struct warp *w, uint32_t pc, uint32_t here,
                            enum wrong wrong) {
    struct access a = place_of(c->x, w, &c->x->img->code[pc]);
    struct str *text = begin(s, &a, wrong, first_lane(here));
    if (!text)
        return;
    if (wrong == DIVERGED)
        str_printf(text, "=========     Lanes 0x%08x of the warp wait here, lanes 0x%08x do not\n", here,
                   w->live & ~here);
    else
        str_printf(text,
                   "=========     Other threads of the block came to the barrier by another instruction\n");
    finding_end(s, text);
}

/* By now all who come have come, and others have exited, which is no mistake. But threads of a warp that came
 * by different instructions, or did not come, should not have been diverged; and at a barrier for all threads
 * of the block, none of them. */
void synccheck_open(struct sanitizer *s, struct cta *c, uint32_t id) {
    uint32_t first = UINT32_MAX;
    for (uint32_t k = 0; k < c->nwarps; k++) {
        struct warp *w = &c->warps[k];
        uint32_t pc = UINT32_MAX, here = waiting(w, id, &pc);
        if (!here || !c->x->img->code[pc].in->m.aligned)
            continue;
        first = first == UINT32_MAX ? pc : first;
        if (w->live & ~here)
            report_diverged(s, c, w, pc, here, DIVERGED);
        else if (pc != first && !c->bars[id].want)
            report_diverged(s, c, w, pc, here, DIVERGED_BLOCK);
    }
}

void synccheck_stuck(struct sanitizer *s, const char *report) {
    struct finding *f = finding_add(s, (uint64_t)RP_SYNCCHECK << 48 | (uint64_t)STUCK << 40, false);
    if (!f)
        return;
    struct str *text = &f->text;
    str_printf(text, "========= Barrier error detected. %s.\n", titles[STUCK]);
    while (*report) {
        size_t n = strcspn(report, "\n");
        str_printf(text, "=========     %.*s\n", (int)n, report);
        report += n + (report[n] == '\n');
    }
    finding_end(s, text);
}

/* ---- barrier objects ---- */

enum { PENDING_BITS = 20, PENDING = (1 << PENDING_BITS) - 1 };

/* Tells shared memory of different blocks apart. */
static uint64_t object_key(const struct access *a, uint32_t lane) {
    return (uint64_t)touch_block(a->w, &a->t, lane)->number << 32 | (uint32_t)a->t.at[lane];
}

void synccheck_object(struct sanitizer *s, const struct access *a) {
    const uint32_t *arg = a->i->in->nsrc > 1 ? src_lanes(a->x, a->w, a->i->s[a->i->first[1]]) : NULL;
    enum mbar_mode mode = (enum mbar_mode)a->i->in->m.mode;
    for (uint32_t left = a->t.shared; left; left &= left - 1) {
        uint32_t l = first_lane(left), n = arg ? arg[l] : 1;
        uint64_t key = object_key(a, l), state, at = a->t.at[l];
        if (at > a->w->cta->shared_bytes || a->w->cta->shared_bytes - at < sizeof state)
            continue; /* a fault, or memcheck's */
        struct str *text = NULL;
        if (mode == MBAR_INIT) {
            map_set_u64(&s->mbarriers, key, s);
            if ((!n || n > PENDING) && (text = begin(s, a, BAD_INIT, l)))
                str_printf(text, "=========     The object is made for %u threads; 1 to %u are possible\n", n,
                           PENDING);
        } else if (!map_get_u64(&s->mbarriers, key)) {
            if ((text = begin(s, a, NO_OBJECT, l)))
                str_printf(text, "=========     There is no barrier object at 0x%" PRIx64 "\n", a->t.at[l]);
        } else if (mode == MBAR_INVAL) {
            map_remove_u64(&s->mbarriers, key);
        } else if ((mode == MBAR_ARRIVE || mode == MBAR_ARRIVE_DROP) && !a->i->in->m.lut) {
            memcpy(&state, touch_block(a->w, &a->t, l)->shared + at, sizeof state);
            if (n > (state & PENDING) && (text = begin(s, a, OVERFLOW_OBJECT, l)))
                str_printf(text, "=========     %u arrive at the object at 0x%" PRIx64 ", which awaits %u\n",
                           n, a->t.at[l], (unsigned)(state & PENDING));
        }
        if (text)
            finding_end(s, text);
    }
}
