/* Shortest paths from one node, by relaxing all edges of every node until nothing changes; distances meet in
 * atomics. */
#include "cuda.h"

enum { FAR = 0x3fffffff };

extern "C" __global__ void sssp_initialise(int *distance, int nodes, int source) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < nodes) distance[i] = i == source ? 0 : FAR;
}

extern "C" __global__ void sssp_relax(const int *first, const int *target, const int *weight, int *distance,
                                      int *changed, int nodes) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= nodes) return;
    int mine = distance[i];
    if (mine == FAR) return;
    for (int e = first[i]; e < first[i + 1]; e++) {
        int to = target[e], through = mine + weight[e];
        if (through < distance[to] && atomicMin(&distance[to], through) > through) *changed = 1;
    }
}
