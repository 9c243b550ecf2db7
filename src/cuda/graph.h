/* Graphs: recorded work. Nodes run in an order that respects their edges and otherwise is the order in
 * which they were added, so a graph runs the same way every time. */
#ifndef REPRISE_CUDA_GRAPH_H
#define REPRISE_CUDA_GRAPH_H

#include "cuda/work.h"

struct CUgraphNode_st {
    struct cud_object obj;
    struct CUgraph_st *graph;
    struct cud_op op;
    VEC(struct CUgraphNode_st *) deps;
    struct CUgraphNode_st *origin; /* the node this one was copied from, for FindInClone and updates */
    bool disabled, done;
};

struct CUgraph_st {
    struct cud_object obj;
    VEC(struct CUgraphNode_st *) nodes;
    uint64_t id;
    bool invalidated; /* a capture that went wrong */
};

/* An executable graph is a private copy. */
struct CUgraphExec_st {
    struct cud_object obj;
    struct CUgraph_st *graph;
    uint64_t flags;
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

int cud_capture_begin(struct CUstream_st *stream, int mode);
int cud_capture_end(struct CUstream_st *stream, struct CUgraph_st **out);
/* Records an operation of a capturing stream. */
int cud_capture_add(struct CUstream_st *stream, struct cud_op *op);
/* Lists nodes or edges the way the query functions want them: counts when at is NULL. */
int cud_graph_list(struct CUgraphNode_st *const *from, size_t have, struct CUgraphNode_st **at, size_t *n);

#endif
