/* Fat binaries: the container in which nvcc and clang hand device code to the CUDA libraries.
 *
 * A container is a 16-byte header followed by entries; an entry is a header of at least 64 bytes and a
 * payload: PTX text or a machine-code ELF, plain, LZ4- or zstd-compressed. All fields are little endian.
 * Containers come from the program's own image, but also from files, so nothing in them is trusted. */
#ifndef REPRISE_CUDA_FATBIN_H
#define REPRISE_CUDA_FATBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FATBIN_WRAPPER_MAGIC   0x466243b1u
#define FATBIN_CONTAINER_MAGIC 0xba55ed50u

/* What the compiler's registration code passes: version 1 is a plain container, version 2 a device-linked
 * one whose second pointer is a NULL-terminated array of the containers that were linked. */
struct fatbin_wrapper {
    uint32_t magic, version;
    const void *data;
    const void *const *prelinked;
};

enum fatbin_kind { FATBIN_PTX = 1, FATBIN_ELF = 2 };

enum fatbin_flag {
    FATBIN_64BIT = 0x1,
    FATBIN_DEBUG = 0x2,
    FATBIN_LINUX = 0x10,
    FATBIN_LZ4 = 0x2000,
    FATBIN_ZSTD = 0x8000,
    FATBIN_ARCH_SPECIFIC = 0x100000, /* sm_90a */
    FATBIN_ARCH_FAMILY = 0x200000,   /* sm_100f */
};

/* One piece of device code; the pointers lead into the container. */
struct fatbin_entry {
    uint32_t kind; /* enum fatbin_kind, or one this reader does not know */
    uint32_t arch; /* e.g. 75 */
    uint64_t flags;
    uint16_t major, minor; /* PTX ISA version of a PTX entry */
    const uint8_t *data;
    size_t size;       /* bytes stored */
    uint64_t raw_size; /* bytes after decompression; 0 when stored plain */
    const char *name;  /* source file name, name_len bytes, or NULL */
    size_t name_len;
};

/* A container being read. */
struct fatbin {
    const uint8_t *at, *end;
    const char *error; /* why reading stopped early, or NULL */
};

#define FATBIN_UNBOUNDED SIZE_MAX

/* Starts reading the container at data; len is the number of bytes there, or FATBIN_UNBOUNDED when only the
 * container's own header tells. false: not a container, f->error says why. */
bool fatbin_open(struct fatbin *f, const void *data, size_t len);
/* Bytes of a container, header included; 0 when data is none. */
size_t fatbin_size(const void *data, size_t len);
/* The next entry; false at the end or at a malformed one (then f->error is set). */
bool fatbin_next(struct fatbin *f, struct fatbin_entry *e);
/* The entry's contents, decompressed, NUL-terminated, to be freed by the caller. NULL: *why says why. */
char *fatbin_contents(const struct fatbin_entry *e, size_t *len, const char **why);

/* What fatbin_pick saw; tells "no PTX in there" from "nothing in there". */
struct fatbin_census {
    unsigned ptx, elf, other;
    uint32_t elf_archs[8]; /* architectures of the first machine-code entries */
};

/* The PTX entry to use for compute capability cc (e.g. 75): the highest target up to cc, else the lowest
 * above it; architecture-specific targets only when there is no generic one. false: no PTX. */
bool fatbin_pick(const void *data, size_t len, unsigned cc, struct fatbin_entry *best,
                 struct fatbin_census *census, const char **why);

/* What an image given to the module loaders is. */
enum fatbin_image { FATBIN_IMAGE_TEXT, FATBIN_IMAGE_WRAPPER, FATBIN_IMAGE_CONTAINER, FATBIN_IMAGE_ELF };
enum fatbin_image fatbin_identify(const void *image, size_t len);

#endif
