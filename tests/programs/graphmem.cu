// Memory that graphs allocate: it is there from the launch that allocates it until it is freed, by the graph,
// by another one or outside, and then again with the next launch.
#include "test.h"

__global__ void fill(int *p, int n, int v) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] = v;
}

__global__ void sum(const int *p, int n, int *out) {
    int s = 0;
    for (int i = threadIdx.x; i < n; i += 32)
        s += p[i];
    for (int o = 16; o; o /= 2)
        s += __shfl_xor_sync(~0u, s, o);
    *out = s;
}

static int *result;

static void answer(const char *what, cudaError_t err) {
    printf("%s: %s\n", what, cudaGetErrorName(err));
    (void)cudaGetLastError();
}

// Used and reserved are rounded in ways of the driver's own; what is certain is how they relate.
static void attributes(const char *when, size_t bytes) {
    unsigned long long v[4];
    for (int i = 0; i < 4; i++)
        CHECK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttributeType(i), &v[i]));
    printf("%s: used %s, high %s, reserved %s, high %s\n", when, v[0] >= bytes && v[0] ? "enough" : v[0] ? "some" : "none",
           v[1] >= v[0] && v[1] ? "mark" : "none", v[2] >= v[0] && v[2] ? "enough" : "none",
           v[3] >= v[2] && v[3] ? "mark" : "none");
}

static void check_sum(const char *when, const int *p, int n, int want) {
    int got = -1;
    sum<<<1, 32>>>(p, n, result);
    SYNC();
    CHECK(cudaMemcpy(&got, result, sizeof got, cudaMemcpyDeviceToHost));
    printf("%s %s\n", when, got == want ? "OK" : "MISMATCH");
}

static void one_graph(size_t bytes) {
    int n = int(bytes / sizeof(int)), one = 1;
    printf("%zu bytes\n", bytes);
    cudaGraph_t g, other;
    cudaGraphExec_t exec, frees, again;
    cudaGraphNode_t a, m, k, f;
    CHECK(cudaGraphCreate(&g, 0));
    cudaMemAllocNodeParams p = {};
    p.poolProps.allocType = cudaMemAllocationTypePinned;
    p.poolProps.location.type = cudaMemLocationTypeDevice;
    p.bytesize = bytes;
    CHECK(cudaGraphAddMemAllocNode(&a, g, nullptr, 0, &p));
    printf("address known %d\n", p.dptr != nullptr);
    cudaMemsetParams ms = {};
    ms.dst = p.dptr;
    ms.elementSize = 4;
    ms.width = n;
    ms.height = 1;
    ms.value = 7;
    CHECK(cudaGraphAddMemsetNode(&m, g, &a, 1, &ms));
    void *args[] = {&p.dptr, &n, &one};
    cudaKernelNodeParams kp = {};
    kp.func = (void *)fill;
    kp.gridDim = dim3(div_up(n, 256));
    kp.blockDim = dim3(256);
    kp.kernelParams = args;
    CHECK(cudaGraphAddKernelNode(&k, g, &m, 1, &kp));
    attributes("built", bytes);
    answer("free before a launch", cudaFree(p.dptr));
    CHECK(cudaGraphInstantiate(&exec, g, 0));
    answer("a second executable", cudaGraphInstantiate(&again, g, 0));
    attributes("instantiated", bytes);
    CHECK(cudaGraphLaunch(exec, 0));
    SYNC();
    attributes("launched", bytes);
    check_sum("sum", (int *)p.dptr, n, n);
    answer("launched while it is there", cudaGraphLaunch(exec, 0));
    CHECK(cudaFree(p.dptr));
    answer("freed twice", cudaFree(p.dptr));
    attributes("freed", bytes);
    CHECK(cudaGraphLaunch(exec, 0));
    check_sum("sum again", (int *)p.dptr, n, n);
    CHECK(cudaFreeAsync(p.dptr, 0));
    SYNC();
    CHECK(cudaGraphLaunch(exec, 0));
    CHECK(cudaGraphCreate(&other, 0));
    CHECK(cudaGraphAddMemFreeNode(&f, other, nullptr, 0, p.dptr));
    void *freed = nullptr;
    CHECK(cudaGraphMemFreeNodeGetParams(f, &freed));
    printf("frees that %d\n", freed == p.dptr);
    CHECK(cudaGraphInstantiate(&frees, other, 0));
    CHECK(cudaGraphLaunch(frees, 0));
    SYNC();
    answer("freed twice by a graph", cudaGraphLaunch(frees, 0));
    CHECK(cudaDeviceGraphMemTrim(0));
    attributes("trimmed", bytes);
    unsigned long long zero = 0, five = 5;
    CHECK(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &zero));
    CHECK(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrReservedMemHigh, &zero));
    attributes("marks reset", bytes);
    answer("mark set to 5", cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &five));
    answer("current set", cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &zero));
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphInstantiate(&exec, g, cudaGraphInstantiateFlagAutoFreeOnLaunch));
    for (int i = 0; i < 3; i++)
        CHECK(cudaGraphLaunch(exec, 0));
    check_sum("sum, freed by itself", (int *)p.dptr, n, n);
    cudaMemAllocNodeParams q = {};
    CHECK(cudaGraphMemAllocNodeGetParams(a, &q));
    printf("the same node %d %d\n", q.dptr == p.dptr, q.bytesize == bytes);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphExecDestroy(frees));
    CHECK(cudaGraphDestroy(g));
    CHECK(cudaGraphDestroy(other));
    check_sum("sum, graph destroyed", (int *)p.dptr, n, n);
    CHECK(cudaFree(p.dptr));
    answer("freed twice, graph destroyed", cudaFree(p.dptr));
    CHECK(cudaDeviceGraphMemTrim(0));
    attributes("trimmed", bytes);
}

