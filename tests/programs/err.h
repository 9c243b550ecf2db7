// What the programs that provoke an error have in common: they print the name of the error that each later
// call gets.
#pragma once
#include "test.h"

__global__ void harmless(int *p) {
    p[threadIdx.x] = threadIdx.x;
}

// Calls of several kinds after a kernel failed: on a GPU the error sticks to the context.
static void after_error(int *dev) {
    int value = 0;
    printf("sync: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    printf("peek: %s\n", cudaGetErrorName(cudaPeekAtLastError()));
    printf("last: %s\n", cudaGetErrorName(cudaGetLastError()));
    printf("last again: %s\n", cudaGetErrorName(cudaGetLastError()));
    printf("copy: %s\n", cudaGetErrorName(cudaMemcpy(&value, dev, sizeof value, cudaMemcpyDeviceToHost)));
    void *p;
    printf("malloc: %s\n", cudaGetErrorName(cudaMalloc(&p, 16)));
    harmless<<<1, 1>>>(dev);
    printf("launch: %s\n", cudaGetErrorName(cudaGetLastError()));
    printf("sync again: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    cudaStream_t stream;
    printf("stream: %s\n", cudaGetErrorName(cudaStreamCreate(&stream)));
    printf("free: %s\n", cudaGetErrorName(cudaFree(dev)));
    printf("text: %s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}

static int *good_memory() {
    int *dev;
    CHECK(cudaMalloc(&dev, 4096));
    harmless<<<1, 32>>>(dev);
    SYNC();
    return dev;
}
