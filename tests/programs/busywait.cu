// Kernels that wait for the clock, as programs do to keep a GPU busy for some time.
#include "test.h"

__global__ void wait(long long cycles, int *turns) {
    long long start = clock64(), now = start;
    int n = 0;
    while (now - start < cycles) {
        now = clock64();
        n++;
    }
    turns[blockIdx.x * blockDim.x + threadIdx.x] = n;
}

__global__ void stamp(long long *at) {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(*at)::"memory");
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 2000000);
    dev_array<int> turns(64);
    dev_array<long long> first(1), second(1);
    stamp<<<1, 1>>>(first);
    wait<<<1, 64>>>(n, turns);
    stamp<<<1, 1>>>(second);
    SYNC();
    bool some = true, few = true;
    for (int t : turns.get()) {
        some &= t > 0;
        few &= t <= n / 16; // no GPU reads its clock faster
    }
    verdict("waited", some);
    verdict("not for long", few);
    verdict("later", second.get()[0] - first.get()[0] >= n / 3);
    return finish();
}
