/* Sampling of textures: "CUDA C++ Programming Guide" 13.0, Texture Fetching.
 *
 * A normalised coordinate is multiplied by the image's size; the product is exact in a double. Nearest filtering takes
 * texel floor(x). Linear filtering takes floor(x - 0.5) and the next texel in each dimension, with weights of 8 bits:
 * x - 0.5 is rounded to the nearest multiple of 2^-8, halves up. The manual gives the format of the weights, 9 bits with
 * 8 of fraction, and not the rounding; a fraction that rounds to 1.0 is texel i + 1 alone in both formulations.
 *
 * Address modes apply to the number of a texel: wrap takes it modulo the size, mirror reflects every second period, clamp
 * takes the nearest texel of the image, border the border's value. (The manual applies them to the coordinate, which
 * differs for mirror at the edges of texels.)
 *
 * Texels are converted to f32 first. Products of weights and texels are exact in a double; they are added there, x
 * fastest, then y and z, and the sum is rounded to f32 once. The manual does not specify the precision of the sum.
 * A texel with a weight of zero is neither read nor added. */
#include <math.h>
#include <string.h>

#include "emu/real.h"
#include "emu/texture.h"

enum { WEIGHT_BITS = 8, WEIGHT_ONE = 1 << WEIGHT_BITS };

/* The one or two texels of a dimension. */
struct axis {
    unsigned count;
    bool outside[2];
    uint32_t at[2], weight[2];
};

/* Far beyond any image, and small enough for sums. */
#define FAR INT64_C(0x3fffffffffff)

static int64_t floor_of(double x) {
    if (x != x) return 0; /* a NaN is 0 */
    return x < -(double)FAR ? -FAR : x > (double)FAR ? FAR : (int64_t)floor(x);
}

/* x - 0.5 in units of 2^-8, rounded to nearest, halves up: floor(256 x - 127.5), without rounding in between. */
static int64_t fixed_of(double x) { return (floor_of(x * (2 * WEIGHT_ONE)) - (WEIGHT_ONE - 1)) >> 1; }

static uint32_t remainder_of(int64_t i, int64_t period) {
    int64_t rest = i % period;
    return (uint32_t)(rest < 0 ? rest + period : rest);
}

static void axis_add(struct axis *axis, int64_t i, uint32_t size, enum texture_address mode, uint32_t weight) {
    if (!weight) return;
    unsigned k = axis->count++;
    bool inside = i >= 0 && i < size;
    axis->weight[k] = weight;
    axis->outside[k] = mode == TEXTURE_BORDER && !inside;
    if (inside)
        axis->at[k] = (uint32_t)i;
    else if (mode == TEXTURE_WRAP)
        axis->at[k] = remainder_of(i, size);
    else if (mode == TEXTURE_MIRROR) {
        uint32_t rest = remainder_of(i, 2 * (int64_t)size);
        axis->at[k] = rest < size ? rest : 2 * size - 1 - rest;
    } else
        axis->at[k] = i < 0 ? 0 : size - 1;
}

static uint32_t size_of(const struct image *image, unsigned axis) {
    return axis == 0 ? image->width : axis == 1 ? image->height : image->depth;
}

static struct axis axis_sample(const struct texture *texture, unsigned axis, float coordinate, int32_t offset) {
    const struct sampler *sampler = &texture->sampler;
    uint32_t size = size_of(&texture->image, axis);
    double x = (double)coordinate * (sampler->normalized_coordinates ? size : 1);
    struct axis found = {0};
    if (sampler->filter == TEXTURE_NEAREST) {
        axis_add(&found, floor_of(x) + offset, size, sampler->address[axis], 1);
        return found;
    }
    int64_t fixed = fixed_of(x), i = fixed >> WEIGHT_BITS;
    uint32_t beyond = (uint32_t)(fixed & (WEIGHT_ONE - 1));
    axis_add(&found, i + offset, size, sampler->address[axis], WEIGHT_ONE - beyond);
    axis_add(&found, i + 1 + offset, size, sampler->address[axis], beyond);
    return found;
}

/* All combinations of the texels of the dimensions. */
static void combine(const struct image *image, const struct axis axis[3], uint32_t layer, struct footprint *footprint) {
    footprint->count = 0;
    footprint->axes = image->dimensions;
    for (unsigned z = 0; z < axis[2].count; z++)
        for (unsigned y = 0; y < axis[1].count; y++)
            for (unsigned x = 0; x < axis[0].count; x++) {
                unsigned k = footprint->count++;
                footprint->texel[k].outside = axis[0].outside[x] || axis[1].outside[y] || axis[2].outside[z];
                footprint->texel[k].at[0] = axis[0].at[x];
                footprint->texel[k].at[1] = axis[1].at[y];
                footprint->texel[k].at[2] = image->layers ? layer : axis[2].at[z];
                footprint->texel[k].weight = axis[0].weight[x] * axis[1].weight[y] * axis[2].weight[z];
            }
}

static uint32_t layer_of(const struct image *image, uint32_t layer) {
    return layer < image->layers ? layer : image->layers ? image->layers - 1 : 0;
}

