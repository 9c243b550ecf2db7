// What waits for what: queries, events across streams, host functions, the default streams, and when copies
// read and write host memory. A kernel that waits for the host holds streams back while the host looks.
#include "test.h"
#include <atomic>

__global__ void gate(volatile int *flag, int want) {
    while (*flag != want)
        ;
}

__global__ void put(int *p, int v) {
    *p = v;
}

__global__ void add(int *to, const int *from) {
    *to = *to * 10 + *from;
}

struct note {
    std::atomic<int> count;
    int order[8];
    const int *seen; // memory it looks at
    int saw;
};

template <int tag> static void CUDART_CB mark(void *arg) {
    note *n = static_cast<note *>(arg);
    if (n->seen)
        n->saw = *n->seen;
    n->order[n->count] = tag;
    n->count++;
}

static const char *name(cudaError_t e) {
    return cudaGetErrorName(e);
}

int main() {
    cudaFuncAttributes a;
    CHECK(cudaFuncGetAttributes(&a, gate));
    CHECK(cudaFuncGetAttributes(&a, put));
    CHECK(cudaFuncGetAttributes(&a, add));
    dev_array<int> x(1), y(1), z(1);
    int *flag, *view, *pinned;
    CHECK(cudaHostAlloc(&flag, 4096, cudaHostAllocMapped));
    CHECK(cudaHostGetDevicePointer(&view, flag, 0));
    CHECK(cudaMallocHost(&pinned, 4096));
    volatile int *open = flag;
    cudaStream_t s, t, blocking;
    CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    CHECK(cudaStreamCreate(&blocking));
    cudaEvent_t before, behind, never;
    CHECK(cudaEventCreate(&before));
    CHECK(cudaEventCreate(&behind));
    CHECK(cudaEventCreate(&never));
    static note notes;
    static int pageable, later;
    CHECK(cudaDeviceSynchronize());
    *open = 0;

    // An event that was never recorded has nothing to wait for.
    printf("never: %s, %s\n", name(cudaEventQuery(never)), name(cudaEventSynchronize(never)));
    CHECK(cudaStreamWaitEvent(s, never, 0));

    // Everything behind the gate waits; what is beside it does not.
    CHECK(cudaEventRecord(before, s));
    gate<<<1, 32, 0, s>>>(view, 1);
    put<<<1, 1, 0, s>>>(x, 5);
    CHECK(cudaEventRecord(behind, s));
    CHECK(cudaStreamWaitEvent(t, behind, 0));
    add<<<1, 1, 0, t>>>(y, x);
    CHECK(cudaLaunchHostFunc(t, mark<1>, &notes));
    CHECK(cudaEventSynchronize(before));
    float ms;
    printf("gate closed: %s %s %s %s, functions run %d\n", name(cudaEventQuery(before)), name(cudaEventQuery(behind)),
           name(cudaStreamQuery(s)), name(cudaStreamQuery(t)), notes.count.load());
    printf("elapsed: %s\n", name(cudaEventElapsedTime(&ms, before, behind)));
    // Pinned memory is read when the copy's turn comes, pageable memory at the call.
    pinned[0] = 1, pageable = 1;
    CHECK(cudaMemcpyAsync(z.ptr, pinned, sizeof(int), cudaMemcpyHostToDevice, s));
    add<<<1, 1, 0, s>>>(y, z);
    CHECK(cudaMemcpyAsync(z.ptr, &pageable, sizeof(int), cudaMemcpyHostToDevice, s));
    add<<<1, 1, 0, s>>>(x, z);
    CHECK(cudaMemcpyAsync(pinned + 1, x.ptr, sizeof(int), cudaMemcpyDeviceToHost, s));
    notes.seen = pinned + 1;
    CHECK(cudaStreamWaitEvent(s, behind, 0));
    CHECK(cudaLaunchHostFunc(s, mark<2>, &notes));
    pinned[0] = 2, pageable = 2, pinned[1] = 0;
    CHECK(cudaLaunchHostFunc(s, mark<3>, &notes));
    *open = 1;
    CHECK(cudaStreamSynchronize(t));
    printf("gate open: %s %s\n", name(cudaEventQuery(behind)), name(cudaStreamQuery(t)));
    CHECK(cudaStreamSynchronize(s));
    printf("functions run %d, saw %d\n", notes.count.load(), notes.saw);
    CHECK(cudaEventElapsedTime(&ms, before, behind));
    printf("took time %d\n", ms > 0);
    CHECK(cudaMemcpy(&later, x.ptr, sizeof later, cudaMemcpyDeviceToHost));
    printf("x %d\n", later);

    // The legacy stream waits for streams that block, and they for it; not for the others.
    *open = 0;
    gate<<<1, 32, 0, s>>>(view, 1); // beside them all
    put<<<1, 1, 0, blocking>>>(x, 1);
    put<<<1, 1>>>(z, 3);
    add<<<1, 1>>>(x, z);
    put<<<1, 1, 0, blocking>>>(z, 4);
    add<<<1, 1, 0, blocking>>>(x, z);
    CHECK(cudaMemcpy(&later, x.ptr, sizeof later, cudaMemcpyDeviceToHost));
    printf("default stream %d, beside it %s\n", later, name(cudaStreamQuery(s)));
    *open = 1;
    CHECK(cudaDeviceSynchronize());

    // A copy to pageable memory has arrived when the call returns.
    put<<<1, 1, 0, s>>>(x, 77);
    CHECK(cudaMemcpyAsync(&later, x.ptr, sizeof later, cudaMemcpyDeviceToHost, s));
    printf("pageable %d\n", later);

    // Loops that ask until it is done end.
    put<<<1, 1, 0, s>>>(x, 78);
    while (cudaStreamQuery(s) == cudaErrorNotReady)
        ;
    put<<<1, 1, 0, t>>>(y, 79);
    CHECK(cudaEventRecord(behind, t));
    while (cudaEventQuery(behind) == cudaErrorNotReady)
        ;
    // A stream may be destroyed with work in it.
    *open = 0;
    gate<<<1, 32, 0, t>>>(view, 1);
    put<<<1, 1, 0, t>>>(y, 80);
    CHECK(cudaStreamDestroy(t));
    *open = 1;
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(&later, y.ptr, sizeof later, cudaMemcpyDeviceToHost));
    printf("y %d\n", later);

    // A host function may wait for the program.
    static std::atomic<int> go{0};
    CHECK(cudaLaunchHostFunc(
        s,
        [](void *) {
            while (!go)
                ;
        },
        nullptr));
    put<<<1, 1, 0, s>>>(x, 81);
    printf("function waits: %s\n", name(cudaStreamQuery(s)));
    go = 1;
    CHECK(cudaStreamSynchronize(s));
    CHECK(cudaMemcpy(&later, x.ptr, sizeof later, cudaMemcpyDeviceToHost));
    printf("x %d\n", later);
    CHECK(cudaFreeHost(flag));
    CHECK(cudaFreeHost(pinned));
    return finish();
}
