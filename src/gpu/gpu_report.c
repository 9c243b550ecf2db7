/* A GPU and its launches as the report wants them. */
#include "gpu/gpu_report.h"

#include <inttypes.h>
#include <string.h>

#include "base/demangle.h"
#include "gpu/gpu.h"
#include "report/report.h"

struct gpu_report {
    struct rp_gpu *gpu;
    struct counter_registry mix;
    struct report_machine machine;
    struct report *report;
    bool digests;
    uint64_t digest; /* of all launches so far */
    /* What they cost together, as the last of them left it: the GPU may be at the next one. */
    struct rp_totals totals;
    uint64_t *counters, *timed, *parts; /* parts: NULL when the GPU keeps none */
};

/* ---- memory ------------------------------------------------------------------------------------------ */

/* A hash of n bytes, eight at a time in four independent chains: images are large. */
static uint64_t hash_image(const uint8_t *p, size_t n, uint64_t seed) {
    enum { CHAINS = 4 };
    const uint64_t k = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t h[CHAINS], w[CHAINS], all = seed;
    for (int c = 0; c < CHAINS; c++)
        h[c] = seed + (uint64_t)c * k;
    for (; n >= sizeof w; p += sizeof w, n -= sizeof w) {
        memcpy(w, p, sizeof w);
        for (int c = 0; c < CHAINS; c++) {
            h[c] = (h[c] ^ w[c]) * k;
            h[c] ^= h[c] >> 32;
        }
    }
    for (; n; p++, n--)
        h[0] = (h[0] ^ *p) * k;
    for (int c = 0; c < CHAINS; c++) {
        all = (all ^ h[c]) * k;
        all ^= all >> 29;
    }
    return all;
}

/* The contents of all live allocations. Memory that the program registered lies at addresses that differ from
 * run to run, so allocations add up in any order and only the GPU's own count with their address. */
static uint64_t memory_digest(struct rp_gpu *gpu) {
    uint64_t sum = 0;
    struct rp_alloc *a;
    for (uint32_t i = 0; (a = rp_mem_at(gpu, i)); i++)
        sum += hash_image((const uint8_t *)(uintptr_t)a->addr, a->size,
                          a->kind == RP_MEM_REGISTERED ? a->size : a->addr);
    return sum;
}

/* ---- the machine and what ran on it ------------------------------------------------------------------ */

static struct report_machine describe(const struct rp_gpu *g, const struct counter_registry *mix) {
    return (struct report_machine){
        .kind = "gpu",
        .name = g->info.name,
        .mech = g->mech_name,
        .approximate = rp_gpu_approximate(g),
        .runs = "kernels",
        .timed_insts = "timed_warp_insts",
        .parts = "sms",
        .config = &g->config,
        .counters = mix,
        .timed = &g->timed,
        .energy = g->energy,
        .naccounts = g->opt.functional ? 0 : GPU_ACCOUNTS,
        .formulas = &gpu_formulas,
        .units = getenv("REPRISE_UNITS") != NULL,
    };
}

/* All launches of a GPU together. */
static struct report_run all_of(const struct rp_gpu *g) {
    return (struct report_run){
        .cycles = g->totals.cycles,
        .timed_insts = g->totals.timed_insts,
        .counters = g->counters,
        .timed = g->timed_total,
        .parts = g->sm_total,
        .nparts = (uint32_t)g->info.sms,
    };
}

static enum report_timing timing_of(enum rp_timing t) {
    static const enum report_timing of[] = {[RP_TIMED_NONE] = REPORT_TIMED_NONE,
                                            [RP_TIMED_PART] = REPORT_TIMED_PART,
                                            [RP_TIMED_ALL] = REPORT_TIMED_ALL};
    return of[t];
}

static void note_totals(struct gpu_report *r) {
    const struct rp_gpu *g = r->gpu;
    r->totals = g->totals;
    memcpy(r->counters, g->counters, r->mix.count * sizeof *r->counters);
    if (g->timed_total)
        memcpy(r->timed, g->timed_total, g->timed.count * sizeof *r->timed);
    if (r->parts)
        memcpy(r->parts, g->sm_total, (size_t)g->info.sms * g->timed.count * sizeof *r->parts);
}

