/* b+tree: point and range queries on a B+ tree. See README.md. */
#include "host.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { ORDER = 256, FILL = 180 }; /* keys a node can hold, keys it is given */

static const struct {
    int records, finds, ranges;
} sizes[WL_SIZES] = {{20000, 100, 60}, {200000, 1000, 600}, {1000000, 10000, 6000}, {1000000, 10000, 6000}};

struct node {
    int is_leaf, n_keys;
    int keys[ORDER + 1];
    int children[ORDER + 1];
};

struct tree {
    struct node *nodes;
    int n_nodes, root, height; /* levels below the root */
};

/* Nodes of one level over `count` things below; keys[i] is the smallest key below child i. */
static int build_level(struct tree *t, const int *keys, int first_child, int count, int *level_keys) {
    int made = 0;
    for (int done = 0; done < count; made++) {
        struct node *n = &t->nodes[t->n_nodes++];
        n->is_leaf = first_child < 0;
        n->n_keys = count - done < FILL ? count - done : FILL;
        for (int i = 0; i <= ORDER; i++) {
            bool used = i < n->n_keys;
            n->keys[i] = used ? keys[done + i] : INT_MAX;
            n->children[i] = used ? done + i + (first_child < 0 ? 0 : first_child) : INT_MAX;
        }
        level_keys[made] = keys[done];
        done += n->n_keys;
    }
    return made;
}

static struct tree build_tree(struct wl *w, const int *keys, int n) {
    struct tree t = {.nodes = WL_ARRAY(w, struct node, n / FILL + n / FILL / FILL * 2 + 16)};
    int *below = WL_ARRAY(w, int, n), *level = WL_ARRAY(w, int, n);
    memcpy(below, keys, (size_t)n * sizeof(int));
    int count = build_level(&t, below, -1, n, level), first = 0;
    while (count > 1) {
        int next_first = t.n_nodes;
        memcpy(below, level, (size_t)count * sizeof(int));
        count = build_level(&t, below, first, count, level);
        first = next_first;
        t.height++;
    }
    t.root = t.n_nodes - 1;
    return t;
}

/* A device array of n copies of v. */
static CUdeviceptr upload_filled(struct wl *w, int n, int v) {
    int *a = WL_ARRAY(w, int, n);
    for (int i = 0; i < n; i++)
        a[i] = v;
    return wl_upload(w, a, (size_t)n * sizeof(int));
}

static int compare_ints(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static int position(const int *keys, int n, int key) {
    const int *at = bsearch(&key, keys, (size_t)n, sizeof(int), compare_ints);
    return at ? (int)(at - keys) : -1;
}

static void find(struct wl *w, struct tree *t, CUdeviceptr d_nodes, const int *keys, int n, int queries) {
    size_t bytes = (size_t)queries * sizeof(int);
    int *records = WL_ARRAY(w, int, n), *asked = WL_ARRAY(w, int, queries);
    int *got = WL_ARRAY(w, int, queries), *want = WL_ARRAY(w, int, queries);
    for (int i = 0; i < n; i++)
        records[i] = (int)wl_random_below(w, 1u << 30);
    for (int q = 0; q < queries; q++) {
        /* one in eight asks for a key that is not there */
        asked[q] = keys[wl_random_below(w, (uint32_t)n)] + (wl_random_below(w, 8) == 0);
        int at = position(keys, n, asked[q]);
        want[q] = at < 0 ? -1 : records[at];
    }
    CUdeviceptr d_records = wl_upload(w, records, (size_t)n * sizeof(int)),
                d_asked = wl_upload(w, asked, bytes);
    CUdeviceptr d_current = upload_filled(w, queries, t->root),
                d_announced = upload_filled(w, queries, t->root);
    CUdeviceptr d_answers = upload_filled(w, queries, -1);
    WL_LAUNCH(w, "btree_find", wl_dim((unsigned)queries, 1), wl_dim(ORDER, 1), 0, &t->height, &d_nodes,
              &t->n_nodes, &d_records, &d_current, &d_announced, &d_asked, &d_answers);
    wl_get(w, got, d_answers, bytes);
    wl_check_int(w, "answer", got, want, (size_t)queries);
}

static void find_ranges(struct wl *w, struct tree *t, CUdeviceptr d_nodes, const int *keys, int n,
                        int queries) {
    size_t bytes = (size_t)queries * sizeof(int);
    int *first = WL_ARRAY(w, int, queries), *last = WL_ARRAY(w, int, queries);
    int *want_first = WL_ARRAY(w, int, queries), *want_length = WL_ARRAY(w, int, queries);
    int *got_first = WL_ARRAY(w, int, queries), *got_length = WL_ARRAY(w, int, queries);
    int longest = n < 3000 * 4 ? n / 4 : 3000;
    for (int q = 0; q < queries; q++) {
        want_length[q] = 1 + (int)wl_random_below(w, (uint32_t)longest);
        want_first[q] = (int)wl_random_below(w, (uint32_t)(n - want_length[q]));
        first[q] = keys[want_first[q]];
        last[q] = keys[want_first[q] + want_length[q] - 1];
    }
    CUdeviceptr d_first = wl_upload(w, first, bytes), d_last = wl_upload(w, last, bytes);
    CUdeviceptr d_current = upload_filled(w, queries, t->root),
                d_announced = upload_filled(w, queries, t->root);
    CUdeviceptr d_last_current = upload_filled(w, queries, t->root),
                d_last_announced = upload_filled(w, queries, t->root);
    CUdeviceptr d_record = upload_filled(w, queries, -1), d_length = upload_filled(w, queries, -1);
    WL_LAUNCH(w, "btree_find_range", wl_dim((unsigned)queries, 1), wl_dim(ORDER, 1), 0, &t->height, &d_nodes,
              &t->n_nodes, &d_current, &d_announced, &d_last_current, &d_last_announced, &d_first, &d_last,
              &d_record, &d_length);
    wl_get(w, got_first, d_record, bytes);
    wl_get(w, got_length, d_length, bytes);
    wl_check_int(w, "first record", got_first, want_first, (size_t)queries);
    wl_check_int(w, "length", got_length, want_length, (size_t)queries);
}

static void run(struct wl *w) {
    int n = wl_option(w, "records", sizes[w->size].records);
    int *keys = WL_ARRAY(w, int, n);
    for (int i = 0; i < n; i++) /* even and ascending, with gaps */
        keys[i] = (i ? keys[i - 1] : 0) + 2 * (1 + (int)wl_random_below(w, 4));
    struct tree t = build_tree(w, keys, n);
    CUdeviceptr d_nodes = wl_upload(w, t.nodes, (size_t)t.n_nodes * sizeof *t.nodes);
    find(w, &t, d_nodes, keys, n, sizes[w->size].finds);
    find_ranges(w, &t, d_nodes, keys, n, sizes[w->size].ranges);
}

const struct workload workload = {"b+tree", run};
