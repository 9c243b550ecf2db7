/* Counts times table. */
#include "energy/energy.h"

#include <string.h>

#include "cfg/gpu.h"

const struct energy_part_info energy_parts[ENERGY_PARTS] = {
#define PART(id, name, meaning) [ENERGY_##id] = {name, meaning},
#include "energy/parts.def"
#undef PART
};

void energy_init(struct energy_model *m, const struct gpu_config *cfg) {
    const double pj = 1e-12, mhz = 1e6;
    double burst_bits = (double)cfg->dram_bus / cfg->l2_partitions * cfg->dram_burst; /* of one channel */
    *m = (struct energy_model){.unit = {[ENERGY_PJ] = pj * cfg->energy_scale,
                                        [ENERGY_PJ_FIXED] = pj,
                                        [ENERGY_PJ_BIT] = pj * burst_bits,
                                        [ENERGY_WATT] = 1 / (cfg->clock_sm * mhz)}};
}

const char *energy_add(struct energy_model *m, const struct energy_table *t, const struct config *config,
                       energy_find *find, const void *ctx) {
    uint32_t before = m->terms.len;
    const char *unknown = NULL;
    for (uint32_t i = 0; i < t->count && !unknown; i++) {
        const struct energy_event *e = &t->rows[i];
        struct energy_term term = {.part = e->part, .counter = ENERGY_CYCLES};
        double value = 0;
        if (e->counter && (term.counter = find(ctx, e->counter)) == ENERGY_CYCLES)
            unknown = e->counter;
        else if (!config_float(config, e->param, &value))
            unknown = e->param;
        term.joules = value * m->unit[e->unit];
        vec_push(&m->terms, term);
    }
    if (unknown)
        m->terms.len = before;
    return unknown;
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
