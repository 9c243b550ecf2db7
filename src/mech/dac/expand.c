/* The tuple queue, and the units that expand what is in it: addresses to lines (section 4.2), comparisons to
 * predicates (section 4.3). */
#include "mech/dac/dac.h"

#include <string.h>

enum { ACCESS_BITS = 16, ENDS_CYCLES = 2, FULL_SLOTS = 2 };

/* ---- the queue ---- */

static struct dac_tuple *put(struct dac *d, const struct dac_mark *m, const struct inst *in) {
    struct dac_tuple *t = dac_tuple(d, d->tail++);
    dac_rouse(d, UINT64_MAX);
    t->number = m->fact ? m->fact->number : 0;
    t->in = in;
    t->size = 1;
    t->left = 0;
    for (uint64_t left = d->blocks; left; left &= left - 1)
        t->epoch[__builtin_ctzll(left)] = d->epoch[__builtin_ctzll(left)];
    d->n.atq_accesses++;
    return t;
}

/* A tuple names its conditions as long as it is in the queue. */
static void name_conditions(struct dac *d, const uint16_t cond[DAC_CONDS], bool begin) {
    if (dac_rule(d->params, DAC_RULE_NAMED))
        dac_hold(d, cond, begin);
    for (uint32_t k = 0; k < DAC_CONDS; k++)
        if (cond[k] != DAC_NO_COND) {
            uint16_t *n = &d->named[cond[k]];
            d->nnamed += begin && !*n;
            *n = (uint16_t)(*n + (begin ? 1 : -1));
            d->nnamed -= !begin && !*n;
        }
}

void dac_put_address(struct dac *d, const struct xinst *i, const struct dac_mark *m) {
    struct dac_tuple *t = dac_tuple(d, d->tail); /* where it will be, if it is for anybody */
    uint64_t blocks = 0;
    dac_guarded(d, i, &t->mask);
    for (uint64_t left = d->batch; left; left &= left - 1) {
        uint32_t w = (uint32_t)__builtin_ctzll(left);
        blocks |= (uint64_t)(t->mask.w[w] != 0) << d->sm->warps[w].block;
    }
    *(m->data ? &d->n.enq_data : &d->n.enq_addr) += 1;
    if (!blocks)
        return;
    put(d, m, i->in);
    t->address = true;
    t->data = m->data;
    t->wide = i->in->m.a64;
    t->left = blocks;
    dac_address(d, i, &t->at);
    if (!t->at.ok) {
        t->at.nalt = 1;
        t->at.cond[0] = t->at.cond[1] = DAC_NO_COND;
        t->at.n[0] = (struct num){0};
    }
    t->size = t->at.nalt;
    d->used += t->size;
    d->n.atq_accesses += t->size - 1u;
    name_conditions(d, t->at.cond, true);
    if (d->shadow)
        dac_check_address(d, i, t);
}

void dac_put_predicate(struct dac *d, const struct xinst *i, const struct dac_mark *m,
                       const struct dac_mask *result, const uint8_t *compare) {
    struct dac_tuple *t = put(d, m, i->in);
    t->address = false;
    t->push = m->fact && m->fact->roles & DAC_ENQ_PRED;
    t->mask = *dac_top(d);
    t->result = *result;
    memcpy(t->compare, compare, sizeof t->compare);
    d->used++;
    d->n.enq_pred++;
    for (uint64_t left = t->push ? d->batch : 0; left; left &= left - 1) {
        uint32_t w = (uint32_t)__builtin_ctzll(left);
        struct dac_queues *q = &d->q[w];
        if (!t->mask.w[w])
            continue;
        q->pcount++;
    }
}

/* Tuples that every block has leave the queue. */
static void retire(struct dac *d) {
    d->over = false;
    for (; d->head < d->tail; d->head++) {
        struct dac_tuple *t = dac_tuple(d, d->head);
        if (t->address ? t->left != 0 : d->head >= d->peu)
            return;
        d->used -= t->size;
        d->affine_unchanged = false;
        d->n.atq_accesses++;
        if (t->address)
            name_conditions(d, t->at.cond, false);
    }
}

