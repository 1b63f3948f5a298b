/* A sorted list with a lock in each node. Every thread inserts its own key: it walks hand over hand, holding the locks of
 * two successive nodes. Threads of one warp wait for each other's locks while they hold others. */
#include "threads.h"

struct node {
    unsigned key, next, lock, by; /* next: index of a node; the first is the head, the last has the largest key */
};

static __device__ void lock(node *n) {
    while (atomicCAS(&n->lock, 0u, 1u) != 0u)
        ;
    __threadfence();
}

static __device__ void unlock(node *n) {
    __threadfence();
    atomicExch(&n->lock, 0u);
}

/* nodes[0] is the head, nodes[1] the end; thread i inserts nodes[2 + i]. */
KERNEL insert(node *nodes, const unsigned *keys) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, mine = 2 + i, key = keys[i];
    volatile node *list = nodes;
    unsigned before = 0;
    lock(&nodes[before]);
    unsigned at = list[before].next;
    lock(&nodes[at]);
    while (list[at].key < key) {
        unlock(&nodes[before]);
        before = at;
        at = list[at].next;
        lock(&nodes[at]);
    }
    list[mine].key = key;
    list[mine].next = at;
    list[mine].by = i;
    list[before].next = mine;
    unlock(&nodes[at]);
    unlock(&nodes[before]);
}

/* A counter behind one lock, taken with a flag that ends the loop. */
KERNEL count(unsigned *lock_word, volatile unsigned *counter, unsigned *turn) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    bool done = false;
    while (!done) {
        if (atomicCAS(lock_word, 0u, 1u) == 0u) {
            __threadfence();
            turn[i] = *counter;
            *counter = turn[i] + 1;
            __threadfence();
            atomicExch(lock_word, 0u);
            done = true;
        }
    }
}
