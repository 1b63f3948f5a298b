/* Textures of launch files: the meaning of each key, and the errors of invalid ones. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "host/launch_file.h"
#include "test.h"

/* sample: out[i] = texture at (i + 0.5); fetch: the same of the references `t`; put: surface[i] = i. */
static const char ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.global .texref t; .global .surfref s;\n"
    ".visible .entry sample(.param .u64 out, .param .u64 image) {\n"
    ".reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .f32 %f<9>;\n"
    "ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [image]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4;\n"
    "add.s64 %rd1, %rd1, %rd3; cvt.rn.f32.u32 %f1, %r1; add.f32 %f1, %f1, 0f3F000000; mov.f32 %f2, 0f3FC00000;\n"
    "tex.2d.v4.f32.f32 {%f3, _, _, _}, [%rd2, {%f1, %f2}]; st.global.f32 [%rd1], %f3; ret; }\n"
    ".visible .entry fetch(.param .u64 out) {\n.reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .f32 %f<9>;\n"
    "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd1, %rd1, %rd3;\n"
    "tex.1d.v4.f32.s32 {%f3, _, _, _}, [t, {%r1}]; st.global.f32 [%rd1], %f3; ret; }\n"
    ".visible .entry put(.param .u64 image) {\n.reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .f32 %f<9>;\n"
    "ld.param.u64 %rd1, [image]; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; cvt.rn.f32.u32 %f1, %r1;\n"
    "sust.b.2d.b32.trap [%rd1, {%r2, 1}], {%f1}; ret; }\n";

static char folder[] = "/tmp/sluice-texture-XXXXXX";

static char *put_file(const char *name, const char *content) {
    char *path = text_format("%s/%s", folder, name);
    FILE *out = fopen(path, "w");
    REQUIRE(out);
    fputs(content, out);
    REQUIRE(fclose(out) == 0);
    return path;
}

static struct launch_file *open_text(const char *text, struct error *err) {
    memset(folder + strlen(folder) - 6, 'X', 6);
    REQUIRE(mkdtemp(folder));
    char *module = put_file("a.ptx", ptx), *whole = text_format("ptx: a.ptx\n%s", text),
         *path = put_file("a.yaml", whole);
    struct launch_file *file = launch_file_open(path, NULL, err);
    unlink(module);
    unlink(path);
    rmdir(folder);
    free(module);
    free(whole);
    free(path);
    return file;
}

/* The first dump of the file after its run. */
static void run_text(const char *text, float *to, size_t bytes) {
    struct error err = {0};
    struct launch_file *file = open_text(text, &err);
    if (!file) printf("    %s\n", err.text);
    REQUIRE(file);
    struct stream_source *source = launch_file_source(file);
    struct kernel kernel;
    struct launch_dump dump;
    while (source->ops->next_kernel(source, &kernel)) {
        struct warp_stream stream = {0};
        source->ops->open(source, &stream);
        do source->ops->refill(source, &stream);
        while (stream.count > 0);
    }
    const char *failure = source->ops->failure(source);
    if (failure) printf("    %s\n", failure);
    CHECK(!failure);
    REQUIRE(launch_file_dump(file, source, 0, &dump) && dump.content && dump.size_bytes == bytes);
    memcpy(to, dump.content, bytes);
    source->ops->destroy(source);
    launch_file_close(file);
}

#define BUFFERS \
    "buffers:\n  - {name: out, bytes: 32, dump: out.bin}\n" \
    "  - {name: pixels, bytes: 1024, fill: {kind: iota, type: f32}}\n"
#define SAMPLE "launches:\n  - {kernel: sample, grid: [1], block: [8], args: [{buffer: out}, {texture: image}]}\n"

TEST("a texture is a view of a buffer with a size, a pitch and an offset") {
    float out[8];
    run_text(BUFFERS "textures:\n  - {name: image, buffer: pixels, size: [6, 4], type: f32}\n" SAMPLE, out, sizeof out);
    for (int i = 0; i < 8; i++) CHECK(out[i] == (float)(6 + (i < 6 ? i : 5))); /* clamp is the default */
    run_text(BUFFERS "textures:\n  - {name: image, buffer: pixels, offset: 40, pitch: 64, size: [6, 4], type: f32,"
                     " address: border}\n" SAMPLE,
             out, sizeof out);
    for (int i = 0; i < 8; i++) CHECK(out[i] == (i < 6 ? (float)(10 + 16 + i) : 0));
}

TEST("the sampler of a texture has a filter, address modes and normalised coordinates and values") {
    float out[8];
    run_text(BUFFERS "textures:\n  - {name: image, buffer: pixels, size: [8, 4], type: f32, filter: linear,"
                     " normalized_coordinates: true, address: [wrap, mirror]}\n" SAMPLE,
             out, sizeof out);
    /* x = i + 0.5 of the whole image: between texels 3 and 4; y = 1.5 of it, mirrored: between rows 1 and 2. */
    for (int i = 0; i < 8; i++) CHECK(out[i] == 1.5f * 8 + 3.5f);
    run_text("buffers:\n  - {name: out, bytes: 32, dump: out.bin}\n"
             "  - {name: pixels, bytes: 64, fill: {kind: iota, type: u8, step: 17}}\n"
             "textures:\n  - {name: image, buffer: pixels, size: [16, 2], type: u8, channels: 2,"
             " normalized_values: true}\n" SAMPLE,
             out, sizeof out);
    for (int i = 0; i < 8; i++) CHECK(out[i] == (float)((32 + 2 * i) * 17 % 256) / 255);
}