struct gpu_report *gpu_report_create(struct rp_gpu *g) {
    struct gpu_report *r = xcalloc(1, sizeof *r);
    r->gpu = g;
    r->digests = getenv("REPRISE_DIGEST") != NULL;
    counters_add(&r->mix, "", &mix_table, false);
    r->machine = describe(g, &r->mix);
    r->report = report_create(&r->machine);
    r->counters = xcalloc(r->mix.count, sizeof *r->counters);
    r->timed = xcalloc(g->timed.count + 1, sizeof *r->timed);
    r->parts = g->sm_total ? xcalloc((size_t)g->info.sms * g->timed.count, sizeof *r->parts) : NULL;
    note_totals(r);
    return r;
}

void gpu_report_launch(struct gpu_report *r, struct rp_kernel *k, const struct rp_launch *l,
                       struct rp_totals before) {
    const struct rp_gpu *g = r->gpu;
    struct rp_totals now = rp_totals(g);
    if (now.launches == before.launches)
        return; /* refused before it began */
    note_totals(r);
    const struct report_fact facts[] = {
        {"grid", 3, {l->grid[0], l->grid[1], l->grid[2]}},
        {"block", 3, {l->block[0], l->block[1], l->block[2]}},
        {"warp_insts", 1, {now.warp_insts - before.warp_insts}},
        {"thread_insts", 1, {now.thread_insts - before.thread_insts}},
        {"approximated", 1, {now.approximated - before.approximated}},
    };
    uint64_t digest = r->digests ? memory_digest(r->gpu) : 0;
    r->digest = hash_image((const uint8_t *)&digest, sizeof digest, r->digest);
    char *demangled = demangle(rp_kernel_name(k));
    report_add(r->report, &(struct report_run){
                              .name = rp_kernel_name(k),
                              .demangled = demangled,
                              .remark = k->passed.prog ? k->passed.prog->remark : NULL,
                              .facts = facts,
                              .nfacts = sizeof facts / sizeof *facts - !r->machine.approximate,
                              .timing = timing_of(now.last),
                              .cycles = now.cycles - before.cycles,
                              .timed_insts = now.timed_insts - before.timed_insts,
                              .counters = g->launch_counters,
                              .timed = g->timed_launch,
                              .parts = now.last != RP_TIMED_NONE ? g->sm_launch : NULL,
                              .nparts = (uint32_t)g->info.sms,
                              .digest = r->digests ? &digest : NULL,
                          });
    free(demangled);
}

bool gpu_report_write(struct gpu_report *r, const char *incomplete, const char *path) {
    const struct rp_totals t = r->totals;
    const struct report_fact facts[] = {{"launches", 1, {t.launches}},
                                        {"warp_insts", 1, {t.warp_insts}},
                                        {"thread_insts", 1, {t.thread_insts}},
                                        {"approximated", 1, {t.approximated}}};
    const struct report_host host = {t.host_s, t.host_s > 0 ? (double)t.warp_insts / t.host_s : 0.0,
                                     "warp_insts_per_s"};
    const struct report_run all = {
        .facts = facts,
        .nfacts = sizeof facts / sizeof *facts - !r->machine.approximate,
        .cycles = t.cycles,
        .timed_insts = t.timed_insts,
        .counters = r->counters,
        .timed = r->timed,
        .parts = r->parts,
        .nparts = (uint32_t)r->gpu->info.sms,
        .digest = r->digests ? &r->digest : NULL,
    };
    return report_write(r->report, &all, &host, incomplete, path);
}

void gpu_report_free(struct gpu_report *r) {
    if (!r)
        return;
    free(r->counters);
    free(r->timed);
    free(r->parts);
    report_free(r->report);
    counters_free(&r->mix);
    free(r);
}

void gpu_report_summary(const struct rp_gpu *g, FILE *to) {
    const struct report_machine m = describe(g, NULL);
    const struct rp_totals *t = &g->totals;
    const char *launches = t->launches == 1 ? "launch" : "launches";
    if (!t->timed_insts)
        fprintf(to, "nothing was timed: %" PRIu64 " %s, %" PRIu64 " warp instructions ran functionally\n",
                t->launches, launches, t->warp_insts);
    else if (t->timed_insts == t->warp_insts)
        fprintf(to, "timed: all of %" PRIu64 " %s, %" PRIu64 " warp instructions\n", t->launches, launches,
                t->warp_insts);
    else
        fprintf(to,
                "timed: %" PRIu64 " of %" PRIu64 " warp instructions (%.1f%%) in %" PRIu64
                " %s; the rest ran functionally\n",
                t->timed_insts, t->warp_insts, 100 * (double)t->timed_insts / (double)t->warp_insts,
                t->launches, launches);
    const struct report_run all = all_of(g);
    report_summary(&m, &all, to);
}
