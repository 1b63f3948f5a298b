/* The share of a program that is done. */
#include "stream/progress.h"

#include "test.h"

static const struct kernel kernel = {.grid = {10, 2, 1}, .block = {64, 1, 1}};

TEST("the share of a program is that of its instructions if their number is known") {
    struct program_progress now = {.warp_instructions = 30, .thread_instructions = 900, .kernel = &kernel, .ctas = 5};
    CHECK_NEAR(program_share(&now, &(struct program_extent){.warp_instructions = 120, .threads = 1}), 0.25, 1e-9);
    CHECK_NEAR(program_share(&now, &(struct program_extent){.warp_instructions = 20}), 1.0, 1e-9);
}

TEST("without them it is that of the threads whose CTAs and kernels have ended") {
    struct program_progress now = {.kernels = 1, .threads = 640, .kernel = &kernel, .ctas = 5};
    CHECK_NEAR(program_share(&now, &(struct program_extent){.threads = 2 * 1280}), (640 + 5 * 64) / 2560.0, 1e-9);
    now.kernel = NULL;
    CHECK_NEAR(program_share(&now, &(struct program_extent){.threads = 2 * 1280}), 0.25, 1e-9);
}

TEST("a limit may end the program earlier") {
    struct program_progress now = {.warp_instructions = 30, .thread_instructions = 900};
    CHECK_NEAR(program_share(&now, &(struct program_extent){.thread_instruction_limit = 1000}), 0.9, 1e-9);
    CHECK_NEAR(
        program_share(&now, &(struct program_extent){.warp_instructions = 300, .thread_instruction_limit = 1000}), 0.9,
        1e-9);
    CHECK_NEAR(program_share(&now, &(struct program_extent){.warp_instructions = 40, .thread_instruction_limit = 9000}),
               0.75, 1e-9);
}

TEST("the share of a program of unknown extent is unknown until it has ended; that of its kernel is known") {
    struct program_progress now = {.warp_instructions = 30, .kernel = &kernel, .ctas = 5};
    CHECK_EQ(program_share(&now, &(struct program_extent){0}), -1.0);
    CHECK_NEAR(program_kernel_share(&now), 0.25, 1e-9);
    now.done = true;
    CHECK_EQ(program_share(&now, &(struct program_extent){0}), 1.0);
}
