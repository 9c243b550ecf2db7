/* Operations on the host's floating-point numbers for either format. */
#ifndef REPRISE_CPU_EXEC_FP_H
#define REPRISE_CPU_EXEC_FP_H

#include <math.h>

#include "cpu/exec.h"

#define fused(a, b, d) _Generic((a), float : fmaf, double : fma)(a, b, d)
#define square_root(a) _Generic((a), float : sqrtf, double : sqrt)(a)

#endif
