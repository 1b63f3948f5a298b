/* The stream records of texture and surface instructions: touched blocks, parts, promises. */
#include "emu/textured.h"

/* The stream of a kernel of one warp; the texture's memory follows the two buffers of the run. */
static bool textured_trace(struct textured *t, const char *text, struct image image, const struct sampler *sampler,
                           uint32_t threads, struct run_stream *stream) {
    if (!textured_load(t, text, image, sampler)) return false;
    return run_trace_loaded(&t->run, 1, threads, 0, 0, stream);
}

static unsigned loads_of(const struct run_stream *stream) {
    unsigned count = 0;
    for (unsigned i = 0; i < stream->count; i++)
        count += stream->instr[i].op == OP_load && stream->instr[i].space == SPACE_GLOBAL;
    return count;
}

TEST("a texture access is recorded as a read-only load of the texels of its lanes") {
    static struct run_stream stream;
    struct textured t;
    REQUIRE(textured_trace(&t, PTX_KERNEL(SAMPLE_2D), square_of_floats, &plain, 8, &stream));
    const struct instr *load = stream_find(&stream, OP_load, 2); /* after those of the parameters */
    REQUIRE(load);
    CHECK_EQ(load->flags, (unsigned)(INSTR_READ_ONLY | INSTR_NONCOHERENT));
    CHECK_EQ(load->space, (unsigned)SPACE_GLOBAL);
    CHECK_EQ(load->active, 0xFFu);
    REQUIRE(load->count == 1);
    CHECK_EQ(stream.touch[load - stream.instr][0], touch_make(t.memory, 1 << 2)); /* row 2: 32 bytes from 64 on */
    run_end(&t.run);
    /* Linear filtering half way between the rows 1 and 2. */
    REQUIRE(textured_trace(&t,
                           PTX_KERNEL("cvt.rn.f32.u32 %f0, %r0; mov.f32 %f1, 0f40000000;\n"
                                      "tex.2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%rd1, {%f0, %f1}];"),
                           square_of_floats, &smooth, 8, &stream));
    load = stream_find(&stream, OP_load, 2);
    REQUIRE(load && load->count == 1);
    CHECK_EQ(stream.touch[load - stream.instr][0], touch_make(t.memory, 3 << 1));
    run_end(&t.run);
}

TEST("a tiled image keeps a footprint of two rows in one sector") {
    static struct run_stream stream;
    struct textured t;
    struct image image = {
        .width = 64, .height = 64, .depth = 1, .dimensions = 2, .type = TEXEL_f32, .channels = 1, .tiled = true};
    static const char text[] = PTX_KERNEL("mov.f32 %f0, 0f40000000; mov.f32 %f1, 0f40400000;\n" /* (2, 3) */
                                          "tex.2d.v4.f32.f32 {%f2, _, _, _}, [%rd1, {%f0, %f1}];"
                                          " st.global.f32 [%rd2], %f2;");
    REQUIRE(textured_trace(&t, text, image, &smooth, 1, &stream));
    const struct instr *load = stream_find(&stream, OP_load, 2);
    REQUIRE(load && load->count == 1);
    CHECK_EQ(stream.touch[load - stream.instr][0], touch_make(t.memory, 1 << 2)); /* rows 2 and 3, texels 1 and 2 */
    CHECK(textured_out(&t)[0] == 64 * 2.5f + 1.5f);
    run_end(&t.run);
    image.tiled = false;
    REQUIRE(textured_trace(&t, text, image, &smooth, 1, &stream));
    load = stream_find(&stream, OP_load, 2);
    REQUIRE(load && load->count == 2); /* rows are 256 bytes apart */
    run_end(&t.run);
}

TEST("an access with more than 32 blocks is recorded in parts: other lanes in each, the results in the last") {
    static struct run_stream stream;
    struct textured t;
    /* A row of 256 bytes for each of 128 y: each lane has four blocks, two of them also the next lane's. */
    struct image image = {.width = 64, .height = 128, .depth = 1, .dimensions = 2, .type = TEXEL_f32, .channels = 1};
    REQUIRE(
        textured_trace(&t,
                       PTX_KERNEL("cvt.rn.f32.u32 %f0, %r0; mul.f32 %f0, %f0, 0f40000000; mov.f32 %f1, 0f40000000;\n"
                                  "add.f32 %f0, %f0, 0f3F800000;\n"
                                  "tex.2d.v4.f32.f32 {%f2, _, _, _}, [%rd1, {%f1, %f0}]; st.global.f32 [%rd2], %f2;"),
                       image, &smooth, 32, &stream));
    CHECK_EQ(loads_of(&stream), 2u);
    uint32_t lanes = 0;
    unsigned blocks = 0;
    for (unsigned i = 0; i < 2; i++) {
        const struct instr *load = stream_find(&stream, OP_load, 2 + i);
        REQUIRE(load && load->count <= 32);
        CHECK_EQ(lanes & load->active, 0u);
        CHECK_EQ(load->dst[0] != 0, i == 1);
        CHECK_EQ(load->id, stream_find(&stream, OP_load, 2)->id);
        lanes |= load->active;
        blocks += load->count;
        for (unsigned k = 1; k < load->count; k++)
            CHECK(stream.touch[load - stream.instr][k] > stream.touch[load - stream.instr][k - 1]);
    }
    CHECK_EQ(lanes, UINT32_MAX);
    CHECK_EQ(blocks, 64u);
    for (unsigned i = 0; i < 32; i++) CHECK(textured_out(&t)[i] == 64 * (2 * (float)i + 0.5f) + 1.5f);
    run_end(&t.run);
}

