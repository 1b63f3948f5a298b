/* CUDA kernels with asynchronous copies, as nvcc compiles them (tests/emu/async), against results computed here. */
#include "base/random.h"
#include "emu/run_ptx.h"

static char *file_text(const char *path) {
    FILE *in = fopen(path, "r");
    REQUIRE(in);
    char *text = calloc(1, 1 << 18);
    size_t bytes = fread(text, 1, (1 << 18) - 1, in);
    fclose(in);
    REQUIRE(bytes > 0);
    return text;
}

/* Loads a file of tests/emu/async and launches one of its kernels. */
static void kernel_run(struct ptx_run *run, const char *kernel, const uint32_t grid[2], const uint32_t block[2],
                       const void *parameters) {
    struct launch launch = {.module = run->loaded,
                            .kernel = program_kernel(loaded_program(run->loaded), kernel),
                            .grid = {grid[0], grid[1], 1},
                            .block = {block[0], block[1], 1},
                            .parameters = parameters};
    REQUIRE(launch.kernel);
    bool good = emu_run(&run->device, &launch, NULL, &run->counts, &run->err);
    if (!good) printf("    %s\n", run->err.text);
    REQUIRE(good);
}

static void gemm_check(const char *kernel) {
    enum { N = 96, TILE = 32 };
    struct ptx_run run;
    char *text = file_text(SLUICE_SOURCE_DIR "/tests/emu/async/gemm.ptx");
    REQUIRE(run_load(&run, text));
    uint64_t random = 7, at[3];
    float *matrix[3];
    for (unsigned m = 0; m < 3; m++) {
        at[m] = memory_allocate(&run.device.memory, N * N * sizeof(float));
        matrix[m] = (float *)(void *)memory_at(&run.device.memory, at[m], N * N * sizeof(float));
        for (unsigned i = 0; i < N * N; i++) matrix[m][i] = (float)random_below(&random, 17) - 8;
    }
    const struct {
        uint64_t a, b, c;
        uint32_t n;
    } parameters = {at[0], at[1], at[2], N};
    kernel_run(&run, kernel, (uint32_t[]){N / TILE, N / TILE}, (uint32_t[]){16, 16}, &parameters);
    unsigned wrong = 0;
    for (unsigned i = 0; i < N; i++)
        for (unsigned j = 0; j < N; j++) {
            float sum = 0; /* exact: small integers */
            for (unsigned k = 0; k < N; k++) sum += matrix[0][i * N + k] * matrix[1][k * N + j];
            wrong += matrix[2][i * N + j] != sum;
        }
    CHECK_EQ(wrong, 0u);
    run_end(&run);
    free(text);
}

TEST("a matrix product whose tiles cp.async copies into two buffers is that of the CPU") { gemm_check("gemm_async"); }
TEST("a matrix product whose tiles pass through registers is that of the CPU") { gemm_check("gemm_plain"); }

TEST("bulk copies around a ring of the CTAs of a cluster bring each CTA the data of the others in order") {
    enum { CTAS = 12, WORDS = 512, COUNT = CTAS * WORDS };
    struct ptx_run run;
    char *text = file_text(SLUICE_SOURCE_DIR "/tests/emu/async/ring.ptx");
    REQUIRE(run_load(&run, text));
    uint64_t x_at = memory_allocate(&run.device.memory, COUNT * 4),
             y_at = memory_allocate(&run.device.memory, COUNT * 4);
    uint32_t *x = (uint32_t *)(void *)memory_at(&run.device.memory, x_at, COUNT * 4);
    const uint32_t *y = (const uint32_t *)(void *)memory_at(&run.device.memory, y_at, COUNT * 4);
    uint64_t random = 5;
    for (unsigned i = 0; i < COUNT; i++) x[i] = (uint32_t)random_below(&random, UINT32_MAX);
    const uint64_t parameters[] = {x_at, y_at};
    kernel_run(&run, "ring", (uint32_t[]){CTAS, 1}, (uint32_t[]){128, 1}, parameters);
    unsigned wrong = 0;
    for (unsigned cta = 0; cta < CTAS; cta++)
        for (unsigned i = 0; i < WORDS; i++) {
            uint32_t sum = 0;
            for (unsigned step = 0; step < 4; step++)
                sum = sum * 3 + x[(cta / 4 * 4 + (cta + 4 - step) % 4) * WORDS + i];
            wrong += y[cta * WORDS + i] != sum;
        }
    CHECK_EQ(wrong, 0u);
    run_end(&run);
    free(text);
}

TEST("a pipeline of bulk copies and mbarriers of CUDA's C++ library computes what the CPU does") {
    enum { TILE = 1024, TILES = 23, COUNT = TILE * TILES };
    struct ptx_run run;
    char *text = file_text(SLUICE_SOURCE_DIR "/tests/emu/async/bulk.ptx");
    REQUIRE(run_load(&run, text));
    uint64_t x_at = memory_allocate(&run.device.memory, COUNT * sizeof(float)), random = 3;
    uint64_t y_at = memory_allocate(&run.device.memory, COUNT * sizeof(float));
    float *x = (float *)(void *)memory_at(&run.device.memory, x_at, COUNT * sizeof(float));
    const float *y = (const float *)(void *)memory_at(&run.device.memory, y_at, COUNT * sizeof(float));
    for (unsigned i = 0; i < COUNT; i++) x[i] = (float)random_below(&random, 1000);
    const struct {
        uint64_t x, y;
        uint32_t tiles;
    } parameters = {x_at, y_at, TILES};
    kernel_run(&run, "scale_bulk", (uint32_t[]){3, 1}, (uint32_t[]){128, 1}, &parameters);
    unsigned wrong = 0;
    for (unsigned i = 0; i < COUNT; i++) wrong += y[i] != 2 * x[i] + 1;
    CHECK_EQ(wrong, 0u);
    run_end(&run);
    free(text);
}
