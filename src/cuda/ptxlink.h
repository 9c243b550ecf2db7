/* Device linking: merges the PTX of several translation units (nvcc -rdc=true, cuLinkAddData) into one
 * text, by rewriting its top-level statements. */
#ifndef REPRISE_CUDA_PTXLINK_H
#define REPRISE_CUDA_PTXLINK_H

#include <stddef.h>
#include <stdint.h>

struct ptx_unit {
    const char *text;
    size_t len;
};

/* Merges n units. Symbols that only one unit can see are renamed where two units use the same name; weak
 * definitions are kept once; external declarations another unit satisfies become prototypes. With roots,
 * only units that define one of these names, or something such a unit needs, take part. The result is
 * NUL-terminated and freed by the caller. */
char *ptx_link(const struct ptx_unit *units, uint32_t n, const char *const *roots, uint32_t nroots,
               size_t *len);

#endif
