/* Random samples of random textures against a model that computes one lane at a time, in integers. */
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "emu/real.h"
#include "emu/texture.h"
#include "test.h"

enum kind { SAMPLE, FETCH, GATHER, KINDS };
enum { BYTES = 1 << 15, MOST = 9 }; /* texels of a dimension */

static uint8_t texels[BYTES];

/* ---- the model ---- */

/* floor(x), limited to what the implementation documents as far beyond any image. */
static int64_t floor_of(double x) {
    const double far = 0x3fffffffffff;
    return (int64_t)floor(x != x ? 0 : x < -far ? -far : x > far ? far : x);
}

/* The texel that is read for the texel with a number; -1 is the border. */
static int64_t placed(int64_t number, int64_t size, enum texture_address mode) {
    if (number >= 0 && number < size) return number;
    int64_t period = mode == TEXTURE_MIRROR ? 2 * size : size, rest = (number % period + period) % period;
    switch (mode) {
    case TEXTURE_BORDER: return -1;
    case TEXTURE_CLAMP: return number < 0 ? 0 : size - 1;
    default: return rest < size ? rest : period - 1 - rest;
    }
}

static uint32_t channel_of(const struct texture *texture, const uint8_t *texel, unsigned channel) {
    const struct image *image = &texture->image;
    const uint8_t *at = texel + texel_bytes(image) / image->channels * channel;
    const uint16_t pair = (uint16_t)(at[0] | at[1] << 8);
    int32_t value = 0, most = 1;
    switch ((enum texel_type)image->type) {
    case TEXEL_u8: value = at[0], most = 255; break;
    case TEXEL_s8: value = (int8_t)at[0], most = 127; break;
    case TEXEL_u16: value = pair, most = 65535; break;
    case TEXEL_s16: value = (int16_t)pair, most = 32767; break;
    case TEXEL_f16: return f32_bits(f16_to_f32(pair));
    default: return pair | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
    }
    if (!texture->sampler.normalized_values) return (uint32_t)value;
    return f32_bits(value < -most ? -1.0f : (float)value / (float)most);
}

/* What one lane samples: a list of texels with weights. */
struct sampled {
    unsigned count;
    uint32_t weight[8], channel[8][4];
    unsigned in_memory; /* texels that are not the border */
    uint64_t in_stream[8];
};

static void sampled_add(struct sampled *s, const struct texture *texture, const int64_t at[3], uint32_t weight) {
    const struct image *image = &texture->image;
    unsigned k = s->count++;
    bool outside = at[0] < 0 || at[1] < 0 || at[2] < 0;
    uint64_t x = (uint64_t)at[0] * texel_bytes(image);
    s->weight[k] = weight;
    for (unsigned c = 0; c < 4; c++)
        s->channel[k][c] =
            outside ? texture->sampler.border[c]
            : c < image->channels
                ? channel_of(texture, texels + image_at(image, x, (uint32_t)at[1], (uint32_t)at[2]) - image->address, c)
            : c < 3                    ? 0
            : texture_is_real(texture) ? f32_bits(1.0f)
                                       : 1;
    if (!outside) s->in_stream[s->in_memory++] = image_in_stream(image, x, (uint32_t)at[1], (uint32_t)at[2]);
}

static void model(const struct texture *texture, const struct coordinates *c, unsigned lane, enum kind kind,
                  struct sampled *s) {
    const struct image *image = &texture->image;
    const uint32_t sizes[3] = {image->width, image->height, image->depth};
    bool linear = kind == GATHER || (kind == SAMPLE && texture->sampler.filter == TEXTURE_LINEAR);
    int64_t at[3][2] = {{0}};
    uint32_t weight[3][2] = {{1, 0}, {1, 0}, {1, 0}};
    for (unsigned a = 0; a < image->dimensions; a++) {
        enum texture_address mode = texture->sampler.address[a];
        double x = kind == FETCH ? c->integer[a][lane] : (double)c->real[a][lane];
        if (kind == FETCH && mode != TEXTURE_BORDER) mode = TEXTURE_CLAMP;
        if (kind != FETCH && texture->sampler.normalized_coordinates) x *= sizes[a];
        int64_t fixed = (floor_of(512 * x) - 255) >> 1, number = linear ? fixed >> 8 : floor_of(x);
        for (unsigned k = 0; k < 2; k++) at[a][k] = placed(number + k + c->offset[a][lane], sizes[a], mode);
        if (linear) weight[a][0] = (uint32_t)(256 - (fixed & 255)), weight[a][1] = (uint32_t)(fixed & 255);
        if (kind == GATHER) weight[a][0] = weight[a][1] = 1;
    }
    if (image->layers) at[2][0] = c->layer[lane] < image->layers ? c->layer[lane] : image->layers - 1;
    *s = (struct sampled){0};
    for (unsigned k = 0; k < 8; k++) {
        const unsigned x = k & 1, y = k >> 1 & 1, z = k >> 2;
        const uint32_t product = weight[0][x] * weight[1][y] * weight[2][z];
        if (product) sampled_add(s, texture, (int64_t[3]){at[0][x], at[1][y], at[2][z]}, product);
    }
}

static uint32_t mean_of(const struct sampled *s, unsigned dimensions, unsigned channel) {
    if (s->count == 1) return s->channel[0][channel];
    double sum = 0;
    for (unsigned k = 0; k < s->count; k++) sum += (double)s->weight[k] * (double)f32_of(s->channel[k][channel]);
    return f32_bits(f32_canonical((float)(sum / (double)(UINT32_C(1) << 8 * dimensions))));
}

