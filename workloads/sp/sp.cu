/* Survey propagation on a random 3-SAT formula: a factor graph with an edge for each literal. pi: for each edge, the
 * products over the other edges of its variable; eta: for each edge, the product over the other edges of its clause.
 * Edges have numbers in no order, so both gather through an index (CSR), of variables and of clauses. */
#include "cuda.h"

#define FOR_EDGES(e) \
    for (int e = (int)(blockIdx.x * blockDim.x + threadIdx.x); e < edges; e += (int)(gridDim.x * blockDim.x))

extern "C" __global__ void sp_pi(const int *first, const int *edges_of, const int *clause, const int *variable,
                                 const int *negated, const float *eta, float *pi_zero, float *pi_same,
                                 float *pi_opposite, int edges) {
    FOR_EDGES(e) {
        int v = variable[e], c = clause[e], sign = negated[e];
        float same = 1, opposite = 1;
        for (int i = first[v]; i < first[v + 1]; i++) {
            int other = edges_of[i];
            if (clause[other] == c) continue;
            if (negated[other] == sign)
                same *= 1.0f - eta[other];
            else
                opposite *= 1.0f - eta[other];
        }
        pi_zero[e] = same * opposite;
        pi_same[e] = (1.0f - same) * opposite;
        pi_opposite[e] = (1.0f - opposite) * same;
    }
}

extern "C" __global__ void sp_eta(const int *first, const int *edges_of, const int *clause, const float *pi_zero,
                                  const float *pi_same, const float *pi_opposite, float *eta, int edges) {
    FOR_EDGES(e) {
        int c = clause[e];
        float product = 1;
        for (int i = first[c]; i < first[c + 1]; i++) {
            int other = edges_of[i];
            if (other == e) continue;
            float sum = pi_zero[other] + pi_same[other] + pi_opposite[other];
            product *= sum > 0 ? pi_opposite[other] / sum : 0;
        }
        eta[e] = product;
    }
}
