/* How long runs take, going by others. */
#include <math.h>
#include <stdio.h>

#include "study/launch.h"

/* What runs were asked about already: many differ in settings alone. */
struct known {
    struct map numbers; /* from labels to numbers of seconds, from 1 */
    VEC(double) seconds;
    VEC(char *) labels;
};

static double seconds_of(struct known *k, const struct launch *l, const struct launch_run *r) {
    const struct table *t = &l->plan->table;
    const struct row *row = &t->rows.at[r->row];
    const struct bench *b = &t->benches.at[row->bench];
    const char *size = b->workload ? workload_sizes[b->size] : NULL,
               *name = b->workload ? b->workload->name : b->label, *mech = t->models.at[row->model].mech;
    struct str label = {0};
    str_printf(&label, "%s\n%s\n%s", name, size ? size : "", mech);
    uintptr_t number = (uintptr_t)map_get(&k->numbers, label.at);
    if (number) {
        str_free(&label);
    } else {
        vec_push(&k->seconds, store_seconds(l->store, name, size, mech));
        number = k->seconds.len;
        map_set(&k->numbers, label.at, (void *)number);
        vec_push(&k->labels, label.at);
    }
    return k->seconds.at[number - 1];
}

/* Warp instructions of a run that are timed, as far as they are known; those of others are its measure. */
static double insts_of(const struct launch *l, const struct launch_run *r) {
    const struct bench *b = &l->plan->table.benches.at[l->plan->table.rows.at[r->row].bench];
    uint64_t insts = b->workload ? b->workload->insts[b->size] : 0, most = l->plan->max_insts;
    return (double)(most && insts > most ? most : insts);
}

double launch_estimate(struct launch *l) {
    struct known k = {0};
    double sum = 0;
    for (uint32_t i = 0; i < l->todo.len; i++) {
        struct launch_run *r = &l->todo.at[i];
        double seconds = seconds_of(&k, l, r);
        sum += seconds;
        r->weight = isnan(seconds) ? insts_of(l, r) : seconds;
    }
    for (uint32_t i = 0; i < k.labels.len; i++)
        free(k.labels.at[i]);
    vec_free(&k.labels);
    vec_free(&k.seconds);
    map_free(&k.numbers);
    return sum;
}
