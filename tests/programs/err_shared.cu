// A store far outside the block's shared memory.
#include "err.h"

__global__ void beyond(int *p, int index) {
    __shared__ int s[32];
    s[threadIdx.x] = p[threadIdx.x];
    s[index] = 1;
    __syncthreads();
    p[threadIdx.x] = s[31 - threadIdx.x];
}

int main() {
    int *dev = good_memory();
    beyond<<<1, 32>>>(dev, 5);
    SYNC();
    beyond<<<1, 32>>>(dev, 1 << 20);
    printf("sync: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    printf("last: %s\n", cudaGetErrorName(cudaGetLastError()));
    printf("malloc sticks %d\n", cudaMalloc(&dev, 16) != cudaSuccess);
    return 0;
}
