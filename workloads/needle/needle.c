/* Needleman-Wunsch alignment of two random sequences. */
#include "work.h"

WORK_PTX(needle, "needle/needle.ptx");

enum { TILE = 16, LETTERS = 24, PENALTY = 10 };

/* Scores of the pairs of two sequences: equal letters score high, others -4 to 3 from a table. */
static void make_reference(struct work *work, int32_t *reference, int64_t side) {
    int32_t table[LETTERS][LETTERS];
    for (int i = 0; i < LETTERS; i++)
        for (int j = 0; j <= i; j++) table[i][j] = table[j][i] = (int32_t)work_below(work, 8) + (i == j ? 4 : -4);
    uint8_t *letter = mem_alloc((size_t)(2 * side), 1);
    for (int64_t i = 0; i < 2 * side; i++) letter[i] = (uint8_t)work_below(work, LETTERS);
    for (int64_t i = 1; i < side; i++)
        for (int64_t j = 1; j < side; j++) reference[i * side + j] = table[letter[i]][letter[side + j]];
    free(letter);
}

static void align(const int32_t *reference, int32_t *score, int64_t side) {
    for (int64_t i = 1; i < side; i++)
        for (int64_t j = 1; j < side; j++) {
            int32_t *cell = score + i * side + j;
            int32_t match = cell[-side - 1] + reference[i * side + j];
            int32_t gap = (cell[-1] > cell[-side] ? cell[-1] : cell[-side]) - PENALTY;
            *cell = match > gap ? match : gap;
        }
}

/* Leaves the launch of the longest anti-diagonal: the scores above it are known, those below it stay as they are. */
static void keep_middle(int32_t *score, int32_t *expected, int64_t side) {
    int64_t middle = side / TILE - 1;
    for (int64_t i = 1; i < side; i++)
        for (int64_t j = 1; j < side; j++) {
            int64_t cell = i * side + j, diagonal = (i - 1) / TILE + (j - 1) / TILE;
            if (diagonal < middle) score[cell] = expected[cell];
            if (diagonal > middle) expected[cell] = score[cell];
        }
}

static void run(struct work *work) {
    int64_t side = work->size[0] + 1;
    bool middle_only = work->size[1];
    int32_t width = (int32_t)(work->size[0] / TILE), columns = (int32_t)side;
    uint64_t count = (uint64_t)(side * side), reference, score;
    int32_t *href = WORK_NEW(work, int32_t, count, &reference), *hscore = WORK_NEW(work, int32_t, count, &score);
    make_reference(work, href, side);
    for (int32_t i = 1; i < side; i++) hscore[i * side] = hscore[i] = -i * PENALTY;
    int32_t *expected = work_copy(hscore, count * sizeof *hscore);
    if (work->verify || middle_only) align(href, expected, side);
    if (middle_only) keep_middle(hscore, expected, side);
    for (int32_t i = middle_only ? width : 1; i <= width; i++)
        WORK_LAUNCH(work, "needle_grow", DIM((uint32_t)i), DIM(TILE), HOST_U64(reference), HOST_U64(score),
                    HOST_S32(columns), HOST_S32(PENALTY), HOST_S32(i));
    for (int32_t i = width - 1; !middle_only && i >= 1; i--)
        WORK_LAUNCH(work, "needle_shrink", DIM((uint32_t)i), DIM(TILE), HOST_U64(reference), HOST_U64(score),
                    HOST_S32(columns), HOST_S32(PENALTY), HOST_S32(i), HOST_S32(width));
    if (work->verify) work_expect_i32(work, "score", hscore, expected, count);
    free(expected);
}

static const struct work_size sizes[] = {
    {"tiny", {96}}, {"small", {1024}}, {"icc", {2048}}, {"bypass", {2048}}, {"bypass-kernel", {2048, true}},
};

WORKLOAD(needle, "needle", .aliases = "nw", .help = "Needleman-Wunsch alignment, by anti-diagonals of tiles",
         .parameters = "n middle_only");
