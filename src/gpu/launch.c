/* Launches: checks, constant banks, execution. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/demangle.h"
#include "base/host.h"
#include "gpu/blocks.h"
#include "gpu/mix.h"
#include "gpu/running.h"
#include "gpu/timed.h"

/* Frames here hold every register a callee uses, several times what a compiler's own convention saves. */
enum { STACK_FACTOR = 4, BANK0_MAX = PARAM_BASE + 32768 };
/* Code for earlier targets may rely on the lanes of a warp running in step. */
enum { INDEPENDENT_LANES = 70 };

static enum rp_status refuse(char **report, enum rp_status s, const char *kernel, const char *fmt,
                             unsigned long long a, unsigned long long b) {
    if (report) {
        char why[160];
        snprintf(why, sizeof why, fmt, a, b);
        struct str t = {0};
        str_printf(&t, "%s for kernel ", rp_status_text(s));
        str_add_name(&t, kernel);
        str_printf(&t, "\n  %s\n", why);
        *report = xstrdup(str_text(&t));
        str_free(&t);
    }
    return s;
}

enum rp_status launch_check(struct rp_gpu *g, struct rp_kernel *k, struct kernel_code *code,
                            const struct rp_launch *l, char **report) {
    static const char *const block[] = {"block dimension x is %llu, allowed are 1 to %llu",
                                        "block dimension y is %llu, allowed are 1 to %llu",
                                        "block dimension z is %llu, allowed are 1 to %llu"};
    static const char *const grid[] = {"grid dimension x is %llu, allowed are 1 to %llu",
                                       "grid dimension y is %llu, allowed are 1 to %llu",
                                       "grid dimension z is %llu, allowed are 1 to %llu"};
    const struct rp_gpu_info *i = &g->info;
    const char *name = k->func->name;
    unsigned long long threads = 1;
    for (int d = 0; d < 3; d++) {
        if (!l->block[d] || l->block[d] > (uint32_t)i->max_block[d])
            return refuse(report, RP_INVALID_CONFIG, name, block[d], l->block[d],
                          (unsigned long long)i->max_block[d]);
        if (!l->grid[d] || l->grid[d] > (uint32_t)i->max_grid[d])
            return refuse(report, RP_INVALID_CONFIG, name, grid[d], l->grid[d],
                          (unsigned long long)i->max_grid[d]);
        threads *= l->block[d];
        if (k->func->reqntid[0] && l->block[d] != (k->func->reqntid[d] ? k->func->reqntid[d] : 1))
            return refuse(report, RP_INVALID_CONFIG, name,
                          "the kernel requires another block shape than (%llu, %llu, ...)", l->block[0],
                          l->block[1]);
    }
    struct rp_kernel_info info;
    enum rp_status s = kernel_info(k, code, &info, report);
    if (s != RP_OK)
        return s;
    if (threads > (unsigned long long)i->max_threads_per_block)
        return refuse(report, RP_INVALID_CONFIG, name, "%llu threads per block, at most %llu are possible",
                      threads, (unsigned long long)i->max_threads_per_block);
    if (threads > (unsigned long long)info.max_threads)
        return refuse(report, RP_INVALID_CONFIG, name,
                      "%llu threads per block, but the kernel is bounded to %llu", threads,
                      (unsigned long long)info.max_threads);
    if (info.shared_static + l->dynamic_shared > i->shared_per_block_optin)
        return refuse(report, RP_INVALID_CONFIG, name,
                      "%llu bytes of shared memory, at most %llu are possible",
                      info.shared_static + l->dynamic_shared, i->shared_per_block_optin);
    size_t given = l->params ? l->param_bytes : 0;
    if (given < info.param_bytes)
        return refuse(report, RP_INVALID_VALUE, name, "%llu bytes of parameters were given, %llu are needed",
                      given, info.param_bytes);
    return RP_OK;
}

