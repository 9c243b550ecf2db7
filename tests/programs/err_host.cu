// Errors that the host's calls report at once; they do not stick, and the next good launch works.
#include "test.h"

__global__ void kernel(int *p) {
    p[threadIdx.x] = threadIdx.x;
}
__device__ int symbol[4];

static void show(const char *what, cudaError_t err) {
    printf("%s: %s\n", what, cudaGetErrorName(err));
    cudaError_t last = cudaGetLastError();
    if (last != err)
        printf("    last error: %s\n", cudaGetErrorName(last));
}

static void show_launch(const char *what) {
    cudaError_t peeked = cudaPeekAtLastError(), last = cudaGetLastError(), then = cudaGetLastError();
    printf("%s: %s %s %s\n", what, cudaGetErrorName(peeked), cudaGetErrorName(last), cudaGetErrorName(then));
}

int main() {
    int *dev, host[16] = {}, value;
    size_t bytes;
    CHECK(cudaMalloc(&dev, 4096));
    kernel<<<1, 1025>>>(dev);
    show_launch("1025 threads");
    kernel<<<1, dim3(1, 1, 65)>>>(dev);
    show_launch("65 deep");
    kernel<<<0, 32>>>(dev);
    show_launch("no blocks");
    kernel<<<1, 0>>>(dev);
    show_launch("no threads");
    kernel<<<dim3(1, 70000), 32>>>(dev);
    show_launch("70000 high");
    kernel<<<1, 32, 1 << 20>>>(dev);
    show_launch("a megabyte of shared memory");
    kernel<<<1, 32, 49152>>>(dev);
    show_launch("48 KB of shared memory");
    int no_kernel = 0;
    void *args[] = {&dev};
    show("not a kernel", cudaLaunchKernel(&no_kernel, dim3(1), dim3(1), args, 0, 0));
    cudaFuncAttributes attr;
    show("attributes of no kernel", cudaFuncGetAttributes(&attr, &no_kernel));

    void *p = nullptr;
    show("too much memory", cudaMalloc(&p, size_t(1) << 50));
    show("no bytes", cudaMalloc(&p, 0));
    show("null free", cudaFree(nullptr));
    show("free of the stack", cudaFree(host));
    CHECK(cudaMalloc(&p, 256));
    CHECK(cudaFree(p));
    show("free twice", cudaFree(p));
    show("bad kind", cudaMemcpy(dev, host, 4, static_cast<cudaMemcpyKind>(9)));
    show("symbol overflow", cudaMemcpyToSymbol(symbol, host, 32));
    show("no symbol", cudaMemcpyToSymbol(&no_kernel, host, 4));
    show("no symbol size", cudaGetSymbolSize(&bytes, &no_kernel));
    show("narrow pitch", cudaMemcpy2D(dev, 8, host, 16, 16, 2, cudaMemcpyHostToDevice));
    show("bad attribute", cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(100000), 0));
    show("bad device", cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 77));
    show("null event", cudaEventRecord(nullptr));
    cudaEvent_t a, b;
    float ms;
    CHECK(cudaEventCreate(&a));
    CHECK(cudaEventCreate(&b));
    show("unrecorded event", cudaEventElapsedTime(&ms, a, b));
    show("query of an unrecorded event", cudaEventQuery(a));
    show("bad event flags", cudaEventCreateWithFlags(&b, 0x1000));
    show("bad limit", cudaDeviceSetLimit(static_cast<cudaLimit>(77), 1));
    cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    show("huge array", cudaMallocArray(&array, &desc, 1 << 20, 1 << 20));
    desc.x = 5;
    show("odd channel", cudaMallocArray(&array, &desc, 16, 16));

    printf("%s / %s / %s\n", cudaGetErrorString(cudaErrorInvalidValue),
           cudaGetErrorString(cudaErrorMemoryAllocation), cudaGetErrorString(cudaSuccess));
    printf("%s / %s\n", cudaGetErrorName(static_cast<cudaError_t>(12345)),
           cudaGetErrorString(static_cast<cudaError_t>(12345)));
    kernel<<<1, 16>>>(dev);
    SYNC();
    CHECK(cudaMemcpy(host, dev, sizeof host, cudaMemcpyDeviceToHost));
    verdict("still works", host[15] == 15);
    CHECK(cudaDeviceReset());
    CHECK(cudaMalloc(&dev, 64));
    kernel<<<1, 16>>>(dev);
    return finish();
}
