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
 * A texel with a weight of zero is neither read nor added.
 *
 * A warp samples at once, in loops over its lanes that the compiler vectorises. Numbers of texels are integers in doubles,
 * which hold all of them exactly. Lanes that are not active sample too, whatever is in their registers. */
#include <math.h>
#include <string.h>

#include "emu/real.h"
#include "emu/texture.h"

enum { WEIGHT_BITS = 8, WEIGHT_ONE = 1 << WEIGHT_BITS };

/* ---- texels ---- */

/* Far beyond any image, and small enough for sums. */
#define FAR ((double)0x3fffffffffff)

static double floor_of(double x) {
    const double number = x == x ? x : 0; /* a NaN is 0 */
    return floor(number < -FAR ? -FAR : number > FAR ? FAR : number);
}

/* x - 0.5 in units of 2^-8, rounded to nearest, halves up: floor(256 x - 127.5), without rounding in between. */
static double fixed_of(double x) { return floor((floor_of(x * (2 * WEIGHT_ONE)) - (WEIGHT_ONE - 1)) * 0.5); }

/* The texels of the image that are read for the texels with these numbers; returns the lanes that read the border. */
static uint32_t place(const double number[WARP_LANES], uint32_t size, enum texture_address mode,
                      uint32_t at[WARP_LANES]) {
    const double last = (double)size - 1, period = (double)size * (mode == TEXTURE_MIRROR ? 2 : 1);
    uint32_t outside = 0;
    if (mode == TEXTURE_WRAP || mode == TEXTURE_MIRROR) {
        EACH_LANE {
            const double rest = number[i] - period * floor(number[i] / period);
            at[i] = (uint32_t)(int32_t)(rest > last ? period - 1 - rest : rest);
        }
        return 0;
    }
    EACH_LANE at[i] = (uint32_t)(int32_t)(number[i] < 0 ? 0 : number[i] > last ? last : number[i]);
    if (mode == TEXTURE_BORDER) EACH_LANE outside |= (uint32_t)(number[i] < 0 || number[i] > last) << i;
    return outside;
}

static uint32_t size_of(const struct image *image, unsigned axis) {
    return axis == 0 ? image->width : axis == 1 ? image->height : image->depth;
}

static void axis_nearest(struct axis *axis, const double number[WARP_LANES], uint32_t size, enum texture_address mode) {
    axis->count = 1;
    axis->outside[0] = place(number, size, mode, axis->at[0]);
    EACH_LANE axis->weight[0][i] = 1;
}

static void axis_linear(struct axis *axis, const double x[WARP_LANES], const int32_t offset[WARP_LANES], uint32_t size,
                        enum texture_address mode) {
    double number[WARP_LANES];
    axis->count = 2;
    EACH_LANE {
        const double fixed = fixed_of(x[i]), first = floor(fixed * (1.0 / WEIGHT_ONE));
        const int32_t beyond = (int32_t)(fixed - first * WEIGHT_ONE);
        axis->weight[0][i] = WEIGHT_ONE - beyond;
        axis->weight[1][i] = beyond;
        number[i] = first + offset[i];
    }
    axis->outside[0] = place(number, size, mode, axis->at[0]);
    EACH_LANE number[i] += 1;
    axis->outside[1] = place(number, size, mode, axis->at[1]);
}

/* The dimensions that the image lacks; the last one has the layers. */
static void axes_fill(const struct image *image, const uint32_t layer[WARP_LANES], struct footprint *footprint) {
    for (unsigned a = image->dimensions; a < 3; a++) {
        const uint32_t last = a == 2 && image->layers ? image->layers - 1 : 0;
        struct axis *axis = &footprint->axis[a];
        axis->count = 1;
        axis->outside[0] = 0;
        EACH_LANE axis->weight[0][i] = 1;
        EACH_LANE axis->at[0][i] = layer[i] < last ? layer[i] : last;
    }
    footprint->count = footprint->axis[0].count * footprint->axis[1].count * footprint->axis[2].count;
}

