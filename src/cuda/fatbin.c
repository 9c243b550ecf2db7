/* Reader of fat binaries. The layout is the one nvcc 4 to 13 write; compression came with CUDA 5 (LZ4) and
 * 12.4 (zstd). Pre-Fermi containers, which listed their parts by pointer, are not read. */
#include "cuda/fatbin.h"

#include <limits.h>
#include <lz4.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define CONTAINER_HEADER 16
#define ENTRY_HEADER     64
#define CONTENTS_MAX     (UINT64_C(1) << 30) /* more text than any compiler writes; bounds a forged size */

static uint16_t get16(const uint8_t *p) {
    return (uint16_t)(p[0] | p[1] << 8);
}

static uint32_t get32(const uint8_t *p) {
    return get16(p) | (uint32_t)get16(p + 2) << 16;
}

static uint64_t get64(const uint8_t *p) {
    return get32(p) | (uint64_t)get32(p + 4) << 32;
}

bool fatbin_open(struct fatbin *f, const void *data, size_t len) {
    const uint8_t *p = data;
    *f = (struct fatbin){0};
    if (len < CONTAINER_HEADER || get32(p) != FATBIN_CONTAINER_MAGIC) {
        f->error = "not a fat binary";
        return false;
    }
    uint32_t header = get16(p + 6);
    uint64_t body = get64(p + 8);
    if (header < CONTAINER_HEADER || body > (uint64_t)PTRDIFF_MAX - header) {
        f->error = "fat binary header is damaged";
        return false;
    }
    if (len != FATBIN_UNBOUNDED && header + body > len) {
        f->error = "fat binary is cut short";
        return false;
    }
    f->at = p + header;
    f->end = f->at + body;
    return true;
}

size_t fatbin_size(const void *data, size_t len) {
    struct fatbin f;
    return fatbin_open(&f, data, len) ? (size_t)(f.end - (const uint8_t *)data) : 0;
}

static void entry_name(struct fatbin_entry *e, const uint8_t *header, uint32_t header_size) {
    uint32_t at = get32(header + 32), len = get32(header + 36);
    e->name = NULL;
    e->name_len = 0;
    if (len > 0 && at >= ENTRY_HEADER && at <= header_size && len <= header_size - at) {
        e->name = (const char *)header + at;
        e->name_len = len;
    }
}

bool fatbin_next(struct fatbin *f, struct fatbin_entry *e) {
    size_t left = (size_t)(f->end - f->at);
    if (f->error || left == 0)
        return false;
    const uint8_t *p = f->at;
    uint32_t header = left >= ENTRY_HEADER ? get32(p + 4) : 0;
    if (header < ENTRY_HEADER || header > left || get64(p + 8) > left - header) {
        f->error = "fat binary entry is damaged";
        return false;
    }
    *e = (struct fatbin_entry){
        .kind = get16(p),
        .arch = get32(p + 28),
        .flags = get64(p + 40),
        .minor = get16(p + 24),
        .major = get16(p + 26),
        .data = p + header,
        .size = (size_t)get64(p + 8),
    };
    entry_name(e, p, header);
    f->at += header + e->size;
    if (e->flags & (FATBIN_LZ4 | FATBIN_ZSTD)) {
        uint32_t stored = get32(p + 16);
        e->raw_size = get64(p + 56);
        if (stored > 0 && stored < e->size)
            e->size = stored; /* the rest is padding */
    }
    return true;
}

static bool unpack_lz4(const struct fatbin_entry *e, char *out) {
    if (e->size > INT_MAX)
        return false;
    int n = LZ4_decompress_safe((const char *)e->data, out, (int)e->size, (int)e->raw_size);
    return n >= 0 && (uint64_t)n == e->raw_size;
}

static bool unpack_zstd(const struct fatbin_entry *e, char *out) {
    size_t n = ZSTD_decompress(out, (size_t)e->raw_size, e->data, e->size);
    return !ZSTD_isError(n) && n == e->raw_size;
}

/* A forged raw size must not make us allocate much for few bytes: LZ4 cannot expand more than 255 times,
 * and zstd frames state their size. */
static bool raw_size_plausible(const struct fatbin_entry *e) {
    if (e->raw_size > CONTENTS_MAX)
        return false;
    if (e->flags & FATBIN_LZ4)
        return e->raw_size / 255 <= e->size + 1;
    unsigned long long stated = ZSTD_getFrameContentSize(e->data, e->size);
    return stated == ZSTD_CONTENTSIZE_UNKNOWN || stated == e->raw_size;
}

char *fatbin_contents(const struct fatbin_entry *e, size_t *len, const char **why) {
    bool packed = e->flags & (FATBIN_LZ4 | FATBIN_ZSTD);
    uint64_t size = packed ? e->raw_size : e->size;
    if (packed && !raw_size_plausible(e)) {
        *why = "fat binary entry states an impossible size";
        return NULL;
    }
    char *out = malloc((size_t)size + 1);
    if (!out) {
        *why = "out of memory";
        return NULL;
    }
    if (!packed)
        memcpy(out, e->data, (size_t)size);
    else if (!(e->flags & FATBIN_LZ4 ? unpack_lz4(e, out) : unpack_zstd(e, out))) {
        free(out);
        *why = "fat binary entry cannot be decompressed";
        return NULL;
    }
    if (e->kind == FATBIN_PTX)
        while (size > 0 && out[size - 1] == '\0')
            size--; /* payloads are padded to eight bytes */
    out[size] = '\0';
    *len = (size_t)size;
    return out;
}

/* Lower is better: generic targets first, then those not newer than the device, then nearness. */
static unsigned long pick_rank(const struct fatbin_entry *e, unsigned cc) {
    bool specific = e->flags & (FATBIN_ARCH_SPECIFIC | FATBIN_ARCH_FAMILY);
    bool above = e->arch > cc;
    unsigned long distance = above ? e->arch - cc : cc - e->arch;
    return (unsigned long)specific << 41 | (unsigned long)above << 40 | distance;
}

bool fatbin_pick(const void *data, size_t len, unsigned cc, struct fatbin_entry *best,
                 struct fatbin_census *census, const char **why) {
    struct fatbin f;
    struct fatbin_entry e;
    *census = (struct fatbin_census){0};
    *why = NULL;
    if (!fatbin_open(&f, data, len)) {
        *why = f.error;
        return false;
    }
    while (fatbin_next(&f, &e)) {
        if (e.kind == FATBIN_PTX) {
            if (census->ptx++ == 0 || pick_rank(&e, cc) < pick_rank(best, cc))
                *best = e;
        } else if (e.kind == FATBIN_ELF) {
            if (census->elf < sizeof census->elf_archs / sizeof *census->elf_archs)
                census->elf_archs[census->elf] = e.arch;
            census->elf++;
        } else
            census->other++;
    }
    *why = f.error;
    return census->ptx > 0;
}

enum fatbin_image fatbin_identify(const void *image, size_t len) {
    const uint8_t *p = image;
    if (len >= 4) {
        if (get32(p) == FATBIN_WRAPPER_MAGIC)
            return FATBIN_IMAGE_WRAPPER;
        if (get32(p) == FATBIN_CONTAINER_MAGIC)
            return FATBIN_IMAGE_CONTAINER;
        if (memcmp(p, "\177ELF", 4) == 0)
            return FATBIN_IMAGE_ELF;
    }
    return FATBIN_IMAGE_TEXT;
}
