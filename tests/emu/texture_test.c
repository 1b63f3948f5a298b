/* Textures and surfaces: sampling as the CUDA manual defines it, layouts, objects, instructions and faults. */
#include <math.h>

#include "emu/textured.h"

/* ---- sampling ---- */

static struct texture texture_of(enum texture_filter filter, enum texture_address address, bool normalized) {
    return (struct texture){.use = TEXTURE_SAMPLED,
                            .image = line_of_floats,
                            .sampler = {.filter = (uint8_t)filter,
                                        .address = {(uint8_t)address, (uint8_t)address, (uint8_t)address},
                                        .normalized_coordinates = normalized}};
}

/* The footprint whose lane 31 has these coordinates; the others are at 0. */
enum { LANE = WARP_LANES - 1 };

static struct footprint footprint_of(const struct texture *texture, const float *at, uint32_t layer) {
    float real[3][WARP_LANES] = {{0}};
    int32_t offset[WARP_LANES] = {0};
    uint32_t layers[WARP_LANES] = {[LANE] = layer};
    struct coordinates coordinates = {
        .real = {real[0], real[1], real[2]}, .offset = {offset, offset, offset}, .layer = layers};
    struct footprint footprint;
    for (unsigned i = 0; i < texture->image.dimensions; i++) real[i][LANE] = at[i];
    footprint_sample(texture, &coordinates, &footprint);
    return footprint;
}

/* The texel of a coordinate, or -1 for the border. */
static int nearest(enum texture_address address, bool normalized, float x) {
    struct texture texture = texture_of(TEXTURE_NEAREST, address, normalized);
    struct footprint footprint = footprint_of(&texture, &x, 0);
    REQUIRE(footprint.count == 1);
    return footprint.axis[0].outside[0] >> LANE & 1 ? -1 : (int)footprint.axis[0].at[0][LANE];
}

TEST("nearest filtering takes the texel that contains the coordinate") {
    CHECK_EQ(nearest(TEXTURE_CLAMP, false, 0.0f), 0);
    CHECK_EQ(nearest(TEXTURE_CLAMP, false, 0.9990234375f), 0);
    CHECK_EQ(nearest(TEXTURE_CLAMP, false, 1.0f), 1);
    CHECK_EQ(nearest(TEXTURE_CLAMP, false, 7.5f), 7);
    CHECK_EQ(nearest(TEXTURE_CLAMP, true, 0.125f), 1);
    CHECK_EQ(nearest(TEXTURE_CLAMP, true, 0.9990234375f), 7);
}

TEST("the address mode decides what a coordinate outside the image reads") {
    static const struct {
        float x;
        int wrap, mirror, clamp, border;
    } cases[] = {
        {-0.0625f, 7, 0, 0, -1}, {-0.1875f, 6, 1, 0, -1}, {-1.0625f, 7, 7, 0, -1}, {1.0f, 0, 7, 7, -1},
        {1.1875f, 1, 6, 7, -1},  {2.0625f, 0, 0, 7, -1},  {0.5f, 4, 4, 4, 4},      {-1e30f, 0, 0, 0, -1},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        if (cases[i].x > -1e20f) {
            CHECK_EQ(nearest(TEXTURE_WRAP, true, cases[i].x), cases[i].wrap);
            CHECK_EQ(nearest(TEXTURE_MIRROR, true, cases[i].x), cases[i].mirror);
        }
        CHECK_EQ(nearest(TEXTURE_CLAMP, true, cases[i].x), cases[i].clamp);
        CHECK_EQ(nearest(TEXTURE_BORDER, true, cases[i].x), cases[i].border);
    }
    CHECK_EQ(nearest(TEXTURE_CLAMP, false, -0.5f), 0);
    CHECK_EQ(nearest(TEXTURE_CLAMP, false, 8.0f), 7);
    CHECK_EQ(nearest(TEXTURE_BORDER, false, 8.0f), -1);
    CHECK_EQ(nearest(TEXTURE_CLAMP, false, INFINITY), 7);
    CHECK_EQ(nearest(TEXTURE_CLAMP, false, NAN), 0);
}

