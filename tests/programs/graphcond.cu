// Conditional nodes: bodies that run if a value is set, while it is, or by number; nested, captured, with
// values that kernels set, that a launch starts with, or that the launch before left.
#include "test.h"

__global__ void set(cudaGraphConditionalHandle h, const int *v) {
    cudaGraphSetConditional(h, *v);
}

__global__ void count_down(cudaGraphConditionalHandle h, int *n) {
    if (threadIdx.x == 0)
        cudaGraphSetConditional(h, --*n > 0);
}

__global__ void note(int *log, int what) {
    log[1 + log[0]++] = what;
}

static int *log_dev, *value;

static void answer(const char *what, cudaError_t err) {
    printf("%s: %s\n", what, cudaGetErrorName(err));
    (void)cudaGetLastError();
}

static void put(int v) {
    CHECK(cudaMemcpy(value, &v, sizeof v, cudaMemcpyHostToDevice));
}

static void show(const char *what) {
    int h[64];
    CHECK(cudaMemcpy(h, log_dev, sizeof h, cudaMemcpyDeviceToHost));
    printf("%s:", what);
    for (int i = 0; i < h[0]; i++)
        printf(" %d", h[1 + i]);
    printf("\n");
    CHECK(cudaMemset(log_dev, 0, 256));
}

static cudaGraphNode_t add_kernel(cudaGraph_t g, cudaGraphNode_t dep, void *kernel, void **args) {
    cudaGraphNode_t n;
    cudaKernelNodeParams p = {};
    p.func = kernel;
    p.gridDim = dim3(1);
    p.blockDim = dim3(1);
    p.kernelParams = args;
    CHECK(cudaGraphAddKernelNode(&n, g, &dep, dep ? 1 : 0, &p));
    return n;
}

static cudaGraphNode_t add_note(cudaGraph_t g, cudaGraphNode_t dep, int what) {
    void *args[] = {&log_dev, &what};
    return add_kernel(g, dep, (void *)note, args);
}

static cudaGraphNode_t add_set(cudaGraph_t g, cudaGraphNode_t dep, cudaGraphConditionalHandle h) {
    void *args[] = {&h, &value};
    return add_kernel(g, dep, (void *)set, args);
}

static cudaError_t add(cudaGraphNode_t *n, cudaGraph_t g, cudaGraphNode_t dep, cudaGraphConditionalHandle h, int type,
                       unsigned size, cudaGraph_t *bodies) {
    cudaGraphNodeParams p = {cudaGraphNodeTypeConditional};
    p.conditional.handle = h;
    p.conditional.type = cudaGraphConditionalNodeType(type);
    p.conditional.size = size;
#if CUDART_VERSION >= 13000
    cudaError_t err = cudaGraphAddNode(n, g, &dep, nullptr, dep ? 1 : 0, &p);
#else
    cudaError_t err = cudaGraphAddNode(n, g, &dep, dep ? 1 : 0, &p);
#endif
    for (unsigned i = 0; err == cudaSuccess && i < size; i++)
        bodies[i] = p.conditional.phGraph_out[i];
    return err;
}

static void launch(cudaGraphExec_t e, const char *what) {
    CHECK(cudaGraphLaunch(e, 0));
    SYNC();
    show(what);
}

static void sizes() {
    for (int type = 0; type < 4; type++)
        for (unsigned size = 0; size < 4; size++) {
            cudaGraph_t g, bodies[4];
            cudaGraphNode_t n;
            cudaGraphConditionalHandle h;
            cudaGraphNodeType kind = cudaGraphNodeTypeEmpty;
            CHECK(cudaGraphCreate(&g, 0));
            CHECK(cudaGraphConditionalHandleCreate(&h, g, 0, 0));
            cudaError_t err = add(&n, g, nullptr, h, type, size, bodies);
            if (!err)
                CHECK(cudaGraphNodeGetType(n, &kind));
            printf("type %d, %u bodies: %s, node type %d\n", type, size, cudaGetErrorName(err), kind);
            (void)cudaGetLastError();
            CHECK(cudaGraphDestroy(g));
        }
}

