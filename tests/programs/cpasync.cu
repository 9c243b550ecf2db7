// Asynchronous copies from global to shared memory: the pipeline primitives with two stages, inline PTX of 4,
// 8 and 16 bytes with zero fill, and waits for groups.
#include "test.h"
#include <cuda_pipeline.h>

const int B = 128;

__global__ void pipelined(const float4 *in, float4 *out, int tiles) {
    __shared__ float4 stage[2][B];
    int t = threadIdx.x;
    const float4 *src = in + size_t(blockIdx.x) * tiles * B;
    __pipeline_memcpy_async(&stage[0][t], &src[t], sizeof(float4));
    __pipeline_commit();
    float4 acc = {0, 0, 0, 0};
    for (int k = 0; k < tiles; k++) {
        if (k + 1 < tiles)
            __pipeline_memcpy_async(&stage[(k + 1) & 1][t], &src[(k + 1) * B + t], sizeof(float4));
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        float4 v = stage[k & 1][B - 1 - t];
        acc.x += v.x, acc.y += v.y, acc.z += v.z, acc.w += v.w;
        __syncthreads();
    }
    out[blockIdx.x * B + t] = acc;
}

__device__ unsigned shared_address(const void *p) {
    return unsigned(__cvta_generic_to_shared(p));
}

__global__ void by_hand(const int *in, int *out, int n) {
    __shared__ __align__(16) int s4[64], s8[128], s16[256];
    int t = threadIdx.x;
    for (int k = t; k < 256; k += 64)
        s16[k] = -1;
    __syncthreads();
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_address(&s4[t])), "l"(in + t)
                 : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(shared_address(&s8[2 * t])), "l"(in + 2 * t)
                 : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
    int bytes = t % 5 * 4; // the rest of the 16 is filled with zeros
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(&s16[4 * t])),
                 "l"(in + 4 * t), "r"(bytes)
                 : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    int r = s4[63 - t] * 3 + s8[127 - 2 * t] * 5 + s8[2 * t] * 7;
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    for (int k = 0; k < 4; k++)
        r = r * 31 + s16[(4 * (t + 1) + k) & 255];
    out[t] = r;
}

int main(int argc, char **argv) {
    int tiles = size_arg(argc, argv, 20), blocks = 6;
    random_source rng(39);
    std::vector<float4> in(blocks * tiles * B);
    for (float4 &v : in)
        v = make_float4(float(rng.below(100)), float(rng.below(100)), rng.unit(), 1.0f);
    dev_array<float4> src(in), out(blocks * B);
    pipelined<<<blocks, B>>>(src, out, tiles);
    SYNC();
    print_sum("pipelined", out.get());
    std::vector<int> ints(256);
    for (int &v : ints)
        v = int(rng.next());
    dev_array<int> isrc(ints), iout(64);
    by_hand<<<1, 64>>>(isrc, iout, 64);
    SYNC();
    print_sum("by hand", iout.get());
    return finish();
}
