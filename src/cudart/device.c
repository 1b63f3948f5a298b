/* The device: properties, attributes, limits, and the functions whose structures differ between releases. Compiled once for
 * each release (CUDART_MAJOR); the other files are common to all. */
#include <stdio.h>
#include <string.h>

#include "cudart/runtime.h"

cudaError_t cudaGetDeviceProperties_v2(struct cudaDeviceProp *properties, int device);

static uint64_t shared_per_block(const struct device_facts *d) {
    return d->shared_bytes_per_sm < SHARED_BLOCK_BYTES ? d->shared_bytes_per_sm : SHARED_BLOCK_BYTES;
}

cudaError_t cudaGetDeviceCount(int *count) {
    cudaError_t error;
    if (!count) return answer(cudaErrorInvalidValue);
    *count = device_get(&error) != NULL;
    return answer(*count ? cudaSuccess : cudaErrorNoDevice);
}

cudaError_t cudaGetDevice(int *device) {
    if (!device) return answer(cudaErrorInvalidValue);
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
    cudaError_t error = cudaErrorInvalidDevice;
    if (device == 0) device_get(&error);
    return answer(error);
}

cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags) {
    (void)device_flags, (void)flags;
    return cudaSetDevice(device);
}

cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *wanted) {
    return wanted ? cudaGetDevice(device) : answer(cudaErrorInvalidValue);
}

cudaError_t cudaSetValidDevices(int *devices, int count) {
    for (int i = 0; i < count; i++)
        if (!devices || devices[i] != 0) return answer(cudaErrorInvalidDevice);
    return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize(void) { return answer(device_wait()); }

/* Programs call it at their end. Allocations stay. */
cudaError_t cudaDeviceReset(void) { return answer(device_wait()); }

static unsigned device_flags = cudaDeviceMapHost;

cudaError_t cudaGetDeviceFlags(unsigned *flags) {
    if (!flags) return answer(cudaErrorInvalidValue);
    *flags = device_flags;
    return cudaSuccess;
}

/* How a thread waits has no effect on a simulated device. */
cudaError_t cudaSetDeviceFlags(unsigned flags) {
    if (flags & ~(unsigned)(0x07 | cudaDeviceMapHost | cudaDeviceLmemResizeToMax | 0x80))
        return answer(cudaErrorInvalidValue);
    device_flags = flags | cudaDeviceMapHost;
    return cudaSuccess;
}

/* Stack and printf buffer have no limit on the device; the values are only remembered. */
static size_t limits[] = {[cudaLimitStackSize] = 1024, [cudaLimitPrintfFifoSize] = 1 << 20};

cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit) {
    if (!value) return answer(cudaErrorInvalidValue);
    struct reply reply = {0};
    cudaError_t error = cudaSuccess;
    if (limit == cudaLimitMallocHeapSize)
        error = ask(REQUEST(REQUEST_LIMIT, 0), NULL, &reply, NULL, 0);
    else if (limit == cudaLimitStackSize || limit == cudaLimitPrintfFifoSize)
        reply.value[0] = limits[limit];
    else
        return missing("a limit other than stack, printf and heap size");
    *value = reply.value[0];
    return answer(error);
}

cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value) {
    if (limit == cudaLimitMallocHeapSize)
        return answer(ask(REQUEST(REQUEST_LIMIT, value ? value : 1), NULL, NULL, NULL, 0));
    if (limit != cudaLimitStackSize && limit != cudaLimitPrintfFifoSize)
        return missing("a limit other than stack, printf and heap size");
    limits[limit] = value;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config) {
    if (!config) return answer(cudaErrorInvalidValue);
    *config = cudaFuncCachePreferNone;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *config) {
    if (!config) return answer(cudaErrorInvalidValue);
    *config = cudaSharedMemBankSizeFourByte;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char *text, int bytes, int device) {
    if (device != 0) return answer(cudaErrorInvalidDevice);
    if (!text || bytes < 13) return answer(cudaErrorInvalidValue);
    snprintf(text, (size_t)bytes, "0000:00:00.0");
    return cudaSuccess;
}

cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *text) {
    if (!device || !text || strcmp(text, "0000:00:00.0") != 0) return answer(cudaErrorInvalidDevice);
    *device = 0;
    return cudaSuccess;
}

/* There is one device, and it has no peers. */
cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer) {
    if (!can) return answer(cudaErrorInvalidValue);
    if (device != 0 || peer != 0) return answer(cudaErrorInvalidDevice);
    *can = 0;
    return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
    (void)peer, (void)flags;
    return answer(cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
    (void)peer;
    return answer(cudaErrorPeerAccessNotEnabled);
}

cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attribute, int device, int peer) {
    (void)value, (void)attribute, (void)device, (void)peer;
    return answer(cudaErrorInvalidDevice);
}

/* 13.0 as 13000, 10.2 as 10020. */
enum { VERSION = CUDART_MAJOR == 10 ? 10020 : CUDART_MAJOR * 1000 };

cudaError_t cudaDriverGetVersion(int *version) {
    if (!version) return answer(cudaErrorInvalidValue);
    *version = VERSION;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version) { return cudaDriverGetVersion(version); }

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device) {
    cudaError_t error;
    if (!value) return answer(cudaErrorInvalidValue);
    if (device != 0) return answer(cudaErrorInvalidDevice);
    const struct device_facts *d = device_get(&error);
    if (!d) return answer(error);
    switch ((int)attribute) {
#define ATTRIBUTE(name, number, value_) \
    case number: \
        *value = (int)(value_); \
        return cudaSuccess;
#include "cudart/attributes.def"
#undef ATTRIBUTE
    }
    *value = 0;
    return (int)attribute > 0 && (int)attribute < 256 ? cudaSuccess : answer(cudaErrorInvalidValue);
}

