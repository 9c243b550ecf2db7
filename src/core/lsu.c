/* The load/store unit: serves memory instructions in order, shared memory pass by pass, other memory one line
 * a cycle. */
#include "core/points.h"
#include "core/view.h"

static enum core_space space_of(const struct xinst *i, uint64_t first) {
    switch ((enum mem_space)i->in->m.space) {
    case MS_SHARED:
        return CORE_SHARED;
    case MS_LOCAL:
        return CORE_LOCAL;
    case MS_GENERIC: /* lanes of one instruction point into one space in all code worth timing: the first one
                        tells */
        if (first >> 32 == WINDOW_HI && (uint32_t)first >= SHARED_WINDOW && (uint32_t)first < LOCAL_END)
            return (uint32_t)first < LOCAL_WINDOW ? CORE_SHARED : CORE_LOCAL;
        return CORE_GLOBAL;
    default:
        return CORE_GLOBAL;
    }
}

static uint8_t kind_of(const struct xinst *i) {
    uint16_t f = op_info[i->in->op].flags;
    if (i->kind == X_LOAD || i->kind == X_LDGSTS)
        return MEM_LOAD;
    return f & OPF_ATOMIC ? MEM_ATOMIC : f & OPF_STORE ? MEM_STORE : MEM_LOAD;
}

/* Lanes of m that access, at + add, the shared memory of another block of the cluster. */
static uint32_t remote_lanes(const struct cta *c, const uint32_t *at, uint32_t add, uint32_t m) {
    uint32_t remote = 0;
    if (c->cluster->n == 1)
        return 0;
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        uint32_t slice = (at[l] + add) / SHARED_SLICE;
        remote |= (uint32_t)(slice && slice - 1 != c->rank) << l;
    }
    return remote & m;
}

static void narrow(uint32_t *to, const uint64_t *from, uint32_t window) {
    for (int l = 0; l < WARP_LANES; l++)
        to[l] = (uint32_t)from[l] - window;
}

/* Passes that an access of lanes m at offsets at + add takes through shared memory, its block's or another's.
 */
static void count_passes(const struct sm *sm, const struct core_warp *cw, struct core_op *op,
                         const struct coalescer_inst *ci, const uint32_t *at, uint32_t add, uint32_t m) {
    bool atomic = ci->kind == MEM_ATOMIC;
    op->space = CORE_SHARED;
    op->passes = (uint16_t)(atomic ? shared_atomic_passes(ci, at, add)
                                   : shared_passes(&sm->spec->coalescer, ci, at, add));
    /* The network between SMs moves two thirds of what shared memory does, and takes atomics lane by lane. */
    uint32_t remote = remote_lanes(cw->w->cta, at, add, m);
    op->remote = remote;
    if (remote)
        op->passes = (uint16_t)((3 * (atomic ? (uint32_t)__builtin_popcount(remote) : op->passes) + 1) / 2);
}

/* Room for the accesses of an op. */
static struct mem_access *take_room(struct sm *sm, struct core_op *op) {
    op->accesses = sm->access_free[--sm->naccess_free];
    return &sm->access_pool[op->accesses * COALESCER_MAX];
}

/* Accesses of an instruction that may point elsewhere than to shared memory. */
static void prepare_lines(struct sm *sm, struct core_warp *cw, struct core_op *op, const struct xinst *i,
                          struct coalescer_inst ci, uint32_t m) {
    uint64_t a[WARP_LANES];
    uint32_t at[WARP_LANES];
    bool generic = i->in->m.space == MS_GENERIC;
    exec_addresses(cw->x, cw->w, i, m, a);
    uint64_t first = a[__builtin_ctz(m)];
    op->space = (uint8_t)space_of(i, first);
    if (op->space == CORE_SHARED) {
        narrow(at, a, generic ? SHARED_WINDOW : 0);
        count_passes(sm, cw, op, &ci, at, 0, m);
        return;
    }
    struct mem_access *out = take_room(sm, op);
    if (ci.kind == MEM_ATOMIC && i->ndw)
        ci.flags |= MEM_RETURN;
    if (op->space == CORE_LOCAL) {
        ci.flags |= MEM_LOCAL;
        narrow(at, a, generic ? LOCAL_WINDOW : 0);
        op->naccess = (uint16_t)coalesce_local(&sm->spec->coalescer, &ci, cw->local_base, at, out);
    } else {
        op->naccess = (uint16_t)coalesce(&sm->spec->coalescer, &ci, a, out);
    }
}

