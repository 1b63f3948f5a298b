/* The reference of the matrix programs (mm, mmc, gemm, 2mm, syrk): C = alpha A B + beta C0. */
#ifndef SLUICE_WORKLOADS_PRODUCT_H
#define SLUICE_WORKLOADS_PRODUCT_H

#include "work.h"

struct product {
    const float *a, *b; /* rows x depth, depth x columns */
    const float *c0;    /* initial C; NULL: none */
    double alpha, beta;
    int64_t rows, depth, columns;
    int64_t stride; /* between rows of A; 0: depth */
};

/* Compares `c` with the product, computed in double precision. Elements of A and B must be within [-1, 1]. */
void product_expect(struct work *work, const char *what, const float *c, const struct product *product);

#endif
