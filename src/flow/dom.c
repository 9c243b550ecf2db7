/* Edges of the control-flow graph, orders and trees over it: reverse postorder, dominators, post-dominators,
 * loop depth.
 *
 * Dominators follow Cooper, Harvey and Kennedy: iterate "nearest common ancestor of the predecessors" in
 * reverse postorder until nothing moves. Post-dominators are the same on the reversed graph below a virtual
 * exit. */
#include "flow/flow.h"

void cfg_edges(struct fn *f) {
    for (uint32_t b = 0; b < f->blocks.len; b++) {
        struct block *k = &f->blocks.at[b];
        struct inst *last = block_last(k);
        k->pred.len = 0;
        if (!last || last->op != OP_BRX)
            continue;
        k->succ.len = 0;
        for (uint32_t t = 0; t < f->tables.at[last->target].n; t++) {
            uint32_t to = f->tables.at[last->target].blocks[t], seen = 0;
            while (seen < k->succ.len && k->succ.at[seen] != to)
                seen++;
            if (seen == k->succ.len)
                vec_push(&k->succ, to);
        }
    }
    for (uint32_t b = 0; b < f->blocks.len; b++)
        for (uint32_t s = 0; s < f->blocks.at[b].succ.len; s++) {
            uint32_t to = f->blocks.at[b].succ.at[s];
            vec_push(&f->blocks.at[to].pred, b);
        }
}

/* A graph given by successor and predecessor lists, so that both directions share the code. */
struct graph {
    uint32_t n, root;
    const uint32_t *succ_at, *succ; /* successors of b: succ[succ_at[b]] .. succ[succ_at[b + 1] - 1] */
    const uint32_t *pred_at, *pred;
};

/* Reverse postorder from the root; unreached nodes get index NONE. */
static uint32_t graph_order(struct arena *a, const struct graph *g, uint32_t *order, uint32_t *index) {
    uint32_t *stack = arena_array(a, uint32_t, g->n + 1), *next = arena_array(a, uint32_t, g->n + 1);
    uint32_t depth = 0, n = 0;
    for (uint32_t b = 0; b < g->n; b++)
        index[b] = NONE;
    stack[depth++] = g->root;
    index[g->root] = 0;
    next[g->root] = g->succ_at[g->root];
    while (depth) {
        uint32_t b = stack[depth - 1];
        if (next[b] == g->succ_at[b + 1]) {
            order[n++] = b;
            depth--;
            continue;
        }
        uint32_t s = g->succ[next[b]++];
        if (index[s] == NONE) {
            index[s] = 0;
            next[s] = g->succ_at[s];
            stack[depth++] = s;
        }
    }
    for (uint32_t i = 0; i < n / 2; i++) {
        uint32_t t = order[i];
        order[i] = order[n - 1 - i];
        order[n - 1 - i] = t;
    }
    for (uint32_t i = 0; i < n; i++)
        index[order[i]] = i;
    return n;
}

static uint32_t common(const uint32_t *idom, const uint32_t *index, uint32_t x, uint32_t y) {
    while (x != y) {
        while (index[x] > index[y])
            x = idom[x];
        while (index[y] > index[x])
            y = idom[y];
    }
    return x;
}

/* Immediate dominators; the root's is itself, unreached nodes have NONE. */
static uint32_t *graph_idom(struct arena *a, const struct graph *g) {
    uint32_t *idom = arena_array(a, uint32_t, g->n + 1);
    uint32_t *order = arena_array(a, uint32_t, g->n + 1), *index = arena_array(a, uint32_t, g->n + 1);
    uint32_t n = graph_order(a, g, order, index);
    for (uint32_t b = 0; b < g->n; b++)
        idom[b] = NONE;
    idom[g->root] = g->root;
    for (bool again = true; again;) {
        again = false;
        for (uint32_t k = 1; k < n; k++) {
            uint32_t b = order[k], best = NONE;
            for (uint32_t e = g->pred_at[b]; e < g->pred_at[b + 1]; e++) {
                uint32_t p = g->pred[e];
                if (idom[p] != NONE)
                    best = best == NONE ? p : common(idom, index, p, best);
            }
            again |= best != idom[b];
            idom[b] = best;
        }
    }
    return idom;
}

struct edge {
    uint32_t from, to;
};
typedef VEC(struct edge) edge_list;

