/* Memory: allocation, copies and fills. Copies between host and device are streams of rows; copies within the device are made
 * there. Every copy waits for the launches before it, also an asynchronous one: simulated time does not pass meanwhile. */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cudart/copy.h"
#include "cudart/runtime.h"

enum { PITCH_BYTES = 512, PAGE_BYTES = 4096 };

/* --- shared memory: pinned and managed --- */

/* Addresses are not reused, as on the device. Host memory that a program registers is listed, too; the device cannot
 * access it. */
static struct {
    pthread_mutex_t lock;
    struct shared *blocks;
    size_t count, room;
    uint64_t used;
} shared_blocks = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool block_add(struct shared block) {
    if (shared_blocks.count == shared_blocks.room) {
        size_t room = shared_blocks.room ? 2 * shared_blocks.room : 16;
        struct shared *grown = realloc(shared_blocks.blocks, room * sizeof *grown);
        if (!grown) return false;
        shared_blocks.blocks = grown;
        shared_blocks.room = room;
    }
    shared_blocks.blocks[shared_blocks.count++] = block;
    return true;
}

/* The block that contains the address; its count if there is none. */
static size_t block_find(uint64_t address) {
    size_t i = 0;
    while (i < shared_blocks.count && address - shared_blocks.blocks[i].address >= shared_blocks.blocks[i].bytes) i++;
    return i;
}

bool shared_find(const void *pointer, struct shared *found) {
    pthread_mutex_lock(&shared_blocks.lock);
    size_t i = block_find((uint64_t)pointer);
    bool is = i < shared_blocks.count;
    if (is) *found = shared_blocks.blocks[i];
    pthread_mutex_unlock(&shared_blocks.lock);
    return is;
}

/* Maps the next bytes of the shared file, which the device has placed, at their address. */
static cudaError_t block_map(uint64_t bytes, unsigned kind, unsigned flags) {
    uint64_t offset = shared_blocks.used, address = SHARED_ADDRESS + offset;
    uint64_t whole = (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    void *mapped = mmap((void *)address, whole, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, shared_file(),
                        (off_t)offset);
    bool good = mapped == (void *)address && block_add((struct shared){address, bytes, kind, flags});
    if (!good && mapped != MAP_FAILED) munmap(mapped, whole);
    shared_blocks.used += whole;
    return good ? cudaSuccess : cudaErrorMemoryAllocation;
}

static cudaError_t shared_allocate(void **pointer, size_t bytes, bool managed, unsigned flags) {
    if (!pointer) return cudaErrorInvalidValue;
    if (bytes == 0 && managed) return cudaErrorInvalidValue;
    *pointer = NULL;
    if (bytes == 0) return cudaSuccess;
    uint64_t whole = ((uint64_t)bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    pthread_mutex_lock(&shared_blocks.lock);
    uint64_t offset = shared_blocks.used, address = SHARED_ADDRESS + offset;
    cudaError_t error = whole < bytes || whole > SHARED_BYTES - offset
                            ? cudaErrorMemoryAllocation
                            : ask(REQUEST(REQUEST_SHARE, offset, bytes), NULL, NULL, NULL, 0);
    if (error == cudaSuccess) error = block_map(bytes, managed ? SHARED_MANAGED : SHARED_PINNED, flags);
    if (error == cudaSuccess) *pointer = (void *)address;
    pthread_mutex_unlock(&shared_blocks.lock);
    return error;
}

cudaError_t shared_image(uint64_t module) {
    pthread_mutex_lock(&shared_blocks.lock);
    uint64_t offset = shared_blocks.used;
    struct reply reply = {0};
    cudaError_t error = ask(REQUEST(REQUEST_MANAGED, module, offset), NULL, &reply, NULL, 0);
    if (error == cudaSuccess) error = block_map(reply.value[0], SHARED_MANAGED, cudaMemAttachGlobal);
    pthread_mutex_unlock(&shared_blocks.lock);
    return error;
}

/* Frees the block that starts there; its pages return to the system. */
static cudaError_t shared_free(void *pointer) {
    uint64_t address = (uint64_t)pointer;
    cudaError_t error = device_wait();
    pthread_mutex_lock(&shared_blocks.lock);
    size_t i = block_find(address);
    if (i == shared_blocks.count || shared_blocks.blocks[i].address != address ||
        shared_blocks.blocks[i].kind == SHARED_REGISTERED)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess) error = ask(REQUEST(REQUEST_FREE, address), NULL, NULL, NULL, 0);
    if (error == cudaSuccess) {
        uint64_t bytes = shared_blocks.blocks[i].bytes;
        munmap(pointer, bytes);
        if (fallocate(shared_file(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)(address - SHARED_ADDRESS),
                      (off_t)((bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES)) != 0)
            error = cudaSuccess; /* the pages then last as long as the program */
        shared_blocks.blocks[i] = shared_blocks.blocks[--shared_blocks.count];
    }
    pthread_mutex_unlock(&shared_blocks.lock);
    return error;
}

cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned flags) {
    if (flags > 7) return answer(cudaErrorInvalidValue);
    return answer(shared_allocate(pointer, bytes, false, flags));
}

cudaError_t cudaMallocHost(void **pointer, size_t bytes) {
    return answer(shared_allocate(pointer, bytes, false, cudaHostAllocDefault));
}

cudaError_t cudaMallocManaged(void **pointer, size_t bytes, unsigned flags) {
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) return answer(cudaErrorInvalidValue);
    return answer(shared_allocate(pointer, bytes, true, flags));
}