/* Compiles again with fewer registers when the block would not fit otherwise: the program's own compiler may
 * have needed fewer than ours. */
static enum rp_status fit_registers(struct rp_gpu *g, struct rp_kernel *k, struct kernel_code *code,
                                    uint32_t threads, char **report) {
    uint32_t warps = (threads + WARP_LANES - 1) / WARP_LANES,
             share = (uint32_t)g->info.regs_per_block / (warps * WARP_LANES) & ~7u;
    if (code->prog->nregs <= share)
        return RP_OK;
    return share < 16 ? refuse(report, RP_OUT_OF_RESOURCES, k->func->name,
                               "%llu registers per thread, %llu threads", code->prog->nregs, threads)
                      : kernel_compile(k, code, share, report);
}

/* Blocks of that code that fit on an SM. */
static int occupancy(struct rp_kernel *k, struct kernel_code *code, uint32_t threads, size_t dynamic_shared) {
    struct rp_gpu *g = k->mod->gpu;
    struct rp_kernel_info info;
    if (!threads || threads > (uint32_t)g->info.max_threads_per_block ||
        kernel_info(k, code, &info, NULL) != RP_OK || fit_registers(g, k, code, threads, NULL) != RP_OK)
        return 0;
    return config_occupancy(g->cfg, threads, code->prog->nregs,
                            (uint32_t)(info.shared_static + dynamic_shared));
}

int rp_kernel_occupancy(struct rp_kernel *k, uint32_t threads, size_t dynamic_shared) {
    return occupancy(k, kernel_code(k, !k->mod->gpu->opt.functional), threads, dynamic_shared);
}

int rp_kernel_clusters(struct rp_kernel *k, uint32_t threads, size_t dynamic_shared, uint32_t blocks) {
    int per_sm = rp_kernel_occupancy(k, threads, dynamic_shared);
    return blocks ? config_clusters(k->mod->gpu->cfg, (uint32_t)per_sm, blocks) : 0;
}

/* Blocks of a cluster that the kernel requires along an axis; 0: it does not say. */
static uint32_t required_side(const struct rp_kernel *k, int d) {
    const uint32_t *need = k->func->reqnctapercluster;
    return need[0] ? (need[d] ? need[d] : 1) : 0;
}

/* The cluster a launch has: what it asks for, what the kernel requires, or one block. */
static void find_cluster(const struct rp_kernel *k, const struct rp_launch *l, uint32_t cluster[3]) {
    bool asked = l->cluster[0] || l->cluster[1] || l->cluster[2];
    for (int d = 0; d < 3; d++)
        cluster[d] = asked ? l->cluster[d] : required_side(k, d) ? required_side(k, d) : 1;
}

static enum rp_status check_cluster(struct rp_kernel *k, struct kernel_code *code, const struct rp_launch *l,
                                    char **report) {
    const uint32_t *wish = l->cluster;
    const char *name = k->func->name;
    bool asked = wish[0] || wish[1] || wish[2];
    unsigned long long n = 1;
    uint32_t cluster[3];
    find_cluster(k, l, cluster);
    for (int d = 0; d < 3; d++) {
        uint32_t required = required_side(k, d);
        if (asked && required && required != wish[d])
            return refuse(report, RP_INVALID_CLUSTER, name,
                          "the kernel requires %llu blocks along an axis, not %llu", required, wish[d]);
        if (!cluster[d] || l->grid[d] % cluster[d])
            return refuse(report, RP_INVALID_CLUSTER, name, "%llu blocks of the grid are no multiple of %llu",
                          l->grid[d], cluster[d]);
        n *= cluster[d];
        if (n > CLUSTER_MAX)
            return refuse(report, RP_INVALID_CLUSTER, name,
                          "clusters of %llu blocks, at most %llu are possible", n, CLUSTER_MAX);
    }
    uint32_t threads = l->block[0] * l->block[1] * l->block[2];
    if (n > 1 && (code->prog->shared_static + l->dynamic_shared > SHARED_SLICE ||
                  !config_clusters(k->mod->gpu->cfg, (uint32_t)occupancy(k, code, threads, l->dynamic_shared),
                                   (uint32_t)n)))
        return refuse(report, RP_INVALID_CLUSTER, name, "no cluster of %llu such blocks fits on the GPU", n,
                      0);
    return RP_OK;
}

