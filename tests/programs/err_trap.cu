// The trap instruction ends the kernel.
#include "err.h"

__global__ void stop(int *p, int when) {
    if (p[threadIdx.x] == when)
        __trap();
    p[threadIdx.x] = 1;
}

int main() {
    int *dev = good_memory();
    stop<<<1, 32>>>(dev, 100);
    SYNC();
    harmless<<<1, 32>>>(dev);
    stop<<<1, 32>>>(dev, 7);
    after_error(dev);
    return 0;
}
