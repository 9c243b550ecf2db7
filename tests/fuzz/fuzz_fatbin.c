/* libFuzzer target: any bytes given to the readers of device-code containers yield errors, or entries that
 * lie inside the bytes. The same bytes go through the ELF check, as PTX units through the device linker, and
 * as an image of unknown size, at the end of what can be read, through what loads modules. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cuda/elfcheck.h"
#include "cuda/image.h"
#include "cuda/ptxlink.h"

#define CHECK(c)                                                                                             \
    do {                                                                                                     \
        if (!(c))                                                                                            \
            __builtin_trap();                                                                                \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_entries(const uint8_t *data, size_t size) {
    struct fatbin f;
    struct fatbin_entry e;
    if (!fatbin_open(&f, data, size)) {
        CHECK(f.error);
        return;
    }
    CHECK(fatbin_size(data, size) <= size);
    while (fatbin_next(&f, &e)) {
        CHECK(e.data >= data && e.size <= (size_t)(data + size - e.data));
        CHECK(!e.name ||
              ((const uint8_t *)e.name >= data && e.name_len <= (size_t)(e.data - (const uint8_t *)e.name)));
        const char *why = NULL;
        size_t len = 0;
        char *text = fatbin_contents(&e, &len, &why);
        CHECK(text ? text[len] == '\0' : why != NULL);
        free(text);
    }
}

static void link_text(const uint8_t *data, size_t size) {
    size_t half = size / 2, len;
    struct ptx_unit units[] = {{(const char *)data, half}, {(const char *)data + half, size - half}};
    const char *roots[] = {"kernel"};
    char *all = ptx_link(units, 2, NULL, 0, &len);
    CHECK(all[len] == '\0');
    free(all);
    free(ptx_link(units, 2, roots, 1, &len));
}

static void load(const void *image, size_t size) {
    size_t len = 0;
    int error = 0;
    char *log = NULL, *text = image_ptx(image, size, 75, NULL, 0, &len, &error, &log);
    CHECK(text ? text[len] == '\0' : error && log);
    free(text);
    free(log);
}

enum { ROOM = 1 << 16, GUARD = 1 << 16 };

/* As an image, and as what a compiler's record points to; nothing can be read behind it. */
static void load_images(const uint8_t *data, size_t size) {
    static uint8_t *room;
    const void *parts[] = {NULL, NULL, NULL, NULL};
    if (size > ROOM)
        return;
    if (!room) {
        room = mmap(NULL, ROOM + GUARD, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(room != MAP_FAILED && !mprotect(room + ROOM, GUARD, PROT_NONE));
    }
    uint8_t *image = memcpy(room + ROOM - size, data, size);
    load(image, size);
    load(image, FATBIN_UNBOUNDED);
    memcpy(&parts[2], data, size < sizeof parts[2] ? size : sizeof parts[2]);
    if (image_readable(
            parts[2])) /* anywhere, but not into the fuzzer's own memory, which the sanitizer guards */
        parts[2] = image + size;
    parts[0] = image;
    parts[1] = image + size / 2;
    const struct fatbin_wrapper w = {FATBIN_WRAPPER_MAGIC, 2, image + size / 3, parts};
    load(&w, FATBIN_UNBOUNDED);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fatbin_entry best;
    struct fatbin_census census;
    const char *why;
    read_entries(data, size);
    if (fatbin_pick(data, size, 75, &best, &census, &why))
        CHECK(best.kind == FATBIN_PTX && census.ptx > 0);
    fatbin_identify(data, size);
    elf_check_image(data, size);
    link_text(data, size);
    load_images(data, size);
    return 0;
}
