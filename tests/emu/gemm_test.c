/* The matrix product of examples/gemm.cu, as nvcc compiles it, against a product on the host. */
#include <math.h>

#include "emu/run_ptx.h"

enum { M = 128, N = 64, K = 96 };

/* An f16 of the host: normal numbers only. */
static float half_value(uint16_t h) {
    return ldexpf((float)(0x400 | (h & 0x3FF)), (int)(h >> 10 & 31) - 25) * (h >> 15 ? -1 : 1);
}

TEST("a tiled matrix product by mma.sync or wmma has every bit of one by fused multiply-adds") {
    static const char *const kernels[] = {"gemm_mma", "gemm_wmma"};
    static float wanted[M * N];
    struct error err = {0};
    for (unsigned i = 0; i < 2; i++) {
        struct device device;
        device_init(&device);
        struct ptx_module *module = ptx_parse_file(SLUICE_SOURCE_DIR "/examples/gemm.ptx", &err);
        REQUIRE(module);
        struct loaded_module *loaded = device_load(&device, module, &err);
        REQUIRE(loaded);
        uint64_t a = memory_allocate(&device.memory, 2 * M * K), b = memory_allocate(&device.memory, 2 * N * K),
                 c = memory_allocate(&device.memory, 4 * M * N);
        uint16_t *x = (void *)memory_at(&device.memory, a, 2 * M * K),
                 *y = (void *)memory_at(&device.memory, b, 2 * N * K);
        uint32_t seed = 1;
        for (unsigned at = 0; at < (M + N) * K; at++) { /* any sign, exponents -4 to 3 */
            seed = seed * 1664525 + 1013904223;
            uint16_t h = (uint16_t)((seed >> 16 & 0x83FF) | (11 + (seed >> 8) % 8) << 10);
            *(at < M * K ? &x[at] : &y[at - M * K]) = h;
        }
        for (unsigned row = 0; row < M; row++)
            for (unsigned column = 0; column < N; column++) {
                float sum = 0;
                for (unsigned k = 0; k < K; k++)
                    sum = fmaf(half_value(x[row * K + k]), half_value(y[column * K + k]), sum);
                wanted[row * N + column] = sum;
            }
        struct {
            uint64_t a, b, c;
            int32_t n, k;
        } parameters = {a, b, c, N, K};
        const struct launch launch = {.module = loaded,
                                      .kernel = program_kernel(loaded_program(loaded), kernels[i]),
                                      .grid = {N / 64, M / 64, 1},
                                      .block = {128, 1, 1},
                                      .parameters = (const uint8_t *)&parameters};
        struct emu_counts counts;
        REQUIRE(emu_run(&device, &launch, NULL, &counts, &err));
        CHECK(!memcmp(memory_at(&device.memory, c, sizeof wanted), wanted, sizeof wanted));
        device_unload(&device, loaded);
        device_release(&device);
    }
}
