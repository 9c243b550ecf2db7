/* The store: finished runs, by key.
 *
 * A run is in it from the moment it has finished, whole or not at all, and stays when the study is
 * interrupted. Several processes may use one store at the same time. It is a folder: runs.db is a database
 * of SQLite, whose tables docs/results.md describes; results/ has declared results, parts/ what runs write
 * while they run, spool/ runs that finished where the database could not be reached, and the bytes of lock
 * stand for runs that are being done. */
#ifndef REPRISE_STUDY_STORE_H
#define REPRISE_STUDY_STORE_H

#include <jansson.h>

#include "study/key.h"

struct store;

enum store_use {
    STORE_MAKE, /* make it if there is none */
    STORE_READ, /* it must be there; nothing will be written */
};

/* Opens the store at a place; place NULL: a temporary one, gone when it is closed. NULL after a message. */
struct store *store_open(const char *place, enum store_use use);
/* Opens the store that the user means: place, or when that is NULL the usual one, see docs/results.md; where
 * the usual one cannot be had, a temporary one, after a message. NULL after a message. */
struct store *store_open_usual(const char *place);
/* Where the usual store is, in a text that stays until the next call; NULL: nobody knows. */
const char *store_usual(void);
void store_close(struct store *s);
/* The path of its database. */
const char *store_path(const struct store *s);
/* The name of a file in one of its folders, which the caller frees. */
char *store_file(const struct store *s, const char *folder, const char *name);

/* What is known of a run besides its report: a JSON object with the columns of table run that docs/results.md
 * lists from benchmark to command. */
typedef json_t store_manifest;

/* A run that finished. */
struct store_row {
    json_t *report; /* machine, settings, totals, manifest; of launches names and digests */
    char *results;  /* the file of declared results (report/results.h), or NULL */
};
/* Whether a run has finished, and, where they are wanted, its results are there. */
bool store_has(struct store *s, const struct run_key *key, bool results);
/* Finds a run, both parts of which are then the caller's; false when it has not finished. */
bool store_find(struct store *s, const struct run_key *key, struct store_row *row);
/* Keeps a run that has finished, in place of one that is there, with its file of results, which is moved into
 * the store, or NULL. The report is all that the run wrote. false after a message. */
bool store_put(struct store *s, const struct run_key *key, const store_manifest *m, json_t *report,
               const char *results);
/* Notes that a run failed. */
void store_fail(struct store *s, const struct run_key *key, const store_manifest *m, const char *model,
                const char *message);
/* The last failure of a run that has not succeeded since: message and command, which the caller frees, and
 * how often it failed; 0 when there is none. */
uint32_t store_failure(struct store *s, const struct run_key *key, char **message, char **command);
/* Notes how a run compares with one on the base machine: what is wrong (NULL: nothing), and the error of its
 * results as an object of numbers (NULL: it does not approximate). */
void store_compare(struct store *s, const struct run_key *key, const struct run_key *base, const char *wrong,
                   json_t *error);
/* Whether that has been noted: 1 nothing is wrong, -1 something is, and the caller frees the message; 0 not.
 */
int store_verdict(struct store *s, const struct run_key *key, const struct run_key *base, char **message);
/* Seconds that a run of a benchmark took on average, going by the most similar runs there are: on the same
 * mechanisms at this size, on any, at any size, of any benchmark; NAN when there are no runs. */
double store_seconds(struct store *s, const char *benchmark, const char *size, const char *mech);

/* Claims a run for this process, until it is released or the process ends; false when another process is at
 * it. */
bool store_claim(struct store *s, const struct run_key *key);
void store_release(struct store *s, const struct run_key *key);

/* Leaves a finished run in the spool, for others to put into the database; false after a message. What is
 * wrong with a run that failed is said in message, else NULL. */
bool store_spool(const char *folder, const struct run_key *key, const store_manifest *m, const char *model,
                 json_t *report, const char *results, const char *message);
/* Puts into the database what is in the spool; how many runs that were. */
uint32_t store_absorb(struct store *s);

/* The connection, for those who ask questions of their own. */
struct sqlite3 *store_db(const struct store *s);

#endif