TEST("an access to several textures is one record of the texels of all lanes") {
    static struct run_stream stream;
    struct textured t;
    REQUIRE(textured_load(&t,
                          PTX_KERNEL("and.b32 %r3, %r0, 1; cvt.u64.u32 %rd5, %r3; add.u64 %rd5, %rd1, %rd5;\n"
                                     "mov.f32 %f0, 0f3F000000; tex.2d.v4.f32.f32 {%f2, _, _, _}, [%rd5, {%f0, %f0}];"),
                          square_of_floats, &plain));
    struct image other = square_of_floats;
    other.address = t.memory + 1024;
    REQUIRE(texture_create(&t.run.device, &other, &plain, &t.run.err) == t.run.in + 1);
    REQUIRE(run_trace_loaded(&t.run, 1, 32, 0, 0, &stream));
    CHECK_EQ(loads_of(&stream), 1u);
    const struct instr *load = stream_find(&stream, OP_load, 2);
    REQUIRE(load && load->count == 2);
    CHECK_EQ(load->active, UINT32_MAX);
    CHECK_EQ(stream.touch[load - stream.instr][0], touch_make(t.memory, 1));
    CHECK_EQ(stream.touch[load - stream.instr][1], touch_make(t.memory + 1024, 1));
    run_end(&t.run);
}

TEST("an access outside the image touches nothing and is no load") {
    static struct run_stream stream;
    struct textured t;
    struct sampler sampler = {.address = {TEXTURE_BORDER, TEXTURE_BORDER, TEXTURE_BORDER},
                              .border = {0x40E00000, 0, 0, 0}};
    REQUIRE(textured_trace(&t,
                           PTX_KERNEL("mov.f32 %f0, 0fBF800000; tex.2d.v4.f32.f32 {%f2, _, _, _}, [%rd1, {%f0, %f0}];"
                                      " st.global.f32 [%rd2], %f2;"),
                           square_of_floats, &sampler, 32, &stream));
    CHECK_EQ(loads_of(&stream), 0u);
    CHECK(textured_out(&t)[31] == 7);
    run_end(&t.run);
}

TEST("a surface store is recorded like a store to global memory, in the layout of the image") {
    static struct run_stream stream;
    struct textured t;
    struct image image = {
        .width = 64, .height = 16, .depth = 1, .dimensions = 2, .type = TEXEL_f32, .channels = 1, .tiled = true};
    REQUIRE(textured_trace(&t,
                           PTX_KERNEL("and.b32 %r3, %r0, 3; shl.b32 %r3, %r3, 2; shr.u32 %r4, %r0, 2;\n"
                                      "sust.b.2d.b32.zero [%rd1, {%r3, %r4}], {%r0};\n" /* 16 bytes of 8 rows */
                                      "add.u32 %r4, %r4, 16; sust.b.2d.b32.zero [%rd1, {%r3, %r4}], {%r0};"),
                           image, NULL, 32, &stream));
    const struct instr *store = stream_find(&stream, OP_store, 0);
    REQUIRE(store && store->count == 1);
    CHECK_EQ(stream.touch[store - stream.instr][0], touch_make(t.memory, 0x55));
    CHECK_EQ(store->flags, 0u); /* no sector is partial */
    CHECK(!stream_find(&stream, OP_store, 1));
    uint32_t *memory = (uint32_t *)(void *)memory_at(&t.run.device.memory, t.memory, 64 * 16 * 4);
    CHECK_EQ(memory[7 * 64 + 3], 31u);
    run_end(&t.run);
}

TEST("a kernel that samples what it stores to a surface violates the promise of read-only data") {
    static struct run_stream stream;
    struct textured t;
    /* The surface object has the next handle. */
    static const char text[] = PTX_KERNEL("mov.f32 %f0, 0f3F000000; add.u64 %rd5, %rd1, 1;\n"
                                          "tex.2d.v4.f32.f32 {%f2, _, _, _}, [%rd1, {%f0, %f0}];\n"
                                          "sust.b.2d.b32.zero [%rd5, {$, 0}], {%r0};");
    for (unsigned inside = 0; inside < 2; inside++) {
        char with[4096];
        run_fill(with, sizeof with, text, inside ? "0" : "32");
        REQUIRE(textured_load(&t, with, square_of_floats, &plain));
        struct image image = square_of_floats;
        image.address = t.memory;
        REQUIRE(surface_create(&t.run.device, &image, &t.run.err) == t.run.in + 1);
        REQUIRE(run_trace_loaded(&t.run, 1, 1, 0, 0, &stream));
        CHECK_EQ(t.run.counts.read_only_violations, inside);
        run_end(&t.run);
    }
}
