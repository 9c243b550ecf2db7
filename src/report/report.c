/* The JSON report. */
#include "report/report.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/vec.h"
#include "stats/formula.h"

struct launch_note {
    char *name;
    uint32_t grid[3], block[3];
    uint64_t warp_insts, thread_insts, cycles, timed_insts, approximated;
    enum rp_timing timing;
    uint64_t *counters;
    json_t *sms; /* counters of each SM, or NULL */
    double *energy;
    uint64_t digest;
};

struct report {
    VEC(struct launch_note) launches;
    bool digests;
};

static uint64_t *launch_counters(const struct rp_gpu *gpu) {
    VEC(uint64_t) values = {0};
    struct rp_counter c;
    for (uint32_t i = 0; rp_counter(gpu, i, &c); i++)
        vec_push(&values, c.launch);
    return values.at;
}

/* Counters of each SM: an array by SM for each name. Those of the last launch, or of the run. NULL where they
 * are not kept. */
static json_t *sm_counters(const struct rp_gpu *gpu, bool of_launch) {
    json_t *all = NULL;
    struct rp_counter c;
    for (uint32_t i = 0; rp_counter(gpu, i, &c); i++) {
        json_t *values = NULL;
        uint64_t total, launch;
        for (uint32_t sm = 0; rp_sm_counter(gpu, i, sm, &total, &launch); sm++) {
            if (!values)
                values = json_array();
            json_array_append_new(values, json_integer((json_int_t)(of_launch ? launch : total)));
        }
        if (values && !all)
            all = json_object();
        if (values)
            json_object_set_new(all, c.name, values);
    }
    return all;
}

static double *launch_energy(const struct rp_gpu *gpu) {
    VEC(double) values = {0};
    struct rp_energy e;
    for (uint32_t i = 0; rp_energy(gpu, i, &e); i++)
        vec_push(&values, e.launch);
    return values.at;
}

/* A hash of n bytes, eight at a time in four independent chains: images are large. */
static uint64_t hash_image(const uint8_t *p, size_t n, uint64_t seed) {
    enum { CHAINS = 4 };
    const uint64_t k = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t h[CHAINS], w[CHAINS], all = seed;
    for (int c = 0; c < CHAINS; c++)
        h[c] = seed + (uint64_t)c * k;
    for (; n >= sizeof w; p += sizeof w, n -= sizeof w) {
        memcpy(w, p, sizeof w);
        for (int c = 0; c < CHAINS; c++) {
            h[c] = (h[c] ^ w[c]) * k;
            h[c] ^= h[c] >> 32;
        }
    }
    for (; n; p++, n--)
        h[0] = (h[0] ^ *p) * k;
    for (int c = 0; c < CHAINS; c++) {
        all = (all ^ h[c]) * k;
        all ^= all >> 29;
    }
    return all;
}

/* The contents of all live allocations. Memory that the program registered lies at addresses that differ from
 * run to run, so allocations add up in any order and only the GPU's own count with their address. */
static uint64_t memory_digest(struct rp_gpu *gpu) {
    uint64_t sum = 0;
    struct rp_alloc *a;
    for (uint32_t i = 0; (a = rp_mem_at(gpu, i)); i++)
        sum += hash_image((const uint8_t *)(uintptr_t)a->addr, a->size,
                          a->kind == RP_MEM_REGISTERED ? a->size : a->addr);
    return sum;
}

void report_launch(struct report **r, struct rp_gpu *gpu, struct rp_kernel *k, const struct rp_launch *l,
                   struct rp_totals before) {
    if (!*r) {
        *r = xcalloc(1, sizeof **r);
        (*r)->digests = getenv("REPRISE_DIGEST") != NULL;
    }
    struct rp_totals now = rp_totals(gpu);
    if (now.launches == before.launches)
        return; /* refused before it began */
    struct launch_note n = {
        .name = xstrdup(rp_kernel_name(k)),
        .warp_insts = now.warp_insts - before.warp_insts,
        .thread_insts = now.thread_insts - before.thread_insts,
        .cycles = now.cycles - before.cycles,
        .timed_insts = now.timed_insts - before.timed_insts,
        .approximated = now.approximated - before.approximated,
        .timing = now.last,
        .counters = launch_counters(gpu),
        .sms = now.last != RP_TIMED_NONE ? sm_counters(gpu, true) : NULL,
        .energy = launch_energy(gpu),
        .digest = (*r)->digests ? memory_digest(gpu) : 0,
    };
    memcpy(n.grid, l->grid, sizeof n.grid);
    memcpy(n.block, l->block, sizeof n.block);
    vec_push(&(*r)->launches, n);
}

