#include "cpu/machine.h"

#include <string.h>
#include <time.h>

#include "mem/counters.h"

static const struct counter_info tlb_rows[] = {
    {"looks", "accesses", "Addresses translated.", offsetof(struct tlb_counters, looks)},
    {"misses", "accesses", "Translations that were not there.", offsetof(struct tlb_counters, misses)},
};
static const struct counter_table tlb_table = COUNTER_TABLE(tlb_rows);

/* ---- counters ---------------------------------------------------------------------------------------- */

enum owner { CORE, L1I, L1D, L1D_LINES, ITLB, DTLB, MEMO, L2, L2_LINES, DRAM };

static const struct {
    const char *prefix;
    const struct counter_table *table;
    enum owner owner;
} groups[] = {
    {"", &hpi_counters, CORE},
    {"l1i.", &cache_counter_table, L1I},
    {"itlb.", &tlb_table, ITLB},
    {"l1d.", &cache_counter_table, L1D},
    {"l1d.", &cache_data_table, L1D},
    {"l1d.", &cache_write_table, L1D},
    {"l1d.", &bank_counter_table, L1D_LINES},
    {"l1d.", &bank_prefetch_table, L1D_LINES},
    {"dtlb.", &tlb_table, DTLB},
    {"memo.", &memo_counters, MEMO},
    {"l2.", &cache_counter_table, L2},
    {"l2.", &cache_write_table, L2},
    {"l2.", &bank_counter_table, L2_LINES},
    {"dram.", &dram_counter_table, DRAM},
};
enum { GROUPS = sizeof groups / sizeof groups[0] };

/* Where unit k of a kind counts; NULL: there is none. */
static const void *counts(const struct cpu_machine *m, enum owner o, uint32_t k) {
    const struct cpumem *mem = &m->memory;
    if (o == L2 || o == L2_LINES)
        return k ? NULL : o == L2 ? (const void *)&mem->l2->n : &mem->l2->bank.n;
    if (o == DRAM)
        return k < (uint32_t)m->cfg->dram_channels ? dram_counters(mem->channel[k].dram) : NULL;
    if (k >= mem->nports)
        return NULL;
    switch (o) {
    case L1I:
        return &mem->port[k].l1i->n;
    case L1D:
        return &mem->port[k].l1d->n;
    case L1D_LINES:
        return &mem->port[k].l1d->bank.n;
    case ITLB:
        return &mem->port[k].itlb.n;
    case DTLB:
        return &mem->port[k].dtlb.n;
    case MEMO:
        return &m->memo[k].n;
    default:
        return &m->core[k].n;
    }
}

static void register_counters(struct cpu_machine *m) {
    for (uint32_t g = 0; g < GROUPS; g++) {
        uint32_t block = counters_add(&m->timed, groups[g].prefix, groups[g].table, groups[g].owner < L2);
        const void *c;
        for (uint32_t k = 0; (c = counts(m, groups[g].owner, k)); k++)
            counters_bind(&m->timed, block, c);
    }
}

/* ---- building ---------------------------------------------------------------------------------------- */

void cpu_machine_params(struct config *c) {
    c->what = "CPU";
    config_add(c, &cpu_params);
}

bool cpu_machine_config_dir(struct str *out, struct diag *d) {
    if (!config_find_dir(out, d))
        return false;
    str_printf(out, "/cpu");
    return true;
}

bool cpu_machine_config(struct config *c, const char *cpu, const char *const *set, struct diag *d) {
    struct str dir = {0};
    cpu_machine_params(c);
    bool ok =
        cpu_machine_config_dir(&dir, d) && config_load(c, cpu ? cpu : CPU_DEFAULT, set, str_text(&dir), d);
    str_free(&dir);
    return ok;
}

/* Nanoseconds that have passed for a program: those of its core, and one for each instruction without timing.
 */
static uint64_t program_time(void *ctx) {
    const struct guest *g = ctx;
    const struct hpi *c = g->cpu.watch.ctx;
    return c->cycle * 1000 / (uint64_t)c->cfg->clock + cpu_counter(&g->cpu) - c->n.insts;
}

