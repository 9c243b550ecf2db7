/* Graphs and stream capture. */
#include "cuda/graph.h"
#include "cuda/queue.h"

#include <stdlib.h>
#include <string.h>

#define CAPTURE_RELAXED 2

int cud_graph_create(struct CUgraph_st **out) {
    struct CUgraph_st *g = cud_object_new(CUD_GRAPH, sizeof *g, NULL);
    g->id = ++cud.next_id;
    *out = g;
    return cudaSuccess;
}

static void free_node(struct CUgraphNode_st *n) {
    cud_op_free(&n->op);
    vec_free(&n->deps);
    free(n->args);
    cud_object_free(n);
}

/* Another graph may get the same address. */
static void forget_origin(const struct CUgraph_st *g) {
    for (uint32_t i = 0; i < cud.objects.len; i++) {
        struct CUgraphExec_st *e = cud.objects.entries[i].value;
        if (e && e->obj.kind == CUD_EXEC && e->origin == g)
            e->origin = NULL;
    }
}

int cud_graph_destroy(struct CUgraph_st *g) {
    forget_origin(g);
    cud_cond_graph_destroyed(g);
    for (uint32_t i = 0; i < g->nodes.len; i++)
        free_node(g->nodes.at[i]);
    vec_free(&g->nodes);
    cud_object_free(g);
    return cudaSuccess;
}

static bool has_dep(const struct CUgraphNode_st *n, const struct CUgraphNode_st *dep) {
    for (uint32_t i = 0; i < n->deps.len; i++)
        if (n->deps.at[i] == dep)
            return true;
    return false;
}

int cud_graph_add(struct CUgraphNode_st **out, struct CUgraph_st *g, struct CUgraphNode_st *const *deps,
                  size_t n, struct cud_op *op) {
    int error = cudaSuccess;
    if (!out || (n && !deps))
        error = cudaErrorInvalidValue;
    for (size_t i = 0; !error && i < n; i++) {
        struct CUgraphNode_st *d = cud_object_get(deps[i], CUD_NODE);
        if (!d || d->graph != g)
            error = cudaErrorInvalidValue;
    }
    if (error) {
        cud_op_free(op);
        return error;
    }
    struct CUgraphNode_st *node = cud_object_new(CUD_NODE, sizeof *node, NULL);
    node->graph = g;
    node->op = *op;
    for (size_t i = 0; i < n; i++)
        if (!has_dep(node, deps[i]))
            vec_push(&node->deps, deps[i]);
    vec_push(&g->nodes, node);
    *out = node;
    return cudaSuccess;
}

int cud_graph_edge(struct CUgraphNode_st *from, struct CUgraphNode_st *to, bool add) {
    if (!cud_object_get(from, CUD_NODE) || !cud_object_get(to, CUD_NODE) || from->graph != to->graph ||
        from == to || has_dep(to, from) == add)
        return cudaErrorInvalidValue;
    if (add) {
        vec_push(&to->deps, from);
        return cudaSuccess;
    }
    for (uint32_t i = 0; i < to->deps.len; i++)
        if (to->deps.at[i] == from) {
            to->deps.at[i] = to->deps.at[--to->deps.len];
            break;
        }
    return cudaSuccess;
}

int cud_graph_remove(struct CUgraphNode_st *node) {
    struct CUgraph_st *g = node->graph;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < g->nodes.len; i++) {
        struct CUgraphNode_st *n = g->nodes.at[i];
        if (n == node)
            continue;
        if (has_dep(n, node))
            cud_graph_edge(node, n, false);
        g->nodes.at[kept++] = n;
    }
    g->nodes.len = kept;
    free_node(node);
    return cudaSuccess;
}

/* A copy of the op that shares nothing with it. */
static int copy_op(struct cud_op *to, const struct cud_op *from) {
    *to = *from;
    if (from->kind == CUD_OP_LAUNCH) {
        to->launch.params = xmalloc(from->launch.param_bytes + 1);
        memcpy(to->launch.params, from->launch.params, from->launch.param_bytes);
    } else if (from->kind == CUD_OP_GRAPH)
        return cud_graph_clone(&to->graph, from->graph);
    else if (from->kind == CUD_OP_ALLOC)
        cud_graph_mem_ref(from->mem.addr, true);
    else if (from->kind == CUD_OP_COND)
        return cud_cond_copy(to, from);
    return cudaSuccess;
}