/* ---- random textures ---- */

static uint64_t state;
static uint32_t below(uint32_t bound) { return (uint32_t)random_below(&state, bound); }

static struct texture random_texture(enum kind kind) {
    struct error err = {0};
    struct texture t = {.use = TEXTURE_SAMPLED};
    t.image = (struct image){.address = 1 << 12,
                             .width = 1 + below(MOST),
                             .height = 1,
                             .depth = 1,
                             .dimensions = (uint8_t)(kind == GATHER ? 2 : 1 + below(3)),
                             .type = (uint8_t)below(TEXEL_COUNT),
                             .channels = (uint8_t)(1 << below(3)),
                             .tiled = below(2)};
    if (t.image.dimensions > 1) t.image.height = 1 + below(MOST);
    if (t.image.dimensions > 2) t.image.depth = 1 + below(MOST);
    if (t.image.dimensions < 3 && below(3) == 0) t.image.layers = 1 + below(4);
    bool real = texel_kind(t.image.type) == TEXEL_FLOAT;
    t.sampler.normalized_values = !real && texel_bytes(&t.image) < 4u * t.image.channels && below(2);
    t.sampler.filter = (real || t.sampler.normalized_values) && below(4) ? TEXTURE_LINEAR : TEXTURE_NEAREST;
    t.sampler.normalized_coordinates = below(2);
    for (unsigned i = 0; i < 3; i++)
        t.sampler.address[i] = (uint8_t)(t.sampler.normalized_coordinates ? below(4)
                                         : below(2)                       ? TEXTURE_CLAMP
                                                                          : TEXTURE_BORDER);
    for (unsigned i = 0; i < 4; i++) t.sampler.border[i] = below(2) ? f32_bits((float)below(9)) : below(UINT32_MAX);
    REQUIRE(image_complete(&t.image, &err));
    REQUIRE(image_bytes(&t.image) <= BYTES);
    return t;
}

/* Coordinates around the image, often at the centres and edges of texels, sometimes far away or no numbers. */
static float random_coordinate(const struct texture *texture, uint32_t size) {
    static const float special[] = {NAN, INFINITY, -INFINITY, 1e30f, -1e30f, 3e9f, -3e9f, 0.0f, -0.0f, 1e-30f};
    if (below(16) == 0) return special[below(COUNT_OF(special))];
    float x = (float)below(3 * size + 1) - (float)size + (float)below(1 << 11) * 0x1p-11f;
    if (below(3) == 0) x = floorf(x) + (below(2) ? 0.5f : 0.0f);
    return texture->sampler.normalized_coordinates ? x / (float)size : x;
}

TEST("a warp samples, fetches and gathers what a model of one lane does") {
    for (unsigned round = 0; round < 3000; round++) {
        enum kind kind = round % KINDS;
        struct texture texture = random_texture(kind);
        const struct image *image = &texture.image;
        const uint32_t sizes[3] = {image->width, image->height, image->depth};
        float real[3][WARP_LANES];
        int32_t integer[3][WARP_LANES], offset[3][WARP_LANES];
        uint32_t layer[WARP_LANES], got[4][WARP_LANES];
        struct coordinates c = {.offset = {offset[0], offset[1], offset[2]}, .layer = layer};
        for (unsigned i = 0; i < WARP_LANES; i++) {
            layer[i] = below(image->layers + 2);
            for (unsigned a = 0; a < 3; a++) {
                real[a][i] = random_coordinate(&texture, sizes[a]);
                integer[a][i] =
                    below(16) ? (int32_t)below(3 * sizes[a]) - (int32_t)sizes[a] : (int32_t)below(UINT32_MAX);
                offset[a][i] = below(2) ? 0 : (int32_t)below(16) - 8;
            }
        }
        for (unsigned a = 0; a < 3; a++)
            if (kind == FETCH)
                c.integer[a] = integer[a];
            else
                c.real[a] = real[a];
        for (unsigned i = 0; i < BYTES; i += sizeof state) {
            uint64_t word = random_next(&state), zero = UINT64_C(0x8000800080008000);
            memcpy(texels + i, word % 4 ? &word : &zero, sizeof word); /* also negative zeros of halves */
        }
        struct footprint footprint;
        unsigned component = below(4);
        if (kind == GATHER) {
            footprint_gather(&texture, &c, &footprint);
            footprint_corners(&texture, texels, &footprint, component, got);
        } else {
            (kind == FETCH ? footprint_fetch : footprint_sample)(&texture, &c, &footprint);
            footprint_read(&texture, texels, &footprint, got);
        }
        for (unsigned i = 0; i < WARP_LANES; i++) {
            static const uint8_t order[4] = {2, 3, 1, 0}; /* (0,1), (1,1), (1,0), (0,0) */
            struct sampled s;
            uint64_t in_stream[8];
            model(&texture, &c, i, kind, &s);
            for (unsigned e = 0; e < 4; e++)
                CHECK_EQ(got[e][i],
                         kind == GATHER ? s.channel[order[e]][component] : mean_of(&s, image->dimensions, e));
            REQUIRE(footprint_in_stream(image, &footprint, i, in_stream) == s.in_memory);
            for (unsigned k = 0; k < s.in_memory; k++) CHECK_EQ(in_stream[k], s.in_stream[k]);
        }
    }
}
