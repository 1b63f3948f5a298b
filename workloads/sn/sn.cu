/* SqueezeNet. The first layer works on colour planes and in double precision: a CTA is a column of the output, a thread a
 * row of it, and both loop over all 96 filters, whose weights every thread reads in the same order. */
#include "cuda.h"

enum { INPUT = 227, OUTPUT = 111, FILTERS = 96, KERNEL = 7 };

extern "C" __global__ void sn_first(const double *weights, double *map, const int *red, const int *green, const int *blue) {
    int column = (int)blockIdx.x, row = (int)threadIdx.x;
    for (int f = 0; f < FILTERS; f++) {
        double sum = 0;
        int w = f * KERNEL * KERNEL * 3;
        for (int i = 0; i < KERNEL; i++)
            for (int j = 0; j < KERNEL; j++) {
                int p = (row * 2 + i) * INPUT + column * 2 + j;
                sum += red[p] * weights[w + i * KERNEL + j] + green[p] * weights[w + KERNEL * KERNEL + i * KERNEL + j] +
                       blue[p] * weights[w + 2 * KERNEL * KERNEL + i * KERNEL + j];
            }
        map[f * OUTPUT * OUTPUT + row * OUTPUT + column] = sum < 0 ? 0 : sum;
    }
}
