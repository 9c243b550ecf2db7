/* The linker of the driver API: collects PTX and merges it into one text, which loads like any other. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/fatbin.h"
#include "cuda/ptxlink.h"
#include "cuda/work.h"

enum { INPUT_CUBIN, INPUT_PTX, INPUT_FATBINARY }; /* CUjitInputType */

struct CUlinkState_st {
    struct cud_object obj;
    VEC(struct ptx_unit) units;
    char *image;
};

int cud_link_create(struct CUlinkState_st **out) {
    if (!out)
        return cudaErrorInvalidValue;
    *out = cud_object_new(CUD_LINK, sizeof **out, NULL);
    return cudaSuccess;
}

static int from_fatbin(struct ptx_unit *u, const void *data, size_t size) {
    const struct rp_gpu_info *i = rp_gpu_info(cud.gpu);
    struct fatbin_entry best;
    struct fatbin_census census;
    const char *why;
    if (!fatbin_pick(data, size, (unsigned)(i->cc_major * 10 + i->cc_minor), &best, &census, &why))
        return census.elf ? cudaErrorNoKernelImageForDevice : cudaErrorInvalidKernelImage;
    u->text = fatbin_contents(&best, &u->len, &why);
    return u->text ? cudaSuccess : cudaErrorInvalidKernelImage;
}

int cud_link_add(struct CUlinkState_st *s, int type, const void *data, size_t size) {
    struct ptx_unit u = {0};
    int error = cudaSuccess;
    if (!cud_object_get(s, CUD_LINK))
        return cudaErrorInvalidResourceHandle;
    if (!data || !size)
        return cudaErrorInvalidValue;
    bool text = fatbin_identify(data, size) == FATBIN_IMAGE_TEXT; /* what nvrtcGetCUBIN gives here is PTX */
    if (type == INPUT_PTX || (type == INPUT_CUBIN && text)) {
        u.len = strnlen(data, size);
        u.text = memcpy(xcalloc(1, u.len + 1), data, u.len);
    } else
        error = type == INPUT_FATBINARY ? from_fatbin(&u, data, size) : cudaErrorNoKernelImageForDevice;
    if (!error)
        vec_push(&s->units, u);
    return error;
}

int cud_link_add_file(struct CUlinkState_st *s, int type, const char *path) {
    FILE *f = path ? fopen(path, "rb") : NULL;
    if (!f)
        return path ? cudaErrorFileNotFound : cudaErrorInvalidValue;
    struct str text = {0};
    char buffer[4096];
    size_t n;
    while ((n = fread(buffer, 1, sizeof buffer, f)) > 0)
        str_add(&text, buffer, n);
    fclose(f);
    int error = cud_link_add(s, type, text.at, text.len);
    str_free(&text);
    return error;
}

int cud_link_complete(struct CUlinkState_st *s, void **image, size_t *size) {
    size_t len;
    if (!cud_object_get(s, CUD_LINK))
        return cudaErrorInvalidResourceHandle;
    if (!image || !s->units.len)
        return cudaErrorInvalidValue;
    free(s->image);
    s->image = ptx_link(s->units.at, s->units.len, NULL, 0, &len);
    *image = s->image;
    if (size)
        *size = len + 1;
    return cudaSuccess;
}

int cud_link_destroy(struct CUlinkState_st *s) {
    if (!cud_object_get(s, CUD_LINK))
        return cudaErrorInvalidResourceHandle;
    for (uint32_t i = 0; i < s->units.len; i++)
        free((char *)s->units.at[i].text);
    vec_free(&s->units);
    free(s->image);
    cud_object_free(s);
    return cudaSuccess;
}
