// A fault arrives when the program synchronises, a wrong configuration at once.
#include "err.h"

__global__ void wild(volatile int *flag, int *p) {
    while (*flag == 0)
        ;
    p[(1ll << 40) + threadIdx.x] = 1;
}

int main() {
    cudaFuncAttributes a;
    CHECK(cudaFuncGetAttributes(&a, wild));
    int *dev = good_memory(), *flag, *view;
    CHECK(cudaHostAlloc(&flag, 4096, cudaHostAllocMapped));
    CHECK(cudaHostGetDevicePointer(&view, flag, 0));
    cudaStream_t s;
    CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    *(volatile int *)flag = 0;
    CHECK(cudaDeviceSynchronize());
    wild<<<1, 32, 0, s>>>(view, dev);
    printf("launch of the wild one: %s\n", cudaGetErrorName(cudaGetLastError()));
    printf("query: %s\n", cudaGetErrorName(cudaStreamQuery(s)));
    harmless<<<1, 2048, 0, s>>>(dev);
    printf("too many threads: %s\n", cudaGetErrorName(cudaGetLastError()));
    harmless<<<1, 32, 0, s>>>(dev);
    printf("launch behind it: %s\n", cudaGetErrorName(cudaGetLastError()));
    *(volatile int *)flag = 1;
    printf("stream: %s\n", cudaGetErrorName(cudaStreamSynchronize(s)));
    after_error(dev);
    return 0;
}
