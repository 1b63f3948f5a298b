/* SqueezeNet. The first layer works on colour planes and in double precision: a CTA is a column of the output, a
 * thread a row of it, and both loop over all filters, whose weights every thread reads in the same order. */
#include "cuda.h"

enum { KERNEL = 7, TAPS = KERNEL * KERNEL };

extern "C" __global__ void sn_first(const double *weights, double *map, const int *red, const int *green,
                                    const int *blue, int in_side, int side, int filters) {
    int column = (int)blockIdx.x, row = (int)threadIdx.x;
    for (int f = 0; f < filters; f++) {
        double sum = 0;
        const double *w = weights + f * TAPS * 3;
        for (int i = 0; i < KERNEL; i++)
            for (int j = 0; j < KERNEL; j++) {
                int p = (row * 2 + i) * in_side + column * 2 + j, k = i * KERNEL + j;
                sum += red[p] * w[k] + green[p] * w[TAPS + k] + blue[p] * w[2 * TAPS + k];
            }
        map[(f * side + row) * side + column] = sum < 0 ? 0 : sum;
    }
}
