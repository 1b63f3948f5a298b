/* Survey propagation on a random 3-SAT formula, a factor graph with an edge for each literal. pi: for each edge, the
 * products over the other edges of its variable; eta: for each edge, the product over the other edges of its clause. The
 * edges of a clause lie side by side; those of a variable are found through an index (CSR). */
#include "cuda.h"

enum { LITERALS = 3 };

extern "C" __global__ void sp_pi(const int *first, const int *edges_of, const int *variable, const int *negated, const float *eta,
                                 float *pi_zero, float *pi_same, float *pi_opposite, int edges) {
    for (int e = (int)(blockIdx.x * blockDim.x + threadIdx.x); e < edges; e += (int)(gridDim.x * blockDim.x)) {
        int v = variable[e], sign = negated[e];
        float same = 1, opposite = 1;
        for (int i = first[v]; i < first[v + 1]; i++) {
            int other = edges_of[i];
            if (other / LITERALS == e / LITERALS) continue;
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

extern "C" __global__ void sp_eta(const float *pi_zero, const float *pi_same, const float *pi_opposite, float *eta, int edges) {
    for (int e = (int)(blockIdx.x * blockDim.x + threadIdx.x); e < edges; e += (int)(gridDim.x * blockDim.x)) {
        int clause = e / LITERALS * LITERALS;
        float product = 1;
        for (int k = clause; k < clause + LITERALS; k++)
            if (k != e) {
                float sum = pi_zero[k] + pi_same[k] + pi_opposite[k];
                product *= sum > 0 ? pi_opposite[k] / sum : 0;
            }
        eta[e] = product;
    }
}
