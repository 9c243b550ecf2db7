/* The store: rows of finished runs, by key.
 *
 * A row is in it from the moment its run has finished, whole or not at all, and stays when the study is
 * interrupted. This interface is all that plans, launchers and figures know of it; behind it are files, one
 * report for each key, in a folder. */
#ifndef REPRISE_STUDY_STORE_H
#define REPRISE_STUDY_STORE_H

#include <jansson.h>

#include "study/key.h"

struct store;

/* Opens the store at a place, which is made if there is none; place NULL: a temporary one, gone when it is
 * closed. NULL after a message. */
struct store *store_open(const char *place);
void store_close(struct store *s);
/* The row of a finished run. */
struct store_row {
    json_t *report;
    char *results; /* the file of declared results (report/results.h), or NULL */
};
/* Finds a row, of which both parts are then the caller's; false when there is none that can be read. */
bool store_find(struct store *s, const struct run_key *key, struct store_row *row);
/* Keeps the row of a run that has finished, in place of one that is there. Its file of results is moved into
 * the store, and row->results becomes where it is. What cannot be kept is said on stderr, and is no error. */
void store_put(struct store *s, const struct run_key *key, struct store_row *row);
/* A folder on the same disk, for what runs write while they run. Those who write there remove it. */
const char *store_folder(const struct store *s);

#endif
