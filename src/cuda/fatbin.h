/* Fat binaries: the containers in which nvcc stores device code, one or more per program, each with entries for several
 * architectures. An entry is PTX text or machine code, stored raw, as an LZ4 block or as a zstd frame.
 *
 * The format is not published; the layout was observed on containers made by nvcc 13.0 (docs/cuda.md). Machine code is
 * skipped: Sluice executes PTX. All sizes and offsets are checked against the given bytes. */
#ifndef SLUICE_CUDA_FATBIN_H
#define SLUICE_CUDA_FATBIN_H

#include "base/base.h"
#include "base/error.h"

enum { FATBIN_PTX = 1, FATBIN_CUBIN = 2 };
enum fatbin_packing { FATBIN_RAW, FATBIN_LZ4, FATBIN_ZSTD };

/* The wrapper that a program registers, and its container. */
enum { FATBIN_WRAPPER_MAGIC = 0x466243B1 };
#define FATBIN_MAGIC UINT32_C(0xBA55ED50)
enum { FATBIN_HEAD_BYTES = 16 };

struct fatbin_entry {
    unsigned kind; /* FATBIN_PTX, FATBIN_CUBIN, or another one */
    unsigned sm;   /* architecture: 75 */
    unsigned ptx_major, ptx_minor;
    enum fatbin_packing packing;
    const uint8_t *payload;
    uint64_t payload_bytes; /* as stored */
    uint64_t text_bytes;    /* unpacked */
};

/* A walk over the entries of all containers that follow each other in memory, with padding of zeros between them. */
struct fatbin {
    const uint8_t *bytes;
    uint64_t size, at, end; /* `end`: of the current container */
};

static inline struct fatbin fatbin_open(const void *bytes, uint64_t size) {
    return (struct fatbin){.bytes = bytes, .size = size};
}
/* The next entry; false at the end, or with an error if the container is damaged. */
bool fatbin_next(struct fatbin *fatbin, struct fatbin_entry *entry, struct error *err);

/* The content of an entry, zero-terminated, to be freed; NULL with an error if it is damaged. */
char *fatbin_unpack(const struct fatbin_entry *entry, size_t *length, struct error *err);

/* The PTX for an architecture, unpacked: that of the highest architecture that is not above it, otherwise that of the
 * lowest. NULL with an error if there is none. */
char *fatbin_ptx(const void *bytes, uint64_t size, unsigned sm, size_t *length, struct error *err);

/* Unpacks an LZ4 block of exactly `to_bytes`; false if it is damaged. */
bool lz4_unpack(const uint8_t *from, size_t from_bytes, uint8_t *to, size_t to_bytes);

#endif
