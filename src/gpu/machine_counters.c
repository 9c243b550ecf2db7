/* The counters of the timed machine as one list: SMs, caches, interconnect, L2 and DRAM, each summed over its
 * instances. */
#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "gpu/timed.h"

#define COUNTER(field, name, unit, help) {name, unit, help, offsetof(struct BLOCK, field)},
#define BLOCK                            core_counters
static const struct counter_info core_rows[] = {
#include "core/core.def"
};
#undef BLOCK
#define BLOCK cache_counters
static const struct counter_info l1_cache_rows[] = {
#include "mem/cache.def"
};
#undef BLOCK
#define DATA_COUNTER(...)
/* The first rows of those. */
#define BLOCK cache_counters
static const struct counter_info cache_rows[] = {
#include "mem/cache.def"
};
#undef BLOCK
#define BLOCK bank_counters
static const struct counter_info l1_bank_rows[] = {
#include "mem/bank.def"
};
#undef BLOCK
#define DATA_COUNTER(...)
/* The first rows of those. */
#define BLOCK bank_counters
static const struct counter_info bank_rows[] = {
#include "mem/bank.def"
};
#undef BLOCK
#define BLOCK l1_counters
static const struct counter_info l1_rows[] = {
#include "mem/l1.def"
};
#undef BLOCK
#define BLOCK l2_counters
static const struct counter_info l2_rows[] = {
#include "mem/l2.def"
};
#undef BLOCK
#define BLOCK dram_counters
static const struct counter_info dram_rows[] = {
#include "mem/dram.def"
};
#undef BLOCK
#define BLOCK icnt_counters
static const struct counter_info icnt_rows[] = {
#include "mem/icnt.def"
};
#undef BLOCK
#undef COUNTER
#define ACTIVE(energy, name, help)                                                                           \
    [EN_##energy] = {name, "lanes", help, offsetof(struct core_lanes, active[EN_##energy])},
#define IDLE(unit, name, help)                                                                               \
    [EN_COUNT + UNIT_##unit] = {name, "lanes", help, offsetof(struct core_lanes, idle[UNIT_##unit])},
static const struct counter_info lane_rows[] = {
#include "core/lanes.def"
};
#undef ACTIVE
#undef IDLE
static_assert(sizeof lane_rows / sizeof lane_rows[0] == sizeof(struct core_lanes) / sizeof(uint64_t),
              "every energy class and unit has a row");

enum group {
    G_CORE, /* from here on: of each SM */
    G_LANES,
    G_L1,
    G_L1W,
    G_L1B,
    G_TEX,
    G_CONST,
    G_INST,
    G_REQUEST, /* from here on: of the machine, or of each partition */
    G_REPLY,
    G_L2,
    G_L2B,
    G_DRAM,
    G_COUNT
};

struct rows {
    const char *prefix;
    const struct counter_info *rows;
    uint32_t n;
};

static const struct rows groups[G_COUNT] = {
#define GROUP(prefix, rows)                                                                                  \
    { prefix, rows, sizeof rows / sizeof rows[0] }
    [G_CORE] = GROUP("", core_rows),
    [G_LANES] = GROUP("", lane_rows),
    [G_L1] = GROUP("l1.", l1_cache_rows),
    [G_L1W] = GROUP("", l1_rows),
    [G_L1B] = GROUP("l1.", l1_bank_rows),
    [G_L2B] = GROUP("l2.", bank_rows),
    [G_TEX] = GROUP("texcache.", cache_rows),
    [G_CONST] = GROUP("constcache.", cache_rows),
    [G_INST] = GROUP("icache.", cache_rows),
    [G_REQUEST] = GROUP("icnt.request.", icnt_rows),
    [G_REPLY] = GROUP("icnt.reply.", icnt_rows),
    [G_L2] = GROUP("", l2_rows),
    [G_DRAM] = GROUP("", dram_rows),
#undef GROUP
};

/* The groups of the machine, then those of its mechanisms. */
static uint32_t group_count(const struct mech_set *mechs) {
    return G_COUNT + mechs->n;
}

static struct rows group_at(const struct mech_set *mechs, uint32_t g) {
    if (g < G_COUNT)
        return groups[g];
    const struct counter_table *t = &mechs->at[g - G_COUNT]->counters;
    return (struct rows){"", t->rows, t->count};
}

static const void *instance(struct machine *m, uint32_t g, uint32_t k) {
    if (g >= G_COUNT) {
        const struct mechanism *mech = m->mechs.at[g - G_COUNT];
        const void *state = m->sms[k]->mech.at[g - G_COUNT].state;
        return mech->counts ? mech->counts(state) : state;
    }
    switch ((enum group)g) {
    case G_CORE:
        return &m->sms[k]->n;
    case G_LANES:
        return &m->sms[k]->lanes;
    case G_L1:
        return &memsys_l1(m->mem, k)->cache.n;
    case G_L1W:
        return &memsys_l1(m->mem, k)->n;
    case G_L1B:
        return &memsys_l1(m->mem, k)->cache.bank.n;
    case G_L2B:
        return l2_bank_counters(memsys_l2(m->mem, k));
    case G_TEX:
        return &memsys_cache(m->mem, k, MEM_TEXTURE)->n;
    case G_CONST:
        return &memsys_cache(m->mem, k, MEM_CONSTANT)->n;
    case G_INST:
        return &memsys_cache(m->mem, k, MEM_INST)->n;
    case G_REQUEST:
        return icnt_counters(memsys_requests(m->mem));
    case G_REPLY:
        return icnt_counters(memsys_replies(m->mem));
    case G_L2:
        return l2_counters(memsys_l2(m->mem, k));
    default:
        return dram_counters(memsys_dram(m->mem, k));
    }
}

/* Adds the counters of instance k of a group. */
static void add(struct machine *m, uint32_t g, uint32_t k, uint64_t *to) {
    struct rows rows = group_at(&m->mechs, g);
    const void *from = rows.n ? instance(m, g, k) : NULL;
    for (uint32_t c = 0; c < rows.n; c++)
        to[c] += counter_value(&rows.rows[c], from);
}

static bool of_sms(uint32_t g) {
    return g < G_REQUEST || g >= G_COUNT;
}

static uint32_t instances(const struct machine *m, uint32_t g) {
    return of_sms(g) ? m->nsms : g == G_REQUEST || g == G_REPLY ? 1 : m->memory.partitions;
}

uint32_t machine_counter_count(const struct mech_set *mechs) {
    uint32_t n = 0;
    for (uint32_t g = 0; g < group_count(mechs); g++)
        n += group_at(mechs, g).n;
    return n;
}

void machine_counters(struct machine *m, uint64_t *to) {
    memset(to, 0, machine_counter_count(&m->mechs) * sizeof *to);
    for (uint32_t g = 0; g < group_count(&m->mechs); g++) {
        for (uint32_t k = 0; k < instances(m, g); k++)
            add(m, g, k, to);
        to += group_at(&m->mechs, g).n;
    }
}

void machine_sm_counters(struct machine *m, uint32_t sm, uint64_t *to) {
    memset(to, 0, machine_counter_count(&m->mechs) * sizeof *to);
    for (uint32_t g = 0; g < group_count(&m->mechs); g++) {
        if (of_sms(g))
            add(m, g, sm, to);
        to += group_at(&m->mechs, g).n;
    }
}

/* The group of counter *i, which becomes its number in the group. */
static uint32_t group_of(const struct mech_set *mechs, uint32_t *i) {
    uint32_t g = 0;
    for (; *i >= group_at(mechs, g).n; g++)
        *i -= group_at(mechs, g).n;
    return g;
}

bool machine_counter_of_sms(const struct mech_set *mechs, uint32_t i) {
    return of_sms(group_of(mechs, &i));
}

struct counter_info machine_counter_info(const struct mech_set *mechs, uint32_t i, char *name, size_t size) {
    struct rows rows = group_at(mechs, group_of(mechs, &i));
    struct counter_info info = rows.rows[i];
    snprintf(name, size, "%s%s", rows.prefix, info.name);
    info.name = name;
    return info;
}

uint32_t machine_counter_find(const void *ctx, const char *name) {
    const struct mech_set none = {0}, *mechs = ctx ? ctx : &none;
    char full[64];
    uint32_t n = machine_counter_count(mechs);
    for (uint32_t i = 0; i < n; i++) {
        machine_counter_info(mechs, i, full, sizeof full);
        if (!strcmp(full, name))
            return i;
    }
    return UINT32_MAX;
}
