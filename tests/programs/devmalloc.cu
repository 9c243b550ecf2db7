// The device heap: malloc and free by every thread, lists that outlive a kernel, new and delete, memset and
// memcpy, and a request that must fail.
#include "test.h"

struct node {
    int value;
    node *next;
};

__global__ void push(node **heads, int count) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < count + t % 3; k++) {
        node *n = static_cast<node *>(malloc(sizeof(node)));
        n->value = t * 100 + k;
        n->next = heads[t];
        heads[t] = n;
    }
}

__global__ void pop_all(node **heads, int *sums) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, sum = 0, k = 0;
    for (node *n = heads[t]; n;) {
        node *next = n->next;
        sum += n->value * ++k;
        free(n);
        n = next;
    }
    sums[t] = sum;
}

__global__ void scratch(int *out) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, n = 8 + t % 5 * 4;
    int *buf = new int[n];
    memset(buf, 0x11, n * sizeof(int));
    for (int i = 0; i < n; i++)
        buf[i] ^= i * t;
    int copy[24];
    memcpy(copy, buf, n * sizeof(int));
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum = sum * 31 + copy[(i * 3 + t) % n];
    out[t] = sum;
    delete[] buf;
}

__global__ void shared_block(int *out) {
    __shared__ int *buf;
    if (threadIdx.x == 0)
        buf = static_cast<int *>(malloc(blockDim.x * sizeof(int)));
    __syncthreads();
    buf[threadIdx.x] = threadIdx.x * 3 + blockIdx.x;
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = buf[blockDim.x - 1 - threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0)
        free(buf);
}

__device__ void *volatile kept; // lets pointers escape, so that the allocations stay

__global__ void too_large(int *out) {
    kept = malloc(size_t(1) << 40);
    out[0] = kept == nullptr;
    free(kept);
    kept = malloc(40);
    out[1] = (reinterpret_cast<size_t>(kept) & 15) == 0;
    free(kept);
}

int main(int argc, char **argv) {
    int count = size_arg(argc, argv, 4), n = 256;
    CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
    dev_array<node *> heads(n);
    dev_array<int> sums(n), flags(2);
    push<<<4, 64>>>(heads, count);
    push<<<4, 64>>>(heads, count);
    pop_all<<<4, 64>>>(heads, sums);
    SYNC();
    print_sum("lists", sums.get());
    scratch<<<4, 64>>>(sums);
    SYNC();
    print_sum("scratch", sums.get());
    shared_block<<<4, 64>>>(sums);
    too_large<<<1, 1>>>(flags);
    SYNC();
    print_sum("block", sums.get());
    printf("too large gives null %d, aligned %d\n", flags.get()[0], flags.get()[1]);
    return finish();
}
