/* Mechanisms, probes and parameters of a machine, and whether they go together. */
#include "gpu/resolve.h"

#include <string.h>

#include "gpu/mix.h"
#include "gpu/timed.h"
#include "opt/opt.h"

bool resolve_mechs(const struct rp_options *o, struct mech_registry *r, struct diag *d) {
    mech_registry_init(r);
    for (const char *const *path = o->load; path && *path; path++)
        if (!mech_registry_load(r, *path, d))
            return false;
    return true;
}

/* ---- parameters -------------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b) {
    const struct mechanism *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

/* Every parameter of a mechanism is its own. */
static bool check_params(const struct mechanism *m, const struct config *config, struct diag *d) {
    for (uint32_t i = 0; i < m->params.count; i++) {
        const char *path = m->params.rows[i].path;
        if (config->params.at[param_find(&config->params, path, strlen(path))] != &m->params.rows[i]) {
            diag_add(d, DIAG_ERROR,
                     "the mechanism '%s' must give its parameter '%s' another name: it is taken", m->name,
                     path);
            return false;
        }
    }
    return true;
}

bool resolve_params(const struct mech_registry *r, struct config *config, struct diag *d) {
    bool ok = true;
    config->what = "GPU";
    config_add(config, &gpu_params);
    VEC(const struct mechanism *) mechs = {0};
    for (uint32_t i = 0; i < r->mechs.len; i++)
        vec_push(&mechs, r->mechs.at[i]);
    qsort(mechs.at, mechs.len, sizeof *mechs.at, by_name);
    for (uint32_t i = 0; i < mechs.len; i++) {
        config_add(config, &mechs.at[i]->params);
        ok = ok && check_params(mechs.at[i], config, d);
    }
    vec_free(&mechs);
    const struct profile_row *p;
    for (uint32_t i = 0; (p = profile_at(i)); i++)
        config_add(config, &p->kind->params);
    return ok;
}

/* ---- counters and energy ----------------------------------------------------------------------------- */

/* The counters of the mechanisms are their own, and what their energy is reckoned from exists. */
static bool check_tables(const struct mech_set *mechs, const struct config *config, struct diag *d) {
    struct counter_registry all = {0};
    uint32_t errors = d->errors;
    counters_add(&all, "", &mix_table, false);
    machine_counters(&all, NULL);
    for (uint32_t k = 0; k < mechs->n; k++) {
        const struct counter_table *t = &mechs->at[k]->counters;
        for (uint32_t i = 0; i < t->count && d->errors == errors; i++)
            if (counters_find(&all, t->rows[i].name) != UINT32_MAX)
                diag_add(d, DIAG_ERROR,
                         "the mechanism '%s' must give its counter '%s' another name: it is taken",
                         mechs->at[k]->name, t->rows[i].name);
        counters_add(&all, "", t, true);
    }
    for (uint32_t k = 0; k < mechs->n; k++)
        for (uint32_t i = 0; i < mechs->at[k]->energy.count && d->errors == errors; i++) {
            const struct energy_event *e = &mechs->at[k]->energy.rows[i];
            bool counted = !e->counter || counters_find(&all, e->counter) != UINT32_MAX;
            if (!counted || !config_float(config, e->param, &(double){0}))
                diag_add(d, DIAG_ERROR,
                         "the energy of the mechanism '%s' rests on the %s '%s', which does not exist",
                         mechs->at[k]->name, counted ? "parameter" : "counter",
                         counted ? e->param : e->counter);
        }
    counters_free(&all);
    return d->errors == errors;
}

/* ---- all of it --------------------------------------------------------------------------------------- */

static bool load(const struct rp_options *o, const struct mech_set *mechs, struct config *config,
                 struct diag *d) {
    VEC(const char *) set = {0};
    for (uint32_t k = 0; k < mechs->n; k++)
        for (const char *const *s = mechs->model[k] ? mechs->model[k]->settings : NULL; s && *s; s++)
            vec_push(&set, *s);
    for (const char *const *s = o->set; s && *s; s++)
        vec_push(&set, *s);
    vec_push(&set, NULL);
    bool ok = config_load(config, o->gpu ? o->gpu : CONFIG_DEFAULT_GPU, set.at, NULL, d);
    vec_free(&set);
    return ok;
}

/* Tools that look for mistakes see the program alone. */
static bool tools_alone(const struct rp_options *o, const struct mech_set *mechs, struct diag *d) {
    if (!o->tools || !mechs->n)
        return true;
    diag_add(d, DIAG_ERROR,
             "memcheck and the other tools see instructions as they execute; mechanism '%s' leaves some out",
             o->mech);
    return false;
}

bool resolve_options(const struct rp_options *o, struct mech_set *mechs, struct profile_set *profiles,
                     struct config *config, struct diag *d) {
    struct mech_registry r;
    bool ok = resolve_mechs(o, &r, d) && mech_select(mechs, &r, o->mech, d) && tools_alone(o, mechs, d) &&
              profile_select(profiles, o->probe, d) && resolve_params(&r, config, d) &&
              check_tables(mechs, config, d) && load(o, mechs, config, d);
    mech_registry_free(&r);
    return ok;
}

uint64_t resolve_lacking(const struct gpu_config *gpu) {
    static const struct {
        enum opt_pass pass;
        uint32_t since; /* enum of architectures */
    } table[] = {
        {OPT_FUSE, ARCH_MAXWELL},
        {OPT_UNROLL, ARCH_TURING},
        {OPT_VECTOR, ARCH_TURING},
    };
    uint64_t lacking = 0;
    for (size_t k = 0; k < sizeof table / sizeof *table; k++)
        if (gpu->device_architecture < table[k].since)
            lacking |= UINT64_C(1) << table[k].pass;
    return lacking;
}
