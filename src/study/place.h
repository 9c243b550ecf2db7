/* Where the parts of Reprise are, built or installed. */
#ifndef REPRISE_STUDY_PLACE_H
#define REPRISE_STUDY_PLACE_H

#include <stdbool.h>
#include <stddef.h>

/* The folder that holds the drop-in libraries; NULL, after a message, when it cannot be found. */
const char *place_libraries(void);
/* The path of a program of the bundled workloads; false when it has not been built. */
bool place_workload(const char *program, char *path, size_t size);
/* The path of a file of data/; false, after a message, when it cannot be found. */
bool place_data(const char *name, char *path, size_t size);

#endif
