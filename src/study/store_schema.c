/* The tables of the store, and how older formats become the present one. docs/results.md says what columns
 * mean. */
#include <stdio.h>

#include "study/store_db.h"

/* Each step brings a store from the format of its number to the next. Steps are never changed once a release
 * has them, only added. */
static const char *const steps[] = {
    /* 0, an empty database, to 1 */
    "CREATE TABLE machine(id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, kind TEXT NOT NULL,"
    "  name TEXT NOT NULL, settings TEXT NOT NULL);"
    "CREATE TABLE run(id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE,"
    "  benchmark TEXT NOT NULL, workload INTEGER NOT NULL, size TEXT, bits INTEGER, seed INTEGER,"
    "  arguments TEXT NOT NULL, gpu TEXT NOT NULL, machine INTEGER NOT NULL REFERENCES machine(id), mech "
    "TEXT NOT NULL,"
    "  probes TEXT NOT NULL, settings TEXT NOT NULL, approximate INTEGER NOT NULL, checked INTEGER NOT NULL,"
    "  max_insts INTEGER, timed TEXT, digest TEXT, results INTEGER NOT NULL, version TEXT NOT NULL,"
    "  simulator TEXT NOT NULL, program_hash TEXT NOT NULL, input_hash TEXT NOT NULL,"
    "  machine_hash TEXT NOT NULL, host TEXT NOT NULL, started TEXT NOT NULL, wall_s REAL NOT NULL,"
    "  peak_rss_mb REAL, command TEXT NOT NULL);"
    "CREATE INDEX run_benchmark ON run(benchmark, mech, size);"
    "CREATE INDEX run_mech ON run(mech);"
    "CREATE INDEX run_machine ON run(machine);"
    "CREATE INDEX run_started ON run(started);"
    "CREATE TABLE counter(id INTEGER PRIMARY KEY, part TEXT NOT NULL, name TEXT NOT NULL,"
    "  unit TEXT NOT NULL, meaning TEXT NOT NULL, UNIQUE(part, name));"
    "CREATE TABLE value(run INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,"
    "  counter INTEGER NOT NULL REFERENCES counter(id), value NOT NULL, PRIMARY KEY(run, counter))"
    "  WITHOUT ROWID;"
    "CREATE TABLE kernel(run INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,"
    "  number INTEGER NOT NULL, name TEXT NOT NULL, demangled TEXT, grid TEXT, block TEXT, timed TEXT,"
    "  cycles INTEGER, insts INTEGER, thread_insts INTEGER, energy REAL, digest TEXT,"
    "  PRIMARY KEY(run, number)) WITHOUT ROWID;"
    "CREATE TABLE comparison(run INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,"
    "  base INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE, verdict TEXT NOT NULL, message TEXT,"
    "  PRIMARY KEY(run, base)) WITHOUT ROWID;"
    "CREATE INDEX comparison_base ON comparison(base);"
    "CREATE TABLE error(run INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,"
    "  base INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE, name TEXT NOT NULL, value NOT NULL,"
    "  PRIMARY KEY(run, base, name)) WITHOUT ROWID;"
    "CREATE INDEX error_base ON error(base);"
    "CREATE TABLE failure(key TEXT PRIMARY KEY, benchmark TEXT NOT NULL, model TEXT NOT NULL,"
    "  message TEXT NOT NULL, command TEXT NOT NULL, attempts INTEGER NOT NULL, ended TEXT NOT NULL);"
    "CREATE VIEW runs AS SELECT run.*, machine.name AS device,"
    "  (SELECT value FROM value WHERE value.run = run.id AND counter ="
    "    (SELECT id FROM counter WHERE part = 'total' AND name = 'cycles')) AS cycles,"
    "  coalesce((SELECT value FROM value WHERE value.run = run.id AND counter ="
    "    (SELECT id FROM counter WHERE part = 'total' AND name = 'warp_insts')),"
    "    (SELECT value FROM value WHERE value.run = run.id AND counter ="
    "    (SELECT id FROM counter WHERE part = 'total' AND name = 'insts'))) AS insts,"
    "  (SELECT value FROM value WHERE value.run = run.id AND counter ="
    "    (SELECT id FROM counter WHERE part = 'total' AND name = 'ipc')) AS ipc,"
    "  (SELECT value FROM value WHERE value.run = run.id AND counter ="
    "    (SELECT id FROM counter WHERE part = 'energy' AND name = 'total')) AS energy"
    "  FROM run JOIN machine ON machine.id = run.machine;"
    "CREATE VIEW tidy AS SELECT run.key, run.benchmark, run.size, run.bits, run.seed, run.gpu,"
    "  run.mech, counter.part, counter.name, counter.unit, value.value"
    "  FROM run JOIN value ON value.run = run.id"
    "  JOIN counter ON counter.id = value.counter;",
    /* 1 to 2: what one simulator gave is found quickly among what others did */
    "CREATE INDEX run_simulator ON run(simulator, started);",
    /* 2 to 3: counters of each launch */
    "CREATE TABLE kernel_value(run INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,"
    "  kernel INTEGER NOT NULL, counter INTEGER NOT NULL REFERENCES counter(id), value NOT NULL,"
    "  PRIMARY KEY(run, kernel, counter)) WITHOUT ROWID;"
    "CREATE VIEW kernels AS SELECT run.key, run.benchmark, run.size, run.bits, run.seed, run.gpu, run.mech,"
    "  run.settings, run.probes, kernel.* FROM run JOIN kernel ON kernel.run = run.id;"
    "CREATE VIEW tidy_kernels AS SELECT run.key, run.benchmark, run.size, run.bits, run.seed, run.gpu,"
    "  run.mech, kernel.number, kernel.name AS kernel, counter.part, counter.name, counter.unit,"
    "  kernel_value.value FROM run JOIN kernel ON kernel.run = run.id"
    "  JOIN kernel_value ON kernel_value.run = run.id AND kernel_value.kernel = kernel.number"
    "  JOIN counter ON counter.id = kernel_value.counter;",
};
enum { FORMAT = sizeof steps / sizeof steps[0], APPLICATION = 0x52505253 }; /* "RPRS" */

