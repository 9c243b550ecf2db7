/* Graphs as both APIs see them: nodes made from parameter structures, questions about graphs, and capture
 * status. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/graph.h"

struct CUgraph_st *cud_graph(struct CUgraph_st *g) {
    return cud_object_get(g, CUD_GRAPH);
}

struct CUgraphNode_st *cud_node(struct CUgraphNode_st *n, int kind) {
    struct CUgraphNode_st *node = cud_object_get(n, CUD_NODE);
    return node && (kind < 0 || (int)node->op.kind == kind) ? node : NULL;
}

struct CUgraphNode_st *cud_exec_node(struct CUgraphExec_st *e, struct CUgraphNode_st *n, int kind) {
    struct CUgraphExec_st *exec = cud_object_get(e, CUD_EXEC);
    struct CUgraphNode_st *node = exec ? cud_graph_exec_node(exec, n) : NULL;
    return node && (kind < 0 || (int)node->op.kind == kind) ? node : NULL;
}

/* ---- making operations -------------------------------------------------------------------------------- */

/* extra is a list of (1, buffer), (2, size) pairs that ends with 0. */
static int pack_extra(struct cud_launch *l, void **extra) {
    const void *buffer = "";
    size_t size = 0;
    for (; *extra; extra += 2)
        if ((uintptr_t)extra[0] == 1)
            buffer = extra[1];
        else
            size = *(size_t *)extra[1];
    return cud_pack_buffer(l, buffer, size);
}

int cud_op_kernel(struct cud_op *op, const struct cud_kernel_node *p) {
    struct CUfunc_st *f = p ? cud_func(p->func) : NULL;
    if (!p)
        return cudaErrorInvalidValue;
    if (!f)
        return cudaErrorInvalidDeviceFunction;
    int error = cud_func_ready(f);
    if (error)
        return error;
    *op = (struct cud_op){.kind = CUD_OP_LAUNCH, .launch = {.func = f, .shared = p->shared}};
    memcpy(op->launch.grid, p->grid, sizeof op->launch.grid);
    memcpy(op->launch.block, p->block, sizeof op->launch.block);
    error = p->extra ? pack_extra(&op->launch, p->extra) : cud_pack_args(&op->launch, p->args);
    if (!error)
        error = cud_launch_check(&op->launch);
    if (error)
        cud_op_free(op);
    return error;
}

int cud_op_memset(struct cud_op *op, const struct cud_memset_node *p) {
    if (!p || (p->elem != 1 && p->elem != 2 && p->elem != 4))
        return cudaErrorInvalidValue;
    *op = (struct cud_op){.kind = CUD_OP_FILL,
                          .fill = {p->dst, p->pitch, 0, p->value, p->elem, p->width, p->height, 1}};
    return cud_fill_check(&op->fill);
}

int cud_op_host(struct cud_op *op, const struct cud_host_node *p) {
    if (!p || !p->fn)
        return cudaErrorInvalidValue;
    *op = (struct cud_op){.kind = CUD_OP_HOST, .host = {p->fn, p->data}};
    return cudaSuccess;
}

int cud_op_child(struct cud_op *op, struct CUgraph_st *child) {
    op->kind = CUD_OP_GRAPH;
    return cud_clone(&op->graph, child);
}

int cud_op_event(struct cud_op *op, int kind, struct CUevent_st *event) {
    if (!cud_object_get(event, CUD_EVENT))
        return cudaErrorInvalidResourceHandle;
    *op = (struct cud_op){.kind = (enum cud_op_kind)kind, .event = event};
    return cudaSuccess;
}

int cud_op_alloc(struct cud_op *op, struct cud_alloc_node *p) {
    if (!p)
        return cudaErrorInvalidValue;
    int error = cud_graph_mem_new(&p->addr, p->size);
    *op = (struct cud_op){.kind = CUD_OP_ALLOC, .mem = {p->addr, p->size}};
    return error;
}

int cud_op_free_node(struct cud_op *op, uint64_t addr) {
    *op = (struct cud_op){.kind = CUD_OP_FREE, .mem = {addr, 0}};
    return addr ? cudaSuccess : cudaErrorInvalidValue;
}

