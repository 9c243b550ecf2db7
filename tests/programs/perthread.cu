// Built with a default stream per host thread: two threads launch and copy at the same time.
#include "test.h"
#include <thread>

__global__ void fill(int *p, int n, int seed) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] = i * seed ^ (i >> 3);
}

static void work(int seed, int n, std::vector<int> *out) {
    dev_array<int> dev(n);
    for (int round = 0; round < 3; round++)
        fill<<<div_up(n, 64), 64>>>(dev, n, seed + round);
    CHECK(cudaStreamSynchronize(cudaStreamPerThread));
    out->resize(n);
    CHECK(cudaMemcpyAsync(out->data(), dev.ptr, n * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaStreamSynchronize(0));
    cudaEvent_t event;
    CHECK(cudaEventCreate(&event));
    CHECK(cudaEventRecord(event));
    CHECK(cudaEventSynchronize(event));
    CHECK(cudaEventDestroy(event));
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 4000);
    std::vector<int> a, b;
    std::thread first(work, 3, n, &a), second(work, 11, n, &b);
    first.join();
    second.join();
    bool ok = true;
    for (int i = 0; i < n; i++)
        ok = ok && a[i] == ((i * 5) ^ (i >> 3)) && b[i] == ((i * 13) ^ (i >> 3));
    verdict("two threads", ok);
    print_sum("first", a);
    print_sum("second", b);
    return finish();
}