int cud_graph_clone(struct CUgraph_st **out, const struct CUgraph_st *g) {
    struct CUgraph_st *copy;
    cud_graph_create(&copy);
    for (uint32_t i = 0; i < g->nodes.len; i++) {
        struct cud_op op;
        struct CUgraphNode_st *node;
        copy_op(&op, &g->nodes.at[i]->op);
        cud_graph_add(&node, copy, NULL, 0, &op);
        node->origin = g->nodes.at[i];
        node->disabled = g->nodes.at[i]->disabled;
    }
    for (uint32_t i = 0; i < g->nodes.len; i++)
        for (uint32_t d = 0; d < g->nodes.at[i]->deps.len; d++)
            for (uint32_t j = 0; j < copy->nodes.len; j++)
                if (copy->nodes.at[j]->origin == g->nodes.at[i]->deps.at[d])
                    vec_push(&copy->nodes.at[i]->deps, copy->nodes.at[j]);
    *out = copy;
    return cudaSuccess;
}

static bool ready(const struct CUgraphNode_st *n) {
    for (uint32_t i = 0; i < n->deps.len; i++)
        if (!n->deps.at[i]->done)
            return false;
    return true;
}

/* Visits nodes in dependency order. false: there is a cycle. */
static bool in_order(struct CUgraph_st *g, int (*visit)(struct CUgraphNode_st *), int *error) {
    uint32_t left = g->nodes.len;
    for (uint32_t i = 0; i < g->nodes.len; i++)
        g->nodes.at[i]->done = false;
    while (left) {
        uint32_t before = left;
        for (uint32_t i = 0; i < g->nodes.len; i++) {
            struct CUgraphNode_st *n = g->nodes.at[i];
            if (n->done || !ready(n))
                continue;
            if (visit && (*error = visit(n)) != 0)
                return true;
            n->done = true;
            left--;
        }
        if (left == before)
            return false;
    }
    return true;
}

static int run_node(struct CUgraphNode_st *n) {
    return n->disabled ? cudaSuccess : cud_run(&n->op);
}

int cud_graph_run(struct CUgraph_st *g) {
    int error = cudaSuccess;
    return in_order(g, run_node, &error) ? error : cudaErrorInvalidValue;
}

static bool has_executable(const struct CUgraph_st *g) {
    for (uint32_t i = 0; i < cud.objects.len; i++) {
        const struct CUgraphExec_st *e = cud.objects.entries[i].value;
        if (e && e->obj.kind == CUD_EXEC && e->origin == g)
            return true;
    }
    return false;
}

int cud_graph_instantiate(struct CUgraphExec_st **out, struct CUgraph_st *g, uint64_t flags) {
    int error = cudaSuccess;
    if (!out || !in_order(g, NULL, &error))
        return cudaErrorInvalidValue;
    if (cud_graph_mem_used(g) && has_executable(g))
        return cudaErrorNotSupported;
    bool ok = true;
    cud_cond_nodes(g, &ok);
    if (!ok || cud_cond_unused(g))
        return cudaErrorInvalidValue;
    struct CUgraphExec_st *e = cud_object_new(CUD_EXEC, sizeof *e, NULL);
    e->flags = flags;
    e->origin = g;
    cud_graph_clone(&e->graph, g);
    *out = e;
    return cudaSuccess;
}

int cud_graph_exec_destroy(struct CUgraphExec_st *e) {
    cud_await(e->stamp);
    cud_stamp_drop(e->stamp);
    cud_graph_destroy(e->graph);
    cud_object_free(e);
    return cudaSuccess;
}