int cud_op_any(struct cud_op *op, struct cud_node_params *p, struct CUgraph_st *g, int copy) {
    switch (p->type) {
    case CUD_OP_LAUNCH:
        return cud_op_kernel(op, &p->kernel);
    case CUD_OP_COPY:
        return copy;
    case CUD_OP_FILL:
        return cud_op_memset(op, &p->memset);
    case CUD_OP_HOST:
        return cud_op_host(op, &p->host);
    case CUD_OP_GRAPH:
        return cud_op_child(op, p->graph);
    case CUD_OP_EMPTY:
        op->kind = CUD_OP_EMPTY;
        return cudaSuccess;
    case CUD_OP_WAIT:
    case CUD_OP_RECORD:
        return cud_op_event(op, p->type, p->event);
    case CUD_OP_ALLOC:
        return cud_op_alloc(op, &p->alloc);
    case CUD_OP_FREE:
        return cud_op_free_node(op, p->free);
    case CUD_OP_COND:
        return cud_op_cond(op, &p->cond, g);
    default:
        return cudaErrorNotSupported;
    }
}

int cud_add(struct CUgraphNode_st **out, struct CUgraph_st *g, cud_nodes deps, size_t n, struct cud_op *op,
            int made) {
    if (made)
        return made;
    if (!cud_graph(g)) {
        cud_op_free(op);
        return cudaErrorInvalidValue;
    }
    return cud_graph_add(out, g, deps, n, op);
}

int cud_set(struct CUgraphNode_st *node, struct cud_op *op, int made) {
    if (made)
        return made;
    if (!node) {
        cud_op_free(op);
        return cudaErrorInvalidValue;
    }
    return cud_graph_set(node, op);
}

/* ---- questions ---------------------------------------------------------------------------------------- */

/* Hands out the i-th of the things listed so far; the caller counts on to the end. */
static void list(struct CUgraphNode_st **at, size_t room, size_t i, struct CUgraphNode_st *node) {
    if (at && i < room)
        at[i] = node;
}

/* Without a buffer the answer is the count; with one, unused places are cleared. */
static int finish(struct CUgraphNode_st **at, size_t *n, size_t count) {
    for (size_t i = count; at && i < *n; i++)
        at[i] = NULL;
    if (!at || count < *n)
        *n = count;
    return cudaSuccess;
}

int cud_graph_nodes(struct CUgraph_st *g, struct CUgraphNode_st **nodes, size_t *n) {
    if (!cud_graph(g) || !n)
        return cudaErrorInvalidValue;
    for (uint32_t i = 0; i < g->nodes.len; i++)
        list(nodes, *n, i, g->nodes.at[i]);
    return finish(nodes, n, g->nodes.len);
}

int cud_graph_roots(struct CUgraph_st *g, struct CUgraphNode_st **nodes, size_t *n) {
    size_t count = 0;
    if (!cud_graph(g) || !n)
        return cudaErrorInvalidValue;
    for (uint32_t i = 0; i < g->nodes.len; i++)
        if (!g->nodes.at[i]->deps.len)
            list(nodes, *n, count++, g->nodes.at[i]);
    return finish(nodes, n, count);
}

int cud_graph_edges(struct CUgraph_st *g, struct CUgraphNode_st **from, struct CUgraphNode_st **to,
                    size_t *n) {
    size_t count = 0;
    if (!cud_graph(g) || !n || !from != !to)
        return cudaErrorInvalidValue;
    for (uint32_t i = 0; i < g->nodes.len; i++)
        for (uint32_t d = 0; d < g->nodes.at[i]->deps.len; d++) {
            list(from, *n, count, g->nodes.at[i]->deps.at[d]);
            list(to, *n, count++, g->nodes.at[i]);
        }
    size_t room = *n;
    finish(from, &room, count);
    return finish(to, n, count);
}

int cud_node_deps(struct CUgraphNode_st *node, struct CUgraphNode_st **nodes, size_t *n) {
    if (!cud_node(node, -1) || !n)
        return cudaErrorInvalidValue;
    for (uint32_t i = 0; i < node->deps.len; i++)
        list(nodes, *n, i, node->deps.at[i]);
    return finish(nodes, n, node->deps.len);
}

int cud_node_dependents(struct CUgraphNode_st *node, struct CUgraphNode_st **nodes, size_t *n) {
    size_t count = 0;
    if (!cud_node(node, -1) || !n)
        return cudaErrorInvalidValue;
    struct CUgraph_st *g = node->graph;
    for (uint32_t i = 0; i < g->nodes.len; i++)
        for (uint32_t d = 0; d < g->nodes.at[i]->deps.len; d++)
            if (g->nodes.at[i]->deps.at[d] == node)
                list(nodes, *n, count++, g->nodes.at[i]);
    return finish(nodes, n, count);
}

int cud_graph_link(struct CUgraph_st *g, cud_nodes from, cud_nodes to, size_t n, bool add) {
    if (!cud_graph(g) || (n && (!from || !to)))
        return cudaErrorInvalidValue;
    for (size_t i = 0; i < n; i++) {
        int error = cud_graph_edge(from[i], to[i], add);
        if (error)
            return error;
    }
    return cudaSuccess;
}

