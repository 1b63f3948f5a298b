/* Forward 5/3 wavelet transform of a colour image, several levels deep; with no levels, only its split into planes. */
#include "work.h"

WORK_PTX(dwt2d, "dwt2d/dwt2d.ptx");

enum { COLOURS = 3, STEP = 8, MOST_STEPS = 15, SPLIT_THREADS = 256 };

/* The width of a strip, as chosen by the original. */
static uint32_t columns_of(int64_t width) { return width >= 960 ? 192 : width >= 480 ? 128 : 64; }

static void forward(struct work *work, uint64_t in, uint64_t out, int64_t width, int64_t height, int64_t pitch) {
    uint32_t columns = columns_of(width), steps = blocks_of(height, STEP * MOST_STEPS);
    WORK_LAUNCH(work, "dwt_forward", DIM(blocks_of(width, columns), blocks_of(height, STEP * steps)), DIM(columns),
                HOST_U64(in), HOST_U64(out), HOST_S32((int32_t)width), HOST_S32((int32_t)height),
                HOST_S32((int32_t)pitch), HOST_U32(steps));
}

/* One line of `n` values, `stride` apart: low frequencies to the first half, high ones to the second. Both ends are
 * mirrored. */
static void lift(int32_t *line, int64_t n, int64_t stride, int32_t *spare) {
    for (int64_t i = 0; i < n; i++) spare[i] = line[i * stride];
    for (int64_t i = 1; i < n; i += 2) spare[i] -= (spare[i - 1] + spare[i + 1 < n ? i + 1 : i - 1]) >> 1;
    for (int64_t i = 0; i < n; i += 2)
        spare[i] += (spare[i > 0 ? i - 1 : 1] + spare[i + 1 < n ? i + 1 : i - 1] + 2) >> 2;
    for (int64_t i = 0; i < n; i++) line[(i % 2 * ((n + 1) / 2) + i / 2) * stride] = spare[i];
}

/* Rows, then columns, of the remaining quarter at each level. Integer shifts: exact. */
static void verify(struct work *work, const uint8_t *pixels, int colour, const int32_t *found) {
    int64_t side = work->size[0], levels = work->size[1];
    int32_t *plane = mem_alloc((size_t)(side * side), sizeof *plane), *spare = mem_alloc((size_t)side, sizeof *spare);
    for (int64_t i = 0; i < side * side; i++) plane[i] = pixels[COLOURS * i + colour] - 128;
    for (int64_t n = side, level = 0; level < levels; level++, n = (n + 1) / 2) {
        for (int64_t y = 0; y < n; y++) lift(plane + y * side, n, 1, spare);
        for (int64_t x = 0; x < n; x++) lift(plane + x, n, side, spare);
    }
    work_expect_i32(work, "plane", found, plane, (uint64_t)(side * side));
    free(plane);
    free(spare);
}

static void run(struct work *work) {
    int64_t side = work->size[0], levels = work->size[1];
    uint64_t count = (uint64_t)(side * side), pixels, in[COLOURS], out[COLOURS] = {0};
    uint8_t *host_pixels = WORK_NEW(work, uint8_t, count * COLOURS, &pixels);
    int32_t *host_in[COLOURS], *host_out[COLOURS];
    for (uint64_t i = 0; i < count * COLOURS; i++) host_pixels[i] = (uint8_t)work_below(work, 256);
    for (int c = 0; c < COLOURS; c++) {
        host_in[c] = host_out[c] = WORK_NEW(work, int32_t, count, &in[c]);
        if (levels) host_out[c] = WORK_NEW(work, int32_t, count, &out[c]);
    }
    WORK_LAUNCH(work, "dwt_split", DIM(blocks_of((int64_t)count, SPLIT_THREADS)), DIM(SPLIT_THREADS), HOST_U64(pixels),
                HOST_U64(in[0]), HOST_U64(in[1]), HOST_U64(in[2]), HOST_S32((int32_t)count));
    for (int c = 0; c < COLOURS; c++) {
        for (int64_t n = side, level = 0; level < levels; level++, n = (n + 1) / 2) {
            /* the low frequencies of the previous level are copied back, as in the original */
            for (int64_t y = 0; level > 0 && y < n; y++)
                memcpy(host_in[c] + y * side, host_out[c] + y * side, (size_t)n * sizeof(int32_t));
            forward(work, in[c], out[c], n, n, side);
        }
        if (work->verify) verify(work, host_pixels, c, host_out[c]);
    }
}

static const struct work_size sizes[] = {
    {"tiny", {70, 2}},
    {"small", {640, 3}},
    {"adaptive", {4096, 0}},
    {"selrep", {1024, 3}},
};

WORKLOAD(dwt2d, "dwt2d", .help = "5/3 wavelet transform of an image", .parameters = "side levels");
