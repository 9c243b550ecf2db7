// Searching a B+ tree: a block of 256 threads for each query, a thread for each key of a node.
//
// At each level the one thread whose key interval holds the query's key announces the child to descend to;
// the block follows it after a barrier. Current node and announcement are in global memory.
#include "device.h"

#define ORDER 256

// Unused keys of a node are larger than any query's.
struct btree_node {
    int is_leaf, n_keys;
    int keys[ORDER + 1];
    int children[ORDER + 1]; // nodes, or records where is_leaf
};

DEVICE_FN bool btree_interval(const btree_node &node, int thread, int key) {
    return node.keys[thread] <= key && node.keys[thread + 1] > key;
}

// The record with the query's key, or -1 as it was before.
KERNEL btree_find(int height, const btree_node *nodes, int n_nodes, const int *records, int *current,
                  int *announced, const int *keys, int *answers) {
    int thread = threadIdx.x, query = blockIdx.x;
#pragma unroll 1
    for (int level = 0; level < height; level++) {
        if (btree_interval(nodes[current[query]], thread, keys[query])) {
            int child = nodes[announced[query]].children[thread];
            if (child < n_nodes)
                announced[query] = child;
        }
        __syncthreads();
        if (thread == 0)
            current[query] = announced[query];
        __syncthreads();
    }
    const btree_node &leaf = nodes[current[query]];
    if (leaf.keys[thread] == keys[query])
        answers[query] = records[leaf.children[thread]];
}

// The first record of a range of keys and the number of records, both ends searched at once.
KERNEL btree_find_range(int height, const btree_node *nodes, int n_nodes, int *current, int *announced,
                        int *last_current, int *last_announced, const int *first_keys, const int *last_keys,
                        int *first_record, int *lengths) {
    int thread = threadIdx.x, query = blockIdx.x;
#pragma unroll 1
    for (int level = 0; level < height; level++) {
        if (btree_interval(nodes[current[query]], thread, first_keys[query])) {
            int child = nodes[current[query]].children[thread];
            if (child < n_nodes)
                announced[query] = child;
        }
        if (btree_interval(nodes[last_current[query]], thread, last_keys[query])) {
            int child = nodes[last_announced[query]].children[thread];
            if (child < n_nodes)
                last_announced[query] = child;
        }
        __syncthreads();
        if (thread == 0) {
            current[query] = announced[query];
            last_current[query] = last_announced[query];
        }
        __syncthreads();
    }
    if (nodes[current[query]].keys[thread] == first_keys[query])
        first_record[query] = nodes[current[query]].children[thread];
    __syncthreads();
    if (nodes[last_current[query]].keys[thread] == last_keys[query])
        lengths[query] = nodes[last_current[query]].children[thread] - first_record[query] + 1;
}