static const char *file_name(void *names, uint32_t file) {
    const struct ptx_module *m = names;
    return file < m->nfiles && m->files[file].name ? m->files[file].name : "?";
}

/* Bank 0: sizes, addresses, parameters; also copied to memory, where generic addresses of parameters point.
 */
static void fill_bank0(const struct launch_places *at, const struct rp_launch *l, const uint32_t cluster[3],
                       uint8_t *bank, uint32_t bytes) {
    uint32_t clusters[3], size = cluster[0] * cluster[1] * cluster[2];
    uint32_t asked = l->cluster[0] || size > 1;
    uint64_t env = l->cooperative ? at->workspace : 0;
    memcpy(bank + PARAM_NTID, l->block, 12);
    memcpy(bank + PARAM_NCTAID, l->grid, 12);
    memcpy(bank + PARAM_BLOCK, &at->params, 8);
    memcpy(bank + PARAM_ENVREG, &env, 8);
    for (int d = 0; d < 3; d++)
        clusters[d] = l->grid[d] / cluster[d];
    memcpy(bank + PARAM_CLUSTER, cluster, 12);
    memcpy(bank + PARAM_NCLUSTER, clusters, 12);
    memcpy(bank + PARAM_CLUSTER_SIZE, &size, 4);
    memcpy(bank + PARAM_CLUSTER_EXPLICIT, &asked, 4);
    if (bytes > PARAM_BASE)
        memcpy(bank + PARAM_BASE, l->params, bytes - PARAM_BASE);
    memcpy((void *)(uintptr_t)at->params, bank, bytes);
    if (l->cooperative) {
        memset((void *)(uintptr_t)at->workspace, 0, 64);
        memcpy((void *)(uintptr_t)at->workspace, &(uint32_t){64}, 4);
    }
}

static double host_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint32_t align16(uint64_t x) {
    return (uint32_t)((x + 15) & ~UINT64_C(15));
}

/* Adds a launch that has ended to what the run counts. */
static void count(struct rp_gpu *g, const struct exec *x, const struct rest_code *rest) {
    memset(g->launch_counters, 0, sizeof g->launch_counters);
    mix_count(x->img, x->executed, g->launch_counters);
    if (rest->img)
        mix_count(rest->img, rest->executed, g->launch_counters);
    g->launch_counters[COUNTER_insts_divergent] = x->divergent;
    for (uint32_t i = 0; i < COUNTER_COUNT; i++)
        g->counters[i] += g->launch_counters[i];
    g->totals.launches++;
    g->totals.warp_insts += x->warp_insts;
    g->program_insts += x->warp_insts + x->passed;
    g->totals.thread_insts += x->thread_insts;
}

/* Timed instructions that the launch that begins now may have where timing is spread over a run: what keeps
 * it in proportion, and a quarter of all ahead of that, so that long launches are cut and later ones are
 * timed, too. It depends on the program alone, so that the same parts are timed whatever the machine. */
static uint64_t sample_of(const struct rp_gpu *g) {
    const struct rp_options *o = &g->opt;
    double share = (double)o->max_insts / (double)o->expect_insts;
    double due = share * (double)g->program_insts - (double)g->sampled;
    return due < 0 ? 0 : (uint64_t)(due + (double)o->max_insts / 4);
}

