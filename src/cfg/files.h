/* Where configurations are kept. */
#ifndef REPRISE_CFG_FILES_H
#define REPRISE_CFG_FILES_H

#include <sys/types.h>

#include "base/diag.h"

/* What tells two files apart; zero for a text that is no file. */
struct file_id {
    dev_t dev;
    ino_t ino;
};

/* Whether name means a file rather than a name in the folder of configurations. */
bool file_is_path(const char *name);
/* Reads the configuration called name: a name in dir, or the path of a file, which is relative to the file
 * from's folder when there is such a file. what: it describes, for messages. Returns NULL, or the message
 * that says why not. */
const char *file_read(struct arena *a, const char *what, const char *name, const char *from, const char *dir,
                      struct diag_source *src, struct file_id *id);

/* The names of the configurations in dir, sorted, in the arena. */
struct file_names {
    char **at;
    uint32_t len;
};
struct file_names file_list(struct arena *a, const char *dir);

#endif
