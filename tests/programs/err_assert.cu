// A failing device assert; its message goes to stderr.
#undef NDEBUG
#include "err.h"
#include <cassert>

__global__ void check(int *p, int limit) {
    assert(int(threadIdx.x) < limit);
    p[threadIdx.x] = 5;
}

int main() {
    int *dev = good_memory();
    check<<<1, 32>>>(dev, 32);
    SYNC();
    printf("holds\n");
    check<<<1, 32>>>(dev, 31);
    after_error(dev);
    return 0;
}
