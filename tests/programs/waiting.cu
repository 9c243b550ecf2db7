// Threads that wait for others: for the next thread of the grid, for the block before or after, and at a
// barrier in a loop that the threads of a warp leave one after the other.
#include "test.h"

__global__ void wait_for_next_thread(volatile int *done, volatile int *count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (bool ready = false; !ready;)
        if (i == n - 1 || done[i + 1]) {
            count[i] = i == n - 1 ? 1 : count[i + 1] + 1;
            __threadfence();
            done[i] = 1;
            ready = true;
        }
}

__global__ void wait_for_block(volatile int *turn, volatile int *sum, bool backwards) {
    int mine = backwards ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
    if (threadIdx.x != 0)
        return;
    while (*turn != mine)
        ;
    *sum = *sum * 3 + mine;
    __threadfence();
    *turn = mine + 1;
}

__global__ void leave_one_by_one(int *rounds, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = threadIdx.x; k < n; k += 64 + threadIdx.x % 8) {
        rounds[i]++;
        __syncthreads();
    }
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 512), blocks = 100;
    dev_array<int> done(n), count(n);
    wait_for_next_thread<<<n / 128, 128>>>(done, count, n);
    SYNC();
    printf("threads %d\n", count.get()[0]);

    for (int backwards = 0; backwards < 2; backwards++) {
        dev_array<int> turn(1), sum(1);
        int want = 0;
        for (int b = 0; b < blocks; b++)
            want = int(unsigned(want) * 3u + unsigned(b));
        wait_for_block<<<blocks, 32>>>(turn, sum, backwards);
        SYNC();
        verdict(backwards ? "blocks backwards" : "blocks", sum.get()[0] == want);
    }

    dev_array<int> rounds(256);
    std::vector<int> want(256);
    for (int t = 0; t < 256; t++)
        for (int k = t % 128; k < 1000; k += 64 + t % 128 % 8)
            want[t]++;
    leave_one_by_one<<<2, 128>>>(rounds, 1000);
    SYNC();
    verdict("barrier", rounds.get() == want);
    return finish();
}
