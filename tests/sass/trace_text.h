/* Traces for tests: text in a temporary file, and what a source reads from it. */
#ifndef SLUICE_TESTS_SASS_TRACE_TEXT_H
#define SLUICE_TESTS_SASS_TRACE_TEXT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "sass/source.h"
#include "test.h"

/* A header; its parts can be replaced by later lines of the same key. */
#define HEADER(version) \
    "-kernel name = k\n-kernel id = 1\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n-shmem = 0\n-nregs = 16\n" \
    "-binary version = 70\n-cuda stream id = 0\n-shmem base_addr = 0x00007f2c00000000\n" \
    "-local mem base_addr = 0x00007f2a00000000\n-nvbit version = 1.5.5\n-accelsim tracer version = " version "\n"
/* One warp with `count` lines. */
#define WARP(count, lines) "#BEGIN_TB\n\nthread block = 0,0,0\n\nwarp = 0\ninsts = " count "\n" lines "\n#END_TB\n"

static inline char *trace_file(const char *text) {
    char *path = text_format("/tmp/sluice-sass-%ld-%p.traceg", (long)getpid(), (const void *)text);
    FILE *file = fopen(path, "wb");
    REQUIRE(file && fputs(text, file) >= 0 && fclose(file) == 0);
    return path;
}

enum { READ_RECORDS = 64 };

/* The records of the first warp of a trace of one-warp CTAs, all of which are read, or why it failed. */
struct trace_read {
    unsigned count;
    struct instr record[READ_RECORDS];
    uint64_t touch[READ_RECORDS][WARP_LANES];
    struct kernel kernel;
    struct error err, warning;
};

static inline struct trace_read trace_read_text(const char *text) {
    struct trace_read read = {0};
    char *path = trace_file(text);
    struct stream_source *source = sass_open(path, &read.err);
    struct warp_stream *warp = mem_alloc(1, sizeof *warp);
    bool opened = source && source->ops->next_kernel(source, &read.kernel);
    for (warp->cta = 0; opened && warp->cta < kernel_ctas(&read.kernel); warp->cta++) {
        source->ops->open(source, warp);
        do {
            source->ops->refill(source, warp);
            for (unsigned i = 0; i < warp->count && warp->cta == 0 && read.count < READ_RECORDS; i++) {
                struct instr *record = &read.record[read.count];
                *record = warp->instr[i];
                for (unsigned t = 0; instr_is_memory(record) && t < record->count; t++)
                    read.touch[read.count][t] = warp->touch[record->touches + t];
                read.count++;
            }
        } while (warp->count && warp->instr[warp->count - 1].op != OP_exit);
    }
    if (source) {
        if (source->ops->failure(source)) error_set(&read.err, "%s", source->ops->failure(source));
        struct kernel none;
        source->ops->next_kernel(source, &none);
        sass_source_warning(source, &read.warning);
        source->ops->destroy(source);
    }
    free(warp);
    unlink(path);
    free(path);
    return read;
}

#endif
