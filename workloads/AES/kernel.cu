// AES with a key of 256 bits, electronic code book: a block of 256 threads encrypts 64 blocks of 16 bytes.
//
// A thread owns one column (four bytes) of the state. A round reads one byte from each of the four columns of
// the same 16 bytes, so the state goes through shared memory between rounds, alternating between two
// buffers. The four tables that join substitution and column mixing are copied from constant to shared
// memory first; round keys come through a texture.
#include "device.h"

#define THREADS 256
#define ROUNDS  14

// aes_tables[k][x]: what byte x in row k of a column adds to the mixed column.
__constant__ unsigned aes_tables[4][256];

// Byte `row` of the column that row shifting brings to column `tid`: `row` columns to the right, in the same
// 16 bytes.
DEVICE_FN unsigned aes_byte(const unsigned *state, int tid, int row) {
    return state[(tid & ~3) | ((tid + row) & 3)] >> (8 * row) & 0xff;
}

DEVICE_FN unsigned aes_round(const unsigned (*table)[256], const unsigned *state, int tid) {
    return table[0][aes_byte(state, tid, 0)] ^ table[1][aes_byte(state, tid, 1)] ^
           table[2][aes_byte(state, tid, 2)] ^ table[3][aes_byte(state, tid, 3)];
}

// The substituted byte alone: the second byte of table 0 is multiplied by one.
DEVICE_FN unsigned aes_substitute(const unsigned (*table)[256], unsigned x) {
    return table[0][x] >> 8 & 0xff;
}

KERNEL aes_encrypt256(unsigned *result, const unsigned *data, texture_t round_keys) {
    __shared__ unsigned state[2][THREADS];
    __shared__ unsigned table[4][256];
    int tid = threadIdx.x, at = blockIdx.x * THREADS + tid;
#pragma unroll
    for (int k = 0; k < 4; k++)
        table[k][tid] = aes_tables[k][tid];
    state[0][tid] = data[at] ^ (unsigned)texture_1d_int(round_keys, tid & 3);
    __syncthreads();

#pragma unroll
    for (int round = 1; round < ROUNDS; round++) {
        state[round & 1][tid] = aes_round(table, state[(round & 1) ^ 1], tid) ^
                                (unsigned)texture_1d_int(round_keys, 4 * round + (tid & 3));
        __syncthreads();
    }

    const unsigned *last = state[(ROUNDS & 1) ^ 1];
    unsigned column = 0;
#pragma unroll
    for (int row = 0; row < 4; row++)
        column |= aes_substitute(table, aes_byte(last, tid, row)) << (8 * row);
    result[at] = column ^ (unsigned)texture_1d_int(round_keys, 4 * ROUNDS + (tid & 3));
}
