/* The end of a copy of the stages that is compiled with one mechanism (points.h): what the rest of the
 * program sees of it. */
#include "core/points.h"

FROM_OUTSIDE const struct core_alone ALONE = {&CORE_ALONE.points, run_usual};
