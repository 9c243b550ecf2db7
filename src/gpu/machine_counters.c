/* The counters of the timed machine: which tables it has, and which units count in each. */
#include "gpu/timed.h"
#include "mem/counters.h"

/* ---- where the units count --------------------------------------------------------------------------- */

static const void *sm_counts(struct machine *m, uint32_t k) {
    return &m->sms[k]->n;
}

static const void *lane_counts(struct machine *m, uint32_t k) {
    return &m->sms[k]->lanes;
}

static const void *data_counts(struct machine *m, uint32_t k) {
    return &memsys_l1(m->mem, k)->cache.n;
}

static const void *store_counts(struct machine *m, uint32_t k) {
    return &memsys_l1(m->mem, k)->n;
}

static const void *line_counts(struct machine *m, uint32_t k) {
    return &memsys_l1(m->mem, k)->cache.bank.n;
}

static const void *texture_counts(struct machine *m, uint32_t k) {
    return &memsys_cache(m->mem, k, MEM_TEXTURE)->n;
}

static const void *constant_counts(struct machine *m, uint32_t k) {
    return &memsys_cache(m->mem, k, MEM_CONSTANT)->n;
}

static const void *inst_counts(struct machine *m, uint32_t k) {
    return &memsys_cache(m->mem, k, MEM_INST)->n;
}

static const void *request_counts(struct machine *m, uint32_t k) {
    (void)k;
    return icnt_counters(memsys_requests(m->mem));
}

static const void *reply_counts(struct machine *m, uint32_t k) {
    (void)k;
    return icnt_counters(memsys_replies(m->mem));
}

static const void *l2_counts(struct machine *m, uint32_t k) {
    return l2_counters(memsys_l2(m->mem, k));
}

static const void *l2_line_counts(struct machine *m, uint32_t k) {
    return l2_bank_counters(memsys_l2(m->mem, k));
}

static const void *dram_counts(struct machine *m, uint32_t k) {
    return dram_counters(memsys_dram(m->mem, k));
}

/* ---- the tables -------------------------------------------------------------------------------------- */

/* How many units count in a table: one for each SM, one for each partition of L2, one in all. */
enum units { EACH_SM, EACH_PARTITION, ONE };

static const struct group {
    const char *prefix;
    const struct counter_table *table;
    enum units units;
    const void *(*counts)(struct machine *m, uint32_t k);
} groups[] = {
    {"", &core_counter_table, EACH_SM, sm_counts},
    {"", &core_lane_table, EACH_SM, lane_counts},
    {"l1.", &cache_counter_table, EACH_SM, data_counts},
    {"l1.", &cache_data_table, EACH_SM, data_counts},
    {"l1.", &l1_counter_table, EACH_SM, store_counts},
    {"l1.", &bank_counter_table, EACH_SM, line_counts},
    {"l1.", &bank_prefetch_table, EACH_SM, line_counts},
    {"texcache.", &cache_counter_table, EACH_SM, texture_counts},
    {"constcache.", &cache_counter_table, EACH_SM, constant_counts},
    {"icache.", &cache_counter_table, EACH_SM, inst_counts},
    {"icnt.request.", &icnt_counter_table, ONE, request_counts},
    {"icnt.reply.", &icnt_counter_table, ONE, reply_counts},
    {"l2.", &l2_counter_table, EACH_PARTITION, l2_counts},
    {"l2.", &bank_counter_table, EACH_PARTITION, l2_line_counts},
    {"dram.", &dram_counter_table, EACH_PARTITION, dram_counts},
};
enum { GROUPS = sizeof groups / sizeof groups[0] };

void machine_counters(struct counter_registry *r, const struct mech_set *mechs) {
    for (uint32_t g = 0; g < GROUPS; g++)
        counters_add(r, groups[g].prefix, groups[g].table, groups[g].units == EACH_SM);
    for (uint32_t k = 0; mechs && k < mechs->n; k++)
        counters_add(r, "", &mechs->at[k]->counters, true);
}

static uint32_t unit_count(const struct machine *m, enum units units) {
    return units == EACH_SM ? m->nsms : units == EACH_PARTITION ? m->memory.partitions : 1;
}

void machine_bind(struct machine *m, struct counter_registry *r) {
    for (uint32_t g = 0; g < GROUPS; g++)
        for (uint32_t k = 0; k < unit_count(m, groups[g].units); k++)
            counters_bind(r, g, groups[g].counts(m, k));
    for (uint32_t i = 0; i < m->mechs.n; i++)
        for (uint32_t k = 0; m->mechs.at[i]->counters.count && k < m->nsms; k++) {
            const struct mechanism *mech = m->mechs.at[i];
            const void *state = m->sms[k]->mech.at[i].state;
            counters_bind(r, GROUPS + i, mech->counts ? mech->counts(state) : state);
        }
}