bool dac_drained(const struct dac *d) {
    if (d->head != d->tail || d->draining || d->sent)
        return false;
    for (uint32_t w = 0; w < DAC_WARPS; w++)
        if (d->q[w].count || d->q[w].pcount)
            return false;
    return true;
}

/* ---- addresses ---- */

/* Shared memory has no lines. Where threads of a warp choose between tuples, or take a remainder, a record is
 * of the 128 bytes from an address on, with a mask of words (section 4.2). */
static uint8_t find_windows(const uint64_t *addr, uint32_t mask) {
    enum { WINDOW = 128 };
    uint32_t n = 0;
    for (uint32_t left = mask; left; n++) {
        uint64_t from = UINT64_MAX;
        for (uint32_t lanes = left; lanes; lanes &= lanes - 1) {
            uint64_t at = addr[__builtin_ctz(lanes)];
            from = at < from ? at : from;
        }
        for (uint32_t lanes = left; lanes; lanes &= lanes - 1)
            if (addr[__builtin_ctz(lanes)] - from < WINDOW)
                left &= ~(lanes & -lanes);
    }
    return (uint8_t)n;
}

/* The lines of an access, as the coalescer forms them. */
static void find_lines(const struct dac *d, const struct dac_tuple *t, struct dac_access *a,
                       const uint64_t *addr) {
    const struct imods *m = &t->in->m;
    if (m->space == MS_SHARED) {
        a->n = find_windows(addr, a->mask);
        return;
    }
    struct mem_access out[COALESCER_MAX];
    uint32_t bytes = (uint32_t)m->size * (m->vec ? m->vec : 1);
    struct coalescer_inst ci = {.mask = a->mask, .bytes = bytes > 16 ? 16 : bytes, .kind = MEM_LOAD};
    uint32_t n = coalesce(&d->sm->spec->coalescer, &ci, addr, out);
    a->n = (uint8_t)(n < DAC_LINES ? n : DAC_LINES);
    for (uint32_t k = 0; a->data && k < a->n; k++) {
        a->at->line[k] = out[k];
        a->at->line[k].flags |= MEM_PIN;
    }
}

void dac_settle_lanes(uint64_t addr[WARP_LANES], uint32_t mask) {
    uint64_t safe = addr[__builtin_ctz(mask)];
    for (uint32_t left = ~mask; left; left &= left - 1)
        addr[__builtin_ctz(left)] = safe;
}

/* The access of a warp, as if it were of one record without data. */
static inline struct dac_access *begin_access(struct dac *d, const struct dac_tuple *t,
                                              const struct dac_expansion *x, uint32_t w) {
    struct dac_queues *q = &d->q[w];
    struct dac_access *a = dac_nth(d, q, q->count++);
    a->number = t->number;
    a->mask = t->mask.w[w];
    a->n = 1;
    a->expanded = a->taken = 0;
    a->data = a->issued = false;
    a->plain = true;
    a->num = x->num;
    return a;
}

