/* Functional execution of a whole launch.
 *
 * The warps of a block take short turns, which end where hardware would let others issue (turns.c). A block
 * runs until it ends or has used its own, long turn; then another one becomes resident, up to the number that
 * fits on the GPU, and they take turns. So a launch without communication between blocks touches one block's
 * state at a time, and blocks that wait for each other make progress as they would on hardware. */
#include <string.h>

#include "exec/observe.h"
#include "exec/watch.h"

enum {
    SLICE = 256,
    SHARED_PIECE = 128 /* in which hardware hands out shared memory */
};

/* Rows of 32 words become zero. */
static void clear_rows(void *at, size_t rows) {
    uint32_t(*row)[WARP_LANES] = at;
    for (size_t r = 0; r < rows; r++)
        memset(row[r], 0, sizeof *row);
}

struct cta *cta_create(struct exec *x) {
    const struct program *p = x->img->prog;
    struct cta *c = xcalloc(1, sizeof *c);
    c->x = x;
    c->nthreads = x->block[0] * x->block[1] * x->block[2];
    c->nwarps = (c->nthreads + WARP_LANES - 1) / WARP_LANES;
    c->warps = xaligned(c->nwarps * sizeof *c->warps);
    c->shared_bytes = (x->shared_static + x->shared_dynamic + SHARED_PIECE - 1) / SHARED_PIECE * SHARED_PIECE;
    /* A row more of shared memory: what reads a few bytes further finds zeros there. */
    size_t shared = c->shared_bytes / SHARED_PIECE + 1, regs = (size_t)p->nregs + SPARE_ROWS,
           local = x->local_bytes / 4;
    c->rows = xaligned((shared + (regs + local) * c->nwarps) * sizeof *c->rows);
    c->shared = (uint8_t *)c->rows;
    clear_rows(c->rows + shared - 1, 1);
    for (uint32_t i = 0; i < c->nwarps; i++) {
        uint32_t(*own)[WARP_LANES] = c->rows + shared + (regs + local) * i;
        c->warps[i] = (struct warp){.cta = c, .index = i, .r = own};
        c->warps[i].local = local ? (uint8_t *)(own + regs) : NULL;
    }
    return c;
}

void cta_free(struct cta *c) {
    if (c->x->watch)
        c->x->watch->end(c->x->watch, c);
    if (c->x->observer)
        c->x->observer->end(c->x->observer, c);
    for (uint32_t i = 0; i < c->nwarps; i++)
        if (c->warps[i].stack != c->warps[i].few)
            free(c->warps[i].stack);
    free(c->warps);
    free(c->rows);
    free(c);
}

/* Starts block number n in c; registers and memory start as zero, so that results never depend on earlier
 * blocks. */
void cta_start(struct cta *c, uint32_t n) {
    const struct exec *x = c->x;
    c->number = n;
    c->sm = n % c->x->nsms;
    c->id[0] = n % x->grid[0];
    c->id[1] = n / x->grid[0] % x->grid[1];
    c->id[2] = n / x->grid[0] / x->grid[1];
    c->live = c->nthreads;
    c->ended = false;
    memset(c->bars, 0, sizeof c->bars);
    c->bars_used = 0;
    c->opened = 0;
    clear_rows(c->shared, c->shared_bytes / SHARED_PIECE);
    for (uint32_t i = 0; i < c->nwarps; i++) {
        struct warp *w = &c->warps[i];
        uint32_t left = c->nthreads - i * WARP_LANES;
        clear_rows(w->r, x->img->prog->nregs);
        if (w->local)
            clear_rows(w->local, x->local_bytes / 4);
        w->arrived = 0;
        memset(w->error, 0, sizeof w->error);
        memset(w->p, 0, sizeof w->p);
        w->p[PRED_PT] = 0xffffffffu;
        w->patience = PATH_TURN;
        w->spins = w->opened = 0;
        simt_init(w, left >= WARP_LANES ? 0xffffffffu : (1u << left) - 1);
    }
    if (x->watch)
        x->watch->begin(x->watch, c);
    if (x->observer)
        x->observer->begin(x->observer, c);
}

enum turn { TURN_OVER, TURN_DONE, TURN_STUCK, TURN_FAULT };

/* When every path waits at a barrier, the lanes that wait for them at a reconvergence point go on alone: a
 * barrier counts threads, and theirs may be the arrivals or exits that it lacks (a barrier in a loop that
 * lanes leave at different times). */
static bool cta_split(struct cta *c) {
    bool split = false;
    for (uint32_t i = 0; i < c->nwarps; i++)
        if (c->warps[i].live && simt_yield(&c->warps[i])) {
            c->warps[i].opened = 0;
            split = true;
        }
    return split;
}

bool exec_pause(struct exec *x) {
    x->pause_next = x->warp_insts + x->waited + EXEC_PAUSE;
    x->stop = x->pause(x->pause_ctx);
    x->hint = (struct mem_hints){0}; /* what is mapped may have changed */
    return !x->stop;
}

/* Times a barrier opened for threads of the block. */
static uint32_t openings(const struct cta *c) {
    return c->opened + c->cluster->opened;
}

/* Lets every warp of the block run, again and again, until the turn is used up. Spinning counts for more than
 * the instructions it takes, so that a block which waits for another does not keep it waiting. */
