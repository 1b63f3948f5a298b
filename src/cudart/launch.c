/* Launches, function attributes and occupancy. */
#include <stdatomic.h>
#include <string.h>

#include "cudart/runtime.h"

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                               cudaStream_t stream);

static atomic_ullong launches;

uint64_t launch_count(void) { return atomic_load(&launches); }

/* Configurations between <<<>>> and the launch, which nest if an argument launches a kernel. */
enum { CONFIGURATIONS = 16 };
static _Thread_local struct {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
} pushed[CONFIGURATIONS];
static _Thread_local unsigned pushed_count;

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
    if (pushed_count == CONFIGURATIONS) return (unsigned)answer(cudaErrorInvalidConfiguration);
    pushed[pushed_count].grid = grid;
    pushed[pushed_count].block = block;
    pushed[pushed_count].shared = shared;
    pushed[pushed_count++].stream = stream;
    return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream) {
    if (pushed_count == 0) return answer(cudaErrorMissingConfiguration);
    pushed_count--;
    *grid = pushed[pushed_count].grid;
    *block = pushed[pushed_count].block;
    *shared = pushed[pushed_count].shared;
    *(cudaStream_t *)stream = pushed[pushed_count].stream;
    return cudaSuccess;
}

/* A CTA gets more than 48 KB of shared memory only after cudaFuncSetAttribute. */
static bool shared_allowed(const struct function *function, size_t shared) {
    uint64_t most =
        SHARED_BLOCK_BYTES -
        (function->facts.shared_bytes < SHARED_BLOCK_BYTES ? function->facts.shared_bytes : SHARED_BLOCK_BYTES);
    return shared <= most || shared <= function->shared_limit;
}

/* As the kernel requires. */
#define NO_CLUSTER ((dim3){0, 0, 0})

static cudaError_t launch(const void *key, dim3 grid, dim3 block, void **arguments, size_t shared, bool cooperative,
                          dim3 cluster) {
    cudaError_t error;
    const struct function *function = function_find(key, &error);
    if (!function) return error;
    if (!shared_allowed(function, shared)) return cudaErrorInvalidValue;
    size_t name_bytes = strlen(function->name) + 1;
    struct request request = {
        .kind = REQUEST_LAUNCH,
        .value = {function->module, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared, cooperative, cluster.x,
                  cluster.y, cluster.z},
        .bytes = name_bytes,
    };
    for (unsigned i = 0; i < function->facts.parameters; i++) {
        if (!arguments || !arguments[i]) return cudaErrorInvalidValue;
        request.bytes += function->parameters[i].bytes;
    }
    struct wire *wire = request_begin(&request, &error);
    if (!wire) return error;
    struct reply reply;
    wire_put(wire, function->name, name_bytes);
    for (unsigned i = 0; i < function->facts.parameters; i++)
        wire_put(wire, arguments[i], function->parameters[i].bytes);
    error = reply_begin(wire, &reply);
    if (error == cudaSuccess) atomic_fetch_add(&launches, 1);
    request_end();
    return error;
}

cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared,
                             cudaStream_t stream) {
    (void)stream;
    return answer(launch(function, grid, block, arguments, shared, false, NO_CLUSTER));
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                               cudaStream_t stream) {
    (void)stream;
    return answer(launch(kernel, grid, block, arguments, shared, false, NO_CLUSTER));
}

static cudaError_t occupancy(const void *key, dim3 block, size_t shared, int *blocks) {
    cudaError_t error;
    const struct function *function = function_find(key, &error);
    if (!function) return error;
    struct request request = {
        .kind = REQUEST_OCCUPANCY,
        .value = {function->module, 1, 1, 1, block.x, block.y, block.z, shared},
        .bytes = strlen(function->name),
    };
    struct reply reply = {0};
    error = ask(&request, function->name, &reply, NULL, 0);
    if (error == cudaSuccess) *blocks = (int)reply.value[0];
    return error;
}