void report_free(struct report *r) {
    for (uint32_t i = 0; r && i < r->launches.len; i++) {
        free(r->launches.at[i].name);
        free(r->launches.at[i].counters);
        json_decref(r->launches.at[i].sms);
        free(r->launches.at[i].energy);
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
static json_t *counters(const struct rp_gpu *gpu, const uint64_t *launch, enum rp_timing timing) {
    json_t *all = json_object();
    struct rp_counter c;
    for (uint32_t i = 0; rp_counter(gpu, i, &c); i++)
        if (!c.timed || timing != RP_TIMED_NONE)
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

static void add_digest(json_t *to, uint64_t digest) {
    char text[17];
    snprintf(text, sizeof text, "%016" PRIx64, digest);
    json_object_set_new(to, "digest", json_string(text));
}

/* How much was timed, and how long that took. */
static void add_time(json_t *to, enum rp_timing timing, uint64_t cycles, uint64_t timed_insts) {
    static const char *const words[] = {
        [RP_TIMED_NONE] = "none", [RP_TIMED_PART] = "part", [RP_TIMED_ALL] = "all"};
    json_object_set_new(to, "timed", json_string(words[timing]));
    if (timing == RP_TIMED_NONE)
        return;
    json_object_set_new(to, "timed_warp_insts", json_integer((json_int_t)timed_insts));
    json_object_set_new(to, "cycles", json_integer((json_int_t)cycles));
    json_object_set_new(to, "ipc", json_real((double)timed_insts / (double)cycles));
}

/* Joules by part, and all together: of a launch, or, without, of the run. Only what was timed has any. */
static void add_energy(json_t *to, const struct rp_gpu *gpu, enum rp_timing timing, const double *launch) {
    if (timing == RP_TIMED_NONE)
        return;
    json_t *all = json_object();
    struct rp_energy e;
    double sum = 0;
    for (uint32_t i = 0; rp_energy(gpu, i, &e); i++) {
        double joules = launch ? launch[i] : e.total;
        json_object_set_new(all, e.name, json_real(joules));
        sum += joules;
    }
    json_object_set_new(all, "total", json_real(sum));
    json_object_set_new(to, "energy", all);
}

/* What names in formulas stand for: members of the first object that has them. */
static bool look_up(void *ctx, const char *name, double *value) {
    json_t *const *in = ctx;
    for (; *in; in++) {
        const json_t *found = json_object_get(*in, name);
        if (json_is_number(found)) {
            *value = json_number_value(found);
            return true;
        }
    }
    return false;
}

/* Formulas that have a value, over the counters of to and the settings. */
static void add_derived(json_t *to, json_t *settings) {
    json_t *in[] = {json_object_get(to, "counters"), settings, to, NULL}, *all = json_object();
    for (uint32_t i = 0; i < formula_count; i++) {
        double value;
        if (formula_eval(formula_info[i].text, look_up, in, &value) == FORMULA_OK)
            json_object_set_new(all, formula_info[i].name, json_real(value));
    }
    json_object_set_new(to, "derived", all);
}

/* How many values were not what had been computed, where that may be. */
static void add_approximated(json_t *to, const struct rp_gpu *gpu, uint64_t values) {
    if (rp_gpu_approximate(gpu))
        json_object_set_new(to, "approximated", json_integer((json_int_t)values));
}

static json_t *launch(const struct rp_gpu *gpu, const struct launch_note *n, json_t *settings, bool digest) {
    json_t *all =
        json_pack("{s:s, s:o, s:o, s:I, s:I, s:o}", "name", n->name, "grid", triple(n->grid), "block",
                  triple(n->block), "warp_insts", (json_int_t)n->warp_insts, "thread_insts",
                  (json_int_t)n->thread_insts, "counters", counters(gpu, n->counters, n->timing));
    add_time(all, n->timing, n->cycles, n->timed_insts);
    add_energy(all, gpu, n->timing, n->energy);
    add_derived(all, settings);
    add_approximated(all, gpu, n->approximated);
    if (n->sms)
        json_object_set(all, "sms", n->sms);
    if (digest)
        add_digest(all, n->digest);
    return all;
}

/* How much of the whole run was timed. */
static enum rp_timing whole(const struct report *r) {
    uint32_t n[RP_TIMED_ALL + 1] = {0};
    for (uint32_t i = 0; r && i < r->launches.len; i++)
        n[r->launches.at[i].timing]++;
    return n[RP_TIMED_PART] || (n[RP_TIMED_NONE] && n[RP_TIMED_ALL]) ? RP_TIMED_PART
           : n[RP_TIMED_ALL]                                         ? RP_TIMED_ALL
                                                                     : RP_TIMED_NONE;
}

bool report_write(const struct report *r, struct rp_gpu *gpu, const char *path) {
    json_t *kernels = json_array(), *set = settings(gpu);
    uint64_t digest = 0;
    for (uint32_t i = 0; r && i < r->launches.len; i++) {
        json_array_append_new(kernels, launch(gpu, &r->launches.at[i], set, r->digests));
        digest = hash_image((const uint8_t *)&r->launches.at[i].digest, sizeof digest, digest);
    }
    struct rp_totals t = rp_totals(gpu);
    enum rp_timing timing = whole(r);
    json_t *all = json_pack("{s:i, s:s, s:s, s:o, s:o, s:{s:I, s:I, s:I, s:o}, s:o}", "schema", 1, "gpu",
                            rp_gpu_info(gpu)->name, "mech", rp_gpu_mech(gpu), "settings", set, "kernels",
                            kernels, "totals", "launches", (json_int_t)t.launches, "warp_insts",
                            (json_int_t)t.warp_insts, "thread_insts", (json_int_t)t.thread_insts, "counters",
                            counters(gpu, NULL, timing), "host", host(&t));
    json_t *totals = json_object_get(all, "totals"), *sms = sm_counters(gpu, false);
    if (all && rp_gpu_approximate(gpu))
        json_object_set_new(all, "approximate", json_true());
    if (all) {
        add_approximated(totals, gpu, t.approximated);
        add_time(totals, timing, t.cycles, t.timed_insts);
        add_energy(totals, gpu, timing, NULL);
        add_derived(totals, set);
    }
    if (sms)
        json_object_set_new(totals, "sms", sms);
    if (all && r && r->digests)
        add_digest(totals, digest);
    bool ok = all && json_dump_file(all, path, JSON_INDENT(2)) == 0;
    json_decref(all);
    return ok;
}