static void branches() {
    for (unsigned size = 1; size <= 2; size++) {
        cudaGraph_t g, bodies[2];
        cudaGraphExec_t e;
        cudaGraphNode_t n;
        cudaGraphConditionalHandle h;
        CHECK(cudaGraphCreate(&g, 0));
        CHECK(cudaGraphConditionalHandleCreate(&h, g, 0, 0));
        CHECK(add(&n, g, add_set(g, nullptr, h), h, cudaGraphCondTypeIf, size, bodies));
        for (unsigned i = 0; i < size; i++)
            add_note(bodies[i], add_note(bodies[i], nullptr, 10 + i), 20 + i);
        add_note(g, n, 99);
        CHECK(cudaGraphInstantiate(&e, g, 0));
        for (int v = 0; v < 3; v++) {
            put(v);
            launch(e, size == 1 ? "if" : "if, else");
        }
        CHECK(cudaGraphExecDestroy(e));
        CHECK(cudaGraphDestroy(g));
    }
}

static void loops() {
    cudaGraph_t g, body, inner;
    cudaGraphExec_t e;
    cudaGraphNode_t n, m;
    cudaGraphConditionalHandle h, h2;
    CHECK(cudaGraphCreate(&g, 0));
    CHECK(cudaGraphConditionalHandleCreate(&h, g, 1, cudaGraphCondAssignDefault));
    CHECK(cudaGraphConditionalHandleCreate(&h2, g, 1, cudaGraphCondAssignDefault));
    CHECK(add(&n, g, nullptr, h, cudaGraphCondTypeWhile, 1, &body));
    void *args[] = {&h, &value};
    cudaGraphNode_t counts = add_kernel(body, add_note(body, nullptr, 5), (void *)count_down, args);
    CHECK(add(&m, body, counts, h2, cudaGraphCondTypeIf, 1, &inner));
    add_note(inner, nullptr, 6);
    add_note(g, n, 99);
    CHECK(cudaGraphInstantiate(&e, g, 0));
    for (int start : {1, 4, 0}) {
        put(start);
        launch(e, "while");
    }
    CHECK(cudaGraphExecDestroy(e));
    CHECK(cudaGraphDestroy(g));
}

static void switches() {
    cudaGraph_t g, bodies[3], inner;
    cudaGraphExec_t e;
    cudaGraphNode_t n, m;
    cudaGraphConditionalHandle h, h2;
    CHECK(cudaGraphCreate(&g, 0));
    CHECK(cudaGraphConditionalHandleCreate(&h, g, 2, cudaGraphCondAssignDefault));
    CHECK(add(&n, g, nullptr, h, cudaGraphCondTypeSwitch, 3, bodies));
    for (int i = 0; i < 3; i++)
        add_note(bodies[i], nullptr, 30 + i);
    CHECK(cudaGraphInstantiate(&e, g, 0));
    launch(e, "switch by default");
    CHECK(cudaGraphExecDestroy(e));
    CHECK(cudaGraphDestroy(g));

    CHECK(cudaGraphCreate(&g, 0));
    CHECK(cudaGraphConditionalHandleCreate(&h, g, 2, 0));
    CHECK(cudaGraphConditionalHandleCreate(&h2, g, 1, cudaGraphCondAssignDefault));
    CHECK(add(&n, g, add_set(g, nullptr, h), h, cudaGraphCondTypeSwitch, 3, bodies));
    cudaGraphNode_t notes[3];
    for (int i = 0; i < 3; i++)
        notes[i] = add_note(bodies[i], nullptr, 30 + i);
    answer("after a node of another body", add(&m, bodies[1], notes[2], h2, cudaGraphCondTypeIf, 1, &inner));
    CHECK(add(&m, bodies[1], notes[1], h2, cudaGraphCondTypeIf, 1, &inner));
    add_note(inner, nullptr, 77);
    CHECK(cudaGraphInstantiate(&e, g, 0));
    for (int v = 0; v < 5; v++) {
        put(v);
        launch(e, "switch");
    }
    CHECK(cudaGraphExecDestroy(e));
    CHECK(cudaGraphDestroy(g));
}

