/* mkfatbin: packs PTX files into a fat binary, as the CUDA toolkit's fatbinary does, for programs that are
 * built without a toolkit.
 *
 *     mkfatbin [--plain|--lz4|--zstd] -o OUT --arch N FILE.ptx [--arch M FILE.ptx]...
 *
 * An arch such as 90a makes an architecture-specific entry. A file that starts with an ELF header is stored
 * as machine code, so that tests can make such entries too. */
#include <ctype.h>
#include <errno.h>
#include <lz4.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/vec.h"
#include "cuda/fatbin.h"

#define ENTRY_HEADER 64

enum packing { PLAIN, PACK_LZ4, PACK_ZSTD };

static void put(struct str *s, uint64_t value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; i++)
        str_add(s, &(char){(char)(value >> 8 * i)}, 1);
}

static void pad(struct str *s) {
    while (s->len % 8)
        put(s, 0, 1);
}

static bool read_file(const char *path, struct str *out) {
    FILE *f = fopen(path, "rb");
    char buffer[65536];
    size_t n;
    if (!f)
        return false;
    while ((n = fread(buffer, 1, sizeof buffer, f)) > 0)
        str_add(out, buffer, n);
    bool ok = !ferror(f);
    fclose(f);
    return ok;
}

/* The bytes to store for data; plain when packing would not make them shorter. */
static struct str pack(const struct str *data, enum packing how, uint64_t *flags) {
    struct str out = {0};
    size_t room = how == PACK_LZ4 ? (size_t)LZ4_compressBound((int)data->len) : ZSTD_compressBound(data->len);
    char *packed = xmalloc(room + 1);
    size_t n = 0;
    if (how == PACK_LZ4)
        n = (size_t)LZ4_compress_default(data->at, packed, (int)data->len, (int)room);
    else if (how == PACK_ZSTD)
        n = ZSTD_compress(packed, room, data->at, data->len, 3);
    if (how == PLAIN || n == 0 || ZSTD_isError(n) || n >= data->len)
        str_add(&out, data->at, data->len);
    else {
        str_add(&out, packed, n);
        *flags |= how == PACK_LZ4 ? FATBIN_LZ4 : FATBIN_ZSTD;
    }
    free(packed);
    return out;
}

/* The PTX ISA version a text states, major and minor in one number; 0 when it states none. */
static unsigned ptx_version(const struct str *text) {
    unsigned major = 0, minor = 0;
    const char *at = strstr(str_text(text), ".version");
    if (at)
        sscanf(at + 8, "%u.%u", &major, &minor);
    return major << 16 | (minor & 0xffff);
}

static void add_entry(struct str *body, const struct str *data, unsigned arch, uint64_t flags,
                      enum packing how) {
    bool elf = data->len >= 4 && !memcmp(data->at, "\177ELF", 4);
    unsigned version = elf ? 1 << 16 : ptx_version(data);
    struct str stored = pack(data, how, &flags);
    bool packed = flags & (FATBIN_LZ4 | FATBIN_ZSTD);
    put(body, elf ? FATBIN_ELF : FATBIN_PTX, 2);
    put(body, 0x101, 2);
    put(body, ENTRY_HEADER, 4);
    put(body, (stored.len + 7u) / 8 * 8, 8);
    put(body, packed ? stored.len : 0, 4);
    put(body, 0, 4);
    put(body, version & 0xffff, 2);
    put(body, version >> 16, 2);
    put(body, arch, 4);
    put(body, 0, 8); /* no source name */
    put(body, flags | FATBIN_64BIT | FATBIN_LINUX, 8);
    put(body, 0, 8);
    put(body, packed ? data->len : 0, 8);
    str_add(body, stored.at, stored.len);
    pad(body);
    str_free(&stored);
}

/* "75" or "90a"; false when it is neither. */
static bool parse_arch(const char *text, unsigned *arch, uint64_t *flags) {
    char *end;
    *arch = (unsigned)strtoul(text, &end, 10);
    *flags = *end == 'a' ? FATBIN_ARCH_SPECIFIC : *end == 'f' ? FATBIN_ARCH_FAMILY : 0;
    return isdigit((unsigned char)*text) && end[*flags != 0] == '\0';
}

static bool write_container(const char *path, const struct str *body) {
    struct str head = {0};
    FILE *f = fopen(path, "wb");
    put(&head, FATBIN_CONTAINER_MAGIC, 4);
    put(&head, 1, 2);
    put(&head, 16, 2);
    put(&head, body->len, 8);
    bool ok = f && fwrite(head.at, 1, head.len, f) == head.len &&
              fwrite(str_text(body), 1, body->len, f) == body->len;
    if (f && fclose(f) != 0)
        ok = false;
    str_free(&head);
    return ok;
}

static int usage(void) {
    fprintf(stderr,
            "usage: mkfatbin [--plain|--lz4|--zstd] -o OUT --arch N FILE.ptx [--arch M FILE.ptx]...\n");
    return 2;
}

int main(int argc, char **argv) {
    enum packing how = PLAIN;
    const char *out = NULL;
    struct str body = {0};
    unsigned arch = 0;
    uint64_t flags = 0;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--plain"))
            how = PLAIN;
        else if (!strcmp(argv[i], "--lz4"))
            how = PACK_LZ4;
        else if (!strcmp(argv[i], "--zstd"))
            how = PACK_ZSTD;
        else if (!strcmp(argv[i], "-o") && i + 1 < argc)
            out = argv[++i];
        else if (!strcmp(argv[i], "--arch") && i + 1 < argc) {
            if (!parse_arch(argv[++i], &arch, &flags))
                return usage();
        } else if (*argv[i] == '-' || !arch)
            return usage();
        else {
            struct str data = {0};
            if (!read_file(argv[i], &data)) {
                fprintf(stderr, "mkfatbin: %s: %s\n", argv[i], strerror(errno));
                return 1;
            }
            if (strncmp(str_text(&data), "\177ELF", 4) != 0)
                put(&data, 0, 1); /* texts are stored with their NUL */
            add_entry(&body, &data, arch, flags, how);
            str_free(&data);
        }
    }
    if (!out || !body.len)
        return usage();
    if (!write_container(out, &body)) {
        fprintf(stderr, "mkfatbin: cannot write %s: %s\n", out, strerror(errno));
        return 1;
    }
    str_free(&body);
    return 0;
}
