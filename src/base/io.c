/* Whole files and folders. */
#include "base/io.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vec.h"

char *io_read(const char *path, size_t *len) {
    FILE *f = fopen(path, "rb");
    if (!f) {
        fprintf(stderr, "reprise: %s: %s\n", path, strerror(errno));
        return NULL;
    }
    struct str s = {0};
    char buf[65536];
    size_t n;
    while ((n = fread(buf, 1, sizeof buf, f)) > 0)
        str_add(&s, buf, n);
    bool bad = ferror(f);
    fclose(f);
    if (bad) {
        fprintf(stderr, "reprise: %s: cannot be read\n", path);
        str_free(&s);
        return NULL;
    }
    *len = s.len;
    return s.at ? s.at : xstrdup("");
}

static bool complain(const char *path) {
    fprintf(stderr, "reprise: %s cannot be written: %s\n", path, strerror(errno));
    return false;
}

bool io_begin(struct io_file *f, const char *path) {
    struct stat s;
    bool exists = !stat(path, &s);
    char *real = exists ? realpath(path, NULL) : NULL; /* what a link names is replaced, not the link */
    *f = (struct io_file){.path = xstrdup(real ? real : path)};
    free(real);
    if (!exists || S_ISREG(s.st_mode)) {
        struct str part = {0};
        str_printf(&part, "%s.%d.part", f->path, (int)getpid());
        f->part = part.at;
    }
    bool may = !exists || !access(f->path, W_OK); /* renaming would not ask */
    f->to = may ? fopen(f->part ? f->part : f->path, "wbe") : NULL;
    if (f->to && f->part && exists)
        fchmod(fileno(f->to), s.st_mode & 07777);
    if (f->to)
        return true;
    complain(path);
    free(f->part);
    free(f->path);
    return false;
}

bool io_end(struct io_file *f, bool whole) {
    int error = whole ? 0 : errno;
    if (fclose(f->to) && !error)
        error = errno;
    if (!error && whole && f->part && rename(f->part, f->path))
        error = errno;
    bool ok = whole && !error;
    if (!ok && f->part)
        unlink(f->part);
    errno = error;
    if (!ok)
        complain(f->path);
    free(f->part);
    free(f->path);
    return ok;
}

void io_keep(const struct io_file *f) {
    if (f->part)
        rename(f->part, f->path);
}

bool io_write(const char *path, const char *text, size_t len) {
    struct io_file f;
    return io_begin(&f, path) && io_end(&f, fwrite(text, 1, len, f.to) == len);
}

bool io_try(const char *path) {
    struct io_file f;
    if (!io_begin(&f, path))
        return false;
    fclose(f.to);
    if (f.part)
        unlink(f.part);
    free(f.part);
    free(f.path);
    return true;
}

bool io_make_folder(const char *path) {
    char *part = xstrdup(path);
    bool ok = true;
    for (char *p = part; ok && *p; p++)
        if (p != part && *p == '/') {
            *p = 0;
            ok = !mkdir(part, 0777) || errno == EEXIST;
            *p = '/';
        }
    ok = ok && (!mkdir(path, 0777) || errno == EEXIST);
    if (!ok)
        fprintf(stderr, "reprise: %s: %s\n", path, strerror(errno));
    free(part);
    return ok;
}
