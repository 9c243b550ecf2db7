/* Memory that graphs allocate. A node that allocates has its address from the start; memory is there from the
 * launch that runs the node until it is freed, by a graph or by anyone, and the next launch allocates it
 * again. The driver keeps physical memory with graphs in chunks, freed or not, until it is trimmed. */
#include <stdlib.h>

#include "cuda/graph.h"

#define CHUNK       (UINT64_C(32) << 20) /* what an H200's driver takes at a time */
#define PLACE_ALIGN (UINT64_C(2) << 20)

/* An address that nodes allocate. */
struct place {
    uint64_t addr;
    size_t size;
    unsigned nodes; /* that allocate it: a graph's, and its executable copy's */
};

static struct map places; /* address -> struct place */
static uint64_t associated, high[2];
static uint64_t trims; /* how often memory was trimmed, plus 1 */

static uint64_t round_up(uint64_t x, uint64_t to) {
    return (x + to - 1) / to * to;
}

static bool live(const struct place *p) {
    const struct rp_alloc *a = cud_mem_find(p->addr);
    return a && a->addr == p->addr;
}

static void drop_unused(struct place *p) {
    if (p->nodes || live(p))
        return;
    rp_mem_unreserve(cud.gpu, p->addr);
    map_remove_u64(&places, p->addr);
    free(p);
}

int cud_graph_mem_new(uint64_t *addr, size_t size) {
    if (!addr || !size)
        return cudaErrorInvalidValue;
    uint64_t at = rp_mem_reserve(cud.gpu, round_up(size, PLACE_ALIGN), PLACE_ALIGN, 0);
    if (!at)
        return cudaErrorMemoryAllocation;
    struct place *p = xmalloc(sizeof *p);
    *p = (struct place){at, size, 1};
    map_set_u64(&places, at, p);
    *addr = at;
    return cudaSuccess;
}

void cud_graph_mem_ref(uint64_t addr, bool more) {
    struct place *p = map_get_u64(&places, addr);
    if (!p)
        return;
    p->nodes += more ? 1u : -1u;
    drop_unused(p);
}

bool cud_graph_mem_holds(uint64_t addr, size_t size) {
    uint64_t start, all;
    struct place *p = rp_mem_reserved(cud.gpu, addr, &start, &all) ? map_get_u64(&places, start) : NULL;
    return p && addr - p->addr <= p->size && size <= p->size - (addr - p->addr);
}

int cud_graph_mem_allocate(uint64_t addr) {
    struct place *p = map_get_u64(&places, addr);
    if (!p || live(p))
        return cudaErrorInvalidValue;
    if (!rp_mem_back(cud.gpu, p->addr, p->size))
        return cudaErrorMemoryAllocation;
    cud_mem_find(addr)->user = cud_current();
    return cudaSuccess;
}

void cud_graph_mem_freed(uint64_t addr) {
    struct place *p = map_get_u64(&places, addr);
    if (p)
        drop_unused(p);
}

/* What a graph allocates and frees, child graphs included. */
struct use {
    uint64_t bytes;
    bool frees_first; /* what is there is freed before */
    bool taken;       /* something it allocates is there */
};

static void look(const struct CUgraph_st *g, struct use *u) {
    for (uint32_t i = 0; i < g->nodes.len; i++) {
        const struct cud_op *op = &g->nodes.at[i]->op;
        struct place *p =
            op->kind == CUD_OP_ALLOC || op->kind == CUD_OP_FREE ? map_get_u64(&places, op->mem.addr) : NULL;
        if (op->kind == CUD_OP_GRAPH)
            look(op->graph, u);
        if (p && op->kind == CUD_OP_ALLOC) {
            u->bytes += p->size;
            if (u->frees_first && live(p))
                rp_mem_free(cud.gpu, p->addr);
            u->taken |= live(p);
        }
    }
}

static bool allocates(const struct CUgraph_st *g, uint64_t addr) {
    for (uint32_t i = 0; i < g->nodes.len; i++) {
        const struct cud_op *op = &g->nodes.at[i]->op;
        if ((op->kind == CUD_OP_ALLOC && op->mem.addr == addr) ||
            (op->kind == CUD_OP_GRAPH && allocates(op->graph, addr)))
            return true;
    }
    return false;
}

static bool frees_nothing(const struct CUgraph_st *root, const struct CUgraph_st *g) {
    for (uint32_t i = 0; i < g->nodes.len; i++) {
        const struct cud_op *op = &g->nodes.at[i]->op;
        if ((op->kind == CUD_OP_GRAPH && frees_nothing(root, op->graph)) ||
            (op->kind == CUD_OP_FREE && !cud_mem_find(op->mem.addr) && !allocates(root, op->mem.addr)))
            return true;
    }
    return false;
}

bool cud_graph_mem_used(const struct CUgraph_st *g) {
    struct use u = {0};
    look(g, &u);
    return u.bytes > 0;
}

int cud_graph_mem_launch(struct CUgraphExec_st *e) {
    struct use u = {.frees_first = e->flags & CUD_GRAPH_AUTO_FREE};
    look(e->graph, &u);
    if (u.taken || frees_nothing(e->graph, e->graph))
        return cudaErrorInvalidValue;
    if (!u.bytes || e->associated == trims + 1)
        return cudaSuccess;
    e->associated = trims + 1;
    associated += round_up(u.bytes, CHUNK);
    for (int i = 0; i < 2; i++)
        high[i] = associated > high[i] ? associated : high[i];
    return cudaSuccess;
}

int cud_graph_mem_trim(int device) {
    uint64_t bytes = 0;
    if (device)
        return cudaErrorInvalidDevice;
    for (uint32_t i = 0; i < places.len; i++) {
        const struct place *p = places.entries[i].value;
        bytes += p && live(p) ? p->size : 0;
    }
    associated = round_up(bytes, CHUNK);
    trims++;
    return cudaSuccess;
}

int cud_graph_mem_attribute(int device, int attribute, uint64_t *value, bool set) {
    enum { USED, USED_HIGH, RESERVED, RESERVED_HIGH, COUNT };
    if (device)
        return cudaErrorInvalidDevice;
    if (attribute < 0 || attribute >= COUNT || !value)
        return cudaErrorInvalidValue;
    bool mark = attribute == USED_HIGH || attribute == RESERVED_HIGH;
    if (set && (!mark || *value))
        return cudaErrorInvalidValue;
    if (set)
        high[attribute == RESERVED_HIGH] = 0;
    else
        *value = mark ? high[attribute == RESERVED_HIGH] : associated;
    return cudaSuccess;
}