/* The access of a warp, and of how many records it is. */
static void prepare(struct dac *d, const struct dac_tuple *t, const struct dac_expansion *x, uint32_t w) {
    struct dac_access *a = begin_access(d, t, x, w);
    a->in = t->in;
    a->warp = w;
    a->read = a->done = 0;
    a->arrived = a->have = 0;
    a->data = t->data;
    a->served = false;
    a->op = CORE_NONE;
    a->plain = x->plain && !a->data;
    if (x->single)
        return;
    uint64_t own[WARP_LANES], *addr = a->plain ? own : a->at->addr;
    uint32_t low[WARP_LANES];
    if (x->plain && !t->wide) {
        block_num_words(&a->num, &d->coords[w], low);
        for (uint32_t l = 0; l < WARP_LANES; l++)
            addr[l] = low[l];
    } else if (x->plain) {
        block_num_expand(&a->num, &d->coords[w], addr);
    } else {
        uint32_t c[DAC_CONDS] = {0};
        for (uint32_t k = 0; k < DAC_CONDS; k++)
            c[k] = t->at.cond[k] == DAC_NO_COND ? 0 : d->masks[t->at.cond[k]].w[w];
        num_expand(&t->at, &d->coords[w], c, addr);
    }
    if (!t->wide) {
        uint64_t high = t->in->m.space == MS_GLOBAL ? (uint64_t)WINDOW_HI << 32 : 0;
        for (uint32_t l = 0; l < WARP_LANES; l++)
            addr[l] = high | (uint32_t)addr[l];
    }
    dac_settle_lanes(addr, a->mask);
    find_lines(d, t, a, addr);
}

/* What lies at the addresses of the lanes of a line now: the load will go on with it. Most lines are memory
 * as a whole, and words of them need not be asked for one by one. */
static void read_bytes(struct dac *d, struct dac_access *a, const struct mem_access *from) {
    const struct inst *in = a->in;
    uint32_t bytes = (uint32_t)in->m.size * (in->m.vec ? in->m.vec : 1), line = d->sm->spec->coalescer.line;
    uint32_t lanes = from->lanes & a->mask;
    const uint8_t *whole = exec_global(d->sm->x, from->line, line);
    if (whole && bytes == 4) {
        for (uint32_t left = lanes; left; left &= left - 1) {
            uint32_t l = (uint32_t)__builtin_ctz(left);
            uint64_t at = a->at->addr[l] - from->line;
            if (at <= line - bytes) {
                memcpy(&a->at->word[0][l], whole + at, sizeof a->at->word[0][l]);
                a->have |= 1u << l;
                lanes &= ~(1u << l);
            }
        }
    }
    for (uint32_t left = lanes; left; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(left);
        const uint8_t *at = bytes <= 4 * DAC_WORDS ? exec_global(d->sm->x, a->at->addr[l], bytes) : NULL;
        if (!at)
            continue; /* the load itself will say so */
        if (bytes < 4)
            memcpy(&a->at->word[0][l], at, bytes);
        for (uint32_t k = 0; k < bytes / 4; k++)
            memcpy(&a->at->word[k][l], at + 4 * k, 4);
        a->have |= 1u << l;
    }
}

enum dac_step { STEP_NOTHING, STEP_DONE, STEP_QUEUE, STEP_CACHE, STEP_BARRIER };

/* ---- what the cache refuses ---- */

/* Blocks are served in the order of these numbers, by the tuples that they are at. */
static inline uint64_t order_of(const struct dac *d, uint32_t c, uint64_t tuple) {
    return tuple * DAC_WARPS + (c - d->turn) % DAC_WARPS;
}

/* The cache refused what a block asks for, for this reason, or it would do so. */
static void is_refused(struct dac *d, uint32_t c, enum mem_result why) {
    d->exp[c].why = (uint8_t)why;
    if (why != MEM_STALL_WAYS && why != MEM_STALL_PORT)
        d->refused.known |= UINT64_C(1) << c;
}

/* Of blocks that asked the cache before, those that it would refuse again. */
static APART uint64_t refused_again(struct dac *d, uint64_t asking, uint64_t now) {
    struct dac_refused *r = &d->refused;
    r->busy = core_data_busy(d->sm, now);
    if (r->room != core_data_room(d->sm))
        r->known = 0;
    r->room = core_data_room(d->sm);
    if (r->busy)
        return asking;
    uint64_t refused = asking & r->known;
    for (uint64_t left = asking & ~refused; left; left &= left - 1) {
        uint32_t c = (uint32_t)__builtin_ctzll(left);
        enum mem_result why = core_would_request(d->sm, d->exp[c].asks);
        if (mem_accepted(why))
            continue;
        is_refused(d, c, why);
        refused |= left & -left;
    }
    return refused;
}

