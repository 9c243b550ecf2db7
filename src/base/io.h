/* Whole files and folders, for commands: what goes wrong is said on stderr. */
#ifndef REPRISE_BASE_IO_H
#define REPRISE_BASE_IO_H

#include <stdbool.h>
#include <stddef.h>

/* A whole file in memory that the caller frees, or NULL after a message. */
char *io_read(const char *path, size_t *len);
/* Writes a whole file; false after a message. */
bool io_write(const char *path, const char *text, size_t len);
/* Makes a folder and those above it; false after a message. */
bool io_make_folder(const char *path);

#endif
