/* Registration: what the code that nvcc generates calls before main. Fat binaries are sent at once; kernels and variables
 * are looked up when they are first used, by the addresses of their host counterparts. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/fatbin.h"
#include "cudart/runtime.h"

void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int limit, uint3 *tid,
                            uint3 *bid, dim3 *block, dim3 *grid, int *warp);
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext, size_t bytes, int constant,
                       int global);
void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int ext, size_t bytes,
                              int constant, int global);
void __cudaRegisterHostVar(void **handle, const char *name, void *host, size_t bytes);
void __cudaRegisterTexture(void **handle, const void *host, const void **device, const char *name, int dimensions,
                           int normalised, int ext);
void __cudaRegisterSurface(void **handle, const void *host, const void **device, const char *name, int dimensions,
                           int ext);
void __cudaRegisterUnifiedTable(void **handle, void *table);
char __cudaInitModule(void **handle);
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host);

/* What a program registers: magic, version, container, and for relocatable code the containers of all files. */
struct wrapper {
    uint32_t magic, version;
    const uint8_t *container;
    void *files;
};

struct variable {
    const void *key;
    uint64_t module;
    const char *name;
    uint64_t address, bytes; /* 0: not looked up */
    void **managed;          /* the program's pointer to a __managed__ variable; NULL: it is not one */
    struct variable *next;
};

static struct {
    pthread_mutex_t lock;
    struct function *functions;
    struct variable *variables;
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The library never frees: registrations last as long as the process. */
static void *allocate(size_t bytes) {
    void *block = calloc(1, bytes);
    if (!block) abort();
    return block;
}

void **__cudaRegisterFatBinary(void *registered) {
    const struct wrapper *wrapper = registered;
    uint64_t *module = allocate(sizeof *module); /* the handle points to the module's number; 0: none */
    uint16_t head;
    uint64_t size;
    if (wrapper->magic != FATBIN_WRAPPER_MAGIC) {
        complain("the program registers device code of an unknown kind");
    } else if (wrapper->version != 1) {
        complain("relocatable device code is not supported: rebuild the program without -rdc=true");
    } else {
        memcpy(&head, wrapper->container + 6, sizeof head);
        memcpy(&size, wrapper->container + 8, sizeof size);
        struct request request = {.kind = REQUEST_MODULE, .bytes = head + size};
        struct reply reply = {0};
        if (shared_file() >= 0 && ask(&request, wrapper->container, &reply, NULL, 0) == cudaSuccess)
            *module = reply.value[0];
    }
    return (void **)module;
}

/* Now all variables of the module are known. The code of a program sets pointers to its __managed__ variables nowhere. */
void __cudaRegisterFatBinaryEnd(void **handle) {
    uint64_t module = *(const uint64_t *)handle;
    bool loaded = false;
    for (struct variable *variable = registry.variables; module && variable; variable = variable->next) {
        uint64_t address, bytes;
        if (variable->module != module || !variable->managed) continue;
        if (!loaded && shared_image(module) != cudaSuccess) {
            complain("cannot load the __managed__ variable %s", variable->name);
            return;
        }
        loaded = true;
        if (variable_find(variable->key, &address, &bytes) == cudaSuccess)
            variable->key = *variable->managed = (void *)address;
    }
}

/* At the end of the program: prints what kernels have printed. */
void __cudaUnregisterFatBinary(void **handle) {
    (void)handle;
    if (connected()) device_wait();
}

char __cudaInitModule(void **handle) {
    (void)handle;
    return 1;
}

void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int limit, uint3 *tid,
                            uint3 *bid, dim3 *block, dim3 *grid, int *warp) {
    (void)device, (void)limit, (void)tid, (void)bid, (void)block, (void)grid, (void)warp;
    struct function *function = allocate(sizeof *function);
    pthread_mutex_lock(&registry.lock);
    *function =
        (struct function){.key = host, .module = *(const uint64_t *)handle, .name = name, .next = registry.functions};
    registry.functions = function;
    pthread_mutex_unlock(&registry.lock);
}

static void variable_add(void **handle, const void *key, void **managed, const char *name) {
    struct variable *variable = allocate(sizeof *variable);
    pthread_mutex_lock(&registry.lock);
    *variable = (struct variable){
        .key = key, .module = *(const uint64_t *)handle, .name = name, .managed = managed, .next = registry.variables};
    registry.variables = variable;
    pthread_mutex_unlock(&registry.lock);
}

