#include "timing_rig.h"

#include <stdio.h>

static struct rp_gpu *alive; /* what a test that failed left behind; there can be only one */

void rig_open(struct rig *r, const char *gpu, const char *const *set, bool functional, const char *ptx) {
    rig_open_options(r, &(struct rp_options){.gpu = gpu, .set = set, .functional = functional}, ptx);
}

void rig_open_options(struct rig *r, const struct rp_options *options, const char *ptx) {
    char *log = NULL;
    struct rp_options o = *options;
    o.watchdog = 20000000;
    rp_gpu_destroy(alive);
    alive = NULL;
    *r = (struct rig){.g = rp_gpu_create(&o, &log)};
    if (!r->g)
        fail_msg("%s", log);
    alive = r->g;
    if (rp_module_load(r->g, ptx, strlen(ptx), "timing.ptx", &r->m, &log) != RP_OK)
        fail_msg("%s", log);
    free(log);
    r->buffer = rp_mem_alloc(r->g, RIG_BYTES, RP_MEM_DEVICE);
    assert_true(r->buffer);
    memset((void *)(uintptr_t)r->buffer, RIG_FILL & 0xff, RIG_BYTES);
}

void rig_zero(const struct rig *r) {
    memset((void *)(uintptr_t)r->buffer, 0, RIG_BYTES);
}

void rig_close(struct rig *r) {
    rp_module_unload(r->m);
    rp_gpu_destroy(r->g);
    alive = NULL;
}

uint64_t rig_counter(const struct rig *r, const char *name) {
    struct rp_counter c;
    for (uint32_t i = 0; rp_counter(r->g, i, &c); i++)
        if (!strcmp(c.name, name))
            return c.launch;
    fail_msg("no counter is called %s", name);
    return 0;
}

uint32_t rig_counters(const struct rig *r, uint64_t to[RIG_COUNTERS]) {
    struct rp_counter c;
    uint32_t n = 0;
    for (; rp_counter(r->g, n, &c); n++) {
        assert_true(n < RIG_COUNTERS);
        to[n] = c.launch;
    }
    return n;
}

static void check_slots(const struct rig *r) {
    struct rp_counter c;
    uint64_t sum = 0;
    for (uint32_t i = 0; rp_counter(r->g, i, &c); i++)
        if (!strncmp(c.name, "slot.", 5))
            sum += c.launch;
    const struct core_spec *s = &r->g->machine->core;
    assert_int_equal(sum, rig_counter(r, "sm.cycles") * s->schedulers * s->width);
    assert_int_equal(rig_counter(r, "slot.issued"), rig_counter(r, "sm.insts.warp"));
}

enum rp_status rig_try(struct rig *r, const char *kernel, uint32_t grid, uint32_t block, uint32_t shared,
                       struct rig_params p, char **report) {
    struct rp_kernel *k = rp_module_kernel(r->m, kernel);
    assert_non_null(k);
    if (!p.buffer)
        p.buffer = r->buffer;
    struct rp_launch l = {.grid = {grid, 1, 1},
                          .block = {block, 1, 1},
                          .dynamic_shared = shared,
                          .params = &p,
                          .param_bytes = sizeof p};
    uint64_t before = rp_totals(r->g).cycles;
    enum rp_status s = rp_launch(r->g, k, &l, report);
    r->cycles = rp_totals(r->g).cycles - before;
    if (s == RP_OK && rp_totals(r->g).last != RP_TIMED_NONE)
        check_slots(r);
    return s;
}

uint64_t rig_run(struct rig *r, const char *kernel, uint32_t grid, uint32_t block, struct rig_params p) {
    char *report = NULL;
    if (rig_try(r, kernel, grid, block, 0, p, &report) != RP_OK)
        fail_msg("%s", report ? report : "launch failed");
    return r->cycles;
}

char *rig_file(const char *name) {
    char path[512];
    snprintf(path, sizeof path, TEST_DIR "/timing/%s", name);
    FILE *f = fopen(path, "rb");
    if (!f)
        fail_msg("%s is missing", path);
    char *text = calloc(1, 1 << 16);
    assert_true(fread(text, 1, (1 << 16) - 1, f) > 0);
    fclose(f);
    return text;
}
