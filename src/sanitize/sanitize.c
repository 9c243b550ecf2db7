/* The tools together: what execution tells reaches those that are on. */
#include "sanitize/sanitize.h"

#include <inttypes.h>
#include <string.h>

#include "exec/texture_ops.h"
#include "sanitize/tool.h"

static struct sanitizer *of(struct watch *w) {
    return (struct sanitizer *)w;
}

/* Loads that do not happen give zero. */
static void put_zero(struct warp *w, const struct xinst *i, uint32_t lanes) {
    for (uint32_t k = 0; k < i->ndw; k++)
        for (uint32_t left = lanes; left; left &= left - 1)
            w->r[i->d + k][__builtin_ctz(left)] = 0;
}

/* Shows an access to the tools; returns the lanes for which it is right, of those of a. */
static uint32_t show(struct sanitizer *s, struct access *a) {
    uint32_t lanes = a->t.global | a->t.shared | a->t.local;
    if (tool_on(s, RP_MEMCHECK)) {
        lanes = memcheck_access(s, a);
        a->t.global &= lanes;
        a->t.shared &= lanes;
        a->t.local &= lanes;
    }
    if (tool_on(s, RP_INITCHECK))
        initcheck_access(s, a);
    if (s->race)
        racecheck_access(s->race, a);
    return lanes;
}

/* A copy from global to shared memory, or back; bulk copies say how long they are. */
static uint32_t access_copy(struct sanitizer *s, struct access *a, uint32_t m) {
    uint32_t mode = a->i->in->m.mode;
    const uint32_t *base = src_lanes(a->x, a->w, a->i->s[0]);
    const uint32_t *size = a->i->in->nsrc > 2 ? src_lanes(a->x, a->w, a->i->s[a->i->first[2]]) : NULL;
    for (uint32_t left = m; left; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(left);
        struct access g = *a, sh = *a;
        exec_touch(a->x, a->w, a->i, 1, 0, 1u << l, &g.t);
        sh.t = (struct touch){.shared = 1u << l, .bytes = a->i->in->m.size};
        sh.t.at[l] = (uint32_t)(base[l] + (uint32_t)a->i->in->imm);
        touch_find_blocks(a->w, &sh.t);
        if (mode != LDGSTS_PLAIN)
            g.t.bytes = sh.t.bytes = size[l];
        else if (size && size[l] < g.t.bytes) /* the rest of the destination becomes zero */
            g.t.bytes = size[l];
        g.read = sh.write = mode != LDGSTS_BULK_OUT;
        g.write = sh.read = mode == LDGSTS_BULK_OUT;
        sh.async = mode == LDGSTS_PLAIN;
        if ((g.t.bytes && !show(s, &g)) || (sh.t.bytes && !show(s, &sh)))
            m &= ~(1u << l);
    }
    return m;
}

/* What a texture or surface instruction touches, element by element. */
static uint32_t access_texture(struct sanitizer *s, struct access *a, uint32_t m) {
    static struct tex_touched t;
    uint32_t ok = tool_on(s, RP_MEMCHECK) ? memcheck_texture(s, a, m) : m;
    put_zero(a->w, a->i, m & ~ok);
    if (!ok || !(tool_on(s, RP_INITCHECK) || s->race))
        return ok;
    exec_tex_touched(a->x, a->w, a->i, ok, false, &t);
    for (uint32_t k = 0; k < t.count; k++) {
        a->t = (struct touch){.global = 1u << t.lane[k], .bytes = t.bytes};
        a->t.at[t.lane[k]] = t.at[k];
        if (tool_on(s, RP_INITCHECK))
            initcheck_access(s, a);
        if (s->race)
            racecheck_access(s->race, a);
    }
    return ok;
}

/* Matrices: some lanes say where rows lie, and all of them get or give parts of each. A wrong row
 * keeps the whole access from happening. */
