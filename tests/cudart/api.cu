// The groups of the runtime API, each of which verifies what its functions return and do: api [GROUP]. nvcc compiles it
// (nvcc_test.sh).
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <cooperative_groups.h>
#include <cuda_profiler_api.h>

static int failures;

#define CHECK(condition) \
    do { \
        if (!(condition)) failures++, printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
    } while (0)
#define IS(call, error) \
    do { \
        cudaError_t is_ = (call); \
        if (is_ != (error)) failures++, printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorName(is_)); \
        (void)cudaGetLastError(); \
    } while (0)
#define OK(call) IS(call, cudaSuccess)

__global__ void add_one(int *p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] += 1;
}

// --- memory ---

__device__ int table[4] = {1, 2, 3, 4};
__constant__ float factor;

__global__ void use_symbols(int *out) { out[threadIdx.x] = (int)(table[threadIdx.x] * factor); }

static void memory_1d() {
    int host[100], back[100], *a = nullptr, *b = nullptr;
    for (int i = 0; i < 100; i++) host[i] = i;
    OK(cudaMalloc(&a, sizeof host));
    OK(cudaMalloc(&b, sizeof host));
    OK(cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(b, a, sizeof host, cudaMemcpyDeviceToDevice));
    OK(cudaMemset(b + 50, 0xFF, 50 * sizeof(int)));
    OK(cudaMemcpy(back, b, sizeof back, cudaMemcpyDefault));
    CHECK(back[49] == 49 && back[50] == -1 && back[99] == -1);
    OK(cudaMemcpy(b + 1, host, 4, cudaMemcpyDefault));
    OK(cudaMemcpy(back, b, 8, cudaMemcpyDeviceToHost));
    CHECK(back[0] == 0 && back[1] == 0);
    IS(cudaMemcpy(a + 1, host, sizeof host, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    IS(cudaMemcpy(back, (void *)4096, 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    IS(cudaMemcpy(back, a, 4, (cudaMemcpyKind)9), cudaErrorInvalidMemcpyDirection);
    size_t free_before, free_after, total;
    OK(cudaMemGetInfo(&free_before, &total));
    OK(cudaFree(a));
    OK(cudaMemGetInfo(&free_after, &total));
    CHECK(free_after == free_before + sizeof host && total > free_after);
    IS(cudaFree(a), cudaErrorInvalidValue);
    IS(cudaFree(host), cudaErrorInvalidValue);
    OK(cudaFree(nullptr));
    OK(cudaFree(b));
    void *huge = host;
    IS(cudaMalloc(&huge, (size_t)1 << 50), cudaErrorMemoryAllocation);
    CHECK(huge == nullptr);
}

static void memory_2d_3d() {
    char host[6][10], back[6][10];
    memset(host, 7, sizeof host);
    host[5][9] = 8;
    char *p;
    size_t pitch;
    OK(cudaMallocPitch(&p, &pitch, 10, 6));
    CHECK(pitch % 512 == 0);
    OK(cudaMemset2D(p, pitch, 1, 10, 6));
    OK(cudaMemcpy2D(p + pitch, pitch, host[1], 10, 9, 5, cudaMemcpyHostToDevice));
    OK(cudaMemcpy2D(back, 10, p, pitch, 10, 6, cudaMemcpyDeviceToHost));
    CHECK(back[0][0] == 1 && back[1][0] == 7 && back[5][8] == 7 && back[5][9] == 1);
    IS(cudaMemcpy2D(p, 5, host, 10, 10, 6, cudaMemcpyHostToDevice), cudaErrorInvalidPitchValue);
    cudaPitchedPtr cube;
    cudaExtent extent = make_cudaExtent(10, 3, 2);
    OK(cudaMalloc3D(&cube, extent));
    OK(cudaMemset3D(cube, 3, extent));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(host, 10, 10, 3);
    copy.dstPtr = cube;
    copy.dstPos = make_cudaPos(1, 1, 1);
    copy.extent = make_cudaExtent(4, 2, 1);
    copy.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&copy));
    cudaMemcpy3DParms all = {};
    all.srcPtr = cube;
    all.dstPtr = make_cudaPitchedPtr(back, 10, 10, 3);
    all.extent = extent;
    all.kind = cudaMemcpyDeviceToHost;
    OK(cudaMemcpy3D(&all));
    CHECK(back[0][0] == 3 && back[4][0] == 3 && back[4][1] == 7 && back[5][4] == 7 && back[5][5] == 3);
}

static void memory_symbols() {
    int five = 5, out[4], got[4], *p;
    float two = 2;
    size_t bytes;
    void *address;
    OK(cudaMemcpyToSymbol(table, &five, sizeof five, 3 * sizeof(int)));
    OK(cudaMemcpyToSymbol(factor, &two, sizeof two));
    OK(cudaMalloc(&p, sizeof out));
    use_symbols<<<1, 4>>>(p);
    OK(cudaMemcpy(out, p, sizeof out, cudaMemcpyDeviceToHost));
    CHECK(out[0] == 2 && out[3] == 10);
    OK(cudaMemcpyFromSymbol(got, table, sizeof got));
    CHECK(got[0] == 1 && got[3] == 5);
    OK(cudaGetSymbolSize(&bytes, table));
    CHECK(bytes == sizeof table);
    OK(cudaGetSymbolAddress(&address, table));
    OK(cudaMemcpy(got, address, sizeof got, cudaMemcpyDeviceToHost));
    CHECK(got[1] == 2);
    IS(cudaMemcpyToSymbol(table, got, sizeof got, 4), cudaErrorInvalidValue);
    IS(cudaMemcpyToSymbol(five, got, sizeof got), cudaErrorInvalidSymbol);
    IS(cudaFree(address), cudaErrorInvalidValue);
}

__managed__ int total = 5;
__managed__ float managed_table[1000];

__global__ void use_managed() {
    managed_table[threadIdx.x] *= 2;
    atomicAdd(&total, 1);
}

// Variables that the program and kernels access by name.
static void memory_managed() {
    cudaPointerAttributes attributes;
    int now = 0;
    CHECK(total == 5 && managed_table[999] == 0);
    for (int i = 0; i < 1000; i++) managed_table[i] = i;
    use_managed<<<1, 256>>>();
    OK(cudaDeviceSynchronize());
    CHECK(total == 261 && managed_table[255] == 510 && managed_table[256] == 256);
    total = 0;
    use_managed<<<1, 32>>>();
    OK(cudaMemcpyFromSymbol(&now, total, sizeof now));
    CHECK(now == 32);
    OK(cudaPointerGetAttributes(&attributes, managed_table + 3));
    CHECK(attributes.type == cudaMemoryTypeManaged && attributes.devicePointer == managed_table + 3);
    IS(cudaFree(&total), cudaErrorInvalidValue);
}

static void memory_shared() {
    int *managed, *pinned, *device, plain[4] = {0};
    unsigned flags;
    cudaPointerAttributes attributes;
    OK(cudaMallocManaged(&managed, 1000 * sizeof(int)));
    for (int i = 0; i < 1000; i++) managed[i] = i;
    add_one<<<4, 256>>>(managed, 1000);
    OK(cudaDeviceSynchronize());
    CHECK(managed[0] == 1 && managed[999] == 1000);
    OK(cudaHostAlloc(&pinned, 4096, cudaHostAllocMapped));
    OK(cudaHostGetDevicePointer(&device, pinned, 0));
    OK(cudaHostGetFlags(&flags, pinned));
    CHECK(flags & cudaHostAllocMapped);
    pinned[5] = 41;
    add_one<<<1, 256>>>(device, 256);
    OK(cudaStreamSynchronize(0));
    CHECK(pinned[5] == 42);
    OK(cudaMemcpy(managed, pinned, 4096 < 4000 ? 4096 : 4000, cudaMemcpyDefault));
    CHECK(managed[5] == 42);
    OK(cudaPointerGetAttributes(&attributes, managed + 3));
    CHECK(attributes.type == cudaMemoryTypeManaged && attributes.devicePointer == managed + 3);
    OK(cudaPointerGetAttributes(&attributes, pinned));
    CHECK(attributes.type == cudaMemoryTypeHost);
    OK(cudaPointerGetAttributes(&attributes, plain));
    CHECK(attributes.type == cudaMemoryTypeUnregistered);
    OK(cudaHostRegister(plain, sizeof plain, cudaHostRegisterDefault));
    IS(cudaHostRegister(plain, sizeof plain, cudaHostRegisterDefault), cudaErrorHostMemoryAlreadyRegistered);
    OK(cudaHostUnregister(plain));
    IS(cudaHostUnregister(plain), cudaErrorHostMemoryNotRegistered);
    OK(cudaMemPrefetchAsync(managed, 4096, cudaMemLocation{cudaMemLocationTypeDevice, 0}, 0));
    OK(cudaFree(managed));
    OK(cudaFreeHost(pinned));
    IS(cudaFreeHost(pinned), cudaErrorInvalidValue);
    IS(cudaMallocManaged(&managed, 0), cudaErrorInvalidValue);
}

// The variants of copies and fills that have a stream or two devices, and hints.
static void memory_variants() {
    int host[16], back[16], *a, *b;
    for (int i = 0; i < 16; i++) host[i] = i * 3;
    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    OK(cudaMalloc(&a, sizeof host));
    OK(cudaMalloc(&b, sizeof host));
    OK(cudaMemcpy(a, host, sizeof host, cudaMemcpyDefault));
    OK(cudaMemcpyPeer(b, 0, a, 0, sizeof host));
    OK(cudaMemcpy(back, b, sizeof host, cudaMemcpyDefault));
    CHECK(memcmp(back, host, sizeof host) == 0);
    IS(cudaMemcpyPeer(b, 1, a, 0, sizeof host), cudaErrorInvalidDevice);
    OK(cudaMemset(b, 0, sizeof host));
    OK(cudaMemcpyPeerAsync(b, 0, a, 0, sizeof host, stream));
    OK(cudaMemcpy(back, b, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(memcmp(back, host, sizeof host) == 0);

    OK(cudaMemcpyToSymbolAsync(table, host, 16, 0, cudaMemcpyHostToDevice, stream));
    OK(cudaMemcpyFromSymbolAsync(back, table, 8, 8, cudaMemcpyDeviceToHost, stream));
    OK(cudaStreamSynchronize(stream));
    CHECK(back[0] == host[2] && back[1] == host[3]);

    char image[4][8], copy[4][8], *rows;
    for (int i = 0; i < 32; i++) image[i / 8][i % 8] = (char)i;
    size_t pitch;
    OK(cudaMallocPitch(&rows, &pitch, 8, 4));
    OK(cudaMemcpy2DAsync(rows, pitch, image, 8, 8, 4, cudaMemcpyHostToDevice, stream));
    OK(cudaMemset2DAsync(rows, pitch, 77, 3, 2, stream));
    OK(cudaMemcpy2DAsync(copy, 8, rows, pitch, 8, 4, cudaMemcpyDeviceToHost, stream));
    OK(cudaStreamSynchronize(stream));
    CHECK(copy[0][2] == 77 && copy[0][3] == 3 && copy[1][0] == 77 && copy[2][0] == 16);
    CHECK(memcmp(copy[2], image[2], 16) == 0);

    cudaPitchedPtr box;
    cudaExtent extent = make_cudaExtent(8, 4, 2);
    char volume[64] = {0};
    OK(cudaMalloc3D(&box, extent));
    OK(cudaMemset3DAsync(box, 5, extent, stream));
    cudaMemcpy3DParms parameters = {};
    parameters.srcPtr = box;
    parameters.dstPtr = make_cudaPitchedPtr(volume, 8, 8, 4);
    parameters.extent = extent;
    parameters.kind = cudaMemcpyDeviceToHost;
    OK(cudaMemcpy3DAsync(&parameters, stream));
    OK(cudaStreamSynchronize(stream));
    for (char c : volume) CHECK(c == 5);

    int *managed;
    OK(cudaMallocManaged(&managed, 4096));
    managed[3] = 33;
#if CUDART_VERSION >= 13000
    cudaMemLocation device = {};
    device.type = cudaMemLocationTypeDevice;
    OK(cudaMemPrefetchAsync(managed, 4096, device, 0, stream));
    OK(cudaMemAdvise(managed, 4096, cudaMemAdviseSetReadMostly, device));
#else
    OK(cudaMemPrefetchAsync(managed, 4096, 0, stream));
    OK(cudaMemAdvise(managed, 4096, cudaMemAdviseSetReadMostly, 0));
#endif
    OK(cudaStreamAttachMemAsync(stream, managed));
    CHECK(managed[3] == 33);
    OK(cudaStreamDestroy(stream));
}

static void memory() {
    memory_1d();
    memory_2d_3d();
    memory_symbols();
    memory_managed();
    memory_shared();
    memory_variants();
}

// --- streams and events ---

static void called(void *user) { ++*(int *)user; }
static void CUDART_CB called_back(cudaStream_t, cudaError_t status, void *user) { *(int *)user += status == cudaSuccess ? 10 : 100; }

static void stream_properties() {
    cudaStream_t stream, other;
    cudaEvent_t event;
    int least = 1, greatest = 1, priority = 1, device = 1;
    OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    CHECK(greatest <= least);
    OK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest));
    OK(cudaStreamCreate(&other));
    OK(cudaStreamGetPriority(stream, &priority));
    CHECK(priority == greatest);
    unsigned flags;
    OK(cudaStreamGetFlags(stream, &flags));
    CHECK(flags == cudaStreamNonBlocking);
    cudaStreamCaptureStatus status;
    OK(cudaStreamIsCapturing(stream, &status));
    CHECK(status == cudaStreamCaptureStatusNone);
    OK(cudaEventCreate(&event));
    OK(cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault));
    OK(cudaEventSynchronize(event));
#if CUDART_VERSION >= 12000
    unsigned long long id = 0, other_id = 0;
    OK(cudaStreamGetId(stream, &id));
    OK(cudaStreamGetId(other, &other_id));
    CHECK(id != other_id);
#endif
#if CUDART_VERSION >= 12080
    OK(cudaStreamGetDevice(stream, &device));
    CHECK(device == 0);
#endif
    (void)device;
    OK(cudaEventDestroy(event));
    OK(cudaStreamDestroy(other));
    OK(cudaStreamDestroy(stream));
}

static void streams() {
    stream_properties();
    cudaStream_t stream;
    cudaEvent_t first, second, third, untimed;
    unsigned flags;
    int *p, calls = 0;
    float one, all;
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(cudaStreamGetFlags(stream, &flags));
    CHECK(flags == cudaStreamNonBlocking);
    OK(cudaEventCreate(&first));
    OK(cudaEventCreate(&second));
    OK(cudaEventCreate(&third));
    OK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    IS(cudaEventElapsedTime(&one, first, second), cudaErrorInvalidResourceHandle);
    OK(cudaMallocAsync(&p, 4096, stream));
    OK(cudaMemsetAsync(p, 0, 4096, stream));
    OK(cudaEventRecord(first, stream));
    add_one<<<4, 256, 0, stream>>>(p, 1024);
    OK(cudaEventRecord(second, stream));
    for (int i = 0; i < 3; i++) add_one<<<4, 256, 0, stream>>>(p, 1024);
    OK(cudaEventRecord(third, stream));
    OK(cudaStreamWaitEvent(0, third, 0));
    OK(cudaEventSynchronize(third));
    OK(cudaEventQuery(third));
    OK(cudaEventElapsedTime(&one, first, second));
    OK(cudaEventElapsedTime(&all, first, third));
    CHECK(one > 0 && all > 2 * one);
    OK(cudaEventElapsedTime(&one, second, second));
    CHECK(one == 0);
    OK(cudaEventRecord(untimed, stream));
    IS(cudaEventElapsedTime(&one, first, untimed), cudaErrorInvalidResourceHandle);
    OK(cudaLaunchHostFunc(stream, called, &calls));
    OK(cudaStreamAddCallback(stream, called_back, &calls, 0));
    OK(cudaStreamSynchronize(stream));
    CHECK(calls == 11);
    int four;
    OK(cudaMemcpyAsync(&four, p + 7, 4, cudaMemcpyDeviceToHost, stream));
    OK(cudaStreamQuery(stream));
    CHECK(four == 4);
    OK(cudaFreeAsync(p, stream));
    for (cudaEvent_t event : {first, second, third, untimed}) OK(cudaEventDestroy(event));
    OK(cudaStreamDestroy(stream));
}

// --- launches, functions and occupancy ---

struct pair {
    char small;
    double large;
};

__global__ void mixed(char a, pair b, short c, double *out) { *out = a + b.small + b.large + c; }

__global__ void __launch_bounds__(128) bounded(int *p) { p[threadIdx.x] = blockDim.x; }

__global__ void use_shared(int *out) {
    extern __shared__ int dynamic[];
    __shared__ int fixed[64];
    fixed[threadIdx.x] = dynamic[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = fixed[63 - threadIdx.x] + dynamic[threadIdx.x];
}

static void launches() {
    int *p;
    double *real, sum;
    OK(cudaMalloc(&p, 4096));
    OK(cudaMalloc(&real, 8));
    mixed<<<1, 1>>>(1, pair{2, 0.5}, 4, real);
    OK(cudaMemcpy(&sum, real, 8, cudaMemcpyDeviceToHost));
    CHECK(sum == 7.5);
    int n = 10;
    void *arguments[] = {&p, &n};
    OK(cudaMemset(p, 0, 4096));
    OK(cudaLaunchKernel((const void *)add_one, dim3(1), dim3(32), arguments, 0, 0));
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(1);
    config.blockDim = dim3(32);
    OK(cudaLaunchKernelExC(&config, (const void *)add_one, arguments));
    OK(cudaLaunchKernelEx(&config, add_one, p, n));
    OK(cudaLaunchCooperativeKernel((const void *)add_one, dim3(1), dim3(32), arguments, 0, 0));
    IS(cudaLaunchCooperativeKernel((const void *)add_one, dim3(1000000), dim3(1024), arguments, 0, 0), cudaErrorCooperativeLaunchTooLarge);
    int got[11];
    OK(cudaMemcpy(got, p, sizeof got, cudaMemcpyDeviceToHost));
    CHECK(got[9] == 4 && got[10] == 0);
    add_one<<<1, 2000>>>(p, 1);
    IS(cudaGetLastError(), cudaErrorInvalidConfiguration);
    add_one<<<0, 32>>>(p, 1);
    IS(cudaGetLastError(), cudaErrorInvalidConfiguration);
    add_one<<<1, dim3(1, 1, 65)>>>(p, 1);
    IS(cudaGetLastError(), cudaErrorInvalidConfiguration);
    bounded<<<1, 256>>>(p);
    IS(cudaGetLastError(), cudaErrorLaunchOutOfResources);
    add_one<<<1, 32, 60000>>>(p, 1);
    IS(cudaGetLastError(), cudaErrorInvalidValue);
    IS(cudaLaunchKernel((const void *)&n, dim3(1), dim3(32), arguments, 0, 0), cudaErrorInvalidDeviceFunction);
    OK(cudaDeviceSynchronize());
}

__global__ void parameters(int *p, int n, double d, char c) { p[threadIdx.x] = n + (int)d + c; }

static void function_properties() {
    int blocks = 0;
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, parameters, 256, 0, cudaOccupancyDisableCachingOverride));
    CHECK(blocks == 8);
    size_t shared = 0;
    cudaDeviceProp properties;
    OK(cudaGetDeviceProperties(&properties, 0));
    OK(cudaOccupancyAvailableDynamicSMemPerBlock(&shared, parameters, 2, 256));
    CHECK(shared > 0 && 2 * shared <= properties.sharedMemPerMultiprocessor);
#if CUDART_VERSION >= 12040
    size_t offset = 0, size = 0;
    OK(cudaFuncGetParamInfo((const void *)parameters, 2, &offset, &size));
    CHECK(offset == 16 && size == 8);
    OK(cudaFuncGetParamInfo((const void *)parameters, 3, &offset, &size));
    CHECK(offset == 24 && size == 1);
    IS(cudaFuncGetParamInfo((const void *)parameters, 4, &offset, &size), cudaErrorInvalidValue);
#endif
#if CUDART_VERSION >= 11000
    cudaFunction_t function = nullptr;
    OK(cudaGetFuncBySymbol(&function, (const void *)parameters));
    CHECK(function != nullptr);
#endif
}

