// Kernels of cdrv_barriers.c: threads that leave before a barrier, or come to it on other paths than the rest of their warp.
#include "clang_cuda.h"

#define BARRIER(id)          asm volatile("barrier.sync " #id ";" ::: "memory")
#define BARRIER_OF(id, n)    asm volatile("barrier.sync " #id ", " #n ";" ::: "memory")
#define BARRIER_PASS(id, n)  asm volatile("barrier.arrive " #id ", " #n ";" ::: "memory")

// A number that takes n steps to compute.
static __device__ unsigned work(unsigned v, int n) {
    for (int i = 0; i < n; i++)
        v = v * 1664525u + 1013904223u;
    return v;
}

extern "C" {
// Every other warp has ended when the rest meet.
__global__ void exited_warps(unsigned *out) {
    __shared__ unsigned s[256];
    unsigned t = threadIdx.x, i = blockIdx.x * 256 + t;
    s[t] = t * 3;
    if (t / 32 % 2)
        return;
    __syncthreads();
    out[i] = s[(t + 64) % 256] + 1;
}

// Some warps end without coming while others already wait: the barrier opens for those.
__global__ void exit_opens(unsigned *out) {
    __shared__ unsigned s[256];
    unsigned t = threadIdx.x, i = blockIdx.x * 256 + t;
    if (t / 32 % 4 == 3) {
        s[t] = work(t, 500 + t);
        out[i] = s[t];
        return;
    }
    s[t] = t;
    __syncthreads();
    out[i] = s[(t + 32) % 256 / 32 % 4 == 3 ? t : (t + 32) % 256];
}

// Some lanes of each warp end; those that are left still meet, twice.
__global__ void exited_lanes(unsigned *out) {
    __shared__ unsigned s[256];
    unsigned t = threadIdx.x, i = blockIdx.x * 256 + t;
    s[t] = 0;
    if (t % 32 >= 20 + t / 32)
        return;
    s[t] = work(t, t % 7);
    BARRIER(0);
    unsigned v = s[(t / 32 + 1) % 8 * 32 + t % 20];
    BARRIER(0);
    s[t] = v;
    BARRIER(0);
    out[i] = v + s[(t / 32 + 3) % 8 * 32 + t % 20];
}

// Lanes of one warp come to the barrier from two branches.
__global__ void two_branches(unsigned *out) {
    __shared__ unsigned s[256];
    unsigned t = threadIdx.x, i = blockIdx.x * 256 + t;
    s[t] = t;
    if (t % 3 == 0) {
        s[t] = work(t, 20);
        BARRIER(0);
        out[i] = s[255 - t] * 2;
    } else {
        s[t] = work(t, 3);
        BARRIER(0);
        out[i] = s[255 - t] + 7;
    }
}

// How many of the threads that have not left say yes.
__global__ void count_left(unsigned *out) {
    unsigned t = threadIdx.x, i = blockIdx.x * 256 + t, n;
    if (t % 32 > 24 || t / 32 == 5)
        return;
    int yes = t % 3 == 1;
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; barrier.red.popc.u32 %0, 1, p; }" : "=r"(n) : "r"(yes) : "memory");
    out[i] = n;
}

// Half of the warps only arrive, the others wait for them; both kinds of barrier in turn.
__global__ void producers(unsigned *out) {
    __shared__ unsigned s[128];
    unsigned t = threadIdx.x, i = blockIdx.x * 256 + t;
    for (int round = 0; round < 4; round++) {
        if (t < 128) {
            BARRIER_OF(2, 256);
            s[t] = work(t + round, t / 32 * 10);
            BARRIER_PASS(3, 256);
        } else {
            BARRIER_PASS(2, 256);
            BARRIER_OF(3, 256);
            out[i] = out[i] * 5 + s[255 - t];
        }
    }
}

// Lanes leave a loop with a barrier one after the other, and end.
__global__ void leave_loop(unsigned *out) {
    unsigned t = threadIdx.x, i = blockIdx.x * 256 + t;
    for (unsigned k = 0; k < 10 + t % 11; k++) {
        out[i] = out[i] * 3 + k;
        BARRIER(0);
    }
}
}
