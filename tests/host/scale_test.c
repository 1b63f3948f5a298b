/* The example of textures and surfaces: examples/scale.cu, as compiled by nvcc, against a reference of the host. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "emu/texture.h"
#include "host/launch_file.h"
#include "test.h"

enum { FROM_WIDTH = 64, FROM_HEIGHT = 48, WIDTH = 90, HEIGHT = 70, CHANNELS = 4 };

#define EXAMPLES SLUICE_SOURCE_DIR "/examples/"

/* ---- the reference ---- */

static void image_fill(uint8_t image[FROM_HEIGHT][FROM_WIDTH][CHANNELS]) {
    uint32_t state = 5; /* the fill of kind lcg in the launch file */
    for (unsigned i = 0; i < FROM_HEIGHT * FROM_WIDTH * CHANNELS; i++) {
        state = state * 1664525 + 1013904223;
        ((uint8_t *)image)[i] = (uint8_t)(state >> 16);
    }
}

static int within(int i, int size) { return i < 0 ? 0 : i >= size ? size - 1 : i; }

/* One axis of bilinear filtering: two texels and the weight of the second, in 256ths. */
static void axis(int at, int count, int size, int texel[2], int *weight) {
    float u = ((float)at + 0.5f) / (float)count;
    double steps = floor(256 * ((double)u * size - 0.5) + 0.5); /* exact: both factors are small */
    int first = (int)floor(steps / 256);
    texel[0] = within(first, size);
    texel[1] = within(first + 1, size);
    *weight = (int)(steps - 256.0 * first);
}

static void reference(uint8_t scaled[HEIGHT][WIDTH][CHANNELS], uint32_t grey[HEIGHT][WIDTH]) {
    static uint8_t image[FROM_HEIGHT][FROM_WIDTH][CHANNELS];
    image_fill(image);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            int xs[2], ys[2], a, b;
            axis(x, WIDTH, FROM_WIDTH, xs, &a);
            axis(y, HEIGHT, FROM_HEIGHT, ys, &b);
            for (int c = 0; c < CHANNELS; c++) {
                double sum = 0;
                for (int k = 0; k < 4; k++) {
                    int weight = (k & 1 ? a : 256 - a) * (k & 2 ? b : 256 - b);
                    float value = (float)image[ys[k >> 1]][xs[k & 1]][c] / 255.0f;
                    sum += weight * (double)value;
                }
                scaled[y][x][c] = (uint8_t)fmaf((float)(sum / 65536), 255.0f, 0.5f);
            }
            const uint8_t *p = scaled[y][x];
            grey[y][x] = (77u * p[0] + 150u * p[1] + 29u * p[2]) >> 8;
        }
}

/* ---- the program ---- */

struct result {
    uint8_t scaled[HEIGHT][WIDTH][CHANNELS];
    uint32_t grey[HEIGHT][WIDTH];
    bool tiled, done;
};

