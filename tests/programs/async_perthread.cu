// Default streams of two threads do not wait for each other: one thread's kernel waits for what the other does.
#include "test.h"
#include <thread>

__global__ void gate(volatile int *flag, int *out) {
    while (*flag == 0)
        ;
    *out = 5;
}

__global__ void put(int *p, int v) {
    *p = v;
}

int main() {
    cudaFuncAttributes a;
    CHECK(cudaFuncGetAttributes(&a, gate));
    CHECK(cudaFuncGetAttributes(&a, put));
    int *flag, *view, got = 0;
    CHECK(cudaHostAlloc(&flag, 4096, cudaHostAllocMapped));
    CHECK(cudaHostGetDevicePointer(&view, flag, 0));
    *(volatile int *)flag = 0;
    dev_array<int> x(1), y(1);
    CHECK(cudaDeviceSynchronize());
    gate<<<1, 32>>>(view, x);
    CHECK(cudaGetLastError());
    std::thread other([&] {
        int mine = 0;
        put<<<1, 1>>>(y, 7);
        CHECK(cudaMemcpy(&mine, y.ptr, sizeof mine, cudaMemcpyDeviceToHost));
        printf("other thread %d\n", mine);
    });
    other.join();
    printf("gate: %s\n", cudaGetErrorName(cudaStreamQuery(0)));
    *(volatile int *)flag = 1;
    CHECK(cudaMemcpy(&got, x.ptr, sizeof got, cudaMemcpyDeviceToHost));
    printf("gate %d, %s\n", got, cudaGetErrorName(cudaStreamQuery(cudaStreamPerThread)));
    CHECK(cudaFreeHost(flag));
    return finish();
}
