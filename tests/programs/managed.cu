// Managed memory: allocations and __managed__ variables that both sides read and write, pointers inside
// structures, prefetch and advice (whose refusal is ignored: not every device has them).
#include "test.h"

struct node {
    int value;
    node *next;
};

__managed__ int counter = 7, done;
__managed__ double table[64];

__global__ void walk(node *head, long long *sum) {
    long long s = 0;
    for (node *n = head; n; n = n->next) {
        s = s * 31 + n->value;
        n->value = -n->value;
    }
    *sum = s;
}

__global__ void work(int *data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] = data[i] * 3 + counter;
    if (i < 64)
        table[i] += i * 0.5;
    if (i == 0)
        atomicAdd(&done, n);
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 5000);
    int *data;
    CHECK(cudaMallocManaged(&data, n * sizeof(int)));
    for (int i = 0; i < n; i++)
        data[i] = i;
    for (int i = 0; i < 64; i++)
        table[i] = i;
    cudaMemLocation gpu = {cudaMemLocationTypeDevice, 0};
    (void)cudaMemAdvise(data, n * sizeof(int), cudaMemAdviseSetPreferredLocation, gpu);
    (void)cudaMemPrefetchAsync(data, n * sizeof(int), gpu, 0);
    (void)cudaGetLastError();
    for (int round = 0; round < 3; round++) {
        work<<<div_up(n, 128), 128>>>(data, n);
        SYNC();
        printf("round %d done %d data %d table %g\n", round, done, data[n - 1], table[63]);
        counter += 2;
    }
    printf("data %016llx\n", (unsigned long long)fnv(data, n * sizeof(int)));

    node *nodes;
    long long *sum;
    CHECK(cudaMallocManaged(&nodes, 100 * sizeof(node)));
    CHECK(cudaMallocManaged(&sum, sizeof *sum, cudaMemAttachGlobal));
    long long want = 0;
    for (int i = 0; i < 100; i++)
        nodes[i * 37 % 100] = {i + 1, i < 99 ? &nodes[(i + 1) * 37 % 100] : nullptr};
    for (int i = 0; i < 100; i++)
        want = (long long)((unsigned long long)want * 31 + (i + 1));
    walk<<<1, 1>>>(nodes, sum);
    SYNC();
    verdict("list", *sum == want && nodes[37].value == -2);

    cudaPointerAttributes attr;
    CHECK(cudaPointerGetAttributes(&attr, data));
    printf("managed %d\n", attr.type == cudaMemoryTypeManaged);
    CHECK(cudaMemset(data, 0x11, n * sizeof(int)));
    SYNC();
    printf("set %x\n", data[n / 2]);
    std::vector<int> copy(n);
    CHECK(cudaMemcpy(copy.data(), data, n * sizeof(int), cudaMemcpyDefault));
    print_sum("copy", copy);
    CHECK(cudaFree(data));
    CHECK(cudaFree(nodes));
    CHECK(cudaFree(sum));
    return finish();
}
