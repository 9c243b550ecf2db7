/* The counters of the units of the memory system, as tables; each describes members of the unit's struct of
 * counters. */
#ifndef REPRISE_MEM_COUNTERS_H
#define REPRISE_MEM_COUNTERS_H

#include "stats/counter.h"

extern const struct counter_table bank_counter_table;  /* of every cache: struct bank_counters */
extern const struct counter_table bank_prefetch_table; /* the same, of caches that prefetch */
extern const struct counter_table cache_counter_table; /* of reads: struct cache_counters */
extern const struct counter_table cache_data_table;    /* the same, of data caches */
extern const struct counter_table cache_write_table;   /* the same, of those that write back */
extern const struct counter_table l1_counter_table;    /* struct l1_counters */
extern const struct counter_table l2_counter_table;    /* struct l2_counters */
extern const struct counter_table icnt_counter_table;  /* struct icnt_counters */
extern const struct counter_table dram_counter_table;  /* struct dram_counters */

#endif
