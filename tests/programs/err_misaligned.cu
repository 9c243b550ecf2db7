// A four-byte load from an odd address.
#include "err.h"

__global__ void odd(char *p, int offset, int *out) {
    *out = *reinterpret_cast<int *>(p + offset);
}

int main() {
    int *dev = good_memory();
    odd<<<1, 1>>>(reinterpret_cast<char *>(dev), 9, dev + 10);
    printf("launching: %s\n", cudaGetErrorName(cudaGetLastError()));
    after_error(dev);
    return 0;
}