/* The cache is told what blocks whose turn is before this number have asked for in vain, in their order: all
 * that counts is who was the last of them. */
static APART void count_refused(struct dac *d, uint64_t before, uint64_t now) {
    struct dac_refused *r = &d->refused;
    uint64_t last = 0;
    const struct dac_expansion *x = NULL;
    bool any = r->busy && before == UINT64_MAX; /* what it was for is all the same */
    r->whys = 0;
    for (uint64_t left = r->blocks; left && !(any && x); left &= left - 1) {
        uint32_t c = (uint32_t)__builtin_ctzll(left);
        uint64_t at = order_of(d, c, r->again >> c & 1 ? d->exp[c].at : d->exp[c].since);
        if (at >= before)
            continue;
        r->whys |= 1u << d->exp[c].why;
        x = !x || at > last ? &d->exp[c] : x;
        last = at > last ? at : last;
    }
    if (!x)
        return;
    r->x = *x->asks;
    r->why = r->busy ? MEM_STALL_PORT : (enum mem_result)x->why;
    r->whys = r->busy ? 1u << MEM_STALL_PORT : r->whys;
    core_count_refused(d->sm, &r->x, r->why, r->whys, now);
}

/* ---- steps ---- */

/* The next line of an access is asked for; true: the cache accepts it. */
static bool fetch_line(struct dac *d, struct dac_access *a, uint32_t c, uint64_t now) {
    struct dac_refused *r = &d->refused;
    const struct mem_access *x = &a->at->line[a->expanded];
    uint32_t token = (uint32_t)(a - d->accesses) | (uint32_t)a->expanded << ACCESS_BITS;
    enum mem_result got = r->busy ? MEM_STALL_PORT : core_request(d->sm, x, token, now);
    if (!mem_accepted(got)) {
        d->exp[c].asks = x;
        d->asking |= UINT64_C(1) << c;
        r->busy = got == MEM_STALL_PORT;
        is_refused(d, c, got);
        return false;
    }
    d->asking &= ~(UINT64_C(1) << c);
    r->known &= ~(UINT64_C(1) << c);
    read_bytes(d, a, x);
    core_reads(d->sm, x->line, token, now);
    d->n.fetched++;
    return true;
}

/* A record came to the queue of a warp. */
static EVERY_TIME void count_record(struct dac *d, uint32_t w) {
    d->changed |= UINT64_C(1) << w;
    d->n.records++;
    d->n.alu_ops++;
    d->n.pwaq_accesses++;
}

/* One line of a warp of the block. */
static enum dac_step expand_line(struct dac *d, const struct dac_tuple *t, uint32_t c, uint32_t w,
                                 uint64_t now) {
    struct dac_queues *q = &d->q[w];
    struct dac_access *a = dac_nth(d, q, q->count - 1);
    if (!a->issued && q->used == d->depth_a)
        return STEP_QUEUE;
    if (t->data && !fetch_line(d, a, c, now))
        return STEP_CACHE;
    a->expanded++;
    d->lines_came |= UINT64_C(1) << w;
    q->used += !a->issued;
    a->taken += a->issued && !t->data;
    count_record(d, w);
    return STEP_DONE;
}

/* A warp of the block has all records of the tuple. */
static EVERY_TIME void leave_warp(struct dac *d, struct dac_tuple *t, uint32_t c) {
    struct dac_expansion *x = &d->exp[c];
    x->prepared = false;
    x->warps &= x->warps - 1;
    if (x->warps)
        return;
    t->left &= ~(UINT64_C(1) << c);
    d->over |= !t->left;
    x->begun = x->single = false;
    x->at++;
}

