/* Searches in a B+ tree of order 256: a CTA takes a query and descends with all of its threads, each comparing one
 * key of the node; the thread whose interval holds the key finds the child. */
#include "cuda.h"

enum { ORDER = 256 };

struct node {
    int location, leaf, keys_used, pad;
    int index[ORDER + 1], key[ORDER + 1]; /* children, or records at a leaf */
};

extern "C" __global__ void bt_find(int height, const node *nodes, const int *records, int *current, int *offset,
                                   const int *keys, int *answers) {
    int t = (int)threadIdx.x, q = (int)blockIdx.x;
    for (int level = 0; level < height; level++) {
        const node *n = &nodes[current[q]];
        if (n->key[t] <= keys[q] && n->key[t + 1] > keys[q]) offset[q] = n->index[t];
        __syncthreads();
        if (t == 0) current[q] = offset[q];
        __syncthreads();
    }
    if (nodes[current[q]].key[t] == keys[q]) answers[q] = records[nodes[current[q]].index[t]];
}

/* Two descents, for the first and the last key of a range; the answer is where the range begins and how long it is. */
extern "C" __global__ void bt_find_range(int height, const node *nodes, int *current, int *offset, int *last_current,
                                         int *last_offset, const int *first, const int *last, int *start, int *length) {
    int t = (int)threadIdx.x, q = (int)blockIdx.x;
    for (int level = 0; level < height; level++) {
        const node *n = &nodes[current[q]], *m = &nodes[last_current[q]];
        if (n->key[t] <= first[q] && n->key[t + 1] > first[q]) offset[q] = n->index[t];
        if (m->key[t] <= last[q] && m->key[t + 1] > last[q]) last_offset[q] = m->index[t];
        __syncthreads();
        if (t == 0) {
            current[q] = offset[q];
            last_current[q] = last_offset[q];
        }
        __syncthreads();
    }
    if (nodes[current[q]].key[t] == first[q]) start[q] = nodes[current[q]].index[t];
    __syncthreads();
    if (nodes[last_current[q]].key[t] == last[q]) length[q] = nodes[last_current[q]].index[t] - start[q] + 1;
}
