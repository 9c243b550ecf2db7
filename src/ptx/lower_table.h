/* The table from opcode to lowering function; NULL for opcodes Reprise refuses. */
#ifndef REPRISE_PTX_LOWER_TABLE_H
#define REPRISE_PTX_LOWER_TABLE_H

#include "ptx/lower.h"

extern lower_fn *const lower_table[PTXOP_COUNT];

#endif
