/* The store's own: what its files share. */
#ifndef REPRISE_STUDY_STORE_DB_H
#define REPRISE_STUDY_STORE_DB_H

#include <sqlite3.h>

#include "base/map.h"
#include "study/store.h"

struct store {
    char *folder, *path; /* of the database */
    bool temporary;
    sqlite3 *db;
    int lock;            /* a file whose bytes are locked, one for each run that is being done; -1: none */
    struct map counters; /* from part and name, which the map owns, to numbers of rows */
};

/* Makes the tables of a database, or brings an older format up to date; false after a message. */
bool store_schema(struct sqlite3 *db, const char *path, bool may_write);
/* Prepares a statement; NULL after a message. */
sqlite3_stmt *store_prepare(const struct store *s, const char *sql);
/* Says what went wrong with the database. */
void store_complain(const struct store *s);
/* Where the declared results of a run are kept; the caller frees it. */
char *store_results(const struct store *s, const char *key);

#endif