int cud_graph_launch(struct CUgraphExec_st *e, struct CUstream_st *stream) {
    struct CUstream_st *s = cud_stream(stream);
    if (!s)
        return cudaErrorInvalidResourceHandle;
    if (!s->capture) {
        cud_settle();
        int error = cud_graph_mem_launch(e);
        return error ? error : cud_enqueue_graph(s, e);
    }
    struct cud_op op = {.kind = CUD_OP_GRAPH};
    cud_graph_clone(&op.graph, e->graph);
    return cud_capture_add(s, &op);
}

int cud_graph_set(struct CUgraphNode_st *node, struct cud_op *op) {
    if (node->op.kind != op->kind) {
        cud_op_free(op);
        return cudaErrorInvalidValue;
    }
    cud_op_free(&node->op);
    node->op = *op;
    return cudaSuccess;
}

static struct CUgraphNode_st *copy_of(const struct CUgraph_st *g, const struct CUgraphNode_st *node) {
    struct CUgraphNode_st *found = NULL;
    for (uint32_t i = 0; !found && i < g->nodes.len; i++) {
        struct CUgraph_st **bodies;
        unsigned n = cud_cond_bodies(&g->nodes.at[i]->op, &bodies);
        if (g->nodes.at[i]->origin == node)
            found = g->nodes.at[i];
        for (unsigned k = 0; !found && k < n; k++)
            found = copy_of(bodies[k], node);
    }
    return found;
}

struct CUgraphNode_st *cud_graph_exec_node(struct CUgraphExec_st *e, struct CUgraphNode_st *node) {
    cud_await(e->stamp); /* what it does may be about to change */
    return copy_of(e->graph, node);
}

bool cud_graph_exec_update(struct CUgraphExec_st *e, struct CUgraph_st *g, struct CUgraphNode_st **culprit) {
    *culprit = NULL;
    cud_await(e->stamp);
    if (e->graph->nodes.len != g->nodes.len)
        return false;
    for (uint32_t i = 0; i < g->nodes.len; i++) {
        struct CUgraphNode_st *from = g->nodes.at[i], *to = e->graph->nodes.at[i];
        if (from->op.kind != to->op.kind || from->deps.len != to->deps.len) {
            *culprit = from;
            return false;
        }
    }
    for (uint32_t i = 0; i < g->nodes.len; i++) {
        struct cud_op op;
        copy_op(&op, &g->nodes.at[i]->op);
        cud_graph_set(e->graph->nodes.at[i], &op);
        e->graph->nodes.at[i]->origin = g->nodes.at[i];
    }
    return true;
}

static int begin(struct CUstream_st *stream, struct CUgraph_st *g, int mode) {
    struct CUstream_st *s = cud_stream(stream);
    if (!s)
        return cudaErrorInvalidResourceHandle;
    if (mode < 0 || mode > CAPTURE_RELAXED)
        return cudaErrorInvalidValue;
    if (s == &cud_current()->legacy)
        return cudaErrorStreamCaptureUnsupported;
    if (s->capture)
        return cudaErrorIllegalState;
    s->capture_lent = g;
    s->capture = g;
    if (!g)
        cud_graph_create(&s->capture);
    cud.captures++;
    s->capture_origin = true;
    s->capture_mode = mode;
    s->tail.len = 0;
    return cudaSuccess;
}

int cud_capture_begin(struct CUstream_st *stream, int mode) {
    return begin(stream, NULL, mode);
}

static bool all_of(const struct CUgraph_st *g, struct CUgraphNode_st *const *nodes, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!nodes || !cud_node(nodes[i], -1) || nodes[i]->graph != g)
            return false;
    return true;
}

int cud_capture_begin_to(struct CUstream_st *stream, struct CUgraph_st *g, struct CUgraphNode_st *const *deps,
                         size_t n, int mode) {
    if (!cud_graph(g) || !all_of(g, deps, n))
        return cudaErrorInvalidValue;
    int error = begin(stream, g, mode);
    return error ? error : cud_capture_depend(stream, deps, n, 0);
}