void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext, size_t bytes, int constant,
                       int global) {
    (void)device, (void)ext, (void)bytes, (void)constant, (void)global;
    variable_add(handle, host, NULL, name);
}

void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int ext, size_t bytes,
                              int constant, int global) {
    (void)device, (void)ext, (void)bytes, (void)constant, (void)global;
    variable_add(handle, host, host, name);
}

void __cudaRegisterHostVar(void **handle, const char *name, void *host, size_t bytes) {
    (void)handle, (void)name, (void)host, (void)bytes;
}

void __cudaRegisterTexture(void **handle, const void *host, const void **device, const char *name, int dimensions,
                           int normalised, int ext) {
    (void)handle, (void)host, (void)device, (void)dimensions, (void)normalised, (void)ext;
    complain("the texture reference %s is not supported", name);
}

void __cudaRegisterSurface(void **handle, const void *host, const void **device, const char *name, int dimensions,
                           int ext) {
    (void)handle, (void)host, (void)device, (void)dimensions, (void)ext;
    complain("the surface reference %s is not supported", name);
}

void __cudaRegisterUnifiedTable(void **handle, void *table) { (void)handle, (void)table; }

/* Receives the facts of a kernel; holds the registry's lock. */
static cudaError_t function_learn(struct function *function) {
    struct request request = {.kind = REQUEST_FUNCTION, .value = {function->module}, .bytes = strlen(function->name)};
    struct reply reply;
    cudaError_t error;
    struct wire *wire = request_begin(&request, &error);
    if (!wire) return error;
    wire_put(wire, function->name, request.bytes);
    error = reply_begin(wire, &reply);
    if (error == cudaSuccess) {
        wire_get(wire, &function->facts, sizeof function->facts);
        size_t bytes = function->facts.parameters * sizeof *function->parameters;
        function->parameters = allocate(bytes + 1);
        wire_get(wire, function->parameters, bytes);
        function->known = true;
    }
    request_end();
    return error;
}

struct function *function_find(const void *key, cudaError_t *error) {
    pthread_mutex_lock(&registry.lock);
    struct function *function = registry.functions;
    while (function && function->key != key && (const void *)function != key) function = function->next;
    *error = !function ? cudaErrorInvalidDeviceFunction : cudaSuccess;
    if (function && !function->known)
        *error = function->module || shared_file() < 0 ? function_learn(function) : cudaErrorInvalidKernelImage;
    pthread_mutex_unlock(&registry.lock);
    return *error == cudaSuccess ? function : NULL;
}

cudaError_t variable_find(const void *key, uint64_t *address, uint64_t *bytes) {
    pthread_mutex_lock(&registry.lock);
    struct variable *variable = registry.variables;
    while (variable && variable->key != key) variable = variable->next;
    cudaError_t error = variable ? cudaSuccess : cudaErrorInvalidSymbol;
    if (variable && !variable->address) {
        struct request request = {
            .kind = REQUEST_VARIABLE, .value = {variable->module}, .bytes = strlen(variable->name)};
        struct reply reply = {0};
        error = ask(&request, variable->name, &reply, NULL, 0);
        variable->address = reply.value[0];
        variable->bytes = reply.value[1];
    }
    if (error == cudaSuccess) {
        *address = variable->address;
        *bytes = variable->bytes;
    }
    pthread_mutex_unlock(&registry.lock);
    return error;
}

/* A handle is the kernel itself. It exists even if the kernel cannot be loaded; a launch then reports why. */
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host) {
    pthread_mutex_lock(&registry.lock);
    struct function *function = registry.functions;
    while (function && function->key != host) function = function->next;
    pthread_mutex_unlock(&registry.lock);
    *kernel = (cudaKernel_t)function;
    return answer(function ? cudaSuccess : cudaErrorInvalidDeviceFunction);
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t *function, const void *symbol) {
    cudaKernel_t kernel = NULL;
    cudaError_t error = function ? __cudaGetKernel(&kernel, symbol) : answer(cudaErrorInvalidValue);
    if (error == cudaSuccess) *function = (cudaFunction_t)kernel;
    return error;
}