cudaError_t cudaFreeHost(void *pointer) { return pointer ? answer(shared_free(pointer)) : cudaSuccess; }

cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags) {
    struct shared block;
    if (!device || flags) return answer(cudaErrorInvalidValue);
    if (!shared_find(host, &block)) return answer(cudaErrorInvalidValue);
    if (block.kind == SHARED_REGISTERED) return missing("device access to memory of cudaHostRegister");
    *device = host;
    return cudaSuccess;
}

cudaError_t cudaHostGetFlags(unsigned *flags, void *pointer) {
    struct shared block;
    if (!flags || !shared_find(pointer, &block) || block.kind == SHARED_MANAGED) return answer(cudaErrorInvalidValue);
    *flags = block.flags | cudaHostAllocMapped;
    return cudaSuccess;
}

cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned flags) {
    struct shared block;
    if (!pointer || !bytes) return answer(cudaErrorInvalidValue);
    if (shared_find(pointer, &block)) return answer(cudaErrorHostMemoryAlreadyRegistered);
    pthread_mutex_lock(&shared_blocks.lock);
    bool good = block_add((struct shared){(uint64_t)pointer, bytes, SHARED_REGISTERED, flags});
    pthread_mutex_unlock(&shared_blocks.lock);
    return answer(good ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t cudaHostUnregister(void *pointer) {
    pthread_mutex_lock(&shared_blocks.lock);
    size_t i = block_find((uint64_t)pointer);
    bool is = i < shared_blocks.count && shared_blocks.blocks[i].kind == SHARED_REGISTERED &&
              shared_blocks.blocks[i].address == (uint64_t)pointer;
    if (is) shared_blocks.blocks[i] = shared_blocks.blocks[--shared_blocks.count];
    pthread_mutex_unlock(&shared_blocks.lock);
    return answer(is ? cudaSuccess : cudaErrorHostMemoryNotRegistered);
}

/* --- device memory --- */

cudaError_t cudaMalloc(void **pointer, size_t bytes) {
    struct reply reply = {0};
    if (!pointer) return answer(cudaErrorInvalidValue);
    *pointer = NULL;
    if (bytes == 0) return answer(device_wait());
    cudaError_t error = ask(REQUEST(REQUEST_ALLOCATE, bytes), NULL, &reply, NULL, 0);
    if (error == cudaSuccess) *pointer = (void *)reply.value[0];
    return answer(error);
}

cudaError_t cudaFree(void *pointer) {
    struct shared block;
    if (!pointer) return answer(device_wait());
    if (shared_find(pointer, &block))
        return answer(block.kind == SHARED_MANAGED ? shared_free(pointer) : cudaErrorInvalidValue);
    return answer(ask(REQUEST(REQUEST_FREE, (uint64_t)pointer), NULL, NULL, NULL, 0));
}

cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream) {
    (void)stream;
    return cudaMalloc(pointer, bytes);
}

cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream) {
    (void)stream;
    return cudaFree(pointer);
}

cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height) {
    size_t row = (width + PITCH_BYTES - 1) / PITCH_BYTES * PITCH_BYTES, bytes;
    if (!pointer || !pitch || row < width || __builtin_mul_overflow(row, height, &bytes))
        return answer(cudaErrorInvalidValue);
    *pitch = row;
    return cudaMalloc(pointer, bytes);
}

cudaError_t cudaMalloc3D(struct cudaPitchedPtr *pointer, struct cudaExtent extent) {
    size_t rows;
    if (!pointer || __builtin_mul_overflow(extent.height, extent.depth, &rows)) return answer(cudaErrorInvalidValue);
    pointer->xsize = extent.width;
    pointer->ysize = extent.height;
    return cudaMallocPitch(&pointer->ptr, &pointer->pitch, extent.width, rows);
}

cudaError_t cudaMemGetInfo(size_t *free, size_t *total) {
    cudaError_t error;
    struct reply reply = {0};
    const struct device_facts *device = device_get(&error);
    if (device) error = ask(REQUEST(REQUEST_MEMORY), NULL, &reply, NULL, 0);
    if (error != cudaSuccess) return answer(error);
    if (total) *total = device->memory_bytes;
    if (free) *free = device->memory_bytes - reply.value[0];
    return cudaSuccess;
}

/* --- copies --- */

/* Bytes to copy: `depth` slices of `height` rows of `width` bytes. */
struct copy {
    size_t width, height, depth;
    char *to;
    size_t to_pitch, to_slice;
    const char *from;
    size_t from_pitch, from_slice;
};

static bool copy_is_empty(const struct copy *c) { return !c->width || !c->height || !c->depth; }

#define FOR_ROWS(c, y, z) \
    for (size_t z = 0; z < (c)->depth; z++) \
        for (size_t y = 0; y < (c)->height; y++)

static cudaError_t copy_to_device(const struct copy *c) {
    struct request request = {
        .kind = REQUEST_WRITE,
        .value = {c->width, c->height, c->depth, (uint64_t)c->to, c->to_pitch, c->to_slice},
        .bytes = c->width * c->height * c->depth,
    };
    struct reply reply;
    cudaError_t error;
    struct wire *wire = request_begin(&request, &error);
    if (!wire) return error;
    FOR_ROWS(c, y, z) wire_put(wire, c->from + z * c->from_slice + y * c->from_pitch, c->width);
    error = reply_begin(wire, &reply);
    request_end();
    return error;
}

static cudaError_t copy_from_device(const struct copy *c) {
    struct request request = {
        .kind = REQUEST_READ,
        .value = {c->width, c->height, c->depth, (uint64_t)c->from, c->from_pitch, c->from_slice},
    };
    struct reply reply;
    cudaError_t error;
    struct wire *wire = request_begin(&request, &error);
    if (!wire) return error;
    error = reply_begin(wire, &reply);
    if (error == cudaSuccess) {
        FOR_ROWS(c, y, z) wire_get(wire, c->to + z * c->to_slice + y * c->to_pitch, c->width);
        if (wire->broken) error = cudaErrorUnknown;
    }
    request_end();
    return error;
}

