/* See image.h. */
#include "cuda/image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#endif

#include "cuda/core.h"
#include "cuda/ptxlink.h"

/* Memory that the address sanitizer keeps its books in is mapped, but code that it watches cannot read it. */
static bool is_books(uintptr_t at) {
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
    size_t scale, offset;
    __asan_get_shadow_mapping(&scale, &offset);
    return at >= offset && at < offset + ((uintptr_t)1 << (47 - scale));
#else
    (void)at;
    return false;
#endif
}

size_t image_readable(const void *p) {
    uintptr_t at = (uintptr_t)p, end = 0, from, to;
    char line[512], read;
    FILE *maps = fopen("/proc/self/maps", "r");
    if (!maps)
        return p ? FATBIN_UNBOUNDED : 0;
    while (fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%zx-%zx %c", &from, &to, &read) != 3) /* the rest of a long line */
            continue;
        if (read == 'r' && (end ? from == end : from <= at && at < to))
            end = to;
        else if (from > at)
            break;
    }
    fclose(maps);
    return end && !is_books(at) ? end - at : 0;
}

static char *format(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static char *format(const char *fmt, ...) {
    struct str s = {0};
    va_list ap;
    va_start(ap, fmt);
    str_vprintf(&s, fmt, ap);
    va_end(ap);
    return s.at;
}

/* The message for device code that was compiled to machine code only. */
static char *rebuild_message(const struct fatbin_census *c, unsigned cc) {
    struct str s = {0};
    str_printf(&s, "error: the program carries machine code");
    unsigned shown = c->elf < 8 ? c->elf : 8;
    for (unsigned i = 0; i < shown; i++)
        str_printf(&s, "%s sm_%u", i ? "," : " for", c->elf_archs[i]);
    str_printf(&s,
               " but no PTX, and machine code cannot be simulated.\nRebuild it with PTX inside, for example: "
               "nvcc -gencode arch=compute_%u,code=compute_%u ...\n",
               cc, cc);
    return s.at;
}

/* The PTX of a container. */
static char *of_container(const void *data, size_t size, unsigned cc, size_t *len, int *error, char **log) {
    struct fatbin_entry best;
    struct fatbin_census census;
    const char *why = NULL;
    if (size == FATBIN_UNBOUNDED)
        size = image_readable(data);
    if (!fatbin_pick(data, size, cc, &best, &census, &why)) {
        *error = census.elf ? cudaErrorNoKernelImageForDevice : cudaErrorInvalidKernelImage;
        *log = census.elf ? rebuild_message(&census, cc)
                          : format("error: %s\n", why ? why : "the fat binary holds no device code");
        return NULL;
    }
    char *text = fatbin_contents(&best, len, &why);
    if (!text) {
        *error = cudaErrorInvalidKernelImage;
        *log = format("error: %s\n", why);
    }
    return text;
}

/* The device-linked PTX of a version 2 wrapper: its parts, linked here since nvlink leaves machine code. */
static char *of_parts(const struct fatbin_wrapper *w, unsigned cc, const char *const *roots, uint32_t nroots,
                      size_t *len, int *error, char **log) {
    VEC(struct ptx_unit) units = {0};
    char *text = NULL, *part_log = NULL;
    size_t most = image_readable(w->prelinked) / sizeof *w->prelinked;
    for (size_t i = 0; i < most; i++) {
        const void *part;
        struct ptx_unit u;
        memcpy(&part, (const char *)w->prelinked + i * sizeof part, sizeof part); /* may lie anywhere */
        if (!part)
            break;
        free(part_log);
        part_log = NULL;
        u.text = of_container(part, FATBIN_UNBOUNDED, cc, &u.len, error, &part_log);
        if (u.text)
            vec_push(&units, u);
    }
    if (units.len) {
        text = ptx_link(units.at, units.len, roots, nroots, len);
        free(part_log);
    } else {
        *log = part_log ? part_log : format("error: the fat binary has no parts\n");
    }
    for (uint32_t i = 0; i < units.len; i++)
        free((char *)units.at[i].text);
    vec_free(&units);
    return text;
}

char *image_ptx_of_wrapper(const struct fatbin_wrapper *w, unsigned cc, const char *const *roots,
                           uint32_t nroots, size_t *len, int *error, char **log) {
    *error = cudaErrorInvalidKernelImage;
    char *text = of_container(w->data, FATBIN_UNBOUNDED, cc, len, error, log);
    if (text || w->version != 2 || !w->prelinked)
        return text;
    free(*log);
    *log = NULL;
    return of_parts(w, cc, roots, nroots, len, error, log);
}

char *image_ptx(const void *image, size_t size, unsigned cc, const char *const *roots, uint32_t nroots,
                size_t *len, int *error, char **log) {
    struct fatbin_census none = {0};
    struct fatbin_wrapper w;
    if (size == FATBIN_UNBOUNDED)
        size = image_readable(image);
    *error = cudaErrorInvalidKernelImage;
    switch (fatbin_identify(image, size)) {
    case FATBIN_IMAGE_WRAPPER:
        if (size < sizeof w) {
            *log = format("error: fat binary is cut short\n");
            return NULL;
        }
        memcpy(&w, image, sizeof w);
        return image_ptx_of_wrapper(&w, cc, roots, nroots, len, error, log);
    case FATBIN_IMAGE_CONTAINER:
        return of_container(image, size, cc, len, error, log);
    case FATBIN_IMAGE_ELF:
        *error = cudaErrorNoKernelImageForDevice;
        *log = rebuild_message(&none, cc);
        return NULL;
    case FATBIN_IMAGE_TEXT:
        break;
    }
    size_t text_len = size ? strnlen(image, size) : 0;
    if (!memmem(image, text_len, ".version", 8)) {
        *log = format("error: the image is neither PTX nor a fat binary\n");
        return NULL;
    }
    char *copy = xmalloc(text_len + 1);
    memcpy(copy, image, text_len);
    copy[text_len] = '\0';
    *len = text_len;
    return copy;
}