static uint64_t grid_blocks(const struct rp_launch *l) {
    return (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
}

/* The same in blocks of the kernel, from the first on: at least what the GPU could hold, as blocks that are
 * alone on it are no sample. Each kernel for itself, since launches of several often take turns. */
static uint64_t sample_blocks(const struct rp_gpu *g, const struct rp_kernel *k, const struct rp_launch *l) {
    double share = (double)g->opt.max_insts / (double)g->opt.expect_insts;
    double due = share * (double)k->blocks - (double)k->sampled;
    uint64_t blocks = grid_blocks(l), threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
    uint64_t warps = (threads + WARP_LANES - 1) / WARP_LANES,
             fit = (uint64_t)g->cfg->sm_warps / (warps ? warps : 1);
    fit = min_u64(fit ? fit : 1, (uint64_t)g->cfg->sm_blocks) * (uint64_t)g->info.sms;
    double want = due + share * (double)blocks;
    uint32_t side[3];
    find_cluster(k, l, side);
    uint64_t n = want > (double)fit ? (uint64_t)want : fit, of = (uint64_t)side[0] * side[1] * side[2];
    return due < 0 || !of ? 0 : min_u64(blocks, (n + of - 1) / of * of);
}

/* How far the launch that begins now is timed; false: not at all. */
static bool timed_span(const struct rp_gpu *g, const struct rp_kernel *k, const struct rp_launch *l,
                       struct timed_span *span) {
    const struct rp_options *o = &g->opt;
    const struct rp_totals *t = &g->totals;
    if (o->functional || (o->some_kernels && (t->launches < o->first_kernel || t->launches > o->last_kernel)))
        return false;
    *span = (struct timed_span){.max_cycles = UINT64_MAX, .max_insts = UINT64_MAX, .max_blocks = UINT64_MAX};
    if (o->max_cycles)
        span->max_cycles = o->max_cycles > t->cycles ? o->max_cycles - t->cycles : 0;
    if (o->max_insts && o->expect_insts > o->max_insts && o->whole_blocks)
        span->max_blocks = sample_blocks(g, k, l);
    else if (o->max_insts && o->expect_insts > o->max_insts)
        span->max_insts = sample_of(g);
    else if (o->max_insts)
        span->max_insts = o->max_insts > t->timed_insts ? o->max_insts - t->timed_insts : 0;
    return span->max_cycles && span->max_insts && span->max_blocks;
}

/* Threads that may simulate at once. */
static uint32_t threads_of(const struct rp_options *o) {
    return o->threads ? (uint32_t)min_u64(o->threads, UINT32_MAX) : host_processors();
}

/* From the machine's counters now and before the launch: what it added. */
static void keep_counters(uint32_t n, const uint64_t *now, uint64_t *total, uint64_t *launch) {
    for (uint32_t i = 0; i < n; i++)
        launch[i] = now[i] - total[i];
    memcpy(total, now, n * sizeof *total);
}

/* Runs what is left of a launch, untimed. */
static bool run_blocks(struct rp_gpu *g, struct exec *x, uint32_t slots, struct timed_span *span) {
    return blocks_run(x, slots, span, threads_of(&g->opt), &g->blocks);
}

/* Goes on untimed behind what was timed. */
static bool run_rest(struct rp_gpu *g, struct exec *x, uint32_t slots, struct timed_span *span,
                     const struct rest_code *rest) {
    if (!rest->img)
        return run_blocks(g, x, slots, span);
    const struct image *img = x->img;
    uint32_t(*pool)[WARP_LANES] = x->pool, local = x->local_bytes;
    uint64_t *executed = x->executed;
    const uint8_t *literals = x->bank[BANK_LITERAL];
    x->img = rest->img;
    x->executed = rest->executed;
    x->local_bytes = align16(rest->prog->local_bytes);
    x->bank[BANK_LITERAL] = (const uint8_t *)rest->prog->literals.at;
    x->bank_bytes[BANK_LITERAL] = rest->prog->literals.len * 4;
    x->pool = xaligned((rest->img->pool.len + 1u) * sizeof *x->pool);
    image_fill_pool(x, rest->img, x->pool);
    bool ok = run_blocks(g, x, slots, span);
    free(x->pool);
    x->img = img;
    x->pool = pool;
    x->executed = executed;
    x->local_bytes = local;
    x->bank[BANK_LITERAL] = literals;
    return ok;
}

/* Runs a launch cycle by cycle; also keeps what it added to the machine's counters. */
static bool run_timed(struct rp_gpu *g, struct exec *x, uint32_t slots, struct timed_span *span) {
    uint32_t n = g->timed.count;
    if (!g->machine)
        g->machine = machine_create(&g->config, &g->mechs, g->opt.check, threads_of(&g->opt));
    if (!g->timed.blocks.at[0].counts.len)
        machine_bind(g->machine, &g->timed);
    g->machine->probe = g->probe;
    for (uint32_t i = 0; i < g->copies.len; i++)
        memsys_copied(g->machine->mem, g->copies.at[i].addr, g->copies.at[i].bytes);
    g->copies.len = 0;
    uint64_t *now = xcalloc(n, sizeof *now);
    bool ok = machine_run(g->machine, x, slots / (uint32_t)g->info.sms, span);
    str_add(&g->err, str_text(&g->machine->checked), g->machine->checked.len);
    str_free(&g->machine->checked);
    uint64_t differing = machine_differing(g->machine) - g->totals.approximated;
    g->totals.approximated += differing;
    if (differing)
        str_printf(&g->err, "check: %" PRIu64 " values that were supplied approximate those computed\n",
                   differing);
    counters_read(&g->timed, now);
    keep_counters(n, now, g->timed_total, g->timed_launch);
    for (uint32_t sm = 0; g->sm_total && sm < g->machine->nsms; sm++) {
        counters_read_part(&g->timed, sm, now);
        keep_counters(n, now, g->sm_total + (size_t)sm * n, g->sm_launch + (size_t)sm * n);
    }
    free(now);
    g->launch_cycles = span->cycles;
    g->totals.cycles += span->cycles;
    g->totals.timed_insts += span->insts;
    g->sampled += min_u64(span->max_insts, span->insts + x->passed);
    g->totals.last = span->cut ? RP_TIMED_PART : RP_TIMED_ALL;
    return ok;
}

/* Runs a launch, cycle by cycle as far as it is timed. */
static bool run(struct rp_gpu *g, struct exec *x, uint32_t slots, struct timed_span span,
                const struct rest_code *rest) {
    if (!g->opt.functional)
        memset(g->timed_launch, 0, g->timed.count * sizeof *g->timed_launch);
    g->totals.last = RP_TIMED_NONE;
    g->launch_cycles = 0;
    bool timed = span.max_cycles;
    launch_progress_begin(&span.progress, &g->progress, x->grid_id, x->img->prog->name,
                          (uint64_t)x->grid[0] * x->grid[1] * x->grid[2], g->program_insts);
    bool ok = timed ? run_timed(g, x, slots, &span) : run_blocks(g, x, slots, &span);
    if (span.cut)
        ok = run_rest(g, x, slots, &span, rest);
    launch_progress_end(&span.progress);
    return ok;
}

/* The code for the rest of a launch that is timed in part. */
static enum rp_status find_rest(struct rp_kernel *k, const struct kernel_code *code,
                                const struct timed_span *span, struct rest_code *rest, char **report) {
    bool part =
        span->max_cycles != UINT64_MAX || span->max_insts != UINT64_MAX || span->max_blocks != UINT64_MAX;
    if (!code->img->nstreams || !part)
        return RP_OK;
    enum rp_status s = kernel_compile(k, &k->plain, code->limit, report);
    if (s == RP_OK)
        *rest = (struct rest_code){k->plain.prog, k->plain.img,
                                   xcalloc(k->plain.img->ncode + 1u, sizeof *rest->executed)};
    return s;
}

enum rp_status launch_fits(struct rp_gpu *g, struct rp_kernel *k, struct kernel_code *code,
                           const struct rp_launch *l, uint32_t *slots, char **report) {
    enum rp_status s = launch_check(g, k, code, l, report);
    uint32_t threads = l->block[0] * l->block[1] * l->block[2];
    if (s == RP_OK)
        s = fit_registers(g, k, code, threads, report);
    if (s == RP_OK)
        s = check_cluster(k, code, l, report);
    if (s != RP_OK)
        return s;
    *slots = (uint32_t)occupancy(k, code, threads, l->dynamic_shared) * (uint32_t)g->info.sms;
    uint64_t blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    if (l->cooperative && blocks > *slots)
        return refuse(report, RP_INVALID_CONFIG, k->func->name,
                      "a cooperative launch of %llu blocks, %llu fit on the GPU", blocks, *slots);
    if (PARAM_BASE + code->prog->param_bytes > BANK0_MAX)
        return refuse(report, RP_INVALID_VALUE, k->func->name, "%llu bytes of parameters, at most %llu",
                      code->prog->param_bytes, BANK0_MAX - PARAM_BASE);
    return RP_OK;
}

/* What no other code of the GPU is called; 0: it is not compiled. */
static uint64_t code_name(const struct kernel_code *code) {
    return code->img ? code->img->address + 1 : 0;
}

/* Whether some launches of the run are not timed, so that kernels may be needed in both forms. */
static bool sampled(const struct rp_gpu *g) {
    return !g->opt.functional && (g->opt.some_kernels || g->opt.max_cycles || g->opt.max_insts);
}

enum rp_status rp_launch_check(struct rp_gpu *g, struct rp_kernel *k, struct rp_launch *l, char **report) {
    uint32_t slots;
    if (report)
        *report = NULL;
    struct kernel_code *code = kernel_code(k, !g->opt.functional);
    enum rp_status s = launch_fits(g, k, code, l, &l->slots, report);
    if (s == RP_OK && sampled(g) && code != &k->plain)
        s = launch_fits(g, k, &k->plain, l, &slots, report);
    l->checked = s == RP_OK ? code_name(code) : 0;
    return s;
}

bool rp_launch_recompiles(struct rp_kernel *k, uint32_t threads) {
    const struct rp_gpu *g = k->mod->gpu;
    const struct kernel_code *codes[] = {&k->plain, &k->passed};
    uint32_t lanes = (threads + WARP_LANES - 1) / WARP_LANES * WARP_LANES;
    for (uint32_t i = 0; lanes && i < 2; i++)
        if (codes[i]->prog && codes[i]->prog->nregs > ((uint32_t)g->info.regs_per_block / lanes & ~7u))
            return true;
    return false;
}

/* The next place where code was inlined. */
static bool inline_site(void *names, uint32_t site, uint32_t *file, uint32_t *line, uint32_t *out) {
    const struct ptx_module *m = names;
    if (site > m->sites.len)
        return false;
    const struct ptx_site *s = &m->sites.at[site - 1];
    *file = s->file;
    *line = s->line;
    *out = s->site;
    return true;
}

void launch_open(struct running *r, struct rp_gpu *g, struct rp_kernel *k, struct kernel_code *code,
                 const struct rp_launch *l, const struct launch_places *at) {
    const struct program *p = code->prog;
    uint32_t bank0_bytes = PARAM_BASE + p->param_bytes;
    uint32_t cluster[3];
    find_cluster(k, l, cluster);
    r->bank0 = xcalloc(1, bank0_bytes);
    fill_bank0(at, l, cluster, r->bank0, bank0_bytes);
    r->x = (struct exec){
        .img = code->img,
        .bank = {r->bank0, NULL, (const uint8_t *)p->literals.at,
                 (const uint8_t *)(uintptr_t)k->mod->const_base, k->mod->symbols},
        .bank_bytes = {bank0_bytes, 0, p->literals.len * 4, k->mod->layout.const_bytes,
                       k->mod->layout.symbol_bytes},
        .mem = &g->mem,
        .grid = {l->grid[0], l->grid[1], l->grid[2]},
        .block = {l->block[0], l->block[1], l->block[2]},
        .cluster = {cluster[0], cluster[1], cluster[2]},
        .nsms = (uint32_t)g->info.sms,
        .grid_id = ++g->begun,
        .local_bytes =
            align16(p->local_bytes + (p->recursive ? g->limits[RP_LIMIT_STACK] * STACK_FACTOR : 0)),
        .shared_static = align16(p->shared_static),
        .shared_dynamic = (uint32_t)l->dynamic_shared,
        .clock = g->clock,
        .watchdog = g->opt.watchdog,
        .out = &g->out,
        .err = &g->err,
        .out_limit = g->limits[RP_LIMIT_PRINTF_FIFO],
        .tex = &g->tex,
        .heap_limit = g->limits[RP_LIMIT_MALLOC_HEAP],
        .heap_used = &g->heap_used,
        .runtime = &g->runtime,
        .pause = g->pause,
        .pause_ctx = g->pause_ctx,
        .pause_next = EXEC_PAUSE,
        .module_name = k->mod->name,
        .file_name = file_name,
        .names = k->mod->ptx,
    };
    r->x.pool = xaligned((code->img->pool.len + 1u) * sizeof *r->x.pool);
    image_fill_pool(&r->x, code->img, r->x.pool);
    r->x.executed = xcalloc(code->img->ncode + 1u, sizeof *r->x.executed);
    if (g->survey)
        survey_begin(g->survey, &r->x, &(struct survey_names){&k->mod->ptx->src, inline_site});
}

void launch_close(struct running *r, struct rp_gpu *g) {
    count(g, &r->x, &r->rest);
    if (g->survey)
        survey_end(g->survey, &r->x, r->cycles);
    free(r->rest.executed);
    free(r->x.pool);
    free(r->bank0);
    free(r->x.executed);
    if (g->clock < r->x.clock + r->x.warp_insts)
        g->clock = r->x.clock + r->x.warp_insts;
}

enum rp_status rp_launch(struct rp_gpu *g, struct rp_kernel *k, const struct rp_launch *l, char **report) {
    if (report)
        *report = NULL;
    struct timed_span span;
    bool timed = timed_span(g, k, l, &span);
    struct kernel_code *code = kernel_code(k, timed);
    if (!timed)
        span = (struct timed_span){0};
    uint32_t slots = l->slots;
    enum rp_status s = RP_OK;
    if (!l->checked || l->checked != code_name(code))
        s = launch_fits(g, k, code, l, &slots, report);
    struct running r = {0};
    if (s == RP_OK)
        s = find_rest(k, code, &span, &r.rest, report);
    if (s != RP_OK)
        return s;
    launch_open(&r, g, k, code, l, &(struct launch_places){g->param_block, g->grid_workspace});
    if (g->san)
        sanitizer_begin(g->san, &r.x, k->mod->ptx->target < INDEPENDENT_LANES);
    children_begin(g, k);
    g->running = &r;
    double start = host_seconds();
    k->blocks += grid_blocks(l);
    k->sampled += min_u64(span.max_blocks, grid_blocks(l));
    bool ok = run(g, &r.x, slots ? slots : 1, span, &r.rest);
    g->totals.host_s += host_seconds() - start;
    g->running = NULL;
    r.cycles = g->launch_cycles;
    bool wrong = g->san && sanitizer_end(g->san, &r.x) && !g->opt.keep_context;
    launch_close(&r, g);
    children_end(g, k, ok);
    if (!ok && report)
        *report = xstrdup(str_text(&r.x.report));
    str_free(&r.x.report);
    return !ok ? r.x.fault.status : wrong ? RP_WRONG_ACCESS : RP_OK;
}
