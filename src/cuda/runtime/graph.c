/* libcudart: graphs and stream capture. */
#include "cuda/runtime/runtime.h"

#define COPY3D struct cudaMemcpy3DParms
#define GRAPH(name, params, ...)                                                                             \
    cudaError_t cudaGraph##name params {                                                                     \
        struct cud_op op = {.kind = CUD_OP_EMPTY};                                                           \
        (void)op;                                                                                            \
        RUNTIME(CUD_CONTEXT, __VA_ARGS__);                                                                   \
    }
#include "cuda/graph_calls.def"

PTSZ(cudaGraphLaunch);
PTSZ(cudaGraphUpload);
PTSZ(cudaGraphInstantiateWithParams);

/* ---- one-dimensional copies and copies of variables ------------------------------------------------------
 */

static int row(struct cud_op *op, void *dst, const void *src, size_t n, enum cudaMemcpyKind kind) {
    *op = (struct cud_op){.kind = CUD_OP_COPY,
                          .copy = {.src = linear_side(src, 0, kind, true),
                                   .dst = linear_side(dst, 0, kind, false),
                                   .width = n,
                                   .height = 1,
                                   .depth = 1}};
    return cud_copy_check(&op->copy);
}

static int to_symbol(struct cud_op *op, const void *symbol, const void *src, size_t n, size_t offset,
                     enum cudaMemcpyKind kind) {
    void *dst;
    int error = symbol_range(symbol, offset, n, &dst);
    return error ? error : row(op, dst, src, n, kind);
}

static int from_symbol(struct cud_op *op, void *dst, const void *symbol, size_t n, size_t offset,
                       enum cudaMemcpyKind kind) {
    void *src;
    int error = symbol_range(symbol, offset, n, &src);
    return error ? error : row(op, dst, src, n, kind);
}

/* The three ways to give such a copy to a graph, for each of the three copies. */
#define COPY_NODE(suffix, params, made)                                                                      \
    cudaError_t cudaGraphAddMemcpyNode##suffix(cudaGraphNode_t *out, cudaGraph_t g, cud_nodes deps,          \
                                               size_t n, params) {                                           \
        struct cud_op op;                                                                                    \
        RUNTIME(CUD_CONTEXT, cud_add(out, g, deps, n, &op, made));                                           \
    }                                                                                                        \
    cudaError_t cudaGraphMemcpyNodeSetParams##suffix(cudaGraphNode_t node, params) {                         \
        struct cud_op op;                                                                                    \
        RUNTIME(CUD_CONTEXT, cud_set(cud_node(node, CUD_OP_COPY), &op, made));                               \
    }                                                                                                        \
    cudaError_t cudaGraphExecMemcpyNodeSetParams##suffix(cudaGraphExec_t e, cudaGraphNode_t node, params) {  \
        struct cud_op op;                                                                                    \
        RUNTIME(CUD_CONTEXT, cud_set(cud_exec_node(e, node, CUD_OP_COPY), &op, made));                       \
    }
#define COMMA ,

COPY_NODE(1D, void *dst COMMA const void *src COMMA size_t count COMMA enum cudaMemcpyKind kind,
          row(&op, dst, src, count, kind))
COPY_NODE(ToSymbol,
          const void *symbol COMMA const void *src COMMA size_t count COMMA size_t offset
              COMMA enum cudaMemcpyKind kind,
          to_symbol(&op, symbol, src, count, offset, kind))
COPY_NODE(FromSymbol,
          void *dst COMMA const void *symbol COMMA size_t count COMMA size_t offset
              COMMA enum cudaMemcpyKind kind,
          from_symbol(&op, dst, symbol, count, offset, kind))

/* ---- nodes of any kind ----------------------------------------------------------------------------------
 */

/* A copy's parameters follow four reserved words. */
static int any_op(struct cud_op *op, struct cud_node_params *p, cudaGraph_t g) {
    int copy = cudaSuccess;
    if (!p)
        return cudaErrorInvalidValue;
    if (p->type == CUD_OP_COPY) {
        op->kind = CUD_OP_COPY;
        copy = copy_of_3d(&op->copy, (const struct cudaMemcpy3DParms *)((const char *)p->room + 16));
    }
    return cud_op_any(op, p, g, copy);
}

cudaError_t cudaGraphAddNode_v2(cudaGraphNode_t *out, cudaGraph_t g, cud_nodes deps, const uint64_t *data,
                                size_t n, struct cud_node_params *p) {
    struct cud_op op;
    (void)data;
    RUNTIME(CUD_CONTEXT, cud_add(out, g, deps, n, &op, any_op(&op, p, g)));
}