/* Memoization is part of what programs compute, in time or not. */
static void attach_memo(struct cpu_machine *m) {
    const struct cpu_config *g = m->cfg;
    struct memo_spec s = {.l1_bytes = (uint32_t)g->memo_l1,
                          .l2_bytes = (uint32_t)g->memo_l2,
                          .truncate = g->memo_truncate,
                          .sample = (uint32_t)g->memo_sample,
                          .window = (uint32_t)g->memo_window,
                          .bad = (uint32_t)g->memo_bad,
                          .apart = g->memo_apart,
                          .error = g->memo_error,
                          .direct = (uint32_t)g->memo_direct,
                          .epoch_bits = (uint32_t)g->memo_epoch_bits};
    struct memo_l2 *l2 = s.l2_bytes ? memo_l2_create(&m->arena, &s) : NULL;
    for (uint32_t k = 0; k < CPUMEM_CORES; k++)
        memo_init(&m->memo[k], &m->arena, &s, k, l2);
    for (uint32_t k = 0; s.l1_bytes && k < m->n; k++)
        m->guest[k].cpu.memo = &m->memo[k];
    if (!m->functional)
        return;
    uint32_t block = counters_add(&m->mix, "memo.", &memo_counters, true);
    for (uint32_t k = 0; k < m->n; k++)
        counters_bind(&m->mix, block, &m->memo[k].n);
}

/* Ways of L2 that hold lines. */
static uint32_t line_ways(const struct cpu_config *g) {
    return (uint32_t)g->l2_ways - (uint32_t)(g->memo_l2 * (uint64_t)g->l2_ways / g->l2_size);
}

static void attach(struct cpu_machine *m) {
    cpumem_init(&m->memory, m->cfg, line_ways(m->cfg));
    for (uint32_t k = 0; k < m->memory.nports; k++)
        hpi_init(&m->core[k], m->cfg, &m->memory.port[k], &m->memory.arena);
    for (uint32_t k = 0; k < m->n; k++) {
        hpi_attach(&m->core[k], &m->guest[k].cpu);
        if (m->region)
            hpi_suspend(&m->core[k], &m->guest[k].cpu);
        m->guest[k].cpu.marks = m->region;
        m->guest[k].clock = program_time;
        m->guest[k].clock_ctx = &m->guest[k];
    }
    register_counters(m);
    const double mhz = 1e6;
    struct energy_spec spec = {.key = "energy",
                               .title = "energy",
                               .parts = cpu_parts,
                               .nparts = CPU_PARTS,
                               .scale = m->cfg->energy_scale,
                               .burst_bits = 512,
                               .hz = m->cfg->clock * mhz};
    energy_init(&m->energy, &spec);
    energy_add(&m->energy, &cpu_energy, &m->config, &m->timed);
}

struct cpu_machine *cpu_machine_create(const struct machine_options *o, struct diag *d) {
    struct cpu_machine *m = xcalloc(1, sizeof *m);
    m->functional = o->functional;
    m->region = o->region;
    m->max_insts = o->max_insts;
    m->interrupt = o->stop;
    m->waiting = o->waiting;
    bool ok = cpu_machine_config(&m->config, o->cpu, o->set, d);
    m->cfg = config_values(&m->config, &cpu_params);
    if (ok && o->nprograms > (uint32_t)m->cfg->cores) {
        diag_add(d, DIAG_ERROR, "there are %u programs and %d cores", o->nprograms, m->cfg->cores);
        ok = false;
    }
    for (uint32_t k = 0; ok && k < o->nprograms; k++) {
        ok = guest_init(&m->guest[k], &o->programs[k], d);
        m->n += ok;
    }
    if (ok)
        attach_memo(m);
    if (ok && !m->functional)
        attach(m);
    if (ok && !m->functional && o->trace) {
        m->trace = konata_open(o->trace, o->trace_first, o->trace_last);
        ok = m->trace != NULL;
        for (uint32_t k = 0; k < CPUMEM_CORES; k++) {
            m->core[k].trace = m->trace;
            m->core[k].id = k;
        }
    }
    if (!ok) {
        cpu_machine_free(m);
        return NULL;
    }
    return m;
}