/* A step of the unit for a block. */
static enum dac_step expand_block(struct dac *d, uint32_t c, uint64_t now) {
    struct dac_expansion *x = &d->exp[c];
    uint64_t bit = UINT64_C(1) << c;
    while (x->at < d->tail && (x->at < d->head || !(dac_tuple(d, x->at)->left & bit)))
        x->at++;
    if (x->at == d->tail)
        return STEP_NOTHING;
    struct dac_tuple *t = dac_tuple(d, x->at);
    if (d->passed[c] < t->epoch[c] && dac_rule(d->params, DAC_RULE_BARRIER))
        return STEP_BARRIER;
    if (!x->begun) { /* the block's part of the address */
        x->begun = true;
        x->warps = 0;
        for (uint64_t left = d->block_warps[c]; left; left &= left - 1)
            if (t->mask.w[__builtin_ctzll(left)])
                x->warps |= left & -left;
        x->plain = num_in_block(&t->at, &d->coords[__builtin_ctzll(x->warps)], &x->num);
        /* An address and three offsets, of 16 bits each, are the 65 bits of a record. */
        x->single = x->plain && !t->data && t->in->m.space == MS_SHARED;
        d->n.alu_ops++;
        return STEP_DONE;
    }
    uint32_t w = (uint32_t)__builtin_ctzll(x->warps);
    struct dac_queues *q = &d->q[w];
    if (!x->prepared) {
        if (q->count == d->naccess)
            return STEP_QUEUE;
        prepare(d, t, x, w);
        x->prepared = true;
    }
    enum dac_step s = expand_line(d, t, c, w, now);
    const struct dac_access *a = dac_nth(d, q, q->count - 1);
    if (s != STEP_DONE || a->expanded < a->n)
        return s;
    dac_pop(d, q);
    leave_warp(d, t, c);
    return s;
}

/* Of the blocks in the set, the one whose next tuple is the oldest; of several the one served last, or the
 * next. */
static inline uint32_t oldest_block(const struct dac *d, uint64_t blocks) {
    uint64_t best = UINT64_MAX;
    uint32_t found = (uint32_t)__builtin_ctzll(blocks);
    for (uint64_t left = blocks & (blocks - 1) ? blocks : 0; left; left &= left - 1) {
        uint32_t c = (uint32_t)__builtin_ctzll(left);
        uint64_t key = order_of(d, c, d->exp[c].at);
        found = key < best ? c : found;
        best = key < best ? key : best;
    }
    return found;
}

/* The unit works on the head of the queue, block by block, and turns to another only where one has to wait.
 * Where all have, it rests until something changes, though it may have to ask the cache again. True: it did
 * something. */
static bool expand_any(struct dac *d, uint64_t now) {
    struct dac_refused *r = &d->refused;
    bool stays = d->stays;
    uint64_t work = d->blocks & ~d->waiting;
    r->again = work & d->asking;
    r->busy = false;
    r->blocks = r->again ? refused_again(d, r->again, now) : 0;
    d->stays = false;
    for (uint64_t left = work & ~r->blocks, bit; left; left &= ~bit) {
        uint32_t c = stays && left >> d->turn & 1 ? d->turn : oldest_block(d, left);
        uint64_t tuple = d->exp[c].since = d->exp[c].at, fetched = d->n.fetched;
        enum dac_step s = expand_block(d, c, now);
        bit = UINT64_C(1) << c;
        if (s == STEP_DONE) {
            if (r->blocks && d->n.fetched == fetched)
                count_refused(d, order_of(d, c, tuple), now);
            d->turn = c;
            d->stays = !r->blocks && d->exp[c].at == tuple;
            return true;
        }
        stays = false;
        if (s == STEP_CACHE) {
            r->blocks |= bit;
            continue;
        }
        d->waiting |= bit;
        d->queued = s == STEP_QUEUE ? d->queued | bit : d->queued & ~bit;
        d->barred = s == STEP_BARRIER ? d->barred | bit : d->barred & ~bit;
    }
    bool cache = r->blocks;
    r->whys = 0;
    if (cache)
        count_refused(d, UINT64_MAX, now);
    d->aeu_asks = cache;
    d->aeu_rests = !(r->whys >> MEM_STALL_PORT & 1);
    r->epoch = core_data_epoch(d->sm);
    uint64_t waiting = d->blocks & d->waiting;
    d->aeu_lacks = waiting & d->barred   ? &d->n.aeu_wait_barrier
                   : cache               ? &d->n.aeu_wait_cache
                   : waiting & d->queued ? &d->n.aeu_wait_queue
                                         : NULL;
    return false;
}

