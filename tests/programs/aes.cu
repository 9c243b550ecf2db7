// AES-128 encryption, a thread per block of text, tables in __constant__ memory and round keys in shared
// memory; checked with the example of FIPS 197 and by decrypting on the host.
#include "test.h"

__constant__ unsigned char sbox_dev[256];
__constant__ unsigned te0[256];
__constant__ unsigned round_keys[44];

__device__ unsigned rotl(unsigned v, int n) {
    return v << n | v >> (32 - n);
}

__device__ unsigned column(unsigned a, unsigned b, unsigned c, unsigned d, unsigned key) {
    return te0[a & 255] ^ rotl(te0[b >> 8 & 255], 8) ^ rotl(te0[c >> 16 & 255], 16) ^ rotl(te0[d >> 24], 24) ^
           key;
}

__device__ unsigned last(unsigned a, unsigned b, unsigned c, unsigned d, unsigned key) {
    return (sbox_dev[a & 255] | unsigned(sbox_dev[b >> 8 & 255]) << 8 |
            unsigned(sbox_dev[c >> 16 & 255]) << 16 | unsigned(sbox_dev[d >> 24]) << 24) ^
           key;
}

__global__ void encrypt(const uint4 *in, uint4 *out, int blocks) {
    __shared__ unsigned key[44];
    if (threadIdx.x < 44)
        key[threadIdx.x] = round_keys[threadIdx.x];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= blocks)
        return;
    uint4 s = in[i];
    s.x ^= key[0], s.y ^= key[1], s.z ^= key[2], s.w ^= key[3];
    for (int r = 1; r < 10; r++) {
        uint4 t;
        t.x = column(s.x, s.y, s.z, s.w, key[4 * r]);
        t.y = column(s.y, s.z, s.w, s.x, key[4 * r + 1]);
        t.z = column(s.z, s.w, s.x, s.y, key[4 * r + 2]);
        t.w = column(s.w, s.x, s.y, s.z, key[4 * r + 3]);
        s = t;
    }
    out[i] = make_uint4(last(s.x, s.y, s.z, s.w, key[40]), last(s.y, s.z, s.w, s.x, key[41]),
                        last(s.z, s.w, s.x, s.y, key[42]), last(s.w, s.x, s.y, s.z, key[43]));
}

typedef unsigned char u8;

static u8 twice(u8 v) {
    return u8(v << 1 ^ (v & 0x80 ? 0x1b : 0));
}

static u8 gf_mul(u8 a, u8 b) {
    u8 r = 0;
    for (; b; b >>= 1, a = twice(a))
        r ^= b & 1 ? a : 0;
    return r;
}

static void make_sbox(u8 *sbox) {
    for (int v = 0; v < 256; v++) {
        u8 inv = 0;
        for (int c = 1; c < 256 && v; c++)
            if (gf_mul(u8(v), u8(c)) == 1)
                inv = u8(c);
        u8 r = 0x63;
        for (int k = 0; k < 5; k++)
            r ^= u8(inv << k | inv >> (8 - k));
        sbox[v] = r;
    }
}

static void expand_key(const u8 *key, const u8 *sbox, u8 *out) {
    memcpy(out, key, 16);
    u8 rcon = 1;
    for (int w = 4; w < 44; w++) {
        u8 t[4];
        memcpy(t, out + 4 * w - 4, 4);
        if (w % 4 == 0) {
            u8 first = t[0];
            t[0] = sbox[t[1]] ^ rcon, t[1] = sbox[t[2]], t[2] = sbox[t[3]], t[3] = sbox[first];
            rcon = twice(rcon);
        }
        for (int k = 0; k < 4; k++)
            out[4 * w + k] = out[4 * w - 16 + k] ^ t[k];
    }
}

static void decrypt_host(u8 *s, const u8 *keys, const u8 *inv) {
    for (int r = 10;; r--) {
        for (int k = 0; k < 16; k++)
            s[k] ^= keys[16 * r + k];
        if (r == 0)
            return;
        for (int c = 0; c < 4 && r < 10; c++) {
            u8 v[4];
            memcpy(v, s + 4 * c, 4);
            for (int k = 0; k < 4; k++)
                s[4 * c + k] = gf_mul(v[k], 14) ^ gf_mul(v[(k + 1) & 3], 11) ^ gf_mul(v[(k + 2) & 3], 13) ^
                               gf_mul(v[(k + 3) & 3], 9);
        }
        u8 t[16];
        for (int k = 0; k < 16; k++)
            t[(k + 4 * (k % 4)) % 16] = inv[s[k]];
        memcpy(s, t, 16);
    }
}

int main(int argc, char **argv) {
    int blocks = size_arg(argc, argv, 2048);
    u8 sbox[256], inv[256], key[16], keys[176];
    make_sbox(sbox);
    unsigned te[256];
    for (int v = 0; v < 256; v++) {
        u8 s = sbox[v];
        inv[s] = u8(v);
        te[v] = twice(s) | unsigned(s) << 8 | unsigned(s) << 16 | unsigned(u8(twice(s) ^ s)) << 24;
    }
    for (int k = 0; k < 16; k++)
        key[k] = u8(k);
    expand_key(key, sbox, keys);
    CHECK(cudaMemcpyToSymbol(sbox_dev, sbox, sizeof sbox));
    CHECK(cudaMemcpyToSymbol(te0, te, sizeof te));
    CHECK(cudaMemcpyToSymbol(round_keys, keys, sizeof keys));
    std::vector<u8> text(blocks * 16);
    random_source rng(19);
    for (u8 &v : text)
        v = u8(rng.next());
    for (int k = 0; k < 16; k++)
        text[k] = u8(k * 17);
    dev_array<u8> in(text), out(text.size());
    encrypt<<<div_up(blocks, 192), 192>>>(reinterpret_cast<uint4 *>(in.ptr),
                                          reinterpret_cast<uint4 *>(out.ptr), blocks);
    SYNC();
    std::vector<u8> got = out.get();
    const u8 fips[16] = {0x69, 0xc4, 0xe0, 0xd8, 0x6a, 0x7b, 0x04, 0x30,
                         0xd8, 0xcd, 0xb7, 0x80, 0x70, 0xb4, 0xc5, 0x5a};
    verdict("fips 197", memcmp(got.data(), fips, 16) == 0);
    print_sum("cipher", got);
    if (blocks > 4096) // the host would take longer than the GPU is worth
        return finish();
    for (int b = 0; b < blocks; b++)
        decrypt_host(&got[b * 16], keys, inv);
    verdict("decrypted", got == text);
    return finish();
}
