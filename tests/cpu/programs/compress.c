/* Compression by matches and by Huffman codes, and back. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1 << 16, WINDOW = 4096, SHORTEST = 4 };
static uint8_t text[N], packed[2 * N], back[N];

static size_t lz(const uint8_t *in, size_t n, uint8_t *out) {
    static int head[65536];
    size_t o = 0, k = 0;
    memset(head, -1, sizeof head);
    while (k < n) {
        size_t best = 0, from = 0;
        if (k + SHORTEST <= n) {
            uint32_t h =
                (in[k] | in[k + 1] << 8 | in[k + 2] << 16 | (uint32_t)in[k + 3] << 24) * 2654435761u >> 16;
            if (head[h] >= 0 && k - (size_t)head[h] < WINDOW) {
                from = (size_t)head[h];
                while (best < 255 && k + best < n && in[from + best] == in[k + best])
                    best++;
            }
            head[h] = (int)k;
        }
        if (best >= SHORTEST) {
            out[o++] = 1;
            out[o++] = (uint8_t)(k - from);
            out[o++] = (uint8_t)((k - from) >> 8);
            out[o++] = (uint8_t)best;
            k += best;
        } else {
            out[o++] = 0;
            out[o++] = in[k++];
        }
    }
    return o;
}

static size_t unlz(const uint8_t *in, size_t n, uint8_t *out) {
    size_t o = 0;
    for (size_t k = 0; k < n;)
        if (in[k]) {
            size_t from = o - (in[k + 1] | (size_t)in[k + 2] << 8), len = in[k + 3];
            for (size_t j = 0; j < len; j++)
                out[o++] = out[from + j];
            k += 4;
        } else {
            out[o++] = in[k + 1];
            k += 2;
        }
    return o;
}

static uint64_t huffman_bits(const uint8_t *in, size_t n) {
    uint64_t count[512] = {0}, total = 0;
    int nodes = 256, alive[512] = {0};
    for (size_t k = 0; k < n; k++)
        count[in[k]]++;
    for (int k = 0; k < 256; k++)
        alive[k] = count[k] > 0;
    for (;;) {
        int a = -1, b = -1;
        for (int k = 0; k < nodes; k++)
            if (alive[k]) {
                if (a < 0 || count[k] < count[a])
                    b = a, a = k;
                else if (b < 0 || count[k] < count[b])
                    b = k;
            }
        if (b < 0)
            return total;
        alive[a] = alive[b] = 0;
        alive[nodes] = 1;
        count[nodes] = count[a] + count[b];
        total += count[nodes++];
    }
}

int main(void) {
    static const char *const words[] = {"the ",  "quick ", "brown ", "fox ", "jumps ",
                                        "over ", "lazy ",  "dog. ",  "\n"};
    uint32_t s = 7;
    size_t n = 0;
    while (n + 8 < N) {
        s = s * 69069 + 1;
        const char *w = words[(s >> 16) % 9];
        memcpy(text + n, w, strlen(w));
        n += strlen(w);
    }
    size_t m = lz(text, n, packed), r = unlz(packed, m, back);
    printf("%zu -> %zu -> %zu %s\n", n, m, r, memcmp(text, back, n) ? "different" : "same");
    printf("%llu %llu bits\n", (unsigned long long)huffman_bits(text, n),
           (unsigned long long)huffman_bits(packed, m));
    return 0;
}
