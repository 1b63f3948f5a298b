/* Texture and surface objects of a device: images in device memory, samplers, and the table of their handles. Kernels
 * use handles (64 bits) that the host passes as parameters or binds to .texref and .surfref variables by storing the
 * handle there.
 *
 * An image is row-major in device memory, with a pitch. A tiled image (a CUDA array) is row-major too, so that the host
 * can fill and read it directly; only the addresses that the stream records are those of a block-linear layout: groups
 * of 64 bytes x 8 rows, 512 contiguous bytes, in row-major order, in which 16 bytes x 2 rows are one sector of 32 bytes.
 * This layout is the one that open-source drivers document (envytools, "Tiling: GOB"); NVIDIA does not document that of
 * CUDA arrays. Kernels must not access tiled images by pointers, as in CUDA.
 *
 * Sampling follows "CUDA C++ Programming Guide", Texture Fetching (sample.c). Left out: mip levels (each texture has
 * one), cube maps, multisampling, sRGB, depth comparison, anisotropy, separate samplers. */
#ifndef SLUICE_EMU_TEXTURE_H
#define SLUICE_EMU_TEXTURE_H

#include "base/base.h"
#include "base/error.h"
#include "stream/stream.h"

/* Types of a channel: name, bytes, kind, OpenCL's name for it as an integer and as a normalised value (txq), 0 = none. */
#define TEXEL_LIST(X) \
    X(u8, 1, UNSIGNED, 0x10DA, 0x10D2) \
    X(u16, 2, UNSIGNED, 0x10DB, 0x10D3) \
    X(u32, 4, UNSIGNED, 0x10DC, 0) \
    X(s8, 1, SIGNED, 0x10D7, 0x10D0) \
    X(s16, 2, SIGNED, 0x10D8, 0x10D1) \
    X(s32, 4, SIGNED, 0x10D9, 0) \
    X(f16, 2, FLOAT, 0x10DD, 0) \
    X(f32, 4, FLOAT, 0x10DE, 0)

enum texel_type {
#define X(name, bytes, kind, cl, cl_normalised) TEXEL_##name,
    TEXEL_LIST(X)
#undef X
        TEXEL_COUNT,
};
enum texel_kind { TEXEL_UNSIGNED, TEXEL_SIGNED, TEXEL_FLOAT };
enum texture_filter { TEXTURE_NEAREST, TEXTURE_LINEAR };
enum texture_address { TEXTURE_WRAP, TEXTURE_MIRROR, TEXTURE_CLAMP, TEXTURE_BORDER };

struct image {
    uint64_t address;
    uint32_t width, height, depth; /* texels; height and depth are 1 in images of fewer dimensions */
    uint32_t layers;               /* of a layered image of one or two dimensions; 0: not layered */
    uint8_t dimensions;            /* 1 to 3 */
    uint8_t type, channels;        /* enum texel_type; 1, 2 or 4 */
    bool tiled;                    /* has no effect on images of one dimension */
    uint64_t pitch_bytes;          /* from row to row; 0: the width */
    uint64_t slice_bytes;          /* from slice to slice, or layer to layer; 0: the rows of a slice */
};

struct sampler {
    uint8_t filter, address[3]; /* enum texture_filter; enum texture_address of x, y, z */
    bool normalized_coordinates;
    bool normalized_values; /* 8- and 16-bit integers are read as floats in [0, 1] or [-1, 1] */
    uint32_t border[4];     /* the texel outside: bits of floats or integers, as the texture is read */
};

struct texture {
    enum { TEXTURE_NONE, TEXTURE_SAMPLED, TEXTURE_SURFACE } use;
    struct image image;
    struct sampler sampler;
};

/* The table of a device; handles are not reused. */
struct textures {
    struct texture *objects;
    uint32_t count;
};

struct device;

/* A new object; returns its handle, or 0 with an error if the description is invalid or not within one allocation. A
 * wrapped or mirrored coordinate that is not normalised is clamped, as in CUDA. */
uint64_t texture_create(struct device *device, const struct image *image, const struct sampler *sampler,
                        struct error *err);
uint64_t surface_create(struct device *device, const struct image *image, struct error *err);
/* False if there is no such object. */
bool texture_destroy(struct device *device, uint64_t handle);
const struct texture *texture_find(const struct device *device, uint64_t handle);
void textures_release(struct textures *textures);

/* Sets the pitch and slice that are 0; false with an error if the image is invalid. */
bool image_complete(struct image *image, struct error *err);
/* Device memory of a complete image, from its address on; for a tiled one including incomplete tiles. */
uint64_t image_bytes(const struct image *image);
unsigned texel_bytes(const struct image *image);
enum texel_kind texel_kind(enum texel_type type);

/* Where a byte of an image is: in memory, and in the stream. `x` is in bytes; z is the slice or layer. */
static inline uint64_t image_at(const struct image *image, uint64_t x, uint32_t y, uint32_t z) {
    return image->address + z * image->slice_bytes + y * image->pitch_bytes + x;
}
uint64_t image_in_stream(const struct image *image, uint64_t x, uint32_t y, uint32_t z);

/* ---- sampling (sample.c) ---- */

/* The texels of a dimension that the lanes of a warp sample: one, or two of linear filtering. */
struct axis {
    unsigned count;
    uint32_t outside[2];           /* lanes: the border */
    uint32_t at[2][WARP_LANES];    /* always in the image */
    int32_t weight[2][WARP_LANES]; /* in units of 2^-8; 0: the texel is not read */
};

/* All combinations of the texels of the dimensions, x fastest. Layers are the third dimension. */
struct footprint {
    unsigned count;
    struct axis axis[3];
};

/* Coordinates of the lanes: as many as the image has dimensions. A layer beyond the last one is the last one. */
struct coordinates {
    union {
        const float *real[3];
        const int32_t *integer[3];
    };
    const int32_t *offset[3]; /* of texels */
    const uint32_t *layer;
};

void footprint_sample(const struct texture *texture, const struct coordinates *coordinates,
                      struct footprint *footprint);
void footprint_fetch(const struct texture *texture, const struct coordinates *coordinates, struct footprint *footprint);
/* The four texels of linear filtering. */
void footprint_gather(const struct texture *texture, const struct coordinates *coordinates,
                      struct footprint *footprint);

/* Whether the texture is read as floats. */
bool texture_is_real(const struct texture *texture);
/* The four channels of the weighted means of texels: bits of floats or integers. Channels that the image lacks are 0, 0
 * and 1. `texels` are the bytes of the image. */
void footprint_read(const struct texture *texture, const uint8_t *texels, const struct footprint *footprint,
                    uint32_t value[4][WARP_LANES]);
/* A channel of each of the four texels of a gather, in the order of tld4: (0,1), (1,1), (1,0), (0,0). */
void footprint_corners(const struct texture *texture, const uint8_t *texels, const struct footprint *footprint,
                       unsigned channel, uint32_t value[4][WARP_LANES]);
/* The addresses in the stream of the texels that a lane reads; returns their number. */
unsigned footprint_in_stream(const struct image *image, const struct footprint *footprint, unsigned lane,
                             uint64_t address[8]);

#endif
