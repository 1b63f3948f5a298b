/* Arrays, texture objects and surface objects. An array is device memory in rows; the emulator gives the accesses of kernels the
 * addresses of a tiled layout (emu/texture.h). Left out: mipmaps, cube maps, and texture references of CUDA 11 and older. */
#include <stdlib.h>

#include "cudart/copy.h"
#include "cudart/runtime.h"

struct cudaArray {
    struct cudaChannelFormatDesc format;
    struct cudaExtent extent; /* as given: 0 for dimensions that the array lacks */
    unsigned flags;
    char *address;
    size_t texel, pitch, slice; /* bytes */
};

struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, enum cudaChannelFormatKind f);

struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, enum cudaChannelFormatKind f) {
    return (struct cudaChannelFormatDesc){x, y, z, w, f};
}

static unsigned channels_of(const struct cudaChannelFormatDesc *format) {
    return (unsigned)(!!format->x + !!format->y + !!format->z + !!format->w);
}

static size_t at_least_one(size_t n) { return n ? n : 1; }
static size_t round_up(size_t n, size_t unit) { return (n + unit - 1) / unit * unit; }

cudaError_t cudaMalloc3DArray(cudaArray_t *array, const struct cudaChannelFormatDesc *format, struct cudaExtent extent,
                              unsigned flags) {
    enum { TILE_BYTES = 64, TILE_ROWS = 8 };
    if (!array || !format || !extent.width || format->x <= 0) return answer(cudaErrorInvalidValue);
    if (flags & ~(unsigned)(cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayTextureGather))
        return missing("an array of another kind than layered or for surfaces");
    struct cudaArray *made = malloc(sizeof *made);
    if (!made) return answer(cudaErrorMemoryAllocation);
    *made = (struct cudaArray){.format = *format, .extent = extent, .flags = flags};
    made->texel = (size_t)format->x / 8 * channels_of(format);
    made->pitch = round_up(extent.width * made->texel, TILE_BYTES);
    made->slice = made->pitch * round_up(at_least_one(extent.height), TILE_ROWS);
    void *address;
    cudaError_t error = cudaMalloc(&address, made->slice * at_least_one(extent.depth));
    made->address = address;
    if (error == cudaSuccess)
        *array = made;
    else
        free(made);
    return error;
}

cudaError_t cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *format, size_t width, size_t height,
                            unsigned flags) {
    return cudaMalloc3DArray(array, format, (struct cudaExtent){width, height, 0}, flags);
}

cudaError_t cudaFreeArray(cudaArray_t array) {
    if (!array) return cudaSuccess;
    cudaError_t error = cudaFree(array->address);
    free(array);
    return error;
}

cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *format, cudaArray_t array) {
    if (!format || !array) return answer(cudaErrorInvalidValue);
    *format = array->format;
    return cudaSuccess;
}

cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *format, struct cudaExtent *extent, unsigned *flags,
                             cudaArray_t array) {
    if (!array) return answer(cudaErrorInvalidResourceHandle);
    if (format) *format = array->format;
    if (extent) *extent = array->extent;
    if (flags) *flags = array->flags;
    return cudaSuccess;
}

/* --- copies --- */

/* Whether the rows are within a slice of the array; x and width in bytes. */
static bool is_within(const struct cudaArray *array, size_t x, size_t y, size_t width, size_t height) {
    size_t row = array->extent.width * array->texel, rows = at_least_one(array->extent.height);
    return x <= row && width <= row - x && y <= rows && height <= rows - y;
}

static char *place_in(const struct cudaArray *array, size_t x, size_t y, size_t z) {
    return array->address + z * array->slice + y * array->pitch + x;
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                size_t height, enum cudaMemcpyKind kind) {
    if (!to || !is_within(to, x, y, width, height)) return answer(cudaErrorInvalidValue);
    return cudaMemcpy2D(place_in(to, x, y, 0), to->pitch, from, pitch, width, height, kind);
}

cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_t from, size_t x, size_t y, size_t width,
                                  size_t height, enum cudaMemcpyKind kind) {
    if (!from || !is_within(from, x, y, width, height)) return answer(cudaErrorInvalidValue);
    return cudaMemcpy2D(to, pitch, place_in(from, x, y, 0), from->pitch, width, height, kind);
}

/* Copies between consecutive bytes and the rows of an array from (x, y) on: the rest of the first row, whole rows, and
 * the beginning of the last one. */
static cudaError_t copy_rows(cudaArray_t array, size_t x, size_t y, void *to, const void *from, size_t bytes,
                             enum cudaMemcpyKind kind) {
    if (!array) return answer(cudaErrorInvalidValue);
    size_t row = array->extent.width * array->texel, rows = at_least_one(array->extent.height);
    if (x >= row || y >= rows || bytes > (rows - y) * row - x) return answer(cudaErrorInvalidValue);
    for (size_t done = 0, width, height; done < bytes; done += width * height, y += height, x = 0) {
        size_t left = bytes - done;
        width = left < row - x ? left : row - x;
        height = x == 0 && left > row ? left / row : 1;
        cudaError_t error =
            to ? cudaMemcpy2DFromArray((char *)to + done, width, array, x, y, width, height, kind)
               : cudaMemcpy2DToArray(array, x, y, (const char *)from + done, width, width, height, kind);
        if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
}

cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t bytes,
                              enum cudaMemcpyKind kind) {
    return copy_rows(to, x, y, NULL, from, bytes, kind);
}

