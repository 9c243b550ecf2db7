// Kernels of two streams that wait for each other: a GPU runs them side by side.
#include "test.h"

__global__ void waits(volatile int *word, int want, int *out) {
    while (*word != want)
        ;
    out[threadIdx.x] = want + threadIdx.x;
}

__global__ void tells(volatile int *word, int value) {
    __threadfence();
    *word = value;
}

// Two of these with turns 0 and 1 count together.
__global__ void take_turns(volatile int *word, int turn, int last) {
    for (int now; (now = *word) < last;)
        if (now % 2 == turn) {
            *word = now + 1;
            __threadfence();
        }
}

int main() {
    cudaFuncAttributes a;
    CHECK(cudaFuncGetAttributes(&a, waits));
    CHECK(cudaFuncGetAttributes(&a, tells));
    CHECK(cudaFuncGetAttributes(&a, take_turns));
    dev_array<int> word(1), out(64);
    cudaStream_t s, t;
    CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    CHECK(cudaDeviceSynchronize());
    waits<<<1, 64, 0, s>>>(word, 9, out);
    tells<<<1, 1, 0, t>>>(word, 9);
    SYNC();
    print_sum("waits", out.get());
    CHECK(cudaMemset(word.ptr, 0, sizeof(int)));
    CHECK(cudaDeviceSynchronize());
    take_turns<<<1, 1, 0, s>>>(word, 0, 40);
    take_turns<<<1, 1, 0, t>>>(word, 1, 40);
    SYNC();
    printf("turns %d\n", word.get()[0]);
    return finish();
}
