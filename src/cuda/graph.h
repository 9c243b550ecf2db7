/* Graphs: recorded work. Nodes run in an order that respects their edges and otherwise is the order in
 * which they were added, so a graph runs the same way every time. */
#ifndef REPRISE_CUDA_GRAPH_H
#define REPRISE_CUDA_GRAPH_H

#include "cuda/work.h"

#pragma GCC visibility push(default)

struct CUgraphNode_st {
    struct cud_object obj;
    struct CUgraph_st *graph;
    struct cud_op op;
    VEC(struct CUgraphNode_st *) deps;
    struct CUgraphNode_st *origin; /* the node this one was copied from, for FindInClone and updates */
    void **args;                   /* pointers into a launch's parameters, for GetParams */
    bool disabled, done;
};

struct CUgraph_st {
    struct cud_object obj;
    VEC(struct CUgraphNode_st *) nodes;
    uint64_t id;
    bool invalidated;              /* a capture that went wrong */
    const struct CUgraph_st *root; /* of a conditional node's body: the graph that it is part of, else NULL */
};

enum { CUD_GRAPH_AUTO_FREE = 1 }; /* of the flags of an executable graph, numbered as in both APIs */

/* An executable graph is a private copy. */
struct CUgraphExec_st {
    struct cud_object obj;
    struct CUgraph_st *graph;
    const struct CUgraph_st *origin; /* whose copy it is; may be gone */
    uint64_t flags;
    struct cud_stamp *stamp; /* of its last launch, or NULL */
    uint64_t mark;           /* it is launched in that pass through the queue */
    uint64_t associated;     /* when it was launched last that memory was taken for it, see graph_mem.c */
};

int cud_graph_create(struct CUgraph_st **out);
int cud_graph_destroy(struct CUgraph_st *g);
/* Adds a node; takes over what the op owns, also when it fails. */
int cud_graph_add(struct CUgraphNode_st **out, struct CUgraph_st *g, struct CUgraphNode_st *const *deps,
                  size_t n, struct cud_op *op);
int cud_graph_edge(struct CUgraphNode_st *from, struct CUgraphNode_st *to, bool add);
int cud_graph_remove(struct CUgraphNode_st *node);
int cud_graph_clone(struct CUgraph_st **out, const struct CUgraph_st *g);
int cud_graph_instantiate(struct CUgraphExec_st **out, struct CUgraph_st *g, uint64_t flags);
int cud_graph_exec_destroy(struct CUgraphExec_st *e);
int cud_graph_launch(struct CUgraphExec_st *e, struct CUstream_st *stream);
int cud_graph_run(struct CUgraph_st *g);
/* Replaces what a node does, in a graph or, through its copy, in an executable graph. */
int cud_graph_set(struct CUgraphNode_st *node, struct cud_op *op);
struct CUgraphNode_st *cud_graph_exec_node(struct CUgraphExec_st *e, struct CUgraphNode_st *node);
/* Brings an executable graph up to date with one of the same shape; false when the shape differs. */
bool cud_graph_exec_update(struct CUgraphExec_st *e, struct CUgraph_st *g, struct CUgraphNode_st **culprit);

/* ---- graph_mem.c: memory that nodes allocate --------------------------------------------------------- */

/* An address for a node to allocate. */
int cud_graph_mem_new(uint64_t *addr, size_t size);
/* One more, or one fewer, node allocates at addr. */
void cud_graph_mem_ref(uint64_t addr, bool more);
/* Whether a node allocates [addr, addr + size) or more, be it there now or not. */
bool cud_graph_mem_holds(uint64_t addr, size_t size);
int cud_graph_mem_allocate(uint64_t addr);
/* Memory at addr has been freed. */
void cud_graph_mem_freed(uint64_t addr);
/* Whether nodes of a graph allocate. */
bool cud_graph_mem_used(const struct CUgraph_st *g);
/* Checks before a launch that what the graph allocates is free and what it frees is there. */
int cud_graph_mem_launch(struct CUgraphExec_st *e);
int cud_graph_mem_trim(int device);
/* Attributes numbered as cudaGraphMemAttributeType; setting resets high marks. */
int cud_graph_mem_attribute(int device, int attribute, uint64_t *value, bool set);
/* Records an allocation of a capturing stream. */
int cud_capture_alloc(struct CUstream_st *stream, uint64_t *addr, size_t size);

