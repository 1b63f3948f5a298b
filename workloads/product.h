/* What the hosts of the matrix programs (mm, mmc, gemm, 2mm, syrk) verify: C = alpha A B + beta C0. */
#ifndef SLUICE_WORKLOADS_PRODUCT_H
#define SLUICE_WORKLOADS_PRODUCT_H

#include "work.h"

struct product {
    const float *a, *b; /* rows x depth, depth x columns */
    const float *c0;    /* what C held before; NULL: nothing counts */
    double alpha, beta;
    int64_t rows, depth, columns;
    int64_t stride; /* from row to row of A; 0: depth */
};

/* Compares `c` with the product, computed in double precision. Elements of A and B are taken to lie within [-1, 1]. */
void product_expect(struct work *work, const char *what, const float *c, const struct product *product);

#endif