static void kept() {
    cudaGraph_t g, body, clone;
    cudaGraphExec_t e;
    cudaGraphNode_t n, m;
    cudaGraphConditionalHandle h, h2;
    CHECK(cudaGraphCreate(&g, 0));
    CHECK(cudaGraphConditionalHandleCreate(&h, g, 1, 0));
    CHECK(add(&n, g, nullptr, h, cudaGraphCondTypeIf, 1, &body));
    add_note(body, nullptr, 1);
    add_set(g, n, h);
    CHECK(cudaGraphInstantiate(&e, g, 0));
    for (int v : {1, 1, 0, 0}) {
        put(v);
        launch(e, "kept");
    }
    CHECK(cudaGraphExecDestroy(e));
    answer("handle of another node", add(&m, g, nullptr, h, cudaGraphCondTypeIf, 1, &body));
    answer("clone", cudaGraphClone(&clone, g));
    answer("destroy a body", cudaGraphDestroy(body));
    CHECK(cudaGraphDestroy(g));
    CHECK(cudaGraphCreate(&g, 0));
    CHECK(cudaGraphConditionalHandleCreate(&h, g, 1, 0));
    answer("unused handle", cudaGraphInstantiate(&e, g, 0));
    answer("no handle", add(&n, g, nullptr, 0, cudaGraphCondTypeIf, 1, &body));
    answer("flags", cudaGraphConditionalHandleCreate(&h2, g, 1, 7));
    CHECK(add(&n, g, nullptr, h, cudaGraphCondTypeIf, 1, &body));
    answer("empty body", cudaGraphInstantiate(&e, g, 0));
    CHECK(cudaGraphExecDestroy(e));
    CHECK(cudaGraphDestroyNode(n));
    CHECK(cudaGraphDestroy(g));
}

static void captures() {
    cudaGraph_t g, body, out;
    cudaGraphExec_t e;
    cudaGraphNode_t n;
    cudaGraphConditionalHandle h;
    cudaStream_t s;
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaGraphCreate(&g, 0));
    CHECK(cudaGraphConditionalHandleCreate(&h, g, 1, cudaGraphCondAssignDefault));
    CHECK(add(&n, g, nullptr, h, cudaGraphCondTypeWhile, 1, &body));
    CHECK(cudaStreamBeginCaptureToGraph(s, body, nullptr, nullptr, 0, cudaStreamCaptureModeGlobal));
    note<<<1, 1, 0, s>>>(log_dev, 6);
    CHECK(cudaMemsetAsync(log_dev + 60, 0, 4, s));
    count_down<<<1, 32, 0, s>>>(h, value);
    CHECK(cudaStreamEndCapture(s, &out));
    printf("the body itself %d\n", out == body);
    CHECK(cudaGraphInstantiate(&e, g, 0));
    put(3);
    launch(e, "captured while");
    CHECK(cudaGraphExecDestroy(e));
    CHECK(cudaGraphDestroy(g));

    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    note<<<1, 1, 0, s>>>(log_dev, 1);
    cudaStreamCaptureStatus status;
    const cudaGraphNode_t *deps;
    size_t count;
#if CUDART_VERSION >= 13000
    CHECK(cudaStreamGetCaptureInfo(s, &status, nullptr, &g, &deps, nullptr, &count));
#else
    CHECK(cudaStreamGetCaptureInfo_v2(s, &status, nullptr, &g, &deps, &count));
#endif
    CHECK(cudaGraphConditionalHandleCreate(&h, g, 1, cudaGraphCondAssignDefault));
    CHECK(add(&n, g, deps[0], h, cudaGraphCondTypeIf, 1, &body));
#if CUDART_VERSION >= 13000
    CHECK(cudaStreamUpdateCaptureDependencies(s, &n, nullptr, 1, cudaStreamSetCaptureDependencies));
#else
    CHECK(cudaStreamUpdateCaptureDependencies(s, &n, 1, cudaStreamSetCaptureDependencies));
#endif
    add_note(body, nullptr, 2);
    note<<<1, 1, 0, s>>>(log_dev, 3);
    CHECK(cudaStreamEndCapture(s, &g));
    CHECK(cudaGraphInstantiate(&e, g, 0));
    launch(e, "conditional in a capture");
    CHECK(cudaGraphExecDestroy(e));
    CHECK(cudaGraphDestroy(g));
    CHECK(cudaStreamDestroy(s));
}

int main() {
    CHECK(cudaMalloc(&log_dev, 256));
    CHECK(cudaMalloc(&value, 4));
    CHECK(cudaMemset(log_dev, 0, 256));
    sizes();
    branches();
    loops();
    switches();
    kept();
    captures();
    return finish();
}
