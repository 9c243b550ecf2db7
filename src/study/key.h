/* Keys: the name under which a run is stored and found again.
 *
 * It hashes all that decides what a run computes: the simulator's library, which is the version; every
 * parameter of the GPU, the mechanisms and the probes; the program; and its inputs, which are size, width,
 * arguments and the files that these name. Libraries that a user's program is linked with, and files that it
 * opens by itself, are not seen. */
#ifndef REPRISE_STUDY_KEY_H
#define REPRISE_STUDY_KEY_H

#include "reprise.h"
#include "study/table.h"

struct run_key {
    uint64_t hash;
    uint64_t simulator, machine, program, input; /* what it is made of, each hashed by itself */
    char text[64];                               /* what ran and the hash, fit for the name of a file */
};

/* Mixes the bytes of a file into a hash; what is no file that can be read counts as an empty one. Many runs
 * have a program or an input in common: what has been read and has not changed is not read again. */
uint64_t key_file(uint64_t h, const char *path);
/* What tells a machine from others: a hash of its parameters, and of the shared objects whose mechanisms it
 * knows. */
uint64_t key_machine(const struct rp_gpu *gpu, const char *const *load);
/* The key of a benchmark on a model of a complete plan; check: values that mechanisms supply are compared. */
struct run_key key_of(const struct bench *b, const struct model *m, bool check, uint64_t max_insts);

#endif
