/* Programs for the simulated CPU made in memory: an ELF file with one segment of code and one of data. */
#ifndef REPRISE_TESTS_GUEST_RIG_H
#define REPRISE_TESTS_GUEST_RIG_H

#include "cpu/guest.h"

enum { RIG_CODE = 0x400000, RIG_DATA = 0x500000, RIG_DATA_SIZE = 0x10000 };

/* The file's bytes in memory the caller frees. */
void *rig_image(const uint32_t *code, uint32_t words, size_t *size);
/* A guest that will execute these words. Fails the test if it cannot be. */
struct guest *rig_guest(const uint32_t *code, uint32_t words);
void rig_free(struct guest *g);

#define RIG_GUEST(...)                                                                                       \
    rig_guest((const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

#endif
