// What a program asks about functions and devices. Sizes that the compiler or the GPU decides are only
// checked for sense.
#include "test.h"

__constant__ int unused[10];

__global__ void __launch_bounds__(192) bounded(float *p) {
    __shared__ float s[100];
    s[threadIdx.x % 100] = p[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = s[99 - threadIdx.x % 100];
}

__global__ void with_local(int *p, int n) {
    int a[64];
    for (int i = 0; i < 64; i++)
        a[i] = p[i] * i;
    p[n] = a[p[n] & 63];
}

__global__ void plain(int *p) {
    extern __shared__ int dyn[];
    dyn[threadIdx.x] = p[threadIdx.x];
    p[threadIdx.x] = dyn[threadIdx.x] + 1;
}

int main() {
    int count = 0, device = -1, driver = 0, runtime = 0;
    CHECK(cudaGetDeviceCount(&count));
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDriverGetVersion(&driver));
    CHECK(cudaRuntimeGetVersion(&runtime));
    printf("devices %d, current %d, driver serves runtime %d\n", count >= 1, device, driver >= runtime);

    cudaDeviceProp p;
    CHECK(cudaGetDeviceProperties(&p, 0));
    printf("warp %d, block %d, dims %d %d %d, grid %d %d %d\n", p.warpSize, p.maxThreadsPerBlock,
           p.maxThreadsDim[0], p.maxThreadsDim[1], p.maxThreadsDim[2], p.maxGridSize[0], p.maxGridSize[1],
           p.maxGridSize[2]);
    printf("constant %zu, shared %zu, registers %d\n", p.totalConstMem, p.sharedMemPerBlock, p.regsPerBlock);
    printf("name %d, memory %d, processors %d, unified addressing %d, managed %d, maps %d\n", p.name[0] != 0,
           p.totalGlobalMem > (64u << 20), p.multiProcessorCount > 0, p.unifiedAddressing, p.managedMemory,
           p.canMapHostMemory);
    int value = 0, major = 0;
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0));
    CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
    printf("attributes agree %d\n", value == p.warpSize && major == p.major);
    size_t free_bytes, total;
    CHECK(cudaMemGetInfo(&free_bytes, &total));
    printf("memory fits %d\n", free_bytes <= total && total == p.totalGlobalMem);

    cudaFuncAttributes a;
    CHECK(cudaFuncGetAttributes(&a, bounded));
    printf("bounded: shared %zu, max threads %d, registers %d\n", a.sharedSizeBytes, a.maxThreadsPerBlock,
           a.numRegs > 0 && a.numRegs <= 255);
    CHECK(cudaFuncGetAttributes(&a, with_local));
    printf("with_local: shared %zu\n", a.sharedSizeBytes);
    CHECK(cudaFuncGetAttributes(&a, plain));
    printf("plain: shared %zu, max threads %d\n", a.sharedSizeBytes, a.maxThreadsPerBlock);
    CHECK(cudaFuncSetCacheConfig(plain, cudaFuncCachePreferShared));
    CHECK(cudaFuncSetAttribute(plain, cudaFuncAttributePreferredSharedMemoryCarveout, 50));

    int blocks, threads, fewer;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, bounded, 192, 0));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fewer, plain, 64, 40 << 10));
    printf("occupancy %d, limited by shared memory %d\n",
           blocks >= 1 && blocks * 192 <= p.maxThreadsPerMultiProcessor,
           fewer >= 1 && fewer * (40 << 10) <= int(p.sharedMemPerMultiprocessor));
    CHECK(cudaOccupancyMaxPotentialBlockSize(&blocks, &threads, bounded, 0, 0));
    printf("potential %d\n", blocks >= 1 && threads > 0 && threads <= 192 && threads % 32 == 0);
    blocks = 0;
    cudaError_t err = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 2048, 0);
    printf("too large a block: %s %d\n", cudaGetErrorName(err), blocks);
    (void)cudaGetLastError();

    dev_array<int> data(std::vector<int>(128, 3));
    with_local<<<1, 1>>>(data, 100);
    plain<<<1, 64, 64 * sizeof(int)>>>(data);
    dev_array<float> f(192);
    bounded<<<1, 192>>>(f);
    SYNC();
    print_sum("data", data.get());
    size_t limit;
    CHECK(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
    printf("heap %zu\n", limit);
    CHECK(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
    char bus[32];
    CHECK(cudaDeviceGetPCIBusId(bus, sizeof bus, 0));
    printf("bus id %d\n", int(strlen(bus)));
    CHECK(cudaSetDevice(0));
    printf("no such device: %s\n", cudaGetErrorName(cudaSetDevice(99)));
    (void)cudaGetLastError();
    return finish();
}