static void functions() {
    function_properties();
    cudaFuncAttributes attributes;
    int blocks, *p, got[64], grid, block;
    const char *name;
    OK(cudaMalloc(&p, 4096));
    OK(cudaFuncGetAttributes(&attributes, use_shared));
    CHECK(attributes.sharedSizeBytes == 256 && attributes.numRegs > 0 && attributes.maxThreadsPerBlock == 1024);
    CHECK(attributes.ptxVersion == 75 && attributes.binaryVersion == 75); // of compute_75
    OK(cudaFuncGetAttributes(&attributes, bounded));
    CHECK(attributes.maxThreadsPerBlock == 128);
    OK(cudaFuncSetAttribute(use_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000));
    use_shared<<<1, 64, 60000>>>(p);
    OK(cudaMemcpy(got, p, sizeof got, cudaMemcpyDeviceToHost));
    CHECK(got[0] == 63 && got[63] == 63);
    IS(cudaFuncSetAttribute(use_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20), cudaErrorInvalidValue);
    OK(cudaFuncSetCacheConfig(use_shared, cudaFuncCachePreferL1));
    OK(cudaFuncGetName(&name, (const void *)bounded));
    CHECK(strstr(name, "bounded"));
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add_one, 256, 0));
    CHECK(blocks == 8); // 2048 threads
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add_one, 256, 20000));
    CHECK(blocks == 3); // 64 KB of shared memory
    OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, add_one));
    CHECK(block == 1024 && grid == 2 * 80);
}