void cpu_machine_free(struct cpu_machine *m) {
    for (uint32_t k = 0; k < m->n; k++)
        guest_free(&m->guest[k]);
    cpu_machine_end_trace(m);
    cpumem_free(&m->memory);
    for (uint32_t k = 0; k < CPUMEM_CORES; k++)
        memo_free(&m->memo[k]);
    arena_free(&m->arena);
    energy_free(&m->energy);
    counters_free(&m->timed);
    counters_free(&m->mix);
    config_free(&m->config);
    free(m);
}

static uint64_t instructions(const struct cpu_machine *m) {
    uint64_t n = 0;
    for (uint32_t k = 0; k < m->n; k++)
        n += cpu_counter(&m->guest[k].cpu);
    return n;
}

/* ---- running ----------------------------------------------------------------------------------------- */

/* Shows who waits how many instructions have been executed, and of how many, where that is known. */
static void tell(const struct cpu_machine *m, double start) {
    struct waiting_line *w = m->waiting;
    double now = waiting_clock(), spent = now - start;
    if (!waiting_is_time(w, now))
        return;
    struct str line = {0};
    double done = (double)instructions(m);
    if (w->expected)
        waiting_add_share(&line, w, done / (double)w->expected, "", spent);
    else
        waiting_add_time(&line, spent);
    str_printf(&line, "  %.0f million instructions, %.1f million a second, %s", done * 1e-6,
               done / spent * 1e-6, m->guest[0].options.argv[0]);
    waiting_show(w, &line, now);
    str_free(&line);
}

/* Runs program k on, for a while; whether it may go on afterwards. */
static bool run_on(struct cpu_machine *m, uint32_t k) {
    enum { SLICE = 4000000 };
    uint64_t done = cpu_counter(&m->guest[k].cpu), left = done < m->max_insts ? m->max_insts - done : 0;
    m->stop[k] = guest_run(&m->guest[k], left < SLICE ? left : SLICE);
    if (m->stop[k] == CPU_BUDGET && left > SLICE)
        return !m->interrupt || !*m->interrupt;
    if (m->stop[k] != CPU_MARK)
        return m->stop[k] == CPU_PAUSE;
    struct cpu *cpu = &m->guest[k].cpu;
    if (cpu->mark == MARK_BEGIN)
        hpi_attach(&m->core[k], cpu);
    else
        hpi_suspend(&m->core[k], cpu);
    return true;
}

void cpu_machine_run(struct cpu_machine *m) {
    bool runs[CPUMEM_CORES] = {false};
    uint32_t left = m->n;
    double start = waiting_clock();
    uint32_t turns = 0;
    const uint32_t often = 1 << 16; /* turns of two cores, which are short */
    if (m->waiting)
        waiting_begin(m->waiting);
    for (uint32_t k = 0; k < m->n; k++)
        runs[k] = true;
    while (left) {
        uint32_t next = !runs[0] || (left > 1 && m->core[1].cycle < m->core[0].cycle);
        m->core[next].until =
            left > 1 && !m->functional ? m->core[!next].cycle + (uint64_t)m->cfg->quantum : NEVER;
        runs[next] = run_on(m, next);
        left -= !runs[next];
        if (m->waiting && (m->stop[next] == CPU_BUDGET || ++turns % often == 0))
            tell(m, start);
    }
    if (m->waiting)
        waiting_end(m->waiting);
    for (uint32_t k = 0; !m->functional && k < m->n; k++)
        hpi_finish(&m->core[k]);
    if (!m->functional)
        cpumem_settle(&m->memory);
    m->seconds = waiting_clock() - start;
}

uint64_t cpu_machine_cycles(const struct cpu_machine *m) {
    uint64_t cycles = 0;
    for (uint32_t k = 0; k < m->n; k++)
        cycles = max_u64(cycles, m->core[k].n.cycles);
    return cycles;
}

