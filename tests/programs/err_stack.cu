// Recursion without end overflows the thread's stack.
#include "err.h"

__device__ __noinline__ int deeper(int *p, int depth) {
    if (p[depth & 31] < 0) // never
        return depth;
    int frame[32];
    for (int i = 0; i < 32; i++)
        frame[i] = p[(depth + i) & 63] + i;
    int below = deeper(p, depth + 1);
    return frame[below & 31] + below;
}

__global__ void endless(int *p) {
    p[0] = deeper(p, 0);
}

int main() {
    int *dev = good_memory();
    endless<<<1, 1>>>(dev);
    printf("fails %d\n", cudaDeviceSynchronize() != cudaSuccess);
    printf("sticks %d\n", cudaMemset(dev, 0, 4) != cudaSuccess);
    return 0;
}
