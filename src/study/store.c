/* Reports of runs that are kept. */
#include "study/store.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/map.h"
#include "cfg/config.h"
#include "cfg/files.h"
#include "study/place.h"
#include "study/table.h"

static uint64_t mix(uint64_t a, uint64_t b) {
    uint64_t both[2] = {a, b};
    return hash_bytes(both, sizeof both);
}

/* The bytes of a file; one that is not there counts as empty. */
static uint64_t hash_file(const char *path) {
    size_t len = 0;
    char *text = access(path, R_OK) ? NULL : io_read(path, &len);
    uint64_t h = hash_bytes(text ? text : "", len);
    free(text);
    return h;
}

/* The simulator: its library, and what it reads besides a run's own files. */
static uint64_t hash_simulator(void) {
    char path[PATH_MAX];
    struct str dir = {0};
    struct diag d = {0};
    struct arena a = {0};
    const char *lib = place_libraries();
    snprintf(path, sizeof path, "%s/libreprise.so", lib ? lib : ".");
    uint64_t h = hash_file(path);
    if (config_find_dir(&dir, &d)) {
        struct file_names names = file_list(&a, str_text(&dir));
        for (uint32_t i = 0; i < names.len; i++) {
            snprintf(path, sizeof path, "%s/%s.yaml", str_text(&dir), names.at[i]);
            h = mix(h, hash_file(path));
        }
    }
    arena_free(&a);
    diag_free(&d);
    str_free(&dir);
    return h;
}

/* Every setting: a configuration may be a file of the user, and inherit from others. */
static uint64_t hash_settings(const char *gpu, const char *const *set) {
    struct gpu_config *config = xcalloc(1, sizeof *config);
    struct diag d = {0};
    struct config_setting s;
    uint64_t h = 0;
    if (config_load(config, gpu, set, NULL, &d))
        for (uint32_t i = 0; config_setting_at(config, i, &s); i++)
            h = mix(mix(h, hash_bytes(s.name, strlen(s.name))), hash_bytes(s.value, strlen(s.value)));
    diag_free(&d);
    free(config);
    return h;
}

char *keep_name(struct keep *k, const char *dir, const struct keep_run *run) {
    char path[PATH_MAX], ptx[PATH_MAX + 16];
    struct str name = {0};
    if (!k->simulator)
        k->simulator = hash_simulator() | 1;
    uint64_t h = mix(k->simulator, hash_settings(run->gpu, run->set));
    if (workload_path(run->workload, path, sizeof path)) {
        snprintf(ptx, sizeof ptx, "%s.%d.ptx", path, run->bits);
        h = mix(mix(h, hash_file(path)), hash_file(ptx));
    }
    for (uint32_t i = 0; i < run->nwords; i++)
        h = mix(h, hash_bytes(run->words[i], strlen(run->words[i])));
    str_printf(&name, "%s/%s-%016" PRIx64 ".json", dir, run->workload->name, h);
    return name.at;
}

json_t *keep_find(const char *path) {
    struct str error = {0};
    json_t *report = access(path, R_OK) ? NULL : results_read(path, &error);
    str_free(&error);
    return report;
}

void keep_report(const char *path, json_t *report) {
    struct str part = {0};
    str_printf(&part, "%s.%d.part", path, (int)getpid());
    if (json_dump_file(report, part.at, JSON_COMPACT) || rename(part.at, path)) {
        fprintf(stderr, "reprise: %s cannot be written: this run will not be kept\n", path);
        unlink(part.at);
    }
    str_free(&part);
}
