/* Keys of runs. */
#include "study/key.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base/io.h"
#include "study/cpu.h"
#include "study/place.h"

static uint64_t mix(uint64_t a, uint64_t b) {
    uint64_t both[2] = {a, b};
    return hash_bytes(both, sizeof both);
}

static uint64_t mix_text(uint64_t h, const char *text) {
    return mix(h, hash_bytes(text, strlen(text)));
}

/* The bytes of a file; what is no file that can be read counts as an empty one. */
static uint64_t hash_file(const char *path) {
    struct stat s;
    size_t len = 0;
    char *text = !stat(path, &s) && S_ISREG(s.st_mode) ? io_read(path, &len) : NULL;
    uint64_t h = hash_bytes(text ? text : "", len);
    free(text);
    return h;
}

uint64_t key_file(uint64_t h, const char *path) {
    static struct map known;
    static VEC(uint64_t) hashes;
    struct stat s = {0};
    struct str label = {0};
    stat(path, &s);
    str_printf(&label, "%llu.%09ld %llu %llu %s", (unsigned long long)s.st_mtim.tv_sec, s.st_mtim.tv_nsec,
               (unsigned long long)s.st_ino, (unsigned long long)s.st_size, path);
    uintptr_t number = (uintptr_t)map_get(&known, label.at);
    if (!number) {
        vec_push(&hashes, hash_file(path));
        number = hashes.len;
        map_set(&known, xstrdup(label.at), (void *)number);
    }
    str_free(&label);
    return mix(h, hashes.at[number - 1]);
}

/* The simulator; it does not change while a study runs. */
static uint64_t simulator(void) {
    static uint64_t known;
    if (!known) {
        char path[PATH_MAX];
        const char *lib = place_libraries();
        snprintf(path, sizeof path, "%s/libreprise.so", lib ? lib : ".");
        known = key_file(0, path) | 1;
    }
    return known;
}

uint64_t key_machine(const struct rp_gpu *gpu, const char *const *load) {
    struct rp_setting s;
    uint64_t h = 0;
    for (; load && *load; load++)
        h = key_file(h, *load);
    for (uint32_t i = 0; rp_gpu_setting(gpu, i, &s); i++)
        h = mix_text(mix_text(h, s.name), s.value);
    return h;
}

/* A workload: its program, the kernels for the width, and all that decides its input. */
static void add_workload(struct run_key *k, const struct bench *b) {
    char path[PATH_MAX], ptx[PATH_MAX + 16];
    k->program = mix_text(0, b->workload->name);
    if (workload_path(b->workload, path, sizeof path)) {
        snprintf(ptx, sizeof ptx, "%s.%d.ptx", path, b->bits);
        k->program = key_file(key_file(k->program, path), ptx);
    }
    k->input = mix(mix(mix_text(0, b->workload->arguments), b->size), (uint64_t)b->bits);
    for (uint32_t i = 0; i < b->arguments.len; i++)
        k->input = mix_text(k->input, b->arguments.at[i]);
}

/* A program of the user's, with the files that its arguments name, and what it reads. */
static void add_program(struct run_key *k, const struct bench *b) {
    k->program = key_file(mix_text(0, b->program[0]), b->program[0]);
    k->input = 0;
    for (char *const *word = b->program + 1; *word; word++)
        k->input = key_file(mix_text(k->input, *word), *word);
    for (uint32_t i = 0; i < b->results.len; i++)
        k->input = mix_text(k->input, b->results.at[i]);
    if (b->input)
        k->input = key_file(mix_text(k->input, "<"), b->input);
}

/* Names of mechanisms; those from shared objects are named by their paths. */
static uint64_t mix_mechanisms(uint64_t h, const char *mech) {
    for (const char *at = mech; *at; at += *at != 0) {
        size_t len = strcspn(at, "+");
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%.*s", (int)len, at);
        if (strchr(path, '/'))
            h = key_file(h, path);
        at += len;
    }
    return mix_text(h, mech);
}

struct run_key key_of(const struct bench *b, const struct model *m, bool check, uint64_t max_insts) {
    enum { NAME = 40 };
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-_.";
    struct run_key key = {.machine = m->machine, .simulator = simulator()};
    uint64_t h;
    if (m->cpu) {
        key.simulator = key_file(0, "/proc/self/exe");
        cpu_key(b, m, &key.program, &key.input);
        h = mix(mix(mix(key.simulator, key.program), key.input), m->machine);
        h = mix_text(h, m->mech);
    } else {
        if (b->workload)
            add_workload(&key, b);
        else
            add_program(&key, b);
        h = mix(mix(mix(key.simulator, key.program), key.input), m->machine);
        h = mix_text(mix_mechanisms(h, m->mech), str_text(&m->probes));
        h = mix(h, check && strcmp(m->mech, "base")); /* the base machine supplies nothing */
        if (max_insts)
            h = mix(h, max_insts);
    }
    key.hash = h;
    const char *name = b->workload ? b->workload->name : b->label;
    size_t n = 0;
    for (; name[n] && n < NAME; n++)
        key.text[n] = strchr(safe, name[n]) ? name[n] : '_';
    snprintf(key.text + n, sizeof key.text - n, "-%016" PRIx64, h);
    return key;
}
