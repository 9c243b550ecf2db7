/* The report's page: one HTML file that needs nothing else. data/page has its parts; Vega, which draws its
 * charts, is the distribution's. */
#ifndef REPRISE_STUDY_PAGE_H
#define REPRISE_STUDY_PAGE_H

#include <jansson.h>
#include <stdbool.h>

/* Writes the page with its data, which the scripts in data/page read; false after a message. */
bool page_write(const char *path, const json_t *data);

#endif
