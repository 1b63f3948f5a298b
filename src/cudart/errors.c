/* Errors: names, texts, the last one of each thread, and functions that are not implemented. */
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

#include "cudart/runtime.h"

static _Thread_local cudaError_t last;

cudaError_t answer(cudaError_t error) {
    if (error != cudaSuccess) last = error;
    return error;
}

cudaError_t cudaGetLastError(void) {
    cudaError_t error = last;
    last = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError(void) { return last; }

const char *cudaGetErrorName(cudaError_t error);
const char *cudaGetErrorString(cudaError_t error);

static const struct error_row {
    cudaError_t error;
    const char *name, *text;
} errors[] = {
#define SUCCESS(text)             {cudaSuccess, "cudaSuccess", text},
#define ERROR(name, number, text) {cudaError##name, "cudaError" #name, text},
#include "cudart/errors.def"
#undef ERROR
#undef SUCCESS
};

static const struct error_row *row_of(cudaError_t error) {
    static const struct error_row unknown = {0, "unrecognized error code", "unrecognized error code"};
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (errors[i].error == error) return &errors[i];
    return &unknown;
}

const char *cudaGetErrorName(cudaError_t error) { return row_of(error)->name; }
const char *cudaGetErrorString(cudaError_t error) { return row_of(error)->text; }

void complain(const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "sluice: %s\n", text); /* one call: lines of several threads stay whole */
}

cudaError_t missing(const char *name) {
    complain("%s is not implemented (docs/cuda.md); it returns cudaErrorNotSupported", name);
    return answer(cudaErrorNotSupported);
}

/* The functions themselves. */
#define GROUP(...)
#define API(name, parameters)
#define NOTHING(name, parameters)
#define ALIAS(name, function)
#define INNER(name)
#define MISSING(name) \
    cudaError_t name(void); \
    cudaError_t name(void) { \
        static atomic_flag named = ATOMIC_FLAG_INIT; \
        return atomic_flag_test_and_set(&named) ? answer(cudaErrorNotSupported) : missing(#name); \
    }
#include "cudart/api.def"
