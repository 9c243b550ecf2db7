/* STO: MD5 of a window sliding over a file. See README.md. */
#include "host.h"
#include <math.h>
#include <string.h>

enum { THREADS = 128, MAX_WORDS = 64 };

static const struct {
    int blocks, window_words;
} sizes[WL_SIZES] = {{8, 32}, {192, 32}, {384, 32}, {384, 32}};

/* A file as an archive has it: text of a few hundred words, runs of zeros, and pieces that occur again. */
static void make_file(struct wl *w, unsigned char *out, size_t n) {
    size_t at = 0;
    while (at < n) {
        uint32_t kind = wl_random_below(w, 16);
        size_t length = 32 + wl_random_below(w, 480);
        length = length < n - at ? length : n - at;
        if (kind == 0) {
            memset(out + at, 0, length);
        } else if (kind < 4 && at > length) {
            memcpy(out + at, out + wl_random_below(w, (uint32_t)(at - length)), length);
        } else {
            for (size_t i = 0; i < length; i++)
                out[at + i] = (unsigned char)(wl_random_below(w, 6) ? 'a' + wl_random_below(w, 26) : ' ');
        }
        at += length;
    }
}

/* MD5 of a message, from its definition. */
static void md5(const unsigned char *message, size_t n, uint32_t digest[4]) {
    static const int turns[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
    unsigned char padded[4 * MAX_WORDS + 128] = {0};
    size_t length = (n + 9 + 63) / 64 * 64;
    uint64_t bits = 8 * (uint64_t)n;
    memcpy(padded, message, n);
    padded[n] = 0x80;
    memcpy(padded + length - 8, &bits, 8);
    uint32_t h[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
    for (size_t at = 0; at < length; at += 64) {
        uint32_t m[16], v[4];
        memcpy(m, padded + at, 64);
        memcpy(v, h, sizeof v);
        for (int i = 0; i < 64; i++) {
            uint32_t b = v[1], c = v[2], d = v[3];
            const uint32_t f[4] = {(b & c) | (~b & d), (d & b) | (~d & c), b ^ c ^ d, c ^ (b | ~d)};
            const int word[4] = {i, 5 * i + 1, 3 * i + 5, 7 * i};
            uint32_t sine = (uint32_t)floor(ldexp(fabs(sin(i + 1)), 32));
            uint32_t sum = v[0] + f[i / 16] + sine + m[word[i / 16] % 16];
            int by = turns[i / 16][i % 4];
            v[0] = d;
            v[3] = c;
            v[2] = b;
            v[1] = b + (sum << by | sum >> (32 - by));
        }
        for (int i = 0; i < 4; i++)
            h[i] += v[i];
    }
    memcpy(digest, h, sizeof h);
}

static void run(struct wl *w) {
    int blocks = wl_option(w, "blocks", sizes[w->size].blocks);
    int window = wl_option(w, "window", sizes[w->size].window_words);
    if (blocks < 1 || window < 1 || window > MAX_WORDS)
        wl_fail(w, "blocks must be positive, window 1 to %d", MAX_WORDS);
    size_t windows = (size_t)blocks * THREADS, bytes = 4 * (windows + (size_t)window);
    unsigned char *file = WL_ARRAY(w, unsigned char, bytes);
    make_file(w, file, bytes);
    int *got = WL_ARRAY(w, int, 4 * windows), *want = WL_ARRAY(w, int, 4 * windows);

    CUdeviceptr d_file = wl_upload(w, file, bytes), d_digests = wl_alloc(w, 16 * windows);
    WL_LAUNCH(w, "sto_hash_windows", wl_dim((unsigned)blocks, 1), wl_dim(THREADS, 1), 0, &d_file, &window,
              &d_digests);
    wl_get(w, got, d_digests, 16 * windows);
    uint32_t empty[4];
    md5((const unsigned char *)"", 0, empty);
    wl_check_that(w, empty[0] == 0xd98c1dd4, "the reference does not hash the empty message to d41d8cd9...");
    for (size_t i = 0; w->check && i < windows; i++)
        md5(file + 4 * i, 4 * (size_t)window, (uint32_t *)want + 4 * i);
    wl_check_int(w, "digest word", got, want, 4 * windows);
}

const struct workload workload = {"STO", run};
