/* Thermal simulation of a chip. */
#include "work.h"

WORK_PTX(hs, "hs/hs.ptx");

enum { SIDE = 16 };

/* The chip, in SI units: 16 mm square, half a millimetre of silicon; a step is short enough that the maximum power
 * density changes a cell by a thousandth of a degree. */
struct chip {
    float step_over_cap, rx1, ry1, rz1;
};

static struct chip chip_of(int64_t n) {
    const double edge = 0.016, thick = 0.0005, heat = 1.75e6, conduct = 100, density = 3e6, factor = 0.5;
    double cell = edge / (double)n, cap = factor * heat * thick * cell * cell;
    double step = 0.001 * factor * thick * heat / density;
    return (struct chip){(float)(step / cap), (float)(2 * conduct * thick), (float)(2 * conduct * thick),
                         (float)(conduct * cell * cell / thick)};
}

/* A step of the whole grid; cells outside have the temperature of the edge. */
static void step(const struct chip *chip, const float *power, const float *now, float *next, int64_t n) {
    for (int64_t y = 0; y < n; y++)
        for (int64_t x = 0; x < n; x++) {
            int64_t i = y * n + x;
            float up = now[y > 0 ? i - n : i], down = now[y < n - 1 ? i + n : i];
            float left = now[x > 0 ? i - 1 : i], right = now[x < n - 1 ? i + 1 : i];
            next[i] =
                now[i] + chip->step_over_cap * (power[i] + (up + down - 2 * now[i]) * chip->ry1 +
                                                (left + right - 2 * now[i]) * chip->rx1 + (80 - now[i]) * chip->rz1);
        }
}

static void run(struct work *work) {
    int64_t n = work->size[0], steps = work->size[1], height = work->size[2];
    uint64_t count = (uint64_t)(n * n), power, grid[2];
    struct chip chip = chip_of(n);
    float *hpower = WORK_NEW(work, float, count, &power), *hgrid[2];
    for (int i = 0; i < 2; i++) hgrid[i] = WORK_NEW(work, float, count, &grid[i]);
    work_fill(work, hpower, count, 0, 2);
    work_fill(work, hgrid[0], count, 320, 345);
    float *expected[2] = {work_copy(hgrid[0], count * sizeof(float)), mem_alloc(count, sizeof(float))};
    uint32_t tiles = blocks_of(n, SIDE - 2 * height);
    int at = 0;
    for (int64_t done = 0; done < steps; done += height, at = !at) {
        int32_t some = (int32_t)(steps - done < height ? steps - done : height);
        WORK_LAUNCH(work, "hs_steps", DIM(tiles, tiles), DIM(SIDE, SIDE), HOST_S32(some), HOST_U64(power),
                    HOST_U64(grid[at]), HOST_U64(grid[!at]), HOST_S32((int32_t)n), HOST_S32((int32_t)n),
                    HOST_S32((int32_t)height), HOST_F32(chip.step_over_cap), HOST_F32(chip.rx1), HOST_F32(chip.ry1),
                    HOST_F32(chip.rz1));
    }
    if (work->verify) {
        for (int64_t i = 0; i < steps; i++) step(&chip, hpower, expected[i % 2], expected[(i + 1) % 2], n);
        /* A step rounds a few times by half a unit in the last place and smooths earlier errors. */
        work_expect_f32(work, "temperature", hgrid[at], expected[steps % 2], count, 2e-6, 1);
    }
    free(expected[0]);
    free(expected[1]);
}

static const struct work_size sizes[] = {{"tiny", {50, 4, 2}}, {"small", {512, 4, 2}}, {"bypass", {512, 2, 2}}};

WORKLOAD(hs, "hs", .aliases = "hotspot", .help = "thermal simulation of a chip; pyramidal stencil",
         .parameters = "n steps height");