int cud_node_type(struct CUgraphNode_st *node, int *type) {
    if (!cud_node(node, -1) || !type)
        return cudaErrorInvalidValue;
    *type = (int)node->op.kind;
    return cudaSuccess;
}

int cud_node_find(struct CUgraphNode_st **out, struct CUgraphNode_st *origin, struct CUgraph_st *clone) {
    if (!out || !cud_graph(clone))
        return cudaErrorInvalidValue;
    for (uint32_t i = 0; i < clone->nodes.len; i++)
        if (clone->nodes.at[i]->origin == origin) {
            *out = clone->nodes.at[i];
            return cudaSuccess;
        }
    return cudaErrorInvalidValue;
}

int cud_node_kernel(struct CUgraphNode_st *node, struct cud_kernel_node *out) {
    struct rp_param_info p;
    uint32_t n = 0;
    if (!cud_node(node, CUD_OP_LAUNCH) || !out)
        return cudaErrorInvalidValue;
    struct cud_launch *l = &node->op.launch;
    int error = cud_func_ready(l->func);
    if (error)
        return error;
    while (rp_kernel_param(l->func->kernel, n, &p))
        n++;
    node->args = xrealloc(node->args, (n + 1) * sizeof *node->args);
    for (uint32_t i = 0; i < n && rp_kernel_param(l->func->kernel, i, &p); i++)
        node->args[i] = l->params + p.offset;
    *out = (struct cud_kernel_node){.func = l->func, .shared = (unsigned)l->shared, .args = node->args};
    memcpy(out->grid, l->grid, sizeof out->grid);
    memcpy(out->block, l->block, sizeof out->block);
    return cudaSuccess;
}

int cud_node_memset(struct CUgraphNode_st *node, struct cud_memset_node *out) {
    if (!cud_node(node, CUD_OP_FILL) || !out)
        return cudaErrorInvalidValue;
    const struct cud_fill *f = &node->op.fill;
    *out = (struct cud_memset_node){f->dst, f->pitch, f->value, f->elem, f->width, f->height};
    return cudaSuccess;
}

int cud_node_host(struct CUgraphNode_st *node, struct cud_host_node *out) {
    if (!cud_node(node, CUD_OP_HOST) || !out)
        return cudaErrorInvalidValue;
    *out = (struct cud_host_node){node->op.host.fn, node->op.host.data};
    return cudaSuccess;
}

int cud_node_child(struct CUgraphNode_st *node, struct CUgraph_st **out) {
    if (!cud_node(node, CUD_OP_GRAPH) || !out)
        return cudaErrorInvalidValue;
    *out = node->op.graph;
    return cudaSuccess;
}

int cud_node_event(struct CUgraphNode_st *node, int kind, struct CUevent_st **out) {
    if (!cud_node(node, kind) || !out)
        return cudaErrorInvalidValue;
    *out = node->op.event;
    return cudaSuccess;
}

int cud_node_alloc(struct CUgraphNode_st *node, struct cud_alloc_node *out) {
    if (!cud_node(node, CUD_OP_ALLOC) || !out)
        return cudaErrorInvalidValue;
    static const int pinned_on_device[] = {1, 0, 1, 0}; /* type, handle types, location */
    *out = (struct cud_alloc_node){.size = node->op.mem.size, .addr = node->op.mem.addr};
    memcpy(out->pool_props, pinned_on_device, sizeof pinned_on_device);
    return cudaSuccess;
}

int cud_node_free(struct CUgraphNode_st *node, uint64_t *out) {
    if (!cud_node(node, CUD_OP_FREE) || !out)
        return cudaErrorInvalidValue;
    *out = node->op.mem.addr;
    return cudaSuccess;
}

int cud_clone(struct CUgraph_st **out, struct CUgraph_st *g) {
    if (!out || !cud_graph(g))
        return cudaErrorInvalidValue;
    bool ok = true;
    return cud_graph_mem_used(g) || cud_cond_nodes(g, &ok) ? cudaErrorNotSupported : cud_graph_clone(out, g);
}

int cud_node_enable(struct CUgraphExec_st *e, struct CUgraphNode_st *node, unsigned on) {
    struct CUgraphNode_st *n = cud_exec_node(e, node, -1);
    if (!n)
        return cudaErrorInvalidValue;
    n->disabled = !on;
    return cudaSuccess;
}

int cud_node_enabled(struct CUgraphExec_st *e, struct CUgraphNode_st *node, unsigned *on) {
    struct CUgraphNode_st *n = cud_exec_node(e, node, -1);
    if (!n || !on)
        return cudaErrorInvalidValue;
    *on = !n->disabled;
    return cudaSuccess;
}

