// Hashes of a sliding window for content-addressed storage: MD5 of the window at every word of a file.
//
// A block of 128 threads stages the bytes its windows cover in shared memory. Thread t hashes the window that
// starts at word t: for each 64 bytes it lays out its message block, padding included, in a buffer of its
// own, words 128 apart so that threads do not meet in a bank, and transforms it in 64 unrolled steps.
#include "device.h"

#define THREADS   128
#define MAX_WORDS 64

DEVICE_FN unsigned sto_rotate(unsigned v, int by) {
    return v << by | v >> (32 - by);
}

// The MD5 transform of the 16 words at message[0], message[THREADS], ...
DEVICE_FN void sto_transform(unsigned digest[4], const unsigned *message) {
    // floor(2^32 |sin(i + 1)|)
    const unsigned sines[64] = {
        0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
        0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
        0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
        0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
        0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
        0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
        0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
        0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};
    const int turns[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
    unsigned a = digest[0], b = digest[1], c = digest[2], d = digest[3];
#pragma unroll
    for (int i = 0; i < 64; i++) {
        int round = i / 16;
        unsigned f = round == 0   ? (b & c) | (~b & d)
                     : round == 1 ? (b & d) | (c & ~d)
                     : round == 2 ? b ^ c ^ d
                                  : c ^ (b | ~d);
        int word = (round == 0 ? i : round == 1 ? 5 * i + 1 : round == 2 ? 3 * i + 5 : 7 * i) & 15;
        f += a + sines[i] + message[word * THREADS];
        a = d;
        d = c;
        c = b;
        b += sto_rotate(f, turns[round][i & 3]);
    }
    digest[0] += a;
    digest[1] += b;
    digest[2] += c;
    digest[3] += d;
}

KERNEL sto_hash_windows(const unsigned *file, int window_words, uint4 *digests) {
    __shared__ unsigned staged[THREADS + MAX_WORDS];
    __shared__ unsigned message[16 * THREADS];
    int tid = threadIdx.x, first = blockIdx.x * THREADS;
    for (int i = tid; i < THREADS + window_words - 1; i += THREADS)
        staged[i] = file[first + i];
    __syncthreads();

    unsigned digest[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
    // one bit and the length, eight bytes, follow the window
    int message_blocks = (window_words + 3 + 15) / 16;
#pragma unroll 1
    for (int k = 0; k < message_blocks; k++) {
#pragma unroll
        for (int i = 0; i < 16; i++) {
            int at = 16 * k + i;
            unsigned word = 0;
            if (at < window_words)
                word = staged[tid + at];
            else if (at == window_words)
                word = 0x80;
            else if (at == 16 * message_blocks - 2)
                word = 32 * window_words;
            message[i * THREADS + tid] = word;
        }
        sto_transform(digest, message + tid);
    }
    digests[first + tid] = make_uint4(digest[0], digest[1], digest[2], digest[3]);
}
