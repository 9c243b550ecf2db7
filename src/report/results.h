/* The declared results of a program: arrays that count as what it computed, in a file.
 *
 * Bundled workloads write such a file themselves, with all that they compare with their references. For other
 * programs the user names the results, as KERNEL:PARAMETER:TYPE[:COUNT]: the memory that a parameter (the
 * first is number 0) of the last launch of a kernel points to, as that launch left it, up to the end of its
 * allocation or COUNT elements.
 *
 * A file begins with the line "reprise results 1". Each result is a line of text, type, number of elements
 * and name, and the elements behind it as memory has them. Behind the results may be those of single
 * launches, whose names begin with "@NUMBER " and are those of --result: what the launch of that number, from
 * 0 on, left there. */
#ifndef REPRISE_REPORT_RESULTS_H
#define REPRISE_REPORT_RESULTS_H

#include <stdbool.h>

#include "base/vec.h"
#include "reprise.h"

/* The types of elements, those of --arg; their number. */
enum { RESULT_TYPES = 10 };
/* The name of a type, and the bytes of an element. */
const char *result_type_name(uint32_t type);
size_t result_type_bytes(uint32_t type);

struct result {
    char *name;
    uint32_t type;
    uint64_t count;
    void *data;
};
struct results {
    VEC(struct result) all, launches;
    uint64_t launched; /* launches so far ... */
    uint64_t bytes;    /* ... and what is kept of them */
    bool complained;   /* that a launch has no such result; once is enough */
};

/* Element i as a number. */
double result_value(const struct result *r, uint64_t i);
/* Reads a file; false, after a message to error, when it is none. */
bool results_read(struct results *r, const char *path, struct str *error);
/* Writes a file; false after a message. */
bool results_write(const struct results *r, const char *path);
void results_free(struct results *r);

/* A result that the user names. */
struct result_spec {
    const char *kernel; /* not NUL-terminated */
    size_t kernel_len;
    uint32_t param, type;
    uint64_t count; /* 0: up to the end of the allocation */
};
/* Reads KERNEL:PARAMETER:TYPE[:COUNT], which must outlive the spec; false when the text is nothing of that
 * kind. */
bool result_spec_read(struct result_spec *s, const char *text);
/* For a program that the environment tells to keep its results, in the file REPRISE_RESULTS those that
 * REPRISE_RESULT names, one per line: keeps what a launch that has just ended left in them. What is not there
 * is said on stderr. A program that writes its results itself leaves them in the file REPRISE_LAUNCH_RESULTS,
 * to which those of single launches are added. */
void results_launch(struct results *r, struct rp_gpu *gpu, struct rp_kernel *k, const struct rp_launch *l);
/* The program has ended: writes, or adds to, the file that is wanted, if one is; false after a message. */
bool results_end(struct results *r);

#endif
