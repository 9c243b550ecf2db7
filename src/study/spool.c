/* The spool: finished runs as files, left by processes on machines that share the folder, but had better not
 * share the database: locks of network file systems are not what SQLite needs. NAME-HASH.json is there when
 * it is whole, and NAME-HASH.results before it. */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "study/command.h"
#include "study/store_db.h"

static char *name_of(const char *folder, const char *key, const char *suffix) {
    struct str path = {0};
    str_printf(&path, "%s/%s.%s", folder, key, suffix);
    return path.at;
}

bool store_spool(const char *folder, const struct run_key *key, const store_manifest *m, const char *model,
                 json_t *report, const char *results, const char *message) {
    char *kept = name_of(folder, key->text, "results"), *path = name_of(folder, key->text, "json");
    json_t *all =
        json_pack("{s:o, s:o*, s:o, s:O*}", "manifest", json_deep_copy(m), "message",
                  message ? command_text(message) : NULL, "model", command_text(model), "report", report);
    char *text = all ? json_dumps(all, JSON_COMPACT) : NULL;
    bool ok = text && (!results || !rename(results, kept)) && io_write(path, text, strlen(text));
    free(text);
    json_decref(all);
    free(kept);
    free(path);
    return ok;
}

/* Puts one file into the database; whether that was done. */
static bool absorb_one(struct store *s, const char *folder, const char *name) {
    struct run_key key = {0};
    const char *dash = strrchr(name, '-');
    snprintf(key.text, sizeof key.text, "%.*s", (int)(strlen(name) - strlen(".json")), name);
    key.hash = dash ? strtoull(dash + 1, NULL, 16) : 0;
    char *path = name_of(folder, key.text, "json"), *results = name_of(folder, key.text, "results");
    json_t *all = json_load_file(path, 0, NULL), *m = json_object_get(all, "manifest"),
           *report = json_object_get(all, "report");
    const char *message = json_string_value(json_object_get(all, "message")),
               *model = json_string_value(json_object_get(all, "model"));
    bool ok = key.hash && json_is_object(m);
    if (!ok)
        fprintf(stderr, "reprise: %s is no finished run, and is left alone\n", path);
    else if (report)
        ok = store_put(s, &key, m, report, access(results, R_OK) ? NULL : results);
    else
        store_fail(s, &key, m, model ? model : "", message ? message : "");
    if (ok)
        unlink(path);
    json_decref(all);
    free(path);
    free(results);
    return ok;
}

uint32_t store_absorb(struct store *s) {
    static const struct run_key everyone = {.hash = UINT64_MAX}; /* one process at a time does this */
    static const char suffix[] = ".json";
    uint32_t n = 0;
    if (!store_claim(s, &everyone))
        return 0;
    char *folder = store_file(s, "spool", "");
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));) {
        size_t len = strlen(e->d_name);
        if (len > strlen(suffix) && !strcmp(e->d_name + len - strlen(suffix), suffix))
            n += absorb_one(s, folder, e->d_name);
    }
    if (d)
        closedir(d);
    free(folder);
    store_release(s, &everyone);
    return n;
}
