/* A CUDA program without nvcc: the code that nvcc would generate for `add<<<>>>` of tests/cuda/add.cu is written out, with a fat
 * binary that nvcc has made. Tests the interface of CUDA 12 and older (cudaLaunchKernel with a host function) and how programs
 * end: plain [HOW]. exec_test.sh compiles it once for each release of the library. */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cudart/runtime.h"

void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int limit, uint3 *tid,
                            uint3 *bid, dim3 *block, dim3 *grid, int *warp);
void __cudaUnregisterFatBinary(void **handle);
const char *cudaGetErrorString(cudaError_t error);
const char *cudaGetErrorName(cudaError_t error);
cudaError_t cudaGraphCreate(void *graph, unsigned flags);

__asm__(".section .nv_fatbin,\"a\"\n"
        ".balign 8\n"
        "container: .incbin \"data/fuzz/fatbin/nvcc-zstd\"\n"
        ".previous\n");
extern const char container[];

static struct {
    uint32_t magic, version;
    const void *container, *files;
} wrapper = {0x466243B1, 1, container, NULL};

static void **handle;

/* The host function that stands for the kernel. */
static void add(void) {}

static void unregister(void) { __cudaUnregisterFatBinary(handle); }

__attribute__((constructor)) static void enroll(void) {
    handle = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(handle, (const char *)add, (char *)add, "add", -1, NULL, NULL, NULL, NULL, NULL);
    atexit(unregister);
}

static void must(cudaError_t error, const char *what) {
    if (error == cudaSuccess) return;
    printf("%s: %s\n", what, cudaGetErrorString(error));
    exit(3);
}
#define MUST(call) must((call), #call)

enum { N = 500 };

static cudaError_t launch(float *a, float *b, float *c, int n) {
    void *arguments[] = {&a, &b, &c, &n};
    return cudaLaunchKernel((const void *)add, (dim3){4, 1, 1}, (dim3){128, 1, 1}, arguments, 0, NULL);
}

/* Adds two vectors with launches of its own; returns whether the sum is right. */
static void *sums(void *user) {
    float from[2][N], to[N], *device[3];
    int offset = (int)(intptr_t)user;
    for (int i = 0; i < N; i++) from[0][i] = (float)(i + offset), from[1][i] = (float)(2 * i);
    for (int i = 0; i < 3; i++) MUST(cudaMalloc((void **)&device[i], sizeof to));
    for (int i = 0; i < 2; i++) MUST(cudaMemcpy(device[i], from[i], sizeof to, cudaMemcpyHostToDevice));
    for (int i = 0; i < 5; i++) MUST(launch(device[0], device[1], device[2], N));
    MUST(cudaMemcpy(to, device[2], sizeof to, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 3; i++) MUST(cudaFree(device[i]));
    for (int i = 0; i < N; i++)
        if (to[i] != (float)(3 * i + offset)) {
            printf("element %d is %g\n", i, to[i]);
            return NULL;
        }
    return user;
}

static void threads(void) {
    pthread_t thread[4];
    for (intptr_t i = 0; i < 4; i++) pthread_create(&thread[i], NULL, sums, (void *)(i + 1));
    for (intptr_t i = 0; i < 4; i++) {
        void *result;
        pthread_join(thread[i], &result);
        printf("thread %d: %s\n", (int)i, result == (void *)(i + 1) ? "passed" : "failed");
    }
}

/* A child has no device, and the parent keeps its own. */
static void forks(void) {
    MUST(cudaDeviceSynchronize());
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        void *pointer;
        cudaError_t error = cudaMalloc(&pointer, 16);
        printf("child: %s\n", cudaGetErrorName(error));
        exit(0);
    }
    waitpid(child, NULL, 0);
    printf("parent: %s\n", sums((void *)7) ? "passed" : "failed");
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    if (strcmp(how, "none") == 0) return 0;
    if (strcmp(how, "long") == 0) { /* the first kernel takes hours */
        printf("%d\n", (int)getpid());
        fflush(stdout);
        void *arguments[] = {&(float *){NULL}, &(float *){NULL}, &(float *){NULL}, &(int){0}};
        MUST(cudaLaunchKernel((const void *)add, (dim3){1 << 30, 1, 1}, (dim3){128, 1, 1}, arguments, 0, NULL));
        MUST(cudaDeviceSynchronize());
    }
    if (!sums((void *)1)) return 1;
    puts("passed");
    fflush(stdout);
    if (strcmp(how, "crash") == 0) signal(SIGSEGV, SIG_DFL), raise(SIGSEGV); /* a sanitizer may handle it */
    if (strcmp(how, "early") == 0) _exit(5);
    if (strcmp(how, "status") == 0) return 7;
    if (strcmp(how, "close") == 0 ||
        strcmp(how, "last") == 0) { /* as daemons do; a file then has the number of the socket */
        for (int i = 3; i < 100; i++) close(i);
        if (strcmp(how, "last") == 0) return 0;
        FILE *file = tmpfile();
        cudaError_t error = cudaDeviceSynchronize();
        printf("%s, %ld bytes\n", cudaGetErrorName(error), lseek(fileno(file), 0, SEEK_END));
        fclose(file);
    }
    if (strcmp(how, "threads") == 0) threads();
    if (strcmp(how, "fork") == 0) forks();
    if (strcmp(how, "leave") == 0 && fork() == 0) {
        signal(SIGTERM, SIG_IGN);
        printf("%d\n", (int)getpid());
        fflush(stdout);
        pause();
    }
    if (strcmp(how, "wait") == 0 || strcmp(how, "stubborn") == 0) {
        if (strcmp(how, "stubborn") == 0) signal(SIGTERM, SIG_IGN), signal(SIGINT, SIG_IGN);
        printf("%d\n", (int)getpid());
        fflush(stdout);
        for (;;) sleep(1);
    }
    if (strcmp(how, "fault") == 0) {
        cudaError_t launched = launch((float *)16, (float *)16, (float *)16, N), waited = cudaDeviceSynchronize();
        printf("%s, %s, %s\n", cudaGetErrorName(launched), cudaGetErrorName(waited),
               cudaGetErrorName(cudaGetLastError()));
        printf("then %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    }
    if (strcmp(how, "missing") == 0)
        for (int i = 0; i < 2; i++) printf("%s\n", cudaGetErrorName(cudaGraphCreate(NULL, 0)));
    if (strcmp(how, "properties") == 0) {
        struct cudaDeviceProp p;
        int version = 0;
        memset(&p, 0xFF, sizeof p);
        MUST(cudaRuntimeGetVersion(&version));
        MUST(cudaGetDeviceProperties(&p, 0));
        printf("%d: %s, %d SMs, %d.%d, %d KB L2, %d threads per SM, %d MB\n", version, p.name, p.multiProcessorCount,
               p.major, p.minor, p.l2CacheSize >> 10, p.maxThreadsPerMultiProcessor, (int)(p.totalGlobalMem >> 20));
    }
    return 0;
}
