/* A histogram of bytes: partial histograms of a fixed number of CTAs, then their sum, unless only the former are wanted. */
#include "work.h"

WORK_PTX(hg, "hg/hg.ptx");

enum { BINS = 256, THREADS = 192 };

static void run(struct work *work) {
    int64_t bytes = work->size[0], ctas = work->size[1], launches = work->size[2], merge = work->size[3];
    uint64_t data, partial, result;
    uint8_t *bytes_of = WORK_NEW(work, uint8_t, bytes, &data);
    int32_t *partly = WORK_NEW(work, int32_t, ctas * BINS, &partial);
    int32_t *found = WORK_NEW(work, int32_t, BINS, &result);
    for (int64_t i = 0; i < bytes; i++) bytes_of[i] = (uint8_t)work_below(work, BINS);
    for (int64_t i = 0; i < launches; i++) {
        WORK_LAUNCH(work, "hg_count", DIM((uint32_t)ctas), DIM(THREADS), HOST_U64(partial), HOST_U64(data),
                    HOST_U32((uint32_t)(bytes / 4)));
        if (merge)
            WORK_LAUNCH(work, "hg_merge", DIM(BINS), DIM(BINS), HOST_U64(result), HOST_U64(partial),
                        HOST_U32((uint32_t)ctas));
    }
    if (!work->verify) return;
    for (int64_t i = 0; !merge && i < ctas * BINS; i++) found[i % BINS] += partly[i];
    int32_t expected[BINS] = {0};
    for (int64_t i = 0; i < bytes; i++) expected[bytes_of[i]]++;
    work_expect_i32(work, "bin", found, expected, BINS);
}

static const struct work_size sizes[] = {
    {"tiny", {1 << 16, 16, 1, 1}},
    {"small", {16 << 20, 240, 4, 1}},
    {"adaptive", {64 << 20, 240, 1, 0}},
    {"selrep", {64 << 20, 240, 2, 1}},
};

WORKLOAD(hg, "hg", .help = "histogram of bytes in shared memory", .parameters = "bytes ctas launches merge");
