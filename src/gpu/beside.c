/* Launches beside the one that has the machine.
 *
 * A launch may wait for something that only the host or another launch will do. Who drives the GPU acts in
 * its pauses: rp_launch_waits says whether the launch does nothing but wait, and another launch can then take
 * turns with it. Timing is that of one launch on the whole machine, so the other one runs functionally. */
#include "gpu/running.h"

#include <string.h>

/* Times in a row that a launch is found to do nothing but spin before it is said to wait; each covers at
 * least the time between two pauses. */
enum { QUIET = 64 };

struct rp_beside {
    struct running r;
    struct rp_gpu *gpu;
    struct launch_places at;
    struct grid_rest rest;
    struct sanitizer_aside *aside; /* or NULL */
    uint32_t slots;
    enum grid_state state;
};

void rp_gpu_pause(struct rp_gpu *g, const char *(*fn)(void *ctx), void *ctx) {
    g->pause = fn;
    g->pause_ctx = ctx;
}

/* How often instructions ran that spinning takes, accesses that others may answer among them, and how often
 * all the others that have an effect outside of a thread. */
static void look(const struct exec *x, uint64_t *spun, uint64_t *other) {
    *spun = *other = 0;
    if (x->gather)
        x->gather(x->gather_ctx);
    for (uint32_t i = 0; i < x->img->ncode; i++) {
        const struct inst *in = x->img->code[i].in;
        uint16_t flags = op_info[in->op].flags;
        bool memory = flags & (OPF_LOAD | OPF_STORE | OPF_ATOMIC);
        if (memory && in->m.vol && flags & (OPF_LOAD | OPF_ATOMIC))
            *spun += x->executed[i];
        else if (memory || x->img->code[i].kind == X_BAR || x->img->code[i].kind == X_EXIT ||
                 x->img->code[i].kind == X_SYSCALL)
            *other += x->executed[i];
    }
}

static bool waits(struct running *r) {
    uint64_t spun, other;
    look(&r->x, &spun, &other);
    r->quiet = other == r->other && spun > r->spun ? r->quiet + 1 : 0;
    r->other = other;
    r->spun = spun;
    return r->quiet >= QUIET;
}

bool rp_launch_waits(struct rp_gpu *g) {
    return g->running && waits(g->running);
}

struct rp_beside *rp_beside_begin(struct rp_gpu *g, struct rp_kernel *k, const struct rp_launch *l) {
    struct kernel_code *code = &k->plain;
    uint32_t slots;
    if (rp_launch_recompiles(k, l->block[0] * l->block[1] * l->block[2]) || /* what runs may be that code */
        launch_fits(g, k, code, l, &slots, NULL) != RP_OK)
        return NULL;
    struct rp_beside *b = xcalloc(1, sizeof *b);
    b->gpu = g;
    b->slots = slots ? slots : 1;
    b->at.params = memory_alloc(&g->mem, PARAM_BASE + code->prog->param_bytes, RP_MEM_DRIVER);
    b->at.workspace = memory_alloc(&g->mem, 256, RP_MEM_DRIVER);
    if (!b->at.params || !b->at.workspace) {
        free(b);
        return NULL;
    }
    launch_open(&b->r, g, k, code, l, &b->at);
    b->r.x.pause = NULL; /* its own turns are short */
    if (g->san)
        b->aside = sanitizer_aside_begin(g->san, &b->r.x);
    return b;
}

static void swap_tools(struct rp_beside *b) {
    if (b->aside)
        sanitizer_aside_swap(b->gpu->san, b->aside);
}

bool rp_beside_turn(struct rp_beside *b) {
    swap_tools(b);
    if (b->state == GRID_RUNNING)
        b->state = exec_grid_turn(&b->r.x, b->slots, &b->rest);
    swap_tools(b);
    b->r.x.hint = (struct mem_hints){0};
    return b->state == GRID_RUNNING;
}

enum rp_status rp_beside_end(struct rp_beside *b, char **report) {
    struct rp_gpu *g = b->gpu;
    swap_tools(b);
    exec_grid_end(&b->r.x, b->state, &b->rest);
    swap_tools(b);
    bool wrong = b->aside && sanitizer_aside_end(g->san, b->aside) && !g->opt.keep_context;
    launch_close(&b->r, g);
    g->totals.last = RP_TIMED_NONE; /* the launch that has the machine says at its end how it was */
    if (!g->opt.functional)
        memset(g->timed_launch, 0, g->timed.count * sizeof *g->timed_launch);
    if (!g->running)
        g->launch_cycles = 0;
    enum rp_status s = b->state == GRID_DONE ? RP_OK : b->r.x.fault.status;
    if (s == RP_OK && wrong)
        s = RP_WRONG_ACCESS;
    *report = b->state == GRID_DONE ? NULL : xstrdup(str_text(&b->r.x.report));
    str_free(&b->r.x.report);
    memory_free(&g->mem, b->at.params);
    memory_free(&g->mem, b->at.workspace);
    free(b);
    return s;
}