/* The footprint of linear filtering: texels and weights of 2^-8. */
static void check_linear(enum texture_address address, float x, unsigned first, unsigned first_weight, unsigned second,
                         unsigned second_weight) {
    struct texture texture = texture_of(TEXTURE_LINEAR, address, false);
    struct footprint footprint = footprint_of(&texture, &x, 0);
    const struct axis *axis = &footprint.axis[0];
    CHECK_EQ(footprint.count, 2u);
    CHECK_EQ(axis->at[0][LANE], first);
    CHECK_EQ(axis->weight[0][LANE], (int)first_weight);
    CHECK_EQ(axis->weight[1][LANE], (int)second_weight);
    if (second_weight) CHECK_EQ(axis->at[1][LANE], second);
}

TEST("linear filtering has weights of 8 bits, rounded to nearest") {
    check_linear(TEXTURE_CLAMP, 2.5f, 2, 256, 0, 0); /* the centre of a texel: it alone */
    check_linear(TEXTURE_CLAMP, 3.0f, 2, 128, 3, 128);
    check_linear(TEXTURE_CLAMP, 2.75f, 2, 192, 3, 64);
    check_linear(TEXTURE_CLAMP, 2.5f + 0x1p-9f, 2, 255, 3, 1); /* half a unit is rounded up */
    check_linear(TEXTURE_CLAMP, 2.5f + 0x1p-10f, 2, 256, 0, 0);
    check_linear(TEXTURE_CLAMP, 3.5f - 0x1p-10f, 3, 256, 0, 0); /* a fraction that rounds to one */
    check_linear(TEXTURE_CLAMP, 0.25f, 0, 64, 0, 192);          /* texels -1 and 0 */
    check_linear(TEXTURE_CLAMP, 7.75f, 7, 192, 7, 64);
    check_linear(TEXTURE_WRAP, 7.75f, 7, 192, 0, 64);
    check_linear(TEXTURE_WRAP, 0.25f, 7, 64, 0, 192);
    check_linear(TEXTURE_MIRROR, 7.75f, 7, 192, 7, 64);
}

TEST("the weight next to a texel's centre is exact even where a double would round the coordinate") {
    struct texture texture = texture_of(TEXTURE_LINEAR, TEXTURE_CLAMP, true);
    texture.image.width = (1 << 27) - 1;
    float x = 0x1.fffffep-37f; /* times the width: 2^-9 less about 2^-32 of itself */
    struct footprint footprint = footprint_of(&texture, &x, 0);
    CHECK_EQ(footprint.axis[0].weight[0][LANE], 128);
    CHECK_EQ(footprint.axis[0].weight[1][LANE], 128);
}

TEST("linear filtering in three dimensions combines eight texels whose weights sum to one") {
    struct texture texture = texture_of(TEXTURE_LINEAR, TEXTURE_CLAMP, false);
    texture.image =
        (struct image){.width = 4, .height = 4, .depth = 4, .dimensions = 3, .type = TEXEL_f32, .channels = 1};
    float at[3] = {1.25f, 2.0f, 2.875f};
    static const uint32_t texel[3][2] = {{0, 1}, {1, 2}, {2, 3}};
    static const int32_t weight[3][2] = {{64, 192}, {128, 128}, {160, 96}};
    struct footprint footprint = footprint_of(&texture, at, 0);
    CHECK_EQ(footprint.count, 8u);
    for (unsigned i = 0; i < 3; i++)
        for (unsigned k = 0; k < 2; k++) {
            CHECK_EQ(footprint.axis[i].at[k][LANE], texel[i][k]);
            CHECK_EQ(footprint.axis[i].weight[k][LANE], weight[i][k]);
        }
}

TEST("a layer beyond the last is the last, and integer coordinates are not filtered") {
    struct texture texture = texture_of(TEXTURE_LINEAR, TEXTURE_BORDER, false);
    texture.image.layers = 3;
    int32_t x[WARP_LANES] = {5, -2, 6, 7}, one[WARP_LANES];
    uint32_t layer[WARP_LANES] = {9, 1, 2, 3};
    for (unsigned i = 0; i < WARP_LANES; i++) one[i] = 1;
    struct coordinates coordinates = {.integer = {x}, .offset = {one}, .layer = layer};
    struct footprint footprint;
    footprint_fetch(&texture, &coordinates, &footprint);
    CHECK_EQ(footprint.count, 1u);
    CHECK_EQ(footprint.axis[0].at[0][0], 6u);
    CHECK_EQ(footprint.axis[0].outside[0], 1u << 1 | 1u << 3);
    CHECK_EQ(footprint.axis[2].at[0][0], 2u);
    CHECK_EQ(footprint.axis[2].at[0][1], 1u);
}