bool cpu_machine_end_trace(struct cpu_machine *m) {
    bool ok = !m->trace || konata_close(m->trace);
    m->trace = NULL;
    return ok;
}

/* ---- reports ----------------------------------------------------------------------------------------- */

static uint64_t timed_instructions(const struct cpu_machine *m) {
    uint64_t n = 0;
    for (uint32_t k = 0; k < m->n; k++)
        n += m->core[k].n.insts;
    return n;
}

static struct report_machine describe(const struct cpu_machine *m) {
    return (struct report_machine){
        .kind = "cpu",
        .name = m->cfg->name,
        .mech = m->cfg->memo_l1 ? "memo" : "base",
        .approximate = m->cfg->memo_l1,
        .runs = "programs",
        .timed_insts = "timed_insts",
        .parts = "cores",
        .config = &m->config,
        .counters = &m->mix,
        .timed = &m->timed,
        .energy = &m->energy,
        .naccounts = m->functional ? 0 : 1,
        .formulas = &cpu_formulas,
        .units = getenv("REPRISE_UNITS") != NULL,
    };
}

/* The values of a run: all together, or those of core k. */
static struct report_run values(const struct cpu_machine *m, uint64_t *mix, uint64_t *timed, int32_t core) {
    if (core >= 0) {
        counters_read_part(&m->mix, (uint32_t)core, mix);
        counters_read_part(&m->timed, (uint32_t)core, timed);
    } else {
        counters_read(&m->mix, mix);
        counters_read(&m->timed, timed);
    }
    return (struct report_run){
        .timing = m->functional ? REPORT_TIMED_NONE
                  : m->region   ? REPORT_TIMED_PART
                                : REPORT_TIMED_ALL,
        .cycles = core >= 0 ? m->core[core].n.cycles : cpu_machine_cycles(m),
        .timed_insts = core >= 0 ? m->core[core].n.insts : timed_instructions(m),
        .counters = mix,
        .timed = timed,
    };
}

bool cpu_machine_report(struct cpu_machine *m, const char *incomplete, const char *path) {
    struct report_machine machine = describe(m);
    struct report *r = report_create(&machine);
    uint64_t *timed = xcalloc(m->timed.count + 1, sizeof *timed),
             *mix = xcalloc(m->mix.count + 1, sizeof *mix);
    for (uint32_t k = 0; k < m->n; k++) {
        const struct guest *g = &m->guest[k];
        const struct report_fact facts[] = {{"insts", 1, {cpu_counter(&g->cpu)}},
                                            {"status", 1, {(uint64_t)guest_status(g)}}};
        struct report_run run = values(m, mix, timed, (int32_t)k);
        run.name = g->options.argv[0];
        run.facts = facts;
        run.nfacts = sizeof facts / sizeof *facts;
        report_add(r, &run);
    }
    const struct report_fact facts[] = {{"insts", 1, {instructions(m)}}};
    struct report_run all = values(m, mix, timed, -1);
    all.facts = facts;
    all.nfacts = 1;
    const struct report_host host = {m->seconds, m->seconds > 0 ? (double)instructions(m) / m->seconds : 0,
                                     "insts_per_s"};
    bool ok = report_write(r, &all, &host, incomplete, path);
    report_free(r);
    free(timed);
    free(mix);
    return ok;
}

void cpu_machine_summary(const struct cpu_machine *m, FILE *to) {
    struct report_machine machine = describe(m);
    uint64_t *timed = xcalloc(m->timed.count + 1, sizeof *timed),
             *mix = xcalloc(m->mix.count + 1, sizeof *mix);
    struct report_run all = values(m, mix, timed, -1);
    fprintf(to, "%llu instructions, %.1f million a second\n", (unsigned long long)instructions(m),
            (double)instructions(m) / m->seconds * 1e-6);
    if (!m->functional && all.timed_insts) {
        fprintf(to, "%.3f cycles for an instruction\n", (double)all.cycles / (double)all.timed_insts);
        report_summary(&machine, &all, to);
    }
    free(timed);
    free(mix);
}
