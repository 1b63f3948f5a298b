/* Gaussian elimination and the solution of the system. */
#include "work.h"

WORK_PTX(gaussian, "gaussian/gaussian.ptx");

enum { THREADS = 512, SIDE = 4 };

/* Solves the triangular system computed by the kernels. */
static double *substitute(const float *a, const float *b, int64_t n) {
    double *x = mem_alloc((size_t)n, sizeof *x);
    for (int64_t i = n - 1; i >= 0; i--) {
        x[i] = (double)b[i];
        for (int64_t j = i + 1; j < n; j++) x[i] -= (double)a[i * n + j] * x[j];
        x[i] /= (double)a[i * n + i];
    }
    return x;
}

static void run(struct work *work) {
    int64_t n = work->size[0];
    uint64_t count = (uint64_t)(n * n), a, b, m;
    float *ha = WORK_NEW(work, float, count, &a), *hb = WORK_NEW(work, float, n, &b);
    m = work_alloc(work, count * sizeof(float));
    work_fill(work, ha, count, -1, 1);
    work_fill(work, hb, (uint64_t)n, -1, 1);
    /* No pivot is close to 0: the eigenvalues of the random part stay within sqrt(n / 3). */
    for (int64_t i = 0; i < n; i++) ha[i * n + i] += 2 * sqrtf((float)n);
    float *a0 = work_copy(ha, count * sizeof *ha), *b0 = work_copy(hb, (uint64_t)n * sizeof *hb);
    for (int32_t t = 0; t < n - 1 && !host_failed(work->host); t++) {
        WORK_LAUNCH(work, "gaussian_fan1", DIM(blocks_of(n, THREADS)), DIM(THREADS), HOST_U64(m), HOST_U64(a),
                    HOST_S32((int32_t)n), HOST_S32(t));
        WORK_LAUNCH(work, "gaussian_fan2", DIM(blocks_of(n, SIDE), blocks_of(n, SIDE)), DIM(SIDE, SIDE), HOST_U64(m),
                    HOST_U64(a), HOST_U64(b), HOST_S32((int32_t)n), HOST_S32(t));
    }
    if (work->verify) {
        /* The solution is inserted into the original system: a0 x equals b0 up to the rounding of n steps on numbers of
         * about 1. */
        double *x = substitute(ha, hb, n);
        for (int64_t i = 0; i < n && !work->wrong; i++) {
            double sum = 0, right = (double)b0[i];
            for (int64_t j = 0; j < n; j++) sum += (double)a0[i * n + j] * x[j];
            work_expect_f64(work, "a x", &sum, &right, 1, 1e-5, 1);
        }
        free(x);
    }
    free(a0);
    free(b0);
}

static const struct work_size sizes[] = {{"tiny", {24}}, {"small", {160}}, {"icc", {208}}, {"bypass", {4}}};

WORKLOAD(gaussian, "gaussian", .aliases = "gs", .help = "Gaussian elimination, column by column", .parameters = "n");