#if REPRISE_CUDART >= 13
RUNTIME_SAME(cudaGraphAddNode_v2, cudaGraphAddNode);
#else
cudaError_t cudaGraphAddNode(cudaGraphNode_t *out, cudaGraph_t g, cud_nodes deps, size_t n,
                             struct cud_node_params *p) {
    struct cud_op op;
    RUNTIME(CUD_CONTEXT, cud_add(out, g, deps, n, &op, any_op(&op, p, g)));
}
#endif

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, struct cud_node_params *p) {
    struct cud_op op;
    RUNTIME(CUD_CONTEXT, cud_set(cud_node(node, -1), &op, any_op(&op, p, NULL)));
}

cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t e, cudaGraphNode_t node, struct cud_node_params *p) {
    struct cud_op op;
    RUNTIME(CUD_CONTEXT, cud_set(cud_exec_node(e, node, -1), &op, any_op(&op, p, NULL)));
}

/* ---- edges: since CUDA 12.3 there is a form that also tells about ports; CUDA 13 has only that one --------
 */

static void no_data(uint64_t *data, const size_t *n) {
    if (data && n)
        memset(data, 0, *n * sizeof *data);
}

cudaError_t cudaGraphGetEdges_v2(cudaGraph_t g, cudaGraphNode_t *from, cudaGraphNode_t *to, uint64_t *data,
                                 size_t *n) {
    no_data(data, n);
    RUNTIME(CUD_CONTEXT, cud_graph_edges(g, from, to, n));
}

cudaError_t cudaGraphNodeGetDependencies_v2(cudaGraphNode_t node, cudaGraphNode_t *deps, uint64_t *data,
                                            size_t *n) {
    no_data(data, n);
    RUNTIME(CUD_CONTEXT, cud_node_deps(node, deps, n));
}

cudaError_t cudaGraphNodeGetDependentNodes_v2(cudaGraphNode_t node, cudaGraphNode_t *nodes, uint64_t *data,
                                              size_t *n) {
    no_data(data, n);
    RUNTIME(CUD_CONTEXT, cud_node_dependents(node, nodes, n));
}

cudaError_t cudaGraphAddDependencies_v2(cudaGraph_t g, cud_nodes from, cud_nodes to, const uint64_t *data,
                                        size_t n) {
    (void)data;
    RUNTIME(CUD_CONTEXT, cud_graph_link(g, from, to, n, true));
}

cudaError_t cudaGraphRemoveDependencies_v2(cudaGraph_t g, cud_nodes from, cud_nodes to, const uint64_t *data,
                                           size_t n) {
    (void)data;
    RUNTIME(CUD_CONTEXT, cud_graph_link(g, from, to, n, false));
}

#if REPRISE_CUDART >= 13
RUNTIME_SAME(cudaGraphGetEdges_v2, cudaGraphGetEdges);
RUNTIME_SAME(cudaGraphNodeGetDependencies_v2, cudaGraphNodeGetDependencies);
RUNTIME_SAME(cudaGraphNodeGetDependentNodes_v2, cudaGraphNodeGetDependentNodes);
RUNTIME_SAME(cudaGraphAddDependencies_v2, cudaGraphAddDependencies);
RUNTIME_SAME(cudaGraphRemoveDependencies_v2, cudaGraphRemoveDependencies);
#else
cudaError_t cudaGraphGetEdges(cudaGraph_t g, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *n) {
    RUNTIME(CUD_CONTEXT, cud_graph_edges(g, from, to, n));
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *deps, size_t *n) {
    RUNTIME(CUD_CONTEXT, cud_node_deps(node, deps, n));
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *nodes, size_t *n) {
    RUNTIME(CUD_CONTEXT, cud_node_dependents(node, nodes, n));
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t g, cud_nodes from, cud_nodes to, size_t n) {
    RUNTIME(CUD_CONTEXT, cud_graph_link(g, from, to, n, true));
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t g, cud_nodes from, cud_nodes to, size_t n) {
    RUNTIME(CUD_CONTEXT, cud_graph_link(g, from, to, n, false));
}
#endif

/* ---- instantiation and update ------------------------------------------------------------------------- */

#if REPRISE_CUDART >= 12
RUNTIME_SAME(cudaGraphInstantiateWithFlags, cudaGraphInstantiate);

static int update(cudaGraphExec_t e, cudaGraph_t g, struct cud_update_info *info) {
    if (!info)
        return cudaErrorInvalidValue;
    info->error_from_node = NULL;
    return cud_exec_update(e, g, &info->error_node, &info->result);
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t e, cudaGraph_t g, struct cud_update_info *info) {
    RUNTIME(CUD_CONTEXT, update(e, g, info));
}
#else
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t g, cudaGraphNode_t *error_node, char *log,
                                 size_t size) {
    if (error_node)
        *error_node = NULL;
    if (log && size)
        *log = '\0';
    RUNTIME(CUD_CONTEXT, cud_instantiate(out, g, 0));
}

