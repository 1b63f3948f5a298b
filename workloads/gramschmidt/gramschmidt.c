/* QR decomposition by Gram-Schmidt orthogonalisation, column by column. */
#include "work.h"

WORK_PTX(gramschmidt, "gramschmidt/gramschmidt.ptx");

enum { THREADS = 256 };

/* Sums of up to 2048 products in single precision: relative errors of about 2^-24 sqrt(n), 3e-6 for n = 2048, in the
 * norms and projections of every column; a column has those of the columns before it. */
static const double TOLERANCE = 1e-4;

/* Reference: the columns of `a` are replaced by their remainders; `q` and `r` have the first `steps` columns and rows. */
static void decompose(double *a, double *q, double *r, int64_t rows, int64_t columns, int64_t steps) {
    for (int64_t k = 0; k < steps; k++) {
        double norm = 0, *sums = r + k * columns;
        for (int64_t i = 0; i < rows; i++) norm += a[i * columns + k] * a[i * columns + k];
        sums[k] = sqrt(norm);
        for (int64_t i = 0; i < rows; i++) q[i * columns + k] = a[i * columns + k] / sums[k];
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = k + 1; j < columns; j++) sums[j] += q[i * columns + k] * a[i * columns + j];
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = k + 1; j < columns; j++) a[i * columns + j] -= q[i * columns + k] * sums[j];
    }
}

static void expect(struct work *work, const char *what, const float *found, const double *expected, int64_t count,
                   double scale) {
    for (int64_t i = 0; i < count && !work->wrong; i++)
        work_expect_f32(work, what, &found[i], &(float){(float)expected[i]}, 1, TOLERANCE, scale);
}

/* The loop covers the first `steps` columns. */
static void run(struct work *work) {
    int64_t rows = work->size[0], columns = work->size[1], steps = work->size[2];
    uint64_t count = (uint64_t)(rows * columns), a, r, q;
    float *ha = WORK_NEW(work, float, count, &a), *hr = WORK_NEW(work, float, columns *columns, &r),
          *hq = WORK_NEW(work, float, count, &q);
    work_fill(work, ha, count, -1, 1);
    double *a0 = mem_alloc(count, sizeof *a0);
    for (uint64_t i = 0; i < count; i++) a0[i] = ha[i];
    for (int64_t k = 0; k < steps; k++) {
        struct host_argument m = HOST_S32((int32_t)rows), n = HOST_S32((int32_t)columns), at = HOST_S32((int32_t)k);
        WORK_LAUNCH(work, "gramschmidt_norm", DIM(1), DIM(THREADS), HOST_U64(a), HOST_U64(r), m, n, at);
        WORK_LAUNCH(work, "gramschmidt_column", DIM(blocks_of(rows, THREADS)), DIM(THREADS), HOST_U64(a), HOST_U64(r),
                    HOST_U64(q), m, n, at);
        WORK_LAUNCH(work, "gramschmidt_project", DIM(blocks_of(columns, THREADS)), DIM(THREADS), HOST_U64(a),
                    HOST_U64(r), HOST_U64(q), m, n, at);
    }
    if (work->verify) {
        double *q0 = mem_alloc(count, sizeof *q0), *r0 = mem_alloc((size_t)(columns * columns), sizeof *r0);
        decompose(a0, q0, r0, rows, columns, steps);
        expect(work, "a", ha, a0, rows * columns, 1);
        expect(work, "r", hr, r0, columns * columns, sqrt((double)rows));
        expect(work, "q", hq, q0, rows * columns, 1 / sqrt((double)rows));
        free(q0);
        free(r0);
    }
    free(a0);
}

static const struct work_size sizes[] = {
    {"tiny", {32, 520, 3}},
    {"small", {512, 2048, 4}},
    {"icc", {2048, 2048, 8}},
};

WORKLOAD(gramschmidt, "gramschmidt", .help = "QR decomposition by Gram-Schmidt orthogonalisation, column by column",
         .parameters = "rows columns steps");
