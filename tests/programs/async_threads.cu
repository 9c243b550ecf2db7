// Several host threads at once: streams of their own, events, host functions, memory that comes and goes.
#include "test.h"
#include <atomic>
#include <thread>

__global__ void inc(int *p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] += 1;
}

static std::atomic<int> called, wrong;

static void CUDART_CB count(void *) {
    called++;
}

static void work(int rounds) {
    const int n = 2048, times = 8;
    cudaStream_t s, t;
    cudaEvent_t behind;
    int *d, *h, *x;
    CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    CHECK(cudaStreamCreate(&t));
    CHECK(cudaEventCreate(&behind));
    CHECK(cudaMalloc(&d, n * sizeof(int)));
    CHECK(cudaMallocHost(&h, n * sizeof(int)));
    for (int round = 0; round < rounds; round++) {
        CHECK(cudaMemsetAsync(d, 0, n * sizeof(int), s));
        for (int k = 0; k < times; k++)
            inc<<<n / 128, 128, 0, s>>>(d, n);
        CHECK(cudaEventRecord(behind, s));
        CHECK(cudaStreamWaitEvent(t, behind, 0));
        inc<<<n / 128, 128, 0, t>>>(d, n);
        CHECK(cudaLaunchHostFunc(t, count, nullptr));
        CHECK(cudaMemcpyAsync(h, d, n * sizeof(int), cudaMemcpyDeviceToHost, t));
        if (round % 3 == 0)
            CHECK(cudaStreamSynchronize(t));
        else if (round % 3 == 1)
            while (cudaStreamQuery(t) == cudaErrorNotReady)
                ;
        else
            CHECK(cudaDeviceSynchronize());
        for (int i = 0; i < n; i++)
            wrong += h[i] != times + 1;
        CHECK(cudaMallocAsync(&x, 1000, s));
        CHECK(cudaFreeAsync(x, s));
    }
    CHECK(cudaFree(d));
    CHECK(cudaFreeHost(h));
    CHECK(cudaStreamDestroy(s));
    CHECK(cudaStreamDestroy(t));
    CHECK(cudaEventDestroy(behind));
}

int main(int argc, char **argv) {
    int rounds = size_arg(argc, argv, 3);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back(work, rounds);
    for (std::thread &t : threads)
        t.join();
    verdict("results", !wrong);
    printf("called %d\n", called.load());
    return finish();
}
