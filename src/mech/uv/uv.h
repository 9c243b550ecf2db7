/* What Uniform Vector looks up: for profiles, too. */
#ifndef REPRISE_MECH_UV_UV_H
#define REPRISE_MECH_UV_UV_H

#include "exec/opkey.h"

/* Registers and constants go in, one register comes out. */
bool uv_fits(const struct xinst *i);

#endif
