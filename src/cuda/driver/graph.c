/* libcuda: graphs and stream capture. */
#include "cuda/driver/driver.h"

#define COPY3D CUDA_MEMCPY3D
#define GRAPH(name, params, ...)                                                                             \
    CUresult cuGraph##name params {                                                                          \
        struct cud_op op = {.kind = CUD_OP_EMPTY};                                                           \
        (void)op;                                                                                            \
        DRIVER(CUD_CONTEXT, __VA_ARGS__);                                                                    \
    }
#include "cuda/graph_calls.def"

PTSZ(cuGraphLaunch);
PTSZ(cuGraphUpload);
PTSZ(cuGraphInstantiateWithParams);

/* ---- kernel nodes since CUDA 12: a kernel may stand for the function ------------------------------------
 */

struct kernel_node_v2 {
    struct cud_kernel_node v1;
    CUkernel kern;
    CUcontext ctx;
};

static int kernel_v2(struct cud_op *op, const struct kernel_node_v2 *p) {
    if (!p)
        return cudaErrorInvalidValue;
    struct cud_kernel_node k = p->v1;
    if (!k.func)
        k.func = p->kern;
    return cud_op_kernel(op, &k);
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode *out, CUgraph g, cud_nodes deps, size_t n,
                                 const struct kernel_node_v2 *p) {
    struct cud_op op;
    DRIVER(CUD_CONTEXT, cud_add(out, g, deps, n, &op, kernel_v2(&op, p)));
}

CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const struct kernel_node_v2 *p) {
    struct cud_op op;
    DRIVER(CUD_CONTEXT, cud_set(cud_node(node, CUD_OP_LAUNCH), &op, kernel_v2(&op, p)));
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec e, CUgraphNode node, const struct kernel_node_v2 *p) {
    struct cud_op op;
    DRIVER(CUD_CONTEXT, cud_set(cud_exec_node(e, node, CUD_OP_LAUNCH), &op, kernel_v2(&op, p)));
}

static int get_kernel_v2(CUgraphNode node, struct kernel_node_v2 *p) {
    int error = p ? cud_node_kernel(node, &p->v1) : cudaErrorInvalidValue;
    if (!error) {
        p->kern = NULL;
        p->ctx = cud_current();
    }
    return error;
}

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, struct kernel_node_v2 *p) {
    DRIVER(CUD_CONTEXT, get_kernel_v2(node, p));
}

/* ---- nodes of any kind ----------------------------------------------------------------------------------
 */

/* A kernel may stand for the function; a copy's parameters follow two words and a context. */
static int any_op(struct cud_op *op, struct cud_node_params *p, CUgraph g) {
    int copy = cudaSuccess;
    if (!p)
        return cudaErrorInvalidValue;
    if (p->type == CUD_OP_LAUNCH)
        return kernel_v2(op, (const struct kernel_node_v2 *)p->room);
    if (p->type == CUD_OP_COPY) {
        op->kind = CUD_OP_COPY;
        copy = copy_of_3d(&op->copy, (const CUDA_MEMCPY3D *)((const char *)p->room + 16));
    }
    return cud_op_any(op, p, g, copy);
}

CUresult cuGraphAddNode(CUgraphNode *out, CUgraph g, cud_nodes deps, size_t n, struct cud_node_params *p) {
    struct cud_op op;
    DRIVER(CUD_CONTEXT, cud_add(out, g, deps, n, &op, any_op(&op, p, g)));
}

CUresult cuGraphAddNode_v2(CUgraphNode *out, CUgraph g, cud_nodes deps, const uint64_t *data, size_t n,
                           struct cud_node_params *p) {
    struct cud_op op;
    (void)data;
    DRIVER(CUD_CONTEXT, cud_add(out, g, deps, n, &op, any_op(&op, p, g)));
}

CUresult cuGraphNodeSetParams(CUgraphNode node, struct cud_node_params *p) {
    struct cud_op op;
    DRIVER(CUD_CONTEXT, cud_set(cud_node(node, -1), &op, any_op(&op, p, NULL)));
}