/* ---- executable graphs ----------------------------------------------------------------------------------
 */

int cud_instantiate(struct CUgraphExec_st **out, struct CUgraph_st *g, uint64_t flags) {
    return cud_graph(g) ? cud_graph_instantiate(out, g, flags) : cudaErrorInvalidValue;
}

int cud_instantiate_params(struct CUgraphExec_st **out, struct CUgraph_st *g, struct cud_instantiate *p) {
    if (!p)
        return cudaErrorInvalidValue;
    int error = cud_instantiate(out, g, p->flags);
    p->result = error ? 1 : 0;
    p->error_node = NULL;
    return error;
}

int cud_exec_flags(struct CUgraphExec_st *e, uint64_t *flags) {
    if (!cud_object_get(e, CUD_EXEC) || !flags)
        return cudaErrorInvalidValue;
    *flags = e->flags;
    return cudaSuccess;
}

enum { UPDATE_OK, UPDATE_ERROR, UPDATE_TOPOLOGY };

int cud_exec_update(struct CUgraphExec_st *e, struct CUgraph_st *g, struct CUgraphNode_st **culprit,
                    int *result) {
    *result = UPDATE_ERROR;
    *culprit = NULL;
    if (!cud_object_get(e, CUD_EXEC) || !cud_graph(g))
        return cudaErrorInvalidValue;
    *result = cud_graph_exec_update(e, g, culprit) ? UPDATE_OK : UPDATE_TOPOLOGY;
    return *result ? cudaErrorGraphExecUpdateFailure : cudaSuccess;
}

int cud_exec_launch(struct CUgraphExec_st *e, struct CUstream_st *stream) {
    return cud_object_get(e, CUD_EXEC) ? cud_graph_launch(e, stream) : cudaErrorInvalidValue;
}

static const char *const kind_names[] = {"kernel", "memcpy", "memset", "host",        "graph",
                                         "empty",  "wait",   "record", "ext. signal", "ext. wait",
                                         "malloc", "free",   "batch",  "conditional"};

int cud_graph_dot(struct CUgraph_st *g, const char *path) {
    FILE *f = cud_graph(g) && path ? fopen(path, "w") : NULL;
    if (!f)
        return cudaErrorInvalidValue;
    fprintf(f, "digraph graph_%llu {\n", (unsigned long long)g->id);
    for (uint32_t i = 0; i < g->nodes.len; i++) {
        struct CUgraphNode_st *n = g->nodes.at[i];
        fprintf(f, "    n%u [label=\"%s%s%s\"];\n", i, kind_names[n->op.kind],
                n->op.kind == CUD_OP_LAUNCH ? " " : "",
                n->op.kind == CUD_OP_LAUNCH ? n->op.launch.func->name : "");
        for (uint32_t d = 0; d < n->deps.len; d++)
            for (uint32_t j = 0; j < g->nodes.len; j++)
                if (g->nodes.at[j] == n->deps.at[d])
                    fprintf(f, "    n%u -> n%u;\n", j, i);
    }
    fprintf(f, "}\n");
    return fclose(f) ? cudaErrorOperatingSystem : cudaSuccess;
}

/* ---- capture --------------------------------------------------------------------------------------------
 */

enum { CAPTURE_NONE, CAPTURE_ACTIVE, CAPTURE_INVALIDATED };

int cud_capture_info(struct CUstream_st *stream, int *status, unsigned long long *id,
                     struct CUgraph_st **graph, cud_nodes *deps, size_t *ndeps) {
    struct CUstream_st *s = cud_stream(stream);
    if (!s)
        return cudaErrorInvalidResourceHandle;
    if (!status)
        return cudaErrorInvalidValue;
    *status = !s->capture ? CAPTURE_NONE : s->capture->invalidated ? CAPTURE_INVALIDATED : CAPTURE_ACTIVE;
    if (!s->capture)
        return cudaSuccess;
    if (id)
        *id = s->capture->id;
    if (graph)
        *graph = s->capture;
    if (deps)
        *deps = s->tail.at;
    if (ndeps)
        *ndeps = s->tail.len;
    return cudaSuccess;
}

int cud_capture_status(struct CUstream_st *stream, int *status) {
    return cud_capture_info(stream, status, NULL, NULL, NULL, NULL);
}

int cud_capture_mode(int *mode) {
    struct cud_thread *t = cud_thread();
    if (!mode || *mode < 0 || *mode > 2)
        return cudaErrorInvalidValue;
    int before = t->capture_mode;
    t->capture_mode = *mode;
    *mode = before;
    return cudaSuccess;
}
