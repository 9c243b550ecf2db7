/* Functional runs: block by block, or several at once where blocks leave each other alone (exec/ahead.h). */
#include "gpu/blocks.h"

#include "exec/ahead.h"
#include "gpu/crew.h"

enum {
    MIN_BLOCKS = 4 * AHEAD_BLOCKS, /* of a launch that is worth it */
    MOST_FAILURES = 3,             /* windows of a launch of which not all blocks could be settled */
};

/* Made by the first launch that needs them; threads again where the process is a child that has none. */
static void get_ready(struct blocks **b, uint32_t threads) {
    if (!*b)
        *b = xcalloc(1, sizeof **b);
    if (!(*b)->ahead)
        (*b)->ahead = ahead_create();
    if ((*b)->crew && !crew_is_here((*b)->crew)) {
        crew_free((*b)->crew);
        (*b)->crew = NULL;
    }
    if (!(*b)->crew)
        (*b)->crew = crew_create((uint32_t)min_u64(threads, AHEAD_BLOCKS) - 1, AHEAD_BLOCKS);
}

void blocks_free(struct blocks *b) {
    if (!b)
        return;
    ahead_free(b->ahead);
    crew_free(b->crew);
    free(b);
}

/* Lets others act when they are due; false when they want the launch to end. */
static bool pause_between(struct exec *x) {
    if (!x->pause || x->warp_insts + x->waited < x->pause_next || exec_pause(x))
        return true;
    x->fault = (struct fault){.status = RP_TIMEOUT, .what = x->stop, .pc = UINT32_MAX};
    return false;
}

/* Is it sure that a window does not reach the limit of executed instructions? */
static bool is_far_from_limit(const struct exec *x) {
    return !x->watchdog || x->warp_insts + UINT64_C(2) * EXEC_TURN * AHEAD_BLOCKS < x->watchdog;
}

/* Runs n blocks from the next on at once; false when not all of them could be settled. */
static bool run_window(struct blocks *b, struct grid_rest *rest, uint32_t n) {
    ahead_begin(b->ahead, rest->next);
    crew_work(b->crew, NULL, n, ahead_run, b->ahead);
    uint32_t settled = ahead_settle(b->ahead, n);
    rest->next += settled;
    b->settled += settled;
    return settled == n;
}

bool blocks_run(struct exec *x, uint32_t slots, struct timed_span *span, uint32_t threads,
                struct blocks **blocks) {
    struct grid_rest *rest = &span->rest;
    uint64_t total = (uint64_t)x->grid[0] * x->grid[1] * x->grid[2];
    bool many = threads > 1 && !rest->begun.len && total - rest->next >= MIN_BLOCKS;
    if (many)
        get_ready(blocks, threads);
    rest->apart = many && ahead_open((*blocks)->ahead, x);
    if (!rest->apart && !span->progress.run)
        return exec_run_grid(x, slots, rest);
    uint32_t failures = 0;
    enum grid_state s = GRID_RUNNING;
    while (s == GRID_RUNNING) {
        uint64_t left = rest->apart && !rest->begun.len && is_far_from_limit(x) ? total - rest->next : 0;
        bool all = left && run_window(*blocks, rest, (uint32_t)min_u64(AHEAD_BLOCKS, left));
        failures += left && !all;
        if (rest->apart && failures == MOST_FAILURES) {
            ahead_close((*blocks)->ahead);
            rest->apart = false;
        }
        if (left && !pause_between(x))
            s = GRID_FAULT;
        else if (!all)
            s = exec_grid_turn(x, slots, rest);
        if (span->progress.run)
            launch_progress_tell(&span->progress, rest->next - rest->begun.len, x->warp_insts, 0);
    }
    if (rest->apart)
        ahead_close((*blocks)->ahead);
    exec_grid_end(x, s, rest);
    return s == GRID_DONE;
}
