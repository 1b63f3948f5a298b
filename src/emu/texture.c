#include "emu/texture.h"

#include <stdlib.h>

#include "emu/emu.h"

enum {
    TILE_BYTES = 64, /* of a row */
    TILE_ROWS = 8,
    TILE_SIZE_BYTES = TILE_BYTES * TILE_ROWS,
    TILED_ALIGN_BYTES = 256,
    WIDTH_MAX = 1 << 28,
    HEIGHT_MAX = 1 << 17,
    DEPTH_MAX = 1 << 14,
    LAYERS_MAX = 1 << 11,
};
#define IMAGE_LIMIT_BYTES (UINT64_C(1) << 40)

static const struct {
    uint8_t bytes, kind;
} texels[TEXEL_COUNT] = {
#define X(name, bytes, kind, cl, cl_normalised) {bytes, TEXEL_##kind},
    TEXEL_LIST(X)
#undef X
};

enum texel_kind texel_kind(enum texel_type type) { return texels[type].kind; }
unsigned texel_bytes(const struct image *image) { return texels[image->type].bytes * image->channels; }

/* ---- layout ---- */

static bool is_tiled(const struct image *image) { return image->tiled && image->dimensions > 1; }
static uint32_t slices_of(const struct image *image) { return image->layers ? image->layers : image->depth; }
static uint64_t tiles_in_row(const struct image *image) {
    return div_up((uint64_t)image->width * texel_bytes(image), TILE_BYTES);
}
static uint64_t tiled_slice_bytes(const struct image *image) {
    return tiles_in_row(image) * div_up(image->height, TILE_ROWS) * TILE_SIZE_BYTES;
}

uint64_t image_in_stream(const struct image *image, uint64_t x, uint32_t y, uint32_t z) {
    if (!is_tiled(image)) return image_at(image, x, y, z);
    uint64_t tile = y / TILE_ROWS * tiles_in_row(image) + x / TILE_BYTES;
    /* Within a tile: halves of 32 bytes, pairs of rows, pairs of 16 bytes, rows, bytes. */
    uint64_t within = x % TILE_BYTES / 32 * 256 + y % TILE_ROWS / 2 * 64 + x % 32 / 16 * 32 + y % 2 * 16 + x % 16;
    return image->address + z * tiled_slice_bytes(image) + tile * TILE_SIZE_BYTES + within;
}

uint64_t image_bytes(const struct image *image) {
    uint64_t rows = (slices_of(image) - 1) * image->slice_bytes + (image->height - 1) * image->pitch_bytes +
                    (uint64_t)image->width * texel_bytes(image);
    return is_tiled(image) ? max_u64(rows, slices_of(image) * tiled_slice_bytes(image)) : rows;
}

static bool dimension_check(const char *name, uint32_t value, uint32_t most, struct error *err) {
    return (value >= 1 && value <= most) ||
           error_set(err, "the %s of an image is %u; it must be 1 to %u", name, value, most);
}