/* Adjacency lists in both directions. */
static struct graph graph_of(struct arena *a, uint32_t n, uint32_t root, const edge_list *edges) {
    uint32_t *sa = arena_array(a, uint32_t, n + 2), *pa = arena_array(a, uint32_t, n + 2);
    uint32_t *s = arena_array(a, uint32_t, edges->len + 1), *p = arena_array(a, uint32_t, edges->len + 1);
    for (uint32_t e = 0; e < edges->len; e++) {
        sa[edges->at[e].from + 1]++;
        pa[edges->at[e].to + 1]++;
    }
    for (uint32_t b = 0; b < n; b++) {
        sa[b + 1] += sa[b];
        pa[b + 1] += pa[b];
    }
    uint32_t *sn = arena_array(a, uint32_t, n + 1), *pn = arena_array(a, uint32_t, n + 1);
    for (uint32_t e = 0; e < edges->len; e++) {
        uint32_t from = edges->at[e].from, to = edges->at[e].to;
        s[sa[from] + sn[from]++] = to;
        p[pa[to] + pn[to]++] = from;
    }
    return (struct graph){n, root, sa, s, pa, p};
}

static struct graph forward_graph(struct arena *a, const struct fn *f) {
    edge_list edges = {0};
    for (uint32_t b = 0; b < f->blocks.len; b++)
        for (uint32_t s = 0; s < f->blocks.at[b].succ.len; s++)
            vec_push(&edges, (struct edge){b, f->blocks.at[b].succ.at[s]});
    struct graph g = graph_of(a, f->blocks.len, 0, &edges);
    vec_free(&edges);
    return g;
}

uint32_t cfg_rpo(struct arena *a, const struct fn *f, uint32_t **order) {
    struct graph g = forward_graph(a, f);
    *order = arena_array(a, uint32_t, g.n + 1);
    uint32_t *index = arena_array(a, uint32_t, g.n + 1);
    return graph_order(a, &g, *order, index);
}

struct dom dom_of(struct arena *a, const struct fn *f) {
    struct graph g = forward_graph(a, f);
    struct dom d = {.idom = graph_idom(a, &g)};
    d.pre = arena_array(a, uint32_t, g.n + 1);
    d.post = arena_array(a, uint32_t, g.n + 1);
    d.order = arena_array(a, uint32_t, g.n + 1);
    edge_list edges = {0};
    for (uint32_t b = 1; b < g.n; b++)
        if (d.idom[b] != NONE)
            vec_push(&edges, (struct edge){d.idom[b], b});
    struct graph tree = graph_of(a, g.n, 0, &edges);
    vec_free(&edges);
    uint32_t *stack = arena_array(a, uint32_t, g.n + 1), *next = arena_array(a, uint32_t, g.n + 1);
    uint32_t depth = 0, clock = 0;
    stack[depth++] = 0;
    next[0] = tree.succ_at[0];
    d.pre[0] = clock++;
    d.order[d.n++] = 0;
    while (depth) {
        uint32_t b = stack[depth - 1];
        if (next[b] == tree.succ_at[b + 1]) {
            d.post[b] = clock++;
            depth--;
            continue;
        }
        uint32_t s = tree.succ[next[b]++];
        next[s] = tree.succ_at[s];
        d.pre[s] = clock++;
        d.order[d.n++] = s;
        stack[depth++] = s;
    }
    d.idom[0] = NONE;
    return d;
}

/* ---- reconvergence ---- */

static bool leaves(const struct fn *f, uint32_t b) {
    return !f->blocks.at[b].succ.len;
}

/* Post-dominators when threads leave only at the block end (NONE: at any leaving block). */
static uint32_t *post_dominators(struct arena *a, const struct fn *f, uint32_t end) {
    uint32_t n = f->blocks.len;
    edge_list edges = {0};
    for (uint32_t b = 0; b < n; b++) {
        if (end == NONE ? leaves(f, b) : b == end)
            vec_push(&edges, (struct edge){n, b});
        for (uint32_t s = 0; s < f->blocks.at[b].succ.len; s++)
            vec_push(&edges, (struct edge){f->blocks.at[b].succ.at[s], b});
    }
    struct graph g = graph_of(a, n + 1, n, &edges);
    vec_free(&edges);
    uint32_t *ipdom = graph_idom(a, &g);
    for (uint32_t b = 0; b < n; b++)
        if (ipdom[b] == n)
            ipdom[b] = NONE;
    return ipdom;
}

