/* Triad: c = a + s b on an array that is processed on the device in chunks, for chunks of doubling size. */
#include "work.h"

WORK_PTX(triad, "triad/triad.ptx");

enum { THREADS = 128, FLOATS_PER_KB = 1024 / sizeof(float) };
static const float S = 1.75f;

/* One or two roundings of a + s b, with a and b from [0, 10). */
static const double TOLERANCE = 0x1p-22, SCALE = 1;

static void expect_triad(struct work *work, const float *a, const float *b, const float *c, uint64_t count) {
    for (uint64_t i = 0; i < count && !work->wrong; i++) {
        float expected = (float)(a[i] + (double)S * b[i]);
        work_expect_f32(work, "c", &c[i], &expected, 1, TOLERANCE, SCALE);
    }
}

/* The device buffers of a chunk. There are two: one is filled while the other is processed. */
struct buffers {
    uint64_t a, b, c;
    float *ha, *hb, *hc;
};

static void run(struct work *work) {
    uint64_t total = (uint64_t)work->size[0] * FLOATS_PER_KB, first = (uint64_t)work->size[1] * FLOATS_PER_KB;
    float *data_a = mem_alloc(total, sizeof *data_a), *data_b = mem_alloc(total, sizeof *data_b);
    work_fill(work, data_a, total, 0, 10);
    work_fill(work, data_b, total, 0, 10);
    struct buffers buffers[2];
    for (unsigned i = 0; i < 2; i++) {
        buffers[i].ha = WORK_NEW(work, float, total, &buffers[i].a);
        buffers[i].hb = WORK_NEW(work, float, total, &buffers[i].b);
        buffers[i].hc = WORK_NEW(work, float, total, &buffers[i].c);
    }
    for (uint64_t chunk = first; chunk <= total; chunk *= 2)
        for (uint64_t start = 0; start < total; start += chunk) {
            const struct buffers *use = &buffers[start / chunk % 2];
            memcpy(use->ha, data_a + start, chunk * sizeof(float));
            memcpy(use->hb, data_b + start, chunk * sizeof(float));
            WORK_LAUNCH(work, "triad", DIM((uint32_t)(chunk / THREADS)), DIM(THREADS), HOST_U64(use->a),
                        HOST_U64(use->b), HOST_U64(use->c), HOST_F32(S));
            if (work->verify) expect_triad(work, data_a + start, data_b + start, use->hc, chunk);
        }
    free(data_a);
    free(data_b);
}

static const struct work_size sizes[] = {
    {"tiny", {128, 64}},
    {"small", {4096, 512}},
    {"icc", {16384, 64}},
};

WORKLOAD(triad, "triad", .help = "c = a + s b, chunk by chunk", .parameters = "total_kb first_chunk_kb");