static uint32_t access_rows(struct sanitizer *s, struct access *a, uint32_t m) {
    uint32_t lanes = m & exec_row_lanes(a->i);
    exec_touch(a->x, a->w, a->i, 0, a->i->in->imm, lanes, &a->t);
    if (show(s, a) == lanes)
        return m;
    put_zero(a->w, a->i, m);
    return 0;
}

static uint32_t on_access(struct watch *watch, struct exec *x, struct warp *w, const struct xinst *i,
                          uint32_t m) {
    struct sanitizer *s = of(watch);
    uint16_t flags = op_info[i->in->op].flags;
    struct access a = {.x = x,
                       .w = w,
                       .i = i,
                       .pc = (uint32_t)(i - x->img->code),
                       .read = flags & OPF_LOAD,
                       .write = flags & OPF_STORE,
                       .atomic = flags & OPF_ATOMIC};
    switch ((enum xkind)i->kind) {
    case X_LOAD:
    case X_STORE:
    case X_ATOM:
    case X_MBAR: {
        exec_touch(x, w, i, 0, i->in->imm, m, &a.t);
        if (i->kind == X_MBAR) {
            a.t.bytes = 8;
            a.read = i->in->m.mode != MBAR_INIT;
        }
        uint32_t ok = show(s, &a);
        if (i->kind == X_MBAR && ok && tool_on(s, RP_SYNCCHECK))
            synccheck_object(s, &a);
        put_zero(w, i, m & ~ok);
        return ok;
    }
    case X_LDSM:
    case X_STSM:
        return access_rows(s, &a, m);
    case X_LDGSTS:
        return access_copy(s, &a, m);
    case X_TEX:
        return i->in->op == OP_TXQ ? m : access_texture(s, &a, m);
    default:
        return m;
    }
}

static void on_accessed(struct watch *watch, struct exec *x, struct warp *w, const struct xinst *i,
                        uint32_t m) {
    struct sanitizer *s = of(watch);
    if (!s->race || i->kind != X_MBAR)
        return;
    struct access a = {.x = x, .w = w, .i = i, .pc = (uint32_t)(i - x->img->code)};
    exec_touch(x, w, i, 0, i->in->imm, m, &a.t);
    racecheck_object(s->race, &a);
}

static void on_fence(struct watch *watch, struct exec *x, struct warp *w, const struct xinst *i, uint32_t m) {
    struct sanitizer *s = of(watch);
    (void)x;
    if (s->race)
        racecheck_fence(s->race, w, i, m);
}

static void on_together(struct watch *watch, struct exec *x, struct warp *w, const struct xinst *i,
                        uint32_t m) {
    struct sanitizer *s = of(watch);
    if (tool_on(s, RP_SYNCCHECK))
        synccheck_together(s, x, w, i, m);
    if (s->race)
        racecheck_together(s->race, x, w, i, m);
}

static void on_arrive(struct watch *watch, struct warp *w, const struct xinst *i, uint32_t id, uint32_t want,
                      uint32_t m) {
    struct sanitizer *s = of(watch);
    if (tool_on(s, RP_SYNCCHECK))
        synccheck_arrive(s, w, i, id, want, m);
    if (s->race && id < MAX_BARRIERS)
        racecheck_arrive(s->race, w, i, id, m);
}

static void on_open(struct watch *watch, struct cta *c, uint32_t id) {
    struct sanitizer *s = of(watch);
    if (tool_on(s, RP_SYNCCHECK))
        synccheck_open(s, c, id);
    if (s->race)
        racecheck_open(s->race, c, id);
}

static void on_cluster_open(struct watch *watch, struct cluster *k) {
    if (of(watch)->race)
        racecheck_cluster_open(of(watch)->race, k);
}

static void on_cluster_pass(struct watch *watch, struct warp *w, uint32_t m) {
    if (of(watch)->race)
        racecheck_cluster_pass(of(watch)->race, w, m);
}

