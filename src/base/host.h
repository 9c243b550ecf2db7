/* What the host has. */
#ifndef REPRISE_BASE_HOST_H
#define REPRISE_BASE_HOST_H

#include <stdint.h>

/* Processors that this process may use, at least 1. */
uint32_t host_processors(void);

#endif
