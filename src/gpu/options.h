/* Options of a run from the environment: how the command speaks to the libraries. */
#ifndef REPRISE_GPU_OPTIONS_H
#define REPRISE_GPU_OPTIONS_H

#include "reprise.h"

struct options {
    struct rp_options rp;
    char *set_text, *load_text; /* what rp.set and rp.load point into */
    struct rp_trace trace;      /* path NULL: none is wanted */
    int error_exitcode;         /* how a program ends in which tools found errors; 0: as it would */
};

/* Reads REPRISE_GPU, REPRISE_SET and REPRISE_LOAD (one per line), REPRISE_FUNCTIONAL and the rest of the
 * table in options.c. A value that makes no sense is named on stderr and ignored. */
void options_read(struct options *o);
void options_free(struct options *o);
/* The shared objects of REPRISE_LOAD, NULL-terminated. Text and list are to be freed. */
const char **options_load(char **text);

/* Reads "A:B", "A:", ":B" or "A", which is A:A; false if it is nothing of that kind. */
bool options_range(const char *text, uint64_t *first, uint64_t *last);

#endif