void footprint_sample(const struct texture *texture, const float *coordinate, uint32_t layer, const int32_t *offset,
                      struct footprint *footprint) {
    struct axis axis[3];
    for (unsigned i = 0; i < 3; i++)
        axis[i] = i < texture->image.dimensions ? axis_sample(texture, i, coordinate[i], offset ? offset[i] : 0)
                                                : (struct axis){.count = 1, .weight = {1}};
    combine(&texture->image, axis, layer_of(&texture->image, layer), footprint);
}

void footprint_fetch(const struct texture *texture, const int32_t *coordinate, uint32_t layer, const int32_t *offset,
                     struct footprint *footprint) {
    struct axis axis[3] = {{0}};
    for (unsigned i = 0; i < 3; i++) {
        enum texture_address mode = texture->sampler.address[i];
        if (i < texture->image.dimensions)
            axis_add(&axis[i], (int64_t)coordinate[i] + (offset ? offset[i] : 0), size_of(&texture->image, i),
                     mode == TEXTURE_BORDER ? mode : TEXTURE_CLAMP, 1);
        else
            axis[i] = (struct axis){.count = 1, .weight = {1}};
    }
    combine(&texture->image, axis, layer_of(&texture->image, layer), footprint);
}

void footprint_gather(const struct texture *texture, const float *coordinate, uint32_t layer, const int32_t *offset,
                      struct footprint *footprint) {
    static const uint8_t corner[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    struct axis axis[2] = {{0}};
    for (unsigned i = 0; i < 2; i++) {
        uint32_t size = size_of(&texture->image, i);
        double x = (double)coordinate[i] * (texture->sampler.normalized_coordinates ? size : 1);
        int64_t first = (fixed_of(x) >> WEIGHT_BITS) + (offset ? offset[i] : 0);
        axis_add(&axis[i], first, size, texture->sampler.address[i], 1);
        axis_add(&axis[i], first + 1, size, texture->sampler.address[i], 1);
    }
    footprint->count = 4;
    footprint->axes = 2;
    for (unsigned k = 0; k < 4; k++) {
        unsigned x = corner[k][0], y = corner[k][1];
        footprint->texel[k].outside = axis[0].outside[x] || axis[1].outside[y];
        footprint->texel[k].at[0] = axis[0].at[x];
        footprint->texel[k].at[1] = axis[1].at[y];
        footprint->texel[k].at[2] = texture->image.layers ? layer_of(&texture->image, layer) : 0;
        footprint->texel[k].weight = 1;
    }
}

/* ---- values ---- */

bool texture_is_real(const struct texture *texture) {
    return texture->sampler.normalized_values || texel_kind(texture->image.type) == TEXEL_FLOAT;
}

/* The largest value becomes 1; the smallest signed one becomes -1, like the one above it. */
static uint32_t normalized(int32_t value, enum texel_type type) {
    static const int32_t most[TEXEL_COUNT] = {
        [TEXEL_u8] = UINT8_MAX, [TEXEL_u16] = UINT16_MAX, [TEXEL_s8] = INT8_MAX, [TEXEL_s16] = INT16_MAX};
    if (value < -most[type]) value = -most[type];
    return f32_bits((f32)value / (f32)most[type]);
}

void texel_decode(const struct texture *texture, const uint8_t *bytes, uint32_t channel[4]) {
    enum texel_type type = texture->image.type;
    channel[1] = channel[2] = 0;
    channel[3] = texture_is_real(texture) ? f32_bits(1.0f) : 1;
    for (unsigned i = 0; i < texture->image.channels; i++) {
        u16 half;
        s16 narrow;
        switch (type) {
        case TEXEL_u8: channel[i] = bytes[i]; break;
        case TEXEL_s8: channel[i] = (u32)(s32)(s8)bytes[i]; break;
        case TEXEL_u16:
        case TEXEL_f16:
            memcpy(&half, bytes + 2 * i, sizeof half);
            channel[i] = type == TEXEL_f16 ? f32_bits(f16_to_f32(half)) : half;
            break;
        case TEXEL_s16:
            memcpy(&narrow, bytes + 2 * i, sizeof narrow);
            channel[i] = (u32)(s32)narrow;
            break;
        default: memcpy(&channel[i], bytes + 4 * i, sizeof channel[i]); break;
        }
        if (texture->sampler.normalized_values) channel[i] = normalized((int32_t)channel[i], type);
    }
}

void footprint_filter(const struct footprint *footprint, const uint32_t texel[8][4], uint32_t channel[4]) {
    if (footprint->count == 1) {
        memcpy(channel, texel[0], 4 * sizeof *channel);
        return;
    }
    const double unit = 1.0 / (double)(UINT64_C(1) << WEIGHT_BITS * footprint->axes);
    for (unsigned c = 0; c < 4; c++) {
        double sum = 0;
        for (unsigned k = 0; k < footprint->count; k++)
            sum += (double)footprint->texel[k].weight * (double)f32_of(texel[k][c]);
        channel[c] = f32_bits(f32_canonical((f32)(sum * unit)));
    }
}
