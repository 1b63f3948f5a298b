/* Merge sort of key-value pairs. */
#include "work.h"

WORK_PTX(ms, "ms/ms.ptx");

enum { TILE = 1024, SAMPLE = 128, RANK_THREADS = 256 };

struct pairs {
    uint64_t keys, values;
    uint32_t *host_keys, *host_values;
};

static struct pairs pairs_new(struct work *work, int64_t count) {
    struct pairs p;
    p.host_keys = WORK_NEW(work, uint32_t, count, &p.keys);
    p.host_values = WORK_NEW(work, uint32_t, count, &p.values);
    return p;
}

static int compare(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Runs sorted by key; equal keys keep their order, which is that of the values. */
static void verify(struct work *work, const uint32_t *keys, const struct pairs *found, int64_t count, int64_t stretch) {
    uint64_t *expected = mem_alloc((size_t)count, sizeof *expected);
    for (int64_t i = 0; i < count; i++) expected[i] = (uint64_t)keys[i] << 32 | (uint64_t)i;
    for (int64_t i = 0; i < count; i += stretch) qsort(expected + i, (size_t)stretch, sizeof *expected, compare);
    for (int64_t i = 0; i < count && !work->wrong; i++) {
        int32_t wanted[2] = {(int32_t)(expected[i] >> 32), (int32_t)expected[i]};
        work_expect_i32(work, "key", (const int32_t *)&found->host_keys[i], &wanted[0], 1);
        work_expect_i32(work, "value", (const int32_t *)&found->host_values[i], &wanted[1], 1);
    }
    free(expected);
}

/* Pairwise merge of runs of `stride`. `at`: ranks in a and b, then limits in a and b. */
static void merge(struct work *work, const struct pairs *from, const struct pairs *to, const uint64_t *at,
                  int64_t count, int64_t stride) {
    int32_t samples = (int32_t)(count / SAMPLE / 2);
    struct dim grid = DIM(blocks_of(samples, RANK_THREADS)), block = DIM(RANK_THREADS);
    WORK_LAUNCH(work, "ms_ranks", grid, block, HOST_U64(at[0]), HOST_U64(at[1]), HOST_U64(from->keys),
                HOST_S32((int32_t)stride), HOST_S32(samples));
    WORK_LAUNCH(work, "ms_limits", grid, block, HOST_U64(at[2]), HOST_U64(at[3]), HOST_U64(at[0]), HOST_U64(at[1]),
                HOST_S32((int32_t)stride), HOST_S32(samples));
    WORK_LAUNCH(work, "ms_merge", DIM((uint32_t)(count / SAMPLE)), DIM(SAMPLE), HOST_U64(to->keys),
                HOST_U64(to->values), HOST_U64(from->keys), HOST_U64(from->values), HOST_U64(at[2]), HOST_U64(at[3]),
                HOST_S32((int32_t)stride));
}

static void run(struct work *work) {
    int64_t count = work->size[0], merges = work->size[1];
    struct pairs a = pairs_new(work, count), b = pairs_new(work, count);
    for (int64_t i = 0; i < count; i++) {
        uint32_t bits = work_below(work, UINT32_MAX), shift = work_below(work, 32);
        a.host_keys[i] = bits >> shift; /* few bits, so that some keys are equal */
        a.host_values[i] = (uint32_t)i;
    }
    uint32_t *keys = work_copy(a.host_keys, (uint64_t)count * sizeof *keys);
    uint64_t at[4];
    for (int i = 0; i < 4; i++) at[i] = work_alloc(work, (uint64_t)(count / SAMPLE) * sizeof(int32_t));
    WORK_LAUNCH(work, "ms_tile", DIM((uint32_t)(count / TILE)), DIM(TILE / 2), HOST_U64(b.keys), HOST_U64(b.values),
                HOST_U64(a.keys), HOST_U64(a.values));
    for (int64_t m = 0; m < merges; m++) {
        merge(work, &b, &a, at, count, (int64_t)TILE << m);
        struct pairs spare = a;
        a = b, b = spare;
    }
    if (work->verify) verify(work, keys, &b, count, (int64_t)TILE << merges);
    free(keys);
}

/* The number of pairs is a multiple of 1,024 times two to the number of merges. */
static const struct work_size sizes[] = {
    {"tiny", {4096, 2}},
    {"small", {131072, 7}},
    {"adaptive", {1048576, 0}},
    {"selrep", {1048576, 0}},
};

WORKLOAD(ms, "ms", .help = "merge sort of key-value pairs", .parameters = "pairs merges");
