/* The store as a folder of files: KEY.json is the row of a finished run. */
#include "study/store.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"

struct store {
    char folder[PATH_MAX];
    bool temporary;
    VEC(char *) files; /* of a temporary store, to be removed */
};

/* Makes a folder of its own; false after a message. */
static bool make_temporary(char *folder, size_t size) {
    const char *tmp = getenv("TMPDIR");
    snprintf(folder, size, "%s/reprise-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (mkdtemp(folder))
        return true;
    fprintf(stderr, "reprise: %s: %s\n", folder, strerror(errno));
    return false;
}

struct store *store_open(const char *place) {
    struct store *s = xcalloc(1, sizeof *s);
    s->temporary = !place;
    if (place)
        snprintf(s->folder, sizeof s->folder, "%s", place);
    if (place ? io_make_folder(s->folder) : make_temporary(s->folder, sizeof s->folder))
        return s;
    free(s);
    return NULL;
}

void store_close(struct store *s) {
    for (uint32_t i = 0; i < s->files.len; i++) {
        unlink(s->files.at[i]);
        free(s->files.at[i]);
    }
    vec_free(&s->files);
    if (s->temporary)
        rmdir(s->folder);
    free(s);
}

const char *store_folder(const struct store *s) {
    return s->folder;
}

static char *file_of(const struct store *s, const struct run_key *key) {
    struct str path = {0};
    str_printf(&path, "%s/%s.json", s->folder, key->text);
    return path.at;
}

json_t *store_find(struct store *s, const struct run_key *key) {
    struct str error = {0};
    char *path = file_of(s, key);
    json_t *report = access(path, R_OK) ? NULL : table_read_report(path, &error);
    str_free(&error);
    free(path);
    return report;
}

void store_put(struct store *s, const struct run_key *key, json_t *report) {
    struct str part = {0};
    char *path = file_of(s, key);
    str_printf(&part, "%s.%d.part", path, (int)getpid());
    if (json_dump_file(report, part.at, JSON_COMPACT) || rename(part.at, path)) {
        fprintf(stderr, "reprise: %s cannot be written: this run will not be kept\n", path);
        unlink(part.at);
    } else if (s->temporary) {
        vec_push(&s->files, xstrdup(path));
    }
    free(path);
    str_free(&part);
}