CUresult cuGraphExecNodeSetParams(CUgraphExec e, CUgraphNode node, struct cud_node_params *p) {
    struct cud_op op;
    DRIVER(CUD_CONTEXT, cud_set(cud_exec_node(e, node, -1), &op, any_op(&op, p, NULL)));
}

CUresult cuGraphConditionalHandleCreate(uint64_t *handle, CUgraph g, CUcontext ctx, unsigned start,
                                        unsigned flags) {
    (void)ctx;
    DRIVER(CUD_CONTEXT, cud_cond_create(handle, g, start, flags));
}

/* ---- edges: the second form also tells about ports, which are all the default ----------------------------
 */

CUresult cuGraphGetEdges(CUgraph g, CUgraphNode *from, CUgraphNode *to, size_t *n) {
    DRIVER(CUD_CONTEXT, cud_graph_edges(g, from, to, n));
}

CUresult cuGraphGetEdges_v2(CUgraph g, CUgraphNode *from, CUgraphNode *to, uint64_t *data, size_t *n) {
    if (data && n)
        memset(data, 0, *n * sizeof *data);
    DRIVER(CUD_CONTEXT, cud_graph_edges(g, from, to, n));
}

CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *deps, size_t *n) {
    DRIVER(CUD_CONTEXT, cud_node_deps(node, deps, n));
}

CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode *deps, uint64_t *data, size_t *n) {
    if (data && n)
        memset(data, 0, *n * sizeof *data);
    DRIVER(CUD_CONTEXT, cud_node_deps(node, deps, n));
}

CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *nodes, size_t *n) {
    DRIVER(CUD_CONTEXT, cud_node_dependents(node, nodes, n));
}

CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode *nodes, uint64_t *data, size_t *n) {
    if (data && n)
        memset(data, 0, *n * sizeof *data);
    DRIVER(CUD_CONTEXT, cud_node_dependents(node, nodes, n));
}

CUresult cuGraphAddDependencies(CUgraph g, cud_nodes from, cud_nodes to, size_t n) {
    DRIVER(CUD_CONTEXT, cud_graph_link(g, from, to, n, true));
}

CUresult cuGraphAddDependencies_v2(CUgraph g, cud_nodes from, cud_nodes to, const uint64_t *data, size_t n) {
    (void)data;
    DRIVER(CUD_CONTEXT, cud_graph_link(g, from, to, n, true));
}

CUresult cuGraphRemoveDependencies(CUgraph g, cud_nodes from, cud_nodes to, size_t n) {
    DRIVER(CUD_CONTEXT, cud_graph_link(g, from, to, n, false));
}

CUresult cuGraphRemoveDependencies_v2(CUgraph g, cud_nodes from, cud_nodes to, const uint64_t *data,
                                      size_t n) {
    (void)data;
    DRIVER(CUD_CONTEXT, cud_graph_link(g, from, to, n, false));
}

/* ---- instantiation and update ------------------------------------------------------------------------- */

static int instantiate(CUgraphExec *out, CUgraph g, CUgraphNode *error_node, char *log, size_t size) {
    if (error_node)
        *error_node = NULL;
    if (log && size)
        *log = '\0';
    return cud_instantiate(out, g, 0);
}

CUresult cuGraphInstantiate(CUgraphExec *out, CUgraph g, CUgraphNode *error_node, char *log, size_t size) {
    DRIVER(CUD_CONTEXT, instantiate(out, g, error_node, log, size));
}
DRIVER_ALIAS(cuGraphInstantiate, _v2);

static int update(CUgraphExec e, CUgraph g, CUgraphNode *node, int *result) {
    CUgraphNode culprit;
    int r, error = cud_exec_update(e, g, &culprit, &r);
    if (node)
        *node = culprit;
    if (result)
        *result = r;
    return error;
}

CUresult cuGraphExecUpdate(CUgraphExec e, CUgraph g, CUgraphNode *node, int *result) {
    DRIVER(CUD_CONTEXT, update(e, g, node, result));
}

