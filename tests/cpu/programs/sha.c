/* SHA-256, MD5-like rotations and CRC32 of generated text. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static uint32_t k256[64];

static uint32_t ror(uint32_t v, int n) {
    return v >> n | v << (32 - n);
}

static void constants(void) {
    int n = 0;
    for (uint32_t p = 2; n < 64; p++) {
        int prime = 1;
        for (uint32_t d = 2; d * d <= p; d++)
            prime &= p % d != 0;
        if (!prime)
            continue;
        /* the first bits of the fraction of the cube root */
        unsigned __int128 low = 0, high = (unsigned __int128)8 << 32;
        while (high - low > 1) {
            unsigned __int128 mid = (low + high) / 2;
            if (mid * mid * mid <= (unsigned __int128)p << 96)
                low = mid;
            else
                high = mid;
        }
        k256[n++] = (uint32_t)low;
    }
}

static void block(uint32_t *h, const uint8_t *p) {
    uint32_t w[64], v[8];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)p[4 * i] << 24 | p[4 * i + 1] << 16 | p[4 * i + 2] << 8 | p[4 * i + 3];
    for (int i = 16; i < 64; i++)
        w[i] = w[i - 16] + w[i - 7] + (ror(w[i - 15], 7) ^ ror(w[i - 15], 18) ^ w[i - 15] >> 3) +
               (ror(w[i - 2], 17) ^ ror(w[i - 2], 19) ^ w[i - 2] >> 10);
    memcpy(v, h, sizeof v);
    for (int i = 0; i < 64; i++) {
        uint32_t t1 = v[7] + (ror(v[4], 6) ^ ror(v[4], 11) ^ ror(v[4], 25)) +
                      ((v[4] & v[5]) ^ (~v[4] & v[6])) + k256[i] + w[i];
        uint32_t t2 =
            (ror(v[0], 2) ^ ror(v[0], 13) ^ ror(v[0], 22)) + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += t1;
        v[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++)
        h[i] += v[i];
}

static uint32_t crc32(const uint8_t *p, size_t n) {
    uint32_t c = ~0u;
    while (n--) {
        c ^= *p++;
        for (int k = 0; k < 8; k++)
            c = c >> 1 ^ (c & 1 ? 0xedb88320u : 0);
    }
    return ~c;
}

int main(void) {
    static uint8_t text[6400];
    uint32_t h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    constants();
    for (size_t k = 0; k < sizeof text; k++)
        text[k] = (uint8_t)("reprise"[k % 7] + k / 100);
    memset(text + 6336, 0, 64);
    text[6336] = 0x80;
    text[6398] = (uint8_t)(6336 * 8 >> 8);
    text[6399] = (uint8_t)(6336 * 8);
    for (size_t k = 0; k < sizeof text; k += 64)
        block(h, text + k);
    for (int k = 0; k < 8; k++)
        printf("%08x", h[k]);
    printf("\n%08x\n", crc32(text, sizeof text));
    return 0;
}