static uint32_t access_bytes(const struct xinst *i) {
    return i->bytes ? i->bytes > 16 ? 16 : i->bytes : 4;
}

EVERY_TIME bool lsu_prepare_spot(struct sm *sm, const struct core_warp *cw, struct core_op *op,
                                 const struct xinst *i, uint32_t m, const struct spot *p) {
    const struct coalescer_spec *s = &sm->spec->coalescer;
    struct coalescer_inst ci = {
        .mask = m, .bytes = access_bytes(i), .kind = i->kind == X_LOAD ? MEM_LOAD : MEM_STORE};
    if (i->shared) {
        op->space = CORE_SHARED;
        op->passes = (uint16_t)(p->shape == LANES_ROW    ? 1
                                : p->shape == LANES_SAME ? shared_passes_same(s, &ci)
                                                         : shared_passes(s, &ci, p->off, 0));
        return cw->w->cta->cluster->n == 1;
    }
    if (p->shape == LANES_NEAR && p->at & (s->line - 1))
        return false;
    if (i->in->m.vol)
        ci.flags = MEM_BYPASS;
    struct mem_access *out = take_room(sm, op);
    op->space = CORE_GLOBAL;
    op->naccess = (uint16_t)(p->shape == LANES_ROW    ? coalesce_row(s, &ci, p->at, out)
                             : p->shape == LANES_SAME ? coalesce_same(s, &ci, p->at, out)
                                                      : coalesce_near(s, &ci, p->at, p->off, out));
    return true;
}

void lsu_prepare(struct sm *sm, struct core_warp *cw, struct core_op *op, const struct xinst *i, uint32_t m) {
    if (i->kind == X_TEX) {
        tex_prepare(sm, cw, op, i, m);
        return;
    }
    struct coalescer_inst ci = {.mask = m, .bytes = access_bytes(i), .kind = kind_of(i)};
    if (i->kind == X_LDSM || i->kind == X_STSM)
        ci.mask &= exec_row_lanes(i);
    if (i->in->m.vol)
        ci.flags = MEM_BYPASS;
    const uint32_t *at = exec_offsets(cw->x, cw->w, i);
    if (i->kind == X_LDC) {
        op->space = CORE_GLOBAL;
        op->naccess = (uint16_t)coalesce_constant(&sm->spec->coalescer, &ci, at, (uint32_t)i->in->imm,
                                                  take_room(sm, op));
    } else if (i->shared) {
        count_passes(sm, cw, op, &ci, at, (uint32_t)i->in->imm, m);
    } else {
        prepare_lines(sm, cw, op, i, ci, m);
    }
}

/* 32-bit words that an op accesses. */
static uint32_t words_of(const struct core_op *op) {
    const struct imods *m = &op->i->in->m;
    uint32_t bytes = (uint32_t)m->size * (m->vec ? m->vec : 1);
    return op->lanes * (bytes > 4 ? bytes / 4 : 1);
}

/* An op whose accesses begin. */
static void count(struct sm *sm, const struct core_op *op) {
    if (op->space == CORE_TEXTURE) {
        sm->n.texture_accesses++;
        sm->n.texture_lines += op->naccess;
    } else if (op->i->kind == X_LDC) {
        sm->n.const_accesses++;
    } else if (op->space == CORE_LOCAL) {
        sm->n.local_accesses++;
        sm->n.local_lines += op->naccess;
    } else if (op_info[op->i->in->op].flags & OPF_ATOMIC) {
        sm->n.atomic_accesses++;
    } else {
        sm->n.global_accesses++;
        sm->n.global_lines += op->naccess;
    }
}

/* The same in shared memory. */
static EVERY_TIME void count_shared(struct sm *sm, const struct core_op *op) {
    uint32_t words = words_of(op);
    sm->n.shared_accesses++;
    sm->n.shared_passes += op->passes;
    sm->n.shared_words += words;
    if (__builtin_expect(op->remote, 0)) {
        sm->n.remote_accesses++;
        sm->n.remote_bytes += 4 * (uint64_t)words;
    }
}

