/* A batch of 1,024-point FFTs. */
#include "work.h"

#include <complex.h>

WORK_PTX(fft, "fft/fft.ptx");

enum { POINTS = 1024, THREADS = POINTS / 4 };

/* Reference: recursive, even and odd points separately, in double, so that differences are the kernel's. */
static void transform(const double complex *root, const float *in, int64_t stride, double complex *out, int64_t n) {
    if (n == 1) {
        out[0] = (double)in[0] + (double)in[1] * I;
        return;
    }
    int64_t half = n / 2;
    transform(root, in, 2 * stride, out, half);
    transform(root, in + 2 * stride, 2 * stride, out + half, half);
    for (int64_t k = 0; k < half; k++) {
        double complex even = out[k], odd = root[k * (POINTS / n)] * out[k + half];
        out[k] = even + odd, out[k + half] = even - odd;
    }
}

static void verify(struct work *work, const float *in, const float *out, int64_t batch) {
    double complex root[POINTS / 2], value[POINTS];
    float expected[2 * POINTS];
    for (int k = 0; k < POINTS / 2; k++) root[k] = cos(2 * M_PI * k / POINTS) - I * sin(2 * M_PI * k / POINTS);
    for (int64_t i = 0; i < batch; i++) {
        transform(root, in + i * 2 * POINTS, 1, value, POINTS);
        for (int k = 0; k < POINTS; k++)
            expected[2 * k] = (float)creal(value[k]), expected[2 * k + 1] = (float)cimag(value[k]);
        /* Sums of 1,024 numbers below 1 are about 32; ten levels round them. */
        work_expect_f32(work, "out", out + i * 2 * POINTS, expected, 2 * POINTS, 1e-6, 32);
    }
}

static void run(struct work *work) {
    int64_t batch = work->size[0];
    uint64_t in, out, count = (uint64_t)batch * POINTS * 2;
    float *hin = WORK_NEW(work, float, count, &in), *hout = WORK_NEW(work, float, count, &out);
    work_fill(work, hin, count, -1, 1);
    WORK_LAUNCH(work, "fft_batch", DIM((uint32_t)batch), DIM(THREADS), HOST_U64(in), HOST_U64(out));
    if (work->verify) verify(work, hin, hout, batch);
}

static const struct work_size sizes[] = {{"tiny", {8}}, {"small", {384}}, {"bypass", {448}}};

WORKLOAD(fft, "fft", .help = "batch of 1024-point FFTs in shared memory", .parameters = "batch");
