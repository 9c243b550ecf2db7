/* Goldens: what a real GPU computed.
 *
 * The file is one line of text (the format and the device), then a record for each variant: u16 length of the
 * name, the name, u32 signature of kernel and inputs, u32 bytes of raw outputs, the raw outputs, u32 hashes.
 * Everything is little-endian. Raw outputs are stored one output after the other, each as planes of equal
 * bytes (byte 0 of every tuple, then byte 1...), which compress far better than whole words. The file may be
 * compressed with zstd. */
#include "conform.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef CONFORM_ZSTD
#include <zstd.h>
#endif

static size_t bytes_of(const struct type *t) {
    return t->bits < 8 ? 1 : (size_t)t->bits / 8;
}

uint64_t canonical(const struct type *t, uint64_t x) {
    if (!t->fp_bits)
        return x;
    for (int at = 0; at < t->bits; at += t->fp_bits) {
        uint64_t ones = t->fp_bits == 64 ? UINT64_MAX : (UINT64_C(1) << t->fp_bits) - 1;
        uint64_t inf = ones >> 1 >> t->fp_mant << t->fp_mant;
        if ((x >> at & ones >> 1) > inf)
            x = (x & ~(ones << at)) | (ones >> 1) << at;
    }
    return x;
}

size_t golden_raw_bytes(const struct variant *v) {
    size_t n = 0;
    for (int k = 0; k < v->nout; k++)
        n += RAW * bytes_of(v->out[k].type);
    return n;
}

void golden_pack(const struct variant *v, const uint64_t *out, uint8_t *raw, uint32_t *hashes) {
    for (int k = 0; k < v->nout; k++)
        for (size_t b = 0; b < bytes_of(v->out[k].type); b++)
            for (int t = 0; t < RAW; t++)
                *raw++ = (uint8_t)(canonical(v->out[k].type, out[k * TUPLES + t]) >> 8 * b);
    for (int h = 0; h < HASHES; h++) {
        uint64_t part[MAX_OUT * CHUNK];
        for (int k = 0; k < v->nout; k++)
            for (int t = 0; t < CHUNK; t++)
                part[k * CHUNK + t] = canonical(v->out[k].type, out[k * TUPLES + RAW + h * CHUNK + t]);
        hashes[h] = values_hash(part, sizeof *part * CHUNK * (size_t)v->nout, 0);
    }
}

uint64_t golden_value(const struct variant *v, const uint8_t *raw, int k, int t) {
    for (int j = 0; j < k; j++)
        raw += RAW * bytes_of(v->out[j].type);
    uint64_t x = 0;
    for (size_t b = 0; b < bytes_of(v->out[k].type); b++)
        x |= (uint64_t)raw[b * RAW + (size_t)t] << 8 * b;
    return x;
}

uint32_t golden_signature(const struct variant *v, const uint64_t *in) {
    struct text ptx = {0};
    ptx_kernel(&ptx, v);
    uint32_t h = values_hash(in, 8 * (size_t)v->nin * TUPLES, values_hash(ptx.s, ptx.n, 2));
    free(ptx.s);
    return h;
}

#ifdef CONFORM_ZSTD
static bool decompress(struct golden *g) {
    unsigned long long size = ZSTD_getFrameContentSize(g->data, g->size);
    if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > (1u << 30))
        return false;
    uint8_t *plain = malloc(size + 1);
    size_t n = plain ? ZSTD_decompress(plain, size, g->data, g->size) : 0;
    free(g->data);
    g->data = plain;
    g->size = n;
    return plain && !ZSTD_isError(n);
}
#else
static bool decompress(struct golden *g) {
    (void)g;
    fprintf(stderr, "built without zstd: decompress the golden first\n");
    return false;
}
#endif

bool golden_load(struct golden *g, const char *path) {
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        return false;
    }
    size_t cap = 1 << 20, n;
    g->size = g->next = 0;
    g->data = malloc(cap);
    while (g->data && (n = fread(g->data + g->size, 1, cap - g->size, f)) > 0) {
        g->size += n;
        if (g->size == cap)
            g->data = realloc(g->data, cap *= 2);
    }
    fclose(f);
    static const uint8_t zstd_magic[] = {0x28, 0xb5, 0x2f, 0xfd};
    bool ok = g->data && (g->size < 4 || memcmp(g->data, zstd_magic, 4) || decompress(g));
    if (!ok)
        fprintf(stderr, "%s: cannot be read\n", path);
    return ok;
}

static uint32_t read_u32(const uint8_t *p) {
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* One record of the file. */
struct record {
    const uint8_t *name, *raw;
    size_t len, bytes, end; /* end: offset of the next record */
    uint32_t signature;
};

/* Reads the record at an offset; false at the end, or if the rest of the file holds none. */
static bool read_record(const struct golden *g, size_t at, struct record *r) {
    const uint8_t *p = g->data + at;
    size_t left = g->size - at;
    if (left < 10)
        return false;
    r->len = p[0] | (size_t)p[1] << 8;
    if (left < r->len + 10)
        return false;
    r->name = p + 2;
    r->signature = read_u32(r->name + r->len);
    r->bytes = read_u32(r->name + r->len + 4);
    r->raw = r->name + r->len + 8;
    r->end = at + r->len + 10 + r->bytes + 4 * HASHES;
    return r->end <= g->size;
}

bool golden_find(struct golden *g, const struct variant *v, uint32_t *signature, const uint8_t **raw,
                 uint32_t *hashes) {
    const uint8_t *line = g->size ? memchr(g->data, '\n', g->size) : NULL;
    if (!line)
        return false;
    size_t first = (size_t)(line - g->data) + 1, from = g->next > first ? g->next : first, at = from;
    bool wrapped = false;
    struct record r;
    for (;;) {
        if (wrapped && at >= from)
            return false;
        if (!read_record(g, at, &r)) {
            if (wrapped)
                return false;
            wrapped = true;
            at = first;
            continue;
        }
        at = r.end;
        if (r.len == strlen(v->name) && !memcmp(r.name, v->name, r.len))
            break;
    }
    g->next = r.end;
    *signature = r.signature;
    *raw = r.raw;
    for (int h = 0; h < HASHES; h++)
        hashes[h] = read_u32(r.raw + r.bytes + 4 * h);
    return r.bytes == golden_raw_bytes(v);
}
