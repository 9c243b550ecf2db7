// A cooperative launch: the whole grid meets at barriers (Jacobi iterations in one kernel), and so do all
// blocks in a hand-made barrier of atomics and fences.
#include "test.h"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void jacobi(float *a, float *b, int n, int rounds) {
    cg::grid_group grid = cg::this_grid();
    for (int r = 0; r < rounds; r++) {
        float *src = r & 1 ? b : a, *dst = r & 1 ? a : b;
        for (int i = int(grid.thread_rank()); i < n; i += int(grid.size()))
            dst[i] = i == 0 || i == n - 1 ? src[i] : __fmul_rn(0.5f, __fadd_rn(src[i - 1], src[i + 1]));
        grid.sync();
    }
}

__device__ volatile unsigned arrived;

__global__ void rotate_blocks(volatile int *slots, int *out, int rounds) {
    int value = int(blockIdx.x);
    for (int r = 0; r < rounds; r++) {
        if (threadIdx.x == 0) {
            slots[blockIdx.x] = value;
            __threadfence();
            atomicAdd((unsigned *)&arrived, 1u);
            while (arrived < (2 * r + 1) * gridDim.x)
                ;
            value = slots[(blockIdx.x + 1) % gridDim.x] * 3 + 1;
            __threadfence();
            atomicAdd((unsigned *)&arrived, 1u);
            while (arrived < (2 * r + 2) * gridDim.x)
                ;
        }
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = value;
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 2000), rounds = 10, supported = 0;
    CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, 0));
    printf("cooperative launch %d\n", supported);
    std::vector<float> v(n), w(n);
    random_source rng(31);
    for (float &x : v)
        x = rng.unit();
    dev_array<float> a(v), b(n);
    float *pa = a, *pb = b;
    void *args[] = {&pa, &pb, &n, &rounds};
    CHECK(cudaLaunchCooperativeKernel((void *)jacobi, dim3(6), dim3(128), args, 0, 0));
    SYNC();
    for (int r = 0; r < rounds; r++) {
        for (int i = 0; i < n; i++)
            w[i] = i == 0 || i == n - 1 ? v[i] : 0.5f * (v[i - 1] + v[i + 1]);
        v.swap(w);
    }
    verdict("jacobi", a.get() == v);
    print_sum("jacobi", a.get());

    int blocks = 8, turns = 5;
    dev_array<int> slots(blocks), out(blocks);
    rotate_blocks<<<blocks, 32>>>(slots, out, turns);
    SYNC();
    print_sum("rotated", out.get());

    int too_many = 1 << 20;
    printf("too many blocks: %s\n", cudaGetErrorName(cudaLaunchCooperativeKernel(
                                        (void *)jacobi, dim3(too_many), dim3(128), args, 0, 0)));
    (void)cudaGetLastError();
    return finish();
}
