/* Kernels with a texture or surface of floats, whose handle is their second parameter. */
#ifndef SLUICE_TESTS_EMU_TEXTURED_H
#define SLUICE_TESTS_EMU_TEXTURED_H

#include "emu/run_ptx.h"

enum { SIZE = 8 };

static const struct image line_of_floats = {
    .width = SIZE, .height = 1, .depth = 1, .dimensions = 1, .type = TEXEL_f32, .channels = 1};
static const struct image square_of_floats = {
    .width = SIZE, .height = SIZE, .depth = 1, .dimensions = 2, .type = TEXEL_f32, .channels = 1};

/* An 8 x 8 texture (or surface) of floats 0, 1, 2, ...; its handle is parameter `in` of the kernel. */
struct textured {
    struct ptx_run run;
    uint64_t memory;
};

static inline bool textured_load(struct textured *t, const char *text, struct image image,
                                 const struct sampler *sampler) {
    if (!run_load(&t->run, text)) return false;
    t->memory = memory_allocate(&t->run.device.memory, 1 << 16);
    float *texel = (float *)(void *)memory_at(&t->run.device.memory, t->memory, 1 << 16);
    for (unsigned i = 0; i < (1 << 16) / sizeof *texel; i++) texel[i] = (float)i;
    image.address = t->memory;
    t->run.in = sampler ? texture_create(&t->run.device, &image, sampler, &t->run.err)
                        : surface_create(&t->run.device, &image, &t->run.err);
    return t->run.in;
}

static inline float *textured_out(struct textured *t) { return (float *)(void *)run_u32(&t->run); }

static const struct sampler plain = {.address = {TEXTURE_CLAMP, TEXTURE_CLAMP, TEXTURE_CLAMP}};
static const struct sampler smooth = {.filter = TEXTURE_LINEAR,
                                      .address = {TEXTURE_CLAMP, TEXTURE_CLAMP, TEXTURE_CLAMP}};

#define SAMPLE_2D \
    "cvt.rn.f32.u32 %f0, %r0; mov.f32 %f1, 0f40200000;\n" \
    "tex.2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%rd1, {%f0, %f1}]; st.global.f32 [%rd2], %f2;"

#endif
