/* GPUs, their memory, textures and limits. */
#include "gpu/gpu.h"
#include "gpu/blocks.h"
#include "gpu/resolve.h"
#include "gpu/timed.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const char *const status_text[] = {
    [RP_OK] = "no error",
    [RP_BAD_PTX] = "invalid PTX",
    [RP_UNSUPPORTED] = "instruction not supported",
    [RP_NOT_FOUND] = "no such symbol",
    [RP_OUT_OF_MEMORY] = "out of device memory",
    [RP_INVALID_VALUE] = "invalid argument",
    [RP_INVALID_CONFIG] = "invalid launch configuration",
    [RP_OUT_OF_RESOURCES] = "too many resources requested for launch",
    [RP_INVALID_CLUSTER] = "invalid cluster size",
    [RP_ILLEGAL_ADDRESS] = "illegal address",
    [RP_MISALIGNED] = "misaligned address",
    [RP_SHARED_RANGE] = "shared memory access out of range",
    [RP_LOCAL_RANGE] = "local memory access out of range",
    [RP_ADDRESS_SPACE] = "operation not possible in this address space",
    [RP_STACK_OVERFLOW] = "stack overflow",
    [RP_ILLEGAL_INSTRUCTION] = "illegal instruction",
    [RP_INVALID_PC] = "jump to an invalid address",
    [RP_ASSERT] = "device-side assert",
    [RP_TRAP] = "trap instruction",
    [RP_TIMEOUT] = "launch timed out",
    [RP_WRONG_ACCESS] = "wrong access to memory",
};

#define TEXT(x)   #x
#define NUMBER(x) TEXT(x)

const char *rp_version(void) {
    return NUMBER(RP_VERSION_MAJOR) "." NUMBER(RP_VERSION_MINOR) "." NUMBER(RP_VERSION_PATCH);
}

const char *rp_status_text(enum rp_status s) {
    return (size_t)s < sizeof status_text / sizeof status_text[0] ? status_text[s] : "unknown error";
}

static char *take_log(struct diag *d) {
    char *text = xstrdup(str_text(&d->text));
    diag_free(d);
    return text;
}

enum { PARAM_BLOCK_BYTES = PARAM_BASE + 32768, WORKSPACE_BYTES = 256, RED_ZONE = 65536, PRINT_LIMIT = 100 };

static void add_energy(struct rp_gpu *g, uint32_t account, const struct energy_table *t) {
    const char *unknown = energy_add(&g->energy[account], t, &g->config, &g->timed);
    assert(!unknown);
    (void)unknown;
}

static void create_accounts(struct rp_gpu *g) {
    for (uint32_t a = 0; a < GPU_ACCOUNTS; a++) {
        struct energy_spec spec = gpu_energy_spec(g->cfg, a);
        energy_init(&g->energy[a], &spec);
        add_energy(g, a, &gpu_energy);
        add_energy(g, a, &gpu_accounts[a].energy);
        for (uint32_t k = 0; k < g->mechs.n; k++)
            add_energy(g, a, &g->mechs.at[k]->energy);
        if (g->mechs.n)
            energy_tell(&g->energy[a], ENERGY_MECHANISM);
    }
}

/* What timed launches need: watchers, room for counters, and what those cost. */
static void prepare_timed(struct rp_gpu *g) {
    profile_create(&g->profiles, &g->config, (uint32_t)g->info.sms);
    for (uint32_t i = g->profiles.n; i--;)
        rp_gpu_watch(g, g->profiles.at[i].probe);
    machine_counters(&g->timed, &g->mechs);
    profile_counters(&g->profiles, &g->timed);
    uint32_t n = g->timed.count;
    g->timed_total = xcalloc(n, sizeof *g->timed_total);
    g->timed_launch = xcalloc(n, sizeof *g->timed_launch);
    if (g->opt.per_sm) {
        g->sm_total = xcalloc((size_t)g->info.sms * n, sizeof *g->sm_total);
        g->sm_launch = xcalloc((size_t)g->info.sms * n, sizeof *g->sm_launch);
    }
    create_accounts(g);
}

