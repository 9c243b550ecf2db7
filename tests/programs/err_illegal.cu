// A store through a wild pointer by one thread of a grid.
#include "err.h"

__global__ void wild(int *p, int block, int thread) {
    if (blockIdx.x == block && threadIdx.x == thread)
        p = reinterpret_cast<int *>(0x100); // nothing is mapped there
    p[threadIdx.x] = 1;
}

int main() {
    int *dev = good_memory();
    wild<<<4, 64>>>(dev, 2, 33);
    printf("launching: %s\n", cudaGetErrorName(cudaGetLastError()));
    after_error(dev);
    return 3;
}
