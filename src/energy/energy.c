/* Counts times table. */
#include "energy/energy.h"

#include <string.h>

#include "cfg/config.h"
#include "stats/registry.h"

void energy_init(struct energy_model *m, const struct energy_spec *s) {
    const double pj = 1e-12;
    *m = (struct energy_model){.spec = *s,
                               .unit = {[ENERGY_PJ] = pj * s->scale,
                                        [ENERGY_PJ_FIXED] = pj,
                                        [ENERGY_PJ_BIT] = pj * s->burst_bits,
                                        [ENERGY_WATT] = 1 / s->hz}};
}

const char *energy_add(struct energy_model *m, const struct energy_table *t, const struct config *config,
                       const struct counter_registry *counters) {
    uint32_t before = m->terms.len;
    const char *unknown = NULL;
    for (uint32_t i = 0; i < t->count && !unknown; i++) {
        const struct energy_event *e = &t->rows[i];
        struct energy_term term = {.part = e->part, .counter = ENERGY_CYCLES};
        double value = 0;
        if (e->counter && (term.counter = counters_find(counters, e->counter)) == UINT32_MAX)
            unknown = e->counter;
        else if (!config_float(config, e->param, &value))
            unknown = e->param;
        term.joules = value * m->unit[e->unit];
        vec_push(&m->terms, term);
    }
    if (unknown)
        m->terms.len = before;
    for (uint32_t i = before; i < m->terms.len; i++)
        energy_tell(m, m->terms.at[i].part);
    return unknown;
}

void energy_tell(struct energy_model *m, uint32_t part) {
    m->told |= UINT32_C(1) << part;
}

uint32_t energy_told(const struct energy_model *m, uint32_t part) {
    while (part < m->spec.nparts && !(m->told >> part & 1))
        part++;
    return part < m->spec.nparts ? part : UINT32_MAX;
}

void energy_free(struct energy_model *m) {
    vec_free(&m->terms);
}

double energy_sum(const struct energy_model *m, const uint64_t *counters, uint64_t cycles, double *parts) {
    double sum = 0;
    memset(parts, 0, m->spec.nparts * sizeof *parts);
    for (uint32_t i = 0; i < m->terms.len; i++) {
        const struct energy_term *t = &m->terms.at[i];
        parts[t->part] += (double)(t->counter == ENERGY_CYCLES ? cycles : counters[t->counter]) * t->joules;
    }
    for (uint32_t p = 0; p < m->spec.nparts; p++)
        sum += parts[p];
    return sum;
}