static void on_begin(struct watch *watch, struct cta *c) {
    struct sanitizer *s = of(watch);
    if (!c->watched)
        c->watched = xcalloc(1, sizeof(struct block_state));
    struct block_state *b = c->watched;
    if (tool_on(s, RP_INITCHECK)) {
        if (!b->shared_written)
            b->shared_written = xmalloc(c->shared_bytes / 8 + BITS_PAD);
        memset(b->shared_written, 0, c->shared_bytes / 8 + BITS_PAD);
    }
    if (s->race)
        racecheck_block(s->race, c);
}

static void on_end(struct watch *watch, struct cta *c) {
    struct sanitizer *s = of(watch);
    struct block_state *b = c->watched;
    if (!b)
        return;
    if (s->race)
        racecheck_block_end(s->race, c);
    free(b->shared_written);
    free(b);
    c->watched = NULL;
}

static void on_allocated(struct watch *watch, struct exec *x, const struct warp *w, const struct xinst *i,
                         uint32_t lane, uint64_t addr) {
    struct sanitizer *s = of(watch);
    const struct kept *k = kept_add(s, addr, true);
    (void)x, (void)w, (void)i, (void)lane;
    if (s->race)
        racecheck_forget(s->race, addr, k->size);
    s->at.size = 0;
}

static bool on_freeing(struct watch *watch, struct exec *x, const struct warp *w, const struct xinst *i,
                       uint32_t lane, uint64_t addr) {
    struct sanitizer *s = of(watch);
    struct access a = {.x = x, .w = (struct warp *)(uintptr_t)w, .i = i, .pc = (uint32_t)(i - x->img->code)};
    if (tool_on(s, RP_MEMCHECK) && !memcheck_free(s, &a, lane, addr))
        return false;
    sanitizer_freeing(s, addr);
    return true;
}

struct sanitizer *sanitizer_create(const struct sanitizer_options *o, struct memory *mem) {
    struct sanitizer *s = xcalloc(1, sizeof *s);
    s->watch = (struct watch){.access = on_access,
                              .accessed = on_accessed,
                              .fence = on_fence,
                              .together = on_together,
                              .arrive = on_arrive,
                              .open = on_open,
                              .cluster_open = on_cluster_open,
                              .cluster_pass = on_cluster_pass,
                              .begin = on_begin,
                              .end = on_end,
                              .allocated = on_allocated,
                              .freeing = on_freeing};
    s->opt = *o;
    s->mem = mem;
    if (tool_on(s, RP_RACECHECK))
        s->race = racecheck_create(s);
    static const char *const names[] = {"memcheck", "racecheck", "initcheck", "synccheck"};
    str_printf(&s->text, "========= REPRISE");
    for (uint32_t k = 0, n = 0; k < 4; k++)
        if (o->tools >> k & 1)
            str_printf(&s->text, "%s%s", n++ ? ", " : " ", names[k]);
    str_printf(&s->text, "\n");
    return s;
}

void sanitizer_destroy(struct sanitizer *s) {
    if (!s)
        return;
    racecheck_destroy(s->race);
    kept_free(s);
    for (uint32_t i = 0; i < s->found.len; i++)
        str_free(&s->found.at[i].text), str_free(&s->found.at[i].rest);
    vec_free(&s->found);
    map_free(&s->found_at);
    map_free(&s->told);
    map_free(&s->mbarriers);
    str_free(&s->text);
    free(s);
}

void sanitizer_trace_host(struct sanitizer *s, const struct rp_host_trace *how) {
    s->host = how;
}

void sanitizer_begin(struct sanitizer *s, struct exec *x, bool lockstep) {
    x->watch = &s->watch;
    s->x = x;
    s->wrong_access = false;
    map_free(&s->mbarriers);
    trace_take(s, &s->launched);
    if (s->race)
        racecheck_begin(s->race, x, lockstep);
}

bool sanitizer_end(struct sanitizer *s, struct exec *x) {
    if (s->race)
        racecheck_end(s->race);
    if (tool_on(s, RP_SYNCCHECK) && x->fault.status == RP_TIMEOUT)
        synccheck_stuck(s, str_text(&x->report));
    findings_flush(s);
    x->watch = NULL;
    s->x = NULL;
    return s->wrong_access;
}

