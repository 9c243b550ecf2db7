/* The report's page, for commands that have something to show. */
#ifndef REPRISE_CLI_REPORT_H
#define REPRISE_CLI_REPORT_H

#include <jansson.h>
#include <stdbool.h>

/* Writes the page of a list of sources, each an object with name, kind ("comparison", "run", "profile",
 * "figures") and value; title NULL: the usual one. Of runs in it what the page does not show is left out.
 * false after a message. */
bool cli_report_page(const char *out, const char *title, json_t *sources);

#endif
