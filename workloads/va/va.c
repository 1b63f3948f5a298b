/* Vector addition: three streams, no reuse. */
#include "work.h"

WORK_PTX(va, "va/va.ptx");

enum { THREADS = 256 };

static void run(struct work *work) {
    int64_t n = work->size[0];
    uint64_t a, b, c;
    float *ha = WORK_NEW(work, float, n, &a), *hb = WORK_NEW(work, float, n, &b), *hc = WORK_NEW(work, float, n, &c);
    work_fill(work, ha, (uint64_t)n, 0, 1);
    work_fill(work, hb, (uint64_t)n, 0, 1);
    WORK_LAUNCH(work, "va_add", DIM(blocks_of(n, THREADS)), DIM(THREADS), HOST_U64(a), HOST_U64(b), HOST_U64(c),
                HOST_S32((int32_t)n));
    if (!work->verify) return;
    for (int64_t i = 0; i < n && !work->wrong; i++) {
        float sum = ha[i] + hb[i];
        work_expect_f32(work, "c", &hc[i], &sum, 1, 0, 0);
    }
}

static const struct work_size sizes[] = {
    {"tiny", {50000}},
    {"small", {12000000}},
    {"adaptive", {47000000}},
    {"selrep", {47000000}},
};

WORKLOAD(va, "va", .help = "vector addition; pure streaming", .parameters = "elements");