static int update_info(CUgraphExec e, CUgraph g, struct cud_update_info *info) {
    if (!info)
        return cudaErrorInvalidValue;
    info->error_from_node = NULL;
    return update(e, g, &info->error_node, &info->result);
}

CUresult cuGraphExecUpdate_v2(CUgraphExec e, CUgraph g, struct cud_update_info *info) {
    DRIVER(CUD_CONTEXT, update_info(e, g, info));
}

/* ---- capture ------------------------------------------------------------------------------------------ */

CUresult cuStreamBeginCapture(CUstream stream) {
    DRIVER(CUD_CONTEXT, cud_capture_begin(stream, 0));
}
PTSZ(cuStreamBeginCapture);

CUresult cuStreamBeginCapture_v2(CUstream stream, int mode) {
    DRIVER(CUD_CONTEXT, cud_capture_begin(stream, mode));
}
PTSZ(cuStreamBeginCapture_v2);

CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph g, cud_nodes deps, const uint64_t *data,
                                     size_t n, int mode) {
    (void)data;
    DRIVER(CUD_CONTEXT, cud_capture_begin_to(stream, g, deps, n, mode));
}
PTSZ(cuStreamBeginCaptureToGraph);

CUresult cuStreamUpdateCaptureDependencies(CUstream stream, cud_nodes deps, size_t n, unsigned flags) {
    DRIVER(CUD_CONTEXT, cud_capture_depend(stream, deps, n, flags));
}
PTSZ(cuStreamUpdateCaptureDependencies);

CUresult cuStreamUpdateCaptureDependencies_v2(CUstream stream, cud_nodes deps, const uint64_t *data, size_t n,
                                              unsigned flags) {
    (void)data;
    DRIVER(CUD_CONTEXT, cud_capture_depend(stream, deps, n, flags));
}
PTSZ(cuStreamUpdateCaptureDependencies_v2);

CUresult cuStreamEndCapture(CUstream stream, CUgraph *out) {
    DRIVER(CUD_CONTEXT, cud_capture_end(stream, out));
}
PTSZ(cuStreamEndCapture);

CUresult cuStreamIsCapturing(CUstream stream, int *status) {
    DRIVER(CUD_CONTEXT, cud_capture_status(stream, status));
}
PTSZ(cuStreamIsCapturing);

CUresult cuStreamGetCaptureInfo(CUstream stream, int *status, unsigned long long *id) {
    DRIVER(CUD_CONTEXT, cud_capture_info(stream, status, id, NULL, NULL, NULL));
}
PTSZ(cuStreamGetCaptureInfo);

CUresult cuStreamGetCaptureInfo_v2(CUstream stream, int *status, unsigned long long *id, CUgraph *graph,
                                   cud_nodes *deps, size_t *n) {
    DRIVER(CUD_CONTEXT, cud_capture_info(stream, status, id, graph, deps, n));
}
PTSZ(cuStreamGetCaptureInfo_v2);

CUresult cuStreamGetCaptureInfo_v3(CUstream stream, int *status, unsigned long long *id, CUgraph *graph,
                                   cud_nodes *deps, const uint64_t **data, size_t *n) {
    if (data)
        *data = NULL;
    DRIVER(CUD_CONTEXT, cud_capture_info(stream, status, id, graph, deps, n));
}
PTSZ(cuStreamGetCaptureInfo_v3);

CUresult cuThreadExchangeStreamCaptureMode(int *mode) {
    DRIVER(CUD_DEVICE, cud_capture_mode(mode));
}

/* ---- memory that graphs allocate ---------------------------------------------------------------------- */

CUresult cuDeviceGetGraphMemAttribute(CUdevice device, int attribute, uint64_t *value) {
    DRIVER(CUD_DEVICE, cud_graph_mem_attribute(device, attribute, value, false));
}

CUresult cuDeviceSetGraphMemAttribute(CUdevice device, int attribute, uint64_t *value) {
    DRIVER(CUD_DEVICE, cud_graph_mem_attribute(device, attribute, value, true));
}

CUresult cuDeviceGraphMemTrim(CUdevice device) {
    DRIVER(CUD_DEVICE, cud_graph_mem_trim(device));
}
