/* Similarity of documents: count, scan of the counts, map. */
#include "work.h"

WORK_PTX(ss, "ss/ss.ptx");

enum { THREADS = 256, SCANNED = 512 };

struct pair {
    int32_t row, column;
};

/* Exclusive prefix sums in place: CTAs scan 512 elements each, their sums are scanned recursively and added. */
static void scan(struct work *work, uint64_t data, int64_t count) {
    uint32_t ctas = blocks_of(count, SCANNED);
    uint64_t sums = work_alloc(work, ctas * sizeof(int32_t));
    WORK_LAUNCH(work, "ss_scan", DIM(ctas), DIM(THREADS), HOST_U64(data), HOST_U64(sums), HOST_S32((int32_t)count));
    if (ctas == 1) return;
    scan(work, sums, ctas);
    WORK_LAUNCH(work, "ss_offset", DIM(blocks_of(count, THREADS)), DIM(THREADS), HOST_U64(data), HOST_U64(sums),
                HOST_S32((int32_t)count));
}

/* Both sums add the terms in order; the kernel adds four at once with fused multiply-adds, so a few hundred terms
 * differ by some units in the sixth digit. */
static void verify(struct work *work, const float *features, const struct pair *keys, const float *values,
                   int64_t documents, int64_t dimensions) {
    double *norm = mem_alloc((size_t)documents, sizeof *norm);
    for (int64_t r = 0; r < documents && !work->wrong; r++) {
        const float *a = features + r * dimensions;
        for (int64_t i = 0; i < dimensions; i++) norm[r] += (double)a[i] * (double)a[i];
        for (int64_t c = 0; c < r; c++, keys++, values++) {
            const float *b = features + c * dimensions;
            float dot = 0;
            for (int64_t i = 0; i < dimensions; i++) dot += a[i] * b[i];
            float cosine = (float)((double)dot / sqrt(norm[r] * norm[c]));
            work_expect(work, keys->row == r && keys->column == c, "a pair is not where the scan puts it");
            work_expect_f32(work, "similarity", values, &cosine, 1, 1e-5, 1);
        }
    }
    free(norm);
}

static void run(struct work *work) {
    int64_t documents = work->size[0], dimensions = work->size[1], pairs = documents * (documents - 1) / 2;
    uint64_t features, counts, keys, values;
    float *hfeatures = WORK_NEW(work, float, documents *dimensions, &features);
    counts = work_alloc(work, (uint64_t)pairs * sizeof(int32_t));
    struct pair *hkeys = WORK_NEW(work, struct pair, pairs, &keys);
    float *hvalues = WORK_NEW(work, float, pairs, &values);
    work_fill(work, hfeatures, (uint64_t)(documents * dimensions), 0, 1);
    struct dim grid = DIM(blocks_of(pairs, THREADS));
    WORK_LAUNCH(work, "ss_count", grid, DIM(THREADS), HOST_U64(counts), HOST_S32((int32_t)pairs));
    scan(work, counts, pairs);
    WORK_LAUNCH(work, "ss_map", grid, DIM(THREADS), HOST_U64(features), HOST_U64(counts), HOST_U64(keys),
                HOST_U64(values), HOST_S32((int32_t)(dimensions / 4)), HOST_S32((int32_t)pairs));
    if (work->verify) verify(work, hfeatures, hkeys, hvalues, documents, dimensions);
}

static const struct work_size sizes[] = {
    {"tiny", {64, 64}},
    {"small", {512, 128}},
    {"icc", {1024, 128}},
};

WORKLOAD(ss, "ss", .help = "document similarity score (MapReduce)", .parameters = "documents dimensions");