/* The unit goes on with the block that it served last, and whose next step is such a record: false if not, or
 * if there is no room for it. */
static EVERY_TIME bool expand_single(struct dac *d) {
    uint32_t c = d->turn;
    struct dac_expansion *x = &d->exp[c];
    if (!d->stays || !x->single || x->prepared || !(d->blocks >> c & 1))
        return false;
    uint32_t w = (uint32_t)__builtin_ctzll(x->warps);
    struct dac_queues *q = &d->q[w];
    if (q->count == d->naccess || q->used == d->depth_a)
        return false;
    struct dac_tuple *t = dac_tuple(d, x->at);
    begin_access(d, t, x, w)->expanded = 1;
    q->used++;
    count_record(d, w);
    leave_warp(d, t, c);
    d->stays = x->single;
    return true;
}

/* The unit did not rest in the cycle before, or asks the cache again. */
static __attribute__((noinline)) bool expand_some(struct dac *d, uint64_t now) {
    const struct dac_refused *r = &d->refused;
    bool rests = d->aeu_rests && core_refused(d->sm, &r->x, r->why, r->epoch, now);
    return !rests && expand_any(d, now);
}

static inline void expand_addresses(struct dac *d, uint64_t now) {
    if (!d->aeu_rests && expand_single(d))
        return;
    if ((d->aeu_rests && !d->aeu_asks) || !expand_some(d, now))
        dac_count_expansion(d, 1);
}

static struct dac_access *access_by(struct dac *d, uint32_t token) {
    return token & CORE_OF_OP ? d->access_of[token & ~CORE_OF_OP]
                              : &d->accesses[token & ((1u << ACCESS_BITS) - 1)];
}

void dac_again(void *m, uint32_t token) {
    struct dac *d = m;
    struct dac_access *a = access_by(d, token);
    read_bytes(d, a, &a->at->line[token >> ACCESS_BITS]);
}

void dac_arrived(void *m, uint32_t token, uint64_t now) {
    struct dac *d = m;
    struct dac_access *a = access_by(d, token);
    if (!(token & CORE_OF_OP)) {
        a->arrived |= 1u << (token >> ACCESS_BITS);
        d->changed |= UINT64_C(1) << a->warp;
        d->lines_came |= UINT64_C(1) << a->warp;
        return;
    }
    if (++a->done == a->n) {
        core_finish(d->sm, a->op, now + 1);
        a->taken = a->n;
        dac_pop(d, &d->q[a->warp]);
    }
}

/* ---- predicates ---- */

static void fill(struct dac *d, const struct dac_tuple *t, uint32_t w) {
    struct dac_queues *q = &d->q[w];
    if (!t->push)
        return;
    uint32_t at = (q->pfirst + q->pfilled++) % DAC_RING;
    d->changed |= UINT64_C(1) << w;
    q->pred[at].mask = t->result.w[w];
    q->pred[at].number = t->number;
    d->n.pwpq_accesses++;
}

