/* The JSON report. */
#include "report/report.h"

#include <jansson.h>
#include <string.h>
#include <sys/resource.h>

#include "base/vec.h"

struct launch_note {
    char *name;
    uint32_t grid[3], block[3];
    uint64_t warp_insts, thread_insts, cycles;
    uint64_t *counters;
};

struct report {
    VEC(struct launch_note) launches;
};

static uint64_t *launch_counters(const struct rp_gpu *gpu) {
    VEC(uint64_t) values = {0};
    struct rp_counter c;
    for (uint32_t i = 0; rp_counter(gpu, i, &c); i++)
        vec_push(&values, c.launch);
    return values.at;
}

void report_launch(struct report **r, struct rp_gpu *gpu, struct rp_kernel *k, const struct rp_launch *l,
                   struct rp_totals before) {
    if (!*r)
        *r = xcalloc(1, sizeof **r);
    struct rp_totals now = rp_totals(gpu);
    if (now.launches == before.launches)
        return; /* refused before it began */
    struct launch_note n = {
        .name = xstrdup(rp_kernel_name(k)),
        .warp_insts = now.warp_insts - before.warp_insts,
        .thread_insts = now.thread_insts - before.thread_insts,
        .cycles = now.cycles - before.cycles,
        .counters = launch_counters(gpu),
    };
    memcpy(n.grid, l->grid, sizeof n.grid);
    memcpy(n.block, l->block, sizeof n.block);
    vec_push(&(*r)->launches, n);
}

void report_free(struct report *r) {
    for (uint32_t i = 0; r && i < r->launches.len; i++) {
        free(r->launches.at[i].name);
        free(r->launches.at[i].counters);
    }
    if (r)
        vec_free(&r->launches);
    free(r);
}

static json_t *triple(const uint32_t v[3]) {
    return json_pack("[I,I,I]", (json_int_t)v[0], (json_int_t)v[1], (json_int_t)v[2]);
}

static json_t *settings(const struct rp_gpu *gpu) {
    json_t *all = json_object();
    struct rp_setting s;
    for (uint32_t i = 0; rp_gpu_setting(gpu, i, &s); i++) {
        json_t *value = s.text ? json_string(s.value) : json_loads(s.value, JSON_DECODE_ANY, NULL);
        json_object_set_new(all, s.name, value ? value : json_string(s.value));
    }
    return all;
}

/* Counters by name: those of a launch, or, without, those of the run. */
static json_t *counters(const struct rp_gpu *gpu, const uint64_t *launch) {
    json_t *all = json_object();
    struct rp_counter c;
    for (uint32_t i = 0; rp_counter(gpu, i, &c); i++)
        json_object_set_new(all, c.name, json_integer((json_int_t)(launch ? launch[i] : c.total)));
    return all;
}

/* What depends on the host; everything else in a report is the same from run to run. */
static json_t *host(const struct rp_totals *t) {
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return json_pack("{s:f, s:f, s:f}", "wall_s", t->host_s, "warp_insts_per_s",
                     t->host_s > 0 ? (double)t->warp_insts / t->host_s : 0.0, "peak_rss_mb",
                     (double)use.ru_maxrss / 1024);
}

/* Timed runs only. */
static void add_time(json_t *to, uint64_t cycles, uint64_t warp_insts) {
    if (!cycles)
        return;
    json_object_set_new(to, "cycles", json_integer((json_int_t)cycles));
    json_object_set_new(to, "ipc", json_real((double)warp_insts / (double)cycles));
}

static json_t *launch(const struct rp_gpu *gpu, const struct launch_note *n) {
    json_t *all =
        json_pack("{s:s, s:o, s:o, s:I, s:I, s:o}", "name", n->name, "grid", triple(n->grid), "block",
                  triple(n->block), "warp_insts", (json_int_t)n->warp_insts, "thread_insts",
                  (json_int_t)n->thread_insts, "counters", counters(gpu, n->counters));
    add_time(all, n->cycles, n->warp_insts);
    return all;
}

bool report_write(const struct report *r, struct rp_gpu *gpu, const char *path) {
    json_t *kernels = json_array();
    for (uint32_t i = 0; r && i < r->launches.len; i++)
        json_array_append_new(kernels, launch(gpu, &r->launches.at[i]));
    struct rp_totals t = rp_totals(gpu);
    json_t *all = json_pack("{s:i, s:s, s:s, s:o, s:o, s:{s:I, s:I, s:I, s:o}, s:o}", "schema", 1, "gpu",
                            rp_gpu_info(gpu)->name, "mech", "base", "settings", settings(gpu), "kernels",
                            kernels, "totals", "launches", (json_int_t)t.launches, "warp_insts",
                            (json_int_t)t.warp_insts, "thread_insts", (json_int_t)t.thread_insts, "counters",
                            counters(gpu, NULL), "host", host(&t));
    if (all)
        add_time(json_object_get(all, "totals"), t.cycles, t.warp_insts);
    bool ok = all && json_dump_file(all, path, JSON_INDENT(2)) == 0;
    json_decref(all);
    return ok;
}
