/* The profile of a GPU's launches (rp_options.profile) as JSON; docs/profiles.md says what it has. */
#ifndef REPRISE_GPU_GPU_PROFILE_H
#define REPRISE_GPU_GPU_PROFILE_H

#include <stdbool.h>

#include "reprise.h"

/* Writes the profile of the launches so far to path; false after a message. incomplete: why the run did not
 * come to its end, or NULL. Nothing is written, and all is well, when the GPU keeps no profile. */
bool gpu_profile_write(const struct rp_gpu *g, const char *incomplete, const char *path);

#endif