static enum turn cta_turn(struct cta *c, uint64_t length) {
    struct exec *x = c->x;
    uint64_t end = x->warp_insts + x->waited + length;
    while (x->warp_insts + x->waited < end) {
        uint64_t before = x->warp_insts;
        for (uint32_t i = 0; i < c->nwarps; i++) {
            struct warp *w = &c->warps[i];
            if (!w->live || w->opened == openings(c) + 1) /* ended, or no barrier has opened since it waits */
                continue;
            enum warp_state s = warp_run(x, w, SLICE);
            if (s == WARP_FAULT)
                return TURN_FAULT;
            w->opened = s == WARP_WAITING ? openings(c) + 1 : 0;
        }
        if (!c->live)
            return TURN_DONE;
        if (x->warp_insts == before && !cta_split(c))
            return TURN_STUCK;
        if (x->watchdog && x->warp_insts > x->watchdog)
            break;
        if (x->pause && x->warp_insts + x->waited >= x->pause_next && !exec_pause(x))
            break;
    }
    return TURN_OVER;
}

bool cta_run_to_end(struct cta *c, const bool *enough) {
    const struct exec *x = c->x;
    enum turn t;
    do
        t = cta_turn(c, SLICE);
    while (t == TURN_OVER && !*enough && x->warp_insts + x->waited < EXEC_TURN);
    return t == TURN_DONE;
}

static bool stop(struct exec *x, struct cta *c, enum rp_status s, const char *what) {
    const struct warp *w = &c->warps[0];
    for (uint32_t i = 0; i < c->nwarps; i++)
        if (c->warps[i].live)
            w = &c->warps[i];
    const struct simt_entry *e = w->depth ? &w->stack[w->depth - 1] : NULL;
    x->fault = (struct fault){.status = s,
                              .w = w,
                              .what = what,
                              .pc = e ? e->pc - (e->bar >= 0) : 0, /* a barrier has been passed */
                              .lane = e && e->mask ? (uint32_t)__builtin_ctz(e->mask) : 0};
    return false;
}

/* Where every warp is that has begun and not ended. */
static void describe_blocks(const struct grid_rest *rest, struct str *out) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < rest->begun.len; i++) {
        const struct cta *c = rest->begun.at[i];
        for (uint32_t k = 0; k < c->nwarps; k++) {
            if (!c->warps[k].live || n++ >= STUCK_WARPS)
                continue;
            str_printf(out, "  block (%u,%u,%u), warp %u:\n", c->id[0], c->id[1], c->id[2], k);
            exec_describe_paths(&c->warps[k], out);
        }
    }
    if (n > STUCK_WARPS)
        str_printf(out, "  and %u more warps\n", n - STUCK_WARPS);
}

/* Begins a cluster in k, or in a new one. */
static void begin(struct exec *x, struct grid_rest *rest, struct cluster *k) {
    if (!k) {
        k = cluster_create(x);
        for (uint32_t r = 0; r < k->n; r++)
            vec_push(&rest->begun, k->ctas[r]);
    }
    cluster_start(k, rest->next);
    rest->next += k->n;
}

static void drop(struct grid_rest *rest, struct cluster *k) {
    for (uint32_t i = 0; i < rest->begun.len;) {
        if (rest->begun.at[i]->cluster == k)
            rest->begun.at[i] = rest->begun.at[--rest->begun.len];
        else
            i++;
    }
    cluster_free(k);
}

enum grid_state exec_grid_turn(struct exec *x, uint32_t slots, struct grid_rest *rest) {
    uint64_t total = (uint64_t)x->grid[0] * x->grid[1] * x->grid[2];
    uint32_t together = x->cluster[0] * x->cluster[1] * x->cluster[2];
    slots = slots > together ? slots / together * together : together;
    if (!rest->begun.len && rest->next == total)
        return GRID_DONE;
    if (rest->at >= rest->begun.len) { /* all have had a turn: as many again may join them */
        uint32_t more = rest->begun.len > together ? rest->begun.len / together : 1;
        for (; more && rest->begun.len < slots && rest->next < total; more--)
            begin(x, rest, NULL);
        rest->at = 0;
    }
    struct cta *c = rest->begun.at[rest->at];
    if (c->ended) { /* waits for others of its cluster to end */
        rest->at++;
        return GRID_RUNNING;
    }
    uint64_t before = x->warp_insts;
    enum turn t = cta_turn(c, EXEC_TURN);
    bool ok = t != TURN_FAULT;
    rest->stuck = t == TURN_STUCK && x->warp_insts == before ? rest->stuck + 1 : 0;
    if (t == TURN_DONE && !cluster_end(c)) {
        rest->at++;
    } else if (t == TURN_DONE && rest->next < total && !(rest->apart && rest->begun.len == together)) {
        begin(x, rest, c->cluster);
    } else if (t == TURN_DONE) {
        drop(rest, c->cluster);
    } else {
        rest->at++;
        if (ok && x->watchdog && x->warp_insts > x->watchdog)
            ok = stop(x, c, RP_TIMEOUT, "the limit of executed instructions was reached");
        else if (ok && x->stop)
            ok = stop(x, c, RP_TIMEOUT, x->stop);
        else if (rest->stuck > rest->begun.len && (rest->next == total || rest->begun.len >= slots))
            ok = stop(x, c, RP_TIMEOUT, "every thread waits at a barrier that cannot open");
    }
    return ok ? GRID_RUNNING : GRID_FAULT;
}

void exec_grid_end(struct exec *x, enum grid_state s, struct grid_rest *rest) {
    if (s == GRID_FAULT) { /* the report reads the faulting warp */
        fault_describe(x, &x->report);
        if (x->fault.status == RP_TIMEOUT)
            describe_blocks(rest, &x->report);
    }
    while (rest->begun.len)
        drop(rest, rest->begun.at[0]->cluster);
    vec_free(&rest->begun);
}

bool exec_run_grid(struct exec *x, uint32_t slots, struct grid_rest *rest) {
    enum grid_state s;
    do
        s = exec_grid_turn(x, slots, rest);
    while (s == GRID_RUNNING);
    exec_grid_end(x, s, rest);
    return s == GRID_DONE;
}
