// Random numbers by Mersenne Twisters, and their transformation to normal ones (Box-Muller).
//
// Each thread runs a small twister of 19 words with parameters of its own; the words are an array in local
// memory, indexed in a circle. Threads of a warp store neighbouring numbers.
#include "device.h"

#define STATE      19
#define MIDDLE     9
#define UPPER      0xfffffffeu
#define LOWER      1u
#define SHIFT_0    12
#define SHIFT_B    7
#define SHIFT_C    15
#define SHIFT_1    18
#define TWO_TO_M32 2.3283064365386963e-10f

// What distinguishes one twister from another.
struct twister {
    unsigned matrix, mask_b, mask_c, seed;
};

KERNEL twister_numbers(const twister *twisters, float *out, int per_thread) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    unsigned state[STATE];
    twister t = twisters[thread];
    state[0] = t.seed;
#pragma unroll 1
    for (int i = 1; i < STATE; i++)
        state[i] = 1812433253u * (state[i - 1] ^ (state[i - 1] >> 30)) + i;

    int at = 0;
    unsigned current = state[0];
#pragma unroll 1
    for (int i = 0; i < per_thread; i++) {
        int next = at + 1, far = at + MIDDLE;
        if (next >= STATE)
            next -= STATE;
        if (far >= STATE)
            far -= STATE;
        unsigned after = state[next], x = (current & UPPER) | (after & LOWER);
        x = state[far] ^ (x >> 1) ^ ((x & 1) ? t.matrix : 0);
        state[at] = x;
        current = after;
        at = next;

        x ^= x >> SHIFT_0;
        x ^= (x << SHIFT_B) & t.mask_b;
        x ^= (x << SHIFT_C) & t.mask_c;
        x ^= x >> SHIFT_1;
        // in (0, 1]
        out[thread + i * threads] = ((float)x + 1.0f) * TWO_TO_M32;
    }
}

// Two uniform numbers of a thread, one row of `threads` apart, become two normal ones.
KERNEL twister_normals(float *numbers, int per_thread) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
#pragma unroll 1
    for (int i = 0; i < per_thread; i += 2) {
        float *first = &numbers[thread + i * threads], *second = first + threads;
        float radius = sqrtf(-2.0f * logf(*first)), angle = 6.28318530718f * *second;
        *first = radius * __cosf(angle);
        *second = radius * __sinf(angle);
    }
}
