/* The runs that a store has kept, as comparisons for the report. */
#ifndef REPRISE_STUDY_KEPT_H
#define REPRISE_STUDY_KEPT_H

#include "study/store.h"

/* Adds the runs of the newest simulator in a store, those on GPUs, to a list: an object for each GPU, size
 * and width of addresses, with kind "comparison", name, version, value, as table_json has it with the first
 * launches of the base machine's runs besides, and manifest, a row for each run. Of very many runs the newest
 * are taken, after a message. How many there were; -1 after a message. */
int kept_comparisons(struct store *s, json_t *list);

#endif
