/* Finds and reads configuration files. */
#include "cfg/files.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cfg/config.h"

#define SUFFIX ".yaml"
#define KNOWN  "h200" /* a configuration that our folder has, by which it is known */

enum { MAX_BYTES = 1 << 20 };

/* Where configurations may lie, seen from the folder of the library or command: in the source tree, whose
 * build folder may be one or two levels deep, and as installed. */
static const char *const places[] = {
    "configs",
    "../configs",
    "../../configs",
    "../../../configs",
    "../share/reprise/configs",
    "../../share/reprise/configs",
};

/* ---- names ------------------------------------------------------------------------------------------ */

static bool ends_in_suffix(const char *s) {
    size_t n = strlen(s), m = strlen(SUFFIX);
    return n > m && !strcmp(s + n - m, SUFFIX);
}

bool file_is_path(const char *name) {
    return strchr(name, '/') || ends_in_suffix(name);
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

struct file_names file_list(struct arena *a, const char *dir) {
    VEC(char *) found = {0};
    DIR *d = dir ? opendir(dir) : NULL;
    for (struct dirent *e; d && (e = readdir(d));)
        if (ends_in_suffix(e->d_name) && e->d_name[0] != '.')
            vec_push(&found, arena_strndup(a, e->d_name, strlen(e->d_name) - strlen(SUFFIX)));
    if (d)
        closedir(d);
    struct file_names names = {arena_array(a, char *, found.len + 1), found.len};
    if (found.len) {
        qsort(found.at, found.len, sizeof *found.at, by_name);
        memcpy(names.at, found.at, found.len * sizeof *found.at);
    }
    vec_free(&found);
    return names;
}

static const char *next_name(void *ctx, uint32_t i) {
    const struct file_names *n = ctx;
    return i < n->len ? n->at[i] : NULL;
}

/* The message for a name that dir does not have. */
static const char *unknown(struct arena *a, const char *what, const char *name, const char *dir) {
    if (!dir)
        return arena_printf(a, "no %s '%s': the folder of configurations was not found; set REPRISE_CONFIGS",
                            what, name);
    struct file_names names = file_list(a, dir);
    const char *near = diag_nearest(name, strlen(name), next_name, &names);
    if (near)
        return arena_printf(a, "no %s is called '%s'; did you mean '%s'?", what, name, near);
    char *known = "";
    for (uint32_t i = 0; i < names.len; i++)
        known = arena_printf(a, "%s%s%s", known, i ? ", " : "", names.at[i]);
    return arena_printf(a, "no %s is called '%s'; %s has: %s", what, name, dir, *known ? known : "nothing");
}

/* ---- reading ---------------------------------------------------------------------------------------- */

/* The path of the file a name stands for. */
static const char *resolve(struct arena *a, const char *name, const char *from, const char *dir) {
    if (!file_is_path(name))
        return arena_printf(a, "%s/%s" SUFFIX, dir ? dir : ".", name);
    const char *slash = from ? strrchr(from, '/') : NULL;
    if (name[0] == '/' || !slash)
        return arena_strndup(a, name, strlen(name));
    return arena_printf(a, "%.*s/%s", (int)(slash - from), from, name);
}

static const char *read_open_file(struct arena *a, int fd, const char *path, struct diag_source *src,
                                  struct file_id *id) {
    struct stat st;
    if (fstat(fd, &st))
        return arena_printf(a, "cannot read '%s': %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return arena_printf(a, "cannot read '%s': not a file", path);
    if (st.st_size > MAX_BYTES)
        return arena_printf(a, "cannot read '%s': too large for a configuration", path);
    *id = (struct file_id){st.st_dev, st.st_ino};
    char *text = arena_alloc(a, (size_t)st.st_size + 1);
    size_t len = 0;
    for (ssize_t n; len < (size_t)st.st_size; len += (size_t)n) {
        n = read(fd, text + len, (size_t)st.st_size - len);
        if (n < 0)
            return arena_printf(a, "cannot read '%s': %s", path, strerror(errno));
        if (n == 0)
            break;
    }
    *src = (struct diag_source){.name = path, .text = text, .len = len};
    return NULL;
}

const char *file_read(struct arena *a, const char *what, const char *name, const char *from, const char *dir,
                      struct diag_source *src, struct file_id *id) {
    if (!*name)
        return arena_printf(a, "the name of a %s is empty", what);
    if (!file_is_path(name) && !dir)
        return unknown(a, what, name, dir);
    const char *path = resolve(a, name, from, dir);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a named pipe must not make us wait */
    if (fd < 0)
        return errno == ENOENT && !file_is_path(name)
                   ? unknown(a, what, name, dir)
                   : arena_printf(a, "cannot read '%s': %s", path, strerror(errno));
    const char *message = read_open_file(a, fd, path, src, id);
    close(fd);
    return message;
}

/* ---- the folder ------------------------------------------------------------------------------------- */

/* Whether dir is our folder of configurations, not just one called so. */
static bool is_config_dir(const char *dir) {
    struct arena a = {0};
    bool yes = !access(arena_printf(&a, "%s/" KNOWN SUFFIX, dir), R_OK);
    arena_free(&a);
    return yes;
}

/* Looks in places[] from the folder of the file at path. */
static bool find_beside(const char *path, struct str *out) {
    char real[PATH_MAX], found[PATH_MAX];
    if (!path || !realpath(path, real))
        return false;
    *strrchr(real, '/') = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        struct str dir = {0};
        str_printf(&dir, "%s/%s", real, places[i]);
        bool ok = is_config_dir(dir.at) && realpath(dir.at, found);
        str_free(&dir);
        if (ok) {
            str_add(out, found, strlen(found));
            return true;
        }
    }
    return false;
}

bool config_find_dir(struct str *out, struct diag *d) {
    const char *env = getenv("REPRISE_CONFIGS");
    if (env && *env) {
        struct stat st; /* a user's own folder need not have that one */
        if (stat(env, &st) || !S_ISDIR(st.st_mode)) {
            diag_add(d, DIAG_ERROR, "REPRISE_CONFIGS: '%s' is not a folder", env);
            return false;
        }
        str_add(out, env, strlen(env));
        return true;
    }
    Dl_info self;
    if (dladdr((void *)(uintptr_t)config_find_dir, &self) && find_beside(self.dli_fname, out))
        return true;
    if (find_beside("/proc/self/exe", out))
        return true;
#ifdef CONFIG_DIR
    if (is_config_dir(CONFIG_DIR)) {
        str_add(out, CONFIG_DIR, strlen(CONFIG_DIR));
        return true;
    }
#endif
    diag_add(d, DIAG_ERROR, "the folder of configurations was not found; set REPRISE_CONFIGS to it");
    return false;
}