static void sample(const struct texture *texture, const struct coordinates *coordinates, bool linear,
                   struct footprint *footprint) {
    const struct image *image = &texture->image;
    for (unsigned a = 0; a < image->dimensions; a++) {
        const uint32_t size = size_of(image, a);
        const double scale = texture->sampler.normalized_coordinates ? size : 1;
        const float *coordinate = coordinates->real[a];
        const int32_t *offset = coordinates->offset[a];
        double x[WARP_LANES];
        if (linear) {
            EACH_LANE x[i] = (double)coordinate[i] * scale;
            axis_linear(&footprint->axis[a], x, offset, size, texture->sampler.address[a]);
        } else {
            EACH_LANE x[i] = floor_of((double)coordinate[i] * scale) + offset[i];
            axis_nearest(&footprint->axis[a], x, size, texture->sampler.address[a]);
        }
    }
    axes_fill(image, coordinates->layer, footprint);
}

void footprint_sample(const struct texture *texture, const struct coordinates *coordinates,
                      struct footprint *footprint) {
    sample(texture, coordinates, texture->sampler.filter == TEXTURE_LINEAR, footprint);
}

void footprint_gather(const struct texture *texture, const struct coordinates *coordinates,
                      struct footprint *footprint) {
    sample(texture, coordinates, true, footprint);
    for (unsigned a = 0; a < texture->image.dimensions; a++)
        for (unsigned k = 0; k < 2; k++) EACH_LANE footprint->axis[a].weight[k][i] = 1;
}

void footprint_fetch(const struct texture *texture, const struct coordinates *coordinates,
                     struct footprint *footprint) {
    const struct image *image = &texture->image;
    for (unsigned a = 0; a < image->dimensions; a++) {
        const enum texture_address mode = texture->sampler.address[a];
        const int32_t *coordinate = coordinates->integer[a], *offset = coordinates->offset[a];
        double number[WARP_LANES];
        EACH_LANE number[i] = (double)coordinate[i] + offset[i];
        axis_nearest(&footprint->axis[a], number, size_of(image, a), mode == TEXTURE_BORDER ? mode : TEXTURE_CLAMP);
    }
    axes_fill(image, coordinates->layer, footprint);
}

unsigned footprint_in_stream(const struct image *image, const struct footprint *footprint, unsigned lane,
                             uint64_t address[8]) {
    const struct axis *axis = footprint->axis;
    const uint64_t bytes = texel_bytes(image);
    unsigned count = 0;
    for (unsigned z = 0; z < axis[2].count; z++)
        for (unsigned y = 0; y < axis[1].count; y++)
            for (unsigned x = 0; x < axis[0].count; x++) {
                bool read = axis[0].weight[x][lane] && axis[1].weight[y][lane] && axis[2].weight[z][lane];
                if (!read || (axis[0].outside[x] | axis[1].outside[y] | axis[2].outside[z]) >> lane & 1) continue;
                address[count++] =
                    image_in_stream(image, axis[0].at[x][lane] * bytes, axis[1].at[y][lane], axis[2].at[z][lane]);
            }
    return count;
}

/* ---- values ---- */

bool texture_is_real(const struct texture *texture) {
    return texture->sampler.normalized_values || texel_kind(texture->image.type) == TEXEL_FLOAT;
}

/* The largest value becomes 1; the smallest signed one becomes -1, like the one above it. */
static uint32_t normalized(int32_t value, int32_t most) {
    return f32_bits((f32)(value < -most ? -most : value) / (f32)most);
}

/* A channel that the image has. */
static void decode(const struct texture *texture, const uint8_t *texels, const uint64_t offset[WARP_LANES],
                   unsigned channel, uint32_t value[WARP_LANES]) {
    static const int32_t most[TEXEL_COUNT] = {
        [TEXEL_u8] = UINT8_MAX, [TEXEL_u16] = UINT16_MAX, [TEXEL_s8] = INT8_MAX, [TEXEL_s16] = INT16_MAX};
    const enum texel_type type = texture->image.type;
#define DECODE(T, ...) \
    EACH_LANE { \
        T x; \
        memcpy(&x, texels + offset[i] + channel * sizeof x, sizeof x); \
        value[i] = (u32)(__VA_ARGS__); \
    } \
    break
    switch (type) {
    case TEXEL_u8: DECODE(u8, x);
    case TEXEL_s8: DECODE(s8, (s32)x);
    case TEXEL_u16: DECODE(u16, x);
    case TEXEL_s16: DECODE(s16, (s32)x);
    case TEXEL_f16: DECODE(u16, f32_bits(f16_to_f32(x)));
    default: DECODE(u32, x);
    }
#undef DECODE
    if (texture->sampler.normalized_values) EACH_LANE value[i] = normalized((int32_t)value[i], most[type]);
}