int cud_capture_depend(struct CUstream_st *stream, struct CUgraphNode_st *const *deps, size_t n,
                       unsigned flags) {
    enum { ADD, SET };
    struct CUstream_st *s = cud_stream(stream);
    if (!s)
        return cudaErrorInvalidResourceHandle;
    if (!s->capture)
        return cudaErrorIllegalState;
    if (flags > SET || !all_of(s->capture, deps, n))
        return cudaErrorInvalidValue;
    if (flags == SET)
        s->tail.len = 0;
    for (size_t i = 0; i < n; i++)
        vec_push(&s->tail, deps[i]);
    return cudaSuccess;
}

/* Detaches every stream and event from a capture that ends. */
static void leave_capture(struct CUgraph_st *g) {
    for (uint32_t i = 0; i < cud.objects.len; i++) {
        struct cud_object *o = cud.objects.entries[i].value;
        if (o && o->kind == CUD_STREAM && ((struct CUstream_st *)o)->capture == g) {
            ((struct CUstream_st *)o)->capture = NULL;
            ((struct CUstream_st *)o)->tail.len = 0;
        } else if (o && o->kind == CUD_EVENT && ((struct CUevent_st *)o)->capture == g) {
            ((struct CUevent_st *)o)->capture = NULL;
            ((struct CUevent_st *)o)->tail.len = 0;
        }
    }
}

int cud_capture_end(struct CUstream_st *stream, struct CUgraph_st **out) {
    struct CUstream_st *s = cud_stream(stream);
    if (!s)
        return cudaErrorInvalidResourceHandle;
    if (!s->capture)
        return out ? cudaErrorIllegalState : cudaErrorInvalidValue;
    if (!out && !s->capture_lent) /* whose graph the program has */
        return cudaErrorInvalidValue;
    if (!s->capture_origin)
        return cudaErrorStreamCaptureUnmatched;
    struct CUgraph_st *g = s->capture;
    s->capture = NULL;
    s->tail.len = 0;
    cud.captures--;
    leave_capture(g);
    if (g->invalidated) {
        if (s->capture_lent)
            g->invalidated = false;
        else
            cud_graph_destroy(g);
        if (out)
            *out = NULL;
        return cudaErrorStreamCaptureInvalidated;
    }
    if (out)
        *out = g;
    return cudaSuccess;
}

/* Whether a stream captures that f accepts; such captures are spoilt. */
static bool spoils(bool (*f)(const struct CUstream_st *)) {
    bool any = false;
    for (uint32_t i = 0; cud.captures && i < cud.objects.len; i++) {
        struct CUstream_st *s = cud.objects.entries[i].value;
        if (!s || s->obj.kind != CUD_STREAM || !s->capture || !f(s))
            continue;
        any = s->capture->invalidated = true;
    }
    return any;
}

static bool blocking_stream(const struct CUstream_st *s) {
    return !(s->flags & 1);
}

static bool any_stream(const struct CUstream_st *s) {
    return s->capture != NULL;
}

static bool strict_stream(const struct CUstream_st *s) {
    return s->capture_origin && s->capture_mode != CAPTURE_RELAXED &&
           cud_thread()->capture_mode != CAPTURE_RELAXED;
}

int cud_capture_forbids(int error) {
    return spoils(error == cudaErrorStreamCaptureImplicit ? blocking_stream : any_stream) ? error
                                                                                          : cudaSuccess;
}

int cud_capture_forbids_alloc(void) {
    return spoils(strict_stream) ? cudaErrorStreamCaptureUnsupported : cudaSuccess;
}

int cud_capture_add(struct CUstream_st *s, struct cud_op *op) {
    struct CUgraphNode_st *node;
    int error = cud_graph_add(&node, s->capture, s->tail.at, s->tail.len, op);
    if (error)
        return error;
    s->tail.len = 0;
    vec_push(&s->tail, node);
    return cudaSuccess;
}

int cud_capture_alloc(struct CUstream_st *s, uint64_t *addr, size_t size) {
    uint64_t at;
    int error = addr ? cud_graph_mem_new(&at, size) : cudaErrorInvalidValue;
    if (error)
        return error;
    *addr = at;
    struct cud_op op = {.kind = CUD_OP_ALLOC, .mem = {at, size}};
    return cud_capture_add(s, &op);
}