static bool number_of(struct sqlite3 *db, const char *pragma, int *value) {
    sqlite3_stmt *q;
    bool ok = sqlite3_prepare_v2(db, pragma, -1, &q, NULL) == SQLITE_OK && sqlite3_step(q) == SQLITE_ROW;
    if (ok)
        *value = sqlite3_column_int(q, 0);
    sqlite3_finalize(q);
    return ok;
}

/* Reads the format, and whether the tables are another program's, all as of one moment. */
static bool look(struct sqlite3 *db, int *format, bool *foreign) {
    int application = 0, tables = 0;
    bool ok = sqlite3_exec(db, "BEGIN", NULL, NULL, NULL) == SQLITE_OK &&
              number_of(db, "SELECT count(*) FROM sqlite_master", &tables) &&
              number_of(db, "PRAGMA user_version", format) &&
              number_of(db, "PRAGMA application_id", &application);
    *foreign = application != APPLICATION && (*format || tables);
    return ok && sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK;
}

bool store_schema(struct sqlite3 *db, const char *path, bool may_write) {
    int format = 0;
    bool foreign;
    if (!look(db, &format, &foreign)) {
        fprintf(stderr, "reprise: %s: %s; move it away, or name another store with --store\n", path,
                sqlite3_errmsg(db));
        return false;
    }
    if (foreign) {
        fprintf(stderr, "reprise: %s is a database of another program; name another store with --store\n",
                path);
        return false;
    }
    if (format > FORMAT) {
        fprintf(stderr,
                "reprise: %s has format %d, and this version of Reprise knows up to %d; use a newer one, or "
                "name another store with --store\n",
                path, format, FORMAT);
        return false;
    }
    if (format == FORMAT)
        return true;
    if (!may_write) {
        fprintf(stderr, "reprise: %s has the older format %d and cannot be written to bring it up to date\n",
                path, format);
        return false;
    }
    /* Another process may do the same at this moment: what is to be done is seen again once nobody else
     * writes. */
    bool ok = sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK &&
              number_of(db, "PRAGMA user_version", &format);
    for (; ok && format < FORMAT; format++)
        ok = sqlite3_exec(db, steps[format], NULL, NULL, NULL) == SQLITE_OK;
    char end[96];
    snprintf(end, sizeof end, "PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT", APPLICATION,
             FORMAT);
    ok = ok && sqlite3_exec(db, end, NULL, NULL, NULL) == SQLITE_OK;
    if (!ok) {
        fprintf(stderr, "reprise: %s: %s\n", path, sqlite3_errmsg(db));
        sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    }
    return ok;
}
