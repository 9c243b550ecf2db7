/* Conditional nodes of graphs: bodies that run if a value is set, as long as it is, or by its number. A
 * handle is the address of the value, a word of device memory, so that kernels set it by a store. */
#include <stdlib.h>
#include <string.h>

#include "cuda/graph.h"

enum { COND_IF, COND_WHILE, COND_SWITCH }; /* numbered as in both APIs */
enum { ASSIGN_DEFAULT = 1 };               /* flag of a handle: launches start with its default */

/* A handle. */
struct condition {
    uint64_t addr;
    const struct CUgraph_st *graph; /* for which it was made; NULL when that is gone */
    uint32_t start;
    bool assigned; /* start is assigned at each launch */
    bool taken;    /* by a node of the graph */
    unsigned refs; /* the graph, and nodes, also of copies */
};

struct cud_conditional {
    struct condition *c;
    int type;
    unsigned size;
    bool original; /* not a copy in an executable graph */
    struct CUgraph_st **bodies;
};

static struct map conditions; /* address -> struct condition */

static uint32_t *word(const struct condition *c) {
    return (uint32_t *)(uintptr_t)c->addr;
}

static void unref(struct condition *c) {
    if (--c->refs)
        return;
    rp_mem_free(cud.gpu, c->addr);
    map_remove_u64(&conditions, c->addr);
    free(c);
}

int cud_cond_create(uint64_t *handle, struct CUgraph_st *g, unsigned start, unsigned flags) {
    if (!handle || !cud_graph(g) || g->root || flags > ASSIGN_DEFAULT)
        return cudaErrorInvalidValue;
    uint64_t addr = rp_mem_alloc(cud.gpu, sizeof(uint32_t), RP_MEM_MODULE);
    if (!addr)
        return cudaErrorMemoryAllocation;
    struct condition *c = xcalloc(1, sizeof *c);
    *c = (struct condition){addr, g, start, flags & ASSIGN_DEFAULT, false, 1};
    map_set_u64(&conditions, addr, c);
    *handle = addr;
    return cudaSuccess;
}

void cud_cond_graph_destroyed(const struct CUgraph_st *g) {
    for (uint32_t i = 0; i < conditions.len; i++) {
        struct condition *c = conditions.entries[i].value;
        if (c && c->graph == g) {
            c->graph = NULL;
            unref(c);
        }
    }
}

bool cud_cond_unused(const struct CUgraph_st *g) {
    for (uint32_t i = 0; i < conditions.len; i++) {
        const struct condition *c = conditions.entries[i].value;
        if (c && c->graph == g && !c->taken)
            return true;
    }
    return false;
}

static struct cud_conditional *conditional(struct condition *c, int type, unsigned size) {
    struct cud_conditional *n = xcalloc(1, sizeof *n);
    *n = (struct cud_conditional){c, type, size, false, xcalloc(size, sizeof(struct CUgraph_st *))};
    c->refs++;
    return n;
}

int cud_op_cond(struct cud_op *op, struct cud_cond_node *p, struct CUgraph_st *g) {
    struct condition *c = p && p->handle ? map_get_u64(&conditions, p->handle) : NULL;
    const struct CUgraph_st *root = cud_graph(g) && g->root ? g->root : g;
    unsigned most[] = {[COND_IF] = 2, [COND_WHILE] = 1, [COND_SWITCH] = UINT16_MAX};
    if (!c || !cud_graph(g) || c->graph != root || c->taken || p->type < 0 || p->type > COND_SWITCH ||
        !p->size || p->size > most[p->type])
        return cudaErrorInvalidValue;
    *op = (struct cud_op){.kind = CUD_OP_COND, .cond = conditional(c, p->type, p->size)};
    for (unsigned i = 0; i < p->size; i++) {
        cud_graph_create(&op->cond->bodies[i]);
        op->cond->bodies[i]->root = root;
    }
    op->cond->original = c->taken = true;
    p->out = op->cond->bodies;
    return cudaSuccess;
}

int cud_cond_copy(struct cud_op *to, const struct cud_op *from) {
    const struct cud_conditional *n = from->cond;
    to->cond = conditional(n->c, n->type, n->size);
    for (unsigned i = 0; i < n->size; i++)
        cud_graph_clone(&to->cond->bodies[i], n->bodies[i]);
    return cudaSuccess;
}

void cud_cond_free(struct cud_op *op) {
    struct cud_conditional *n = op->cond;
    for (unsigned i = 0; i < n->size; i++)
        cud_graph_destroy(n->bodies[i]);
    if (n->original)
        n->c->taken = false;
    unref(n->c);
    free(n->bodies);
    free(n);
}

unsigned cud_cond_bodies(const struct cud_op *op, struct CUgraph_st ***bodies) {
    *bodies = op->kind == CUD_OP_COND ? op->cond->bodies : NULL;
    return op->kind == CUD_OP_COND ? op->cond->size : 0;
}

/* Whether a body, or what is nested in it, has only nodes that a GPU can run by itself. */
static bool body_ok(const struct CUgraph_st *g) {
    for (uint32_t i = 0; i < g->nodes.len; i++) {
        const struct cud_op *op = &g->nodes.at[i]->op;
        bool ok = op->kind == CUD_OP_LAUNCH || op->kind == CUD_OP_COPY || op->kind == CUD_OP_FILL ||
                  op->kind == CUD_OP_EMPTY || op->kind == CUD_OP_COND ||
                  (op->kind == CUD_OP_GRAPH && body_ok(op->graph));
        if (!ok)
            return false;
    }
    return true;
}

bool cud_cond_nodes(const struct CUgraph_st *g, bool *ok) {
    bool any = false;
    struct CUgraph_st **bodies;
    for (uint32_t i = 0; i < g->nodes.len; i++) {
        const struct cud_op *op = &g->nodes.at[i]->op;
        unsigned n = cud_cond_bodies(op, &bodies);
        any |= op->kind == CUD_OP_COND;
        for (unsigned k = 0; k < n; k++) {
            *ok &= body_ok(bodies[k]);
            cud_cond_nodes(bodies[k], ok);
        }
        if (op->kind == CUD_OP_GRAPH)
            any |= cud_cond_nodes(op->graph, ok);
    }
    return any;
}

void cud_cond_start(const struct CUgraph_st *g) {
    struct CUgraph_st **bodies;
    for (uint32_t i = 0; i < g->nodes.len; i++) {
        const struct cud_op *op = &g->nodes.at[i]->op;
        unsigned n = cud_cond_bodies(op, &bodies);
        if (n && op->cond->c->assigned)
            *word(op->cond->c) = op->cond->c->start;
        for (unsigned k = 0; k < n; k++)
            cud_cond_start(bodies[k]);
    }
}

int cud_cond_run(const struct cud_conditional *n) {
    uint32_t v = *word(n->c);
    int error = cudaSuccess;
    switch (n->type) {
    case COND_IF:
        return v ? cud_graph_run(n->bodies[0]) : n->size > 1 ? cud_graph_run(n->bodies[1]) : cudaSuccess;
    case COND_SWITCH:
        return v < n->size ? cud_graph_run(n->bodies[v]) : cudaSuccess;
    default: /* while; after a fault nothing changes the value any more */
        while (!error && *word(n->c) && !cud_current()->pending)
            error = cud_graph_run(n->bodies[0]);
        return error;
    }
}