/* ---- graph_cond.c: conditional nodes --------------------------------------------------------------------
 */

struct cud_cond_node;
/* A handle for a conditional node of g. */
int cud_cond_create(uint64_t *handle, struct CUgraph_st *g, unsigned start, unsigned flags);
int cud_op_cond(struct cud_op *op, struct cud_cond_node *p, struct CUgraph_st *g);
int cud_cond_copy(struct cud_op *to, const struct cud_op *from);
void cud_cond_free(struct cud_op *op);
/* The bodies of a conditional node; how many, 0 for other nodes. */
unsigned cud_cond_bodies(const struct cud_op *op, struct CUgraph_st ***bodies);
/* Whether a graph has conditional nodes; *ok becomes false if a body has nodes that it cannot have. */
bool cud_cond_nodes(const struct CUgraph_st *g, bool *ok);
/* Whether a handle of g has no node. */
bool cud_cond_unused(const struct CUgraph_st *g);
void cud_cond_graph_destroyed(const struct CUgraph_st *g);
/* Values that a launch of g starts with. */
void cud_cond_start(const struct CUgraph_st *g);
int cud_cond_run(const struct cud_conditional *n);

int cud_capture_begin(struct CUstream_st *stream, int mode);
/* The same into a graph that exists, behind nodes of it. */
int cud_capture_begin_to(struct CUstream_st *stream, struct CUgraph_st *g, struct CUgraphNode_st *const *deps,
                         size_t n, int mode);
/* Sets what the next captured operation depends on, or adds to it. */
int cud_capture_depend(struct CUstream_st *stream, struct CUgraphNode_st *const *deps, size_t n,
                       unsigned flags);
int cud_capture_end(struct CUstream_st *stream, struct CUgraph_st **out);
/* What a call gets that must not happen during a capture, which it spoils; success when there is none. */
int cud_capture_forbids(int error);
/* The same for calls that only a capture in relaxed mode allows, such as allocations. */
int cud_capture_forbids_alloc(void);
/* Records an operation of a capturing stream. */
int cud_capture_add(struct CUstream_st *stream, struct cud_op *op);
/* ---- the parts of the API that both libraries have in the same form (graph_calls.def) ----------------- */

/* Layouts both APIs use. */
struct cud_kernel_node {
    void *func;
    unsigned grid[3], block[3], shared;
    void **args, **extra;
};

struct cud_memset_node {
    uint64_t dst;
    size_t pitch;
    unsigned value, elem;
    size_t width, height;
};

struct cud_host_node {
    void (*fn)(void *);
    void *data;
};

struct cud_alloc_node {
    char pool_props[88];
    const void *access;
    size_t naccess, size;
    uint64_t addr;
};

struct cud_instantiate {
    uint64_t flags;
    struct CUstream_st *upload;
    struct CUgraphNode_st *error_node;
    int result;
};

struct cud_cond_node {
    uint64_t handle;
    int type;
    unsigned size;
    struct CUgraph_st **out;
};

/* cudaGraphNodeParams: what any node is made from. */
struct cud_node_params {
    int type, reserved[3];
    union {
        long long room[29];
        struct cud_kernel_node kernel;
        struct cud_memset_node memset;
        struct cud_host_node host;
        struct CUgraph_st *graph;
        struct CUevent_st *event;
        struct cud_alloc_node alloc;
        uint64_t free;
        struct cud_cond_node cond;
    };
    long long reserved2;
};

struct cud_update_info {
    int result;
    struct CUgraphNode_st *error_node, *error_from_node;
};

typedef struct CUgraphNode_st *const *cud_nodes;

struct CUgraph_st *cud_graph(struct CUgraph_st *g);
struct CUgraphNode_st *cud_node(struct CUgraphNode_st *n, int kind);
/* Node n of an executable graph, or NULL. kind -1 is any. */
struct CUgraphNode_st *cud_exec_node(struct CUgraphExec_st *e, struct CUgraphNode_st *n, int kind);