TEST("integers are normalised to [0, 1] and [-1, 1], and channels that an image lacks are 0, 0 and 1") {
    static const struct {
        enum texel_type type;
        uint8_t bytes[2];
        float value;
    } cases[] = {
        {TEXEL_u8, {255}, 1.0f},          {TEXEL_u8, {51}, 0.2f},          {TEXEL_s8, {0x80}, -1.0f},
        {TEXEL_s8, {0x81}, -1.0f},        {TEXEL_s8, {127}, 1.0f},         {TEXEL_u16, {0xFF, 0xFF}, 1.0f},
        {TEXEL_s16, {0x00, 0x80}, -1.0f}, {TEXEL_s16, {0xFF, 0x7F}, 1.0f},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct texture texture = texture_of(TEXTURE_NEAREST, TEXTURE_CLAMP, false);
        texture.image.type = (uint8_t)cases[i].type;
        texture.sampler.normalized_values = true;
        static const float origin[3];
        struct footprint footprint = footprint_of(&texture, origin, 0);
        union {
            uint32_t bits[4][WARP_LANES];
            float value[4][WARP_LANES];
        } channel;
        footprint_read(&texture, cases[i].bytes, &footprint, channel.bits);
        CHECK(channel.value[0][LANE] == cases[i].value);
        CHECK(channel.value[1][LANE] == 0 && channel.value[2][LANE] == 0 && channel.value[3][LANE] == 1);
        texture.sampler.normalized_values = false;
        footprint_read(&texture, cases[i].bytes, &footprint, channel.bits);
        CHECK_EQ(channel.bits[3][LANE], 1u);
    }
}

TEST("a tiled image has 16 bytes of two rows in a sector and 64 bytes of eight rows in a tile") {
    struct image image = {.address = 4096,
                          .width = 100,
                          .height = 20,
                          .depth = 1,
                          .dimensions = 2,
                          .type = TEXEL_f32,
                          .channels = 1,
                          .tiled = true};
    struct error err = {0};
    REQUIRE(image_complete(&image, &err));
    CHECK_EQ(image_in_stream(&image, 0, 0, 0), 4096u);
    CHECK_EQ(image_in_stream(&image, 15, 0, 0), 4096u + 15);
    CHECK_EQ(image_in_stream(&image, 0, 1, 0), 4096u + 16);
    CHECK_EQ(image_in_stream(&image, 16, 0, 0), 4096u + 32);
    CHECK_EQ(image_in_stream(&image, 0, 2, 0), 4096u + 64);
    CHECK_EQ(image_in_stream(&image, 32, 0, 0), 4096u + 256);
    CHECK_EQ(image_in_stream(&image, 64, 0, 0), 4096u + 512);
    CHECK_EQ(image_in_stream(&image, 0, 8, 0), 4096u + 7 * 512);
    CHECK_EQ(image_bytes(&image), 7u * 3 * 512);
    /* Every texel has its own place within the image. */
    static uint8_t seen[7 * 3 * 512];
    memset(seen, 0, sizeof seen);
    for (uint32_t y = 0; y < 20; y++)
        for (uint32_t x = 0; x < 100; x++) CHECK_EQ(seen[image_in_stream(&image, 4 * x, y, 0) - 4096]++, 0u);
}

TEST("an image of one dimension may have 2^28 texels") {
    struct image image = {.width = 1 << 28, .height = 1, .depth = 1, .dimensions = 1, .type = TEXEL_f32, .channels = 4};
    struct error err = {0};
    CHECK(image_complete(&image, &err));
    CHECK_EQ(image_bytes(&image), UINT64_C(1) << 32);
    CHECK_EQ(image_in_stream(&image, 100, 0, 0), 100u);
}

/* ---- objects ---- */

