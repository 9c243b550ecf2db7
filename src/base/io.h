/* Whole files and folders, for commands: what goes wrong is said on stderr.
 *
 * A file is written beside its place, as PATH.PID.part, and renamed when it is whole: a full disk or the end
 * of the process leaves what was there before. A place that is no plain file (/dev/stdout, a pipe) is written
 * itself. */
#ifndef REPRISE_BASE_IO_H
#define REPRISE_BASE_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* A whole file in memory that the caller frees, or NULL after a message. */
char *io_read(const char *path, size_t *len);
/* Writes a whole file; false after a message. */
bool io_write(const char *path, const char *text, size_t len);
/* Makes a folder and those above it; false after a message. */
bool io_make_folder(const char *path);

/* A file that is being written. */
struct io_file {
    FILE *to;
    char *path, *part; /* its place, through links; where it is until it is whole, NULL: in its place */
};
/* Begins a file; false after a message. */
bool io_begin(struct io_file *f, const char *path);
/* Ends it: puts it in its place, if it is whole and all of it could be written; else removes it. false after
 * a message, whose errno is that of the caller when it is not whole. */
bool io_end(struct io_file *f, bool whole);
/* Puts what there is of a file in its place, because the process ends; only the kernel is asked, so that
 * another thread may still be writing. */
void io_keep(const struct io_file *f);
/* Whether a file can be written there, tried before what takes long; false after a message. */
bool io_try(const char *path);

#endif
