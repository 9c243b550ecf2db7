// The host talks to kernels that run: through mapped, registered and managed memory, by copies of another
// stream, and to and fro. Each kernel waits for a word that the host writes after the launch.
#include "test.h"

__global__ void wait_for(volatile int *flag, int want, int *out) {
    while (*flag != want)
        ;
    out[threadIdx.x] = want * 10 + threadIdx.x;
}

// Answers each number that the host writes until it writes a negative one.
__global__ void answer(volatile int *ask, volatile int *reply) {
    for (int last = 0;;) {
        int now = *ask;
        if (now < 0)
            return;
        if (now == last)
            continue;
        last = now;
        *reply = now * now;
        __threadfence_system();
    }
}

// One of the blocks hears from the host and tells the others through device memory.
__global__ void relay(volatile int *flag, volatile int *inside, int *out) {
    if (blockIdx.x == 0) {
        while (*flag == 0)
            ;
        *inside = *flag;
        __threadfence();
    } else {
        while (*inside == 0)
            ;
    }
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = *inside + blockIdx.x;
}

static void one_word(const char *name, volatile int *host, int *device_view, cudaStream_t s, int *out) {
    *host = 0;
    wait_for<<<1, 32, 0, s>>>(device_view, 7, out);
    CHECK(cudaGetLastError());
    cudaError_t early = cudaStreamQuery(s);
    *host = 7;
    CHECK(cudaStreamSynchronize(s));
    std::vector<int> got(32);
    CHECK(cudaMemcpy(got.data(), out, sizeof(int) * 32, cudaMemcpyDeviceToHost));
    printf("%s: before %s\n", name, cudaGetErrorName(early));
    print_sum(name, got);
}

int main() {
    cudaFuncAttributes a; // loads them: loading could wait for a kernel that waits
    CHECK(cudaFuncGetAttributes(&a, wait_for));
    CHECK(cudaFuncGetAttributes(&a, answer));
    CHECK(cudaFuncGetAttributes(&a, relay));
    dev_array<int> out(1024), inside(1), device_flag(1);
    cudaStream_t s, other;
    CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    int *mapped, *view, *managed, *pinned;
    CHECK(cudaHostAlloc(&mapped, 4096, cudaHostAllocMapped));
    CHECK(cudaHostGetDevicePointer(&view, mapped, 0));
    CHECK(cudaMallocManaged(&managed, 4096));
    CHECK(cudaMallocHost(&pinned, 4096));
    static int registered[4096];
    int *registered_view;
    CHECK(cudaHostRegister(registered, sizeof registered, cudaHostRegisterMapped));
    CHECK(cudaHostGetDevicePointer(&registered_view, registered, 0));
    CHECK(cudaDeviceSynchronize());

    one_word("mapped", mapped, view, s, out);
    one_word("managed", managed, managed, s, out);
    one_word("registered", registered, registered_view, s, out);

    // To and fro; the host neither synchronises nor asks meanwhile.
    volatile int *ask = mapped, *reply = mapped + 512;
    *ask = *reply = 0;
    answer<<<1, 1, 0, s>>>(view, view + 512);
    CHECK(cudaGetLastError());
    long sum = 0;
    for (int i = 1; i <= 20; i++) {
        *ask = i;
        while (*reply != i * i)
            ;
        sum += *reply;
    }
    *ask = -1;
    CHECK(cudaStreamSynchronize(s));
    printf("to and fro %ld\n", sum);

    // A copy of another stream passes the kernel that waits for it.
    wait_for<<<1, 32, 0, s>>>(device_flag.ptr, 3, out);
    CHECK(cudaGetLastError());
    *pinned = 3;
    CHECK(cudaMemcpyAsync(device_flag.ptr, pinned, sizeof(int), cudaMemcpyHostToDevice, other));
    CHECK(cudaStreamSynchronize(other));
    CHECK(cudaStreamSynchronize(s));
    print_sum("copy", out.get());

    // Memory may be allocated while a kernel runs.
    *mapped = 0;
    wait_for<<<1, 32, 0, s>>>(view, 4, out);
    CHECK(cudaGetLastError());
    int *more;
    CHECK(cudaMallocAsync(&more, 1 << 20, other));
    CHECK(cudaMemsetAsync(more, 5, 1 << 20, other));
    CHECK(cudaMemcpyAsync(pinned, more, sizeof(int), cudaMemcpyDeviceToHost, other));
    CHECK(cudaStreamSynchronize(other));
    printf("meanwhile %x, still %s\n", *pinned, cudaGetErrorName(cudaStreamQuery(s)));
    *(volatile int *)mapped = 4;
    CHECK(cudaStreamSynchronize(s));
    print_sum("allocation", out.get());
    CHECK(cudaFreeAsync(more, other));

    *mapped = 0;
    relay<<<8, 64, 0, s>>>(view, inside.ptr, out);
    CHECK(cudaGetLastError());
    *(volatile int *)mapped = 100;
    CHECK(cudaStreamSynchronize(s));
    print_sum("relay", out.get());
    CHECK(cudaFreeHost(mapped));
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaFree(managed));
    CHECK(cudaHostUnregister(registered));
    return finish();
}
