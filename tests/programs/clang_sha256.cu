// Built by clang: SHA-256 of many messages, a thread each, with the round constants in __constant__ memory
// set by the host; the digest of "abc" is the standard's.
#include "clang_cuda.h"

__constant__ unsigned round_constant[64];

static __host__ __device__ unsigned rotr(unsigned v, int n) {
    return v >> n | v << (32 - n);
}

// One block of 64 bytes, already padded.
static __host__ __device__ void compress(const unsigned *k, const unsigned *block, unsigned *state) {
    unsigned w[64], s[8];
    for (int i = 0; i < 16; i++)
        w[i] = block[i];
    for (int i = 16; i < 64; i++) {
        unsigned a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + w[i - 7] + (rotr(a, 7) ^ rotr(a, 18) ^ a >> 3) +
               (rotr(b, 17) ^ rotr(b, 19) ^ b >> 10);
    }
    for (int i = 0; i < 8; i++)
        s[i] = state[i];
    for (int i = 0; i < 64; i++) {
        unsigned t1 = s[7] + (rotr(s[4], 6) ^ rotr(s[4], 11) ^ rotr(s[4], 25)) +
                      ((s[4] & s[5]) ^ (~s[4] & s[6])) + k[i] + w[i];
        unsigned t2 = (rotr(s[0], 2) ^ rotr(s[0], 13) ^ rotr(s[0], 22)) +
                      ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        for (int j = 7; j > 0; j--)
            s[j] = s[j - 1];
        s[4] += t1;
        s[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++)
        state[i] += s[i];
}

static __host__ __device__ void start(unsigned *s) {
    s[0] = 0x6a09e667, s[1] = 0xbb67ae85, s[2] = 0x3c6ef372, s[3] = 0xa54ff53a;
    s[4] = 0x510e527f, s[5] = 0x9b05688c, s[6] = 0x1f83d9ab, s[7] = 0x5be0cd19;
}

static __host__ __device__ void digest(const unsigned *k, unsigned message, unsigned *state) {
    unsigned block[16] = {0x61626300u ^ message << 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 24};
    block[0] = (block[0] & 0xffffff00u) | 0x80; // three bytes, then the padding
    start(state);
    compress(k, block, state);
}

__global__ void hash_all(unsigned *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        digest(round_constant, i, out + i * 8);
}

// The first 32 bits of the fractional parts of the cube roots of the first primes, by integer arithmetic.
static void make_constants(unsigned *k) {
    int found = 0;
    for (unsigned p = 2; found < 64; p++) {
        bool prime = true;
        for (unsigned d = 2; d * d <= p; d++)
            prime = prime && p % d;
        if (!prime)
            continue;
        unsigned __int128 lo = 0, hi = (unsigned __int128)8 << 32; // largest r with r^3 <= p * 2^96
        while (hi - lo > 1) {
            unsigned __int128 mid = (lo + hi) / 2;
            if (mid * mid * mid <= (unsigned __int128)p << 96)
                lo = mid;
            else
                hi = mid;
        }
        k[found++] = unsigned(lo);
    }
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 3000);
    unsigned k[64], want[8], abc[8] = {0xba7816bf, 0x8f01cfea, 0x414140de, 0x5dae2223,
                                       0xb00361a3, 0x96177a9c, 0xb410ff61, 0xf20015ad};
    make_constants(k);
    CHECK(cudaMemcpyToSymbol(round_constant, k, sizeof k, 0, cudaMemcpyHostToDevice));
    unsigned *dev = device_array<unsigned>(nullptr, n * 8), *out = new unsigned[n * 8];
    hash_all<<<(n + 63) / 64, 64>>>(dev, n);
    SYNC();
    fetch(out, dev, n * 8);
    bool ok = true;
    for (int i = 0; i < n; i++) {
        digest(k, i, want);
        ok = ok && memcmp(want, out + i * 8, 32) == 0;
    }
    verdict("abc", memcmp(out, abc, 32) == 0);
    verdict("all", ok);
    print_sum("digests", out, n * 32);
    return failures ? 1 : 0;
}