int cud_op_kernel(struct cud_op *op, const struct cud_kernel_node *p);
int cud_op_memset(struct cud_op *op, const struct cud_memset_node *p);
int cud_op_host(struct cud_op *op, const struct cud_host_node *p);
int cud_op_child(struct cud_op *op, struct CUgraph_st *child);
int cud_op_event(struct cud_op *op, int kind, struct CUevent_st *event);
int cud_op_alloc(struct cud_op *op, struct cud_alloc_node *p);
int cud_op_free_node(struct cud_op *op, uint64_t addr);
/* Any of the above, or a conditional node, for a graph (of an executable one: NULL); a copy is each library's
 * own affair, so copy is the error of making it. */
int cud_op_any(struct cud_op *op, struct cud_node_params *p, struct CUgraph_st *g, int copy);

/* Adds the op to a graph, or puts it into a node, if made succeeded (made is the error of making it). */
int cud_add(struct CUgraphNode_st **out, struct CUgraph_st *g, cud_nodes deps, size_t n, struct cud_op *op,
            int made);
int cud_set(struct CUgraphNode_st *node, struct cud_op *op, int made);

int cud_graph_nodes(struct CUgraph_st *g, struct CUgraphNode_st **nodes, size_t *n);
int cud_graph_roots(struct CUgraph_st *g, struct CUgraphNode_st **nodes, size_t *n);
int cud_graph_edges(struct CUgraph_st *g, struct CUgraphNode_st **from, struct CUgraphNode_st **to,
                    size_t *n);
int cud_node_deps(struct CUgraphNode_st *node, struct CUgraphNode_st **nodes, size_t *n);
int cud_node_dependents(struct CUgraphNode_st *node, struct CUgraphNode_st **nodes, size_t *n);
int cud_graph_link(struct CUgraph_st *g, cud_nodes from, cud_nodes to, size_t n, bool add);
int cud_node_type(struct CUgraphNode_st *node, int *type);
int cud_node_find(struct CUgraphNode_st **out, struct CUgraphNode_st *origin, struct CUgraph_st *clone);
int cud_node_kernel(struct CUgraphNode_st *node, struct cud_kernel_node *out);
int cud_node_memset(struct CUgraphNode_st *node, struct cud_memset_node *out);
int cud_node_host(struct CUgraphNode_st *node, struct cud_host_node *out);
int cud_node_child(struct CUgraphNode_st *node, struct CUgraph_st **out);
int cud_node_event(struct CUgraphNode_st *node, int kind, struct CUevent_st **out);
int cud_node_alloc(struct CUgraphNode_st *node, struct cud_alloc_node *out);
int cud_node_free(struct CUgraphNode_st *node, uint64_t *out);
/* A copy for the program; graphs that allocate have none. */
int cud_clone(struct CUgraph_st **out, struct CUgraph_st *g);
int cud_node_enable(struct CUgraphExec_st *e, struct CUgraphNode_st *node, unsigned on);
int cud_node_enabled(struct CUgraphExec_st *e, struct CUgraphNode_st *node, unsigned *on);
int cud_instantiate(struct CUgraphExec_st **out, struct CUgraph_st *g, uint64_t flags);
int cud_instantiate_params(struct CUgraphExec_st **out, struct CUgraph_st *g, struct cud_instantiate *p);
int cud_exec_flags(struct CUgraphExec_st *e, uint64_t *flags);
int cud_exec_update(struct CUgraphExec_st *e, struct CUgraph_st *g, struct CUgraphNode_st **culprit,
                    int *result);
int cud_exec_launch(struct CUgraphExec_st *e, struct CUstream_st *stream);
int cud_graph_dot(struct CUgraph_st *g, const char *path);
int cud_capture_status(struct CUstream_st *stream, int *status);
int cud_capture_info(struct CUstream_st *stream, int *status, unsigned long long *id,
                     struct CUgraph_st **graph, cud_nodes *deps, size_t *ndeps);
int cud_capture_mode(int *mode);

#pragma GCC visibility pop

#endif
