// Host memory that the device reaches: pinned, mapped with its device pointer, registered, write-combined;
// and that the device sees what the host wrote, and the other way round.
#include "test.h"

__global__ void transform(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2.0f + 1.0f;
}

__global__ void count_up(int *p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] += i;
    if (i == 0)
        __threadfence_system();
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 3000);
    CHECK(cudaSetDeviceFlags(cudaDeviceMapHost));
    int can_map = 0;
    CHECK(cudaDeviceGetAttribute(&can_map, cudaDevAttrCanMapHostMemory, 0));
    printf("can map %d\n", can_map);

    float *in, *out, *din, *dout;
    CHECK(cudaHostAlloc(&in, n * sizeof(float), cudaHostAllocMapped | cudaHostAllocWriteCombined));
    CHECK(cudaHostAlloc(&out, n * sizeof(float), cudaHostAllocMapped | cudaHostAllocPortable));
    for (int i = 0; i < n; i++)
        in[i] = float(i);
    CHECK(cudaHostGetDevicePointer(&din, in, 0));
    CHECK(cudaHostGetDevicePointer(&dout, out, 0));
    transform<<<div_up(n, 128), 128>>>(din, dout, n);
    SYNC();
    bool ok = true;
    for (int i = 0; i < n; i++)
        ok = ok && out[i] == 2.0f * i + 1.0f;
    verdict("mapped", ok);
    unsigned flags = 0;
    CHECK(cudaHostGetFlags(&flags, out));
    printf("mapped flag %d\n", (flags & cudaHostAllocMapped) != 0);

    int *pinned;
    CHECK(cudaMallocHost(&pinned, n * sizeof(int)));
    for (int i = 0; i < n; i++)
        pinned[i] = 10 * i;
    dev_array<int> dev(n);
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMemcpyAsync(dev, pinned, n * sizeof(int), cudaMemcpyHostToDevice, stream));
    count_up<<<div_up(n, 64), 64, 0, stream>>>(dev, n);
    CHECK(cudaMemcpyAsync(pinned, dev, n * sizeof(int), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    count_up<<<div_up(n, 64), 64, 0, stream>>>(pinned, n); // unified addressing: the host's pointer serves
    CHECK(cudaStreamSynchronize(stream));
    ok = true;
    for (int i = 0; i < n; i++)
        ok = ok && pinned[i] == 12 * i;
    verdict("pinned", ok);
    CHECK(cudaStreamDestroy(stream));

    cudaPointerAttributes attr;
    CHECK(cudaPointerGetAttributes(&attr, pinned));
    printf("pinned is host memory %d\n", attr.type == cudaMemoryTypeHost);
    CHECK(cudaPointerGetAttributes(&attr, dev.ptr));
    printf("malloc is device memory %d\n",
           attr.type == cudaMemoryTypeDevice && attr.devicePointer == dev.ptr);
    CHECK(cudaPointerGetAttributes(&attr, &n));
    printf("stack is unregistered %d\n", attr.type == cudaMemoryTypeUnregistered);

    std::vector<int> plain(4096, 5);
    int *dplain;
    CHECK(cudaHostRegister(plain.data(), plain.size() * sizeof(int), cudaHostRegisterMapped));
    CHECK(cudaHostGetDevicePointer(&dplain, plain.data(), 0));
    count_up<<<32, 128>>>(dplain, 4096);
    SYNC();
    ok = true;
    for (int i = 0; i < 4096; i++)
        ok = ok && plain[i] == 5 + i;
    verdict("registered", ok);
    CHECK(cudaHostUnregister(plain.data()));
    printf("unregister twice: %s\n", cudaGetErrorName(cudaHostUnregister(plain.data())));
    CHECK(cudaFreeHost(in));
    CHECK(cudaFreeHost(out));
    CHECK(cudaFreeHost(pinned));
    (void)cudaGetLastError();
    return finish();
}
