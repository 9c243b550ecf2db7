/* Counts times table. */
#include "energy/energy.h"

#include <string.h>

const struct energy_part_info energy_parts[ENERGY_PARTS] = {
#define PART(id, name, meaning) [ENERGY_##id] = {name, meaning},
#include "energy/parts.def"
#undef PART
};

static const struct energy_event base_events[] = {
#define EVENT(part, counter, param, unit)                                                                    \
    {ENERGY_##part, counter, offsetof(struct gpu_config, param), ENERGY_##unit},
#include "energy/events.def"
#undef EVENT
};

struct energy_block energy_base(const struct gpu_config *cfg) {
    return (struct energy_block){base_events, sizeof base_events / sizeof *base_events, cfg};
}

void energy_init(struct energy_model *m, const struct gpu_config *cfg) {
    const double pj = 1e-12, mhz = 1e6;
    double burst_bits = (double)cfg->dram_bus / cfg->l2_partitions * cfg->dram_burst; /* of one channel */
    *m = (struct energy_model){.unit = {[ENERGY_PJ] = pj * cfg->energy_scale,
                                        [ENERGY_PJ_FIXED] = pj,
                                        [ENERGY_PJ_BIT] = pj * burst_bits,
                                        [ENERGY_WATT] = 1 / (cfg->clock_sm * mhz)}};
}

const char *energy_add(struct energy_model *m, const struct energy_block *b, energy_find *find,
                       const void *ctx) {
    uint32_t before = m->terms.len;
    for (uint32_t i = 0; i < b->n; i++) {
        const struct energy_event *e = &b->events[i];
        struct energy_term t = {.part = e->part, .counter = ENERGY_CYCLES};
        if (e->counter && (t.counter = find(ctx, e->counter)) == ENERGY_CYCLES) {
            m->terms.len = before;
            return e->counter;
        }
        double value;
        memcpy(&value, (const char *)b->params + e->param, sizeof value);
        t.joules = value * m->unit[e->unit];
        vec_push(&m->terms, t);
    }
    return NULL;
}

void energy_free(struct energy_model *m) {
    vec_free(&m->terms);
}

double energy_sum(const struct energy_model *m, const uint64_t *counters, uint64_t cycles,
                  double parts[ENERGY_PARTS]) {
    double sum = 0;
    memset(parts, 0, ENERGY_PARTS * sizeof *parts);
    for (uint32_t i = 0; i < m->terms.len; i++) {
        const struct energy_term *t = &m->terms.at[i];
        parts[t->part] += (double)(t->counter == ENERGY_CYCLES ? cycles : counters[t->counter]) * t->joules;
    }
    for (uint32_t p = 0; p < ENERGY_PARTS; p++)
        sum += parts[p];
    return sum;
}
