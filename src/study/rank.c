#include "study/rank.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *key, *title, *metric, *format;
} orders[RANKS] = {
    [RANK_TIME] = {"time", "by time", "speedup", "%.3fx"},
    [RANK_ENERGY] = {"energy", "by energy", "energy_saved", "%.1f%%"},
    [RANK_ENERGY_DELAY] = {"energy_delay", "by energy x delay", "energy_delay_saved", "%.1f%%"},
};

const char *rank_stack(uint32_t i) {
    static const char *const stacks[] = {
#define STACK(name) name,
#include "study/stacks.def"
#undef STACK
    };
    return i < sizeof stacks / sizeof *stacks ? stacks[i] : NULL;
}

static const struct metric *metric_of(enum rank_by by) {
    const struct metric *m;
    for (enum metric_part part = 0; part < PART_ERROR; part++)
        for (uint32_t i = 0; (m = metric_at(part, i)); i++)
            if (!strcmp(m->id, orders[by].metric))
                return m;
    return NULL;
}

/* Whether every benchmark ran well on a model. */
static bool is_whole(const struct table *t, uint32_t model) {
    bool whole = t->benches.len;
    for (uint32_t b = 0; whole && b < t->benches.len; b++) {
        const struct row *r = table_row(t, b, model);
        whole = r && r->status == ROW_OK;
    }
    return whole;
}

/* The better first; equals in the order of the table. */
static int better(const void *a, const void *b) {
    const struct rank_place *x = a, *y = b;
    if (x->value != y->value)
        return x->value < y->value ? 1 : -1;
    return x->model < y->model ? -1 : x->model > y->model;
}

struct rank_place *rank_models(const struct table *t, uint32_t base, enum rank_by by, uint32_t *n) {
    struct rank_place *list = xcalloc(t->models.len + 1, sizeof *list);
    const struct metric *metric = metric_of(by);
    *n = 0;
    for (uint32_t m = 0; metric && m < t->models.len; m++) {
        if (t->models.at[m].base != base || !is_whole(t, m))
            continue;
        double v = metric_mean(t, m, metric);
        if (isfinite(v))
            list[(*n)++] = (struct rank_place){m, v};
    }
    qsort(list, *n, sizeof *list, better);
    return list;
}

static void print_base(const struct table *t, uint32_t base, FILE *to) {
    enum { NUMBER = 4, NAME = 21, VALUE = 9 };
    struct rank_place *lists[RANKS];
    uint32_t n[RANKS], most = 0;
    for (enum rank_by by = 0; by < RANKS; by++) {
        lists[by] = rank_models(t, base, by, &n[by]);
        most = n[by] > most ? n[by] : most;
    }
    fprintf(to, "\nthe best of %u, against %s; geometric means over %u workload%s\n", most,
            t->models.at[base].label, t->benches.len, t->benches.len == 1 ? "" : "s");
    fprintf(to, "%*s", NUMBER, "");
    for (enum rank_by by = 0; by < RANKS; by++)
        fprintf(to, by + 1 < RANKS ? "%-*s" : "%-*s\n", by + 1 < RANKS ? NAME + VALUE + 1 : 0,
                orders[by].title);
    for (uint32_t i = 0; i < most; i++) {
        fprintf(to, "%*u ", NUMBER - 1, i + 1);
        for (enum rank_by by = 0; by < RANKS; by++) {
            char value[32] = "";
            const char *name = i < n[by] ? t->models.at[lists[by][i].model].label : "";
            if (i < n[by])
                snprintf(value, sizeof value, orders[by].format, lists[by][i].value);
            fprintf(to, "%-*.*s%*s%s", NAME, NAME, name, VALUE, value, by + 1 < RANKS ? " " : "\n");
        }
    }
    for (enum rank_by by = 0; by < RANKS; by++)
        free(lists[by]);
}

void rank_print(const struct table *t, FILE *to) {
    for (uint32_t m = 0; m < t->models.len; m++)
        if (t->models.at[m].base == m)
            print_base(t, m, to);
}

json_t *rank_json(const struct table *t) {
    json_t *all = json_object();
    for (uint32_t m = 0; m < t->models.len; m++) {
        if (t->models.at[m].base != m)
            continue;
        json_t *of = json_object();
        for (enum rank_by by = 0; by < RANKS; by++) {
            uint32_t n;
            struct rank_place *list = rank_models(t, m, by, &n);
            json_t *places = json_array();
            for (uint32_t i = 0; i < n; i++)
                json_array_append_new(places,
                                      json_pack("{s:s, s:f}", "model", t->models.at[list[i].model].label,
                                                "value", list[i].value));
            json_object_set_new(of, orders[by].key, places);
            free(list);
        }
        json_object_set_new(all, t->models.at[m].label, of);
    }
    return all;
}