/* All CTAs of the grid must be resident at once, since they may wait for each other. */
static cudaError_t launch_cooperative(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared,
                                      dim3 cluster) {
    int blocks = 0;
    cudaError_t error;
    const struct device_facts *device = device_get(&error);
    if (!device) return error;
    error = occupancy(function, block, shared, &blocks);
    if (error != cudaSuccess) return error;
    if ((uint64_t)grid.x * grid.y * grid.z > (uint64_t)blocks * device->sms) return cudaErrorCooperativeLaunchTooLarge;
    return launch(function, grid, block, arguments, shared, true, cluster);
}

cudaError_t cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared,
                                        cudaStream_t stream) {
    (void)stream;
    return answer(launch_cooperative(function, grid, block, arguments, shared, NO_CLUSTER));
}

/* Attributes other than these are hints. */
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function, void **arguments) {
    enum { ATTRIBUTE_BYTES = 72, CLUSTER = 4, COOPERATIVE = 2 };
    if (!config) return answer(cudaErrorInvalidValue);
    bool cooperative = false;
    dim3 cluster = NO_CLUSTER;
    for (unsigned i = 0; config->attrs && i < config->numAttrs; i++) {
        const unsigned char *attribute = (const unsigned char *)config->attrs + (size_t)i * ATTRIBUTE_BYTES;
        unsigned id, size[3];
        memcpy(&id, attribute, sizeof id);
        memcpy(size, attribute + 8, sizeof size);
        if (id == CLUSTER) cluster = (dim3){size[0], size[1], size[2]};
        if (id == COOPERATIVE) cooperative = size[0] != 0;
    }
    return answer(cooperative ? launch_cooperative(function, config->gridDim, config->blockDim, arguments,
                                                   config->dynamicSmemBytes, cluster)
                              : launch(function, config->gridDim, config->blockDim, arguments, config->dynamicSmemBytes,
                                       false, cluster));
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *function, int block_threads,
                                                                   size_t shared, unsigned flags) {
    (void)flags;
    if (!blocks || block_threads < 1) return answer(cudaErrorInvalidValue);
    return answer(occupancy(function, (dim3){(unsigned)block_threads, 1, 1}, shared, blocks));
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function, int block_threads,
                                                          size_t shared) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_threads, shared, 0);
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *key, int blocks, int block_threads) {
    cudaError_t error;
    const struct device_facts *device = device_get(&error);
    const struct function *function = device ? function_find(key, &error) : NULL;
    if (!function) return answer(error);
    if (!bytes || blocks < 1 || block_threads < 1) return answer(cudaErrorInvalidValue);
    uint64_t share = device->shared_bytes_per_sm / (unsigned)blocks, used = function->facts.shared_bytes;
    *bytes = share > used ? share - used : 0;
    return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void *key, enum cudaFuncAttribute attribute, int value) {
    cudaError_t error;
    const struct device_facts *device = device_get(&error);
    struct function *function = device ? function_find(key, &error) : NULL;
    if (!function) return answer(error);
    if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout) return cudaSuccess; /* a hint */
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return answer(cudaErrorInvalidValue);
    if (value < 0 || (uint64_t)value + function->facts.shared_bytes > device->shared_bytes_per_sm)
        return answer(cudaErrorInvalidValue);
    function->shared_limit = (uint64_t)value;
    return cudaSuccess;
}

cudaError_t cudaFuncGetName(const char **name, const void *key) {
    cudaError_t error;
    const struct function *function = function_find(key, &error);
    if (function && name) *name = function->name;
    return answer(name ? error : cudaErrorInvalidValue);
}

cudaError_t cudaFuncGetParamInfo(const void *key, size_t index, size_t *offset, size_t *bytes) {
    cudaError_t error;
    const struct function *function = function_find(key, &error);
    if (!function) return answer(error);
    if (index >= function->facts.parameters) return answer(cudaErrorInvalidValue);
    if (offset) *offset = function->parameters[index].offset;
    if (bytes) *bytes = function->parameters[index].bytes;
    return cudaSuccess;
}
