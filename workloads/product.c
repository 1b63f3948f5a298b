#include "product.h"

/* The kernels sum in single precision. The sum of n products from [-1, 1] is about sqrt(n), with a relative error of
 * about 2^-24 sqrt(n) from n random roundings: 2e-6 for the deepest product here, of 1024 terms. */
static const double TOLERANCE = 1e-5;

void product_expect(struct work *work, const char *what, const float *c, const struct product *p) {
    double *row = mem_alloc((size_t)p->columns, sizeof *row);
    float *expected = mem_alloc((size_t)p->columns, sizeof *expected);
    for (int64_t i = 0; i < p->rows && !work->wrong; i++) {
        for (int64_t j = 0; j < p->columns; j++) row[j] = p->c0 ? p->beta * p->c0[i * p->columns + j] : 0;
        const float *a_row = p->a + i * (p->stride ? p->stride : p->depth);
        for (int64_t k = 0; k < p->depth; k++) {
            double a = p->alpha * a_row[k];
            const float *b = p->b + k * p->columns;
            for (int64_t j = 0; j < p->columns; j++) row[j] += a * b[j];
        }
        for (int64_t j = 0; j < p->columns; j++) expected[j] = (float)row[j];
        work_expect_f32(work, what, c + i * p->columns, expected, (uint64_t)p->columns, TOLERANCE,
                        p->alpha * sqrt((double)p->depth));
    }
    free(expected);
    free(row);
}
