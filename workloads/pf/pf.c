/* The cheapest path through a grid. */
#include "work.h"

WORK_PTX(pf, "pf/pf.ptx");

enum { THREADS = 256 };

/* Costs of the cheapest paths to each cell of the next row. */
static void descend(const int32_t *wall, const int32_t *from, int32_t *to, int64_t columns) {
    for (int64_t x = 0; x < columns; x++) {
        int32_t best = from[x];
        if (x > 0 && from[x - 1] < best) best = from[x - 1];
        if (x < columns - 1 && from[x + 1] < best) best = from[x + 1];
        to[x] = best + wall[x];
    }
}

static void run(struct work *work) {
    int64_t columns = work->size[0], rows = work->size[1], height = work->size[2];
    uint64_t wall, row[2], row_bytes = (uint64_t)columns * sizeof(int32_t);
    int32_t *hwall = WORK_NEW(work, int32_t, rows * columns, &wall), *hrow[2];
    for (int i = 0; i < 2; i++) hrow[i] = WORK_NEW(work, int32_t, columns, &row[i]);
    for (int64_t i = 0; i < rows * columns; i++) hwall[i] = (int32_t)work_below(work, 10);
    memcpy(hrow[0], hwall, row_bytes);
    int at = 0;
    for (int64_t done = 0; done < rows - 1; done += height, at = !at) {
        int32_t some = (int32_t)(rows - 1 - done < height ? rows - 1 - done : height);
        WORK_LAUNCH(work, "pf_rows", DIM(blocks_of(columns, THREADS - 2 * height)), DIM(THREADS), HOST_S32(some),
                    HOST_U64(wall + row_bytes), HOST_U64(row[at]), HOST_U64(row[!at]), HOST_S32((int32_t)columns),
                    HOST_S32((int32_t)done), HOST_S32((int32_t)height));
    }
    if (!work->verify) return;
    int32_t *expected[2] = {work_copy(hwall, row_bytes), mem_alloc(row_bytes, 1)};
    for (int64_t i = 0; i < rows - 1; i++)
        descend(hwall + (i + 1) * columns, expected[i % 2], expected[(i + 1) % 2], columns);
    work_expect_i32(work, "cost", hrow[at], expected[(rows - 1) % 2], (uint64_t)columns);
    free(expected[0]);
    free(expected[1]);
}

static const struct work_size sizes[] = {
    {"tiny", {2000, 30, 20}}, {"small", {100000, 41, 20}}, {"bypass", {100000, 100, 20}}};

WORKLOAD(pf, "pf", .aliases = "pathfinder", .help = "cheapest path through a grid; pyramidal dynamic programming",
         .parameters = "columns rows height");