static char *join_names(const struct mech_set *s) {
    struct str all = {0};
    for (uint32_t k = 0; k < s->n; k++)
        str_printf(&all, "%s%s", k ? "+" : "", s->names[k]);
    return all.at ? all.at : xstrdup("base");
}

static void create_tools(struct rp_gpu *g) {
    const struct rp_options *o = &g->opt;
    if (!o->tools)
        return;
    g->san = sanitizer_create(
        &(struct sanitizer_options){.tools = o->tools,
                                    .print_limit = o->print_limit ? o->print_limit : PRINT_LIMIT,
                                    .leaks = !o->no_leaks},
        &g->mem);
    if (o->tools & RP_MEMCHECK)
        g->mem.apart = RED_ZONE;
}

struct rp_gpu *rp_gpu_create(const struct rp_options *opt, char **log) {
    struct rp_gpu *g = xcalloc(1, sizeof *g);
    struct diag d = {0};
    bool ok = resolve_options(opt, &g->mechs, &g->profiles, &g->config, &d);
    if (ok) {
        g->cfg = config_values(&g->config, &gpu_params);
        config_info(g->cfg, &g->info);
        ok = memory_init(&g->mem, g->info.total_mem);
        if (!ok)
            diag_add(&d, DIAG_ERROR, "the address range of device memory at 0x%llx is taken in this process",
                     (unsigned long long)RP_REGION);
    }
    if (!ok) {
        if (log)
            *log = take_log(&d);
        diag_free(&d);
        config_free(&g->config);
        free(g);
        return NULL;
    }
    diag_free(&d);
    waiting_read(&g->progress);
    g->opt = *opt;
    g->opt.gpu = NULL;
    g->opt.set = NULL;
    g->opt.mech = NULL;
    g->opt.load = NULL;
    g->opt.probe = NULL;
    g->mech_name = join_names(&g->mechs);
    if (!opt->functional)
        prepare_timed(g);
    g->limits[RP_LIMIT_STACK] = g->cfg->limit_stack;
    g->limits[RP_LIMIT_PRINTF_FIFO] = g->cfg->limit_printf;
    g->limits[RP_LIMIT_MALLOC_HEAP] = g->cfg->limit_heap;
    create_tools(g);
    if (opt->profile) {
        g->survey = survey_create((uint32_t)g->info.sms);
        rp_gpu_watch(g, survey_probe(g->survey));
    }
    g->param_block = memory_alloc(&g->mem, PARAM_BLOCK_BYTES, RP_MEM_DRIVER);
    g->grid_workspace = memory_alloc(&g->mem, WORKSPACE_BYTES, RP_MEM_DRIVER);
    return g;
}

void rp_gpu_destroy(struct rp_gpu *g) {
    if (!g)
        return;
    machine_free(g->machine);
    blocks_free(g->blocks);
    profile_destroy(&g->profiles);
    survey_destroy(g->survey);
    free(g->mech_name);
    vec_free(&g->copies);
    free(g->timed_total);
    free(g->timed_launch);
    free(g->sm_total);
    free(g->sm_launch);
    for (uint32_t a = 0; a < GPU_ACCOUNTS; a++)
        energy_free(&g->energy[a]);
    counters_free(&g->timed);
    config_free(&g->config);
    sanitizer_destroy(g->san);
    str_free(&g->found_given);
    children_free(g);
    vec_free(&g->waiting);
    vec_free(&g->runtime.children);
    vec_free(&g->runtime.prepared);
    memory_destroy(&g->mem);
    vec_free(&g->tex.slots);
    str_free(&g->out);
    str_free(&g->err);
    str_free(&g->out_given);
    str_free(&g->err_given);
    free(g);
}

bool rp_gpu_functional(const struct rp_gpu *g) {
    return g->opt.functional;
}