/* One texel of each lane. */
struct corner {
    uint32_t outside;
    int32_t weight[WARP_LANES];
    uint64_t offset[WARP_LANES];
};

static void corner_find(const struct image *image, const struct footprint *footprint, unsigned k,
                        struct corner *corner) {
    const uint64_t bytes = texel_bytes(image), pitch = image->pitch_bytes, slice = image->slice_bytes;
    const struct axis *axis = footprint->axis;
    const unsigned x = k % axis[0].count, y = k / axis[0].count % axis[1].count, z = k / axis[0].count / axis[1].count;
    corner->outside = axis[0].outside[x] | axis[1].outside[y] | axis[2].outside[z];
    EACH_LANE corner->weight[i] = axis[0].weight[x][i] * axis[1].weight[y][i] * axis[2].weight[z][i];
    EACH_LANE corner->offset[i] = axis[0].at[x][i] * bytes + axis[1].at[y][i] * pitch + axis[2].at[z][i] * slice;
}

/* Channels that the image lacks are 0, 0 and 1. */
static void corner_read(const struct texture *texture, const uint8_t *texels, const struct corner *corner,
                        unsigned channel, uint32_t value[WARP_LANES]) {
    const uint32_t lacking = channel < 3 ? 0 : texture_is_real(texture) ? f32_bits(1.0f) : 1;
    if (channel < texture->image.channels)
        decode(texture, texels, corner->offset, channel, value);
    else
        EACH_LANE value[i] = lacking;
    const uint32_t outside = corner->outside, border = texture->sampler.border[channel];
    if (outside) EACH_LANE value[i] = outside >> i & 1 ? border : value[i];
}

void footprint_read(const struct texture *texture, const uint8_t *texels, const struct footprint *footprint,
                    uint32_t value[4][WARP_LANES]) {
    const int32_t one = (int32_t)(UINT32_C(1) << WEIGHT_BITS * texture->image.dimensions);
    struct corner corner[8];
    uint32_t outside = 0;
    for (unsigned k = 0; k < footprint->count; k++) {
        corner_find(&texture->image, footprint, k, &corner[k]);
        outside |= corner[k].outside;
    }
    for (unsigned c = 0; c < 4; c++) {
        corner_read(texture, texels, &corner[0], c, value[c]);
        if (footprint->count == 1 || (c >= texture->image.channels && !outside)) continue;
        double sum[WARP_LANES] = {0};
        for (unsigned k = 0; k < footprint->count; k++) {
            const int32_t *weight = corner[k].weight;
            uint32_t other[WARP_LANES];
            if (k) corner_read(texture, texels, &corner[k], c, other);
            const uint32_t *texel = k ? other : value[c];
            EACH_LANE sum[i] += (double)weight[i] * (double)f32_of(weight[i] ? texel[i] : 0);
        }
        EACH_LANE {
            const uint32_t mean = f32_bits(f32_canonical((f32)(sum[i] * (1.0 / one))));
            value[c][i] = corner[0].weight[i] == one ? value[c][i] : mean; /* a texel alone is not filtered */
        }
    }
}

void footprint_corners(const struct texture *texture, const uint8_t *texels, const struct footprint *footprint,
                       unsigned channel, uint32_t value[4][WARP_LANES]) {
    static const uint8_t order[4] = {3, 2, 0, 1};
    for (unsigned k = 0; k < 4; k++) {
        struct corner corner;
        corner_find(&texture->image, footprint, k, &corner);
        corner_read(texture, texels, &corner, channel, value[order[k]]);
    }
}
