#include "cuda/fatbin.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* Offsets in the header of an entry. */
enum {
    ENTRY_KIND = 0x00,
    ENTRY_HEAD_BYTES = 0x04,
    ENTRY_PAYLOAD_BYTES = 0x08,
    ENTRY_PACKED_BYTES = 0x10,
    ENTRY_MINOR = 0x18,
    ENTRY_MAJOR = 0x1A,
    ENTRY_SM = 0x1C,
    ENTRY_FLAGS = 0x28,
    ENTRY_TEXT_BYTES = 0x38,
    ENTRY_LEAST_BYTES = 0x40,
};
enum { FLAG_LZ4 = 0x2000, FLAG_ZSTD = 0x8000 };
enum { TEXT_LIMIT_BYTES = 1 << 28 }; /* larger sizes are damage */

static uint64_t read_little(const uint8_t *bytes, unsigned count) {
    uint64_t value = 0;
    for (unsigned i = count; i-- > 0;) value = value << 8 | bytes[i];
    return value;
}

static bool damaged(struct error *err, uint64_t at, const char *what) {
    return error_set(err, "damaged fat binary: byte %llu: %s", (unsigned long long)at, what);
}

/* Enters the next container; false at the end. */
static bool next_container(struct fatbin *fatbin, struct error *err) {
    while (fatbin->at < fatbin->size && fatbin->bytes[fatbin->at] == 0) fatbin->at++;
    uint64_t left = fatbin->size - fatbin->at;
    if (left == 0) return false;
    const uint8_t *head = fatbin->bytes + fatbin->at;
    if (left < FATBIN_HEAD_BYTES) return damaged(err, fatbin->at, "the container's header is incomplete");
    if (read_little(head, 4) != FATBIN_MAGIC) return damaged(err, fatbin->at, "no container begins here");
    uint64_t head_bytes = read_little(head + 6, 2), size = read_little(head + 8, 8);
    if (head_bytes < FATBIN_HEAD_BYTES || head_bytes > left || size > left - head_bytes)
        return damaged(err, fatbin->at, "the container is longer than the data");
    fatbin->at += head_bytes;
    fatbin->end = fatbin->at + size;
    return true;
}

static bool read_entry(const struct fatbin *fatbin, struct fatbin_entry *entry, uint64_t *next, struct error *err) {
    const uint8_t *head = fatbin->bytes + fatbin->at;
    uint64_t left = fatbin->end - fatbin->at;
    if (left < ENTRY_LEAST_BYTES) return damaged(err, fatbin->at, "the entry's header is incomplete");
    uint64_t head_bytes = read_little(head + ENTRY_HEAD_BYTES, 4), stored = read_little(head + ENTRY_PAYLOAD_BYTES, 8);
    uint64_t packed = read_little(head + ENTRY_PACKED_BYTES, 4), flags = read_little(head + ENTRY_FLAGS, 8);
    if (head_bytes < ENTRY_LEAST_BYTES || head_bytes > left || stored > left - head_bytes)
        return damaged(err, fatbin->at, "the entry is longer than its container");
    if (packed > stored) return damaged(err, fatbin->at, "the compressed size exceeds the stored size");
    *entry = (struct fatbin_entry){
        .kind = (unsigned)read_little(head + ENTRY_KIND, 2),
        .sm = (unsigned)read_little(head + ENTRY_SM, 4),
        .ptx_major = (unsigned)read_little(head + ENTRY_MAJOR, 2),
        .ptx_minor = (unsigned)read_little(head + ENTRY_MINOR, 2),
        .packing = flags & FLAG_LZ4    ? FATBIN_LZ4
                   : flags & FLAG_ZSTD ? FATBIN_ZSTD
                                       : FATBIN_RAW,
        .payload = head + head_bytes,
        .payload_bytes = packed ? packed : stored,
        .text_bytes = packed ? read_little(head + ENTRY_TEXT_BYTES, 8) : stored,
    };
    if (entry->text_bytes > TEXT_LIMIT_BYTES) return damaged(err, fatbin->at, "the unpacked size is too large");
    if (!packed) entry->packing = FATBIN_RAW;
    if (packed && entry->packing == FATBIN_RAW) return damaged(err, fatbin->at, "unknown compression");
    *next = fatbin->at + head_bytes + stored;
    return true;
}

