/* The store as a folder of files: KEY.json is the report of a finished run, and KEY.results, which comes
 * before it, are its declared results. */
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

static char *file_of(const struct store *s, const struct run_key *key, const char *suffix) {
    struct str path = {0};
    str_printf(&path, "%s/%s.%s", s->folder, key->text, suffix);
    return path.at;
}

bool store_find(struct store *s, const struct run_key *key, struct store_row *row) {
    struct str error = {0};
    char *path = file_of(s, key, "json");
    *row = (struct store_row){.report = access(path, R_OK) ? NULL : table_read_report(path, &error)};
    free(path);
    str_free(&error);
    if (!row->report)
        return false;
    row->results = file_of(s, key, "results");
    if (access(row->results, R_OK)) {
        free(row->results);
        row->results = NULL;
    }
    return true;
}

/* Gives a file its name in the store; false when that cannot be done. */
static bool keep(struct store *s, const char *from, char *to) {
    if (rename(from, to)) {
        unlink(from);
        return false;
    }
    if (s->temporary)
        vec_push(&s->files, xstrdup(to));
    return true;
}

void store_put(struct store *s, const struct run_key *key, struct store_row *row) {
    char *path = file_of(s, key, "json"), *results = file_of(s, key, "results");
    bool ok = !row->results || keep(s, row->results, results);
    if (row->results) {
        free(row->results);
        row->results = ok ? xstrdup(results) : NULL;
    }
    struct io_file f;
    ok = ok && io_begin(&f, path);
    ok = ok && io_end(&f, !json_dumpf(row->report, f.to, JSON_COMPACT));
    if (!ok)
        fprintf(stderr, "reprise: %s: this run will not be kept\n", path);
    else if (s->temporary)
        vec_push(&s->files, xstrdup(path));
    free(path);
    free(results);
}