bool rp_gpu_tools(const struct rp_gpu *g) {
    return g->san;
}

const char *rp_gpu_mech(const struct rp_gpu *g) {
    return g->mech_name;
}

bool rp_gpu_approximate(const struct rp_gpu *g) {
    return !g->opt.functional && mech_approximate(&g->mechs);
}

bool rp_gpu_streams(const struct rp_gpu *g) {
    return !g->opt.functional && mech_streams(&g->mechs);
}

const struct rp_gpu_info *rp_gpu_info(const struct rp_gpu *g) {
    return &g->info;
}

bool rp_gpu_setting(const struct rp_gpu *g, uint32_t i, struct rp_setting *s) {
    struct config_setting c;
    if (!config_setting_at(&g->config, i, &c))
        return false;
    *s = (struct rp_setting){.name = c.name, .text = c.kind == CONFIG_TEXT};
    snprintf(s->value, sizeof s->value, "%s", c.value);
    snprintf(s->origin, sizeof s->origin, "%s", c.origin);
    return true;
}

uint64_t rp_mem_alloc(struct rp_gpu *g, size_t size, enum rp_mem_kind kind) {
    uint64_t at = memory_alloc(&g->mem, size, kind);
    if (g->san && at)
        sanitizer_allocated(g->san, at);
    return at;
}

bool rp_mem_register(struct rp_gpu *g, void *p, size_t size) {
    return memory_register(&g->mem, p, size);
}

bool rp_mem_free(struct rp_gpu *g, uint64_t addr) {
    if (g->san)
        sanitizer_freeing(g->san, addr);
    return memory_free(&g->mem, addr);
}

struct rp_alloc *rp_mem_find(struct rp_gpu *g, uint64_t addr) {
    return memory_find(&g->mem, addr);
}

void *rp_mem_ptr(struct rp_gpu *g, uint64_t addr, size_t size) {
    return memory_covers(&g->mem, addr, size) ? (void *)(uintptr_t)addr : NULL;
}

size_t rp_mem_used(const struct rp_gpu *g) {
    return g->mem.used;
}

struct rp_alloc *rp_mem_at(struct rp_gpu *g, uint32_t i) {
    return i < g->mem.allocs.len ? &g->mem.allocs.at[i] : NULL;
}

enum rp_status rp_limit_set(struct rp_gpu *g, enum rp_limit limit, size_t value) {
    if ((size_t)limit >= sizeof g->limits / sizeof g->limits[0] ||
        (limit == RP_LIMIT_STACK && value > (1u << 19)))
        return RP_INVALID_VALUE;
    g->limits[limit] = value;
    return RP_OK;
}

size_t rp_limit_get(const struct rp_gpu *g, enum rp_limit limit) {
    return (size_t)limit < sizeof g->limits / sizeof g->limits[0] ? g->limits[limit] : 0;
}

static const char *take(struct str *from, struct str *given, size_t *len) {
    str_free(given);
    *given = *from;
    *from = (struct str){0};
    *len = given->len;
    return str_text(given);
}

const char *rp_take_output(struct rp_gpu *g, size_t *len) {
    return take(&g->out, &g->out_given, len);
}

const char *rp_take_errors(struct rp_gpu *g, size_t *len) {
    return take(&g->err, &g->err_given, len);
}

void rp_trace_host(struct rp_gpu *g, const struct rp_host_trace *how) {
    if (g->san)
        sanitizer_trace_host(g->san, how);
}

void rp_api_error(struct rp_gpu *g, const struct rp_api_error *e) {
    if (g->san)
        sanitizer_api_error(g->san, e);
}

void rp_mem_written(struct rp_gpu *g, uint64_t addr, size_t size) {
    if (g->san)
        sanitizer_written(g->san, addr, size);
}

void rp_mem_copied(struct rp_gpu *g, uint64_t to, uint64_t from, size_t size) {
    if (g->san)
        sanitizer_copied(g->san, to, from, size);
    if (g->cfg->l2_copies && !g->opt.functional && size && memory_find(&g->mem, to) &&
        !memory_find(&g->mem, from))
        vec_push(&g->copies, (struct gpu_copy){to, size});
}

