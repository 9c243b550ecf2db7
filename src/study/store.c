/* The store as a folder: opening it, claiming runs, the usual place. */
#include "study/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "study/store_db.h"

/* How long a process waits for others that write, in milliseconds. A row takes some milliseconds. */
enum { PATIENCE = 120000 };

/* ---- names ---- */

static char *join(const char *folder, const char *name) {
    struct str path = {0};
    str_printf(&path, "%s/%s", folder, name);
    return path.at;
}

char *store_file(const struct store *s, const char *folder, const char *name) {
    struct str path = {0};
    str_printf(&path, "%s/%s/%s", s->folder, folder, name);
    return path.at;
}

char *store_results(const struct store *s, const char *key) {
    struct str name = {0};
    str_printf(&name, "%s.results", key);
    char *path = store_file(s, "results", name.at);
    str_free(&name);
    return path;
}

const char *store_path(const struct store *s) {
    return s->path;
}

struct sqlite3 *store_db(const struct store *s) {
    return s->db;
}

const char *store_usual(void) {
    static char path[PATH_MAX];
    const char *own = getenv("REPRISE_STORE"), *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    if (own && *own)
        snprintf(path, sizeof path, "%s", own);
    else if (data && *data == '/')
        snprintf(path, sizeof path, "%s/reprise", data);
    else if (home && *home)
        snprintf(path, sizeof path, "%s/.local/share/reprise", home);
    else
        return NULL;
    return path;
}

/* ---- opening ---- */

/* Makes a folder of its own; NULL after a message. */
static char *make_temporary(void) {
    const char *tmp = getenv("TMPDIR");
    char *folder = join(tmp && *tmp ? tmp : "/tmp", "reprise-XXXXXX");
    if (mkdtemp(folder))
        return folder;
    fprintf(stderr, "reprise: %s: %s\n", folder, strerror(errno));
    free(folder);
    return NULL;
}

static bool make_folders(const struct store *s) {
    static const char *const names[] = {"results", "parts", "spool"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char *path = join(s->folder, names[i]);
        bool ok = io_make_folder(path);
        free(path);
        if (!ok)
            return false;
    }
    return true;
}

void store_complain(const struct store *s) {
    fprintf(stderr, "reprise: %s: %s\n", s->path, sqlite3_errmsg(s->db));
}

static bool open_database(struct store *s, enum store_use use) {
    int how = use == STORE_READ ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    /* A reader may have to bring an older format up to date, or to undo what a killed process began. */
    if (use == STORE_READ && !access(s->path, W_OK) && !access(s->folder, W_OK))
        how = SQLITE_OPEN_READWRITE;
    if (sqlite3_open_v2(s->path, &s->db, how, NULL) != SQLITE_OK) {
        store_complain(s);
        return false;
    }
    sqlite3_busy_timeout(s->db, PATIENCE);
    return store_schema(s->db, s->path, how != SQLITE_OPEN_READONLY) &&
           sqlite3_exec(s->db, "PRAGMA foreign_keys = ON", NULL, NULL, NULL) == SQLITE_OK;
}

/* Removes what killed processes were writing: parts of runs that nobody is at. */
static void remove_leavings(struct store *s) {
    char *folder = join(s->folder, "parts");
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));) {
        const char *dash = strrchr(e->d_name, '-'); /* NAME-HASH.WHAT.part */
        struct run_key key = {.hash = dash ? strtoull(dash + 1, NULL, 16) : 0};
        if (!key.hash || !store_claim(s, &key))
            continue;
        char *path = join(folder, e->d_name);
        unlink(path);
        free(path);
        store_release(s, &key);
    }
    if (d)
        closedir(d);
    free(folder);
}

static bool open_lock(struct store *s) {
    char *path = join(s->folder, "lock");
    s->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (s->lock < 0)
        fprintf(stderr, "reprise: %s: %s\n", path, strerror(errno));
    free(path);
    return s->lock >= 0;
}

struct store *store_open(const char *place, enum store_use use) {
    struct store *s = xcalloc(1, sizeof *s);
    struct stat there;
    s->lock = -1;
    s->temporary = !place;
    s->folder = place ? xstrdup(place) : make_temporary();
    if (!s->folder) {
        free(s);
        return NULL;
    }
    s->path = join(s->folder, "runs.db");
    bool ok;
    if (use == STORE_READ) {
        ok = !stat(s->path, &there);
        if (!ok)
            fprintf(
                stderr,
                "reprise: there is no store at %s; reprise compare, repro and sweep make one, and --store "
                "names another\n",
                s->folder);
    } else {
        ok = io_make_folder(s->folder) && make_folders(s) && open_lock(s);
    }
    ok = ok && open_database(s, use);
    if (!ok) {
        store_close(s);
        return NULL;
    }
    if (use == STORE_MAKE) {
        remove_leavings(s);
        store_absorb(s);
    }
    return s;
}

struct store *store_open_usual(const char *place) {
    const char *usual = place ? place : store_usual();
    struct store *s = usual ? store_open(usual, STORE_MAKE) : NULL;
    if (s || place)
        return s;
    fprintf(stderr, "reprise: %s%s: runs are not kept; name a store with --store\n",
            usual ? "no store can be had at " : "there is no home to keep a store in", usual ? usual : "");
    return store_open(NULL, STORE_MAKE);
}

static int remove_one(const char *path, const struct stat *s, int kind, struct FTW *at) {
    (void)s;
    (void)kind;
    (void)at;
    return remove(path);
}

void store_close(struct store *s) {
    for (uint32_t i = 0; i < s->counters.len; i++)
        free((char *)s->counters.entries[i].key);
    map_free(&s->counters);
    sqlite3_close(s->db);
    if (s->lock >= 0)
        close(s->lock);
    if (s->temporary)
        nftw(s->folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    free(s->folder);
    free(s->path);
    free(s);
}

/* ---- claims ---- */

/* A run that is being done is a locked byte of a file, at its hash. The lock belongs to our opening of the
 * file, which children do not keep, so it is gone with the process, however that ends. */
static bool lock_byte(const struct store *s, const struct run_key *key, short type) {
    struct flock lock = {
        .l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)(key->hash >> 1), .l_len = 1};
    return s->lock < 0 || !fcntl(s->lock, F_OFD_SETLK, &lock) ||
           (errno != EAGAIN && errno != EACCES); /* a file system without locks: nothing to share work by */
}

bool store_claim(struct store *s, const struct run_key *key) {
    return lock_byte(s, key, F_WRLCK);
}

void store_release(struct store *s, const struct run_key *key) {
    lock_byte(s, key, F_UNLCK);
}