static void properties_fill(struct cudaDeviceProp *p, const struct device_facts *d) {
    memset(p, 0, sizeof *p);
    memcpy(p->name, d->name, sizeof p->name);
    p->totalGlobalMem = d->memory_bytes;
    p->sharedMemPerBlock = shared_per_block(d);
    p->regsPerBlock = (int)d->registers_per_sm;
    p->warpSize = (int)d->warp_threads;
    p->memPitch = INT32_MAX;
    p->maxThreadsPerBlock = p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024;
    p->maxThreadsDim[2] = 64;
    p->maxGridSize[0] = INT32_MAX;
    p->maxGridSize[1] = p->maxGridSize[2] = 65535;
    p->totalConstMem = d->constant_bytes;
    p->major = (int)d->capability / 10;
    p->minor = (int)d->capability % 10;
    p->textureAlignment = 512;
    p->texturePitchAlignment = 32;
    p->multiProcessorCount = (int)d->sms;
    p->canMapHostMemory = 1;
    p->surfaceAlignment = 512;
    p->concurrentKernels = 1;
    p->asyncEngineCount = 1;
    p->unifiedAddressing = 1;
    p->memoryBusWidth = (int)d->memory_bus_bits;
    p->l2CacheSize = (int)d->l2_bytes;
    p->maxThreadsPerMultiProcessor = (int)d->threads_per_sm;
    p->globalL1CacheSupported = p->localL1CacheSupported = 1;
    p->sharedMemPerMultiprocessor = p->sharedMemPerBlockOptin = d->shared_bytes_per_sm;
    p->regsPerMultiprocessor = (int)d->registers_per_sm;
    p->managedMemory = p->concurrentManagedAccess = p->cooperativeLaunch = 1;
#if CUDART_MAJOR < 13
    p->clockRate = (int)d->core_khz;
    p->memoryClockRate = (int)d->memory_khz;
    p->deviceOverlap = 1;
    p->singleToDoublePrecisionPerfRatio = 2;
#endif
#if CUDART_MAJOR >= 11
    p->maxBlocksPerMultiProcessor = (int)d->ctas_per_sm;
#endif
#if CUDART_MAJOR >= 12
    p->hostRegisterSupported = 1;
#endif
}

/* The first `bytes` of the properties. */
static cudaError_t properties_get(void *to, size_t bytes, int device) {
    cudaError_t error;
    struct cudaDeviceProp properties;
    if (!to) return answer(cudaErrorInvalidValue);
    if (device != 0) return answer(cudaErrorInvalidDevice);
    const struct device_facts *d = device_get(&error);
    if (!d) return answer(error);
    properties_fill(&properties, d);
    memcpy(to, &properties, bytes);
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties_v2(struct cudaDeviceProp *properties, int device) {
    return properties_get(properties, sizeof *properties, device);
}

/* Under CUDA 12 this name is for programs compiled for the structure of CUDA 11, which is the first part of the new one. */
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device) {
#if CUDART_MAJOR == 12
    return properties_get(properties, offsetof(struct cudaDeviceProp, hostRegisterSupported), device);
#else
    return properties_get(properties, sizeof *properties, device);
#endif
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *key) {
    cudaError_t error;
    if (!attributes) return answer(cudaErrorInvalidValue);
    const struct device_facts *device = device_get(&error);
    const struct function *function = device ? function_find(key, &error) : NULL;
    if (!function) return answer(error);
    uint64_t shared = function->facts.shared_bytes;
    /* May be newer than the device, which executes the code all the same. */
    uint32_t compiled_for = function->facts.ptx_architecture;
    *attributes = (struct cudaFuncAttributes){
        .sharedSizeBytes = shared,
        .constSizeBytes = function->facts.constant_bytes,
        .localSizeBytes = function->facts.local_bytes,
        .maxThreadsPerBlock = (int)function->facts.max_threads,
        .numRegs = (int)function->facts.registers,
        .ptxVersion = (int)compiled_for,
        .binaryVersion = (int)(compiled_for > device->capability ? compiled_for : device->capability),
        .maxDynamicSharedSizeBytes =
            (int)(function->shared_limit ? function->shared_limit
                                         : (shared < SHARED_BLOCK_BYTES ? SHARED_BLOCK_BYTES - shared : 0)),
        .preferredShmemCarveout = -1,
    };
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *pointer) {
    struct shared block;
    if (!attributes) return answer(cudaErrorInvalidValue);
    *attributes = (struct cudaPointerAttributes){.device = -2};
    if (shared_find(pointer, &block)) {
        attributes->type = block.kind == SHARED_MANAGED ? cudaMemoryTypeManaged : cudaMemoryTypeHost;
        attributes->device = 0;
        attributes->hostPointer = (void *)pointer;
        attributes->devicePointer = block.kind == SHARED_REGISTERED ? NULL : (void *)pointer;
    } else if (ask(REQUEST(REQUEST_FIND, (uint64_t)pointer), NULL, NULL, NULL, 0) == cudaSuccess) {
        attributes->type = cudaMemoryTypeDevice;
        attributes->device = 0;
        attributes->devicePointer = (void *)pointer;
    } else {
        attributes->hostPointer = (void *)pointer;
    }
#if CUDART_MAJOR < 11
    attributes->memoryType = attributes->type == cudaMemoryTypeDevice ? cudaMemoryTypeDevice : cudaMemoryTypeHost;
    attributes->isManaged = attributes->type == cudaMemoryTypeManaged;
    if (attributes->type == cudaMemoryTypeUnregistered) return answer(cudaErrorInvalidValue);
#endif
    return cudaSuccess;
}
