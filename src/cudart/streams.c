/* Streams and events. Requests are executed in the order of their calls, so a stream is a name, and everything recorded has
 * happened. An event is the number of launches before it; its time is the simulated end of the last of them. */
#include <stdatomic.h>
#include <stdlib.h>

#include "cudart/runtime.h"

struct CUstream_st {
    unsigned flags;
    unsigned long long id;
};

struct CUevent_st {
    unsigned flags;
    bool recorded;
    uint64_t launches;
};

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority) {
    static atomic_ullong streams = 2; /* 1 and 2 are the default streams */
    (void)priority;
    if (!stream || flags > cudaStreamNonBlocking) return answer(cudaErrorInvalidValue);
    cudaError_t error = device_wait(); /* the first call of many programs: reports that there is no device */
    if (error != cudaSuccess) return answer(error);
    struct CUstream_st *new = malloc(sizeof *new);
    if (!new) return answer(cudaErrorMemoryAllocation);
    *new = (struct CUstream_st){.flags = flags, .id = atomic_fetch_add(&streams, 1) + 1};
    *stream = new;
    return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t *stream) {
    return cudaStreamCreateWithPriority(stream, cudaStreamDefault, 0);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
    return cudaStreamCreateWithPriority(stream, flags, 0);
}

/* The default streams are small numbers. */
static bool is_default(cudaStream_t stream) { return (uintptr_t)stream <= 2; }

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    if (is_default(stream)) return answer(cudaErrorInvalidResourceHandle);
    free(stream);
    return answer(device_wait());
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    (void)stream;
    return answer(device_wait());
}

cudaError_t cudaStreamQuery(cudaStream_t stream) { return cudaStreamSynchronize(stream); }

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
    (void)stream, (void)flags;
    return answer(event ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned *flags) {
    if (!flags) return answer(cudaErrorInvalidValue);
    *flags = is_default(stream) ? cudaStreamDefault : stream->flags;
    return cudaSuccess;
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority) {
    (void)stream;
    if (!priority) return answer(cudaErrorInvalidValue);
    *priority = 0;
    return cudaSuccess;
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *id) {
    if (!id) return answer(cudaErrorInvalidValue);
    *id = is_default(stream) ? (uintptr_t)stream : stream->id;
    return cudaSuccess;
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device) {
    (void)stream;
    return cudaGetDevice(device);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
    if (least) *least = 0;
    if (greatest) *greatest = 0;
    return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, int *status) {
    (void)stream;
    if (!status) return answer(cudaErrorInvalidValue);
    *status = 0; /* none */
    return cudaSuccess;
}

/* Host functions are called at once, by the calling thread: everything before them has been done. */
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t call, void *user) {
    (void)stream;
    if (!call) return answer(cudaErrorInvalidValue);
    cudaError_t error = device_wait();
    if (error == cudaSuccess) call(user);
    return answer(error);
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t call, void *user, unsigned flags) {
    if (!call || flags) return answer(cudaErrorInvalidValue);
    cudaError_t error = device_wait();
    call(stream, error, user);
    return answer(error);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags) {
    if (!event || flags > 7) return answer(cudaErrorInvalidValue);
    struct CUevent_st *new = malloc(sizeof *new);
    if (!new) return answer(cudaErrorMemoryAllocation);
    *new = (struct CUevent_st){.flags = flags};
    *event = new;
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    if (!event) return answer(cudaErrorInvalidResourceHandle);
    free(event);
    return cudaSuccess;
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
    (void)stream, (void)flags;
    if (!event) return answer(cudaErrorInvalidResourceHandle);
    event->recorded = true;
    event->launches = launch_count();
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    return cudaEventRecordWithFlags(event, stream, 0);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    return answer(event ? device_wait() : cudaErrorInvalidResourceHandle);
}

cudaError_t cudaEventQuery(cudaEvent_t event) { return cudaEventSynchronize(event); }

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end) {
    if (!milliseconds) return answer(cudaErrorInvalidValue);
    if (!start || !end || !start->recorded || !end->recorded) return answer(cudaErrorInvalidResourceHandle);
    if ((start->flags | end->flags) & cudaEventDisableTiming) return answer(cudaErrorInvalidResourceHandle);
    struct reply from = {0}, to = {0};
    cudaError_t error = ask(REQUEST(REQUEST_TIME, start->launches), NULL, &from, NULL, 0);
    if (error == cudaSuccess) error = ask(REQUEST(REQUEST_TIME, end->launches), NULL, &to, NULL, 0);
    *milliseconds = (float)(((double)to.value[0] - (double)from.value[0]) / 1e6);
    return answer(error);
}