static void captured() {
    cudaStream_t s;
    CHECK(cudaStreamCreate(&s));
    cudaGraph_t g;
    cudaGraphExec_t exec;
    int *p, *q, *r, got = 0;
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    CHECK(cudaMallocAsync(&p, 1 << 20, s));
    CHECK(cudaMallocAsync(&q, 1 << 20, s));
    fill<<<4, 256, 0, s>>>(p, 1024, 3);
    CHECK(cudaMemcpyAsync(q, p, 4096, cudaMemcpyDeviceToDevice, s));
    CHECK(cudaFreeAsync(p, s));
    CHECK(cudaMallocAsync(&r, 4096, s));
    CHECK(cudaMemsetAsync(r, 0, 4096, s));
    sum<<<1, 32, 0, s>>>(q, 1024, result);
    CHECK(cudaFreeAsync(q, s));
    CHECK(cudaFreeAsync(r, s));
    CHECK(cudaStreamEndCapture(s, &g));
    CHECK(cudaGraphInstantiate(&exec, g, 0));
    for (int i = 0; i < 3; i++)
        CHECK(cudaGraphLaunch(exec, s));
    CHECK(cudaStreamSynchronize(s));
    CHECK(cudaMemcpy(&got, result, sizeof got, cudaMemcpyDeviceToHost));
    printf("captured: %d\n", got);
    cudaPointerAttributes at;
    CHECK(cudaPointerGetAttributes(&at, q));
    printf("not there any more %d\n", at.type == cudaMemoryTypeUnregistered);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(g));
    CHECK(cudaStreamDestroy(s));
}

int main() {
    CHECK(cudaMalloc(&result, sizeof(int)));
    attributes("start", 0);
    one_graph(1000);
    one_graph(3 << 20);
    captured();
    answer("no such device", cudaDeviceGraphMemTrim(9));
    unsigned long long v;
    answer("no such attribute", cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttributeType(9), &v));
    return finish();
}