bool image_complete(struct image *image, struct error *err) {
    bool layered = image->layers;
    if (image->type >= TEXEL_COUNT || (image->channels != 1 && image->channels != 2 && image->channels != 4))
        return error_set(err, "an image must have 1, 2 or 4 channels, not %u", image->channels);
    if (image->dimensions < 1 || image->dimensions > 3 || (layered && image->dimensions > 2))
        return error_set(err,
                         layered ? "a layered image must have one or two dimensions, not %u"
                                 : "an image must have one to three dimensions, not %u",
                         image->dimensions);
    if (!dimension_check("width", image->width, WIDTH_MAX, err) ||
        !dimension_check("height", image->height, image->dimensions > 1 ? HEIGHT_MAX : 1, err) ||
        !dimension_check("depth", image->depth, image->dimensions > 2 ? DEPTH_MAX : 1, err) ||
        (layered && !dimension_check("number of layers", image->layers, LAYERS_MAX, err)))
        return false;
    uint64_t texel = texel_bytes(image), row = image->width * texel;
    if (!image->pitch_bytes) image->pitch_bytes = row;
    if (image->pitch_bytes < row || image->pitch_bytes % texel || image->pitch_bytes > IMAGE_LIMIT_BYTES)
        return error_set(err, "a pitch of %llu bytes does not fit rows of %llu bytes and texels of %llu",
                         (unsigned long long)image->pitch_bytes, (unsigned long long)row, (unsigned long long)texel);
    uint64_t slice = image->pitch_bytes * image->height;
    if (!image->slice_bytes) image->slice_bytes = slice;
    if (image->slice_bytes < slice || image->slice_bytes % texel || image->slice_bytes > IMAGE_LIMIT_BYTES)
        return error_set(err, "slices of %llu bytes do not fit %u rows with a pitch of %llu bytes",
                         (unsigned long long)image->slice_bytes, image->height, (unsigned long long)image->pitch_bytes);
    if (image->address % (is_tiled(image) ? TILED_ALIGN_BYTES : texel))
        return error_set(err, "the address 0x%llx of an image must be a multiple of %llu",
                         (unsigned long long)image->address,
                         (unsigned long long)(is_tiled(image) ? TILED_ALIGN_BYTES : texel));
    return true;
}

/* ---- the table ---- */

static uint64_t object_add(struct device *device, const struct texture *texture, struct error *err) {
    const struct image *image = &texture->image;
    if (!memory_at(&device->memory, image->address, image_bytes(image))) {
        error_set(err, "an image of %llu bytes at 0x%llx is not within one allocation",
                  (unsigned long long)image_bytes(image), (unsigned long long)image->address);
        return 0;
    }
    struct textures *table = &device->textures;
    table->objects = mem_grow(table->objects, table->count + 1, sizeof *table->objects);
    table->objects[table->count++] = *texture;
    return TEXTURE_HANDLE + table->count;
}

uint64_t texture_create(struct device *device, const struct image *image, const struct sampler *sampler,
                        struct error *err) {
    struct texture texture = {.use = TEXTURE_SAMPLED, .image = *image, .sampler = *sampler};
    if (!image_complete(&texture.image, err)) return 0;
    bool real = texel_kind(image->type) == TEXEL_FLOAT, narrow = texels[image->type].bytes < 4;
    if (sampler->normalized_values && (real || !narrow)) {
        error_set(err, "only integers of 8 and 16 bits can be read as normalised values");
        return 0;
    }
    if (sampler->filter == TEXTURE_LINEAR && !real && !sampler->normalized_values) {
        error_set(err, "linear filtering requires floats or integers that are read as normalised values");
        return 0;
    }
    for (unsigned i = 0; i < 3; i++)
        if (!sampler->normalized_coordinates && sampler->address[i] <= TEXTURE_MIRROR)
            texture.sampler.address[i] = TEXTURE_CLAMP;
    return object_add(device, &texture, err);
}

uint64_t surface_create(struct device *device, const struct image *image, struct error *err) {
    struct texture texture = {.use = TEXTURE_SURFACE, .image = *image};
    return image_complete(&texture.image, err) ? object_add(device, &texture, err) : 0;
}

static struct texture *object_at(const struct device *device, uint64_t handle) {
    uint64_t index = handle - TEXTURE_HANDLE - 1;
    struct texture *found = index < device->textures.count ? &device->textures.objects[index] : NULL;
    return found && found->use != TEXTURE_NONE ? found : NULL;
}

const struct texture *texture_find(const struct device *device, uint64_t handle) { return object_at(device, handle); }

bool texture_destroy(struct device *device, uint64_t handle) {
    struct texture *texture = object_at(device, handle);
    if (texture) texture->use = TEXTURE_NONE;
    return texture;
}

void textures_release(struct textures *textures) {
    free(textures->objects);
    *textures = (struct textures){0};
}
