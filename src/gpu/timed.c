/* Timed launches: the whole machine, cycle by cycle. Blocks go to the SMs in turn; the clock jumps over
 * cycles in which no SM and nothing in the memory system can do anything. */
#include "gpu/timed.h"

#include <string.h>

#include "core/spec.h"
#include "mem/spec.h"

enum { HANG_CYCLES = 2000000 };

struct run {
    struct machine *m;
    struct exec *x;
    uint64_t total, next; /* blocks in all, next to start */
    uint32_t per_sm;
    VEC(struct cta *) spare;
    uint64_t ended; /* blocks that have ended */
};

struct machine *machine_create(const struct gpu_config *cfg) {
    struct machine *m = xcalloc(1, sizeof *m);
    m->core = core_spec(cfg);
    m->memory = mem_spec(cfg);
    m->nsms = m->memory.sms;
    m->mem = memsys_create(&m->arena, &m->memory);
    m->sms = arena_array(&m->arena, struct sm *, m->nsms);
    m->wake = arena_array(&m->arena, uint64_t, m->nsms);
    for (uint32_t i = 0; i < m->nsms; i++)
        m->sms[i] = sm_create(&m->arena, &m->core, m->mem, i);
    return m;
}

void machine_free(struct machine *m) {
    if (!m)
        return;
    arena_free(&m->arena);
    free(m);
}

static void block_done(void *ctx, struct cta *c) {
    struct run *r = ctx;
    vec_push(&r->spare, c);
    r->ended++;
}

/* Gives an SM one block if there is one and it has room. */
static bool feed(struct run *r, uint32_t i) {
    struct sm *sm = r->m->sms[i];
    if (r->next == r->total || sm->nblocks >= r->per_sm)
        return false;
    struct cta *c = r->spare.len ? r->spare.at[--r->spare.len] : cta_create(r->x);
    cta_start(c, (uint32_t)r->next);
    if (!sm_add_block(sm, c)) {
        vec_push(&r->spare, c);
        return false;
    }
    c->sm = i;
    r->next++;
    return true;
}

static void feed_all(struct run *r, uint64_t now) {
    for (bool any = true; any;) {
        any = false;
        for (uint32_t i = 0; i < r->m->nsms; i++)
            if (feed(r, i)) {
                any = true;
                r->m->wake[i] = now;
            }
    }
}

static uint64_t issued(const struct machine *m) {
    uint64_t n = 0;
    for (uint32_t i = 0; i < m->nsms; i++)
        n += m->sms[i]->n.warp_insts;
    return n;
}

static bool all_idle(const struct machine *m) {
    for (uint32_t i = 0; i < m->nsms; i++)
        if (!sm_idle(m->sms[i]))
            return false;
    return true;
}

static bool hang(struct run *r, const char *what) {
    struct exec *x = r->x;
    x->fault = (struct fault){.status = RP_TIMEOUT, .what = what, .pc = UINT32_MAX};
    fault_describe(x, &x->report);
    for (uint32_t i = 0; i < r->m->nsms; i++)
        sm_describe(r->m->sms[i], &x->report);
    return false;
}

/* Ticks the SMs that are due; false after a fault. */
static bool tick_sms(struct run *r, uint64_t now) {
    struct machine *m = r->m;
    for (uint32_t i = 0; i < m->nsms; i++) {
        if (m->wake[i] > now)
            continue;
        uint64_t ended = r->ended;
        m->wake[i] = sm_tick(m->sms[i], now, block_done, r);
        if (m->sms[i]->fault)
            return false;
        if (r->ended != ended && feed(r, i))
            m->wake[i] = now + 1;
    }
    return true;
}

static uint64_t next_event(struct machine *m) {
    uint64_t next = memsys_next(m->mem);
    for (uint32_t i = 0; i < m->nsms; i++) {
        if (!sm_idle(m->sms[i]))
            m->wake[i] = min_u64(m->wake[i], memsys_port_next(m->mem, i));
        next = min_u64(next, m->wake[i]);
    }
    return next;
}

/* Lets memory finish what nobody waits for any more: prefetched instructions, stores. */
static void drain(struct machine *m, uint64_t now) {
    struct mem_done d;
    while (!memsys_idle(m->mem)) {
        for (uint32_t i = 0; i < m->nsms; i++)
            for (uint32_t c = 0; c < MEM_CLIENTS; c++)
                while (memsys_pop(m->mem, now, i, (enum mem_client)c, &d))
                    continue;
        memsys_tick(m->mem, now);
        uint64_t next = memsys_next(m->mem);
        for (uint32_t i = 0; i < m->nsms; i++)
            next = min_u64(next, memsys_port_next(m->mem, i));
        now = next == NEVER || next <= now ? now + 1 : next;
    }
    m->now = now;
}

bool machine_run(struct machine *m, struct exec *x, uint32_t per_sm, uint64_t *cycles) {
    struct run r = {
        .m = m, .x = x, .total = (uint64_t)x->grid[0] * x->grid[1] * x->grid[2], .per_sm = per_sm};
    struct arena arena = {0};
    const struct core_need *needs = core_needs(&arena, x->img);
    uint64_t now = m->now, start = now, progress = now, last = issued(m);
    memsys_flush_l1(m->mem);
    for (uint32_t i = 0; i < m->nsms; i++) {
        sm_start(m->sms[i], x, needs);
        m->sms[i]->now = now;
        m->wake[i] = NEVER;
    }
    feed_all(&r, now);
    bool ok = true;
    while (ok) {
        ok = tick_sms(&r, now);
        memsys_tick(m->mem, now);
        uint64_t next = next_event(m), n = issued(m);
        if (n != last) {
            last = n;
            progress = now;
        }
        if (!ok) {
            fault_describe(x, &x->report);
        } else if (x->max_insts && x->warp_insts > x->max_insts) {
            ok = hang(&r, "the limit of executed instructions was reached");
        } else if (next == NEVER && !all_idle(m)) {
            ok = hang(&r, "nothing can happen any more: every warp waits");
        } else if (now - progress > HANG_CYCLES) {
            ok = hang(&r, "no instruction was issued for a long time");
        }
        if (r.ended == r.total && all_idle(m))
            break;
        now = next == NEVER ? now + 1 : next > now ? next : now + 1;
    }
    *cycles = ++now - start;
    drain(m, now);
    for (uint32_t i = 0; i < m->nsms; i++)
        for (uint32_t b = 0; b < m->core.blocks; b++)
            if (m->sms[i]->blocks[b].cta)
                cta_free(m->sms[i]->blocks[b].cta);
    for (uint32_t i = 0; i < r.spare.len; i++)
        cta_free(r.spare.at[i]);
    vec_free(&r.spare);
    arena_free(&arena);
    return ok;
}