static cudaError_t copy_within_device(const struct copy *c) {
    return ask(REQUEST(REQUEST_COPY, c->width, c->height, c->depth, (uint64_t)c->to, c->to_pitch, c->to_slice,
                       (uint64_t)c->from, c->from_pitch, c->from_slice),
               NULL, NULL, NULL, 0);
}

static cudaError_t copy_within_host(const struct copy *c) {
    cudaError_t error = device_wait(); /* a kernel may still use pinned memory */
    if (error != cudaSuccess) return error;
    FOR_ROWS(c, y, z)
    memmove(c->to + z * c->to_slice + y * c->to_pitch, c->from + z * c->from_slice + y * c->from_pitch, c->width);
    return cudaSuccess;
}

static bool is_on_device(const void *pointer) {
    struct shared block;
    return !shared_find(pointer, &block) &&
           ask(REQUEST(REQUEST_FIND, (uint64_t)pointer), NULL, NULL, NULL, 0) == cudaSuccess;
}

static cudaError_t copy(const struct copy *c, enum cudaMemcpyKind kind) {
    if (copy_is_empty(c)) return device_wait();
    if (c->to_pitch < c->width || c->from_pitch < c->width) return cudaErrorInvalidPitchValue;
    if (!c->to || !c->from) return cudaErrorInvalidValue;
    if (kind == cudaMemcpyDefault) {
        bool to = is_on_device(c->to), from = is_on_device(c->from);
        kind = to     ? from ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice
               : from ? cudaMemcpyDeviceToHost
                      : cudaMemcpyHostToHost;
    }
    switch (kind) {
    case cudaMemcpyHostToHost: return copy_within_host(c);
    case cudaMemcpyHostToDevice: return copy_to_device(c);
    case cudaMemcpyDeviceToHost: return copy_from_device(c);
    case cudaMemcpyDeviceToDevice: return copy_within_device(c);
    case cudaMemcpyDefault: break;
    }
    return cudaErrorInvalidMemcpyDirection;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) {
    return answer(copy(&(struct copy){bytes, 1, 1, to, bytes, bytes, from, bytes, bytes}, kind));
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream) {
    (void)stream;
    return cudaMemcpy(to, from, bytes, kind);
}

cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes) {
    if (to_device || from_device) return answer(cudaErrorInvalidDevice);
    return cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice);
}

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes,
                                cudaStream_t stream) {
    (void)stream;
    return cudaMemcpyPeer(to, to_device, from, from_device, bytes);
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                         enum cudaMemcpyKind kind) {
    return answer(copy(&(struct copy){width, height, 1, to, to_pitch, 0, from, from_pitch, 0}, kind));
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, enum cudaMemcpyKind kind, cudaStream_t stream) {
    (void)stream;
    return cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind);
}

static struct copy_side side_of(struct cudaPitchedPtr pointer, struct cudaPos position) {
    return (struct copy_side){(char *)pointer.ptr + (position.z * pointer.ysize + position.y) * pointer.pitch +
                                  position.x,
                              pointer.pitch, pointer.pitch * pointer.ysize, 1};
}

/* With an array on one side, the extent is in its elements; otherwise in bytes. */
cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *c) {
    if (!c || (!c->srcArray && !c->srcPtr.ptr) || (!c->dstArray && !c->dstPtr.ptr))
        return answer(cudaErrorInvalidValue);
    struct copy_side from = side_of(c->srcPtr, c->srcPos), to = side_of(c->dstPtr, c->dstPos);
    bool within = !c->srcArray || array_side(c->srcArray, c->srcPos, &c->extent, &from);
    within &= !c->dstArray || array_side(c->dstArray, c->dstPos, &c->extent, &to);
    if (!within) return answer(cudaErrorInvalidValue);
    size_t texel = from.texel > to.texel ? from.texel : to.texel;
    return answer(copy(&(struct copy){c->extent.width * texel, c->extent.height, c->extent.depth, to.start, to.pitch,
                                      to.slice, from.start, from.pitch, from.slice},
                       c->kind));
}

cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *c, cudaStream_t stream) {
    (void)stream;
    return cudaMemcpy3D(c);
}

/* --- symbols --- */

/* The address of a part of a variable. */
static cudaError_t symbol_part(const void *symbol, size_t offset, size_t bytes, char **address) {
    uint64_t start = 0, size = 0;
    cudaError_t error = variable_find(symbol, &start, &size);
    if (error == cudaSuccess && (offset > size || bytes > size - offset)) error = cudaErrorInvalidValue;
    *address = (char *)(start + offset);
    return error;
}

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset,
                               enum cudaMemcpyKind kind) {
    char *to;
    cudaError_t error = symbol_part(symbol, offset, bytes, &to);
    if (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
        error = cudaErrorInvalidMemcpyDirection;
    return error == cudaSuccess ? cudaMemcpy(to, from, bytes, kind) : answer(error);
}

cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes, size_t offset,
                                    enum cudaMemcpyKind kind, cudaStream_t stream) {
    (void)stream;
    return cudaMemcpyToSymbol(symbol, from, bytes, offset, kind);
}

cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind) {
    char *from;
    cudaError_t error = symbol_part(symbol, offset, bytes, &from);
    if (kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
        error = cudaErrorInvalidMemcpyDirection;
    return error == cudaSuccess ? cudaMemcpy(to, from, bytes, kind) : answer(error);
}

cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset,
                                      enum cudaMemcpyKind kind, cudaStream_t stream) {
    (void)stream;
    return cudaMemcpyFromSymbol(to, symbol, bytes, offset, kind);
}

cudaError_t cudaGetSymbolAddress(void **address, const void *symbol) {
    uint64_t start = 0, size = 0;
    cudaError_t error = address ? variable_find(symbol, &start, &size) : cudaErrorInvalidValue;
    if (error == cudaSuccess) *address = (void *)start;
    return answer(error);
}

cudaError_t cudaGetSymbolSize(size_t *bytes, const void *symbol) {
    uint64_t start = 0, size = 0;
    cudaError_t error = bytes ? variable_find(symbol, &start, &size) : cudaErrorInvalidValue;
    if (error == cudaSuccess) *bytes = size;
    return answer(error);
}

/* --- fills --- */

static cudaError_t fill(struct cudaPitchedPtr pointer, int value, struct cudaExtent extent) {
    if (!extent.width || !extent.height || !extent.depth) return device_wait();
    if (pointer.pitch < extent.width) return cudaErrorInvalidPitchValue;
    return ask(REQUEST(REQUEST_FILL, extent.width, extent.height, extent.depth, (uint64_t)pointer.ptr, pointer.pitch,
                       pointer.pitch * pointer.ysize, (uint64_t)(value & 0xFF)),
               NULL, NULL, NULL, 0);
}

cudaError_t cudaMemset3D(struct cudaPitchedPtr pointer, int value, struct cudaExtent extent) {
    return answer(fill(pointer, value, extent));
}

cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr pointer, int value, struct cudaExtent extent, cudaStream_t stream) {
    (void)stream;
    return cudaMemset3D(pointer, value, extent);
}

cudaError_t cudaMemset2D(void *pointer, size_t pitch, int value, size_t width, size_t height) {
    return answer(fill((struct cudaPitchedPtr){pointer, pitch, 0, 0}, value, (struct cudaExtent){width, height, 1}));
}

cudaError_t cudaMemset2DAsync(void *pointer, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
    (void)stream;
    return cudaMemset2D(pointer, pitch, value, width, height);
}

cudaError_t cudaMemset(void *pointer, int value, size_t bytes) { return cudaMemset2D(pointer, bytes, value, bytes, 1); }

cudaError_t cudaMemsetAsync(void *pointer, int value, size_t bytes, cudaStream_t stream) {
    (void)stream;
    return cudaMemset(pointer, value, bytes);
}
