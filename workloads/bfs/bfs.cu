/* Breadth-first search, level by level. expand: each node of the frontier walks its edges and marks unvisited
 * neighbours; advance: marked nodes become the next frontier. */
#include "cuda.h"

struct node {
    int first, edges;
};

extern "C" __global__ void bfs_expand(const node *nodes, const int *edges, uchar *frontier, uchar *marked,
                                      const uchar *visited, int *cost, int count) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= count || !frontier[i]) return;
    frontier[i] = 0;
    for (int e = nodes[i].first; e < nodes[i].first + nodes[i].edges; e++) {
        int to = edges[e];
        if (!visited[to]) {
            cost[to] = cost[i] + 1;
            marked[to] = 1;
        }
    }
}

extern "C" __global__ void bfs_advance(uchar *frontier, uchar *marked, uchar *visited, uchar *again, int count) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= count || !marked[i]) return;
    frontier[i] = 1;
    visited[i] = 1;
    *again = 1;
    marked[i] = 0;
}