static int update(cudaGraphExec_t e, cudaGraph_t g, cudaGraphNode_t *node, int *result) {
    cudaGraphNode_t culprit;
    int r, error = cud_exec_update(e, g, &culprit, &r);
    if (node)
        *node = culprit;
    if (result)
        *result = r;
    return error;
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t e, cudaGraph_t g, cudaGraphNode_t *node, int *result) {
    RUNTIME(CUD_CONTEXT, update(e, g, node, result));
}
#endif

/* ---- capture ------------------------------------------------------------------------------------------ */

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, int mode) {
    RUNTIME(CUD_CONTEXT, cud_capture_begin(stream, mode));
}
PTSZ(cudaStreamBeginCapture);

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t g, cud_nodes deps,
                                          const uint64_t *data, size_t n, int mode) {
    (void)data;
    RUNTIME(CUD_CONTEXT, cud_capture_begin_to(stream, g, deps, n, mode));
}
PTSZ(cudaStreamBeginCaptureToGraph);

cudaError_t cudaStreamUpdateCaptureDependencies_v2(cudaStream_t stream, cud_nodes deps, const uint64_t *data,
                                                   size_t n, unsigned flags) {
    (void)data;
    RUNTIME(CUD_CONTEXT, cud_capture_depend(stream, deps, n, flags));
}
PTSZ(cudaStreamUpdateCaptureDependencies_v2);

#if REPRISE_CUDART >= 13
RUNTIME_SAME(cudaStreamUpdateCaptureDependencies_v2, cudaStreamUpdateCaptureDependencies);
RUNTIME_SAME(cudaStreamUpdateCaptureDependencies_v2, cudaStreamUpdateCaptureDependencies_ptsz);
#else
cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cud_nodes deps, size_t n,
                                                unsigned flags) {
    RUNTIME(CUD_CONTEXT, cud_capture_depend(stream, deps, n, flags));
}
PTSZ(cudaStreamUpdateCaptureDependencies);
#endif

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *out) {
    RUNTIME(CUD_CONTEXT, cud_capture_end(stream, out));
}
PTSZ(cudaStreamEndCapture);

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, int *status) {
    RUNTIME(CUD_CONTEXT, cud_capture_status(stream, status));
}
PTSZ(cudaStreamIsCapturing);

cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, int *status, unsigned long long *id,
                                        cudaGraph_t *graph, cud_nodes *deps, size_t *n) {
    RUNTIME(CUD_CONTEXT, cud_capture_info(stream, status, id, graph, deps, n));
}
PTSZ(cudaStreamGetCaptureInfo_v2);

cudaError_t cudaStreamGetCaptureInfo_v3(cudaStream_t stream, int *status, unsigned long long *id,
                                        cudaGraph_t *graph, cud_nodes *deps, const uint64_t **data,
                                        size_t *n) {
    if (data)
        *data = NULL;
    RUNTIME(CUD_CONTEXT, cud_capture_info(stream, status, id, graph, deps, n));
}
PTSZ(cudaStreamGetCaptureInfo_v3);

#if REPRISE_CUDART >= 13
RUNTIME_SAME(cudaStreamGetCaptureInfo_v3, cudaStreamGetCaptureInfo);
RUNTIME_SAME(cudaStreamGetCaptureInfo_v3, cudaStreamGetCaptureInfo_ptsz);
#else
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, int *status, unsigned long long *id) {
    RUNTIME(CUD_CONTEXT, cud_capture_info(stream, status, id, NULL, NULL, NULL));
}
PTSZ(cudaStreamGetCaptureInfo);
#endif

cudaError_t cudaThreadExchangeStreamCaptureMode(int *mode) {
    RUNTIME(CUD_DEVICE, cud_capture_mode(mode));
}

/* ---- conditional nodes ----------------------------------------------------------------------------------
 */

cudaError_t cudaGraphConditionalHandleCreate(uint64_t *handle, cudaGraph_t g, unsigned start,
                                             unsigned flags) {
    RUNTIME(CUD_CONTEXT, cud_cond_create(handle, g, start, flags));
}

/* ---- memory that graphs allocate ---------------------------------------------------------------------- */

cudaError_t cudaDeviceGetGraphMemAttribute(int device, int attribute, uint64_t *value) {
    RUNTIME(CUD_DEVICE, cud_graph_mem_attribute(device, attribute, value, false));
}

cudaError_t cudaDeviceSetGraphMemAttribute(int device, int attribute, uint64_t *value) {
    RUNTIME(CUD_DEVICE, cud_graph_mem_attribute(device, attribute, value, true));
}

cudaError_t cudaDeviceGraphMemTrim(int device) {
    RUNTIME(CUD_DEVICE, cud_graph_mem_trim(device));
}