static void scale_run(void *user, struct host *host) {
    struct result *result = user;
    static uint8_t image[FROM_HEIGHT][FROM_WIDTH][CHANNELS];
    size_t bytes;
    struct error err = {0};
    struct arena *arena = arena_create();
    char *text = arena_file(arena, EXAMPLES "scale.ptx", &bytes, &err);
    if (!text) host_fail(host, "%s", err.text);
    if (text) host_module(host, "scale.ptx", text, bytes);
    arena_destroy(arena);
    image_fill(image);
    uint64_t pixels = host_alloc(host, 2 * sizeof image), scaled = host_alloc(host, 2 * sizeof result->scaled),
             grey = host_alloc(host, sizeof result->grey);
    host_write(host, pixels, image, sizeof image);
    uint64_t texture = host_texture(host,
                                    &(struct image){.address = pixels,
                                                    .width = FROM_WIDTH,
                                                    .height = FROM_HEIGHT,
                                                    .depth = 1,
                                                    .dimensions = 2,
                                                    .type = TEXEL_u8,
                                                    .channels = CHANNELS,
                                                    .tiled = result->tiled},
                                    &(struct sampler){.filter = TEXTURE_LINEAR,
                                                      .address = {TEXTURE_CLAMP, TEXTURE_CLAMP, TEXTURE_CLAMP},
                                                      .normalized_coordinates = true,
                                                      .normalized_values = true});
    uint64_t surface = host_surface(host, &(struct image){.address = scaled,
                                                          .width = WIDTH,
                                                          .height = HEIGHT,
                                                          .depth = 1,
                                                          .dimensions = 2,
                                                          .type = TEXEL_u8,
                                                          .channels = CHANNELS,
                                                          .tiled = result->tiled});
    struct dim grid = dim3(6, 9, 1), block = dim3(16, 8, 1);
    HOST_LAUNCH(host, "scale", grid, block, 0, HOST_U64(texture), HOST_U64(surface), HOST_S32(WIDTH), HOST_S32(HEIGHT));
    HOST_LAUNCH(host, "luminance", grid, block, 0, HOST_U64(surface), HOST_U64(grey), HOST_S32(WIDTH),
                HOST_S32(HEIGHT));
    const void *memory = host_memory(host, scaled, sizeof result->scaled);
    if (memory) memcpy(result->scaled, memory, sizeof result->scaled);
    memory = host_memory(host, grey, sizeof result->grey);
    if (memory) memcpy(result->grey, memory, sizeof result->grey);
    result->done = memory;
}

/* Reads all streams; true if the program did not fail. */
static bool source_read(struct stream_source *source) {
    struct kernel kernel;
    while (source->ops->next_kernel(source, &kernel))
        for (uint64_t cta = 0; cta < kernel_ctas(&kernel); cta++)
            for (uint32_t warp = 0; warp < kernel_warps(&kernel); warp++) {
                struct warp_stream stream = {.cta = cta, .warp = warp};
                source->ops->open(source, &stream);
                do source->ops->refill(source, &stream);
                while (stream.count > 0);
            }
    const char *failure = source->ops->failure(source);
    if (failure) printf("    %s\n", failure);
    return !failure;
}

TEST("a texture filter compiled by nvcc gives the pixels of a reference on the host, in either layout") {
    static struct result wanted, found;
    reference(wanted.scaled, wanted.grey);
    for (unsigned tiled = 0; tiled < 2; tiled++) {
        memset(&found, 0, sizeof found);
        found.tiled = tiled;
        struct stream_source *source =
            program_source_create(&(struct host_program){.name = "scale", .run = scale_run, .user = &found});
        CHECK(source_read(source));
        source->ops->destroy(source);
        REQUIRE(found.done);
        CHECK(memcmp(found.scaled, wanted.scaled, sizeof wanted.scaled) == 0);
        CHECK(memcmp(found.grey, wanted.grey, sizeof wanted.grey) == 0);
    }
}

TEST("the launch file of the example has the sums of the reference, and its run passes") {
    static struct result wanted;
    reference(wanted.scaled, wanted.grey);
    uint32_t sum = 0, mix = 0, grey = 0;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            uint32_t word;
            memcpy(&word, wanted.scaled[y][x], sizeof word);
            sum += word, mix ^= word, grey += wanted.grey[y][x];
        }
    size_t bytes;
    struct error err = {0};
    struct arena *arena = arena_create();
    char *text = arena_file(arena, EXAMPLES "scale.yaml", &bytes, &err);
    char line[200];
    REQUIRE(text);
    snprintf(line, sizeof line, "final_sum_u32: %u, final_xor_u32: %u}", sum, mix);
    CHECK_TEXT(text, line);
    snprintf(line, sizeof line, "{name: grey, bytes: 25200, final_sum_u32: %u}", grey);
    CHECK_TEXT(text, line);
    arena_destroy(arena);
    struct launch_file *file = launch_file_open(EXAMPLES "scale.yaml", NULL, &err);
    if (!file) printf("    %s\n", err.text);
    REQUIRE(file);
    struct stream_source *source = launch_file_source(file);
    CHECK(source_read(source));
    CHECK_EQ(source->ops->check(source, &err), "passed");
    source->ops->destroy(source);
    launch_file_close(file);
}