const char *rp_take_findings(struct rp_gpu *g, size_t *len) {
    struct str none = {0};
    return take(g->san ? sanitizer_text(g->san) : &none, &g->found_given, len);
}

uint64_t rp_errors(const struct rp_gpu *g) {
    return g->san ? sanitizer_errors(g->san) : 0;
}

void rp_find_leaks(struct rp_gpu *g, const void *owner) {
    if (g->san)
        sanitizer_leaks(g->san, owner);
}

void rp_findings_end(struct rp_gpu *g, bool leaks) {
    if (g->san)
        sanitizer_finish(g->san, leaks);
}

struct rp_totals rp_totals(const struct rp_gpu *g) {
    return g->totals;
}

void rp_gpu_watch(struct rp_gpu *g, struct probe *p) {
    p->next = g->probe;
    g->probe = p;
}

void rp_gpu_unwatch(struct rp_gpu *g, struct probe *p) {
    for (struct probe **at = &g->probe; *at; at = &(*at)->next)
        if (*at == p) {
            *at = p->next;
            return;
        }
}

bool rp_counter(const struct rp_gpu *g, uint32_t i, struct rp_counter *c) {
    if (i < COUNTER_COUNT) {
        const struct counter_info *info = &mix_table.rows[i];
        *c = (struct rp_counter){.unit = info->unit,
                                 .meaning = info->meaning,
                                 .total = g->counters[i],
                                 .launch = g->launch_counters[i]};
        snprintf(c->name, sizeof c->name, "%s", info->name);
        return true;
    }
    i -= COUNTER_COUNT;
    struct counter_info info;
    if (!counters_info(&g->timed, i, c->name, &info))
        return false;
    c->unit = info.unit;
    c->meaning = info.meaning;
    c->total = g->timed_total[i];
    c->launch = g->timed_launch[i];
    c->timed = true;
    return true;
}

bool rp_sm_counter(const struct rp_gpu *g, uint32_t i, uint32_t sm, uint64_t *total, uint64_t *launch) {
    uint32_t n = g->timed.count;
    if (!g->sm_total || sm >= (uint32_t)g->info.sms || i < COUNTER_COUNT ||
        !counters_shared_out(&g->timed, i - COUNTER_COUNT))
        return false;
    *total = g->sm_total[(size_t)sm * n + i - COUNTER_COUNT];
    *launch = g->sm_launch[(size_t)sm * n + i - COUNTER_COUNT];
    return true;
}

bool rp_energy(const struct rp_gpu *g, enum rp_account account, uint32_t i, struct rp_energy *e) {
    if (g->opt.functional)
        return false;
    const struct energy_model *m = &g->energy[account];
    uint32_t part = energy_told(m, 0);
    while (i-- && part != UINT32_MAX)
        part = energy_told(m, part + 1);
    if (part == UINT32_MAX)
        return false;
    double total[ENERGY_PARTS], launch[ENERGY_PARTS];
    energy_sum(m, g->timed_total, g->totals.cycles, total);
    energy_sum(m, g->timed_launch, g->launch_cycles, launch);
    *e = (struct rp_energy){gpu_parts[part].name, gpu_parts[part].meaning, total[part], launch[part]};
    return true;
}

uint64_t rp_tex_create(struct rp_gpu *g, const struct rp_tex_desc *desc) {
    return textures_add(&g->tex, desc);
}

uint64_t rp_surf_create(struct rp_gpu *g, const struct rp_tex_desc *desc) {
    return textures_add(&g->tex, desc);
}

const struct rp_tex_desc *rp_tex_desc(struct rp_gpu *g, uint64_t handle) {
    return textures_get(&g->tex, handle);
}

void rp_tex_destroy(struct rp_gpu *g, uint64_t handle) {
    textures_remove(&g->tex, handle);
}
