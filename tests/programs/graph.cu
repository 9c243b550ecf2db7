// Graphs: work captured from streams with a fork and a join, launched several times; and one built node by
// node.
#include "test.h"

__global__ void step(int *p, int n, int add) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] = p[i] * 3 + add;
}

__global__ void combine(const int *a, const int *b, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = a[i] - b[i];
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 2000), blocks = div_up(n, 128);
    dev_array<int> a(n), b(n), out(n);
    cudaStream_t main_stream, side;
    cudaEvent_t fork, join;
    CHECK(cudaStreamCreate(&main_stream));
    CHECK(cudaStreamCreate(&side));
    CHECK(cudaEventCreate(&fork));
    CHECK(cudaEventCreate(&join));
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamBeginCapture(main_stream, cudaStreamCaptureModeGlobal));
    step<<<blocks, 128, 0, main_stream>>>(a, n, 1);
    CHECK(cudaEventRecord(fork, main_stream));
    CHECK(cudaStreamWaitEvent(side, fork, 0));
    step<<<blocks, 128, 0, side>>>(b, n, 2);
    step<<<blocks, 128, 0, main_stream>>>(a, n, 5);
    CHECK(cudaEventRecord(join, side));
    CHECK(cudaStreamWaitEvent(main_stream, join, 0));
    combine<<<blocks, 128, 0, main_stream>>>(a, b, out, n);
    CHECK(cudaStreamEndCapture(main_stream, &graph));
    size_t nodes = 0;
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    printf("nodes %zu, nothing ran yet %d\n", nodes, out.get()[n - 1]);
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int round = 0; round < 3; round++) {
        CHECK(cudaGraphLaunch(exec, main_stream));
        CHECK(cudaStreamSynchronize(main_stream));
        printf("round %d: %d\n", round, out.get()[n - 1]);
    }
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));

    cudaGraphNode_t first, second, copy;
    CHECK(cudaGraphCreate(&graph, 0));
    int *pa = a, add = 7, host = 0;
    void *args[] = {&pa, &n, &add};
    cudaKernelNodeParams params = {};
    params.func = (void *)step;
    params.gridDim = dim3(blocks);
    params.blockDim = dim3(128);
    params.kernelParams = args;
    CHECK(cudaGraphAddKernelNode(&first, graph, nullptr, 0, &params));
    CHECK(cudaGraphAddKernelNode(&second, graph, &first, 1, &params));
    CHECK(cudaGraphAddMemcpyNode1D(&copy, graph, &second, 1, &host, pa + n - 1, sizeof host,
                                   cudaMemcpyDeviceToHost));
    CHECK(cudaMemset(a, 0, n * sizeof(int)));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, main_stream));
    CHECK(cudaStreamSynchronize(main_stream));
    printf("by hand: %d\n", host);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaEventDestroy(fork));
    CHECK(cudaEventDestroy(join));
    CHECK(cudaStreamDestroy(main_stream));
    CHECK(cudaStreamDestroy(side));
    return finish();
}