bool fatbin_next(struct fatbin *fatbin, struct fatbin_entry *entry, struct error *err) {
    while (fatbin->at >= fatbin->end)
        if (!next_container(fatbin, err)) return false;
    uint64_t next = 0;
    if (!read_entry(fatbin, entry, &next, err)) return false;
    fatbin->at = next;
    return true;
}

/* A length of LZ4: 15 in the token is continued by bytes, of which all but the last are 255. */
static bool lz4_length(const uint8_t **from, const uint8_t *end, size_t *length) {
    if (*length < 15) return true;
    for (uint8_t byte = 255; byte == 255; *length += byte) {
        if (*from == end) return false;
        byte = *(*from)++;
    }
    return true;
}

/* A block is a list of sequences: a token with two lengths, literals, and the distance of a match in the output. The
 * last sequence has literals only. */
bool lz4_unpack(const uint8_t *from, size_t from_bytes, uint8_t *to, size_t to_bytes) {
    const uint8_t *from_end = from + from_bytes;
    uint8_t *start = to, *to_end = to + to_bytes;
    while (from < from_end) {
        uint8_t token = *from++;
        size_t literals = token >> 4, match = token & 15;
        if (!lz4_length(&from, from_end, &literals)) return false;
        if (literals > (size_t)(from_end - from) || literals > (size_t)(to_end - to)) return false;
        memcpy(to, from, literals);
        from += literals;
        to += literals;
        if (from == from_end) return to == to_end;
        if (from_end - from < 2) return false;
        size_t distance = read_little(from, 2);
        from += 2;
        if (!lz4_length(&from, from_end, &match)) return false;
        match += 4;
        if (distance == 0 || distance > (size_t)(to - start) || match > (size_t)(to_end - to)) return false;
        for (; match > 0; match--, to++) *to = *(to - distance); /* may overlap: byte by byte */
    }
    return false;
}

char *fatbin_unpack(const struct fatbin_entry *entry, size_t *length, struct error *err) {
    size_t size = entry->text_bytes;
    char *text = mem_alloc(size + 1, 1);
    bool good = true;
    switch (entry->packing) {
    case FATBIN_RAW: memcpy(text, entry->payload, size); break;
    case FATBIN_LZ4: good = lz4_unpack(entry->payload, entry->payload_bytes, (uint8_t *)text, size); break;
    case FATBIN_ZSTD: good = ZSTD_decompress(text, size, entry->payload, entry->payload_bytes) == size; break;
    }
    if (!good) {
        free(text);
        error_set(err, "damaged fat binary: the %s data of the entry for sm_%u cannot be unpacked",
                  entry->packing == FATBIN_LZ4 ? "LZ4" : "zstd", entry->sm);
        return NULL;
    }
    *length = entry->kind == FATBIN_PTX ? strlen(text) : size; /* text has padding behind it */
    return text;
}

/* Whether architecture `a` suits `sm` better than `b`. */
static bool is_better(unsigned a, unsigned b, unsigned sm) {
    if ((a <= sm) != (b <= sm)) return a <= sm;
    return a <= sm ? a > b : a < b;
}

char *fatbin_ptx(const void *bytes, uint64_t size, unsigned sm, size_t *length, struct error *err) {
    struct fatbin fatbin = fatbin_open(bytes, size);
    struct fatbin_entry entry, best = {0};
    bool cubins = false;
    while (fatbin_next(&fatbin, &entry, err)) {
        cubins |= entry.kind == FATBIN_CUBIN;
        if (entry.kind != FATBIN_PTX) continue;
        if (!best.payload || is_better(entry.sm, best.sm, sm)) best = entry;
    }
    if (err->set) return NULL;
    if (best.payload) return fatbin_unpack(&best, length, err);
    error_set(err, cubins ? "the program has machine code but no PTX; rebuild it with nvcc -gencode"
                            " arch=compute_75,code=compute_75"
                          : "the program has no device code");
    return NULL;
}
