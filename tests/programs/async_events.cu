// Event times: ordered, consistent, and longer for longer work; work of two streams overlaps or does not, but
// takes no longer than one after the other. A gate holds the streams until everything has been submitted, so
// that the times are the GPU's alone.
#include "test.h"

__global__ void gate(volatile int *flag) {
    while (*flag == 0)
        ;
}

__global__ void work(int *p, int rounds) {
    int v = threadIdx.x;
    for (int i = 0; i < rounds; i++)
        v = v * 1664525 + 1013904223;
    p[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

static float between(cudaEvent_t a, cudaEvent_t b) {
    float ms = -1;
    CHECK(cudaEventElapsedTime(&ms, a, b));
    return ms;
}

int main() {
    const int little = 100, much = 8000;
    dev_array<int> x(512), y(512);
    int *flag, *view, *pinned;
    CHECK(cudaHostAlloc(&flag, 4096, cudaHostAllocMapped));
    CHECK(cudaHostGetDevicePointer(&view, flag, 0));
    CHECK(cudaMallocHost(&pinned, 4096));
    volatile int *open = flag;
    cudaStream_t s, t;
    CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    cudaEvent_t e[6];
    for (cudaEvent_t &one : e)
        CHECK(cudaEventCreate(&one));
    *open = 1;
    gate<<<1, 1, 0, s>>>(view);
    work<<<2, 256, 0, s>>>(x, little);
    SYNC();

    *open = 0;
    gate<<<1, 1, 0, s>>>(view);
    CHECK(cudaEventRecord(e[0], s));
    work<<<2, 256, 0, s>>>(x, little);
    CHECK(cudaEventRecord(e[1], s));
    work<<<2, 256, 0, s>>>(x, much);
    CHECK(cudaEventRecord(e[2], s));
    *open = 1;
    CHECK(cudaEventSynchronize(e[2]));
    float first = between(e[0], e[1]), second = between(e[1], e[2]), both = between(e[0], e[2]);
    verdict("ordered", first > 0 && second > 0);
    verdict("longer", second > first);
    verdict("sum", fabsf(first + second - both) < 0.01f * both);
    verdict("back", between(e[2], e[0]) == -both);

    // The second stream waits for the first one's event.
    *open = 0;
    gate<<<1, 1, 0, s>>>(view);
    CHECK(cudaEventRecord(e[3], s));
    work<<<2, 256, 0, s>>>(x, much);
    CHECK(cudaEventRecord(e[4], s));
    CHECK(cudaStreamWaitEvent(t, e[4], 0));
    work<<<2, 256, 0, t>>>(x, much);
    CHECK(cudaEventRecord(e[5], t));
    *open = 1;
    CHECK(cudaEventSynchronize(e[5]));
    float chain = between(e[3], e[5]);
    verdict("behind", between(e[4], e[5]) > 0.5f * second && chain > 1.5f * second);

    // Without the wait they take at most as long, give or take what launches cost.
    *open = 0;
    gate<<<1, 1, 0, s>>>(view);
    CHECK(cudaEventRecord(e[3], s));
    CHECK(cudaStreamWaitEvent(t, e[3], 0));
    work<<<2, 256, 0, s>>>(x, much);
    work<<<2, 256, 0, t>>>(y, much);
    CHECK(cudaEventRecord(e[4], s));
    CHECK(cudaEventRecord(e[5], t));
    *open = 1;
    CHECK(cudaDeviceSynchronize());
    verdict("beside", between(e[3], e[4]) < 1.3f * chain && between(e[3], e[5]) < 1.3f * chain);

    // The events of a copy do not wait for a kernel beside it.
    *open = 0;
    gate<<<1, 1, 0, s>>>(view);
    CHECK(cudaEventRecord(e[3], s));
    CHECK(cudaStreamWaitEvent(t, e[3], 0));
    work<<<2, 256, 0, s>>>(x, 4 * much);
    CHECK(cudaEventRecord(e[4], s));
    CHECK(cudaMemcpyAsync(y.ptr, pinned, 1024, cudaMemcpyHostToDevice, t));
    CHECK(cudaEventRecord(e[5], t));
    *open = 1;
    CHECK(cudaDeviceSynchronize());
    verdict("copy beside", between(e[3], e[5]) > 0 && between(e[5], e[4]) > 0);
    print_sum("x", x.get());
    CHECK(cudaFreeHost(flag));
    CHECK(cudaFreeHost(pinned));
    return finish();
}