uint32_t *postdom_of(struct arena *a, const struct fn *f) {
    uint32_t n = f->blocks.len, *stack = arena_array(a, uint32_t, n + 1), depth = 0;
    bool *ends = arena_array(a, bool, n + 1), *reaches = arena_array(a, bool, n + 1);
    for (uint32_t b = 0; b < n; b++) {
        const struct block *k = &f->blocks.at[b];
        ends[b] = leaves(f, b) || (k->insts.len && fn_may_leave(&k->insts.at[k->insts.len - 1]));
        if (ends[b]) {
            reaches[b] = true;
            stack[depth++] = b;
        }
    }
    while (depth) {
        const struct block *k = &f->blocks.at[stack[--depth]];
        for (uint32_t p = 0; p < k->pred.len; p++)
            if (!reaches[k->pred.at[p]]) {
                reaches[k->pred.at[p]] = true;
                stack[depth++] = k->pred.at[p];
            }
    }
    edge_list edges = {0};
    for (uint32_t b = 0; b < n; b++) {
        if (ends[b] || !reaches[b])
            vec_push(&edges, (struct edge){n, b});
        for (uint32_t s = 0; s < f->blocks.at[b].succ.len; s++)
            vec_push(&edges, (struct edge){f->blocks.at[b].succ.at[s], b});
    }
    struct graph g = graph_of(a, n + 1, n, &edges);
    vec_free(&edges);
    uint32_t *ipdom = graph_idom(a, &g);
    for (uint32_t b = 0; b < n; b++)
        if (ipdom[b] == n)
            ipdom[b] = NONE;
    return ipdom;
}

/* How many blocks can reach block end. */
static uint32_t count_reaching(const struct fn *f, uint32_t end, uint32_t *stack, uint32_t *seen) {
    uint32_t depth = 0, n = 0;
    stack[depth++] = end;
    seen[end] = end + 1;
    while (depth) {
        uint32_t b = stack[--depth];
        n++;
        for (uint32_t p = 0; p < f->blocks.at[b].pred.len; p++) {
            uint32_t from = f->blocks.at[b].pred.at[p];
            if (seen[from] != end + 1) {
                seen[from] = end + 1;
                stack[depth++] = from;
            }
        }
    }
    return n;
}

/* The way out that most of the function leads to: the return, or one of the last few exits. Threads that
 * leave early are gone, so nobody needs to wait for them. */
static uint32_t main_exit(struct arena *a, const struct fn *f) {
    uint32_t n = f->blocks.len, best = NONE, most = 0, tried = 0;
    uint32_t *stack = arena_array(a, uint32_t, n + 1), *seen = arena_array(a, uint32_t, n + 1);
    for (uint32_t b = n; b-- > 0 && tried < 8;) {
        const struct block *k = &f->blocks.at[b];
        /* a guarded exit counts, too: it may be the only way out of an endless loop */
        bool exits = k->insts.len && k->insts.at[k->insts.len - 1].op == OP_EXIT;
        if (!leaves(f, b) && !exits)
            continue;
        if (k->insts.len && k->insts.at[k->insts.len - 1].op == OP_RET)
            return b;
        tried++;
        uint32_t reaching = count_reaching(f, b, stack, seen);
        if (reaching > most) {
            most = reaching;
            best = b;
        }
    }
    return best;
}

/* Every back edge (to a dominator) adds one to the depth of its natural loop; edges to one header count once.
 */
static void loop_depths(struct arena *a, struct fn *f) {
    uint32_t n = f->blocks.len;
    struct dom d = dom_of(a, f);
    uint32_t *stack = arena_array(a, uint32_t, n + 1), *seen = arena_array(a, uint32_t, n + 1);
    for (uint32_t b = 0; b < n; b++)
        f->blocks.at[b].depth = 0;
    for (uint32_t h = 0; h < n; h++) {
        if (h && d.idom[h] == NONE)
            continue;
        uint32_t depth = 0;
        const struct block *head = &f->blocks.at[h];
        for (uint32_t p = 0; p < head->pred.len; p++) {
            uint32_t latch = head->pred.at[p];
            if ((latch && d.idom[latch] == NONE) || !dom_block(&d, h, latch) || seen[latch] == h + 1)
                continue;
            seen[latch] = h + 1;
            stack[depth++] = latch;
        }
        if (!depth)
            continue;
        if (seen[h] != h + 1)
            f->blocks.at[h].depth++;
        while (depth) {
            uint32_t b = stack[--depth];
            f->blocks.at[b].depth++;
            for (uint32_t p = 0; b != h && p < f->blocks.at[b].pred.len; p++) {
                uint32_t from = f->blocks.at[b].pred.at[p];
                if (from == h || seen[from] == h + 1)
                    continue;
                seen[from] = h + 1;
                stack[depth++] = from;
            }
        }
    }
}

void cfg_joins(struct fn *f) {
    struct arena a = {0};
    cfg_edges(f);
    uint32_t *all = post_dominators(&a, f, NONE), *most = all, end = main_exit(&a, f);
    if (end != NONE)
        most = post_dominators(&a, f, end);
    for (uint32_t b = 0; b < f->blocks.len; b++)
        f->blocks.at[b].ipdom = most[b] != NONE ? most[b] : all[b];
    loop_depths(&a, f);
    arena_free(&a);
}