TEST("an object is rejected if its image is invalid, beyond its allocation, or filtered as integers") {
    struct device device;
    device_init(&device);
    uint64_t memory = memory_allocate(&device.memory, 1024);
    struct {
        struct image image;
        struct sampler sampler;
        const char *why;
    } cases[] = {
        {{.width = 0, .height = 1, .depth = 1, .dimensions = 1, .channels = 1}, {0}, "width"},
        {{.width = 1, .height = 2, .depth = 1, .dimensions = 1, .channels = 1}, {0}, "height"},
        {{.width = 1, .height = 1, .depth = 1, .dimensions = 1, .channels = 3}, {0}, "channels, not 3"},
        {{.width = 1, .height = 1, .depth = 1, .dimensions = 4, .channels = 1}, {0}, "dimensions, not 4"},
        {{.width = 1, .height = 1, .depth = 1, .dimensions = 3, .channels = 1, .layers = 2}, {0}, "layered"},
        {{.width = 8, .height = 8, .depth = 1, .dimensions = 2, .channels = 1, .pitch_bytes = 7}, {0}, "a pitch of 7"},
        {{.width = 8, .height = 8, .depth = 8, .dimensions = 3, .channels = 1, .slice_bytes = 63}, {0}, "slices of 63"},
        {{.width = 1025, .height = 1, .depth = 1, .dimensions = 1, .channels = 1}, {0}, "not within one allocation"},
        {{.width = 32, .height = 9, .depth = 1, .dimensions = 2, .channels = 4, .tiled = true}, {0}, "not within"},
        {{.address = 16, .width = 1, .height = 8, .depth = 1, .dimensions = 2, .channels = 1, .tiled = true},
         {0},
         "multiple of 256"},
        {{.width = 1, .height = 1, .depth = 1, .dimensions = 1, .channels = 1},
         {.filter = TEXTURE_LINEAR},
         "linear filtering"},
        {{.width = 1, .height = 1, .depth = 1, .dimensions = 1, .channels = 1, .type = TEXEL_u32},
         {.normalized_values = true},
         "8 and 16 bits"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct error err = {0};
        cases[i].image.address += memory;
        CHECK_EQ(texture_create(&device, &cases[i].image, &cases[i].sampler, &err), 0u);
        if (!strstr(err.text, cases[i].why)) printf("    %zu: %s\n", i, err.text);
        CHECK(strstr(err.text, cases[i].why));
    }
    struct image good = line_of_floats;
    struct error err = {0};
    good.address = memory;
    uint64_t handle = surface_create(&device, &good, &err);
    CHECK(texture_find(&device, handle));
    CHECK(texture_destroy(&device, handle));
    CHECK(!texture_find(&device, handle));
    CHECK(!texture_destroy(&device, handle));
    CHECK(surface_create(&device, &good, &err) != handle);
    device_release(&device);
}

/* ---- instructions ---- */

TEST("tex samples at the coordinates of each lane") {
    struct textured t;
    REQUIRE(textured_load(&t, PTX_KERNEL(SAMPLE_2D), square_of_floats, &smooth));
    REQUIRE(run_loaded(&t.run, 1, 8));
    for (unsigned i = 1; i < 8; i++) CHECK(textured_out(&t)[i] == 2 * SIZE + (float)i - 0.5f);
    CHECK(textured_out(&t)[0] == 2 * SIZE);
    run_end(&t.run);
}

TEST("lanes may sample different textures, into the registers of their coordinates") {
    struct textured t;
    /* Odd lanes use the second texture, whose rows are half as long. */
    REQUIRE(textured_load(
        &t,
        PTX_KERNEL("and.b32 %r3, %r0, 1; cvt.u64.u32 %rd5, %r3; add.u64 %rd5, %rd1, %rd5;\n"
                   "shr.u32 %r4, %r0, 2; and.b32 %r5, %r0, 3;\n"
                   "tex.2d.v4.s32.s32 {%r5, %r4, _, _}, [%rd5, {%r5, %r4}];\n"
                   "add.u32 %r5, %r5, %r4; st.global.u32 [%rd2], %r5;"),
        (struct image){.width = 8, .height = 8, .depth = 1, .dimensions = 2, .type = TEXEL_s32, .channels = 1},
        &plain));
    int32_t *texel = (int32_t *)(void *)memory_at(&t.run.device.memory, t.memory, 64 * sizeof *texel);
    for (int i = 0; i < 64; i++) texel[i] = i;
    struct image half = {
        .address = t.memory, .width = 4, .height = 8, .depth = 1, .dimensions = 2, .type = TEXEL_s32, .channels = 1};
    REQUIRE(texture_create(&t.run.device, &half, &plain, &t.run.err) == t.run.in + 1);
    REQUIRE(run_loaded(&t.run, 1, 32));
    for (unsigned i = 0; i < 32; i++) CHECK_EQ(run_u32(&t.run)[i], i / 4 * (i % 2 ? 4 : 8) + i % 4);
    run_end(&t.run);
}

TEST("a texture whose memory has been freed is a fault") {
    struct textured t;
    REQUIRE(textured_load(&t, PTX_KERNEL(SAMPLE_2D), square_of_floats, &smooth));
    REQUIRE(memory_free(&t.run.device.memory, t.memory));
    CHECK(!run_loaded(&t.run, 1, 8));
    CHECK(strstr(t.run.err.text, "reads 4 bytes of global memory"));
    run_end(&t.run);
}

TEST("the level of detail and gradients have no effect on a texture with one level, and offsets move texels") {
    static const struct {
        const char *text;
        float value;
    } cases[] = {
        {"tex.level.2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%rd1, {%f0, %f0}], %f1;", 27},
        {"tex.base.2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%rd1, {%f0, %f0}];", 27},
        {"tex.grad.2d.v4.f32.f32 {%f2, _, _, _}, [%rd1, {%f0, %f0}], {%f1, %f1}, {%f1, %f0};", 27},
        {"tex.2d.v4.f32.f32 {%f2, _, _, _}, [%rd1, {%f0, %f0}], {%r3, 1};", 27 + 8 - 2},
        {"tex.level.2d.v4.f32.s32 {%f2, _, _, _}, [%rd1, {1, %r4}], %r4;", 41},
        {"tex.2d.v4.f32.f32 {%f2, %f3, %f4, %f5}|%p1, [%rd1, {%f0, %f0}]; @!%p1 mov.f32 %f2, 0f00000000;", 27},
        {"tld4.r.2d.v4.f32.f32 {%f3, _, _, %f2}, [%rd1, {%f0, %f0}];", 27},
        {"tld4.r.2d.v4.f32.f32 {%f2, _, _, _}, [%rd1, {%f0, %f0}];", 35},
        {"tld4.r.2d.v4.f32.f32 {_, %f2, _, _}, [%rd1, {%f0, %f0}];", 36},
        {"tld4.a.2d.v4.f32.f32 {_, _, %f2, _}, [%rd1, {%f0, %f0}];", 1},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct textured t;
        char text[4096];
        run_fill(text, sizeof text,
                 PTX_KERNEL("mov.f32 %f0, 0f40600000; mov.f32 %f1, 0f41200000; mov.u32 %r3, -2; mov.u32 %r4, 5; $"
                            " st.global.f32 [%rd2], %f2;"),
                 cases[i].text);
        REQUIRE(textured_load(&t, text, square_of_floats, &plain));
        CHECK(run_loaded(&t.run, 1, 1));
        if (textured_out(&t)[0] != cases[i].value)
            printf("    %s gives %f, %s\n", cases[i].text, (double)textured_out(&t)[0], t.run.err.text);
        CHECK(textured_out(&t)[0] == cases[i].value);
        run_end(&t.run);
    }
}

TEST("a reference of the module and a parameter of type .texref hold the handle of their texture") {
    static const char *const texts[] = {
        PTX_KERNEL_WITH(".global .texref t;",
                        "mov.f32 %f0, 0f40600000; tex.2d.v4.f32.f32 {%f2, _, _, _}, [t, {%f0, %f0}];"
                        " st.global.f32 [%rd2], %f2;"),
        PTX_KERNEL_WITH(".tex .u32 t;",
                        "mov.f32 %f0, 0f40600000; mov.u64 %rd5, t;\n"
                        "tex.2d.v4.f32.f32 {%f2, _, _, _}, [%rd5, {%f0, %f0}]; st.global.f32 [%rd2], %f2;"),
        PTX_HEADER ".visible .entry k(.param .u64 out, .param .texref t) { .reg .f32 %f<9>; .reg .b64 %rd<9>;\n"
                   "ld.param.u64 %rd2, [out]; mov.f32 %f0, 0f40600000;\n"
                   "tex.2d.v4.f32.f32 {%f2, _, _, _}, [t, {%f0, %f0}]; st.global.f32 [%rd2], %f2; ret; }",
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct textured t;
        REQUIRE(textured_load(&t, texts[i], square_of_floats, &plain));
        const struct program *program = loaded_program(t.run.loaded);
        if (i < 2) { /* unbound at first */
            CHECK(!run_loaded(&t.run, 1, 1));
            CHECK(strstr(t.run.err.text, "no texture or surface is bound"));
            t.run.err.set = false;
            REQUIRE(program->variable_count == 1 && program->variables[0].size_bytes == 8);
            memcpy(memory_at(&t.run.device.memory, program->variables[0].address, 8), &t.run.in, 8);
        }
        CHECK(run_loaded(&t.run, 1, 1));
        CHECK(textured_out(&t)[0] == 27);
        run_end(&t.run);
    }
}

TEST("txq, suq and istypep describe an object") {
    struct textured t;
    struct image image = {.width = 9, .height = 7, .depth = 1, .dimensions = 2, .type = TEXEL_u8, .channels = 4};
    struct sampler sampler = {.filter = TEXTURE_LINEAR,
                              .address = {TEXTURE_WRAP, TEXTURE_BORDER, TEXTURE_CLAMP},
                              .normalized_coordinates = true,
                              .normalized_values = true};
    REQUIRE(
        textured_load(&t,
                      PTX_KERNEL("txq.width.b32 %r3, [%rd1]; st.global.u32 [%rd0], %r3;\n"
                                 "txq.height.b32 %r3, [%rd1]; st.global.u32 [%rd0+4], %r3;\n"
                                 "txq.normalized_coords.b32 %r3, [%rd1]; st.global.u32 [%rd0+8], %r3;\n"
                                 "txq.filter_mode.b32 %r3, [%rd1]; st.global.u32 [%rd0+12], %r3;\n"
                                 "txq.addr_mode_0.b32 %r3, [%rd1]; st.global.u32 [%rd0+16], %r3;\n"
                                 "txq.addr_mode_1.b32 %r3, [%rd1]; st.global.u32 [%rd0+20], %r3;\n"
                                 "txq.channel_data_type.b32 %r3, [%rd1]; st.global.u32 [%rd0+24], %r3;\n"
                                 "txq.channel_order.b32 %r3, [%rd1]; st.global.u32 [%rd0+28], %r3;\n"
                                 "txq.level.width.b32 %r3, [%rd1], 0; st.global.u32 [%rd0+32], %r3;\n"
                                 "txq.num_mipmap_levels.b32 %r3, [%rd1]; st.global.u32 [%rd0+36], %r3;\n"
                                 "istypep.texref %p1, %rd1; selp.u32 %r3, 1, 0, %p1; st.global.u32 [%rd0+40], %r3;\n"
                                 "istypep.surfref %p1, %rd1; selp.u32 %r3, 1, 0, %p1; st.global.u32 [%rd0+44], %r3;\n"
                                 "istypep.texref %p1, %rd0; selp.u32 %r3, 1, 0, %p1; st.global.u32 [%rd0+48], %r3;"),
                      image, &sampler));
    REQUIRE(run_loaded(&t.run, 1, 1));
    static const uint32_t wanted[] = {9, 7, 1, 1, 0, 4, 0x10D2, 0x10B5, 9, 1, 1, 0, 0};
    for (size_t i = 0; i < COUNT_OF(wanted); i++) CHECK_EQ(run_u32(&t.run)[i], wanted[i]);
    run_end(&t.run);
    REQUIRE(textured_load(&t,
                          PTX_KERNEL("suq.width.b32 %r3, [%rd1]; st.global.u32 [%rd0], %r3;\n"
                                     "suq.memory_layout.b32 %r3, [%rd1]; st.global.u32 [%rd0+4], %r3;"),
                          image, NULL));
    REQUIRE(run_loaded(&t.run, 1, 1));
    CHECK_EQ(run_u32(&t.run)[0], 9u);
    CHECK_EQ(run_u32(&t.run)[1], 1u);
    run_end(&t.run);
}

/* ---- surfaces ---- */

TEST("a surface is loaded and stored at byte offsets, with each boundary mode") {
    static const struct {
        const char *text;
        float value;
        const char *fault;
    } cases[] = {
        {"suld.b.2d.b32.trap {%r5}, [%rd1, {12, 2}];", 19, NULL},
        {"suld.b.2d.b32.clamp %r5, [%rd1, {400, -1}];", 7, NULL},
        {"suld.b.2d.b32.zero {%r5}, [%rd1, {32, 2}];", 0, NULL},
        {"suld.b.2d.b32.trap {%r5}, [%rd1, {32, 2}];", 0,
         "(32 bytes, 2, 0) is outside the surface of 32 bytes x 8 rows"},
        {"suld.b.2d.b32 {%r5}, [%rd1, {0, 8}];", 0, "is outside the surface"},
        {"suld.b.2d.b32.zero {%r5}, [%rd1, {2, 0}];", 0, "byte offset 2 in a row is not a multiple of the 4 bytes"},
        {"suld.b.2d.v2.b32.clamp {_, %r5}, [%rd1, {1000, 1000}];", 63, NULL},
        {"suld.b.2d.v4.b8.trap {%h0, %h1, %h2, %h3}, [%rd1, {4, 0}]; cvt.u32.u16 %r5, %h3;"
         "shl.b32 %r5, %r5, 24; cvt.u32.u16 %r6, %h2; shl.b32 %r6, %r6, 16; or.b32 %r5, %r5, %r6;",
         1, NULL},
        {"suld.b.2d.b64.trap {%rd5}, [%rd1, {8, 0}]; shr.u64 %rd5, %rd5, 32; cvt.u32.u64 %r5, %rd5;", 3, NULL},
        {"sust.b.2d.b32.trap [%rd1, {4, 4}], {0f41100000}; suld.b.2d.b32.trap {%r5}, [%rd1, {4, 4}];", 9, NULL},
        {"sust.b.2d.b32.zero [%rd1, {32, 4}], {0f41100000}; suld.b.2d.b32.trap {%r5}, [%rd1, {0, 5}];", 40, NULL},
        {"sust.b.2d.b32.clamp [%rd1, {32, 4}], {0f41100000}; suld.b.2d.b32.trap {%r5}, [%rd1, {28, 4}];", 9, NULL},
        {"sust.b.2d.b32.trap [%rd1, {32, 4}], {0f41100000};", 0, "is outside the surface"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct textured t;
        char text[4096];
        run_fill(text, sizeof text, PTX_KERNEL("mov.u32 %r5, 0; $ st.global.b32 [%rd2], %r5;"), cases[i].text);
        REQUIRE(textured_load(&t, text, square_of_floats, NULL));
        bool ran = run_loaded(&t.run, 1, 1);
        CHECK_EQ(ran, cases[i].fault == NULL);
        if (ran && textured_out(&t)[0] != cases[i].value)
            printf("    %s gives %f\n", cases[i].text, (double)textured_out(&t)[0]);
        if (ran) CHECK(textured_out(&t)[0] == cases[i].value);
        if (!ran && !strstr(t.run.err.text, cases[i].fault)) printf("    %s\n", t.run.err.text);
        if (!ran) CHECK(strstr(t.run.err.text, cases[i].fault));
        run_end(&t.run);
    }
}

TEST("a wrong object is a fault that states what is wrong") {
    static const struct {
        const char *text;
        bool surface;
        const char *fault;
    } cases[] = {
        {"tex.1d.v4.f32.f32 {%f2, _, _, _}, [%rd1, {%f0}];", false, "2 dimensions"},
        {"tex.a2d.v4.f32.f32 {%f2, _, _, _}, [%rd1, {%r0, %f0, %f0, %f0}];", false, "0 layers"},
        {"tex.2d.v4.u32.f32 {%r2, _, _, _}, [%rd1, {%f0, %f0}];", false, "read as floating-point numbers"},
        {"tex.2d.v4.f32.f32 {%f2, _, _, _}, [%rd1, {%f0, %f0}];", true, "is a surface, not a texture"},
        {"suld.b.2d.b32.trap {%r5}, [%rd1, {0, 0}];", false, "is a texture, not a surface"},
        {"add.u64 %rd1, %rd1, 1; txq.width.b32 %r3, [%rd1];", false, "there is no texture or surface object"},
        {"txq.width.b32 %r3, [%rd1];", true, "the object is a surface"},
        {"tex.2d.v4.f32.f32 {%f2, _, _, _}, [%rd0, {%f0, %f0}];", false, "no texture or surface is bound"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct textured t;
        char text[4096];
        run_fill(text, sizeof text, PTX_KERNEL("mov.f32 %f0, 0f3F000000; $"), cases[i].text);
        REQUIRE(textured_load(&t, text, square_of_floats, cases[i].surface ? NULL : &plain));
        CHECK(!run_loaded(&t.run, 1, 1));
        if (!strstr(t.run.err.text, cases[i].fault)) printf("    %s\n", t.run.err.text);
        CHECK(strstr(t.run.err.text, cases[i].fault));
        run_end(&t.run);
    }
}

/* ---- what is not supported ---- */

TEST("unsupported texture instructions are rejected by name") {
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"tex.cube.v4.f32.f32 {%f2, _, _, _}, [%rd1, {%f0, %f0, %f0, %f0}];", "tex.cube.v4.f32.f32"},
        {"tex.2dms.v4.f32.s32 {%f2, _, _, _}, [%rd1, {%r0, %r0, %r0, %r0}];", "tex.2dms.v4.f32.s32"},
        {"sust.p.2d.b32.trap [%rd1, {%r0, %r0}], {%r0};", "sust.p.2d.b32.trap"},
        {"sured.b.add.2d.u32.trap [%rd1, {%r0, %r0}], %r0;", "sured.b.add.2d.u32.trap"},
        {"txq.num_samples.b32 %r3, [%rd1];", "txq.num_samples.b32"},
        {"tex.2d.v4.f32.f32 {%f2, _, _, _}, [%rd1, %rd0, {%f0, %f0}];", "separate samplers are not supported"},
        {"tex.2d.v4.f32.f32 {%f2, _, _, _}, [%rd1, {%f0, %f0}], %f0;", "depth comparison is not supported"},
        {"tex.2d.v4.f32.f32 {%f2, _, _, _}, [%rd1, {%f0}];", "expected 2 coordinates, not 1"},
        {"tex.2d.v4.f32.f32 {%f2, _, _, _}, [%rd1];", "expected coordinates"},
        {"tex.2d.v4.f32.f32 {%f2, _, _}, [%rd1, {%f0, %f0}];", "expected 4 elements"},
        {"tex.level.2d.v4.f32.f32 {%f2, _, _, _}, [%rd1, {%f0, %f0}];", "expected a level of detail"},
        {"suld.b.2d.v4.b64.trap {%rd3, %rd4, %rd5, %rd6}, [%rd1, {%r0, %r0}];", "at most 16 bytes"},
        {"tex.2d.v4.f32.f32 {%f2, _, _, _}, [%rd1+8, {%f0, %f0}];", "a texture has no offset"},
        {"tex.2d.v4.f32.f32 {%f2, _, _, _}, [in, {%f0, %f0}];", "`in` is not a .texref"},
        {"txq.width.b32 %r3, [%rd1, {%r0}];", "found ','"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[4096];
        struct error err = {0};
        run_fill(text, sizeof text, PTX_KERNEL("$"), cases[i].text);
        struct device device;
        device_init(&device);
        struct ptx_module *module = ptx_parse("test.ptx", text, strlen(text), &err);
        struct loaded_module *loaded = module ? device_load(&device, module, &err) : NULL;
        const struct program *program = loaded ? loaded_program(loaded) : NULL;
        CHECK(!program || !program_executable(program, program_kernel(program, "k"), &err));
        if (!strstr(err.text, cases[i].why)) printf("    %s\n", err.text);
        CHECK(strstr(err.text, cases[i].why));
        if (loaded) device_unload(&device, loaded);
        device_release(&device);
    }
}
