/* Device output and the report: what launches print is kept until the program synchronises, as CUDA does,
 * and what they cost is written as JSON when the process ends. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "cuda/core.h"

static struct str kept_out, kept_err;

struct launch_note {
    char *name;
    uint32_t grid[3], block[3];
    uint64_t warp_insts, thread_insts;
};

static VEC(struct launch_note) notes;

static void keep(struct str *to, const char *(*take)(struct rp_gpu *, size_t *)) {
    size_t len = 0;
    const char *text = take(cud.gpu, &len);
    if (text && len)
        str_add(to, text, len);
}

void cud_keep_output(void) {
    keep(&kept_out, rp_take_output);
    keep(&kept_err, rp_take_errors);
}

static void write_out(struct str *s, FILE *to) {
    if (!s->len)
        return;
    fwrite(s->at, 1, s->len, to);
    fflush(to);
    s->len = 0;
}

void cud_flush_output(void) {
    write_out(&kept_out, stdout);
    write_out(&kept_err, stderr);
}

void cud_report_launch(struct rp_kernel *k, const struct rp_launch *l, struct rp_totals before) {
    if (!getenv("REPRISE_JSON"))
        return;
    struct rp_totals now = rp_totals(cud.gpu);
    struct launch_note n = {
        .name = xstrdup(rp_kernel_name(k)),
        .warp_insts = now.warp_insts - before.warp_insts,
        .thread_insts = now.thread_insts - before.thread_insts,
    };
    memcpy(n.grid, l->grid, sizeof n.grid);
    memcpy(n.block, l->block, sizeof n.block);
    vec_push(&notes, n);
}

static json_t *triple(const uint32_t v[3]) {
    return json_pack("[I,I,I]", (json_int_t)v[0], (json_int_t)v[1], (json_int_t)v[2]);
}

static json_t *settings(void) {
    json_t *all = json_object();
    struct rp_setting s;
    for (uint32_t i = 0; rp_gpu_setting(cud.gpu, i, &s); i++) {
        json_t *value = s.text ? json_string(s.value) : json_loads(s.value, JSON_DECODE_ANY, NULL);
        json_object_set_new(all, s.name, value ? value : json_string(s.value));
    }
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

static json_t *report(void) {
    json_t *kernels = json_array();
    for (uint32_t i = 0; i < notes.len; i++) {
        const struct launch_note *n = &notes.at[i];
        json_array_append_new(kernels,
                              json_pack("{s:s, s:o, s:o, s:I, s:I}", "name", n->name, "grid", triple(n->grid),
                                        "block", triple(n->block), "warp_insts", (json_int_t)n->warp_insts,
                                        "thread_insts", (json_int_t)n->thread_insts));
    }
    struct rp_totals t = rp_totals(cud.gpu);
    return json_pack("{s:i, s:s, s:s, s:o, s:o, s:{s:I, s:I, s:I}, s:o}", "schema", 1, "gpu",
                     rp_gpu_info(cud.gpu)->name, "mech", "base", "settings", settings(), "kernels", kernels,
                     "totals", "launches", (json_int_t)t.launches, "warp_insts", (json_int_t)t.warp_insts,
                     "thread_insts", (json_int_t)t.thread_insts, "host", host(&t));
}

void cuda_report_at_exit(void) {
    const char *path = getenv("REPRISE_JSON");
    if (!path || !*path || !cud.gpu)
        return;
    json_t *r = report();
    if (!r || json_dump_file(r, path, JSON_INDENT(2)) != 0)
        fprintf(stderr, "reprise: cannot write the report to %s\n", path);
    json_decref(r);
    for (uint32_t i = 0; i < notes.len; i++)
        free(notes.at[i].name);
    vec_free(&notes);
}