static void leave(struct sm *sm) {
    fifo_pop(sm, sm->lsu);
    sm->lsu_length--;
    sm->full_units = 0;
}

/* Shared memory, and instructions no lane takes part in: a fixed time. */
static EVERY_TIME void serve_shared(struct sm *sm, int32_t id, struct core_op *op, uint64_t now) {
    uint32_t passes = op->passes;
    if (passes)
        count_shared(sm, op);
    else
        passes = 1;
    leave(sm);
    TELL(sm, tell_op(sm, PROBE_SHARED, id));
    sm->lsu_free = now + passes;
    uint32_t latency = __builtin_expect(op->remote, 0) ? sm->spec->remote_latency : sm->spec->shared_latency;
    access_finish_at(sm, id, now + latency - 1 + passes - 1 + op->delay);
}

EVERY_TIME enum core_sent op_send(struct sm *sm, int32_t id, enum mem_client client, uint32_t *epoch,
                                  uint64_t now) {
    struct core_op *op = &sm->ops[id];
    if (*epoch != UINT32_MAX && *epoch == *sm->epoch[client])
        return SENT_NONE;
    const struct mem_access *a = &sm->access_pool[op->accesses * COALESCER_MAX + op->sent];
    enum mem_result r = memsys_access(sm->mem, now, sm->id, client, a, (uint32_t)id);
    if (!mem_accepted(r)) { /* a busy port is free again by itself; anything else when the cache says so */
        *epoch = r == MEM_STALL_PORT ? UINT32_MAX : *sm->epoch[client];
        return SENT_NONE;
    }
    TELL(sm, tell_send(sm, id, a->line, r));
    *epoch = UINT32_MAX;
    sm->data_accepted++;
    if (!op->sent++) {
        sm->outstanding++;
        count(sm, op);
    }
    if (op->sent < op->naccess)
        return SENT_SOME;
    sm->access_free[sm->naccess_free++] = op->accesses; /* lines are remembered by the caches from here on */
    op->accesses = CORE_NONE;
    return SENT_ALL;
}

static enum mem_client client_of(const struct core_op *op) {
    return op->i->kind == X_LDC ? MEM_CONSTANT : MEM_DATA;
}

bool lsu_refused(const struct sm *sm) {
    return sm->lsu_epoch != UINT32_MAX && sm->lsu_epoch == *sm->epoch[client_of(&sm->ops[sm->lsu[0]])];
}

void core_memory(struct sm *sm, int32_t id) {
    queue_op(sm, id);
}

enum mem_result core_request(struct sm *sm, const struct mem_access *a, uint32_t token, uint64_t now) {
    enum mem_result r = memsys_access(sm->mem, now, sm->id, MEM_DATA, a, token | CORE_REQUEST);
    sm->data_accepted += mem_accepted(r);
    sm->outstanding += mem_accepted(r) && a->kind != MEM_PREFETCH;
    return r;
}

bool core_refused(struct sm *sm, const struct mem_access *a, enum mem_result why, uint32_t epoch,
                  uint64_t now) {
    return why != MEM_STALL_PORT && epoch == core_data_epoch(sm) &&
           memsys_refuse(sm->mem, now, sm->id, MEM_DATA, a, why);
}

void sm_lsu(struct sm *sm, uint64_t now) {
    int32_t id = sm->lsu[0];
    struct core_op *op = &sm->ops[id];
    if (HAS(sm, memory, access) && !op->offered) {
        int32_t rest = op->next; /* whoever takes the op may queue it elsewhere at once */
        op->offered = true;
        if (OWNER(sm, memory, access, id, now) == MECH_TAKEN) {
            sm->lsu[0] = rest;
            sm->lsu_length--;
            sm->full_units = 0;
            return;
        }
    }
    if (op->accesses == CORE_NONE) {
        serve_shared(sm, id, op, now);
        return;
    }
    enum core_sent sent = op_send(sm, id, client_of(op), &sm->lsu_epoch, now);
    sm->n.lsu_stalls += sent == SENT_NONE;
    if (sent == SENT_ALL)
        leave(sm);
}