/* What the sanitizer holds of a launch, while it is another one's turn. */
struct sanitizer_aside {
    struct exec *x;
    struct trace launched;
    bool wrong_access;
    struct racecheck *race;
    struct map mbarriers;
};

struct sanitizer_aside *sanitizer_aside_begin(struct sanitizer *s, struct exec *x) {
    struct sanitizer_aside *a = xcalloc(1, sizeof *a);
    a->x = x;
    x->watch = &s->watch;
    trace_take(s, &a->launched);
    return a;
}

void sanitizer_aside_swap(struct sanitizer *s, struct sanitizer_aside *a) {
    struct sanitizer_aside before = {s->x, s->launched, s->wrong_access, s->race, s->mbarriers};
    s->x = a->x;
    s->launched = a->launched;
    s->wrong_access = a->wrong_access;
    s->race = a->race;
    s->mbarriers = a->mbarriers;
    *a = before;
}

bool sanitizer_aside_end(struct sanitizer *s, struct sanitizer_aside *a) {
    bool wrong = a->wrong_access;
    if (!s->x) /* else the launch that has begun ends later, and all findings come out then */
        findings_flush(s);
    map_free(&a->mbarriers);
    free(a);
    return wrong;
}

void sanitizer_allocated(struct sanitizer *s, uint64_t addr) {
    kept_add(s, addr, false);
    s->at.size = 0;
}

void sanitizer_freeing(struct sanitizer *s, uint64_t addr) {
    kept_remove(s, addr);
    s->at.size = 0;
}

void sanitizer_written(struct sanitizer *s, uint64_t addr, size_t size) {
    if (tool_on(s, RP_INITCHECK))
        initcheck_written(s, addr, size);
}

void sanitizer_copied(struct sanitizer *s, uint64_t to, uint64_t from, size_t size) {
    if (tool_on(s, RP_INITCHECK))
        initcheck_copied(s, to, from, size);
}

void sanitizer_api_error(struct sanitizer *s, const struct rp_api_error *e) {
    if (!tool_on(s, RP_MEMCHECK))
        return;
    struct str text = {0};
    struct trace here;
    str_printf(&text, "========= Program hit %s (error %d) due to \"%s\" on CUDA API call to %s.\n", e->name,
               e->code, e->meaning, e->call);
    if (e->addr) {
        str_printf(&text, "=========     ");
        if (e->size)
            str_printf(&text, "%zu bytes are asked for, and ", e->size);
        str_printf(&text, "address 0x%" PRIx64 " is ", e->addr);
        memory_describe(s->mem, e->addr, &text);
        str_printf(&text, "\n");
    }
    trace_take(s, &here);
    describe_trace(s, &here, "error", &text);
    finding_alone(s, &text);
    str_free(&text);
}

void sanitizer_leaks(struct sanitizer *s, const void *owner) {
    if (tool_on(s, RP_MEMCHECK) && s->opt.leaks)
        memcheck_leaks(s, owner);
}

void sanitizer_finish(struct sanitizer *s, bool leaks) {
    if (leaks)
        sanitizer_leaks(s, NULL);
    if (tool_on(s, RP_MEMCHECK) && s->opt.leaks)
        str_printf(&s->text, "========= LEAK SUMMARY: %" PRIu64 " bytes leaked in %" PRIu64 " allocations\n",
                   s->leaked_bytes, s->leaks);
    if (s->race)
        str_printf(&s->text,
                   "========= RACECHECK SUMMARY: %" PRIu64 " hazard%s displayed (%" PRIu64
                   " error%s, 0 warnings)\n",
                   s->races, s->races == 1 ? "" : "s", s->races, s->races == 1 ? "" : "s");
    str_printf(&s->text, "========= ERROR SUMMARY: %" PRIu64 " error%s\n", s->errors,
               s->errors == 1 ? "" : "s");
}

struct str *sanitizer_text(struct sanitizer *s) {
    return &s->text;
}

uint64_t sanitizer_errors(const struct sanitizer *s) {
    return s->errors;
}