cudaError_t cudaMemcpyFromArray(void *to, cudaArray_t from, size_t x, size_t y, size_t bytes,
                                enum cudaMemcpyKind kind) {
    if (!to && bytes) return answer(cudaErrorInvalidValue);
    return copy_rows(from, x, y, to, NULL, bytes, kind);
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                     size_t height, enum cudaMemcpyKind kind, cudaStream_t stream) {
    (void)stream;
    return cudaMemcpy2DToArray(to, x, y, from, pitch, width, height, kind);
}

cudaError_t cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, cudaArray_t from, size_t x, size_t y, size_t width,
                                       size_t height, enum cudaMemcpyKind kind, cudaStream_t stream) {
    (void)stream;
    return cudaMemcpy2DFromArray(to, pitch, from, x, y, width, height, kind);
}

cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from, size_t bytes,
                                   enum cudaMemcpyKind kind, cudaStream_t stream) {
    (void)stream;
    return cudaMemcpyToArray(to, x, y, from, bytes, kind);
}

cudaError_t cudaMemcpyFromArrayAsync(void *to, cudaArray_t from, size_t x, size_t y, size_t bytes,
                                     enum cudaMemcpyKind kind, cudaStream_t stream) {
    (void)stream;
    return cudaMemcpyFromArray(to, from, x, y, bytes, kind);
}

bool array_side(cudaArray_t array, struct cudaPos position, const struct cudaExtent *texels, struct copy_side *side) {
    bool within =
        is_within(array, position.x * array->texel, position.y, texels->width * array->texel, texels->height) &&
        position.z <= at_least_one(array->extent.depth) &&
        texels->depth <= at_least_one(array->extent.depth) - position.z;
    *side = (struct copy_side){place_in(array, position.x * array->texel, position.y, position.z), array->pitch,
                               array->slice, array->texel};
    return within;
}

/* --- objects --- */

static cudaError_t image_fill(const struct cudaResourceDesc *resource, struct texture_facts *facts) {
    const struct cudaChannelFormatDesc *format;
    switch (resource->resType) {
    case cudaResourceTypeArray: {
        const struct cudaArray *array = resource->res.array.array;
        if (!array) return cudaErrorInvalidValue;
        bool layered = array->flags & cudaArrayLayered;
        format = &array->format;
        facts->address = (uint64_t)array->address;
        facts->pitch = array->pitch;
        facts->slice = array->slice;
        facts->width = (uint32_t)array->extent.width;
        facts->height = (uint32_t)at_least_one(array->extent.height);
        facts->depth = layered ? 1 : (uint32_t)at_least_one(array->extent.depth);
        facts->layers = layered ? (uint32_t)at_least_one(array->extent.depth) : 0;
        facts->dimensions = array->extent.depth && !layered ? 3 : array->extent.height ? 2 : 1;
        facts->tiled = 1;
        break;
    }
    case cudaResourceTypeLinear:
        format = &resource->res.linear.desc;
        if (format->x < 8) return cudaErrorInvalidValue;
        facts->address = (uint64_t)resource->res.linear.devPtr;
        facts->width = (uint32_t)(resource->res.linear.sizeInBytes / ((size_t)format->x / 8 * channels_of(format)));
        facts->height = facts->depth = facts->dimensions = 1;
        break;
    case cudaResourceTypePitch2D:
        format = &resource->res.pitch2D.desc;
        facts->address = (uint64_t)resource->res.pitch2D.devPtr;
        facts->width = (uint32_t)resource->res.pitch2D.width;
        facts->height = (uint32_t)resource->res.pitch2D.height;
        facts->pitch = resource->res.pitch2D.pitchInBytes;
        facts->depth = 1;
        facts->dimensions = 2;
        break;
    case cudaResourceTypeMipmappedArray:
    default: return missing("a texture with mipmaps");
    }
    facts->bits = (uint32_t)format->x;
    facts->kind = (uint32_t)format->f;
    facts->channels = channels_of(format);
    return cudaSuccess;
}

static cudaError_t object_create(unsigned long long *handle, const struct texture_facts *facts) {
    struct reply reply = {0};
    struct request request = {.kind = REQUEST_TEXTURE, .bytes = sizeof *facts};
    cudaError_t error = ask(&request, facts, &reply, NULL, 0);
    if (error == cudaSuccess) *handle = reply.value[0];
    return answer(error);
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t *texture, const struct cudaResourceDesc *resource,
                                    const struct cudaTextureDesc *sampling, const struct cudaResourceViewDesc *view) {
    struct texture_facts facts = {0};
    if (!texture || !resource || !sampling) return answer(cudaErrorInvalidValue);
    if (view) return missing("a texture with a resource view");
    if (sampling->sRGB) return missing("a texture of sRGB values");
    cudaError_t error = image_fill(resource, &facts);
    if (error != cudaSuccess) return answer(error);
    facts.filter = (uint32_t)sampling->filterMode;
    facts.normalized_coordinates = sampling->normalizedCoords != 0;
    facts.normalized_values =
        sampling->readMode == cudaReadModeNormalizedFloat && facts.kind != cudaChannelFormatKindFloat;
    for (unsigned i = 0; i < 3; i++) facts.address_mode[i] = (uint32_t)sampling->addressMode[i];
    for (unsigned i = 0; i < 4; i++) facts.border[i] = sampling->borderColor[i];
    return object_create(texture, &facts);
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *surface, const struct cudaResourceDesc *resource) {
    struct texture_facts facts = {.surface = 1};
    if (!surface || !resource || resource->resType != cudaResourceTypeArray) return answer(cudaErrorInvalidValue);
    cudaError_t error = image_fill(resource, &facts);
    return error == cudaSuccess ? object_create(surface, &facts) : answer(error);
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture) {
    return answer(ask(REQUEST(REQUEST_UNTEXTURE, texture), NULL, NULL, NULL, 0));
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface) { return cudaDestroyTextureObject(surface); }
