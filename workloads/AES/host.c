/* AES: encryption of an image, 256-bit key. See README.md. */
#include "host.h"
#include <string.h>

enum { THREADS = 256, BLOCK_BYTES = 4 * THREADS, ROUNDS = 14, KEY_BYTES = 32, SCHEDULE = 16 * (ROUNDS + 1) };

static const int grid_blocks[WL_SIZES] = {24, 257, 257, 257};

static unsigned char times2(unsigned char v) {
    return (unsigned char)(v << 1 ^ (v & 0x80 ? 0x1b : 0));
}

static unsigned char times(unsigned char a, unsigned char b) {
    unsigned char product = 0;
    for (; b; b >>= 1, a = times2(a))
        product ^= b & 1 ? a : 0;
    return product;
}

/* The inverse in the field of 256 elements, then an affine map of its bits. */
static void make_substitution(unsigned char box[256]) {
    for (int x = 0; x < 256; x++) {
        unsigned inverse = 0;
        for (int y = 1; y < 256 && !inverse; y++)
            if (times((unsigned char)x, (unsigned char)y) == 1)
                inverse = (unsigned)y;
        unsigned bits = inverse | inverse << 8;
        box[x] = (unsigned char)((bits ^ bits >> 4 ^ bits >> 5 ^ bits >> 6 ^ bits >> 7) ^ 0x63);
    }
}

static void expand_key(const unsigned char box[256], const unsigned char *key, unsigned char *schedule) {
    unsigned char constant = 1;
    memcpy(schedule, key, KEY_BYTES);
    for (int i = KEY_BYTES; i < SCHEDULE; i += 4) {
        unsigned char t[4];
        memcpy(t, schedule + i - 4, 4);
        if (i % KEY_BYTES == 0) {
            unsigned char first = t[0];
            for (int k = 0; k < 4; k++)
                t[k] = box[k < 3 ? t[k + 1] : first];
            t[0] ^= constant;
            constant = times2(constant);
        } else if (i % KEY_BYTES == 16) {
            for (int k = 0; k < 4; k++)
                t[k] = box[t[k]];
        }
        for (int k = 0; k < 4; k++)
            schedule[i + k] = schedule[i + k - KEY_BYTES] ^ t[k];
    }
}

/* Byte `row` of a column holds bits 8 row and up: the order in which bytes lie in memory. */
static void make_tables(const unsigned char box[256], uint32_t table[4][256]) {
    for (int x = 0; x < 256; x++) {
        uint32_t s = box[x], s2 = times2(box[x]);
        uint32_t column = s2 | s << 8 | s << 16 | (s2 ^ s) << 24;
        for (int k = 0; k < 4; k++)
            table[k][x] = k ? column << (8 * k) | column >> (32 - 8 * k) : column;
    }
}

/* One block of 16 bytes, byte by byte as the standard describes it. */
static void reference(const unsigned char box[256], const unsigned char *schedule, const unsigned char *in,
                      unsigned char *out) {
    unsigned char s[16], t[16];
    for (int i = 0; i < 16; i++)
        s[i] = in[i] ^ schedule[i];
    for (int round = 1; round <= ROUNDS; round++) {
        for (int i = 0; i < 16; i++)
            t[i] = box[s[(i + 4 * (i % 4)) % 16]];
        for (int i = 0; i < 16; i++) {
            const unsigned char *c = t + i / 4 * 4;
            int r = i % 4;
            unsigned char mixed = times(c[r], 2) ^ times(c[(r + 1) % 4], 3) ^ c[(r + 2) % 4] ^ c[(r + 3) % 4];
            s[i] = (round < ROUNDS ? mixed : t[i]) ^ schedule[16 * round + i];
        }
    }
    memcpy(out, s, 16);
}

/* The example of FIPS 197, appendix C.3. */
static bool reference_is_aes(const unsigned char box[256]) {
    static const unsigned char expected[16] = {0x8e, 0xa2, 0xb7, 0xca, 0x51, 0x67, 0x45, 0xbf,
                                               0xea, 0xfc, 0x49, 0x90, 0x4b, 0x49, 0x60, 0x89};
    unsigned char key[KEY_BYTES], text[16], schedule[SCHEDULE], out[16];
    for (int i = 0; i < KEY_BYTES; i++)
        key[i] = (unsigned char)i;
    for (int i = 0; i < 16; i++)
        text[i] = (unsigned char)(17 * i);
    expand_key(box, key, schedule);
    reference(box, schedule, text, out);
    return !memcmp(out, expected, 16);
}

static void run(struct wl *w) {
    int blocks = wl_option(w, "blocks", grid_blocks[w->size]);
    if (blocks < 1)
        wl_fail(w, "blocks must be positive");
    size_t bytes = (size_t)blocks * BLOCK_BYTES;
    unsigned char box[256], key[KEY_BYTES], schedule[SCHEDULE];
    uint32_t table[4][256];
    make_substitution(box);
    make_tables(box, table);
    for (int i = 0; i < KEY_BYTES; i++)
        key[i] = (unsigned char)wl_random_below(w, 256);
    expand_key(box, key, schedule);
    unsigned char *image = WL_ARRAY(w, unsigned char, bytes), *want = WL_ARRAY(w, unsigned char, bytes),
                  *got = WL_ARRAY(w, unsigned char, bytes);
    wl_image(w, image, BLOCK_BYTES / 2, 2 * blocks);

    wl_symbol(w, "aes_tables", table, sizeof table);
    CUdeviceptr d_image = wl_upload(w, image, bytes), d_result = wl_alloc(w, bytes);
    CUtexObject keys =
        wl_texture_1d(w, wl_upload(w, schedule, SCHEDULE), SCHEDULE, CU_AD_FORMAT_SIGNED_INT32, 1);
    WL_LAUNCH(w, "aes_encrypt256", wl_dim((unsigned)blocks, 1), wl_dim(THREADS, 1), 0, &d_result, &d_image,
              &keys);
    wl_get(w, got, d_result, bytes);
    wl_check_that(w, reference_is_aes(box), "the reference does not encrypt the standard's example");
    for (size_t at = 0; w->check && at < bytes; at += 16)
        reference(box, schedule, image + at, want + at);
    wl_check_bytes(w, "cipher text", got, want, bytes);
}

const struct workload workload = {"AES", run};