TEST("an array is filled and dumped row by row, whatever its layout") {
    float out[8];
    run_text(BUFFERS "textures:\n  - {name: image, buffer: pixels, layout: array, size: [9, 5], type: f32}\n" SAMPLE,
             out, sizeof out);
    for (int i = 0; i < 8; i++) CHECK(out[i] == (float)(9 + i));
    float written[45];
    run_text("buffers:\n  - {name: pixels, bytes: 180, dump: out.bin}\n"
             "textures:\n  - {name: image, buffer: pixels, layout: array, size: [9, 5], type: f32}\n"
             "launches:\n  - {kernel: put, grid: [1], block: [9], args: [{surface: image}]}\n",
             written, sizeof written);
    for (int i = 0; i < 45; i++) CHECK(written[i] == (i >= 9 && i < 18 ? (float)(i - 9) : 0));
}

TEST("a reference of the module is bound by its name") {
    float out[8];
    run_text(BUFFERS "textures:\n  - {name: line, buffer: pixels, offset: 16, size: [8], type: f32, reference: t}\n"
                     "launches:\n  - {kernel: fetch, grid: [1], block: [8], args: [{buffer: out}]}\n",
             out, sizeof out);
    for (int i = 0; i < 8; i++) CHECK(out[i] == (float)(4 + i));
}

TEST("an invalid texture is an error with its location") {
    static const struct {
        const char *texture, *launch, *why;
    } cases[] = {
        {"{name: image, buffer: pixels, type: f32}", SAMPLE,
         "a.yaml:6:5: a texture requires name, buffer, size and type"},
        {"{name: image, buffer: pixel, size: [4], type: f32}", SAMPLE, "a.yaml:6:27: there is no buffer 'pixel'"},
        {"{name: image, buffer: pixels, size: [4], type: f64}", SAMPLE, "type of channels"},
        {"{name: image, buffer: pixels, size: [16, 17], type: f32}", SAMPLE,
         "texture image needs 1088 bytes, but buffer pixels has 1024"},
        {"{name: image, buffer: pixels, size: [4], type: f32, channels: 3}", SAMPLE, "1, 2 or 4 channels, not 3"},
        {"{name: image, buffer: pixels, size: [4, 4, 4], type: f32, layers: 2}", SAMPLE, "a layered image"},
        {"{name: image, buffer: pixels, size: [4], type: f32, pitch: 5}", SAMPLE, "a pitch of 5 bytes"},
        {"{name: image, buffer: pixels, size: [4], type: f32, offset: 2}", SAMPLE, "must be a multiple of 4"},
        {"{name: image, buffer: pixels, size: [4], type: u8, filter: linear}", SAMPLE, "linear filtering requires"},
        {"{name: image, buffer: pixels, size: [4], type: u32, normalized_values: true}", SAMPLE, "8 and 16 bits"},
        {"{name: image, buffer: pixels, size: [4], type: f32, address: repeat}", SAMPLE, "address mode"},
        {"{name: image, buffer: pixels, size: [4], type: f32, address: [wrap, wrap, wrap, wrap]}", SAMPLE,
         "at most three modes"},
        {"{name: image, buffer: pixels, size: [4], type: f32, reference: tt}", SAMPLE,
         "the module has no .texref or .surfref 'tt'; did you mean 't'?"},
        {"{name: img, buffer: pixels, size: [4], type: f32}", SAMPLE,
         "there is no texture 'image'; did you mean 'img'?"},
        {"{name: image, buffer: out, layout: array, size: [8], type: f32}", SAMPLE, "buffer out is an array"},
        {"{name: image, buffer: pixels, size: [4], type: f32}\n  - {name: image, buffer: pixels, size: [4], type: f32}",
         SAMPLE, "a.yaml:7:12: there are two textures named 'image'"},
        {"{name: image, buffer: pixels, size: [4], type: f32}\n"
         "  - {name: b, buffer: pixels, size: [4], type: f32, layout: array}",
         SAMPLE, "textures b and image have different layouts of buffer pixels"},
        {"{name: image, buffer: pixels, size: [4], type: f32, mips: 2}", SAMPLE, "mips"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct error err = {0};
        char *text = text_format(BUFFERS "textures:\n  - %s\n%s", cases[i].texture, cases[i].launch);
        struct launch_file *file = open_text(text, &err);
        CHECK(!file);
        CHECK_TEXT(err.text, cases[i].why);
        if (file) launch_file_close(file);
        free(text);
    }
}
