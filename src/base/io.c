/* Whole files and folders. */
#include "base/io.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

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

bool io_write(const char *path, const char *text, size_t len) {
    FILE *f = fopen(path, "wb");
    bool ok = f && fwrite(text, 1, len, f) == len;
    ok = f && !fclose(f) && ok;
    if (!ok)
        fprintf(stderr, "reprise: %s: %s\n", path, strerror(errno));
    return ok;
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