// --- devices and errors ---

static void device_settings() {
    int device = 1, list[1] = {0}, driver = 0, runtime = 0;
    unsigned flags = 0;
    char bus[32];
    cudaDeviceProp wanted = {};
    wanted.major = 7;
    OK(cudaChooseDevice(&device, &wanted));
    CHECK(device == 0);
    OK(cudaSetValidDevices(list, 1));
    OK(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
    OK(cudaGetDeviceFlags(&flags));
    CHECK((flags & cudaDeviceScheduleMask) == cudaDeviceScheduleBlockingSync);
    cudaFuncCache cache;
    OK(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
    OK(cudaDeviceGetCacheConfig(&cache));
    CHECK(cache == cudaFuncCachePreferNone); // the sizes of L1 and shared memory are fixed
    OK(cudaDeviceGetPCIBusId(bus, sizeof bus, 0));
    device = 1;
    OK(cudaDeviceGetByPCIBusId(&device, bus));
    CHECK(device == 0);
    IS(cudaDeviceGetByPCIBusId(&device, "0000:77:00.0"), cudaErrorInvalidDevice);
    IS(cudaDeviceEnablePeerAccess(0, 0), cudaErrorInvalidDevice);
    IS(cudaDeviceDisablePeerAccess(1), cudaErrorPeerAccessNotEnabled);
    int value;
    IS(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 1), cudaErrorInvalidDevice);
    OK(cudaDriverGetVersion(&driver));
    OK(cudaRuntimeGetVersion(&runtime));
    CHECK(driver >= runtime && runtime > 0);
    OK(cudaProfilerStart());
    OK(cudaProfilerStop());
#if CUDART_VERSION >= 11000
    OK(cudaCtxResetPersistingL2Cache());
#endif
#if CUDART_VERSION >= 12000
    OK(cudaInitDevice(0, 0, 0));
    IS(cudaInitDevice(1, 0, 0), cudaErrorInvalidDevice);
#endif
}

static void devices() {
    device_settings();
    int count, value, device, can;
    size_t limit;
    cudaDeviceProp p;
    OK(cudaGetDeviceCount(&count));
    CHECK(count == 1);
    OK(cudaSetDevice(0));
    IS(cudaSetDevice(1), cudaErrorInvalidDevice);
    OK(cudaGetDevice(&device));
    CHECK(device == 0);
    OK(cudaGetDeviceProperties(&p, 0));
    CHECK(strcmp(p.name, "Sluice adaptive-80sm") == 0 && p.multiProcessorCount == 80 && p.warpSize == 32);
    CHECK(p.sharedMemPerBlock == 48 << 10 && p.sharedMemPerMultiprocessor == 64 << 10 && p.l2CacheSize == 6 << 20);
    CHECK(p.regsPerBlock == 65536 && p.totalConstMem == 65536 && p.maxGridSize[1] == 65535 && p.clusterLaunch == 0);
    OK(cudaDeviceGetAttribute(&value, cudaDevAttrClockRate, 0));
    CHECK(value == 1400000);
    OK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxBlocksPerMultiprocessor, 0));
    CHECK(value == 32 && p.maxBlocksPerMultiProcessor == 32);
    OK(cudaDeviceCanAccessPeer(&can, 0, 0));
    CHECK(!can);
    OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20));
    OK(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
    CHECK(limit == 1 << 20);
    CHECK(strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue") == 0);
    CHECK(strcmp(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory") == 0);
    (void)cudaSetDevice(7);
    CHECK(cudaPeekAtLastError() == cudaErrorInvalidDevice);
    CHECK(cudaGetLastError() == cudaErrorInvalidDevice);
    CHECK(cudaGetLastError() == cudaSuccess);
    add_one<<<1, 32>>>(nullptr, 0);
    OK(cudaDeviceReset());
}

// --- cooperative launches ---

__global__ void meet(int *p, int *sum) {
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    for (int round = 0; round < 3; round++) {
        p[grid.thread_rank()] = round + 1;
        grid.sync();
        atomicAdd(sum, p[(grid.thread_rank() + grid.size() / 2) % grid.size()]); // of another block
        grid.sync();
    }
}

static void cooperation() {
    int *p, *sum, total, can;
    OK(cudaDeviceGetAttribute(&can, cudaDevAttrCooperativeLaunch, 0));
    CHECK(can);
    OK(cudaMalloc(&p, 8 * 64 * sizeof(int)));
    OK(cudaMalloc(&sum, sizeof(int)));
    OK(cudaMemset(sum, 0, sizeof(int)));
    void *arguments[] = {&p, &sum};
    OK(cudaLaunchCooperativeKernel((const void *)meet, dim3(8), dim3(64), arguments, 0, 0));
    OK(cudaMemcpy(&total, sum, sizeof total, cudaMemcpyDeviceToHost));
    CHECK(total == 8 * 64 * 6);
}

// --- textures, surfaces and arrays ---

__global__ void look_up(cudaTextureObject_t image, cudaTextureObject_t line, float *out, int width) {
    int x = threadIdx.x, y = blockIdx.x;
    out[y * width + x] = tex2D<float>(image, x + 1.0f, y + 0.5f) + tex1Dfetch<float>(line, x);
}

__global__ void draw(cudaSurfaceObject_t surface) {
    surf2Dwrite((int)(threadIdx.x + 100 * blockIdx.x), surface, threadIdx.x * sizeof(int), blockIdx.x);
}

static void array_copies() {
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float2>(), found;
    cudaArray_t plane, volume;
    cudaExtent extent;
    unsigned flags;
    cudaStream_t stream;
    float2 image[32], back[32];
    for (int i = 0; i < 32; i++) image[i] = make_float2((float)i, 2.0f * (float)i);
    OK(cudaStreamCreate(&stream));
    OK(cudaMallocArray(&plane, &format, 8, 4));
    OK(cudaGetChannelDesc(&found, plane));
    CHECK(memcmp(&found, &format, sizeof format) == 0);
    OK(cudaMalloc3DArray(&volume, &format, make_cudaExtent(8, 4, 2)));
    OK(cudaArrayGetInfo(&found, &extent, &flags, volume));
    CHECK(extent.width == 8 && extent.height == 4 && extent.depth == 2);
    OK(cudaMemcpy2DToArrayAsync(plane, 0, 0, image, 64, 64, 4, cudaMemcpyHostToDevice, stream));
    OK(cudaMemcpy2DFromArrayAsync(back, 64, plane, 0, 0, 64, 4, cudaMemcpyDeviceToHost, stream));
    OK(cudaStreamSynchronize(stream));
    CHECK(memcmp(back, image, sizeof image) == 0);
    // 12 elements from the third of the second row on, which end in the third row.
    memset(back, 0, sizeof back);
    OK(cudaMemcpyToArray(plane, 16, 1, image, 96, cudaMemcpyHostToDevice));
    OK(cudaMemcpyFromArrayAsync(back, plane, 16, 1, 96, cudaMemcpyDeviceToHost, stream));
    OK(cudaStreamSynchronize(stream));
    CHECK(memcmp(back, image, 96) == 0);
    OK(cudaMemcpy2DFromArray(back, 64, plane, 0, 1, 64, 2, cudaMemcpyDeviceToHost));
    CHECK(back[1].x == 9 && back[2].x == 0 && back[13].x == 11 && back[14].x == 22);
    IS(cudaMemcpyToArray(plane, 16, 1, image, sizeof image - 64 - 8, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    IS(cudaMemcpyToArray(plane, 64, 1, image, 8, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    OK(cudaMemcpyToArrayAsync(plane, 0, 0, image, sizeof image, cudaMemcpyHostToDevice, stream));
    OK(cudaMemcpyFromArray(back, plane, 0, 0, sizeof image, cudaMemcpyDeviceToHost));
    CHECK(memcmp(back, image, sizeof image) == 0);
    OK(cudaFreeArray(plane));
    OK(cudaFreeArray(volume));
    OK(cudaStreamDestroy(stream));
}

static void textures() {
    array_copies();
    const int width = 20, height = 9;
    float image[height][width], line[width], got[height][width], *device_line, *out;
    for (int x = 0; x < width; x++) line[x] = 1000.0f * x;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) image[y][x] = (float)(x * x + 100 * y);
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>(), known;
    cudaExtent extent;
    OK(cudaMallocArray(&array, &format, width, height));
    OK(cudaArrayGetInfo(&known, &extent, nullptr, array));
    CHECK(known.x == 32 && known.f == cudaChannelFormatKindFloat && extent.width == width && extent.height == height);
    OK(cudaMemcpy2DToArray(array, 0, 0, image, sizeof image[0], sizeof image[0], height, cudaMemcpyHostToDevice));
    OK(cudaMemcpy2DFromArray(got, sizeof got[0], array, 0, 0, sizeof got[0], height, cudaMemcpyDeviceToHost));
    CHECK(memcmp(got, image, sizeof got) == 0);
    IS(cudaMemcpy2DToArray(array, 4, 0, image, sizeof image[0], sizeof image[0], height, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    OK(cudaMalloc(&device_line, sizeof line));
    OK(cudaMalloc(&out, sizeof got));
    OK(cudaMemcpy(device_line, line, sizeof line, cudaMemcpyHostToDevice));
    cudaResourceDesc resource = {};
    cudaTextureDesc sampling = {};
    cudaTextureObject_t texture, fetch;
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    sampling.addressMode[0] = sampling.addressMode[1] = cudaAddressModeClamp;
    sampling.filterMode = cudaFilterModeLinear;
    OK(cudaCreateTextureObject(&texture, &resource, &sampling, nullptr));
    cudaResourceDesc linear = {};
    linear.resType = cudaResourceTypeLinear;
    linear.res.linear.devPtr = device_line;
    linear.res.linear.desc = format;
    linear.res.linear.sizeInBytes = sizeof line;
    cudaTextureDesc plain = {};
    OK(cudaCreateTextureObject(&fetch, &linear, &plain, nullptr));
    look_up<<<height, width>>>(texture, fetch, out, width);
    OK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    bool good = true;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) { // half way to the next texel, clamped at the end
            float next = image[y][x + 1 < width ? x + 1 : x];
            good &= got[y][x] == (image[y][x] + next) / 2 + line[x];
        }
    CHECK(good);
    OK(cudaDestroyTextureObject(texture));
    OK(cudaDestroyTextureObject(fetch));
    OK(cudaFreeArray(array));

    int drawn[5][16];
    cudaSurfaceObject_t surface;
    format = cudaCreateChannelDesc<int>();
    OK(cudaMallocArray(&array, &format, 16, 5, cudaArraySurfaceLoadStore));
    resource.res.array.array = array;
    OK(cudaCreateSurfaceObject(&surface, &resource));
    draw<<<5, 16>>>(surface);
    OK(cudaMemcpyFromArray(drawn, array, 0, 0, sizeof drawn, cudaMemcpyDeviceToHost));
    CHECK(drawn[0][0] == 0 && drawn[4][15] == 415);
    OK(cudaDestroySurfaceObject(surface));
    OK(cudaFreeArray(array));
    OK(cudaFree(device_line));
}

// --- what kernels call: printf, malloc and assert ---

__global__ void say(int n) { printf("thread %d of %d: %s %.1f\n", threadIdx.x, n, "text", 1.5); }

__global__ void build(int **lists) {
    int *list = (int *)malloc(4 * sizeof(int));
    for (int i = 0; i < 4; i++) list[i] = threadIdx.x * i;
    lists[threadIdx.x] = list;
}

__global__ void collect(int **lists, int *sum) {
    for (int i = 0; i < 4; i++) atomicAdd(sum, lists[threadIdx.x][i]);
    free(lists[threadIdx.x]);
}

static void calls() {
    int **lists, *sum, total;
    printf("before\n");
    say<<<1, 2>>>(2);
    OK(cudaDeviceSynchronize());
    printf("after\n");
    OK(cudaMalloc(&lists, 32 * sizeof *lists));
    OK(cudaMalloc(&sum, sizeof *sum));
    OK(cudaMemset(sum, 0, sizeof *sum));
    build<<<1, 32>>>(lists);
    collect<<<1, 32>>>(lists, sum);
    OK(cudaMemcpy(&total, sum, sizeof total, cudaMemcpyDeviceToHost));
    CHECK(total == 31 * 32 / 2 * 6);
    say<<<1, 1>>>(1); // printed at the end of the program
}

__global__ void insist(int n) { assert(n < 3); }

static void asserts() {
    insist<<<1, 1>>>(2);
    OK(cudaDeviceSynchronize());
    insist<<<1, 1>>>(3);
    IS(cudaDeviceSynchronize(), cudaErrorAssert);
    IS(cudaDeviceSynchronize(), cudaErrorAssert);
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)();
        bool alone; // only if it is named
    } groups[] = {
        {"memory", memory, false},   {"streams", streams, false}, {"launches", launches, false}, {"functions", functions, false},
        {"devices", devices, false}, {"cooperation", cooperation, false}, {"textures", textures, false}, {"calls", calls, false},     {"asserts", asserts, true},
    };
    for (auto &group : groups)
        if (argc > 1 ? strcmp(argv[1], group.name) == 0 : !group.alone) group.run();
    if (!failures) printf("passed\n");
    return failures != 0;
}
