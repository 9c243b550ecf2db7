/* A profile for people. */
#ifndef REPRISE_CLI_PROFILE_PRINT_H
#define REPRISE_CLI_PROFILE_PRINT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct profile_view {
    bool lines;   /* the source, annotated */
    uint32_t top; /* lines of each kernel that are shown */
};

/* Prints a profile (docs/profiles.md), at most 100 columns wide, under a title. */
void profile_print(const json_t *profile, const char *title, const struct profile_view *v, FILE *to);

#endif
