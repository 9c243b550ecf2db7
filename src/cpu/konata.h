/* Pipeline traces of the CPU for Konata (Kanata 0004): for each instruction when it was fetched, when it
 * issued and when it ended. Stages: F fetched and waiting to issue, X in its unit. Each core is a thread. */
#ifndef REPRISE_CPU_KONATA_H
#define REPRISE_CPU_KONATA_H

#include <stdbool.h>
#include <stdint.h>

struct konata;

/* Begins a file; cycles from first to last are told. NULL after a message. */
struct konata *konata_open(const char *path, uint64_t first, uint64_t last);
/* An instruction of a core: the cycles in which it arrived and issued. The number by which its end is told.
 */
uint64_t konata_issue(struct konata *k, uint32_t core, uint64_t pc, uint32_t word, uint64_t arrived,
                      uint64_t issued);
void konata_end(struct konata *k, uint64_t number, uint64_t cycle);
/* Ends the file; false after a message. */
bool konata_close(struct konata *k);

#endif