/* The comparison that took its time is over: of a warp, or of all warps of a block. */
static void compared(struct dac *d, const struct dac_tuple *t) {
    uint32_t w = (uint32_t)__builtin_ctzll(d->peu_warps);
    uint64_t warps = UINT64_C(1) << w;
    if (t->compare[w] == COMPARE_SCALAR)
        warps = d->block_warps[d->sm->warps[w].block] & d->peu_warps;
    for (uint64_t left = warps; left; left &= left - 1) {
        uint32_t k = (uint32_t)__builtin_ctzll(left);
        fill(d, t, k);
        d->n.pred_scalar += t->compare[k] == COMPARE_SCALAR;
        d->n.pred_ends += t->compare[k] == COMPARE_ENDS;
        d->n.pred_full += t->compare[k] == COMPARE_FULL;
        d->slots += t->compare[k] == COMPARE_FULL ? FULL_SLOTS : 0;
    }
    d->peu_warps &= ~warps;
    if (d->slots)
        core_want_slots(d->sm, d, SLOTS_ALWAYS);
}

/* The unit has come to the end of a comparison, or begins one. */
static __attribute__((noinline)) void expand_next_predicate(struct dac *d) {
    d->affine_unchanged = false; /* a predicate may be ready */
    d->over = true;
    if (d->peu_warps) {
        compared(d, dac_tuple(d, d->peu));
        d->peu += !d->peu_warps;
    }
    while (!d->peu_warps && d->peu < d->tail) {
        const struct dac_tuple *t = dac_tuple(d, d->peu);
        for (uint64_t left = t->address ? 0 : d->batch; left; left &= left - 1)
            if (t->mask.w[__builtin_ctzll(left)])
                d->peu_warps |= left & -left;
        d->peu += !d->peu_warps;
    }
    if (!d->peu_warps)
        return;
    uint8_t how = dac_tuple(d, d->peu)->compare[__builtin_ctzll(d->peu_warps)];
    d->peu_wait = how == COMPARE_SCALAR ? 1 : ENDS_CYCLES;
    d->n.alu_ops += d->peu_wait;
}

static inline void expand_predicates(struct dac *d) {
    if (!(d->peu_wait && --d->peu_wait) && d->peu != d->tail)
        expand_next_predicate(d);
}

APART void dac_expand(struct dac *d, uint64_t now) {
    expand_addresses(d, now);
    expand_predicates(d);
    if (d->over)
        retire(d);
}

/* What was refused for one reason the cache refuses until that may have changed, for which the SM wakes: it
 * counts the time meanwhile for that reason. */
bool dac_expands(const struct dac *d) {
    const struct dac_refused *r = &d->refused;
    bool asks = d->aeu_asks && (!core_wakes_for(d->sm, r->whys) || core_data_epoch(d->sm) != r->epoch);
    return d->head != d->tail && (!d->aeu_rests || asks || d->peu != d->tail);
}

/* ---- loads that take their lines ---- */

/* The next line of the oldest load of a warp that has lines left. */
static void drain_warp(struct dac *d, uint32_t w, uint64_t now) {
    const struct dac_queues *q = &d->q[w];
    uint64_t bit = UINT64_C(1) << w;
    uint32_t k = 0;
    while (k < q->issued && (!dac_nth(d, q, k)->data || dac_nth(d, q, k)->read == dac_nth(d, q, k)->n))
        k++;
    if (k == q->issued) {
        d->draining &= ~bit;
        return;
    }
    struct dac_access *a = dac_nth(d, q, k);
    if (!a->served || a->read == a->expanded || !(a->arrived >> a->read & 1)) {
        d->lines_came &= ~bit;
        return;
    }
    struct mem_access x = a->at->line[a->read];
    x.flags = (uint8_t)((x.flags & ~MEM_PIN) | MEM_UNPIN);
    if (!mem_accepted(core_request(d->sm, &x, CORE_OF_OP | (uint32_t)a->op, now)))
        return;
    a->read++;
    d->n.deq_lines++;
    d->n.pwaq_accesses++;
}

void dac_drain(struct dac *d, uint64_t now) {
    for (uint64_t left = d->draining & d->lines_came; left; left &= left - 1)
        drain_warp(d, (uint32_t)__builtin_ctzll(left), now);
}
